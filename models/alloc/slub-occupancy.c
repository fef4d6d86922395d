/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slub-occupancy.h"

#include <string.h>

#include "slub-trace.h"
#include "slub-veil.h"

const char *
slub_holder_name(SlubHolder holder)
{
    static const char *const names[] = {"node", "cpu-partial", "cpu"};

    return names[holder];
}

static void
count_slab(const SlubCache *cache, SlabId id, guint n_private, SlubOccupancy *occupancy)
{
    const Slab *slab = &cache->system->arena.slab[id];
    guint n_inuse = slab->inuse - n_private, n_free = slab->objects - n_inuse;

    occupancy->n_slabs++;
    occupancy->n_empty += n_inuse == 0;
    occupancy->n_free_objects += n_free;
    occupancy->free_bytes += (guint64) n_free * cache->geometry.size_bytes;
    occupancy->tenths[MIN(n_inuse * SLUB_N_TENTHS / slab->objects, SLUB_N_TENTHS - 1)]++;
}

void
slub_occupancy_add_node(const SlubCache *cache, guint node, SlubOccupancy sum[SLUB_N_HOLDERS])
{
    const Slab *arena = cache->system->arena.slab;

    for (SlabId id = cache->node[node].partial.head; id; id = arena[id].next)
        count_slab(cache, id, 0, &sum[SLUB_ON_NODE]);
}

void
slub_occupancy_add_cpu(const SlubCache *cache, guint cpu, guint node, SlubOccupancy sum[SLUB_N_HOLDERS])
{
    const Slab *arena = cache->system->arena.slab;
    const SlubCpu *c = &slub_behind(cache)->cpu[cpu];
    SlabId slab = slub_cpu_slab(c);

    for (SlabId id = c->partial; id; id = arena[id].next)
        if (arena[id].node == node)
            count_slab(cache, id, 0, &sum[SLUB_ON_CPU_PARTIAL]);
    if (slab && arena[slab].node == node)
        count_slab(cache, slab, slub_cpu_free(c), &sum[SLUB_ON_CPU]);
}

guint64
slub_slabs_bytes(const SlubCache *cache)
{
    const MachTopology *topology = cache->system->machine->topology;
    guint64 n_pages = 0;

    for (guint i = 0; i < topology->n_nodes; i++) {
        const SlubNode *node = &cache->node[i];

        n_pages += (guint64) (node->n_slabs - node->n_min_order_slabs) << cache->geometry.order;
        n_pages += (guint64) node->n_min_order_slabs << cache->geometry.min_order;
    }
    return n_pages * topology->page_size_bytes;
}

void
slub_occupancy(const SlubCache *cache, guint node, SlubOccupancy ret_occupancy[SLUB_N_HOLDERS])
{
    memset(ret_occupancy, 0, SLUB_N_HOLDERS * sizeof *ret_occupancy);
    slub_occupancy_add_node(cache, node, ret_occupancy);
    for (guint cpu = 0; cpu < cache->system->machine->n_cpus; cpu++)
        slub_occupancy_add_cpu(cache, cpu, node, ret_occupancy);
}
