/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* The arrays of RFC v1 and v2 "SLUB percpu array caches" (August 2023): alloc_from_pca(), free_to_pca() and
 * kmem_cache_prefill_percpu_array(), the trylocks of which never fail here. */

RefObject *
ref__array_take(RefSlub *slub, guint cpu)
{
    GPtrArray *array = slub->cpus[cpu].array;

    if (array->len == 0)
        return NULL;
    ref__stat(slub, cpu, SLAB_STAT_ALLOC_PCA);
    return g_ptr_array_remove_index(array, array->len - 1);
}

gboolean
ref__array_put(RefSlub *slub, guint cpu, RefObject *object)
{
    GPtrArray *array = slub->cpus[cpu].array;

    if (array->len >= slub->params.array_capacity)
        return FALSE;
    g_assert_true(object->allocated && !g_ptr_array_find(array, object, NULL));
    ref__stat(slub, cpu, SLAB_STAT_FREE_PCA);
    g_ptr_array_add(array, object);
    return TRUE;
}

void
ref_slub_prefill_array(RefSlub *slub, guint cpu, guint n)
{
    RefObject *objects[32];
    guint there = slub->cpus[cpu].array->len, wanted;
    gboolean is_there;

    if (n > slub->params.array_capacity || there >= n)
        return;
    wanted = MIN(n - there, G_N_ELEMENTS(objects));
    is_there = ref_slub_alloc_bulk(slub, cpu, wanted, objects);
    g_assert_true(is_there);
    for (guint i = 0; i < wanted; i++)
        ref_slub_free(slub, cpu, objects[i]);
}

RefObject *const *
ref_slub_array(const RefSlub *slub, guint cpu, guint *ret_n)
{
    *ret_n = slub->cpus[cpu].array->len;
    return (RefObject *const *) slub->cpus[cpu].array->pdata;
}

void
ref_slub_close_arrays(RefSlub *slub)
{
    slub->params.array_capacity = 0;
}
