/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All work of a call without slab work is one computing time. With a full leaf, which is the whole tree, as in a small
 * static process, each mmap splits it and each munmap collapses the tree again. mmap_lock is a FIFO lock whose hand-off
 * is given in line transfers: a writer that finds it taken spins while the owner runs (kernel/locking/rwsem.c), the
 * spinners in an MCS queue of their own. Left out: writers that go to sleep, and readers. */
#include "mm-loop.h"

/* The orders of the choices of workload.leaf and workload.node_free. */
enum {
    LEAF_ROOM,
    LEAF_FULL,
};
enum {
    NODE_FREE_AUTO,
    NODE_FREE_CALL_RCU,
};

const SimKeySpec mm_loop_keys[] = {
    {.group = "workload",
     .key = "processes",
     .type = SIM_KEY_INT,
     .fallback = "1",
     .min = 1,
     .max = MACH_MAX_CPUS,
     .help = "mmap1 and its like: tasks (-t of will-it-scale), one a CPU in the order of the CPU numbers"},
    {.group = "workload",
     .key = "tasks_are",
     .type = SIM_KEY_CHOICE,
     .fallback = "processes",
     .choices = "processes|threads",
     .help = "mmap1 and its like: processes, or threads of one process that share its tree and mmap_lock"},
    {.group = "workload",
     .key = "mmap_lock_handoff",
     .type = SIM_KEY_REAL,
     .fallback = "2",
     .min = 0.5,
     .max = 8,
     .help = "threads: hand-off of mmap_lock, in line transfers: its word and the spinner's queue node"},
    {.group = "workload",
     .key = "mmap_lock_share",
     .type = SIM_KEY_REAL,
     .fallback = "0.6",
     .min = 0,
     .max = 1,
     .help = "threads: part of a call's computing under mmap_lock; 0.6 fits SHA-02-base and SHA-08-base"},
    {.group = "workload",
     .key = "iteration_compute",
     .type = SIM_KEY_COST,
     .fallback = "2700 ns [1800 ns .. 3600 ns] both system calls without slab work, fitted (prototype-findings 3)",
     .min = 1,
     .max = 1e9,
     .help = "mmap1: computing time of one mmap and munmap, without slab work, alone on a core"},
    {.group = "workload",
     .key = "compute_spread",
     .type = SIM_KEY_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 0.9,
     .help = "mmap1: half-width of the uniform spread of the computing time, as a fraction of it"},
    {.group = "workload",
     .key = "maple_height",
     .type = SIM_KEY_INT,
     .fallback = "2",
     .min = 1,
     .max = MM_HEIGHT_MAX,
     .help = "mmap1: height of the process's VMA tree; 2 from 17 to about 160 ranges on"},
    {.group = "workload",
     .key = "leaf",
     .type = SIM_KEY_CHOICE,
     .fallback = "room",
     .choices = "room|full",
     .help = "mmap1: whether the leaf has room for the mapping; full: it is the whole tree and exactly full, so that "
             "each mmap splits it and each munmap collapses the tree again"},
    {.group = "workload",
     .key = "node_free",
     .type = SIM_KEY_CHOICE,
     .fallback = "auto",
     .choices = "auto|call_rcu",
     .help = "mmap1 and its like: how replaced tree nodes go; auto = as in the release: kfree_rcu from 6.18 on"},
    MM_NODES_KEY,
    {.group = "workload",
     .key = "anon_chains",
     .type = SIM_KEY_INT,
     .fallback = "2",
     .min = 0,
     .max = MM_CHAINS_MAX,
     .help = "brk1, fork_exec: anon_vma_chains of a VMA that has been written to; 2 in a forked child"},
    {.group = "workload",
     .key = "vmas",
     .type = SIM_KEY_INT,
     .fallback = "50",
     .min = 1,
     .max = 1000,
     .help = "map_batch: mappings made, touched and unmapped in turn; fork_exec: VMAs of the program"},
    {.group = "workload",
     .key = "fault_compute",
     .type = SIM_KEY_COST,
     .fallback = "700 ns [300 ns .. 2000 ns] estimate: a page fault with a zeroed page",
     .min = 1,
     .max = 1e9,
     .help = "map_batch: computing time of one page fault"},
    {.group = "workload",
     .key = "zap_compute",
     .type = SIM_KEY_COST,
     .fallback = "400 ns [100 ns .. 1500 ns] estimate: one PTE, its page freed, a TLB flush of one core",
     .min = 0,
     .max = 1e9,
     .help = "map_batch: computing time that a touched page adds to munmap"},
    {NULL},
};

void
mm_compute(MmTask *task, SimTime duration)
{
    double factor = 1 + task->loop->spread * (2 * sim_rng_uniform(&task->rng) - 1);

    mach_compute(task->cpu, (SimTime) ((double) duration * factor), mach_sibling_is_busy(task->cpu));
}

static void
lock_tree(MmTask *task)
{
    if (task->loop->is_threads)
        sim_lock_acquire(task->cpu->engine, &task->loop->mmap_lock, task->cpu->agent, 0);
}

void
mm_call_end(MmTask *task)
{
    if (task->loop->is_threads)
        sim_lock_release(task->cpu->engine, &task->loop->mmap_lock, task->cpu->agent);
}

void
mm_call_begin(MmTask *task)
{
    MmLoop *loop = task->loop;
    SimTime locked;

    if (!loop->is_threads) {
        mm_compute(task, loop->call_compute);
        return;
    }
    locked = (SimTime) ((double) loop->call_compute * loop->locked_frac);
    mm_compute(task, loop->call_compute - locked);
    lock_tree(task);
    mm_compute(task, locked);
}

