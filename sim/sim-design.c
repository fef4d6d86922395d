/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-design.h"

#include "sim-axis.h"
#include "sim-config-load.h"
#include "sim-design-private.h"
#include "sim-hint.h"
#include "sim-plan.h"
#include "sim-schema.h"

#include <math.h>
#include <string.h>

#define BASE_VARIANT "base"

void
sim_design_free(SimDesign *design)
{
    if (design == NULL)
        return;
    sim_loader_free(design->loader);
    g_clear_pointer(&design->variants, g_ptr_array_unref);
    g_clear_pointer(&design->sets, g_ptr_array_unref);
    g_clear_pointer(&design->axes, g_ptr_array_unref);
    g_clear_pointer(&design->zip, sim_setting_unref);
    g_free(design->dims);
    g_free(design->samples);
    g_free(design->name);
    g_free(design);
}

static gboolean
read_set(SimDesign *design, const char *set, GError **error)
{
    const char *sign = strchr(set, '=');
    if (sign == NULL || !sim_ini_text_is_clean(set, strlen(set))) {
        g_autofree char *shown = g_strescape(set, NULL);
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "--set %s: not understood (allowed: group.key=value)", shown);
        return FALSE;
    }
    g_autofree char *name = g_strstrip(g_strndup(set, (gsize) (sign - set)));
    g_autofree char *value = g_strstrip(g_strdup(sign + 1));
    SimSetting *setting = sim_override_new(design->loader->rows, name, value, "--set", NULL, "--set", FALSE, error);
    if (setting == NULL)
        return FALSE;
    for (guint i = 0; i < design->sets->len; i++) {
        if (sim_setting_is(design->sets->pdata[i], setting->group, setting->spec->key)) {
            sim_setting_error(setting, error, SIM_ERROR_PARSE, "set twice");
            sim_setting_unref(setting);
            return FALSE;
        }
    }
    g_ptr_array_add(design->sets, setting);
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
choose_variants(SimDesign *design, const SimSetting *chosen, GError **error)
{
    if (chosen->value.list[0] == NULL)
        return sim_setting_error(chosen, error, SIM_ERROR_PARSE, "empty");
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < design->variants->len; i++)
        g_ptr_array_add(names, g_strdup(((const SimVariant *) design->variants->pdata[i])->name));
    g_ptr_array_add(names, NULL);
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify) sim_variant_free);
    for (char **name = chosen->value.list; *name != NULL; name++) {
        SimVariant *variant = steal_variant(design->variants, (const char *const *) names->pdata, *name, chosen, error);
        if (variant == NULL)
            return FALSE;
        g_ptr_array_add(kept, variant);
    }
    g_ptr_array_unref(design->variants);
    design->variants = g_steal_pointer(&kept);
    return TRUE;
}

/* What [sweep] says beside its axes. */
typedef struct {
    SimSetting *kind, *samples, *seed;
} Sampling;

