/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-contrast.h"

#include "sim-hint.h"
#include "sim-source.h"
#include "sim-summary.h"

#include <math.h>
#include <string.h>

/* One side. */
typedef struct {
    SimSource *source;
    char *variant; /* NULL for all */
    int point;     /* -1 for all */
} Side;

static void
side_clear(Side *side)
{
    sim_source_free(side->source);
    g_free(side->variant);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Side, side_clear)

static gboolean
has_variant(const SimSource *source, const char *name)
{
    for (guint i = 0; i < sim_source_n_cells(source); i++)
        if (g_str_equal(sim_source_cell(source, i).variant, name))
            return TRUE;
    return FALSE;
}

static gboolean
fail_which(const Side *side, const char *which, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    guint n_cells = sim_source_n_cells(side->source);
    guint n_points = n_cells > 0 ? sim_source_cell(side->source, n_cells - 1).point + 1 : 0;

    for (guint i = 0; i < n_cells; i++)
        sim_columns_add(names, sim_source_cell(side->source, i).variant);
    g_ptr_array_add(names, NULL);
    g_autofree char *allowed = g_strjoinv(", ", (char **) names->pdata);
    g_autofree char *hint = sim_hint_phrase(which, (const char *const *) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "%s: no variant or point '%s'%s (allowed: %s, or 1 to %u)",
                sim_source_path(side->source), which, hint, allowed, n_points);
    return FALSE;
}

static gboolean
open_side(Side *side, const char *word, GError **error)
{
    const char *sign = g_file_test(word, G_FILE_TEST_EXISTS) ? NULL : strrchr(word, '#');
    g_autofree char *path = sign != NULL ? g_strndup(word, (gsize) (sign - word)) : g_strdup(word);
    guint n_cells;
    guint64 point;

    side->point = -1;
    side->source = sim_source_open(path, error);
    if (side->source == NULL || sign == NULL)
        return side->source != NULL;
    n_cells = sim_source_n_cells(side->source);
    if (has_variant(side->source, sign + 1))
        side->variant = g_strdup(sign + 1);
    else if (n_cells > 0 && g_ascii_string_to_unsigned(
                                sign + 1, 10, 1, sim_source_cell(side->source, n_cells - 1).point + 1, &point, NULL))
        side->point = (int) point - 1;
    else
        return fail_which(side, sign + 1, error);
    return TRUE;
}

static gboolean
is_chosen(const Side *side, const SimSourceCell *cell)
{
    return (side->variant == NULL || g_str_equal(side->variant, cell->variant)) &&
           (side->point < 0 || (guint) side->point == cell->point);
}

/* Cells match when their texts are equal: start, and of variant and values what is not chosen on both sides. */
static char *
match_text(const Side *side, const Side *other, const SimSourceCell *cell)
{
    GString *text = g_string_new(cell->start);
    gboolean has_choice = side->variant != NULL || side->point >= 0,
             other_has = other->variant != NULL || other->point >= 0;

    if (!(has_choice && other_has))
        g_string_append_printf(text, "\n%s", cell->variant);
    for (guint axis = 0; cell->values[axis] != NULL && !(side->point >= 0 && other->point >= 0); axis++)
        g_string_append_printf(text, "\n%s", cell->values[axis]);
    return g_string_free(text, FALSE);
}

static gboolean
check_axes(const Side *a, const Side *b, GError **error)
{
    guint n = sim_source_n_axes(a->source);
    gboolean is_same = n == sim_source_n_axes(b->source);

    for (guint axis = 0; is_same && axis < n; axis++)
        is_same = g_str_equal(sim_source_axis_key(a->source, axis), sim_source_axis_key(b->source, axis));
    if (is_same || (a->point >= 0 && b->point >= 0))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                "%s and %s do not have the same axes: compare single points of them "
                "(%s#N)",
                sim_source_path(a->source), sim_source_path(b->source), sim_source_path(a->source));
    return FALSE;
}

static void
contrast_free(gpointer data)
{
    SimContrast *contrast = data;
    g_free(contrast->label);
    g_free(contrast->start);
    g_free(contrast->metric);
    g_free(contrast->note);
    g_free(contrast);
}

