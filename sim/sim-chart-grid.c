/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of a grid of choices and places by their means: lines along the x axis, scaling, gain against cost. */
#include "sim-chart-private.h"

#include <math.h>
#include <stdlib.h>

#define MAX_PANELS 6
#define MAX_LINES 8
#define MAX_POINTS 24
#define LOG_AXIS_RATIO 16.0
#define SCALING_METRIC "throughput_ops_per_s"

GArray *
sim_chart_pick_choices(const SimGrid *grid, guint n_most)
{
    GArray *choices;
    guint base = 0;

    if (grid->choices->len > n_most) {
        choices = sim_grid_headline(grid, n_most - 1);
        g_array_prepend_val(choices, base);
        return choices;
    }
    choices = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint c = 0; c < grid->choices->len; c++)
        g_array_append_val(choices, c);
    return choices;
}

char *
sim_chart_grid_note(const SimGrid *grid, guint n_choices, guint n_places, gboolean are_default)
{
    GString *note = g_string_new(NULL);
    const char *rest = sim_grid_place(grid, 0)->rest;

    g_string_append_printf(note, "%u of %u settings, %u of %u places", n_choices, grid->choices->len, n_places,
                           grid->places->len);
    if (*rest != '\0' && are_default && n_places < grid->places->len)
        g_string_append_printf(note, "; %s", rest);
    return g_string_free(note, FALSE);
}

/* ---- lines, scaling */

typedef struct {
    double x, mean, half_width;
} Sample;

typedef struct {
    SimChartNames panels;
    GArray *choices;   /* guint */
    GPtrArray *series; /* GArray of Sample, [panel][choice] */
    double largest;
} Curves;

