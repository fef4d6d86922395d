/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-config-private.h"

#include "sim-hint.h"
#include "sim-schema.h"

#include <string.h>

static void
setting_clear(gpointer data)
{
    SimSetting *setting = data;
    g_free(setting->group);
    g_free(setting->written);
    g_free(setting->place);
    g_free(setting->label);
    g_free(setting->origin);
    sim_value_clear(&setting->value);
}

SimSetting *
sim_setting_ref(SimSetting *setting)
{
    return g_atomic_rc_box_acquire(setting);
}

void
sim_setting_unref(SimSetting *setting)
{
    g_atomic_rc_box_release_full(setting, setting_clear);
}

SimSetting *
sim_setting_new(const SimKeySpec *spec, const char *group, const char *written, const char *place, const char *label,
                const char *origin, GError **error)
{
    g_autoptr(SimSetting) setting = g_atomic_rc_box_new0(SimSetting);
    setting->spec = spec;
    setting->group = g_strdup(group);
    setting->written = g_strdup(written);
    setting->place = g_strdup(place);
    setting->label = g_strdup(label);
    setting->origin = g_strdup(origin);
    if (!sim_value_parse(spec, written, &setting->value, error)) {
        g_prefix_error(error, "%s: %s = %s: ", place, label, written);
        return NULL;
    }
    return g_steal_pointer(&setting);
}

SimSetting *
sim_setting_new_default(const SimKeySpec *spec, const char *group)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *label = g_strdup_printf("[%s] %s", group, spec->key);
    SimSetting *setting = sim_setting_new(spec, group, spec->fallback, "default", label, "default", &error);
    if (setting == NULL)
        g_error("schema: %s", error->message);
    return setting;
}

gboolean
sim_setting_error(const SimSetting *setting, GError **error, SimErrorCode code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, SIM_ERROR, code, "%s: %s = %s: %s", setting->place, setting->label, setting->written, message);
    return FALSE;
}

gboolean
sim_setting_is(const SimSetting *setting, const char *group, const char *key)
{
    return strcmp(setting->group, group) == 0 && strcmp(setting->spec->key, key) == 0;
}

static void
group_free(gpointer data)
{
    SimConfigGroup *group = data;
    g_free(group->place);
    g_hash_table_unref(group->settings);
    g_free(group);
}

static SimConfigGroup *
add_empty_group(SimConfig *config, const char *name, const char *place)
{
    SimConfigGroup *group = g_new0(SimConfigGroup, 1);
    group->place = g_strdup(place);
    group->settings = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) sim_setting_unref);
    g_hash_table_insert(config->groups, g_strdup(name), group);
    return group;
}

/* The group with the defaults of its rows. */
static void
add_group(SimConfig *config, const char *pattern, const char *name, const char *place)
{
    SimConfigGroup *group = add_empty_group(config, name, place);
    for (guint i = 0; i < config->rows->len; i++) {
        const SimKeySpec *spec = config->rows->pdata[i];
        if (strcmp(spec->group, pattern) != 0 || spec->fallback == NULL)
            continue;
        g_hash_table_insert(group->settings, (gpointer) spec->key, sim_setting_new_default(spec, name));
    }
}

static SimConfig *
new_empty(GPtrArray *rows)
{
    SimConfig *config = g_atomic_rc_box_new0(SimConfig);
    config->rows = g_ptr_array_ref(rows);
    config->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, group_free);
    config->families = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
    return config;
}

static GPtrArray *
add_family(SimConfig *config, const char *family)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_hash_table_insert(config->families, (gpointer) family, names);
    return names;
}

SimConfig *
sim_config_new(GPtrArray *rows)
{
    SimConfig *config = new_empty(rows);
    for (guint i = 0; i < rows->len; i++) {
        const SimKeySpec *spec = rows->pdata[i];
        if (sim_schema_is_structural(spec))
            continue;
        if (!sim_schema_group_is_family(spec->group)) {
            if (!g_hash_table_contains(config->groups, spec->group))
                add_group(config, spec->group, spec->group, NULL);
        } else if (!g_hash_table_contains(config->families, spec->group)) {
            g_ptr_array_add(add_family(config, spec->group), NULL);
        }
    }
    return config;
}

