/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* Slabs without a cpu slab: slub-facts B.4 "refill_objects", "Slow path", "__slab_free (7.0)"; of debug caches B.5. */

static gboolean
is_debug(const RefSlub *slub)
{
    return slub->params.debug != REF_DEBUG_NONE;
}

static RefObject *
pop_object(RefSlab *slab)
{
    RefObject *object = slab->freelist;

    slab->freelist = object->next;
    slab->inuse++;
    object->next = NULL;
    object->allocated = TRUE;
    return object;
}

/* One object of the node's first slab; a slab that has no more leaves the list. */
static RefObject *
from_partial_node(RefSlub *slub, guint node, RefLockSite site)
{
    RefSlab *slab = g_queue_peek_head(&slub->nodes[node].partial);
    RefObject *object;

    if (slab == NULL)
        return NULL;
    ref__lock(slub, node, site);
    object = pop_object(slab);
    if (slab->freelist == NULL)
        ref__node_remove(slub, slab);
    return object;
}

static gboolean
skips_other_nodes(const RefSlub *slub)
{
    const RefParams *p = &slub->params;

    return p->defrag_ratio == 0 || (p->skip_any_partial != NULL && p->skip_any_partial(p->user_data));
}

/* Only nodes with more than min_partial slabs count, the own one too. */
static gboolean
is_rich(const RefSlub *slub, guint node)
{
    return ref_slub_nr_partial(slub, node) > slub->params.min_partial;
}

static const guint *
nodes_by_distance(const RefSlub *slub, guint cpu)
{
    return &slub->params.zonelist[ref__cpu_mem_node(slub, cpu) * slub->params.n_nodes];
}

static RefObject *
from_any_partial(RefSlub *slub, guint cpu)
{
    const guint *order = nodes_by_distance(slub, cpu);

    if (skips_other_nodes(slub))
        return NULL;
    for (guint i = 0; i < slub->params.n_nodes; i++)
        if (is_rich(slub, order[i]))
            return from_partial_node(slub, order[i], REF_LOCK_FROM_ANY);
    return NULL;
}

/* Takes up to n objects of a new slab; what is left of it goes to the HEAD of its node's list. */
static guint
from_new_slab(RefSlub *slub, guint cpu, gint node, gboolean thisnode, guint n, RefObject **ret_objects)
{
    RefSlab *slab = ref__slab_new(slub, cpu, node, thisnode);
    guint n_got = 0;

    if (slab == NULL)
        return 0;
    ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLAB);
    while (n_got < n && slab->freelist != NULL)
        ret_objects[n_got++] = pop_object(slab);
    /* A debug cache's lock is taken even if nothing is left. */
    if (is_debug(slub) || slab->freelist != NULL)
        ref__lock(slub, slab->node, is_debug(slub) ? REF_LOCK_DEBUG_NEW : REF_LOCK_NEW_SLAB);
    if (slab->freelist != NULL)
        ref__node_add(slub, slab, FALSE);
    return n_got;
}

static RefObject *
alloc_uncounted(RefSlub *slub, guint cpu, gint node)
{
    guint search = node == REF_NO_NODE ? ref__cpu_mem_node(slub, cpu) : (guint) node;
    RefObject *object = NULL;

    if (node != REF_NO_NODE) { /* the wanted node alone first: its list, its pages */
        object = from_partial_node(slub, search, REF_LOCK_FROM_PARTIAL);
        if (object != NULL || from_new_slab(slub, cpu, node, TRUE, 1, &object) == 1)
            return object;
    }
    object = from_partial_node(slub, search, REF_LOCK_FROM_PARTIAL);
    if (object == NULL)
        object = from_any_partial(slub, cpu);
    if (object == NULL)
        from_new_slab(slub, cpu, node, FALSE, 1, &object);
    return object;
}

RefObject *
ref__direct_alloc(RefSlub *slub, guint cpu, gint node)
{
    ref__stat(slub, cpu, SLAB_STAT_ALLOC_SLOWPATH);
    return alloc_uncounted(slub, cpu, node);
}

/* get_partial_node_bulk() with min = max: slabs from the HEAD, each put in FRONT of the private list. */
static GList *
isolate(RefSlub *slub, guint node, guint max, RefLockSite site)
{
    GQueue *list = &slub->nodes[node].partial;
    GList *isolated = NULL;
    guint total = 0;

    if (g_queue_is_empty(list))
        return NULL;
    ref__lock(slub, node, site);
    while (!g_queue_is_empty(list)) {
        RefSlab *slab = g_queue_peek_head(list);
        guint n_free = ref_slab_free_objects(slab);

        if (total >= max && total + n_free > max)
            break;
        ref__node_remove(slub, slab);
        isolated = g_list_prepend(isolated, slab);
        total += n_free;
        if (total >= max)
            break;
    }
    return isolated;
}

