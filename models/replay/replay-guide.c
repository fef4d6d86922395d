/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "replay-guide-private.h"
#include "slub-place.h"

static const char *const rule_texts[REPLAY_N_RULES] = {
#define RULE(name, text) [REPLAY_RULE_##name] = text,
    REPLAY_RULES(RULE)
#undef RULE
};

const char *
replay_rule_text(ReplayRule rule)
{
    return rule_texts[rule];
}

ReplayGuide *
replay_guide_new(Replay *replay)
{
    ReplayGuide *guide = g_new0(ReplayGuide, 1);
    guint n_slots = replay->params.n_traced_cpus * KMEM_N_CONTEXTS;

    guide->replay = replay;
    guide->slabs = g_new0(GArray *, replay->params.n_starts + 1);
    guide->away = g_new0(GArray *, replay->params.n_starts + 1);
    for (guint i = 0; i < replay->params.n_starts; i++) {
        guide->slabs[i] = g_array_new(FALSE, TRUE, sizeof(GuideSlab));
        guide->away[i] = g_array_new(FALSE, FALSE, sizeof(GuideAway));
    }
    guide->pending = g_new0(GuidePending, n_slots);
    guide->early = g_new0(GuideAlloc, n_slots * replay->params.n_starts);
    for (guint i = 0; i < n_slots; i++)
        guide->pending[i].early = guide->early + i * replay->params.n_starts;
    guide->known_list = g_hash_table_new(NULL, NULL);
    guide->known_cpu = g_hash_table_new(NULL, NULL);
    return guide;
}

void
replay_guide_free(ReplayGuide *guide)
{
    if (!guide)
        return;
    for (GArray **slabs = guide->slabs; *slabs; slabs++)
        g_array_unref(*slabs);
    for (GArray **away = guide->away; *away; away++)
        g_array_unref(*away);
    g_free(guide->away);
    g_free(guide->slabs);
    g_free(guide->pending);
    g_free(guide->early);
    g_hash_table_unref(guide->known_list);
    g_hash_table_unref(guide->known_cpu);
    g_free(guide);
}

ReplayTally
replay_guide_tally(const ReplayGuide *guide, ReplayRule rule)
{
    return guide->tally[rule];
}

guint64
replay_guide_n_silent(const ReplayGuide *guide)
{
    return guide->n_silent;
}

static gboolean
chain_is_certain(ReplayGuide *guide, const SlubCache *slub, guint cpu)
{
    for (SlabId id = slub->cpu[cpu].partial; id; id = slub->system->arena.slab[id].next)
        if (!guide_is_certain(guide, id))
            return FALSE;
    return TRUE;
}

/* The recorded kernel gave the old slab of that address back, unseen. */
static void
forget(ReplayGuide *guide, gint cache, guint start, SlabId id)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];

    guide_slab(guide, start, id)->recorded = 0;
    if (slub_place_n_inuse(slub, id) == 0) {
        slub_place_take(slub, id);
        slub_place_discard(slub, id);
    }
}

/* One object from the model, as its state is now. */
static GuideAlloc
predict_alloc(ReplayGuide *guide, guint cpu_id, gint index, guint start, gint node)
{
    ReplayCache *cache = guide_cache(guide, index);
    SlubCache *slub = cache->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, cpu_id, 0);
    SlabId old = slub->cpu[cpu->id].slab;
    GuideAlloc alloc = {.is_done = TRUE};

    alloc.did.is_known =
        g_hash_table_contains(guide->known_cpu, guide_cpu_key(index, cpu_id)) && (!old || guide_is_certain(guide, old));
    if (start == 0 && old && guide_is_certain(guide, old))
        alloc.did.is_known &= !guide_has_free_under_way(guide, cpu_id, guide_slab(guide, 0, old)->recorded - 1);
    alloc.did.chain_known = chain_is_certain(guide, slub, cpu->id);
    guide_begin(cache, start, cpu, &alloc.did);
    alloc.got = slub_alloc_node(slub, cpu, node);
    guide_end(cache, start, cpu, &alloc.did);
    if (alloc.did.stat[SLAB_STAT_ALLOC_SLAB])
        *guide_slab(guide, start, alloc.got) = (GuideSlab){0};
    return alloc;
}

