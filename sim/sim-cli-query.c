/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-contrast.h"
#include "sim-hint.h"
#include "sim-query.h"
#include "sim-summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TOP 10

/* "text" or "tsv"; TRUE for tsv in *ret_is_tsv. */
static gboolean
parse_form(const char *word, gboolean *ret_is_tsv, GError **error)
{
    *ret_is_tsv = g_strcmp0(word, "tsv") == 0;
    if (word == NULL || *ret_is_tsv || g_str_equal(word, "text"))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown format '%s' (allowed: text, tsv)", word);
    return FALSE;
}

static void
print_tsv(const SimTable *table)
{
    GString *text = sim_table_to_tsv(table);

    fwrite(text->str, 1, text->len, stdout);
    g_string_free(text, TRUE);
}

/* ---- query */

static gboolean
is_half_width(const char *column)
{
    return column != NULL && g_str_has_suffix(column, "half_width");
}

static void
put_rounded(SimTable *table, const SimTable *from, guint row, guint column, gboolean has_interval)
{
    double value, half_width = NAN;

    /* Counts stay as they are. */
    if (!sim_table_cell_real(from, row, column, &value) || g_str_equal(sim_table_columns(from)[column], "n")) {
        sim_table_put_text(table, sim_table_cell(from, row, column));
        return;
    }
    if (has_interval)
        sim_table_cell_real(from, row, column + 1, &half_width);
    g_autofree char *text = sim_format_interval(value, half_width);
    sim_table_put_text(table, text);
}

/* Rounded, each figure with its interval in one column; the first n_identity columns as they are. */
static void
print_text(const SimTable *from, guint n_identity)
{
    const char *const *columns = sim_table_columns(from);
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    g_autoptr(SimTable) table = NULL;

    for (guint c = 0; columns[c] != NULL; c++)
        if (!is_half_width(columns[c]))
            g_ptr_array_add(kept, (gpointer) columns[c]);
    g_ptr_array_add(kept, NULL);
    table = sim_table_new(sim_table_name(from), (const char *const *) kept->pdata);
    for (guint row = 0; row < sim_table_n_rows(from); row++) {
        for (guint c = 0; columns[c] != NULL; c++) {
            if (c < n_identity)
                sim_table_put_text(table, sim_table_cell(from, row, c));
            else if (!is_half_width(columns[c]))
                put_rounded(table, from, row, c, is_half_width(columns[c + 1]));
        }
    }
    g_autofree char *text = sim_table_to_text(table);
    fputs(text, stdout);
}

typedef struct {
    char *metric, *cost, *axis, *format;
    int n_top;
    gboolean is_lowest_best;
} QueryOptions;

static void
query_options_clear(QueryOptions *options)
{
    g_free(options->metric);
    g_free(options->cost);
    g_free(options->axis);
    g_free(options->format);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QueryOptions, query_options_clear)

static SimTable *
need(const char *question, const char *option, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "query %s: needs %s", question, option);
    return NULL;
}

static SimTable *
ask(SimSource *source, const char *question, const QueryOptions *options, GError **error)
{
    static const char *const questions[] = {"best", "pareto", "curve", NULL};

    if (g_str_equal(question, "best"))
        return sim_query_best(source, options->metric, options->is_lowest_best, (guint) MAX(options->n_top, 1), error);
    if (g_str_equal(question, "pareto"))
        return options->cost != NULL ? sim_query_pareto(source, options->metric, options->cost, error)
                                     : need(question, "--cost METRIC", error);
    if (g_str_equal(question, "curve"))
        return options->axis != NULL ? sim_query_curve(source, options->metric, options->axis, error)
                                     : need(question, "--axis GROUP.KEY", error);
    g_autofree char *hint = sim_hint_phrase(question, questions);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown question '%s'%s (allowed: best, pareto, curve)",
                question, hint);
    return NULL;
}

