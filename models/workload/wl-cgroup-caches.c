/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slab memory of cgroups that each keep a few objects of every size, under the old SLAB allocator: with a set of
 * caches for each, as to 5.8, or with one set for all (MEM-05). A cgroup's tasks take objects on a few CPUs and give
 * some back, as a boot does; what arrays and half-empty slabs then keep is the point. Left out: objects outside of
 * cgroups, and what the caches' own structures take. */
#include "sim-gsl.h"
#include "wl-slab-old.h"

#include <math.h>

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("cgroups", SIM_KEY_INT), .fallback = "60", .min = 1, .max = 10000,
     .help = "cgroup_caches: cgroups with objects of every size"},
    {KEY("own_caches", SIM_KEY_BOOL), .fallback = "true", .help = "cgroup_caches: a set of caches for each cgroup"},
    {KEY("cgroup_objects", SIM_KEY_REAL), .fallback = "100", .min = 1, .max = 1e6,
     .help = "cgroup_caches: objects that a cgroup takes of a size; median of a log-normal law"},
    {KEY("cgroup_spread", SIM_KEY_REAL), .fallback = "1.5", .max = 5,
     .help = "cgroup_caches: standard deviation of the logarithm of that number"},
    {KEY("given_back", SIM_KEY_REAL), .fallback = "0.2", .max = 0.95,
     .help = "cgroup_caches: share of these that is given back, any of them"},
    {KEY("cgroup_cpus", SIM_KEY_INT), .fallback = "4", .min = 1, .max = MACH_MAX_CPUS,
     .help = "cgroup_caches: CPUs on which a cgroup's tasks take its objects"},
    {NULL},
};

static const guint sizes[] = {32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096};

#define N_SIZES G_N_ELEMENTS(sizes)

typedef struct _CgroupCaches CgroupCaches;

typedef struct {
    CgroupCaches *all;
    MachCpu *cpu;
    GArray *taken; /* SlabId */
    SimRng rng;
} CgroupCpu;

struct _CgroupCaches {
    World *world;
    SlabOldCache **cache; /* [n_sets][N_SIZES] */
    SlabOldGeometry geometry[N_SIZES];
    guint n_cgroups, n_sets, cpus_each;
    double given_back;
    guint *n_objects; /* [n_cgroups][N_SIZES] */
    guint64 kept_bytes;
    CgroupCpu *cpu;
    guint n_running;
    SimTime end;
};

/* This CPU's part of one cgroup's objects of one size. */
static void
take_objects(CgroupCpu *c, guint cgroup, guint size, guint n)
{
    CgroupCaches *a = c->all;
    SlabOldCache *cache = a->cache[(cgroup % a->n_sets) * N_SIZES + size];
    guint n_back = (guint) (a->given_back * n);

    g_array_set_size(c->taken, n);
    for (guint i = 0; i < n; i++)
        g_array_index(c->taken, SlabId, i) = slab_old_cache_take(cache, c->cpu);
    for (guint i = 0; i < n_back; i++) {
        guint which = (guint) sim_rng_below(&c->rng, c->taken->len);

        slab_old_cache_give(cache, c->cpu, g_array_index(c->taken, SlabId, which));
        g_array_remove_index_fast(c->taken, which);
    }
    sim_sync(c->cpu->engine, c->cpu->agent);
    a->kept_bytes += (guint64) (n - n_back) * sizes[size];
    a->world->cpu[c->cpu->id].n_operations += n;
}

static void
run_cpu(SimAgent *agent)
{
    CgroupCpu *c = agent->data;
    CgroupCaches *a = c->all;
    guint n_cpus = a->world->machine->n_cpus;

    for (guint cgroup = 0; cgroup < a->n_cgroups; cgroup++) {
        guint part = (c->cpu->id + n_cpus - cgroup * a->cpus_each % n_cpus) % n_cpus;

        for (guint size = 0; size < N_SIZES && part < a->cpus_each; size++) {
            guint n = a->n_objects[cgroup * N_SIZES + size];

            take_objects(c, cgroup, size, n / a->cpus_each + (part < n % a->cpus_each));
            mach_poll(c->cpu);
        }
    }
    sim_sync(agent->engine, agent);
    c->cpu->is_busy = FALSE;
    if (--a->n_running == 0)
        a->end = agent->now;
}

