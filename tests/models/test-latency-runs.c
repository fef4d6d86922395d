/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs whose calls are timed, the workload latency, and what else is told of an allocation's time and room. */
#include <math.h>

#include "test-world.h"

static int
compare_values(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

    return (x > y) - (x < y);
}

static double
percentile(const SimHist *hist, const char *name)
{
    g_autoptr(SimRecord) record = sim_record_new();

    world_report_percentiles(record, "x", hist);
    return test_record_metric(record, name);
}

/* Against the sorted list: never below the value of that rank, above it by less than 1/32. */
static void
test_percentiles(void)
{
    enum { N = 20000 };
    static const struct {
        const char *name;
        guint rank;
    } cases[] = {{"x_p50_ns", 10000},   {"x_p90_ns", 18000},    {"x_p99_ns", 19800},
                 {"x_p99_9_ns", 19980}, {"x_p99_99_ns", 19998}, {"x_max_ns", 20000}};
    g_autofree SimHist *hist = g_new(SimHist, 1);
    g_autofree gint64 *value = g_new(gint64, N);
    SimRng rng;

    sim_rng_init(&rng, 1, 0, "test", "values");
    sim_hist_init(hist);
    for (guint i = 0; i < N; i++) {
        value[i] = (gint64) (1000 * sim_rng_exponential(&rng, 500));
        sim_hist_record(hist, value[i]);
    }
    qsort(value, N, sizeof *value, compare_values);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        double true_ns = (double) value[cases[i].rank - 1] / 1e3, got = percentile(hist, cases[i].name);

        g_assert_cmpfloat(got, >=, true_ns);
        g_assert_cmpfloat(got, <, true_ns * (1 + 1.0 / 32));
    }
}

/* 99 values have no 99th percentile that differs from the maximum, 100 have one. */
static void
test_too_few_values(void)
{
    g_autofree SimHist *hist = g_new(SimHist, 1);

    sim_hist_init(hist);
    g_assert_true(isnan(percentile(hist, "x_max_ns")));
    sim_hist_record_n(hist, 10000, 98);
    sim_hist_record(hist, 63000);
    g_assert_true(isnan(percentile(hist, "x_p99_ns")));
    g_assert_cmpfloat(percentile(hist, "x_max_ns"), ==, 63);
    sim_hist_record(hist, 10000);
    g_assert_cmpfloat_with_epsilon(percentile(hist, "x_p99_ns"), 10, 10.0 / 32);
}

#define MACHINE "machine.sockets=2;machine.cores_per_l3=4;machine.tick=1 ms;run.warmup=1 ms;run.duration=5 ms;"

/* Recording changes no metric and not the sequence of events. */
static void
test_neutral(void)
{
    static const char *const runs[][2] = {
        {"mmap1", MACHINE "workload.processes=8;kernel.version=6.5"},
        {"mmap1", MACHINE "workload.processes=8;kernel.version=7.0"},
        {"hackbench", MACHINE "workload.groups=2;workload.fds=3;kernel.version=6.12"},
        {"hackbench", MACHINE "workload.groups=2;workload.fds=3;kernel.version=6.18;memcg.mode=user"},
        {"latency", MACHINE "workload.flush_period=1 ms;workload.slabinfo_period=1 ms;kernel.version=5.10"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
        g_autofree char *on = g_strconcat(runs[i][1], ";run.latency=true", NULL);
        g_autoptr(SimRecord) without = test_world_record(runs[i][0], runs[i][1]);
        g_autoptr(SimRecord) with = test_world_record(runs[i][0], on);

        g_assert_cmpuint(sim_record_fingerprint(with), ==, sim_record_fingerprint(without));
        g_assert_cmpuint(sim_record_n_metrics(with), >=, sim_record_n_metrics(without) + 12);
        for (guint m = 0; m < sim_record_n_metrics(without); m++) {
            double a = sim_record_metric(without, m), b = test_record_metric(with, sim_record_metric_name(without, m));

            g_assert_true(a == b || (isnan(a) && isnan(b)));
        }
    }
}

#define FLUSHED MACHINE "workload.load_cpus=0;workload.isolated_cpus=1;workload.flush_shrinks=false;"

static double
flushed(const char *settings, const char *name)
{
    g_autofree char *all = g_strconcat(FLUSHED, settings, NULL);
    g_autoptr(SimRecord) record = test_world_record("latency", all);

    return test_record_metric(record, name);
}

/* A flush takes an interrupt to 5.14 and a trip to the kworker since, and its way there. */
static void
test_flush_costs(void)
{
    static const char *const kernels[] = {"5.14", "5.15", "6.12"};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *kernel = g_strconcat("workload.flush_period=300 us;kernel.version=", kernels[i], NULL);
        g_autofree char *ipi = g_strconcat(kernel, ";costs.ipi_handler=1300 ns", NULL);
        g_autofree char *work = g_strconcat(kernel, ";costs.work_switch=3000 ns", NULL);
        g_autofree char *way = g_strconcat(kernel, ";costs.ipi_delivery=1800 ns", NULL);
        double base = flushed(kernel, "flush_max_ns");

        g_assert_cmpfloat_with_epsilon(flushed(ipi, "flush_max_ns") - base, i == 0 ? 1000 : 0, 1e-6);
        g_assert_cmpfloat_with_epsilon(flushed(work, "flush_max_ns") - base, i == 0 ? 0 : 1000, 1e-6);
        g_assert_cmpfloat_with_epsilon(flushed(way, "flush_max_ns") - base, 1000, 1e-6);
    }
}

