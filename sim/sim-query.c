/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-query.h"

#include "sim-ci.h"
#include "sim-hint.h"
#include "sim-moments.h"
#include "sim-verdict.h"

#include <math.h>
#include <string.h>

#define BYTES_PER_MIB 1048576.0

/* One cell with its means. */
typedef struct {
    guint cell;
    double mean, half_width; /* of the first metric asked for */
    double cost, cost_half_width;
    guint n;
    guint curve;
} Row;

static void
mean_of(const SimCellRuns *runs, guint metric, double confidence, double *ret_mean, double *ret_half_width,
        guint *ret_n)
{
    g_autoptr(GArray) values = sim_cell_runs_values(runs, metric);

    sim_ci_mean((const double *) values->data, values->len, confidence, ret_mean, ret_half_width);
    *ret_n = values->len;
}

/* Row of every cell that has the metric; `cost` is -1 for none. */
static GArray *
read_rows(SimSource *source, int metric, int cost, GError **error)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(Row));

    for (guint i = 0; i < sim_source_n_cells(source); i++) {
        double confidence = sim_source_cell(source, i).confidence;
        g_autoptr(SimCellRuns) runs = sim_source_read(source, i, error);
        Row row = {.cell = i};
        guint n_cost = 1;
        if (runs == NULL)
            return NULL;
        mean_of(runs, (guint) metric, confidence, &row.mean, &row.half_width, &row.n);
        if (cost >= 0)
            mean_of(runs, (guint) cost, confidence, &row.cost, &row.cost_half_width, &n_cost);
        if (row.n > 0 && n_cost > 0 && !isnan(row.mean) && !isnan(row.cost))
            g_array_append_val(rows, row);
    }
    return g_steal_pointer(&rows);
}

static SimTable *
table_new(const SimSource *source, const char *name, const char *const *own)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);

    sim_columns_add(columns, "variant");
    for (guint axis = 0; axis < sim_source_n_axes(source); axis++)
        sim_columns_add(columns, sim_source_axis_key(source, axis));
    sim_columns_add(columns, "start");
    for (; *own != NULL; own++)
        sim_columns_add(columns, *own);
    g_ptr_array_add(columns, NULL);
    return sim_table_new(name, (const char *const *) columns->pdata);
}

static void
put_identity(SimTable *table, const SimSource *source, guint cell)
{
    SimSourceCell facts = sim_source_cell(source, cell);

    sim_table_put_text(table, facts.variant);
    for (guint axis = 0; facts.values[axis] != NULL; axis++)
        sim_table_put_text(table, facts.values[axis]);
    sim_table_put_text(table, facts.start);
}

static const char *
start_of(const SimSource *source, const Row *row)
{
    return sim_source_cell(source, row->cell).start;
}

static int
find_metric(const SimSource *source, const char *name, GError **error)
{
    const char *const *metrics = sim_source_metrics(source);

    return sim_source_find_metric(source, name != NULL ? name : metrics[0] != NULL ? metrics[0] : "", error);
}

/* Difference of one metric between two cells, b - a. */
static gboolean
difference_of(SimSource *source, guint cell_a, guint cell_b, guint metric, SimDifference *ret_difference,
              GError **error)
{
    double confidence = sim_source_cell(source, cell_a).confidence;
    g_autoptr(SimCellRuns) a = sim_source_read(source, cell_a, error);
    g_autoptr(SimCellRuns) b = a != NULL ? sim_source_read(source, cell_b, error) : NULL;
    g_autoptr(GArray) of_a = NULL, of_b = NULL;
    gboolean is_paired;

    if (b == NULL)
        return FALSE;
    sim_source_pair(a, metric, b, metric, &of_a, &of_b, &is_paired);
    *ret_difference =
        is_paired
            ? sim_difference_paired((double *) of_a->data, (double *) of_b->data, of_a->len, confidence)
            : sim_difference_welch((double *) of_a->data, of_a->len, (double *) of_b->data, of_b->len, confidence);
    return TRUE;
}

/* The order of cells decides ties, so that equal studies give equal tables. */
static int
compare_rising(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;
    return x->mean != y->mean ? (x->mean > y->mean) - (x->mean < y->mean) : (x->cell > y->cell) - (x->cell < y->cell);
}

static int
compare_falling(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;
    return x->mean != y->mean ? (x->mean < y->mean) - (x->mean > y->mean) : (x->cell > y->cell) - (x->cell < y->cell);
}

