/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers from outside: mm/slub.c 5.10 to 7.1. Left out: node_nr_slabs() and node_nr_objs(), which are plain reads, and
 * the other caches of a slabinfo reader, which take other locks. */
#include "slub-inspect.h"

#include "slub-parts.h"
#include "slub-sheaf.h"
#include "slub-trace.h"
#include "slub-veil.h"

/* A look at `n_slabs` slabs from one end of the list; returns their free objects. The reader's copy of a struct slab is
 * charged like a write: who changes the slab next must take the line back. */
static guint64
scan(SlubCache *cache, MachCpu *cpu, SlabId first, gboolean is_backward, guint n_slabs)
{
    guint64 n_free = 0;
    SlabId id = first;

    for (guint i = 0; i < n_slabs; i++) {
        Slab *slab = slub_slab(cache, id);

        n_free += slub_slab_free_objects(slab);
        mach_spend(cpu, cpu->machine->costs.scan_slab + slub_touch(cpu, slab));
        id = is_backward ? slab->prev : slab->next;
    }
    return n_free;
}

static guint64
node_objects(const SlubCache *cache, const SlubNode *node)
{
    return (guint64) (node->n_slabs - node->n_min_order_slabs) * cache->geometry.objects +
           (guint64) node->n_min_order_slabs * cache->geometry.min_objects;
}

guint64
slub_count_partial_free(SlubCache *cache, MachCpu *cpu, guint node_id)
{
    SlubNode *node = &cache->node[node_id];
    guint64 n_free;

    slub_lock(cache, cpu, node_id, SLUB_LOCK_COUNT);
    if (cache->system->kernel < SLUB_KERNEL_COUNTS_APPROXIMATELY || node->partial.count <= SLUB_COUNT_MAX) {
        n_free = scan(cache, cpu, node->partial.head, FALSE, node->partial.count);
    } else {
        n_free = scan(cache, cpu, node->partial.head, FALSE, SLUB_COUNT_MAX / 2);
        n_free += scan(cache, cpu, node->partial.tail, TRUE, SLUB_COUNT_MAX / 2);
        n_free = MIN(n_free * node->partial.count / SLUB_COUNT_MAX, node_objects(cache, node));
    }
    slub_unlock(cache, cpu, node_id);
    return n_free;
}

guint64
slub_read_slabinfo(SlubCache *cache, MachCpu *cpu)
{
    const MachTopology *topology = cpu->machine->topology;
    guint64 n_free = 0;

    for (guint node = 0; node < topology->n_nodes; node++)
        if (topology->node_memory_bytes[node])
            n_free += slub_count_partial_free(cache, cpu, node);
    return n_free;
}

gboolean
slub_needs_flush(const SlubCache *cache, guint id)
{
    const SlubCpu *c = &slub_behind(cache)->cpu[id];
    const SlubSheafCpu *p = cache->sheaves ? &cache->sheaves->cpu[id] : NULL;

    if (p && (p->spare || p->rcu_free || p->main->size > 0))
        return TRUE;
    return slub_cpu_slab(c) || c->partial;
}
