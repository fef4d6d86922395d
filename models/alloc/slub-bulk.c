/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bulk calls, flush and shrink: mm/slub.c 5.10 to 7.1 (slub-facts B.1, B.4). */
#include "slub-array.h"
#include "slub-latency.h"
#include "slub-parts.h"
#include "slub-sheaf.h"
#include "slub-trace.h"
#include "slub-veil.h"

void
slub_cpu_slab_take_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    SlubCpu *c = &cache->cpu[cpu->id];
    gboolean counts_fast = cache->system->counts_bulk;
    guint done = 0;

    while (done < n) {
        guint take = MIN(n - done, c->free);

        sim_private(cpu->engine, cpu->agent);
        for (guint i = 0; i < take; i++)
            ret_objects[done + i] = c->slab;
        c->free -= take;
        done += take;
        if (counts_fast)
            c->stat[SLAB_STAT_ALLOC_FASTPATH] += take;
        mach_spend(cpu, take * cpu->machine->costs.bulk_object);
        if (done < n)
            ret_objects[done++] = cache->below->alloc_slow(cache, cpu, SLUB_NO_NODE);
    }
}

void
slub_alloc_bulk_inside(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    cache->cpu[cpu->id].n_objects += n;
    if (cache->sheaves) {
        slub_sheaf_alloc_bulk(cache, cpu, n, ret_objects);
    } else if (cache->arrays) {
        slub_array_alloc_bulk(cache, cpu, n, ret_objects);
    } else {
        cache->below->take_bulk(cache, cpu, n, ret_objects);
        if (!cache->below->has_cpu_slab)
            slub_count_n(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH, n);
    }
}

/* kmem_cache_alloc_bulk() */
void
slub_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    SlubCache *measured = slub_behind(cache);
    SlubLatencyMark mark;

    slub_latency_begin(measured, cpu, &mark);
    mach_spend(cpu, cpu->machine->costs.alloc_fast);
    slub_alloc_bulk_inside(cache, cpu, n, ret_objects);
    slub_latency_end_bulk(measured, cpu, &mark, SLUB_PATH_BULK_ALLOC);
}

/* build_detached_freelist() from 6.0 on: the objects of the last one's slab, looked for from the back until the third
 * foreign object. Those found are swapped to the end; returns how many objects are left in front of them. */
static guint
detach_swapping(guint n, SlabId *objects, guint *ret_n_detached)
{
    SlabId slab = objects[n - 1];
    guint same = n - 1, lookahead = 3, i;

    while (same > 0 && objects[same - 1] == slab) /* most often all of them */
        same--;
    for (i = same; i > 0;) {
        i--;
        if (objects[i] == slab) {
            same--;
            if (i != same) {
                SlabId other = objects[same];
                objects[same] = objects[i];
                objects[i] = other;
            }
        } else if (--lookahead == 0) {
            break;
        }
    }
    *ret_n_detached = n - same;
    return same;
}

/* To 5.19: those found are marked, nothing moves, and the next round begins at the first object stepped over. */
static guint
detach_marking(guint n, SlabId *objects, guint *ret_n_detached)
{
    guint lookahead = 3, first_skipped = 0, n_detached = 1;
    SlabId slab = objects[--n];

    while (n > 0) {
        n--;
        if (objects[n] == 0)
            continue;
        if (objects[n] == slab) {
            objects[n] = 0;
            n_detached++;
            continue;
        }
        if (!first_skipped)
            first_skipped = n + 1;
        if (--lookahead == 0)
            break;
    }
    *ret_n_detached = n_detached;
    return first_skipped;
}

void
slub_give_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects)
{
    gboolean is_marking = cache->system->kernel < SLAB_KERNEL(6, 0);

    while (n > 0) {
        SlabId slab = objects[n - 1];
        guint n_detached;

        n = is_marking ? detach_marking(n, objects, &n_detached) : detach_swapping(n, objects, &n_detached);
        sim_private(cpu->engine, cpu->agent);
        if (cache->arrays)
            slub_array_free(cache, cpu, slab, n_detached);
        else if (cache->below->has_cpu_slab)
            slub_free_to(&cache->below, cache, &cache->cpu[cpu->id], cpu, slab, n_detached);
        else
            slub_direct_free_to_slab(cache, cpu, slab, n_detached);
    }
}

