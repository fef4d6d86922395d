/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays of recorded traces (tests/data/replay-*) against what the recorded kernels did, and of traces that the model
 * wrote itself. tests/models/mutants.py runs this program on allocators with a broken rule. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "kmem-writer.h"
#include "replay-guide.h"
#include "replay-run.h"
#include "replay-write.h"
#include "sim-error.h"
#include "sim-gsl.h"
#include "slub-occupancy.h"

static char *
data_path(const char *name)
{
    return g_test_build_filename(G_TEST_DIST, "data", name, NULL);
}

static ReplayRun *
run_request(ReplayRequest *request)
{
    GError *error = NULL;
    ReplayRun *run;
    g_autofree char *why = NULL;

    if (!request->n_starts)
        request->n_starts = 5;
    if (!request->n_copies)
        request->n_copies = 1;
    run = replay_run(request, &error);
    g_assert_no_error(error);
    why = replay_check(run->replay);
    g_assert_cmpstr(why, ==, NULL);
    return run;
}

static ReplayRun *
run_trace(const char *trace, ReplayMode mode)
{
    g_autofree char *name = g_strdup_printf("replay-%s.events.tsv.zst", trace);
    g_autofree char *path = data_path(name);

    return run_request(&(ReplayRequest){.trace_path = path, .mode = mode, .seed = 1, .warm_fraction = 0.3});
}

/* Limits in per cent on the mean over the starts, for functions that the trace shows at least 100 times. */
static const struct {
    const char *trace, *cache;
    double limit[KMEM_N_PROBES]; /* 0 = not judged */
} truths[] = {
    {"6.1-hackbench-smp2",
     "skbuff_head_cache",
     {[KMEM_PROBE_ALLOC_SLOW] = 2.2,
      [KMEM_PROBE_FREE_SLOW] = 0.3,
      [KMEM_PROBE_PUT_CPU_PARTIAL] = 2,
      [KMEM_PROBE_GET_PARTIAL_NODE] = 3,
      [KMEM_PROBE_UNFREEZE] = 3,
      [KMEM_PROBE_NEW_SLAB] = 3,
      [KMEM_PROBE_DISCARD_SLAB] = 3}},
    {"6.12-hackbench-smp8",
     "skbuff_head_cache",
     {[KMEM_PROBE_ALLOC_SLOW] = 1,
      [KMEM_PROBE_FREE_SLOW] = 0.3,
      [KMEM_PROBE_PUT_CPU_PARTIAL] = 2.5,
      [KMEM_PROBE_GET_PARTIAL_NODE] = 4,
      [KMEM_PROBE_UNFREEZE] = 4,
      [KMEM_PROBE_NEW_SLAB] = 4}},
    {"6.1-files-smp2",
     "dentry",
     {[KMEM_PROBE_ALLOC_SLOW] = 2,
      [KMEM_PROBE_FREE_SLOW] = 2,
      [KMEM_PROBE_PUT_CPU_PARTIAL] = 3,
      [KMEM_PROBE_NEW_SLAB] = 1,
      [KMEM_PROBE_DISCARD_SLAB] = 1}},
    {"6.12-mmap1-smp8",
     "maple_node",
     {[KMEM_PROBE_ALLOC_SLOW] = 15,
      [KMEM_PROBE_FREE_SLOW] = 1.5,
      [KMEM_PROBE_PUT_CPU_PARTIAL] = 15,
      [KMEM_PROBE_NEW_SLAB] = 3,
      [KMEM_PROBE_DISCARD_SLAB] = 3}},
    /* Of its slow frees 3 % show no event: only the guided replay can tell which. */
    {"6.1-mmap1-smp2", "maple_node", {[KMEM_PROBE_ALLOC_SLOW] = 10}},
};

static const ReplayCache *
find_cache(const Replay *replay, const char *name)
{
    for (guint i = 0; i < replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(replay->caches, i);

        if (g_str_equal(cache->name, name))
            return cache;
    }
    g_error("no cache %s", name);
}