static void
sampling_clear(Sampling *sampling)
{
    g_clear_pointer(&sampling->kind, sim_setting_unref);
    g_clear_pointer(&sampling->samples, sim_setting_unref);
    g_clear_pointer(&sampling->seed, sim_setting_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sampling, sampling_clear)

/* A key of [sweep] itself, as against an axis. */
static gboolean
read_own_key(SimDesign *design, Sampling *sampling, const SimKeySpec *spec, const SimIniEntry *entry, const char *place,
             GError **error)
{
    g_autofree char *label = g_strdup_printf("[sweep] %s", entry->key);
    g_autoptr(SimSetting) setting = sim_setting_new(spec, "sweep", entry->value, place, label, place, error);
    SimSetting **slot = NULL;
    if (setting == NULL)
        return FALSE;
    if (strcmp(entry->key, "variants") == 0)
        return choose_variants(design, setting, error);
    if (strcmp(entry->key, "design") == 0)
        slot = &sampling->kind;
    else if (strcmp(entry->key, "samples") == 0)
        slot = &sampling->samples;
    else if (strcmp(entry->key, "design_seed") == 0)
        slot = &sampling->seed;
    else
        slot = &design->zip;
    *slot = g_steal_pointer(&setting);
    return TRUE;
}

static gboolean
read_sweep(SimDesign *design, Sampling *sampling, GError **error)
{
    const SimDocument *document = sim_loader_sweep_document(design->loader);
    for (guint i = 0; document != NULL && i < document->sweep->entries->len; i++) {
        const SimIniEntry *entry = document->sweep->entries->pdata[i];
        g_autofree char *place = g_strdup_printf("%s:%u", document->ini->path, entry->line);
        gboolean is_own = strchr(entry->key, '.') == NULL;
        const SimKeySpec *spec = is_own ? sim_schema_find(design->loader->rows, "sweep", entry->key, NULL) : NULL;
        if (spec != NULL) {
            if (!read_own_key(design, sampling, spec, entry, place, error))
                return FALSE;
            continue;
        }
        SimAxis *axis = sim_axis_new(design->loader->rows, entry, place, error);
        if (axis == NULL)
            return FALSE;
        g_ptr_array_add(design->axes, axis);
    }
    return TRUE;
}

/* An axis must be what its labels say: a variant may not hide behind it, and a --set of its key leaves one value. */
static gboolean
settle_axis(const SimDesign *design, SimAxis *axis, GError **error)
{
    for (guint i = 0; i < design->variants->len; i++) {
        const SimVariant *variant = design->variants->pdata[i];
        for (guint j = 0; j < variant->settings->len; j++) {
            if (sim_setting_is(variant->settings->pdata[j], axis->group, axis->spec->key))
                return sim_setting_error(variant->settings->pdata[j], error, SIM_ERROR_MODEL,
                                         "the key is the axis of the sweep at %s", axis->place);
        }
    }
    for (guint i = 0; i < design->sets->len; i++) {
        if (sim_setting_is(design->sets->pdata[i], axis->group, axis->spec->key))
            sim_axis_fix(axis, design->sets->pdata[i]);
    }
    return TRUE;
}

/* Cross-checks of the sampling keys, then the points of one variant. */
static gboolean
lay_out(SimDesign *design, const Sampling *sampling, GError **error)
{
    SimDesignKind kind = sampling->kind != NULL ? (SimDesignKind) sampling->kind->value.integer : SIM_DESIGN_GRID;
    guint64 seed = sampling->seed != NULL ? (guint64) sampling->seed->value.integer : 1;

    if (kind == SIM_DESIGN_GRID && sampling->samples != NULL)
        return sim_setting_error(sampling->samples, error, SIM_ERROR_MODEL,
                                 "a grid has no samples (allowed: with design "
                                 "= lhs or sobol)");
    if (kind == SIM_DESIGN_GRID)
        return sim_design_lay_grid(design, error);
    if (sampling->samples == NULL)
        return sim_setting_error(sampling->kind, error, SIM_ERROR_MODEL, "needs samples = N");
    if (design->axes->len == 0)
        return sim_setting_error(sampling->kind, error, SIM_ERROR_MODEL, "needs an axis to sample");
    if (kind == SIM_DESIGN_SOBOL && design->n_dims > SIM_SAMPLE_MAX_SOBOL)
        return sim_setting_error(sampling->kind, error, SIM_ERROR_RANGE, "%u axes (allowed: at most %d)",
                                 design->n_dims, SIM_SAMPLE_MAX_SOBOL);
    sim_design_lay_samples(design, kind, seed, (guint) sampling->samples->value.integer);
    return TRUE;
}

static gboolean
design_init(SimDesign *design, const SimSchema *schema, const char *path, const char *const *sets, GError **error)
{
    g_auto(Sampling) sampling = {NULL};
    design->sets = g_ptr_array_new_with_free_func((GDestroyNotify) sim_setting_unref);
    design->axes = g_ptr_array_new_with_free_func((GDestroyNotify) sim_axis_free);
    design->loader = sim_loader_new(schema, path, error);
    if (design->loader == NULL)
        return FALSE;
    design->variants = sim_loader_variants(design->loader);
    for (; sets != NULL && *sets != NULL; sets++) {
        if (!read_set(design, *sets, error))
            return FALSE;
    }
    if (!read_sweep(design, &sampling, error))
        return FALSE;
    for (guint i = 0; i < design->axes->len; i++) {
        if (!settle_axis(design, design->axes->pdata[i], error))
            return FALSE;
    }
    if (!sim_design_zip(design, error) || !lay_out(design, &sampling, error))
        return FALSE;
    if (design->variants->len == 0)
        g_ptr_array_add(design->variants, sim_variant_new(BASE_VARIANT, path));
    guint64 n_points = (guint64) design->variants->len * design->n_rows;
    if (n_points <= SIM_DESIGN_MAX_POINTS)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                "%s: %" G_GUINT64_FORMAT " points (allowed: at most %d, variants times axis values)", path, n_points,
                SIM_DESIGN_MAX_POINTS);
    return FALSE;
}

