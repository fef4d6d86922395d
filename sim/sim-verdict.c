/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-verdict.h"

#include "sim-ci.h"
#include "sim-error.h"
#include "sim-hint.h"
#include "sim-moments.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#define POWER 0.8
#define MIN_BRANCH 2
#define MIN_GAP_SD 6.0
#define MIN_GAP_OF_MEAN 0.01

const char *
sim_verdict_word(SimVerdict verdict)
{
    static const char *const words[] = {"too few runs", "no difference seen", "better", "worse", "higher",
                                        "lower",        "metastable"};
    return words[verdict];
}

SimDirection
sim_direction_of(const char *metric)
{
    static const char *const down[] = {"_ps", "_ns", "_us", "_ms", "_s", "_bytes"};

    if (g_str_has_suffix(metric, "_per_s"))
        return SIM_DIRECTION_UP;
    for (guint i = 0; i < G_N_ELEMENTS(down); i++) {
        if (g_str_has_suffix(metric, down[i]))
            return SIM_DIRECTION_DOWN;
    }
    return SIM_DIRECTION_NONE;
}

/* From a difference with its standard error and degrees of freedom. Values that do not vary at all have an exact
 * difference: any other than 0 is certain. */
static void
fill_interval(SimDifference *d, double confidence)
{
    d->half_width = d->p = d->p_adjusted = d->detectable = NAN;
    d->verdict = SIM_VERDICT_TOO_FEW;
    if (!(d->degrees > 0) || isnan(d->error) || isnan(d->difference))
        return;
    d->half_width = sim_ci_t_quantile(confidence, d->degrees) * d->error;
    d->p = d->error > 0 ? 2 * gsl_cdf_tdist_Q(fabs(d->difference) / d->error, d->degrees) : d->difference == 0;
}

SimDifference
sim_difference_paired(const double *a, const double *b, gsize n, double confidence)
{
    SimDifference d = {.n_a = (guint) n, .n_b = (guint) n, .is_paired = TRUE, .degrees = (double) n - 1};
    SimMoments moments = {0}, of_a = {0}, of_b = {0};

    for (gsize i = 0; i < n; i++) {
        sim_moments_add(&moments, b[i] - a[i]);
        sim_moments_add(&of_a, a[i]);
        sim_moments_add(&of_b, b[i]);
    }
    d.mean_a = sim_moments_mean(&of_a);
    d.mean_b = sim_moments_mean(&of_b);
    d.difference = sim_moments_mean(&moments);
    d.error = sim_moments_sd(&moments) / sqrt((double) n);
    fill_interval(&d, confidence);
    return d;
}

SimDifference
sim_difference_welch(const double *a, gsize n_a, const double *b, gsize n_b, double confidence)
{
    SimDifference d = {.n_a = (guint) n_a, .n_b = (guint) n_b};
    SimMoments of_a = {0}, of_b = {0};
    double share_a, share_b;

    for (gsize i = 0; i < n_a; i++)
        sim_moments_add(&of_a, a[i]);
    for (gsize i = 0; i < n_b; i++)
        sim_moments_add(&of_b, b[i]);
    d.mean_a = sim_moments_mean(&of_a);
    d.mean_b = sim_moments_mean(&of_b);
    d.difference = d.mean_b - d.mean_a;
    share_a = sim_moments_variance(&of_a) / (double) n_a;
    share_b = sim_moments_variance(&of_b) / (double) n_b;
    d.error = sqrt(share_a + share_b);
    d.degrees = (share_a + share_b) * (share_a + share_b) /
                (share_a * share_a / ((double) n_a - 1) + share_b * share_b / ((double) n_b - 1));
    if (d.error == 0)
        d.degrees = (double) (n_a + n_b) - 2;
    fill_interval(&d, confidence);
    return d;
}

static const char *const control_words[] = {"holm", "bh", "none", NULL};

gboolean
sim_control_parse(const char *word, SimControl *ret_control, GError **error)
{
    for (guint i = 0; control_words[i] != NULL; i++) {
        if (g_str_equal(control_words[i], word)) {
            *ret_control = (SimControl) i;
            return TRUE;
        }
    }
    g_autofree char *hint = sim_hint_phrase(word, control_words);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown control '%s'%s (allowed: holm, bh, none)", word,
                hint);
    return FALSE;
}