SimTable *
sim_query_best(SimSource *source, const char *metric, gboolean is_lowest_best, guint n_top, GError **error)
{
    int index = find_metric(source, metric, error);
    g_autoptr(GArray) rows = index >= 0 ? read_rows(source, index, -1, error) : NULL;
    g_autoptr(SimTable) table = NULL;
    g_autoptr(GHashTable) best = g_hash_table_new(g_str_hash, g_str_equal);

    if (rows == NULL)
        return NULL;
    const char *const own[] = {sim_source_metrics(source)[index], "half_width", "behind", "behind_half_width", NULL};
    table = table_new(source, "best", own);
    g_array_sort(rows, is_lowest_best ? compare_rising : compare_falling);
    for (guint i = 0; i < MIN(rows->len, n_top); i++) {
        const Row *row = &g_array_index(rows, Row, i);
        const Row *first = g_hash_table_lookup(best, start_of(source, row));
        SimDifference d;
        if (first != NULL && !difference_of(source, first->cell, row->cell, (guint) index, &d, error))
            return NULL;
        put_identity(table, source, row->cell);
        sim_table_put_real(table, row->mean);
        sim_table_put_real(table, row->half_width);
        if (first != NULL) {
            sim_table_put_real(table, d.difference);
            sim_table_put_real(table, d.half_width);
            continue;
        }
        sim_table_put_text(table, "");
        sim_table_put_text(table, "");
        g_hash_table_insert(best, (gpointer) start_of(source, row), (gpointer) row);
    }
    return g_steal_pointer(&table);
}

static int
compare_cost(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;

    if (x->cost != y->cost)
        return (x->cost > y->cost) - (x->cost < y->cost);
    return compare_falling(a, b);
}

/* Ratio of two mean differences and its half-width, by the spread of the residuals around the ratio. */
static gboolean
ratio_of(SimSource *source, const Row *a, const Row *b, guint gain, guint cost, double *ret_ratio,
         double *ret_half_width, GError **error)
{
    double confidence = sim_source_cell(source, a->cell).confidence, ratio, mean, half_width;
    g_autoptr(SimCellRuns) runs_a = sim_source_read(source, a->cell, error);
    g_autoptr(SimCellRuns) runs_b = runs_a != NULL ? sim_source_read(source, b->cell, error) : NULL;
    g_autoptr(GArray) gain_a = NULL, gain_b = NULL, cost_a = NULL, cost_b = NULL;
    gboolean is_paired, is_cost_paired;
    double *residuals;

    if (runs_b == NULL)
        return FALSE;
    ratio = (b->mean - a->mean) / (b->cost - a->cost);
    *ret_half_width = NAN;
    *ret_ratio = ratio;
    sim_source_pair(runs_a, gain, runs_b, gain, &gain_a, &gain_b, &is_paired);
    sim_source_pair(runs_a, cost, runs_b, cost, &cost_a, &cost_b, &is_cost_paired);
    if (!is_paired || !is_cost_paired || gain_a->len != cost_a->len)
        return TRUE;
    residuals = g_new(double, gain_a->len);
    for (guint i = 0; i < gain_a->len; i++)
        residuals[i] = g_array_index(gain_b, double, i) - g_array_index(gain_a, double, i) -
                       ratio * (g_array_index(cost_b, double, i) - g_array_index(cost_a, double, i));
    sim_ci_mean(residuals, gain_a->len, confidence, &mean, &half_width);
    *ret_half_width = half_width / (b->cost - a->cost);
    g_free(residuals);
    return TRUE;
}

static gboolean
put_step(SimTable *table, SimSource *source, const Row *before, const Row *row, guint gain, guint cost, double unit,
         GError **error)
{
    SimDifference d;
    double ratio, half_width;

    if (before == NULL) {
        for (guint i = 0; i < 5; i++)
            sim_table_put_text(table, "");
        return TRUE;
    }
    if (!difference_of(source, before->cell, row->cell, gain, &d, error) ||
        !ratio_of(source, before, row, gain, cost, &ratio, &half_width, error))
        return FALSE;
    sim_table_put_real(table, row->cost - before->cost);
    sim_table_put_real(table, d.difference);
    sim_table_put_real(table, d.half_width);
    sim_table_put_real(table, ratio * unit);
    sim_table_put_real(table, half_width * unit);
    return TRUE;
}