void
slub_free_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects)
{
    SlubLatencyMark mark;

    slub_latency_begin(cache, cpu, &mark);
    cache->cpu[cpu->id].n_objects -= n;
    if (cache->sheaves) {
        slub_sheaf_free_bulk(cache, cpu, n, objects);
    } else {
        cache->below->give_bulk(cache, cpu, n, objects);
        if (!cache->below->has_cpu_slab)
            slub_count_n(cache, cpu, SLAB_STAT_FREE_SLOWPATH, n);
    }
    slub_latency_end_bulk(cache, cpu, &mark, SLUB_PATH_BULK_FREE);
}

/* flush_cpu_slab() */
static void
flush_cpu_slab(SlubCache *cache, MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];
    SlabId slab = c->slab, partial = c->partial;
    guint n_private = c->free;

    slub_load(cache, cpu, 0, 0);
    c->partial = 0;
    if (slab) {
        cache->generation->deactivate(cache, cpu, slab, n_private);
        slub_count(cache, cpu, SLAB_STAT_CPUSLAB_FLUSH);
    }
    if (partial)
        cache->generation->put_partials(cache, cpu, partial);
}

void
slub_flush_cpu(SlubCache *cache, MachCpu *cpu)
{
    cache = slub_behind(cache);
    if (!cache->sheaves && !cache->arrays) {
        flush_cpu_slab(cache, cpu);
        return;
    }
    if (cache->sheaves)
        slub_sheaf_flush_cpu(cache, cpu);
    slub_unveil(cache, cpu);
    flush_cpu_slab(cache, cpu);
    slub_veil(cache, cpu);
}

enum {
    SHRINK_PROMOTE_MAX = 32,
};

/* One node under one hold: empty slabs come off, those with 1 to 32 free objects go to the head, fullest first, each
 * bucket in reverse. Returns the empty ones, linked by next. */
static SlabId
shrink_node(SlubCache *cache, MachCpu *cpu, guint node_id)
{
    SlabArena *arena = &cache->system->arena;
    SlubNode *node = &cache->node[node_id];
    SlabList bucket[SHRINK_PROMOTE_MAX + 1] = {{0}};
    SlabId empty = 0, next;

    slub_lock(cache, cpu, node_id, SLUB_LOCK_SHRINK);
    for (SlabId id = node->partial.head; id; id = next) {
        Slab *slab = slub_slab(cache, id);
        guint n_free = slub_slab_free_objects(slab);

        next = slab->next;
        mach_spend(cpu, cpu->machine->costs.hold_slab + slub_touch(cpu, slab));
        if (slab->inuse == 0) {
            slab_list_remove(arena, &node->partial, id);
            slab->flags &= (guint8) ~SLAB_ON_PARTIAL;
            slab->next = empty;
            empty = id;
        } else if (n_free <= SHRINK_PROMOTE_MAX) {
            slab_list_remove(arena, &node->partial, id);
            slab_list_add_head(arena, &bucket[n_free], id);
        }
    }
    for (guint n_free = SHRINK_PROMOTE_MAX; n_free > 0; n_free--)
        for (SlabId id = bucket[n_free].tail; id; id = next) {
            next = slub_slab(cache, id)->prev;
            slab_list_add_head(arena, &node->partial, id);
        }
    slub_unlock(cache, cpu, node_id);
    return empty;
}

void
slub_shrink(SlubCache *cache, MachCpu *cpu)
{
    const MachTopology *topology = cpu->machine->topology;
    gboolean barns_first = cache->system->kernel >= SLAB_KERNEL(7, 1);

    cache = slub_behind(cache);
    for (guint node = 0; cache->sheaves && barns_first && node < topology->n_nodes; node++)
        slub_sheaf_shrink_barn(cache, cpu, node);
    for (guint node = 0; node < topology->n_nodes; node++) {
        SlabId empty;

        /* A node without memory has no kmem_cache_node (slab_nodes holds N_NORMAL_MEMORY only). */
        if (!topology->node_memory_bytes[node])
            continue;
        if (cache->sheaves && !barns_first)
            slub_sheaf_shrink_barn(cache, cpu, node);
        empty = shrink_node(cache, cpu, node);
        while (empty) {
            SlabId id = empty;

            empty = slub_slab(cache, id)->next;
            slub_discard(cache, cpu, id);
        }
    }
}
