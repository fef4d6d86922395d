/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cache-fixture.h"
#include "slub-inspect.h"
#include "slub-latency.h"
#include "test-world.h"

/* Latencies by path, readers of slabinfo, and flushes from another CPU. */

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

/* ---- by hand */

typedef struct {
    CacheFixture on;
    guint n_slabs; /* to be made partial */
    guint64 n_counted;
    SlabId object;
    SimTime spent;
    guint64 n_calls;
} Fixture;

enum { OBJECTS = 4 };

static void
set_up(Fixture *f, guint kernel, guint sheaf_capacity)
{
    gboolean has_cpu_partial = kernel < SLAB_KERNEL(7, 0);
    SlabGeometry geometry = {
        .size_bytes = 1024,
        .objects = OBJECTS,
        .min_objects = OBJECTS,
        .min_partial = 5,
        .cpu_partial = has_cpu_partial ? 6 : 0,
        .cpu_partial_slabs = has_cpu_partial ? 3 : 0,
        .has_cpu_partial = has_cpu_partial,
        .sheaf_capacity = sheaf_capacity,
    };

    cache_fixture_init(&f->on,
                       "[machine]\nsockets = 1\ncores_per_l3 = 2\nmemory_per_node = 64G\n"
                       "[costs]\nalloc_fast = 7 ns\nfree_fast = 6 ns\nalloc_slow = 35 ns\nslab_cas = 8 ns\n"
                       "hold_base = 25 ns\nscan_slab = 10 ns\nline_own = 4 ns\n",
                       kernel, &geometry);
}

static void
merge(const Fixture *f, SlubPath path, SimHist *hist)
{
    sim_hist_init(hist);
    slub_latency_merge(f->on.cache, 0, path, hist);
}

static void
assert_path(const Fixture *f, SlubPath path, guint64 count, SimTime each)
{
    g_autofree SimHist *hist = g_new(SimHist, 1);

    merge(f, path, hist);
    g_assert_cmpuint(sim_hist_count(hist), ==, count);
    g_assert_cmpint(sim_hist_min(hist), ==, each);
    g_assert_cmpint(sim_hist_max(hist), ==, each);
}

/* The first object comes with a new slab, three more from its freelist; two frees go back to the cpu slab, whence the
 * fifth allocation. */
static void
alloc_some(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    SlabId object[4];

    if (cpu->id != 0)
        return;
    slub_latency_start(f->on.cache, 0, 0);
    for (guint i = 0; i < 4; i++)
        object[i] = slub_alloc(f->on.cache, cpu);
    slub_free(f->on.cache, cpu, object[0]);
    slub_free(f->on.cache, cpu, object[1]);
    slub_alloc(f->on.cache, cpu);
    slub_latency_stop(f->on.cache, 0);
    slub_alloc(f->on.cache, cpu); /* after the end */
}

static void
test_fast_path(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 5), SLAB_KERNEL(6, 12)};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        Fixture f;
        g_autofree SimHist *hist = g_new(SimHist, 1);

        set_up(&f, kernels[i], 0);
        slub_latency_enable(f.on.cache);
        test_machine_run_each(f.on.machine, alloc_some, &f);
        assert_path(&f, SLUB_PATH_ALLOC_FAST, 4, 7 * SIM_NS);
        assert_path(&f, SLUB_PATH_FREE_FAST, 2, 6 * SIM_NS);
        merge(&f, SLUB_PATH_ALLOC_NEW_SLAB, hist);
        g_assert_cmpuint(sim_hist_count(hist), ==, 1);
        cache_fixture_clear(&f.on);
    }
}

/* Another CPU frees into the cpu slab, and with that the refill is one compare-exchange on a line that has to come from
 * there. */
static void
use_up_and_refill(SimAgent *agent)
{
    Fixture *f = agent->data;
    MachCpu *cpu = &f->on.machine->cpu[0];

    for (guint i = 0; i < OBJECTS; i++)
        f->object = slub_alloc(f->on.cache, cpu);
    mach_spend(cpu, SIM_MS);
    slub_latency_start(f->on.cache, 0, 0);
    slub_alloc(f->on.cache, cpu);
}

static void
free_from_afar(SimAgent *agent)
{
    Fixture *f = agent->data;

    slub_free(f->on.cache, &f->on.machine->cpu[1], f->object);
}

static void
test_refill(void)
{
    SimEngine *engine;
    Fixture f;

    set_up(&f, SLAB_KERNEL(6, 5), 0);
    slub_latency_enable(f.on.cache);
    engine = f.on.machine->engine;
    sim_wake(engine, sim_engine_add_fiber(engine, 0, use_up_and_refill, &f), 0);
    sim_wake(engine, sim_engine_add_fiber(engine, 1, free_from_afar, &f), SIM_MS);
    sim_engine_run(engine, SIM_TREE_IDLE - 1);
    assert_path(&f, SLUB_PATH_ALLOC_REFILL, 1,
                f.on.machine->costs.alloc_slow + f.on.machine->costs.slab_cas + f.on.machine->costs.line_same_l3);
    cache_fixture_clear(&f.on);
}

