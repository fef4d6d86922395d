/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-sheaf.h"
#include "ref-slub-private.h"

/* Sheaves and barns: slub-facts B.3 (6.18, 6.19), B.4 (7.0, 7.1). */

#define BARN_LIMIT 10 /* full sheaves, and empty ones */
#define BATCH 32      /* PCS_BATCH_MAX */

typedef enum { CALLBACK_SHEAF, CALLBACK_SHEAF_PAST_BARN, CALLBACK_OBJECT } CallbackKind;

typedef struct {
    CallbackKind kind;
    RefSheaf *sheaf;
    RefObject *object;
} RefCallback;

static guint
kernel_of(const RefSheaves *sheaves)
{
    return sheaves->slub->params.kernel;
}

static void
stat_add(RefSheaves *sheaves, guint cpu, SlabStat stat, guint n)
{
    for (; n > 0; n--)
        ref__stat(sheaves->slub, cpu, stat);
}

/* What sheaves serve: own counters in 6.18 and 6.19, the fast path since. */
static SlabStat
alloc_stat(const RefSheaves *sheaves)
{
    return kernel_of(sheaves) < SLAB_KERNEL(7, 0) ? SLAB_STAT_ALLOC_PCS : SLAB_STAT_ALLOC_FASTPATH;
}

static SlabStat
free_stat(const RefSheaves *sheaves)
{
    return kernel_of(sheaves) < SLAB_KERNEL(7, 0) ? SLAB_STAT_FREE_PCS : SLAB_STAT_FREE_FASTPATH;
}

static RefSheaf *
sheaf_make(guint capacity)
{
    RefSheaf *sheaf = g_new0(RefSheaf, 1);

    sheaf->objects = g_ptr_array_new();
    sheaf->capacity = capacity;
    return sheaf;
}

static void
sheaf_destroy(RefSheaf *sheaf)
{
    if (sheaf == NULL)
        return;
    g_ptr_array_unref(sheaf->objects);
    g_free(sheaf);
}

static RefSheaf *
sheaf_alloc(RefSheaves *sheaves, guint cpu)
{
    stat_add(sheaves, cpu, SLAB_STAT_SHEAF_ALLOC, 1);
    return sheaf_make(sheaves->capacity);
}

static void
sheaf_free(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    g_assert_cmpuint(sheaf->objects->len, ==, 0);
    stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FREE, 1);
    sheaf_destroy(sheaf);
}

static gboolean
is_full(const RefSheaf *sheaf)
{
    return sheaf->objects->len == sheaf->capacity;
}

static RefObject *
sheaf_pop(RefSheaf *sheaf)
{
    return g_ptr_array_remove_index(sheaf->objects, sheaf->objects->len - 1);
}

static gpointer *
sheaf_array(const RefSheaf *sheaf)
{
    return sheaf->objects->pdata;
}

static void
sheaf_refill(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    guint n = sheaf->capacity - sheaf->objects->len;
    g_autofree RefObject **objects = g_new(RefObject *, n);
    gboolean filled = n == 0 || ref_slub_alloc_bulk(sheaves->slub, cpu, n, objects);

    g_assert_true(filled);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(sheaf->objects, objects[i]);
    stat_add(sheaves, cpu, SLAB_STAT_SHEAF_REFILL, n);
}

static void
sheaf_flush(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FLUSH, sheaf->objects->len);
    ref_slub_free_bulk(sheaves->slub, cpu, sheaf->objects->len, (RefObject *const *) sheaf_array(sheaf));
    g_ptr_array_set_size(sheaf->objects, 0);
}

static void
swap_main_and_spare(RefSheafCpu *c)
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
static guint
barn_node(const RefSheaves *sheaves, guint cpu)
{
    return kernel_of(sheaves) >= SLAB_KERNEL(7, 1) ? sheaves->slub->params.cpu_node[cpu] : mem_node(sheaves, cpu);
}

static RefBarn *
barn_of(RefSheaves *sheaves, guint cpu)
{
    return &sheaves->barns[barn_node(sheaves, cpu)];
}

static void
barn_put_empty(RefBarn *barn, RefSheaf *sheaf)
{
    barn->locks[REF_BARN_PUT_EMPTY]++;
    g_queue_push_head(&barn->empty, sheaf);
}

static void
barn_put_full(RefBarn *barn, RefSheaf *sheaf)
{
    barn->locks[REF_BARN_PUT_FULL]++;
    g_queue_push_head(&barn->full, sheaf);
}

static RefSheaf *
barn_get_empty(RefBarn *barn)
{
    if (g_queue_is_empty(&barn->empty))
        return NULL;
    barn->locks[REF_BARN_GET_EMPTY]++;
    return g_queue_pop_head(&barn->empty);
}