SimDesign *
sim_design_load(const SimSchema *schema, const char *path, const char *const *sets, const SimExperiment *experiment,
                GError **error)
{
    g_autoptr(SimDesign) design = g_new0(SimDesign, 1);
    if (!design_init(design, schema, path, sets, error))
        return NULL;
    design->experiment = experiment;
    design->name = g_path_get_basename(path);
    if (g_str_has_suffix(design->name, SIM_SCENARIO_SUFFIX))
        design->name[strlen(design->name) - strlen(SIM_SCENARIO_SUFFIX)] = '\0';
    return g_steal_pointer(&design);
}

const char *
sim_design_name(const SimDesign *design)
{
    return design->name;
}

guint
sim_design_n_points(const SimDesign *design)
{
    return design->variants->len * design->n_rows;
}

guint
sim_design_n_axes(const SimDesign *design)
{
    return design->axes->len;
}

static const SimVariant *
variant_of(const SimDesign *design, guint point)
{
    g_assert(point < sim_design_n_points(design));
    return design->variants->pdata[point / design->n_rows];
}

static const SimLevel *
level_of(const SimDesign *design, guint point, guint axis)
{
    g_assert(axis < design->axes->len && point < sim_design_n_points(design));
    return sim_axis_level(design->axes->pdata[axis], sim_design_level(design, point % design->n_rows, axis));
}

const char *
sim_design_variant(const SimDesign *design, guint point)
{
    return variant_of(design, point)->name;
}

const char *
sim_design_axis_key(const SimDesign *design, guint axis)
{
    g_assert(axis < design->axes->len);
    return ((const SimAxis *) design->axes->pdata[axis])->name;
}

const char *
sim_design_axis_value(const SimDesign *design, guint point, guint axis)
{
    return level_of(design, point, axis)->text;
}

double
sim_design_axis_number(const SimDesign *design, guint point, guint axis)
{
    const SimSetting *setting = level_of(design, point, axis)->setting;
    if (setting == NULL)
        return NAN;
    switch (setting->spec->type) {
    case SIM_KEY_REAL:
        return setting->value.real;
    case SIM_KEY_INT:
    case SIM_KEY_TIME:
    case SIM_KEY_SIZE:
    case SIM_KEY_COST:
        return (double) setting->value.integer;
    default:
        return NAN;
    }
}

char *
sim_design_label(const SimDesign *design, guint point)
{
    GString *label = g_string_new(sim_design_variant(design, point));
    for (guint axis = 0; axis < design->axes->len; axis++)
        g_string_append_printf(label, ", %s = %s", sim_design_axis_key(design, axis),
                               sim_design_axis_value(design, point, axis));
    return g_string_free(label, FALSE);
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
check_point(const SimDesign *design, guint point, const SimConfig *config, GError **error)
{
    const SimExperiment *experiment = design->experiment;
    GError *problem = NULL;
    if (experiment == NULL)
        return TRUE;
    if ((experiment->starts == NULL || check_starts(config, experiment, &problem)) &&
        (experiment->check == NULL || experiment->check(config, &problem)))
        return TRUE;
    g_autofree char *label = sim_design_label(design, point);
    g_set_error(error, problem->domain, problem->code, "%s (in point %s)", problem->message, label);
    g_error_free(problem);
    return FALSE;
}

SimConfig *
sim_design_resolve(SimDesign *design, guint point, GError **error)
{
    g_autoptr(GPtrArray) overrides = g_ptr_array_new();
    g_ptr_array_extend(overrides, variant_of(design, point)->settings, NULL, NULL);
    for (guint axis = 0; axis < design->axes->len; axis++) {
        const SimLevel *level = level_of(design, point, axis);
        if (level->setting == NULL) {
            g_propagate_error(error, g_error_copy(level->problem));
            return NULL;
        }
        g_ptr_array_add(overrides, level->setting);
    }
    g_ptr_array_extend(overrides, design->sets, NULL, NULL);
    g_autoptr(SimConfig) config = sim_loader_resolve(design->loader, overrides, error);
    if (config == NULL || !check_point(design, point, config, error))
        return NULL;
    return g_steal_pointer(&config);
}
