/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slub-place.h"

#include "slub-parts.h"

/* What slab->cpu_partial_count adds up: slabs from 5.16 on, free objects before. */
static void
push_cpu_partial(SlubCache *cache, SlabId id, SlubCpu *c)
{
    Slab *slab = slub_slab(cache, id);
    guint32 below = c->partial ? slub_slab(cache, c->partial)->cpu_partial_count : 0;

    slab->cpu_partial_count = below + (cache->system->kernel >= SLAB_KERNEL(5, 16) ? 1 : slub_slab_free_objects(slab));
    slab->next = c->partial;
    c->partial = id;
    if (cache->generation->freezes_partial)
        slab->flags |= SLAB_FROZEN;
}

void
slub_place_put(SlubCache *cache, SlabId id, SlubPlace place, guint cpu)
{
    SlabArena *arena = &cache->system->arena;
    Slab *slab = slub_slab(cache, id);
    SlubCpu *c = &cache->cpu[cpu];
    SlubNode *node = &cache->node[slab->node];
    SlabId old;

    switch (place) {
    case SLUB_PLACE_NONE:
        break;
    case SLUB_PLACE_NODE_HEAD:
    case SLUB_PLACE_NODE_TAIL:
        if (place == SLUB_PLACE_NODE_HEAD)
            slab_list_add_head(arena, &node->partial, id);
        else
            slab_list_add_tail(arena, &node->partial, id);
        slab->flags |= SLAB_ON_PARTIAL;
        break;
    case SLUB_PLACE_CPU_PARTIAL:
        push_cpu_partial(cache, id, c);
        break;
    case SLUB_PLACE_AWAY:
        slab->flags |= SLAB_FROZEN;
        break;
    case SLUB_PLACE_CPU_USED_UP:
        g_assert(!c->slab);
        c->slab = id;
        slab->flags |= SLAB_FROZEN;
        break;
    case SLUB_PLACE_CPU:
        old = c->slab;
        if (old) {
            slub_place_take(cache, old);
            slub_place_put(cache, old,
                           slub_slab_free_objects(slub_slab(cache, old)) ? SLUB_PLACE_NODE_TAIL : SLUB_PLACE_NONE, cpu);
        }
        c->slab = id;
        c->free = slub_slab_free_objects(slab);
        slab->inuse = slab->objects;
        slab->flags |= SLAB_FROZEN;
        break;
    }
}

SlabId
slub_place_new(SlubCache *cache, guint node, guint n_inuse, SlubPlace place, guint cpu)
{
    SlabId id = slab_arena_take(&cache->system->arena);
    Slab *slab = slub_slab(cache, id);
    PageZone *zone = &cache->system->pages->zone[node];

    slab->objects = (guint16) cache->geometry.objects;
    slab->inuse = (guint16) MIN(n_inuse, slab->objects);
    slab->node = (guint8) node;
    slab->cache = cache->index;
    slab->toucher = MACH_NO_CPU;
    cache->node[node].n_slabs++;
    cache->cpu[cpu].n_objects += slab->inuse;
    zone->free_pages -= (gint64) 1 << cache->geometry.order;
    slub_place_put(cache, id, place, cpu);
    return id;
}

SlubPlace
slub_place_find(const SlubCache *cache, SlabId id, guint *ret_cpu)
{
    const Slab *slab = slub_slab(cache, id);
    const Slab *arena = cache->system->arena.slab;

    if (slab->flags & SLAB_ON_PARTIAL)
        return SLUB_PLACE_NODE_TAIL;
    for (guint cpu = 0; cpu < cache->system->machine->n_cpus; cpu++) {
        const SlubCpu *c = &cache->cpu[cpu];

        *ret_cpu = cpu;
        if (c->slab == id)
            return SLUB_PLACE_CPU;
        for (SlabId other = c->partial; other; other = arena[other].next)
            if (other == id)
                return SLUB_PLACE_CPU_PARTIAL;
    }
    return slab->flags & SLAB_FROZEN ? SLUB_PLACE_AWAY : SLUB_PLACE_NONE;
}

/* The counts of the slabs above it drop. */
static void
remove_cpu_partial(SlubCache *cache, SlubCpu *c, SlabId id)
{
    Slab *slab = slub_slab(cache, id);
    guint32 below = slab->next ? slub_slab(cache, slab->next)->cpu_partial_count : 0;
    guint32 own = slab->cpu_partial_count - below;
    SlabId *link = &c->partial;

    while (*link != id) {
        slub_slab(cache, *link)->cpu_partial_count -= own;
        link = &slub_slab(cache, *link)->next;
    }
    *link = slab->next;
    slab->next = 0;
}

void
slub_place_take(SlubCache *cache, SlabId id)
{
    Slab *slab = slub_slab(cache, id);
    guint cpu = 0;

    switch (slub_place_find(cache, id, &cpu)) {
    case SLUB_PLACE_NONE:
    case SLUB_PLACE_AWAY:
        break;
    case SLUB_PLACE_NODE_HEAD:
    case SLUB_PLACE_NODE_TAIL:
        slab_list_remove(&cache->system->arena, &cache->node[slab->node].partial, id);
        break;
    case SLUB_PLACE_CPU_PARTIAL:
        remove_cpu_partial(cache, &cache->cpu[cpu], id);
        break;
    case SLUB_PLACE_CPU_USED_UP:
    case SLUB_PLACE_CPU:
        slab->inuse = (guint16) (slab->inuse - cache->cpu[cpu].free);
        cache->cpu[cpu].slab = 0;
        cache->cpu[cpu].free = 0;
        break;
    }
    slab->flags &= (guint8) ~(SLAB_ON_PARTIAL | SLAB_FROZEN);
    slab->next = slab->prev = 0;
}

guint
slub_place_n_inuse(const SlubCache *cache, SlabId id)
{
    const Slab *slab = slub_slab(cache, id);
    guint n_private = 0;

    for (guint cpu = 0; slab->flags & SLAB_FROZEN && cpu < cache->system->machine->n_cpus; cpu++)
        if (cache->cpu[cpu].slab == id)
            n_private = cache->cpu[cpu].free;
    return slab->inuse - n_private;
}

void
slub_place_discard(SlubCache *cache, SlabId id)
{
    guint node = slub_slab(cache, id)->node;

    g_assert(slub_slab(cache, id)->inuse == 0);
    cache->node[node].n_slabs--;
    cache->system->pages->zone[node].free_pages += (gint64) 1 << cache->geometry.order;
    slab_arena_give(&cache->system->arena, id);
}