/* An empty sheaf for a full one; NULL, untouched, when there is none. */
static RefSheaf *
barn_exchange_full(RefBarn *barn, RefSheaf *full)
{
    RefSheaf *empty;

    barn->locks[REF_BARN_REPLACE_FULL]++;
    empty = g_queue_pop_head(&barn->empty);
    g_queue_push_head(&barn->full, full);
    return empty;
}

static gboolean
barn_is_crowded(const RefBarn *barn)
{
    return barn->full.length >= BARN_LIMIT;
}

/* Steps 2 and 3 of replace_empty_main: from the spare, from the barn. */
static gboolean
main_from_stock(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = barn_of(sheaves, cpu);

    if (c->spare != NULL && c->spare->objects->len > 0) {
        swap_main_and_spare(c);
        return TRUE;
    }
    if (g_queue_is_empty(&barn->full)) {
        stat_add(sheaves, cpu, SLAB_STAT_BARN_GET_FAIL, 1);
        return FALSE;
    }
    barn->locks[REF_BARN_REPLACE_EMPTY]++;
    g_queue_push_head(&barn->empty, c->main);
    c->main = g_queue_pop_head(&barn->full);
    stat_add(sheaves, cpu, SLAB_STAT_BARN_GET, 1);
    return TRUE;
}

static gboolean
replace_empty_main(RefSheaves *sheaves, guint cpu, gboolean may_block)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefSheaf *fresh;

    if (main_from_stock(sheaves, cpu))
        return TRUE;
    if (!may_block && kernel_of(sheaves) <= SLAB_KERNEL(7, 0))
        return FALSE;
    fresh = g_steal_pointer(&c->spare);
    if (fresh == NULL)
        fresh = barn_get_empty(barn_of(sheaves, cpu));
    if (fresh == NULL)
        fresh = sheaf_alloc(sheaves, cpu);
    sheaf_refill(sheaves, cpu, fresh);
    if (kernel_of(sheaves) < SLAB_KERNEL(7, 0))
        barn_put_empty(barn_of(sheaves, cpu), c->main);
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
    gboolean counts_mismatch = kernel_of(sheaves) >= SLAB_KERNEL(7, 0);
    const RefObject *top;

    if (node != REF_NO_NODE && (guint) node != mem_node(sheaves, cpu)) {
        stat_add(sheaves, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH, counts_mismatch ? 1 : 0);
        return NULL;
    }
    if (c->main->objects->len == 0 && !replace_empty_main(sheaves, cpu, may_block))
        return NULL;
    top = g_ptr_array_index(c->main->objects, c->main->objects->len - 1);
    if (node != REF_NO_NODE && top->slab->node != (guint) node) {
        stat_add(sheaves, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH, counts_mismatch ? 1 : 0);
        return NULL;
    }
    stat_add(sheaves, cpu, alloc_stat(sheaves), 1);
    return sheaf_pop(c->main);
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
    RefBarn *barn = barn_of(sheaves, cpu);

    if (c->spare == NULL) {
        c->spare = c->main;
        c->main = barn_get_empty(barn);
        if (c->main == NULL)
            c->main = sheaf_alloc(sheaves, cpu);
    } else if (!is_full(c->spare)) {
        swap_main_and_spare(c);
    } else if (barn_is_crowded(barn)) {
        stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
        sheaf_flush(sheaves, cpu, c->spare);
        swap_main_and_spare(c);
    } else {
        RefSheaf *full = c->main;

        if (g_queue_is_empty(&barn->empty)) {
            c->main = sheaf_alloc(sheaves, cpu);
            barn_put_full(barn, full);
        } else {
            c->main = barn_exchange_full(barn, full);
        }
        stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
    }
}

static gboolean
is_remote(const RefSheaves *sheaves, guint cpu, const RefObject *object)
{
    return !sheaves->remote_to_sheaf && object->slab->node != mem_node(sheaves, cpu);
}

/* Frees to slabs on behalf of a caller; without a cpu slab that is what FREE_SLOWPATH counts, by object. */
static void
free_to_slabs(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects)
{
    if (n == 0)
        return;
    ref_slub_free_bulk(sheaves->slub, cpu, n, objects);
    if (sheaves->slub->params.no_cpu_slab)
        stat_add(sheaves, cpu, SLAB_STAT_FREE_SLOWPATH, n);
}

void
ref_sheaves_free(RefSheaves *sheaves, guint cpu, RefObject *object)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];

    if (sheaves->capacity == 0 || is_remote(sheaves, cpu, object)) {
        free_to_slabs(sheaves, cpu, 1, &object);
        return;
    }
    if (is_full(c->main))
        replace_full_main(sheaves, cpu);
    g_ptr_array_add(c->main->objects, object);
    stat_add(sheaves, cpu, free_stat(sheaves), 1);
}

