/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A boot as what it does to address spaces: a shell runs one program after another. The shell forks on its own CPU; the
 * child begins on any other one (all are idle: select_task_rq_fair() with SD_BALANCE_FORK), gives up its copy of the
 * address space, is mapped anew by execve() and the dynamic linker, runs, and exits. kernel/fork.c dup_mmap(),
 * fs/exec.c, fs/binfmt_elf.c and mm/mmap.c of 6.4 to 6.5, whose rules of reservation mm-space.h has: a mapping into a
 * gap       one store one over another mapping   that one is split (a store), its part is unmapped, then a store
 *   mprotect of a part         one store, which splits it
 *   munmap of a mapping        the side tree and a store
 * Left out: VMAs that merge, anon_vmas, more than one program at a time, kernel threads, other maple trees than those
 * of address spaces. */
#include "mm-space.h"
#include "workload.h"

enum {
    RANGES_A_LEAF = 12,
    VMAS_MAX = 400,
};

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("boot_programs", SIM_KEY_INT), .fallback = "160", .min = 1, .max = 1e6,
     .help = "boot: programs that the shell runs, then it is over"},
    {KEY("boot_maps", SIM_KEY_INT), .fallback = "35", .min = 1, .max = 200,
     .help = "boot: mappings into gaps that execve() and the dynamic linker make for a program"},
    {KEY("boot_overlays", SIM_KEY_INT), .fallback = "9", .max = 60,
     .help = "boot: MAP_FIXED mappings over a part of another one, as segments of a library"},
    {KEY("boot_protects", SIM_KEY_INT), .fallback = "5", .max = 60,
     .help = "boot: mprotect() calls that split a mapping"},
    {KEY("boot_unmaps", SIM_KEY_INT), .fallback = "3", .max = 60, .help = "boot: munmap() calls of a whole mapping"},
    {KEY("boot_shell_vmas", SIM_KEY_INT), .fallback = "30", .min = 1, .max = 60,
     .help = "boot: VMAs of the shell, which each fork copies"},
    {KEY("boot_link_compute", SIM_KEY_COST),
     .fallback = "100 us [20 us .. 500 us] estimate: 5 ms for execve() and linking in a guest whose root is the host's",
     .max = 1e9, .help = "boot: computing time between two of these calls"},
    {KEY("boot_run_compute", SIM_KEY_COST),
     .fallback = "3 ms [0.5 ms .. 20 ms] estimate: a small tool's own work, its exit and the shell's next fork",
     .max = 1e12, .help = "boot: computing time of a program once it is linked, and of the shell between two"},
    MM_NODES_KEY,
    {NULL},
};

typedef struct {
    MmTree tree;
    guint n_vmas;
    MmVma vma[VMAS_MAX];
} Process;

typedef struct {
    World *world;
    MmCaches mm;
    guint kernel, n_programs, n_done;
    guint n_maps, n_overlays, n_protects, n_unmaps, n_shell_vmas;
    SimTime link_compute, run_compute, ended_at;
    /* Shared: the CPU whose turn it is; the child when `is_child`. */
    guint at;
    gboolean is_child;
    SimRng rng;
    Process child;
} Boot;

static guint
height_of(const Process *process)
{
    return MIN(process->tree.n_nodes, 2);
}

/* A new VMA; a leaf overflows as often as the ranges ask for one. */
static void
map(Boot *boot, Process *process, MachCpu *cpu)
{
    guint n_leaves = MAX(process->tree.n_nodes, 2) - 1;
    MmStore store = mm_store(boot->kernel, MM_STORE_NODE, height_of(process), FALSE);

    if (process->n_vmas >= n_leaves * RANGES_A_LEAF)
        store = process->tree.n_nodes == 1 ? mm_store_split_root(boot->kernel)
                                           : mm_store(boot->kernel, MM_STORE_SPLIT, height_of(process), FALSE);
    process->vma[process->n_vmas++] = mm_map(&boot->mm, &process->tree, cpu, store);
}

static void
unmap(Boot *boot, Process *process, MachCpu *cpu)
{
    mm_unmap(&boot->mm, &process->tree, cpu, mm_store(boot->kernel, MM_STORE_NODE, height_of(process), TRUE),
             process->vma[--process->n_vmas]);
}

