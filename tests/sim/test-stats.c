/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ci.h"
#include "sim-gsl.h"
#include "sim-moments.h"
#include "sim-rng.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

static void
assert_close(double value, double expected)
{
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-9 * fabs(expected));
}

/* By hand, and far from 0, where a difference of sums of squares has no digit left. */
static void
test_moments_known(void)
{
    SimMoments moments = {0};
    g_assert_true(isnan(sim_moments_mean(&moments)));
    sim_moments_add(&moments, 1e9 + 4.0);
    g_assert_cmpfloat(sim_moments_mean(&moments), ==, 1e9 + 4.0);
    g_assert_true(isnan(sim_moments_variance(&moments)));
    sim_moments_add(&moments, 1e9 + 7.0);
    sim_moments_add(&moments, 1e9 + 13.0);
    sim_moments_add(&moments, 1e9 + 16.0);
    g_assert_cmpfloat(sim_moments_mean(&moments), ==, 1e9 + 10.0);
    g_assert_cmpfloat(sim_moments_variance(&moments), ==, 30.0);
    g_assert_cmpfloat(sim_moments_sd(&moments), ==, sqrt(30.0));
}

static void
test_moments_merge(void)
{
    enum { n = 1000 };
    double values[n];
    SimMoments merged = {0}, part = {0};
    SimRng rng;
    sim_rng_init(&rng, 1, 0, "test-stats", "moments");
    sim_moments_merge(&merged, &part); /* nothing into nothing stays nothing */
    g_assert_cmpuint(merged.count, ==, 0);
    g_assert_cmpfloat(merged.m2, ==, 0.0);
    for (guint i = 0; i < n; i++) {
        values[i] = i / 50 + sim_rng_exponential(&rng, 3.0);
        sim_moments_add(&part, values[i]);
        if (sim_rng_bernoulli(&rng, 0.05) || i == n - 1) { /* parts of unequal size and unequal mean */
            sim_moments_merge(&merged, &part);
            part = (SimMoments){0};
        }
    }
    sim_moments_merge(&merged, &part);
    g_assert_cmpuint(merged.count, ==, n);
    assert_close(sim_moments_mean(&merged), gsl_stats_mean(values, 1, n));
    assert_close(sim_moments_variance(&merged), gsl_stats_variance(values, 1, n));
}

static void
assert_within(double value, double low, double high)
{
    g_assert_cmpfloat(value, >=, low);
    g_assert_cmpfloat(value, <=, high);
}

/* Standard normal draws. */
static double
draw_normal(SimRng *rng)
{
    return gsl_cdf_ugaussian_Pinv(sim_rng_uniform_pos(rng));
}

/* x[i] = coefficient * x[i-1] + normal noise, stationary from the start, mean 0, lag-1 correlation = coefficient. */
static void
fill_autoregressive(SimRng *rng, double coefficient, double *values, gsize n)
{
    double x = draw_normal(rng) / sqrt(1.0 - coefficient * coefficient);
    for (gsize i = 0; i < n; i++)
        values[i] = x = coefficient * x + draw_normal(rng);
}

