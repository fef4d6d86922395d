/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-report.h"

#include <math.h>

#include "replay-guide.h"
#include "slub-occupancy.h"

enum {
    MIN_POOLED_CALLS = 100, /* fewer are judged by their number, not in per cent */
};

static void
append_head(const ReplayRun *run, ReplayMode mode, GString *text)
{
    static const char *const modes[] = {"free", "warm", "guided"};
    const SlabGeometryEnv *env = &run->catalog->listing->env;
    const Replay *replay = run->replay;

    g_string_append_printf(
        text,
        "# %s replay: kernel %u.%u, %u CPUs, %u nodes, %u starts; %" G_GUINT64_FORMAT " events, %" G_GSIZE_FORMAT
        " objects live at the end, %" G_GUINT64_FORMAT " frees of objects from before the trace\n",
        modes[mode], env->kernel / 1000, env->kernel % 1000, replay->topology->n_cpus, replay->topology->n_nodes,
        replay->params.n_starts, replay->n_events, replay_n_live(replay), replay->n_unmatched_frees);
    for (guint i = 0; i < run->notes->len; i++)
        g_string_append_printf(text, "# note: %s\n", (const char *) g_ptr_array_index(run->notes, i));
}

/* Whether the kernel's counts may be compared with. */
static gboolean
is_comparable(const ReplayRun *run)
{
    return run->counted && !run->catalog->is_changed && run->replay->params.n_copies == 1;
}

static void
append_calls(const ReplayRun *run, const ReplayCache *cache, KmemProbe probe, GString *text)
{
    ReplaySpread spread = replay_spread(run->replay, cache, probe);
    double counted = 0;
    gboolean has_counts = run->counted && replay_counted_calls(run->counted, run->catalog, cache, probe, &counted);

    if (!replay_has_function(cache->cache[0], probe) || (spread.high == 0 && counted == 0))
        return;
    g_string_append_printf(text, "%-22s %-20s %11.1f %9.0f %9.0f", cache->name, kmem_probe_name(probe), spread.mean,
                           spread.low, spread.high);
    if (has_counts)
        g_string_append_printf(text, " %11.1f", counted);
    if (has_counts && is_comparable(run) && counted > 0)
        g_string_append_printf(text, " %+8.2f", 100 * (spread.mean - counted) / counted);
    g_string_append_c(text, '\n');
}

static int
compare_allocs(gconstpointer a, gconstpointer b)
{
    const ReplayCache *x = *(ReplayCache *const *) a, *y = *(ReplayCache *const *) b;

    return x->n_allocs + x->n_frees > y->n_allocs + y->n_frees ? -1
                                                               : x->n_allocs + x->n_frees < y->n_allocs + y->n_frees;
}

static void
append_table(const ReplayRun *run, GString *text)
{
    g_autoptr(GPtrArray) caches = g_ptr_array_copy(run->replay->caches, NULL, NULL);

    g_ptr_array_set_free_func(caches, NULL);
    g_ptr_array_sort(caches, compare_allocs);
    g_string_append_printf(text, "%-22s %-20s %11s %9s %9s%s%s\n", "# cache", "function", "simulated", "low", "high",
                           run->counted ? "     counted" : "", is_comparable(run) ? "   error_%" : "");
    for (guint i = 0; i < caches->len; i++)
        for (guint probe = 0; probe < KMEM_N_PROBES; probe++)
            append_calls(run, g_ptr_array_index(caches, i), (KmemProbe) probe, text);
}

static void
append_pools(const ReplayRun *run, GString *text)
{
    ReplayPool pools[KMEM_N_PROBES] = {{0}};

    replay_pool_add(pools, run->replay, run->counted, MIN_POOLED_CALLS);
    g_string_append_printf(text, "# pooled over caches with at least %d counted calls\n", MIN_POOLED_CALLS);
    for (guint probe = 0; probe < KMEM_N_PROBES; probe++)
        if (pools[probe].n_rows)
            g_string_append_printf(
                text, "%-22s %-20s %6u rows %11.1f counted %8.2f %% error, %" G_GUINT64_FORMAT " missed by probes\n",
                "# pooled", kmem_probe_name((KmemProbe) probe), pools[probe].n_rows, pools[probe].counted,
                100 * pools[probe].error / pools[probe].counted,
                replay_counted_missed(run->counted, (KmemProbe) probe));
}

