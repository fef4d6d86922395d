/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the slabobj_ext of an accounted cache lie, and what that takes: one CPU allocates a number of objects of a
 * cache of any size and keeps them. The placement is models/slab/slab-ext.c's; arrays come from real kmalloc caches
 * with slabs of their own. One operation is one allocation. Left out: caches that merge with this one. */
#include "slub-occupancy.h"
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("placed_objects", SIM_KEY_INT), .fallback = "10000", .min = 1, .max = 1 << 24,
     .help = "placement: objects that are allocated and kept, of the cache placed"},
    {NULL},
};

typedef struct {
    World *world;
    SlubCache *cache;
    guint n_objects;
} Placement;

static void
run_placement(SimAgent *agent)
{
    Placement *p = agent->data;
    MachCpu *cpu = &p->world->machine->cpu[0];

    for (guint i = 0; i < p->n_objects; i++) {
        world_alloc_accounted(p->world, p->cache, cpu);
        p->world->cpu[0].n_operations++;
        mach_poll(cpu);
    }
    sim_sync(cpu->engine, cpu->agent);
    if (mach_now(cpu) > p->world->end)
        mach_fail(cpu, "run.duration is over before all objects are allocated");
    while (!mach_is_over(cpu)) {
        mach_spend(cpu, MAX(cpu->next_poll - mach_now(cpu), 0));
        mach_poll(cpu);
    }
}

static void *
setup(World *world, GError **error)
{
    Placement *p = g_new0(Placement, 1);

    p->world = world;
    p->cache = world_cache(world, "placed");
    p->n_objects = (guint) sim_config_int(world->config, "workload", "placed_objects");
    world->machine->n_active_cpus = 1;
    world->n_tasks = 1;
    workload_start_cpu(world, &world->machine->cpu[0], NULL, 0, run_placement, p);
    return p;
}

/* Bytes by object, at the end; the place as a number, since metrics have no words. */
static void
report(World *world, void *state, SimRecord *record)
{
    const Placement *p = state;
    const SlabExt *ext = world->memcg ? memcg_cache_ext(world->memcg, p->cache) : NULL;
    double slab_bytes = 0, n_slabs = 0, page = world->topology->page_size_bytes;

    for (guint i = 0; i < world->topology->n_nodes; i++)
        n_slabs += (double) p->cache->node[i].n_slabs;
    for (guint c = 0; c < world->slub->n_caches; c++)
        slab_bytes += (double) slub_slabs_bytes(world->slub->cache[c]);
    /* An array too large for a kmalloc class lies in pages of its own. */
    if (ext && ext->place == SLAB_EXT_ARRAY && !ext->array_class)
        slab_bytes += n_slabs * ext->array_bytes;
    sim_record_add_metric(record, "all_bytes_per_object", slab_bytes / p->n_objects);
    sim_record_add_metric(record, "ext_place", ext ? ext->place : SLAB_EXT_NONE);
    sim_record_add_metric(record, "ext_extra_lines_per_slab", ext ? ext->extra_lines : 0);
    sim_record_add_metric(record, "ext_array_bytes_per_object",
                          ext && ext->place == SLAB_EXT_ARRAY ? (double) ext->array_bytes / p->cache->geometry.objects
                                                              : 0);
    sim_record_add_metric(record, "ext_array_percent",
                          ext && ext->place == SLAB_EXT_ARRAY
                              ? 100.0 * ext->array_bytes / (page * (double) (1u << p->cache->geometry.order))
                              : 0);
}

static const char *const caches[] = {"placed", NULL};

const Workload workload_placement = {
    .name = "placement",
    .summary = "accounted objects of one cache, to see where their slabobj_ext lie",
    .operation = "allocations",
    .keys = keys,
    .caches = caches,
    .setup = setup,
    .report = report,
    .free = g_free,
};
