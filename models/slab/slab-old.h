/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_OLD_H
#define SLAB_OLD_H

#include "slab-geometry.h"

/* Geometry of the old SLAB allocator: mm/slab.c calculate_slab_order(), cache_estimate() and __kmem_cache_create()
 * of about 3.12 to 4.4, slub-facts A.12. Debugging is left out. */

typedef enum {
    SLAB_OLD_STRUCT_SLAB, /* stage 0, to 3.12: a 48-byte header and 4-byte indices in or beside the slab */
    SLAB_OLD_INT_INDEX,   /* stage 1, 3.13 and 3.14: the header moved into struct page */
    SLAB_OLD_BYTE_INDEX,  /* stage 2, from 3.15: indices of one byte (two from pages of 8 KiB on) */
    SLAB_OLD_N_STAGES
} SlabOldStage;

typedef struct {
    guint size_bytes; /* stride */
    guint order, objects;
    gboolean is_off_slab;
    guint management_bytes; /* header and freelist, in units of the alignment; outside the slab if off-slab */
    guint leftover_bytes;   /* also room for colours */
    guint n_colours;        /* leftover / max(cache line, align) */
} SlabOldGeometry;

/* TRUE for the caches created so early that their management is always on-slab: kmem_cache, and the kmalloc classes
 * of the boot-time structures, 32 and 128 bytes on 64-bit machines. */
gboolean slab_old_is_early_name(const char *name);

/* Of `env` page, pointer and cache-line size and max_page_order count; of `spec` object size, align, HWCACHE_ALIGN,
 * RECLAIM_ACCOUNT and NOLEAKTRACE. kmalloc caches were created with HWCACHE_ALIGN. `largest_order` is
 * slab_max_order: 1 on a machine with more than 32 MiB, else 0. SIM_ERROR_MODEL when no order holds an object,
 * SIM_ERROR_RANGE for a size or alignment out of range. */
gboolean slab_old_compute(const SlabGeometryEnv *env, SlabOldStage stage, const SlabCacheSpec *spec, gboolean is_early,
                          guint largest_order, SlabOldGeometry *ret_geometry, GError **error);

#endif
