/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_MOMENTS_H
#define SIM_MOMENTS_H

#include <glib.h>

/* Count, mean and variance of a stream of values in one pass (Welford), without the cancellation of sums of squares.
 * Zero-initialised is empty: `SimMoments moments = {0};`. */
typedef struct {
    guint64 count;
    double mean; /* 0 while empty */
    double m2;   /* sum of squared deviations from the mean */
} SimMoments;

/* Adds what `from` holds (Chan, Golub and LeVeque). Equal to one pass up to rounding, so parts are to be merged in a
 * fixed order where results must be the same to the last bit. */
void sim_moments_merge(SimMoments *moments, const SimMoments *from);

double sim_moments_mean(const SimMoments *moments);     /* NaN when empty */
double sim_moments_variance(const SimMoments *moments); /* of a sample, divided by n - 1; NaN for n < 2 */
double sim_moments_sd(const SimMoments *moments);       /* its square root */

static inline void
sim_moments_add(SimMoments *moments, double value)
{
    double delta = value - moments->mean;
    moments->count++;
    moments->mean += delta / (double) moments->count;
    moments->m2 += delta * (value - moments->mean);
}

#endif
