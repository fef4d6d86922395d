/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_PARTS_H
#define SLUB_PARTS_H

#include "slub.h"

/* What the generations share. For models/alloc only.
 *
 * An update of a slab's freelist and counters takes effect at the CPU's time in global order: the caller has just
 * called sim_sync() or holds the lock. Its cost is spent after. */

static inline Slab *
slub_slab(const SlubCache *cache, SlabId id)
{
    return &cache->system->arena.slab[id];
}

static inline void
slub_count_n(SlubCache *cache, const MachCpu *cpu, SlabStat stat, guint n)
{
    cache->cpu[cpu->id].stat[stat] += n;
}

static inline void
slub_count(SlubCache *cache, const MachCpu *cpu, SlabStat stat)
{
    slub_count_n(cache, cpu, stat, 1);
}

static inline guint
slub_slab_free_objects(const Slab *slab)
{
    return (guint) slab->objects - slab->inuse;
}

/* The time to get a cache line of memory on node `home`, last touched by CPU *toucher (MACH_NO_CPU: nobody), for
 * writing; `cpu` has it afterwards. */
static inline SimTime
slub_touch_line(const MachCpu *cpu, guint home, guint16 *toucher)
{
    const MachTopology *topology = cpu->machine->topology;
    const SimDistance *distance = &topology->distance[home];
    guint16 from = *toucher;

    if (from == cpu->id)
        return distance->same_agent_ps;
    *toucher = cpu->id;
    if (from == MACH_NO_CPU)
        return distance->unknown_ps;
    return distance->transfer_ps[topology->cpu_group[from] * distance->n_groups + cpu->group];
}

/* The same for a slab's struct slab. */
static inline SimTime
slub_touch(const MachCpu *cpu, Slab *slab)
{
    return slub_touch_line(cpu, slab->node, &slab->toucher);
}

/* The compare-exchange that frees `n_objects` into a slab. */
static inline void
slub_put_objects(MachCpu *cpu, Slab *slab, guint n_objects)
{
    slab->inuse = (guint16) (slab->inuse - n_objects);
    slab->version++;
    mach_spend(cpu, cpu->machine->costs.slab_cas + slub_touch(cpu, slab));
}

static inline void
slub_lock(SlubCache *cache, MachCpu *cpu, guint node, SlubLockSite site)
{
    sim_lock_acquire(cpu->engine, &cache->node[node].list_lock, cpu->agent, site);
    mach_spend(cpu, cpu->machine->costs.hold_base);
}

/* Lets go of a list_lock or a barn's lock. */
static inline void
slub_release(MachCpu *cpu, SimLock *lock)
{
    /* A busy sibling slows the holder down too. */
    if (mach_sibling_is_busy(cpu))
        mach_spend(cpu, (SimTime) ((double) (mach_now(cpu) - lock->owned_since) * (cpu->machine->smt_hold_slowdown - 1)));
    sim_lock_release(cpu->engine, lock, cpu->agent);
}

static inline void
slub_unlock(SlubCache *cache, MachCpu *cpu, guint node)
{
    slub_release(cpu, &cache->node[node].list_lock);
}

/* Under list_lock: list moves with their costs. Adding at an end writes the neighbour's struct slab too. */
void slub_add_partial(SlubCache *cache, MachCpu *cpu, SlabId id, gboolean to_tail);
void slub_remove_partial(SlubCache *cache, MachCpu *cpu, SlabId id);

/* get_partial_node(): the first slab, whose freelist the caller takes over; further ones go to the cpu partial list.
 * 0 when the node has none. Counts ALLOC_FROM_PARTIAL and CPU_PARTIAL_NODE. */
SlabId slub_get_partial_node(SlubCache *cache, MachCpu *cpu, guint node, SlubLockSite site);

/* alloc_single_from_partial(), get_from_partial_node(): one object of the first slab, which stays where it is while it
 * has more. 0 when the node has none. The look at an empty list is the caller's. */
SlabId slub_take_single(SlubCache *cache, MachCpu *cpu, guint node, SlubLockSite site);

/* get_any_partial(). */
SlabId slub_get_any_partial(SlubCache *cache, MachCpu *cpu);

/* put_cpu_partial(): `drain` FALSE ignores the limit. */
void slub_put_cpu_partial(SlubCache *cache, MachCpu *cpu, SlabId id, gboolean drain);

