/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slub-trace.h"

#include "slub-parts.h"

typedef struct {
    SlubCache front; /* first: callers hold a pointer to it */
    SlubCache *behind;
    const SlubObserver *observer;
} Traced;

static Traced *
traced(SlubCache *front)
{
    return (Traced *) front;
}

static SlabId
trace_alloc(SlubCache *front, MachCpu *cpu, gint node)
{
    Traced *t = traced(front);
    SlabId object = slub_alloc_node(t->behind, cpu, node);

    t->observer->on_alloc(t->behind, cpu, node, 1, &object, FALSE, t->observer->data);
    return object;
}

static void
trace_free(SlubCache *front, MachCpu *cpu, SlabId slab, guint n_objects)
{
    Traced *t = traced(front);
    SimTime now = mach_now(cpu);
    SlabId objects[SLUB_BULK_MAX];

    g_assert(n_objects <= SLUB_BULK_MAX);
    for (guint i = 0; i < n_objects; i++)
        objects[i] = slab;
    t->observer->on_free(t->behind, cpu, n_objects, objects, n_objects > 1, t->observer->data);
    slub_free_objects(t->behind, cpu, slab, n_objects);
    t->observer->on_freed(t->behind, cpu, now, t->observer->data);
}

/* The entry's own cost was spent in front. */
static void
trace_take_bulk(SlubCache *front, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    Traced *t = traced(front);

    slub_alloc_bulk_inside(t->behind, cpu, n, ret_objects);
    t->observer->on_alloc(t->behind, cpu, SLUB_NO_NODE, n, ret_objects, TRUE, t->observer->data);
}

static void
trace_give_bulk(SlubCache *front, MachCpu *cpu, guint n, SlabId *objects)
{
    Traced *t = traced(front);
    SimTime now = mach_now(cpu);

    t->observer->on_free(t->behind, cpu, n, objects, TRUE, t->observer->data);
    slub_free_bulk(t->behind, cpu, n, objects);
    t->observer->on_freed(t->behind, cpu, now, t->observer->data);
}

/* It says of itself that it has a cpu slab: what is counted of caches without one, the cache behind counts. */
static const SlubGeneration trace_generation = {
    .name = "traced",
    .summary = "looks on at another cache",
    .has_cpu_slab = TRUE,
    .alloc_slow = trace_alloc,
    .free_slow = trace_free,
    .take_bulk = trace_take_bulk,
    .give_bulk = trace_give_bulk,
};

void
slub_trace_from_sheaf(SlubCache *cache, const MachCpu *cpu, SlabId object)
{
    const SlubObserver *observer = cache->system->observer;

    if (cache != slub_behind(cache))
        observer->on_alloc(slub_behind(cache), cpu, SLUB_NO_NODE, 1, &object, FALSE, observer->data);
}

SlubCache *
slub_trace_new(SlubCache *cache)
{
    SlubSystem *system = cache->system;
    Traced *t = g_aligned_alloc0(1, sizeof *t, 64);

    *t = (Traced){.front = *cache, .behind = cache, .observer = system->observer};
    t->front.generation = t->front.below = &trace_generation;
    t->front.sheaves = NULL;
    t->front.cpu = g_aligned_alloc0(system->machine->n_cpus, sizeof *t->front.cpu, 64);
    return &t->front;
}

void
slub_trace_free(SlubCache *front)
{
    if (front->generation != &trace_generation)
        return;
    g_aligned_free(front->cpu);
    g_aligned_free(front);
}
