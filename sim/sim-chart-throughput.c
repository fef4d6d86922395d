/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One metric at every point: grouped bars, or lines when the axis is a number with enough values to show a curve. */
#include "sim-chart-private.h"

#include "sim-hint.h"

#include <math.h>

#define MIN_VALUES_FOR_LINES 5
#define LOG_AXIS_RATIO 16.0 /* largest to smallest axis value from which a logarithmic axis serves better */
#define GROUP_WIDTH 0.8
#define MAX_SERIES_OF_STUDY 8 /* beyond which only the kinds made for sweeps are of use */
#define MAX_TICS 16           /* labels that have room along the axis */

typedef struct {
    SimChartRows rows;
    SimChartNames series, axis_values;
    GArray *x_of_value; /* double, by axis value */
    gboolean lines, is_log;
    double slot;    /* width of one bar */
    double divisor; /* from the metric's unit to the one drawn */
} Layout;

static void
layout_clear(Layout *layout)
{
    sim_chart_names_clear(&layout->series);
    sim_chart_names_clear(&layout->axis_values);
    g_array_unref(layout->x_of_value);
}

/* TRUE when all axis values are numbers, in *ret_log whether they ask for a logarithmic axis. */
static gboolean
axis_is_numeric(const Layout *layout, gboolean *ret_log)
{
    double low = INFINITY, high = -INFINITY;

    for (guint i = 0; i < layout->axis_values.list->len; i++) {
        const char *text = layout->axis_values.list->pdata[i];
        char *end;
        double x = g_ascii_strtod(text, &end);
        if (*text == '\0' || *end != '\0' || !isfinite(x))
            return FALSE;
        low = MIN(low, x);
        high = MAX(high, x);
    }
    *ret_log = low > 0 && high / low >= LOG_AXIS_RATIO;
    return TRUE;
}

static double
largest_mean(const SimTable *summary, guint metric_column, const char *metric)
{
    int mean = sim_table_find_column(summary, "mean");
    double largest = 0, value;

    for (guint row = 0; row < sim_table_n_rows(summary); row++)
        if (mean >= 0 && g_str_equal(sim_table_cell(summary, row, metric_column), metric) &&
            sim_table_cell_real(summary, row, (guint) mean, &value))
            largest = MAX(largest, fabs(value));
    return largest;
}

static const char *
layout_init(Layout *layout, const SimTable *summary, const SimChartSource *source, guint metric_column,
            const char *metric)
{
    sim_chart_rows_init(&layout->rows, source, summary);
    sim_chart_names_init(&layout->series);
    sim_chart_names_init(&layout->axis_values);
    layout->x_of_value = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint row = 0; row < sim_table_n_rows(summary); row++) {
        g_autofree char *label = sim_chart_rows_label(&layout->rows, row, FALSE);
        if (!g_str_equal(sim_table_cell(summary, row, metric_column), metric))
            continue;
        sim_chart_names_add(&layout->series, label);
        sim_chart_names_add(&layout->axis_values, sim_chart_rows_axis_value(&layout->rows, row));
    }
    layout->is_log = FALSE;
    layout->lines = axis_is_numeric(layout, &layout->is_log) && layout->axis_values.list->len >= MIN_VALUES_FOR_LINES;
    layout->is_log &= layout->lines;
    layout->slot = layout->series.list->len > 0 ? GROUP_WIDTH / layout->series.list->len : GROUP_WIDTH;
    for (guint i = 0; i < layout->axis_values.list->len; i++) {
        double x = layout->lines ? g_ascii_strtod(layout->axis_values.list->pdata[i], NULL) : (double) i;
        g_array_append_val(layout->x_of_value, x);
    }
    return !layout->lines ? "bars" : layout->is_log ? "log-lines" : "lines";
}

static double
layout_x(const Layout *layout, guint series, guint axis_value)
{
    double x = g_array_index(layout->x_of_value, double, axis_value);

    return layout->lines ? x : x + (series - (layout->series.list->len - 1) / 2.0) * layout->slot;
}

