/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation g1: cpu slab and frozen per-CPU partial slabs (mm/slub.c 5.10 to 6.7; slub-facts B.1). Left out:
 * pfmemalloc slabs, the race that fills the cpu slab while a new slab is made, and failing allocations. */
#include "slub-parts.h"

static SlabId
frozen_get_partial(SlubCache *cache, MachCpu *cpu, gint node)
{
    guint search = node == SLUB_NO_NODE ? cpu->mem_node : (guint) node;
    SlabId id = slub_get_partial_node(cache, cpu, search, SLUB_LOCK_GET_PARTIAL_NODE);

    /* A wish for a node ends the search there. */
    return id || node != SLUB_NO_NODE ? id : slub_get_any_partial(cache, cpu);
}

/* ___slab_alloc() */
static SlabId
frozen_alloc_slow(SlubCache *cache, MachCpu *cpu, gint wanted)
{
    gint node = slub_wanted_node(cpu, wanted);
    SlabId id;

    slub_count(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    mach_spend(cpu, cpu->machine->costs.alloc_slow);
    while (!slub_reuse_cpu_slab(cache, cpu, node)) {
        id = slub_pop_cpu_partial(cache, cpu);
        if (!id) {
            if (!frozen_get_partial(cache, cpu, node)) {
                id = slub_new_slab(cache, cpu, node, FALSE);
                slub_load(cache, cpu, id, slub_slab(cache, id)->objects);
            }
            break;
        }
        /* Back to the node test and get_freelist() with it. */
        slub_load(cache, cpu, id, 0);
        slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_ALLOC);
    }
    return slub_take_one(cache, cpu);
}

/* The last object of a slab on the node list, or the first of a full one without cpu partial support: done under
 * list_lock. FALSE when the slab changed while the CPU waited for the lock. */
static gboolean
frozen_free_locked(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);
    guint node_id = slab->node;
    SlubNode *node = &cache->node[node_id];
    guint32 version = slab->version;
    gboolean was_full;

    slub_lock(cache, cpu, node_id, SLUB_LOCK_SLAB_FREE);
    if (slab->version != version) {
        slub_count(cache, cpu, SLAB_STAT_CMPXCHG_DOUBLE_FAIL);
        slub_unlock(cache, cpu, node_id);
        return FALSE;
    }
    was_full = slab->inuse == slab->objects;
    slub_put_objects(cpu, slab, n_objects);
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

/* Into a slab that nobody has frozen. FALSE when it changed meanwhile. Out of the way of the common case. */
static G_NO_INLINE gboolean
frozen_free_thawed(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);
    gboolean was_full = slab->inuse == slab->objects, freezes = was_full && cache->has_cpu_partial;

    if (!freezes && (was_full || slab->inuse == n_objects))
        return frozen_free_locked(cache, cpu, id, n_objects);
    slub_put_objects(cpu, slab, n_objects);
    if (freezes) {
        slab->flags |= SLAB_FROZEN;
        slub_put_cpu_partial(cache, cpu, id, TRUE);
        slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_FREE);
    }
    return TRUE;
}

/* __slab_free() */
static void
frozen_free_slow(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    Slab *slab = slub_slab(cache, id);
    SlubCpu *c = &cache->cpu[cpu->id];

    c->stat[SLAB_STAT_FREE_SLOWPATH]++;
    slub_prefetch(cache, id); /* before other CPUs take their turns */
    mach_spend(cpu, cpu->machine->costs.free_slow + (n_objects - 1) * cpu->machine->costs.bulk_object);
    do {
        sim_sync(cpu->engine, cpu->agent);
        if (G_LIKELY(slab->flags & SLAB_FROZEN)) {
            slub_put_objects(cpu, slab, n_objects);
            c->stat[SLAB_STAT_FREE_FROZEN]++;
            return;
        }
    } while (!frozen_free_thawed(cache, cpu, id, n_objects));
}

static void
frozen_put_partials(SlubCache *cache, MachCpu *cpu, SlabId first)
{
    slub_return_partials(cache, cpu, first, cpu->machine->costs.slab_cas);
}

/* deactivate_slab(): the decision and the CAS; for a slab that goes to the list both lie under the lock. */
static void
frozen_deactivate(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_private)
{
    Slab *slab = slub_slab(cache, id);
    guint node_id = slab->node;
    SlubNode *node = &cache->node[node_id];
    gboolean to_tail, is_locked = FALSE;

    sim_sync(cpu->engine, cpu->agent);
    to_tail = slab->inuse < slab->objects;
    if (to_tail)
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_REMOTE_FREES);
    for (;;) {
        guint inuse = slab->inuse - n_private;

        if (!is_locked && !(inuse == 0 && node->partial.count >= cache->min_partial) && inuse < slab->objects) {
            slub_lock(cache, cpu, node_id, SLUB_LOCK_DEACTIVATE);
            is_locked = TRUE; /* what others freed meanwhile is in slab->inuse already */
            continue;
        }
        slab->inuse = (guint16) inuse;
        slab->flags &= (guint8) ~SLAB_FROZEN;
        slab->version++;
        mach_spend(cpu, cpu->machine->costs.slab_cas + slub_touch(cpu, slab));
        break;
    }
    if (is_locked) {
        slub_add_partial(cache, cpu, id, to_tail);
        slub_unlock(cache, cpu, node_id);
        slub_count(cache, cpu, to_tail ? SLAB_STAT_DEACTIVATE_TO_TAIL : SLAB_STAT_DEACTIVATE_TO_HEAD);
    } else if (slab->inuse == 0) {
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_EMPTY);
        slub_discard(cache, cpu, id);
        slub_count(cache, cpu, SLAB_STAT_FREE_SLAB);
    } else {
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_FULL);
    }
}

const SlubGeneration slub_generation_frozen = {
    .name = "frozen",
    .summary = "cpu slab and frozen per-CPU partial slabs",
    .first_kernel = SLAB_KERNEL(5, 10),
    .last_kernel = SLAB_KERNEL(6, 7),
    .has_cpu_slab = TRUE,
    .freezes_partial = TRUE,
    .alloc_slow = frozen_alloc_slow,
    .free_slow = frozen_free_slow,
    .put_partials = frozen_put_partials,
    .deactivate = frozen_deactivate,
    .take_bulk = slub_cpu_slab_take_bulk,
    .give_bulk = slub_give_bulk,
};