/* The slow-path functions of a free replay, against those in the trace itself. */
static void
test_free(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(truths); i++) {
        g_autoptr(ReplayRun) run = run_trace(truths[i].trace, REPLAY_FREE);
        const ReplayCache *cache = find_cache(run->replay, truths[i].cache);

        for (guint probe = 0; probe < KMEM_N_PROBES; probe++) {
            double traced = (double) cache->traced.calls[probe], simulated;

            if (truths[i].limit[probe] == 0)
                continue;
            simulated = replay_spread(run->replay, cache, (KmemProbe) probe).mean;
            g_test_message("%s %s: %g simulated, %g traced", truths[i].trace, kmem_probe_name((KmemProbe) probe),
                           simulated, traced);
            g_assert_cmpfloat(traced, >=, 79);
            g_assert_cmpfloat(100 * fabs(simulated - traced) / traced, <=, truths[i].limit[probe]);
        }
    }
}

/* Steps that agree, in per cent. Left out are at most so many of a rule's steps, or a wrong rule could hide there. */
static void
test_guided(void)
{
    static const double least[REPLAY_N_RULES] = {
        [REPLAY_RULE_ALLOC_SLOW] = 99.8, [REPLAY_RULE_BULK_ALLOC] = 99.8,  [REPLAY_RULE_FREE_SLOW] = 99.9,
        [REPLAY_RULE_BULK_FREE] = 99.8,  [REPLAY_RULE_SOURCE] = 99.5,      [REPLAY_RULE_CPU_PARTIAL_LIFO] = 99,
        [REPLAY_RULE_NODE_HEAD] = 98,    [REPLAY_RULE_EXTRA_SLABS] = 99.5, [REPLAY_RULE_PUT_CPU_PARTIAL] = 99.8,
        [REPLAY_RULE_DRAIN] = 99.5,      [REPLAY_RULE_DISCARD] = 100,      [REPLAY_RULE_DRAIN_DISCARD] = 100};
    ReplayTally all[REPLAY_N_RULES] = {{0}};

    for (gsize i = 0; i < G_N_ELEMENTS(truths); i++) {
        g_autoptr(ReplayRun) run = run_trace(truths[i].trace, REPLAY_GUIDED);

        for (guint rule = 0; rule < REPLAY_N_RULES; rule++) {
            ReplayTally tally = replay_guide_tally(run->replay->guide, (ReplayRule) rule);

            g_test_message(
                "%s: %s: %" G_GUINT64_FORMAT " ok, %" G_GUINT64_FORMAT " not, %" G_GUINT64_FORMAT " left out",
                truths[i].trace, replay_rule_text((ReplayRule) rule), tally.ok, tally.not_ok, tally.left_out);
            g_assert_cmpfloat(100 * (double) tally.ok, >=, least[rule] * (double) (tally.ok + tally.not_ok));
            all[rule].ok += tally.ok;
            all[rule].left_out += tally.left_out;
        }
    }
    for (guint rule = 0; rule < REPLAY_N_RULES; rule++)
        g_assert_cmpuint(all[rule].ok, >, 2 * all[rule].left_out);
}

/* What a wrong setting or a silent probe makes disagree is judged and found wrong, not left out as if it were unknown.
 */
static const struct {
    const char *trace, *set; /* of all caches */
    ReplayRule rule;
    guint least; /* wrong steps, about half of what they are */
} wrong_settings[] = {
    {"6.1-mmap1-smp2", "*.cpu_partial=0", REPLAY_RULE_SOURCE, 70},
    {"6.1-mmap1-smp2", "*.cpu_partial=20", REPLAY_RULE_CPU_PARTIAL_LIFO, 9},
    {"6.1-hackbench-smp2", "*.cpu_partial=0", REPLAY_RULE_EXTRA_SLABS, 20},
    {"6.1-files-smp2", "*.cpu_partial=0", REPLAY_RULE_DRAIN, 120},
    {"6.12-hackbench-smp8", "*.cpu_partial=20", REPLAY_RULE_DRAIN, 120},
    {"6.1-mmap1-smp2", "*.min_partial=10", REPLAY_RULE_DISCARD, 2},
    {"6.1-files-smp2", "*.min_partial=64", REPLAY_RULE_DRAIN_DISCARD, 8},
};

