/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale mmap1, process mode: each process, pinned to the CPU of its number, maps 128 MiB and unmaps it again,
 * for ever. What reaches the slab allocator are VMAs and maple tree nodes; their trace by release is slub-facts F.2
 * (lib/maple_tree.c and mm/mmap.c of 6.1, 6.5, 6.6 to 6.12), for a tree of the given height whose leaf has room:
 *   to 6.0     VMAs hang in a red-black tree: a VMA each
 *   6.1 - 6.3  map: VMA, reserve 1 + 3h nodes, use 1, give the rest back; unmap: the same and a side tree's node
 *   6.4, 6.5   map: VMA and its lock, the same reservation; unmap: two single nodes
 *   from 6.6   one node each, nothing reserved
 * The replaced leaf is freed through RCU, from 6.18 on by kfree_rcu; from 6.4 to 6.14 the VMA with its lock too. With
 * a full leaf, which is the whole tree, as in a small static process, each map splits it (3 nodes used, 1 replaced) and each unmap collapses
 * the tree again (1 used, 3 replaced); reserved are
 *   6.1 - 6.5  map 1 + 3h = 4, unmap 7 in 6.1 - 6.3 under mas_preallocate(), 7 in 6.4, 6.5 at the store
 *   6.6 - 6.11 map 1 + 2h = 3, unmap 7
 *   from 6.12  map 3, unmap 2h - 1 = 3
 * All other work of the two system calls is one computing time. Left out: VMA merging, page tables (never touched),
 * and the sheaf from which 6.18 takes reserved nodes. */
#include "slab-listing.h"
#include "workload.h"

enum
{
    MAPLE_HEIGHT_MAX = 6,
    RESERVED_MAX = 1 + 3 * MAPLE_HEIGHT_MAX,
    USED_MAX = 3,
};

/* The order of the choices of workload.leaf. */
enum
{
    LEAF_ROOM,
    LEAF_FULL,
};

static const SimKeySpec keys[] = {
    {.group = "workload", .key = "processes", .type = SIM_KEY_INT, .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "mmap1: processes (-t of will-it-scale), one a CPU in the order of the CPU numbers"},
    {.group = "workload", .key = "iteration_compute", .type = SIM_KEY_COST,
     .fallback = "2700 ns [1800 ns .. 3600 ns] both system calls without slab work, fitted (prototype-findings 3)",
     .min = 1, .max = 1e9, .help = "mmap1: computing time of one mmap and munmap, without slab work, alone on a core"},
    {.group = "workload", .key = "compute_spread", .type = SIM_KEY_REAL, .fallback = "0.1", .min = 0, .max = 0.9,
     .help = "mmap1: half-width of the uniform spread of the computing time, as a fraction of it"},
    {.group = "workload", .key = "maple_height", .type = SIM_KEY_INT, .fallback = "2", .min = 1,
     .max = MAPLE_HEIGHT_MAX, .help = "mmap1: height of the process's VMA tree; 2 from 17 to about 160 ranges on"},
    {.group = "workload", .key = "leaf", .type = SIM_KEY_CHOICE, .fallback = "room", .choices = "room|full",
     .help = "mmap1: whether the leaf has room for the mapping; full: it is the whole tree and exactly full, so that "
             "each mmap splits it and each munmap collapses the tree again"},
    {NULL},
};

typedef struct _Mmap1 Mmap1;

typedef struct
{
    Mmap1 *workload;
    MachCpu *cpu;
    SimRng rng;
    SlabId replaced[USED_MAX]; /* nodes that the next store replaces */
    guint n_replaced;
} Process;

/* What a store asks of the maple node cache; nothing when no node is reserved. */
typedef struct
{
    guint n_reserved, n_used;
} Store;

struct _Mmap1
{
    World *world;
    SlubCache *vma, *maple_node, *vma_lock; /* NULL where the release has none */
    SimTime half_compute; /* of one system call */
    double spread;
    Store map, unmap;
    gboolean has_side, side_is_first; /* unmap: a node for the tree of unmapped ranges, before or after the others */
    gboolean frees_by_kfree_rcu;
    guint node_kind, vma_kind; /* RCU callbacks */
    Process *process;
};

static void
free_node_rcu(MachCpu *cpu, guint32 node, guint32 unused, void *data)
{
    slub_free(((Mmap1 *) data)->maple_node, cpu, node);
}

