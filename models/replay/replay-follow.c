/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making the model's state agree with the recorded kernel's. */
#include "replay-follow.h"
#include "replay-guide-doubt.h"
#include "slub-place.h"

SlabId
guide_find(ReplayGuide *guide, gint cache_index, guint start, guint64 recorded)
{
    const ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    const guint32 *row = replay_table_find(&cache->slabs, recorded + 1);
    const GuideSlab *slab;

    if (!row || !row[start])
        return 0;
    slab = guide_slab(guide, start, row[start]);
    return slab->recorded == recorded + 1 && slab->cache == cache_index &&
                   guide->replay->world[start].system->arena.slab[row[start]].objects
               ? row[start]
               : 0;
}

void
guide_bind(ReplayGuide *guide, gint cache_index, guint start, guint64 recorded, SlabId id, gboolean is_uncertain)
{
    ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);

    replay_table_add(&cache->slabs, recorded + 1)[start] = id;
    *guide_slab(guide, start, id) = (GuideSlab){
        .recorded = recorded + 1, .cache = cache_index, .is_uncertain = is_uncertain, .is_doubted = is_uncertain};
}

/* The first slab on `node` that nobody knows, taken from the pool; of any node for -1. 0 = none. */
static SlabId
take_unknown(const ReplayCache *cache, guint start, gint node)
{
    const Slab *arena = cache->cache[start]->system->arena.slab;
    GArray *pool = cache->pool[start];

    for (guint i = 0; i < pool->len; i++) {
        SlabId id = g_array_index(pool, SlabId, i);

        if (node < 0 || arena[id].node == (guint) node) {
            g_array_remove_index_fast(pool, i);
            return id;
        }
    }
    return 0;
}

SlabId
guide_adopt(ReplayGuide *guide, gint cache_index, guint start, guint64 recorded, const MachCpu *cpu)
{
    ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlabId id = take_unknown(cache, start, (gint) cpu->mem_node);

    if (!id)
        id = take_unknown(cache, start, -1);
    if (!id)
        id = slub_place_new(cache->cache[start], cpu->mem_node, cache->geometry.objects, SLUB_PLACE_NONE, 0);
    guide_bind(guide, cache_index, start, recorded, id, TRUE);
    return id;
}

void
guide_begin(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *ret_before)
{
    const SlubCpu *c = &cache->cache[start]->cpu[cpu->id];

    for (guint i = 0; i < SLAB_N_STATS; i++)
        ret_before->stat[i] = c->stat[i];
    ret_before->old_slab = c->slab;
}

void
guide_end(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *before)
{
    const SlubCpu *c = &cache->cache[start]->cpu[cpu->id];

    for (guint i = 0; i < SLAB_N_STATS; i++)
        before->stat[i] = c->stat[i] - before->stat[i];
}

/* Under all the others of the list: the kernel has passed it over, so it is not where the model thought. */
static void
put_last(SlubCache *slub, SlabId id, guint cpu)
{
    SlabId above[SLUB_BULK_MAX];
    guint n = 0;

    while (slub->cpu[cpu].partial && n < SLUB_BULK_MAX) {
        above[n] = slub->cpu[cpu].partial;
        slub_place_take(slub, above[n++]);
    }
    slub_place_put(slub, id, SLUB_PLACE_CPU_PARTIAL, cpu);
    while (n)
        slub_place_put(slub, above[--n], SLUB_PLACE_CPU_PARTIAL, cpu);
}

/* Slabs that came with the first one from the node list go back in front of it. */
static void
return_extra(SlubCache *slub, guint cpu, guint64 n)
{
    while (n-- && slub->cpu[cpu].partial) {
        SlabId id = slub->cpu[cpu].partial;

        slub_place_take(slub, id);
        slub_place_put(slub, id, SLUB_PLACE_NODE_HEAD, cpu);
    }
}