/* The axis values where the sides share them, else both labels. */
static char *
label_pair(const Side *a, guint cell_a, const Side *b, guint cell_b)
{
    SimSourceCell of_a = sim_source_cell(a->source, cell_a), of_b = sim_source_cell(b->source, cell_b);
    g_autofree char *label_a = sim_source_label(a->source, cell_a), *label_b = sim_source_label(b->source, cell_b);
    GString *values = g_string_new(NULL);

    if (g_str_equal(label_a, label_b) ||
        !g_strv_equal((const char *const *) of_a.values, (const char *const *) of_b.values)) {
        g_string_append(values, label_a);
        if (!g_str_equal(label_a, label_b))
            g_string_append_printf(values, " -> %s", label_b);
        return g_string_free(values, FALSE);
    }
    g_string_append_printf(values, "%s -> %s", of_a.variant, of_b.variant);
    for (guint axis = 0; of_a.values[axis] != NULL; axis++)
        g_string_append_printf(values, ", %s = %s", sim_source_axis_key(a->source, axis), of_a.values[axis]);
    return g_string_free(values, FALSE);
}

static void
note_branches(GString *note, const char *side, const SimBranches *branches)
{
    g_autofree char *low = sim_format_interval(branches->mean_low, NAN);
    g_autofree char *high = sim_format_interval(branches->mean_high, NAN);

    if (branches->is_split)
        g_string_append_printf(note, "%s%s has two branches: %s (%u of %u) and %s (%u)", note->len > 0 ? "; " : "",
                               side, low, branches->n_low, branches->n_low + branches->n_high, high, branches->n_high);
}

static SimContrast *
contrast_new(const SimCellRuns *a, guint metric_a, const SimCellRuns *b, guint metric_b, double confidence)
{
    g_autoptr(GArray) all_a = sim_cell_runs_values(a, metric_a), all_b = sim_cell_runs_values(b, metric_b);
    g_autoptr(GArray) of_a = NULL, of_b = NULL;
    SimContrast *contrast = g_new0(SimContrast, 1);
    g_autoptr(GString) note = g_string_new(NULL);
    gboolean is_paired;

    sim_source_pair(a, metric_a, b, metric_b, &of_a, &of_b, &is_paired);
    contrast->difference =
        is_paired
            ? sim_difference_paired((double *) of_a->data, (double *) of_b->data, of_a->len, confidence)
            : sim_difference_welch((double *) of_a->data, of_a->len, (double *) of_b->data, of_b->len, confidence);
    contrast->branches_a = sim_branches_find((double *) all_a->data, all_a->len);
    contrast->branches_b = sim_branches_find((double *) all_b->data, all_b->len);
    note_branches(note, "A", &contrast->branches_a);
    note_branches(note, "B", &contrast->branches_b);
    if (note->len > 0)
        contrast->difference.verdict = SIM_VERDICT_METASTABLE;
    if (!is_paired)
        g_string_append_printf(note, "%snot paired: seeds differ", note->len > 0 ? "; " : "");
    else if (of_a->len < MAX(all_a->len, all_b->len))
        g_string_append_printf(note, "%s%u of %u runs paired", note->len > 0 ? "; " : "", of_a->len,
                               MAX(all_a->len, all_b->len));
    contrast->note = g_strdup(note->str);
    return contrast;
}

/* Names of the metrics to compare; NULL-terminated, caller unrefs. */
static GPtrArray *
choose_metrics(const Side *a, const Side *b, const SimContrastOptions *options, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *const *of_a = sim_source_metrics(a->source);

    if (of_a[0] == NULL) {
        sim_source_find_metric(a->source, "", error);
        return NULL;
    }
    if (options->metrics == NULL)
        g_ptr_array_add(names, g_strdup(of_a[0]));
    for (guint i = 0; options->metrics != NULL && options->metrics[i] != NULL; i++) {
        if (!g_str_equal(options->metrics[i], "all")) {
            sim_columns_add(names, options->metrics[i]);
            continue;
        }
        for (const char *const *name = of_a; *name != NULL; name++)
            if (g_strv_contains(sim_source_metrics(b->source), *name))
                sim_columns_add(names, *name);
    }
    for (guint i = 0; i < names->len; i++)
        if (sim_source_find_metric(a->source, names->pdata[i], error) < 0 ||
            sim_source_find_metric(b->source, names->pdata[i], error) < 0)
            return NULL;
    g_ptr_array_add(names, NULL);
    return g_steal_pointer(&names);
}

static SimDirection
direction_of(const SimContrastOptions *options, const char *metric)
{
    if (options->up != NULL && g_strv_contains(options->up, metric))
        return SIM_DIRECTION_UP;
    if (options->down != NULL && g_strv_contains(options->down, metric))
        return SIM_DIRECTION_DOWN;
    return sim_direction_of(metric);
}

