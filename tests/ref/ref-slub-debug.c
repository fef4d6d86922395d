/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* Debug caches: slub-facts B.5. Nothing ever stays on a CPU, but for the cpu partial list of the what-if of 2016. */

static RefObject *
activate_alloc(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];
    RefObject *object = ref__alloc_whole_slab(slub, cpu, node);

    if (object == NULL)
        return NULL;
    /* The last object of a slab sends it to the list of full slabs, under the lock. */
    if (c->freelist == NULL && slub->params.store_user)
        ref__lock(slub, c->slab->node, REF_LOCK_DEACTIVATE_SLAB);
    ref__deactivate_cpu_slab(slub, cpu);
    return object;
}

static RefObject *
take_one(RefSlab *slab)
{
    RefObject *object = slab->freelist;

    slab->freelist = object->next;
    slab->inuse++;
    return object;
}

static RefObject *
single_from_node(RefSlub *slub, guint node, RefLockSite site)
{
    RefSlab *slab = g_queue_peek_head(&slub->nodes[node].partial);
    RefObject *object;

    if (slab == NULL)
        return NULL;
    ref__lock(slub, node, site);
    object = take_one(slab);
    if (slab->freelist == NULL)
        ref__node_remove(slub, slab);
    return object;
}

static RefObject *
single_from_any(RefSlub *slub, guint cpu)
{
    const RefParams *p = &slub->params;
    const guint *order = &p->zonelist[ref__cpu_mem_node(slub, cpu) * p->n_nodes];

    if (p->defrag_ratio == 0 || (p->skip_any_partial != NULL && p->skip_any_partial(p->user_data)))
        return NULL;
    for (guint i = 0; i < p->n_nodes; i++)
        if (ref_slub_nr_partial(slub, order[i]) > p->min_partial)
            return single_from_node(slub, order[i], REF_LOCK_GET_ANY_PARTIAL);
    return NULL;
}

static RefObject *
single_from_new(RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    RefSlab *slab = ref__slab_new(slub, cpu, node, thisnode);
    RefObject *object;

    if (slab == NULL)
        return NULL;
    ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLAB);
    object = take_one(slab);
    ref__lock(slub, slab->node, REF_LOCK_DEBUG_NEW);
    if (slab->freelist != NULL)
        ref__node_add(slub, slab, FALSE);
    return object;
}

static RefObject *
single_pass(RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    guint search = node != REF_NO_NODE ? (guint) node : ref__cpu_mem_node(slub, cpu);
    RefObject *object = single_from_node(slub, search, REF_LOCK_GET_PARTIAL_NODE);

    if (object == NULL && !(node != REF_NO_NODE && (thisnode || !slub->rules.preferred_node_passes)))
        object = single_from_any(slub, cpu);
    return object != NULL ? object : single_from_new(slub, cpu, node, thisnode);
}

static RefObject *
single_alloc(RefSlub *slub, guint cpu, gint node)
{
    RefObject *object = NULL;

    ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    if (node != REF_NO_NODE && !slub->params.node_has_memory[node])
        node = REF_NO_NODE;
    if (node != REF_NO_NODE && slub->rules.preferred_node_passes)
        object = single_pass(slub, cpu, node, TRUE);
    return object != NULL ? object : single_pass(slub, cpu, node, FALSE);
}

RefObject *
ref__debug_alloc(RefSlub *slub, guint cpu, gint node)
{
    return slub->params.debug == REF_DEBUG_ACTIVATE ? activate_alloc(slub, cpu, node) : single_alloc(slub, cpu, node);
}

static void
single_free(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n)
{
    RefSlab *slab = head->slab;
    gboolean was_full = slab->freelist == NULL;

    ref__stat(slub, cpu, SLAB_STAT_FREE_SLOWPATH);
    ref__lock(slub, slab->node, REF_LOCK_DEBUG_FREE);
    tail->next = slab->freelist;
    slab->freelist = head;
    slab->inuse -= n;
    if (slab->inuse == 0 && ref__node_has_enough(slub, slab)) {
        if (!was_full) {
            ref__node_remove(slub, slab);
            ref__stat(slub, cpu, SLAB_STAT_FREE_REMOVE_PARTIAL);
        }
        ref__stat(slub, cpu, SLAB_STAT_FREE_SLAB);
        ref__slab_discard(slub, slab);
    } else if (was_full) {
        ref__node_add(slub, slab, TRUE);
        ref__stat(slub, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
    }
}

void
ref__debug_free(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n)
{
    if (slub->params.debug == REF_DEBUG_ACTIVATE) {
        ref__lock(slub, head->slab->node, REF_LOCK_DEBUG_FREE);
        ref__free_normal(slub, cpu, head, tail, n);
    } else {
        single_free(slub, cpu, head, tail, n);
    }
}