gboolean
guide_give_back(SlubCache *slub, guint cpu, SlabId id)
{
    SlubCpu *c = &slub->cpu[cpu];
    Slab *slab = &slub->system->arena.slab[id];
    gboolean is_alive = slab->objects && slab->cache == slub->index;

    if (id && c->slab == id) {
        c->free++;
        c->n_objects--;
        return TRUE;
    }
    if (id && is_alive && slub_place_n_inuse(slub, id) > 0) {
        if (slab->inuse == slab->objects && !(slab->flags & SLAB_FROZEN))
            slub_place_put(slub, id, SLUB_PLACE_AWAY, cpu);
        slab->inuse--;
        c->n_objects--;
    }
    return FALSE;
}

void
guide_undo(SlubCache *slub, guint cpu, const GuideAlloc *alloc, gboolean is_wrong_again)
{
    const GuidePrediction *did = &alloc->did;
    GuideSource source = guide_source(did);
    SlabId got = alloc->got;

    if (!guide_give_back(slub, cpu, got) || source == GUIDE_FAST || source == GUIDE_REFILL)
        return;
    slub_place_take(slub, got);
    if (source == GUIDE_NEW) {
        slub_place_discard(slub, got);
    } else if (source == GUIDE_CPU_PARTIAL) {
        if (is_wrong_again)
            put_last(slub, got, cpu);
        else
            slub_place_put(slub, got, SLUB_PLACE_CPU_PARTIAL, cpu);
    } else {
        return_extra(slub, cpu, did->stat[SLAB_STAT_CPU_PARTIAL_NODE]);
        slub_place_put(slub, got, is_wrong_again ? SLUB_PLACE_NODE_TAIL : SLUB_PLACE_NODE_HEAD, cpu);
    }
}

/* get_partial_node() of the kernel went on behind the first slab. */
static void
take_extra(SlubCache *slub, const MachCpu *cpu, guint n)
{
    while (n-- && slub->node[cpu->mem_node].partial.head) {
        SlabId id = slub->node[cpu->mem_node].partial.head;

        slub_place_take(slub, id);
        slub_place_put(slub, id, SLUB_PLACE_CPU_PARTIAL, cpu->id);
    }
}

/* The kernel has moved on: the CPU's slab was used up, and what the model has freed into it had not arrived. It will
 * go to the list of a CPU that is in the middle of such a free. */
static void
leave_cpu_slab(ReplayGuide *guide, gint cache_index, guint start, guint cpu)
{
    SlubCache *slub = guide_cache(guide, cache_index)->cache[start];
    SlabId id = slub->cpu[cpu].slab;
    Slab *slab = &slub->system->arena.slab[id];

    slub_place_take(slub, id);
    slub->cpu[cpu].n_objects += slab->objects - slab->inuse;
    slab->inuse = slab->objects;
}

void
guide_force(ReplayGuide *guide, gint cache_index, guint start, MachCpu *cpu, SlabId id, const GuideAlloc *alloc,
            const guint *seen)
{
    const GuidePrediction *did = &alloc->did;
    ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlubCache *slub = cache->cache[start];
    SlubCpu *c = &slub->cpu[cpu->id];
    Slab *slab = &slub->system->arena.slab[id];

    GuideSource actual = guide_source_seen(seen, id == did->old_slab);
    GuideSlab *passed = guide_slab(guide, start, alloc->got);

    guide_undo(slub, cpu->id, alloc, passed->was_passed_over);
    passed->was_passed_over = !passed->was_passed_over;
    passed->is_doubted |= guide_source(did) != GUIDE_REFILL && guide_source(did) != GUIDE_FAST;
    guide_contradict(guide, cache_index, start, cpu, id, actual);
    /* Whoever goes to the node has nothing left on the CPU's list. */
    while (c->partial && (actual == GUIDE_NEW || (actual == GUIDE_NODE && guide_source(did) != GUIDE_NODE))) {
        SlabId left = c->partial;

        guide_doubt(guide, start, left);
        slub_place_take(slub, left);
        slub_place_put(slub, left, SLUB_PLACE_NODE_TAIL, cpu->id);
    }
    if (c->slab && c->slab != id)
        leave_cpu_slab(guide, cache_index, start, cpu->id);
    if (c->slab != id) {
        slub_place_take(slub, id);
        if (slab->inuse == slab->objects) {
            guint n = guide_slab(guide, start, id)->is_uncertain ? slab->objects : 1;

            slab->inuse = (guint16) (slab->inuse - n);
            c->n_objects -= n;
        }
        slub_place_put(slub, id, SLUB_PLACE_CPU, cpu->id);
    } else if (c->free == 0) {
        c->free++;
        c->n_objects--;
    }
    c->free--;
    c->n_objects++;
    if (actual == GUIDE_NODE)
        take_extra(slub, cpu, seen[KMEM_PROBE_PUT_CPU_PARTIAL]);
}

