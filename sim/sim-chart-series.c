/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Panels over simulated time, one a point: areas of memory, lengths of partial lists. Shown is the first replication
 * of the first start; a mean over replications would smooth away what such a chart is looked at for. */
#include "sim-chart-private.h"
#include "sim-quantity.h"

#include <math.h>
#include <string.h>

#define MAX_PANELS 6
#define MAX_LINES 8 /* more nodes than this are shown as their highest, mean and lowest length */

typedef struct {
    SimChartRows rows;
    guint time, replication;
    SimChartNames panels; /* labels; the first n_panels are drawn */
    guint n_panels;
    GArray *columns; /* guint: the columns that are drawn */
    double divisor;  /* from the columns' unit to the one drawn */
    double highest;  /* of all that is drawn, in the unit drawn, for a scale that the panels share */
    char *note;      /* what is shown, under the title */
    const SimChartSource *source;
} Series;

static void
series_clear(Series *series)
{
    sim_chart_names_clear(&series->panels);
    g_array_unref(series->columns);
    g_free(series->note);
}

static gboolean
row_is_shown(const Series *series, guint row)
{
    const SimTable *table = series->rows.table;

    return g_str_equal(sim_table_cell(table, row, series->replication),
                       sim_table_cell(table, 0, series->replication)) &&
           (series->rows.start < 0 || g_str_equal(sim_table_cell(table, row, (guint) series->rows.start),
                                                  sim_table_cell(table, 0, (guint) series->rows.start)));
}

/* Every point when there is room for all, else those of the last axis value, else the first ones of these. */
static void
choose_panels(Series *series, const SimChartSource *source)
{
    const SimTable *table = series->rows.table;
    guint last = sim_table_n_rows(table) - 1, n_all = 0;
    g_autofree char *last_value = g_strdup(sim_chart_rows_axis_value(&series->rows, last));
    gboolean only_last = FALSE;

    for (guint pass = 0; pass < 2; pass++) {
        sim_chart_names_clear(&series->panels);
        sim_chart_names_init(&series->panels);
        for (guint row = 0; row <= last; row++) {
            g_autofree char *label = sim_chart_rows_label(&series->rows, row, TRUE);
            if (row_is_shown(series, row) &&
                (!only_last || g_str_equal(sim_chart_rows_axis_value(&series->rows, row), last_value)))
                sim_chart_names_add(&series->panels, label);
        }
        if (pass == 0)
            n_all = series->panels.list->len;
        if (series->panels.list->len <= MAX_PANELS || series->rows.axis < 0)
            break;
        only_last = TRUE;
    }
    series->n_panels = MIN(series->panels.list->len, MAX_PANELS);
    series->note = g_strdup_printf(
        "replication %s%s%s; %u of %u points%s%s%s%s", sim_table_cell(table, 0, series->replication),
        series->rows.start >= 0 ? ", start " : "",
        series->rows.start >= 0 ? sim_table_cell(table, 0, (guint) series->rows.start) : "", series->n_panels, n_all,
        only_last ? ", at " : "", only_last ? source->axis : "", only_last ? " = " : "", only_last ? last_value : "");
}

static gboolean
series_init(Series *series, SimChartSource *source, GError **error)
{
    const SimTable *table = sim_chart_source_table(source, "series", error);
    int time, replication;

    if (table == NULL || sim_table_n_rows(table) == 0 || (time = sim_chart_column(table, "time_ms", error)) < 0 ||
        (replication = sim_chart_column(table, "replication", error)) < 0)
        return FALSE;
    sim_chart_rows_init(&series->rows, source, table);
    series->source = source;
    series->rows.shows_start = FALSE;
    series->time = (guint) time;
    series->replication = (guint) replication;

    series->columns = g_array_new(FALSE, FALSE, sizeof(guint));
    choose_panels(series, source);
    return TRUE;
}

static void
add_columns(Series *series, gboolean (*wanted)(const char *name))
{
    for (guint c = 0; c < sim_table_n_columns(series->rows.table); c++)
        if (wanted(sim_table_columns(series->rows.table)[c]))
            g_array_append_val(series->columns, c);
}

/* Calls `put_row` for the rows of each panel and closes its block. */
static gboolean
put_panels(SimChartDrawing *drawing, Series *series, const char *header,
           gboolean (*put_row)(SimChartDrawing *, Series *, guint row, GError **), GError **error)
{
    const SimTable *table = series->rows.table;

    for (guint p = 0; p < series->n_panels; p++) {
        sim_chart_put_text(drawing, series->panels.list->pdata[p], '\t');
        g_string_append_printf(drawing->data, "%s\n", header);
        for (guint row = 0; row < sim_table_n_rows(table); row++) {
            g_autofree char *label = sim_chart_rows_label(&series->rows, row, TRUE);
            double time;

            if (!row_is_shown(series, row) || !g_str_equal(label, series->panels.list->pdata[p]))
                continue;
            if (!sim_chart_number(table, row, series->time, &time, error))
                return FALSE;
            sim_chart_put_real(drawing, time, '\t');
            if (!put_row(drawing, series, row, error))
                return FALSE;
        }
        sim_chart_end_block(drawing);
    }
    return TRUE;
}

