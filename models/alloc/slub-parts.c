/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists, new slabs and cpu partial lists: mm/slub.c 5.10 to 6.17 as in slub-facts B.1 and B.2. */
#include "slub-parts.h"

/* A list neighbour's struct slab is written too; the CPU then owns its line. */
static void
touch_neighbour(SlubCache *cache, MachCpu *cpu, SlabId id)
{
    if (id)
        mach_spend(cpu, slub_touch(cpu, slub_slab(cache, id)));
}

void
slub_add_partial(SlubCache *cache, MachCpu *cpu, SlabId id, gboolean to_tail)
{
    Slab *slab = slub_slab(cache, id);
    SlubNode *node = &cache->node[slab->node];

    mach_spend(cpu, cpu->machine->costs.hold_slab + slub_touch(cpu, slab));
    if (to_tail) {
        touch_neighbour(cache, cpu, node->partial.tail);
        slab_list_add_tail(&cache->system->arena, &node->partial, id);
    } else {
        touch_neighbour(cache, cpu, node->partial.head);
        slab_list_add_head(&cache->system->arena, &node->partial, id);
    }
    slab->flags |= SLAB_ON_PARTIAL;
}

void
slub_remove_partial(SlubCache *cache, MachCpu *cpu, SlabId id)
{
    Slab *slab = slub_slab(cache, id);
    SlubNode *node = &cache->node[slab->node];

    mach_spend(cpu, cpu->machine->costs.hold_slab + slub_touch(cpu, slab));
    touch_neighbour(cache, cpu, slab->prev);
    touch_neighbour(cache, cpu, slab->next);
    slab_list_remove(&cache->system->arena, &node->partial, id);
    slab->flags &= (guint8) ~SLAB_ON_PARTIAL;
}

/* Before 5.16 the limits of the cpu partial list count free objects, since then slabs. */
static gboolean
limit_is_in_objects(const SlubCache *cache)
{
    return cache->system->kernel < SLAB_KERNEL(5, 16);
}

/* Whether get_partial_node() has enough: `n_free` objects in all, or `n_moved` slabs moved to the cpu list. */
static gboolean
has_refilled(const SlubCache *cache, guint n_free, guint n_moved)
{
    if (!cache->has_cpu_partial)
        return TRUE;
    if (limit_is_in_objects(cache))
        return n_free > cache->cpu_partial / 2;
    if (cache->cpu_partial_slabs == 0 && cache->system->kernel >= SLAB_KERNEL(6, 10))
        return TRUE;
    return n_moved > cache->cpu_partial_slabs / 2;
}

gboolean
slub_has_partial(SlubCache *cache, MachCpu *cpu, guint node_id)
{
    const SlubNode *node = &cache->node[node_id];

    /* get_node() finds nothing there. */
    if (!cpu->machine->topology->node_memory_bytes[node_id])
        return FALSE;
    sim_sync(cpu->engine, cpu->agent);
    if (node->partial.count > 0)
        return TRUE;
    mach_spend(cpu, sim_distance(node->list_lock.distance, node->list_lock.owner, cpu->agent));
    return FALSE;
}

SlabId
slub_take_single(SlubCache *cache, MachCpu *cpu, guint node_id, SlubLockSite site)
{
    SimTime update_ps = slub_is_debug(cache) ? slub_debug_processing(cache, cpu, 1) : cpu->machine->costs.slab_cas;
    SlabId id;

    slub_lock(cache, cpu, node_id, site);
    id = cache->node[node_id].partial.head;
    if (id) {
        Slab *slab = slub_slab(cache, id);

        slab->inuse++;
        slab->version++;
        mach_spend(cpu, update_ps + slub_touch(cpu, slab));
        if (slab->inuse == slab->objects)
            slub_remove_partial(cache, cpu, id);
    }
    slub_unlock(cache, cpu, node_id);
    return id;
}

SlabId
slub_get_partial_node(SlubCache *cache, MachCpu *cpu, guint node_id, SlubLockSite site)
{
    SlubNode *node = &cache->node[node_id];
    SimTime cas_ps = cache->generation->freezes_partial ? cpu->machine->costs.slab_cas : 0;
    SlabId first = 0, id;
    guint n_free = 0, n_moved = 0;

    if (!slub_has_partial(cache, cpu, node_id))
        return 0;
    if (cache->generation->takes_single) {
        first = slub_take_single(cache, cpu, node_id, site);
        if (first)
            slub_load(cache, cpu, first, 1);
        return first;
    }
    slub_lock(cache, cpu, node_id, site);
    while ((id = node->partial.head)) {
        Slab *slab = slub_slab(cache, id);

        n_free += slub_slab_free_objects(slab);
        slub_remove_partial(cache, cpu, id);
        mach_spend(cpu, cas_ps);
        slab->version++;
        if (!first) {
            first = id;
            slub_count(cache, cpu, SLAB_STAT_ALLOC_FROM_PARTIAL);
            slab->flags |= SLAB_FROZEN;
            slub_load(cache, cpu, id, slub_slab_free_objects(slab));
            slab->inuse = slab->objects;
        } else {
            if (cache->generation->freezes_partial)
                slab->flags |= SLAB_FROZEN;
            slub_put_cpu_partial(cache, cpu, id, FALSE);
            slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_NODE);
            n_moved++;
        }
        if (has_refilled(cache, n_free, n_moved))
            break;
    }
    slub_unlock(cache, cpu, node_id);
    /* Delayed freezing: the first slab is frozen by a CAS after the lock. */
    if (first && !cache->generation->freezes_partial)
        mach_spend(cpu, cpu->machine->costs.slab_cas);
    return first;
}