static void
map_and_unmap(MmTask *task)
{
    const MmLoop *loop = task->loop;
    MmVma vma;

    mm_call_begin(task);
    vma = mm_map(&loop->mm, task->tree, task->cpu, loop->map);
    mm_call_end(task);
    mach_poll(task->cpu);
    mm_call_begin(task);
    mm_unmap(&loop->mm, task->tree, task->cpu, loop->unmap, vma);
    mm_call_end(task);
}

/* A start in which every CPU has nodes of every memory node to give back. */
static void
mix_nodes(MmTask *task)
{
    enum { N_MIXED = 512 };
    const MmCaches *mm = &task->loop->mm;
    guint n_nodes = mm->world->topology->n_nodes;

    for (guint i = 0; i < N_MIXED; i++) {
        gint node = (gint) ((task->cpu->node + i * n_nodes / N_MIXED) % n_nodes);
        mach_call_rcu(task->cpu, mm->node_kind, slub_alloc_node(mm->maple_node, task->cpu, node), 0);
    }
}

static void
run_task(SimAgent *agent)
{
    MmTask *task = agent->data;
    const MmLoop *loop = task->loop;
    WorldCpu *counts = &loop->world->cpu[task->cpu->id];

    lock_tree(task);
    if (task->tree->n_nodes == 0)
        mm_tree_grow(&loop->mm, task->tree, task->cpu, 1);
    mm_call_end(task);
    if (loop->mm.maple_node && loop->world->starts_mixed)
        mix_nodes(task);
    if (loop->test->begin)
        loop->test->begin(task);
    while (!mach_is_over(task->cpu)) {
        loop->test->iterate(task);
        counts->n_operations += loop->test->n_counted;
        mach_poll(task->cpu);
    }
}

static void
add_task(MmLoop *loop, guint id)
{
    World *world = loop->world;
    MmTask *task = &loop->task[id];
    g_autofree char *component = g_strdup_printf("process/%u", id);

    task->loop = loop;
    task->cpu = &world->machine->cpu[id];
    task->tree = &loop->tree[loop->is_threads ? 0 : id];
    sim_rng_init(&task->rng, world->seed, world->replication, component, "compute");
    workload_start_cpu(world, task->cpu, component, 2 * loop->call_compute, run_task, task);
}

static void
set_stores(MmLoop *loop, const SimConfig *config)
{
    guint kernel = loop->world->slub->kernel;
    guint height = loop->height = (guint) sim_config_int(config, "workload", "maple_height");
    gboolean is_full = sim_config_choice(config, "workload", "leaf") == LEAF_FULL;

    loop->map = is_full ? mm_store_split_root(kernel) : mm_store(kernel, MM_STORE_NODE, height, FALSE);
    loop->unmap = is_full ? mm_store_collapse(kernel) : mm_store(kernel, MM_STORE_NODE, height, TRUE);
}

MmLoop *
mm_loop_new(World *world, const MmTest *test)
{
    const SimConfig *config = world->config;
    const Machine *machine = world->machine;
    guint n = (guint) sim_config_int(config, "workload", "processes");
    MmLoop *loop = g_new0(MmLoop, 1);

    loop->world = world;
    loop->test = test;
    mm_caches_init(&loop->mm, world, test->with_anon);
    if (sim_config_choice(config, "workload", "node_free") == NODE_FREE_CALL_RCU)
        loop->mm.has_kfree_rcu = FALSE;
    loop->mm.nodes = sim_config_choice(config, "workload", "tree_nodes");
    loop->call_compute = sim_config_time(config, "workload", "iteration_compute") / 2;
    loop->spread = sim_config_real(config, "workload", "compute_spread");
    set_stores(loop, config);
    loop->is_threads = sim_config_choice(config, "workload", "tasks_are") == MM_TASKS_THREADS;
    loop->locked_frac = sim_config_real(config, "workload", "mmap_lock_share");
    loop->mmap_lock_costs = machine->lock_costs;
    loop->mmap_lock_costs.handoff_permille =
        (guint) (sim_config_real(config, "workload", "mmap_lock_handoff") * 1000 + 0.5);
    sim_lock_init(&loop->mmap_lock, machine->lock_kind, &world->topology->distance[world->topology->node_mem[0]],
                  &loop->mmap_lock_costs, 1, FALSE);
    loop->task = g_new0(MmTask, n);
    loop->tree = g_new0(MmTree, n);
    world->machine->n_active_cpus = n;
    world->n_tasks = n;
    for (guint i = 0; i < n; i++)
        add_task(loop, i);
    return loop;
}

void *
mm_loop_setup_mmap(World *world, GError **error)
{
    static const MmTest test = {.n_counted = 1, .iterate = map_and_unmap};

    return mm_loop_new(world, &test);
}

void
mm_loop_free(void *data)
{
    MmLoop *loop = data;

    if (!loop)
        return;
    for (guint i = 0; i < loop->world->n_tasks; i++)
        g_free(loop->task[i].state);
    sim_lock_clear(&loop->mmap_lock);
    g_free(loop->task);
    g_free(loop->tree);
    g_free(loop);
}

const char *const *
mm_loop_cache_names(const SimConfig *config, guint kernel)
{
    return mm_cache_names(kernel, FALSE);
}

const char *const *
mm_loop_anon_cache_names(const SimConfig *config, guint kernel)
{
    return mm_cache_names(kernel, TRUE);
}

gboolean
mm_loop_check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    return workload_check_cpus(config, topology, "processes", "processes", error);
}

guint
mm_loop_int(const MmLoop *loop, const char *key)
{
    return (guint) sim_config_int(loop->world->config, "workload", key);
}
