/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-sheaf-private.h"

/* Sheaves and barns: slub-facts B.3 (6.18, 6.19), B.4 (7.0, 7.1). */

guint
ref__kernel_of(const RefSheaves *sheaves)
{
    return sheaves->slub->params.kernel;
}

void
ref__stat_add(RefSheaves *sheaves, guint cpu, SlabStat stat, guint n)
{
    for (; n > 0; n--)
        ref__stat(sheaves->slub, cpu, stat);
}

/* What sheaves serve: own counters in 6.18 and 6.19, the fast path since. */
SlabStat
ref__alloc_stat(const RefSheaves *sheaves)
{
    return ref__kernel_of(sheaves) < SLAB_KERNEL(7, 0) ? SLAB_STAT_ALLOC_PCS : SLAB_STAT_ALLOC_FASTPATH;
}

SlabStat
ref__free_stat(const RefSheaves *sheaves)
{
    return ref__kernel_of(sheaves) < SLAB_KERNEL(7, 0) ? SLAB_STAT_FREE_PCS : SLAB_STAT_FREE_FASTPATH;
}

RefSheaf *
ref__sheaf_make(guint capacity)
{
    RefSheaf *sheaf = g_new0(RefSheaf, 1);

    sheaf->objects = g_ptr_array_new();
    sheaf->capacity = capacity;
    return sheaf;
}

void
ref__sheaf_destroy(RefSheaf *sheaf)
{
    if (sheaf == NULL)
        return;
    g_ptr_array_unref(sheaf->objects);
    g_free(sheaf);
}

RefSheaf *
ref__sheaf_alloc(RefSheaves *sheaves, guint cpu)
{
    ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_ALLOC, 1);
    return ref__sheaf_make(sheaves->capacity);
}

void
ref__sheaf_free(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    g_assert_cmpuint(sheaf->objects->len, ==, 0);
    ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FREE, 1);
    ref__sheaf_destroy(sheaf);
}

gboolean
ref__is_full(const RefSheaf *sheaf)
{
    return sheaf->objects->len == sheaf->capacity;
}

RefObject *
ref__sheaf_pop(RefSheaf *sheaf)
{
    return g_ptr_array_remove_index(sheaf->objects, sheaf->objects->len - 1);
}

gpointer *
ref__sheaf_array(const RefSheaf *sheaf)
{
    return sheaf->objects->pdata;
}

void
ref__sheaf_refill(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    guint n = sheaf->capacity - sheaf->objects->len;
    g_autofree RefObject **objects = g_new(RefObject *, n);
    gboolean filled = n == 0 || ref_slub_alloc_bulk(sheaves->slub, cpu, n, objects);

    g_assert_true(filled);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(sheaf->objects, objects[i]);
    ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_REFILL, n);
}

void
ref__sheaf_flush(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FLUSH, sheaf->objects->len);
    ref_slub_free_bulk(sheaves->slub, cpu, sheaf->objects->len, (RefObject *const *) ref__sheaf_array(sheaf));
    g_ptr_array_set_size(sheaf->objects, 0);
}

void
ref__swap_main_and_spare(RefSheafCpu *c)
{
    RefSheaf *main = c->main;

    c->main = c->spare;
    c->spare = main;
}

static guint
mem_node(const RefSheaves *sheaves, guint cpu)
{
    return ref__cpu_mem_node(sheaves->slub, cpu);
}

/* 7.1: a node without memory has a barn too, and its CPUs use it. */
guint
ref__barn_node(const RefSheaves *sheaves, guint cpu)
{
    return ref__kernel_of(sheaves) >= SLAB_KERNEL(7, 1) ? sheaves->slub->params.cpu_node[cpu] : mem_node(sheaves, cpu);
}

/* To 7.0 get_barn() finds none on a node without memory. */
gboolean
ref__has_barn(const RefSheaves *sheaves, guint cpu)
{
    return ref__kernel_of(sheaves) >= SLAB_KERNEL(7, 1) ||
           sheaves->slub->params.node_has_memory[mem_node(sheaves, cpu)];
}

RefBarn *
ref__barn_of(RefSheaves *sheaves, guint cpu)
{
    return &sheaves->barns[ref__barn_node(sheaves, cpu)];
}