static void
test_wrong_settings(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(wrong_settings); i++) {
        const char *const sets[] = {wrong_settings[i].set, NULL};
        g_autofree char *name = g_strdup_printf("replay-%s.events.tsv.zst", wrong_settings[i].trace);
        g_autofree char *path = data_path(name);
        g_autoptr(ReplayRun) run = run_request(
            &(ReplayRequest){.trace_path = path, .mode = REPLAY_GUIDED, .seed = 1, .n_starts = 1, .sets = sets});

        g_test_message("%s %s", wrong_settings[i].trace, wrong_settings[i].set);
        g_assert_cmpuint(replay_guide_tally(run->replay->guide, wrong_settings[i].rule).not_ok, >=,
                         wrong_settings[i].least);
    }
}

/* A trace without every twentieth event of one probe: its path; `ret_n_dropped` of them. */
static char *
write_without(const char *trace, KmemProbe probe, guint *ret_n_dropped)
{
    g_autofree char *name = g_strdup_printf("replay-%s.events.tsv.zst", trace);
    g_autofree char *path = data_path(name), *written = NULL;
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    gint file = g_file_open_tmp("slubsim-XXXXXX.txt", &written, NULL);
    KmemEvent event;
    guint n = 0;

    close(file);
    kmem_write_header(8, text);
    while (kmem_reader_next(reader, &event, NULL))
        if (event.op != KMEM_PROBE || event.probe != probe || event.context != KMEM_TASK || ++n % 20 != 0)
            kmem_write_event(&event, text);
    g_assert_true(g_file_set_contents(written, text->str, (gssize) text->len, NULL));
    *ret_n_dropped = n / 20;
    return g_steal_pointer(&written);
}

static void
test_silent_probes(void)
{
    static const struct {
        const char *trace;
        KmemProbe probe;
        ReplayRule rule;
        guint least_percent; /* of the events dropped; the others come where the replay rightly knows too little */
    } rows[] = {
        {"6.1-hackbench-smp2", KMEM_PROBE_FREE_SLOW, REPLAY_RULE_FREE_SLOW, 100},
        {"6.1-files-smp2", KMEM_PROBE_ALLOC_SLOW, REPLAY_RULE_ALLOC_SLOW, 90},
        {"6.12-mmap1-smp8", KMEM_PROBE_ALLOC_SLOW, REPLAY_RULE_BULK_ALLOC, 20},
        {"6.1-files-smp2", KMEM_PROBE_NEW_SLAB, REPLAY_RULE_SOURCE, 100},
        {"6.1-hackbench-smp2", KMEM_PROBE_PUT_CPU_PARTIAL, REPLAY_RULE_PUT_CPU_PARTIAL, 50},
        {"6.1-hackbench-smp2", KMEM_PROBE_UNFREEZE, REPLAY_RULE_DRAIN, 100},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint n_dropped;
        g_autofree char *listing_name = g_strdup_printf("replay-%s.geom-before.tsv", rows[i].trace);
        g_autofree char *path = write_without(rows[i].trace, rows[i].probe, &n_dropped);
        g_autofree char *listing = data_path(listing_name);
        g_autoptr(ReplayRun) run = run_request(&(ReplayRequest){
            .trace_path = path, .listing_path = listing, .mode = REPLAY_GUIDED, .seed = 1, .n_starts = 1});
        ReplayTally tally = replay_guide_tally(run->replay->guide, rows[i].rule);

        g_unlink(path);
        g_test_message("%s %s: %u dropped, %u wrong", rows[i].trace, kmem_probe_name(rows[i].probe), n_dropped,
                       (guint) tally.not_ok);
        g_assert_cmpuint(n_dropped, >, 10);
        g_assert_cmpuint(tally.not_ok * 100, >=, n_dropped * rows[i].least_percent);
    }
}

