/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-sample.h"

#include "sim-gsl.h"
#include "sim-rng.h"

#include <math.h>

double *
sim_sample_latin(guint64 seed, const char *const *names, guint n_dims, guint n_samples)
{
    double *positions = g_new(double, (gsize) n_samples *n_dims);
    g_autofree guint *strata = g_new(guint, n_samples);

    for (guint dim = 0; dim < n_dims; dim++) {
        SimRng rng;
        sim_rng_init(&rng, seed, 0, names[dim], "latin hypercube");
        for (guint i = 0; i < n_samples; i++)
            strata[i] = i;
        for (guint i = n_samples; i > 1; i--) {
            guint j = (guint) sim_rng_below(&rng, i);
            guint swapped = strata[j];
            strata[j] = strata[i - 1];
            strata[i - 1] = swapped;
        }
        for (guint i = 0; i < n_samples; i++)
            positions[(gsize) i * n_dims + dim] = (strata[i] + sim_rng_uniform(&rng)) / n_samples;
    }
    return positions;
}

double *
sim_sample_sobol(guint64 seed, const char *const *names, guint n_dims, guint n_samples)
{
    g_autoptr(gsl_qrng) sequence = gsl_qrng_alloc(gsl_qrng_sobol, n_dims);
    double *positions = g_new(double, (gsize) n_samples *n_dims);
    g_autofree double *shifts = g_new(double, n_dims);

    g_assert(sequence != NULL);
    for (guint dim = 0; dim < n_dims; dim++) {
        SimRng rng;
        sim_rng_init(&rng, seed, 0, names[dim], "sobol shift");
        shifts[dim] = sim_rng_uniform(&rng);
    }
    for (guint i = 0; i < n_samples; i++) {
        double *row = positions + (gsize) i * n_dims;
        gsl_qrng_get(sequence, row);
        for (guint dim = 0; dim < n_dims; dim++)
            row[dim] = fmod(row[dim] + shifts[dim], 1.0);
    }
    return positions;
}
