/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-caches.h"

#include <string.h>

#include "slab-kmalloc.h"
#include "slab-spec.h"

static guint
size_of(const ImpMachine *machine, const ImpRow *row, guint *flags)
{
    gint64 asked = imp_kmalloc_bytes(row->name);

    if (row->object_bytes > 0)
        return (guint) CLAMP(row->object_bytes, 1, 1 << 25);
    /* Padded by debugging that is known: the model adds the padding itself. */
    if (asked > 0 && machine->is_debug && machine->debug_flags != 0) {
        *flags |= machine->debug_flags;
        return (guint) asked;
    }
    return row->stride_bytes > 0 ? (guint) MIN(row->stride_bytes, 1 << 25) : 0;
}

/* Limits as listed, where the model's default is another and takes them. */
static void
override_limits(const ImpMachine *machine, const ImpRow *row, SlabCacheSpec *spec)
{
    SlabCacheSpec trial = *spec;
    SlabGeometry geometry;

    if (!slab_geometry_compute(&machine->env, spec, &geometry, NULL))
        return;
    if (row->order >= 0 && row->order <= 10 && row->order != geometry.order)
        trial.order_override = (gint) row->order;
    if (row->min_partial >= 0 && row->min_partial < 1 << 30 && row->min_partial != geometry.min_partial)
        trial.min_partial_override = (gint) row->min_partial;
    if (slab_geometry_compute(&machine->env, &trial, &geometry, NULL))
        *spec = trial;
    if (row->cpu_partial >= 0 && row->cpu_partial < 1 << 30 && geometry.has_cpu_partial &&
        row->cpu_partial != geometry.cpu_partial)
        spec->cpu_partial_override = (gint) row->cpu_partial;
    if (row->sheaf_capacity > (gint64) geometry.sheaf_capacity && row->sheaf_capacity < 1 << 20)
        spec->args_sheaf_capacity = (gint) row->sheaf_capacity;
}

gboolean
imp_caches_spec(const ImpMachine *machine, const ImpRow *row, SlabCacheSpec *ret_spec)
{
    guint flags = row->knows_flags ? row->flags : 0;
    guint size = size_of(machine, row, &flags);
    SlabCacheSpec spec = slab_cache_spec_default(row->name, size);
    SlabGeometry geometry;

    if (size == 0)
        return FALSE;
    spec.flags = flags | (slab_kmalloc_is_name(row->name) ? SLAB_KMALLOC : 0);
    spec.is_boot_cache = g_str_equal(row->name, "kmem_cache") || g_str_equal(row->name, "kmem_cache_node");
    spec.has_ctor = row->has_ctor;
    if (row->align_bytes > 0 && row->align_bytes <= 1 << 25 && (row->align_bytes & (row->align_bytes - 1)) == 0)
        spec.align_bytes = (guint) row->align_bytes;
    if (row->usersize_bytes > 0 && row->usersize_bytes <= 1 << 25)
        spec.usersize_bytes = (guint) row->usersize_bytes;
    /* An explicit free-pointer offset is hidden: a stride that has no room for a pointer outside gives it away. */
    if (row->stride_bytes > 0 && slab_geometry_compute(&machine->env, &spec, &geometry, NULL) &&
        geometry.size_bytes > row->stride_bytes) {
        SlabCacheSpec inside = spec;

        inside.freeptr_offset = 0;
        if (slab_geometry_compute(&machine->env, &inside, &geometry, NULL) && geometry.size_bytes == row->stride_bytes)
            spec = inside;
    }
    override_limits(machine, row, &spec);
    *ret_spec = spec;
    return TRUE;
}

void
imp_notes_write(const ImpDump *dump, const char *prefix, GString *text)
{
    static const char *const headings[IMP_N_NOTE_KINDS] = {
        [IMP_NOTE_DAMAGE] = "As the text came",
        [IMP_NOTE_INFERRED] = "Inferred",
        [IMP_NOTE_UNKNOWN] = "Not known",
        [IMP_NOTE_CONFLICT] = "Does not add up",
    };

    g_string_append_printf(text, "%sRead as %s: %s.\n", prefix, dump->format, dump->why);
    for (guint kind = 0; kind < IMP_N_NOTE_KINDS; kind++) {
        gboolean is_first = TRUE;

        for (guint i = 0; i < dump->notes->len; i++) {
            const ImpNote *note = &g_array_index(dump->notes, ImpNote, i);

            if (note->kind != kind)
                continue;
            if (is_first)
                g_string_append_printf(text, "%s%s:\n", prefix, headings[kind]);
            is_first = FALSE;
            g_string_append_printf(text, "%s- %s\n", prefix, note->text);
        }
        if (kind == IMP_NOTE_UNKNOWN)
            g_string_append_printf(text, "%s%sno such listing shows: %s\n", prefix, is_first ? "Not known: " : "- ",
                                   dump->unknown);
    }
}

guint
imp_caches_write(const ImpDump *dump, guint table, const ImpMachine *machine, GString *text)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint n_written = 0, kernel = MAX(machine->env.kernel, SLAB_KERNEL(5, 10));

    imp_notes_write(dump, "# ", text);
    g_string_append_printf(text, "# Modelled as: --kernel %u.%u --cpus %u --page-size %uK\n", kernel / 1000,
                           kernel % 1000, machine->env.n_possible_cpus, machine->env.page_size_bytes / 1024);
    if (kernel != machine->env.kernel)
        g_string_append_printf(text, "# (of %u.%u; the rules of 5.10 are the first that commands take)\n",
                               machine->env.kernel / 1000, machine->env.kernel % 1000);
    if (machine->env.slub_min_order != 0 || machine->env.slub_max_order != 3)
        g_string_append_printf(text, "# and --slub-min-order %u --slub-max-order %u\n", machine->env.slub_min_order,
                               machine->env.slub_max_order);
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];
        SlabCacheSpec spec;

        if (!imp_caches_spec(machine, row, &spec) || !g_hash_table_add(seen, (gpointer) row->name))
            continue;
        spec.alias_names = row->alias_names;
        slab_spec_write(&spec, text);
        n_written++;
    }
    return n_written;
}
