/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_KMALLOC_H
#define SLAB_KMALLOC_H

#include "slab-geometry.h"

/* The kmalloc caches: mm/slab_common.c kmalloc_info, kmalloc_size_index and new_kmalloc_cache(), slub-facts A.8.
 * Classes carry the kernel's own index: 1 is 96 bytes, 2 is 192 bytes, n >= 3 is 2^n bytes; 0 means no class. */

typedef enum {
    SLAB_KMALLOC_NORMAL,
    SLAB_KMALLOC_RECLAIM, /* __GFP_RECLAIMABLE, from 4.20 */
    SLAB_KMALLOC_CGROUP,  /* __GFP_ACCOUNT, from 5.14 */
    SLAB_KMALLOC_DMA,
    SLAB_KMALLOC_RANDOM, /* CONFIG_RANDOM_KMALLOC_CACHES, from 6.6: copies 1 to 15 beside the normal one */
} SlabKmallocType;

/* Bits of an allocation's gfp mask that choose the type. */
typedef enum {
    SLAB_GFP_DMA = 1u << 0,
    SLAB_GFP_RECLAIMABLE = 1u << 1,
    SLAB_GFP_ACCOUNT = 1u << 2,
} SlabGfp;

#define SLAB_KMALLOC_N_RANDOM 15u
#define SLAB_KMALLOC_NAME_BYTES 32u

/* Largest class: two pages. Larger requests go to the page allocator. */
guint slab_kmalloc_max_bytes(const SlabGeometryEnv *env);

/* Class index of a request of `bytes`, 0 for none (0 bytes, or above slab_kmalloc_max_bytes()). */
guint slab_kmalloc_index(const SlabGeometryEnv *env, guint bytes);

/* Object size in bytes of class `index`, 1 to 31. */
guint slab_kmalloc_class_bytes(guint index);

/* kmalloc_size_roundup(): the bytes a request really gets; above the largest class whole pages of one order. */
guint slab_kmalloc_roundup(const SlabGeometryEnv *env, guint bytes);

/* kmalloc_type() without random copies. A type the release lacks falls back to NORMAL. */
SlabKmallocType slab_kmalloc_type(guint kernel, guint gfp);

/* The cache of a class as the kernel creates it: size, flags, natural alignment, usercopy region. `random_copy`
 * (1 to 15) counts for SLAB_KMALLOC_RANDOM only. The name is written to `ret_name`, which the spec borrows.
 * Assumes CONFIG_MEMCG, with which NORMAL caches are never merged. */
SlabCacheSpec slab_kmalloc_spec(const SlabGeometryEnv *env, SlabKmallocType type, guint random_copy, guint index,
                                char ret_name[SLAB_KMALLOC_NAME_BYTES]);

/* TRUE for the name of a kmalloc cache: "kmalloc-64", "kmalloc-cg-1k", "dma-kmalloc-96". */
gboolean slab_kmalloc_is_name(const char *name);

#endif
