/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-report.h"

#include <stdlib.h>
#include <string.h>

#include "imp-memory.h"
#include "slab-old.h"

/* Less than this share of the memory is not worth a setting. */
#define WORTH_FRAC 0.01
#define FULL_FRAC 0.99
/* Caches below this share are not named in a verdict. */
#define NAMED_FRAC 0.05

#define KIB G_GINT64_CONSTANT(1024)

static void
append_kib(GString *text, gint64 bytes)
{
    if (bytes < 0)
        g_string_append_printf(text, " %11s", "-");
    else
        g_string_append_printf(text, " %11" G_GINT64_FORMAT, (bytes + KIB / 2) / KIB);
}

static void
append_count(GString *text, gint64 count, int width)
{
    if (count < 0)
        g_string_append_printf(text, " %*s", width, "-");
    else
        g_string_append_printf(text, " %*" G_GINT64_FORMAT, width, count);
}

static void
append_percent(GString *text, double frac)
{
    if (frac < 0)
        g_string_append_printf(text, " %6s", "-");
    else
        g_string_append_printf(text, " %6.1f", 100 * frac);
}

static void
append_cache(GString *text, const ImpMemory *cache)
{
    const ImpRow *row = cache->row;

    g_string_append_printf(text, "%-28s", row->name);
    append_kib(text, cache->total);
    append_kib(text, cache->in_use);
    append_kib(text, cache->free);
    append_kib(text, cache->padding);
    append_percent(text, imp_memory_use(cache));
    append_count(text, cache->order, 6);
    append_count(text, row->slabs, 9);
    append_count(text, row->cpu_slabs, 7);
    append_count(text, row->partial_slabs, 7);
    if (cache->packed >= 0)
        g_string_append_printf(text, " %+9" G_GINT64_FORMAT, (cache->packed_order0 - cache->packed) / KIB);
    g_string_append_c(text, '\n');
}

static void
append_caches(GString *text, const ImpMemoryTable *memory, guint n_top)
{
    guint n = n_top == 0 ? memory->caches->len : MIN(n_top, memory->caches->len);

    g_string_append_printf(text, "%-28s %11s %11s %11s %11s %6s %6s %9s %7s %7s %9s\n", "# cache", "KiB", "in_use",
                           "free", "padding", "use_%", "order", "slabs", "on_cpus", "on_node", "at_order0");
    for (guint i = 0; i < n; i++)
        append_cache(text, &g_array_index(memory->caches, ImpMemory, i));
    if (n < memory->caches->len)
        g_string_append_printf(text, "# and %u smaller caches\n", memory->caches->len - n);
    g_string_append_printf(text, "%-28s", "# total");
    append_kib(text, memory->sum.total);
    append_kib(text, memory->sum.in_use);
    append_kib(text, memory->sum.free);
    append_kib(text, memory->sum.padding);
    append_percent(text, memory->use_frac);
    g_string_append_c(text, '\n');
    if (memory->n_unknown > 0)
        g_string_append_printf(text, "# %u caches whose memory the listing does not tell\n", memory->n_unknown);
}

static void
append_orders(GString *text, const ImpMemoryTable *memory)
{
    if (memory->by_order[11] == memory->sum.total)
        return;
    g_string_append(text, "\nMemory by order");
    for (guint order = 0; order < G_N_ELEMENTS(memory->by_order); order++) {
        if (memory->by_order[order] == 0)
            continue;
        if (order < 11)
            g_string_append_printf(text, "; order %u: %" G_GINT64_FORMAT " KiB", order, memory->by_order[order] / KIB);
        else
            g_string_append_printf(text, "; not known: %" G_GINT64_FORMAT " KiB", memory->by_order[order] / KIB);
    }
    g_string_append(text, ".\n");
}

