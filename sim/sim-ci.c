/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ci.h"
#include "sim-moments.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define MSER_BATCH 5
#define MSER_MIN_TAIL 5 /* batches; the statistic of a shorter tail is 0 or near it by accident */
#define MSER_MIN_BATCHES 10

double
sim_ci_t_quantile(double confidence, double degrees)
{
    g_assert(confidence > 0.0 && confidence < 1.0 && degrees > 0.0);
    return gsl_cdf_tdist_Qinv((1.0 - confidence) / 2.0, degrees);
}

static void
interval_of_moments(const SimMoments *moments, double confidence, double *ret_mean, double *ret_half_width)
{
    double n = (double) moments->count;
    *ret_mean = sim_moments_mean(moments);
    *ret_half_width = n < 2.0 ? NAN : sim_ci_t_quantile(confidence, n - 1.0) * sim_moments_sd(moments) / sqrt(n);
}

void
sim_ci_mean(const double *values, gsize n, double confidence, double *ret_mean, double *ret_half_width)
{
    SimMoments moments = {0};
    for (gsize i = 0; i < n; i++)
        sim_moments_add(&moments, values[i]);
    interval_of_moments(&moments, confidence, ret_mean, ret_half_width);
}

void
sim_ci_paired(const double *a, const double *b, gsize n, double confidence, double *ret_mean, double *ret_half_width)
{
    SimMoments moments = {0};
    for (gsize i = 0; i < n; i++)
        sim_moments_add(&moments, a[i] - b[i]);
    interval_of_moments(&moments, confidence, ret_mean, ret_half_width);
}

gsize
sim_ci_first_precise(const double *values, gsize n_values, gsize n_min, double confidence, double precision)
{
    SimMoments moments = {0};
    double mean, half_width;
    for (gsize n = 1; n <= n_values; n++) {
        sim_moments_add(&moments, values[n - 1]);
        interval_of_moments(&moments, confidence, &mean, &half_width);
        if (n >= n_min && half_width <= precision * fabs(mean))
            return n;
    }
    return 0;
}

gboolean
sim_ci_batch(const double *values, gsize n, gsize n_batches, double *ret_means)
{
    g_assert(n_batches > 0);
    gsize batch = n / n_batches;
    if (batch == 0)
        return FALSE;
    const double *first = values + (n - batch * n_batches);
    for (gsize i = 0; i < n_batches; i++)
        ret_means[i] = gsl_stats_mean(first + i * batch, 1, batch);
    return TRUE;
}

void
sim_ci_batch_means(const double *values, gsize n, gsize n_batches, double confidence, double *ret_mean,
                   double *ret_half_width)
{
    g_autofree double *means = g_new(double, n_batches);
    if (sim_ci_batch(values, n, n_batches, means))
        sim_ci_mean(means, n_batches, confidence, ret_mean, ret_half_width);
    else
        *ret_mean = *ret_half_width = NAN;
}

double
sim_ci_lag1(const double *values, gsize n)
{
    return n < 2 ? NAN : gsl_stats_lag1_autocorrelation(values, 1, n);
}

gboolean
sim_ci_warm_up(const double *values, gsize n, gsize *ret_index)
{
    gsize n_batches = n / MSER_BATCH;
    *ret_index = 0;
    if (n_batches < MSER_MIN_BATCHES)
        return FALSE;
    /* From the end, each step adds one batch to the tail; its statistic is the variance of the tail's mean as if the
     * batches were independent. Ties go to the longer tail. */
    SimMoments tail = {0};
    gsize best_cut = n_batches;
    double best_statistic = INFINITY;
    for (gsize cut = n_batches; cut-- > 0;) {
        sim_moments_add(&tail, gsl_stats_mean(values + cut * MSER_BATCH, 1, MSER_BATCH));
        double length = (double) tail.count;
        double statistic = tail.m2 / (length * length);
        if (tail.count >= MSER_MIN_TAIL && statistic <= best_statistic) {
            best_statistic = statistic;
            best_cut = cut;
        }
    }
    *ret_index = best_cut * MSER_BATCH;
    return isfinite(tail.m2) && 2 * best_cut < n_batches;
}

static double
relative_change(double from, double to)
{
    return from == to ? 0.0 : fabs(to - from) / fabs(to);
}

gboolean
sim_ci_is_converged(const double *values, gsize n, double tolerance, double *ret_change)
{
    gsize quarter = n / 4;
    *ret_change = NAN;
    if (quarter == 0)
        return FALSE;
    const double *end = values + n;
    double m1 = gsl_stats_mean(end - quarter, 1, quarter);
    double m2 = gsl_stats_mean(end - 2 * quarter, 1, 2 * quarter);
    double m4 = gsl_stats_mean(end - 4 * quarter, 1, 4 * quarter);
    double last = relative_change(m2, m4), before = relative_change(m1, m2);
    if (!isnan(last) && !isnan(before))
        *ret_change = MAX(last, before);
    return *ret_change <= tolerance;
}