/* What began in the window counts, and nothing else: flushes begin at whole milliseconds and take longer than the one
 * window, and end in the other. */
static void
test_window(void)
{
#define FLUSH_AT_5MS "workload.load_cpus=0;workload.isolated_cpus=1;workload.flush_period=5 ms;kernel.version=6.12;"
    g_autoptr(TestWorld) within = test_world_finished("latency", FLUSH_AT_5MS "run.warmup=5 ms;run.duration=100 ns");
    g_autoptr(TestWorld) before =
        test_world_finished("latency", FLUSH_AT_5MS "run.warmup=5000001 ns;run.duration=1 ms");
#undef FLUSH_AT_5MS

    g_assert_cmpfloat(test_world_metric(within, "flush_max_ns"), >, 100);
    g_assert_true(isnan(test_world_metric(before, "flush_max_ns")));
}

/* The isolated CPU's bursts are told apart from what the others do, and "all" is both. */
static void
test_isolated(void)
{
    g_autoptr(SimRecord) record =
        test_world_record("latency", MACHINE "workload.load_cpus=2;workload.isolated_period=100 us;"
                                             "workload.isolated_burst=10;run.latency=true");
    double n[3] = {0};

    for (guint t = 0; t < sim_record_n_tables(record); t++) {
        const SimTable *table = sim_record_table(record, t);

        for (guint row = 0; g_str_equal(sim_table_name(table), "latency_times") && row < sim_table_n_rows(table); row++)
            if (g_str_equal(sim_table_cell(table, row, 1), "alloc")) {
                const char *cpus = sim_table_cell(table, row, 0);

                n[g_str_equal(cpus, "isolated") ? 0
                  : g_str_equal(cpus, "others") ? 1
                                                : 2] += g_ascii_strtod(sim_table_cell(table, row, 3), NULL);
            }
    }
    g_assert_cmpfloat_with_epsilon(n[0], 5000.0 / 100 * 10, 10);
    g_assert_cmpfloat(n[1], >, 5000);
    g_assert_cmpfloat(n[2], ==, n[0] + n[1]);
}

/* A burst that does not fit its period is late for the next one, and all the later for those after. */
static void
test_overrun(void)
{
    g_autoptr(TestWorld) test = test_world_finished("latency", "run.duration=5 ms;workload.load_cpus=0;"
                                                               "workload.isolated_period=10 us;"
                                                               "workload.isolated_burst=2000");

    g_assert_cmpfloat(test_world_metric(test, "response_max_ns"), >, 2e6);
}

/* kmem_cache_shrink() looks at every parked slab, and so does a reader of slabinfo. */
static void
test_parked(void)
{
#define PARKED MACHINE "workload.load_cpus=0;workload.flush_period=1 ms;workload.slabinfo_period=1 ms;"
    static const char *const names[] = {"flush_max_ns", "slabinfo_read_max_ns"};
    static const char *const shrinks[] = {"workload.flush_shrinks=false", "workload.flush_shrinks=true"};

    for (guint i = 0; i < 2; i++) {
        g_autofree char *few = g_strconcat(PARKED, shrinks[i], ";workload.parked_slabs=0", NULL);
        g_autofree char *many = g_strconcat(PARKED, shrinks[i], ";workload.parked_slabs=100", NULL);
        g_autoptr(SimRecord) without = test_world_record("latency", few), with = test_world_record("latency", many);
        double scan_slab_ns = 10;

        for (guint m = 0; m < 2; m++) {
            double more = test_record_metric(with, names[m]) - test_record_metric(without, names[m]);

            if (m == 1 || i == 1)
                g_assert_cmpfloat(more, >=, 100 * scan_slab_ns);
            else
                g_assert_cmpfloat(more, <, 100 * scan_slab_ns);
        }
    }
#undef PARKED
}

/* A task that is busy when the flush comes: the interrupt of 5.14 delays it whatever its policy, the work of 5.15 only
 * an ordinary one. (The maximum is exact, other quantiles are not.) */
