/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "mm-loop.h"
#include "slub-occupancy.h"
#include "test-world.h"

/* The workloads torture, pingpong, pipeline, churn and partial_count, and bulk calls of microbench. */

/* Time of an operation, of all threads together. */
static double
cycle_ns(const char *settings)
{
    g_autofree char *all = g_strconcat("run.duration=10 ms;machine.sockets=2;machine.cores_per_l3=8;",
                                       "costs.lock_acquire=6 ns;costs.lock_release=2 ns;costs.line_own=4 ns;"
                                       "costs.line_same_l3=50 ns;costs.line_other_socket=100 ns;"
                                       "costs.line_other_socket_homed_here=100 ns;machine.lock_handoff=1;"
                                       "workload.hold=300 ns;workload.think=0 ns;",
                                       settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("torture", all);

    return 10e6 / (double) test_world_operations(test);
}

/* A thread alone pays the lock and the hold; threads that never think keep the lock busy, and a cycle is hold, release
 * and hand-off, whatever their number. */
static void
test_torture_saturated(void)
{
    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=1"), 6 + 4 + 300 + 2, 0.1);
    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=1;workload.hold_lines=3"),
                                   6 + 4 + 3 * 4 + 300 + 2, 0.1);
    for (guint n = 3; n <= 8; n += 5) {
        g_autofree char *threads = g_strdup_printf("workload.torture_threads=%u", n);
        g_autofree char *lines = g_strdup_printf("workload.hold_lines=2;workload.torture_rounds=2;%s", threads);

        g_assert_cmpfloat_with_epsilon(cycle_ns(threads), 300 + 2 + 50, 1);
        g_assert_cmpfloat_with_epsilon(cycle_ns(lines), 2 * (300 + 2 + 50 + 2 * 50), 2);
    }
    /* The mean of the distribution is what counts. */
    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=8;workload.hold_distribution=uniform"), 352, 4);
    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=8;workload.hold_distribution=exponential"), 352,
                                   8);
}

/* Two threads on two sockets hand over across. Of more, CNA keeps the lock in a socket and first in first out does not.
 */
static void
test_torture_disciplines(void)
{
#define SPREAD "workload.torture_threads=16;workload.torture_placement=spread"
    double fifo = cycle_ns(SPREAD);

    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=2;workload.torture_placement=spread"), 402, 1);
    g_assert_cmpfloat(fifo, >, 352 + 5);
    g_assert_cmpfloat(fifo, <, 402);
    g_assert_cmpfloat_with_epsilon(cycle_ns(SPREAD ";machine.lock=cna"), 352, 1);
    /* Seven wait when the lock is let go, and six of them go on spinning. */
    g_assert_cmpfloat_with_epsilon(
        cycle_ns("workload.torture_threads=8;machine.lock=ticket;costs.ticket_spinner=40 ns"), 352 + 6 * 40, 1);
}

/* torture_spin_lock_write_delay(): a thread alone delays 1000 ns in the mean, and n of them 1000 / n. */
static void
test_torture_delays(void)
{
    double plain = cycle_ns("workload.torture_threads=8");

    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=8;workload.torture_delays=true") - plain, 125, 6);
    g_assert_cmpfloat_with_epsilon(cycle_ns("workload.torture_threads=1;workload.torture_delays=true"), 1312, 30);
}

/* Each duration has its own distribution: with a constant think time, and no hold time whose distribution could matter,
 * runs differ by when they start, within 10 us. */
static void
test_torture_distributions(void)
{
    for (guint64 seed = 1; seed <= 5; seed++) {
        g_autoptr(TestWorld) test =
            test_world_new("torture",
                           "run.duration=10 ms;costs.lock_acquire=6 ns;costs.lock_release=2 ns;costs.line_own=4 ns;"
                           "workload.torture_threads=1;workload.hold=0 ns;workload.hold_distribution=exponential;"
                           "workload.think=1000 ns;workload.think_distribution=constant",
                           seed);

        test_world_start(test);
        test_world_run(test);
        g_assert_cmpfloat((double) test_world_operations(test), <=, 10e6 / 1012 + 1);
        g_assert_cmpfloat((double) test_world_operations(test), >=, (10e6 - 10e3) / 1012 - 1);
    }
}

