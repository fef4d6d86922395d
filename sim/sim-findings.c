/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-findings.h"

#include "sim-ci.h"
#include "sim-summary.h"

#include <math.h>

#define BYTES_PER_MIB 1048576.0

void
sim_findings_free(SimFindings *findings)
{
    if (findings == NULL)
        return;
    g_clear_pointer(&findings->gain, g_array_unref);
    g_clear_pointer(&findings->cost, g_array_unref);
    g_free(findings);
}

static void
fill_mean(const SimCellRuns *runs, guint metric, double confidence, SimFinding *finding)
{
    g_autoptr(GArray) values = sim_cell_runs_values(runs, metric);

    sim_ci_mean((const double *) values->data, values->len, confidence, &finding->mean, &finding->half_width);
    finding->n = values->len;
    finding->is_there = values->len > 0;
    finding->branches = sim_branches_find((const double *) values->data, values->len);
}

static SimDifference
difference_of(const SimCellRuns *base, const SimCellRuns *runs, guint metric, double confidence)
{
    g_autoptr(GArray) a = NULL, b = NULL;
    gboolean is_paired;

    sim_source_pair(base, metric, runs, metric, &a, &b, &is_paired);
    return is_paired ? sim_difference_paired((double *) a->data, (double *) b->data, a->len, confidence)
                     : sim_difference_welch((double *) a->data, a->len, (double *) b->data, b->len, confidence);
}

/* All choices of one place. */
static gboolean
fill_place(const SimGrid *grid, guint place, const char *metric, GArray *findings, GError **error)
{
    SimFinding *first = &g_array_index(findings, SimFinding, place * grid->choices->len);
    g_autoptr(SimCellRuns) base = NULL;
    guint column;

    if (!sim_grid_read(grid, place, 0, metric, &base, &column, error))
        return FALSE;
    for (guint choice = 0; choice < grid->choices->len; choice++) {
        SimFinding *finding = first + choice;
        g_autoptr(SimCellRuns) runs = NULL;
        if (!sim_grid_read(grid, place, choice, metric, &runs, &column, error))
            return FALSE;
        if (runs == NULL)
            continue;
        fill_mean(runs, column, grid->confidence, finding);
        finding->is_there &= base != NULL && first->is_there;
        if (choice == 0 || !finding->is_there)
            continue;
        finding->base_branches = first->branches;
        finding->difference = difference_of(base, runs, column, grid->confidence);
        if (finding->branches.is_split || finding->base_branches.is_split)
            finding->difference.verdict = SIM_VERDICT_METASTABLE;
    }
    return TRUE;
}

static guint
judge(const SimGrid *grid, GArray *findings, const char *metric, SimControl control)
{
    g_autofree SimDifference **family = g_new(SimDifference *, findings->len);
    g_autofree SimDirection *directions = g_new(SimDirection, findings->len);
    guint n = 0;

    for (guint i = 0; i < findings->len; i++) {
        SimFinding *finding = &g_array_index(findings, SimFinding, i);
        if (i % grid->choices->len == 0 || !finding->is_there)
            continue;
        directions[n] = sim_direction_of(metric);
        family[n++] = &finding->difference;
    }
    sim_difference_judge(family, directions, n, grid->confidence, control);
    return n;
}

/* Places that differ in their start only, and do not agree: neither is the whole answer. */
static void
note_starts(const SimGrid *grid, GArray *findings)
{
    guint n = grid->choices->len;

    for (guint i = 0; i < findings->len; i++) {
        SimFinding *mine = &g_array_index(findings, SimFinding, i);
        int cell = sim_grid_cell(grid, i / n, i % n);
        for (guint place = 0; place < grid->places->len && cell >= 0 && i % n > 0; place++) {
            int other = sim_grid_cell(grid, place, i % n);
            if (other < 0 || other == cell ||
                sim_source_cell(grid->source, (guint) other).point != sim_source_cell(grid->source, (guint) cell).point)
                continue;
            if (g_array_index(findings, SimFinding, place * n + i % n).difference.verdict != mine->difference.verdict)
                mine->other_start = sim_source_cell(grid->source, (guint) other).start;
        }
    }
}

/* NULL on error. */
static GArray *
find(const SimGrid *grid, const char *metric, SimControl control, guint *ret_n_compared, GError **error)
{
    g_autoptr(GArray) findings = g_array_new(FALSE, TRUE, sizeof(SimFinding));

    g_array_set_size(findings, grid->places->len * grid->choices->len);
    for (guint place = 0; place < grid->places->len; place++)
        if (!fill_place(grid, place, metric, findings, error))
            return NULL;
    *ret_n_compared = judge(grid, findings, metric, control);
    note_starts(grid, findings);
    return g_steal_pointer(&findings);
}

static gboolean
count_untrusted(const SimGrid *grid, guint place, guint choice, const char *metric, SimFinding *finding, GError **error)
{
    g_autoptr(SimCellRuns) runs = NULL;
    guint column;

    if (!sim_grid_read(grid, place, choice, metric, &runs, &column, error))
        return FALSE;
    for (gsize r = 0; runs != NULL && r < runs->n_runs; r++) {
        gsize at = r * runs->n_metrics + column;
        if (!runs->has[at] || isnan(runs->values[at]))
            finding->n_unknown++;
        else
            finding->n_untrusted += runs->values[at] != 1;
    }
    return TRUE;
}

