/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache-fixture.h"
#include "sim-error.h"
#include "slub-array.h"
#include "test-world.h"

/* Per-CPU arrays: answers worked out by hand from RFC v2 of August 2023, and what must hold of a whole boot. The long
 * random sequences are test-differential. */

enum { CAPACITY = 4 };

static void
set_up(CacheFixture *f, guint objects)
{
    const SlabGeometry geometry = {
        .size_bytes = 256,
        .objects = objects,
        .min_objects = objects,
        .min_partial = 5,
        .cpu_partial = 52,
        .cpu_partial_slabs = 7,
        .has_cpu_partial = TRUE,
    };
    g_autoptr(GError) error = NULL;

    cache_fixture_init(f, "[machine]\nsockets = 1\ncores_per_l3 = 1\n", SLAB_KERNEL(6, 5), &geometry);
    f->system->counts_bulk = TRUE;
    slub_array_set_up(f->cache, CAPACITY, &error);
    g_assert_no_error(error);
}

static void
expect(const SlubCache *cache, guint64 array_allocs, guint64 fast_allocs, guint64 slow_allocs, guint64 array_frees,
       guint64 fast_frees, guint64 slow_frees)
{
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_PCA), ==, array_allocs);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FASTPATH), ==, fast_allocs);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH), ==, slow_allocs);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_PCA), ==, array_frees);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_FASTPATH), ==, fast_frees);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH), ==, slow_frees);
}

/* Six of one slab: nothing in the array yet. Their frees fill it, then go on to the cpu slab; it hands out its four
 * before the cpu slab is asked again. A bulk call passes it by and its free, a group of one slab, too. */
static void
single_and_bulk(MachCpu *cpu, void *data)
{
    SlubCache *cache = ((CacheFixture *) data)->cache;
    SlabId object[8];

    for (guint i = 0; i < 6; i++)
        object[i] = slub_alloc(cache, cpu);
    expect(cache, 0, 5, 1, 0, 0, 0);
    for (guint i = 0; i < 6; i++)
        slub_free(cache, cpu, object[i]);
    expect(cache, 0, 5, 1, CAPACITY, 2, 0);
    g_assert_cmpint(slub_array_cpu_objects(cache, 0), ==, CAPACITY);
    slub_alloc_bulk(cache, cpu, 8, object);
    expect(cache, 0, 13, 1, CAPACITY, 2, 0);
    slub_free_bulk(cache, cpu, 8, object);
    expect(cache, 0, 13, 1, CAPACITY, 10, 0);
    for (guint i = 0; i < 5; i++)
        object[i] = slub_alloc(cache, cpu);
    expect(cache, CAPACITY, 14, 1, CAPACITY, 10, 0);
    for (guint i = 0; i < 5; i++)
        slub_free(cache, cpu, object[i]);
    slub_flush_cpu(cache, cpu);
    g_assert_cmpint(slub_array_cpu_objects(cache, 0), ==, CAPACITY); /* nobody drains it */
    g_assert_cmpuint(cache->cpu[0].slab + cache->cpu[0].veiled_slab, ==, 0);
}

/* One object a slab: each of a bulk free is by itself, and so for the array while it has room. */
static void
singles_of_a_bulk(MachCpu *cpu, void *data)
{
    SlubCache *cache = ((CacheFixture *) data)->cache;
    SlabId object[6];

    slub_alloc_bulk(cache, cpu, 6, object);
    slub_free_bulk(cache, cpu, 6, object);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_PCA), ==, CAPACITY);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_FASTPATH) + test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH),
                     ==, 2);
}

/* Up to three and no further; what is asked beyond the capacity is refused, as -EINVAL in the kernel. */
static void
prefill(MachCpu *cpu, void *data)
{
    SlubCache *cache = ((CacheFixture *) data)->cache;

    slub_array_prefill(cache, cpu, 3);
    expect(cache, 0, 2, 1, 3, 0, 0);
    slub_array_prefill(cache, cpu, 2);
    slub_array_prefill(cache, cpu, CAPACITY + 1);
    g_assert_cmpint(slub_array_cpu_objects(cache, 0), ==, 3);
    slub_free(cache, cpu, slub_alloc(cache, cpu));
    expect(cache, 1, 2, 1, 4, 0, 0);
}

static void
run(guint objects, void (*body)(MachCpu *cpu, void *data))
{
    CacheFixture f;

    set_up(&f, objects);
    test_machine_run_each(f.machine, body, &f);
    cache_fixture_clear(&f);
}

