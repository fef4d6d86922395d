/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Complementary distributions of times, of waiting for locks and of the model's calls: for each bucket bound the share
 * that took longer. At the bounds of a histogram these shares are exact, so nothing is interpolated. What the chart's
 * metric names is shown (one lock; the CPUs and the operation, "all free"), and all replications of a variant are
 * pooled; of an axis, the last value is shown, and of a study the settings of the headline at its last default place.
 */
#include "sim-chart-private.h"

#include <math.h>

#define MAX_CURVES 8

typedef struct {
    double upper_ns, count;
} Bucket;

/* Where a kind of chart finds its times. */
typedef struct {
    const char *table;
    const char *subject[3]; /* columns whose cells, with blanks between them, name what the times are of; NULL ends */
    const char *all;        /* what is shown unless the chart names something */
    gboolean shows_all;     /* that is everything, and no subject */
} Times;

static const Times lock_waits = {"waits", {"lock"}, "all locks", TRUE};
static const Times call_times = {"latency_times", {"cpus", "operation"}, "all free", FALSE};

typedef struct {
    SimChartRows rows;
    guint upper, count;
    guint subject[3], n_subject;
    const char *wanted, *axis_value; /* wanted NULL: everything */
    GArray *choices, *places;        /* of a study */
} Waits;

static void
waits_clear(Waits *waits)
{
    g_clear_pointer(&waits->choices, g_array_unref);
    g_clear_pointer(&waits->places, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Waits, waits_clear)

static int
compare_buckets(gconstpointer a, gconstpointer b)
{
    const Bucket *x = a, *y = b;

    return (x->upper_ns > y->upper_ns) - (x->upper_ns < y->upper_ns);
}

static gboolean
subject_is(const Waits *waits, guint row, const char *wanted)
{
    GString *subject = g_string_new(NULL);
    gboolean is_equal;

    for (guint i = 0; i < waits->n_subject; i++)
        g_string_append_printf(subject, "%s%s", i > 0 ? " " : "",
                               sim_table_cell(waits->rows.table, row, waits->subject[i]));
    is_equal = g_str_equal(subject->str, wanted);
    g_string_free(subject, TRUE);
    return is_equal;
}

static gboolean
row_is_shown(const Waits *waits, guint row)
{
    gboolean is_of_point = waits->places != NULL
                               ? sim_chart_rows_is_picked(&waits->rows, row, waits->choices, waits->places)
                               : g_str_equal(sim_chart_rows_axis_value(&waits->rows, row), waits->axis_value);

    return is_of_point && (waits->wanted == NULL || subject_is(waits, row, waits->wanted));
}

/* The buckets of one curve in rising order of their bounds. */
static GArray *
gather(const Waits *waits, const char *curve, GError **error)
{
    g_autoptr(GArray) buckets = g_array_new(FALSE, FALSE, sizeof(Bucket));
    const SimTable *table = waits->rows.table;

    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        g_autofree char *label = sim_chart_rows_label(&waits->rows, row, FALSE);
        Bucket bucket;

        if (!row_is_shown(waits, row) || !g_str_equal(label, curve))
            continue;
        if (!sim_chart_number(table, row, waits->upper, &bucket.upper_ns, error) ||
            !sim_chart_number(table, row, waits->count, &bucket.count, error))
            return NULL;
        g_array_append_val(buckets, bucket);
    }
    g_array_sort(buckets, compare_buckets);
    return g_steal_pointer(&buckets);
}

/* FALSE when the curve has no point that a logarithmic chart can show. */
static gboolean
put_curve(SimChartDrawing *drawing, const char *name, const GArray *buckets)
{
    GString *rows = g_string_new(NULL);
    char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];
    double total = 0, above;
    gboolean any;

    for (guint i = 0; i < buckets->len; i++)
        total += g_array_index(buckets, Bucket, i).count;
    above = total;
    for (guint i = 0; i < buckets->len; i++) {
        const Bucket *bucket = &g_array_index(buckets, Bucket, i);
        above -= bucket->count;
        /* Equal bounds from several locks make one point. */
        if (i + 1 < buckets->len && bucket->upper_ns == g_array_index(buckets, Bucket, i + 1).upper_ns)
            continue;
        if (bucket->upper_ns > 0 && above > 0)
            g_string_append_printf(rows, "%s\t%s\n", sim_format_real(x, bucket->upper_ns / 1e9),
                                   sim_format_real(y, above / total));
    }
    any = rows->len > 0;
    if (any) {
        sim_chart_put_label(drawing, name, '\t');
        g_string_append_printf(drawing->data, "share_longer\n%s", rows->str);
        sim_chart_end_block(drawing);
    }
    g_string_free(rows, TRUE);
    return any;
}

