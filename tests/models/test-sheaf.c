/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache-fixture.h"
#include "slub-sheaf.h"
#include "test-world.h"

/* Sheaves: answers worked out by hand from slub-facts B.3 and B.4, and what holds after workloads whose CPUs meet. The
 * long random sequences are test-differential. */

enum { CAPACITY = 4, OBJECTS = 16 };

static void
set_up(CacheFixture *f, guint kernel, const char *machine)
{
    SlabGeometry geometry = {
        .size_bytes = 256,
        .objects = OBJECTS,
        .min_objects = OBJECTS,
        .min_partial = 5,
        .cpu_partial = kernel < SLAB_KERNEL(7, 0) ? 52 : 0,
        .cpu_partial_slabs = kernel < SLAB_KERNEL(7, 0) ? 7 : 0,
        .has_cpu_partial = kernel < SLAB_KERNEL(7, 0),
        .sheaf_capacity = CAPACITY,
    };

    cache_fixture_init(f, machine, kernel, &geometry);
}

static guint64
stat_of(const SlubCache *cache, SlabStat stat)
{
    return test_world_stat(cache, stat);
}

/* Six allocations and their frees: the first fills a sheaf of 4 from a new slab and leaves 12 objects on the node's
 * list; the fifth finds main and spare empty and fills the spare. */
static void
alloc_six(MachCpu *cpu, void *data)
{
    SlubCache *cache = ((CacheFixture *) data)->cache;
    SlabId object[6];

    if (cpu->id != 0)
        return;
    for (guint i = 0; i < 6; i++)
        object[i] = slub_alloc(cache, cpu);
    g_assert_cmpuint(stat_of(cache, SLAB_STAT_SHEAF_REFILL), ==, 2 * CAPACITY);
    g_assert_cmpuint(stat_of(cache, SLAB_STAT_BARN_GET_FAIL), ==, 2);
    g_assert_cmpuint(cache->sheaves->cpu[0].main->size, ==, 2);
    for (guint i = 0; i < 6; i++)
        slub_free(cache, cpu, object[i]);
}

static void
test_direct_by_hand(void)
{
    CacheFixture f;

    set_up(&f, SLAB_KERNEL(7, 0), "[machine]\nsockets = 1\ncores_per_l3 = 1\n");
    test_machine_run_each(f.machine, alloc_six, &f);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_FASTPATH), ==, 6);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_SLOWPATH), ==, 0);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_PCS), ==, 0);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_FREE_FASTPATH), ==, 6);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_SLAB), ==, 1);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_SHEAF_ALLOC), ==, 1); /* the first refill's; main was there */
    /* The second refill isolates the slab, takes 4 of its 12 and frees 8 to the then full slab. */
    g_assert_cmpuint(f.cache->node[0].list_lock.sites[SLUB_LOCK_NEW_SLAB].acquisitions, ==, 1);
    g_assert_cmpuint(f.cache->node[0].list_lock.sites[SLUB_LOCK_REFILL].acquisitions, ==, 1);
    g_assert_cmpuint(f.cache->node[0].list_lock.sites[SLUB_LOCK_SLAB_FREE].acquisitions, ==, 1);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_FREE_ADD_PARTIAL), ==, 1);
    g_assert_cmpint(slub_sheaf_cpu_objects(f.cache, 0), ==, 2 * CAPACITY);
    cache_fixture_clear(&f);
}

/* The same in 6.18: the cpu slab below serves both refills, the emptied main sheaf goes to the barn. */
static void
test_layered_by_hand(void)
{
    CacheFixture f;

    set_up(&f, SLAB_KERNEL(6, 18), "[machine]\nsockets = 1\ncores_per_l3 = 1\n");
    test_machine_run_each(f.machine, alloc_six, &f);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_PCS), ==, 6);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_FREE_PCS), ==, 6);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_SLOWPATH), ==, 1);
    g_assert_cmpuint(stat_of(f.cache, SLAB_STAT_ALLOC_FASTPATH), ==, 2 * CAPACITY - 1);
    g_assert_cmpuint(f.cache->sheaves->barn[0].lock.sites[SLUB_BARN_PUT_EMPTY].acquisitions, ==, 2);
    g_assert_cmpuint(f.cache->cpu[0].veiled_free, ==, OBJECTS - 2 * CAPACITY);
    g_assert_cmpuint(f.cache->cpu[0].free, ==, 0);
    cache_fixture_clear(&f);
}