/* Printed tables of the t distribution. */
static void
test_t_quantile_known(void)
{
    static const double rows[][3] = {
        /* confidence, degrees, quantile */
        {0.95, 1, 12.7062047},  {0.95, 2, 4.3026527},   {0.95, 4, 2.7764451},  {0.95, 9, 2.2621572},
        {0.95, 29, 2.0452296},  {0.95, 120, 1.9799304}, {0.99, 1, 63.6567412}, {0.99, 9, 3.2498355},
        {0.999, 4, 8.6103018},  {0.90, 9, 1.8331129},   {0.50, 9, 0.7027221},  {0.95, 1e6, 1.9599664},
        {0.9999, 3, 28.000130},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_within(sim_ci_t_quantile(rows[i][0], rows[i][1]) / rows[i][2], 1.0 - 1e-7, 1.0 + 1e-7);
}

/* The probability of the interval found, by another GSL function, over the range that can be asked for. */
static void
test_t_quantile_inverts(void)
{
    static const double confidences[] = {0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999};
    for (guint i = 0; i < G_N_ELEMENTS(confidences); i++) {
        for (guint degrees = 1; degrees <= 2000; degrees++) {
            double quantile = sim_ci_t_quantile(confidences[i], degrees);
            double outside = 2.0 * gsl_cdf_tdist_Q(quantile, degrees);
            assert_within(outside / (1.0 - confidences[i]), 1.0 - 1e-6, 1.0 + 1e-6);
        }
    }
}

static void
test_mean_known(void)
{
    static const double values[] = {4.0, 7.0, 13.0, 16.0};
    double mean, half_width;
    sim_ci_mean(values, 4, 0.95, &mean, &half_width);
    g_assert_cmpfloat(mean, ==, 10.0);
    assert_close(half_width, 3.182446305 * sqrt(30.0 / 4.0));
    sim_ci_mean(values, 1, 0.95, &mean, &half_width);
    g_assert_cmpfloat(mean, ==, 4.0);
    g_assert_true(isnan(half_width));
    sim_ci_mean(values, 0, 0.95, &mean, &half_width);
    g_assert_true(isnan(mean) && isnan(half_width));
    sim_ci_mean((const double[]){0.1, 0.1, 0.1}, 3, 0.95, &mean, &half_width);
    g_assert_cmpfloat(mean, ==, 0.1);
    g_assert_cmpfloat(half_width, ==, 0.0);
    sim_ci_mean((const double[]){1.0, NAN, 1.0}, 3, 0.95, &mean, &half_width);
    g_assert_true(isnan(mean) && isnan(half_width));
}

/* Of 2,000 intervals, how many hold the true mean: 95 % and 80 % within 3.3 standard deviations of a binomial count. */
static void
test_mean_coverage(void)
{
    enum { n_samples = 2000 };
    static const guint sizes[] = {2, 3, 5, 10, 40};
    static const double confidences[] = {0.80, 0.95};
    SimRng rng;
    sim_rng_init(&rng, 1, 0, "test-stats", "coverage");
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        for (guint j = 0; j < G_N_ELEMENTS(confidences); j++) {
            guint n_covered = 0;
            for (guint sample = 0; sample < n_samples; sample++) {
                double values[40], mean, half_width;
                for (guint k = 0; k < sizes[i]; k++)
                    values[k] = 1000.0 + 30.0 * draw_normal(&rng);
                sim_ci_mean(values, sizes[i], confidences[j], &mean, &half_width);
                n_covered += fabs(mean - 1000.0) <= half_width;
            }
            double p = confidences[j], slack = 3.3 * sqrt(p * (1.0 - p) * n_samples);
            assert_within(n_covered, p * n_samples - slack, p * n_samples + slack);
        }
    }
}

static void
test_paired(void)
{
    static const double after[] = {101.0, 203.0, 52.0}, before[] = {100.0, 201.0, 49.0};
    double mean, half_width, mean_after, half_width_after;
    sim_ci_paired(after, before, 3, 0.95, &mean, &half_width);
    g_assert_cmpfloat(mean, ==, 2.0);
    assert_close(half_width, 4.302652730 / sqrt(3.0)); /* differences 1, 2, 3 */
    sim_ci_mean(after, 3, 0.95, &mean_after, &half_width_after);
    g_assert_cmpfloat(half_width_after, >, 50.0 * half_width);
    sim_ci_paired(before, after, 3, 0.95, &mean, &half_width);
    g_assert_cmpfloat(mean, ==, -2.0);
}

static void
test_batch(void)
{
    static const double values[] = {1000.0, 1.0, 3.0, 5.0, 7.0, 10.0, 12.0};
    double means[3] = {-1.0, -1.0, -1.0}, mean, half_width;
    g_assert_true(sim_ci_batch(values, 7, 3, means)); /* the odd one out is the oldest */
    g_assert_cmpfloat(means[0], ==, 2.0);
    g_assert_cmpfloat(means[1], ==, 6.0);
    g_assert_cmpfloat(means[2], ==, 11.0);
    means[0] = -1.0;
    g_assert_false(sim_ci_batch(values, 2, 3, means));
    g_assert_cmpfloat(means[0], ==, -1.0);
    sim_ci_batch_means(values, 7, 3, 0.95, &mean, &half_width);
    assert_close(mean, 19.0 / 3.0);
    assert_close(half_width, 4.302652730 * sqrt(61.0 / 3.0 / 3.0));
    sim_ci_batch_means(values, 2, 3, 0.95, &mean, &half_width);
    g_assert_true(isnan(mean) && isnan(half_width));
}

/* The mean of this series varies 9 = (1 + 0.8) / (1 - 0.8) times as much as that of independent values, so the plain
 * interval is three times too narrow and holds the true mean 49 times in 100, not 95; batch means keep the promise. */
