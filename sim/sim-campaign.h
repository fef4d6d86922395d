/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include "sim-study.h"

/* Runs what a study still lacks. */

typedef struct {
    guint n_points_done, n_points;      /* of this shard */
    guint64 n_runs_done, n_runs_wanted; /* the latter grows while sequential stopping asks for more */
    guint64 n_own_runs;                 /* finished by this process */
    double n_own_events;                /* sum of the metric "events" of those, where the model has it */
} SimCampaignProgress;

typedef struct {
    guint n_workers;       /* at least 1 */
    const gint *interrupt; /* non-zero stops everything soon; may be set by a signal handler; may be NULL */
    /* Called from the caller's thread, first before anything runs and then after every change; may be NULL. */
    void (*progress)(const SimCampaignProgress *progress, gpointer data);
    gpointer data;
} SimCampaignOptions;

/* `study` must have been given `design` by sim_study_put_design(). Each replication is claimed, run, and committed
 * whole with the end of its claim, so processes may share the study, and a killed one loses the replications it was at.
 * Ends when all are there, those of other processes included; their claims fall to this one when they are dead or
 * silent for a minute. Memory holds the replications in flight only.
 *
 * A failed replication ends its point and start; the others go on, and the error is that of the first failed one in the
 * plan's order. SIM_ERROR_INTERRUPTED when `interrupt` stopped it; SIM_ERROR_IO for the file. What was finished is kept
 * in every case. */
gboolean sim_campaign_run(SimStudy *study, SimDesign *design, const SimExperiment *experiment,
                          const SimCampaignOptions *options, GError **error);

#endif
