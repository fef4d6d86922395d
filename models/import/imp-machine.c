/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-machine.h"

#include <string.h>

#include "slab-order.h"

/* CPU counts only matter by fls(): up to 8191 CPUs. */
#define N_CLASSES 13u
#define MAX_SHAPES 1024u
#define N_PAGE_SIZES 4u

static const guint page_sizes[N_PAGE_SIZES] = {4096, 8192, 16384, 65536};

/* A geometry that some caches share. */
typedef struct {
    guint stride, objects;
    gint order;        /* -1 = only slab_bytes is known */
    gint64 slab_bytes; /* -1 = only order is known */
    const char *name;
} Shape;

static gboolean
shape_of_row(const ImpRow *row, Shape *ret_shape)
{
    gboolean is_exact = row->stride_low_bytes == row->stride_high_bytes;

    if (!is_exact || row->stride_bytes <= 0 || row->stride_bytes > 1 << 25 || row->objects_per_slab <= 0 ||
        row->objects_per_slab > SLAB_MAX_OBJECTS || row->order > 10 || (row->order < 0 && row->slab_bytes <= 0))
        return FALSE;
    *ret_shape = (Shape){
        .stride = (guint) row->stride_bytes,
        .objects = (guint) row->objects_per_slab,
        .order = (gint) row->order,
        .slab_bytes = row->slab_bytes,
        .name = row->name,
    };
    return TRUE;
}

static GArray *
distinct_shapes(const GPtrArray *rows)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GArray *shapes = g_array_new(FALSE, FALSE, sizeof(Shape));

    for (guint i = 0; i < rows->len && shapes->len < MAX_SHAPES; i++) {
        Shape shape;

        if (shape_of_row(rows->pdata[i], &shape) &&
            g_hash_table_add(seen, g_strdup_printf("%u %u %d %" G_GINT64_FORMAT, shape.stride, shape.objects,
                                                   shape.order, shape.slab_bytes)))
            g_array_append_val(shapes, shape);
    }
    return shapes;
}

/* The order on this page size, -1 when the shape is impossible there. */
static gint
order_on_pages(const Shape *shape, guint page_size_bytes)
{
    gint order = shape->order;

    if (order < 0) {
        order = (gint) slab_order_for_bytes((guint64) shape->slab_bytes, page_size_bytes);
        if ((gint64) page_size_bytes << order != shape->slab_bytes)
            return -1;
    } else if (shape->slab_bytes >= 0 && (gint64) page_size_bytes << order != shape->slab_bytes)
        return -1;
    return ((guint64) page_size_bytes << order) / shape->stride == shape->objects ? order : -1;
}

static gboolean
fits_formula(const SlabGeometryEnv *env, const Shape *shape)
{
    gint listed = order_on_pages(shape, env->page_size_bytes);
    guint order;

    return listed >= 0 && slab_order_compute(env, shape->stride, &order, NULL, NULL) && order == (guint) listed;
}

static void
set_class(SlabGeometryEnv *env, guint class)
{
    env->n_possible_cpus = env->n_present_cpus = 1u << (class - 1);
}

/* Shapes that the formula does not explain, by class of CPUs (index 1 to N_CLASSES). Returns the fewest. */
static guint
count_misfits(SlabGeometryEnv env, const GArray *shapes, guint misfits[N_CLASSES + 1])
{
    guint fewest = G_MAXUINT;

    for (guint class = 1; class <= N_CLASSES; class ++) {
        set_class(&env, class);
        misfits[class] = 0;
        for (guint i = 0; i < shapes->len; i++)
            misfits[class] += !fits_formula(&env, &g_array_index(shapes, Shape, i));
        fewest = MIN(fewest, misfits[class]);
    }
    return fewest;
}

/* Where both the order of a slab and its bytes are listed, they tell the page size. 0 otherwise. */
static guint
listed_page_size(const GPtrArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        if (row->order < 0 || row->order > 10 || row->slab_bytes <= 0)
            continue;
        for (guint p = 0; p < N_PAGE_SIZES; p++)
            if ((gint64) page_sizes[p] << row->order == row->slab_bytes)
                return page_sizes[p];
    }
    return 0;
}

