/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-document.h"

#include "sim-schema.h"

#include <string.h>

SimVariant *
sim_variant_new(const char *name, const char *place)
{
    SimVariant *variant = g_new0(SimVariant, 1);
    variant->name = g_strdup(name);
    variant->place = g_strdup(place);
    variant->settings = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    return variant;
}

void
sim_variant_free(SimVariant *variant)
{
    g_free(variant->name);
    g_free(variant->place);
    g_ptr_array_unref(variant->settings);
    g_free(variant);
}

void
sim_document_free(SimDocument *document)
{
    if (document == NULL)
        return;
    g_clear_pointer(&document->extends, sim_setting_unref);
    g_ptr_array_unref(document->variants);
    g_ptr_array_unref(document->settings);
    g_ptr_array_unref(document->instances);
    sim_ini_free(document->ini);
    g_free(document);
}

static char *
place_of(const SimDocument *document, guint line)
{
    return g_strdup_printf("%s:%u", document->ini->path, line);
}

SimSetting *
sim_override_new(const GPtrArray *rows, const char *name, const char *written, const char *place, const char *label,
                 const char *origin, gboolean is_per_point, GError **error)
{
    g_autofree char *group = NULL, *key = NULL, *plain_label = NULL;
    const SimKeySpec *spec = NULL;
    if (!sim_schema_split_name(name, &group, &key)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown key (allowed: group.key)");
    } else {
        plain_label = g_strdup_printf("[%s] %s", group, key);
        spec = sim_schema_find(rows, group, key, error);
    }
    if (spec != NULL && (sim_schema_is_structural(spec) || (is_per_point && sim_schema_is_study_wide(spec)))) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_MODEL, "cannot be overridden here (allowed: in its own group)");
        spec = NULL;
    }
    if (label == NULL)
        label = plain_label != NULL ? plain_label : name;
    if (spec == NULL) {
        g_prefix_error(error, "%s: %s = %s: ", place, label, written);
        return NULL;
    }
    return sim_setting_new(spec, group, written, place, label, origin, error);
}

static gboolean
read_variant(SimDocument *document, const GPtrArray *rows, const SimIniGroup *group, GError **error)
{
    const char *name = sim_schema_instance_name(group->name);
    g_autofree char *group_place = place_of(document, group->line);
    SimVariant *variant = sim_variant_new(name, group_place);
    g_ptr_array_add(document->variants, variant);
    for (guint i = 0; i < group->entries->len; i++) {
        const SimIniEntry *entry = group->entries->pdata[i];
        g_autofree char *place = place_of(document, entry->line);
        g_autofree char *label = g_strdup_printf("[%s] %s", group->name, entry->key);
        g_autofree char *origin = g_strdup_printf("variant %s (%s)", name, place);
        SimSetting *setting = sim_override_new(rows, entry->key, entry->value, place, label, origin, TRUE, error);
        if (setting == NULL)
            return FALSE;
        g_ptr_array_add(variant->settings, setting);
    }
    return TRUE;
}

static gboolean
read_plain_group(SimDocument *document, const GPtrArray *rows, const SimIniGroup *group, GError **error)
{
    for (guint i = 0; i < group->entries->len; i++) {
        const SimIniEntry *entry = group->entries->pdata[i];
        g_autofree char *place = place_of(document, entry->line);
        g_autofree char *label = g_strdup_printf("[%s] %s", group->name, entry->key);
        const SimKeySpec *spec = sim_schema_find(rows, group->name, entry->key, error);
        if (spec == NULL) {
            g_prefix_error(error, "%s: %s = %s: ", place, label, entry->value);
            return FALSE;
        }
        SimSetting *setting = sim_setting_new(spec, group->name, entry->value, place, label, place, error);
        if (setting == NULL)
            return FALSE;
        if (sim_schema_is_structural(spec))
            document->extends = setting;
        else
            g_ptr_array_add(document->settings, setting);
    }
    return TRUE;
}

static gboolean
read_group(SimDocument *document, const GPtrArray *rows, const SimIniGroup *group, GError **error)
{
    if (!sim_schema_check_group(rows, group->name, error)) {
        g_prefix_error(error, "%s:%u: [%s]: ", document->ini->path, group->line, group->name);
        return FALSE;
    }
    if (strcmp(group->name, "sweep") == 0) {
        /* Its values depend on the variants and stay raw until the plan is made. */
        document->sweep = group;
        return TRUE;
    }
    if (sim_schema_group_matches("variant *", group->name))
        return read_variant(document, rows, group, error);
    if (sim_schema_is_member(rows, group->name))
        g_ptr_array_add(document->instances, (gpointer) group);
    return read_plain_group(document, rows, group, error);
}

SimDocument *
sim_document_load(const GPtrArray *rows, const char *path, GError **error)
{
    SimIni *ini = sim_ini_load(path, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(SimDocument) document = g_new0(SimDocument, 1);
    document->ini = ini;
    document->instances = g_ptr_array_new();
    document->settings = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    document->variants = g_ptr_array_new_with_free_func((GDestroyNotify) sim_variant_free);
    for (guint i = 0; i < ini->groups->len; i++) {
        if (!read_group(document, rows, ini->groups->pdata[i], error))
            return NULL;
    }
    return g_steal_pointer(&document);
}

SimDocument *
sim_document_load_layer(const GPtrArray *rows, const char *path, const char *layer_key, GError **error)
{
    g_autoptr(SimDocument) document = sim_document_load(rows, path, error);
    if (document == NULL)
        return NULL;
    for (guint i = 0; i < document->ini->groups->len; i++) {
        const SimIniGroup *group = document->ini->groups->pdata[i];
        if (!sim_schema_is_engine_group(group->name))
            continue;
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s:%u: [%s]: belongs in a scenario, not in a %s file", path,
                    group->line, group->name, layer_key);
        return NULL;
    }
    for (guint i = 0; i < document->settings->len; i++) {
        const SimSetting *setting = document->settings->pdata[i];
        g_autofree char *name = g_strdup_printf("%s.%s", setting->group, setting->spec->key);
        if (strcmp(name, layer_key) == 0) {
            sim_setting_error(setting, error, SIM_ERROR_MODEL, "a file cannot name another one in its place");
            return NULL;
        }
    }
    return g_steal_pointer(&document);
}
