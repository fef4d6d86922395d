/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of paired differences from the base, in percent of its mean at the same place. */
#include "sim-chart-private.h"

#include <math.h>

#define MAX_PLACES 6
#define MAX_CHOICES 12
#define MIN_EDGE_PERCENT 2.0

/* Percent with a sign, but no sign on what is 0 when it is rounded. Caller frees. */
static char *
signed_percent(double value)
{
    return fabs(value) < 0.05 ? g_strdup("0.0") : g_strdup_printf("%+.1f", value);
}

/* Findings of the metric that a chart asks for: the gain unless it names the cost. */
static const GArray *
findings_of(const SimFindings *findings, const SimChartSpec *spec, const char **ret_metric, GError **error)
{
    const SimGrid *grid = findings->grid;

    if (spec->metric == NULL || g_str_equal(spec->metric, grid->gain)) {
        *ret_metric = grid->gain;
        return findings->gain;
    }
    *ret_metric = grid->cost;
    if (grid->cost != NULL && g_str_equal(spec->metric, grid->cost))
        return findings->cost;
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "'%s' is neither the gain (%s) nor the cost (%s)",
                spec->metric, grid->gain, grid->cost != NULL ? grid->cost : "none");
    return NULL;
}

static const SimFinding *
finding_at(const GArray *findings, const SimGrid *grid, guint place, guint choice)
{
    return &g_array_index(findings, SimFinding, place * grid->choices->len + choice);
}

/* TRUE with the share and its half-width when there is one to draw. */
static gboolean
share_of(const SimFinding *finding, double *ret_share, double *ret_half)
{
    if (!finding->is_there || finding->difference.verdict == SIM_VERDICT_METASTABLE)
        return FALSE;
    sim_finding_share(finding, ret_share, ret_half);
    return isfinite(*ret_share) && isfinite(*ret_half);
}

static gboolean
is_seen(const SimFinding *finding)
{
    return finding->difference.verdict != SIM_VERDICT_NONE && finding->difference.verdict != SIM_VERDICT_TOO_FEW;
}

/* ---- difference: a row a setting and place, one below the other */

typedef struct {
    const SimGrid *grid;
    const GArray *findings;
    GString *labels, *marks[2]; /* not seen, seen */
    double edge;                /* beyond which an interval is cut */
    guint n_rows, n_cut;
} Forest;

static void
forest_add(Forest *forest, guint place, guint choice)
{
    const SimFinding *finding = finding_at(forest->findings, forest->grid, place, choice);
    SimChartDrawing labels = {.data = forest->labels}, marks = {.data = forest->marks[is_seen(finding)]};
    double share, half;
    gboolean is_drawn = share_of(finding, &share, &half);
    const char *words = finding->difference.verdict == SIM_VERDICT_METASTABLE ? " (metastable)"
                        : is_drawn                                            ? ""
                                                                              : " (no figure)";
    g_autofree char *name = sim_grid_short_label(forest->grid, choice), *label = g_strconcat(name, words, NULL);

    forest->n_rows++;
    sim_chart_put_real(&labels, -(double) forest->n_rows, '\t');
    sim_chart_put_label(&labels, label, '\n');
    if (!is_drawn)
        return;
    forest->n_cut += share - half < -forest->edge || share + half > forest->edge;
    sim_chart_put_real(&marks, -(double) forest->n_rows, '\t');
    sim_chart_put_real(&marks, share, '\t');
    sim_chart_put_real(&marks, fmax(share - half, -forest->edge), '\t');
    sim_chart_put_real(&marks, fmin(share + half, forest->edge), '\n');
}

static void
forest_add_heading(Forest *forest, const char *text)
{
    SimChartDrawing labels = {.data = forest->labels};
    g_autofree char *heading = g_strdup_printf("%s:", text);

    forest->n_rows++;
    sim_chart_put_real(&labels, -(double) forest->n_rows, '\t');
    sim_chart_put_label(&labels, heading, '\n');
}

static void
forest_finish(Forest *forest, SimChartDrawing *drawing)
{
    static const char *const heads[] = {"no difference seen\tshare\tlow\thigh\n",
                                        "difference seen\tshare\tlow\thigh\n"};

    g_string_append_printf(drawing->data, "y\tlabel\n%s\n\n", forest->labels->str);
    for (guint i = 0; i < 2; i++)
        if (forest->marks[i]->len > 0)
            g_string_append_printf(drawing->data, "%s%s\n\n", heads[i], forest->marks[i]->str);
}

/* The widest share, and half as much again for the intervals: a set of few runs must not squeeze all others. */
static double
edge_of(const GArray *findings, const SimGrid *grid, const GArray *places, const GArray *choices)
{
    double edge = MIN_EDGE_PERCENT, share, half;

    for (guint p = 0; p < places->len; p++)
        for (guint c = 1; c < choices->len; c++)
            if (share_of(finding_at(findings, grid, g_array_index(places, guint, p), g_array_index(choices, guint, c)),
                         &share, &half))
                edge = fmax(edge, 1.5 * fabs(share));
    return edge;
}

