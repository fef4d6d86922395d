/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compilers as what they ask of the slab allocator, one a CPU for ever: computing, and now and then a call. A call is a
 * path name (fs/namei.c getname_flags(): a page of names_cache for as long as one system call takes) or an object that
 * takes the place of an older one: a VMA or something small. The mix and the pace are those of kmem_cache_alloc events
 * of gcc -O2 -g -c on a Linux 6.18: 10,700 calls in 0.35 s of computing for a file of 400 lines, 2,400 in 0.034 s for
 * one of four; 45 in 100 of 4096 bytes, 27 of about 200, the others small. One operation is one interval of computing.
 * Left out: page faults (computing time here), page tables, the page cache, processes that begin and end. */
#include "workload.h"

enum { NAMES, VMAS, SMALL, N_KINDS };

enum { LIVE_MAX = 4096 };

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("compile_jobs", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "compile: compilers, one a CPU in the order of the CPU numbers"},
    {KEY("compile_interval", SIM_KEY_COST),
     .fallback = "33 us [14 us .. 100 us] gcc of a file of 400 lines: 30,000 calls in a second of computing", .min = 1,
     .max = 1e12, .help = "compile: mean computing time between two slab calls, exponential"},
    {KEY("compile_name_use", SIM_KEY_COST), .fallback = "1000 ns [300 ns .. 5000 ns] estimate: a stat() or open()",
     .max = 1e9, .help = "compile: how long a system call needs its path name"},
    {KEY("compile_names", SIM_KEY_REAL), .fallback = "0.45", .max = 1,
     .help = "compile: share of path names in the calls"},
    {KEY("compile_vmas", SIM_KEY_REAL), .fallback = "0.27", .max = 1,
     .help = "compile: share of VMAs; what is left are small objects"},
    {KEY("compile_live", SIM_KEY_INT), .fallback = "300", .min = 1, .max = LIVE_MAX,
     .help = "compile: VMAs and small objects, each, that a compiler has; a new one takes the place of any of them"},
    {NULL},
};

typedef struct _Compile Compile;

typedef struct {
    Compile *compile;
    MachCpu *cpu;
    SimRng rng;
    SlabId live[N_KINDS][LIVE_MAX]; /* [n_live]; NAMES stays empty */
} Job;

struct _Compile {
    World *world;
    SlubCache *cache[N_KINDS];
    SimTime interval, name_use;
    double names, vmas;
    guint n_live;
    Job *job; /* [world->n_tasks] */
};

static guint
draw_kind(Job *job)
{
    double place = sim_rng_uniform(&job->rng);

    return place < job->compile->names ? NAMES : place < job->compile->names + job->compile->vmas ? VMAS : SMALL;
}

static void
use_name(Job *job)
{
    SlubCache *cache = job->compile->cache[NAMES];
    SlabId name = slub_alloc(cache, job->cpu);

    mach_compute(job->cpu, job->compile->name_use, mach_sibling_is_busy(job->cpu));
    slub_free(cache, job->cpu, name);
}

static void
replace_object(Job *job, guint kind)
{
    SlabId *object = &job->live[kind][sim_rng_below(&job->rng, job->compile->n_live)];

    if (*object)
        slub_free(job->compile->cache[kind], job->cpu, *object);
    *object = slub_alloc(job->compile->cache[kind], job->cpu);
}

static void
run_job(SimAgent *agent)
{
    Job *job = agent->data;
    const Compile *compile = job->compile;

    while (!mach_is_over(job->cpu)) {
        guint kind = draw_kind(job);

        mach_compute(job->cpu, (SimTime) sim_rng_exponential(&job->rng, (double) compile->interval),
                     mach_sibling_is_busy(job->cpu));
        if (kind == NAMES)
            use_name(job);
        else
            replace_object(job, kind);
        compile->world->cpu[job->cpu->id].n_operations++;
        mach_poll(job->cpu);
    }
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    guint n = (guint) sim_config_int(config, "workload", "compile_jobs");
    Compile *compile = g_new0(Compile, 1);

    compile->world = world;
    compile->cache[NAMES] = world_cache(world, "names_cache");
    compile->cache[VMAS] = world_cache(world, "vm_area_struct");
    compile->cache[SMALL] = world_cache(world, "kmalloc-32");
    compile->interval = sim_config_time(config, "workload", "compile_interval");
    compile->name_use = sim_config_time(config, "workload", "compile_name_use");
    compile->names = sim_config_real(config, "workload", "compile_names");
    compile->vmas = sim_config_real(config, "workload", "compile_vmas");
    compile->n_live = (guint) sim_config_int(config, "workload", "compile_live");
    compile->job = g_new0(Job, n);
    world->n_tasks = world->machine->n_active_cpus = n;
    for (guint i = 0; i < n; i++) {
        g_autofree char *component = g_strdup_printf("compiler/%u", i);
        Job *job = &compile->job[i];

        job->compile = compile;
        job->cpu = &world->machine->cpu[i];
        sim_rng_init(&job->rng, world->seed, world->replication, component, "calls");
        workload_start_cpu(world, job->cpu, component, compile->interval, run_job, job);
    }
    return compile;
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    if (sim_config_real(config, "workload", "compile_names") + sim_config_real(config, "workload", "compile_vmas") > 1)
        return sim_config_error(config, "workload", "compile_vmas", error,
                                "more than all with workload.compile_names (allowed: a sum up to 1)");
    return workload_check_cpus(config, topology, "compile_jobs", "compilers", error);
}

static void
free_compile(void *state)
{
    Compile *compile = state;

    if (compile)
        g_free(compile->job);
    g_free(compile);
}

static const char *const caches[] = {"names_cache", "vm_area_struct", "kmalloc-32", NULL};

const Workload workload_compile = {
    .name = "compile",
    .summary = "compilers: computing, path names, and objects that replace older ones",
    .operation = "intervals",
    .keys = keys,
    .caches = caches,
    .check = check,
    .setup = setup,
    .free = free_compile,
};
