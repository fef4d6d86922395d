/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* How slabs leave the CPUs: cpu partial lists, deactivation, flush, shrink. slub-facts B.1 from "put_cpu_partial" to
 * "discard_slab"; B.2. */

#define SHRINK_PROMOTE_MAX 32 /* mm/slub.c: slabs with at most so many free objects are sorted */

RefSlab *
ref__cpu_partial_pop(RefCpu *cpu)
{
    RefSlab *slab = cpu->partial;

    cpu->partial = slab->next;
    slab->next = NULL;
    return slab;
}

void
ref__unfreeze_chain(RefSlub *slub, guint cpu, RefSlab *chain)
{
    gint locked_node = REF_NO_NODE;
    GSList *set_aside = NULL;

    while (chain != NULL) {
        RefSlab *slab = chain;
        chain = slab->next;
        slab->next = NULL;

        if (locked_node != (gint) slab->node) {
            locked_node = (gint) slab->node;
            ref__lock(slub, slab->node, REF_LOCK_UNFREEZE_PARTIALS);
        }
        slab->frozen = FALSE;
        if (slab->inuse == 0 && ref__node_has_enough(slub, slab)) {
            set_aside = g_slist_prepend(set_aside, slab);
        } else {
            ref__node_add(slub, slab, TRUE);
            ref__stat(slub, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
        }
    }
    for (GSList *l = set_aside; l != NULL; l = l->next) {
        ref__stat(slub, cpu, SLAB_STAT_DEACTIVATE_EMPTY);
        ref__slab_discard(slub, l->data);
        ref__stat(slub, cpu, SLAB_STAT_FREE_SLAB);
    }
    g_slist_free(set_aside);
}

static void
unfreeze_all(RefSlub *slub, guint cpu)
{
    RefSlab *chain = g_steal_pointer(&slub->cpus[cpu].partial);

    ref__unfreeze_chain(slub, cpu, chain);
}

static gboolean
cpu_partial_is_full(const RefSlub *slub, const RefSlab *head)
{
    if (slub->rules.limit_in_slabs)
        return head->slabs >= slub->params.cpu_partial_slabs;
    return head->pobjects > slub->params.cpu_partial;
}

void
ref__cpu_partial_put(RefSlub *slub, guint cpu, RefSlab *slab, gboolean drain)
{
    RefCpu *c = &slub->cpus[cpu];
    RefSlab *old = c->partial;
    RefSlab *overflow = NULL;

    if (old != NULL && drain && cpu_partial_is_full(slub, old)) {
        overflow = old;
        old = NULL;
    }
    slab->slabs = (old != NULL ? old->slabs : 0) + 1;
    slab->pobjects = (old != NULL ? old->pobjects : 0) + slab->n_objects - slab->inuse;
    slab->next = old;
    c->partial = slab;

    if (overflow != NULL) {
        ref__unfreeze_chain(slub, cpu, overflow);
        ref__stat(slub, cpu, SLAB_STAT_CPU_PARTIAL_DRAIN);
    }
    if (slub->rules.zero_limit_drains && slub->params.cpu_partial == 0)
        unfreeze_all(slub, cpu);
}

/* Puts the private list back in front of the slab's own: as it is, or to 5.11 object by object and so reversed,
 * except that the last object is only put back together with the unfreezing; it ends up in front all the same. */
static void
give_back(RefSlub *slub, RefSlab *slab, RefObject *list)
{
    RefObject *tail = list;

    if (list == NULL)
        return;
    if (slub->rules.deactivate_splices) {
        for (slab->inuse--; tail->next != NULL; tail = tail->next)
            slab->inuse--;
        tail->next = slab->freelist;
        slab->freelist = list;
        return;
    }
    while (list != NULL) {
        RefObject *object = list;
        list = list->next;
        object->next = slab->freelist;
        slab->freelist = object;
        slab->inuse--;
    }
}

void
ref__deactivate_cpu_slab(RefSlub *slub, guint cpu)
{
    RefCpu *c = &slub->cpus[cpu];
    RefSlab *slab = g_steal_pointer(&c->slab);
    RefObject *list = g_steal_pointer(&c->freelist);
    gboolean to_tail = slab->freelist != NULL;

    if (to_tail)
        ref__stat(slub, cpu, SLAB_STAT_DEACTIVATE_REMOTE_FREES);
    give_back(slub, slab, list);
    slab->frozen = FALSE;

    if (slab->inuse == 0 && ref__node_has_enough(slub, slab)) {
        ref__stat(slub, cpu, SLAB_STAT_DEACTIVATE_EMPTY);
        ref__slab_discard(slub, slab);
        ref__stat(slub, cpu, SLAB_STAT_FREE_SLAB);
    } else if (slab->freelist != NULL) {
        ref__lock(slub, slab->node, REF_LOCK_DEACTIVATE_SLAB);
        ref__node_add(slub, slab, to_tail);
        ref__stat(slub, cpu, to_tail ? SLAB_STAT_DEACTIVATE_TO_TAIL : SLAB_STAT_DEACTIVATE_TO_HEAD);
    } else {
        ref__stat(slub, cpu, SLAB_STAT_DEACTIVATE_FULL);
    }
}

void
ref_slub_flush_cpu(RefSlub *slub, guint cpu)
{
    if (slub->cpus[cpu].slab != NULL) {
        ref__deactivate_cpu_slab(slub, cpu);
        ref__stat(slub, cpu, SLAB_STAT_CPUSLAB_FLUSH);
    }
    unfreeze_all(slub, cpu);
}

void
ref_slub_flush_all(RefSlub *slub)
{
    for (guint cpu = 0; cpu < slub->params.n_cpus; cpu++)
        ref_slub_flush_cpu(slub, cpu);
}

void
ref_slub_set_cpu_partial(RefSlub *slub, guint objects, guint slabs)
{
    g_assert_true(slub->params.has_cpu_partial || (objects == 0 && slabs == 0));
    slub->params.cpu_partial = objects;
    slub->params.cpu_partial_slabs = slabs;
    ref_slub_flush_all(slub);
}

/* Takes the node's list apart and puts it together again in the new order. */
static guint
sort_list(RefSlub *slub, RefNode *node)
{
    GQueue buckets[SHRINK_PROMOTE_MAX + 1] = {0};
    GQueue rest = G_QUEUE_INIT;
    guint n_freed = 0;
    RefSlab *slab;

    while ((slab = g_queue_pop_head(&node->partial)) != NULL) {
        guint n_free = slab->n_objects - slab->inuse;

        if (n_free == slab->n_objects) {
            slab->node_partial_flag = FALSE;
            ref__slab_discard(slub, slab);
            n_freed++;
        } else if (n_free <= SHRINK_PROMOTE_MAX) {
            g_queue_push_head(&buckets[n_free], slab);
        } else {
            g_queue_push_tail(&rest, slab);
        }
    }
    for (guint i = 1; i <= SHRINK_PROMOTE_MAX; i++)
        while ((slab = g_queue_pop_head(&buckets[i])) != NULL)
            g_queue_push_tail(&node->partial, slab);
    while ((slab = g_queue_pop_head(&rest)) != NULL)
        g_queue_push_tail(&node->partial, slab);
    return n_freed;
}

guint
ref__shrink_node(RefSlub *slub, guint node)
{
    if (!slub->params.node_has_memory[node])
        return 0;
    ref__lock(slub, node, REF_LOCK_SHRINK);
    return sort_list(slub, &slub->nodes[node]);
}

guint
ref_slub_shrink(RefSlub *slub)
{
    guint n_freed = 0;

    ref_slub_flush_all(slub);
    for (guint i = 0; i < slub->params.n_nodes; i++)
        n_freed += ref__shrink_node(slub, i);
    return n_freed;
}

gboolean
ref_slub_destroy_check(RefSlub *slub)
{
    ref_slub_flush_all(slub);
    for (guint i = 0; i < slub->params.n_nodes; i++) {
        if (!slub->params.node_has_memory[i])
            continue;
        ref__lock(slub, i, REF_LOCK_DESTROY);
        for (GList *l = slub->nodes[i].partial.head, *next; l != NULL; l = next) {
            RefSlab *slab = l->data;

            next = l->next;
            if (slab->inuse == 0) {
                ref__node_remove(slub, slab);
                ref__slab_discard(slub, slab);
            }
        }
    }
    return ref_slub_nr_slabs(slub, -1) == 0;
}