/* Guided, the steps that are predicted add up to what was seen, but for the unknown start. */
static void
test_guided_totals(void)
{
    static const KmemProbe probes[] = {KMEM_PROBE_ALLOC_SLOW, KMEM_PROBE_PUT_CPU_PARTIAL, KMEM_PROBE_NEW_SLAB,
                                       KMEM_PROBE_DISCARD_SLAB};

    for (gsize i = 0; i < G_N_ELEMENTS(truths); i++) {
        g_autoptr(ReplayRun) run = run_trace(truths[i].trace, REPLAY_GUIDED);
        const ReplayCache *cache = find_cache(run->replay, truths[i].cache);
        ReplayCounts counts = replay_counts(cache, 0);

        for (gsize j = 0; j < G_N_ELEMENTS(probes); j++) {
            double traced = (double) cache->traced.calls[probes[j]], simulated = (double) counts.calls[probes[j]];

            g_test_message("%s %s: %g guided, %g traced", truths[i].trace, kmem_probe_name(probes[j]), simulated,
                           traced);
            if (traced >= 100)
                g_assert_cmpfloat(fabs(simulated - traced), <=, 0.05 * traced);
        }
    }
}

/* Slow frees are predicted exactly when the kernel is followed, but for those whose probes were silent. */
static void
test_guided_frees(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(truths); i++) {
        g_autoptr(ReplayRun) run = run_trace(truths[i].trace, REPLAY_GUIDED);
        ReplayFrees frees = replay_guide_frees(run->replay->guide);
        guint64 traced = 0, predicted = 0;

        for (guint j = 0; j < run->replay->caches->len; j++) {
            const ReplayCache *cache = g_ptr_array_index(run->replay->caches, j);

            traced += cache->traced.calls[KMEM_PROBE_FREE_SLOW];
            predicted += replay_counts(cache, 0).calls[KMEM_PROBE_FREE_SLOW];
        }
        g_assert_cmpuint(frees.agreed, >, 3000);
        g_assert_cmpuint(frees.wrong[0] + frees.wrong[1], ==, 0);
        g_assert_cmpuint(frees.unknown[0] + frees.unknown[1], <=, 10);
        g_assert_cmpuint(traced, ==, frees.agreed + frees.unknown[1] + frees.without_object);
        g_assert_cmpuint(predicted, ==, frees.agreed + frees.unknown[0] + frees.silent);
    }
}

static void
test_warm(void)
{
    g_autoptr(ReplayRun) run = run_trace("6.12-mmap1-smp8", REPLAY_WARM);
    const ReplayCache *cache = find_cache(run->replay, "maple_node");
    double traced = (double) cache->traced.calls[KMEM_PROBE_ALLOC_SLOW];

    g_assert_null(run->replay->guide);
    g_assert_cmpfloat(traced, >, 100);
    g_assert_cmpfloat(fabs(replay_spread(run->replay, cache, KMEM_PROBE_ALLOC_SLOW).mean - traced), <=, 0.05 * traced);
    traced = (double) cache->traced.calls[KMEM_PROBE_FREE_SLOW];
    g_assert_cmpfloat(fabs(replay_spread(run->replay, cache, KMEM_PROBE_FREE_SLOW).mean - traced), <=, 0.01 * traced);
}