/* Takes the head off the CPU's partial list, 0 when it is empty. */
SlabId slub_pop_cpu_partial(SlubCache *cache, MachCpu *cpu);

/* allocate_slab() on `node` (SLUB_NO_NODE: the CPU's) or, unless `this_node_only`, another; frozen, with every object
 * in use. 0 only with `this_node_only`. */
SlabId slub_new_slab(SlubCache *cache, MachCpu *cpu, gint node, gboolean this_node_only);

/* discard_slab() of an empty slab that is on no list. Does not count FREE_SLAB. */
void slub_discard(SlubCache *cache, MachCpu *cpu, SlabId id);

static inline gboolean
slub_is_debug(const SlubCache *cache)
{
    return (cache->geometry.flags & SLAB_DEBUG_FLAGS) != 0;
}

/* Of debug caches only. setup_slab_debug() and setup_object_debug() of a new slab; the checks of a whole slab before its
 * pages go. */
void slub_debug_set_up_slab(const SlubCache *cache, MachCpu *cpu, guint n_objects);
void slub_debug_check_slab(const SlubCache *cache, MachCpu *cpu);
/* The time of alloc_debug_processing() of one object, or of free_debug_processing() of some of one slab without its
 * locks; of set_track(), 0 without SLAB_STORE_USER. */
SimTime slub_debug_processing(const SlubCache *cache, const MachCpu *cpu, guint n_objects);
SimTime slub_debug_tracking(const SlubCache *cache, const MachCpu *cpu);
/* alloc_single_from_new_slab(): the caller has one object of it. */
void slub_debug_add_new_slab(SlubCache *cache, MachCpu *cpu, SlabId id);
/* free_to_partial_list(), without FREE_SLOWPATH. */
void slub_debug_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects);

/* __unfreeze_partials() / __put_partials(): each CAS under the lock costs `cas_ps`. */
void slub_return_partials(SlubCache *cache, MachCpu *cpu, SlabId first, SimTime cas_ps);

/* Makes `id` the cpu slab with its whole freelist. Takes no time. */
static inline void
slub_load(SlubCache *cache, const MachCpu *cpu, SlabId id, guint n_free)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    c->slab = id;
    c->free = n_free;
}

/* Hands out one object of the cpu slab. */
static inline SlabId
slub_take_one(SlubCache *cache, const MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    g_assert(c->free > 0);
    c->free--;
    return c->slab;
}

/* get_freelist() with the CPU in order: takes what others freed into the cpu slab; 0 lets the slab go. Shared by the
 * generations. */
guint slub_get_freelist(SlubCache *cache, MachCpu *cpu);

/* What ___slab_alloc() does with the cpu slab: lets it go when it is of the wrong node or has nothing left. TRUE when
 * it has an object to take. */
gboolean slub_reuse_cpu_slab(SlubCache *cache, MachCpu *cpu, gint node);

/* take_bulk() of the generations with a cpu slab; give_bulk() of all: groups of one slab (build_detached_freelist).
 * Without a cpu slab it counts nothing. */
void slub_cpu_slab_take_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);
void slub_give_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects);

/* kmem_cache_alloc_bulk() behind its entry. */
void slub_alloc_bulk_inside(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);

/* __slab_free() without its counter: from 6.8 on, of caches without debug flags; without a cpu slab, of all. */
void slub_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects);
void slub_direct_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects);

/* A draw of get_any_partial() or allocate_slab(): uniform in 0 .. n - 1. */
guint32 slub_draw_below(SlubCache *cache, MachCpu *cpu, guint32 n);

/* TRUE when get_any_partial() and its like look at other nodes this time. */
gboolean slub_looks_elsewhere(SlubCache *cache, MachCpu *cpu);

/* An unlocked look at the node's nr_partial, in order; it costs its line only when it ends the matter. */
gboolean slub_has_partial(SlubCache *cache, MachCpu *cpu, guint node);

/* The wanted node as the allocator sees it: a node without memory is no wish. */
static inline gint
slub_wanted_node(const MachCpu *cpu, gint node)
{
    return node != SLUB_NO_NODE && cpu->machine->topology->node_memory_bytes[node] ? node : SLUB_NO_NODE;
}

#endif