static void
append_rules(const ReplayGuide *guide, GString *text)
{
    ReplayFrees frees = replay_guide_frees(guide);

    g_string_append_printf(text, "# %-72s %9s %7s %9s %9s\n", "rule", "ok", "not ok", "ok_%", "left_out");
    for (guint rule = 0; rule < REPLAY_N_RULES; rule++) {
        ReplayTally tally = replay_guide_tally(guide, (ReplayRule) rule);
        guint64 n = tally.ok + tally.not_ok;

        g_string_append_printf(text, "  %-72s %9" G_GUINT64_FORMAT " %7" G_GUINT64_FORMAT,
                               replay_rule_text((ReplayRule) rule), tally.ok, tally.not_ok);
        if (n)
            g_string_append_printf(text, " %9.2f", 100.0 * (double) tally.ok / (double) n);
        else
            g_string_append_printf(text, " %9s", "-");
        g_string_append_printf(text, " %9" G_GUINT64_FORMAT "\n", tally.left_out);
    }
    g_string_append_printf(
        text,
        "# slow frees: %" G_GUINT64_FORMAT " as predicted, %" G_GUINT64_FORMAT
        " in interrupts without an event (silent probes), %" G_GUINT64_FORMAT " wrong (%" G_GUINT64_FORMAT
        " only predicted, %" G_GUINT64_FORMAT " only seen), %" G_GUINT64_FORMAT
        " on slabs not known (%" G_GUINT64_FORMAT " only predicted, %" G_GUINT64_FORMAT
        " only seen), %" G_GUINT64_FORMAT " of objects that the trace does not show\n",
        frees.agreed, frees.silent, frees.wrong[0] + frees.wrong[1], frees.wrong[0], frees.wrong[1],
        frees.unknown[0] + frees.unknown[1], frees.unknown[0], frees.unknown[1], frees.without_object);
}

/* Of the first start: slabs with free objects at the end. */
static void
append_occupancy(const ReplayCache *cache, guint node, GString *text)
{
    SlubOccupancy places[SLUB_N_HOLDERS];

    slub_occupancy(cache->cache[0], node, places);
    for (guint place = 0; place < SLUB_N_HOLDERS; place++) {
        const SlubOccupancy *o = &places[place];

        if (!o->n_slabs)
            continue;
        g_string_append_printf(text, "%-22s %4u %-11s %7" G_GUINT64_FORMAT " %6" G_GUINT64_FORMAT " %10.1f ",
                               cache->name, node, slub_holder_name((SlubHolder) place), o->n_slabs, o->n_empty,
                               (double) o->free_bytes / 1024);
        for (guint i = 0; i < SLUB_N_TENTHS; i++)
            g_string_append_printf(text, " %" G_GUINT64_FORMAT, o->tenths[i]);
        g_string_append_c(text, '\n');
    }
}

static void
append_stranded(const Replay *replay, GString *text)
{
    g_string_append_printf(
        text,
        "# slabs with free objects at the end, first start; by objects in use: below 10 %%, 20 "
        "%%, ... 100 %%.\n# min_partial caps only slabs that are empty when they come to the list: one "
        "object in use keeps a slab.\n%-22s %4s %-11s %7s %6s %10s  %s\n",
        "# cache", "node", "place", "slabs", "empty", "free_KiB", "tenths");
    for (guint i = 0; i < replay->caches->len; i++)
        for (guint node = 0; node < replay->topology->n_nodes; node++)
            append_occupancy(g_ptr_array_index(replay->caches, i), node, text);
}

void
replay_report(const ReplayRun *run, ReplayMode mode, GString *text)
{
    append_head(run, mode, text);
    if (run->replay->guide)
        append_rules(run->replay->guide, text);
    append_table(run, text);
    if (is_comparable(run))
        append_pools(run, text);
    append_stranded(run->replay, text);
}
