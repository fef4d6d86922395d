/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* Life of a cache and of its slabs, and the entry points. */

static RefRules
rules_of(guint kernel)
{
    return (RefRules){
        .delayed_freezing = kernel >= SLAB_KERNEL(6, 8),
        .limit_in_slabs = kernel >= SLAB_KERNEL(5, 16),
        .zero_limit_drains = kernel <= SLAB_KERNEL(5, 14),
        .zero_limit_stops_refill = kernel >= SLAB_KERNEL(6, 10),
        .counts_objects = kernel >= SLAB_KERNEL(6, 8),
        .counts_pop_before_test = kernel == SLAB_KERNEL(6, 8),
        .preferred_node_passes = kernel >= SLAB_KERNEL(6, 10),
        .bulk_swaps = kernel >= SLAB_KERNEL(6, 0),
        .deactivate_splices = kernel >= SLAB_KERNEL(5, 12),
    };
}

static void
copy_arrays(RefParams *p)
{
    guint *cpu_node = g_new0(guint, p->n_cpus);
    for (guint i = 0; p->cpu_node != NULL && i < p->n_cpus; i++)
        cpu_node[i] = p->cpu_node[i];

    gboolean *has_memory = g_new(gboolean, p->n_nodes);
    for (guint i = 0; i < p->n_nodes; i++)
        has_memory[i] = p->node_has_memory == NULL || p->node_has_memory[i];

    guint *zonelist = g_new(guint, p->n_nodes * p->n_nodes);
    for (guint i = 0; i < p->n_nodes; i++) {
        guint at = 0;
        zonelist[i * p->n_nodes + at++] = i;
        for (guint j = 0; j < p->n_nodes; j++)
            if (j != i)
                zonelist[i * p->n_nodes + at++] = j;
    }
    if (p->zonelist != NULL)
        memcpy(zonelist, p->zonelist, sizeof(guint) * p->n_nodes * p->n_nodes);

    p->cpu_node = cpu_node;
    p->node_has_memory = has_memory;
    p->zonelist = zonelist;
}

RefSlub *
ref_slub_new(const RefParams *params)
{
    g_assert_cmpuint(params->kernel, >=, SLAB_KERNEL(5, 10));
    g_assert_cmpuint(params->kernel, <=, SLAB_KERNEL(7, 1));
    g_assert_true(!params->no_cpu_slab || (!params->has_cpu_partial && params->debug != REF_DEBUG_ACTIVATE));
    g_assert_cmpuint(params->n_cpus, >, 0);
    g_assert_cmpuint(params->n_nodes, >, 0);
    g_assert_cmpuint(params->objects, >, 0);
    g_assert_cmpuint(params->fallback_objects, >, 0);
    g_assert_true(params->has_cpu_partial || (params->cpu_partial == 0 && params->cpu_partial_slabs == 0));

    RefSlub *slub = g_new0(RefSlub, 1);
    slub->params = *params;
    copy_arrays(&slub->params);
    slub->rules = rules_of(params->kernel);
    slub->cpus = g_new0(RefCpu, params->n_cpus);
    slub->nodes = g_new0(RefNode, params->n_nodes);
    for (guint i = 0; i < params->n_cpus; i++)
        slub->cpus[i].array = g_ptr_array_new();
    for (guint i = 0; i < params->n_nodes; i++)
        g_queue_init(&slub->nodes[i].partial);
    slub->slabs = g_ptr_array_new();
    return slub;
}

void
ref_slub_free_all(RefSlub *slub)
{
    if (slub == NULL)
        return;
    for (guint i = 0; i < slub->slabs->len; i++) {
        RefSlab *slab = g_ptr_array_index(slub->slabs, i);
        g_free(slab->objects);
        g_free(slab);
    }
    g_ptr_array_unref(slub->slabs);
    for (guint i = 0; i < slub->params.n_cpus; i++)
        g_ptr_array_unref(slub->cpus[i].array);
    for (guint i = 0; i < slub->params.n_nodes; i++)
        g_queue_clear(&slub->nodes[i].partial);
    g_free(slub->nodes);
    g_free(slub->cpus);
    g_free((gpointer) slub->params.cpu_node);
    g_free((gpointer) slub->params.node_has_memory);
    g_free((gpointer) slub->params.zonelist);
    g_free(slub);
}

void
ref__stat(RefSlub *slub, guint cpu, SlabStat stat)
{
    slub->cpus[cpu].stats[stat]++;
}

void
ref__lock(RefSlub *slub, guint node, RefLockSite site)
{
    slub->nodes[node].locks[site]++;
}

void
ref__node_add(RefSlub *slub, RefSlab *slab, gboolean to_tail)
{
    GQueue *list = &slub->nodes[slab->node].partial;

    if (to_tail)
        g_queue_push_tail(list, slab);
    else
        g_queue_push_head(list, slab);
    slab->node_partial_flag = TRUE;
}

void
ref__node_remove(RefSlub *slub, RefSlab *slab)
{
    gboolean was_there = g_queue_remove(&slub->nodes[slab->node].partial, slab);
    g_assert_true(was_there);
    slab->node_partial_flag = FALSE;
}