/* A slab that nobody has seen was on the node list of the model only: as the kernel made a new one, it is not there.
 * It counts as full from now on, until it is seen. */
void
guide_hide(ReplayGuide *guide, gint cache_index, guint start, const MachCpu *cpu, SlabId id)
{
    const ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlubCache *slub = cache->cache[start];
    Slab *slab = &slub->system->arena.slab[id];

    slub_place_take(slub, id);
    slub->cpu[cpu->id].n_objects += slab->objects - slab->inuse;
    slab->inuse = slab->objects;
}

void
guide_send_away(ReplayGuide *guide, gint cache_index, guint start, guint node)
{
    const ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlubCache *slub = cache->cache[start];

    while (slub->node[node].partial.head) {
        GuideAway away = {cache_index, slub->node[node].partial.head};

        guide_doubt(guide, start, away.slab);
        slub_place_take(slub, away.slab);
        slub_place_put(slub, away.slab, SLUB_PLACE_AWAY, 0);
        g_array_append_val(guide->away[start], away);
    }
}

void
guide_bring_back(ReplayGuide *guide, gint cache_index, guint start)
{
    const ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlubCache *slub = cache->cache[start];
    GArray *away = guide->away[start];
    guint n_kept = 0, cpu;

    for (guint i = 0; i < away->len; i++) {
        GuideAway one = g_array_index(away, GuideAway, i);
        const Slab *slab = &slub->system->arena.slab[one.slab];

        if (one.cache != cache_index) {
            g_array_index(away, GuideAway, n_kept++) = one;
        } else if (slab->objects && slab->cache == slub->index && slab->inuse < slab->objects &&
                   slub_place_find(slub, one.slab, &cpu) == SLUB_PLACE_AWAY) {
            slub_place_take(slub, one.slab);
            slub_place_put(slub, one.slab, SLUB_PLACE_NODE_TAIL, 0);
        }
    }
    g_array_set_size(away, n_kept);
}

void
guide_restore_cpu_slab(ReplayGuide *guide, gint cache_index, guint start, const MachCpu *cpu, SlabId old)
{
    const ReplayCache *cache = g_ptr_array_index(guide->replay->caches, cache_index);
    SlubCache *slub = cache->cache[start];
    const Slab *slab = &slub->system->arena.slab[old];

    if (!old || slub->cpu[cpu->id].slab || !slab->objects || slab->cache != slub->index)
        return;
    slub_place_take(slub, old);
    slub_place_put(slub, old, SLUB_PLACE_CPU_USED_UP, cpu->id);
}

