/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-sheaf-private.h"

/* Bulk calls, prefilled sheaves, kfree_rcu, flush and shrink: slub-facts B.3, B.4. */

gboolean
ref_sheaves_alloc_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject **ret_objects)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    guint n_got = 0;

    while (sheaves->capacity > 0 && n_got < n) {
        guint batch;

        if (c->main->objects->len == 0 && !ref__main_from_stock(sheaves, cpu))
            break;
        batch = MIN(n - n_got, c->main->objects->len);
        for (guint i = 0; i < batch; i++) /* the end of the array in its own order, not one by one */
            ret_objects[n_got + i] = g_ptr_array_index(c->main->objects, c->main->objects->len - batch + i);
        g_ptr_array_set_size(c->main->objects, (gint) (c->main->objects->len - batch));
        ref__stat_add(sheaves, cpu, ref__alloc_stat(sheaves), batch);
        n_got += batch;
    }
    if (n_got == n)
        return TRUE;
    if (sheaves->slub->params.no_cpu_slab)
        ref__stat_add(sheaves, cpu, SLAB_STAT_ALLOC_SLOWPATH, n - n_got);
    return ref_slub_alloc_bulk(sheaves->slub, cpu, n - n_got, ret_objects + n_got);
}

/* Room in the main sheaf without making a sheaf. */
static gboolean
main_with_room(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = ref__barn_of(sheaves, cpu);

    if (!ref__is_full(c->main))
        return TRUE;
    if (c->spare == NULL) {
        RefSheaf *empty = ref__barn_get_empty(barn);

        if (empty == NULL)
            return FALSE;
        c->spare = c->main;
        c->main = empty;
        return TRUE;
    }
    if (!ref__is_full(c->spare)) {
        ref__swap_main_and_spare(c);
        return TRUE;
    }
    if (ref__barn_is_crowded(barn) || g_queue_is_empty(&barn->empty)) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
        return FALSE;
    }
    c->main = ref__barn_exchange_full(barn, c->main);
    ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
    return TRUE;
}

void
ref_sheaves_free_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects)
{
    g_autoptr(GPtrArray) local = g_ptr_array_new(), remote = g_ptr_array_new();

    if (sheaves->capacity == 0) {
        ref__free_to_slabs(sheaves, cpu, n, objects);
        return;
    }
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(local, objects[i]);
    for (guint i = 0; i < local->len;) {
        if (!ref__is_remote(sheaves, cpu, g_ptr_array_index(local, i))) {
            i++;
            continue;
        }
        g_ptr_array_add(remote, g_ptr_array_remove_index_fast(local, i));
        if (remote->len == BATCH) {
            ref__free_to_slabs(sheaves, cpu, BATCH, (RefObject *const *) remote->pdata);
            g_ptr_array_set_size(remote, 0);
        }
    }
    for (guint i = 0; i < local->len;) {
        RefSheaf *main;
        guint first = i;

        if (!main_with_room(sheaves, cpu)) {
            ref__free_to_slabs(sheaves, cpu, local->len - i, (RefObject *const *) &local->pdata[i]);
            break;
        }
        main = sheaves->cpus[cpu].main;
        while (i < local->len && !ref__is_full(main))
            g_ptr_array_add(main->objects, g_ptr_array_index(local, i++));
        ref__stat_add(sheaves, cpu, ref__free_stat(sheaves), i - first);
    }
    ref__free_to_slabs(sheaves, cpu, remote->len, (RefObject *const *) remote->pdata);
}

static RefSheaf *
prefill_oversize(RefSheaves *sheaves, guint cpu, guint n)
{
    RefSheaf *sheaf = ref__sheaf_make(n);
    g_autofree RefObject **objects = g_new(RefObject *, n);
    gboolean filled = ref_slub_alloc_bulk(sheaves->slub, cpu, n, objects);

    g_assert_true(filled);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(sheaf->objects, objects[i]);
    ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_OVERSIZE, 1);
    if (sheaves->slub->params.no_cpu_slab)
        ref__stat_add(sheaves, cpu, SLAB_STAT_ALLOC_SLOWPATH, n);
    return sheaf;
}