/* The page size on which the most shapes are possible, and of those the one on which the formula explains the most;
 * 0 when several are as good. */
static guint
fitting_page_size(const GArray *shapes, SlabGeometryEnv env)
{
    guint misfits[N_CLASSES + 1], best_weight = G_MAXUINT, best = 0;

    for (guint p = 0; p < N_PAGE_SIZES; p++) {
        guint n_impossible = 0, weight;

        env.page_size_bytes = page_sizes[p];
        for (guint i = 0; i < shapes->len; i++)
            n_impossible += order_on_pages(&g_array_index(shapes, Shape, i), page_sizes[p]) < 0;
        weight = n_impossible * (MAX_SHAPES + 1) + count_misfits(env, shapes, misfits);
        if (weight == best_weight)
            best = 0;
        else if (weight < best_weight) {
            best_weight = weight;
            best = page_sizes[p];
        }
    }
    return best;
}

static void
find_page_size(ImpDump *dump, const GPtrArray *rows, const GArray *shapes, const ImpGiven *given, ImpMachine *machine)
{
    guint found = listed_page_size(rows);

    if (found > 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED, "pages of %u bytes: order and memory of a slab say so", found);
    else if ((found = fitting_page_size(shapes, machine->env)) > 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED, "pages of %u bytes: slabs hold as many objects as fit", found);
    if (given->page_size_bytes > 0 && found > 0 && given->page_size_bytes != found)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "pages of %u bytes were given, but the slabs fit pages of %u",
                      given->page_size_bytes, found);
    machine->knows_page_size = found > 0 || given->page_size_bytes > 0;
    if (!machine->knows_page_size)
        imp_dump_note(dump, IMP_NOTE_UNKNOWN, "the page size; 4096 bytes are assumed");
    if (machine->knows_page_size)
        machine->env.page_size_bytes = given->page_size_bytes > 0 ? given->page_size_bytes : found;
}

/* Boot parameters that explain clearly more than the defaults do. */
static guint
find_boot_parameters(const GArray *shapes, guint fewest, ImpMachine *machine, guint misfits[N_CLASSES + 1])
{
    SlabGeometryEnv best = machine->env;
    guint by_default = fewest;

    for (guint max_order = 0; max_order <= 5 && by_default > 1; max_order++)
        for (guint min_order = 0; min_order <= max_order; min_order++) {
            SlabGeometryEnv env = machine->env;
            guint here[N_CLASSES + 1], n;

            env.slub_max_order = max_order;
            env.slub_min_order = min_order;
            n = count_misfits(env, shapes, here);
            if (n * 2 <= by_default && n < fewest) {
                fewest = n;
                best = env;
                memcpy(misfits, here, sizeof here);
            }
        }
    machine->env = best;
    return fewest;
}

static void
note_cpus(ImpDump *dump, const ImpMachine *machine)
{
    const char *which = machine->env.kernel >= SLAB_KERNEL(5, 11) ? "present"
                        : machine->kernel_high > 0                ? "possible"
                                                                  : "possible (from 5.11 on: present)";

    if (machine->cpus_low == 1 && machine->cpus_high == 0)
        imp_dump_note(dump, IMP_NOTE_UNKNOWN, "the number of CPUs: orders of these sizes do not depend on it");
    else if (machine->cpus_high == 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED, "%u or more CPUs %s, in the formula for the order", machine->cpus_low,
                      which);
    else if (machine->cpus_low == machine->cpus_high)
        imp_dump_note(dump, IMP_NOTE_INFERRED,
                      "%u CPU %s, in the formula for the order; slub_min_objects=8 at boot would look the same",
                      machine->cpus_low, which);
    else
        imp_dump_note(dump, IMP_NOTE_INFERRED,
                      "%u to %u CPUs %s, in the formula for the order (unless slub_min_objects was given at boot)",
                      machine->cpus_low, machine->cpus_high, which);
}