/* A waiter leaves the core to its sibling, which holds the lock at full speed; one that thinks does not. */
static void
test_torture_siblings(void)
{
#define SIBLINGS                                                                                                       \
    "machine.sockets=1;machine.cores_per_l3=1;machine.threads_per_core=2;machine.smt_hold_slowdown=2;"                 \
    "machine.smt_slowdown=1;workload.torture_threads=2;run.duration=10 ms;workload.hold=1000 ns;workload.think="
    g_autoptr(TestWorld) waiting = test_world_finished("torture", SIBLINGS "0 ns"),
                         thinking =
                             test_world_finished("torture", SIBLINGS "10 us;workload.think_distribution=constant");

    g_assert_cmpfloat(10e6 / (double) test_world_operations(waiting), <, 1200);
    /* Each thinks for 10 us and holds for 2 us in place of 1 us. */
    g_assert_cmpfloat_with_epsilon(2 * 10e6 / (double) test_world_operations(thinking), 12000, 200);
#undef SIBLINGS
}

/* Nothing waits when think time is long, and shares of the better half tell a fair lock. */
static void
test_torture_metrics(void)
{
    g_autoptr(TestWorld) idle =
        test_world_finished("torture", "run.duration=50 ms;machine.cores_per_l3=8;workload.torture_threads=2;"
                                       "workload.hold=1 ns;workload.think=1 ms");
    g_autoptr(TestWorld) full =
        test_world_finished("torture", "run.duration=5 ms;machine.cores_per_l3=8;workload.torture_threads=8;"
                                       "run.warmup=5 ms;workload.hold=300 ns;workload.think=0 ns");
    g_autoptr(TestWorld) odd =
        test_world_finished("torture", "run.duration=5 ms;machine.cores_per_l3=8;workload.torture_threads=5;"
                                       "workload.hold=300 ns;workload.think=0 ns");

    g_assert_cmpfloat_with_epsilon(test_world_metric(odd, "fairness_factor"), 0.5, 0.001);
    g_assert_cmpfloat(test_world_metric(idle, "torture_wait_share_percent"), <, 0.05);
    /* A turn comes every 8 cycles of 300 + 2 ns and a hand-off of 1.2 x 52 ns, and all but the hold is waiting. */
    g_assert_cmpfloat_with_epsilon(test_world_metric(full, "torture_wait_share_percent"), 100 * (1 - 302 / (8 * 364.4)),
                                   0.3);
    g_assert_cmpfloat_with_epsilon(test_world_metric(full, "fairness_factor"), 0.5, 0.001);
    g_assert_cmpfloat(test_world_metric(full, "far_handoff_percent"), ==, 0);
}

static void
test_pingpong(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "pingpong", "machine.sockets=2;machine.nodes_per_socket=2;machine.l3_per_node=2;machine.threads_per_core=2;"
                    "costs.line_same_l3=23 ns;costs.line_same_node=107 ns;costs.line_same_socket=115 ns;"
                    "costs.line_other_socket=190 ns;costs.line_other_socket_homed_here=210 ns");

    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "pingpong_same_l3_ns"), 23, 1e-9);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "pingpong_same_node_ns"), 107, 1e-9);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "pingpong_same_socket_ns"), 115, 1e-9);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "pingpong_other_socket_ns"), 200, 1e-9); /* one way each */
    g_assert_cmpuint(test_world_operations(test), ==, 4 * 50000);
}

/* Every object is freed on the other CPU. The producer fills slabs one after the other; all that the consumer frees is
 * remote to it, and the first free of a full slab brings it to the consumer's partial list. */
