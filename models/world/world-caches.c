/* SPDX-License-Identifier: GPL-3.0-or-later */
/* [caches] file: caches of an imported machine as those of a workload. The file says what each cache is; the scenario's
 * own [cache NAME] has the last word. */
#include "world-private.h"

#include "slab-spec.h"

const SimKeySpec world_caches_keys[] = {
    {.group = "caches",
     .key = "file",
     .type = SIM_KEY_TEXT,
     .optional = TRUE,
     .help =
         "a .caches file, as slubsim import writes it, with what the workload's caches are: a name in caches/, or a "
         "path beside this file"},
    {NULL},
};

static gboolean
put_size(SimLayer *layer, const char *group, const char *key, guint bytes, const char *place, GError **error)
{
    g_autofree char *text = g_strdup_printf("%u B", bytes);

    return sim_layer_put(layer, group, key, text, place, error);
}

static gboolean
put_number(SimLayer *layer, const char *group, const char *key, gint number, const char *place, GError **error)
{
    g_autofree char *text = g_strdup_printf("%d", number);

    return sim_layer_put(layer, group, key, text, place, error);
}

/* Every fact, also that something was not asked for: nothing of what the release is known to have shines through. */
static gboolean
put_facts(SimLayer *layer, const char *group, const SlabCacheSpec *spec, guint all_flags, const char *place,
          GError **error)
{
    g_autofree char *flags = slab_flags_to_text(all_flags);

    return put_size(layer, group, "object_size", spec->object_size_bytes, place, error) &&
           put_size(layer, group, "align", spec->align_bytes, place, error) &&
           put_size(layer, group, "usersize", spec->usersize_bytes, place, error) &&
           put_number(layer, group, "freeptr_offset", spec->freeptr_offset, place, error) &&
           put_number(layer, group, "args_sheaf_capacity", spec->args_sheaf_capacity, place, error) &&
           sim_layer_put(layer, group, "flags", flags, place, error) &&
           sim_layer_put(layer, group, "ctor", spec->has_ctor ? "true" : "false", place, error);
}

/* Flags that neither sysfs nor slabinfo shows of an unmerged cache; the name of a merged one tells. They are taken as
 * the release has them. */
static guint
hidden_flags(const SlabCacheSpec *spec, const char *name, guint kernel)
{
    const SlabGeometryEnv env = slab_geometry_env_default(kernel, 1);
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    SlabCacheSpec known;

    if (spec->name[0] == ':' || !world_known_cache(&env, name, names, &known))
        return 0;
    return known.flags & (SLAB_ACCOUNT | SLAB_NOLEAKTRACE | SLAB_CACHE_DMA32 | SLAB_NO_OBJ_EXT);
}

static gboolean
put_cache(SimLayer *layer, const char *name, guint kernel, const SlabCacheSpec *spec, const char *path, GError **error)
{
    g_autofree char *group = g_strconcat("cache ", name, NULL);
    g_autofree char *place = g_strdup_printf("%s [%s]", path, spec->name);
    const struct {
        const char *key;
        gint number;
    } overrides[] = {
        {"order", spec->order_override},
        {"min_partial", spec->min_partial_override},
        {"cpu_partial", spec->cpu_partial_override},
        {"cpu_partial_slabs", spec->cpu_partial_slabs_override},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(overrides); i++)
        if (overrides[i].number >= 0 && !put_number(layer, group, overrides[i].key, overrides[i].number, place, error))
            return FALSE;
    return put_facts(layer, group, spec, spec->flags | hidden_flags(spec, name, kernel), place, error);
}

/* By its own name first: one that was merged may also stand among the names of another. */
static const SlabCacheSpec *
find_spec(const GArray *specs, const char *name)
{
    const SlabCacheSpec *merged = NULL;

    for (guint i = 0; i < specs->len; i++) {
        const SlabCacheSpec *spec = &g_array_index(specs, SlabCacheSpec, i);

        if (g_str_equal(spec->name, name))
            return spec;
        if (merged == NULL && slab_spec_is_named(spec, name))
            merged = spec;
    }
    return merged;
}

static gboolean
put_caches(SimLayer *layer, const SimConfig *config, guint kernel, const GArray *specs, const char *path,
           GError **error)
{
    const Workload *workload = workload_find(sim_config_text(config, "workload", "type"));
    const char *const *names = workload_cache_names(workload, config, kernel);
    const char *const *described = sim_config_instances(config, "cache *");

    for (; *names; names++) {
        const SlabCacheSpec *spec = find_spec(specs, *names);

        if (spec ? !put_cache(layer, *names, kernel, spec, path, error)
                 : !g_strv_contains(described, *names) &&
                       !sim_config_error(config, "caches", "file", error,
                                         "%s has no cache %s, which the workload uses: perhaps it was merged into "
                                         "another (a group [cache %s] describes it; empty, it is as in the release)",
                                         path, *names, *names))
            return FALSE;
    }
    return TRUE;
}

gboolean
world_add_layer(const SimConfig *config, SimLayer *layer, GError **error)
{
    g_autoptr(GStringChunk) names = g_string_chunk_new(4096);
    g_autoptr(GArray) specs = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));
    g_autoptr(GError) cause = NULL;
    g_autofree char *path = NULL, *text = NULL;
    guint kernel;

    if (!sim_config_is_given(config, "caches", "file"))
        return TRUE;
    path = sim_layer_find_file(layer, config, "caches", "file", "caches", "caches", error);
    if (!path || !world_kernel(config, &kernel, error))
        return FALSE;
    if (!g_file_get_contents(path, &text, NULL, &cause))
        return sim_config_error(config, "caches", "file", error, "%s", cause->message);
    return slab_spec_parse_caches(text, path, names, specs, error) &&
           put_caches(layer, config, kernel, specs, path, error);
}