guint32
slub_draw_below(SlubCache *cache, MachCpu *cpu, guint32 n)
{
    SlubSystem *system = cache->system;

    return system->draw ? system->draw(system->draw_data, n) : (guint32) sim_rng_below(&cpu->rng, n);
}

gboolean
slub_looks_elsewhere(SlubCache *cache, MachCpu *cpu)
{
    guint ratio = cache->system->remote_node_defrag_ratio;

    return cpu->machine->topology->n_nodes > 1 && ratio != 0 && slub_draw_below(cache, cpu, 1024) <= ratio;
}

SlabId
slub_get_any_partial(SlubCache *cache, MachCpu *cpu)
{
    const MachTopology *topology = cpu->machine->topology;
    const guint16 *zonelist = &topology->zonelist[cpu->node * topology->n_nodes];

    if (!slub_looks_elsewhere(cache, cpu))
        return 0;
    for (guint i = 0; i < topology->n_nodes && zonelist[i] != MACH_NO_CPU; i++) {
        SlubNode *node = &cache->node[zonelist[i]];
        SlabId id;

        sim_sync(cpu->engine, cpu->agent);
        if (node->partial.count <= cache->min_partial)
            continue;
        id = slub_get_partial_node(cache, cpu, zonelist[i], SLUB_LOCK_GET_ANY_PARTIAL);
        if (id)
            return id;
    }
    return 0;
}

SlabId
slub_pop_cpu_partial(SlubCache *cache, MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];
    SlabId id = c->partial;

    if (id) {
        c->partial = slub_slab(cache, id)->next;
        slub_slab(cache, id)->next = 0;
    }
    return id;
}

void
slub_put_cpu_partial(SlubCache *cache, MachCpu *cpu, SlabId id, gboolean drain)
{
    SlubCpu *c = &cache->cpu[cpu->id];
    Slab *slab = slub_slab(cache, id);
    gboolean in_objects = limit_is_in_objects(cache);
    SlabId old = c->partial, drained = 0;
    guint32 count = old ? slub_slab(cache, old)->cpu_partial_count : 0;

    if (drain && old && (in_objects ? count > cache->cpu_partial : count >= cache->cpu_partial_slabs)) {
        drained = old;
        old = 0;
        count = 0;
    }
    slab->cpu_partial_count = count + (in_objects ? slub_slab_free_objects(slab) : 1);
    slab->next = old;
    c->partial = id;
    if (drained) {
        cache->generation->put_partials(cache, cpu, drained);
        slub_count(cache, cpu, SLAB_STAT_CPU_PARTIAL_DRAIN);
    }
    /* To 5.14 a list that may hold nothing is given back at once. */
    if (cache->cpu_partial == 0 && cache->system->kernel <= SLAB_KERNEL(5, 14)) {
        SlabId all = c->partial;
        c->partial = 0;
        cache->generation->put_partials(cache, cpu, all);
    }
}

void
slub_return_partials(SlubCache *cache, MachCpu *cpu, SlabId first, SimTime cas_ps)
{
    SlabId empty = 0;

    while (first) {
        guint node_id = slub_slab(cache, first)->node;
        SlubNode *node = &cache->node[node_id];

        slub_lock(cache, cpu, node_id, SLUB_LOCK_UNFREEZE);
        while (first && slub_slab(cache, first)->node == node_id) {
            SlabId id = first;
            Slab *slab = slub_slab(cache, id);

            first = slab->next;
            slab->flags &= (guint8) ~SLAB_FROZEN;
            slab->version++;
            mach_spend(cpu, cas_ps);
            if (slab->inuse == 0 && node->partial.count >= cache->min_partial) {
                mach_spend(cpu, slub_touch(cpu, slab));
                slab->next = empty;
                empty = id;
            } else {
                slub_add_partial(cache, cpu, id, TRUE);
                slub_count(cache, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
            }
        }
        slub_unlock(cache, cpu, node_id);
    }
    while (empty) {
        SlabId id = empty;

        empty = slub_slab(cache, id)->next;
        slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_EMPTY);
        slub_discard(cache, cpu, id);
        slub_count(cache, cpu, SLAB_STAT_FREE_SLAB);
    }
}