static int
compare_p(gconstpointer a, gconstpointer b)
{
    double p = (*(SimDifference *const *) a)->p, q = (*(SimDifference *const *) b)->p;
    return (p > q) - (p < q);
}

/* `family` is sorted by p. Both adjustments keep the order of the p values, hence the running maximum and minimum. */
static void
adjust(SimDifference **family, gsize m, SimControl control)
{
    double bound = control == SIM_CONTROL_BH ? 1 : 0;

    for (gsize i = 0; i < m && control == SIM_CONTROL_HOLM; i++)
        family[i]->p_adjusted = bound = MAX(bound, MIN(1, (double) (m - i) * family[i]->p));
    for (gsize i = m; i > 0 && control == SIM_CONTROL_BH; i--)
        family[i - 1]->p_adjusted = bound = MIN(bound, (double) m / (double) i * family[i - 1]->p);
    for (gsize i = 0; i < m && control == SIM_CONTROL_NONE; i++)
        family[i]->p_adjusted = family[i]->p;
}

static SimVerdict
verdict_of(const SimDifference *d, SimDirection direction, double confidence)
{
    gboolean is_up = d->difference > 0;

    if (isnan(d->p))
        return SIM_VERDICT_TOO_FEW;
    if (d->p_adjusted > 1 - confidence || d->difference == 0)
        return SIM_VERDICT_NONE;
    if (direction == SIM_DIRECTION_NONE)
        return is_up ? SIM_VERDICT_HIGHER : SIM_VERDICT_LOWER;
    return is_up == (direction == SIM_DIRECTION_UP) ? SIM_VERDICT_BETTER : SIM_VERDICT_WORSE;
}

/* At the level that the least of m comparisons has to pass: what is seen there is seen anywhere in the family. */
static double
detectable(const SimDifference *d, gsize m, double confidence)
{
    double level = (1 - confidence) / (double) MAX(m, 1);

    return (gsl_cdf_tdist_Qinv(level / 2, d->degrees) + gsl_cdf_tdist_Pinv(POWER, d->degrees)) * d->error;
}

void
sim_difference_judge(SimDifference *const *differences, const SimDirection *directions, gsize n, double confidence,
                     SimControl control)
{
    g_autofree SimDifference **family = g_new(SimDifference *, n);
    gsize m = 0;

    for (gsize i = 0; i < n; i++) {
        if (differences[i]->verdict != SIM_VERDICT_METASTABLE && !isnan(differences[i]->p))
            family[m++] = differences[i];
    }
    qsort(family, m, sizeof *family, compare_p);
    adjust(family, m, control);
    for (gsize i = 0; i < m; i++)
        family[i]->detectable = detectable(family[i], control == SIM_CONTROL_NONE ? 1 : m, confidence);
    for (gsize i = 0; i < n; i++) {
        if (differences[i]->verdict != SIM_VERDICT_METASTABLE)
            differences[i]->verdict = verdict_of(differences[i], directions[i], confidence);
    }
}

SimBranches
sim_branches_find(const double *values, gsize n)
{
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    SimBranches branches = {0};
    SimMoments low = {0}, high = {0};
    gsize cut = MIN_BRANCH;
    double gap, pooled_sd;

    if (n < SIM_BRANCHES_MIN_VALUES)
        return branches;
    gsl_sort(sorted, 1, n);
    for (gsize i = MIN_BRANCH; i <= n - MIN_BRANCH; i++) {
        if (sorted[i] - sorted[i - 1] > sorted[cut] - sorted[cut - 1])
            cut = i;
    }
    for (gsize i = 0; i < n; i++)
        sim_moments_add(i < cut ? &low : &high, sorted[i]);
    gap = sorted[cut] - sorted[cut - 1];
    pooled_sd = sqrt((low.m2 + high.m2) / (double) (n - 2));
    /* A comparison with NaN is false, as it should be. */
    branches.is_split =
        gap > 0 && gap >= MIN_GAP_SD * pooled_sd && gap >= MIN_GAP_OF_MEAN * fabs(gsl_stats_mean(values, 1, n));
    branches.n_low = (guint) low.count;
    branches.n_high = (guint) high.count;
    branches.mean_low = sim_moments_mean(&low);
    branches.mean_high = sim_moments_mean(&high);
    return branches;
}