/* A comparison is worth no more than the lesser of its sides. */
static gboolean
note_trust(const SimGrid *grid, const char *metric, GArray *findings, GError **error)
{
    guint n = grid->choices->len;

    for (guint i = 0; i < findings->len; i++) {
        SimFinding *finding = &g_array_index(findings, SimFinding, i);
        const SimFinding *base = &g_array_index(findings, SimFinding, i - i % n);
        if (!count_untrusted(grid, i / n, i % n, metric, finding, error))
            return FALSE;
        if (i % n > 0) {
            finding->n_untrusted += base->n_untrusted;
            finding->n_unknown += base->n_unknown;
        }
    }
    return TRUE;
}

SimFindings *
sim_findings_new(const SimGrid *grid, const char *trust_metric, SimControl control, GError **error)
{
    g_autoptr(SimFindings) findings = g_new0(SimFindings, 1);

    findings->grid = grid;
    findings->control = control;
    if (grid->cost != NULL) {
        findings->cost = find(grid, grid->cost, control, &findings->n_compared, error);
        if (findings->cost == NULL)
            return NULL;
    }
    findings->gain = find(grid, grid->gain, control, &findings->n_compared, error);
    if (findings->gain == NULL)
        return NULL;
    if (trust_metric != NULL && sim_source_find_metric(grid->source, trust_metric, NULL) >= 0 &&
        !note_trust(grid, trust_metric, findings->gain, error))
        return NULL;
    return g_steal_pointer(&findings);
}

gboolean
sim_grid_mean(const SimGrid *grid, guint place, guint choice, const char *metric, double *ret_mean,
              double *ret_half_width, GError **error)
{
    g_autoptr(SimCellRuns) runs = NULL;
    SimFinding finding = {.mean = NAN, .half_width = NAN};
    guint column;

    if (!sim_grid_read(grid, place, choice, metric, &runs, &column, error))
        return FALSE;
    if (runs != NULL)
        fill_mean(runs, column, grid->confidence, &finding);
    *ret_mean = finding.mean;
    *ret_half_width = finding.half_width;
    return TRUE;
}

gboolean
sim_grid_difference(const SimGrid *grid, guint place, guint a, guint b, const char *metric,
                    SimDifference *ret_difference, gboolean *ret_is_there, GError **error)
{
    g_autoptr(SimCellRuns) of_a = NULL, of_b = NULL;
    guint column;

    if (!sim_grid_read(grid, place, a, metric, &of_a, &column, error) ||
        !sim_grid_read(grid, place, b, metric, &of_b, &column, error))
        return FALSE;
    *ret_is_there = of_a != NULL && of_b != NULL && of_a->n_runs > 0 && of_b->n_runs > 0;
    if (*ret_is_there)
        *ret_difference = difference_of(of_a, of_b, column, grid->confidence);
    return TRUE;
}

void
sim_finding_share(const SimFinding *finding, double *ret_percent, double *ret_half_width)
{
    double scale = 100 / fabs(finding->difference.mean_a);

    *ret_percent = isfinite(scale) ? finding->difference.difference * scale : NAN;
    *ret_half_width = isfinite(scale) ? finding->difference.half_width * scale : NAN;
}

/* Two digits of the interval, and as many places of the number. */
static char *
format_signed(double value, double half_width, gboolean with_sign)
{
    int decimals = half_width > 0 ? 1 - (int) floor(log10(half_width)) : 2;

    decimals = CLAMP(decimals, 0, 6);
    if (isnan(half_width))
        return g_strdup_printf(with_sign ? "%+.3g" : "%.4g", value);
    return g_strdup_printf(with_sign ? "%+.*f ± %.*f" : "%.*f ± %.*f", decimals, value, decimals, half_width);
}

char *
sim_amount_text(double mean, double half_width, const char *metric, gboolean with_sign)
{
    gboolean is_memory = g_str_has_suffix(metric, "_bytes");

    if (isnan(mean))
        return g_strdup("-");
    if (is_memory) {
        g_autofree char *number = format_signed(mean / BYTES_PER_MIB, half_width / BYTES_PER_MIB, with_sign);
        return g_strconcat(number, " MiB", NULL);
    }
    g_autofree char *number = sim_format_interval(mean, half_width);
    return g_strconcat(with_sign && mean >= 0 ? "+" : "", number, NULL);
}

char *
sim_finding_amount(const SimFinding *finding, const char *metric)
{
    const SimDifference *d = &finding->difference;

    if (!finding->is_there || d->verdict == SIM_VERDICT_METASTABLE || isnan(d->half_width))
        return g_strdup("-");
    return sim_amount_text(d->difference, d->half_width, metric, TRUE);
}

static char *
branch_words(const SimFinding *finding)
{
    const SimBranches *split = finding->branches.is_split ? &finding->branches : &finding->base_branches;
    g_autofree char *low = sim_format_interval(split->mean_low, NAN),
                    *high = sim_format_interval(split->mean_high, NAN);

    return g_strdup_printf("metastable: %s is %s (%u runs) or %s (%u)", finding->branches.is_split ? "it" : "the base",
                           low, split->n_low, high, split->n_high);
}

char *
sim_finding_words(const SimFinding *finding)
{
    const SimDifference *d = &finding->difference;
    double percent, half_width;

    if (!finding->is_there)
        return g_strdup("not run");
    if (d->verdict == SIM_VERDICT_METASTABLE)
        return branch_words(finding);
    if (d->verdict == SIM_VERDICT_TOO_FEW)
        return g_strdup("too few runs to say");
    sim_finding_share(finding, &percent, &half_width);
    if (isnan(percent)) {
        g_autofree char *amount = sim_finding_amount(finding, "");
        return g_strdup_printf("%s %s", sim_verdict_word(d->verdict), amount);
    }
    g_autofree char *share = format_signed(percent, half_width, TRUE);
    return g_strdup_printf("%s %s %%", sim_verdict_word(d->verdict), share);
}
