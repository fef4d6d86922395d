/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_MERGE_H
#define SLAB_MERGE_H

#include "slab-geometry.h"

/* Merging of caches at creation: mm/slab_common.c find_mergeable() and slab_unmergeable(), mm/slub.c
 * __kmem_cache_alias(); slub-facts A.9. An explicit sheaf capacity keeps a cache alone in every release that has
 * sheaves: 6.18 and 6.19 refuse it, 7.0 sets SLAB_NO_MERGE for it (maple_node is alone in a 7.3 listing). */

typedef struct {
    gboolean slab_nomerge;      /* boot parameter */
    gboolean hardened_usercopy; /* CONFIG_HARDENED_USERCOPY: a usercopy region forbids merging */
} SlabMergeRules;

/* An existing cache. `spec` and `geometry` are what sysfs would show: they grow as others merge in. */
typedef struct {
    SlabCacheSpec spec;
    SlabGeometry geometry;
    guint n_aliases;
} SlabMergeCache;

/* Why a cache can neither merge nor be merged into, as static text, or NULL when it can. */
const char *slab_merge_refusal(const SlabGeometryEnv *env, const SlabMergeRules *rules, const SlabCacheSpec *spec);

/* Index in `caches` (n_caches entries in order of creation) of the cache the newcomer merges into, the newest that
 * fits; -1 when none does. */
gint slab_merge_find(const SlabGeometryEnv *env, const SlabMergeRules *rules, const SlabCacheSpec *newcomer,
                     const SlabMergeCache *caches, guint n_caches);

/* Lets the newcomer merge into `cache`: object_size and inuse become the larger ones; stride and order stay. */
void slab_merge_absorb(const SlabGeometryEnv *env, SlabMergeCache *cache, const SlabCacheSpec *newcomer);

#endif
