/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-merge.h"

#include "slab-math.h"

#define MERGE_SAME_FLAGS ((guint) (SLAB_RECLAIM_ACCOUNT | SLAB_CACHE_DMA | SLAB_CACHE_DMA32 | SLAB_ACCOUNT))
#define NEVER_MERGE_FLAGS                                                                                              \
    ((guint) (SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER | SLAB_TRACE | SLAB_TYPESAFE_BY_RCU | SLAB_NOLEAKTRACE |   \
              SLAB_FAILSLAB))

const char *
slab_merge_refusal(const SlabGeometryEnv *env, const SlabMergeRules *rules, const SlabCacheSpec *spec)
{
    if (rules->slab_nomerge)
        return "slab_nomerge";
    if (spec->has_ctor)
        return "it has a constructor";
    if (rules->hardened_usercopy && spec->usersize_bytes > 0)
        return "it has a usercopy region";
    if (spec->is_boot_cache)
        return "it is a boot cache";
    /* Before the flag existed the same caches were kept apart by a negative reference count. */
    if (spec->flags & SLAB_NO_MERGE)
        return "its creator forbids it";
    if (spec->flags & NEVER_MERGE_FLAGS)
        return "it has a flag that forbids it (debug, TYPESAFE_BY_RCU, NOLEAKTRACE or FAILSLAB)";
    if ((spec->flags & SLAB_CONSISTENCY_CHECKS) && env->kernel >= SLAB_KERNEL(7, 0))
        return "it has CONSISTENCY_CHECKS, which forbids it from 7.0 on";
    if (spec->args_sheaf_capacity > 0 && env->kernel >= SLAB_KERNEL(6, 18))
        return "its creator asked for a sheaf capacity";
    return NULL;
}

gint
slab_merge_find(const SlabGeometryEnv *env, const SlabMergeRules *rules, const SlabCacheSpec *newcomer,
                const SlabMergeCache *caches, guint n_caches)
{
    guint words = slab_round_up(newcomer->object_size_bytes, env->pointer_bytes);
    guint align = slab_geometry_alignment(env, newcomer->flags, newcomer->align_bytes, words);
    guint size = slab_round_up(words, align);

    if (slab_merge_refusal(env, rules, newcomer) != NULL)
        return -1;
    for (guint i = n_caches; i-- > 0;) {
        const SlabMergeCache *cache = &caches[i];

        if (slab_merge_refusal(env, rules, &cache->spec) != NULL)
            continue;
        if ((newcomer->flags ^ cache->spec.flags) & MERGE_SAME_FLAGS)
            continue;
        if (size <= cache->geometry.size_bytes && cache->geometry.size_bytes - size < env->pointer_bytes &&
            cache->geometry.size_bytes % align == 0)
            return (gint) i;
    }
    return -1;
}

void
slab_merge_absorb(const SlabGeometryEnv *env, SlabMergeCache *cache, const SlabCacheSpec *newcomer)
{
    guint words = slab_round_up(newcomer->object_size_bytes, env->pointer_bytes);

    cache->spec.object_size_bytes = MAX(cache->spec.object_size_bytes, newcomer->object_size_bytes);
    cache->geometry.inuse_bytes = MAX(cache->geometry.inuse_bytes, words);
    cache->n_aliases++;
}
