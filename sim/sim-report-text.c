/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a report, for the page and the mail alike. */
#include "sim-report-private.h"

#include "sim-summary.h"

#include <math.h>
#include <string.h>

#define BYTES_PER_MIB 1048576.0
#define MAX_CHOICES 12

GArray *
sim_report_choices(const SimReportPart *part)
{
    return sim_grid_headline(part->grid, MAX_CHOICES);
}

char *
sim_report_count(const SimReportPart *part, guint choice)
{
    guint n[SIM_VERDICT_METASTABLE + 1] = {0}, n_all = 0;
    GString *text = g_string_new(NULL);

    for (guint p = 0; p < part->grid->places->len; p++) {
        const SimFinding *finding = sim_findings_gain(part->findings, p, choice);
        if (!finding->is_there)
            continue;
        n[finding->difference.verdict]++;
        n_all++;
    }
    for (guint v = 0; v < G_N_ELEMENTS(n); v++) {
        gboolean is_always_said = v == SIM_VERDICT_NONE || v == SIM_VERDICT_BETTER || v == SIM_VERDICT_WORSE;
        if (n[v] > 0 || (is_always_said && sim_direction_of(part->grid->gain) != SIM_DIRECTION_NONE))
            g_string_append_printf(text, "%s%s at %u", text->len > 0 ? ", " : "", sim_verdict_word(v), n[v]);
    }
    g_string_append_printf(text, " of %u place%s", n_all, n_all == 1 ? "" : "s");
    return g_string_free(text, FALSE);
}

char *
sim_report_rate(const SimFinding *gain, const SimFinding *cost, const char *cost_metric)
{
    const SimDifference *g = &gain->difference, *c = &cost->difference;
    double unit = g_str_has_suffix(cost_metric, "_bytes") ? BYTES_PER_MIB : 1;
    double rate, half;

    if (!gain->is_there || !cost->is_there || g->verdict == SIM_VERDICT_METASTABLE ||
        c->verdict == SIM_VERDICT_METASTABLE)
        return g_strdup("-");
    /* A ratio of what may be nothing to what may be nothing says nothing. */
    if (!(fabs(g->difference) > g->half_width))
        return g_strdup("no gain seen");
    if (!(fabs(c->difference) > c->half_width))
        return g_strdup("no cost seen");
    if (c->difference < 0)
        return g_strdup("costs less");
    rate = g->difference / c->difference * unit;
    half = fabs(rate) * hypot(g->half_width / g->difference, c->half_width / c->difference);
    g_autofree char *text = sim_format_interval(rate, half);
    return g_strdup_printf("%s%s", rate >= 0 ? "+" : "", text);
}

char *
sim_report_caveat(const SimFinding *finding)
{
    GString *text = g_string_new(NULL);
    const SimBranches *sides[] = {&finding->base_branches, &finding->branches};
    static const char *const names[] = {"the base", "the setting"};

    for (guint i = 0; i < 2; i++) {
        if (!sides[i]->is_split)
            continue;
        g_autofree char *low = sim_format_interval(sides[i]->mean_low, NAN);
        g_autofree char *high = sim_format_interval(sides[i]->mean_high, NAN);
        g_string_append_printf(text, "%s%s has two branches: %s (%u runs) and %s (%u)", text->len > 0 ? "; " : "",
                               names[i], low, sides[i]->n_low, high, sides[i]->n_high);
    }
    if (finding->other_start != NULL)
        g_string_append_printf(text, "%sstart %s says otherwise", text->len > 0 ? "; " : "", finding->other_start);
    if (finding->n_untrusted > 0)
        g_string_append_printf(text, "%s%u of its and the base's runs are not to be trusted", text->len > 0 ? "; " : "",
                               finding->n_untrusted);
    return g_string_free(text, FALSE);
}