/* Counts are of the whole trace: beside a replay that followed at first stands the share of the rest. */
static void
test_warm_counts(void)
{
    g_autoptr(ReplayRun) run = run_trace("6.12-mmap1-smp8", REPLAY_WARM);
    const ReplayCache *cache = find_cache(run->replay, "maple_node");
    guint64 rest = cache->traced.calls[KMEM_PROBE_FREE_SLOW],
            whole = rest + cache->followed.calls[KMEM_PROBE_FREE_SLOW];
    g_autofree char *table =
        g_strdup_printf("function\tcache\tdetail\tcalls\n__slab_free\tTOTAL\thits=%" G_GUINT64_FORMAT
                        ",missed=0\t%" G_GUINT64_FORMAT "\n__slab_free\tmaple_node\t\t%" G_GUINT64_FORMAT "\n",
                        whole, whole, whole);
    g_autofree char *path = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.tsv", &path, NULL);
    g_autoptr(ReplayCounted) counted = NULL;
    GError *error = NULL;
    double calls = 0;

    close(file);
    g_assert_true(g_file_set_contents(path, table, -1, NULL));
    counted = replay_counted_load(path, &error);
    g_unlink(path);
    g_assert_no_error(error);
    g_assert_true(replay_counted_calls(counted, run->catalog, cache, KMEM_PROBE_FREE_SLOW, &calls));
    g_assert_cmpuint(rest, <, whole);
    g_assert_cmpfloat(fabs(calls - (double) rest), <, 1e-6);
}

/* What the model does itself it predicts without a single error. */
static void
test_round_trip(gconstpointer trace)
{
    g_autofree char *name = g_strdup_printf("replay-%s.events.tsv.zst", (const char *) trace);
    g_autofree char *path = data_path(name), *written = NULL;
    g_autofree char *listing_name = g_strdup_printf("replay-%s.geom-before.tsv", (const char *) trace);
    g_autofree char *listing = data_path(listing_name);
    GError *error = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.txt", &written, &error);
    g_autoptr(ReplayRun) first = NULL, second = NULL;
    ReplayWrite *write;
    guint n_live;

    g_assert_no_error(error);
    close(file);
    write = replay_write_open(written, &error);
    g_assert_no_error(error);
    first = run_request(&(ReplayRequest){.trace_path = path, .seed = 7, .n_starts = 1, .write = write});
    g_assert_true(replay_write_close(write, &error));
    n_live = (guint) replay_n_live(first->replay);
    second = run_request(&(ReplayRequest){.trace_path = written, .listing_path = listing, .mode = REPLAY_GUIDED});
    g_unlink(written);
    g_assert_cmpuint(second->stats.n_bad, ==, 0);
    g_assert_cmpuint(replay_n_live(second->replay), ==, n_live);
    for (guint rule = 0; rule < REPLAY_N_RULES; rule++)
        g_assert_cmpuint(replay_guide_tally(second->replay->guide, (ReplayRule) rule).not_ok, ==, 0);
    g_assert_cmpuint(replay_guide_tally(second->replay->guide, REPLAY_RULE_ALLOC_SLOW).ok, >, 2000);
    for (guint i = 0; i < second->replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(second->replay->caches, i);
        ReplayCounts counts = replay_counts(find_cache(first->replay, cache->name), 0);

        for (guint probe = 0; probe < KMEM_N_PROBES; probe++)
            g_assert_cmpuint(cache->traced.calls[probe], ==, counts.calls[probe]);
    }
}

/* Settings move the counts the way they move the real 6.1 at 2 CPUs (key-ratios of the ground truth, hackbench): with
 * cpu_partial 0 node lists are visited 1.6 times as often and slabs given back 5 times, with min_partial 64 fewer are
 * discarded. */
static void
test_settings(void)
{
    static const char *const no_cpu_partial[] = {"*.cpu_partial=0", NULL};
    static const char *const keep_more[] = {"skbuff_head_cache.min_partial=64", NULL};
    g_autofree char *path = data_path("replay-6.1-hackbench-smp2.events.tsv.zst");
    g_autoptr(ReplayRun) plain = run_request(&(ReplayRequest){.trace_path = path});
    g_autoptr(ReplayRun) without = run_request(&(ReplayRequest){.trace_path = path, .sets = no_cpu_partial});
    g_autoptr(ReplayRun) more = run_request(&(ReplayRequest){.trace_path = path, .sets = keep_more});
    const ReplayCache *caches[] = {find_cache(plain->replay, "skbuff_head_cache"),
                                   find_cache(without->replay, "skbuff_head_cache"),
                                   find_cache(more->replay, "skbuff_head_cache")};

    g_assert_cmpfloat(replay_spread(without->replay, caches[1], KMEM_PROBE_GET_PARTIAL_NODE).mean, >,
                      1.2 * replay_spread(plain->replay, caches[0], KMEM_PROBE_GET_PARTIAL_NODE).mean);
    g_assert_cmpfloat(replay_spread(without->replay, caches[1], KMEM_PROBE_UNFREEZE).mean, >,
                      3 * replay_spread(plain->replay, caches[0], KMEM_PROBE_UNFREEZE).mean);
    g_assert_cmpfloat(replay_spread(more->replay, caches[2], KMEM_PROBE_DISCARD_SLAB).mean, <,
                      0.8 * replay_spread(plain->replay, caches[0], KMEM_PROBE_DISCARD_SLAB).mean);
    g_assert_true(more->catalog->is_changed);
}