static void
test_batch_means_coverage(void)
{
    enum { n_samples = 1000, n = 4000, n_batches = 20 };
    static double values[n];
    guint n_plain = 0, n_batched = 0;
    SimRng rng;
    sim_rng_init(&rng, 2, 0, "test-stats", "batch means");
    for (guint sample = 0; sample < n_samples; sample++) {
        double mean, half_width;
        fill_autoregressive(&rng, 0.8, values, n);
        sim_ci_mean(values, n, 0.95, &mean, &half_width);
        n_plain += fabs(mean) <= half_width;
        sim_ci_batch_means(values, n, n_batches, 0.95, &mean, &half_width);
        n_batched += fabs(mean) <= half_width;
    }
    g_test_message("covered of 1000: plain %u, batch means %u", n_plain, n_batched);
    assert_within(n_batched, 920, 975);
    assert_within(n_plain, 430, 540);
}

static void
test_lag1(void)
{
    enum { n = 20000 };
    static double values[n];
    SimRng rng;
    sim_rng_init(&rng, 3, 0, "test-stats", "lag");
    fill_autoregressive(&rng, 0.7, values, n);
    assert_within(sim_ci_lag1(values, n), 0.7 - 0.021, 0.7 + 0.021); /* 4 * sqrt((1 - 0.49) / n) */
    for (guint i = 0; i < n; i++)
        values[i] = i % 2;
    assert_within(sim_ci_lag1(values, n), -1.0, -0.999);
    for (guint i = 0; i < n; i++)
        values[i] = 0.1;
    g_assert_true(isnan(sim_ci_lag1(values, n)));
    g_assert_true(isnan(sim_ci_lag1(values, 1)));
}

/* `n_transient` values of 10, then a pattern whose sum over any 5 neighbours is 0. */
static gsize
cut_of_step(gsize n_transient, gsize n, gboolean *ret_is_trusted)
{
    static const double pattern[] = {1.0, -2.0, 2.0, -2.0, 1.0};
    g_autofree double *values = g_new(double, n);
    gsize cut;
    for (gsize i = 0; i < n; i++)
        values[i] = i < n_transient ? 10.0 : pattern[i % 5];
    *ret_is_trusted = sim_ci_warm_up(values, n, &cut);
    return cut;
}

static void
test_warm_up_known(void)
{
    gboolean is_trusted;
    g_assert_cmpuint(cut_of_step(100, 1000, &is_trusted), ==, 100);
    g_assert_true(is_trusted);
    g_assert_cmpuint(cut_of_step(101, 1000, &is_trusted), ==, 105);
    g_assert_true(is_trusted);
    g_assert_cmpuint(cut_of_step(0, 1000, &is_trusted), ==, 0);
    g_assert_true(is_trusted);
    g_assert_cmpuint(cut_of_step(495, 1000, &is_trusted), ==, 495);
    g_assert_true(is_trusted);
    g_assert_cmpuint(cut_of_step(500, 1000, &is_trusted), ==, 500); /* the last half begins */
    g_assert_false(is_trusted);
    g_assert_cmpuint(cut_of_step(10, 50, &is_trusted), ==, 10);
    g_assert_true(is_trusted);
    g_assert_cmpuint(cut_of_step(10, 49, &is_trusted), ==, 0); /* too short to say */
    g_assert_false(is_trusted);
}

/* The statistic by its definition, each tail anew. */
static gsize
cut_by_definition(const double *values, gsize n)
{
    gsize n_batches = n / 5, best_cut = 0;
    double best = INFINITY;
    for (gsize cut = 0; cut + 5 <= n_batches; cut++) {
        double mean = 0.0, squares = 0.0, length = (double) (n_batches - cut);
        for (gsize i = cut; i < n_batches; i++)
            mean += gsl_stats_mean(values + 5 * i, 1, 5) / length;
        for (gsize i = cut; i < n_batches; i++)
            squares += pow(gsl_stats_mean(values + 5 * i, 1, 5) - mean, 2.0);
        if (squares / (length * length) < best) {
            best = squares / (length * length);
            best_cut = cut;
        }
    }
    return 5 * best_cut;
}

static void
test_warm_up_noisy(void)
{
    enum { n = 1003, n_series = 40 };
    double values[n];
    guint n_trusted = 0;
    SimRng rng;
    sim_rng_init(&rng, 4, 0, "test-stats", "warm-up");
    for (guint series = 0; series < n_series; series++) {
        gsize cut;
        for (guint i = 0; i < n; i++)
            values[i] = 100.0 + 30.0 * exp(-(double) i / 40.0) + draw_normal(&rng);
        n_trusted += sim_ci_warm_up(values, n, &cut);
        g_assert_cmpuint(cut, ==, cut_by_definition(values, n));
        /* What is left of the transient at the cut is less than the noise of one batch by then. */
        g_assert_cmpuint(cut, >=, 70);
    }
    g_assert_cmpuint(n_trusted, >=, 36);
}

