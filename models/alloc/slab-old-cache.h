/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_OLD_CACHE_H
#define SLAB_OLD_CACHE_H

#include "page-alloc.h"
#include "slab-arena.h"
#include "slab-old.h"

/* The old SLAB allocator at work: mm/slab.c of about 4.4 (slub-facts B.6). Per-CPU array caches over a node-shared
 * array over slab lists under list_lock, alien caches for objects of other nodes, a reaper. It is no row of
 * alloc-list.h: nothing of SLUB's per-CPU state fits it. An object is its slab's number. Left out: debugging, colouring
 * and the draining of node lists every 4 s. */

typedef struct _SlabOldCache SlabOldCache;

#define SLAB_OLD_STATS(ROW)                                                                                            \
    ROW(ALLOC_HIT, "allochit")                                                                                         \
    ROW(ALLOC_MISS, "allocmiss")                                                                                       \
    ROW(FREE_HIT, "freehit")                                                                                           \
    ROW(FREE_MISS, "freemiss")                                                                                         \
    ROW(GROWN, "grown")                                                                                                \
    ROW(DESTROYED, "destroyed")                                                                                        \
    ROW(SHARED_IN, "shared_in") /* objects to the shared array */                                                      \
    ROW(SHARED_OUT, "shared_out")                                                                                      \
    ROW(ALIEN_DRAIN, "alien_drain") /* full alien caches emptied */                                                    \
    ROW(REAPED, "reaped")           /* objects taken out of idle arrays */

typedef enum {
#define ROW(name, text) SLAB_OLD_STAT_##name,
    SLAB_OLD_STATS(ROW)
#undef ROW
        SLAB_OLD_N_STATS
} SlabOldStat;

/* `pages` is borrowed. The arrays' limits follow from geometry->size_bytes and the machine. `slabs_kept` slabs back a
 * CPU still has a slab's lines in its cache. SIM_ERROR_IO when address space is lacking. */
SlabOldCache *slab_old_cache_new(PageAllocator *pages, SlabOldStage stage, const SlabOldGeometry *geometry,
                                 guint slabs_kept, GError **error);
void slab_old_cache_free(SlabOldCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SlabOldCache, slab_old_cache_free)

/* ____cache_alloc() and __cache_free() on the CPU's fiber. */
SlabId slab_old_cache_take(SlabOldCache *cache, MachCpu *cpu);
void slab_old_cache_give(SlabOldCache *cache, MachCpu *cpu, SlabId object);

/* cache_reap() of this CPU: an array that was not used since the last time loses a fifth of its limit. */
void slab_old_cache_reap(SlabOldCache *cache, MachCpu *cpu);

guint64 slab_old_cache_stat(const SlabOldCache *cache, SlabOldStat stat); /* of all CPUs */
guint64 slab_old_cache_slabs(const SlabOldCache *cache);

/* Lines of freelist indices fetched from elsewhere, of all CPUs; a fraction of one where several arrays share it. */
double slab_old_cache_freelist_misses(const SlabOldCache *cache);

/* Limit of the per-CPU array and what it moves at a time, in objects. */
void slab_old_cache_limits(const SlabOldCache *cache, guint *ret_limit, guint *ret_batch);

/* Why slabs, arrays and objects handed out contradict each other, NULL when they do not. Caller frees. */
char *slab_old_cache_check(const SlabOldCache *cache);

#endif