static void
test_pipeline_counters(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("pipeline", "run.duration=5 ms;kernel.version=6.5;machine.sockets=1;"
                                        "workload.ring_depth=1024;workload.pipe_burst=512;"
                                        "workload.pipe_cache=kmalloc-256");
    const SlubCache *cache = world_cache(&test->world, "kmalloc-256");
    const SlubCpu *producer = &cache->cpu[0], *consumer = &cache->cpu[1];
    guint64 n_allocs = producer->stat[SLAB_STAT_ALLOC_FASTPATH] + producer->stat[SLAB_STAT_ALLOC_SLOWPATH];
    guint64 n_frees = consumer->stat[SLAB_STAT_FREE_SLOWPATH], n_slow = producer->stat[SLAB_STAT_ALLOC_SLOWPATH];

    g_assert_cmpuint(n_frees, >, 5000);
    g_assert_cmpuint(n_frees, ==, test_world_operations(test));
    g_assert_cmpint(test_world_objects(cache), ==, (gint64) (n_allocs - n_frees));
    g_assert_cmpint(test_world_objects(cache), <=, 1024 + 1);
    g_assert_cmpuint(consumer->stat[SLAB_STAT_FREE_FASTPATH] + producer->stat[SLAB_STAT_FREE_SLOWPATH], ==, 0);
    g_assert_cmpuint(consumer->stat[SLAB_STAT_ALLOC_SLOWPATH] + producer->stat[SLAB_STAT_CPU_PARTIAL_FREE], ==, 0);
    /* A slow allocation for each slab's worth, and for what had been freed into a slab that was not full yet. */
    g_assert_cmpuint(n_slow, >=, n_allocs / cache->geometry.objects);
    g_assert_cmpuint(consumer->stat[SLAB_STAT_CPU_PARTIAL_FREE], <=, n_slow);
    g_assert_cmpuint(consumer->stat[SLAB_STAT_CPU_PARTIAL_FREE], >=, n_frees / cache->geometry.objects / 2);
}

/* The slower end sets the pace; a hand-over costs two lines of the distance, the ring's and the object's. */
static void
test_pipeline_pace(void)
{
    static const struct {
        const char *settings;
        double ns;
    } loads[] = {
        {"workload.produce=2000 ns;workload.consume=100 ns", 2000},
        {"workload.produce=100 ns;workload.consume=2000 ns", 2000},
    };

    for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
        g_autofree char *near = g_strconcat("run.duration=20 ms;", loads[i].settings, NULL);
        g_autofree char *far = g_strconcat(near, ";workload.pipe_distance=other-socket", NULL);
        g_autoptr(TestWorld) a = test_world_finished("pipeline", near), b = test_world_finished("pipeline", far);
        double near_ns = 20e6 / (double) test_world_operations(a), far_ns = 20e6 / (double) test_world_operations(b);

        g_assert_cmpfloat(near_ns, >, loads[i].ns);
        g_assert_cmpfloat(near_ns, <, 1.2 * loads[i].ns);
        g_assert_cmpfloat(far_ns, >, near_ns);
    }
}

static double
ns_per_object(const char *settings)
{
    g_autofree char *all =
        g_strconcat("run.duration=20 ms;machine.sockets=2;costs.line_same_l3=50 ns;costs.line_other_socket=100 ns;"
                    "workload.produce=100 ns;workload.consume=2000 ns;",
                    settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("pipeline", all);

    return 20e6 / (double) test_world_operations(test);
}

/* The slower consumer fetches each line of an object from its producer. */
static void
test_pipeline_lines(void)
{
    double none = ns_per_object("workload.pipe_lines=0");

    g_assert_cmpfloat_with_epsilon(ns_per_object("workload.pipe_lines=20") - none, 20 * 50, 50);
    g_assert_cmpfloat_with_epsilon(ns_per_object("workload.pipe_lines=20;workload.pipe_distance=other-socket") -
                                       ns_per_object("workload.pipe_lines=0;workload.pipe_distance=other-socket"),
                                   20 * 100, 100);
}

/* A consumer sleeps until a burst is there, which may be all that the ring holds. */
static void
test_pipeline_burst(void)
{
    g_autoptr(TestWorld) early = test_world_finished(
        "pipeline", "run.duration=100 us;workload.produce=1 us;workload.ring_depth=512;workload.pipe_burst=512");
    g_autoptr(TestWorld) whole = test_world_finished(
        "pipeline", "run.duration=1 ms;workload.produce=1 us;workload.ring_depth=64;workload.pipe_burst=64");

    g_assert_cmpuint(test_world_operations(early), ==, 0);
    g_assert_cmpuint(test_world_operations(whole), >, 500);
}

/* Shares are of the time that CPUs are awake, all within the window: the consumer sleeps nearly always. */
static void
test_pipeline_shares(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("pipeline", "run.warmup=20 ms;run.duration=20 ms;kernel.version=6.5;"
                                        "workload.produce=2000 ns;workload.consume=100 ns");
    const WorldCpu *consumer = &test->world.cpu[1];
    double n = (double) (consumer->operations_at_end - consumer->operations_at_warmup);
    double alloc_ns = test_world_metric(test, "pipe_alloc_ns"), free_ns = test_world_metric(test, "pipe_free_ns");
    double awake_ns = 100 * alloc_ns * n / test_world_metric(test, "pipe_alloc_share_percent");

    g_assert_cmpfloat(alloc_ns, >, 2);
    g_assert_cmpfloat(alloc_ns, <, 200);
    g_assert_cmpfloat(awake_ns, >, 1.0 * 20e6);
    g_assert_cmpfloat(awake_ns, <, 1.3 * 20e6);
    g_assert_cmpfloat_with_epsilon(100 * free_ns * n / test_world_metric(test, "pipe_free_share_percent"), awake_ns,
                                   0.01 * awake_ns);
}

/* Each to all: what finds a ring full comes back, and a CPU frees more or less than it allocates, by more than a ring
 * holds. */
static void
test_pipeline_dropped(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "pipeline", "run.duration=5 ms;kernel.version=5.10;workload.pipe_pairs=8;workload.pipe_distance=all;"
                    "workload.pipe_backlog=32;workload.ring_depth=64;workload.pipe_burst=32");
    const SlubCache *cache = world_cache(&test->world, "kmalloc-256");
    gint64 most = 0;

    g_assert_cmpint(test_world_objects(cache), <=, 8 * 64);
    for (guint i = 0; i < 8; i++)
        most = MAX(most, ABS(cache->cpu[i].n_objects));
    g_assert_cmpint(most, >, 64 + 1);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FROM_PARTIAL), >, 20);
    g_assert_cmpfloat(test_world_metric(test, "cpu_partial_free_per_node_take") *
                          (double) test_world_stat(cache, SLAB_STAT_ALLOC_FROM_PARTIAL),
                      ==, (double) test_world_stat(cache, SLAB_STAT_CPU_PARTIAL_FREE));
}