RefSheaf *
ref_sheaves_prefill(RefSheaves *sheaves, guint cpu, guint n)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = ref__barn_of(sheaves, cpu);
    RefSheaf *sheaf;

    if (n > sheaves->capacity)
        return prefill_oversize(sheaves, cpu, n);
    sheaf = g_steal_pointer(&c->spare);
    if (sheaf != NULL) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_FAST, 1);
    } else {
        ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_SLOW, 1);
        if (barn->full.length + barn->empty.length > 0)
            barn->locks[REF_BARN_GET_ANY]++;
        sheaf = g_queue_pop_head(&barn->full);
        ref__stat_add(sheaves, cpu, sheaf != NULL ? SLAB_STAT_BARN_GET : SLAB_STAT_BARN_GET_FAIL, 1);
        if (sheaf == NULL)
            sheaf = g_queue_pop_head(&barn->empty);
        if (sheaf == NULL)
            sheaf = ref__sheaf_alloc(sheaves, cpu);
    }
    if (sheaf->objects->len < n)
        ref__sheaf_refill(sheaves, cpu, sheaf);
    return sheaf;
}

RefObject *
ref_sheaves_alloc_from(RefSheaf *sheaf)
{
    return sheaf->objects->len > 0 ? ref__sheaf_pop(sheaf) : NULL;
}

void
ref_sheaves_return(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = ref__barn_of(sheaves, cpu);

    if (sheaf->capacity > sheaves->capacity) {
        ref__sheaf_flush(sheaves, cpu, sheaf);
        ref__sheaf_destroy(sheaf);
    } else if (c->spare == NULL) {
        c->spare = sheaf;
        ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_RETURN_FAST, 1);
    } else {
        ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_RETURN_SLOW, 1);
        if (!ref__has_barn(sheaves, cpu) || ref__barn_is_crowded(barn)) {
            ref__sheaf_flush(sheaves, cpu, sheaf);
            ref__sheaf_free(sheaves, cpu, sheaf);
        } else {
            ref__sheaf_refill(sheaves, cpu, sheaf);
            ref__barn_put_full(barn, sheaf);
            ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
        }
    }
}

static void
call_rcu(RefSheaves *sheaves, guint cpu, CallbackKind kind, RefSheaf *sheaf, RefObject *object)
{
    RefCallback *callback = g_new(RefCallback, 1);

    *callback = (RefCallback){kind, sheaf, object};
    g_queue_push_tail(&sheaves->cpus[cpu].callbacks, callback);
}

void
ref_sheaves_free_rcu(RefSheaves *sheaves, guint cpu, RefObject *object)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    gboolean remote = ref__is_remote(sheaves, cpu, object);

    if (remote || sheaves->capacity == 0) {
        /* Remote objects are sorted out before the attempt, in 6.18 and 6.19 caches without sheaves too. */
        if (!remote && ref__kernel_of(sheaves) >= SLAB_KERNEL(7, 0))
            ref__stat_add(sheaves, cpu, SLAB_STAT_FREE_RCU_SHEAF_FAIL, 1);
        call_rcu(sheaves, cpu, CALLBACK_OBJECT, NULL, object);
        return;
    }
    if (c->rcu_free == NULL && c->spare != NULL && c->spare->objects->len == 0)
        c->rcu_free = g_steal_pointer(&c->spare);
    if (c->rcu_free == NULL)
        c->rcu_free = ref__barn_get_empty(ref__barn_of(sheaves, cpu));
    if (c->rcu_free == NULL)
        c->rcu_free = ref__sheaf_alloc(sheaves, cpu);
    g_ptr_array_add(c->rcu_free->objects, object);
    ref__stat_add(sheaves, cpu, SLAB_STAT_FREE_RCU_SHEAF, 1);
    if (ref__is_full(c->rcu_free)) {
        c->rcu_free->node = ref__barn_node(sheaves, cpu);
        call_rcu(sheaves, cpu, CALLBACK_SHEAF, g_steal_pointer(&c->rcu_free), NULL);
    }
}

