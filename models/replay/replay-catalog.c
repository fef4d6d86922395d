/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-catalog.h"

#include <string.h>

#include "imp-load.h"
#include "sim-error.h"
#include "sim-hint.h"
#include "slab-kmalloc.h"

static void
state_clear(gpointer data)
{
    ReplayCacheState *state = data;

    g_clear_pointer(&state->slabs, g_array_unref);
    g_clear_pointer(&state->partial, g_array_unref);
    g_clear_pointer(&state->objects_partial, g_array_unref);
    g_clear_pointer(&state->cpu_slabs, g_array_unref);
    g_clear_pointer(&state->cpu_partial, g_array_unref);
}

void
replay_catalog_free(ReplayCatalog *catalog)
{
    if (!catalog)
        return;
    slab_listing_free(catalog->listing);
    g_hash_table_unref(catalog->rows);
    g_array_unref(catalog->states);
    g_ptr_array_unref(catalog->sets);
    g_free(catalog);
}

/* "23 N0=9 N1=14": the numbers behind `letter`. "C5=42(1)": with `in_brackets` the 1. A total without places is that
 * of node 0. */
static GArray *
parse_places(const char *text, char letter, gboolean in_brackets)
{
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(ReplayCount));
    const char *p = text;

    while ((p = strchr(p, ' '))) {
        char *end;
        ReplayCount count;

        if (*++p != letter)
            continue;
        count.node = (guint) g_ascii_strtoull(p + 1, &end, 10);
        if (*end != '=')
            break;
        count.count = (guint) g_ascii_strtoull(end + 1, &end, 10);
        if (in_brackets)
            count.count = *end == '(' ? (guint) g_ascii_strtoull(end + 1, &end, 10) : 0;
        g_array_append_val(counts, count);
    }
    return counts;
}

static void
read_state(ReplayCacheState *state, const char *column, const char *value)
{
    const struct {
        const char *column;
        GArray **counts;
        char letter;
    } places[] = {
        {"slabs", &state->slabs, 'N'},
        {"partial", &state->partial, 'N'},
        {"objects_partial", &state->objects_partial, 'N'},
        {"cpu_slabs", &state->cpu_slabs, 'N'},
        {"slabs_cpu_partial", &state->cpu_partial, 'C'},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
        if (g_str_equal(column, places[i].column) && !g_str_equal(value, "-"))
            *places[i].counts = parse_places(value, places[i].letter, places[i].letter == 'C');
}

static void
add_name(ReplayCatalog *catalog, const char *name, guint row)
{
    g_hash_table_insert(catalog->rows, g_strdup(name), GUINT_TO_POINTER(row + 1));
}

/* The columns that the geometry does not need: states, and the names of merged caches. */
static void
read_states(ReplayCatalog *catalog, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_auto(GStrv) columns = g_strsplit(lines[0], "\t", -1);
    guint row = 0;

    for (guint i = 1; lines[i]; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);
        ReplayCacheState state = {0};

        if (lines[i][0] == '\0')
            continue;
        for (guint j = 0; columns[j] && fields[j]; j++) {
            read_state(&state, columns[j], fields[j]);
            if (g_str_equal(columns[j], "names") && !g_str_equal(fields[j], "-")) {
                g_auto(GStrv) names = g_strsplit(fields[j], ",", -1);
                for (char **name = names; *name; name++)
                    add_name(catalog, *name, row);
            }
        }
        g_array_append_val(catalog->states, state);
        row++;
    }
}

ReplayCatalog *
replay_catalog_new(const SlabGeometryEnv *env, const char *listing_path, GError **error)
{
    g_autoptr(ReplayCatalog) catalog = g_new0(ReplayCatalog, 1);
    g_autofree char *table = NULL;

    catalog->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    catalog->states = g_array_new(FALSE, TRUE, sizeof(ReplayCacheState));
    catalog->sets = g_ptr_array_new_with_free_func(g_free);
    g_array_set_clear_func(catalog->states, state_clear);
    catalog->listing = listing_path ? imp_load_listing(env, listing_path, &table, error) : slab_listing_new(env);
    if (!catalog->listing)
        return NULL;
    catalog->recorded_kernel = catalog->listing->env.kernel;
    for (guint i = 0; i < catalog->listing->rows->len; i++)
        add_name(catalog, g_array_index(catalog->listing->rows, SlabListingRow, i).spec.name, i);
    if (table)
        read_states(catalog, table);
    return g_steal_pointer(&catalog);
}

static const char *const set_keys[] = {"order", "cpu_partial", "cpu_partial_slabs", "min_partial", NULL};

/* The parts of "CACHE.KEY=VALUE"; FALSE when it is none. */
static gboolean
split_set(const char *setting, char **ret_cache, char **ret_key, gint *ret_value)
{
    const char *equals = strrchr(setting, '='), *dot = equals ? g_strrstr_len(setting, equals - setting, ".") : NULL;
    guint64 value;

    if (!dot || dot == setting || !g_ascii_string_to_unsigned(equals + 1, 10, 0, G_MAXINT, &value, NULL))
        return FALSE;
    *ret_cache = g_strndup(setting, (gsize) (dot - setting));
    *ret_key = g_strndup(dot + 1, (gsize) (equals - dot - 1));
    *ret_value = (gint) value;
    return TRUE;
}

