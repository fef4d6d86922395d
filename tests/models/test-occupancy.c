/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How full slabs are, by who holds them: answers by hand. */
#include "slub-occupancy.h"
#include "test-machine.h"

enum { OBJECTS = 10 };

/* CPU 0 and 1 are of node 0, CPU 2 and 3 of node 1. */
static void
fill(MachCpu *cpu, void *data)
{
    SlubCache *cache = data;
    SlabId object[3 * OBJECTS];
    guint n = cpu->id == 0 ? 2 * OBJECTS + 3 : cpu->id == 2 ? 7 : 0;

    for (guint i = 0; i < n; i++)
        object[i] = slub_alloc(cache, cpu);
    for (guint i = 0; cpu->id == 0 && i < OBJECTS; i++) /* all of one slab, and one of the next */
        slub_free(cache, cpu, object[i]);
    if (cpu->id == 0)
        slub_free(cache, cpu, object[OBJECTS]);
    if (cpu->id == 2)
        slub_flush_cpu(cache, cpu);
}

static void
check(const SlubOccupancy *occupancy, guint n_slabs, guint n_empty, guint n_free, guint tenth)
{
    g_assert_cmpuint(occupancy->n_slabs, ==, n_slabs);
    g_assert_cmpuint(occupancy->n_empty, ==, n_empty);
    g_assert_cmpuint(occupancy->n_free_objects, ==, n_free);
    g_assert_cmpuint(occupancy->free_bytes, ==, n_free * 100);
    for (guint i = 0; i < SLUB_N_TENTHS; i++)
        g_assert_cmpuint(occupancy->tenths[i], ==, (n_slabs > 0 && i == tenth) + (n_empty > 0 && i == 0 && tenth != 0));
}

static void
test_by_hand(void)
{
    const SlabGeometry geometry = {.size_bytes = 100,
                                   .objects = OBJECTS,
                                   .min_objects = OBJECTS,
                                   .min_partial = 5,
                                   .cpu_partial = 60,
                                   .cpu_partial_slabs = 12,
                                   .has_cpu_partial = TRUE};
    SlubOccupancy node0[SLUB_N_HOLDERS], node1[SLUB_N_HOLDERS], of_cpu[SLUB_N_HOLDERS] = {0};
    GError *error = NULL;
    TestMachine test;
    Machine *machine;
    SlubSystem *system;
    SlubCache *cache;

    test_machine_init(&test, "[machine]\nsockets = 2\ncores_per_l3 = 2\n");
    machine = test_machine_start(&test, 1, NULL, 0);
    system = slub_system_new(machine, SLAB_KERNEL(6, 5), 100, &error);
    g_assert_no_error(error);
    cache = slub_cache_new(system, "cache", &geometry, 0, FALSE);
    test_machine_run_each(machine, fill, cache);
    slub_occupancy(cache, 0, node0);
    slub_occupancy(cache, 1, node1);
    check(&node0[SLUB_ON_NODE], 0, 0, 0, 0);
    check(&node0[SLUB_ON_CPU_PARTIAL], 2, 1, 11, 9); /* an empty slab, and one with 9 of 10: in the last tenth */
    check(&node0[SLUB_ON_CPU], 1, 0, 7, 3);          /* 3 of the cpu slab's 10; the CPU's own freelist is free */
    check(&node1[SLUB_ON_NODE], 1, 0, 3, 7);
    check(&node1[SLUB_ON_CPU_PARTIAL], 0, 0, 0, 0);
    check(&node1[SLUB_ON_CPU], 0, 0, 0, 0);
    slub_occupancy_add_cpu(cache, 1, 0, of_cpu);
    check(&of_cpu[SLUB_ON_CPU_PARTIAL], 0, 0, 0, 0);
    slub_system_free(system);
    test_machine_stop(machine);
    test_machine_clear(&test);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/occupancy/by-hand", test_by_hand);
    return g_test_run();
}
