/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-plan.h"

#include "sim-config-load.h"
#include "sim-hint.h"
#include "sim-schema.h"
#include "sim-sweep.h"

#include <string.h>

#define BASE_VARIANT "base"

typedef struct {
    char *variant, *axis_value, *label;
    SimConfig *config;
} Point;

struct _SimPlan {
    char *name, *axis_key;
    GPtrArray *points; /* Point */
};

/* What the points are made from. */
typedef struct {
    SimLoader *loader;
    GPtrArray *variants; /* SimVariant that run */
    GPtrArray *sets;     /* SimSetting of the command line */
    GPtrArray *axis;     /* SimSetting of each value; empty without a sweep */
    char *axis_place;
} Recipe;

static void
recipe_clear(Recipe *recipe)
{
    sim_loader_free(recipe->loader);
    g_clear_pointer(&recipe->variants, g_ptr_array_unref);
    g_clear_pointer(&recipe->sets, g_ptr_array_unref);
    g_clear_pointer(&recipe->axis, g_ptr_array_unref);
    g_free(recipe->axis_place);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recipe, recipe_clear)

static void
point_free(gpointer data)
{
    Point *point = data;
    g_free(point->variant);
    g_free(point->axis_value);
    g_free(point->label);
    sim_config_unref(point->config);
    g_free(point);
}

void
sim_plan_free(SimPlan *plan)
{
    if (plan == NULL)
        return;
    g_free(plan->name);
    g_free(plan->axis_key);
    g_ptr_array_unref(plan->points);
    g_free(plan);
}

static gboolean
read_set(Recipe *recipe, const char *set, GError **error)
{
    const char *sign = strchr(set, '=');
    if (sign == NULL || !sim_ini_text_is_clean(set, strlen(set))) {
        g_autofree char *shown = g_strescape(set, NULL);
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "--set %s: not understood (allowed: group.key=value)", shown);
        return FALSE;
    }
    g_autofree char *name = g_strstrip(g_strndup(set, (gsize) (sign - set)));
    g_autofree char *value = g_strstrip(g_strdup(sign + 1));
    SimSetting *setting = sim_override_new(recipe->loader->rows, name, value, "--set", NULL, "--set", FALSE, error);
    if (setting == NULL)
        return FALSE;
    for (guint i = 0; i < recipe->sets->len; i++) {
        if (sim_setting_is(recipe->sets->pdata[i], setting->group, setting->spec->key)) {
            sim_setting_error(setting, error, SIM_ERROR_PARSE, "set twice");
            sim_setting_unref(setting);
            return FALSE;
        }
    }
    g_ptr_array_add(recipe->sets, setting);
    return TRUE;
}

/* The named variant out of `variants`; `names` are all there were, for the message. */
static SimVariant *
steal_variant(GPtrArray *variants, const char *const *names, const char *name, const SimSetting *chosen, GError **error)
{
    for (guint i = 0; i < variants->len; i++) {
        if (strcmp(((const SimVariant *) variants->pdata[i])->name, name) == 0)
            return g_ptr_array_steal_index(variants, i);
    }
    g_autofree char *allowed = g_strjoinv(", ", (char **) names);
    g_autofree char *hint = sim_hint_phrase(name, names);
    if (g_strv_contains(names, name))
        sim_setting_error(chosen, error, SIM_ERROR_PARSE, "variant %s given twice", name);
    else
        sim_setting_error(chosen, error, SIM_ERROR_UNKNOWN_KEY, "there is no [variant %s]%s (allowed: %s)", name, hint,
                          *allowed != '\0' ? allowed : "none");
    return NULL;
}

/* [sweep] variants = a; b: keeps those, in that order. */
static gboolean
choose_variants(Recipe *recipe, const char *written, const char *place, GError **error)
{
    const SimKeySpec *spec = sim_schema_find(recipe->loader->rows, "sweep", "variants", NULL);
    g_autoptr(SimSetting) chosen = sim_setting_new(spec, "sweep", written, place, "[sweep] variants", place, error);
    if (chosen == NULL)
        return FALSE;
    if (chosen->value.list[0] == NULL)
        return sim_setting_error(chosen, error, SIM_ERROR_PARSE, "empty");
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < recipe->variants->len; i++)
        g_ptr_array_add(names, g_strdup(((const SimVariant *) recipe->variants->pdata[i])->name));
    g_ptr_array_add(names, NULL);
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify) sim_variant_free);
    for (char **name = chosen->value.list; *name != NULL; name++) {
        SimVariant *variant = steal_variant(recipe->variants, (const char *const *) names->pdata, *name, chosen, error);
        if (variant == NULL)
            return FALSE;
        g_ptr_array_add(kept, variant);
    }
    g_ptr_array_unref(recipe->variants);
    recipe->variants = g_steal_pointer(&kept);
    return TRUE;
}

