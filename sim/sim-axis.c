/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-axis.h"

#include "sim-schema.h"

#include <string.h>

static void
level_free(gpointer data)
{
    SimLevel *level = data;
    g_clear_pointer(&level->setting, sim_setting_unref);
    g_clear_error(&level->problem);
    g_free(level->text);
    g_free(level);
}

void
sim_axis_free(SimAxis *axis)
{
    if (axis == NULL)
        return;
    g_free(axis->name);
    g_free(axis->group);
    g_free(axis->place);
    g_ptr_array_unref(axis->levels);
    g_free(axis);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimAxis, sim_axis_free)

const SimLevel *
sim_axis_level(const SimAxis *axis, guint level)
{
    g_assert(level < axis->levels->len);
    return axis->levels->pdata[level];
}

static SimLevel *
level_new(const SimAxis *axis, const char *written)
{
    g_autofree char *label = g_strdup_printf("[sweep] %s", axis->name);
    g_autofree char *origin = g_strdup_printf("sweep (%s)", axis->place);
    SimLevel *level = g_new0(SimLevel, 1);
    level->setting =
        sim_override_new(axis->rows, axis->name, written, axis->place, label, origin, TRUE, &level->problem);
    level->text =
        level->setting != NULL ? sim_value_to_file_text(axis->spec, &level->setting->value) : g_strdup(written);
    return level;
}

/* -1 when there is none. */
static int
find_level(const SimAxis *axis, const char *text)
{
    for (guint i = 0; i < axis->levels->len; i++) {
        if (strcmp(sim_axis_level(axis, i)->text, text) == 0)
            return (int) i;
    }
    return -1;
}

static gboolean
add_listed(SimAxis *axis, const char *written, GError **error)
{
    SimLevel *level = level_new(axis, written);
    gboolean is_wrong_key = level->problem != NULL && level->problem->code == SIM_ERROR_MODEL;
    if (is_wrong_key) {
        g_propagate_error(error, g_steal_pointer(&level->problem));
    } else if (find_level(axis, level->text) < 0) {
        g_ptr_array_add(axis->levels, level);
        return TRUE;
    } else {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: [sweep] %s = %s: value given twice on the axis",
                    axis->place, axis->name, written);
    }
    level_free(level);
    return FALSE;
}

static gboolean
read_levels(SimAxis *axis, const char *text, GError **error)
{
    GError *problem = NULL;
    g_auto(GStrv) values = NULL;
    axis->is_interval = sim_sweep_is_interval(axis->spec, text);
    if (axis->is_interval)
        sim_sweep_parse_interval(axis->spec, text, &axis->interval, &problem);
    else
        values = sim_sweep_expand(axis->spec, text, &problem);
    if (problem != NULL) {
        g_propagate_prefixed_error(error, problem, "%s: [sweep] %s = %s: ", axis->place, axis->name, text);
        return FALSE;
    }
    for (char **value = values; value != NULL && *value != NULL; value++) {
        if (!add_listed(axis, *value, error))
            return FALSE;
    }
    return TRUE;
}

SimAxis *
sim_axis_new(const GPtrArray *rows, const SimIniEntry *entry, const char *place, GError **error)
{
    g_autofree char *key = NULL;
    g_autoptr(SimAxis) axis = g_new0(SimAxis, 1);
    axis->rows = rows;
    axis->place = g_strdup(place);
    axis->name = g_strdup(entry->key);
    axis->levels = g_ptr_array_new_with_free_func(level_free);
    axis->spec = sim_schema_split_name(entry->key, &axis->group, &key)
                     ? sim_schema_find(rows, axis->group, key, error)
                     : sim_schema_find(rows, "sweep", entry->key, error);
    if (axis->spec == NULL) {
        g_prefix_error(error, "%s: [sweep] %s = %s: ", place, entry->key, entry->value);
        return NULL;
    }
    return read_levels(axis, entry->value, error) ? g_steal_pointer(&axis) : NULL;
}

void
sim_axis_fix(SimAxis *axis, SimSetting *setting)
{
    SimLevel *level = g_new0(SimLevel, 1);
    level->setting = sim_setting_ref(setting);
    level->text = sim_value_to_file_text(axis->spec, &setting->value);
    g_ptr_array_set_size(axis->levels, 0);
    g_ptr_array_add(axis->levels, level);
    axis->is_interval = FALSE;
}

guint
sim_axis_sample(SimAxis *axis, double position)
{
    if (!axis->is_interval)
        return (guint) (position * axis->levels->len);
    g_autofree char *text = sim_sweep_interval_text(&axis->interval, position);
    SimLevel *level = level_new(axis, text);
    int known = find_level(axis, level->text);
    if (known >= 0) {
        level_free(level);
        return (guint) known;
    }
    g_ptr_array_add(axis->levels, level);
    return axis->levels->len - 1;
}
