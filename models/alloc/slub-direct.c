/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation g3b below its sheaves: no cpu slab, no cpu partial list, nothing frozen (mm/slub.c 7.0 and 7.1; slub-facts
 * B.4). A slab is full and on no list, on its node's partial list, or isolated by a CPU that fills a sheaf from it. The
 * free side is that of 6.8 without cpu partial lists. Debug caches take the same ways with single objects and their own
 * __slab_free() (B.5). Left out: pfmemalloc slabs, failing allocations, and callers that
 * may not spin. */
#include "slub-parts.h"

/* A new slab on no list of which the caller takes `n_taken` objects; the rest goes to the head of the node's list. */
static void
place_new_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_taken)
{
    Slab *slab = slub_slab(cache, id);

    slab->flags &= (guint8) ~SLAB_FROZEN;
    slab->inuse = (guint16) n_taken;
    if (n_taken == slab->objects)
        return;
    slub_lock(cache, cpu, slab->node, SLUB_LOCK_NEW_SLAB);
    slub_add_partial(cache, cpu, id, FALSE);
    slub_unlock(cache, cpu, slab->node);
}

static SlabId
take_from_node(SlubCache *cache, MachCpu *cpu, guint node_id, SlubLockSite site)
{
    return slub_has_partial(cache, cpu, node_id) ? slub_take_single(cache, cpu, node_id, site) : 0;
}

/* get_from_any_partial() */
static SlabId
take_from_any(SlubCache *cache, MachCpu *cpu)
{
    const MachTopology *topology = cpu->machine->topology;
    const guint16 *zonelist = &topology->zonelist[cpu->node * topology->n_nodes];

    if (!slub_looks_elsewhere(cache, cpu))
        return 0;
    for (guint i = 0; i < topology->n_nodes && zonelist[i] != MACH_NO_CPU; i++) {
        SlabId id;

        sim_sync(cpu->engine, cpu->agent);
        if (cache->node[zonelist[i]].partial.count <= cache->min_partial)
            continue;
        id = take_from_node(cache, cpu, zonelist[i], SLUB_LOCK_FROM_ANY);
        if (id)
            return id;
    }
    return 0;
}

static SlabId
take_from_new_slab(SlubCache *cache, MachCpu *cpu, gint node, gboolean this_node_only)
{
    SlabId id = slub_new_slab(cache, cpu, node, this_node_only);

    if (id && slub_is_debug(cache))
        slub_debug_add_new_slab(cache, cpu, id);
    else if (id)
        place_new_slab(cache, cpu, id, 1);
    return id;
}

/* ___slab_alloc() without its counter: a wish for a node is first tried for itself. A node without memory has no list;
 * the wish for it still says whose neighbours give the pages. */
static SlabId
take_object(SlubCache *cache, MachCpu *cpu, gint node)
{
    gint searched = node == SLUB_NO_NODE ? cpu->mem_node : slub_wanted_node(cpu, node);
    SlabId id = 0;

    cache->cpu[cpu->id].n_slab_alloc++;
    mach_spend(cpu, cpu->machine->costs.alloc_slow);
    if (node != SLUB_NO_NODE && searched != SLUB_NO_NODE) {
        id = take_from_node(cache, cpu, (guint) searched, SLUB_LOCK_FROM_PARTIAL);
        if (!id)
            id = take_from_new_slab(cache, cpu, searched, TRUE);
    }
    if (!id && searched != SLUB_NO_NODE)
        id = take_from_node(cache, cpu, (guint) searched, SLUB_LOCK_FROM_PARTIAL);
    if (!id)
        id = take_from_any(cache, cpu);
    if (!id)
        id = take_from_new_slab(cache, cpu, node, FALSE);
    if (slub_is_debug(cache))
        mach_spend(cpu, slub_debug_tracking(cache, cpu));
    return id;
}

