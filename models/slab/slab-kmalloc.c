/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-kmalloc.h"

#include "slab-order.h"

guint
slab_kmalloc_max_bytes(const SlabGeometryEnv *env)
{
    return 2 * env->page_size_bytes;
}

guint
slab_kmalloc_index(const SlabGeometryEnv *env, guint bytes)
{
    if (bytes == 0 || bytes > slab_kmalloc_max_bytes(env))
        return 0;
    if (bytes <= 8)
        return 3;
    if (bytes > 64 && bytes <= 96)
        return 1;
    if (bytes > 128 && bytes <= 192)
        return 2;
    return g_bit_storage(bytes - 1);
}

guint
slab_kmalloc_class_bytes(guint index)
{
    if (index == 1)
        return 96;
    if (index == 2)
        return 192;
    return 1u << index;
}

guint
slab_kmalloc_roundup(const SlabGeometryEnv *env, guint bytes)
{
    if (bytes > slab_kmalloc_max_bytes(env))
        return env->page_size_bytes << slab_order_for_bytes(bytes, env->page_size_bytes);
    return bytes == 0 ? 0 : slab_kmalloc_class_bytes(slab_kmalloc_index(env, bytes));
}

SlabKmallocType
slab_kmalloc_type(guint kernel, guint gfp)
{
    if (gfp & SLAB_GFP_DMA)
        return SLAB_KMALLOC_DMA;
    if ((gfp & SLAB_GFP_RECLAIMABLE) && kernel >= SLAB_KERNEL(4, 20))
        return SLAB_KMALLOC_RECLAIM;
    if ((gfp & SLAB_GFP_ACCOUNT) && kernel >= SLAB_KERNEL(5, 14))
        return SLAB_KMALLOC_CGROUP;
    return SLAB_KMALLOC_NORMAL;
}

/* "1k" from 4.20 on, "1024" before. */
static void
format_size(guint kernel, guint bytes, char *text, gsize text_bytes)
{
    if (kernel < SLAB_KERNEL(4, 20) || bytes < 1024)
        g_snprintf(text, text_bytes, "%u", bytes);
    else if (bytes < 1024 * 1024)
        g_snprintf(text, text_bytes, "%uk", bytes / 1024);
    else
        g_snprintf(text, text_bytes, "%uM", bytes / (1024 * 1024));
}

static void
format_name(guint kernel, SlabKmallocType type, guint random_copy, guint bytes, char *name)
{
    char size[12];

    format_size(kernel, bytes, size, sizeof size);
    switch (type) {
    case SLAB_KMALLOC_NORMAL:
        g_snprintf(name, SLAB_KMALLOC_NAME_BYTES, "kmalloc-%s", size);
        break;
    case SLAB_KMALLOC_RECLAIM:
        g_snprintf(name, SLAB_KMALLOC_NAME_BYTES, "kmalloc-rcl-%s", size);
        break;
    case SLAB_KMALLOC_CGROUP:
        g_snprintf(name, SLAB_KMALLOC_NAME_BYTES, "kmalloc-cg-%s", size);
        break;
    case SLAB_KMALLOC_DMA:
        g_snprintf(name, SLAB_KMALLOC_NAME_BYTES, "dma-kmalloc-%s", size);
        break;
    case SLAB_KMALLOC_RANDOM:
        g_snprintf(name, SLAB_KMALLOC_NAME_BYTES, "kmalloc-rnd-%02u-%s", random_copy, size);
        break;
    }
}

SlabCacheSpec
slab_kmalloc_spec(const SlabGeometryEnv *env, SlabKmallocType type, guint random_copy, guint index,
                  char ret_name[SLAB_KMALLOC_NAME_BYTES])
{
    static const guint type_flags[] = {
        [SLAB_KMALLOC_NORMAL] = SLAB_NO_MERGE, [SLAB_KMALLOC_RECLAIM] = SLAB_RECLAIM_ACCOUNT,
        [SLAB_KMALLOC_CGROUP] = SLAB_ACCOUNT,  [SLAB_KMALLOC_DMA] = SLAB_CACHE_DMA,
        [SLAB_KMALLOC_RANDOM] = SLAB_NO_MERGE,
    };
    guint bytes = slab_kmalloc_class_bytes(index);
    SlabCacheSpec spec = slab_cache_spec_default(ret_name, bytes);

    format_name(env->kernel, type, random_copy, bytes, ret_name);
    spec.flags = SLAB_KMALLOC | type_flags[type];
    spec.usersize_bytes = bytes;
    return spec;
}

gboolean
slab_kmalloc_is_name(const char *name)
{
    return g_str_has_prefix(name, "kmalloc-") || g_str_has_prefix(name, "dma-kmalloc-");
}