/* Whether a row of an export belongs to a point of the study it was exported from. */
static gboolean
row_is_of_point(const SimTable *table, guint row, const SimStudy *study, guint point)
{
    const SimStudyPoint *facts = sim_study_point(study, point);
    int column = sim_table_find_column(table, "variant");

    if (column < 0 || !g_str_equal(sim_table_cell(table, row, (guint) column), facts->variant))
        return FALSE;
    for (guint axis = 0; axis < sim_study_n_axes(study); axis++) {
        column = sim_table_find_column(table, sim_study_axis_key(study, axis));
        if (column < 0 || !g_str_equal(sim_table_cell(table, row, (guint) column), facts->values[axis]))
            return FALSE;
    }
    return TRUE;
}

/* NaN when the point is not found or cannot be read. */
static double
warmup_of_study_ms(SimStudy *study, const SimTable *table, guint row)
{
    for (guint point = 0; point < sim_study_n_points(study); point++) {
        g_autofree char *text =
            row_is_of_point(table, row, study, point) ? sim_study_configuration(study, point, NULL) : NULL;
        g_autoptr(GKeyFile) configuration = g_key_file_new();
        g_autofree char *warmup =
            text != NULL && g_key_file_load_from_data(configuration, text, (gsize) -1, G_KEY_FILE_NONE, NULL)
                ? g_key_file_get_value(configuration, "run", "warmup", NULL)
                : NULL;
        SimTime end_ps;
        if (warmup != NULL && sim_parse_time(warmup, &end_ps, NULL))
            return sim_time_to_seconds(end_ps) * 1e3;
    }
    return NAN;
}

/* End of the warm-up of a row's point, by a manifest's [point N]; NaN when there is none. */
static double
warmup_of_folder_ms(const Series *series, guint row)
{
    GKeyFile *manifest = series->source->plots;
    g_auto(GStrv) groups = g_key_file_get_groups(manifest, NULL);
    const char *variant =
        series->rows.variant >= 0 ? sim_table_cell(series->rows.table, row, (guint) series->rows.variant) : "";

    for (char **group = groups; *group != NULL; group++) {
        g_autofree char *of_variant = g_key_file_get_string(manifest, *group, "variant", NULL);
        g_autofree char *at = g_key_file_get_string(manifest, *group, "axis_value", NULL);
        g_autofree char *text = g_key_file_get_string(manifest, *group, "warmup_ms", NULL);
        if (g_strcmp0(of_variant, variant) == 0 && text != NULL &&
            g_strcmp0(at, sim_chart_rows_axis_value(&series->rows, row)) == 0)
            return g_ascii_strtod(text, NULL);
    }
    return NAN;
}

/* A last block: the panels' names, each with the end of its warm-up. */
static void
put_warmups(SimChartDrawing *drawing, Series *series)
{
    gboolean any = FALSE;

    g_string_append(drawing->data, "panel\twarmup_ms\n");
    for (guint p = 0; p < series->n_panels; p++) {
        double end_ms = NAN;
        for (guint row = 0; row < sim_table_n_rows(series->rows.table); row++) {
            g_autofree char *label = sim_chart_rows_label(&series->rows, row, TRUE);
            if (!g_str_equal(label, series->panels.list->pdata[p]))
                continue;
            end_ms = series->source->study != NULL ? warmup_of_study_ms(series->source->study, series->rows.table, row)
                                                   : warmup_of_folder_ms(series, row);
            break;
        }
        any |= end_ms > 0;
        sim_chart_put_text(drawing, series->panels.list->pdata[p], '\t');
        sim_chart_put_real(drawing, end_ms, '\n');
    }
    sim_chart_end_block(drawing);
    if (any) {
        char *note = g_strconcat(series->note, "; measured from the vertical line on", NULL);
        g_free(series->note);
        series->note = note;
    }
}

static void
add_args(SimChartDrawing *drawing, Series *series, guint n_lines, const char *y_label)
{
    char y_max[G_ASCII_DTOSTR_BUF_SIZE];

    put_warmups(drawing, series);
    sim_chart_add_arg(drawing, "%s", series->note);
    sim_chart_add_arg(drawing, "%u", series->n_panels);
    sim_chart_add_arg(drawing, "%u", n_lines);
    sim_chart_add_arg(drawing, "%s", sim_format_real(y_max, series->highest > 0 ? series->highest * 1.05 : 1.0));
    sim_chart_add_arg(drawing, "%s", y_label);
}

