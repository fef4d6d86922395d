/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debug caches (slub_debug=FZPU): mm/slub.c 5.10 to 7.1, slub-facts B.5, costs D.4. Every operation is a slow path, and
 * none leaves anything on the CPU. How a slab is looked for is the release's own; two ways of taking one object:
 *   activate  to 6.0: the slab becomes the cpu slab for the one object, then is deactivated, list_lock twice
 *   single    from 6.1, and the idea of 2016: the object comes off a slab that stays on the node list. Where there is
 *             no cpu slab, slub-direct.c does this with parts of here
 * A third, also of 2016, is activate with cpu partial lists. Left out: a ctor or TYPESAFE_BY_RCU that keeps the payload
 * from being poisoned, the list of full slabs (its lock is taken), and reports. */
#include "slub-parts.h"

extern const SlubGeneration slub_generation_frozen, slub_generation_delayed;

/* The stride without what no check or fill touches: free pointer, tracks and size asked. */
static guint
object_bytes(const SlubCache *cache)
{
    const SlabGeometry *g = &cache->geometry;

    return g->size_bytes - (g->metadata_end_bytes - g->inuse_bytes);
}

/* What slab_pad_check() looks at in every call: the poisoned rest of the slab behind the last object. */
static guint
leftover_bytes(const SlubCache *cache, guint page_size_bytes)
{
    const SlabGeometry *g = &cache->geometry;

    return g->flags & SLAB_POISON ? (page_size_bytes << g->order) - g->objects * g->size_bytes : 0;
}

/* check_slab(), then check_object() of all of each object, which is poisoned and gets its red zones anew. */
SimTime
slub_debug_processing(const SlubCache *cache, const MachCpu *cpu, guint n_objects)
{
    const SlabGeometry *g = &cache->geometry;
    const MachCosts *costs = &cpu->machine->costs;
    guint n = object_bytes(cache), n_filled = 0;
    guint n_checked = n_objects * n + leftover_bytes(cache, cpu->machine->topology->page_size_bytes);

    if (g->flags & SLAB_POISON)
        n_filled = g->flags & SLAB_RED_ZONE ? n : g->inuse_bytes;
    else if (g->flags & SLAB_RED_ZONE)
        n_filled = n - g->inuse_bytes;
    return (g->flags & SLAB_CONSISTENCY_CHECKS ? n_checked * costs->check_byte : 0) +
           n_objects * n_filled * costs->memset_byte;
}

SimTime
slub_debug_tracking(const SlubCache *cache, const MachCpu *cpu)
{
    return cache->geometry.flags & SLAB_STORE_USER ? cpu->machine->costs.debug_track : 0;
}

static guint
slab_bytes(const SlubCache *cache, const MachCpu *cpu)
{
    return cpu->machine->topology->page_size_bytes << cache->geometry.order;
}

void
slub_debug_set_up_slab(const SlubCache *cache, MachCpu *cpu, guint n_objects)
{
    SimTime fill = cpu->machine->costs.memset_byte;

    if (cache->geometry.flags & SLAB_POISON)
        mach_spend(cpu, slab_bytes(cache, cpu) * fill);
    if (cache->geometry.flags & (SLAB_POISON | SLAB_RED_ZONE))
        mach_spend(cpu, n_objects * object_bytes(cache) * fill);
}

void
slub_debug_check_slab(const SlubCache *cache, MachCpu *cpu)
{
    if (cache->geometry.flags & SLAB_CONSISTENCY_CHECKS)
        mach_spend(cpu, slab_bytes(cache, cpu) * cpu->machine->costs.check_byte);
}

static SlabId
activate_alloc_slow(SlubCache *cache, MachCpu *cpu, gint node)
{
    gboolean gives_back_one_by_one = cache->system->kernel < SLAB_KERNEL(5, 12);
    SlabId id = slub_generation_frozen.alloc_slow(cache, cpu, node);
    guint n_private = cache->cpu[cpu->id].free;

    slub_load(cache, cpu, 0, 0);
    mach_spend(cpu, slub_debug_processing(cache, cpu, 1) + slub_debug_tracking(cache, cpu));
    /* To 5.11 object by object, each under the slab's bit lock. */
    if (gives_back_one_by_one)
        mach_spend(cpu, n_private * cpu->machine->costs.slab_cas);
    if (n_private == 0 && (cache->geometry.flags & SLAB_STORE_USER)) {
        /* On to the list of full slabs. */
        slub_lock(cache, cpu, slub_slab_node(cache, id), SLUB_LOCK_DEACTIVATE);
        slub_unlock(cache, cpu, slub_slab_node(cache, id));
    }
    slub_generation_frozen.deactivate(cache, cpu, id, n_private);
    return id;
}

