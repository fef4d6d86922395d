/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_PROBE_H
#define SIM_PROBE_H

#include "sim-design.h"

/* How long a design will take, by running a little of it. */

typedef struct {
    guint n_timed;    /* runs that were timed */
    double least_s;   /* the quickest of them */
    double most_s;    /* the slowest; of a run that was cut off, the time until then */
    double mean_s;    /* over the timed points */
    gboolean was_cut; /* the time was up before the last one ended: the true mean is larger */
} SimProbe;

/* Times one replication of up to `n_points` points spread evenly over those that are not refused, for `budget_s`
 * seconds in all. Nothing is kept of them. A run that fails is the error. */
gboolean sim_probe(SimDesign *design, const SimExperiment *experiment, guint n_points, double budget_s,
                   const gint *interrupt, SimProbe *ret_probe, GError **error);

#endif