static void
free_vma_rcu(MachCpu *cpu, guint32 vma, guint32 vma_lock, void *data)
{
    Mmap1 *w = data;

    world_free_accounted(w->world, w->vma_lock, cpu, vma_lock);
    world_free_accounted(w->world, w->vma, cpu, vma);
}

/* mas_alloc_nodes(): the head alone, the others in one bulk allocation. */
static void
reserve(Process *p, guint n, SlabId *ret_node)
{
    SlubCache *cache = p->workload->maple_node;

    ret_node[0] = slub_alloc(cache, p->cpu);
    if (n > 1)
        slub_alloc_bulk(cache, p->cpu, n - 1, ret_node + 1);
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

/* The nodes used stand in the tree in the place of those replaced. */
static void
replace(Process *p, const Store *store, const SlabId *node)
{
    const Mmap1 *w = p->workload;

    for (guint i = 0; i < p->n_replaced; i++)
        if (w->frees_by_kfree_rcu)
            slub_free_rcu(w->maple_node, p->cpu, p->replaced[i]);
        else
            mach_call_rcu(p->cpu, w->node_kind, p->replaced[i], 0);
    p->n_replaced = store->n_used;
    for (guint i = 0; i < store->n_used; i++)
        p->replaced[i] = node[taken(store->n_reserved, i)];
}

/* mas_destroy(): those of the bulk from its second on in one call, the head, the bulk's first. */
static void
give_back(Process *p, const Store *store, SlabId *node)
{
    SlubCache *cache = p->workload->maple_node;
    guint n = store->n_reserved - store->n_used;

    if (n > 2)
        slub_free_bulk(cache, p->cpu, n - 2, node + 2);
    if (n > 1)
        slub_free(cache, p->cpu, node[0]);
    if (n > 0)
        slub_free(cache, p->cpu, node[1]);
}

static void
compute(Process *p)
{
    const Mmap1 *w = p->workload;
    double factor = 1 + w->spread * (2 * sim_rng_uniform(&p->rng) - 1);

    mach_compute(p->cpu, (SimTime) ((double) w->half_compute * factor), mach_sibling_is_busy(p->cpu));
}

static void
iterate(Process *p)
{
    Mmap1 *w = p->workload;
    MachCpu *cpu = p->cpu;
    SlabId vma, vma_lock = 0, side = 0, node[RESERVED_MAX];

    compute(p);
    vma = world_alloc_accounted(w->world, w->vma, cpu);
    if (w->vma_lock)
        vma_lock = world_alloc_accounted(w->world, w->vma_lock, cpu);
    if (w->maple_node) {
        reserve(p, w->map.n_reserved, node);
        replace(p, &w->map, node);
        give_back(p, &w->map, node);
    }
    mach_poll(cpu);
    compute(p);
    if (w->side_is_first)
        side = slub_alloc(w->maple_node, cpu);
    if (w->maple_node) {
        reserve(p, w->unmap.n_reserved, node);
        if (w->has_side && !w->side_is_first)
            side = slub_alloc(w->maple_node, cpu);
        replace(p, &w->unmap, node);
        give_back(p, &w->unmap, node);
    }
    if (w->vma_lock)
        mach_call_rcu(cpu, w->vma_kind, vma, vma_lock);
    else
        world_free_accounted(w->world, w->vma, cpu, vma);
    if (w->has_side)
        slub_free(w->maple_node, cpu, side);
}

/* A start in which every CPU has nodes of every memory node to give back. */
static void
mix_nodes(Process *p)
{
    enum
    {
        N_MIXED = 512
    };
    guint n_nodes = p->workload->world->topology->n_nodes;

    for (guint i = 0; i < N_MIXED; i++) {
        gint node = (gint) ((p->cpu->node + i * n_nodes / N_MIXED) % n_nodes);
        mach_call_rcu(p->cpu, p->workload->node_kind, slub_alloc_node(p->workload->maple_node, p->cpu, node), 0);
    }
}

static void
run_process(SimAgent *agent)
{
    Process *p = agent->data;
    WorldCpu *counts = &p->workload->world->cpu[p->cpu->id];

    if (p->workload->maple_node)
        p->replaced[p->n_replaced++] = slub_alloc(p->workload->maple_node, p->cpu);
    if (p->workload->maple_node && p->workload->world->starts_mixed)
        mix_nodes(p);
    while (!mach_is_over(p->cpu)) {
        iterate(p);
        counts->n_operations++;
        mach_poll(p->cpu);
    }
}

static void
add_process(Mmap1 *w, guint id)
{
    World *world = w->world;
    Process *p = &w->process[id];
    g_autofree char *component = g_strdup_printf("process/%u", id);
    SimRng phase;

    p->workload = w;
    p->cpu = &world->machine->cpu[id];
    p->cpu->is_busy = TRUE;
    sim_rng_init(&p->rng, world->seed, world->replication, component, "compute");
    sim_rng_init(&phase, world->seed, world->replication, component, "start");
    sim_engine_add_fiber(world->machine->engine, id, run_process, p);
    sim_wake(world->machine->engine, p->cpu->agent, (SimTime) sim_rng_below(&phase, (guint64) (2 * w->half_compute)));
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

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const locks[] = {"maple_node", "vm_area_struct", "vma_lock", NULL};
    static const char *const maple[] = {"maple_node", "vm_area_struct", NULL};
    static const char *const tree[] = {"vm_area_struct", NULL};

    return has_vma_lock(kernel) ? locks : has_maple_tree(kernel) ? maple : tree;
}

/* slub-facts F.2. */
static void
set_stores(Mmap1 *w, const SimConfig *config, guint kernel)
{
    guint worst = 1 + 3 * (guint) sim_config_int(config, "workload", "maple_height");

    w->has_side = kernel <= SLAB_KERNEL(6, 5);
    w->side_is_first = w->has_side && kernel >= SLAB_KERNEL(6, 4);
    if (sim_config_choice(config, "workload", "leaf") == LEAF_FULL) {
        w->map = (Store){.n_reserved = kernel <= SLAB_KERNEL(6, 5) ? 4 : 3, .n_used = 3};
        w->unmap = (Store){.n_reserved = kernel <= SLAB_KERNEL(6, 11) ? 7 : 3, .n_used = 1};
    } else {
        w->map = (Store){.n_reserved = kernel <= SLAB_KERNEL(6, 5) ? worst : 1, .n_used = 1};
        w->unmap = (Store){.n_reserved = kernel < SLAB_KERNEL(6, 4) ? worst : 1, .n_used = 1};
    }
}

static void *
setup(World *world, GError **error)
{
    guint kernel = world->slub->kernel;
    guint n = (guint) sim_config_int(world->config, "workload", "processes");
    Mmap1 *w = g_new0(Mmap1, 1);

    w->world = world;
    w->vma = world_cache(world, "vm_area_struct");
    if (has_maple_tree(kernel))
        w->maple_node = world_cache(world, "maple_node");
    if (has_vma_lock(kernel))
        w->vma_lock = world_cache(world, "vma_lock");
    w->half_compute = sim_config_time(world->config, "workload", "iteration_compute") / 2;
    w->spread = sim_config_real(world->config, "workload", "compute_spread");
    if (has_maple_tree(kernel))
        set_stores(w, world->config, kernel);
    w->frees_by_kfree_rcu = kernel >= SLAB_KERNEL(6, 18);
    w->node_kind = mach_rcu_register(world->machine, free_node_rcu, w);
    w->vma_kind = mach_rcu_register(world->machine, free_vma_rcu, w);
    w->process = g_new0(Process, n);
    world->machine->n_active_cpus = n;
    world->n_tasks = n;
    for (guint i = 0; i < n; i++)
        add_process(w, i);
    return w;
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    guint kernel;

    if (sim_config_int(config, "workload", "processes") > topology->n_cpus)
        return sim_config_error(config, "workload", "processes", error,
                                "more processes than CPUs are not modelled (allowed: 1 to %u)", topology->n_cpus);
    if (sim_config_choice(config, "workload", "leaf") == LEAF_FULL &&
        slab_listing_parse_kernel(sim_config_text(config, "kernel", "version"), &kernel, NULL) &&
        kernel >= SLAB_KERNEL(6, 18))
        return sim_config_error(config, "workload", "leaf", error,
                                "from 6.18 on a split takes its nodes from a sheaf, which mmap1 does not model");
    return TRUE;
}

static void
free_workload(void *state)
{
    Mmap1 *w = state;

    if (w)
        g_free(w->process);
    g_free(w);
}

const Workload workload_mmap1 = {
    .name = "mmap1",
    .summary = "will-it-scale mmap1: map and unmap 128 MiB, one pinned process a CPU",
    .operation = "iterations",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .free = free_workload,
};