/* "cpu_partial_free_bytes" -> "cpu_partial_free", which memory.tsv calls it as well. */
static void
append_column_title(GString *header, const char *column, const char *unit)
{
    g_string_append_printf(header, "%s%.*s", header->len > 0 ? "\t" : "", (int) (strlen(column) - strlen(unit)),
                           column);
}

/* Parts that together are the whole; totals would count them twice. */
static gboolean
is_memory_column(const char *name)
{
    return g_str_has_suffix(name, "_bytes") && !g_str_has_prefix(name, "total_");
}

/* The largest sum of the columns in any row, shown or not. */
static double
highest_sum(const Series *series)
{
    double highest = 0;

    for (guint row = 0; row < sim_table_n_rows(series->rows.table); row++) {
        double sum = 0, value;
        for (guint i = 0; i < series->columns->len; i++)
            if (sim_table_cell_real(series->rows.table, row, g_array_index(series->columns, guint, i), &value))
                sum += value;
        highest = MAX(highest, sum);
    }
    return highest;
}

/* Heights of the upper edges: each part stands on the ones before. */
static gboolean
put_memory_row(SimChartDrawing *drawing, Series *series, guint row, GError **error)
{
    double edge = 0;

    for (guint i = 0; i < series->columns->len; i++) {
        double value;
        if (!sim_chart_number(series->rows.table, row, g_array_index(series->columns, guint, i), &value, error))
            return FALSE;
        edge += isnan(value) ? 0 : value / series->divisor;
        sim_chart_put_real(drawing, edge, i + 1 < series->columns->len ? '\t' : '\n');
    }
    series->highest = MAX(series->highest, edge);
    return TRUE;
}

gboolean
sim_chart_prepare_memory(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    Series series = {0};
    g_autofree char *y_label = NULL;
    GString *header;
    gboolean ok;

    if (!series_init(&series, source, error))
        return FALSE;
    add_columns(&series, is_memory_column);
    y_label = sim_chart_scale("memory_bytes", highest_sum(&series), &series.divisor);
    header = g_string_new(NULL);
    for (guint i = 0; i < series.columns->len; i++)
        append_column_title(header, sim_table_columns(series.rows.table)[g_array_index(series.columns, guint, i)],
                            "_bytes");
    ok = series.columns->len > 0 && put_panels(drawing, &series, header->str, put_memory_row, error);
    if (ok)
        add_args(drawing, &series, series.columns->len, y_label);
    g_string_free(header, TRUE);
    series_clear(&series);
    return ok;
}

static gboolean
is_partial_column(const char *name)
{
    return g_str_has_prefix(name, "node") && g_str_has_suffix(name, "_partial_slabs");
}

static gboolean
put_partial_row(SimChartDrawing *drawing, Series *series, guint row, GError **error)
{
    double low = INFINITY, high = -INFINITY, sum = 0;
    guint n = 0, n_columns = series->columns->len;

    for (guint i = 0; i < n_columns; i++) {
        double value;
        if (!sim_chart_number(series->rows.table, row, g_array_index(series->columns, guint, i), &value, error))
            return FALSE;
        if (n_columns <= MAX_LINES)
            sim_chart_put_real(drawing, value, i + 1 < n_columns ? '\t' : '\n');
        if (isnan(value))
            continue;
        low = MIN(low, value);
        high = MAX(high, value);
        sum += value;
        n++;
    }
    series->highest = MAX(series->highest, high);
    if (n_columns > MAX_LINES) {
        sim_chart_put_real(drawing, n > 0 ? high : NAN, '\t');
        sim_chart_put_real(drawing, n > 0 ? sum / n : NAN, '\t');
        sim_chart_put_real(drawing, n > 0 ? low : NAN, '\n');
    }
    return TRUE;
}

gboolean
sim_chart_prepare_partial(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    Series series = {0};
    GString *header;
    gboolean ok, many;

    if (!series_init(&series, source, error))
        return FALSE;
    add_columns(&series, is_partial_column);
    many = series.columns->len > MAX_LINES;
    header = g_string_new(many ? "longest of all nodes\tmean of all nodes\tshortest of all nodes" : "");
    for (guint i = 0; i < series.columns->len && !many; i++)
        append_column_title(header, sim_table_columns(series.rows.table)[g_array_index(series.columns, guint, i)],
                            "_partial_slabs");
    ok = series.columns->len > 0 && put_panels(drawing, &series, header->str, put_partial_row, error);
    if (ok)
        add_args(drawing, &series, many ? 3 : series.columns->len, "slabs");
    g_string_free(header, TRUE);
    series_clear(&series);
    return ok;
}