gboolean
ref_sheaves_alloc_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject **ret_objects)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    guint n_got = 0;

    while (sheaves->capacity > 0 && n_got < n) {
        guint batch;

        if (c->main->objects->len == 0 && !main_from_stock(sheaves, cpu))
            break;
        batch = MIN(n - n_got, c->main->objects->len);
        for (guint i = 0; i < batch; i++) /* the end of the array in its own order, not one by one */
            ret_objects[n_got + i] = g_ptr_array_index(c->main->objects, c->main->objects->len - batch + i);
        g_ptr_array_set_size(c->main->objects, (gint) (c->main->objects->len - batch));
        stat_add(sheaves, cpu, alloc_stat(sheaves), batch);
        n_got += batch;
    }
    if (n_got == n)
        return TRUE;
    if (sheaves->slub->params.no_cpu_slab)
        stat_add(sheaves, cpu, SLAB_STAT_ALLOC_SLOWPATH, n - n_got);
    return ref_slub_alloc_bulk(sheaves->slub, cpu, n - n_got, ret_objects + n_got);
}

/* Room in the main sheaf without making a sheaf. */
static gboolean
main_with_room(RefSheaves *sheaves, guint cpu)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = barn_of(sheaves, cpu);

    if (!is_full(c->main))
        return TRUE;
    if (c->spare == NULL) {
        RefSheaf *empty = barn_get_empty(barn);

        if (empty == NULL)
            return FALSE;
        c->spare = c->main;
        c->main = empty;
        return TRUE;
    }
    if (!is_full(c->spare)) {
        swap_main_and_spare(c);
        return TRUE;
    }
    if (barn_is_crowded(barn) || g_queue_is_empty(&barn->empty)) {
        stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
        return FALSE;
    }
    c->main = barn_exchange_full(barn, c->main);
    stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
    return TRUE;
}

void
ref_sheaves_free_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects)
{
    g_autoptr(GPtrArray) local = g_ptr_array_new(), remote = g_ptr_array_new();

    if (sheaves->capacity == 0) {
        free_to_slabs(sheaves, cpu, n, objects);
        return;
    }
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(local, objects[i]);
    for (guint i = 0; i < local->len;) {
        if (!is_remote(sheaves, cpu, g_ptr_array_index(local, i))) {
            i++;
            continue;
        }
        g_ptr_array_add(remote, g_ptr_array_remove_index_fast(local, i));
        if (remote->len == BATCH) {
            free_to_slabs(sheaves, cpu, BATCH, (RefObject *const *) remote->pdata);
            g_ptr_array_set_size(remote, 0);
        }
    }
    for (guint i = 0; i < local->len;) {
        RefSheaf *main;
        guint first = i;

        if (!main_with_room(sheaves, cpu)) {
            free_to_slabs(sheaves, cpu, local->len - i, (RefObject *const *) &local->pdata[i]);
            break;
        }
        main = sheaves->cpus[cpu].main;
        while (i < local->len && !is_full(main))
            g_ptr_array_add(main->objects, g_ptr_array_index(local, i++));
        stat_add(sheaves, cpu, free_stat(sheaves), i - first);
    }
    free_to_slabs(sheaves, cpu, remote->len, (RefObject *const *) remote->pdata);
}

static RefSheaf *
prefill_oversize(RefSheaves *sheaves, guint cpu, guint n)
{
    RefSheaf *sheaf = sheaf_make(n);
    g_autofree RefObject **objects = g_new(RefObject *, n);
    gboolean filled = ref_slub_alloc_bulk(sheaves->slub, cpu, n, objects);

    g_assert_true(filled);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(sheaf->objects, objects[i]);
    stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_OVERSIZE, 1);
    if (sheaves->slub->params.no_cpu_slab)
        stat_add(sheaves, cpu, SLAB_STAT_ALLOC_SLOWPATH, n);
    return sheaf;
}

RefSheaf *
ref_sheaves_prefill(RefSheaves *sheaves, guint cpu, guint n)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = barn_of(sheaves, cpu);
    RefSheaf *sheaf;

    if (n > sheaves->capacity)
        return prefill_oversize(sheaves, cpu, n);
    sheaf = g_steal_pointer(&c->spare);
    if (sheaf != NULL) {
        stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_FAST, 1);
    } else {
        stat_add(sheaves, cpu, SLAB_STAT_SHEAF_PREFILL_SLOW, 1);
        if (barn->full.length + barn->empty.length > 0)
            barn->locks[REF_BARN_GET_ANY]++;
        sheaf = g_queue_pop_head(&barn->full);
        stat_add(sheaves, cpu, sheaf != NULL ? SLAB_STAT_BARN_GET : SLAB_STAT_BARN_GET_FAIL, 1);
        if (sheaf == NULL)
            sheaf = g_queue_pop_head(&barn->empty);
        if (sheaf == NULL)
            sheaf = sheaf_alloc(sheaves, cpu);
    }
    if (sheaf->objects->len < n)
        sheaf_refill(sheaves, cpu, sheaf);
    return sheaf;
}

