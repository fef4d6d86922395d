/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* ___slab_alloc() and what it calls: slub-facts B.1 "Alloc slow path", B.2 for 6.8 and later. */

static gboolean
node_matches(const RefSlab *slab, gint node)
{
    return node == REF_NO_NODE || slab->node == (guint) node;
}

/* Steps 3 to 5: what the present cpu slab still gives; NULL leaves the CPU without a slab. */
static RefObject *
take_from_cpu_slab(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];

    if (c->slab == NULL)
        return NULL;
    if (!node_matches(c->slab, node)) {
        ref__stat(slub, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH);
        ref__deactivate_cpu_slab(slub, cpu);
        return NULL;
    }
    if (c->freelist != NULL)
        return c->freelist;

    RefObject *list = ref__slab_take_freelist(c->slab);
    if (list == NULL) {
        c->slab = NULL;
        ref__stat(slub, cpu, SLAB_STAT_DEACTIVATE_BYPASS);
    } else {
        ref__stat(slub, cpu, SLAB_STAT_ALLOC_REFILL);
    }
    return list;
}

/* Step 6 to 6.7: a popped slab becomes the cpu slab and goes through the very same tests. */
static RefObject *
pop_frozen(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];
    RefObject *list = NULL;

    while (list == NULL && c->partial != NULL) {
        c->slab = ref__cpu_partial_pop(c);
        ref__stat(slub, cpu, SLAB_STAT_CPU_PARTIAL_ALLOC);
        list = take_from_cpu_slab(slub, cpu, node);
    }
    return list;
}

/* Step 6 from 6.8: a popped slab of another node is put on its node's list, the right one is frozen. */
static RefObject *
pop_unfrozen(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];

    while (c->partial != NULL) {
        RefSlab *slab = ref__cpu_partial_pop(c);
        gboolean matches = node_matches(slab, node);

        if (matches || slub->rules.counts_pop_before_test)
            ref__stat(slub, cpu, SLAB_STAT_CPU_PARTIAL_ALLOC);
        if (matches) {
            c->slab = slab;
            return ref__slab_take_freelist(slab);
        }
        ref__unfreeze_chain(slub, cpu, slab);
    }
    return NULL;
}

/* Whether get_partial_node() takes no more after `n_extra` slabs went to the cpu partial list and slabs with `n_free`
 * objects in all were taken. */
static gboolean
refill_is_enough(const RefSlub *slub, guint n_extra, guint n_free)
{
    const RefParams *p = &slub->params;

    if (!p->has_cpu_partial)
        return TRUE;
    if (!slub->rules.limit_in_slabs)
        return n_free > p->cpu_partial / 2;
    if (slub->rules.zero_limit_stops_refill && p->cpu_partial_slabs == 0)
        return TRUE;
    return n_extra > p->cpu_partial_slabs / 2;
}

/* get_partial_node(): the first slab for the caller, further ones for the cpu partial list, one lock hold. */
static RefSlab *
get_partial_node(RefSlub *slub, guint cpu, guint node, RefLockSite site)
{
    GQueue *list = &slub->nodes[node].partial;
    RefSlab *first = NULL;
    guint n_extra = 0, n_free = 0;

    if (g_queue_is_empty(list))
        return NULL;
    ref__lock(slub, node, site);
    while (!g_queue_is_empty(list)) {
        RefSlab *slab = g_queue_peek_head(list);

        n_free += slab->n_objects - slab->inuse;
        ref__node_remove(slub, slab);
        if (!slub->rules.delayed_freezing)
            slab->frozen = TRUE;
        if (first == NULL) {
            first = slab;
            ref__stat(slub, cpu, SLAB_STAT_ALLOC_FROM_PARTIAL);
        } else {
            ref__cpu_partial_put(slub, cpu, slab, FALSE);
            ref__stat(slub, cpu, SLAB_STAT_CPU_PARTIAL_NODE);
            n_extra++;
        }
        if (refill_is_enough(slub, n_extra, n_free))
            break;
    }
    return first;
}

static RefSlab *
get_any_partial(RefSlub *slub, guint cpu)
{
    const RefParams *p = &slub->params;
    const guint *order = &p->zonelist[ref__cpu_mem_node(slub, cpu) * p->n_nodes];

    if (p->defrag_ratio == 0 || (p->skip_any_partial != NULL && p->skip_any_partial(p->user_data)))
        return NULL;
    for (guint i = 0; i < p->n_nodes; i++)
        if (ref_slub_nr_partial(slub, order[i]) > p->min_partial)
            return get_partial_node(slub, cpu, order[i], REF_LOCK_GET_ANY_PARTIAL);
    return NULL;
}

static RefSlab *
get_partial(RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    guint search = node != REF_NO_NODE ? (guint) node : ref__cpu_mem_node(slub, cpu);
    RefSlab *slab = get_partial_node(slub, cpu, search, REF_LOCK_GET_PARTIAL_NODE);
    gboolean stay = node != REF_NO_NODE && (thisnode || !slub->rules.preferred_node_passes);

    if (slab != NULL || stay)
        return slab;
    return get_any_partial(slub, cpu);
}

/* Steps 7 and 8 under one node constraint. */
static RefSlab *
get_slab(RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    RefSlab *slab = get_partial(slub, cpu, node, thisnode);

    if (slab != NULL)
        return slab;
    slab = ref__slab_new(slub, cpu, node, thisnode);
    if (slab != NULL)
        ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLAB);
    return slab;
}

static RefObject *
load_slab(RefSlub *slub, guint cpu, gint node)
{
    RefSlab *slab = NULL;

    if (node != REF_NO_NODE && slub->rules.preferred_node_passes)
        slab = get_slab(slub, cpu, node, TRUE);
    if (slab == NULL)
        slab = get_slab(slub, cpu, node, FALSE);
    if (slab == NULL)
        return NULL;
    slub->cpus[cpu].slab = slab;
    return ref__slab_take_freelist(slab);
}

RefObject *
ref__alloc_slow(RefSlub *slub, guint cpu, gint node)
{
    return slub->params.debug != REF_DEBUG_NONE ? ref__debug_alloc(slub, cpu, node)
                                                : ref__alloc_whole_slab(slub, cpu, node);
}

RefObject *
ref__alloc_whole_slab(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];

    ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    if (node != REF_NO_NODE && !slub->params.node_has_memory[node])
        node = REF_NO_NODE;

    RefObject *list = take_from_cpu_slab(slub, cpu, node);
    if (list == NULL)
        list = slub->rules.delayed_freezing ? pop_unfrozen(slub, cpu, node) : pop_frozen(slub, cpu, node);
    if (list == NULL)
        list = load_slab(slub, cpu, node);
    if (list != NULL)
        c->freelist = list->next;
    return list;
}