/* Objects that are received in any order leave slabs free in part, which then last for fewer allocations. */
static void
test_pipeline_order(void)
{
    guint64 n_slow[2];

    for (guint i = 0; i < 2; i++) {
        g_autofree char *settings =
            g_strconcat("run.duration=10 ms;kernel.version=6.5;workload.ring_depth=1024;workload.pipe_backlog=512;",
                        i ? "workload.pipe_order=random" : "workload.pipe_order=fifo", NULL);
        g_autoptr(TestWorld) test = test_world_finished("pipeline", settings);

        n_slow[i] = test_world_stat(world_cache(&test->world, "kmalloc-256"), SLAB_STAT_ALLOC_SLOWPATH);
    }
    g_test_message("slow allocations: %u first in first out, %u in any order", (guint) n_slow[0], (guint) n_slow[1]);
    g_assert_cmpuint(n_slow[1], >, n_slow[0] + n_slow[0] / 4);
}

/* Each to all loses nothing either, with a backlog that nobody reads. */
static void
test_pipeline_all(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "pipeline", "run.duration=5 ms;kernel.version=5.10;workload.pipe_pairs=8;workload.pipe_distance=all;"
                    "workload.pipe_backlog=64;workload.pipe_order=random;workload.ring_depth=512;"
                    "workload.pipe_burst=32");
    const SlubCache *cache = world_cache(&test->world, "kmalloc-256");
    guint64 n_allocs =
        test_world_stat(cache, SLAB_STAT_ALLOC_FASTPATH) + test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH);
    guint64 n_frees = test_world_stat(cache, SLAB_STAT_FREE_FASTPATH) + test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH);

    g_assert_cmpint(test_world_objects(cache), ==, (gint64) (n_allocs - n_frees));
    g_assert_cmpint(test_world_objects(cache), >=, 8 * 60);
    g_assert_cmpint(test_world_objects(cache), <=, 8 * 512);
    /* slub-facts C: what comes to CPU lists leaves them by allocation, by a drain, or is still there. */
    g_assert_cmpfloat(test_world_metric(test, "cpu_partial_free_per_node_take") +
                          test_world_metric(test, "cpu_partial_node_per_node_take"),
                      >=, test_world_metric(test, "cpu_partial_alloc_per_node_take"));
}

/* Growth to full slabs, then nothing but deaths: each object is alive with probability p = exp(-t / life), so a slab of
 * n objects has a binomial number of them, and no allocation fills it again. */