SimConfig *
sim_config_copy(const SimConfig *config)
{
    SimConfig *copy = new_empty(config->rows);
    GHashTableIter groups, settings;
    gpointer name, value, key, setting;
    g_hash_table_iter_init(&groups, config->groups);
    while (g_hash_table_iter_next(&groups, &name, &value)) {
        const SimConfigGroup *group = value;
        SimConfigGroup *twin = add_empty_group(copy, name, group->place);
        g_hash_table_iter_init(&settings, group->settings);
        while (g_hash_table_iter_next(&settings, &key, &setting))
            g_hash_table_insert(twin->settings, key, sim_setting_ref(setting));
    }
    g_hash_table_iter_init(&groups, config->families);
    while (g_hash_table_iter_next(&groups, &name, &value)) {
        const GPtrArray *names = value;
        GPtrArray *twin = add_family(copy, name);
        for (guint i = 0; i < names->len; i++)
            g_ptr_array_add(twin, g_strdup(names->pdata[i]));
    }
    return copy;
}

void
sim_config_add_instance(SimConfig *config, const char *group, const char *place)
{
    if (g_hash_table_contains(config->groups, group))
        return;
    GHashTableIter iter;
    gpointer pattern, names;
    g_hash_table_iter_init(&iter, config->families);
    while (g_hash_table_iter_next(&iter, &pattern, &names)) {
        if (!sim_schema_group_matches(pattern, group))
            continue;
        add_group(config, pattern, group, place);
        GPtrArray *list = names;
        g_ptr_array_insert(list, (int) list->len - 1, g_strdup(sim_schema_instance_name(group)));
        return;
    }
    g_assert_not_reached();
}

static gboolean
fail_undeclared(const SimConfig *config, const SimSetting *setting, GError **error)
{
    GPtrArray *names = g_hash_table_lookup(config->families, setting->spec->group);
    const char *const *list = (const char *const *) names->pdata;
    g_autofree char *hint = sim_hint_phrase(sim_schema_instance_name(setting->group), list);
    g_autofree char *allowed = g_strjoinv(", ", (char **) names->pdata);
    return sim_setting_error(setting, error, SIM_ERROR_UNKNOWN_KEY,
                             "there is no group [%s] in the scenario%s (allowed: %s; an empty group [%s] adds it)",
                             setting->group, hint, *allowed != '\0' ? allowed : "none", setting->group);
}

gboolean
sim_config_put(SimConfig *config, SimSetting *setting, GError **error)
{
    SimConfigGroup *group = g_hash_table_lookup(config->groups, setting->group);
    const SimKeySpec *spec = setting->spec;
    if (group == NULL)
        return fail_undeclared(config, setting, error);
    const SimSetting *lower = g_hash_table_lookup(group->settings, spec->key);
    if (spec->type != SIM_KEY_COST || lower == NULL || setting->value.has_bounds || !lower->value.has_bounds) {
        g_hash_table_insert(group->settings, (gpointer) spec->key, sim_setting_ref(setting));
        return TRUE;
    }
    /* Settings are shared between points and this one now depends on the layer below, so it is copied. */
    g_autoptr(SimSetting) copy =
        sim_setting_new(spec, setting->group, setting->written, setting->place, setting->label, setting->origin, error);
    GError *problem = NULL;
    if (!sim_value_inherit_bounds(spec, &copy->value, &lower->value, &problem)) {
        sim_setting_error(setting, error, SIM_ERROR_RANGE, "%s; overridden is %s at %s", problem->message,
                          lower->value.text, lower->place);
        g_error_free(problem);
        return FALSE;
    }
    g_hash_table_insert(group->settings, (gpointer) spec->key, g_steal_pointer(&copy));
    return TRUE;
}

static gboolean
check_key(const SimConfig *config, const char *name, const SimKeySpec *spec, const char *place, GError **error)
{
    const SimConfigGroup *group = g_hash_table_lookup(config->groups, name);
    if (spec->optional || g_hash_table_contains(group->settings, spec->key))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: [%s] %s: must be given (%s)",
                group->place != NULL ? group->place : place, name, spec->key, spec->help);
    return FALSE;
}

gboolean
sim_config_check_complete(const SimConfig *config, const char *place, GError **error)
{
    for (guint i = 0; i < config->rows->len; i++) {
        const SimKeySpec *spec = config->rows->pdata[i];
        if (sim_schema_is_structural(spec))
            continue;
        if (!sim_schema_group_is_family(spec->group)) {
            if (!check_key(config, spec->group, spec, place, error))
                return FALSE;
            continue;
        }
        for (const char *const *name = sim_config_instances(config, spec->group); *name != NULL; name++) {
            g_autofree char *group = sim_config_member_group(spec->group, *name);
            if (!check_key(config, group, spec, place, error))
                return FALSE;
        }
    }
    return TRUE;
}