static void
append_totals(GString *text, const ImpDump *dump, const ImpMemoryTable *memory)
{
    double sum_kb = (double) memory->sum.total / 1024;

    if (dump->slab_kb > 0)
        g_string_append_printf(text,
                               "Of the kernel's Slab %" G_GINT64_FORMAT " kB these caches are %.1f %%; the rest is in "
                               "caches not listed and in large kmallocs, or came between two readings.\n",
                               dump->slab_kb, 100 * sum_kb / (double) dump->slab_kb);
    if (dump->reclaimable_kb >= 0 && dump->unreclaimable_kb >= 0)
        g_string_append_printf(text, "SReclaimable %" G_GINT64_FORMAT " kB, SUnreclaim %" G_GINT64_FORMAT " kB.\n",
                               dump->reclaimable_kb, dump->unreclaimable_kb);
    if (dump->mem_total_kb > 0)
        g_string_append_printf(text, "Of MemTotal %" G_GINT64_FORMAT " kB they are %.1f %%.\n", dump->mem_total_kb,
                               100 * sum_kb / (double) dump->mem_total_kb);
}

/* Even if all that CPUs hold were free slots, next to nothing. */
static gboolean
is_full(const ImpMemory *cache)
{
    return imp_memory_use(cache) >= FULL_FRAC && cache->cpu_held >= 0 && cache->free >= 0 &&
           (double) (cache->cpu_held + cache->free) < 2 * WORTH_FRAC * (double) cache->total;
}

static void
append_full_caches(GString *text, const ImpMemoryTable *memory)
{
    for (guint i = 0; i < memory->caches->len; i++) {
        const ImpMemory *cache = &g_array_index(memory->caches, ImpMemory, i);

        if ((double) cache->total < NAMED_FRAC * (double) memory->sum.total)
            break;
        if (is_full(cache))
            g_string_append_printf(text,
                                   "- %s: %" G_GINT64_FORMAT
                                   " KiB, %.1f %% of its slots in use: no setting frees them, "
                                   "only whoever holds the objects\n",
                                   cache->row->name, cache->total / KIB, 100 * imp_memory_use(cache));
    }
}

/* What CPUs hold counts as in use in every listing, so it comes on top. */
static void
append_held(GString *text, const ImpMachine *machine, const ImpMemoryTable *memory)
{
    if (memory->sum.cpu_held >= 0)
        g_string_append_printf(
            text,
            "- cpu_partial 0: at most %" G_GINT64_FORMAT " KiB lie in slabs on the CPUs' partial lists "
            "(%" G_GINT64_FORMAT " KiB in all slabs CPUs hold; where the listing does not show them, "
            "by the default limits of %u.%u). Their slots count as in use above; how many are free "
            "is not known\n",
            memory->sum.cpu_lists / KIB, memory->sum.cpu_held / KIB, machine->env.kernel / 1000,
            machine->env.kernel % 1000);
    else if (memory->sum.cpu_lists >= 0)
        g_string_append_printf(text,
                               "- cpu_partial 0: at most %" G_GINT64_FORMAT
                               " KiB lie in slabs on the CPUs' partial lists. Their slots count as in use above; how many "
                               "are free is not known, nor which slabs CPUs take from\n",
                               memory->sum.cpu_lists / KIB);
    else
        g_string_append_printf(text,
                               "- cpu_partial 0: what CPUs hold counts as in use above; how much that is cannot be "
                               "said%s\n",
                               machine->cpus_high == 0 ? " without the number of CPUs (--cpus)" : "");
}

static void
append_order0(GString *text, const ImpMemoryTable *memory)
{
    gint64 change = memory->sum.packed_order0 - memory->sum.packed;

    g_string_append_printf(text,
                           "- order 0: these objects would take at least %" G_GINT64_FORMAT
                           " KiB, packed as tightly at "
                           "the present orders %" G_GINT64_FORMAT " KiB: %s%" G_GINT64_FORMAT " KiB by padding alone\n",
                           memory->sum.packed_order0 / KIB, memory->sum.packed / KIB,
                           change > 0   ? "it costs "
                           : change < 0 ? "it saves "
                                        : "a change of ",
                           (gint64) llabs(change) / KIB);
}