static void
note_misfits(ImpDump *dump, const GArray *shapes, const ImpMachine *machine)
{
    g_autoptr(GString) names = g_string_new(NULL);
    guint n_named = 0;

    for (guint i = 0; i < shapes->len; i++) {
        const Shape *shape = &g_array_index(shapes, Shape, i);

        if (!fits_formula(&machine->env, shape) && n_named++ < 5)
            g_string_append_printf(names, "%s%s", n_named > 1 ? ", " : "", shape->name);
    }
    if (n_named > 0)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "%u of %u geometries do not follow the order formula: %s%s", n_named,
                      shapes->len, names->str, n_named > 5 ? ", ..." : "");
}

static void
find_cpus(ImpDump *dump, const GArray *shapes, const ImpGiven *given, ImpMachine *machine)
{
    guint misfits[N_CLASSES + 1], fewest = count_misfits(machine->env, shapes, misfits), lowest = 0, highest = 0;

    fewest = find_boot_parameters(shapes, fewest, machine, misfits);
    machine->n_shapes = shapes->len;
    machine->n_misfits = fewest;
    for (guint class = 1; class <= N_CLASSES; class ++)
        if (misfits[class] == fewest) {
            lowest = lowest == 0 ? class : lowest;
            highest = class;
        }
    machine->cpus_low = 1u << (lowest - 1);
    machine->cpus_high = highest == N_CLASSES ? 0 : (1u << highest) - 1;
    machine->knows_cpus = fewest * 4 <= shapes->len && (lowest > 1 || highest < N_CLASSES);
    if (machine->env.slub_max_order != 3 || machine->env.slub_min_order != 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED, "slub_min_order=%u slub_max_order=%u at boot: the defaults explain less",
                      machine->env.slub_min_order, machine->env.slub_max_order);
    note_cpus(dump, machine);
    if (given->n_cpus > 0 &&
        (given->n_cpus < machine->cpus_low || (machine->cpus_high > 0 && given->n_cpus > machine->cpus_high)))
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "%u CPUs were given, but the orders do not fit that number",
                      given->n_cpus);
    machine->env.n_possible_cpus = machine->env.n_present_cpus = given->n_cpus > 0 ? given->n_cpus : machine->cpus_low;
    note_misfits(dump, shapes, machine);
}

/* Names that came or went with a mainline release. */
static const struct {
    const char *name;
    gboolean is_prefix;
    guint low, high;
} clues[] = {
    {"kernfs_node_cache", FALSE, SLAB_KERNEL(3, 14), 0}, {"kmalloc-1024", FALSE, 0, SLAB_KERNEL(4, 19)},
    {"kmalloc-1k", FALSE, SLAB_KERNEL(4, 20), 0},        {"kmalloc-rcl-", TRUE, SLAB_KERNEL(4, 20), 0},
    {"kmalloc-cg-", TRUE, SLAB_KERNEL(5, 14), 0},        {"maple_node", FALSE, SLAB_KERNEL(6, 1), 0},
    {"skbuff_small_head", FALSE, SLAB_KERNEL(6, 3), 0},  {"vma_lock", FALSE, SLAB_KERNEL(6, 4), SLAB_KERNEL(6, 14)},
    {"kmalloc-rnd-", TRUE, SLAB_KERNEL(6, 6), 0},
};

static gboolean
shows_name(const GPtrArray *rows, const char *name, gboolean is_prefix)
{
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        if (is_prefix ? g_str_has_prefix(row->name, name) : g_str_equal(row->name, name))
            return TRUE;
    }
    return FALSE;
}

static void
append_release(GString *text, const char *before, guint kernel)
{
    if (kernel > 0)
        g_string_append_printf(text, "%s%u.%u", before, kernel / 1000, kernel % 1000);
}

