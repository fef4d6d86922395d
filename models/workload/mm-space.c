/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mm-space.h"

#include "slub-array.h"
#include "slub-sheaf.h"

/* Nodes asked for and not in the tree yet. */
typedef struct {
    SlabId node[MM_RESERVED_MAX];
    SlubSheaf *sheaf;
} Reservation;

static guint
kernel_of(const MmCaches *mm)
{
    return mm->world->slub->kernel;
}

static gboolean
has_maple_tree(guint kernel)
{
    return kernel >= SLAB_KERNEL(6, 1);
}

/* Per-VMA locks as objects of their own; later they are part of the VMA, which is SLAB_TYPESAFE_BY_RCU. */
static gboolean
has_vma_lock(guint kernel)
{
    return kernel >= SLAB_KERNEL(6, 4) && kernel <= SLAB_KERNEL(6, 14);
}

const char *const *
mm_cache_names(guint kernel, gboolean with_anon)
{
    static const char *const locks[] = {"maple_node", "vm_area_struct", "vma_lock", NULL};
    static const char *const maple[] = {"maple_node", "vm_area_struct", NULL};
    static const char *const tree[] = {"vm_area_struct", NULL};
    static const char *const anon_locks[] = {"maple_node", "vm_area_struct", "vma_lock",
                                             "anon_vma",   "anon_vma_chain", NULL};
    static const char *const anon_maple[] = {"maple_node", "vm_area_struct", "anon_vma", "anon_vma_chain", NULL};
    static const char *const anon_tree[] = {"vm_area_struct", "anon_vma", "anon_vma_chain", NULL};

    if (with_anon)
        return has_vma_lock(kernel) ? anon_locks : has_maple_tree(kernel) ? anon_maple : anon_tree;
    return has_vma_lock(kernel) ? locks : has_maple_tree(kernel) ? maple : tree;
}

static void
free_node_rcu(MachCpu *cpu, guint32 node, guint32 unused, void *data)
{
    slub_free(((const MmCaches *) data)->maple_node, cpu, node);
}

static void
free_vma_rcu(MachCpu *cpu, guint32 vma, guint32 vma_lock, void *data)
{
    const MmCaches *mm = data;

    world_free_accounted(mm->world, mm->vma_lock, cpu, vma_lock);
    world_free_accounted(mm->world, mm->vma, cpu, vma);
}

void
mm_caches_init(MmCaches *mm, World *world, gboolean with_anon)
{
    guint kernel = world->slub->kernel;

    *mm = (MmCaches){.world = world, .vma = world_cache(world, "vm_area_struct")};
    if (has_maple_tree(kernel))
        mm->maple_node = world_cache(world, "maple_node");
    if (has_vma_lock(kernel))
        mm->vma_lock = world_cache(world, "vma_lock");
    if (with_anon) {
        mm->anon_vma = world_cache(world, "anon_vma");
        mm->anon_vma_chain = world_cache(world, "anon_vma_chain");
    }
    mm->has_kfree_rcu = kernel >= SLAB_KERNEL(6, 18);
    mm->node_kind = mach_rcu_register(world->machine, free_node_rcu, mm);
    mm->vma_kind = mach_rcu_register(world->machine, free_vma_rcu, mm);
}

static guint
reserved(guint kernel, MmStoreKind kind, guint height, gboolean unmaps)
{
    /* From 6.18 on only the levels that change count; here the leaf's. */
    guint levels = kernel >= SLAB_KERNEL(6, 18) ? 1 : height;

    if (kernel < SLAB_KERNEL(6, 4) || (kernel < SLAB_KERNEL(6, 6) && !unmaps))
        return 1 + 3 * height;
    switch (kind) {
    case MM_STORE_BOUNDARY:
        return 0;
    case MM_STORE_NODE:
        return 1;
    case MM_STORE_SPLIT:
        return 1 + 2 * levels;
    case MM_STORE_REBALANCE:
        if (kernel < SLAB_KERNEL(6, 12))
            return 1 + 3 * height;
        return kernel >= SLAB_KERNEL(6, 18) ? 1 + 2 * levels : 2 * height - 1;
    }
    g_assert_not_reached();
}

MmStore
mm_store(guint kernel, MmStoreKind kind, guint height, gboolean unmaps)
{
    const MmStore by_kind[] = {
        [MM_STORE_BOUNDARY] = {0, 0, 0, 0},
        [MM_STORE_NODE] = {0, 1, 1, 1},
        [MM_STORE_SPLIT] = {0, 3, 2, 1 + 2 * height},
        [MM_STORE_REBALANCE] = {0, 2, 3, 1 + 3 * height},
    };
    MmStore store = by_kind[kind];

    store.n_reserved = reserved(kernel, kind, height, unmaps);
    return store;
}