/* The plain word: nothing to gain, nothing to see but what CPUs hold, or how much at most. */
static void
append_plain_word(GString *text, const ImpMemoryTable *memory, gint64 freeable)
{
    double total = (double) memory->sum.total, share = (double) freeable / total;
    double held = (double) memory->sum.cpu_held / total;

    if (share < WORTH_FRAC && held >= 0 && share + held < WORTH_FRAC)
        g_string_append_printf(text,
                               "\nNo SLUB setting frees memory here: %.1f %% of the slots are in use, and all settings "
                               "together could give back at most %" G_GINT64_FORMAT
                               " KiB (%.2f %%). If this memory should "
                               "not be there, objects leak or are kept: that is not a matter of settings.\n",
                               100 * memory->use_frac, freeable / KIB, 100 * share);
    else if (share < WORTH_FRAC)
        g_string_append_printf(
            text,
            "\nThe listing shows next to nothing that a setting could free: %.1f %% of the slots count "
            "as in use, and at most %" G_GINT64_FORMAT " KiB (%.2f %%) could come back, apart from free "
            "slots in what CPUs hold:\n",
            100 * memory->use_frac, freeable / KIB, 100 * share);
    else if (memory->sum.packed > 0)
        g_string_append_printf(text,
                               "\nSettings could give back at most %" G_GINT64_FORMAT
                               " KiB (%.1f %%), if every slab were "
                               "as full as can be; each alone:\n",
                               freeable / KIB, 100 * share);
    else
        g_string_append_printf(text,
                               "\n%" G_GINT64_FORMAT
                               " KiB (%.1f %%) are not in use: no setting gives back more, and how "
                               "much less one would the listing does not tell.\n",
                               freeable / KIB, 100 * share);
}

static void
append_verdict(GString *text, const ImpMachine *machine, const ImpMemoryTable *memory)
{
    gint64 freeable = imp_memory_freeable(memory);

    if (memory->sum.total == 0 || memory->use_frac < 0)
        return;
    append_plain_word(text, memory, freeable);
    if ((double) freeable >= WORTH_FRAC * (double) memory->sum.total && memory->sum.packed > 0) {
        g_string_append_printf(text,
                               "- shrink: at most %" G_GINT64_FORMAT
                               " KiB, if the free slots lie together in empty slabs; "
                               "slabs with one object left stay\n",
                               memory->sum.shrinkable / KIB);
        append_order0(text, memory);
    }
    if (memory->sum.packed > 0)
        append_held(text, machine, memory);
    append_full_caches(text, memory);
}

/* The stage of the old SLAB whose object counts are listed; -1 when none explains most. */
static gint
find_old_stage(const GPtrArray *rows, const ImpMachine *machine)
{
    gint best = -1;
    guint most = rows->len / 2;

    for (gint stage = 0; stage < SLAB_OLD_N_STAGES; stage++) {
        guint n_fitting = 0;

        for (guint i = 0; i < rows->len; i++) {
            const ImpRow *row = rows->pdata[i];
            gint64 asked = imp_kmalloc_bytes(row->name);
            SlabCacheSpec spec =
                slab_cache_spec_default(row->name, (guint) CLAMP(asked > 0 ? asked : row->stride_bytes, 1, 1 << 25));
            SlabOldGeometry geometry;

            spec.flags = SLAB_HWCACHE_ALIGN;
            n_fitting += slab_old_compute(&machine->env, (SlabOldStage) stage, &spec, slab_old_is_early_name(row->name),
                                          1, &geometry, NULL) &&
                         geometry.objects == row->objects_per_slab && geometry.size_bytes == row->stride_bytes;
        }
        if (n_fitting > most) {
            most = n_fitting;
            best = stage;
        }
    }
    return best;
}

