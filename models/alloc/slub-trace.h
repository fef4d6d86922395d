/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_TRACE_H
#define SLUB_TRACE_H

#include "slub.h"

/* Looks on at every operation on a cache without a test in the paths of those that nobody looks at: callers get a cache
 * in front of the real one (system->front), whose CPUs never have a cpu slab, so that each operation takes the way to
 * the generation, which is one that tells the observer and does the same on the cache behind. Times, counters and
 * lists are those of the cache behind and are what they would be without. */
struct _SlubObserver {
    /* After `objects` (slabs, in the caller's order) were handed out. */
    void (*on_alloc)(const SlubCache *cache, const MachCpu *cpu, gint node, guint n, const SlabId *objects,
                     gboolean is_bulk, void *data);
    /* Before `objects` are given back. */
    void (*on_free)(const SlubCache *cache, const MachCpu *cpu, guint n, const SlabId *objects, gboolean is_bulk,
                    void *data);
    /* After they were; the moment is that of on_free. */
    void (*on_freed)(const SlubCache *cache, const MachCpu *cpu, SimTime since, void *data);
    void *data;
};

/* The cache itself, of one that callers hold, which may be in front of it. Only what is neither an allocation nor a free
 * has to ask. */
static inline SlubCache *
slub_behind(const SlubCache *cache)
{
    return cache->system->cache[cache->index];
}

/* An object of a prefilled sheaf is handed out: kmem_cache_alloc_from_sheaf() has the tracepoint (mm/slub.c 6.18), filling
 * the sheaf and giving it back have none. Tells the observer of a cache in front. */
void slub_trace_from_sheaf(SlubCache *cache, const MachCpu *cpu, SlabId object);

/* For slub-system.c. What is in front of a new cache of a system with an observer. */
SlubCache *slub_trace_new(SlubCache *cache);
/* Frees it; nothing for a cache that stands for itself. */
void slub_trace_free(SlubCache *front);

#endif
