/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_H
#define REPLAY_H

#include "kmem-event.h"
#include "replay-catalog.h"
#include "replay-names.h"
#include "slub.h"

typedef struct _ReplayDelay ReplayDelay; /* replay-delay.h */

/* A recorded trace through the allocator of models/alloc: order, CPUs and the pairing of allocations and frees come
 * from the trace, slabs and lists from the model. There is no time. One pass drives several starts side by side,
 * which differ in what the trace does not show of the beginning, and of the order of frees (replay-delay.h). */

typedef struct {
    guint n_starts;
    guint64 seed;
    guint n_copies; /* each traced CPU stands for so many; copy i of CPU c runs on CPU c + i * n_traced_cpus */
    guint n_traced_cpus;
    gint64
        follow_until_ns; /* up to this time the kernel's slabs are followed; G_MININT64 = never, G_MAXINT64 = always */
    gint64 first_time_ns, last_time_ns; /* of the trace, for those who look on; 0 = unknown */
    gboolean reads_first_slabs;         /* pointers tell slabs apart: first freelists get the length they show */
} ReplayParams;

/* What a cache counts, under the names of the kernel's functions. */
typedef struct {
    guint64 calls[KMEM_N_PROBES];
} ReplayCounts;

typedef struct {
    char *name;
    gint row; /* of the catalog, -1 = made up */
    SlabGeometry geometry;
    guint slab_shift; /* recorded pointer >> slab_shift = number of its recorded slab */
    guint64 n_allocs, n_frees, n_unmatched_frees;
    ReplayCounts traced;   /* slow-path events of the trace, since following ended */
    ReplayCounts followed; /* those before that */
    ReplayTable slabs; /* recorded slab -> slab of each start; only those that existed before the trace, or followed */
    guint64 *first_slab; /* [n_traced_cpus] recorded slab + 1 that a CPU began with, 0 = none yet, G_MAXUINT64 = done */
    GArray **pool;       /* [n_starts] SlabId: start slabs that no recorded slab stands for yet */
    ReplayCounts *before; /* [n_starts] counted while the kernel was followed; not in replay_counts() */
    SlubCache **cache;    /* [n_starts] */
} ReplayCache;

/* One start. */
typedef struct {
    Machine *machine;
    SlubSystem *system;
    SimRng rng;  /* the unknown of the start */
    GArray *old; /* guint16 by SlabId: objects in use that are from before the trace */
} ReplayWorld;

typedef struct {
    ReplayParams params;
    const ReplayCatalog *catalog;
    ReplayNames *names;
    MachTopology *topology;
    ReplayWorld *world;   /* [n_starts] */
    GPtrArray *caches;    /* ReplayCache * */
    GArray *cache_of;     /* gint by name number: index in caches, -1 = refused, -2 = not asked for yet */
    ReplayTable objects;  /* live object -> cache index + 1, slabs [n_starts][n_copies] */
    GError *failure;      /* the first cache that could not be made */
    SlabId *scratch;      /* [KMEM_BULK_SHOWN] */
    gint last_free_cache; /* index of the cache of the last free, -1 = none */
    guint64 n_events, n_unmatched_frees, n_unknown_frees, n_reused;
    guint64 n_sizeless; /* objects of bulk calls, which tell no size, of caches whose size nothing else tells */
    gint64 first_time_ns, last_time_ns;
    ReplayDelay *delay;
    struct _ReplayGuide *guide; /* NULL unless the kernel is followed */
    struct _ReplayWrite *write; /* borrowed; NULL unless the replay is written as a trace */
} Replay;

/* `catalog` and `names` are borrowed; takes `topology`. Start slabs are laid out when a cache is first met.
 * SIM_ERROR_MODEL for kernels without an allocator here. */
Replay *replay_new(const ReplayParams *params, const ReplayCatalog *catalog, ReplayNames *names, MachTopology *topology,
                   GError **error);
void replay_free(Replay *replay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)

/* One event. SIM_ERROR_RANGE for a CPU that the machine has not. */
gboolean replay_feed(Replay *replay, const KmemEvent *event, GError **error);

/* After the last event: what was still under way takes effect, and the end of what is followed is judged. */
void replay_finish(Replay *replay);

/* What the model has counted for a cache in one start, since following ended. */
ReplayCounts replay_counts(const ReplayCache *cache, guint start);

/* The same from counters, of one CPU or summed, and from how often list locks were taken to get slabs. */
ReplayCounts replay_counts_of(const SlubCache *slub, const SlubCpu *counters, guint64 n_list_locks);
guint64 replay_n_list_locks(const SlubCache *slub);

/* Whether the cache's release has that function at all; from 7.0 on there are no cpu slabs and no cpu partial lists. */
gboolean replay_has_function(const SlubCache *slub, KmemProbe probe);

/* Live objects the trace has shown. */
gsize replay_n_live(const Replay *replay);

/* The first contradiction inside the allocator's state, NULL when there is none. Caller frees. */
char *replay_check(const Replay *replay);

#endif