/* One object in one start; returns the slab it is of. */
static SlabId
follow_alloc(ReplayGuide *guide, const KmemEvent *event, gint index, guint start, guint64 recorded, const guint *seen,
             GuideAlloc alloc)
{
    ReplayCache *cache = guide_cache(guide, index);
    SlubCache *slub = cache->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, event->cpu, 0);
    gboolean is_new = seen[KMEM_PROBE_NEW_SLAB] > 0, is_wished = event->node >= 0;
    SlabId id = guide_find(guide, index, start, recorded), got, old;
    GuidePrediction did;

    /* The kernel looked at its lists somewhere between the begin of the slow path and now. */
    if (alloc.is_done && (id ? alloc.got != id : is_new != (guide_source(&alloc.did) == GUIDE_NEW))) {
        guide_undo(slub, cpu->id, &alloc.did, FALSE);
        guide_restore_cpu_slab(guide, index, start, cpu, alloc.did.old_slab);
        alloc.is_done = FALSE;
    }
    if (!alloc.is_done)
        alloc = predict_alloc(guide, event->cpu, index, start,
                              is_wished && event->node < (gint) guide->replay->topology->n_nodes ? event->node
                                                                                                 : SLUB_NO_NODE);
    did = alloc.did;
    got = alloc.got;
    old = did.old_slab;
    if (is_new && id && id != old && id != got) {
        forget(guide, index, start, id);
        id = 0;
    }
    if (start == 0 && event->op == KMEM_ALLOC)
        guide_judge_alloc(guide, index, event->cpu, seen, &did, got, id);
    if (!id && !guide_slab(guide, start, got)->recorded && is_new == (did.stat[SLAB_STAT_ALLOC_SLAB] > 0)) {
        for (guint i = 0; i < cache->pool[start]->len; i++)
            if (g_array_index(cache->pool[start], SlabId, i) == got) {
                g_array_remove_index_fast(cache->pool[start], i);
                break;
            }
        guide_bind(guide, index, start, recorded, got, !is_new);
        id = got;
    } else if (!id && is_new) {
        id = slub_place_new(slub, cpu->mem_node, 0, SLUB_PLACE_NONE, cpu->id);
        guide_bind(guide, index, start, recorded, id, FALSE);
    } else if (!id) {
        id = guide_adopt(guide, index, start, recorded, 0, cpu);
    }
    if (got != id)
        guide_force(guide, index, start, cpu, id, &did, seen);
    if (got != id && is_new && guide_source(&did) == GUIDE_NODE && guide_slab(guide, start, got)->recorded)
        guide_send_away(guide, index, start, cpu->mem_node);
    if (got != id && is_new && guide_source(&did) == GUIDE_NODE && !guide_slab(guide, start, got)->recorded)
        guide_hide(guide, index, start, cpu, got);
    /* A slow call that left the old slab has used it up: from now on all of it is known. */
    if (seen[KMEM_PROBE_ALLOC_SLOW] && old && old != id && slub->system->arena.slab[old].objects)
        guide_slab(guide, start, old)->is_uncertain = FALSE;
    return id;
}

static GuidePending *
pending_at(const ReplayGuide *guide, const KmemEvent *event)
{
    return &guide->pending[event->cpu * KMEM_N_CONTEXTS + event->context];
}

/* The kernel put the slab on the CPU's list: it was full before. */
static void
correct_put(ReplayGuide *guide, gint cache, guint cpu, guint start, SlabId id)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];
    Slab *slab = &slub->system->arena.slab[id];

    slub_place_take(slub, id);
    slub->cpu[cpu].n_objects += slab->objects - 1 - slab->inuse;
    slab->inuse = (guint16) (slab->objects - 1);
    slub_place_put(slub, id, SLUB_PLACE_CPU_PARTIAL, cpu);
    guide_slab(guide, start, id)->is_uncertain = FALSE;
}

static void
correct_drain(ReplayGuide *guide, gint cache, guint cpu_id, guint start, SlabId keep)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, cpu_id, 0);
    SlabId first;

    if (keep)
        slub_place_take(slub, keep);
    first = slub->cpu[cpu_id].partial;
    slub->cpu[cpu_id].partial = 0;
    if (first)
        slub->generation->put_partials(slub, cpu, first);
    if (keep)
        slub_place_put(slub, keep, SLUB_PLACE_CPU_PARTIAL, cpu_id);
}

/* The kernel did not drain: what the model gave to the node list comes back under the slab put last. */
static void
correct_no_drain(ReplayGuide *guide, gint cache, guint cpu, const GuidePrediction *did, SlabId last)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[0];
    const Slab *arena = slub->system->arena.slab;

    slub_place_take(slub, last);
    for (guint i = did->n_chain; i-- > 0;)
        if (arena[did->chain[i]].objects && arena[did->chain[i]].cache == slub->index &&
            arena[did->chain[i]].flags & SLAB_ON_PARTIAL) {
            slub_place_take(slub, did->chain[i]);
            slub_place_put(slub, did->chain[i], SLUB_PLACE_CPU_PARTIAL, cpu);
        }
    slub_place_put(slub, last, SLUB_PLACE_CPU_PARTIAL, cpu);
}

