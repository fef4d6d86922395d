/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated run written as a trace: the run is what it would be without, and replay finds in the trace what the run
 * did. */
#include <glib/gstdio.h>
#include <string.h>

#include "kmem-reader.h"
#include "replay-guide.h"
#include "replay-run.h"
#include "sim-gsl.h"
#include "test-world.h"
#include "world-trace.h"

typedef struct {
    char *folder, *trace;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    fixture->folder = g_dir_make_tmp("trace-XXXXXX", &error);
    g_assert_no_error(error);
    fixture->trace = g_build_filename(fixture->folder, "run.txt", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    static const char *const names[] = {"run.txt", "run.caches", "run.env"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(fixture->folder, names[i], NULL);

        g_unlink(path);
    }
    g_assert_cmpint(g_rmdir(fixture->folder), ==, 0);
    g_free(fixture->folder);
    g_free(fixture->trace);
}

typedef struct {
    const char *name, *workload, *settings;
} Run;

static const Run runs[] = {
    {"frozen", "hackbench", "kernel.version=6.1;machine.cores_per_l3=4;workload.groups=2;run.duration=4 ms"},
    {"delayed", "hackbench",
     "kernel.version=6.12;machine.sockets=2;machine.cores_per_l3=2;workload.groups=2;run.duration=4 ms;run.warmup=1 ms;"
     "memcg.mode=user;memcg.groups=2"},
    {"bulk", "mmap1",
     "kernel.version=6.1;machine.cores_per_l3=4;workload.processes=4;run.duration=6 ms;run.starts=mixed;"
     "run.latency=true"},
    {"rcu", "mmap1",
     "kernel.version=6.12;machine.cores_per_l3=2;workload.processes=2;run.duration=30 ms;run.warmup=5 ms;"
     "run.sample_interval=1 ms"},
    {"direct", "hackbench",
     "kernel.version=7.0;slub.sheaves=off;machine.cores_per_l3=2;workload.groups=1;run.duration=2 ms"},
    {"oversize", "mmap1",
     "kernel.version=6.18;slub.sheaves=off;machine.cores_per_l3=2;workload.processes=2;workload.leaf=full;"
     "run.duration=6 ms;run.latency=true"},
    {"sheaves", "hackbench",
     "kernel.version=7.0;machine.sockets=2;machine.cores_per_l3=2;workload.groups=2;run.duration=4 ms;run.latency=true"},
    {"prefilled", "mmap1",
     "kernel.version=6.18;machine.cores_per_l3=2;workload.processes=2;workload.leaf=full;workload.node_free=call_rcu;"
     "run.duration=20 ms"},
    /* What is done with a cache beside allocating and freeing, and looked up in it. */
    {"lives", "churn",
     "kernel.version=6.6;machine.cores_per_l3=2;workload.churn_cpus=2;workload.migrate_interval=1 ms;"
     "run.duration=10 ms"},
    {"flows", "pipeline", "kernel.version=6.1;machine.cores_per_l3=2;run.duration=4 ms"},
    {"flush", "latency",
     "kernel.version=6.6;machine.cores_per_l3=4;workload.load_cpus=2;workload.flush_period=500 us;"
     "workload.slabinfo_period=300 us;workload.parked_slabs=20;run.warmup=1 ms;run.duration=4 ms"},
    {"shrink", "partial_count",
     "kernel.version=6.12;machine.cores_per_l3=2;workload.count_sorted=true;workload.count_folders=200;"
     "run.duration=100 ms"},
    {"reclaim", "inodes", "kernel.version=6.1;machine.cores_per_l3=2;run.duration=100 ms"},
};

static SimRunInput
input_of(const SimPlan *plan)
{
    const SimConfig *config = sim_plan_config(plan, 0);

    return (SimRunInput){.config = config, .seed = 7, .start = sim_config_list(config, "run", "starts")[0]};
}

static guint64
run_traced(const Fixture *fixture, const SimPlan *plan, SimRecord *record)
{
    SimRunInput input = input_of(plan);
    g_autoptr(GError) error = NULL;
    guint64 n_events = 0;

    world_run_traced(&input, record, fixture->trace, &n_events, &error);
    g_assert_no_error(error);
    return n_events;
}

static void
compare_tables(const SimTable *a, const SimTable *b)
{
    guint n_columns = g_strv_length((char **) sim_table_columns(a));

    g_assert_cmpstr(sim_table_name(a), ==, sim_table_name(b));
    g_assert_cmpuint(sim_table_n_rows(a), ==, sim_table_n_rows(b));
    for (guint row = 0; row < sim_table_n_rows(a); row++)
        for (guint column = 0; column < n_columns; column++)
            g_assert_cmpstr(sim_table_cell(a, row, column), ==, sim_table_cell(b, row, column));
}

/* To the bit: events, metrics and every table, counters of caches among them. */
static void
test_undisturbed(Fixture *fixture, gconstpointer data)
{
    const Run *run = data;
    g_autoptr(SimPlan) plan = test_world_plan(run->workload, run->settings);
    g_autoptr(SimRecord) plain = sim_record_new(), traced = sim_record_new();
    SimRunInput input = input_of(plan);
    g_autoptr(GError) error = NULL;

    world_run(&input, plain, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(run_traced(fixture, plan, traced), >, 1000);
    g_assert_cmpuint(sim_record_fingerprint(plain), ==, sim_record_fingerprint(traced));
    g_assert_cmpuint(sim_record_n_metrics(plain), ==, sim_record_n_metrics(traced));
    for (guint i = 0; i < sim_record_n_metrics(plain); i++) {
        double values[] = {sim_record_metric(plain, i), sim_record_metric(traced, i)};

        g_test_message("%s", sim_record_metric_name(plain, i));
        g_assert_cmpmem(&values[0], sizeof(double), &values[1], sizeof(double));
    }
    g_assert_cmpuint(sim_record_n_tables(plain), ==, sim_record_n_tables(traced));
    for (guint i = 0; i < sim_record_n_tables(plain); i++)
        compare_tables(sim_record_table(plain, i), sim_record_table(traced, i));
}

static ReplayRun *
replay(const Fixture *fixture, ReplayMode mode)
{
    const ReplayRequest request = {.trace_path = fixture->trace, .mode = mode, .seed = 1, .n_starts = 1, .n_copies = 1};
    g_autoptr(GError) error = NULL;
    ReplayRun *run = replay_run(&request, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(run->stats.n_bad, ==, 0);
    g_assert_cmpuint(run->replay->n_unmatched_frees, ==, 0);
    g_assert_cmpuint(run->replay->n_reused, ==, 0);
    return run;
}

static guint64
sum_of_stat(const SimRecord *record, const char *cache, const char *stat)
{
    for (guint t = 0; t < sim_record_n_tables(record); t++) {
        const SimTable *table = sim_record_table(record, t);

        for (guint row = 0; strcmp(sim_table_name(table), "counters") == 0 && row < sim_table_n_rows(table); row++)
            if (strcmp(sim_table_cell(table, row, 0), cache) == 0 && strcmp(sim_table_cell(table, row, 1), stat) == 0)
                return g_ascii_strtoull(sim_table_cell(table, row, 2), NULL, 10);
    }
    return G_MAXUINT64;
}

/* On one CPU nothing overlaps: each step is predicted, and the model does the same again from the empty start. */
static void
check_round_trip(const Fixture *fixture, const SimRecord *record, gboolean has_warmup)
{
    g_autoptr(ReplayRun) guided = replay(fixture, REPLAY_GUIDED), again = replay(fixture, REPLAY_FREE);

    for (guint rule = 0; rule < REPLAY_N_RULES; rule++)
        g_assert_cmpuint(replay_guide_tally(guided->replay->guide, (ReplayRule) rule).not_ok, ==, 0);
    g_assert_cmpuint(replay_guide_tally(guided->replay->guide, REPLAY_RULE_ALLOC_SLOW).ok, >, 1000);
    for (guint i = 0; i < again->replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(again->replay->caches, i);
        ReplayCounts counts = replay_counts(cache, 0);

        for (guint probe = 0; probe < KMEM_N_PROBES; probe++) {
            g_test_message("%s %s", cache->name, kmem_probe_name((KmemProbe) probe));
            g_assert_cmpuint(counts.calls[probe], ==, cache->traced.calls[probe]);
        }
        /* The record counts from the first checkpoint on, which the first call is before, as is a warm-up. */
        if (!has_warmup)
            g_assert_cmpuint(counts.calls[KMEM_PROBE_NEW_SLAB] - sum_of_stat(record, cache->name, "alloc_slab"), <=, 1);
    }
}

static void
test_round_trip(Fixture *fixture, gconstpointer data)
{
    static const char *const kernels[] = {"5.10", "6.1", "6.6", "6.12"};

    for (gsize i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *settings =
            g_strdup_printf("kernel.version=%s;machine.cores_per_l3=1;workload.processes=1;run.duration=40 ms%s",
                            kernels[i], (const char *) data);
        g_autoptr(SimPlan) plan = test_world_plan("mmap1", settings);
        g_autoptr(SimRecord) record = sim_record_new();

        g_test_message("kernel %s", kernels[i]);
        run_traced(fixture, plan, record);
        check_round_trip(fixture, record, *(const char *) data != '\0');
    }
}

/* The trace without the slow paths; without the names of frees, too, if asked. */
static void
strip(const Fixture *fixture, gboolean has_names)
{
    g_autoptr(GString) events = g_string_new(NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    g_assert_true(g_file_get_contents(fixture->trace, &text, NULL, NULL));
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        char *name = strstr(lines[i], " name=");

        if (strstr(lines[i], "+0x0)"))
            continue;
        if (name && !has_names)
            *name = '\0';
        g_string_append_printf(events, "%s\n", lines[i]);
    }
    g_assert_cmpuint(events->len, <, strlen(text));
    g_assert_true(g_file_set_contents(fixture->trace, events->str, (gssize) events->len, NULL));
}

/* What users record most often has the events without the slow paths: an allocation's call site then gets its cache from
 * the frees of the same objects. To 5.15 frees name no cache, and the site stands for one. */
static void
test_events_alone(Fixture *fixture, gconstpointer data)
{
    static const char *const names[] = {"skbuff_head_cache", "kmalloc-cg-512"};
    g_autoptr(SimPlan) plan = test_world_plan("hackbench", runs[0].settings);
    g_autoptr(SimRecord) record = sim_record_new();
    g_autoptr(ReplayRun) named = NULL, nameless = NULL;

    run_traced(fixture, plan, record);
    strip(fixture, TRUE);
    named = replay(fixture, REPLAY_FREE);
    strip(fixture, FALSE);
    nameless = replay(fixture, REPLAY_FREE);
    g_assert_cmpuint(named->replay->caches->len, ==, 2);
    g_assert_cmpuint(named->names.n_sites, ==, 0);
    g_assert_cmpuint(nameless->names.n_sites, ==, 2);
    for (guint i = 0; i < 2; i++) {
        const ReplayCache *cache = g_ptr_array_index(named->replay->caches, i);

        g_assert_cmpstr(cache->name, ==, names[i]);
        g_assert_cmpuint(cache->n_allocs, >, 1000);
        g_assert_cmpuint(cache->n_frees, >, 1000);
        cache = g_ptr_array_index(nameless->replay->caches, i);
        g_assert_true(g_str_has_prefix(cache->name, names[i]));
        g_assert_nonnull(strchr(cache->name, ':'));
        g_assert_cmpuint(cache->n_frees, >, 1000);
    }
}

/* From 7.0 on the counters do not tell the calls of __slab_free(): one for each group of a flushed sheaf, and one for what
 * a refill leaves of a slab. */
static void
check_slow_calls(const ReplayCache *cache)
{
    const SlubCache *slub = cache->cache[0];
    const guint64 *stat = slub->cpu[0].stat;
    ReplayCounts counts = replay_counts(cache, 0);
    guint64 n_flushed = stat[SLAB_STAT_SHEAF_FLUSH];

    if (slub->below->has_cpu_slab)
        return;
    g_assert_cmpuint(stat[SLAB_STAT_FREE_SLOWPATH], ==, 0);
    g_assert_cmpuint(counts.calls[KMEM_PROBE_FREE_SLOW], >=, n_flushed / slub->geometry.objects);
    g_assert_cmpuint(counts.calls[KMEM_PROBE_FREE_SLOW], <, 2 * n_flushed);
    g_assert_cmpuint(counts.calls[KMEM_PROBE_ALLOC_SLOW], ==, 0);
    g_assert_false(replay_has_function(slub, KMEM_PROBE_GET_PARTIAL_NODE));
    g_assert_true(replay_has_function(slub, KMEM_PROBE_NEW_SLAB));
}

/* Guided replay leaves caches with sheaves out and says so, and has nothing to follow where no cpu slabs are. */
static void
check_not_followed(const Fixture *fixture, const ReplayCache *cache)
{
    const ReplayRequest request = {
        .trace_path = fixture->trace, .mode = REPLAY_GUIDED, .seed = 1, .n_starts = 1, .n_copies = 1};
    g_autoptr(GError) error = NULL;
    g_autoptr(ReplayRun) run = replay_run(&request, &error);

    if (cache->cache[0]->below->has_cpu_slab) {
        g_assert_no_error(error);
        g_assert_cmpuint(run->replay->caches->len, ==, 0);
        g_assert_nonnull(strstr(run->replay->failure->message, "has sheaves"));
        return;
    }
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
    g_assert_nonnull(strstr(error->message, "cpu slabs"));
}

/* With sheaves, too: they fill, flush and go to the barn as in the run. */
static void
test_round_trip_sheaves(Fixture *fixture, gconstpointer data)
{
    static const SlabStat compared[] = {
        SLAB_STAT_ALLOC_FASTPATH, SLAB_STAT_FREE_FASTPATH, SLAB_STAT_ALLOC_SLOWPATH, SLAB_STAT_FREE_SLOWPATH,
        SLAB_STAT_ALLOC_PCS,      SLAB_STAT_FREE_PCS,      SLAB_STAT_ALLOC_SLAB,     SLAB_STAT_FREE_SLAB,
        SLAB_STAT_SHEAF_REFILL,   SLAB_STAT_SHEAF_FLUSH,   SLAB_STAT_SHEAF_ALLOC,    SLAB_STAT_BARN_GET,
        SLAB_STAT_BARN_GET_FAIL,  SLAB_STAT_BARN_PUT,      SLAB_STAT_BARN_PUT_FAIL,
    };
    g_autofree char *settings = g_strdup_printf(
        "kernel.version=%s;machine.sockets=1;machine.cores_per_l3=1;workload.groups=2;run.duration=40 ms", (const char *) data);
    g_autoptr(SimPlan) plan = test_world_plan("hackbench", settings);
    g_autoptr(SimRecord) record = sim_record_new();
    g_autoptr(ReplayRun) again = NULL;
    guint64 n_barn = 0;

    run_traced(fixture, plan, record);
    again = replay(fixture, REPLAY_FREE);
    g_assert_cmpuint(again->replay->caches->len, ==, 2);
    for (guint i = 0; i < again->replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(again->replay->caches, i);

        for (guint s = 0; s < G_N_ELEMENTS(compared); s++) {
            const char *stat = slab_stat_name(compared[s]);
            guint64 found = cache->cache[0]->cpu[0].stat[compared[s]];

            g_test_message("%s %s", cache->name, stat);
            g_assert_cmpuint(found, ==, sum_of_stat(record, cache->name, stat));
            n_barn += compared[s] == SLAB_STAT_BARN_PUT ? found : 0;
        }
        check_slow_calls(cache);
    }
    g_assert_cmpuint(n_barn, >, 10);
    check_not_followed(fixture, again->replay->caches->pdata[0]);
}

/* Where calls of several CPUs overlap their order in the trace is that of their ends and beginnings, not of what they
 * did in between: as with the kernel's own traces, a few steps look wrong. Scenario settings are not known to replay;
 * that they come along shows in a cache whose limits are not those of the release. */
static void
test_overlapping(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) plan = test_world_plan(
        "hackbench", "kernel.version=6.1;machine.sockets=2;machine.cores_per_l3=4;workload.groups=4;run.duration=5 ms;"
                     "slub.cpu_partial_factor=0.5;slub.min_partial=20;slub.max_partial=30;slub.max_order=1");
    g_autoptr(SimRecord) record = sim_record_new();
    g_autoptr(ReplayRun) guided = NULL, again = NULL;
    guint64 n_ok = 0, n_not_ok = 0;

    run_traced(fixture, plan, record);
    guided = replay(fixture, REPLAY_GUIDED);
    again = replay(fixture, REPLAY_FREE);
    g_assert_cmpuint(guided->recorded_nodes, ==, 2);
    g_assert_cmpuint(guided->recorded_kernel, ==, SLAB_KERNEL(6, 1));
    for (guint rule = 0; rule < REPLAY_N_RULES; rule++) {
        n_ok += replay_guide_tally(guided->replay->guide, (ReplayRule) rule).ok;
        n_not_ok += replay_guide_tally(guided->replay->guide, (ReplayRule) rule).not_ok;
    }
    g_assert_cmpuint(n_ok, >, 20000);
    g_assert_cmpuint(n_not_ok * 200, <, n_ok);
    for (guint i = 0; i < again->replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(again->replay->caches, i);
        guint64 traced = cache->traced.calls[KMEM_PROBE_FREE_SLOW];
        gint64 difference = (gint64) replay_counts(cache, 0).calls[KMEM_PROBE_FREE_SLOW] - (gint64) traced;

        g_assert_cmpuint(cache->geometry.order, <=, 1);
        g_assert_cmpuint(cache->geometry.min_partial, ==, 20);
        g_assert_cmpuint(cache->geometry.cpu_partial, ==, 26);
        g_assert_cmpuint(traced, >, 1000);
        g_assert_cmpint(ABS(difference) * 50, <, (gint64) traced);
    }
}

/* What a free does is told at the moment of the free, as the kernel's probes are behind its event, however long a lock
 * then takes. */
static void
test_free_times(Fixture *fixture, gconstpointer data)
{
    enum { N_CPUS = 8 };
    g_autoptr(SimPlan) plan = test_world_plan("hackbench", runs[0].settings);
    g_autoptr(SimRecord) record = sim_record_new();
    g_autoptr(KmemReader) reader = NULL;
    gint64 freed_at_ns[N_CPUS] = {0};
    guint n = 0;
    KmemEvent event;

    run_traced(fixture, plan, record);
    reader = kmem_reader_open(fixture->trace, NULL);
    while (kmem_reader_next(reader, &event, NULL)) {
        g_assert_cmpuint(event.cpu, <, N_CPUS);
        if (event.op == KMEM_FREE)
            freed_at_ns[event.cpu] = event.time_ns;
        if (event.op == KMEM_PROBE && event.probe == KMEM_PROBE_FREE_SLOW && ++n)
            g_assert_cmpint(event.time_ns, ==, freed_at_ns[event.cpu]);
    }
    g_assert_cmpuint(n, >, 1000);
}

static void
test_refusals(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) sheaves = test_world_plan("mmap1", "kernel.version=7.0;run.duration=1 ms");
    g_autoptr(SimPlan) plain = test_world_plan("mmap1", "kernel.version=6.1;run.duration=1 ms");
    g_autoptr(SimRecord) record = sim_record_new(), other = sim_record_new();
    SimRunInput input = input_of(sheaves);
    g_autofree char *nowhere = g_build_filename(fixture->folder, "no", "run.txt", NULL);
    g_autoptr(GError) error = NULL;
    guint64 n_events = 77;

    g_assert_false(world_run_traced(&input, record, fixture->trace, &n_events, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
    g_assert_nonnull(strstr(error->message, "kfree_rcu()"));
    g_assert_nonnull(strstr(error->message, "workload.node_free = call_rcu"));
    g_assert_false(g_file_test(fixture->trace, G_FILE_TEST_EXISTS));
    g_clear_error(&error);
    input = input_of(plain);
    g_assert_false(world_run_traced(&input, other, nowhere, &n_events, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
    g_assert_cmpuint(n_events, ==, 77);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    sim_gsl_init();
    for (gsize i = 0; i < G_N_ELEMENTS(runs); i++) {
        g_autofree char *path = g_strconcat("/trace/undisturbed/", runs[i].name, NULL);

        g_test_add(path, Fixture, &runs[i], set_up, test_undisturbed, tear_down);
    }
    g_test_add("/trace/round-trip", Fixture, "", set_up, test_round_trip, tear_down);
    g_test_add("/trace/round-trip-warm", Fixture, ";run.warmup=10 ms", set_up, test_round_trip, tear_down);
    g_test_add("/trace/round-trip-sheaves/6.18", Fixture,
               "6.18;cache kmalloc-cg-512.args_sheaf_capacity=28;cache skbuff_head_cache.args_sheaf_capacity=60", set_up,
               test_round_trip_sheaves, tear_down);
    g_test_add("/trace/round-trip-sheaves/7.0", Fixture, "7.0", set_up, test_round_trip_sheaves, tear_down);
    g_test_add("/trace/events-alone", Fixture, NULL, set_up, test_events_alone, tear_down);
    g_test_add("/trace/free-times", Fixture, NULL, set_up, test_free_times, tear_down);
    g_test_add("/trace/overlapping", Fixture, NULL, set_up, test_overlapping, tear_down);
    g_test_add("/trace/refusals", Fixture, NULL, set_up, test_refusals, tear_down);
    return g_test_run();
}