void
guide_need_objects(SlubCache *slub, SlabId id, guint n)
{
    Slab *slab = &slub->system->arena.slab[id];
    guint n_inuse = slub_place_n_inuse(slub, id);

    if (n_inuse >= n)
        return;
    n -= n_inuse;
    for (guint cpu = 0; cpu < slub->system->machine->n_cpus; cpu++)
        if (slub->cpu[cpu].slab == id && slub->cpu[cpu].free >= n) {
            slub->cpu[cpu].free -= n;
            slub->cpu[cpu].n_objects += n;
            return;
        }
    /* A full slab is on no list. */
    if (slab->inuse + n >= slab->objects)
        slub_place_take(slub, id);
    n = MIN(n, (guint) slab->objects - slab->inuse);
    slab->inuse = (guint16) (slab->inuse + n);
    slub->cpu[0].n_objects += n;
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

/* It did not: the slab had been free in part before, and is wherever it was then. */
static void
correct_no_put(ReplayGuide *guide, gint cache, guint cpu, guint start, SlabId id)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];
    guint on_cpu = 0;

    if (slub_place_find(slub, id, &on_cpu) != SLUB_PLACE_CPU_PARTIAL || on_cpu != cpu)
        return;
    slub_place_take(slub, id);
    slub_place_put(slub, id, SLUB_PLACE_AWAY, cpu);
    guide_doubt(guide, start, id);
    guide_slab(guide, start, id)->is_uncertain = TRUE;
}

/* The kernel drained: the list had slabs that the model does not know of. */
static void
correct_drain(ReplayGuide *guide, gint cache, guint cpu_id, guint start, SlabId keep)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];
    MachCpu *cpu = replay_cpu(guide->replay, start, cpu_id, 0);
    SlabId first;

    slub_place_take(slub, keep);
    first = slub->cpu[cpu_id].partial;
    slub->cpu[cpu_id].partial = 0;
    if (first)
        slub->generation->put_partials(slub, cpu, first);
    slub_place_put(slub, keep, SLUB_PLACE_CPU_PARTIAL, cpu_id);
    if (start > 0)
        return;
    for (guint node = 0; node < guide->replay->topology->n_nodes; node++)
        guide_know_node(guide, cache, node, FALSE);
    guide_know_list(guide, cache, cpu_id, TRUE);
}

/* The kernel did not drain: what the model gave to the node list comes back under the slab put last. The list was
 * shorter than thought, by nobody knows which. */
static void
correct_no_drain(ReplayGuide *guide, gint cache, guint cpu, const GuidePrediction *did, SlabId last)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[0];
    const Slab *arena = slub->system->arena.slab;
    guint on_cpu = 0;
    gboolean is_on_top = slub_place_find(slub, last, &on_cpu) == SLUB_PLACE_CPU_PARTIAL && on_cpu == cpu;

    if (is_on_top)
        slub_place_take(slub, last);
    for (guint i = did->n_chain; i-- > 0;)
        if (arena[did->chain[i]].objects && arena[did->chain[i]].cache == slub->index &&
            arena[did->chain[i]].flags & SLAB_ON_PARTIAL) {
            slub_place_take(slub, did->chain[i]);
            slub_place_put(slub, did->chain[i], SLUB_PLACE_CPU_PARTIAL, cpu);
            guide_doubt(guide, 0, did->chain[i]);
        }
    if (is_on_top)
        slub_place_put(slub, last, SLUB_PLACE_CPU_PARTIAL, cpu);
    guide_know_list(guide, cache, cpu, did->list.is_known);
}

/* Whether an empty slab of the node list stays there depends on how many that has. */
static void
correct_discard(ReplayGuide *guide, gint cache, guint start, SlabId id, gboolean is_discarded)
{
    SlubCache *slub = guide_cache(guide, cache)->cache[start];
    guint node = slub->system->arena.slab[id].node;

    guide_doubt_node(guide, cache, start, node, 0);
    if (start == 0)
        guide_know_node(guide, cache, node, FALSE);
    if (is_discarded && slub_place_n_inuse(slub, id) == 0) {
        slub_place_take(slub, id);
        slub_place_discard(slub, id);
    }
}