char **
sim_report_methods(const SimReport *report)
{
    static const char *const controls[] = {
        "Holm's: the chance of one false verdict or more in the family is at most",
        "Benjamini and Hochberg's: of the verdicts \"better\" and \"worse\", the share expected to be false is at most",
        "none: for each comparison by itself, the chance of a false verdict is"};
    const SimReportPart *first = sim_report_part(report, 0);
    GPtrArray *texts = g_ptr_array_new();

    g_ptr_array_add(texts, g_strdup("Every setting is held against the base at the same place. Replications of equal "
                                    "number and seed share their random numbers, so the differences are taken pair by "
                                    "pair; the interval is Student's t over the pairs, each comparison's own."));
    g_ptr_array_add(texts, g_strdup_printf("Intervals are at %g %%. Verdicts are made for all comparisons of a metric "
                                           "together; the control is %s %g %%.",
                                           100 * first->grid->confidence, controls[report->control],
                                           100 * (1 - first->grid->confidence)));
    g_ptr_array_add(texts,
                    g_strdup("\"No difference seen\" is not \"no difference\": the column \"could have seen\" says "
                             "which true difference would have been found in 4 of 5 studies like this one."));
    g_ptr_array_add(texts, g_strdup("Where the runs of a point fall into two groups far apart (8 runs or more), it is "
                                    "called metastable and both branches are given instead of a mean. With fewer runs "
                                    "branches cannot be told; starts are never averaged together."));
    g_ptr_array_add(texts, g_strdup("Shares in percent are of the base's mean at the same place, taken as known."));
    g_ptr_array_add(texts, NULL);
    return (char **) g_ptr_array_free(texts, FALSE);
}

char **
sim_report_limits(const SimReportPart *part)
{
    GPtrArray *texts = g_ptr_array_new();
    char *own = sim_about_text(part->about, "limits");

    g_ptr_array_add(texts,
                    g_strdup("All figures are simulated. The intervals speak of the noise between replications of "
                             "the model, not of the model's distance from a real machine."));
    if (*own != '\0')
        g_ptr_array_add(texts, own);
    else
        g_free(own);
    if (part->comparison == NULL)
        g_ptr_array_add(texts, g_strdup("No published figures are kept with these results, so nothing here says how "
                                        "near the model is."));
    g_ptr_array_add(texts, NULL);
    return (char **) g_ptr_array_free(texts, FALSE);
}

/* "36 ms"; caller frees. */
static char *
run_value(const SimAbout *about, const char *key)
{
    char *value = g_key_file_get_value(about->scenario, "run", key, NULL);

    return value != NULL ? value : g_strdup("unknown");
}

/* Those of a choice contain the base's, which are counted once. */
static void
count_untrusted(const SimReportPart *part, guint *ret_n_untrusted, guint *ret_n_unknown)
{
    for (guint place = 0; place < part->grid->places->len; place++) {
        const SimFinding *base = sim_findings_gain(part->findings, place, 0);
        for (guint choice = 0; choice < part->grid->choices->len; choice++) {
            const SimFinding *finding = sim_findings_gain(part->findings, place, choice);
            *ret_n_untrusted += finding->n_untrusted - (choice > 0 ? base->n_untrusted : 0);
            *ret_n_unknown += finding->n_unknown - (choice > 0 ? base->n_unknown : 0);
        }
    }
}

char *
sim_report_extent(const SimReport *report, const SimReportPart *part)
{
    const SimAbout *about = part->about;
    GString *text = g_string_new(NULL);
    g_autofree char *n = run_value(about, "replications"), *warmup = run_value(about, "warmup");
    g_autofree char *window = run_value(about, "duration");
    guint n_untrusted = 0, n_unknown = 0;

    if (about->n_runs < about->n_wanted)
        g_string_append_printf(text,
                               "UNFINISHED: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                               " runs are there, and what is missing may change the answer. ",
                               about->n_runs, about->n_wanted);
    g_string_append_printf(
        text,
        "%u points of at most %s replications from each start, %" G_GUINT64_FORMAT
        " runs, each of %s simulated after a warm-up of %s; %u settings at %u places, %u comparisons; "
        "%s %s.",
        about->n_points, n, about->n_runs, window, warmup, part->grid->choices->len, part->grid->places->len,
        part->findings->n_compared, about->program, about->version);
    count_untrusted(part, &n_untrusted, &n_unknown);
    if (n_untrusted > 0)
        g_string_append_printf(text, " %s is not 1 in %u of the runs: comparisons with them carry a note.",
                               report->trust_metric, n_untrusted);
    if (n_unknown > 0)
        g_string_append_printf(text, " %s is not known in %u of the runs, for want of samples.", report->trust_metric,
                               n_unknown);
    return g_string_free(text, FALSE);
}

