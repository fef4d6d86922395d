/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-schema.h"

#include "sim-hint.h"

#include <math.h>
#include <string.h>

#define MAX_INSTANCE_NAME 64
/* So that warm-up and duration together stay far from the end of SimTime. */
#define MAX_SPAN_PS 1e18
#define ANY_KEY "GROUP.KEY"
#define SCENARIOS_VARIABLE "SLUBSIM_SCENARIOS"

static const SimKeySpec structural_keys[] = {
    {"scenario", "extends", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL,
     "Scenario file, relative to this one, whose values stand below this file's."},
    {"sweep", "variants", SIM_KEY_TEXT_LIST, NULL, TRUE, 0, 0, NULL, "The variants that run; all when absent."},
    {"sweep", "design", SIM_KEY_CHOICE, "grid", FALSE, 0, 0, "grid|lhs|sobol",
     "Every combination of the axes, or a Latin hypercube or Sobol sample of them."},
    {"sweep", "samples", SIM_KEY_INT, NULL, TRUE, 1, 100000, NULL, "Samples a variant; for lhs and sobol only."},
    {"sweep", "design_seed", SIM_KEY_INT, "1", FALSE, 0, INFINITY, NULL, "Seed of a sampled design."},
    {"sweep", "zip", SIM_KEY_TEXT_LIST, NULL, TRUE, 0, 0, NULL,
     "Axes that move together: key1 + key2, groups split by semicolons."},
    {"sweep", ANY_KEY, SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL,
     "An axis: v1; v2; v3, or from:to:step, or log from:to:count; for samples also from..to or log from..to."},
    {"variant *", ANY_KEY, SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "A value in force in this variant only."},
    {NULL}};

static const SimKeySpec study_keys[] = {
    {"scenario", "title", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "What is studied, in a few words."},
    {"scenario", "question", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "The question the scenario answers."},
    {"scenario", "reference", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "Where the question or its figures are from."},
    {"scenario", "expects", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "The expected direction of the answer."},
    {"scenario", "limits", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "What the scenario leaves out."},
    {"scenario", "published", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "File of published figures to compare with."},
    {"plot *", "kind", SIM_KEY_TEXT, NULL, FALSE, 0, 0, NULL, "Kind of chart."},
    {"plot *", "metric", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "Metric that is drawn."},
    {"plot *", "title", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "Title of the chart."},
    {NULL}};

static const SimKeySpec run_keys[] = {
    {"run", "warmup", SIM_KEY_TIME, "0 s", FALSE, 0, MAX_SPAN_PS, NULL, "Simulated time before measuring starts."},
    {"run", "duration", SIM_KEY_TIME, NULL, FALSE, 1, MAX_SPAN_PS, NULL, "Simulated time that is measured."},
    {"run", "replications", SIM_KEY_INT, "1", FALSE, 1, 10000, NULL, "Independent repetitions of each point."},
    {"run", "seed", SIM_KEY_INT, "1", FALSE, 0, INFINITY, NULL, "Seed of all random streams."},
    {"run", "starts", SIM_KEY_TEXT_LIST, "cold", FALSE, 0, 0, NULL, "Initial states to start from."},
    {"run", "precision", SIM_KEY_REAL, NULL, TRUE, 1e-6, 1, NULL,
     "Relative half-width of the confidence interval at which replications may stop."},
    {"run", "sample_interval", SIM_KEY_TIME, "0 s", FALSE, 0, MAX_SPAN_PS, NULL,
     "Interval of time series; 0 s for none."},
    {"run", "confidence", SIM_KEY_REAL, "0.95", FALSE, 0.5, 0.9999, NULL, "Level of the confidence intervals."},
    {NULL}};

static const SimKeySpec *const engine_tables[] = {study_keys, run_keys, structural_keys, NULL};

static gboolean
is_in_table(const SimKeySpec *table, const SimKeySpec *spec)
{
    for (; table->group != NULL; table++) {
        if (table == spec)
            return TRUE;
    }
    return FALSE;
}

gboolean
sim_schema_is_structural(const SimKeySpec *spec)
{
    return is_in_table(structural_keys, spec);
}

gboolean
sim_schema_is_study_wide(const SimKeySpec *spec)
{
    return is_in_table(study_keys, spec);
}

/* Behind the last row of the same group, so that a group split over tables stays together. */
static void
add_row(GPtrArray *rows, const SimKeySpec *spec)
{
    guint i = rows->len;
    while (i > 0 && strcmp(((const SimKeySpec *) rows->pdata[i - 1])->group, spec->group) != 0)
        i--;
    g_ptr_array_insert(rows, i > 0 ? (int) i : -1, (gpointer) spec);
}

GPtrArray *
sim_schema_rows(const SimSchema *schema)
{
    const SimKeySpec *const *const lists[] = {engine_tables, schema->tables};
    GPtrArray *rows = g_ptr_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        for (const SimKeySpec *const *table = lists[i]; *table != NULL; table++) {
            for (const SimKeySpec *spec = *table; spec->group != NULL; spec++)
                add_row(rows, spec);
        }
    }
    return rows;
}

