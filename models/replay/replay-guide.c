/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "replay-follow.h"
#include "replay-guide-doubt.h"
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
    guide->known_node = g_hash_table_new(NULL, NULL);
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
    g_hash_table_unref(guide->known_node);
    g_hash_table_unref(guide->known_cpu);
    g_free(guide);
}

ReplayTally
replay_guide_tally(const ReplayGuide *guide, ReplayRule rule)
{
    return guide->tally[rule];
}

ReplayFrees
replay_guide_frees(const ReplayGuide *guide)
{
    return guide->frees;
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

/* Whose list comes first. */
static guint
asked_node(const ReplayGuide *guide, const MachCpu *cpu, gint wish)
{
    return wish >= 0 && wish < (gint) guide->replay->topology->n_nodes ? (guint) wish : cpu->mem_node;
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
        g_hash_table_contains(guide->known_cpu, guide_key(index, cpu_id)) && (!old || guide_is_certain(guide, old));
    if (start == 0 && old && guide_is_certain(guide, old) && slub->cpu[cpu->id].free == 0)
        alloc.did.is_known &= !guide_has_free_under_way(guide, cpu_id, guide_slab(guide, 0, old)->recorded - 1);
    if (start == 0)
        guide_look(guide, index, cpu_id, asked_node(guide, cpu, node), &alloc.did);
    guide_begin(cache, start, cpu, &alloc.did);
    alloc.got = slub_alloc_node(slub, cpu, node);
    guide_end(cache, start, cpu, &alloc.did);
    if (alloc.did.stat[SLAB_STAT_ALLOC_SLAB])
        *guide_slab(guide, start, alloc.got) = (GuideSlab){0};
    return alloc;
}

/* The early prediction, unless the kernel looked at its lists later: somewhere between the begin of the slow path and
 * now. What a CPU has of its own slab does not become less meanwhile. */
static GuideAlloc
settle_prediction(ReplayGuide *guide, const KmemEvent *event, gint index, guint start, SlabId id, gboolean is_new,
                  GuideAlloc alloc)
{
    SlubCache *slub = guide_cache(guide, index)->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, event->cpu, 0);
    gint wish = event->node < (gint) guide->replay->topology->n_nodes ? event->node : SLUB_NO_NODE;

    if (alloc.is_done && guide_source(&alloc.did) != GUIDE_REFILL &&
        (id ? alloc.got != id : is_new != (guide_source(&alloc.did) == GUIDE_NEW))) {
        guide_undo(slub, cpu->id, &alloc, FALSE);
        guide_restore_cpu_slab(guide, index, start, cpu, alloc.did.old_slab);
        for (guint i = 0; i < SLAB_N_STATS; i++)
            slub->cpu[cpu->id].stat[i] -= alloc.did.stat[i];
        alloc.is_done = FALSE;
    }
    return alloc.is_done ? alloc : predict_alloc(guide, event->cpu, index, start, wish);
}

/* The slab of an object that no slab stands for yet; that which the model took, if it may be. */
static SlabId
bind_unseen(ReplayGuide *guide, gint index, guint start, const MachCpu *cpu, guint64 recorded, gboolean is_new,
            const GuideAlloc *alloc)
{
    ReplayCache *cache = guide_cache(guide, index);
    GArray *pool = cache->pool[start];
    SlabId id = alloc->got;

    if (guide_slab(guide, start, id)->recorded || is_new != (alloc->did.stat[SLAB_STAT_ALLOC_SLAB] > 0)) {
        if (!is_new)
            return guide_adopt(guide, index, start, recorded, cpu);
        id = slub_place_new(cache->cache[start], cpu->mem_node, 0, SLUB_PLACE_NONE, cpu->id);
    }
    for (guint i = 0; i < pool->len; i++)
        if (g_array_index(pool, SlabId, i) == id) {
            g_array_remove_index_fast(pool, i);
            break;
        }
    guide_bind(guide, index, start, recorded, id, !is_new);
    return id;
}

/* The kernel made a new slab: what the model has on the node's list is not there. */
static void
empty_node(ReplayGuide *guide, gint index, guint start, const MachCpu *cpu)
{
    SlubCache *slub = guide_cache(guide, index)->cache[start];

    for (SlabId id = slub->node[cpu->mem_node].partial.head, next; id; id = next) {
        next = slub->system->arena.slab[id].next;
        if (!guide_slab(guide, start, id)->recorded)
            guide_hide(guide, index, start, cpu, id);
    }
    guide_send_away(guide, index, start, cpu->mem_node);
}

