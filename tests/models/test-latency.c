/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cache-fixture.h"
#include "slub-inspect.h"
#include "slub-latency.h"

/* Latencies by path, readers of slabinfo, and whom a flush has to ask. */

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
set_up_sockets(Fixture *f, guint n_sockets, guint kernel, guint sheaf_capacity)
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
    g_autofree char *text = g_strdup_printf("[machine]\nsockets = %u\ncores_per_l3 = 2\nmemory_per_node = 64G\n"
                                            "[costs]\nalloc_fast = 7 ns\nfree_fast = 6 ns\nalloc_slow = 35 ns\n"
                                            "slab_cas = 8 ns\nhold_base = 25 ns\nscan_slab = 10 ns\nline_own = 4 ns\n",
                                            n_sockets);

    cache_fixture_init(&f->on, text, kernel, &geometry);
}

static void
set_up(Fixture *f, guint kernel, guint sheaf_capacity)
{
    set_up_sockets(f, 1, kernel, sheaf_capacity);
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

/* ---- paths */

static void
assert_counts(const Fixture *f, guint cpu_class, const guint *counts)
{
    for (guint p = 0; p < SLUB_N_PATHS; p++) {
        g_autofree SimHist *hist = g_new(SimHist, 1);

        sim_hist_init(hist);
        slub_latency_merge(f->on.cache, cpu_class, p, hist);
        g_test_message("class %u, %s: %u", cpu_class, slub_path_name(p), (guint) sim_hist_count(hist));
        g_assert_cmpuint(sim_hist_count(hist), ==, counts[p]);
    }
}

/* Every way by cpu partial lists once at least. In slabs of 4 with room for 3 on the list, object i is of slab i / 4.
 */
static void
go_all_ways(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    SlabId object[8 * OBJECTS];

    if (cpu->id != 0)
        return;
    slub_latency_start(f->on.cache, 0, 0);
    for (guint i = 0; i < 8 * OBJECTS; i++) /* 8 new slabs, 24 fast */
        object[i] = slub_alloc(f->on.cache, cpu);
    slub_free(f->on.cache, cpu, object[0]); /* list */
    slub_free(f->on.cache, cpu, object[1]); /* on it already */
    for (guint slab = 1; slab < 7; slab++)  /* 4 to the list; the third and the sixth drain it */
        slub_free(f->on.cache, cpu, object[slab * OBJECTS]);
    g_assert_cmpuint(f->on.cache->node[0].partial.count, ==, 6);
    for (guint i = 1; i < OBJECTS; i++) /* slab 2, on the node's list: 2 frees, and one that discards it */
        slub_free(f->on.cache, cpu, object[2 * OBJECTS + i]);
    g_assert_cmpuint(f->on.cache->node[0].partial.count, ==, 5);
    slub_free(f->on.cache, cpu, object[7 * OBJECTS]); /* the cpu slab: fast */
    slub_alloc(f->on.cache, cpu);                     /* fast */
    slub_alloc(f->on.cache, cpu);                     /* the one of slab 6, on the CPU's list */
    slub_alloc(f->on.cache, cpu);                     /* the node's */
    slub_latency_stop(f->on.cache, 0);
}

static void
test_paths(void)
{
    static const guint frozen[SLUB_N_PATHS] = {
        [SLUB_PATH_ALLOC_NEW_SLAB] = 8, [SLUB_PATH_ALLOC_FAST] = 25,      [SLUB_PATH_ALLOC_CPU_PARTIAL] = 1,
        [SLUB_PATH_ALLOC_PARTIAL] = 1,  [SLUB_PATH_FREE_CPU_PARTIAL] = 5, [SLUB_PATH_FREE_FROZEN] = 1,
        [SLUB_PATH_FREE_DRAIN] = 2,     [SLUB_PATH_FREE_SLAB] = 2,        [SLUB_PATH_FREE_DISCARD] = 1,
        [SLUB_PATH_FREE_FAST] = 1};
    guint delayed[SLUB_N_PATHS];
    static const guint kernels[] = {SLAB_KERNEL(6, 5), SLAB_KERNEL(6, 12)};

    /* Nothing is frozen on a CPU's list from 6.8 on. */
    memcpy(delayed, frozen, sizeof delayed);
    delayed[SLUB_PATH_FREE_SLAB] += delayed[SLUB_PATH_FREE_FROZEN];
    delayed[SLUB_PATH_FREE_FROZEN] = 0;
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        Fixture f;

        set_up(&f, kernels[i], 0);
        slub_latency_enable(f.on.cache);
        test_machine_run_each(f.on.machine, go_all_ways, &f);
        assert_counts(&f, 0, kernels[i] < SLAB_KERNEL(6, 8) ? frozen : delayed);
        cache_fixture_clear(&f.on);
    }
}