/* What a free did in the kernel and not in the model, or the other way round. */
static void
correct_free(ReplayGuide *guide, gint cache, guint cpu, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;

    if (!p->seen[KMEM_PROBE_FREE_SLOW] || !did->stat[SLAB_STAT_FREE_SLOWPATH])
        return;
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        SlabId id = guide_find(guide, cache, start, p->recorded);
        SlubCache *slub = guide_cache(guide, cache)->cache[start];

        if (!id && !p->seen[KMEM_PROBE_DISCARD_SLAB] && did->stat[SLAB_STAT_FREE_SLAB]) {
            id = slub_place_new(slub, replay_cpu(guide->replay, start, cpu, 0)->mem_node, 0, SLUB_PLACE_NODE_TAIL, cpu);
            guide_bind(guide, cache, start, p->recorded, id, FALSE);
        }
        if (!id)
            continue;
        if (p->seen[KMEM_PROBE_PUT_CPU_PARTIAL] && !did->stat[SLAB_STAT_CPU_PARTIAL_FREE])
            correct_put(guide, cache, cpu, start, id);
        if (p->seen[KMEM_PROBE_UNFREEZE] && !did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN])
            correct_drain(guide, cache, cpu, start, id);
        if (start == 0 && p->seen[KMEM_PROBE_PUT_CPU_PARTIAL] && !p->seen[KMEM_PROBE_UNFREEZE] &&
            did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN])
            correct_no_drain(guide, cache, cpu, did, id);
        if (p->seen[KMEM_PROBE_DISCARD_SLAB] && !p->seen[KMEM_PROBE_PUT_CPU_PARTIAL] &&
            !did->stat[SLAB_STAT_FREE_SLAB] && slub_place_n_inuse(slub, id) == 0) {
            slub_place_take(slub, id);
            slub_place_discard(slub, id);
        }
    }
}

/* The slab that a recorded one stands for, if need be one from before the trace. */
static SlabId
slab_of(ReplayGuide *guide, guint cpu, gint index, guint start, guint64 recorded)
{
    SlabId id = guide_find(guide, index, start, recorded);

    return id ? id : guide_adopt(guide, index, start, recorded, 0, replay_cpu(guide->replay, start, cpu, 0));
}

static void
apply_free(ReplayGuide *guide, guint event_cpu, GuidePending *p)
{
    ReplayCache *cache = guide_cache(guide, p->cache);

    p->is_applied = TRUE;
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        MachCpu *cpu = replay_cpu(guide->replay, start, event_cpu, 0);
        SlubCache *slub = cache->cache[start];
        gboolean is_met = guide_find(guide, p->cache, start, p->recorded) != 0;
        SlabId id = slab_of(guide, event_cpu, p->cache, start, p->recorded);
        GuidePrediction did = {.is_met = is_met,
                               .is_known = start == 0 && guide_is_certain(guide, id),
                               .chain_known = start == 0 && chain_is_certain(guide, slub, cpu->id)};

        for (SlabId on = slub->cpu[cpu->id].partial; on && did.n_chain < GUIDE_CHAIN_MAX;
             on = slub->system->arena.slab[on].next)
            did.chain[did.n_chain++] = on;
        guide_need_objects(slub, id, 1);
        did.was_listed =
            (slub->system->arena.slab[id].flags & SLAB_ON_PARTIAL) != 0 && slub->system->arena.slab[id].inuse == 1;
        guide_begin(cache, start, cpu, &did);
        slub_free(slub, cpu, id);
        guide_end(cache, start, cpu, &did);
        if (start == 0)
            p->predicted = did;
    }
}

static void
finish_step(ReplayGuide *guide, guint cpu, KmemContext context, GuidePending *p)
{
    if (p->step == GUIDE_FREE) {
        if (!p->is_applied)
            apply_free(guide, cpu, p);
        guide_judge_free(guide, p->cache, cpu, context, p);
        for (guint start = 0; p->seen[KMEM_PROBE_UNFREEZE] && start < guide->replay->params.n_starts; start++)
            guide_bring_back(guide, p->cache, start);
        if (!p->predicted.is_bulk)
            correct_free(guide, p->cache, cpu, p);
    }
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        if (p->early[start].is_done) { /* nothing came of it */
            SlubCpu *c = &guide_cache(guide, p->cache)->cache[start]->cpu[cpu];

            if (c->slab == p->early[start].got) {
                c->free++;
                c->n_objects--;
            }
        }
        p->early[start].is_done = FALSE;
    }
    *p = (GuidePending){.early = p->early};
}