static void
test_churn_binomial(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "churn", "run.duration=21 ms;kernel.version=6.5;machine.sockets=1;workload.churn_cpus=1;"
                 "workload.churn_cache=kmalloc-256;workload.churn_interval=0 ns;workload.peak_interval=50 ns;"
                 "workload.peak_until=1 ms;workload.short_life=20 ms;workload.long_share=0");
    const SlubCache *cache = world_cache(&test->world, "kmalloc-256");
    const guint objects = cache->geometry.objects;
    double n_made = (double) test_world_operations(test), n_slabs = n_made / objects, p, expected_free, variance;
    double n_alive = (double) test_world_objects(cache), expected_slabs;
    SlubOccupancy sum[SLUB_N_HOLDERS];
    guint64 n_held = 0, n_free = 0;

    slub_occupancy(cache, 0, sum);
    for (guint i = 0; i < SLUB_N_HOLDERS; i++) {
        n_held += sum[i].n_slabs;
        n_free += sum[i].n_free_objects;
    }
    /* Objects made at u live to 21 ms with probability exp(-(21 - u) / 20); the mean over u in 0 .. 1. */
    p = exp(-1.0) * 20 * (1 - exp(-0.05));
    g_assert_cmpfloat_with_epsilon(n_alive / n_made, p, 5 * sqrt(p * (1 - p) / n_made));
    expected_slabs = n_slabs * (1 - pow(1 - p, objects) - pow(p, objects));
    variance = n_slabs * (pow(1 - p, objects) + pow(p, objects)) + 4; /* and the last slab, and a few reused early */
    g_assert_cmpfloat_with_epsilon((double) n_held, expected_slabs, 5 * sqrt(variance) + 0.06 * n_slabs);
    expected_free = (double) n_held * objects - n_alive;
    g_assert_cmpfloat_with_epsilon((double) n_free, expected_free, 2.0 * objects);
}

/* Little's law: a task's live objects number rate times mean life. */
static void
test_churn_steady(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "churn", "run.duration=100 ms;machine.cores_per_l3=4;workload.churn_cpus=4;workload.churn_interval=2 us;"
                 "workload.short_life=200 us;workload.long_life=4 ms;workload.long_share=0.2");
    double live = 0, expected = 4 * (0.8 * 200 + 0.2 * 4000) / 2;

    for (guint i = 0; i < 3; i++)
        live += (double) test_world_objects(test->world.slub->cache[i]);
    /* The time that allocations and frees take themselves, under a tenth of 2 us, slows the births. */
    g_assert_cmpfloat(live, >, 0.85 * expected);
    g_assert_cmpfloat(live, <, 1.10 * expected);
}

/* Nothing is allocated before the peak, nor after it. */
static void
test_churn_peak(void)
{
#define PEAK                                                                                                           \
    "workload.churn_cpus=1;workload.churn_interval=0 ns;workload.peak_interval=1 us;workload.peak_from=1 ms;"          \
    "workload.peak_until=2 ms;run.duration="
    g_autoptr(TestWorld) before = test_world_finished("churn", PEAK "999 us"),
                         after = test_world_finished("churn", PEAK "10 ms");
#undef PEAK

    g_assert_cmpuint(test_world_operations(before), ==, 0);
    g_assert_cmpfloat_with_epsilon((double) test_world_operations(after), 1000, 5 * sqrt(1000));
}

/* The last sample is of the end, and says what the metrics do. */
static void
test_churn_samples(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("churn", "run.duration=10 ms;machine.sockets=2;machine.cores_per_l3=4;"
                                     "workload.occupancy_interval=1 ms;workload.long_share=0.5");
    g_autoptr(SimRecord) record = sim_record_new();
    const SimTable *table;
    double metric, n_slabs = 0, n_rows = 0;

    test->workload->report(&test->world, test->state, record);
    table = sim_record_table(record, 0);
    g_assert_cmpstr(sim_table_cell(table, 0, 0), ==, "1");
    for (guint row = 0; row < sim_table_n_rows(table); row++)
        if (g_str_equal(sim_table_cell(table, row, 0), "10")) {
            n_rows++;
            if (g_str_equal(sim_table_cell(table, row, 3), "node"))
                n_slabs += g_ascii_strtod(sim_table_cell(table, row, 4), NULL);
        }
    g_assert_cmpfloat(n_rows, ==, 3 * 2 * 3); /* caches, nodes, places */
    g_assert_true(sim_record_find_metric(record, "node_partial_slabs", &metric));
    g_assert_cmpfloat(metric, >, 10);
    g_assert_cmpfloat(n_slabs, ==, metric);
}