/* CPU 0 is of node 0, CPU 1 of node 1, which frees what CPU 0 has allocated. */
typedef struct {
    CacheFixture f;
    SlabId object[3];
} Handover;

static void
hand_over(MachCpu *cpu, void *data)
{
    Handover *h = data;

    for (guint i = 0; i < G_N_ELEMENTS(h->object); i++) {
        if (cpu->id == 0)
            h->object[i] = slub_alloc(h->f.cache, cpu);
        else
            slub_free(h->f.cache, cpu, h->object[i]);
    }
}

static void
test_remote_frees(void)
{
    for (guint to_sheaf = 0; to_sheaf < 2; to_sheaf++) {
        Handover h;

        set_up(&h.f, SLAB_KERNEL(7, 0), "[machine]\nsockets = 2\ncores_per_l3 = 1\n");
        slub_system_set_layers(h.f.system, &(SlubLayers){FALSE, SLUB_REFILL_TRYLOCK, to_sheaf == 1});
        test_machine_run_each(h.f.machine, hand_over, &h);
        g_assert_cmpuint(stat_of(h.f.cache, SLAB_STAT_FREE_SLOWPATH), ==, to_sheaf ? 0 : 3);
        g_assert_cmpint(slub_sheaf_cpu_objects(h.f.cache, 1), ==, to_sheaf ? 3 : 0);
        cache_fixture_clear(&h.f);
    }
}

static const guint kernels[] = {SLAB_KERNEL(6, 18), SLAB_KERNEL(6, 19), SLAB_KERNEL(7, 0), SLAB_KERNEL(7, 1)};

/* CPUs in each other's way: afterwards every object is in one place, and calls are hits and misses. */
static void
run_workload(const char *workload, const char *settings, guint kernel)
{
    g_autofree char *all =
        g_strdup_printf("kernel.version=%u.%u;slub.sheaves=on;%s", kernel / 1000, kernel % 1000, settings);
    TestWorld *test = test_world_new(workload, all, 7);
    guint64 n_contended = 0;

    test_world_start(test);
    test_world_run(test);
    for (guint i = 0; i < test->world.slub->n_caches; i++) {
        const SlubCache *cache = test->world.slub->cache[i];
        g_autofree char *why = slub_cache_check(cache);

        g_assert_cmpstr(why, ==, NULL);
        if (!cache->sheaves)
            continue;
        for (guint n = 0; n < test->world.topology->n_nodes; n++)
            for (guint site = 0; site < SLUB_N_BARN_SITES; site++)
                n_contended += cache->sheaves->barn[n].lock.sites[site].contended;
        /* A refilled object is handed out, flushed or still here; so is a freed one. */
        g_assert_cmpuint(stat_of(cache, SLAB_STAT_SHEAF_REFILL), >=, stat_of(cache, SLAB_STAT_ALLOC_SLAB));
    }
    g_assert_cmpuint(n_contended, >, 0);
    test_world_free(test);
}

static void
test_mmap1(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
        run_workload(
            "mmap1",
            "machine.sockets=2;machine.cores_per_l3=8;workload.processes=16;run.warmup=1ms;run.duration=9ms;"
            "machine.tick=1ms;machine.grace_period=1ms;workload.iteration_compute=100 ns [50 ns .. 200 ns] test",
            kernels[i]);
}

static void
test_hackbench(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
        run_workload("hackbench",
                     "machine.sockets=2;machine.cores_per_l3=4;workload.groups=2;workload.fds=4;workload.loops=300;"
                     "run.warmup=1ms;run.duration=20ms",
                     kernels[i]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sheaf/direct-by-hand", test_direct_by_hand);
    g_test_add_func("/sheaf/layered-by-hand", test_layered_by_hand);
    g_test_add_func("/sheaf/remote-frees", test_remote_frees);
    g_test_add_func("/sheaf/mmap1", test_mmap1);
    g_test_add_func("/sheaf/hackbench", test_hackbench);
    return g_test_run();
}