/* Sheaves of 8 over slabs of 4: two new slabs fill the first, whose other seven objects are hits. What then comes back
 * fills main and spare, one of which goes to the barn, whence it comes again. */
static void
go_by_sheaves(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    SlabId object[24];

    if (cpu->id != 0)
        return;
    slub_latency_start(f->on.cache, 0, 0);
    for (guint i = 0; i < 24; i++)
        object[i] = slub_alloc(f->on.cache, cpu);
    for (guint i = 0; i < 24; i++)
        slub_free(f->on.cache, cpu, object[i]);
    for (guint i = 0; i < 24; i++)
        slub_alloc(f->on.cache, cpu);
    slub_latency_stop(f->on.cache, 0);
}

static void
test_sheaf_paths(void)
{
    static const guint kernels[] = {SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0)};
    static const guint counts[SLUB_N_PATHS] = {[SLUB_PATH_ALLOC_NEW_SLAB] = 3,
                                               [SLUB_PATH_ALLOC_SHEAF] = 44,
                                               [SLUB_PATH_ALLOC_BARN] = 1,
                                               [SLUB_PATH_FREE_SHEAF] = 23,
                                               [SLUB_PATH_FREE_BARN] = 1};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        Fixture f;

        set_up(&f, kernels[i], 8);
        slub_latency_enable(f.on.cache);
        test_machine_run_each(f.on.machine, go_by_sheaves, &f);
        assert_counts(&f, 0, counts);
        cache_fixture_clear(&f.on);
    }
}

/* What comes before the start and after the stop does not count, whatever its way, and each CPU counts in its class. */
static void
call_around_the_window(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    SlabId object[3][2 * OBJECTS + 1];

    for (guint part = 0; part < 3; part++) {
        if (part == 1)
            slub_latency_start(f->on.cache, cpu->id, cpu->id);
        slub_alloc_bulk(f->on.cache, cpu, OBJECTS + 1, object[part]);
        for (guint i = OBJECTS + 1; i < 2 * OBJECTS + 1; i++)
            object[part][i] = slub_alloc(f->on.cache, cpu);
        for (guint i = 0; i < OBJECTS + 1; i++)
            slub_free(f->on.cache, cpu, object[part][i]);
        slub_free_bulk(f->on.cache, cpu, OBJECTS, object[part] + OBJECTS + 1);
        if (part == 1)
            slub_latency_stop(f->on.cache, cpu->id);
    }
}