SimTable *
sim_query_pareto(SimSource *source, const char *gain, const char *cost, GError **error)
{
    int gain_index = find_metric(source, gain, error);
    int cost_index = gain_index >= 0 ? sim_source_find_metric(source, cost, error) : -1;
    g_autoptr(GArray) rows = cost_index >= 0 ? read_rows(source, gain_index, cost_index, error) : NULL;
    gboolean is_bytes = g_str_has_suffix(cost, "_bytes");
    g_autoptr(SimTable) table = NULL;
    g_autoptr(GPtrArray) starts = g_ptr_array_new_with_free_func(g_free);

    if (rows == NULL)
        return NULL;
    g_autofree char *gain_name = g_strdup(sim_source_metrics(source)[gain_index]);
    const char *const own[] = {cost,
                               "cost_half_width",
                               gain_name,
                               "gain_half_width",
                               "more_cost",
                               "more_gain",
                               "more_gain_half_width",
                               is_bytes ? "gain_per_MiB" : "gain_per_unit",
                               is_bytes ? "gain_per_MiB_half_width" : "gain_per_unit_half_width",
                               NULL};
    table = table_new(source, "pareto", own);
    for (guint i = 0; i < rows->len; i++)
        sim_columns_add(starts, start_of(source, &g_array_index(rows, Row, i)));
    g_array_sort(rows, compare_cost);
    for (guint s = 0; s < starts->len; s++) {
        const Row *before = NULL;
        for (guint i = 0; i < rows->len; i++) {
            const Row *row = &g_array_index(rows, Row, i);
            if (!g_str_equal(start_of(source, row), starts->pdata[s]) || (before != NULL && row->mean <= before->mean))
                continue;
            put_identity(table, source, row->cell);
            sim_table_put_real(table, row->cost);
            sim_table_put_real(table, row->cost_half_width);
            sim_table_put_real(table, row->mean);
            sim_table_put_real(table, row->half_width);
            if (!put_step(table, source, before, row, (guint) gain_index, (guint) cost_index,
                          is_bytes ? BYTES_PER_MIB : 1, error))
                return NULL;
            before = row;
        }
    }
    return g_steal_pointer(&table);
}

/* What a curve is drawn by: variant, the other axes, start. */
static char *
curve_of(const SimSource *source, guint cell, int axis)
{
    SimSourceCell facts = sim_source_cell(source, cell);
    GString *text = g_string_new(facts.variant);

    for (guint i = 0; facts.values[i] != NULL; i++)
        g_string_append_printf(text, "\n%s", (int) i == axis ? "" : facts.values[i]);
    g_string_append_printf(text, "\n%s", facts.start);
    return g_string_free(text, FALSE);
}

/* Curves in the order in which they begin, points along them as in the plan. */
static int
compare_curve(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;
    return x->curve != y->curve ? (x->curve > y->curve) - (x->curve < y->curve)
                                : (x->cell > y->cell) - (x->cell < y->cell);
}

static int
find_axis(const SimSource *source, const char *axis, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();

    for (guint i = 0; i < sim_source_n_axes(source); i++) {
        if (g_str_equal(sim_source_axis_key(source, i), axis))
            return (int) i;
        g_ptr_array_add(keys, (gpointer) sim_source_axis_key(source, i));
    }
    g_ptr_array_add(keys, NULL);
    g_autofree char *allowed = g_strjoinv(", ", (char **) keys->pdata);
    g_autofree char *hint = sim_hint_phrase(axis, (const char *const *) keys->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "%s: no axis '%s'%s (allowed: %s)", sim_source_path(source),
                axis, hint, *allowed != '\0' ? allowed : "none, there is no axis");
    return -1;
}

SimTable *
sim_query_curve(SimSource *source, const char *metric, const char *axis, GError **error)
{
    int index = find_metric(source, metric, error);
    g_autoptr(GArray) rows = index >= 0 ? read_rows(source, index, -1, error) : NULL;
    g_autoptr(GHashTable) curves = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(SimTable) table = NULL;
    int at = rows != NULL ? find_axis(source, axis, error) : -1;

    if (at < 0)
        return NULL;
    const char *const own[] = {sim_source_metrics(source)[index], "half_width", "n", NULL};
    table = table_new(source, "curve", own);
    for (guint i = 0; i < rows->len; i++) {
        Row *row = &g_array_index(rows, Row, i);
        char *curve = curve_of(source, row->cell, at);
        gpointer known = g_hash_table_lookup(curves, curve);
        row->curve = known != NULL ? GPOINTER_TO_UINT(known) : g_hash_table_size(curves) + 1;
        g_hash_table_insert(curves, curve, GUINT_TO_POINTER(row->curve));
    }
    g_array_sort(rows, compare_curve);
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        put_identity(table, source, row->cell);
        sim_table_put_real(table, row->mean);
        sim_table_put_real(table, row->half_width);
        sim_table_put_int(table, row->n);
    }
    return g_steal_pointer(&table);
}