/* Copies on as many CPUs as the load has, twice: each keeps its objects to itself. */
static void
test_scaled(void)
{
    g_autofree char *path = data_path("replay-6.12-hackbench-smp8.events.tsv.zst");
    g_autoptr(ReplayRun) one = run_request(&(ReplayRequest){.trace_path = path, .n_starts = 1});
    g_autoptr(ReplayRun) four =
        run_request(&(ReplayRequest){.trace_path = path, .n_starts = 1, .n_copies = 4, .n_nodes = 4});
    const ReplayCache *small = find_cache(one->replay, "skbuff_head_cache");
    const ReplayCache *large = find_cache(four->replay, "skbuff_head_cache");
    double ratio;

    g_assert_cmpuint(four->replay->topology->n_cpus, ==, 32);
    g_assert_cmpuint(four->replay->topology->n_nodes, ==, 4);
    g_assert_cmpuint(four->notes->len, >, 0);
    ratio = replay_spread(four->replay, large, KMEM_PROBE_FREE_SLOW).mean /
            replay_spread(one->replay, small, KMEM_PROBE_FREE_SLOW).mean;
    g_assert_cmpfloat(ratio, >, 3.9);
    g_assert_cmpfloat(ratio, <, 4.1);
}

/* A recording of 6.1 in 6.18: maple_node has the sheaves its creator asks for there. In 7.0 no CPU holds slabs. */
static void
test_other_release(void)
{
    g_autofree char *path = data_path("replay-6.1-mmap1-smp2.events.tsv.zst");
    ReplayRequest request = {.trace_path = path, .n_starts = 2, .kernel = SLAB_KERNEL(6, 18)};
    g_autoptr(ReplayRun) opt_in = run_request(&request), for_all = NULL;
    SlubOccupancy places[SLUB_N_HOLDERS];

    g_assert_cmpuint(find_cache(opt_in->replay, "maple_node")->geometry.sheaf_capacity, ==, 32);
    request.kernel = SLAB_KERNEL(7, 0);
    for_all = run_request(&request);
    slub_occupancy(find_cache(for_all->replay, "maple_node")->cache[0], 0, places);
    g_assert_cmpuint(places[SLUB_ON_CPU].n_slabs + places[SLUB_ON_CPU_PARTIAL].n_slabs, ==, 0);
}

static void
test_occupancy(void)
{
    g_autoptr(ReplayRun) run = run_trace("6.12-mmap1-smp8", REPLAY_FREE);
    const ReplayCache *cache = find_cache(run->replay, "maple_node");
    SlubOccupancy places[SLUB_N_HOLDERS];

    slub_occupancy(cache->cache[0], 0, places);
    g_assert_cmpuint(places[SLUB_ON_NODE].n_slabs, ==, cache->cache[0]->node[0].partial.count);
    for (guint i = 0; i < SLUB_N_HOLDERS; i++) {
        guint64 n = 0;

        for (guint j = 0; j < SLUB_N_TENTHS; j++)
            n += places[i].tenths[j];
        g_assert_cmpuint(n, ==, places[i].n_slabs);
        g_assert_cmpuint(places[i].free_bytes, ==, places[i].n_free_objects * cache->geometry.size_bytes);
    }
    /* At the end the trace has freed its nodes: what the CPUs' lists hold is empty, and no min_partial counts it. */
    g_assert_cmpuint(places[SLUB_ON_CPU_PARTIAL].n_empty, >, cache->geometry.min_partial);
}