static void
drop_space(Boot *boot, Process *process, MachCpu *cpu)
{
    for (; process->n_vmas > 0; process->n_vmas--)
        mm_vma_free(&boot->mm, cpu, process->vma[process->n_vmas - 1]);
    mm_tree_destroy(&boot->mm, &process->tree, cpu);
}

static void
fork_child(Boot *boot, MachCpu *cpu)
{
    Process *child = &boot->child;

    if (boot->kernel < SLAB_KERNEL(6, 8))
        mm_tree_copy_expected(&boot->mm, &child->tree, cpu, boot->n_shell_vmas);
    else
        mm_tree_copy(&boot->mm, &child->tree, cpu,
                     (boot->n_shell_vmas + RANGES_A_LEAF - 1) / RANGES_A_LEAF + (boot->n_shell_vmas > RANGES_A_LEAF));
    for (guint i = 0; i < boot->n_shell_vmas; i++)
        child->vma[child->n_vmas++] = mm_vma_new(&boot->mm, cpu);
}

static void
link_step(Boot *boot, MachCpu *cpu)
{
    mach_compute(cpu, boot->link_compute, FALSE);
    mach_poll(cpu);
}

/* Whether the i-th of `n` steps is one of `n_some` that are spread evenly among them. */
static gboolean
is_due(guint i, guint n, guint n_some)
{
    return (i + 1) * n_some / n > i * n_some / n;
}

/* At most one of each kind a mapping, which all settings allow: no kind is more frequent than mappings into gaps. */
static void
link_program(Boot *boot, MachCpu *cpu)
{
    Process *child = &boot->child;

    mm_tree_grow(&boot->mm, &child->tree, cpu, 1);
    for (guint i = 0; i < boot->n_maps; i++) {
        link_step(boot, cpu);
        map(boot, child, cpu);
        if (is_due(i, boot->n_maps, boot->n_overlays)) {
            link_step(boot, cpu);
            map(boot, child, cpu);
            unmap(boot, child, cpu);
            map(boot, child, cpu);
        }
        if (is_due(i, boot->n_maps, boot->n_protects)) {
            link_step(boot, cpu);
            map(boot, child, cpu);
        }
        if (is_due(i, boot->n_maps, boot->n_unmaps)) {
            link_step(boot, cpu);
            unmap(boot, child, cpu);
        }
    }
}

static void
pass_on(Boot *boot, MachCpu *cpu, guint to)
{
    sim_sync(cpu->engine, cpu->agent);
    boot->at = to;
    if (to != cpu->id)
        sim_wake(cpu->engine, &cpu->engine->agents[to], mach_now(cpu) + cpu->machine->costs.ipi_delivery);
}

/* Long computing, with ticks and checkpoints in it. */
static void
run_on(MachCpu *cpu, SimTime duration)
{
    SimTime end = mach_now(cpu) + duration;

    while (mach_now(cpu) < end) {
        mach_spend(cpu, MAX(MIN(end, cpu->next_poll) - mach_now(cpu), 0));
        mach_poll(cpu);
    }
}

static void
run_child(Boot *boot, MachCpu *cpu)
{
    drop_space(boot, &boot->child, cpu);
    link_program(boot, cpu);
    run_on(cpu, boot->run_compute);
    drop_space(boot, &boot->child, cpu);
    boot->world->cpu[cpu->id].n_operations++;
    boot->is_child = FALSE;
    if (++boot->n_done == boot->n_programs)
        boot->ended_at = mach_now(cpu);
    pass_on(boot, cpu, 0);
}

static void
run_shell(Boot *boot, MachCpu *cpu)
{
    guint n_cpus = cpu->machine->n_cpus;

    run_on(cpu, boot->run_compute);
    fork_child(boot, cpu);
    boot->is_child = TRUE;
    pass_on(boot, cpu, n_cpus == 1 ? 0 : 1 + (guint) sim_rng_below(&boot->rng, n_cpus - 1));
}