static void
note_kernel(ImpDump *dump, const ImpMachine *machine, const char *from)
{
    g_autoptr(GString) text = g_string_new("a release");

    append_release(text, " from ", machine->kernel_low);
    append_release(text, " up to ", machine->kernel_high);
    if (machine->kernel_high > 0 && machine->kernel_low > machine->kernel_high)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "names of different times: %s (%s)", text->str, from);
    else if (machine->kernel_low > 0 || machine->kernel_high > 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED, "%s, by what it shows (%s); distribution kernels may carry later work",
                      text->str, from);
    else
        imp_dump_note(dump, IMP_NOTE_UNKNOWN, "the kernel release: no name tells");
}

static void
find_kernel(ImpDump *dump, const GPtrArray *rows, const ImpGiven *given, ImpMachine *machine)
{
    g_autoptr(GString) from = g_string_new(dump->kernel_low > 0 ? "sheaf_capacity" : "");

    machine->kernel_low = dump->kernel_low;
    for (gsize i = 0; i < G_N_ELEMENTS(clues); i++) {
        if (!shows_name(rows, clues[i].name, clues[i].is_prefix))
            continue;
        g_string_append_printf(from, "%s%s%s", from->len > 0 ? ", " : "", clues[i].name, clues[i].is_prefix ? "*" : "");
        machine->kernel_low = MAX(machine->kernel_low, clues[i].low);
        if (clues[i].high > 0)
            machine->kernel_high = machine->kernel_high > 0 ? MIN(machine->kernel_high, clues[i].high) : clues[i].high;
    }
    note_kernel(dump, machine, from->str);
    /* Without debugging the releases differ in the order only for very large objects (slub-facts A.4). */
    if (given->kernel > 0)
        machine->env.kernel = given->kernel;
    else if (machine->kernel_low > 0)
        machine->env.kernel = machine->kernel_low;
    else if (machine->kernel_high > 0)
        machine->env.kernel = machine->kernel_high;
}

/* Sizes of struct track and of what a kmalloc object carries changed at these releases (slub-facts A.3). */
static const guint debug_eras[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 19), SLAB_KERNEL(6, 1),
                                   SLAB_KERNEL(6, 2),  SLAB_KERNEL(6, 11), SLAB_KERNEL(7, 0)};

/* Whether these flags make the stride of every kmalloc cache what is listed. */
static gboolean
debug_explains(const GPtrArray *rows, const SlabGeometryEnv *env, guint flags)
{
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];
        gint64 asked = imp_kmalloc_bytes(row->name);
        SlabCacheSpec spec = slab_cache_spec_default(row->name, (guint) asked);
        SlabGeometry geometry;

        spec.flags = SLAB_KMALLOC | flags;
        if (asked > 0 && row->stride_bytes > 0 &&
            (!slab_geometry_compute(env, &spec, &geometry, NULL) || geometry.size_bytes != row->stride_bytes))
            return FALSE;
    }
    return TRUE;
}

/* Flags that all explanations share. FALSE without any. */
static gboolean
find_debug_flags(const GPtrArray *rows, const ImpMachine *machine, guint *ret_certain, guint *ret_possible)
{
    static const guint choices[] = {SLAB_RED_ZONE, SLAB_POISON, SLAB_STORE_USER};
    guint certain = G_MAXUINT, possible = 0;

    for (gsize era = 0; era < G_N_ELEMENTS(debug_eras); era++) {
        SlabGeometryEnv env = machine->env;
        gboolean is_later = era + 1 < G_N_ELEMENTS(debug_eras) && debug_eras[era + 1] <= machine->kernel_low;

        if (is_later || (machine->kernel_high > 0 && debug_eras[era] > machine->kernel_high))
            continue;
        env.kernel = debug_eras[era];
        for (guint bits = 1; bits < 1u << G_N_ELEMENTS(choices); bits++) {
            guint flags = 0;

            for (gsize i = 0; i < G_N_ELEMENTS(choices); i++)
                flags |= bits & 1u << i ? choices[i] : 0;
            if (debug_explains(rows, &env, flags)) {
                certain &= flags;
                possible |= flags;
            }
        }
    }
    *ret_certain = possible == 0 ? 0 : certain;
    *ret_possible = possible;
    return possible != 0;
}