int
sim_cli_query(const SimCli *cli, int argc, char **argv)
{
    g_auto(QueryOptions) options = {.n_top = DEFAULT_TOP};
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimSource) source = NULL;
    g_autoptr(SimTable) table = NULL;
    gboolean is_tsv;
    const GOptionEntry entries[] = {
        {"metric", 0, 0, G_OPTION_ARG_STRING, &options.metric, "The metric asked about (default: the first)", "NAME"},
        {"lowest", 0, 0, G_OPTION_ARG_NONE, &options.is_lowest_best, "best: the lowest is the best", NULL},
        {"top", 0, 0, G_OPTION_ARG_INT, &options.n_top, "best: so many rows (default: " G_STRINGIFY(DEFAULT_TOP) ")",
         "N"},
        {"cost", 0, 0, G_OPTION_ARG_STRING, &options.cost, "pareto: what the metric is paid with", "NAME"},
        {"axis", 0, 0, G_OPTION_ARG_STRING, &options.axis, "curve: the axis", "GROUP.KEY"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &options.format, "text (the default) or tsv with all figures", "WORD"},
        {NULL}};

    if (!sim_cli_parse(
            cli, argv, entries, "STUDY|DIR best|pareto|curve",
            "The best points; those that no other beats in both a metric and its cost, with the gain per MiB;\n"
            "or a metric along an axis.",
            2, 2, &words, &error) ||
        !parse_form(options.format, &is_tsv, &error))
        return sim_cli_fail(cli, error);
    source = sim_source_open(words[0], &error);
    table = source != NULL ? ask(source, words[1], &options, &error) : NULL;
    if (table == NULL)
        return sim_cli_fail(cli, error);
    if (is_tsv)
        print_tsv(table);
    else
        print_text(table, 2 + sim_source_n_axes(source));
    return 0;
}

/* ---- compare */

static void
print_contrasts(const GPtrArray *contrasts, SimControl control, double confidence, guint n_unmatched)
{
    g_autofree char *text = sim_contrast_text(contrasts);
    g_autofree char *level = confidence > 0 ? g_strdup_printf("%g %%", 100 * confidence) : g_strdup("run.confidence");
    static const char *const controls[] = {"Holm", "Benjamini-Hochberg", "no"};

    printf("%s\n%u comparison%s at %s, %s control; the interval is each comparison's own, p is adjusted for all;\n"
           "detectable is the smallest difference that would have been seen 4 times in 5.\n",
           text, contrasts->len, contrasts->len == 1 ? "" : "s", level, controls[control]);
    if (n_unmatched > 0)
        printf("%u points and starts have no partner on the other side.\n", n_unmatched);
}

typedef struct {
    char **metrics, **up, **down;
    char *control, *format;
    double confidence;
} CompareOptions;

static void
compare_options_clear(CompareOptions *options)
{
    g_strfreev(options->metrics);
    g_strfreev(options->up);
    g_strfreev(options->down);
    g_free(options->control);
    g_free(options->format);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CompareOptions, compare_options_clear)

static gboolean
check_compare(const CompareOptions *options, SimControl *ret_control, gboolean *ret_is_tsv, GError **error)
{
    *ret_control = SIM_CONTROL_HOLM;
    if (options->control != NULL && !sim_control_parse(options->control, ret_control, error))
        return FALSE;
    if (options->confidence != 0 && !(options->confidence >= 0.5 && options->confidence <= 0.9999)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "compare: --confidence %g: must lie between 0.5 and 0.9999",
                    options->confidence);
        return FALSE;
    }
    return parse_form(options->format, ret_is_tsv, error);
}

int
sim_cli_compare(const SimCli *cli, int argc, char **argv)
{
    g_auto(CompareOptions) options = {NULL};
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) contrasts = NULL;
    SimControl control;
    gboolean is_tsv;
    guint n_unmatched;
    const GOptionEntry entries[] = {
        {"metric", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.metrics,
         "A metric to compare, or all; may be repeated (default: the first)", "NAME"},
        {"higher-is-better", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.up, "For a metric whose name does not tell",
         "NAME"},
        {"lower-is-better", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.down, "For a metric whose name does not tell",
         "NAME"},
        {"control", 0, 0, G_OPTION_ARG_STRING, &options.control,
         "Against false verdicts among many: holm (the default), bh, none", "WORD"},
        {"confidence", 0, 0, G_OPTION_ARG_DOUBLE, &options.confidence, "Level (default: run.confidence)", "FRACTION"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &options.format, "text (the default) or tsv with all figures", "WORD"},
        {NULL}};

    if (!sim_cli_parse(
            cli, argv, entries, "A[#WHICH] B[#WHICH]",
            "Differences of B against A, each a study or a result folder; WHICH is a variant or the number of\n"
            "a point. Replications of equal number and seed are paired.",
            2, 2, &words, &error) ||
        !check_compare(&options, &control, &is_tsv, &error))
        return sim_cli_fail(cli, error);
    const SimContrastOptions contrast = {.metrics = (const char *const *) options.metrics,
                                         .up = (const char *const *) options.up,
                                         .down = (const char *const *) options.down,
                                         .confidence = options.confidence,
                                         .control = control};
    contrasts = sim_contrast(words[0], words[1], &contrast, &n_unmatched, &error);
    if (contrasts == NULL)
        return sim_cli_fail(cli, error);
    if (is_tsv) {
        g_autoptr(SimTable) table = sim_contrast_table(contrasts);
        print_tsv(table);
    } else {
        print_contrasts(contrasts, control, options.confidence, n_unmatched);
    }
    return 0;
}