gboolean
ref__node_has_enough(const RefSlub *slub, const RefSlab *slab)
{
    return ref_slub_nr_partial(slub, slab->node) >= slub->params.min_partial;
}

guint
ref__cpu_mem_node(const RefSlub *slub, guint cpu)
{
    const RefParams *p = &slub->params;
    const guint *order = &p->zonelist[p->cpu_node[cpu] * p->n_nodes];

    if (p->own_mem_id)
        return p->cpu_node[cpu];
    for (guint i = 0; i < p->n_nodes; i++)
        if (p->node_has_memory[order[i]])
            return order[i];
    g_assert_not_reached();
}

/* The node that gives the pages, or REF_NO_NODE. */
static gint
page_node(const RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    const RefParams *p = &slub->params;
    guint start = node != REF_NO_NODE ? (guint) node : p->cpu_node[cpu];
    guint n_candidates = thisnode ? 1 : p->n_nodes;

    for (guint i = 0; i < n_candidates; i++) {
        guint candidate = thisnode ? start : p->zonelist[start * p->n_nodes + i];
        if (!p->node_has_memory[candidate])
            continue;
        if (p->node_exhausted == NULL || !p->node_exhausted(p->user_data, candidate))
            return (gint) candidate;
    }
    return REF_NO_NODE;
}

RefSlab *
ref__slab_new(RefSlub *slub, guint cpu, gint node, gboolean thisnode)
{
    const RefParams *p = &slub->params;
    gint from = page_node(slub, cpu, node, thisnode);
    if (from == REF_NO_NODE)
        return NULL;

    gboolean fallback = p->order_fallback != NULL && p->order_fallback(p->user_data);
    if (fallback)
        ref__stat(slub, cpu, SLAB_STAT_ORDER_FALLBACK);

    RefSlab *slab = g_new0(RefSlab, 1);
    slab->serial = slub->slabs->len;
    slab->node = (guint) from;
    slab->n_objects = fallback ? p->fallback_objects : p->objects;
    slab->objects = g_new0(RefObject, slab->n_objects);
    for (guint i = 0; i < slab->n_objects; i++) {
        slab->objects[i].slab = slab;
        slab->objects[i].index = i;
        slab->objects[i].next = i + 1 < slab->n_objects ? &slab->objects[i + 1] : NULL;
    }
    slab->freelist = &slab->objects[0];
    slub->nodes[from].nr_slabs++;
    g_ptr_array_add(slub->slabs, slab);
    return slab;
}

void
ref__slab_discard(RefSlub *slub, RefSlab *slab)
{
    g_assert_cmpuint(slab->inuse, ==, 0);
    g_assert_false(slab->node_partial_flag);
    slub->nodes[slab->node].nr_slabs--;
    slab->discarded = TRUE;
    slab->frozen = FALSE;
    slab->freelist = NULL;
    slab->next = NULL;
    g_clear_pointer(&slab->objects, g_free);
}

RefObject *
ref__slab_take_freelist(RefSlab *slab)
{
    RefObject *list = slab->freelist;

    slab->freelist = NULL;
    slab->inuse = slab->n_objects;
    slab->frozen = list != NULL;
    return list;
}

RefObject *
ref_slub_alloc(RefSlub *slub, guint cpu, gint node)
{
    RefCpu *c = &slub->cpus[cpu];
    RefObject *object = ref__array_take(slub, cpu);

    if (object != NULL)
        return object;
    object = c->freelist;
    g_assert_cmpint(node, >=, REF_NO_NODE);
    g_assert_cmpint(node, <, (gint) slub->params.n_nodes);
    if (slub->params.no_cpu_slab) {
        object = ref__direct_alloc(slub, cpu, node);
    } else if (object != NULL && (node == REF_NO_NODE || c->slab->node == (guint) node)) {
        c->freelist = object->next;
        ref__stat(slub, cpu, SLAB_STAT_ALLOC_FASTPATH);
    } else {
        object = ref__alloc_slow(slub, cpu, node);
    }
    if (object != NULL)
        object->allocated = TRUE;
    return object;
}

gboolean
ref_slub_alloc_bulk(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects)
{
    RefCpu *c = &slub->cpus[cpu];
    g_autofree RefObject **got = NULL;

    if (slub->params.no_cpu_slab)
        return ref__direct_alloc_bulk(slub, cpu, n, ret_objects);
    got = g_new(RefObject *, n);
    for (guint i = 0; i < n; i++) {
        got[i] = c->freelist;
        if (got[i] != NULL) {
            c->freelist = got[i]->next;
            if (slub->rules.counts_objects)
                ref__stat(slub, cpu, SLAB_STAT_ALLOC_FASTPATH);
        } else {
            got[i] = ref__alloc_slow(slub, cpu, REF_NO_NODE);
        }
        if (got[i] == NULL) {
            ref_slub_free_bulk(slub, cpu, i, got);
            return FALSE;
        }
        got[i]->allocated = TRUE;
    }
    for (guint i = 0; i < n; i++)
        ret_objects[i] = got[i];
    return TRUE;
}

void
ref_slub_free(RefSlub *slub, guint cpu, RefObject *object)
{
    ref__free_list(slub, cpu, object, object, 1);
}