const char *
sim_schema_scenarios_dir(const SimSchema *schema)
{
    const char *dir = g_getenv(SCENARIOS_VARIABLE);
    return dir != NULL && *dir != '\0' ? dir : schema->scenarios_dir;
}

gboolean
sim_schema_group_is_family(const char *group)
{
    return g_str_has_suffix(group, " *");
}

const char *
sim_schema_instance_name(const char *group)
{
    return strchr(group, ' ') + 1;
}

static gboolean
instance_name_is_valid(const char *name)
{
    gsize n = strlen(name);
    for (const char *p = name; *p != '\0'; p++) {
        if (!g_ascii_isalnum(*p) && strchr("_.:,+-", *p) == NULL)
            return FALSE;
    }
    return n >= 1 && n <= MAX_INSTANCE_NAME;
}

/* "cache anything", valid or not. */
static gboolean
has_family_word(const char *pattern, const char *group)
{
    gsize n = strlen(pattern) - 1;
    return sim_schema_group_is_family(pattern) && strncmp(pattern, group, n) == 0;
}

gboolean
sim_schema_group_matches(const char *pattern, const char *group)
{
    if (!sim_schema_group_is_family(pattern))
        return strcmp(pattern, group) == 0;
    return has_family_word(pattern, group) && instance_name_is_valid(sim_schema_instance_name(group));
}

gboolean
sim_schema_is_engine_group(const char *group)
{
    for (const SimKeySpec *const *table = engine_tables; *table != NULL; table++) {
        for (const SimKeySpec *spec = *table; spec->group != NULL; spec++) {
            if (sim_schema_group_matches(spec->group, group))
                return TRUE;
        }
    }
    return FALSE;
}

static const SimKeySpec *
row_at(const GPtrArray *rows, guint i)
{
    return rows->pdata[i];
}

gboolean
sim_schema_is_member(const GPtrArray *rows, const char *group)
{
    for (guint i = 0; i < rows->len; i++) {
        const char *pattern = row_at(rows, i)->group;
        if (sim_schema_group_is_family(pattern) && sim_schema_group_matches(pattern, group))
            return TRUE;
    }
    return FALSE;
}

static gboolean
starts_group(const GPtrArray *rows, guint i)
{
    return i == 0 || strcmp(row_at(rows, i)->group, row_at(rows, i - 1)->group) != 0;
}

/* The first word of each group, families and single groups alike: a typing error in it is what a hint can mend. */
static void
set_unknown_group_error(const GPtrArray *rows, const char *group, GError **error)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) allowed = g_string_new(NULL);
    for (guint i = 0; i < rows->len; i++) {
        const char *pattern = row_at(rows, i)->group;
        if (!starts_group(rows, i))
            continue;
        gboolean is_family = sim_schema_group_is_family(pattern);
        char *word = g_strndup(pattern, strlen(pattern) - (is_family ? 2 : 0));
        g_ptr_array_add(words, word);
        g_string_append_printf(allowed, "%s[%s%s]", allowed->len > 0 ? ", " : "", word, is_family ? " NAME" : "");
    }
    g_ptr_array_add(words, NULL);
    g_autofree char *first = g_strndup(group, strcspn(group, " "));
    g_autofree char *hint = sim_hint_phrase(first, (const char *const *) words->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown group%s (allowed: %s)", hint, allowed->str);
}

gboolean
sim_schema_check_group(const GPtrArray *rows, const char *group, GError **error)
{
    for (guint i = 0; i < rows->len; i++) {
        const char *pattern = row_at(rows, i)->group;
        if (sim_schema_group_matches(pattern, group))
            return TRUE;
        if (has_family_word(pattern, group)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                        "\"%s\" is no name (allowed: 1 to %d letters, digits, '_', '.', ':', ',', '+', '-')",
                        sim_schema_instance_name(group), MAX_INSTANCE_NAME);
            return FALSE;
        }
    }
    set_unknown_group_error(rows, group, error);
    return FALSE;
}

const SimKeySpec *
sim_schema_find(const GPtrArray *rows, const char *group, const char *key, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++) {
        const SimKeySpec *spec = row_at(rows, i);
        if (!sim_schema_group_matches(spec->group, group))
            continue;
        if (strcmp(spec->key, key) == 0)
            return spec;
        g_ptr_array_add(keys, (gpointer) spec->key);
    }
    if (keys->len == 0) {
        gboolean is_known = sim_schema_check_group(rows, group, error);
        g_assert(!is_known);
        return NULL;
    }
    g_ptr_array_add(keys, NULL);
    g_autofree char *allowed = g_strjoinv(", ", (char **) keys->pdata);
    g_autofree char *hint = sim_hint_phrase(key, (const char *const *) keys->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown key%s (allowed: %s)", hint, allowed);
    return NULL;
}

gboolean
sim_schema_split_name(const char *name, char **ret_group, char **ret_key)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name || dot[1] == '\0')
        return FALSE;
    *ret_group = g_strndup(name, (gsize) (dot - name));
    *ret_key = g_strdup(dot + 1);
    return TRUE;
}