static gboolean
add_contrasts(GPtrArray *contrasts, const Side *a, guint cell_a, const Side *b, guint cell_b, const GPtrArray *metrics,
              double confidence, GError **error)
{
    g_autoptr(SimCellRuns) runs_a = sim_source_read(a->source, cell_a, error);
    g_autoptr(SimCellRuns) runs_b = runs_a != NULL ? sim_source_read(b->source, cell_b, error) : NULL;

    if (runs_b == NULL)
        return FALSE;
    for (guint m = 0; metrics->pdata[m] != NULL; m++) {
        int metric_a = sim_source_find_metric(a->source, metrics->pdata[m], NULL);
        int metric_b = sim_source_find_metric(b->source, metrics->pdata[m], NULL);
        SimContrast *contrast = contrast_new(runs_a, (guint) metric_a, runs_b, (guint) metric_b, confidence);
        contrast->label = label_pair(a, cell_a, b, cell_b);
        contrast->start = g_strdup(sim_source_cell(a->source, cell_a).start);
        contrast->metric = g_strdup(metrics->pdata[m]);
        g_ptr_array_add(contrasts, contrast);
    }
    return TRUE;
}

/* Where the starts of one pair of points answer differently, neither answer is the whole one. The comparisons of a pair
 * stand together. */
static void
note_starts(GPtrArray *contrasts)
{
    for (guint i = 0; i < contrasts->len; i++) {
        SimContrast *mine = contrasts->pdata[i];
        guint first = i, end = i;
        while (first > 0 && g_str_equal(((SimContrast *) contrasts->pdata[first - 1])->label, mine->label))
            first--;
        while (end < contrasts->len && g_str_equal(((SimContrast *) contrasts->pdata[end])->label, mine->label))
            end++;
        for (guint j = first; j < end; j++) {
            const SimContrast *other = contrasts->pdata[j];
            if (!g_str_equal(mine->metric, other->metric) || mine->difference.verdict == other->difference.verdict)
                continue;
            char *note = g_strdup_printf("%s%sstart %s says %s", mine->note, *mine->note != '\0' ? "; " : "",
                                         other->start, sim_verdict_word(other->difference.verdict));
            g_free(mine->note);
            mine->note = note;
        }
    }
}

static void
judge(GPtrArray *contrasts, const SimContrastOptions *options, double confidence)
{
    g_autofree SimDifference **family = g_new(SimDifference *, contrasts->len);
    g_autofree SimDirection *directions = g_new(SimDirection, contrasts->len);

    for (guint i = 0; i < contrasts->len; i++) {
        SimContrast *contrast = contrasts->pdata[i];
        family[i] = &contrast->difference;
        directions[i] = direction_of(options, contrast->metric);
    }
    sim_difference_judge(family, directions, contrasts->len, confidence, options->control);
}

/* Chosen cells of a side by the text that they are matched with. */
static GHashTable *
index_cells(const Side *side, const Side *other, guint *ret_n)
{
    GHashTable *cells = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < sim_source_n_cells(side->source); i++) {
        SimSourceCell cell = sim_source_cell(side->source, i);
        if (is_chosen(side, &cell))
            g_hash_table_insert(cells, match_text(side, other, &cell), GUINT_TO_POINTER(i));
    }
    *ret_n = g_hash_table_size(cells);
    return cells;
}

GPtrArray *
sim_contrast(const char *a_word, const char *b_word, const SimContrastOptions *options, guint *ret_n_unmatched,
             GError **error)
{
    g_auto(Side) a = {NULL}, b = {NULL};
    g_autoptr(GPtrArray) metrics = NULL, contrasts = g_ptr_array_new_with_free_func(contrast_free);
    g_autoptr(GHashTable) of_b = NULL;
    guint n_a = 0, n_b, n_matched = 0;
    double confidence = options->confidence;

    if (!open_side(&a, a_word, error) || !open_side(&b, b_word, error) || !check_axes(&a, &b, error))
        return NULL;
    metrics = choose_metrics(&a, &b, options, error);
    if (metrics == NULL)
        return NULL;
    of_b = index_cells(&b, &a, &n_b);
    for (guint i = 0; i < sim_source_n_cells(a.source); i++) {
        SimSourceCell cell = sim_source_cell(a.source, i);
        g_autofree char *text = match_text(&a, &b, &cell);
        gpointer partner;
        if (!is_chosen(&a, &cell))
            continue;
        n_a++;
        if (confidence == 0)
            confidence = cell.confidence;
        if (!g_hash_table_lookup_extended(of_b, text, NULL, &partner))
            continue;
        n_matched++;
        if (!add_contrasts(contrasts, &a, i, &b, GPOINTER_TO_UINT(partner), metrics, confidence, error))
            return NULL;
    }
    if (n_matched == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s and %s have no point in common", a_word, b_word);
        return NULL;
    }
    judge(contrasts, options, confidence);
    note_starts(contrasts);
    *ret_n_unmatched = n_a + n_b - 2 * n_matched;
    return g_steal_pointer(&contrasts);
}