static void
curves_clear(Curves *curves)
{
    sim_chart_names_clear(&curves->panels);
    g_clear_pointer(&curves->choices, g_array_unref);
    g_clear_pointer(&curves->series, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Curves, curves_clear)

static GArray *
curves_series(const Curves *curves, guint panel, guint i)
{
    return curves->series->pdata[panel * curves->choices->len + i];
}

static gboolean
curves_read(Curves *curves, const SimGrid *grid, const char *metric, GError **error)
{
    sim_chart_names_init(&curves->panels);
    curves->choices = sim_chart_pick_choices(grid, MAX_LINES);
    for (guint p = 0; p < grid->places->len && curves->panels.list->len < MAX_PANELS; p++)
        sim_chart_names_add(&curves->panels, sim_grid_place(grid, p)->rest);
    curves->series = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
    for (guint i = 0; i < curves->panels.list->len * curves->choices->len; i++)
        g_ptr_array_add(curves->series, g_array_new(FALSE, FALSE, sizeof(Sample)));
    for (guint p = 0; p < grid->places->len; p++) {
        const SimGridPlace *place = sim_grid_place(grid, p);
        guint panel;
        if (isnan(place->x) || !sim_chart_names_find(&curves->panels, place->rest, &panel))
            continue;
        for (guint i = 0; i < curves->choices->len; i++) {
            Sample sample = {.x = place->x};
            if (!sim_grid_mean(grid, p, g_array_index(curves->choices, guint, i), metric, &sample.mean,
                               &sample.half_width, error))
                return FALSE;
            if (isfinite(sample.mean))
                g_array_append_val(curves_series(curves, panel, i), sample);
            if (isfinite(sample.mean))
                curves->largest = MAX(curves->largest, fabs(sample.mean));
        }
    }
    return TRUE;
}

/* A curve needs two places, and gnuplot complains of a block without any. */
static gboolean
curves_are_whole(const Curves *curves)
{
    for (guint i = 0; i < curves->series->len; i++)
        if (((GArray *) curves->series->pdata[i])->len < 2)
            return FALSE;
    return curves->series->len > 0;
}

static void
curves_divide(Curves *curves, double divisor)
{
    for (guint i = 0; i < curves->series->len; i++) {
        GArray *series = curves->series->pdata[i];
        for (guint s = 0; s < series->len; s++) {
            g_array_index(series, Sample, s).mean /= divisor;
            g_array_index(series, Sample, s).half_width /= divisor;
        }
    }
}

/* Every panel in units of its base at its first place. */
static gboolean
curves_relate(Curves *curves)
{
    for (guint panel = 0; panel < curves->panels.list->len; panel++) {
        double unit = g_array_index(curves_series(curves, panel, 0), Sample, 0).mean;
        if (!(unit > 0))
            return FALSE;
        for (guint i = 0; i < curves->choices->len; i++) {
            GArray *series = curves_series(curves, panel, i);
            for (guint s = 0; s < series->len; s++) {
                g_array_index(series, Sample, s).mean /= unit;
                g_array_index(series, Sample, s).half_width /= unit;
            }
        }
    }
    return TRUE;
}

/* The axis (x, label), then for each panel and choice a block (x, mean, low, high). */
static void
curves_put(SimChartDrawing *drawing, const Curves *curves, const SimGrid *grid)
{
    const GArray *axis = curves_series(curves, 0, 0);

    g_string_append(drawing->data, "x\tlabel\n");
    for (guint s = 0; s < axis->len; s++) {
        g_autofree char *label = g_strdup_printf("%g", g_array_index(axis, Sample, s).x);
        sim_chart_put_real(drawing, g_array_index(axis, Sample, s).x, '\t');
        sim_chart_put_text(drawing, label, '\n');
    }
    sim_chart_end_block(drawing);
    for (guint i = 0; i < curves->series->len; i++) {
        const GArray *series = curves->series->pdata[i];
        guint choice = g_array_index(curves->choices, guint, i % curves->choices->len);
        g_autofree char *name = sim_grid_short_label(grid, choice);
        sim_chart_put_label(drawing, name, '\t');
        g_string_append(drawing->data, "mean\tlow\thigh\n");
        for (guint s = 0; s < series->len; s++) {
            const Sample *sample = &g_array_index(series, Sample, s);
            double half = isfinite(sample->half_width) ? sample->half_width : 0;
            sim_chart_put_real(drawing, sample->x, '\t');
            sim_chart_put_real(drawing, sample->mean, '\t');
            sim_chart_put_real(drawing, sample->mean - half, '\t');
            sim_chart_put_real(drawing, sample->mean + half, '\n');
        }
        sim_chart_end_block(drawing);
    }
    /* Panels are named by blocks of their own: the first word of a block names a line. */
    for (guint panel = 0; panel < curves->panels.list->len; panel++) {
        const char *name = curves->panels.list->pdata[panel];
        /* gnuplot skips an empty line. */
        sim_chart_put_label(drawing, *name != '\0' ? name : "\u00a0", '\n');
        g_string_append(drawing->data, "0\n");
        sim_chart_end_block(drawing);
    }
}

static gboolean
prepare_curves(SimChartSource *source, const SimChartSpec *spec, gboolean is_scaling, const char *metric,
               SimChartDrawing *drawing, GError **error)
{
    const SimGrid *grid = sim_chart_source_grid(source, error);
    g_auto(Curves) curves = {.largest = 0};
    g_autofree char *y_label = NULL, *note = NULL;
    const GArray *axis;
    double divisor, low, high;

    if (metric == NULL)
        metric = grid->gain;
    if (!curves_read(&curves, grid, metric, error) || !curves_are_whole(&curves))
        return FALSE;
    axis = curves_series(&curves, 0, 0);
    low = g_array_index(axis, Sample, 0).x;
    high = g_array_index(axis, Sample, axis->len - 1).x;
    if (is_scaling && (!curves_relate(&curves) || !(low > 0 && high > low)))
        return FALSE;
    if (is_scaling) {
        y_label = g_strdup_printf("times the base at %g %s", low, grid->x_label);
    } else {
        y_label = sim_chart_scale(metric, curves.largest, &divisor);
        curves_divide(&curves, divisor);
    }
    curves_put(drawing, &curves, grid);
    note = g_strdup_printf("%s; %u of %u settings, t intervals", metric, curves.choices->len, grid->choices->len);
    sim_chart_add_arg(drawing, "%s", note);
    sim_chart_add_arg(drawing, "%s", grid->x_label);
    sim_chart_add_arg(drawing, "%s", y_label);
    sim_chart_add_arg(drawing, "%u", curves.panels.list->len);
    sim_chart_add_arg(drawing, "%u", curves.choices->len);
    sim_chart_add_arg(drawing, "%d", is_scaling || (low > 0 && high / low >= LOG_AXIS_RATIO));
    return TRUE;
}

gboolean
sim_chart_prepare_lines(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    return sim_chart_source_grid(source, error) != NULL &&
           prepare_curves(source, spec, FALSE, spec->metric, drawing, error);
}

gboolean
sim_chart_prepare_scaling(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const SimGrid *grid = sim_chart_source_grid(source, error);

    if (grid == NULL)
        return FALSE;
    if (spec->metric == NULL && sim_source_find_metric(grid->source, SCALING_METRIC, NULL) < 0)
        return FALSE;
    return prepare_curves(source, spec, TRUE, spec->metric != NULL ? spec->metric : SCALING_METRIC, drawing, error);
}

/* ---- pareto */

typedef struct {
    double cost, gain, cost_half, gain_half;
    guint number;
} Mark;

static int
compare_marks(gconstpointer a, gconstpointer b)
{
    const Mark *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->gain > y->gain ? -1 : x->gain < y->gain;
}

static GArray *
read_marks(const SimFindings *findings, guint place, const GArray *choices)
{
    GArray *marks = g_array_new(FALSE, FALSE, sizeof(Mark));

    for (guint i = 0; i < choices->len; i++) {
        guint choice = g_array_index(choices, guint, i);
        const SimFinding *gain = sim_findings_gain(findings, place, choice);
        const SimFinding *cost = sim_findings_cost(findings, place, choice);
        Mark mark = {cost->mean, gain->mean, cost->half_width, gain->half_width, i};
        if (gain->n > 0 && cost->n > 0 && isfinite(mark.cost) && isfinite(mark.gain))
            g_array_append_val(marks, mark);
    }
    return marks;
}

static void
put_mark(SimChartDrawing *drawing, const Mark *mark, double cost_unit, double gain_unit)
{
    double cost_half = isfinite(mark->cost_half) ? mark->cost_half : 0;
    double gain_half = isfinite(mark->gain_half) ? mark->gain_half : 0;
    const double values[] = {mark->cost, mark->cost - cost_half, mark->cost + cost_half,
                             mark->gain, mark->gain - gain_half, mark->gain + gain_half};

    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        sim_chart_put_real(drawing, values[i] / (i < 3 ? cost_unit : gain_unit), '\t');
    sim_chart_put_real(drawing, mark->number + 1, '\n');
}

/* A block with every mark, named by the place, and one with those that no other beats in both. */
static void
put_marks(SimChartDrawing *drawing, GArray *marks, const char *place, double cost_unit, double gain_unit, double up)
{
    double best = -INFINITY;

    sim_chart_put_label(drawing, place, '\t');
    g_string_append(drawing->data, "cost_low\tcost_high\tgain\tgain_low\tgain_high\tnumber\n");
    for (guint i = 0; i < marks->len; i++)
        put_mark(drawing, &g_array_index(marks, Mark, i), cost_unit, gain_unit);
    sim_chart_end_block(drawing);
    g_array_sort(marks, compare_marks);
    g_string_append(drawing->data, "front\tcost_low\tcost_high\tgain\tgain_low\tgain_high\tnumber\n");
    for (guint i = 0; i < marks->len; i++) {
        const Mark *mark = &g_array_index(marks, Mark, i);
        if (mark->gain * up <= best)
            continue;
        best = mark->gain * up;
        put_mark(drawing, mark, cost_unit, gain_unit);
    }
    sim_chart_end_block(drawing);
}

static double
largest_mean(const GArray *findings)
{
    double largest = 0;

    for (guint i = 0; i < findings->len; i++)
        if (g_array_index(findings, SimFinding, i).n > 0)
            largest = fmax(largest, fabs(g_array_index(findings, SimFinding, i).mean));
    return largest;
}

gboolean
sim_chart_prepare_pareto(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const SimFindings *findings = sim_chart_source_findings(source, error);
    g_autoptr(GArray) choices = NULL, places = NULL;
    g_autofree char *x_label = NULL, *y_label = NULL, *note = NULL;
    double cost_unit, gain_unit, up;
    guint n_panels = 0;

    if (findings == NULL || findings->cost == NULL || findings->grid->choices->len < 2)
        return FALSE;
    choices = sim_chart_pick_choices(findings->grid, MAX_POINTS);
    places = sim_grid_default_places(findings->grid, MAX_PANELS);
    x_label = sim_chart_scale(findings->grid->cost, largest_mean(findings->cost), &cost_unit);
    y_label = sim_chart_scale(findings->grid->gain, largest_mean(findings->gain), &gain_unit);
    up = sim_direction_of(findings->grid->gain) == SIM_DIRECTION_DOWN ? -1 : 1;
    for (guint i = 0; i < places->len; i++) {
        guint place = g_array_index(places, guint, i);
        g_autoptr(GArray) marks = read_marks(findings, place, choices);
        if (marks->len == 0)
            continue;
        n_panels++;
        put_marks(drawing, marks, sim_grid_place(findings->grid, place)->label, cost_unit, gain_unit, up);
    }
    if (n_panels == 0)
        return FALSE;
    for (guint i = 0; i < choices->len; i++) {
        g_autofree char *name = sim_grid_short_label(findings->grid, g_array_index(choices, guint, i));
        g_autofree char *label = g_strdup_printf("%u %s", i + 1, name);
        sim_chart_put_label(drawing, label, '\n');
        g_string_append(drawing->data, "0\n");
        sim_chart_end_block(drawing);
    }
    note = sim_chart_grid_note(findings->grid, choices->len, n_panels, TRUE);
    sim_chart_add_arg(drawing, "%s; the line joins those that no other beats in both", note);
    sim_chart_add_arg(drawing, "%s", x_label);
    sim_chart_add_arg(drawing, "%s", y_label);
    sim_chart_add_arg(drawing, "%u", n_panels);
    sim_chart_add_arg(drawing, "%u", choices->len);
    return TRUE;
}