static void
test_flush_of_a_busy_task(void)
{
#define BUSY "workload.isolated_period=1 ms;workload.isolated_burst=9000;workload.flush_period=1 ms;kernel.version="
#define OTHER "5.15;workload.isolated_policy=other"
    static const char name[] = "response_max_ns";
    double irq = flushed(BUSY "5.14;costs.ipi_handler=1300 ns", name) - flushed(BUSY "5.14", name);
    double fifo = flushed(BUSY "5.15;costs.work_switch=6 us", name) - flushed(BUSY "5.15", name);
    double other = flushed(BUSY OTHER ";costs.work_switch=6 us", name) - flushed(BUSY OTHER, name);
#undef OTHER
#undef BUSY

    g_assert_cmpfloat_with_epsilon(irq, 1000, 100);
    g_assert_cmpfloat_with_epsilon(fifo, 0, 1e-6);
    g_assert_cmpfloat_with_epsilon(other, 4000, 100);
}

/* The steps of an accounted allocation are all of it. */
static void
test_accounting_steps(void)
{
    static const char *const modes[] = {"off", "root", "user", "user;memcg.scoped_pointer=yes",
                                        "user;kernel.version=6.12;memcg.profiling=true"};

    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *settings = g_strconcat("workload.objects=20000;run.duration=5 ms;memcg.mode=", modes[i], NULL);
        g_autoptr(SimRecord) record = test_world_record("kmalloc_accounted", settings);
        double sum = 0;

        for (guint t = 0; t < sim_record_n_tables(record); t++) {
            const SimTable *table = sim_record_table(record, t);

            for (guint row = 0; g_str_equal(sim_table_name(table), "accounting") && row < sim_table_n_rows(table);
                 row++)
                sum += g_ascii_strtod(sim_table_cell(table, row, 1), NULL);
        }
        g_assert_cmpfloat_with_epsilon(sum, test_record_metric(record, "alloc_mean_ns"), 1e-6);
    }
}

/* By hand: an array for 64 objects of 64 bytes is a kmalloc-512, 8 bytes each; 72 bytes have room for it in their own
 * padding up to 128, and 1136 bytes leave 8 * 28 bytes at the end of an order-3 slab (32768 - 28 * 1152). */
static void
test_placement(void)
{
    static const struct {
        const char *settings;
        double place, bytes_per_object;
    } cases[] = {
        {"object_size=64 B;memcg.placement=rfc-v2", SLAB_EXT_ARRAY, 8},
        {"object_size=72 B;memcg.placement=leftover", SLAB_EXT_ARRAY, 8},
        {"object_size=72 B;memcg.placement=rfc-v2", SLAB_EXT_PADDING, 0},
        {"object_size=1136 B;memcg.placement=leftover", SLAB_EXT_LEFTOVER, 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *settings =
            g_strconcat("kernel.version=6.17;memcg.mode=user;machine.cores_per_l3=16;run.duration=20 ms;"
                        "workload.placed_objects=2000;cache placed.flags=ACCOUNT|HWCACHE_ALIGN;"
                        "cache placed.",
                        cases[i].settings, NULL);
        g_autoptr(SimRecord) record = test_world_record("placement\n[cache placed]", settings);

        g_assert_cmpfloat(test_record_metric(record, "ext_place"), ==, cases[i].place);
        g_assert_cmpfloat(test_record_metric(record, "ext_array_bytes_per_object"), ==, cases[i].bytes_per_object);
    }
}

/* 28 pointers behind a header of 32 bytes fill a kmalloc-256; every CPU has a main sheaf of both caches. */
static void
test_sheaf_arrays(void)
{
    g_autoptr(SimRecord) record =
        test_world_record("mmap1", MACHINE "workload.processes=8;kernel.version=7.0;slub.sheaf_capacity=28");
    double arrays = test_record_metric(record, "sheaf_array_bytes");

    g_assert_cmpfloat(fmod(arrays, 256), ==, 0);
    g_assert_cmpfloat(arrays, >=, 2 * 16 * 256);
    g_assert_cmpfloat(test_record_metric(record, "slab_and_sheaf_bytes"), ==,
                      test_record_metric(record, "slab_memory_bytes") + arrays);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/latency-runs/percentiles", test_percentiles);
    g_test_add_func("/latency-runs/too-few-values", test_too_few_values);
    g_test_add_func("/latency-runs/neutral", test_neutral);
    g_test_add_func("/latency-runs/flush-costs", test_flush_costs);
    g_test_add_func("/latency-runs/window", test_window);
    g_test_add_func("/latency-runs/isolated", test_isolated);
    g_test_add_func("/latency-runs/overrun", test_overrun);
    g_test_add_func("/latency-runs/parked", test_parked);
    g_test_add_func("/latency-runs/flush-of-a-busy-task", test_flush_of_a_busy_task);
    g_test_add_func("/latency-runs/accounting-steps", test_accounting_steps);
    g_test_add_func("/latency-runs/placement", test_placement);
    g_test_add_func("/latency-runs/sheaf-arrays", test_sheaf_arrays);
    return g_test_run();
}