SimTable *
sim_contrast_table(const GPtrArray *contrasts)
{
    static const char *const columns[] = {"points",     "start",      "metric",  "n_a",        "n_b",
                                          "is_paired",  "mean_a",     "mean_b",  "difference", "half_width",
                                          "p_adjusted", "detectable", "verdict", "note",       NULL};
    SimTable *table = sim_table_new("differences", columns);

    for (guint i = 0; i < contrasts->len; i++) {
        const SimContrast *contrast = contrasts->pdata[i];
        const SimDifference *d = &contrast->difference;
        sim_table_put_text(table, contrast->label);
        sim_table_put_text(table, contrast->start);
        sim_table_put_text(table, contrast->metric);
        sim_table_put_int(table, d->n_a);
        sim_table_put_int(table, d->n_b);
        sim_table_put_text(table, d->is_paired ? "true" : "false");
        const gboolean has_mean = d->verdict != SIM_VERDICT_METASTABLE;
        const double figures[] = {d->mean_a, d->mean_b, d->difference, d->half_width, d->p_adjusted, d->detectable};
        for (guint f = 0; f < G_N_ELEMENTS(figures); f++)
            sim_table_put_real(table, has_mean ? figures[f] : NAN);
        sim_table_put_text(table, sim_verdict_word(d->verdict));
        sim_table_put_text(table, contrast->note);
    }
    return table;
}

/* "+1.2k ± 0.3k (+3.1 % ± 0.8 %)": a share of A's mean never stands without its interval. */
static char *
format_difference(const SimDifference *d)
{
    g_autofree char *interval = sim_format_interval(d->difference, d->half_width);
    double scale = 100 / fabs(d->mean_a);

    if (!isfinite(scale) || isnan(d->half_width))
        return g_steal_pointer(&interval);
    g_autofree char *share = sim_format_interval(d->difference * scale, d->half_width * scale);
    return g_strdup_printf("%s (%s %%)", interval, share);
}

char *
sim_contrast_text(const GPtrArray *contrasts)
{
    static const char *const columns[] = {"points", "start", "metric",     "n",       "A",    "B",
                                          "B - A",  "p",     "detectable", "verdict", "note", NULL};
    g_autoptr(SimTable) table = sim_table_new("differences", columns);

    for (guint i = 0; i < contrasts->len; i++) {
        const SimContrast *contrast = contrasts->pdata[i];
        const SimDifference *d = &contrast->difference;
        const gboolean has_mean = d->verdict != SIM_VERDICT_METASTABLE;
        g_autofree char *mean_a = sim_format_interval(d->mean_a, NAN), *mean_b = sim_format_interval(d->mean_b, NAN);
        g_autofree char *difference = format_difference(d), *least = sim_format_interval(d->detectable, NAN);
        g_autofree char *p = isnan(d->p_adjusted) ? g_strdup("-") : g_strdup_printf("%.2g", d->p_adjusted);
        sim_table_put_text(table, contrast->label);
        sim_table_put_text(table, contrast->start);
        sim_table_put_text(table, contrast->metric);
        sim_table_put_int(table, MIN(d->n_a, d->n_b));
        sim_table_put_text(table, has_mean ? mean_a : "-");
        sim_table_put_text(table, has_mean ? mean_b : "-");
        sim_table_put_text(table, has_mean ? difference : "-");
        sim_table_put_text(table, has_mean ? p : "-");
        sim_table_put_text(table, has_mean && !isnan(d->detectable) ? least : "-");
        sim_table_put_text(table, sim_verdict_word(d->verdict));
        sim_table_put_text(table, contrast->note);
    }
    return sim_table_to_text(table);
}