/* The object is handed out again: a free of it that seemed under way is done. */
static void
apply_frees_of(ReplayGuide *guide, guint64 ptr)
{
    for (guint i = 0; i < guide->replay->params.n_traced_cpus * KMEM_N_CONTEXTS; i++) {
        GuidePending *p = &guide->pending[i];

        if (p->step == GUIDE_FREE && !p->is_applied && p->ptr == ptr)
            apply_free(guide, i / KMEM_N_CONTEXTS, p);
    }
}

/* Steps in interrupts are over when the interrupted CPU goes on. */
static void
finish_interrupts(ReplayGuide *guide, const KmemEvent *event)
{
    for (guint context = event->context + 1; context < KMEM_N_CONTEXTS; context++)
        finish_step(guide, event->cpu, (KmemContext) context, &guide->pending[event->cpu * KMEM_N_CONTEXTS + context]);
}

static void
note_list(ReplayGuide *guide, gint cache, guint cpu, const guint *seen)
{
    g_hash_table_add(guide->known_cpu, guide_cpu_key(cache, cpu));
    if (seen[KMEM_PROBE_NEW_SLAB] || seen[KMEM_PROBE_GET_PARTIAL_NODE])
        g_hash_table_add(guide->known_list, guide_cpu_key(cache, cpu));
}

/* What was seen and done of the allocation that is now complete. */
static void
take_early(ReplayGuide *guide, GuidePending *p, gint index, guint *seen, GuideAlloc *early)
{
    if (p->step != GUIDE_ALLOC || p->cache != index)
        return;
    memcpy(seen, p->seen, sizeof p->seen);
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        early[start] = p->early[start];
        p->early[start].is_done = FALSE;
    }
}

static void
feed_alloc(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = pending_at(guide, event);
    g_autofree GuideAlloc *early = g_new0(GuideAlloc, guide->replay->params.n_starts);
    guint seen[KMEM_N_PROBES] = {0};
    guint32 *object;

    take_early(guide, p, index, seen, early);
    finish_step(guide, event->cpu, event->context, p);
    apply_frees_of(guide, event->ptr);
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        SlabId id = follow_alloc(guide, event, index, start, event->ptr >> guide_cache(guide, index)->slab_shift, seen,
                                 early[start]);

        object = replay_table_find(&guide->replay->objects, event->ptr);
        object[1 + start] = id;
    }
    note_list(guide, index, event->cpu, seen);
}

/* New slabs come last, when lists are exhausted: whether not more than `n_new` unknown slabs are met from the i-th
 * object on. */
static gboolean
is_last_unknown(ReplayGuide *guide, const KmemEvent *event, gint index, guint start, guint i, guint n_new)
{
    guint shift = guide_cache(guide, index)->slab_shift, n = 0;

    for (guint64 last = 0; i < event->n_shown; i++) {
        guint64 recorded = event->ptrs[i] >> shift;

        if (recorded != last && !guide_find(guide, index, start, recorded))
            n++;
        last = recorded;
    }
    return n <= n_new;
}

