/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOY_EXPERIMENT_H
#define TOY_EXPERIMENT_H

#include "sim-experiment.h"

/* A world without any meaning that has every kind of result: numbers that depend on the seed, the replication and the
 * point, all the tables that charts are drawn from, and ways to fail on request. */
extern const SimExperiment toy_experiment;

#endif
