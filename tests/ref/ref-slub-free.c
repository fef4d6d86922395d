/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* do_slab_free(), __slab_free() and the grouping of bulk frees: slub-facts B.1 "Free", "__slab_free", "Bulk"; B.2. */

/* The part of __slab_free() after the exchange when the list_lock was taken. `prior` is whether the slab had free
 * objects before. */
static void
free_under_lock(RefSlub *slub, guint cpu, RefSlab *slab, gboolean prior)
{
    /* Since 6.8 an unfrozen slab with free objects may be on some CPU's partial list: nothing to do, lock in vain. */
    if (slub->rules.delayed_freezing && prior && !slab->node_partial_flag)
        return;

    if (slab->inuse == 0 && ref__node_has_enough(slub, slab)) {
        if (prior) {
            ref__node_remove(slub, slab);
            ref__stat(slub, cpu, SLAB_STAT_FREE_REMOVE_PARTIAL);
        }
        ref__stat(slub, cpu, SLAB_STAT_FREE_SLAB);
        ref__slab_discard(slub, slab);
    } else if (!slub->params.has_cpu_partial && !prior) {
        ref__node_add(slub, slab, TRUE);
        ref__stat(slub, cpu, SLAB_STAT_FREE_ADD_PARTIAL);
    }
}

void
ref__free_normal(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n)
{
    RefSlab *slab = head->slab;
    gboolean prior = slab->freelist != NULL;

    ref__stat(slub, cpu, SLAB_STAT_FREE_SLOWPATH);
    tail->next = slab->freelist;
    slab->freelist = head;
    slab->inuse -= n;

    if (slab->frozen) {
        ref__stat(slub, cpu, SLAB_STAT_FREE_FROZEN);
    } else if (!prior && slub->params.has_cpu_partial) {
        slab->frozen = !slub->rules.delayed_freezing;
        ref__cpu_partial_put(slub, cpu, slab, TRUE);
        ref__stat(slub, cpu, SLAB_STAT_CPU_PARTIAL_FREE);
    } else if (!prior || slab->inuse == 0) {
        ref__lock(slub, slab->node, REF_LOCK_SLAB_FREE);
        free_under_lock(slub, cpu, slab, prior);
    }
}

void
ref__free_list(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n)
{
    RefCpu *c = &slub->cpus[cpu];

    if (n == 1 && ref__array_put(slub, cpu, head))
        return;
    tail->next = NULL;
    for (RefObject *object = head; object != NULL; object = object->next) {
        g_assert_true(object->allocated);
        object->allocated = FALSE;
    }
    if (slub->params.no_cpu_slab) {
        ref__direct_free(slub, cpu, head, tail, n);
        return;
    }
    if (head->slab != c->slab) {
        if (slub->params.debug != REF_DEBUG_NONE)
            ref__debug_free(slub, cpu, head, tail, n);
        else
            ref__free_normal(slub, cpu, head, tail, n);
        return;
    }
    tail->next = c->freelist;
    c->freelist = head;
    c->stats[SLAB_STAT_FREE_FASTPATH] += slub->rules.counts_objects ? n : 1;
}

/* The detached freelist of one round, last array element first: the kernel collects from the back and prepends, then
 * its free hook reverses the list. */
typedef struct {
    RefObject *head;
    RefObject *tail;
    guint n;
} Detached;

static void
detached_append(Detached *list, RefObject *object)
{
    object->next = NULL;
    if (list->tail != NULL)
        list->tail->next = object;
    else
        list->head = object;
    list->tail = object;
    list->n++;
}

/* build_detached_freelist() to 5.19: taken entries become NULL, nothing moves. Returns the size for the next round. */
static guint
detach_marking(RefObject **objects, guint size, Detached *ret_list)
{
    guint next_size = 0;
    guint n_foreign = 0;

    while (size > 0 && objects[size - 1] == NULL)
        size--;
    if (size == 0)
        return 0;

    const RefSlab *slab = objects[size - 1]->slab;
    while (size > 0) {
        RefObject *object = objects[--size];
        if (object == NULL)
            continue;
        if (object->slab == slab) {
            detached_append(ret_list, object);
            objects[size] = NULL;
            continue;
        }
        if (++n_foreign == 3)
            break;
        if (next_size == 0)
            next_size = size + 1;
    }
    return next_size;
}

/* build_detached_freelist() from 6.0: taken entries gather at the end by swapping. */
static guint
detach_swapping(RefObject **objects, guint size, Detached *ret_list)
{
    const RefSlab *slab = objects[size - 1]->slab;
    guint same = size;
    guint n_foreign = 0;

    while (size > 0) {
        RefObject *object = objects[--size];
        if (object->slab == slab) {
            detached_append(ret_list, object);
            same--;
            objects[size] = objects[same];
            objects[same] = object;
            continue;
        }
        if (++n_foreign == 3)
            break;
    }
    return same;
}

void
ref_slub_free_bulk(RefSlub *slub, guint cpu, guint n, RefObject *const *objects)
{
    g_autofree RefObject **left = g_new(RefObject *, n);

    for (guint i = 0; i < n; i++)
        left[i] = objects[i];
    while (n > 0) {
        Detached list = {NULL, NULL, 0};

        n = slub->rules.bulk_swaps ? detach_swapping(left, n, &list) : detach_marking(left, n, &list);
        if (list.n > 0)
            ref__free_list(slub, cpu, list.head, list.tail, list.n);
    }
}