static gboolean
add_axis_value(Recipe *recipe, const SimIniEntry *entry, const char *text, GError **error)
{
    g_autofree char *label = g_strdup_printf("[sweep] %s", entry->key);
    g_autofree char *origin = g_strdup_printf("sweep (%s)", recipe->axis_place);
    SimSetting *setting =
        sim_override_new(recipe->loader->rows, entry->key, text, recipe->axis_place, label, origin, TRUE, error);
    if (setting == NULL)
        return FALSE;
    for (guint i = 0; i < recipe->axis->len; i++) {
        if (strcmp(((const SimSetting *) recipe->axis->pdata[i])->value.text, setting->value.text) == 0) {
            sim_setting_error(setting, error, SIM_ERROR_PARSE, "value given twice on the axis");
            sim_setting_unref(setting);
            return FALSE;
        }
    }
    g_ptr_array_add(recipe->axis, setting);
    return TRUE;
}

static gboolean
read_axis(Recipe *recipe, const SimIniEntry *entry, const char *place, GError **error)
{
    if (recipe->axis_place != NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "%s: [sweep] %s = %s: a second axis (allowed: variants and one other key)", place, entry->key,
                    entry->value);
        return FALSE;
    }
    recipe->axis_place = g_strdup(place);
    g_autofree char *group = NULL, *key = NULL;
    const GPtrArray *rows = recipe->loader->rows;
    const SimKeySpec *spec = sim_schema_split_name(entry->key, &group, &key)
                                 ? sim_schema_find(rows, group, key, error)
                                 : sim_schema_find(rows, "sweep", entry->key, error);
    g_auto(GStrv) values = spec != NULL ? sim_sweep_expand(spec, entry->value, error) : NULL;
    if (values == NULL) {
        g_prefix_error(error, "%s: [sweep] %s = %s: ", place, entry->key, entry->value);
        return FALSE;
    }
    for (char **value = values; *value != NULL; value++) {
        if (!add_axis_value(recipe, entry, *value, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_sweep(Recipe *recipe, GError **error)
{
    const SimDocument *document = sim_loader_sweep_document(recipe->loader);
    for (guint i = 0; document != NULL && i < document->sweep->entries->len; i++) {
        const SimIniEntry *entry = document->sweep->entries->pdata[i];
        g_autofree char *place = g_strdup_printf("%s:%u", document->ini->path, entry->line);
        gboolean is_read = strcmp(entry->key, "variants") == 0 ? choose_variants(recipe, entry->value, place, error)
                                                               : read_axis(recipe, entry, place, error);
        if (!is_read)
            return FALSE;
    }
    return TRUE;
}

/* An axis must be what its labels say: a variant may not hide behind it, and a --set of its key leaves one value. */
static gboolean
settle_axis(Recipe *recipe, GError **error)
{
    if (recipe->axis->len == 0)
        return TRUE;
    const SimSetting *first = recipe->axis->pdata[0];
    for (guint i = 0; i < recipe->variants->len; i++) {
        const SimVariant *variant = recipe->variants->pdata[i];
        for (guint j = 0; j < variant->settings->len; j++) {
            if (sim_setting_is(variant->settings->pdata[j], first->group, first->spec->key))
                return sim_setting_error(variant->settings->pdata[j], error, SIM_ERROR_MODEL,
                                         "the key is the axis of the sweep at %s", recipe->axis_place);
        }
    }
    for (guint i = 0; i < recipe->sets->len; i++) {
        SimSetting *set = recipe->sets->pdata[i];
        if (!sim_setting_is(set, first->group, first->spec->key))
            continue;
        sim_setting_ref(set);
        g_ptr_array_set_size(recipe->axis, 0);
        g_ptr_array_add(recipe->axis, set);
        return TRUE;
    }
    return TRUE;
}

static gboolean
recipe_init(Recipe *recipe, const SimSchema *schema, const char *path, const char *const *sets, GError **error)
{
    recipe->loader = sim_loader_new(schema, path, error);
    if (recipe->loader == NULL)
        return FALSE;
    recipe->sets = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    recipe->axis = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    recipe->variants = sim_loader_variants(recipe->loader);
    for (; sets != NULL && *sets != NULL; sets++) {
        if (!read_set(recipe, *sets, error))
            return FALSE;
    }
    if (!read_sweep(recipe, error) || !settle_axis(recipe, error))
        return FALSE;
    if (recipe->variants->len == 0)
        g_ptr_array_add(recipe->variants, sim_variant_new(BASE_VARIANT, path));
    guint64 n_points = (guint64) recipe->variants->len * MAX(recipe->axis->len, 1);
    if (n_points > SIM_PLAN_MAX_POINTS) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                    "%s: %" G_GUINT64_FORMAT " points (allowed: at most %d, variants times axis values)", path,
                    n_points, SIM_PLAN_MAX_POINTS);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_starts(const SimConfig *config, const SimExperiment *experiment, GError **error)
{
    const char *const *starts = sim_config_list(config, "run", "starts");
    g_autofree char *allowed = g_strjoinv(", ", (char **) experiment->starts);
    if (starts[0] == NULL)
        return sim_config_error(config, "run", "starts", error, "empty (allowed: %s)", allowed);
    for (guint i = 0; starts[i] != NULL; i++) {
        if (!g_strv_contains(experiment->starts, starts[i])) {
            g_autofree char *hint = sim_hint_phrase(starts[i], experiment->starts);
            return sim_config_error(config, "run", "starts", error, "unknown start %s%s (allowed: %s)", starts[i], hint,
                                    allowed);
        }
        for (guint j = 0; j < i; j++) {
            if (strcmp(starts[i], starts[j]) == 0)
                return sim_config_error(config, "run", "starts", error, "start %s given twice (allowed: %s)", starts[i],
                                        allowed);
        }
    }
    return TRUE;
}

static gboolean
check_point(const Point *point, const SimExperiment *experiment, GError **error)
{
    GError *problem = NULL;
    if (experiment == NULL)
        return TRUE;
    if ((experiment->starts == NULL || check_starts(point->config, experiment, &problem)) &&
        (experiment->check == NULL || experiment->check(point->config, &problem)))
        return TRUE;
    g_set_error(error, problem->domain, problem->code, "%s (in point %s)", problem->message, point->label);
    g_error_free(problem);
    return FALSE;
}

/* `axis` is NULL without a sweep. */
static gboolean
add_point(SimPlan *plan, const Recipe *recipe, const SimVariant *variant, SimSetting *axis,
          const SimExperiment *experiment, GError **error)
{
    g_autoptr(GPtrArray) overrides = g_ptr_array_new();
    g_ptr_array_extend(overrides, variant->settings, NULL, NULL);
    if (axis != NULL)
        g_ptr_array_add(overrides, axis);
    g_ptr_array_extend(overrides, recipe->sets, NULL, NULL);
    SimConfig *config = sim_loader_resolve(recipe->loader, overrides, error);
    if (config == NULL)
        return FALSE;
    /* File text, since a text value itself may hold tabs and line ends. */
    g_autofree char *value = axis != NULL ? sim_value_to_file_text(axis->spec, &axis->value) : g_strdup("");
    Point *point = g_new0(Point, 1);
    point->config = config;
    point->variant = g_strdup(variant->name);
    point->label =
        axis != NULL ? g_strdup_printf("%s, %s = %s", variant->name, plan->axis_key, value) : g_strdup(variant->name);
    point->axis_value = g_steal_pointer(&value);
    g_ptr_array_add(plan->points, point);
    return check_point(point, experiment, error);
}

SimPlan *
sim_plan_load(const SimSchema *schema, const char *path, const char *const *sets, const SimExperiment *experiment,
              GError **error)
{
    g_auto(Recipe) recipe = {0};
    if (!recipe_init(&recipe, schema, path, sets, error))
        return NULL;
    g_autoptr(SimPlan) plan = g_new0(SimPlan, 1);
    plan->points = g_ptr_array_new_with_free_func(point_free);
    plan->name = g_path_get_basename(path);
    if (g_str_has_suffix(plan->name, SIM_SCENARIO_SUFFIX))
        plan->name[strlen(plan->name) - strlen(SIM_SCENARIO_SUFFIX)] = '\0';
    const SimSetting *first = recipe.axis->len > 0 ? recipe.axis->pdata[0] : NULL;
    plan->axis_key = first != NULL ? g_strdup_printf("%s.%s", first->group, first->spec->key) : g_strdup("");
    for (guint i = 0; i < recipe.variants->len; i++) {
        for (guint j = 0; j < MAX(recipe.axis->len, 1); j++) {
            SimSetting *axis = first != NULL ? recipe.axis->pdata[j] : NULL;
            if (!add_point(plan, &recipe, recipe.variants->pdata[i], axis, experiment, error))
                return NULL;
        }
    }
    return g_steal_pointer(&plan);
}

static const Point *
point_at(const SimPlan *plan, guint point)
{
    g_assert(point < plan->points->len);
    return plan->points->pdata[point];
}

const char *
sim_plan_name(const SimPlan *plan)
{
    return plan->name;
}

guint
sim_plan_n_points(const SimPlan *plan)
{
    return plan->points->len;
}

const SimConfig *
sim_plan_config(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->config;
}

const char *
sim_plan_variant(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->variant;
}

const char *
sim_plan_axis_key(const SimPlan *plan)
{
    return plan->axis_key;
}

const char *
sim_plan_axis_value(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->axis_value;
}

const char *
sim_plan_label(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->label;
}