static gboolean
comparison_real(const SimTable *comparison, guint row, const char *column, double *ret_value)
{
    return sim_table_cell_real(comparison, row, (guint) sim_table_find_column(comparison, column), ret_value) &&
           isfinite(*ret_value);
}

char *
sim_report_miss(const SimTable *comparison, guint row, gboolean *ret_is_outside)
{
    double published, simulated, half, ratio;
    const char *status = sim_table_cell(comparison, row, (guint) sim_table_find_column(comparison, "status"));

    *ret_is_outside = TRUE;
    if (!comparison_real(comparison, row, "published", &published) ||
        !comparison_real(comparison, row, "simulated", &simulated))
        return g_strdup(g_str_equal(status, "ok") ? "not a number" : status);
    g_autofree char *times = comparison_real(comparison, row, "ratio", &ratio)
                                 ? g_strdup_printf("%.2f times the published", ratio)
                                 : g_strdup("published is 0");
    if (!comparison_real(comparison, row, "half_width", &half))
        return g_strdup_printf("no interval; %s", times);
    *ret_is_outside = fabs(simulated - published) > half;
    return g_strdup_printf("%s; %s", *ret_is_outside ? "outside the interval" : "inside the interval", times);
}

SimReportMisses
sim_report_misses(const SimTable *comparison)
{
    SimReportMisses misses = {.n = sim_table_n_rows(comparison)};

    for (guint row = 0; row < misses.n; row++) {
        double value;
        gboolean is_outside;
        g_autofree char *words = sim_report_miss(comparison, row, &is_outside);
        if (!comparison_real(comparison, row, "simulated", &value))
            misses.n_not_simulated++;
        else if (!comparison_real(comparison, row, "half_width", &value))
            misses.n_without_interval++;
        else
            misses.n_outside += is_outside;
    }
    return misses;
}

/* A gain over the base, which is what the answers speak of. */
static void
count_gain(const SimTable *comparison, guint row, guint *n, guint *n_outside)
{
    double published, simulated, half;

    if (sim_table_find_column(comparison, "vs_base_half_width") < 0 ||
        !comparison_real(comparison, row, "published_vs_base", &published) ||
        !comparison_real(comparison, row, "simulated_vs_base", &simulated) ||
        !comparison_real(comparison, row, "vs_base_half_width", &half))
        return;
    *n += 1;
    *n_outside += fabs(simulated - published) > half;
}

char *
sim_report_published(const SimReportPart *part)
{
    const SimTable *table = part->comparison;
    double ratio, least = INFINITY, most = -INFINITY;
    guint n_gains = 0, n_gains_outside = 0;
    SimReportMisses misses;

    if (table == NULL)
        return g_strdup("");
    misses = sim_report_misses(table);
    for (guint row = 0; row < misses.n; row++) {
        count_gain(table, row, &n_gains, &n_gains_outside);
        if (!comparison_real(table, row, "ratio", &ratio))
            continue;
        least = MIN(least, ratio);
        most = MAX(most, ratio);
    }
    if (least > most)
        return g_strdup_printf("%s: none of %u published figures was simulated.", part->about->name, misses.n);
    return g_strdup_printf(
        "%s: in %u comparisons with published figures, each figure once a start, the simulated are %.2f to %.2f times "
        "as large; %u lie outside the simulated interval, %u have none, %u were not simulated. Of %u ratios to the "
        "base, which the answer is about, %u lie outside.",
        part->about->name, misses.n, least, most, misses.n_outside, misses.n_without_interval, misses.n_not_simulated,
        n_gains, n_gains_outside);
}