/* Isolated slabs that nobody needs: to the HEAD, unless empty where there are enough. */
static void
give_up_isolated(RefSlub *slub, guint node, GList *isolated)
{
    GList *unwanted = NULL;

    if (isolated == NULL)
        return;
    ref__lock(slub, node, REF_LOCK_REFILL_RETURN);
    for (GList *l = isolated; l != NULL; l = l->next) {
        RefSlab *slab = l->data;

        if (slab->inuse == 0 && ref__node_has_enough(slub, slab))
            unwanted = g_list_append(unwanted, slab);
        else
            ref__node_add(slub, slab, FALSE);
    }
    for (GList *l = unwanted; l != NULL; l = l->next)
        ref__slab_discard(slub, l->data);
    g_list_free(unwanted);
    g_list_free(isolated);
}

static guint
refill_node(RefSlub *slub, guint cpu, guint node, guint max, RefLockSite site, RefObject **ret_objects)
{
    GList *isolated = isolate(slub, node, max, site);
    guint n = 0;

    while (isolated != NULL && n < max) {
        RefSlab *slab = isolated->data;
        RefObject *rest = slab->freelist;
        guint n_rest = ref_slab_free_objects(slab);

        isolated = g_list_delete_link(isolated, isolated);
        slab->freelist = NULL;
        slab->inuse = slab->n_objects;
        for (; rest != NULL && n < max; n_rest--) {
            RefObject *object = rest;

            rest = rest->next;
            object->next = NULL;
            object->allocated = TRUE;
            ret_objects[n++] = object;
        }
        if (rest != NULL) {
            RefObject *tail = rest;

            while (tail->next != NULL)
                tail = tail->next;
            ref__direct_free(slub, cpu, rest, tail, n_rest);
        }
    }
    give_up_isolated(slub, node, isolated);
    return n;
}

static guint
refill_any(RefSlub *slub, guint cpu, guint max, RefObject **ret_objects)
{
    const guint *order = nodes_by_distance(slub, cpu);
    guint n = 0;

    if (slub->params.refill == REF_REFILL_LOCAL || skips_other_nodes(slub))
        return 0;
    for (guint i = 0; i < slub->params.n_nodes && n < max; i++)
        if (is_rich(slub, order[i]))
            n += refill_node(slub, cpu, order[i], max - n, REF_LOCK_REFILL_ANY, ret_objects + n);
    return n;
}

static gboolean
refill(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects)
{
    guint local = ref__cpu_mem_node(slub, cpu);
    guint n_got = refill_node(slub, cpu, local, n, REF_LOCK_REFILL, ret_objects);

    if (n_got < n)
        n_got += refill_any(slub, cpu, n - n_got, ret_objects + n_got);
    while (n_got < n) {
        guint n_new = from_new_slab(slub, cpu, (gint) local, FALSE, n - n_got, ret_objects + n_got);

        if (n_new == 0)
            return FALSE;
        n_got += n_new;
    }
    return TRUE;
}

static gboolean
alloc_one_by_one(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects)
{
    for (guint i = 0; i < n; i++) {
        ret_objects[i] = alloc_uncounted(slub, cpu, REF_NO_NODE);
        if (ret_objects[i] == NULL)
            return FALSE;
    }
    return TRUE;
}

gboolean
ref__direct_alloc_bulk(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects)
{
    return is_debug(slub) ? alloc_one_by_one(slub, cpu, n, ret_objects) : refill(slub, cpu, n, ret_objects);
}

void
ref__direct_free(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n)
{
    RefSlab *slab = head->slab;
    gboolean was_full = slab->freelist == NULL;

    tail->next = slab->freelist;
    slab->freelist = head;
    slab->inuse -= n;
    for (RefObject *object = head; n > 0; n--, object = object->next)
        object->allocated = FALSE;

    if (slab->inuse != 0 && !was_full && !is_debug(slub))
        return;
    ref__lock(slub, slab->node, is_debug(slub) ? REF_LOCK_DEBUG_FREE : REF_LOCK_SLAB_FREE);
    if (!was_full && !slab->node_partial_flag)
        return;
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