static gboolean
put_series(SimChartDrawing *drawing, const Layout *layout, guint series, guint metric_column, const char *metric,
           GArray *intervals, GError **error)
{
    const SimTable *summary = layout->rows.table;
    int mean = sim_chart_column(summary, "mean", error);
    int half_width = mean >= 0 ? sim_chart_column(summary, "half_width", error) : -1;

    if (half_width < 0)
        return FALSE;
    sim_chart_put_label(drawing, layout->series.list->pdata[series], '\t');
    g_string_append(drawing->data, "label\tmean\n");
    for (guint row = 0; row < sim_table_n_rows(summary); row++) {
        g_autofree char *label = sim_chart_rows_label(&layout->rows, row, FALSE);
        const char *axis_value = sim_chart_rows_axis_value(&layout->rows, row);
        double m, h, x;
        guint value;

        if (!g_str_equal(sim_table_cell(summary, row, metric_column), metric) ||
            !g_str_equal(label, layout->series.list->pdata[series]) ||
            !sim_chart_names_find(&layout->axis_values, axis_value, &value))
            continue;
        if (!sim_chart_number(summary, row, (guint) mean, &m, error) ||
            !sim_chart_number(summary, row, (guint) half_width, &h, error))
            return FALSE;
        x = layout_x(layout, series, value);
        sim_chart_put_real(drawing, x, '\t');
        sim_chart_put_label(drawing, axis_value, '\t');
        sim_chart_put_real(drawing, m / layout->divisor, '\n');
        if (isfinite(m) && isfinite(h))
            g_array_append_vals(intervals, (const double[]){x, m, m - h, m + h}, 4);
    }
    sim_chart_end_block(drawing);
    return TRUE;
}

/* A mean of one replication has no interval, and gnuplot complains of a block without any point. */
static gboolean
put_intervals(SimChartDrawing *drawing, const Layout *layout, const GArray *intervals)
{
    if (intervals->len == 0)
        return FALSE;
    g_string_append(drawing->data, "x\tmean\tlow\thigh\n");
    for (guint i = 0; i < intervals->len; i++)
        sim_chart_put_real(drawing, g_array_index(intervals, double, i) / (i % 4 == 0 ? 1 : layout->divisor),
                           i % 4 == 3 ? '\n' : '\t');
    sim_chart_end_block(drawing);
    return TRUE;
}

/* Published figures of the metric at points that were simulated, at the place of their series. */
static gboolean
put_published(SimChartDrawing *drawing, SimChartSource *source, const Layout *layout, const char *metric,
              GError **error)
{
    const SimTable *comparison = sim_chart_source_table(source, "comparison", error);
    SimChartRows rows;
    gsize before = drawing->data->len;
    gboolean any = FALSE;
    int c_metric, c_unit, c_value;

    if (comparison == NULL || (c_metric = sim_chart_column(comparison, "metric", error)) < 0 ||
        (c_unit = sim_chart_column(comparison, "unit", error)) < 0 ||
        (c_value = sim_chart_column(comparison, "published", error)) < 0)
        return FALSE;
    sim_chart_rows_init(&rows, source, comparison);
    rows.shows_start = layout->rows.shows_start;
    g_string_append(drawing->data, "published\tvalue\n");
    for (guint row = 0; row < sim_table_n_rows(comparison); row++) {
        g_autofree char *label = sim_chart_rows_label(&rows, row, FALSE);
        guint series, axis_value;
        double value;

        if (!g_str_equal(sim_table_cell(comparison, row, (guint) c_metric), metric) ||
            g_str_has_prefix(sim_table_cell(comparison, row, (guint) c_unit), "x ") ||
            !sim_table_cell_real(comparison, row, (guint) c_value, &value) ||
            !sim_chart_names_find(&layout->series, label, &series) ||
            !sim_chart_names_find(&layout->axis_values, sim_chart_rows_axis_value(&rows, row), &axis_value))
            continue;
        sim_chart_put_real(drawing, layout_x(layout, series, axis_value), '\t');
        sim_chart_put_real(drawing, value / layout->divisor, '\n');
        any = TRUE;
    }
    if (any)
        sim_chart_end_block(drawing);
    else
        g_string_truncate(drawing->data, before);
    return any;
}

