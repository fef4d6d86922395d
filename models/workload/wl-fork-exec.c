/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bursts of fork, execve and exit, parent and child on one CPU (perf bench syscall execve; kernel/fork.c dup_mmap(),
 * fs/exec.c, mm/mmap.c exit_mmap() of 6.8 to 7.1): fork copies every VMA with its chains and an anon_vma, and the tree
 * at once; exec gives all of it up and maps the new program VMA by VMA; exit gives that up too. Nobody reads these
 * trees any more when they go, so that their nodes are freed at once. Only a private anon_vma of each VMA is made; half
 * of a program's VMAs have been written to. Left out: what else a process consists of (task, files, signals, page
 * tables), which is computing time. */
#include "mm-loop.h"

#include "sim-error.h"

enum {
    RANGES_A_LEAF = 12,
};

typedef struct {
    MmVma vma;
    guint n_chains;
    SlabId anon_vma, chain[MM_CHAINS_MAX];
} Mapping;

typedef struct {
    guint n_vmas, n_chains, n_leaves;
    Mapping mapping[]; /* [n_vmas] of the child */
} Child;

static void
begin(MmTask *task)
{
    guint n = mm_loop_int(task->loop, "vmas");
    Child *child = g_malloc0(sizeof *child + n * sizeof child->mapping[0]);

    child->n_vmas = n;
    child->n_chains = mm_loop_int(task->loop, "anon_chains");
    child->n_leaves = (n + RANGES_A_LEAF - 1) / RANGES_A_LEAF;
    mm_tree_destroy(&task->loop->mm, task->tree, task->cpu);
    task->state = child;
}

static gboolean
has_anon(guint i)
{
    return i % 2;
}

static void
add_anon(const MmTask *task, Mapping *mapping, guint n_chains)
{
    const MmCaches *mm = &task->loop->mm;

    mapping->n_chains = n_chains;
    mm_chains_new(mm, task->cpu, n_chains, mapping->chain);
    mapping->anon_vma = world_alloc_accounted(mm->world, mm->anon_vma, task->cpu);
}

static void
fork_child(MmTask *task, Child *child)
{
    const MmLoop *loop = task->loop;

    mm_tree_copy(&loop->mm, task->tree, task->cpu, child->n_leaves + (child->n_leaves > 1));
    for (guint i = 0; i < child->n_vmas; i++) {
        child->mapping[i].vma = mm_vma_new(&loop->mm, task->cpu);
        child->mapping[i].n_chains = 0;
        if (has_anon(i))
            add_anon(task, &child->mapping[i], child->n_chains);
    }
}

static void
drop_mappings(MmTask *task, Child *child)
{
    const MmCaches *mm = &task->loop->mm;

    for (guint i = 0; i < child->n_vmas; i++) {
        Mapping *mapping = &child->mapping[i];

        mm_chains_free(mm, task->cpu, mapping->n_chains, mapping->chain);
        if (has_anon(i))
            world_free_accounted(mm->world, mm->anon_vma, task->cpu, mapping->anon_vma);
        mm_vma_free(mm, task->cpu, mapping->vma);
    }
    mm_tree_destroy(mm, task->tree, task->cpu);
}

/* The tree grows by a leaf as often as the ranges ask for one. */
static void
exec_program(MmTask *task, Child *child)
{
    const MmLoop *loop = task->loop;

    mm_tree_grow(&loop->mm, task->tree, task->cpu, 1);
    for (guint i = 0; i < child->n_vmas; i++) {
        MmStore store = loop->map;

        if (i > 0 && i % RANGES_A_LEAF == 0)
            store = task->tree->n_nodes == 1 ? mm_store_split_root(loop->world->slub->kernel)
                                             : mm_store(loop->world->slub->kernel, MM_STORE_SPLIT, 2, FALSE);
        child->mapping[i].vma = mm_map(&loop->mm, task->tree, task->cpu, store);
        child->mapping[i].n_chains = 0;
        if (has_anon(i))
            add_anon(task, &child->mapping[i], 1);
    }
}

static void
iterate(MmTask *task)
{
    Child *child = task->state;

    mm_call_begin(task);
    fork_child(task, child);
    mm_call_end(task);
    mach_poll(task->cpu);
    mm_call_begin(task);
    drop_mappings(task, child);
    exec_program(task, child);
    mm_call_end(task);
    mach_poll(task->cpu);
    drop_mappings(task, child);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    enum { VMAS_MAX = (MM_NODES_MAX - 2) * RANGES_A_LEAF };

    if (sim_config_int(config, "workload", "vmas") > VMAS_MAX)
        return sim_config_error(config, "workload", "vmas", error,
                                "fork_exec: too many for its tree (allowed: 1 to %d)", VMAS_MAX);
    if (sim_config_choice(config, "workload", "tasks_are") != MM_TASKS_PROCESSES)
        return sim_config_error(config, "workload", "tasks_are", error,
                                "fork_exec is of processes (allowed: processes)");
    return mm_loop_check(config, topology, error);
}

static void *
setup(World *world, GError **error)
{
    static const MmTest test = {.n_counted = 1, .with_anon = TRUE, .begin = begin, .iterate = iterate};

    return mm_loop_new(world, &test);
}

const Workload workload_fork_exec = {
    .name = "fork_exec",
    .summary = "fork, execve and exit again and again, one parent a CPU",
    .operation = "programs run",
    .keys = mm_loop_keys,
    .cache_names = mm_loop_anon_cache_names,
    .check = check,
    .setup = setup,
    .free = mm_loop_free,
};
