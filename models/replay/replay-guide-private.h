/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_GUIDE_PRIVATE_H
#define REPLAY_GUIDE_PRIVATE_H

#include "replay-guide.h"
#include "replay-private.h"

/* What is known of a slab of the model. */
typedef struct {
    guint64 recorded;         /* recorded slab + 1, 0 = none yet */
    gint cache;               /* index of its cache, for recorded != 0 */
    gboolean was_passed_over; /* the kernel took another where the model took it */
    gboolean is_uncertain;    /* nobody knows how full it is */
    gboolean is_doubted;      /* nor on which list, or where on it */
} GuideSlab;

/* A list of the model beside what is known of the kernel's. */
typedef struct {
    guint n, n_sure;        /* slabs, and those known to be there */
    gboolean is_known;      /* the kernel's has no others */
    gboolean is_first_sure; /* its first one is the kernel's first */
} GuideRange;

typedef enum {
    GUIDE_IDLE,
    GUIDE_ALLOC, /* events come before the allocation's own */
    GUIDE_FREE,  /* events come after the free's own */
} GuideStep;

enum {
    GUIDE_CHAIN_MAX = 32,
    GUIDE_CALLS_MAX = 16, /* slow calls of a bulk allocation that are told apart */
};

/* What the model did in a step: differences of counters, and what it met. */
typedef struct {
    guint64 stat[SLAB_N_STATS];
    SlabId old_slab;              /* the cpu slab before */
    gboolean is_known;            /* the slab was certain; bulk: all its objects are */
    gboolean is_place_known;      /* FREE: and where it was, too */
    gboolean is_met;              /* FREE: the slab had been seen before */
    gboolean was_listed;          /* it was on its node's list */
    gboolean is_chain_full_known; /* FREE: how full every slab of the cpu partial list was */
    GuideRange list, node;        /* before: the CPU's partial list, and the list of the node asked first */
    gboolean are_nodes_known;     /* how many slabs each node's list has, as far as it matters */
    guint n_empty;                /* FREE: slabs without an object on the cpu partial list before */
    guint n_in_call;              /* objects */
    gboolean is_bulk;
    guint n_chain;
    SlabId chain[GUIDE_CHAIN_MAX]; /* FREE: the cpu partial list before */
} GuidePrediction;

/* Where an allocation got its slab. */
typedef enum {
    GUIDE_FAST,
    GUIDE_REFILL, /* from what others freed into the cpu slab */
    GUIDE_CPU_PARTIAL,
    GUIDE_NODE, /* the own node's list or another's */
    GUIDE_NEW,
} GuideSource;

/* An allocation of one object as the model did it. */
typedef struct {
    gboolean is_done;
    SlabId got;
    GuidePrediction did;
} GuideAlloc;

/* What the kernel showed of one object's allocation. */
typedef struct {
    guint seen[KMEM_N_PROBES];
    gboolean is_known; /* bulk: that it is this object's */
} GuideCall;

/* The step under way on one CPU in one context. */
typedef struct {
    GuideStep step;
    gint cache;
    guint seen[KMEM_N_PROBES];
    guint n_calls, calls[GUIDE_CALLS_MAX][KMEM_N_PROBES]; /* GUIDE_ALLOC: of seen, the part of each slow call */
    GuideAlloc
        *early; /* [n_starts] GUIDE_ALLOC: done when the kernel began, as it may be stopped before it is through */
    guint64 ptr, recorded;     /* GUIDE_FREE of one object: it and its recorded slab */
    gboolean is_applied;       /* GUIDE_FREE: the model has done it; not before the CPU is seen to go on, as it may have
                                * stood still between the free's event and the free */
    GuidePrediction predicted; /* of start 0 */
} GuidePending;

typedef struct {
    gint cache;
    SlabId slab;
} GuideAway;

struct _ReplayGuide {
    Replay *replay;
    GArray **slabs;        /* [n_starts] GuideSlab by SlabId */
    GuideAlloc *early;     /* storage of the pending steps */
    GuidePending *pending; /* [n_traced_cpus][KMEM_N_CONTEXTS] */
    GHashTable
        *known_list; /* guide_key() of cache and CPU: that CPU's partial list has only slabs the model has on it */
    GHashTable *known_node; /* the same of cache and node */
    GHashTable *known_cpu;  /* the same for its cpu slab: it has allocated */
    GArray **away;          /* [n_starts] GuideAway: taken off node lists that the kernel found empty */
    ReplayTally tally[REPLAY_N_RULES];
    ReplayFrees frees;
};