static const char *
debug_letters(guint flags, char letters[8])
{
    g_snprintf(letters, 8, "%s%s%s", flags & SLAB_RED_ZONE ? "Z" : "", flags & SLAB_POISON ? "P" : "",
               flags & SLAB_STORE_USER ? "U" : "");
    return letters;
}

static void
find_debugging(ImpDump *dump, const GPtrArray *rows, ImpMachine *machine)
{
    const ImpRow *padded = NULL;
    guint possible, shown = 0;
    char certain_letters[8], possible_letters[8];

    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];
        gint64 asked = imp_kmalloc_bytes(row->name);

        shown |= row->flags & SLAB_DEBUG_FLAGS;
        if (padded == NULL && asked > 0 && row->stride_bytes > asked)
            padded = row;
    }
    if (shown != 0) {
        machine->is_debug = TRUE;
        machine->debug_flags = shown;
        imp_dump_note(dump, IMP_NOTE_INFERRED, "slub_debug is on for some caches at least: they say so");
    } else if (padded != NULL) {
        machine->is_debug = TRUE;
        if (find_debug_flags(rows, machine, &machine->debug_flags, &possible))
            imp_dump_note(dump, IMP_NOTE_INFERRED,
                          "debugging pads the objects (%s takes %" G_GINT64_FORMAT
                          " bytes): of slub_debug, %s certainly and of %s some; F and T leave no trace in sizes",
                          padded->name, padded->stride_bytes,
                          machine->debug_flags != 0 ? debug_letters(machine->debug_flags, certain_letters) : "none",
                          debug_letters(possible, possible_letters));
        else
            imp_dump_note(dump, IMP_NOTE_INFERRED,
                          "objects are padded (%s takes %" G_GINT64_FORMAT
                          " bytes), by debugging or a sanitizer that no letters of slub_debug explain",
                          padded->name, padded->stride_bytes);
    }
}

ImpMachine
imp_machine_infer(ImpDump *dump, guint table, const ImpGiven *given)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    g_autoptr(GArray) shapes = distinct_shapes(rows);
    ImpMachine machine = {.env = slab_geometry_env_default(SLAB_KERNEL(5, 10), 1)};

    find_kernel(dump, rows, given, &machine);
    find_page_size(dump, rows, shapes, given, &machine);
    find_cpus(dump, shapes, given, &machine);
    if (given->n_cpus > 0) {
        machine.cpus_low = machine.cpus_high = given->n_cpus;
        machine.knows_cpus = TRUE;
    }
    find_debugging(dump, rows, &machine);
    return machine;
}

gboolean
imp_machine_misfits(const ImpMachine *machine, const ImpRow *row, guint *ret_order)
{
    Shape shape;
    guint order;

    if (!shape_of_row(row, &shape) || fits_formula(&machine->env, &shape))
        return FALSE;
    if (!slab_order_compute(&machine->env, shape.stride, &order, NULL, NULL))
        return FALSE;
    *ret_order = order;
    return TRUE;
}

gint64
imp_machine_cpu_slabs(const ImpMachine *machine, const ImpRow *row, gboolean lists_only)
{
    gint64 size = row->stride_bytes > 0 ? row->stride_bytes : row->object_bytes, per_cpu;
    SlabCacheSpec spec = slab_cache_spec_default(row->name, (guint) CLAMP(size, 1, 1 << 25));
    SlabGeometry geometry;

    if (row->slabs < 0 || machine->cpus_high == 0 || row->objects_per_slab <= 0 ||
        !slab_geometry_compute(&machine->env, &spec, &geometry, NULL))
        return -1;
    /* Before 5.16 the limit is in objects: in the worst case each slab on the list has one free. */
    per_cpu = machine->env.kernel < SLAB_KERNEL(5, 16) ? geometry.cpu_partial : geometry.cpu_partial_slabs;
    if (machine->is_debug)
        per_cpu = 0;
    return MIN(row->slabs, (gint64) machine->cpus_high * (per_cpu + (lists_only || machine->is_debug ? 0 : 1)));
}
