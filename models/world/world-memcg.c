/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting in a world: which caches have exts where, and the kmalloc caches that serve their arrays. */
#include "world-private.h"

#include <string.h>

#include "slab-kmalloc.h"

static SlubCache *
find_cache(const World *world, const char *name)
{
    for (guint i = 0; i < world->slub->n_caches; i++)
        if (strcmp(world->slub->cache[i]->name, name) == 0)
            return world->slub->front[i];
    return NULL;
}

/* The cache of the arrays, made when the workload has none of that class. An array cache made here gets exts of its
 * own only for profiling: its objects are never charged. */
static SlubCache *
array_cache(World *world, const SlabGeometryEnv *env, guint class, GError **error)
{
    char name[SLAB_KMALLOC_NAME_BYTES];
    SlabCacheSpec spec = slab_kmalloc_spec(env, SLAB_KMALLOC_NORMAL, 0, class, name);
    SlubCache *cache = find_cache(world, name);
    SlabGeometry geometry;

    if (cache)
        return cache;
    if (!world_cache_geometry(world->config, env, spec.name, &geometry, error))
        return NULL;
    slub_cache_new(world->slub, spec.name, &geometry, sim_config_real(world->config, "slub", "order_fallback"), TRUE);
    return find_cache(world, name);
}

static gboolean
add_cache(World *world, const SlabGeometryEnv *env, const MemcgSettings *settings, SlubCache *cache, GError **error)
{
    const SlabMergeRules merging = {.hardened_usercopy = TRUE};
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    SlubCache *arrays = NULL;
    SlabCacheSpec spec;
    SlabExt ext;

    if (!world_cache_spec(world->config, env, cache->name, names, &spec, error))
        return FALSE;
    slab_ext_compute(env, &settings->ext, &merging, &spec, &cache->geometry, &ext, NULL);
    if (ext.place == SLAB_EXT_ARRAY && ext.array_class) {
        arrays = array_cache(world, env, ext.array_class, error);
        if (!arrays)
            return FALSE;
    }
    memcg_add_cache(world->memcg, cache, &ext, arrays);
    return TRUE;
}

gboolean
world_add_memcg(World *world, GError **error)
{
    guint n_caches = world->slub->n_caches;
    MemcgSettings settings;
    SlabGeometryEnv env;

    memcg_settings_read(world->config, world->slub->kernel, &settings);
    if (!memcg_settings_have_effect(&settings))
        return TRUE;
    if (!world_geometry_env(world->config, world->topology, &env, error))
        return FALSE;
    world->memcg = memcg_new(world->slub, &settings);
    memcg_task_init(&world->memcg_task, memcg_group(world->memcg, 0));
    for (guint i = 0; i < n_caches; i++)
        if (!add_cache(world, &env, &settings, world->slub->cache[i], error))
            return FALSE;
    return TRUE;
}
