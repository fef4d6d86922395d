/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_GUIDE_H
#define REPLAY_GUIDE_H

#include "replay.h"

/* Following the kernel: each step is predicted by the allocator from its state, compared with what the recorded
 * pointers and slow-path events show, and then the state is made to agree with the kernel. A wrong rule shows as steps
 * that disagree, also where totals hide it. Steps whose outcome depends on something the trace has not shown (the
 * fullness of a slab from before it, a list never seen empty, what a step that disagreed has put in doubt) are left
 * out, and counted as such; that is decided before the kernel's answer is looked at. Rules are those of mm/slub.c as
 * in slub-facts B.1 and B.2. */

#define REPLAY_RULES(RULE)                                                                                             \
    RULE(ALLOC_SLOW, "an allocation is slow iff the CPU's freelist is empty")                                          \
    RULE(BULK_ALLOC, "bulk allocation: one slow call for each empty freelist met")                                     \
    RULE(FREE_SLOW, "a free is slow iff the slab is not the CPU's cpu slab")                                           \
    RULE(BULK_FREE, "bulk free: one slow call for each group by slab")                                                 \
    RULE(SOURCE, "refill, then cpu partial list, node list, other node, new slab")                                     \
    RULE(CPU_PARTIAL_LIFO, "the slab added last to the cpu partial list comes first")                                  \
    RULE(NODE_HEAD, "the node list is taken from its head, drains append in order")                                    \
    RULE(EXTRA_SLABS, "so many further slabs move to the cpu partial list")                                            \
    RULE(PUT_CPU_PARTIAL, "onto the cpu partial list iff the slab was full")                                           \
    RULE(DRAIN, "the cpu partial list is drained iff it is at its limit")                                              \
    RULE(DISCARD, "an empty slab of the node list goes iff nr_partial >= min_partial")                                 \
    RULE(DRAIN_DISCARD, "of a drain, so many slabs are given up as empty")

typedef enum {
#define RULE(name, text) REPLAY_RULE_##name,
    REPLAY_RULES(RULE)
#undef RULE
        REPLAY_N_RULES
} ReplayRule;

const char *replay_rule_text(ReplayRule rule);

typedef struct {
    guint64 ok, not_ok;
    guint64 left_out; /* the rule's outcome hung on something that was not known when the step began */
} ReplayTally;

typedef struct _ReplayGuide ReplayGuide;

ReplayGuide *replay_guide_new(Replay *replay);
void replay_guide_free(ReplayGuide *guide);

/* One event of the cache with that index, while the kernel is followed; an allocated object has its row already. */
void replay_guide_feed(ReplayGuide *guide, const KmemEvent *event, gint cache);

/* Steps under way are judged by what has been seen of them: call it at the end. */
void replay_guide_finish(ReplayGuide *guide);

/* The same where following ends: the state is made sound enough for the model to go on alone. */
void replay_guide_hand_over(ReplayGuide *guide);

ReplayTally replay_guide_tally(const ReplayGuide *guide, ReplayRule rule);

/* Calls of __slab_free, predicted beside seen. */
typedef struct {
    guint64 agreed;
    guint64 silent;     /* predicted in an interrupt and not seen: the probes were silent, as another probe's handler
                         * was interrupted */
    guint64 wrong[2];   /* only predicted; only seen */
    guint64 unknown[2]; /* the same where the slab, from before the trace, or the CPU's own is not known */
    guint64 without_object; /* seen without the event of a free before it: the trace does not show the object */
} ReplayFrees;

ReplayFrees replay_guide_frees(const ReplayGuide *guide);

#endif