void
ref__barn_put_empty(RefBarn *barn, RefSheaf *sheaf)
{
    barn->locks[REF_BARN_PUT_EMPTY]++;
    g_queue_push_head(&barn->empty, sheaf);
}

void
ref__barn_put_full(RefBarn *barn, RefSheaf *sheaf)
{
    barn->locks[REF_BARN_PUT_FULL]++;
    g_queue_push_head(&barn->full, sheaf);
}

RefSheaf *
ref__barn_get_empty(RefBarn *barn)
{
    if (g_queue_is_empty(&barn->empty))
        return NULL;
    barn->locks[REF_BARN_GET_EMPTY]++;
    return g_queue_pop_head(&barn->empty);
}

/* An empty sheaf for a full one; NULL, untouched, when there is none. */
RefSheaf *
ref__barn_exchange_full(RefBarn *barn, RefSheaf *full)
{
    RefSheaf *empty;

    barn->locks[REF_BARN_REPLACE_FULL]++;
    empty = g_queue_pop_head(&barn->empty);
    g_queue_push_head(&barn->full, full);
    return empty;
}

gboolean
ref__barn_is_crowded(const RefBarn *barn)
{
    return barn->full.length >= BARN_LIMIT;
}

/* Steps 2 and 3 of replace_empty_main: from the spare, from the barn. */
gboolean
ref__main_from_stock(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = ref__barn_of(sheaves, cpu);

    if (c->spare != NULL && c->spare->objects->len > 0) {
        ref__swap_main_and_spare(c);
        return TRUE;
    }
    if (!ref__has_barn(sheaves, cpu))
        return FALSE;
    if (g_queue_is_empty(&barn->full)) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_GET_FAIL, 1);
        return FALSE;
    }
    barn->locks[REF_BARN_REPLACE_EMPTY]++;
    g_queue_push_head(&barn->empty, c->main);
    c->main = g_queue_pop_head(&barn->full);
    ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_GET, 1);
    return TRUE;
}

static gboolean
replace_empty_main(RefSheaves *sheaves, guint cpu, gboolean may_block)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefSheaf *fresh;

    if (ref__main_from_stock(sheaves, cpu))
        return TRUE;
    if (!ref__has_barn(sheaves, cpu))
        return FALSE;
    if (!may_block && ref__kernel_of(sheaves) <= SLAB_KERNEL(7, 0))
        return FALSE;
    fresh = g_steal_pointer(&c->spare);
    if (fresh == NULL)
        fresh = ref__barn_get_empty(ref__barn_of(sheaves, cpu));
    if (fresh == NULL)
        fresh = ref__sheaf_alloc(sheaves, cpu);
    ref__sheaf_refill(sheaves, cpu, fresh);
    if (ref__kernel_of(sheaves) < SLAB_KERNEL(7, 0))
        ref__barn_put_empty(ref__barn_of(sheaves, cpu), c->main);
    else
        c->spare = c->main;
    c->main = fresh;
    return TRUE;
}

/* B.4 "Alloc" steps 1 to 3; NULL: the slow path is to serve it. */
static RefObject *
alloc_from_sheaves(RefSheaves *sheaves, guint cpu, gint node, gboolean may_block)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    gboolean counts_mismatch = ref__kernel_of(sheaves) >= SLAB_KERNEL(7, 0);
    const RefObject *top;

    if (node != REF_NO_NODE && (guint) node != mem_node(sheaves, cpu)) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH, counts_mismatch ? 1 : 0);
        return NULL;
    }
    if (c->main->objects->len == 0 && !replace_empty_main(sheaves, cpu, may_block))
        return NULL;
    top = g_ptr_array_index(c->main->objects, c->main->objects->len - 1);
    if (node != REF_NO_NODE && top->slab->node != (guint) node) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH, counts_mismatch ? 1 : 0);
        return NULL;
    }
    ref__stat_add(sheaves, cpu, ref__alloc_stat(sheaves), 1);
    return ref__sheaf_pop(c->main);
}

RefObject *
ref_sheaves_alloc(RefSheaves *sheaves, guint cpu, gint node, gboolean may_block)
{
    RefObject *object = NULL;

    if (sheaves->capacity > 0)
        object = alloc_from_sheaves(sheaves, cpu, node, may_block);
    return object != NULL ? object : ref_slub_alloc(sheaves->slub, cpu, node);
}

