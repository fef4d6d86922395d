/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_LATENCY_H
#define SLUB_LATENCY_H

#include "sim-hist.h"
#include "slub.h"

/* How long calls of the allocator take, by the way they went: from entry to return on the CPU's own clock, waiting for
 * locks included; without the accounting hooks, and without kfree_rcu(), whose frees count when RCU makes them.
 *
 * Nothing is measured on the fast path: it always takes the same time and the kernel's counters say how often. Calls
 * that leave it go through entry points put in front of the cache's own ones, so a cache whose latency is not recorded
 * runs as if this did not exist, and one whose latency is recorded takes the same course. */

/* Ways of single allocations, of single frees, and calls for many objects. What a call did that is furthest down its
 * list names its way. */
#define SLUB_LATENCY_PATHS(PATH)                                                                                       \
    PATH(ALLOC_FAST, ALLOC, "fastpath")                                                                                \
    PATH(ALLOC_SHEAF, ALLOC, "sheaf hit")                                                                              \
    PATH(ALLOC_ARRAY, ALLOC, "array hit")                                                                              \
    PATH(ALLOC_BARN, ALLOC, "barn")                                                                                    \
    PATH(ALLOC_REFILL, ALLOC, "cpu slab refill")                                                                       \
    PATH(ALLOC_CPU_PARTIAL, ALLOC, "cpu partial")                                                                      \
    PATH(ALLOC_PARTIAL, ALLOC, "node partial")                                                                         \
    PATH(ALLOC_SHEAF_REFILL, ALLOC, "sheaf refill")                                                                    \
    PATH(ALLOC_NEW_SLAB, ALLOC, "new slab")                                                                            \
    PATH(FREE_FAST, FREE, "fastpath")                                                                                  \
    PATH(FREE_SHEAF, FREE, "sheaf hit")                                                                                \
    PATH(FREE_ARRAY, FREE, "array hit")                                                                                \
    PATH(FREE_BARN, FREE, "barn")                                                                                      \
    PATH(FREE_SLAB, FREE, "slab")                                                                                      \
    PATH(FREE_FROZEN, FREE, "frozen slab")                                                                             \
    PATH(FREE_CPU_PARTIAL, FREE, "cpu partial")                                                                        \
    PATH(FREE_LIST, FREE, "node list")                                                                                 \
    PATH(FREE_DISCARD, FREE, "slab discarded")                                                                         \
    PATH(FREE_DRAIN, FREE, "cpu partial overflow")                                                                     \
    PATH(FREE_SHEAF_FLUSH, FREE, "sheaf flush")                                                                        \
    PATH(BULK_ALLOC, BULK_ALLOC, "bulk")                                                                               \
    PATH(BULK_FREE, BULK_FREE, "bulk")

typedef enum {
#define PATH(name, operation, text) SLUB_PATH_##name,
    SLUB_LATENCY_PATHS(PATH)
#undef PATH
        SLUB_N_PATHS
} SlubPath;

typedef enum {
    SLUB_LATENCY_ALLOC,
    SLUB_LATENCY_FREE,
    SLUB_LATENCY_BULK_ALLOC,
    SLUB_LATENCY_BULK_FREE,
    SLUB_N_LATENCY_OPERATIONS
} SlubLatencyOperation;

enum { SLUB_LATENCY_CLASSES = 2 }; /* of CPUs, kept apart */

const char *slub_path_name(SlubPath path);
SlubLatencyOperation slub_path_operation(SlubPath path);
const char *slub_latency_operation_name(SlubLatencyOperation operation);

/* From now on calls of this cache, which nobody has used yet, can be recorded. The cache owns what that takes. */
void slub_latency_enable(SlubCache *cache);
void slub_latency_free(SlubLatency *latency);

/* Begins and ends recording on one CPU, between two of its operations; no-ops for caches that are not enabled. A CPU
 * starts and stops once each. */
void slub_latency_start(SlubCache *cache, guint cpu, guint cpu_class);
void slub_latency_stop(SlubCache *cache, guint cpu);

/* Adds the latencies in ps of CPUs that have stopped (of slow calls: of all so far) to `hist`. */
void slub_latency_merge(const SlubCache *cache, guint cpu_class, SlubPath path, SimHist *hist);

/* For models/alloc only: around a call for many objects. */
typedef struct {
    SimTime entered;
    guint64 stat[SLAB_N_STATS];
} SlubLatencyMark;

void slub__latency_begin(const SlubCache *cache, const MachCpu *cpu, SlubLatencyMark *ret_mark);
void slub__latency_end_bulk(SlubCache *cache, const MachCpu *cpu, const SlubLatencyMark *mark, SlubPath path);

static inline void
slub_latency_begin(const SlubCache *cache, const MachCpu *cpu, SlubLatencyMark *ret_mark)
{
    if (G_UNLIKELY(cache->latency))
        slub__latency_begin(cache, cpu, ret_mark);
}

static inline void
slub_latency_end_bulk(SlubCache *cache, const MachCpu *cpu, const SlubLatencyMark *mark, SlubPath path)
{
    if (G_UNLIKELY(cache->latency))
        slub__latency_end_bulk(cache, cpu, mark, path);
}

#endif