SlabId
slub_new_slab(SlubCache *cache, MachCpu *cpu, gint node, gboolean this_node_only)
{
    SlubSystem *system = cache->system;
    const SlabGeometry *geometry = &cache->geometry;
    const MachCosts *costs = &cpu->machine->costs;
    guint wanted = node == SLUB_NO_NODE ? cpu->mem_node : (guint) node;
    gboolean is_min = cache->fallback_chance > 0 && geometry->min_order < geometry->order &&
                      slub_draw_below(cache, cpu, 1u << 20) < (guint32) (cache->fallback_chance * (1u << 20));
    gint got = page_alloc(system->pages, cpu, wanted, is_min ? geometry->min_order : geometry->order, this_node_only);
    Slab *slab;
    SlabId id;

    if (got < 0) {
        if (!this_node_only)
            mach_fail(cpu, "the machine's memory is exhausted");
        return 0;
    }
    sim_sync(cpu->engine, cpu->agent); /* nr_slabs is everybody's */
    id = slab_arena_take(&system->arena);
    slab = slub_slab(cache, id);
    slab->objects = slab->inuse = (guint16) (is_min ? geometry->min_objects : geometry->objects);
    slab->flags = (guint8) (SLAB_FROZEN | (is_min ? SLAB_MIN_ORDER : 0));
    slab->node = (guint8) got;
    slab->cache = cache->index;
    slab->toucher = cpu->id;
    cache->node[got].n_slabs++;
    cache->node[got].n_min_order_slabs += is_min;
    slub_count(cache, cpu, SLAB_STAT_ALLOC_SLAB);
    if (is_min)
        slub_count(cache, cpu, SLAB_STAT_ORDER_FALLBACK);
    mach_spend(cpu, costs->new_slab + slab->objects * costs->new_slab_object);
    if (slub_is_debug(cache))
        slub_debug_set_up_slab(cache, cpu, slab->objects);
    if (system->on_new_slab)
        system->on_new_slab(cache, cpu, id, system->slab_data);
    return id;
}

void
slub_discard(SlubCache *cache, MachCpu *cpu, SlabId id)
{
    SlubSystem *system = cache->system;
    const Slab *slab = slub_slab(cache, id);
    guint node = slab->node;
    guint order = slab->flags & SLAB_MIN_ORDER ? cache->geometry.min_order : cache->geometry.order;

    g_assert(slab->inuse == 0 && !(slab->flags & (SLAB_FROZEN | SLAB_ON_PARTIAL)));
    if (slub_is_debug(cache))
        slub_debug_check_slab(cache, cpu);
    if (system->on_discard)
        system->on_discard(cache, cpu, id, system->slab_data);
    sim_sync(cpu->engine, cpu->agent);
    cache->node[node].n_slabs--;
    cache->node[node].n_min_order_slabs -= (slab->flags & SLAB_MIN_ORDER) != 0;
    slab_arena_give(&system->arena, id);
    mach_spend(cpu, cpu->machine->costs.discard_slab);
    page_free(system->pages, cpu, node, order);
}

guint
slub_get_freelist(SlubCache *cache, MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];
    Slab *slab = slub_slab(cache, c->slab);
    guint n = slub_slab_free_objects(slab);

    mach_spend(cpu, cpu->machine->costs.slab_cas + slub_touch(cpu, slab));
    slab->version++;
    slab->inuse = slab->objects;
    if (n) {
        slab->flags |= SLAB_FROZEN;
    } else {
        slab->flags &= (guint8) ~SLAB_FROZEN;
        c->slab = 0;
    }
    c->free = n;
    return n;
}

gboolean
slub_reuse_cpu_slab(SlubCache *cache, MachCpu *cpu, gint node)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    if (c->slab && node != SLUB_NO_NODE && slub_slab_node(cache, c->slab) != (guint) node) {
        SlabId slab = c->slab;
        guint n_private = c->free;

        slub_count(cache, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH);
        slub_load(cache, cpu, 0, 0);
        cache->generation->deactivate(cache, cpu, slab, n_private);
    }
    if (c->slab && c->free) /* the wish was for a node without memory */
        return TRUE;
    if (!c->slab)
        return FALSE;
    sim_sync(cpu->engine, cpu->agent);
    if (slub_get_freelist(cache, cpu)) {
        slub_count(cache, cpu, SLAB_STAT_ALLOC_REFILL);
        return TRUE;
    }
    slub_count(cache, cpu, SLAB_STAT_DEACTIVATE_BYPASS);
    return FALSE;
}