/* Object by object: the recorded slow calls of the whole are laid to the objects that change the slab. */
static void
feed_alloc_bulk(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = pending_at(guide, event);
    ReplayCache *cache = guide_cache(guide, index);
    guint seen[KMEM_N_PROBES] = {0}, none[KMEM_N_PROBES] = {0};
    guint made[KMEM_N_PROBES] = {[KMEM_PROBE_ALLOC_SLOW] = 1, [KMEM_PROBE_NEW_SLAB] = 1};
    g_autofree GuideAlloc *early = g_new0(GuideAlloc, guide->replay->params.n_starts);
    const GuideAlloc none_early = {0};
    guint64 n_slow = 0;
    gboolean is_known = TRUE;

    take_early(guide, p, index, seen, early);
    n_slow = early[0].is_done ? early[0].did.stat[SLAB_STAT_ALLOC_SLOWPATH] : 0;
    finish_step(guide, event->cpu, event->context, p);
    for (guint i = 0; i < event->n_shown; i++)
        apply_frees_of(guide, event->ptrs[i]);
    for (guint i = 0; i < event->n_shown; i++)
        for (guint start = 0; start < guide->replay->params.n_starts; start++) {
            SlubCpu *c = &cache->cache[start]->cpu[event->cpu];
            guint64 before = c->stat[SLAB_STAT_ALLOC_SLOWPATH];
            guint64 recorded = event->ptrs[i] >> cache->slab_shift;
            SlabId id = guide_find(guide, index, start, recorded);
            const guint *its =
                !id && is_last_unknown(guide, event, index, start, i, seen[KMEM_PROBE_NEW_SLAB]) ? made : none;

            is_known &= !c->slab || guide_is_certain(guide, c->slab);
            replay_table_find(&guide->replay->objects, event->ptrs[i])[1 + start] =
                follow_alloc(guide, event, index, start, recorded, its, i == 0 ? early[start] : none_early);
            if (start == 0)
                n_slow += c->stat[SLAB_STAT_ALLOC_SLOWPATH] - before;
        }
    if (is_known && g_hash_table_contains(guide->known_cpu, guide_cpu_key(index, event->cpu)))
        guide_judge(guide, REPLAY_RULE_BULK_ALLOC, n_slow == seen[KMEM_PROBE_ALLOC_SLOW]);
    note_list(guide, index, event->cpu, seen);
}

static void
feed_free(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = pending_at(guide, event);

    finish_step(guide, event->cpu, event->context, p);
    p->step = GUIDE_FREE;
    p->cache = index;
    p->recorded = event->ptr >> guide_cache(guide, index)->slab_shift;
    p->ptr = event->ptr;
}

static void
feed_free_bulk(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    ReplayCache *cache = guide_cache(guide, index);
    GuidePending *p = pending_at(guide, event);
    SlabId ids[KMEM_BULK_SHOWN];

    finish_step(guide, event->cpu, event->context, p);
    p->step = GUIDE_FREE;
    p->cache = index;
    p->is_applied = TRUE;
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        MachCpu *cpu = replay_cpu(guide->replay, start, event->cpu, 0);
        GuidePrediction did = {.is_bulk = TRUE};

        for (guint i = 0; i < event->n_shown; i++)
            ids[i] = slab_of(guide, event->cpu, index, start, event->ptrs[i] >> cache->slab_shift);
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

static void
feed_probe(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = pending_at(guide, event);

    if (event->probe == KMEM_PROBE_ALLOC_SLOW && !(p->step == GUIDE_ALLOC && p->cache == index)) {
        finish_step(guide, event->cpu, event->context, p);
        p->step = GUIDE_ALLOC;
        p->cache = index;
        for (guint start = 0; start < guide->replay->params.n_starts; start++)
            if (guide_cache(guide, index)->cache[start]->cpu[event->cpu].free == 0)
                p->early[start] = predict_alloc(guide, event->cpu, index, start, SLUB_NO_NODE);
    }
    if (p->step == GUIDE_IDLE || p->cache != index)
        return;
    p->seen[event->probe]++;
    if (p->step == GUIDE_FREE && !p->is_applied)
        apply_free(guide, event->cpu, p);
}

void
replay_guide_feed(ReplayGuide *guide, const KmemEvent *event, gint cache)
{
    finish_interrupts(guide, event);
    switch (event->op) {
    case KMEM_ALLOC:
        feed_alloc(guide, event, cache);
        break;
    case KMEM_ALLOC_BULK:
        feed_alloc_bulk(guide, event, cache);
        break;
    case KMEM_FREE:
        feed_free(guide, event, cache);
        break;
    case KMEM_FREE_BULK:
        feed_free_bulk(guide, event, cache);
        break;
    case KMEM_PROBE:
        feed_probe(guide, event, cache);
        break;
    case KMEM_LOST:
        break;
    }
}

void
replay_guide_finish(ReplayGuide *guide)
{
    guint n_cpus = guide->replay->params.n_traced_cpus;

    for (guint cpu = 0; cpu < n_cpus; cpu++)
        for (guint context = 0; context < KMEM_N_CONTEXTS; context++)
            finish_step(guide, cpu, (KmemContext) context, &guide->pending[cpu * KMEM_N_CONTEXTS + context]);
}

void
replay_guide_hand_over(ReplayGuide *guide)
{
    Replay *replay = guide->replay;

    replay_guide_finish(guide);
    for (guint start = 0; start < replay->params.n_starts; start++) {
        for (guint i = 0; i < replay->caches->len; i++)
            guide_bring_back(guide, (gint) i, start);
        guide_settle_objects(guide, start);
    }
}
