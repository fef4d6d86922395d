/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Complementary distribution of waiting times: for each bucket bound the share of acquisitions that waited longer.
 * At the bounds of a histogram these shares are exact, so nothing is interpolated. All locks, nodes and replications
 * of a variant are pooled, unless the chart's metric names one lock; of an axis, the last value is shown, and of a
 * study the settings of the headline at its last default place. */
#include "sim-chart-private.h"

#include <math.h>

#define MAX_CURVES 8

typedef struct {
    double upper_ns, count;
} Bucket;

typedef struct {
    SimChartRows rows;
    guint lock, upper, count;
    const char *wanted_lock, *axis_value;
    GArray *choices, *places; /* of a study */
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
row_is_shown(const Waits *waits, guint row)
{
    gboolean is_of_point = waits->places != NULL
                               ? sim_chart_rows_is_picked(&waits->rows, row, waits->choices, waits->places)
                               : g_str_equal(sim_chart_rows_axis_value(&waits->rows, row), waits->axis_value);

    return is_of_point && (waits->wanted_lock == NULL ||
                           g_str_equal(sim_table_cell(waits->rows.table, row, waits->lock), waits->wanted_lock));
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
waits_init(Waits *waits, SimChartSource *source, const SimChartSpec *spec, GError **error)
{
    const SimTable *table = sim_chart_source_table(source, "waits", error);
    int lock, upper, count;

    if (table == NULL || sim_table_n_rows(table) == 0 || (lock = sim_chart_column(table, "lock", error)) < 0 ||
        (upper = sim_chart_column(table, "upper_ns", error)) < 0 ||
        (count = sim_chart_column(table, "count", error)) < 0)
        return FALSE;
    sim_chart_rows_init(&waits->rows, source, table);
    waits->lock = (guint) lock;
    waits->upper = (guint) upper;
    waits->count = (guint) count;
    waits->wanted_lock = spec->metric;
    waits->axis_value = sim_chart_rows_axis_value(&waits->rows, sim_table_n_rows(table) - 1);
    if (waits->rows.grid != NULL) {
        waits->choices = sim_chart_pick_choices(waits->rows.grid, MAX_CURVES);
        waits->places = sim_grid_default_places(waits->rows.grid, G_MAXUINT);
        g_array_remove_range(waits->places, 0, waits->places->len - 1);
    }
    return TRUE;
}

gboolean
sim_chart_prepare_waits(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    g_auto(SimChartNames) curves = {0};
    g_auto(Waits) waits = {0};
    guint n_drawn = 0;

    if (!waits_init(&waits, source, spec, error))
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
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "no run recorded a lock '%s'", spec->metric);
        return FALSE;
    }
    for (guint c = 0; c < curves.list->len && n_drawn < MAX_CURVES; c++) {
        g_autoptr(GArray) buckets = gather(&waits, curves.list->pdata[c], error);
        if (buckets == NULL)
            return FALSE;
        n_drawn += put_curve(drawing, curves.list->pdata[c], buckets);
    }
    if (waits.places != NULL)
        sim_chart_add_arg(drawing, "%s, at %s", spec->metric != NULL ? spec->metric : "all locks",
                          sim_grid_place(waits.rows.grid, g_array_index(waits.places, guint, 0))->label);
    else if (waits.rows.axis >= 0)
        sim_chart_add_arg(drawing, "%s, at %s = %s", spec->metric != NULL ? spec->metric : "all locks", source->axis,
                          waits.axis_value);
    else
        sim_chart_add_arg(drawing, "%s", spec->metric != NULL ? spec->metric : "all locks");
    sim_chart_add_arg(drawing, "%u", n_drawn);
    return n_drawn > 0;
}