static gboolean
waits_init(Waits *waits, const Times *times, SimChartSource *source, const SimChartSpec *spec, GError **error)
{
    const SimTable *table = sim_chart_source_table(source, times->table, error);
    int upper, count;

    if (table == NULL || sim_table_n_rows(table) == 0 || (upper = sim_chart_column(table, "upper_ns", error)) < 0 ||
        (count = sim_chart_column(table, "count", error)) < 0)
        return FALSE;
    for (; times->subject[waits->n_subject]; waits->n_subject++) {
        int column = sim_chart_column(table, times->subject[waits->n_subject], error);
        if (column < 0)
            return FALSE;
        waits->subject[waits->n_subject] = (guint) column;
    }
    sim_chart_rows_init(&waits->rows, source, table);
    waits->upper = (guint) upper;
    waits->count = (guint) count;
    waits->wanted = spec->metric != NULL || times->shows_all ? spec->metric : times->all;
    waits->axis_value = sim_chart_rows_axis_value(&waits->rows, sim_table_n_rows(table) - 1);
    if (waits->rows.grid != NULL) {
        waits->choices = sim_chart_pick_choices(waits->rows.grid, MAX_CURVES);
        waits->places = sim_grid_default_places(waits->rows.grid, G_MAXUINT);
        g_array_remove_range(waits->places, 0, waits->places->len - 1);
    }
    return TRUE;
}

static gboolean
prepare_times(const Times *times, SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing,
              GError **error)
{
    const char *shown = spec->metric != NULL ? spec->metric : times->all;
    g_auto(SimChartNames) curves = {0};
    g_auto(Waits) waits = {0};
    guint n_drawn = 0;

    if (!waits_init(&waits, times, source, spec, error))
        return FALSE;
    sim_chart_names_init(&curves);
    for (guint row = 0; row < sim_table_n_rows(waits.rows.table); row++) {
        g_autofree char *label = sim_chart_rows_label(&waits.rows, row, FALSE);
        if (row_is_shown(&waits, row))
            sim_chart_names_add(&curves, label);
    }
    if (curves.list->len == 0 && spec->metric == NULL)
        return FALSE;
    if (curves.list->len == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "no run recorded times of '%s'", spec->metric);
        return FALSE;
    }
    for (guint c = 0; c < curves.list->len && n_drawn < MAX_CURVES; c++) {
        g_autoptr(GArray) buckets = gather(&waits, curves.list->pdata[c], error);
        if (buckets == NULL)
            return FALSE;
        n_drawn += put_curve(drawing, curves.list->pdata[c], buckets);
    }
    if (waits.places != NULL)
        sim_chart_add_arg(drawing, "%s, at %s", shown,
                          sim_grid_place(waits.rows.grid, g_array_index(waits.places, guint, 0))->label);
    else if (waits.rows.axis >= 0)
        sim_chart_add_arg(drawing, "%s, at %s = %s", shown, source->axis, waits.axis_value);
    else
        sim_chart_add_arg(drawing, "%s", shown);
    sim_chart_add_arg(drawing, "%u", n_drawn);
    return n_drawn > 0;
}

gboolean
sim_chart_prepare_waits(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    return prepare_times(&lock_waits, source, spec, drawing, error);
}

gboolean
sim_chart_prepare_latency(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    return prepare_times(&call_times, source, spec, drawing, error);
}

/* The same shares, drawn the other way round. */
gboolean
sim_chart_prepare_percentiles(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing,
                              GError **error)
{
    return prepare_times(&call_times, source, spec, drawing, error);
}
