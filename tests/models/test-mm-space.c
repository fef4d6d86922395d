/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an mmap and a munmap ask of the caches, call by call and release by release: the tables of slub-facts F.2, of
 * which those of 6.1 and 6.12 were seen in traces. */
#include <string.h>

#include "mm-space.h"
#include "slub-trace.h"
#include "test-machine.h"

static void
test_reserved(void)
{
    static const struct {
        guint major, minor;
        MmStoreKind kind;
        guint height;
        gboolean unmaps;
        guint n_reserved;
    } rows[] = {
        /* mas_preallocate() of whatever kind, to 6.3 for munmap too; that is by kind from 6.4 on */
        {6, 1, MM_STORE_BOUNDARY, 2, FALSE, 7},
        {6, 1, MM_STORE_NODE, 3, TRUE, 10},
        {6, 3, MM_STORE_NODE, 2, TRUE, 7},
        {6, 4, MM_STORE_NODE, 2, FALSE, 7},
        {6, 5, MM_STORE_BOUNDARY, 2, FALSE, 7},
        {6, 4, MM_STORE_NODE, 2, TRUE, 1},
        {6, 5, MM_STORE_SPLIT, 2, TRUE, 5},
        {6, 5, MM_STORE_REBALANCE, 2, TRUE, 7},
        /* by kind for all */
        {6, 6, MM_STORE_BOUNDARY, 2, FALSE, 0},
        {6, 6, MM_STORE_NODE, 3, FALSE, 1},
        {6, 6, MM_STORE_SPLIT, 3, FALSE, 7},
        {6, 11, MM_STORE_REBALANCE, 3, TRUE, 10},
        {6, 12, MM_STORE_REBALANCE, 3, TRUE, 5},
        {6, 17, MM_STORE_SPLIT, 3, FALSE, 7},
        /* only levels that change */
        {6, 18, MM_STORE_NODE, 3, FALSE, 1},
        {6, 18, MM_STORE_SPLIT, 3, FALSE, 3},
        {6, 18, MM_STORE_REBALANCE, 3, TRUE, 3},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        MmStore store =
            mm_store(SLAB_KERNEL(rows[i].major, rows[i].minor), rows[i].kind, rows[i].height, rows[i].unmaps);

        g_test_message("row %u", i);
        g_assert_cmpuint(store.n_reserved, ==, rows[i].n_reserved);
        g_assert_cmpuint(store.n_used, <=, store.n_reserved);
    }
    g_assert_cmpuint(mm_store_split_root(SLAB_KERNEL(6, 1)).n_reserved, ==, 4);
    g_assert_cmpuint(mm_store_collapse(SLAB_KERNEL(6, 1)).n_reserved, ==, 7);
    g_assert_cmpuint(mm_store_split_root(SLAB_KERNEL(6, 12)).n_reserved, ==, 3);
    g_assert_cmpuint(mm_store_collapse(SLAB_KERNEL(6, 12)).n_reserved, ==, 3);
}

typedef struct {
    guint kernel;
    World world;
    MmCaches mm;
    GString *calls;
    gboolean is_noting, in_rcu;
} Bed;

/* A and F of one node, Bn and Gn in bulk, R by a callback; small letters: v of a VMA, l of its lock, when allocated; x
 * and u when freed. */
static void
note(Bed *bed, const SlubCache *cache, gboolean is_free, guint n, gboolean is_bulk)
{
    if (!bed->is_noting)
        return;
    if (strcmp(cache->name, "maple_node") != 0)
        g_string_append_c(bed->calls, strcmp(cache->name, "vma_lock") == 0 ? "lu"[is_free] : "vx"[is_free]);
    else if (is_bulk)
        g_string_append_printf(bed->calls, "%c%u", "BG"[is_free], n);
    else
        g_string_append_c(bed->calls, !is_free ? 'A' : bed->in_rcu ? 'R' : 'F');
}

static void
on_alloc(const SlubCache *cache, const MachCpu *cpu, gint node, guint n, const SlabId *objects, gboolean is_bulk,
         void *data)
{
    note(data, cache, FALSE, n, is_bulk);
}

static void
on_free(const SlubCache *cache, const MachCpu *cpu, guint n, const SlabId *objects, gboolean is_bulk, void *data)
{
    note(data, cache, TRUE, n, is_bulk);
}

static void
on_freed(const SlubCache *cache, const MachCpu *cpu, SimTime since, void *data)
{
}

/* Two grace periods and more. */
static void
wait_for_rcu(Bed *bed, MachCpu *cpu)
{
    bed->in_rcu = TRUE;
    for (guint i = 0; i < 20; i++) {
        mach_spend(cpu, SIM_MS);
        mach_poll(cpu);
    }
    bed->in_rcu = FALSE;
}

