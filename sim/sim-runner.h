/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_RUNNER_H
#define SIM_RUNNER_H

#include "sim-experiment.h"
#include "sim-plan.h"

/* Runs every point x start x replication of a plan. */

#define SIM_RUNNER_MIN_REPLICATIONS 5

/* Sequential stopping goes by rounds: how many replications there should be after the next one. Half as many again
 * keeps all workers busy without many runs in vain. */
guint sim_runner_next_target(guint n_started, guint n_max);

typedef struct {
    guint point;
    const char *start; /* a word of the point's run.starts, owned by the plan */
    guint replication;
    guint64 seed;
    SimRecord *record;
} SimRun;

/* Ordered by point, then start, then replication, whatever the number of workers was. */
typedef struct {
    const SimPlan *plan;      /* borrowed; must outlive the runs */
    const char *trust_metric; /* the experiment's, may be NULL */
    SimRun *runs;
    guint n_runs;
} SimRuns;

typedef struct {
    guint n_workers;       /* at least 1 */
    const gint *interrupt; /* non-zero stops everything soon; may be set by a signal handler; may be NULL */
    /* Called from the caller's thread, first with n_done 0 and then after every change; may be NULL. */
    void (*progress)(guint n_done, guint n_total, gpointer data);
    gpointer data;
} SimRunnerOptions;

/* Where run.precision is given, run.replications is a limit: a point and start gets the fewest replications, at least
 * SIM_RUNNER_MIN_REPLICATIONS, whose t interval of the first metric is within that fraction of its mean. Looking at
 * the interval to decide when to stop makes it a little too narrow.
 *
 * Every run gets its own record and touches nothing of the others, so the result depends on the plan only. When runs
 * fail, the error is that of the first of them in the order above, which is again the same for any number of workers;
 * runs after it are stopped. SIM_ERROR_INTERRUPTED when `interrupt` stopped at least one run. */
SimRuns *sim_runner_run(const SimExperiment *experiment, const SimPlan *plan, const SimRunnerOptions *options,
                        GError **error);
void sim_runs_free(SimRuns *runs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimRuns, sim_runs_free)

#endif
