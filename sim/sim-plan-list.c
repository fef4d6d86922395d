/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ini.h"
#include "sim-plan.h"
#include "sim-value.h"

#include <string.h>

static void
info_free(gpointer data)
{
    SimScenarioInfo *info = data;
    g_free(info->name);
    g_free(info->title);
    g_free(info->question);
    g_free(info->problem);
    g_free(info);
}

/* The text of a [scenario] key, "" when the file has none or cannot say it. */
static char *
own_text(const SimIni *ini, const char *key)
{
    static const SimKeySpec text_spec = {"scenario", NULL, SIM_KEY_TEXT};
    const SimIniGroup *group = ini != NULL ? sim_ini_find_group(ini, text_spec.group) : NULL;
    const SimIniEntry *entry = group != NULL ? sim_ini_find_entry(group, key) : NULL;
    SimValue value = {0};
    if (entry == NULL || !sim_value_parse(&text_spec, entry->value, &value, NULL))
        return g_strdup("");
    return value.text;
}

static SimScenarioInfo *
read_info(const char *dir, const char *file)
{
    g_autofree char *path = g_build_filename(dir, file, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimIni) ini = sim_ini_load(path, &error);
    SimScenarioInfo *info = g_new0(SimScenarioInfo, 1);
    info->name = g_strndup(file, strlen(file) - strlen(SIM_SCENARIO_SUFFIX));
    info->title = own_text(ini, "title");
    info->question = own_text(ini, "question");
    info->problem = error != NULL ? g_strdup(error->message) : NULL;
    return info;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp((*(SimScenarioInfo *const *) a)->name, (*(SimScenarioInfo *const *) b)->name);
}

GPtrArray *
sim_plan_list_scenarios(const char *dir, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GDir) folder = g_dir_open(dir, 0, &problem);
    if (folder == NULL) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, problem->message);
        g_error_free(problem);
        return NULL;
    }
    GPtrArray *list = g_ptr_array_new_with_free_func(info_free);
    const char *file;
    while ((file = g_dir_read_name(folder)) != NULL) {
        if (g_str_has_suffix(file, SIM_SCENARIO_SUFFIX))
            g_ptr_array_add(list, read_info(dir, file));
    }
    g_ptr_array_sort(list, compare_names);
    return list;
}