static void
activate_free_slow(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    guint node = slub_slab_node(cache, id);

    slub_lock(cache, cpu, node, SLUB_LOCK_DEBUG_FREE);
    mach_spend(cpu, slub_debug_processing(cache, cpu, n_objects) + n_objects * slub_debug_tracking(cache, cpu));
    slub_unlock(cache, cpu, node);
    slub_generation_frozen.free_slow(cache, cpu, id, n_objects);
}

void
slub_debug_add_new_slab(SlubCache *cache, MachCpu *cpu, SlabId id)
{
    Slab *slab = slub_slab(cache, id);

    mach_spend(cpu, slub_debug_processing(cache, cpu, 1));
    slub_lock(cache, cpu, slab->node, SLUB_LOCK_DEBUG_NEW);
    slab->inuse = 1;
    slab->flags &= (guint8) ~SLAB_FROZEN;
    slab->version++;
    if (slab->objects > 1)
        slub_add_partial(cache, cpu, id, FALSE);
    slub_unlock(cache, cpu, slab->node);
}

/* A listed slab looks to the release's slow path like one loaded with one object; only a new one is frozen. */
static SlabId
single_alloc_slow(SlubCache *cache, MachCpu *cpu, gint node)
{
    const SlubGeneration *search =
        cache->system->kernel < SLAB_KERNEL(6, 8) ? &slub_generation_frozen : &slub_generation_delayed;
    SlabId id = search->alloc_slow(cache, cpu, node);

    slub_load(cache, cpu, 0, 0);
    if (slub_slab(cache, id)->flags & SLAB_FROZEN)
        slub_debug_add_new_slab(cache, cpu, id);
    mach_spend(cpu, slub_debug_tracking(cache, cpu));
    return id;
}

void
slub_debug_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);
    guint node_id = slab->node;
    gboolean was_full, is_surplus;

    mach_spend(cpu, cpu->machine->costs.free_slow + slub_debug_tracking(cache, cpu));
    slub_lock(cache, cpu, node_id, SLUB_LOCK_DEBUG_FREE);
    mach_spend(cpu, slub_touch(cpu, slab) + slub_debug_processing(cache, cpu, n_objects));
    was_full = slab->inuse == slab->objects;
    slab->inuse = (guint16) (slab->inuse - n_objects);
    slab->version++;
    is_surplus = slab->inuse == 0 && cache->node[node_id].partial.count >= cache->min_partial;
    if (is_surplus && !was_full) {
        slub_remove_partial(cache, cpu, id);
        slub_count(cache, cpu, SLAB_STAT_FREE_REMOVE_PARTIAL);
    } else if (!is_surplus && was_full) {
        slub_add_partial(cache, cpu, id, TRUE);
        slub_count(cache, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
    }
    slub_unlock(cache, cpu, node_id);
    if (is_surplus) {
        slub_count(cache, cpu, SLAB_STAT_FREE_SLAB);
        slub_discard(cache, cpu, id);
    }
}

static void
single_free_slow(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    slub_count(cache, cpu, SLAB_STAT_FREE_SLOWPATH);
    slub_debug_free_to_slab(cache, cpu, id, n_objects);
}

/* Only what-if caches have cpu partial lists, and only under activate. */
static void
put_partials(SlubCache *cache, MachCpu *cpu, SlabId first)
{
    slub_generation_frozen.put_partials(cache, cpu, first);
}

static void
deactivate(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_private)
{
    slub_generation_frozen.deactivate(cache, cpu, id, n_private);
}

const SlubGeneration slub_debug_activate = {
    .name = "debug, activating",
    .summary = "debug caches to 6.0: the slab is made the cpu slab for one object",
    .has_cpu_slab = TRUE,
    .freezes_partial = TRUE,
    .alloc_slow = activate_alloc_slow,
    .free_slow = activate_free_slow,
    .put_partials = put_partials,
    .deactivate = deactivate,
    .take_bulk = slub_cpu_slab_take_bulk,
    .give_bulk = slub_give_bulk,
};

const SlubGeneration slub_debug_single = {
    .name = "debug, single objects",
    .summary = "debug caches from 6.1: one object off a slab that stays on the node list",
    .has_cpu_slab = TRUE,
    .freezes_partial = TRUE,
    .takes_single = TRUE,
    .alloc_slow = single_alloc_slow,
    .free_slow = single_free_slow,
    .put_partials = put_partials,
    .deactivate = deactivate,
    .take_bulk = slub_cpu_slab_take_bulk,
    .give_bulk = slub_give_bulk,
};