/* B.4 "replace_full_main". */
static void
replace_full_main(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = ref__barn_of(sheaves, cpu);

    if (c->spare == NULL) {
        c->spare = c->main;
        c->main = ref__barn_get_empty(barn);
        if (c->main == NULL)
            c->main = ref__sheaf_alloc(sheaves, cpu);
    } else if (!ref__is_full(c->spare)) {
        ref__swap_main_and_spare(c);
    } else if (ref__barn_is_crowded(barn)) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
        ref__sheaf_flush(sheaves, cpu, c->spare);
        ref__swap_main_and_spare(c);
    } else {
        RefSheaf *full = c->main;

        if (g_queue_is_empty(&barn->empty)) {
            c->main = ref__sheaf_alloc(sheaves, cpu);
            ref__barn_put_full(barn, full);
        } else {
            c->main = ref__barn_exchange_full(barn, full);
        }
        ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
    }
}

gboolean
ref__is_remote(const RefSheaves *sheaves, guint cpu, const RefObject *object)
{
    guint local = mem_node(sheaves, cpu);

    if (!sheaves->slub->params.node_has_memory[local]) /* 7.1: nothing could be local there, so all may go in */
        return ref__kernel_of(sheaves) <= SLAB_KERNEL(7, 0);
    return !sheaves->remote_to_sheaf && object->slab->node != local;
}

/* Frees to slabs on behalf of a caller; without a cpu slab that is what FREE_SLOWPATH counts, by object. */
void
ref__free_to_slabs(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects)
{
    if (n == 0)
        return;
    ref_slub_free_bulk(sheaves->slub, cpu, n, objects);
    if (sheaves->slub->params.no_cpu_slab)
        ref__stat_add(sheaves, cpu, SLAB_STAT_FREE_SLOWPATH, n);
}

void
ref_sheaves_free(RefSheaves *sheaves, guint cpu, RefObject *object)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];

    if (sheaves->capacity == 0 || ref__is_remote(sheaves, cpu, object)) {
        ref__free_to_slabs(sheaves, cpu, 1, &object);
        return;
    }
    if (ref__is_full(c->main))
        replace_full_main(sheaves, cpu);
    g_ptr_array_add(c->main->objects, object);
    ref__stat_add(sheaves, cpu, ref__free_stat(sheaves), 1);
}

RefSheaves *
ref_sheaves_new(RefSlub *slub, guint capacity, gboolean remote_to_sheaf)
{
    RefSheaves *sheaves = g_new0(RefSheaves, 1);

    sheaves->slub = slub;
    sheaves->capacity = capacity;
    sheaves->remote_to_sheaf = remote_to_sheaf;
    sheaves->cpus = g_new0(RefSheafCpu, slub->params.n_cpus);
    sheaves->barns = g_new0(RefBarn, slub->params.n_nodes);
    for (guint i = 0; i < slub->params.n_cpus; i++) {
        g_queue_init(&sheaves->cpus[i].callbacks);
        sheaves->cpus[i].main = ref__sheaf_make(capacity);
    }
    for (guint i = 0; i < slub->params.n_nodes; i++) {
        g_queue_init(&sheaves->barns[i].full);
        g_queue_init(&sheaves->barns[i].empty);
    }
    return sheaves;
}

static void
destroy_in_queue(gpointer sheaf)
{
    ref__sheaf_destroy(sheaf);
}

void
ref_sheaves_free_all(RefSheaves *sheaves)
{
    RefCallback *callback;

    for (guint i = 0; i < sheaves->slub->params.n_cpus; i++) {
        RefSheafCpu *c = &sheaves->cpus[i];

        ref__sheaf_destroy(c->main);
        ref__sheaf_destroy(c->spare);
        ref__sheaf_destroy(c->rcu_free);
        while ((callback = g_queue_pop_head(&c->callbacks)) != NULL) {
            ref__sheaf_destroy(callback->sheaf);
            g_free(callback);
        }
    }
    for (guint i = 0; i < sheaves->slub->params.n_nodes; i++) {
        g_queue_clear_full(&sheaves->barns[i].full, destroy_in_queue);
        g_queue_clear_full(&sheaves->barns[i].empty, destroy_in_queue);
    }
    g_free(sheaves->cpus);
    g_free(sheaves->barns);
    ref_slub_free_all(sheaves->slub);
    g_free(sheaves);
}
