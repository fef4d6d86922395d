/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_EXT_H
#define SLAB_EXT_H

#include "slab-merge.h"

/* Where the per-object data of memcg and allocation profiling live: struct slabobj_ext from 6.10, bare objcg pointers
 * before. mm/slub.c alloc_slab_obj_exts(), and in 7.0 alloc_slab_obj_exts_early(); the RFC V2 of 2025 as posted;
 * slub-facts A.10. */

typedef enum {
    SLAB_EXT_RULES_KERNEL,   /* those of the release: arrays to 6.19, leftover and padding from 7.0 */
    SLAB_EXT_RULES_ARRAY,    /* always a separate array */
    SLAB_EXT_RULES_LEFTOVER, /* RFC V2 up to patch 4: the slab's leftover, else an array */
    SLAB_EXT_RULES_RFC_V2,   /* RFC V2 whole: leftover, else padding in any cache that has it, else an array */
} SlabExtRules;

typedef enum {
    SLAB_EXT_NONE,
    SLAB_EXT_ARRAY,    /* its own kmalloc object, or pages when too large for one */
    SLAB_EXT_LEFTOVER, /* behind the last object (case 1) */
    SLAB_EXT_PADDING,  /* in each object's own alignment padding (case 2) */
} SlabExtPlace;

typedef struct {
    gboolean memcg;     /* kernel memory accounting is on */
    gboolean profiling; /* CONFIG_MEM_ALLOC_PROFILING, from 6.10 */
    gboolean always;    /* what-if: for caches that need none too */
    SlabExtRules rules;
} SlabExtSettings;

typedef struct {
    SlabExtPlace place;
    gboolean is_eager;      /* made with the slab, not at the first accounted object */
    guint ext_bytes;        /* of one object: 8, or 16 for memcg and profiling */
    guint offset_bytes;     /* of the first one from the slab's start; 0 for an array */
    guint stride_bytes;     /* from one to the next */
    guint vector_bytes;     /* of all objects of a slab */
    guint array_bytes;      /* what a separate array takes, or would: its kmalloc class or its pages */
    guint array_class;      /* slab_kmalloc_index() of that; 0 = pages */
    guint extra_lines;      /* cache lines a slab's objects touch for them beside those of the payload */
    gboolean stops_merging; /* the cache could merge but for its ext in the padding (RFC V2) */
} SlabExt;

/* "none", "separate array", ...; static. */
const char *slab_ext_place_name(SlabExtPlace place);

/* Placement for slabs of the preferred order. `merging` are the rules of slab_merge_refusal(). One line a decision is
 * appended to `steps` (NULL allowed). */
void slab_ext_compute(const SlabGeometryEnv *env, const SlabExtSettings *settings, const SlabMergeRules *merging,
                      const SlabCacheSpec *spec, const SlabGeometry *geometry, SlabExt *ret_ext, GString *steps);

#endif