static inline GuideSource
guide_source(const GuidePrediction *did)
{
    return did->stat[SLAB_STAT_ALLOC_SLAB]           ? GUIDE_NEW
           : did->stat[SLAB_STAT_ALLOC_FROM_PARTIAL] ? GUIDE_NODE
           : did->stat[SLAB_STAT_CPU_PARTIAL_ALLOC]  ? GUIDE_CPU_PARTIAL
           : did->stat[SLAB_STAT_ALLOC_SLOWPATH]     ? GUIDE_REFILL
                                                     : GUIDE_FAST;
}

/* What a step's events say. */
static inline GuideSource
guide_source_seen(const guint *seen, gboolean is_old_slab)
{
    return !seen[KMEM_PROBE_ALLOC_SLOW]        ? GUIDE_FAST
           : seen[KMEM_PROBE_NEW_SLAB]         ? GUIDE_NEW
           : seen[KMEM_PROBE_GET_PARTIAL_NODE] ? GUIDE_NODE
           : is_old_slab                       ? GUIDE_REFILL
                                               : GUIDE_CPU_PARTIAL;
}

static inline gpointer
guide_key(gint cache, guint number)
{
    return GUINT_TO_POINTER((guint) cache << 12 | number);
}

static inline ReplayCache *
guide_cache(const ReplayGuide *guide, gint cache)
{
    return g_ptr_array_index(guide->replay->caches, cache);
}

static inline void
guide_judge(ReplayGuide *guide, ReplayRule rule, gboolean is_known, gboolean is_ok)
{
    if (!is_known)
        guide->tally[rule].left_out++;
    else if (is_ok)
        guide->tally[rule].ok++;
    else
        guide->tally[rule].not_ok++;
}

static inline GuideSlab *
guide_slab(ReplayGuide *guide, guint start, SlabId id)
{
    if (id >= guide->slabs[start]->len)
        g_array_set_size(guide->slabs[start], id + 1024);
    return &g_array_index(guide->slabs[start], GuideSlab, id);
}

/* Whether all of a slab's content is known (start 0). */
gboolean guide_is_certain(ReplayGuide *guide, SlabId id);

/* A CPU other than `cpu` is between the begin and the end of giving slabs to a node list, as far as its events tell. */
gboolean guide_has_drain_under_way(const ReplayGuide *guide, guint cpu, gint cache);

/* A CPU other than `cpu` whose last sign was within a free of this slab. */
gboolean guide_has_free_under_way(const ReplayGuide *guide, guint cpu, guint64 recorded);

/* An allocation that gave `got` where the kernel's was of `id` (0 = a slab not seen before) after the events `seen`;
 * and a free. */
void guide_judge_alloc(ReplayGuide *guide, gint cache, guint cpu, const guint *seen, const GuidePrediction *did,
                       SlabId got, SlabId id);
void guide_judge_free(ReplayGuide *guide, gint cache, guint cpu, KmemContext context, const GuidePending *p);

/* The step on the event's CPU, in its context. */
GuidePending *guide_pending_at(const ReplayGuide *guide, const KmemEvent *event);

/* Judges it, now complete, and makes the model agree. */
void guide_finish_step(ReplayGuide *guide, guint cpu, KmemContext context, GuidePending *p);

/* What was seen and done of the allocation that the event completes, and its step is finished. `early` [n_starts]
 * becomes that of the result. */
GuidePending guide_take_step(ReplayGuide *guide, const KmemEvent *event, gint index, GuideAlloc *early);

/* The object is handed out again: a free of it that seemed under way is done. */
void guide_apply_frees_of(ReplayGuide *guide, guint64 ptr);

/* The slab that a recorded one stands for, if need be one from before the trace. */
SlabId guide_slab_of(ReplayGuide *guide, guint cpu, gint index, guint start, guint64 recorded);

/* One object in one start; returns the slab it is of. */
SlabId guide_follow_alloc(ReplayGuide *guide, const KmemEvent *event, gint index, guint start, guint64 recorded,
                          const GuideCall *call, GuideAlloc alloc);

void guide_feed_alloc_bulk(ReplayGuide *guide, const KmemEvent *event, gint index);
void guide_feed_free_bulk(ReplayGuide *guide, const KmemEvent *event, gint index);

#endif