/* min_partial does not touch slabs that hold one object. */
static void
test_churn_stranded(void)
{
#define AFTERMATH                                                                                                      \
    "run.duration=40 ms;kernel.version=6.5;machine.cores_per_l3=4;workload.churn_interval=0 ns;"                       \
    "workload.peak_interval=200 ns;workload.peak_until=5 ms;workload.short_life=1 ms;workload.long_life=100 ms;"       \
    "workload.migrate_interval=1 ms;workload.long_share="
    g_autoptr(TestWorld) mixed = test_world_finished("churn", AFTERMATH "0.1"),
                         many = test_world_finished("churn", AFTERMATH "0.1;slub.min_partial=64;"
                                                                       "slub.max_partial=128");
    g_autoptr(TestWorld) all_short = test_world_finished("churn", AFTERMATH "0");
    double held = test_world_metric(mixed, "node_partial_slabs");

    g_assert_cmpfloat(held, >, 20 * test_world_metric(mixed, "min_partial_slabs"));
    g_assert_cmpfloat(test_world_metric(many, "node_partial_slabs"), ==, held);
    g_assert_cmpfloat(test_world_metric(all_short, "node_partial_slabs"), <=,
                      test_world_metric(all_short, "min_partial_slabs"));
    g_assert_cmpfloat(test_world_metric(all_short, "stranded_bytes"), <,
                      test_world_metric(mixed, "stranded_bytes") / 5);
}

static double
count_error(const char *settings)
{
    g_autofree char *all = g_strconcat("run.duration=100 s;kernel.version=6.8;machine.sockets=1;"
                                       "workload.count_folders=20000;",
                                       settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("partial_count", all);

    g_assert_cmpuint(test_world_operations(test), ==, 20000 * 11);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "free_objects"), 20000 * 11 / 2, 2 * 21);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "partial_slabs"), 20000 * 11 / 21, 2);
    return test_world_metric(test, "count_error_percent");
}

/* Folders of 11 dentries in slabs of 21: every slab has 10 or 11 free, in equal parts, so that a sorted list shows 10
 * at its head, 4.76 per cent below the mean of 10.5, and the mean at both ends. */
static void
test_partial_count(void)
{
    g_assert_cmpfloat_with_epsilon(count_error("workload.count_limit=1000;workload.count_sorted=true;"
                                               "workload.count_rule=head"),
                                   100 * 0.5 / 10.5, 0.1);
    g_assert_cmpfloat_with_epsilon(count_error("workload.count_limit=1000;workload.count_sorted=true"), 0, 0.2);
    g_assert_cmpfloat_with_epsilon(count_error("workload.count_limit=1000"), 0, 0.2);
    g_assert_cmpfloat(count_error("workload.count_limit=20000;workload.count_sorted=true"), ==, 0);
}

/* Threads of one process work on its one tree. */
static void
test_one_tree(void)
{
    g_autoptr(TestWorld) test = test_world_finished(
        "mmap1", "run.duration=1 ms;machine.cores_per_l3=4;workload.processes=3;workload.tasks_are=threads");
    const MmLoop *loop = test->state;

    for (guint i = 0; i < 3; i++)
        g_assert_cmpuint(loop->tree[i].n_nodes, ==, i == 0 ? 1 : 0);
}

/* A mixed start leaves a CPU with 512 nodes of both memory nodes in equal parts. */
static void
test_mixed_start(void)
{
    for (guint is_mixed = 0; is_mixed < 2; is_mixed++) {
        g_autoptr(TestWorld) test =
            test_world_new("mmap1", "run.duration=100 us;machine.sockets=2;workload.processes=1", 1);
        const SlubCache *cache = world_cache(&test->world, "maple_node");

        test->world.starts_mixed = is_mixed != 0;
        test_world_start(test);
        test_world_run(test);
        g_assert_cmpint(cache->node[1].n_slabs, ==, is_mixed ? 256 / cache->geometry.objects : 0);
        g_assert_cmpint(cache->node[0].n_slabs, >=, is_mixed ? 256 / cache->geometry.objects : 1);
    }
}

/* Others make one for every second dentry, and keep it. */
static void
test_partial_count_others(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("partial_count", "run.duration=100 s;kernel.version=6.8;machine.sockets=1;"
                                             "workload.count_folders=20000;workload.count_others=0.5");

    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "partial_slabs"), 20000 * 11 * 1.5 / 21, 100);
    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "free_objects"), 20000 * 11 / 2, 2 * 21);
}

