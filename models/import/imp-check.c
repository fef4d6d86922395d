/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-check.h"

#include <string.h>

#define N_NAMED 3u

/* More in use than there are slots. */
static gboolean
is_overfull(const ImpRow *row)
{
    return row->total_objects >= 0 && row->active_objects > row->total_objects;
}

/* Slabs that hold fewer objects than one of the preferred order: those of a lower order, or, where there is none lower,
 * two counts of different moments. */
static gboolean
misses_slots(const ImpRow *row)
{
    return row->slabs >= 0 && row->objects_per_slab > 0 && row->total_objects >= 0 &&
           row->slabs <= G_MAXINT64 / row->objects_per_slab && row->total_objects < row->slabs * row->objects_per_slab;
}

static gboolean
has_small_slabs(const ImpRow *row)
{
    return row->order != 0 && misses_slots(row);
}

static gboolean
was_read_while_changing(const ImpRow *row)
{
    return row->order == 0 && misses_slots(row);
}

static gboolean
has_too_many_slots(const ImpRow *row)
{
    return row->slabs >= 0 && row->objects_per_slab > 0 && row->total_objects >= 0 &&
           row->slabs <= G_MAXINT64 / row->objects_per_slab && row->total_objects > row->slabs * row->objects_per_slab;
}

static gboolean
has_more_listed_than_slabs(const ImpRow *row)
{
    return row->slabs >= 0 && MAX(row->partial_slabs, 0) + MAX(row->cpu_slabs, 0) > row->slabs;
}

static gboolean
is_stride_below_object(const ImpRow *row)
{
    return row->stride_bytes >= 0 && row->object_bytes > row->stride_bytes;
}

static gboolean
is_stride_unknown(const ImpRow *row)
{
    return row->stride_low_bytes != row->stride_high_bytes;
}

static gboolean
has_address(const ImpRow *row)
{
    return strstr(row->name, "ffffffff8") != NULL || strstr(row->name, "ffff8") != NULL;
}

static const struct {
    gboolean (*is_so)(const ImpRow *row);
    ImpNoteKind kind;
    const char *what;
} faults[] = {
    {is_overfull, IMP_NOTE_CONFLICT, "more objects in use than slots"},
    {has_too_many_slots, IMP_NOTE_CONFLICT, "more slots than slabs times objects"},
    {was_read_while_changing, IMP_NOTE_CONFLICT,
     "fewer slots than slabs times objects, though no order is lower: counts of different moments"},
    {has_small_slabs, IMP_NOTE_INFERRED,
     "fewer slots than slabs times objects: some slabs are of a lower order, for want of free pages; their memory is "
     "an upper bound"},
    {has_more_listed_than_slabs, IMP_NOTE_CONFLICT, "more slabs on lists and CPUs than in all"},
    {is_stride_below_object, IMP_NOTE_CONFLICT, "slots smaller than the object"},
    {is_stride_unknown, IMP_NOTE_UNKNOWN,
     "the exact size of an object, which was rounded: several fit, the largest is taken"},
    {has_address, IMP_NOTE_DAMAGE, "a kernel address in the name; kept as it is"},
};

static void
check_rows(ImpDump *dump, const GPtrArray *rows)
{
    for (gsize f = 0; f < G_N_ELEMENTS(faults); f++) {
        g_autoptr(GString) names = g_string_new(NULL);
        guint n = 0;

        for (guint i = 0; i < rows->len; i++) {
            const ImpRow *row = rows->pdata[i];

            if (faults[f].is_so(row) && n++ < N_NAMED)
                g_string_append_printf(names, "%s%s", n > 1 ? ", " : "", row->name);
        }
        if (n > 0)
            imp_dump_note(dump, faults[f].kind, "%s%s: %s (%u of %u caches)", names->str, n > N_NAMED ? ", ..." : "",
                          faults[f].what, n, rows->len);
    }
}

static void
check_names(ImpDump *dump, const GPtrArray *rows)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint n = 0;

    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        if (!g_hash_table_add(seen, (gpointer) row->name) && n++ < N_NAMED)
            imp_dump_note(dump, IMP_NOTE_CONFLICT, "%s is listed more than once", row->name);
    }
    if (n > N_NAMED)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "%u caches are listed more than once", n);
}

/* Equality is not to be had: large kmallocs count in Slab, and files are read one after the other. */
static void
check_totals(ImpDump *dump, const GPtrArray *rows, const ImpMachine *machine)
{
    gint64 sum_kb = 0;

    if (dump->slab_kb <= 0)
        return;
    for (guint i = 0; i < rows->len; i++)
        sum_kb += MAX(imp_row_bytes(rows->pdata[i], machine->env.page_size_bytes), 0) / 1024;
    if (sum_kb > dump->slab_kb + dump->slab_kb / 20)
        imp_dump_note(dump, IMP_NOTE_CONFLICT,
                      "the caches add up to %" G_GINT64_FORMAT " kB, the kernel's Slab line says %" G_GINT64_FORMAT
                      " kB: another moment, another page size or another machine",
                      sum_kb, dump->slab_kb);
    else if (sum_kb < dump->slab_kb - dump->slab_kb / 10)
        imp_dump_note(dump, IMP_NOTE_CONFLICT,
                      "the caches add up to %" G_GINT64_FORMAT " kB of the kernel's Slab line of %" G_GINT64_FORMAT
                      " kB: caches are missing, or large kmallocs hold the rest",
                      sum_kb, dump->slab_kb);
    if (dump->reclaimable_kb >= 0 && dump->unreclaimable_kb >= 0 &&
        dump->reclaimable_kb + dump->unreclaimable_kb != dump->slab_kb)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "SReclaimable and SUnreclaim do not add up to Slab");
}

void
imp_check_table(ImpDump *dump, guint table, const ImpMachine *machine)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);

    check_rows(dump, rows);
    check_names(dump, rows);
    check_totals(dump, rows, machine);
}