static void
test_seeds(void)
{
    g_autofree char *path = data_path("replay-6.12-mmap1-smp8.events.tsv.zst");
    g_autoptr(ReplayRun) a = run_request(&(ReplayRequest){.trace_path = path, .seed = 3});
    g_autoptr(ReplayRun) b = run_request(&(ReplayRequest){.trace_path = path, .seed = 3});
    g_autoptr(ReplayRun) other = run_request(&(ReplayRequest){.trace_path = path, .seed = 4});
    guint n_differing = 0;

    for (guint start = 0; start < 5; start++)
        for (guint probe = 0; probe < KMEM_N_PROBES; probe++) {
            guint64 calls = replay_counts(find_cache(a->replay, "maple_node"), start).calls[probe];

            g_assert_cmpuint(calls, ==, replay_counts(find_cache(b->replay, "maple_node"), start).calls[probe]);
            n_differing += calls != replay_counts(find_cache(other->replay, "maple_node"), start).calls[probe];
        }
    g_assert_cmpuint(n_differing, >, 0);
}

/* A trace with holes: frees of objects never handed out, and objects handed out twice. No mode may lose its books. */
static void
test_holes(gconstpointer trace)
{
    g_autofree char *name = g_strdup_printf("replay-%s.events.tsv.zst", (const char *) trace);
    g_autofree char *path = data_path(name), *holed = NULL;
    g_autofree char *listing_name = g_strdup_printf("replay-%s.geom-before.tsv", (const char *) trace);
    g_autofree char *listing = data_path(listing_name);
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    GError *error = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.txt", &holed, &error);
    KmemEvent event;
    SimRng rng;

    g_assert_no_error(error);
    close(file);
    sim_rng_init(&rng, 1, 0, "test", "holes");
    kmem_write_header(8, text);
    while (kmem_reader_next(reader, &event, NULL))
        if (!sim_rng_bernoulli(&rng, 0.03))
            kmem_write_event(&event, text);
    g_file_set_contents(holed, text->str, (gssize) text->len, &error);
    g_assert_no_error(error);
    for (guint mode = REPLAY_FREE; mode <= REPLAY_GUIDED; mode++) {
        g_autoptr(ReplayRun) run = run_request(&(ReplayRequest){.trace_path = holed,
                                                                .listing_path = listing,
                                                                .mode = (ReplayMode) mode,
                                                                .warm_fraction = 0.3,
                                                                .n_starts = 2});

        g_assert_cmpuint(run->replay->n_reused, >, 0);
        g_assert_cmpuint(run->replay->n_unmatched_frees, >, 0);
    }
    g_unlink(holed);
}

/* Two CPUs free objects of one full slab: the one whose free takes effect first gets it on its list. In the first start
 * that is the one whose event is first, in the others either; all frees take effect in the end. */