gboolean
sim_chart_prepare_difference(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const SimFindings *findings = sim_chart_source_findings(source, error);
    g_autoptr(GArray) choices = NULL, places = NULL;
    g_autofree char *note = NULL;
    const char *metric;
    Forest forest = {0};

    if (findings == NULL || findings->grid->choices->len < 2)
        return FALSE;
    forest.grid = findings->grid;
    forest.findings = findings_of(findings, spec, &metric, error);
    if (forest.findings == NULL)
        return FALSE;
    choices = sim_chart_pick_choices(forest.grid, MAX_CHOICES);
    places = sim_grid_default_places(forest.grid, MAX_PLACES);
    forest.labels = g_string_new(NULL);
    forest.marks[0] = g_string_new(NULL);
    forest.marks[1] = g_string_new(NULL);
    forest.edge = edge_of(forest.findings, forest.grid, places, choices);
    for (guint p = 0; p < places->len; p++) {
        guint place = g_array_index(places, guint, p);
        forest_add_heading(&forest, sim_grid_place(forest.grid, place)->label);
        for (guint c = 1; c < choices->len; c++)
            forest_add(&forest, place, g_array_index(choices, guint, c));
    }
    forest_finish(&forest, drawing);
    note = sim_chart_grid_note(forest.grid, choices->len, places->len, TRUE);
    sim_chart_add_arg(drawing, "%s%s", note, forest.n_cut > 0 ? "; intervals are cut at the edge" : "");
    sim_chart_add_arg(drawing, "%s:\ndifference from the base, %% of its mean", metric);
    sim_chart_add_arg(drawing, "%u", forest.n_rows);
    sim_chart_add_arg(drawing, "%d", forest.marks[0]->len > 0);
    sim_chart_add_arg(drawing, "%d", forest.marks[1]->len > 0);
    sim_chart_add_arg(drawing, "%g", forest.edge);
    g_string_free(forest.labels, TRUE);
    forest.n_cut = forest.marks[0]->len + forest.marks[1]->len;
    g_string_free(forest.marks[0], TRUE);
    g_string_free(forest.marks[1], TRUE);
    return forest.n_cut > 0;
}

/* ---- waterfall: each change upon those before it */

enum { STEP_BASE, STEP_UP, STEP_DOWN, STEP_UNSURE, N_STEP_KINDS };

static GArray *
chain_of(const SimGrid *grid)
{
    GArray *chain = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint c = 0; c < grid->choices->len && chain->len < MAX_CHOICES; c++) {
        const SimGridChoice *choice = sim_grid_choice(grid, c);
        if (choice->is_chain && (grid->n_settings == 1 || choice->n_changes == chain->len))
            g_array_append_val(chain, c);
    }
    return chain;
}

static void
put_step(GString *into, double x, double from, double to, double half, const char *text)
{
    SimChartDrawing drawing = {.data = into};

    sim_chart_put_real(&drawing, x, '\t');
    sim_chart_put_real(&drawing, from, '\t');
    sim_chart_put_real(&drawing, to, '\t');
    sim_chart_put_real(&drawing, to - half, '\t');
    sim_chart_put_real(&drawing, to + half, '\t');
    sim_chart_put_text(&drawing, text, '\n');
}

/* One place; FALSE with an error, or without one when a step has no runs. */
static gboolean
put_chain(const SimGrid *grid, guint place, const GArray *chain, const char *metric, double x, GString **kinds,
          GError **error)
{
    SimDifference step = {0};
    gboolean is_there;
    double unit, level = 100;

    for (guint i = 1; i < chain->len; i++) {
        guint from = g_array_index(chain, guint, i - 1), to = g_array_index(chain, guint, i);
        if (!sim_grid_difference(grid, place, from, to, metric, &step, &is_there, error) || !is_there)
            return FALSE;
        if (i == 1) {
            unit = 100 / fabs(step.mean_a);
            put_step(kinds[STEP_BASE], x, 0, 100, 0, "");
        }
        if (!isfinite(unit) || isnan(step.half_width))
            return FALSE;
        gboolean is_unsure = fabs(step.difference) <= step.half_width;
        g_autofree char *text = signed_percent(step.difference * unit);
        put_step(kinds[is_unsure             ? STEP_UNSURE
                       : step.difference > 0 ? STEP_UP
                                             : STEP_DOWN],
                 x + i, level, level + step.difference * unit, step.half_width * unit, text);
        level += step.difference * unit;
    }
    return TRUE;
}

static void
put_chain_labels(SimChartDrawing *drawing, const SimGrid *grid, const GArray *places, const GArray *chain)
{
    double x = 0;

    g_string_append(drawing->data, "x\tlabel\n");
    for (guint p = 0; p < places->len; p++, x++) {
        for (guint i = 0; i < chain->len; i++, x++) {
            const SimGridChoice *choice = sim_grid_choice(grid, g_array_index(chain, guint, i));
            const char *place = sim_grid_place(grid, g_array_index(places, guint, p))->label;
            g_autofree char *label =
                i == 0 ? g_strdup_printf("%s: %s", place, choice->label) : g_strdup(choice->last_change);
            sim_chart_put_real(drawing, x, '\t');
            sim_chart_put_label(drawing, label, '\n');
        }
    }
    sim_chart_end_block(drawing);
}