static void
run_cpu(SimAgent *agent)
{
    MachCpu *cpu = agent->data;
    Boot *boot = cpu->task;

    while (!mach_is_over(cpu)) {
        sim_sync(cpu->engine, cpu->agent);
        if (boot->at != cpu->id || boot->ended_at != SIM_TIME_MAX)
            sim_block_until(cpu->engine, cpu->agent, MAX(cpu->next_poll, mach_now(cpu)));
        else if (boot->is_child)
            run_child(boot, cpu);
        else
            run_shell(boot, cpu);
        mach_poll(cpu);
    }
}

static void
read_settings(Boot *boot, const SimConfig *config)
{
    boot->n_programs = (guint) sim_config_int(config, "workload", "boot_programs");
    boot->n_maps = (guint) sim_config_int(config, "workload", "boot_maps");
    boot->n_overlays = (guint) sim_config_int(config, "workload", "boot_overlays");
    boot->n_protects = (guint) sim_config_int(config, "workload", "boot_protects");
    boot->n_unmaps = (guint) sim_config_int(config, "workload", "boot_unmaps");
    boot->n_shell_vmas = (guint) sim_config_int(config, "workload", "boot_shell_vmas");
    boot->link_compute = sim_config_time(config, "workload", "boot_link_compute");
    boot->run_compute = sim_config_time(config, "workload", "boot_run_compute");
    boot->mm.nodes = sim_config_choice(config, "workload", "tree_nodes");
}

static void *
setup(World *world, GError **error)
{
    Boot *boot = g_new0(Boot, 1);

    boot->world = world;
    boot->kernel = world->slub->kernel;
    boot->ended_at = SIM_TIME_MAX;
    mm_caches_init(&boot->mm, world, FALSE);
    read_settings(boot, world->config);
    sim_rng_init(&boot->rng, world->seed, world->replication, "boot", "placement");
    world->n_tasks = 1;
    for (guint i = 0; i < world->machine->n_cpus; i++) {
        MachCpu *cpu = &world->machine->cpu[i];

        cpu->task = boot;
        workload_start_cpu(world, cpu, NULL, 0, run_cpu, cpu);
    }
    return boot;
}

static SimTime
ended_at(const void *state)
{
    return ((const Boot *) state)->ended_at;
}

/* As read from sysfs after the boot: from its beginning on, with what RCU frees until the run's end. */
static void
report(World *world, void *state, SimRecord *record)
{
    static const struct {
        const char *metric;
        SlabStat stat;
    } counters[] = {
        {"node_alloc_fastpath", SLAB_STAT_ALLOC_FASTPATH}, {"node_alloc_slowpath", SLAB_STAT_ALLOC_SLOWPATH},
        {"node_alloc_array", SLAB_STAT_ALLOC_PCA},         {"node_free_fastpath", SLAB_STAT_FREE_FASTPATH},
        {"node_free_slowpath", SLAB_STAT_FREE_SLOWPATH},   {"node_free_array", SLAB_STAT_FREE_PCA},
    };
    const Boot *boot = state;

    for (guint i = 0; i < G_N_ELEMENTS(counters) && boot->mm.maple_node; i++) {
        const SlubCache *cache = world->slub->cache[boot->mm.maple_node->index];
        guint64 n = 0;

        for (guint cpu = 0; cpu < world->machine->n_cpus; cpu++)
            n += cache->cpu[cpu].stat[counters[i].stat];
        sim_record_add_metric(record, counters[i].metric, (double) n);
    }
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    static const char *const kinds[] = {"boot_overlays", "boot_protects", "boot_unmaps"};
    gint64 n_maps = sim_config_int(config, "workload", "boot_maps");

    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (sim_config_int(config, "workload", kinds[i]) > n_maps)
            return sim_config_error(config, "workload", kinds[i], error,
                                    "more than workload.boot_maps (allowed: 0 to %" G_GINT64_FORMAT ")", n_maps);
    return TRUE;
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    return mm_cache_names(kernel, FALSE);
}

const Workload workload_boot = {
    .name = "boot",
    .summary = "a shell runs programs one after another, each forked, mapped, run and ended",
    .operation = "programs run",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = g_free,
};