/* A drift without end has no warm-up: whatever is cut, the rest still drifts. */
static void
test_warm_up_drift(void)
{
    double values[400];
    gsize cut;
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        values[i] = i;
    g_assert_false(sim_ci_warm_up(values, G_N_ELEMENTS(values), &cut));
    g_assert_cmpuint(cut, ==, 375);
}

/* Neither in the tail nor in what would be cut off. */
static void
test_warm_up_nan(void)
{
    double values[400] = {NAN};
    gsize cut;
    g_assert_false(sim_ci_warm_up(values, 400, &cut));
    values[0] = 0.0;
    values[390] = NAN;
    g_assert_false(sim_ci_warm_up(values, 400, &cut));
    values[390] = 0.0;
    g_assert_true(sim_ci_warm_up(values, 400, &cut));
}

static void
test_convergence_known(void)
{
    /* From the end: m1 = 12, m2 = 11, m4 = 10; the first value is left over. */
    static const double values[] = {1e6, 8.0, 10.0, 9.0, 9.0, 9.0, 11.0, 13.0, 11.0};
    double change;
    g_assert_false(sim_ci_is_converged(values, 9, 0.0999, &change));
    g_assert_cmpfloat(change, ==, 1.0 / 10.0);
    g_assert_true(sim_ci_is_converged(values, 9, 0.1001, &change));
    /* The other change decides: m1 = 1, m2 = 2, m4 = 2. */
    g_assert_false(sim_ci_is_converged((const double[]){1.0, 3.0, 3.0, 1.0}, 4, 0.4, &change));
    g_assert_cmpfloat(change, ==, 0.5);
    g_assert_false(sim_ci_is_converged(values, 3, 1e9, &change));
    g_assert_true(isnan(change));
    g_assert_true(sim_ci_is_converged((const double[]){0.0, 0.0, 0.0, 0.0}, 4, 0.0, &change));
    g_assert_cmpfloat(change, ==, 0.0);
    g_assert_false(sim_ci_is_converged((const double[]){1.0, -1.0, 1.0, -1.0}, 4, 0.5, &change)); /* about 0 */
    g_assert_false(sim_ci_is_converged((const double[]){NAN, 1.0, 1.0, 1.0}, 4, 0.5, &change));
    g_assert_true(isnan(change));
}

static void
test_convergence_series(void)
{
    enum { n = 8000 };
    static double stationary[n], drifting[n], settling[n];
    double change;
    SimRng rng;
    sim_rng_init(&rng, 5, 0, "test-stats", "convergence");
    fill_autoregressive(&rng, 0.5, stationary, n);
    for (guint i = 0; i < n; i++) {
        double noise = stationary[i] * 5.0;
        stationary[i] = 100.0 + noise;
        drifting[i] = 100.0 + 20.0 * i / n + noise;
        settling[i] = 100.0 + 80.0 * exp(-(double) i / 200.0) + noise;
    }
    g_assert_true(sim_ci_is_converged(stationary, n, 0.01, &change));
    g_assert_false(sim_ci_is_converged(drifting, n, 0.01, &change));
    g_assert_cmpfloat(change, >, 0.03); /* half of the drift over half of the series, over 110 */
    g_assert_false(sim_ci_is_converged(settling, n, 0.01, &change));
    g_assert_true(sim_ci_is_converged(settling + 1000, n - 1000, 0.01, &change));
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sim/moments/known", test_moments_known);
    g_test_add_func("/sim/moments/merge", test_moments_merge);
    g_test_add_func("/sim/ci/t-quantile/known", test_t_quantile_known);
    g_test_add_func("/sim/ci/t-quantile/inverts", test_t_quantile_inverts);
    g_test_add_func("/sim/ci/mean/known", test_mean_known);
    g_test_add_func("/sim/ci/mean/coverage", test_mean_coverage);
    g_test_add_func("/sim/ci/paired", test_paired);
    g_test_add_func("/sim/ci/batch/known", test_batch);
    g_test_add_func("/sim/ci/batch/coverage", test_batch_means_coverage);
    g_test_add_func("/sim/ci/lag1", test_lag1);
    g_test_add_func("/sim/ci/warm-up/known", test_warm_up_known);
    g_test_add_func("/sim/ci/warm-up/noisy", test_warm_up_noisy);
    g_test_add_func("/sim/ci/warm-up/drift", test_warm_up_drift);
    g_test_add_func("/sim/ci/warm-up/nan", test_warm_up_nan);
    g_test_add_func("/sim/ci/convergence/known", test_convergence_known);
    g_test_add_func("/sim/ci/convergence/series", test_convergence_series);
    return g_test_run();
}