static SlabId
direct_alloc_slow(SlubCache *cache, MachCpu *cpu, gint node)
{
    slub_count(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    return take_object(cache, cpu, node);
}

void
slub_direct_free_to_slab(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    cache->cpu[cpu->id].n_slab_free++;
    if (slub_is_debug(cache))
        slub_debug_free_to_slab(cache, cpu, id, n_objects);
    else
        slub_free_to_slab(cache, cpu, id, n_objects);
}

/* slab_free() without sheaves */
static void
direct_free_slow(SlubCache *cache, MachCpu *cpu, SlabId id, guint n_objects)
{
    slub_direct_free_to_slab(cache, cpu, id, n_objects);
    slub_count_n(cache, cpu, SLAB_STAT_FREE_SLOWPATH, n_objects);
}

/* get_partial_node_bulk(): takes slabs off the node's list until they have `n_wanted` free objects. Returns them, the
 * last taken first, linked by next; 0 when there are none or somebody else has the lock and `spins` is FALSE. */
static SlabId
isolate_slabs(SlubCache *cache, MachCpu *cpu, guint node_id, guint n_wanted, gboolean spins, SlubLockSite site)
{
    SlubNode *node = &cache->node[node_id];
    SlabId chain = 0, id;
    guint n_free = 0;

    if (!slub_has_partial(cache, cpu, node_id))
        return 0;
    if (spins) {
        slub_lock(cache, cpu, node_id, site);
    } else {
        if (!sim_lock_try(cpu->engine, &node->list_lock, cpu->agent, site))
            return 0;
        mach_spend(cpu, cpu->machine->costs.hold_base);
    }
    while (n_free < n_wanted && (id = node->partial.head)) {
        Slab *slab = slub_slab(cache, id);

        n_free += slub_slab_free_objects(slab);
        slub_remove_partial(cache, cpu, id);
        slab->next = chain;
        chain = id;
    }
    slub_unlock(cache, cpu, node_id);
    return chain;
}

/* Isolated slabs that were not needed after all: back to the head, but for empty ones if the node has enough. */
static void
return_isolated(SlubCache *cache, MachCpu *cpu, guint node_id, SlabId chain)
{
    SlubNode *node = &cache->node[node_id];
    SlabId empty = 0;

    slub_lock(cache, cpu, node_id, SLUB_LOCK_REFILL_RETURN);
    while (chain) {
        SlabId id = chain;
        Slab *slab = slub_slab(cache, id);

        chain = slab->next;
        if (slab->inuse == 0 && node->partial.count >= cache->min_partial) {
            slab->next = empty;
            empty = id;
        } else {
            slub_add_partial(cache, cpu, id, FALSE);
        }
    }
    slub_unlock(cache, cpu, node_id);
    while (empty) {
        SlabId id = empty;

        empty = slub_slab(cache, id)->next;
        slub_discard(cache, cpu, id);
    }
}

/* __refill_objects_node(): up to `n` objects of one node's partial slabs. */
static guint
refill_from_node(SlubCache *cache, MachCpu *cpu, guint node_id, guint n, gboolean spins, SlubLockSite site,
                 SlabId *ret_objects)
{
    const MachCosts *costs = &cpu->machine->costs;
    SlabId chain = isolate_slabs(cache, cpu, node_id, n, spins, site);
    guint n_done = 0;

    while (chain && n_done < n) {
        SlabId id = chain;
        Slab *slab = slub_slab(cache, id);
        guint n_free, n_taken;

        chain = slab->next;
        sim_sync(cpu->engine, cpu->agent);
        n_free = slub_slab_free_objects(slab);
        n_taken = MIN(n_free, n - n_done);
        slab->inuse = slab->objects;
        slab->version++;
        mach_spend(cpu, costs->slab_cas + slub_touch(cpu, slab) + n_taken * costs->sheaf_refill_object);
        for (guint i = 0; i < n_taken; i++)
            ret_objects[n_done++] = id;
        if (n_free > n_taken)
            slub_direct_free_to_slab(cache, cpu, id, n_free - n_taken);
    }
    if (chain)
        return_isolated(cache, cpu, node_id, chain);
    return n_done;
}

/* __refill_objects_any() */
static guint
refill_from_any(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    const MachTopology *topology = cpu->machine->topology;
    const guint16 *zonelist = &topology->zonelist[cpu->node * topology->n_nodes];
    gboolean spins = cache->system->layers.refill == SLUB_REFILL_SPIN;
    guint n_done = 0;

    if (cache->system->layers.refill == SLUB_REFILL_LOCAL || !slub_looks_elsewhere(cache, cpu))
        return 0;
    for (guint i = 0; n_done < n && i < topology->n_nodes && zonelist[i] != MACH_NO_CPU; i++) {
        sim_sync(cpu->engine, cpu->agent);
        if (cache->node[zonelist[i]].partial.count > cache->min_partial)
            n_done += refill_from_node(cache, cpu, zonelist[i], n - n_done, spins, SLUB_LOCK_REFILL_ANY,
                                       ret_objects + n_done);
    }
    return n_done;
}

/* refill_objects() with min = max = n */
static void
refill(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    guint n_done = refill_from_node(cache, cpu, cpu->mem_node, n, TRUE, SLUB_LOCK_REFILL, ret_objects);

    if (n_done < n)
        n_done += refill_from_any(cache, cpu, n - n_done, ret_objects + n_done);
    while (n_done < n) {
        SlabId id = slub_new_slab(cache, cpu, cpu->mem_node, FALSE);
        guint n_taken = MIN(n - n_done, slub_slab(cache, id)->objects);

        place_new_slab(cache, cpu, id, n_taken);
        mach_spend(cpu, n_taken * cpu->machine->costs.sheaf_refill_object);
        for (guint i = 0; i < n_taken; i++)
            ret_objects[n_done++] = id;
    }
}

/* __kmem_cache_alloc_bulk() without its counter */
static void
direct_take_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    if (!slub_is_debug(cache)) {
        refill(cache, cpu, n, ret_objects);
        return;
    }
    for (guint i = 0; i < n; i++)
        ret_objects[i] = take_object(cache, cpu, SLUB_NO_NODE);
}

/* __kmem_cache_free_bulk(), which counts nothing: slabs only, whatever lies above them. */
const SlubGeneration slub_generation_direct = {
    .name = "direct",
    .summary = "no cpu slab: objects come from and go to the node's slabs, in bulk by way of sheaves",
    .first_kernel = SLAB_KERNEL(7, 0),
    .last_kernel = SLAB_KERNEL(7, 1),
    .alloc_slow = direct_alloc_slow,
    .free_slow = direct_free_slow,
    .take_bulk = direct_take_bulk,
    .give_bulk = slub_give_bulk,
};