/* What the bars are means of; without an interval none is claimed. Caller frees. */
static char *
describe_runs(const Layout *layout, guint metric_column, const char *metric, gboolean has_intervals)
{
    const SimTable *summary = layout->rows.table;
    int n = sim_table_find_column(summary, "n");
    double least = INFINITY, most = 0, value;

    for (guint row = 0; row < sim_table_n_rows(summary); row++) {
        if (n < 0 || !g_str_equal(sim_table_cell(summary, row, metric_column), metric) ||
            !sim_table_cell_real(summary, row, (guint) n, &value))
            continue;
        least = MIN(least, value);
        most = MAX(most, value);
    }
    if (most <= 1)
        return g_strdup("one replication, hence no confidence interval");
    return least < most
               ? g_strdup_printf("%g to %g replications%s", least, most,
                                 has_intervals ? ", with confidence intervals" : "")
               : g_strdup_printf("%g replications%s", most, has_intervals ? ", with confidence intervals" : "");
}

static double
place_on_page(const Layout *layout, guint axis_value)
{
    double x = g_array_index(layout->x_of_value, double, axis_value);

    return layout->is_log ? log(x) : x;
}

/* Labels only where there is room, so that they do not run into each other. */
static void
put_axis(SimChartDrawing *drawing, const SimChartSource *source, const Layout *layout)
{
    guint n = layout->axis_values.list->len;
    double room = n > 0 ? fabs(place_on_page(layout, n - 1) - place_on_page(layout, 0)) / MAX_TICS : 0;
    double last = -INFINITY;

    g_string_append(drawing->data, "x\tlabel\n");
    for (guint i = 0; i < n; i++) {
        if (fabs(place_on_page(layout, i) - last) < room)
            continue;
        last = place_on_page(layout, i);
        sim_chart_put_real(drawing, g_array_index(layout->x_of_value, double, i), '\t');
        /* Without an axis the tic still needs a label, or gnuplot numbers the bars' places. */
        sim_chart_put_text(drawing, *source->axis != '\0' ? layout->axis_values.list->pdata[i] : "all", '\n');
    }
    sim_chart_end_block(drawing);
}

static void
fail_no_metric(const SimTable *summary, guint metric_column, const char *metric, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *hint = NULL;

    for (guint row = 0; row < sim_table_n_rows(summary); row++)
        sim_columns_add(names, sim_table_cell(summary, row, metric_column));
    g_ptr_array_add(names, NULL);
    hint = sim_hint_phrase(metric, (const char *const *) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "no run recorded a metric '%s'%s (summary.tsv lists them)",
                metric, hint);
}

gboolean
sim_chart_prepare_throughput(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const SimTable *summary = sim_chart_source_table(source, "summary", error);
    int column = summary != NULL ? sim_chart_column(summary, "metric", error) : -1;
    Layout layout;
    const char *metric, *style;
    g_autofree char *y_label = NULL, *note = NULL;
    GError *inner = NULL;
    g_autoptr(GArray) intervals = g_array_new(FALSE, FALSE, sizeof(double));
    gboolean has_intervals, has_published;

    if (column < 0 || sim_table_n_rows(summary) == 0)
        return FALSE;
    metric = spec->metric != NULL ? spec->metric : sim_table_cell(summary, 0, (guint) column);
    y_label = sim_chart_scale(metric, largest_mean(summary, (guint) column, metric), &layout.divisor);
    style = layout_init(&layout, summary, source, (guint) column, metric);
    if (layout.rows.grid != NULL && layout.series.list->len > MAX_SERIES_OF_STUDY && !spec->is_asked_for) {
        layout_clear(&layout);
        return FALSE;
    }
    if (layout.series.list->len == 0)
        fail_no_metric(summary, (guint) column, metric, &inner);
    put_axis(drawing, source, &layout);
    for (guint s = 0; s < layout.series.list->len && inner == NULL; s++)
        put_series(drawing, &layout, s, (guint) column, metric, intervals, &inner);
    has_intervals = put_intervals(drawing, &layout, intervals);
    has_published = inner == NULL && put_published(drawing, source, &layout, metric, &inner);
    note = describe_runs(&layout, (guint) column, metric, has_intervals);
    sim_chart_add_arg(drawing, "%s", note);
    sim_chart_add_arg(drawing, "%s", source->axis);
    sim_chart_add_arg(drawing, "%s", y_label);
    sim_chart_add_arg(drawing, "%s", style);
    /* One argument: gnuplot takes no more than nine. */
    sim_chart_add_arg(drawing, "%u %d %d", layout.series.list->len, has_intervals, has_published);
    layout_clear(&layout);
    if (inner != NULL) {
        g_propagate_error(error, inner);
        return FALSE;
    }
    return TRUE;
}
