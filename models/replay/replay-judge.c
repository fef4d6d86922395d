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

/* The same of slabs on their way to a node list. */
static gboolean
has_drain_under_way(const ReplayGuide *guide, guint cpu, gint cache)
{
    for (guint i = 0; i < guide->replay->params.n_traced_cpus * KMEM_N_CONTEXTS; i++) {
        const GuidePending *p = &guide->pending[i];

        if (i / KMEM_N_CONTEXTS != cpu && p->step == GUIDE_FREE && p->cache == cache &&
            (p->seen[KMEM_PROBE_UNFREEZE] || p->predicted.stat[SLAB_STAT_CPU_PARTIAL_DRAIN]))
            return TRUE;
    }
    return FALSE;
}

void
guide_judge_alloc(ReplayGuide *guide, gint cache, guint cpu, const guint *seen, const GuidePrediction *did, SlabId got,
                  SlabId id)
{
    GuideSource predicted = guide_source(did), actual = guide_source_seen(seen, id && id == did->old_slab);
    gboolean knows_list = g_hash_table_contains(guide->known_list, guide_cpu_key(cache, cpu));

    if (did->is_known)
        guide_judge(guide, REPLAY_RULE_ALLOC_SLOW, (predicted == GUIDE_FAST) == (actual == GUIDE_FAST));
    /* What follows is about slabs that are known, met in a state that is known. */
    if (!did->is_known || predicted == GUIDE_FAST || actual == GUIDE_FAST || !knows_list || !did->chain_known)
        return;
    if ((actual != GUIDE_NEW && !id) || (predicted != GUIDE_NEW && !guide_slab(guide, 0, got)->recorded))
        return;
    if (predicted >= GUIDE_NODE && has_drain_under_way(guide, cpu, cache))
        return;
    guide_judge(guide, REPLAY_RULE_SOURCE, predicted == actual);
    if (predicted != actual)
        return;
    if (predicted == GUIDE_CPU_PARTIAL)
        guide_judge(guide, REPLAY_RULE_CPU_PARTIAL_LIFO, got == id);
    if (predicted == GUIDE_NODE) {
        guide_judge(guide, REPLAY_RULE_NODE_HEAD, got == id);
        guide_judge(guide, REPLAY_RULE_EXTRA_SLABS,
                    did->stat[SLAB_STAT_CPU_PARTIAL_NODE] == seen[KMEM_PROBE_PUT_CPU_PARTIAL]);
    }
}

static void
judge_drain(ReplayGuide *guide, gint cache, guint cpu, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;
    gboolean is_drained = p->seen[KMEM_PROBE_UNFREEZE] > 0;

    if (g_hash_table_contains(guide->known_list, guide_cpu_key(cache, cpu)))
        guide_judge(guide, REPLAY_RULE_DRAIN, (did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN] > 0) == is_drained);
    if (is_drained && did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN] && did->chain_known)
        guide_judge(guide, REPLAY_RULE_DRAIN_DISCARD,
                    did->stat[SLAB_STAT_DEACTIVATE_EMPTY] == p->seen[KMEM_PROBE_DISCARD_SLAB]);
    if (is_drained)
        g_hash_table_add(guide->known_list, guide_cpu_key(cache, cpu));
}

void
guide_judge_free(ReplayGuide *guide, gint cache, guint cpu, KmemContext context, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;
    guint64 n_slow = did->stat[SLAB_STAT_FREE_SLOWPATH];

    if (n_slow && !p->seen[KMEM_PROBE_FREE_SLOW] && context != KMEM_TASK) {
        guide->n_silent++;
        return;
    }
    if (did->is_bulk) {
        guide_judge(guide, REPLAY_RULE_BULK_FREE, n_slow == p->seen[KMEM_PROBE_FREE_SLOW]);
        return;
    }
    if (!did->is_met)
        return;
    guide_judge(guide, REPLAY_RULE_FREE_SLOW, n_slow == p->seen[KMEM_PROBE_FREE_SLOW]);
    if (!n_slow || !p->seen[KMEM_PROBE_FREE_SLOW] || !did->is_known)
        return;
    guide_judge(guide, REPLAY_RULE_PUT_CPU_PARTIAL,
                did->stat[SLAB_STAT_CPU_PARTIAL_FREE] == p->seen[KMEM_PROBE_PUT_CPU_PARTIAL]);
    if (did->stat[SLAB_STAT_CPU_PARTIAL_FREE] && p->seen[KMEM_PROBE_PUT_CPU_PARTIAL])
        judge_drain(guide, cache, cpu, p);
    else if (did->was_listed && !p->seen[KMEM_PROBE_PUT_CPU_PARTIAL] && !has_drain_under_way(guide, cpu, cache))
        guide_judge(guide, REPLAY_RULE_DISCARD, did->stat[SLAB_STAT_FREE_SLAB] == p->seen[KMEM_PROBE_DISCARD_SLAB]);
}