static void
test_window(void)
{
    static const guint kernels[] = {SLAB_KERNEL(6, 5), SLAB_KERNEL(6, 12), SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0)};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
        for (guint capacity = 0; capacity <= (kernels[i] >= SLAB_KERNEL(6, 18) ? 8u : 0u); capacity += 8) {
            Fixture f;

            set_up(&f, kernels[i], capacity);
            slub_latency_enable(f.on.cache);
            test_machine_run_each(f.on.machine, call_around_the_window, &f);
            for (guint c = 0; c < 2; c++) {
                guint64 n[SLUB_N_LATENCY_OPERATIONS] = {0};

                for (guint p = 0; p < SLUB_N_PATHS; p++) {
                    g_autofree SimHist *hist = g_new(SimHist, 1);

                    sim_hist_init(hist);
                    slub_latency_merge(f.on.cache, c, p, hist);
                    n[slub_path_operation(p)] += sim_hist_count(hist);
                }
                g_assert_cmpuint(n[SLUB_LATENCY_ALLOC], ==, OBJECTS);
                g_assert_cmpuint(n[SLUB_LATENCY_FREE], ==, OBJECTS + 1);
                g_assert_cmpuint(n[SLUB_LATENCY_BULK_ALLOC], ==, 1);
                g_assert_cmpuint(n[SLUB_LATENCY_BULK_FREE], ==, 1);
            }
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

/* Half of the slabs have three objects free, the others one, and they lie apart on the list: both ends together show
 * the mean, one alone would not. */
static void
make_uneven_and_count(MachCpu *cpu, void *data)
{
    Fixture *f = data;
    guint n = f->n_slabs * OBJECTS;
    g_autofree SlabId *object = g_new(SlabId, n);

    if (cpu->id != 0)
        return;
    for (guint i = 0; i < n; i++)
        object[i] = slub_alloc(f->on.cache, cpu);
    for (guint i = 0; i < n; i++)
        if (i % OBJECTS < (i < n / 2 ? 3 : 1))
            slub_free(f->on.cache, cpu, object[i]);
    slub_flush_cpu(f->on.cache, cpu);
    g_assert_cmpuint(f->on.cache->node[0].partial.count, ==, f->n_slabs);
    f->n_counted = slub_read_slabinfo(f->on.cache, cpu);
}

static void
test_slabinfo_both_ends(void)
{
    Fixture f = {.n_slabs = 12000};

    set_up(&f, SLAB_KERNEL(6, 10), 0);
    test_machine_run_each(f.on.machine, make_uneven_and_count, &f);
    /* The last one, flushed from the CPU, lies among those of the other kind. */
    g_assert_cmpfloat_with_epsilon((double) f.n_counted, 12000 / 2 * 3 + 12000 / 2, 4);
    cache_fixture_clear(&f.on);
}

/* Each CPU leaves one slab with three free objects on its node. */
static void
leave_one_and_count(MachCpu *cpu, void *data)
{
    Fixture *f = data;

    slub_alloc(f->on.cache, cpu);
    slub_flush_cpu(f->on.cache, cpu);
    f->n_counted = slub_read_slabinfo(f->on.cache, cpu);
}

static void
test_slabinfo_all_nodes(void)
{
    Fixture f = {.n_slabs = 0};

    set_up_sockets(&f, 2, SLAB_KERNEL(6, 5), 0);
    test_machine_run_each(f.on.machine, leave_one_and_count, &f);
    /* The second CPU of a node takes the slab of the first. */
    g_assert_cmpuint(f.n_counted, ==, 2 * (OBJECTS - 2));
    cache_fixture_clear(&f.on);
}

/* Asked for: a cpu slab, a cpu partial list, objects in sheaves; not: a CPU that has none of these, or no longer. */
static void
need_flushes(MachCpu *cpu, void *data)
{
    Fixture *f = data;

    g_assert_false(slub_needs_flush(f->on.cache, cpu->id));
    if (cpu->id == 0) {
        for (guint i = 0; i < OBJECTS; i++)
            f->object = slub_alloc(f->on.cache, cpu);
        g_assert_true(slub_needs_flush(f->on.cache, 0));
        slub_flush_cpu(f->on.cache, cpu);
        g_assert_false(slub_needs_flush(f->on.cache, 0));
    } else {
        slub_free(f->on.cache, cpu, f->object); /* to this CPU's partial list, or its sheaf */
        g_assert_true(slub_needs_flush(f->on.cache, 1));
        g_assert_false(slub_needs_flush(f->on.cache, 0));
        slub_flush_cpu(f->on.cache, cpu);
        g_assert_false(slub_needs_flush(f->on.cache, 1));
    }
}

static void
test_needs_flush(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 12), SLAB_KERNEL(7, 0)};

    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        Fixture f;

        set_up(&f, kernels[i], kernels[i] >= SLAB_KERNEL(7, 0) ? 8 : 0);
        test_machine_run_each(f.on.machine, need_flushes, &f);
        cache_fixture_clear(&f.on);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/latency/fast-path", test_fast_path);
    g_test_add_func("/latency/refill", test_refill);
    g_test_add_func("/latency/nothing-is-lost", test_nothing_is_lost);
    g_test_add_func("/latency/paths", test_paths);
    g_test_add_func("/latency/sheaf-paths", test_sheaf_paths);
    g_test_add_func("/latency/window", test_window);
    g_test_add_func("/latency/slabinfo-hold", test_slabinfo_hold);
    g_test_add_func("/latency/slabinfo-both-ends", test_slabinfo_both_ends);
    g_test_add_func("/latency/slabinfo-all-nodes", test_slabinfo_all_nodes);
    g_test_add_func("/latency/needs-flush", test_needs_flush);
    return g_test_run();
}