static void
map_and_unmap(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MmTree tree = {.n_nodes = 0};
    MmVma vma;

    mm_tree_grow(&bed->mm, &tree, cpu, 1);
    bed->is_noting = TRUE;
    vma = mm_map(&bed->mm, &tree, cpu, mm_store(bed->kernel, MM_STORE_NODE, 2, FALSE));
    g_string_append_c(bed->calls, ' ');
    mm_unmap(&bed->mm, &tree, cpu, mm_store(bed->kernel, MM_STORE_NODE, 2, TRUE), vma);
    g_string_append_c(bed->calls, ' ');
    wait_for_rcu(bed, cpu);
    bed->is_noting = FALSE;
    mm_tree_destroy(&bed->mm, &tree, cpu);
}

/* The leaf that is the whole tree and full, as in the traces. */
static void
split_and_collapse(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MmTree tree = {.n_nodes = 0};

    mm_tree_grow(&bed->mm, &tree, cpu, 1);
    bed->is_noting = TRUE;
    mm_tree_store(&bed->mm, &tree, cpu, mm_store_split_root(bed->kernel));
    g_string_append_c(bed->calls, ' ');
    mm_tree_store(&bed->mm, &tree, cpu, mm_store_collapse(bed->kernel));
    g_string_append_c(bed->calls, ' ');
    wait_for_rcu(bed, cpu);
    bed->is_noting = FALSE;
    g_assert_cmpuint(tree.n_nodes, ==, bed->mm.maple_node ? 1 : 0);
    mm_tree_destroy(&bed->mm, &tree, cpu);
}

static void
run_calls(guint kernel, MmNodes nodes, guint sheaf_capacity, GString *calls, void (*body)(MachCpu *cpu, void *data))
{
    const SlabGeometry geometry = {
        .size_bytes = 256, .objects = 16, .min_objects = 16, .min_partial = 5, .sheaf_capacity = sheaf_capacity};
    Bed bed = {.kernel = kernel, .calls = calls};
    const SlubObserver observer = {on_alloc, on_free, on_freed, &bed};
    g_autoptr(GError) error = NULL;
    TestMachine test;

    test_machine_init(&test, "[machine]\nsockets = 1\ncores_per_l3 = 1\n");
    bed.world.machine = test_machine_start(&test, 1, NULL, 0);
    bed.world.topology = test.topology;
    bed.world.slub = slub_system_new(bed.world.machine, kernel, 100, &error);
    g_assert_no_error(error);
    bed.world.slub->observer = sheaf_capacity ? NULL : &observer;
    for (const char *const *name = mm_cache_names(kernel, FALSE); *name; name++) {
        slub_cache_new(bed.world.slub, *name, &geometry, 0, FALSE);
    }
    mm_caches_init(&bed.mm, &bed.world, FALSE);
    bed.mm.nodes = nodes;
    test_machine_run_each(bed.world.machine, body, &bed);
    for (guint i = 0; i < bed.world.slub->n_caches; i++) {
        g_autofree char *why = slub_cache_check(bed.world.slub->cache[i]);

        g_assert_cmpstr(why, ==, NULL);
        g_assert_cmpint(bed.world.slub->cache[i]->cpu[0].n_objects, ==, 0);
    }
    slub_system_free(bed.world.slub);
    test_machine_stop(bed.world.machine);
    test_machine_clear(&test);
}

