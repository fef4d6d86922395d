/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-compare.h"

#include "sim-ci.h"

#include <math.h>
#include <string.h>

enum { ID, VARIANT, AXIS_VALUE, METRIC, VALUE, UNIT, NOTE, N_PUBLISHED_COLUMNS };

static const char *const published_columns[] = {"id", "variant", "axis_value", "metric", "value", "unit", "note", NULL};

/* The variant behind "x VARIANT"; NULL for an absolute figure. */
static const char *
unit_reference(const char *unit)
{
    return g_str_has_prefix(unit, "x ") ? unit + 2 : NULL;
}

/* A figure in Mops/s beside a metric in ops/s would be believed, so the unit must be the one in the metric's name. */
static gboolean
unit_fits_metric(const char *unit, const char *metric)
{
    GString *ending = g_string_new("_");
    gboolean fits;

    for (const char *c = unit; *c != '\0'; c++) {
        if (*c == '/')
            g_string_append(ending, "_per_");
        else if (*c == '%')
            g_string_append(ending, "percent");
        else
            g_string_append_c(ending, *c == ' ' ? '_' : *c);
    }
    fits = *unit != '\0' && g_str_has_suffix(metric, ending->str);
    g_string_free(ending, TRUE);
    return fits;
}

static gboolean
check_row(const SimTable *table, guint row, GHashTable *ids, GError **error)
{
    const char *unit = sim_table_cell(table, row, UNIT), *metric = sim_table_cell(table, row, METRIC);
    double value;

    if (!g_hash_table_add(ids, (gpointer) sim_table_cell(table, row, ID)))
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "id '%s' given twice", sim_table_cell(table, row, ID));
    else if (!sim_table_cell_real(table, row, VALUE, &value) || !isfinite(value))
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "value '%s' is not a finite number",
                    sim_table_cell(table, row, VALUE));
    else if (unit_reference(unit) == NULL && !unit_fits_metric(unit, metric))
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                    "unit '%s' does not agree with the end of metric '%s' (nor is it \"x VARIANT\")", unit, metric);
    else
        return TRUE;
    return FALSE;
}

SimTable *
sim_published_read(const char *path, GError **error)
{
    g_autoptr(SimTable) table = sim_table_read(path, error);
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);

    if (table == NULL)
        return NULL;
    if (!g_strv_equal(sim_table_columns(table), published_columns)) {
        g_autofree char *want = g_strjoinv(" ", (char **) published_columns);
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:1: the columns must be: %s", path, want);
        return NULL;
    }
    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        if (!check_row(table, row, ids, error)) {
            g_prefix_error(error, "%s:%u: ", path, row + 2);
            return NULL;
        }
    }
    if (sim_table_n_rows(table) == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: a header without any figure", path);
        return NULL;
    }
    return g_steal_pointer(&table);
}

/* "2" and "2.0" name the same place on an axis. */
static gboolean
axis_values_equal(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = g_ascii_strtod(a, &end_a), y = g_ascii_strtod(b, &end_b);

    if (g_str_equal(a, b))
        return TRUE;
    return *a != '\0' && *b != '\0' && *end_a == '\0' && *end_b == '\0' && x == y;
}

/* -1 and why in `ret_status` when the plan has no such point. */
static int
find_point(const SimPlan *plan, const char *variant, const char *axis_value, const char **ret_status)
{
    *ret_status = "no such variant";
    for (guint point = 0; point < sim_plan_n_points(plan); point++) {
        if (!g_str_equal(sim_plan_variant(plan, point), variant))
            continue;
        if (axis_values_equal(sim_plan_axis_value(plan, point), axis_value))
            return (int) point;
        *ret_status = "no such axis value";
    }
    return -1;
}

/* The row that a row's figure is a change from: "ID-base", whose variant, axis value and metric may all be others, else
 * that of the plan's first variant at the same place. -1 when there is neither. */
static int
find_base(const SimTable *published, const SimPlan *plan, guint row)
{
    g_autofree char *id = g_strconcat(sim_table_cell(published, row, ID), "-base", NULL);
    int first_variant = -1;

    if (g_str_has_suffix(sim_table_cell(published, row, ID), "-base"))
        return -1;
    for (guint r = 0; r < sim_table_n_rows(published); r++) {
        if (unit_reference(sim_table_cell(published, r, UNIT)) != NULL)
            continue;
        if (g_str_equal(sim_table_cell(published, r, ID), id))
            return (int) r;
        if (first_variant < 0 && g_str_equal(sim_table_cell(published, r, VARIANT), sim_plan_variant(plan, 0)) &&
            axis_values_equal(sim_table_cell(published, r, AXIS_VALUE), sim_table_cell(published, row, AXIS_VALUE)) &&
            g_str_equal(sim_table_cell(published, r, METRIC), sim_table_cell(published, row, METRIC)))
            first_variant = (int) r;
    }
    return first_variant;
}