SlabId
guide_follow_alloc(ReplayGuide *guide, const KmemEvent *event, gint index, guint start, guint64 recorded,
                   const GuideCall *call, GuideAlloc alloc)
{
    SlubCache *slub = guide_cache(guide, index)->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, event->cpu, 0);
    const guint *seen = call->seen;
    gboolean is_new = seen[KMEM_PROBE_NEW_SLAB] > 0;
    SlabId id = guide_find(guide, index, start, recorded), old;

    alloc = settle_prediction(guide, event, index, start, id, is_new, alloc);
    old = alloc.did.old_slab;
    if (is_new && id && id != old && id != alloc.got) {
        forget(guide, index, start, id);
        id = 0;
    }
    if (start == 0 && call->is_known)
        guide_judge_alloc(guide, index, event->cpu, seen, &alloc.did, alloc.got, id);
    if (!id)
        id = bind_unseen(guide, index, start, cpu, recorded, is_new, &alloc);
    if (alloc.got != id)
        guide_force(guide, index, start, cpu, id, &alloc, seen);
    if (alloc.got != id && is_new)
        empty_node(guide, index, start, cpu);
    guide_slab(guide, start, id)->is_doubted = FALSE;
    /* A slow call that left the old slab has used it up: from now on all of it is known. One that did not, though the
     * model says so, shows that the slab has other objects free than thought. */
    if (seen[KMEM_PROBE_ALLOC_SLOW] && old && old != id && slub->system->arena.slab[old].objects)
        guide_slab(guide, start, old)->is_uncertain = FALSE;
    if (old == id && guide_source(&alloc.did) != guide_source_seen(seen, TRUE) && call->is_known)
        guide_slab(guide, start, id)->is_uncertain = TRUE;
    if (start == 0)
        guide_learn_alloc(guide, index, event->cpu, asked_node(guide, cpu, event->node), seen, &alloc.did,
                          alloc.got == id);
    return id;
}

GuidePending *
guide_pending_at(const ReplayGuide *guide, const KmemEvent *event)
{
    return &guide->pending[event->cpu * KMEM_N_CONTEXTS + event->context];
}

SlabId
guide_slab_of(ReplayGuide *guide, guint cpu, gint index, guint start, guint64 recorded)
{
    SlabId id = guide_find(guide, index, start, recorded);

    return id ? id : guide_adopt(guide, index, start, recorded, replay_cpu(guide->replay, start, cpu, 0));
}

/* What a list had of others goes to the node's with it; the slab put last is then the only one. */
static void
learn_drain(ReplayGuide *guide, gint cache, guint cpu, const GuidePrediction *did)
{
    if (!did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN])
        return;
    for (guint node = 0; node < guide->replay->topology->n_nodes && !did->list.is_known; node++)
        guide_know_node(guide, cache, node, FALSE);
    guide_know_list(guide, cache, cpu, TRUE);
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
        SlabId id = guide_slab_of(guide, event_cpu, p->cache, start, p->recorded);
        GuidePrediction did = {.is_met = is_met,
                               .is_known = start == 0 && guide_is_certain(guide, id),
                               .is_place_known = start == 0 && !guide_slab(guide, 0, id)->is_doubted};

        for (SlabId on = slub->cpu[cpu->id].partial; on && did.n_chain < GUIDE_CHAIN_MAX;
             on = slub->system->arena.slab[on].next)
            did.chain[did.n_chain++] = on;
        guide_need_objects(slub, id, 1);
        if (start == 0)
            guide_look(guide, p->cache, cpu->id, slub->system->arena.slab[id].node, &did);
        did.was_listed =
            (slub->system->arena.slab[id].flags & SLAB_ON_PARTIAL) != 0 && slub->system->arena.slab[id].inuse == 1;
        guide_begin(cache, start, cpu, &did);
        slub_free(slub, cpu, id);
        guide_end(cache, start, cpu, &did);
        /* Onto the CPU's list if it was full: which is known, or else seen in the end. */
        if (did.stat[SLAB_STAT_CPU_PARTIAL_FREE])
            guide_slab(guide, start, id)->is_doubted = !did.is_known;
        if (start == 0)
            p->predicted = did;
    }
    learn_drain(guide, p->cache, event_cpu, &p->predicted);
}