static void
run_callback(RefSheaves *sheaves, guint cpu, const RefCallback *callback)
{
    RefSheaf *sheaf = callback->sheaf;
    RefBarn *barn;

    if (callback->kind == CALLBACK_OBJECT) {
        ref_sheaves_free(sheaves, cpu, callback->object);
        return;
    }
    if (callback->kind == CALLBACK_SHEAF_PAST_BARN) {
        ref__sheaf_flush(sheaves, cpu, sheaf);
        ref__sheaf_free(sheaves, cpu, sheaf);
        return;
    }
    barn = &sheaves->barns[sheaf->node];
    if (!ref__barn_is_crowded(barn)) {
        ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
        ref__barn_put_full(barn, sheaf);
        return;
    }
    ref__stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
    ref__sheaf_flush(sheaves, cpu, sheaf);
    if (barn->empty.length < BARN_LIMIT)
        ref__barn_put_empty(barn, sheaf);
    else
        ref__sheaf_free(sheaves, cpu, sheaf);
}

void
ref_sheaves_run_rcu(RefSheaves *sheaves, guint cpu)
{
    GQueue ready = sheaves->cpus[cpu].callbacks;
    RefCallback *callback;

    g_queue_init(&sheaves->cpus[cpu].callbacks);
    while ((callback = g_queue_pop_head(&ready)) != NULL) {
        run_callback(sheaves, cpu, callback);
        g_free(callback);
    }
}

void
ref_sheaves_flush_cpu(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];

    if (sheaves->capacity > 0) {
        RefSheaf *spare = g_steal_pointer(&c->spare);

        if (spare != NULL) {
            ref__sheaf_flush(sheaves, cpu, spare);
            ref__sheaf_free(sheaves, cpu, spare);
        }
        if (c->rcu_free != NULL)
            call_rcu(sheaves, cpu, CALLBACK_SHEAF_PAST_BARN, g_steal_pointer(&c->rcu_free), NULL);
        while (c->main->objects->len > 0) {
            guint n = MIN(c->main->objects->len, BATCH), left = c->main->objects->len - n;

            ref_slub_free_bulk(sheaves->slub, cpu, n, (RefObject *const *) &ref__sheaf_array(c->main)[left]);
            g_ptr_array_set_size(c->main->objects, (gint) left);
            ref__stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FLUSH, n);
        }
    }
    ref_slub_flush_cpu(sheaves->slub, cpu);
}

void
ref_sheaves_set_cpu_partial(RefSheaves *sheaves, guint objects, guint slabs)
{
    sheaves->slub->params.cpu_partial = objects;
    sheaves->slub->params.cpu_partial_slabs = slabs;
    for (guint cpu = 0; cpu < sheaves->slub->params.n_cpus; cpu++)
        ref_sheaves_flush_cpu(sheaves, cpu);
}

static void
shrink_barn(RefSheaves *sheaves, guint cpu, guint node)
{
    RefBarn *barn = &sheaves->barns[node];
    RefSheaf *sheaf;

    barn->locks[REF_BARN_SHRINK]++;
    while ((sheaf = g_queue_pop_head(&barn->full)) != NULL) {
        ref__sheaf_flush(sheaves, cpu, sheaf);
        ref__sheaf_free(sheaves, cpu, sheaf);
    }
    while ((sheaf = g_queue_pop_head(&barn->empty)) != NULL)
        ref__sheaf_free(sheaves, cpu, sheaf);
}

void
ref_sheaves_shrink(RefSheaves *sheaves, guint cpu)
{
    const RefParams *p = &sheaves->slub->params;
    gboolean barns_first = p->kernel >= SLAB_KERNEL(7, 1);

    for (guint i = 0; i < p->n_cpus; i++)
        ref_sheaves_flush_cpu(sheaves, i);
    for (guint node = 0; sheaves->capacity > 0 && barns_first && node < p->n_nodes; node++)
        shrink_barn(sheaves, cpu, node);
    for (guint node = 0; node < p->n_nodes; node++) {
        if (sheaves->capacity > 0 && !barns_first && p->node_has_memory[node])
            shrink_barn(sheaves, cpu, node);
        ref__shrink_node(sheaves->slub, node);
    }
}
