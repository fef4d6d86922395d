/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Following bulk calls. A bulk allocation is one event at its end; its slow calls come before, in the order of the
 * objects that needed one. */
#include <string.h>

#include "replay-follow.h"
#include "replay-guide-doubt.h"

/* A bulk allocation, its recorded slow calls, and how far they are laid to its objects. */
typedef struct {
    const KmemEvent *event;
    gint index; /* of the cache */
    guint shift;
    const GuidePending *was;
    guint64 before;   /* recorded slab + 1 that the CPU had before, 0 = not known */
    guint n_laid;     /* calls */
    gboolean is_even; /* as many calls as changes of the slab: each change had one */
} Bulk;

/* Whether the i-th object is of another slab than the one before. */
static gboolean
changes_slab(const Bulk *bulk, guint i)
{
    const guint64 *ptrs = bulk->event->ptrs;

    return (ptrs[i] >> bulk->shift) + 1 != (i > 0 ? (ptrs[i - 1] >> bulk->shift) + 1 : bulk->before);
}

static guint
n_changes_from(const Bulk *bulk, guint i)
{
    guint n = 0;

    for (; i < bulk->event->n_shown; i++)
        n += changes_slab(bulk, i);
    return n;
}

/* The slow call of the i-th object, all zero for none. One that changes the slab has one; with more calls than changes,
 * so has one that finds the CPU's freelist empty and goes on with the same slab. */
static GuideCall
lay_call(Bulk *bulk, guint i, gboolean is_freelist_empty)
{
    GuideCall call = {.is_known = bulk->is_even};
    guint n_left = bulk->was->n_calls - bulk->n_laid;
    const guint *seen = bulk->was->calls[bulk->n_laid];
    gboolean is_refill = is_freelist_empty && n_left > n_changes_from(bulk, i) && !seen[KMEM_PROBE_NEW_SLAB] &&
                         !seen[KMEM_PROBE_GET_PARTIAL_NODE];

    if (n_left && bulk->n_laid < GUIDE_CALLS_MAX && (changes_slab(bulk, i) || is_refill)) {
        memcpy(call.seen, seen, sizeof call.seen);
        bulk->n_laid++;
    }
    return call;
}

static void
begin_bulk(ReplayGuide *guide, Bulk *bulk)
{
    const GuideAlloc *early = &bulk->was->early[0];
    SlabId before =
        early->is_done ? early->did.old_slab : guide_cache(guide, bulk->index)->cache[0]->cpu[bulk->event->cpu].slab;

    bulk->before = before ? guide_slab(guide, 0, before)->recorded : 0;
    bulk->is_even = bulk->before && n_changes_from(bulk, 0) == bulk->was->n_calls;
    /* What is not known may be the slab of the first object. */
    if (!bulk->before && n_changes_from(bulk, 0) > bulk->was->n_calls)
        bulk->before = (bulk->event->ptrs[0] >> bulk->shift) + 1;
}

/* Calls that no object could be found for: nothing is known of what they did to the lists. */
static void
end_bulk(ReplayGuide *guide, const Bulk *bulk)
{
    guint cpu = bulk->event->cpu;

    if (bulk->n_laid == bulk->was->n_calls)
        return;
    guide_know_list(guide, bulk->index, cpu, FALSE);
    guide_know_node(guide, bulk->index, replay_cpu(guide->replay, 0, cpu, 0)->mem_node, FALSE);
}

void
guide_feed_alloc_bulk(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    ReplayCache *cache = guide_cache(guide, index);
    const SlubCpu *c = &cache->cache[0]->cpu[event->cpu];
    g_autofree GuideAlloc *early = g_new0(GuideAlloc, guide->replay->params.n_starts);
    GuidePending was = guide_take_step(guide, event, index, early);
    Bulk bulk = {.event = event, .index = index, .shift = cache->slab_shift, .was = &was};
    gboolean is_known = g_hash_table_contains(guide->known_cpu, guide_key(index, event->cpu));
    guint64 n_slow = early[0].is_done ? early[0].did.stat[SLAB_STAT_ALLOC_SLOWPATH] : 0;

    for (guint i = 0; i < event->n_shown; i++)
        guide_apply_frees_of(guide, event->ptrs[i]);
    if (event->n_shown)
        begin_bulk(guide, &bulk);
    n_slow -= c->stat[SLAB_STAT_ALLOC_SLOWPATH];
    for (guint i = 0; i < event->n_shown; i++) {
        guint32 *object = replay_table_find(&guide->replay->objects, event->ptrs[i]);
        GuideCall call = lay_call(&bulk, i, (i == 0 && early[0].is_done) || c->free == 0);

        is_known &= !c->slab || guide_is_certain(guide, c->slab);
        for (guint start = 0; start < guide->replay->params.n_starts; start++) {
            object[1 + start] = guide_follow_alloc(guide, event, index, start, event->ptrs[i] >> cache->slab_shift,
                                                   &call, early[start]);
            early[start].is_done = FALSE;
        }
    }
    n_slow += c->stat[SLAB_STAT_ALLOC_SLOWPATH];
    if (event->n_shown)
        end_bulk(guide, &bulk);
    guide_judge(guide, REPLAY_RULE_BULK_ALLOC, is_known, n_slow == was.seen[KMEM_PROBE_ALLOC_SLOW]);
}

void
guide_feed_free_bulk(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    ReplayCache *cache = guide_cache(guide, index);
    GuidePending *p = guide_pending_at(guide, event);
    SlabId ids[KMEM_BULK_SHOWN];

    guide_finish_step(guide, event->cpu, event->context, p);
    p->step = GUIDE_FREE;
    p->cache = index;
    p->is_applied = TRUE;
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        MachCpu *cpu = replay_cpu(guide->replay, start, event->cpu, 0);
        GuidePrediction did = {.is_bulk = TRUE, .is_known = event->n_shown == event->n};

        for (guint i = 0; i < event->n_shown; i++)
            ids[i] = guide_slab_of(guide, event->cpu, index, start, event->ptrs[i] >> cache->slab_shift);
        for (guint i = 0; i < event->n_shown; i++) {
            guint n_same = 0;

            for (guint j = 0; j < event->n_shown; j++)
                n_same += ids[j] == ids[i];
            guide_need_objects(cache->cache[start], ids[i], n_same);
        }
        guide_begin(cache, start, cpu, &did);
        slub_free_bulk(cache->cache[start], cpu, event->n_shown, ids);
        guide_end(cache, start, cpu, &did);
        if (start == 0)
            p->predicted = did;
    }
}