void
guide_correct_free(ReplayGuide *guide, gint cache, guint cpu, const GuidePending *p)
{
    const GuidePrediction *did = &p->predicted;
    gboolean is_put = p->seen[KMEM_PROBE_PUT_CPU_PARTIAL] > 0, is_drained = p->seen[KMEM_PROBE_UNFREEZE] > 0;
    gboolean is_discarded = p->seen[KMEM_PROBE_DISCARD_SLAB] > 0;
    gboolean did_put = did->stat[SLAB_STAT_CPU_PARTIAL_FREE] > 0;
    gboolean did_drain = did->stat[SLAB_STAT_CPU_PARTIAL_DRAIN] > 0;

    if (!p->seen[KMEM_PROBE_FREE_SLOW] || !did->stat[SLAB_STAT_FREE_SLOWPATH])
        return;
    for (guint start = 0; start < guide->replay->params.n_starts; start++) {
        SlabId id = guide_find(guide, cache, start, p->recorded);
        SlubCache *slub = guide_cache(guide, cache)->cache[start];

        if (!id && !is_discarded && did->stat[SLAB_STAT_FREE_SLAB]) {
            id = slub_place_new(slub, replay_cpu(guide->replay, start, cpu, 0)->mem_node, 0, SLUB_PLACE_NODE_TAIL, cpu);
            guide_bind(guide, cache, start, p->recorded, id, FALSE);
            correct_discard(guide, cache, start, id, FALSE);
        }
        if (!id)
            continue;
        if (start == 0 && did_drain && !is_drained)
            correct_no_drain(guide, cache, cpu, did, id);
        if (is_put && !did_put)
            correct_put(guide, cache, cpu, start, id);
        if (is_put)
            guide_slab(guide, start, id)->is_doubted = FALSE;
        if (!is_put && did_put)
            correct_no_put(guide, cache, cpu, start, id);
        if (is_drained && !did_drain)
            correct_drain(guide, cache, cpu, start, id);
        if (is_discarded && !is_put && !did->stat[SLAB_STAT_FREE_SLAB])
            correct_discard(guide, cache, start, id, TRUE);
    }
}

/* The slab of an object, which is replaced by a new full one when it is gone. */
static SlabId
living_slab(ReplayGuide *guide, const ReplayCache *cache, guint start, SlabId id)
{
    SlubCache *slub = cache->cache[start];
    const Slab *slab = &slub->system->arena.slab[id];

    if (id && slab->objects && slab->cache == slub->index)
        return id;
    return slub_place_new(slub, replay_cpu(guide->replay, start, 0, 0)->mem_node, cache->geometry.objects,
                          SLUB_PLACE_NONE, 0);
}

/* What is in use and not the trace's own is from before it. */
static void
settle_old_objects(ReplayGuide *guide, guint start, const ReplayTable *counts)
{
    const SlubSystem *system = guide->replay->world[start].system;

    for (SlabId id = 1; id < system->arena.n_used; id++) {
        const Slab *slab = &system->arena.slab[id];
        const guint32 *n = replay_table_find(counts, id);
        guint n_inuse = slab->objects ? slub_place_n_inuse(system->cache[slab->cache], id) : 0;

        *replay_old_objects(guide->replay, start, id) = (guint16) (n_inuse - MIN(n_inuse, n ? *n : 0));
    }
}

void
guide_settle_objects(ReplayGuide *guide, guint start)
{
    ReplayTable *objects = &guide->replay->objects;
    ReplayTable counts;

    replay_table_init(&counts, 1);
    for (gsize i = 0; i < objects->capacity; i++) {
        guint32 *object = objects->value + i * objects->width;
        const ReplayCache *cache;
        guint32 *n;

        if (!objects->key[i] || object[0] == 0)
            continue;
        cache = g_ptr_array_index(guide->replay->caches, object[0] - 1);
        object[1 + start] = living_slab(guide, cache, start, object[1 + start]);
        n = replay_table_add(&counts, object[1 + start]);
        if (*n == cache->geometry.objects) { /* more than it can hold: the followed state was wrong here */
            object[1 + start] = living_slab(guide, cache, start, 0);
            n = replay_table_add(&counts, object[1 + start]);
        }
        (*n)++;
        guide_need_objects(cache->cache[start], object[1 + start], *n);
    }
    settle_old_objects(guide, start, &counts);
    replay_table_clear(&counts);
}