static void
test_order_of_frees(void)
{
    enum { N_STARTS = 40, N_OBJECTS = 33 };
    g_autoptr(GString) text = g_string_new("time_s\tcpu\tpid\tctx\top\tcache\tptr\tbytes_req\tbytes_alloc\tnode\n");
    g_autofree char *path = NULL;
    g_autoptr(ReplayRun) run = NULL;
    const ReplayCache *cache;
    GError *error = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.events.tsv", &path, &error);
    guint n_other = 0;

    g_assert_no_error(error);
    close(file);
    for (guint i = 0; i < N_OBJECTS; i++)
        g_string_append_printf(text, "1.%06u\t0\t1\ttask\tA\tthing\tffff8880000%05x\t256\t256\t-1\n", i, 256 * i);
    g_string_append(text, "2.000000\t1\t2\ttask\tF\tthing\tffff888000000000\t\t\t\n"
                          "2.000001\t0\t1\ttask\tF\tthing\tffff888000000100\t\t\t\n");
    g_file_set_contents(path, text->str, (gssize) text->len, &error);
    g_assert_no_error(error);
    run = run_request(
        &(ReplayRequest){.trace_path = path, .n_starts = N_STARTS, .n_cpus = 2, .kernel = SLAB_KERNEL(6, 1)});
    cache = find_cache(run->replay, "thing");
    for (guint start = 0; start < N_STARTS; start++) {
        const SlubCpu *cpu = cache->cache[start]->cpu;

        g_assert_cmpuint(cpu[0].stat[SLAB_STAT_FREE_SLOWPATH], ==, 1);
        g_assert_cmpuint(cpu[1].stat[SLAB_STAT_FREE_SLOWPATH], ==, 1);
        g_assert_cmpuint(cpu[0].stat[SLAB_STAT_CPU_PARTIAL_FREE] + cpu[1].stat[SLAB_STAT_CPU_PARTIAL_FREE], ==, 1);
        n_other += cpu[0].stat[SLAB_STAT_CPU_PARTIAL_FREE] == 1;
        if (start == 0)
            g_assert_cmpuint(n_other, ==, 0);
    }
    g_assert_cmpuint(n_other, >, 0);
    g_assert_cmpuint(n_other, <, N_STARTS / 2);
    g_unlink(path);
}

static void
test_refusals(void)
{
    static const char *const wrong_key[] = {"maple_node.min_partil=3", NULL};
    static const char *const wrong_cache[] = {"maple_nod.min_partial=3", NULL};
    static const char *const wrong_form[] = {"min_partial", NULL};
    const struct {
        const char *const *sets;
        guint kernel;
        gint code;
    } rows[] = {
        {wrong_key, 0, SIM_ERROR_UNKNOWN_KEY},
        {wrong_cache, 0, SIM_ERROR_UNKNOWN_KEY},
        {wrong_form, 0, SIM_ERROR_PARSE},
        {NULL, SLAB_KERNEL(4, 4), SIM_ERROR_MODEL},
    };
    g_autofree char *path = data_path("replay-6.12-mmap1-smp8.events.tsv.zst");

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        const ReplayRequest request = {
            .trace_path = path, .n_starts = 1, .n_copies = 1, .sets = rows[i].sets, .kernel = rows[i].kernel};
        g_autoptr(GError) error = NULL;

        g_assert_null(replay_run(&request, &error));
        g_assert_error(error, SIM_ERROR, rows[i].code);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    sim_gsl_init();
    g_test_add_func("/replay/free", test_free);
    g_test_add_func("/replay/guided", test_guided);
    g_test_add_func("/replay/guided-wrong/settings", test_wrong_settings);
    g_test_add_func("/replay/guided-wrong/silent-probes", test_silent_probes);
    g_test_add_func("/replay/guided-totals", test_guided_totals);
    g_test_add_func("/replay/guided-frees", test_guided_frees);
    g_test_add_func("/replay/warm", test_warm);
    g_test_add_func("/replay/warm-counts", test_warm_counts);
    g_test_add_data_func("/replay/round-trip/frozen", "6.1-hackbench-smp2", test_round_trip);
    g_test_add_data_func("/replay/round-trip/delayed", "6.12-mmap1-smp8", test_round_trip);
    g_test_add_data_func("/replay/round-trip/bulk-free", "6.1-mmap1-smp2", test_round_trip);
    g_test_add_func("/replay/settings", test_settings);
    g_test_add_func("/replay/scaled", test_scaled);
    g_test_add_func("/replay/order-of-frees", test_order_of_frees);
    g_test_add_func("/replay/occupancy", test_occupancy);
    g_test_add_func("/replay/other-release", test_other_release);
    g_test_add_func("/replay/seeds", test_seeds);
    g_test_add_data_func("/replay/holes/frozen", "6.1-hackbench-smp2", test_holes);
    g_test_add_data_func("/replay/holes/delayed", "6.12-mmap1-smp8", test_holes);
    g_test_add_func("/replay/refusals", test_refusals);
    return g_test_run();
}
