/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache-fixture.h"
#include "slub-sheaf.h"
#include "test-world.h"

/* Who allocates from where on a node without memory, where numa_mem_id() is that node (x86) and where it is the nearest
 * one with memory: CPU 1 is of node 1, all memory of node 0. Worked out by hand from slub-facts B.4 and "slab: fix barn
 * NULL pointer dereference on memoryless nodes" (6.18). */

enum { N = 8, MIN_PARTIAL = 5 };

typedef struct {
    CacheFixture f;
    const char *ids;
    guint kernel;
    guint64 n_slabs, n_refilled, n_slow_allocs, n_slow_frees, n_from_any;
} Case;

static void
check_counts(const Case *c)
{
    const SlubCache *cache = c->f.cache;
    const SimLockSite *any = &cache->node[0].list_lock.sites[SLUB_LOCK_FROM_ANY];

    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_SLAB), ==, c->n_slabs);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_SHEAF_REFILL), ==, c->n_refilled);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH), ==, c->n_slow_allocs);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH), ==, c->n_slow_frees);
    g_assert_cmpuint(any->acquisitions, ==, c->n_from_any);
}

static void
alloc_and_free(MachCpu *cpu, void *data)
{
    Case *c = data;
    SlabId object[N];

    if (cpu->id != 1)
        return;
    g_assert_cmpuint(cpu->mem_node, ==, g_str_equal(c->ids, "own") ? 1 : 0);
    for (guint i = 0; i < N; i++) {
        object[i] = slub_alloc(c->f.cache, cpu);
        g_assert_cmpuint(slub_slab_node(c->f.cache, object[i]), ==, 0);
    }
    for (guint i = 0; i < N; i++)
        slub_free(c->f.cache, cpu, object[i]);
    check_counts(c);
    if (c->f.cache->sheaves)
        g_assert_cmpint(slub_sheaf_cpu_objects(c->f.cache, 1), ==, c->n_refilled);
}

/* A CPU without a barn gets each object by itself. Node 0's list helps it only when it is longer than min_partial, so
 * that the first six make a slab each and the last two find one. A sheaf of 4 is filled twice where there is a barn.
 * The cpu slab of 6.5 does not care. */
static void
test_who(void)
{
    Case cases[] = {
        {.ids = "own",
         .kernel = SLAB_KERNEL(7, 0),
         .n_slabs = MIN_PARTIAL + 1,
         .n_slow_allocs = N,
         .n_slow_frees = N,
         .n_from_any = N - MIN_PARTIAL - 1},
        {.ids = "nearest", .kernel = SLAB_KERNEL(7, 0), .n_slabs = 1, .n_refilled = N},
        {.ids = "own", .kernel = SLAB_KERNEL(7, 1), .n_slabs = 2, .n_refilled = N},
        {.ids = "nearest", .kernel = SLAB_KERNEL(7, 1), .n_slabs = 1, .n_refilled = N},
        {.ids = "own", .kernel = SLAB_KERNEL(6, 5), .n_slabs = 1, .n_slow_allocs = 1},
        {.ids = "nearest", .kernel = SLAB_KERNEL(6, 5), .n_slabs = 1, .n_slow_allocs = 1},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Case *c = &cases[i];
        const SlabGeometry geometry = {
            .size_bytes = 256,
            .objects = 16,
            .min_objects = 16,
            .min_partial = MIN_PARTIAL,
            .sheaf_capacity = c->kernel >= SLAB_KERNEL(7, 0) ? N / 2 : 0,
        };
        g_autofree char *machine = g_strdup_printf(
            "[machine]\nsockets = 2\ncores_per_l3 = 1\nmemoryless_nodes = 1\nmemory_ids = %s\n", c->ids);

        g_test_message("case %u", i);
        cache_fixture_init(&c->f, machine, c->kernel, &geometry);
        test_machine_run_each(c->f.machine, alloc_and_free, c);
        cache_fixture_clear(&c->f);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memoryless/who", test_who);
    return g_test_run();
}