/* Mean over pairs of replications of metric(point) / base_metric(base): under common random numbers much tighter than
 * the ratio of the two means. FALSE when either has no value. */
static gboolean
paired_ratio(const SimRuns *runs, guint point, const char *metric, guint base, const char *base_metric,
             const char *start, double *ret_mean, double *ret_half_width)
{
    g_autoptr(GArray) top = sim_runs_values(runs, point, start, metric);
    g_autoptr(GArray) bottom = sim_runs_values(runs, base, start, base_metric);
    guint n = MIN(top->len, bottom->len);
    double confidence = sim_config_real(sim_plan_config(runs->plan, point), "run", "confidence");

    if (n == 0)
        return FALSE;
    for (guint i = 0; i < n; i++)
        g_array_index(top, double, i) /= g_array_index(bottom, double, i);
    sim_ci_mean((const double *) top->data, n, confidence, ret_mean, ret_half_width);
    return TRUE;
}

typedef struct {
    const char *status;    /* why nothing was simulated; NULL when it was */
    gboolean is_untrusted; /* by runs that are not to be trusted */
    double simulated, half_width;
    gboolean has_base; /* the three below are given */
    double published_vs_base, simulated_vs_base, vs_base_half_width;
} Figure;

static void
compare_with_base(const SimTable *published, const SimRuns *runs, guint row, guint point, const char *start,
                  Figure *figure)
{
    double value, base_value;
    const char *status;
    int base = find_base(published, runs->plan, row), base_point;

    if (base < 0 || (guint) base == row)
        return;
    base_point = find_point(runs->plan, sim_table_cell(published, (guint) base, VARIANT),
                            sim_table_cell(published, (guint) base, AXIS_VALUE), &status);
    if (base_point < 0 || !sim_table_cell_real(published, row, VALUE, &value) ||
        !sim_table_cell_real(published, (guint) base, VALUE, &base_value) || base_value == 0)
        return;
    figure->has_base = paired_ratio(runs, point, sim_table_cell(published, row, METRIC), (guint) base_point,
                                    sim_table_cell(published, (guint) base, METRIC), start, &figure->simulated_vs_base,
                                    &figure->vs_base_half_width);
    figure->published_vs_base = value / base_value;
    if (sim_runs_trust(runs, (guint) base_point, start).n_untrusted > 0)
        figure->is_untrusted = TRUE;
}

static Figure
simulate_figure(const SimTable *published, const SimRuns *runs, guint row, const char *start)
{
    const char *axis_value = sim_table_cell(published, row, AXIS_VALUE);
    const char *metric = sim_table_cell(published, row, METRIC);
    const char *reference = unit_reference(sim_table_cell(published, row, UNIT));
    Figure figure = {0};
    int point = find_point(runs->plan, sim_table_cell(published, row, VARIANT), axis_value, &figure.status);
    int base = -1;

    if (point >= 0 && reference != NULL) {
        base = find_point(runs->plan, reference, axis_value, &figure.status);
        if (base < 0)
            figure.status = "no such reference";
    }
    if (point < 0 || (reference != NULL && base < 0))
        return figure;
    figure.status = "not recorded";
    figure.is_untrusted = sim_runs_trust(runs, (guint) point, start).n_untrusted > 0 ||
                          (base >= 0 && sim_runs_trust(runs, (guint) base, start).n_untrusted > 0);
    if (reference != NULL) {
        if (paired_ratio(runs, (guint) point, metric, (guint) base, metric, start, &figure.simulated,
                         &figure.half_width))
            figure.status = NULL;
    } else {
        SimSummary s;
        sim_runs_summarise(runs, (guint) point, start, metric, &s);
        figure.simulated = s.mean;
        figure.half_width = s.half_width;
        if (s.n > 0) {
            figure.status = NULL;
            compare_with_base(published, runs, row, (guint) point, start, &figure);
        }
    }
    return figure;
}

static void
put_reals(SimTable *table, gboolean given, const double *values, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (given)
            sim_table_put_real(table, values[i]);
        else
            sim_table_put_text(table, "");
    }
}

/* Within this share of the published value counts as near. */
#define NEAR_FRAC 0.1

/* How the simulated figure stands to the published one, in words. Without an interval nothing lies inside it, and a
 * wide one, in which anything lies, is named. */
