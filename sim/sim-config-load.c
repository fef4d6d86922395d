/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-config-load.h"

#include "sim-hint.h"
#include "sim-layer.h"
#include "sim-schema.h"
#include "sim-table.h"

#include <stdlib.h>
#include <string.h>

void
sim_loader_free(SimLoader *loader)
{
    if (loader == NULL)
        return;
    g_hash_table_unref(loader->bases);
    g_hash_table_unref(loader->layers);
    g_ptr_array_unref(loader->chain);
    g_ptr_array_unref(loader->rows);
    g_free(loader);
}

/* A path written in a file is relative to that file. */
static char *
path_beside(const char *path, const char *name)
{
    if (g_path_is_absolute(name) || strchr(path, '/') == NULL)
        return g_strdup(name);
    g_autofree char *folder = g_path_get_dirname(path);
    return g_build_filename(folder, name, NULL);
}

static gboolean
is_same_file(const char *a, const char *b)
{
    char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
    gboolean is_same = real_a != NULL && real_b != NULL && strcmp(real_a, real_b) == 0;
    free(real_a);
    free(real_b);
    return is_same;
}

/* The parent a document names: its path, or NULL with an error when the chain may not grow by it. */
static char *
parent_path(const GPtrArray *chain, const SimDocument *child, GError **error)
{
    g_autofree char *path = path_beside(child->ini->path, child->extends->value.text);
    for (guint i = 0; i < chain->len; i++) {
        const SimDocument *document = chain->pdata[i];
        if (is_same_file(document->ini->path, path)) {
            sim_setting_error(child->extends, error, SIM_ERROR_MODEL, "the files extend each other in a circle");
            return NULL;
        }
    }
    if (chain->len > SIM_MAX_EXTENDS) {
        sim_setting_error(child->extends, error, SIM_ERROR_MODEL, "more than %d files extend one another",
                          SIM_MAX_EXTENDS);
        return NULL;
    }
    return g_steal_pointer(&path);
}

static gboolean
load_chain(SimLoader *loader, const char *path, GError **error)
{
    SimDocument *document = sim_document_load(loader->rows, path, error);
    if (document == NULL)
        return FALSE;
    g_ptr_array_add(loader->chain, document);
    while (document->extends != NULL) {
        const SimDocument *child = document;
        g_autofree char *parent = parent_path(loader->chain, child, error);
        if (parent == NULL)
            return FALSE;
        GError *problem = NULL;
        document = sim_document_load(loader->rows, parent, &problem);
        if (document == NULL && problem->code == SIM_ERROR_IO)
            sim_setting_error(child->extends, error, SIM_ERROR_IO, "%s", problem->message);
        else if (document == NULL)
            g_propagate_error(error, g_steal_pointer(&problem));
        g_clear_error(&problem);
        if (document == NULL)
            return FALSE;
        g_ptr_array_insert(loader->chain, 0, document);
    }
    return TRUE;
}

SimLoader *
sim_loader_new(const SimSchema *schema, const char *path, GError **error)
{
    g_autoptr(SimLoader) loader = g_new0(SimLoader, 1);
    loader->schema = schema;
    loader->rows = sim_schema_rows(schema);
    loader->chain = g_ptr_array_new_with_free_func((GDestroyNotify) sim_document_free);
    loader->layers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) sim_document_free);
    loader->bases = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) sim_config_unref);
    if (!load_chain(loader, path, error))
        return NULL;
    return g_steal_pointer(&loader);
}

static SimVariant *
find_variant(const GPtrArray *variants, const char *name)
{
    for (guint i = 0; i < variants->len; i++) {
        SimVariant *variant = variants->pdata[i];
        if (strcmp(variant->name, name) == 0)
            return variant;
    }
    return NULL;
}

GPtrArray *
sim_loader_variants(const SimLoader *loader)
{
    GPtrArray *merged = g_ptr_array_new_with_free_func((GDestroyNotify) sim_variant_free);
    for (guint i = 0; i < loader->chain->len; i++) {
        const SimDocument *document = loader->chain->pdata[i];
        for (guint j = 0; j < document->variants->len; j++) {
            const SimVariant *variant = document->variants->pdata[j];
            SimVariant *target = find_variant(merged, variant->name);
            if (target == NULL) {
                target = sim_variant_new(variant->name, variant->place);
                g_ptr_array_add(merged, target);
            }
            for (guint k = 0; k < variant->settings->len; k++)
                g_ptr_array_add(target->settings, sim_setting_ref(variant->settings->pdata[k]));
        }
    }
    return merged;
}

const SimDocument *
sim_loader_sweep_document(const SimLoader *loader)
{
    for (guint i = loader->chain->len; i > 0; i--) {
        const SimDocument *document = loader->chain->pdata[i - 1];
        if (document->sweep != NULL)
            return document;
    }
    return NULL;
}

static SimSetting *
find_last(const GPtrArray *settings, const char *group, const char *key)
{
    for (guint i = settings->len; i > 0; i--) {
        if (sim_setting_is(settings->pdata[i - 1], group, key))
            return settings->pdata[i - 1];
    }
    return NULL;
}