MmStore
mm_store_split_root(guint kernel)
{
    return (MmStore){reserved(kernel, MM_STORE_SPLIT, 1, FALSE), 3, 1, 3};
}

MmStore
mm_store_collapse(guint kernel)
{
    return (MmStore){reserved(kernel, MM_STORE_REBALANCE, 2, TRUE), 1, 3, 7};
}

/* mt_alloc_bulk(), mt_free_bulk() */
static void
alloc_nodes(const MmCaches *mm, MachCpu *cpu, guint n, SlabId *ret_nodes)
{
    if (mm->nodes == MM_NODES_BULK) {
        slub_alloc_bulk(mm->maple_node, cpu, n, ret_nodes);
        return;
    }
    for (guint i = 0; i < n; i++)
        ret_nodes[i] = slub_alloc(mm->maple_node, cpu);
}

static void
free_nodes(const MmCaches *mm, MachCpu *cpu, guint n, SlabId *nodes)
{
    if (mm->nodes == MM_NODES_BULK) {
        slub_free_bulk(mm->maple_node, cpu, n, nodes);
        return;
    }
    for (guint i = 0; i < n; i++)
        slub_free(mm->maple_node, cpu, nodes[i]);
}

/* mas_preallocate() of a store that follows. */
static void
preallocate(const MmCaches *mm, MachCpu *cpu, MmStore *store)
{
    if (mm->nodes != MM_NODES_PREFILL)
        return;
    slub_array_prefill(mm->maple_node, cpu, store->n_reserved);
    store->n_reserved = store->n_asked;
}

/* mas_alloc_nodes(): the head alone, the others in one bulk allocation; mt_get_sheaf(). */
static void
reserve(const MmCaches *mm, MachCpu *cpu, guint n, Reservation *ret_reservation)
{
    ret_reservation->sheaf = NULL;
    if (n > 1 && mm->nodes == MM_NODES_BULK && kernel_of(mm) >= SLAB_KERNEL(6, 18)) {
        ret_reservation->sheaf = slub_prefill_sheaf(mm->maple_node, cpu, n);
        return;
    }
    if (n > 0)
        ret_reservation->node[0] = slub_alloc(mm->maple_node, cpu);
    if (n > 1)
        alloc_nodes(mm, cpu, n - 1, ret_reservation->node + 1);
}

/* Which of n reserved nodes, head first, the store takes as its number `i`: the bulk's from the last one down to its
 * second, the head, the bulk's first. */
static guint
taken(guint n, guint i)
{
    if (i + 2 < n)
        return n - 1 - i;
    return i + 2 == n ? 0 : MIN(1, n - 1);
}

static void
free_replaced(const MmCaches *mm, MachCpu *cpu, SlabId node)
{
    if (mm->has_kfree_rcu)
        slub_free_rcu(mm->maple_node, cpu, node);
    else
        mach_call_rcu(cpu, mm->node_kind, node, 0);
}

/* The nodes used stand in the tree in the place of those replaced. */
static void
replace(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store, const Reservation *from)
{
    guint first = tree->n_nodes - store.n_replaced;

    g_assert(store.n_replaced <= tree->n_nodes && first + store.n_used <= MM_NODES_MAX);
    for (guint i = 0; i < store.n_replaced; i++)
        free_replaced(mm, cpu, tree->node[first + i]);
    for (guint i = 0; i < store.n_used; i++)
        tree->node[first + i] = from->sheaf ? slub_alloc_from_sheaf(mm->maple_node, cpu, from->sheaf)
                                            : from->node[taken(store.n_reserved, i)];
    tree->n_nodes = first + store.n_used;
}

/* mas_destroy(): those of the bulk from its second on in one call, the head, the bulk's first. */
static void
give_back(const MmCaches *mm, MachCpu *cpu, MmStore store, Reservation *from)
{
    guint n = store.n_reserved - store.n_used;

    if (from->sheaf) {
        slub_return_sheaf(mm->maple_node, cpu, from->sheaf);
        return;
    }
    if (n > 2)
        free_nodes(mm, cpu, n - 2, from->node + 2);
    if (n > 1)
        slub_free(mm->maple_node, cpu, from->node[0]);
    if (n > 0)
        slub_free(mm->maple_node, cpu, from->node[1]);
}

static void
store_nodes(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store)
{
    Reservation reservation;

    reserve(mm, cpu, store.n_reserved, &reservation);
    replace(mm, tree, cpu, store, &reservation);
    give_back(mm, cpu, store, &reservation);
}