static void
put_verdict(SimTable *table, const Figure *figure, double published)
{
    double off = figure->simulated / published - 1, width = figure->half_width / fabs(figure->simulated);
    g_autofree char *text = NULL;

    if (figure->status != NULL || isnan(figure->simulated))
        text = g_strdup("");
    else if (isfinite(figure->half_width) && fabs(figure->simulated - published) <= figure->half_width)
        text = width > NEAR_FRAC ? g_strdup_printf("inside ± %.3g %%", 100 * width) : g_strdup("inside");
    else if (fabs(figure->simulated - published) <= NEAR_FRAC * fabs(published))
        text = g_strdup_printf("within %g %%", 100 * NEAR_FRAC);
    else if (published == 0)
        text = g_strdup("not 0");
    else
        text = g_strdup_printf("off by %+.3g %%", 100 * off);
    sim_table_put_text(table, text);
}

static void
put_row(SimTable *table, const SimTable *published, const SimRuns *runs, guint row, const char *start)
{
    Figure f = simulate_figure(published, runs, row, start);
    g_autofree char *untrusted = sim_runs_untrusted_word(runs);
    double value = NAN;

    (void) sim_table_cell_real(published, row, VALUE, &value);
    sim_table_put_text(table, sim_table_cell(published, row, ID));
    sim_table_put_text(table, sim_table_cell(published, row, VARIANT));
    if (*sim_plan_axis_key(runs->plan) != '\0')
        sim_table_put_text(table, sim_table_cell(published, row, AXIS_VALUE));
    sim_table_put_text(table, start);
    sim_table_put_text(table, sim_table_cell(published, row, METRIC));
    sim_table_put_text(table, sim_table_cell(published, row, UNIT));
    sim_table_put_real(table, value);
    put_reals(table, f.status == NULL,
              (const double[]){f.simulated, f.half_width, value != 0 ? f.simulated / value : NAN}, 3);
    put_reals(table, f.has_base, (const double[]){f.published_vs_base, f.simulated_vs_base, f.vs_base_half_width}, 3);
    sim_table_put_text(table, f.status != NULL ? f.status : f.is_untrusted ? untrusted : "ok");
    put_verdict(table, &f, value);
    sim_table_put_text(table, sim_table_cell(published, row, NOTE));
}

SimTable *
sim_compare(const SimTable *published, const SimRuns *runs)
{
    static const char *const own[] = {"start",
                                      "metric",
                                      "unit",
                                      "published",
                                      "simulated",
                                      "half_width",
                                      "ratio",
                                      "published_vs_base",
                                      "simulated_vs_base",
                                      "vs_base_half_width",
                                      "status",
                                      "verdict",
                                      "note"};
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) starts = sim_runs_starts(runs);
    SimTable *table;

    sim_columns_add(columns, "id");
    sim_point_add_columns(runs->plan, columns);
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        sim_columns_add(columns, own[i]);
    g_ptr_array_add(columns, NULL);
    table = sim_table_new("comparison", (const char *const *) columns->pdata);
    for (guint row = 0; row < sim_table_n_rows(published); row++)
        for (guint s = 0; starts->pdata[s] != NULL; s++)
            put_row(table, published, runs, row, starts->pdata[s]);
    return table;
}

/* Numbers of comparisons of one sort. */
typedef struct {
    guint n, n_not_simulated, n_of_zero; /* of zero: published as 0, so without a relative error */
    double sum_of_squares;
} Errors;

static void
count_comparison(Errors *errors, const SimTable *comparison, guint row)
{
    guint simulated = (guint) sim_table_find_column(comparison, "simulated");
    guint published = (guint) sim_table_find_column(comparison, "published");
    guint ratio = (guint) sim_table_find_column(comparison, "ratio");
    double value = NAN;

    if (*sim_table_cell(comparison, row, simulated) == '\0') {
        errors->n_not_simulated++;
        return;
    }
    errors->n++;
    (void) sim_table_cell_real(comparison, row, ratio, &value);
    if (isfinite(value))
        errors->sum_of_squares += (value - 1) * (value - 1);
    else if (sim_table_cell_real(comparison, row, published, &value) && value == 0)
        errors->n_of_zero++;
    else
        errors->sum_of_squares = NAN;
}