gboolean
replay_catalog_set(ReplayCatalog *catalog, const char *setting, GError **error)
{
    g_autofree char *cache = NULL, *key = NULL, *hint = NULL;
    gint value;

    if (!split_set(setting, &cache, &key, &value)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "\"%s\" is not of the form CACHE.KEY=NUMBER", setting);
        return FALSE;
    }
    if (!g_strv_contains(set_keys, key)) {
        hint = sim_hint_phrase(key, set_keys);
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY,
                    "\"%s\": no key %s; known are order, cpu_partial, cpu_partial_slabs, min_partial%s", setting, key,
                    hint);
        return FALSE;
    }
    if (catalog->listing->rows->len && !g_str_equal(cache, "*") && replay_catalog_row(catalog, cache) < 0) {
        g_autofree const char **names = (const char **) g_hash_table_get_keys_as_array(catalog->rows, NULL);

        hint = sim_hint_phrase(cache, names);
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "\"%s\": the listing has no cache %s%s", setting, cache,
                    hint);
        return FALSE;
    }
    g_ptr_array_add(catalog->sets, g_strdup(setting));
    catalog->is_changed = TRUE;
    return TRUE;
}

gint
replay_catalog_row(const ReplayCatalog *catalog, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(catalog->rows, name)) - 1;
}

const ReplayCacheState *
replay_catalog_state(const ReplayCatalog *catalog, gint row)
{
    const ReplayCacheState *state;

    if (row < 0 || (guint) row >= catalog->states->len)
        return NULL;
    state = &g_array_index(catalog->states, ReplayCacheState, row);
    return state->slabs && state->partial && state->objects_partial && state->cpu_slabs && state->cpu_partial ? state
                                                                                                              : NULL;
}

static void
apply_sets(const ReplayCatalog *catalog, gint row, const char *name, SlabCacheSpec *spec)
{
    const struct {
        const char *key;
        gint *field;
    } fields[] = {
        {"order", &spec->order_override},
        {"cpu_partial", &spec->cpu_partial_override},
        {"cpu_partial_slabs", &spec->cpu_partial_slabs_override},
        {"min_partial", &spec->min_partial_override},
    };

    for (guint i = 0; i < catalog->sets->len; i++) {
        g_autofree char *cache = NULL, *key = NULL;
        gint value = 0;

        g_assert(split_set(g_ptr_array_index(catalog->sets, i), &cache, &key, &value));
        if (!g_str_equal(cache, "*") && !g_str_equal(cache, name) &&
            (row < 0 || replay_catalog_row(catalog, cache) != row))
            continue;
        for (gsize j = 0; j < G_N_ELEMENTS(fields); j++)
            if (g_str_equal(key, fields[j].key))
                *fields[j].field = value;
    }
}

/* A cache that no listing describes. */
static SlabCacheSpec
made_up_spec(const SlabGeometryEnv *env, const char *name, guint bytes_alloc, char kmalloc_name[])
{
    guint index = slab_kmalloc_is_name(name) ? slab_kmalloc_index(env, bytes_alloc) : 0;
    SlabKmallocType type = strstr(name, "-cg-")    ? SLAB_KMALLOC_CGROUP
                           : strstr(name, "-rcl-") ? SLAB_KMALLOC_RECLAIM
                           : strstr(name, "dma")   ? SLAB_KMALLOC_DMA
                                                   : SLAB_KMALLOC_NORMAL;

    if (index)
        return slab_kmalloc_spec(env, type, 0, index, kmalloc_name);
    return slab_cache_spec_default(name, bytes_alloc);
}

gboolean
replay_catalog_geometry(const ReplayCatalog *catalog, gint row, const char *name, guint bytes_alloc,
                        SlabGeometry *ret_geometry, GError **error)
{
    const SlabGeometryEnv *env = &catalog->listing->env;
    char kmalloc_name[SLAB_KMALLOC_NAME_BYTES];
    SlabCacheSpec spec;
    SlabGeometry geometry;

    if (row >= 0)
        spec = g_array_index(catalog->listing->rows, SlabListingRow, row).spec;
    else
        spec = made_up_spec(env, name, bytes_alloc, kmalloc_name);
    /* A listing of the release has what it has; another release's creators are asked by name. */
    if (row < 0 || env->kernel != catalog->recorded_kernel)
        slab_listing_add_hidden_facts(env->kernel, name, &spec);
    if (catalog->listing->written_cpu_partial >= 0 && slab_geometry_compute(env, &spec, &geometry, NULL) &&
        geometry.has_cpu_partial)
        spec.cpu_partial_override = catalog->listing->written_cpu_partial;
    apply_sets(catalog, row, name, &spec);
    if (slab_geometry_compute(env, &spec, ret_geometry, error))
        return TRUE;
    g_prefix_error(error, "cache %s: ", name);
    return FALSE;
}

guint
replay_catalog_recorded_order(const ReplayCatalog *catalog, gint row, const SlabGeometry *geometry)
{
    gint order = row >= 0 ? g_array_index(catalog->listing->rows, SlabListingRow, row).order : -1;

    return order >= 0 ? (guint) order : geometry->order;
}
