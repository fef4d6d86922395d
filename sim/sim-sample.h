/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_SAMPLE_H
#define SIM_SAMPLE_H

#include <glib.h>

/* Designs that fill a space of many dimensions with few points. Positions lie in [0, 1), row-major [sample][dimension];
 * the caller frees them. They depend on the arguments only. */

/* Most dimensions of the Sobol generator (GSL's own limit). */
#define SIM_SAMPLE_MAX_SOBOL 40

/* Latin hypercube (McKay, Beckman and Conover, 1979): in every dimension each of the n_samples equal strata holds
 * exactly one point, at a random place in it. `names` (n_dims) key the random streams, so that a dimension more does
 * not move the others. */
double *sim_sample_latin(guint64 seed, const char *const *names, guint n_dims, guint n_samples);

/* The first n_samples points of the Sobol sequence, shifted by one random vector modulo 1 (Cranley and Patterson,
 * 1976). More samples with the same seed continue the same sequence. n_dims from 1 to SIM_SAMPLE_MAX_SOBOL. */
double *sim_sample_sobol(guint64 seed, const char *const *names, guint n_dims, guint n_samples);

#endif