/* The setting that names the layer file: a new reference; NULL without error when there is no such file. */
static SimSetting *
layer_setting(const SimLoader *loader, const GPtrArray *overrides)
{
    g_autofree char *group = NULL, *key = NULL;
    if (loader->schema->layer_key == NULL)
        return NULL;
    gboolean is_split = sim_schema_split_name(loader->schema->layer_key, &group, &key);
    g_assert(is_split);
    SimSetting *setting = find_last(overrides, group, key);
    for (guint i = loader->chain->len; setting == NULL && i > 0; i--)
        setting = find_last(((const SimDocument *) loader->chain->pdata[i - 1])->settings, group, key);
    if (setting != NULL)
        return sim_setting_ref(setting);
    const SimKeySpec *spec = sim_schema_find(loader->rows, group, key, NULL);
    g_assert(spec != NULL);
    return spec->fallback != NULL ? sim_setting_new_default(spec, group) : NULL;
}

/* Folders in which layer files are looked for, in this order; NULL-terminated. */
static char **
layer_folders(const SimLoader *loader, const char *dir)
{
    const SimDocument *scenario = loader->chain->pdata[loader->chain->len - 1];
    const char *shipped = sim_schema_scenarios_dir(loader->schema);
    char **folders = g_new0(char *, 3);
    folders[0] = path_beside(scenario->ini->path, dir);
    g_autofree char *second = shipped != NULL ? g_build_filename(shipped, dir, NULL) : NULL;
    if (second != NULL && !is_same_file(folders[0], second))
        folders[1] = g_steal_pointer(&second);
    return folders;
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

static gboolean
fail_no_layer(char **folders, const char *plain_suffix, const SimSetting *setting, GError **error)
{
    g_autofree char *suffix = g_strconcat(".", plain_suffix, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (char **folder = folders; *folder != NULL; folder++) {
        g_autoptr(GDir) dir = g_dir_open(*folder, 0, NULL);
        const char *file;
        while (dir != NULL && (file = g_dir_read_name(dir)) != NULL) {
            g_autofree char *name = g_strndup(file, strlen(file) - MIN(strlen(file), strlen(suffix)));
            if (g_str_has_suffix(file, suffix))
                sim_columns_add(names, name);
        }
    }
    g_ptr_array_sort(names, compare_texts);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = sim_hint_phrase(setting->value.text, (const char *const *) names->pdata);
    g_autofree char *allowed = g_strjoinv(", ", (char **) names->pdata);
    g_autofree char *places = g_strjoinv(" and ", folders);
    return sim_setting_error(setting, error, SIM_ERROR_UNKNOWN_KEY, "no file of that name%s in %s (allowed: %s)", hint,
                             places, *allowed != '\0' ? allowed : "none is there");
}

/* `ret_layer` is borrowed, and NULL when the point names none. */
static gboolean
find_layer(SimLoader *loader, const GPtrArray *overrides, const SimDocument **ret_layer, GError **error)
{
    g_autoptr(SimSetting) setting = layer_setting(loader, overrides);
    *ret_layer = NULL;
    if (setting == NULL)
        return TRUE;
    const char *name = setting->value.text;
    if (*name == '\0' || *name == '.' || strchr(name, '/') != NULL)
        return sim_setting_error(setting, error, SIM_ERROR_PARSE, "not a name (allowed: the name of a .%s file)",
                                 loader->schema->layer_suffix);
    g_auto(GStrv) folders = layer_folders(loader, loader->schema->layer_dir);
    for (char **folder = folders; *folder != NULL; folder++) {
        g_autofree char *path = g_strdup_printf("%s/%s.%s", *folder, name, loader->schema->layer_suffix);
        SimDocument *layer = g_hash_table_lookup(loader->layers, path);
        if (layer == NULL && !g_file_test(path, G_FILE_TEST_EXISTS))
            continue;
        if (layer == NULL) {
            layer = sim_document_load_layer(loader->rows, path, loader->schema->layer_key, error);
            if (layer == NULL)
                return FALSE;
            g_hash_table_insert(loader->layers, g_steal_pointer(&path), layer);
        }
        *ret_layer = layer;
        return TRUE;
    }
    return fail_no_layer(folders, loader->schema->layer_suffix, setting, error);
}

static void
add_instances(SimConfig *config, const SimDocument *document)
{
    for (guint i = 0; i < document->instances->len; i++) {
        const SimIniGroup *group = document->instances->pdata[i];
        g_autofree char *place = g_strdup_printf("%s:%u", document->ini->path, group->line);
        sim_config_add_instance(config, group->name, place);
    }
}

static gboolean
put_all(SimConfig *config, const GPtrArray *settings, GError **error)
{
    for (guint i = 0; i < settings->len; i++) {
        if (!sim_config_put(config, settings->pdata[i], error))
            return FALSE;
    }
    return TRUE;
}

struct _SimLayer {
    const SimLoader *loader;
    GPtrArray *settings; /* SimSetting */
};

char *
sim_layer_find_file(const SimLayer *layer, const SimConfig *config, const char *group, const char *key,
                    const char *dir, const char *suffix, GError **error)
{
    const SimSetting *setting = sim_config_setting(config, group, key);
    const char *name = setting->value.text;
    g_autofree char *dotted = g_strconcat(".", suffix, NULL);
    if (strchr(name, '/') != NULL || g_str_has_suffix(name, dotted))
        return path_beside(setting->place, name);
    g_auto(GStrv) folders = layer_folders(layer->loader, dir);
    for (char **folder = folders; *folder != NULL; folder++) {
        g_autofree char *path = g_strdup_printf("%s/%s%s", *folder, name, dotted);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&path);
    }
    fail_no_layer(folders, suffix, setting, error);
    return NULL;
}

gboolean
sim_layer_put(SimLayer *layer, const char *group, const char *key, const char *written, const char *place,
              GError **error)
{
    const SimKeySpec *spec = sim_schema_find(layer->loader->rows, group, key, error);
    g_autofree char *label = g_strdup_printf("[%s] %s", group, key);
    SimSetting *setting = spec == NULL ? NULL : sim_setting_new(spec, group, written, place, label, place, error);
    if (setting != NULL)
        g_ptr_array_add(layer->settings, setting);
    return setting != NULL;
}

/* Whether a layer below, or the scenario itself, has the group that `setting` is of. */
static gboolean
is_declared(const SimConfig *config, const SimSetting *setting)
{
    const char *const *names = sim_schema_group_is_family(setting->spec->group)
                                   ? sim_config_instances(config, setting->spec->group)
                                   : NULL;
    return names == NULL || g_strv_contains(names, sim_schema_instance_name(setting->group));
}

/* The defaults, then the layer file (NULL for none), what the program adds (NULL for nothing), and the documents. */
static SimConfig *
start(const SimLoader *loader, const SimDocument *layer, const GPtrArray *extra, GError **error)
{
    g_autoptr(SimConfig) config = sim_config_new(loader->rows);
    if (layer != NULL) {
        add_instances(config, layer);
        if (!put_all(config, layer->settings, error))
            return NULL;
    }
    for (guint i = 0; extra != NULL && i < extra->len; i++) {
        SimSetting *setting = extra->pdata[i];
        if (!is_declared(config, setting))
            sim_config_add_instance(config, setting->group, setting->place);
        if (!sim_config_put(config, setting, error))
            return NULL;
    }
    for (guint i = 0; i < loader->chain->len; i++) {
        add_instances(config, loader->chain->pdata[i]);
        if (!put_all(config, ((const SimDocument *) loader->chain->pdata[i])->settings, error))
            return NULL;
    }
    return g_steal_pointer(&config);
}

/* start() without additions, the same for all points over this layer file. Kept, for parsing a hundred defaults anew is
 * most of what a point costs. NULL on error. */
static const SimConfig *
find_base(SimLoader *loader, const SimDocument *layer, GError **error)
{
    const SimConfig *known = g_hash_table_lookup(loader->bases, layer);
    SimConfig *base = known != NULL ? NULL : start(loader, layer, NULL, error);
    if (base != NULL)
        g_hash_table_insert(loader->bases, (gpointer) layer, base);
    return known != NULL ? known : base;
}

/* With `extra` NULL it is not known yet what the program adds: overrides of groups that only it may declare are left
 * out, and counted. */
static SimConfig *
build(SimLoader *loader, const SimDocument *layer, const GPtrArray *extra, const GPtrArray *overrides,
      guint *ret_n_left_out, GError **error)
{
    const SimDocument *scenario = loader->chain->pdata[loader->chain->len - 1];
    const SimConfig *base = extra == NULL ? find_base(loader, layer, error) : NULL;
    g_autoptr(SimConfig) config = NULL;
    guint n_left_out = 0;
    if (extra != NULL)
        config = start(loader, layer, extra, error);
    else if (base != NULL)
        config = sim_config_copy(base);
    if (config == NULL)
        return NULL;
    for (guint i = 0; i < overrides->len; i++) {
        if (extra == NULL && !is_declared(config, overrides->pdata[i]))
            n_left_out++;
        else if (!sim_config_put(config, overrides->pdata[i], error))
            return NULL;
    }
    if (!sim_config_check_complete(config, scenario->ini->path, error))
        return NULL;
    *ret_n_left_out = n_left_out;
    return g_steal_pointer(&config);
}

SimConfig *
sim_loader_resolve(SimLoader *loader, const GPtrArray *overrides, GError **error)
{
    g_autoptr(GPtrArray) extra = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    SimLayer own = {.loader = loader, .settings = extra};
    const SimDocument *layer;
    guint n_left_out;
    if (!find_layer(loader, overrides, &layer, error))
        return NULL;
    g_autoptr(SimConfig) config = build(loader, layer, NULL, overrides, &n_left_out, error);
    if (config == NULL ||
        (loader->schema->add_layer != NULL && !loader->schema->add_layer(config, &own, error)))
        return NULL;
    return extra->len + n_left_out > 0 ? build(loader, layer, extra, overrides, &n_left_out, error)
                                       : g_steal_pointer(&config);
}