SimTable *
sim_compare_errors(const SimTable *comparison)
{
    static const char *const columns[] = {
        "metric", "kind", "n", "not_simulated", "published_as_0", "rms_relative_error", NULL};
    guint metric = (guint) sim_table_find_column(comparison, "metric");
    guint unit = (guint) sim_table_find_column(comparison, "unit");
    SimTable *table = sim_table_new("comparison-errors", columns);
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) sums = g_array_new(FALSE, TRUE, sizeof(Errors));

    for (guint row = 0; row < sim_table_n_rows(comparison); row++) {
        const char *kind = unit_reference(sim_table_cell(comparison, row, unit)) != NULL ? "ratio" : "absolute";
        g_autofree char *key = g_strdup_printf("%s\t%s", sim_table_cell(comparison, row, metric), kind);
        guint k;

        sim_columns_add(keys, key);
        g_array_set_size(sums, keys->len);
        g_ptr_array_find_with_equal_func(keys, key, g_str_equal, &k);
        count_comparison(&g_array_index(sums, Errors, k), comparison, row);
    }
    for (guint k = 0; k < keys->len; k++) {
        g_auto(GStrv) parts = g_strsplit(keys->pdata[k], "\t", 2);
        const Errors *errors = &g_array_index(sums, Errors, k);
        guint n_relative = errors->n - errors->n_of_zero;

        sim_table_put_text(table, parts[0]);
        sim_table_put_text(table, parts[1]);
        sim_table_put_int(table, errors->n);
        sim_table_put_int(table, errors->n_not_simulated);
        sim_table_put_int(table, errors->n_of_zero);
        sim_table_put_real(table, n_relative > 0 ? sqrt(errors->sum_of_squares / n_relative) : NAN);
    }
    return table;
}

static gboolean
column_is_empty(const SimTable *table, guint column)
{
    for (guint row = 0; row < sim_table_n_rows(table); row++)
        if (*sim_table_cell(table, row, column) != '\0')
            return FALSE;
    return TRUE;
}

/* Four digits for numbers; texts, and words that look like numbers but name something, as they are. */
static void
put_rounded(SimTable *rounded, const SimTable *table, guint row, guint column, gboolean is_number)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    double value;

    if (is_number && sim_table_cell_real(table, row, column, &value))
        sim_table_put_text(rounded, g_ascii_formatd(buffer, sizeof buffer, "%.4g", value));
    else
        sim_table_put_text(rounded, sim_table_cell(table, row, column));
}

static char *
rounded_text(const SimTable *table, const char *first_number, const char *last_number)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(SimTable) rounded = NULL;
    int first = sim_table_find_column(table, first_number), last = sim_table_find_column(table, last_number);

    for (guint c = 0; c < sim_table_n_columns(table); c++)
        if (!column_is_empty(table, c))
            sim_columns_add(columns, sim_table_columns(table)[c]);
    if (columns->len == 0)
        return g_strdup("");
    g_ptr_array_add(columns, NULL);
    rounded = sim_table_new(sim_table_name(table), (const char *const *) columns->pdata);
    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        for (guint c = 0; columns->pdata[c] != NULL; c++) {
            int from = sim_table_find_column(table, columns->pdata[c]);
            put_rounded(rounded, table, row, (guint) from, from >= first && from <= last);
        }
    }
    return sim_table_to_text(rounded);
}

static guint
n_distinct(const SimTable *table, const char *column)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    guint c = (guint) sim_table_find_column(table, column);

    for (guint row = 0; row < sim_table_n_rows(table); row++)
        sim_columns_add(values, sim_table_cell(table, row, c));
    return values->len;
}

/* "12 published figures, 2 starts each: 20 comparisons simulated, 4 not" */
static char *
counts_text(const SimTable *comparison, const SimTable *errors)
{
    guint n_figures = n_distinct(comparison, "id"), n_starts = n_distinct(comparison, "start");
    double n = 0, n_not_simulated = 0, value;

    for (guint row = 0; row < sim_table_n_rows(errors); row++) {
        n += sim_table_cell_real(errors, row, (guint) sim_table_find_column(errors, "n"), &value) ? value : 0;
        n_not_simulated +=
            sim_table_cell_real(errors, row, (guint) sim_table_find_column(errors, "not_simulated"), &value) ? value
                                                                                                             : 0;
    }
    return g_strdup_printf("%u published figure%s, %u start%s: n = %g comparisons simulated, %g not\n", n_figures,
                           n_figures == 1 ? "" : "s", n_starts, n_starts == 1 ? "" : "s", n, n_not_simulated);
}

char *
sim_compare_to_text(const SimTable *comparison)
{
    g_autoptr(SimTable) errors = sim_compare_errors(comparison);
    g_autofree char *figures = rounded_text(comparison, "published", "vs_base_half_width");
    g_autofree char *sums = rounded_text(errors, "rms_relative_error", "rms_relative_error");
    g_autofree char *counts = counts_text(comparison, errors);

    return g_strdup_printf("%s\n%s\n%s", figures, counts, sums);
}