static void
append_old_slab(GString *text, const ImpDump *dump, guint table, const ImpMachine *machine)
{
    static const char *const stages[] = {"to 3.12", "3.13 and 3.14", "from 3.15"};
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    gint stage = find_old_stage(rows, machine);

    g_string_append(text, "This is the old SLAB allocator (limits and batches above 0, or slabinfo 1.x), not SLUB: no "
                          "SLUB setting applies, and nothing is said of what one would do.\n");
    if (stage >= 0)
        g_string_append_printf(text, "Its objects in a slab are those of stage %d (%s); slubsim geometry --old-slab.\n",
                               stage, stages[stage]);
    g_string_append_c(text, '\n');
}

void
imp_report_memory(const ImpDump *dump, guint table, const ImpMachine *machine, guint n_top, GString *text)
{
    g_autoptr(ImpMemoryTable) memory = imp_memory_new(dump, table, machine);

    if (memory->caches->len == 0) {
        g_string_append(text, "The listing tells no memory of any cache.\n");
        return;
    }
    if (dump->is_old_slab)
        append_old_slab(text, dump, table, machine);
    append_caches(text, memory, n_top);
    append_orders(text, memory);
    append_totals(text, dump, memory);
    if (!dump->is_old_slab)
        append_verdict(text, machine, memory);
}

typedef struct {
    const ImpRow *before, *after;
    gint64 change;
} Change;

static gint
compare_changes(gconstpointer a, gconstpointer b)
{
    const Change *x = a, *y = b;
    gint64 left = llabs(x->change), right = llabs(y->change);

    if (left != right)
        return left < right ? 1 : -1;
    return strcmp(x->after->name, y->after->name);
}

/* The largest changes of caches that both tables have. */
static void
append_changes(GString *text, const ImpDump *dump, guint table, const ImpMachine *machine)
{
    g_autoptr(GPtrArray) before = imp_dump_table(dump, table - 1), after = imp_dump_table(dump, table);
    g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));

    for (guint i = 0; i < before->len; i++)
        g_hash_table_insert(rows, (gpointer) ((ImpRow *) before->pdata[i])->name, before->pdata[i]);
    for (guint i = 0; i < after->len; i++) {
        Change change = {.after = after->pdata[i]};

        change.before = g_hash_table_lookup(rows, change.after->name);
        if (change.before == NULL)
            continue;
        change.change = imp_row_bytes(change.after, machine->env.page_size_bytes) -
                        imp_row_bytes(change.before, machine->env.page_size_bytes);
        g_array_append_val(changes, change);
    }
    g_array_sort(changes, compare_changes);
    for (guint i = 0; i < MIN(changes->len, 5); i++) {
        const Change *change = &g_array_index(changes, Change, i);

        if (change->change == 0)
            continue;
        g_string_append_printf(text, "    %s: %+" G_GINT64_FORMAT " KiB", change->after->name, change->change / KIB);
        if (change->before->active_objects >= 0 && change->after->active_objects >= 0)
            g_string_append_printf(text, ", objects in use %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                                   change->before->active_objects, change->after->active_objects);
        g_string_append_c(text, '\n');
    }
}

void
imp_report_tables(const ImpDump *dump, const ImpMachine *machine, GString *text)
{
    if (dump->tables->len < 2)
        return;
    for (guint table = 0; table < dump->tables->len; table++) {
        g_autoptr(ImpMemoryTable) memory = imp_memory_new(dump, table, machine);
        const char *title = dump->tables->pdata[table];

        g_string_append_printf(text, "Table %u%s%s: %u caches, %" G_GINT64_FORMAT " KiB\n", table + 1,
                               title[0] != '\0' ? ", " : "", title, memory->caches->len, memory->sum.total / KIB);
        if (table > 0)
            append_changes(text, dump, table, machine);
    }
    g_string_append_c(text, '\n');
}