static void
free_caches(void *state)
{
    CgroupCaches *a = state;

    if (!a)
        return;
    for (guint i = 0; i < a->n_sets * N_SIZES; i++)
        slab_old_cache_free(a->cache[i]);
    for (guint i = 0; a->cpu && i < a->world->machine->n_cpus; i++)
        g_array_unref(a->cpu[i].taken);
    g_free(a->cpu);
    g_free(a->cache);
    g_free(a->n_objects);
    g_free(a);
}

static gboolean
make_caches(CgroupCaches *a, GError **error)
{
    a->cache = g_new0(SlabOldCache *, a->n_sets * N_SIZES);
    for (guint i = 0; i < a->n_sets * N_SIZES; i++) {
        guint size = i % N_SIZES;
        g_autofree char *name = g_strdup_printf("kmalloc-%u", sizes[size]);

        if (!wl_slab_old_geometry(a->world, SLAB_OLD_BYTE_INDEX, name, sizes[size], &a->geometry[size], error) ||
            !(a->cache[i] = wl_slab_old_cache_new(a->world, SLAB_OLD_BYTE_INDEX, name, sizes[size], 0, error)))
            return FALSE;
    }
    return TRUE;
}

/* The same numbers whatever the caches. */
static void
draw_objects(CgroupCaches *a)
{
    const SimConfig *config = a->world->config;
    double median = sim_config_real(config, "workload", "cgroup_objects");
    double spread = sim_config_real(config, "workload", "cgroup_spread");
    SimRng stream;
    g_autoptr(gsl_rng) rng = NULL;

    sim_rng_init(&stream, a->world->seed, a->world->replication, "cgroups", "objects");
    rng = sim_rng_gsl_new(&stream);
    a->n_objects = g_new(guint, a->n_cgroups * N_SIZES);
    for (guint i = 0; i < a->n_cgroups * N_SIZES; i++)
        a->n_objects[i] = 1 + (guint) MIN(gsl_ran_lognormal(rng, log(median), spread), 1e6);
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    CgroupCaches *a = g_new0(CgroupCaches, 1);

    a->world = world;
    a->n_cgroups = (guint) sim_config_int(config, "workload", "cgroups");
    a->n_sets = sim_config_bool(config, "workload", "own_caches") ? a->n_cgroups : 1;
    a->cpus_each = MIN((guint) sim_config_int(config, "workload", "cgroup_cpus"), world->machine->n_cpus);
    a->given_back = sim_config_real(config, "workload", "given_back");
    a->end = SIM_TIME_MAX;
    if (!make_caches(a, error)) {
        free_caches(a);
        return NULL;
    }
    draw_objects(a);
    world->n_tasks = world->machine->n_active_cpus = a->n_running = world->machine->n_cpus;
    a->cpu = g_new0(CgroupCpu, world->machine->n_cpus);
    for (guint i = 0; i < world->machine->n_cpus; i++) {
        CgroupCpu *c = &a->cpu[i];
        g_autofree char *component = g_strdup_printf("cpu/%u", i);

        c->all = a;
        c->cpu = &world->machine->cpu[i];
        c->taken = g_array_new(FALSE, FALSE, sizeof(SlabId));
        sim_rng_init(&c->rng, world->seed, world->replication, component, "given back");
        workload_start_cpu(world, c->cpu, NULL, 0, run_cpu, c);
    }
    return a;
}

static SimTime
ended_at(const void *state)
{
    return ((const CgroupCaches *) state)->end;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const CgroupCaches *a = state;
    double bytes = 0;

    for (guint i = 0; i < a->n_sets * N_SIZES; i++)
        bytes += (double) slab_old_cache_slabs(a->cache[i]) *
                 (double) (world->topology->page_size_bytes << a->geometry[i % N_SIZES].order);
    sim_record_add_metric(record, "slabs_bytes", bytes);
    sim_record_add_metric(record, "utilisation_percent", 100 * (double) a->kept_bytes / bytes);
}

static const char *const caches[] = {NULL};

const Workload workload_cgroup_caches = {
    .name = "cgroup_caches",
    .summary = "slab memory of many cgroups, with caches of their own or shared ones",
    .operation = "objects",
    .keys = keys,
    .caches = caches,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = free_caches,
};
