/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation g2: delayed freezing (mm/slub.c 6.8 to 6.19; slub-facts B.2). Slabs on cpu partial lists are not frozen; a
 * flag says "on the node list". Left out as in g1, and callers that may not spin. */
#include "slub-parts.h"

/* Slabs of the cpu partial list, newest first, until one fits the wish; the others go back to their node. */
static SlabId
delayed_pop_partial(SlubCache *cache, MachCpu *cpu, gint node)
{
    gboolean counts_every_pop = cache->system->kernel < SLAB_KERNEL(6, 9);
    SlabId id;

    while ((id = slub_pop_cpu_partial(cache, cpu))) {
        gboolean fits = node == SLUB_NO_NODE || slub_slab_node(cache, id) == (guint) node;

        if (fits || counts_every_pop)
            slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_ALLOC);
        if (fits)
            return id;
        cache->generation->put_partials(cache, cpu, id);
    }
    return 0;
}

static SlabId
delayed_new_slab(SlubCache *cache, MachCpu *cpu, gint node, gboolean this_node_only)
{
    SlabId id = slub_new_slab(cache, cpu, node, this_node_only);

    if (id)
        slub_load(cache, cpu, id, slub_slab(cache, id)->objects);
    return id;
}

/* From 6.10 on a wish for a node is tried for itself first, with that node's list and a new slab there, and only then
 * given up; 6.8 and 6.9 never look at other nodes' lists for it. */
static void
delayed_new_objects(SlubCache *cache, MachCpu *cpu, gint node)
{
    guint search = node == SLUB_NO_NODE ? cpu->mem_node : (guint) node;

    if (slub_get_partial_node(cache, cpu, search, SLUB_LOCK_GET_PARTIAL_NODE))
        return;
    if (node == SLUB_NO_NODE) {
        if (slub_get_any_partial(cache, cpu))
            return;
    } else if (cache->system->kernel >= SLAB_KERNEL(6, 10)) {
        if (delayed_new_slab(cache, cpu, node, TRUE))
            return;
        if (slub_get_partial_node(cache, cpu, search, SLUB_LOCK_GET_PARTIAL_NODE) || slub_get_any_partial(cache, cpu))
            return;
    }
    delayed_new_slab(cache, cpu, node, FALSE);
}

/* ___slab_alloc() */
static SlabId
delayed_alloc_slow(SlubCache *cache, MachCpu *cpu, gint wanted)
{
    gint node = slub_wanted_node(cpu, wanted);
    SlabId id;

    slub_count(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    mach_spend(cpu, cpu->machine->costs.alloc_slow);
    if (slub_reuse_cpu_slab(cache, cpu, node))
        return slub_take_one(cache, cpu);
    id = delayed_pop_partial(cache, cpu, node);
    if (id) {
        slub_load(cache, cpu, id, 0);
        sim_sync(cpu->engine, cpu->agent);
        slub_get_freelist(cache, cpu);
    } else {
        delayed_new_objects(cache, cpu, node);
    }
    return slub_take_one(cache, cpu);
}

/* The part of __slab_free() that needs list_lock. FALSE when the slab changed while the CPU waited. */
static gboolean
delayed_free_locked(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);
    guint node_id = slab->node;
    SlubNode *node = &cache->node[node_id];
    guint32 version = slab->version;
    gboolean was_full, is_listed;

    slub_lock(cache, cpu, node_id, SLUB_LOCK_SLAB_FREE);
    if (slab->version != version) {
        slub_count(cache, cpu, SLAB_STAT_CMPXCHG_DOUBLE_FAIL);
        slub_unlock(cache, cpu, node_id);
        return FALSE;
    }
    is_listed = slab->flags & SLAB_ON_PARTIAL;
    was_full = slab->inuse == slab->objects;
    slub_put_objects(cpu, slab, n_objects);
    if (!was_full && !is_listed) { /* it sits on somebody's cpu partial list */
        slub_unlock(cache, cpu, node_id);
        return TRUE;
    }
    if (slab->inuse == 0 && node->partial.count >= cache->min_partial) {
        if (!was_full) {
            slub_remove_partial(cache, cpu, id);
            slub_count(cache, cpu, SLAB_STAT_FREE_REMOVE_PARTIAL);
        }
        slub_unlock(cache, cpu, node_id);
        slub_count(cache, cpu, SLAB_STAT_FREE_SLAB);
        slub_discard(cache, cpu, id);
        return TRUE;
    }
    if (!cache->has_cpu_partial && was_full) {
        slub_add_partial(cache, cpu, id, TRUE);
        slub_count(cache, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
    }
    slub_unlock(cache, cpu, node_id);
    return TRUE;
}

void
slub_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);

    slub_prefetch(cache, id); /* before other CPUs take their turns */
    mach_spend(cpu, cpu->machine->costs.free_slow + (n_objects - 1) * cpu->machine->costs.bulk_object);
    for (;;) {
        gboolean was_frozen, was_full;

        sim_sync(cpu->engine, cpu->agent);
        was_frozen = slab->flags & SLAB_FROZEN;
        was_full = slab->inuse == slab->objects;
        if (!was_frozen && (was_full ? !cache->has_cpu_partial : slab->inuse == n_objects)) {
            if (delayed_free_locked(cache, cpu, id, n_objects))
                return;
            continue;
        }
        slub_put_objects(cpu, slab, n_objects);
        if (was_frozen) {
            slub_count(cache, cpu, SLAB_STAT_FREE_FROZEN);
        } else if (was_full) {
            slub_put_cpu_partial(cache, cpu, id, TRUE);
            slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_FREE);
        }
        return;
    }
}