gboolean
sim_chart_prepare_waterfall(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    static const char *const heads[] = {"base", "step up", "step down", "step within its interval"};
    const SimGrid *grid = sim_chart_source_grid(source, error);
    g_autoptr(GArray) places = grid != NULL ? sim_grid_default_places(grid, MAX_PLACES) : NULL;
    g_autoptr(GArray) chain = grid != NULL ? chain_of(grid) : NULL;
    g_autoptr(GString) which = g_string_new(NULL);
    GString *kinds[N_STEP_KINDS];
    gboolean ok = grid != NULL && chain->len >= 3;

    for (guint k = 0; k < N_STEP_KINDS; k++)
        kinds[k] = g_string_new(NULL);
    for (guint p = 0; ok && p < places->len; p++)
        ok = put_chain(grid, g_array_index(places, guint, p), chain, spec->metric != NULL ? spec->metric : grid->gain,
                       p * (chain->len + 1.0), kinds, error);
    if (ok)
        put_chain_labels(drawing, grid, places, chain);
    for (guint k = 0; k < N_STEP_KINDS; k++) {
        if (ok && kinds[k]->len > 0) {
            g_string_append_printf(drawing->data, "%s\tfrom\tto\tlow\thigh\ttext\n%s\n\n", heads[k], kinds[k]->str);
            g_string_append_printf(which, "%s%u", which->len > 0 ? " " : "", k + 1);
        }
        g_string_free(kinds[k], TRUE);
    }
    if (!ok)
        return FALSE;
    g_autofree char *note = sim_chart_grid_note(grid, chain->len, places->len, TRUE);
    sim_chart_add_arg(drawing, "%s; intervals are of the step", note);
    sim_chart_add_arg(drawing, "%s, %% of the base", spec->metric != NULL ? spec->metric : grid->gain);
    sim_chart_add_arg(drawing, "%s", which->str);
    sim_chart_add_arg(drawing, "%u", places->len * (chain->len + 1));
    return TRUE;
}

/* ---- heat map: settings by places */

gboolean
sim_chart_prepare_heat_map(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const SimFindings *findings = sim_chart_source_findings(source, error);
    const SimGrid *grid = findings != NULL ? findings->grid : NULL;
    const GArray *values;
    const char *metric;
    guint n_places, n_settings, n_filled = 0;
    gboolean places_are_rows; /* a page has more room downwards */
    double edge = MIN_EDGE_PERCENT, share, half;

    if (grid == NULL || grid->choices->len < 3 || grid->places->len < 2)
        return FALSE;
    values = findings_of(findings, spec, &metric, error);
    if (values == NULL)
        return FALSE;
    n_places = MIN(grid->places->len, 2 * MAX_CHOICES);
    n_settings = MIN(grid->choices->len - 1, 2 * MAX_CHOICES);
    places_are_rows = n_places > n_settings;
    g_string_append(drawing->data, "x\ty\tshare\ttext\tx_label\ty_label\n");
    for (guint p = 0; p < n_places; p++) {
        for (guint c = 1; c <= n_settings; c++) {
            const SimFinding *finding = finding_at(values, grid, p, c);
            gboolean has = share_of(finding, &share, &half);
            g_autofree char *number = signed_percent(share);
            g_autofree char *text = !has               ? g_strdup("-")
                                    : is_seen(finding) ? g_strdup_printf("%s ± %.1f", number, half)
                                                       : g_strdup_printf("(%s ± %.1f)", number, half);
            n_filled += has;
            edge = has ? fmax(edge, fabs(share)) : edge;
            sim_chart_put_real(drawing, places_are_rows ? c - 1 : p, '\t');
            sim_chart_put_real(drawing, places_are_rows ? -(double) p - 1 : -(double) c, '\t');
            sim_chart_put_real(drawing, has ? share : 0, '\t');
            sim_chart_put_text(drawing, text, '\t');
            g_autofree char *name = sim_grid_short_label(grid, c);
            const char *place = sim_grid_place(grid, p)->label;
            sim_chart_put_label(drawing, places_are_rows ? name : place, '\t');
            sim_chart_put_label(drawing, places_are_rows ? place : name, '\n');
        }
    }
    sim_chart_end_block(drawing);
    g_autofree char *note = sim_chart_grid_note(grid, n_settings + 1, n_places, FALSE);
    sim_chart_add_arg(drawing, "%s; %s; in parentheses: no difference seen", metric, note);
    sim_chart_add_arg(drawing, "%% of the base");
    sim_chart_add_arg(drawing, "%u", places_are_rows ? n_settings : n_places);
    sim_chart_add_arg(drawing, "%u", places_are_rows ? n_places : n_settings);
    sim_chart_add_arg(drawing, "%g", edge);
    return n_filled > 0;
}