void
mm_tree_store(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store)
{
    if (!mm->maple_node)
        return;
    preallocate(mm, cpu, &store);
    store_nodes(mm, tree, cpu, store);
}

void
mm_tree_grow(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_nodes)
{
    for (guint i = 0; mm->maple_node && i < n_nodes; i++) {
        SlabId node = slub_alloc(mm->maple_node, cpu);

        g_assert(tree->n_nodes < MM_NODES_MAX);
        tree->node[tree->n_nodes++] = node;
    }
}

/* __mt_dup(): the root, then its children in one bulk allocation. */
void
mm_tree_copy(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_nodes)
{
    mm_tree_grow(mm, tree, cpu, 1);
    if (mm->maple_node && n_nodes > 1) {
        alloc_nodes(mm, cpu, n_nodes - 1, tree->node + tree->n_nodes);
        tree->n_nodes += n_nodes - 1;
    }
}

/* mas_expected_entries(): leaves of 14 slots for as many gaps as ranges, 8 leaves a parent, 3 nodes to work with. The
 * tree that grows by storing in order has leaves of 15 slots (MA_STATE_BULK), is not read by anybody yet and recycles
 * the nodes that it replaces. */
void
mm_tree_copy_expected(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_vmas)
{
    guint n_expected = (2 * n_vmas + 1 + 13) / 14, n_leaves = (n_vmas + 14) / 15;

    if (mm->maple_node)
        store_nodes(
            mm, tree, cpu,
            (MmStore){.n_reserved = n_expected + (n_expected + 7) / 8 + 3, .n_used = n_leaves + (n_leaves > 1)});
}

/* mt_destroy_walk() of a tree that nobody reads any more: nothing waits for RCU. */
void
mm_tree_destroy(const MmCaches *mm, MmTree *tree, MachCpu *cpu)
{
    if (tree->n_nodes > 1)
        free_nodes(mm, cpu, tree->n_nodes - 1, tree->node + 1);
    if (tree->n_nodes > 0)
        slub_free(mm->maple_node, cpu, tree->node[0]);
    tree->n_nodes = 0;
}

MmVma
mm_vma_new(const MmCaches *mm, MachCpu *cpu)
{
    MmVma vma = {.vma = world_alloc_accounted(mm->world, mm->vma, cpu)};

    if (mm->vma_lock)
        vma.lock = world_alloc_accounted(mm->world, mm->vma_lock, cpu);
    return vma;
}

void
mm_vma_free(const MmCaches *mm, MachCpu *cpu, MmVma vma)
{
    if (mm->vma_lock)
        mach_call_rcu(cpu, mm->vma_kind, vma.vma, vma.lock);
    else
        world_free_accounted(mm->world, mm->vma, cpu, vma.vma);
}

void
mm_chains_new(const MmCaches *mm, MachCpu *cpu, guint n, SlabId *ret_chain)
{
    for (guint i = 0; i < n; i++)
        ret_chain[i] = world_alloc_accounted(mm->world, mm->anon_vma_chain, cpu);
}

void
mm_chains_free(const MmCaches *mm, MachCpu *cpu, guint n, const SlabId *chain)
{
    for (guint i = 0; i < n; i++)
        world_free_accounted(mm->world, mm->anon_vma_chain, cpu, chain[i]);
}

MmVma
mm_map(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store)
{
    MmVma vma = mm_vma_new(mm, cpu);

    mm_tree_store(mm, tree, cpu, store);
    return vma;
}

/* To 6.3 the reservation comes before the other tree's node, in 6.4 and 6.5 behind it. */
void
mm_unmap(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store, MmVma vma)
{
    gboolean has_side = mm->maple_node && kernel_of(mm) <= SLAB_KERNEL(6, 5);
    gboolean side_is_first = kernel_of(mm) >= SLAB_KERNEL(6, 4);
    Reservation reservation;
    SlabId side = 0;

    if (has_side && side_is_first)
        side = slub_alloc(mm->maple_node, cpu);
    if (mm->maple_node) {
        if (!side_is_first)
            preallocate(mm, cpu, &store);
        reserve(mm, cpu, store.n_reserved, &reservation);
        if (has_side && !side_is_first)
            side = slub_alloc(mm->maple_node, cpu);
        replace(mm, tree, cpu, store, &reservation);
        give_back(mm, cpu, store, &reservation);
    }
    mm_vma_free(mm, cpu, vma);
    if (has_side)
        slub_free(mm->maple_node, cpu, side);
}
