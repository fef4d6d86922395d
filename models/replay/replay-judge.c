/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a guided replay says of each step: predicted against seen. */
#include "replay-guide-private.h"

gboolean
guide_is_certain(ReplayGuide *guide, SlabId id)
{
    const GuideSlab *slab = guide_slab(guide, 0, id);

    return slab->recorded && !slab->is_uncertain;
}

/* A CPU whose last sign was within a free of this slab may not have done it yet, or only now: the trace does not tell
 * the order. */
gboolean
guide_has_free_under_way(const ReplayGuide *guide, guint cpu, guint64 recorded)
{
    for (guint i = 0; i < guide->replay->params.n_traced_cpus * KMEM_N_CONTEXTS; i++) {
        const GuidePending *p = &guide->pending[i];

        if (i / KMEM_N_CONTEXTS != cpu && p->step == GUIDE_FREE && !p->predicted.is_bulk && p->recorded == recorded)
            return TRUE;
    }
    return FALSE;
}

gboolean
guide_has_drain_under_way(const ReplayGuide *guide, guint cpu, gint cache)
{
    for (guint i = 0; i < guide->replay->params.n_traced_cpus * KMEM_N_CONTEXTS; i++) {
        const GuidePending *p = &guide->pending[i];

        if (i / KMEM_N_CONTEXTS != cpu && p->step == GUIDE_FREE && p->cache == cache &&
            (p->seen[KMEM_PROBE_UNFREEZE] || p->predicted.stat[SLAB_STAT_CPU_PARTIAL_DRAIN]))
            return TRUE;
    }
    return FALSE;
}

/* Whether the source of an allocation follows from what is known. Slabs on their way to a node list may or may not have
 * arrived. */
static gboolean
source_is_known(const ReplayGuide *guide, gint cache, guint cpu, const GuidePrediction *did)
{
    gboolean is_list_empty = did->list.is_known && did->list.n == 0;
    gboolean is_node_empty = did->node.is_known && did->node.n == 0;

    if (!did->is_known)
        return FALSE;
    switch (guide_source(did)) {
    case GUIDE_CPU_PARTIAL:
        return did->list.n_sure > 0;
    case GUIDE_NODE:
        return is_list_empty && (did->node.n_sure > 0 || (is_node_empty && did->are_nodes_known)) &&
               !guide_has_drain_under_way(guide, cpu, cache);
    case GUIDE_NEW:
        return is_list_empty && is_node_empty && did->are_nodes_known && !guide_has_drain_under_way(guide, cpu, cache);
    case GUIDE_FAST:
    case GUIDE_REFILL:
        break;
    }
    return TRUE;
}

void
guide_judge_alloc(ReplayGuide *guide, gint cache, guint cpu, const guint *seen, const GuidePrediction *did, SlabId got,
                  SlabId id)
{
    GuideSource predicted = guide_source(did), actual = guide_source_seen(seen, id && id == did->old_slab);
    gboolean is_known = source_is_known(guide, cache, cpu, did);
    guint64 n_moved = did->stat[SLAB_STAT_CPU_PARTIAL_NODE];

    guide_judge(guide, REPLAY_RULE_ALLOC_SLOW, did->is_known, (predicted == GUIDE_FAST) == (actual == GUIDE_FAST));
    if (predicted == GUIDE_FAST || actual == GUIDE_FAST)
        return;
    guide_judge(guide, REPLAY_RULE_SOURCE, is_known, predicted == actual);
    if (predicted != actual)
        return;
    if (predicted == GUIDE_CPU_PARTIAL)
        guide_judge(guide, REPLAY_RULE_CPU_PARTIAL_LIFO, is_known && did->list.is_first_sure, got == id);
    if (predicted == GUIDE_NODE) {
        guide_judge(guide, REPLAY_RULE_NODE_HEAD, is_known && did->node.is_first_sure, got == id);
        /* As many as the limit says, or as there are. */
        is_known &= n_moved + 1 < did->node.n_sure || (did->node.is_known && did->node.n_sure == did->node.n);
        guide_judge(guide, REPLAY_RULE_EXTRA_SLABS, is_known, n_moved == seen[KMEM_PROBE_PUT_CPU_PARTIAL]);
    }
}

static void
judge_drain(ReplayGuide *guide, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;
    gboolean is_drained = p->seen[KMEM_PROBE_UNFREEZE] > 0;
    gboolean is_known = did->list.is_known && did->list.n_sure == did->list.n;

    guide_judge(guide, REPLAY_RULE_DRAIN, is_known, (did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN] > 0) == is_drained);
    if (is_drained && did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN])
        guide_judge(guide, REPLAY_RULE_DRAIN_DISCARD,
                    is_known && did->is_chain_full_known && (did->n_empty == 0 || did->are_nodes_known),
                    did->stat[SLAB_STAT_DEACTIVATE_EMPTY] == p->seen[KMEM_PROBE_DISCARD_SLAB]);
}

/* Lays the slow calls of a free to the classes of ReplayFrees; FALSE when it has nothing to say of rules. */
static gboolean
count_slow_frees(ReplayGuide *guide, KmemContext context, const GuidePending *p, gboolean is_known)
{
    guint64 predicted = p->predicted.stat[SLAB_STAT_FREE_SLOWPATH], seen = p->seen[KMEM_PROBE_FREE_SLOW];
    guint64 agreed = MIN(predicted, seen), *apart = is_known ? guide->frees.wrong : guide->frees.unknown;
    gboolean is_silent = predicted > 0 && seen == 0 && context != KMEM_TASK;

    guide->frees.agreed += agreed;
    if (is_silent) {
        guide->frees.silent += predicted;
        return FALSE;
    }
    apart[0] += predicted - agreed;
    apart[1] += seen - agreed;
    return TRUE;
}

void
guide_judge_free(ReplayGuide *guide, gint cache, guint cpu, KmemContext context, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;
    guint64 n_slow = did->stat[SLAB_STAT_FREE_SLOWPATH];
    gboolean knows_slab =
        did->is_known || (did->is_met && g_hash_table_contains(guide->known_cpu, guide_key(cache, cpu)));

    if (!count_slow_frees(guide, context, p, knows_slab))
        return;
    if (did->is_bulk) {
        guide_judge(guide, REPLAY_RULE_BULK_FREE, did->is_known, n_slow == p->seen[KMEM_PROBE_FREE_SLOW]);
        return;
    }
    guide_judge(guide, REPLAY_RULE_FREE_SLOW, knows_slab, n_slow == p->seen[KMEM_PROBE_FREE_SLOW]);
    if (!n_slow || !p->seen[KMEM_PROBE_FREE_SLOW])
        return;
    guide_judge(guide, REPLAY_RULE_PUT_CPU_PARTIAL, did->is_known,
                did->stat[SLAB_STAT_CPU_PARTIAL_FREE] == p->seen[KMEM_PROBE_PUT_CPU_PARTIAL]);
    if (did->stat[SLAB_STAT_CPU_PARTIAL_FREE] && p->seen[KMEM_PROBE_PUT_CPU_PARTIAL])
        judge_drain(guide, p);
    else if (did->was_listed && !p->seen[KMEM_PROBE_PUT_CPU_PARTIAL])
        guide_judge(guide, REPLAY_RULE_DISCARD,
                    did->is_known && did->is_place_known && did->are_nodes_known &&
                        !guide_has_drain_under_way(guide, cpu, cache),
                    did->stat[SLAB_STAT_FREE_SLAB] == p->seen[KMEM_PROBE_DISCARD_SLAB]);
}