void
guide_finish_step(ReplayGuide *guide, guint cpu, KmemContext context, GuidePending *p)
{
    if (p->step == GUIDE_FREE) {
        if (!p->is_applied)
            apply_free(guide, cpu, p);
        guide_judge_free(guide, p->cache, cpu, context, p);
        for (guint start = 0; p->seen[KMEM_PROBE_UNFREEZE] && start < guide->replay->params.n_starts; start++)
            guide_bring_back(guide, p->cache, start);
        if (!p->predicted.is_bulk)
            guide_correct_free(guide, p->cache, cpu, p);
    }
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        if (p->early[start].is_done) /* nothing came of it */
            guide_give_back(guide_cache(guide, p->cache)->cache[start], cpu, p->early[start].got);
        p->early[start].is_done = FALSE;
    }
    *p = (GuidePending){.early = p->early};
}

void
guide_apply_frees_of(ReplayGuide *guide, guint64 ptr)
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
        guide_finish_step(guide, event->cpu, (KmemContext) context,
                          &guide->pending[event->cpu * KMEM_N_CONTEXTS + context]);
}

GuidePending
guide_take_step(ReplayGuide *guide, const KmemEvent *event, gint index, GuideAlloc *early)
{
    GuidePending *p = guide_pending_at(guide, event), was = {.early = early};

    if (p->step == GUIDE_ALLOC && p->cache == index) {
        was = *p;
        was.early = early;
        for (guint start = 0; start < guide->replay->params.n_starts; start++) {
            early[start] = p->early[start];
            p->early[start].is_done = FALSE;
        }
    }
    guide_finish_step(guide, event->cpu, event->context, p);
    return was;
}

static void
feed_alloc(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    g_autofree GuideAlloc *early = g_new0(GuideAlloc, guide->replay->params.n_starts);
    GuidePending was = guide_take_step(guide, event, index, early);
    GuideCall call = {.is_known = TRUE};
    guint32 *object;

    memcpy(call.seen, was.seen, sizeof call.seen);
    guide_apply_frees_of(guide, event->ptr);
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        SlabId id = guide_follow_alloc(guide, event, index, start, event->ptr >> guide_cache(guide, index)->slab_shift,
                                       &call, early[start]);

        object = replay_table_find(&guide->replay->objects, event->ptr);
        object[1 + start] = id;
    }
}

static void
feed_free(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = guide_pending_at(guide, event);

    guide_finish_step(guide, event->cpu, event->context, p);
    p->step = GUIDE_FREE;
    p->cache = index;
    p->recorded = event->ptr >> guide_cache(guide, index)->slab_shift;
    p->ptr = event->ptr;
}

/* Which of several slow calls of a bulk allocation an event belongs to. */
static void
note_call(GuidePending *p, KmemProbe probe)
{
    if (p->step != GUIDE_ALLOC)
        return;
    if (probe == KMEM_PROBE_ALLOC_SLOW)
        p->n_calls++;
    if (p->n_calls && p->n_calls <= GUIDE_CALLS_MAX)
        p->calls[p->n_calls - 1][probe]++;
}

/* The kernel's freelist is empty; so is the model's, or it was not known how long it is. */
static void
begin_slow_alloc(ReplayGuide *guide, guint cpu, gint index, guint start, GuideAlloc *ret_early)
{
    SlubCpu *c = &guide_cache(guide, index)->cache[start]->cpu[cpu];

    if (c->free && guide_slab(guide, start, c->slab)->is_uncertain) {
        c->n_objects += c->free;
        c->free = 0;
    }
    if (c->free == 0)
        *ret_early = predict_alloc(guide, cpu, index, start, SLUB_NO_NODE);
}

static void
feed_probe(ReplayGuide *guide, const KmemEvent *event, gint index)
{
    GuidePending *p = guide_pending_at(guide, event);

    if (event->probe == KMEM_PROBE_ALLOC_SLOW && !(p->step == GUIDE_ALLOC && p->cache == index)) {
        guide_finish_step(guide, event->cpu, event->context, p);
        p->step = GUIDE_ALLOC;
        p->cache = index;
        for (guint start = 0; start < guide->replay->params.n_starts; start++)
            begin_slow_alloc(guide, event->cpu, index, start, &p->early[start]);
    }
    if (event->probe == KMEM_PROBE_FREE_SLOW && (p->step != GUIDE_FREE || p->cache != index))
        guide->frees.without_object++;
    if (p->step == GUIDE_IDLE || p->cache != index)
        return;
    p->seen[event->probe]++;
    note_call(p, event->probe);
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
        guide_feed_alloc_bulk(guide, event, cache);
        break;
    case KMEM_FREE:
        feed_free(guide, event, cache);
        break;
    case KMEM_FREE_BULK:
        guide_feed_free_bulk(guide, event, cache);
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
            guide_finish_step(guide, cpu, (KmemContext) context, &guide->pending[cpu * KMEM_N_CONTEXTS + context]);
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