static void
test_by_hand(void)
{
    run(16, single_and_bulk);
    run(1, singles_of_a_bulk);
    run(16, prefill);
}

/* Only above a cpu slab, of a cache that has nothing else there. */
static void
test_refusals(void)
{
    static const struct {
        guint kernel, sheaf_capacity, flags;
    } cases[] = {{SLAB_KERNEL(7, 0), 0, 0}, {SLAB_KERNEL(6, 18), 32, 0}, {SLAB_KERNEL(6, 5), 0, SLAB_POISON}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const SlabGeometry geometry = {.size_bytes = 256,
                                       .objects = 16,
                                       .min_objects = 16,
                                       .sheaf_capacity = cases[i].sheaf_capacity,
                                       .flags = cases[i].flags};
        g_autoptr(GError) error = NULL;
        CacheFixture f;

        cache_fixture_init(&f, "[machine]\nsockets = 1\ncores_per_l3 = 1\n", cases[i].kernel, &geometry);
        g_assert_false(slub_array_set_up(f.cache, CAPACITY, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
        g_assert_null(f.cache->arrays);
        cache_fixture_clear(&f);
    }
}

typedef struct {
    double array_allocs, fast_allocs, slow_allocs, array_frees, fast_frees, slow_frees;
} Counts;

static Counts
boot(const char *settings)
{
    g_autofree char *all = g_strconcat("kernel.version=6.5;slub.bulk_stats=objects;machine.sockets=1;"
                                       "workload.boot_programs=20;run.duration=400 ms",
                                       settings, NULL);
    SimRecord *record = test_world_record("boot", all);
    Counts counts = {
        test_record_metric(record, "node_alloc_array"),    test_record_metric(record, "node_alloc_fastpath"),
        test_record_metric(record, "node_alloc_slowpath"), test_record_metric(record, "node_free_array"),
        test_record_metric(record, "node_free_fastpath"),  test_record_metric(record, "node_free_slowpath"),
    };

    sim_record_free(record);
    return counts;
}

static double
allocs(const Counts *c)
{
    return c->array_allocs + c->fast_allocs + c->slow_allocs;
}

static double
frees(const Counts *c)
{
    return c->array_frees + c->fast_frees + c->slow_frees;
}

/* What the trees ask for does not depend on who serves it, nor on how many CPUs there are; every way of it is counted.
 * Without bulk calls each free is counted too, of which a bulk free by the slow path counts one for many. A prefilled
 * array saves the nodes that would only be given back; without an array it is not filled. */
static void
test_boot(void)
{
#define ARRAY ";cache maple_node.array_capacity=32"
    Counts base = boot(""), one_cpu = boot(";machine.cores_per_l3=1"), array = boot(ARRAY);
    Counts single = boot(ARRAY ";workload.tree_nodes=single"), plain = boot(";workload.tree_nodes=single");
    Counts prefilled = boot(ARRAY ";workload.tree_nodes=prefill"), asked = boot(";workload.tree_nodes=prefill");

    g_assert_cmpfloat(allocs(&base), >, 1000);
    g_assert_cmpfloat(allocs(&one_cpu), ==, allocs(&base));
    g_assert_cmpfloat(allocs(&array), ==, allocs(&base));
    g_assert_cmpfloat(allocs(&single), ==, allocs(&base));
    g_assert_cmpfloat(allocs(&plain), ==, allocs(&base));
    g_assert_cmpfloat(frees(&single), ==, allocs(&single));
    g_assert_cmpfloat(frees(&plain), ==, allocs(&plain));
    g_assert_cmpfloat(frees(&base), <, allocs(&base));
    g_assert_cmpfloat(base.array_allocs + base.array_frees + asked.array_allocs, ==, 0);
    g_assert_cmpfloat(single.array_allocs, >, array.array_allocs);
    g_assert_cmpfloat(allocs(&asked), <, allocs(&base) / 2);
    /* Each object that a prefill takes is allocated once more when it leaves the array. */
    g_assert_cmpfloat(allocs(&prefilled), >=, allocs(&asked));
    g_assert_cmpfloat(allocs(&prefilled), <, allocs(&base) / 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/array/by-hand", test_by_hand);
    g_test_add_func("/array/refusals", test_refusals);
    g_test_add_func("/array/boot", test_boot);
    return g_test_run();
}