static double
share(gint64 part, gint64 other)
{
    return part + other > 0 ? 100.0 * (double) part / (double) (part + other) : 0;
}

static void
append_path(GString *text, const char *what, const ImpStats *stats, SlabStat fast, SlabStat slow)
{
    if (stats->total[fast] < 0 || stats->total[slow] < 0)
        return;
    g_string_append_printf(text, "  %s: %" G_GINT64_FORMAT ", %.1f %% fast\n", what,
                           stats->total[fast] + stats->total[slow], share(stats->total[fast], stats->total[slow]));
}

static void
append_slabs(GString *text, const char *what, const ImpStats *stats, SlabStat slabs, SlabStat fast, SlabStat slow)
{
    gint64 calls = MAX(stats->total[fast], 0) + MAX(stats->total[slow], 0);

    if (stats->total[slabs] < 0 || calls == 0)
        return;
    g_string_append_printf(text, "  slabs %s: %" G_GINT64_FORMAT " (%.2f for 100 calls)", what, stats->total[slabs],
                           100.0 * (double) stats->total[slabs] / (double) calls);
    if (stats->busiest_cpu[slabs] >= 0 && stats->total[slabs] > 0)
        g_string_append_printf(text, ", %.1f %% of them on CPU %d",
                               100.0 * (double) stats->busiest[slabs] / (double) stats->total[slabs],
                               stats->busiest_cpu[slabs]);
    g_string_append_c(text, '\n');
}

void
imp_report_activity(const ImpDump *dump, guint table, GString *text)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    gboolean is_first = TRUE;

    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        if (row->stats == NULL && row->fast_alloc_percent < 0)
            continue;
        g_string_append_printf(text, "%s%s\n", is_first ? "\nActivity since the cache was made:\n" : "", row->name);
        is_first = FALSE;
        if (row->stats == NULL)
            g_string_append_printf(text,
                                   "  allocations: %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                                   " %% fast\n  frees: %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " %% fast\n",
                                   row->n_allocs, row->fast_alloc_percent, row->n_frees, row->fast_free_percent);
        else {
            append_path(text, "allocations", row->stats, SLAB_STAT_ALLOC_FASTPATH, SLAB_STAT_ALLOC_SLOWPATH);
            append_path(text, "frees", row->stats, SLAB_STAT_FREE_FASTPATH, SLAB_STAT_FREE_SLOWPATH);
            append_slabs(text, "made", row->stats, SLAB_STAT_ALLOC_SLAB, SLAB_STAT_ALLOC_FASTPATH,
                         SLAB_STAT_ALLOC_SLOWPATH);
            append_slabs(text, "given back", row->stats, SLAB_STAT_FREE_SLAB, SLAB_STAT_FREE_FASTPATH,
                         SLAB_STAT_FREE_SLOWPATH);
            if (row->stats->total[SLAB_STAT_ORDER_FALLBACK] > 0)
                g_string_append_printf(text, "  of a lower order, for want of free pages: %" G_GINT64_FORMAT " slabs\n",
                                       row->stats->total[SLAB_STAT_ORDER_FALLBACK]);
        }
    }
}

void
imp_report_call_sites(const ImpDump *dump, guint table, GString *text)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);

    g_string_append_printf(text, "%-36s %13s %13s %8s %9s\n", "# call site", "given_bytes", "asked_bytes", "wasted_%",
                           "calls");
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        g_string_append_printf(
            text, "%-36s %13" G_GINT64_FORMAT " %13" G_GINT64_FORMAT " %8.3f %9" G_GINT64_FORMAT "\n", row->name,
            row->bytes, row->requested_bytes,
            row->bytes > 0 ? 100.0 * (double) (row->bytes - row->requested_bytes) / (double) row->bytes : 0.0,
            row->n_allocs);
    }
    g_string_append(text, "These are bytes given out over the recording, not bytes held: no cache's memory follows.\n");
}