/* Every kind of call at random; what the clock says from outside must be all there, and each call once. */
static void
call_at_random(MachCpu *cpu, void *data)
{
    enum { LIVE = 64, BULK = 16 };
    Fixture *f = data;
    SlabId live[LIVE + BULK];
    guint n = 0;
    SimRng rng;

    sim_rng_init(&rng, 1, cpu->id, "test", "calls");
    slub_latency_start(f->on.cache, cpu->id, 0);
    for (guint i = 0; i < 4000; i++) {
        guint n_bulk = 1 + (guint) sim_rng_below(&rng, BULK);
        SimTime begin = mach_now(cpu);

        switch (sim_rng_below(&rng, 4)) {
        case 0:
            if (n + n_bulk > LIVE)
                continue;
            slub_alloc_bulk(f->on.cache, cpu, n_bulk, live + n);
            n += n_bulk;
            break;
        case 1:
            if (n < n_bulk)
                continue;
            n -= n_bulk;
            slub_free_bulk(f->on.cache, cpu, n_bulk, live + n);
            break;
        case 2:
            if (n == LIVE)
                continue;
            live[n++] = slub_alloc(f->on.cache, cpu);
            break;
        default: {
            guint at = n ? (guint) sim_rng_below(&rng, n) : 0;
            SlabId freed = live[at];

            if (n == 0)
                continue;
            live[at] = live[--n];
            slub_free(f->on.cache, cpu, freed);
        }
        }
        f->spent += mach_now(cpu) - begin;
        f->n_calls++;
    }
    slub_latency_stop(f->on.cache, cpu->id);
}

static void
test_nothing_is_lost(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 5), SLAB_KERNEL(6, 12),
                                    SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0), SLAB_KERNEL(7, 1)};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
        for (guint capacity = 0; capacity <= (kernels[i] >= SLAB_KERNEL(6, 18) ? 8u : 0u); capacity += 8) {
            g_autofree SimHist *all = g_new(SimHist, 1);
            Fixture f = {.spent = 0};

            set_up(&f, kernels[i], capacity);
            slub_latency_enable(f.on.cache);
            test_machine_run_each(f.on.machine, call_at_random, &f);
            sim_hist_init(all);
            for (guint p = 0; p < SLUB_N_PATHS; p++)
                slub_latency_merge(f.on.cache, 0, p, all);
            g_assert_cmpuint(sim_hist_count(all), ==, f.n_calls);
            g_assert_true(all->sum == (unsigned __int128) f.spent);
            cache_fixture_clear(&f.on);
        }
}

/* ---- slabinfo */

/* `n_slabs` partial slabs with one object each that this CPU touched last, and then one reading. */
static void
make_partial_and_count(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    g_autofree SlabId *object = g_new(SlabId, f->n_slabs * OBJECTS);
    SimLock *lock = &f->on.cache->node[0].list_lock;

    if (cpu->id != 0)
        return;
    for (guint i = 0; i < f->n_slabs * OBJECTS; i++)
        object[i] = slub_alloc(f->on.cache, cpu);
    for (guint i = 0; i < f->n_slabs * OBJECTS; i++)
        if (i % OBJECTS)
            slub_free(f->on.cache, cpu, object[i]);
    slub_flush_cpu(f->on.cache, cpu);
    g_assert_cmpuint(f->on.cache->node[0].partial.count, ==, f->n_slabs);
    sim_lock_reset_statistics(lock);
    f->n_counted = slub_read_slabinfo(f->on.cache, cpu);
}

/* Held for the fixed part and for each slab looked at; all slabs to 6.9, from 6.10 on 10000 at most. Slabs that are all
 * alike are extrapolated without error. */
static void
test_slabinfo_hold(void)
{
    static const struct {
        guint kernel, n_slabs, n_seen;
    } cases[] = {{SLAB_KERNEL(6, 5), 100, 100},      {SLAB_KERNEL(6, 9), 12000, 12000},
                 {SLAB_KERNEL(6, 10), 10000, 10000}, {SLAB_KERNEL(6, 10), 10001, 10000},
                 {SLAB_KERNEL(6, 12), 20000, 10000}, {SLAB_KERNEL(5, 10), 1, 1}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Fixture f = {.n_slabs = cases[i].n_slabs};
        const SimLockSite *site;

        set_up(&f, cases[i].kernel, 0);
        test_machine_run_each(f.on.machine, make_partial_and_count, &f);
        site = &f.on.cache->node[0].list_lock.sites[SLUB_LOCK_COUNT];
        g_assert_cmpuint(site->acquisitions, ==, 1);
        g_assert_cmpint(site->hold_ps, ==,
                        f.on.machine->costs.hold_base + f.on.machine->costs.lock_release +
                            cases[i].n_seen * (f.on.machine->costs.scan_slab + f.on.machine->costs.line_own));
        g_assert_cmpuint(f.n_counted, ==, (OBJECTS - 1) * (guint64) cases[i].n_slabs);
        cache_fixture_clear(&f.on);
    }
    g_assert_cmpstr(slub_lock_site_name(SLUB_LOCK_COUNT, SLAB_KERNEL(6, 9)), ==, "count_partial");
    g_assert_cmpstr(slub_lock_site_name(SLUB_LOCK_COUNT, SLAB_KERNEL(6, 10)), ==, "count_partial_free_approx");
}

/* ---- whole runs */

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
    g_test_add_func("/latency/percentiles", test_percentiles);
    g_test_add_func("/latency/too-few-values", test_too_few_values);
    g_test_add_func("/latency/fast-path", test_fast_path);
    g_test_add_func("/latency/refill", test_refill);
    g_test_add_func("/latency/nothing-is-lost", test_nothing_is_lost);
    g_test_add_func("/latency/slabinfo-hold", test_slabinfo_hold);
    g_test_add_func("/latency/neutral", test_neutral);
    g_test_add_func("/latency/flush-costs", test_flush_costs);
    g_test_add_func("/latency/flush-of-a-busy-task", test_flush_of_a_busy_task);
    g_test_add_func("/latency/accounting-steps", test_accounting_steps);
    g_test_add_func("/latency/placement", test_placement);
    g_test_add_func("/latency/sheaf-arrays", test_sheaf_arrays);
    return g_test_run();
}
