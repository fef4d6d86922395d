/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_SHEAF_PARTS_H
#define SLUB_SHEAF_PARTS_H

#include "slub-parts.h"
#include "slub-sheaf.h"
#include "slub-veil.h"

/* What the files of sheaves share. */

static inline SlubSheafCpu *
slub_sheaf_cpu(const SlubCache *cache, const MachCpu *cpu)
{
    return &cache->sheaves->cpu[cpu->id];
}

/* get_barn() and the node whose barn that is: of numa_mem_id(), from 7.1 on the CPU's own. To 7.0 a node without memory
 * has none. */
static inline guint
slub_barn_node(const SlubCache *cache, const MachCpu *cpu)
{
    return cache->system->kernel >= SLAB_KERNEL(7, 1) ? cpu->node : cpu->mem_node;
}

static inline gboolean
slub_has_barn(const SlubCache *cache, const MachCpu *cpu)
{
    return cache->system->kernel >= SLAB_KERNEL(7, 1) || cpu->machine->topology->node_memory_bytes[cpu->mem_node];
}

static inline SlubBarn *
slub_barn(const SlubCache *cache, const MachCpu *cpu)
{
    return &cache->sheaves->barn[slub_barn_node(cache, cpu)];
}

/* To 6.19 sheaf hits have counters of their own, since 7.0 they are the fast path. */
static inline void
slub_sheaf_count_allocs(SlubCache *cache, const MachCpu *cpu, guint n)
{
    gboolean is_own = cache->system->kernel < SLAB_KERNEL(7, 0);

    slub_count_n(cache, cpu, is_own ? SLAB_STAT_ALLOC_PCS : SLAB_STAT_ALLOC_FASTPATH, n);
}

static inline void
slub_sheaf_count_frees(SlubCache *cache, const MachCpu *cpu, guint n)
{
    gboolean is_own = cache->system->kernel < SLAB_KERNEL(7, 0);

    slub_count_n(cache, cpu, is_own ? SLAB_STAT_FREE_PCS : SLAB_STAT_FREE_FASTPATH, n);
}

/* can_free_to_pcs(): objects of another node than the CPU's memory go straight to their slab. To 7.0 that is all of
 * them where numa_mem_id() has no memory, from 7.1 on none of them there. The what-if needs a barn. */
static inline gboolean
slub_sheaf_accepts(const SlubCache *cache, const MachCpu *cpu, SlabId object)
{
    if (slub_slab_node(cache, object) == cpu->mem_node)
        return TRUE;
    if (!cpu->machine->topology->node_memory_bytes[cpu->mem_node])
        return cache->system->kernel >= SLAB_KERNEL(7, 1);
    return cache->system->layers.remote_frees_to_sheaf;
}

static inline void
slub_sheaf_swap(SlubSheafCpu *p)
{
    SlubSheaf *main = p->main;

    p->main = p->spare;
    p->spare = main;
}

/* Just the memory, empty; g_free(). */
SlubSheaf *slub_sheaf_make(guint capacity, guint home);

/* alloc_empty_sheaf(), free_empty_sheaf() */
SlubSheaf *slub_sheaf_new(SlubCache *cache, MachCpu *cpu);
void slub_sheaf_discard(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf);

/* Objects between an array and the slabs, by the generation below. */
void slub_sheaf_take_below(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);
void slub_sheaf_give_below(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects);

/* refill_sheaf() to capacity; sheaf_flush_unused(). */
void slub_sheaf_fill(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf);
void slub_sheaf_flush(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf);

/* Exchanges an empty main sheaf for one with objects. FALSE when neither spare nor barn is one, which is counted. */
gboolean slub_sheaf_get_stocked(SlubCache *cache, MachCpu *cpu);

typedef enum {
    SLUB_BARN_DONE,
    SLUB_BARN_TOO_MANY_FULL, /* -E2BIG */
    SLUB_BARN_NO_EMPTY,      /* -ENOMEM */
} SlubBarnAnswer;

/* Each looks at the counts without the lock first. ret_empty only with SLUB_BARN_DONE. */
SlubBarnAnswer slub_barn_replace_full(MachCpu *cpu, SlubBarn *barn, SlubSheaf *full, SlubSheaf **ret_empty);
SlubSheaf *slub_barn_replace_empty(MachCpu *cpu, SlubBarn *barn, SlubSheaf *empty); /* NULL: no full one */
SlubSheaf *slub_barn_get_empty(MachCpu *cpu, SlubBarn *barn);                       /* NULL: none */
SlubSheaf *slub_barn_get_any(MachCpu *cpu, SlubBarn *barn);                         /* full before empty; NULL: none */
/* Without limits. */
void slub_barn_put_empty(MachCpu *cpu, SlubBarn *barn, SlubSheaf *sheaf);
void slub_barn_put_full(MachCpu *cpu, SlubBarn *barn, SlubSheaf *sheaf);
/* Takes everything out: *ret_full and *ret_empty are chains. */
void slub_barn_empty_out(MachCpu *cpu, SlubBarn *barn, SlubSheaf **ret_full, SlubSheaf **ret_empty);

/* RCU callbacks; `system` is the SlubSystem. */
void slub_sheaf_rcu_done(MachCpu *cpu, guint32 sheaf, guint32 cache, void *system);
void slub_sheaf_rcu_flush(MachCpu *cpu, guint32 sheaf, guint32 cache, void *system);
void slub_sheaf_rcu_object(MachCpu *cpu, guint32 object, guint32 cache, void *system);

/* The entry points of a cache with sheaves, as in SlubGeneration. */
SlabId slub_sheaf_alloc(SlubCache *cache, MachCpu *cpu, gint node);
void slub_sheaf_free(SlubCache *cache, MachCpu *cpu, SlabId object, guint n);

#endif