RefObject *
ref_sheaves_alloc_from(RefSheaf *sheaf)
{
    return sheaf->objects->len > 0 ? sheaf_pop(sheaf) : NULL;
}

void
ref_sheaves_return(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf)
{
    RefSheafCpu *c = &sheaves->cpus[cpu];
    RefBarn *barn = barn_of(sheaves, cpu);

    if (sheaf->capacity > sheaves->capacity) {
        sheaf_flush(sheaves, cpu, sheaf);
        sheaf_destroy(sheaf);
    } else if (c->spare == NULL) {
        c->spare = sheaf;
        stat_add(sheaves, cpu, SLAB_STAT_SHEAF_RETURN_FAST, 1);
    } else {
        stat_add(sheaves, cpu, SLAB_STAT_SHEAF_RETURN_SLOW, 1);
        if (barn_is_crowded(barn)) {
            sheaf_flush(sheaves, cpu, sheaf);
            sheaf_free(sheaves, cpu, sheaf);
        } else {
            sheaf_refill(sheaves, cpu, sheaf);
            barn_put_full(barn, sheaf);
            stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
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
    gboolean remote = is_remote(sheaves, cpu, object);

    if (remote || sheaves->capacity == 0) {
        /* Remote objects are sorted out before the attempt, in 6.18 and 6.19 caches without sheaves too. */
        if (!remote && kernel_of(sheaves) >= SLAB_KERNEL(7, 0))
            stat_add(sheaves, cpu, SLAB_STAT_FREE_RCU_SHEAF_FAIL, 1);
        call_rcu(sheaves, cpu, CALLBACK_OBJECT, NULL, object);
        return;
    }
    if (c->rcu_free == NULL && c->spare != NULL && c->spare->objects->len == 0)
        c->rcu_free = g_steal_pointer(&c->spare);
    if (c->rcu_free == NULL)
        c->rcu_free = barn_get_empty(barn_of(sheaves, cpu));
    if (c->rcu_free == NULL)
        c->rcu_free = sheaf_alloc(sheaves, cpu);
    g_ptr_array_add(c->rcu_free->objects, object);
    stat_add(sheaves, cpu, SLAB_STAT_FREE_RCU_SHEAF, 1);
    if (is_full(c->rcu_free)) {
        c->rcu_free->node = barn_node(sheaves, cpu);
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
        sheaf_flush(sheaves, cpu, sheaf);
        sheaf_free(sheaves, cpu, sheaf);
        return;
    }
    barn = &sheaves->barns[sheaf->node];
    if (!barn_is_crowded(barn)) {
        stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT, 1);
        barn_put_full(barn, sheaf);
        return;
    }
    stat_add(sheaves, cpu, SLAB_STAT_BARN_PUT_FAIL, 1);
    sheaf_flush(sheaves, cpu, sheaf);
    if (barn->empty.length < BARN_LIMIT)
        barn_put_empty(barn, sheaf);
    else
        sheaf_free(sheaves, cpu, sheaf);
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
            sheaf_flush(sheaves, cpu, spare);
            sheaf_free(sheaves, cpu, spare);
        }
        if (c->rcu_free != NULL)
            call_rcu(sheaves, cpu, CALLBACK_SHEAF_PAST_BARN, g_steal_pointer(&c->rcu_free), NULL);
        while (c->main->objects->len > 0) {
            guint n = MIN(c->main->objects->len, BATCH), left = c->main->objects->len - n;

            ref_slub_free_bulk(sheaves->slub, cpu, n, (RefObject *const *) &sheaf_array(c->main)[left]);
            g_ptr_array_set_size(c->main->objects, (gint) left);
            stat_add(sheaves, cpu, SLAB_STAT_SHEAF_FLUSH, n);
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
        sheaf_flush(sheaves, cpu, sheaf);
        sheaf_free(sheaves, cpu, sheaf);
    }
    while ((sheaf = g_queue_pop_head(&barn->empty)) != NULL)
        sheaf_free(sheaves, cpu, sheaf);
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
        sheaves->cpus[i].main = sheaf_make(capacity);
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
    sheaf_destroy(sheaf);
}

void
ref_sheaves_free_all(RefSheaves *sheaves)
{
    RefCallback *callback;

    for (guint i = 0; i < sheaves->slub->params.n_cpus; i++) {
        RefSheafCpu *c = &sheaves->cpus[i];

        sheaf_destroy(c->main);
        sheaf_destroy(c->spare);
        sheaf_destroy(c->rcu_free);
        while ((callback = g_queue_pop_head(&c->callbacks)) != NULL) {
            sheaf_destroy(callback->sheaf);
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
