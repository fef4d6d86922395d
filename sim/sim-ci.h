/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CI_H
#define SIM_CI_H

#include <glib.h>

/* How far a simulated mean can be trusted. The definitions are set out in docs/engine-statistics.md.
 *
 * `values` are observations in the order in which they came; `confidence` lies in (0, 1), 0.95 for 95 %. A result that
 * the data cannot give is NaN or FALSE, never a guess; a NaN among the values ends in NaN or FALSE too. Means and
 * half-widths are in the unit of the values. */

/* Mean of n independent values (replications) and the half-width of its t interval: t * s / sqrt(n) with n - 1 degrees
 * of freedom. The mean is NaN for n = 0, the half-width for n < 2. n equal values give half-width 0. */
void sim_ci_mean(const double *values, gsize n, double confidence, double *ret_mean, double *ret_half_width);

/* The same for the differences a[i] - b[i] of n pairs: two variants under common random numbers, pair i from
 * replication i of each. */
void sim_ci_paired(const double *a, const double *b, gsize n, double confidence, double *ret_mean,
                   double *ret_half_width);

/* Sequential stopping: the smallest n of n_min .. n_values whose first n values have a half-width within `precision` of
 * the absolute mean; 0 when there is none. It looks at every n in turn, so the answer does not depend on how many
 * values came at a time. Looking at the interval to decide when to stop makes it a little too narrow. */
gsize sim_ci_first_precise(const double *values, gsize n_values, gsize n_min, double confidence, double precision);

/* The t quantile behind them: |T| <= result with probability `confidence`; `degrees` of freedom > 0. */
double sim_ci_t_quantile(double confidence, double degrees);

/* Cuts the series into `n_batches` batches of n / n_batches neighbours and writes their means to ret_means (n_batches
 * entries). What is left over is dropped at the front, nearest to the warm-up. FALSE, with ret_means untouched, when
 * there are fewer values than batches. */
gboolean sim_ci_batch(const double *values, gsize n, gsize n_batches, double *ret_means);

/* Mean and interval of one long correlated series by non-overlapping batch means, n_batches >= 1. Sound when the batch
 * means are all but uncorrelated: look at sim_ci_lag1() of sim_ci_batch(). Both NaN for fewer values than batches. */
void sim_ci_batch_means(const double *values, gsize n, gsize n_batches, double confidence, double *ret_mean,
                        double *ret_half_width);

/* Autocorrelation at lag 1 in [-1, 1]; NaN for n < 2 and for constant series. */
double sim_ci_lag1(const double *values, gsize n);

/* Warm-up by MSER-5 (White, Cobb and Spratt, 2000): *ret_index is the number of observations to drop at the front, a
 * multiple of 5. TRUE when it can be trusted: the series has at least 50 observations and the cut is not in its last
 * half. FALSE means that the run is too short to tell, and *ret_index is then for show only (0 below 50 values). */
gboolean sim_ci_warm_up(const double *values, gsize n, gsize *ret_index);

/* Convergence by window doubling: with m1, m2, m4 the means of the last quarter, the last half and all of the series,
 * *ret_change is the larger of |m2 - m1| / |m2| and |m4 - m2| / |m4|, and the answer whether it is <= tolerance (a
 * fraction). Up to three oldest values are left out to make the quarters equal. NaN and FALSE for n < 4.
 *
 * It asks whether the mean has stopped moving at this tolerance, not how precise it is: noise larger than the
 * tolerance reads as not converged, a drift slower than the series is long goes unseen. */
gboolean sim_ci_is_converged(const double *values, gsize n, double tolerance, double *ret_change);

#endif