/* map, unmap, and what callbacks then free. */
static void
test_calls(void)
{
    static const struct {
        guint major, minor;
        const char *map_and_unmap, *split_and_collapse;
    } rows[] = {
        {6, 0, "v x ", "  "},
        {6, 1, "vAB6G4FF AB6AG4FFxF RR", "AB3F AB6G4FF RRRR"},
        {6, 3, "vAB6G4FF AB6AG4FFxF RR", "AB3F AB6G4FF RRRR"},
        {6, 4, "vlAB6G4FF AAF RRux", "AB3F AB6G4FF RRRR"},
        {6, 5, "vlAB6G4FF AAF RRux", "AB3F AB6G4FF RRRR"},
        {6, 6, "vlA A RRux", "AB2 AB6G4FF RRRR"},
        {6, 12, "vlA A RRux", "AB2 AB2FF RRRR"},
        {6, 14, "vlA A RRux", "AB2 AB2FF RRRR"},
        {6, 15, "vA Ax RR", "AB2 AB2FF RRRR"},
        {6, 17, "vA Ax RR", "AB2 AB2FF RRRR"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint kernel = SLAB_KERNEL(rows[i].major, rows[i].minor);
        g_autoptr(GString) calls = g_string_new(NULL), others = g_string_new(NULL);

        g_test_message("%u.%u", rows[i].major, rows[i].minor);
        run_calls(kernel, MM_NODES_BULK, 0, calls, map_and_unmap);
        g_assert_cmpstr(calls->str, ==, rows[i].map_and_unmap);
        run_calls(kernel, MM_NODES_BULK, 0, others, split_and_collapse);
        g_assert_cmpstr(others->str, ==, rows[i].split_and_collapse);
    }
}

/* fork to 6.7, of 30 VMAs: 5 leaves of 14 slots and a parent for 61 ranges, 3 to work with; 2 leaves and a root stay.
 */
static void
copy_expected(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MmTree tree = {.n_nodes = 0};

    bed->is_noting = TRUE;
    mm_tree_copy_expected(&bed->mm, &tree, cpu, 30);
    g_string_append_c(bed->calls, ' ');
    g_assert_cmpuint(tree.n_nodes, ==, 3);
    mm_tree_destroy(&bed->mm, &tree, cpu);
}

/* The ways of RFC v2, on 6.5: no bulk calls; no reservation by stores that map, so that a node store asks for one node
 * and a split of the root for three. A fork still reserves. */
static void
test_ways(void)
{
    static const struct {
        MmNodes nodes;
        const char *map_and_unmap, *split_and_collapse, *copy;
    } rows[] = {
        {MM_NODES_BULK, "vlAB6G4FF AAF RRux", "AB3F AB6G4FF RRRR", "AB8G4FF G2F"},
        {MM_NODES_SINGLE, "vlAAAAAAAFFFFFF AAF RRux", "AAAAF AAAAAAAFFFFFF RRRR", "AAAAAAAAAFFFFFF FFF"},
        {MM_NODES_PREFILL, "vlA AAF RRux", "AAA AAAAAAAFFFFFF RRRR", "AAAAAAAAAFFFFFF FFF"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) calls = g_string_new(NULL), others = g_string_new(NULL), copy = g_string_new(NULL);

        run_calls(SLAB_KERNEL(6, 5), rows[i].nodes, 0, calls, map_and_unmap);
        g_assert_cmpstr(calls->str, ==, rows[i].map_and_unmap);
        run_calls(SLAB_KERNEL(6, 5), rows[i].nodes, 0, others, split_and_collapse);
        g_assert_cmpstr(others->str, ==, rows[i].split_and_collapse);
        run_calls(SLAB_KERNEL(6, 5), rows[i].nodes, 0, copy, copy_expected);
        g_assert_cmpstr(copy->str, ==, rows[i].copy);
    }
}

/* 6.18: one node by itself, more of them from a prefilled sheaf that goes back with the rest; replaced nodes gather in
 * the CPU's sheaf for RCU, and no callback of their own frees them. */
static void
use_sheaves(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    const guint64 *stat = bed->mm.maple_node->cpu[0].stat;
    MmTree tree = {.n_nodes = 0};

    mm_tree_grow(&bed->mm, &tree, cpu, 1);
    mm_tree_store(&bed->mm, &tree, cpu, mm_store(bed->kernel, MM_STORE_NODE, 2, FALSE));
    g_assert_cmpuint(stat[SLAB_STAT_SHEAF_PREFILL_FAST] + stat[SLAB_STAT_SHEAF_PREFILL_SLOW], ==, 0);
    mm_tree_store(&bed->mm, &tree, cpu, mm_store_split_root(bed->kernel));
    mm_tree_store(&bed->mm, &tree, cpu, mm_store_collapse(bed->kernel));
    g_assert_cmpuint(stat[SLAB_STAT_SHEAF_PREFILL_FAST] + stat[SLAB_STAT_SHEAF_PREFILL_SLOW], ==, 2);
    g_assert_cmpuint(stat[SLAB_STAT_SHEAF_RETURN_FAST] + stat[SLAB_STAT_SHEAF_RETURN_SLOW], ==, 2);
    g_assert_cmpuint(stat[SLAB_STAT_FREE_RCU_SHEAF], ==, 1 + 1 + 3);
    g_assert_cmpuint(mach_rcu_n_pending(cpu), ==, 0);
    wait_for_rcu(bed, cpu);
    mm_tree_destroy(&bed->mm, &tree, cpu);
}

static void
test_sheaves(void)
{
    run_calls(SLAB_KERNEL(6, 18), MM_NODES_BULK, 32, NULL, use_sheaves);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mm-space/reserved", test_reserved);
    g_test_add_func("/mm-space/calls", test_calls);
    g_test_add_func("/mm-space/ways", test_ways);
    g_test_add_func("/mm-space/sheaves", test_sheaves);
    return g_test_run();
}