/* __slab_free() with the counter that its callers keep from 7.0 on. */
static void
delayed_free_slow(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    slub_count(cache, cpu, SLAB_STAT_FREE_SLOWPATH);
    slub_free_to_slab(cache, cpu, id, n_objects);
}

static void
delayed_put_partials(SlubCache *cache, MachCpu *cpu, SlabId first)
{
    slub_return_partials(cache, cpu, first, 0);
}

/* deactivate_slab(): one CAS, then list_lock for the insert only. */
static void
delayed_deactivate(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_private)
{
    Slab *slab = slub_slab(cache, id);
    guint node_id = slab->node;
    SlubNode *node = &cache->node[node_id];
    gboolean to_tail;

    sim_sync(cpu->engine, cpu->agent);
    to_tail = slab->inuse < slab->objects;
    if (to_tail)
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_REMOTE_FREES);
    slab->inuse = (guint16) (slab->inuse - n_private);
    slab->flags &= (guint8) ~SLAB_FROZEN;
    slab->version++;
    mach_spend(cpu, cpu->machine->costs.slab_cas + slub_touch(cpu, slab));
    if (slab->inuse == 0 && node->partial.count >= cache->min_partial) {
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_EMPTY);
        slub_discard(cache, cpu, id);
        slub_count(cache, cpu, SLAB_STAT_FREE_SLAB);
    } else if (slab->inuse < slab->objects) {
        slub_lock(cache, cpu, node_id, SLUB_LOCK_DEACTIVATE);
        slub_add_partial(cache, cpu, id, to_tail);
        slub_unlock(cache, cpu, node_id);
        slub_count(cache, cpu, to_tail ? SLAB_STAT_DEACTIVATE_TO_TAIL : SLAB_STAT_DEACTIVATE_TO_HEAD);
    } else {
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_FULL);
    }
}

const SlubGeneration slub_generation_delayed = {
    .name = "delayed",
    .summary = "cpu slab and per-CPU partial slabs that are frozen only when they become the cpu slab",
    .first_kernel = SLAB_KERNEL(6, 8),
    .last_kernel = SLAB_KERNEL(6, 19),
    .has_cpu_slab = TRUE,
    .alloc_slow = delayed_alloc_slow,
    .free_slow = delayed_free_slow,
    .put_partials = delayed_put_partials,
    .deactivate = delayed_deactivate,
    .take_bulk = slub_cpu_slab_take_bulk,
    .give_bulk = slub_give_bulk,
};
