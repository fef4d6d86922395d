/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread, in rounds: so many kmalloc(64, GFP_KERNEL_ACCOUNT) in a row, timed, then all are freed, untimed
 * (SEED4, slub-facts F.3). The measure is the best round. */
#include "workload.h"

static const SimKeySpec keys[] = {
    {.group = "workload",
     .key = "objects",
     .type = SIM_KEY_INT,
     .fallback = "1000000",
     .min = 1,
     .max = 5e7,
     .help = "kmalloc_accounted: objects of a round"},
    {NULL},
};

typedef struct {
    World *world;
    MachCpu *cpu;
    SlubCache *cache;
    guint n_objects;
    SlabId *object; /* [n_objects] */
    guint64 n_rounds;
    SimTime best, sum; /* of the timed halves */
} Loop;

static void
run_round(Loop *l)
{
    SimTime begin = mach_now(l->cpu), took;

    for (guint i = 0; i < l->n_objects; i++)
        l->object[i] = world_alloc_accounted(l->world, l->cache, l->cpu);
    took = mach_now(l->cpu) - begin;
    l->best = MIN(l->best, took);
    l->sum += took;
    l->n_rounds++;
    l->world->cpu[l->cpu->id].n_operations += l->n_objects;
    mach_poll(l->cpu);
    for (guint i = 0; i < l->n_objects; i++)
        world_free_accounted(l->world, l->cache, l->cpu, l->object[i]);
    mach_poll(l->cpu);
}

static void
run_loop(SimAgent *agent)
{
    Loop *l = agent->data;

    while (!mach_is_over(l->cpu))
        run_round(l);
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const cgroup[] = {"kmalloc-cg-64", NULL};
    static const char *const normal[] = {"kmalloc-64", NULL};

    return kernel >= SLAB_KERNEL(5, 14) ? cgroup : normal;
}

static void *
setup(World *world, GError **error)
{
    Loop *l = g_new0(Loop, 1);

    l->world = world;
    l->cpu = &world->machine->cpu[0];
    l->cache = world_cache(world, cache_names(world->config, world->slub->kernel)[0]);
    l->n_objects = (guint) sim_config_int(world->config, "workload", "objects");
    l->object = g_new(SlabId, l->n_objects);
    l->best = SIM_TIME_MAX;
    if (world->memcg)
        memcg_time_steps(world->memcg);
    world->machine->n_active_cpus = 1;
    world->n_tasks = 1;
    workload_start_cpu(world, l->cpu, NULL, 0, run_loop, l);
    return l;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Loop *l = state;
    double n = l->n_objects;

    sim_record_add_metric(record, "alloc_best_ns", sim_time_to_ns(l->best) / n);
    sim_record_add_metric(record, "alloc_mean_ns", sim_time_to_ns(l->sum) / n / (double) l->n_rounds);
    sim_record_add_metric(record, "rounds", (double) l->n_rounds);
    memcg_report_steps(world->memcg, n * (double) l->n_rounds, l->sum, record);
}

static void
free_loop(void *state)
{
    Loop *l = state;

    if (l)
        g_free(l->object);
    g_free(l);
}

const Workload workload_kmalloc_accounted = {
    .name = "kmalloc_accounted",
    .summary = "rounds of a million accounted kmalloc(64), the allocations timed",
    .operation = "allocations",
    .keys = keys,
    .cache_names = cache_names,
    .setup = setup,
    .report = report,
    .free = free_loop,
};