/* One call takes the whole batch from the cpu slab: alloc_fast once, and bulk_object for each. */
static void
test_bulk(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("microbench", "run.duration=1 ms;run.warmup=100 us;workload.batch=10;"
                                          "workload.bulk=alloc;costs.alloc_fast=7 ns;costs.free_fast=6 ns;"
                                          "costs.bulk_object=3 ns");
    g_autoptr(TestWorld) both =
        test_world_finished("microbench", "run.duration=1 ms;run.warmup=100 us;workload.batch=10;"
                                          "workload.bulk=both;costs.alloc_fast=7 ns;costs.free_fast=6 ns;"
                                          "costs.bulk_object=3 ns");

    g_assert_cmpfloat_with_epsilon(test_world_metric(test, "pair_ns"), 0.7 + 3 + 6, 0.02);
    g_assert_cmpfloat_with_epsilon(test_world_metric(both, "pair_ns"), 0.7 + 3 + 0.6 + 0.9 * 3, 0.02);
}

/* By the cpu slab only: while it holds the batch the same, and of three slabs of 64 a third of the saving. The call
 * that falls back on single ones costs its own entry more. */
static void
test_bulk_of_cpu_slab(void)
{
    static const char *const kinds[] = {"no", "alloc", "cpu-slab", "fallback"};
    double ns[2][4];

    for (guint large = 0; large < 2; large++)
        for (guint i = 0; i < 4; i++) {
            g_autofree char *settings = g_strconcat(
                "kernel.version=5.10;run.duration=1 ms;run.warmup=100 us;workload.batch=", large ? "192" : "64",
                ";workload.bulk=", kinds[i], NULL);
            g_autoptr(TestWorld) test = test_world_finished("microbench", settings);

            ns[large][i] = test_world_metric(test, "pair_ns");
        }
    g_assert_cmpfloat_with_epsilon(ns[0][2], ns[0][1], 0.001);
    g_assert_cmpfloat(ns[0][1], <, ns[0][0] - 2);
    g_assert_cmpfloat_with_epsilon((ns[1][0] - ns[1][2]) / (ns[1][0] - ns[1][1]), 1. / 3, 0.1);
    g_assert_cmpfloat_with_epsilon(ns[0][3], ns[0][0] + 7. / 64, 0.02);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loads/torture/saturated", test_torture_saturated);
    g_test_add_func("/loads/torture/disciplines", test_torture_disciplines);
    g_test_add_func("/loads/torture/delays", test_torture_delays);
    g_test_add_func("/loads/torture/metrics", test_torture_metrics);
    g_test_add_func("/loads/torture/distributions", test_torture_distributions);
    g_test_add_func("/loads/torture/siblings", test_torture_siblings);
    g_test_add_func("/loads/pingpong", test_pingpong);
    g_test_add_func("/loads/pipeline/counters", test_pipeline_counters);
    g_test_add_func("/loads/pipeline/pace", test_pipeline_pace);
    g_test_add_func("/loads/pipeline/all", test_pipeline_all);
    g_test_add_func("/loads/pipeline/lines", test_pipeline_lines);
    g_test_add_func("/loads/pipeline/burst", test_pipeline_burst);
    g_test_add_func("/loads/pipeline/shares", test_pipeline_shares);
    g_test_add_func("/loads/pipeline/dropped", test_pipeline_dropped);
    g_test_add_func("/loads/pipeline/order", test_pipeline_order);
    g_test_add_func("/loads/churn/binomial", test_churn_binomial);
    g_test_add_func("/loads/churn/steady", test_churn_steady);
    g_test_add_func("/loads/churn/stranded", test_churn_stranded);
    g_test_add_func("/loads/churn/peak", test_churn_peak);
    g_test_add_func("/loads/churn/samples", test_churn_samples);
    g_test_add_func("/loads/partial-count", test_partial_count);
    g_test_add_func("/loads/partial-count-others", test_partial_count_others);
    g_test_add_func("/loads/mmap1/one-tree", test_one_tree);
    g_test_add_func("/loads/mmap1/mixed-start", test_mixed_start);
    g_test_add_func("/loads/bulk", test_bulk);
    g_test_add_func("/loads/bulk/cpu-slab", test_bulk_of_cpu_slab);
    return g_test_run();
}
