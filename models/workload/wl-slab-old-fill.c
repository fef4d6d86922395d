/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One CPU takes so many objects of one cache of the old SLAB allocator and keeps them: objects of a slab, and the slabs
 * that hold them, as slabinfo lists them after boot (SEED2-01 to -17). Left out: the frees of a real boot. */
#include "wl-slab-old.h"

#include <string.h>

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    WL_SLAB_OLD_STAGE("fill_stage", "slab_old_fill"),
    {KEY("fill_cache", SIM_KEY_CHOICE), .fallback = "kmalloc-64",
     .choices = "kmalloc-32|kmalloc-64|kmalloc-96|kmalloc-128|kmalloc-192|kmalloc-256|kmalloc-512|kmem_cache",
     .help = "slab_old_fill: cache, by its name of 2013"},
    {KEY("fill_objects", SIM_KEY_INT), .fallback = "1000", .min = 1, .max = 1e7,
     .help = "slab_old_fill: objects taken"},
    {NULL},
};

enum {
    KMEM_CACHE_BYTES = 192, /* struct kmem_cache with 4 CPUs and one node */
};

typedef struct {
    World *world;
    MachCpu *cpu;
    SlabOldCache *cache;
    SlabOldGeometry geometry, int_index;
    guint bytes, n_objects;
    SimTime end; /* SIM_TIME_MAX before */
} Fill;

static void
run_fill(SimAgent *agent)
{
    Fill *f = agent->data;

    for (guint i = 0; i < f->n_objects; i++) {
        slab_old_cache_take(f->cache, f->cpu);
        f->world->cpu[f->cpu->id].n_operations++;
        mach_poll(f->cpu);
    }
    sim_sync(agent->engine, agent);
    f->cpu->is_busy = FALSE;
    f->end = agent->now;
}

static void
free_fill(void *state)
{
    Fill *f = state;

    if (f)
        slab_old_cache_free(f->cache);
    g_free(f);
}

static void *
setup(World *world, GError **error)
{
    const char *name = sim_config_text(world->config, "workload", "fill_cache");
    SlabOldStage stage = sim_config_choice(world->config, "workload", "fill_stage");
    const char *number = strchr(name, '-');
    Fill *f = g_new0(Fill, 1);

    f->world = world;
    f->bytes = number ? (guint) g_ascii_strtoull(number + 1, NULL, 10) : KMEM_CACHE_BYTES;
    if (!wl_slab_old_geometry(world, stage, name, f->bytes, &f->geometry, error) ||
        !wl_slab_old_geometry(world, SLAB_OLD_INT_INDEX, name, f->bytes, &f->int_index, error) ||
        !(f->cache = wl_slab_old_cache_new(world, stage, name, f->bytes, 0, error))) {
        free_fill(f);
        return NULL;
    }
    f->n_objects = (guint) sim_config_int(world->config, "workload", "fill_objects");
    f->end = SIM_TIME_MAX;
    f->cpu = &world->machine->cpu[0];
    world->n_tasks = world->machine->n_active_cpus = 1;
    workload_start_cpu(world, f->cpu, NULL, 0, run_fill, f);
    return f;
}

static SimTime
ended_at(const void *state)
{
    return ((const Fill *) state)->end;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Fill *f = state;

    sim_record_add_metric(record, "slab_objects", f->geometry.objects);
    sim_record_add_metric(record, "slab_payload_gain_bytes", /* over indices of four bytes */
                          ((double) f->geometry.objects - f->int_index.objects) * f->bytes);
    sim_record_add_metric(record, "filled_slabs", (double) slab_old_cache_slabs(f->cache));
}

static const char *const caches[] = {NULL};

const Workload workload_slab_old_fill = {
    .name = "slab_old_fill",
    .summary = "objects of one cache of the old SLAB allocator, taken and kept",
    .operation = "objects",
    .keys = keys,
    .caches = caches,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = free_fill,
};
