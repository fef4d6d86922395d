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
};

/* What the model did in a step: differences of counters, and what it met. */
typedef struct {
    guint64 stat[SLAB_N_STATS];
    SlabId old_slab;              /* the cpu slab before */
    gboolean is_known;            /* the slab was certain */
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

/* The step under way on one CPU in one context. */
typedef struct {
    GuideStep step;
    gint cache;
    guint seen[KMEM_N_PROBES];
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

/* What is known of lists (start 0). A known one becomes unknown when the kernel shows a slab on it that the model had
 * not there, and known when the kernel shows it empty. */
GuideRange guide_list_range(ReplayGuide *guide, gint cache, guint cpu);
GuideRange guide_node_range(ReplayGuide *guide, gint cache, guint node);
void guide_know_list(ReplayGuide *guide, gint cache, guint cpu, gboolean is_known);
void guide_know_node(ReplayGuide *guide, gint cache, guint node, gboolean is_known);

/* Fills in what is known before a step that asks `node` first. */
void guide_look(ReplayGuide *guide, gint cache, guint cpu, guint node, GuidePrediction *did);

/* The slab is not known to be where the model has it; all slabs of a list; those above `id`. */
void guide_doubt(ReplayGuide *guide, guint start, SlabId id);
void guide_doubt_list(ReplayGuide *guide, gint cache, guint start, guint cpu, SlabId until);
void guide_doubt_node(ReplayGuide *guide, gint cache, guint start, guint node, SlabId until);

/* The kernel took `id` where the model, put back to before, would not. */
void guide_contradict(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId id, GuideSource actual);

/* What an allocation, now complete, shows of the lists. */
void guide_learn_alloc(ReplayGuide *guide, gint cache, guint cpu, guint node, const guint *seen,
                       const GuidePrediction *did, gboolean is_as_predicted);

/* A CPU other than `cpu` is between the begin and the end of giving slabs to a node list, as far as its events tell. */
gboolean guide_has_drain_under_way(const ReplayGuide *guide, guint cpu, gint cache);

/* A CPU other than `cpu` whose last sign was within a free of this slab. */
gboolean guide_has_free_under_way(const ReplayGuide *guide, guint cpu, guint64 recorded);

/* An allocation that gave `got` where the kernel's was of `id` (0 = a slab not seen before) after the events `seen`;
 * and a free. */
void guide_judge_alloc(ReplayGuide *guide, gint cache, guint cpu, const guint *seen, const GuidePrediction *did,
                       SlabId got, SlabId id);
void guide_judge_free(ReplayGuide *guide, gint cache, guint cpu, KmemContext context, const GuidePending *p);

/* The model's slab for a recorded one, 0 when none stands for it. */
SlabId guide_find(ReplayGuide *guide, gint cache, guint start, guint64 recorded);
void guide_bind(ReplayGuide *guide, gint cache, guint start, guint64 recorded, SlabId id, gboolean is_uncertain);

/* A slab from before the trace for a recorded one that is seen for the first time: the `wanted` one if it is still
 * nobody's (0 = any), bound to it. */
SlabId guide_adopt(ReplayGuide *guide, gint cache, guint start, guint64 recorded, SlabId wanted, const MachCpu *cpu);

/* Takes the allocation of one object back. The slab goes where it came from, exactly, or to the end of the list when
 * `is_wrong_again`: the kernel has passed it over for the second time. */
void guide_undo(SlubCache *slub, guint cpu, const GuideAlloc *alloc, gboolean is_wrong_again);

/* One object of a slab, to the CPU's freelist if it has the slab still (TRUE), else to the slab itself. */
gboolean guide_give_back(SlubCache *slub, guint cpu, SlabId id);

/* After that: the CPU has its old slab again (0 = it had none), with what others freed into it. */
void guide_restore_cpu_slab(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId old);

/* After an allocation: makes the object one of `id`, where the kernel's step was `seen`. */
void guide_force(ReplayGuide *guide, gint cache, guint start, MachCpu *cpu, SlabId id, const GuideAlloc *alloc,
                 const guint *seen);

/* Takes a slab that no recorded one stands for off the model's lists; it counts as full. */
void guide_hide(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId id);

/* The kernel found a node's list empty: what the model has there is in the hands of a CPU that has been stopped in the
 * middle of returning slabs. It comes back when such a step goes on. */
void guide_send_away(ReplayGuide *guide, gint cache, guint start, guint node);
void guide_bring_back(ReplayGuide *guide, gint cache, guint start);

/* At least `n` objects of a slab are in use from now on: one whose content is not known may have seemed emptier. */
void guide_need_objects(SlubCache *slub, SlabId id, guint n);

/* Every live object of the trace has a slab that exists and counts it as in use. */
void guide_settle_objects(ReplayGuide *guide, guint start);

/* What a free did in the kernel and not in the model, or the other way round. */
void guide_correct_free(ReplayGuide *guide, gint cache, guint cpu, const GuidePending *p);

/* Counters of one CPU now, and the differences to them. */
void guide_begin(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *ret_before);
void guide_end(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *before);

#endif
