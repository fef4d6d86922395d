/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_SUMMARY_H
#define SIM_SUMMARY_H

#include "sim-runner.h"
#include "sim-table.h"

/* What the replications of one point say together, and how points are named in every table. */

typedef struct {
    guint n;           /* replications that recorded the metric */
    double mean;       /* NaN when one of them is NaN */
    double half_width; /* of the t interval at the point's run.confidence; NaN for n < 2 */
    double sd;         /* n - 1 in the denominator; NaN for n < 2 */
    double min, max;
} SimSummary;

/* `n` values of one metric; confidence in (0, 1). */
void sim_summarise(const double *values, gsize n, double confidence, SimSummary *ret_summary);

/* Identity columns of a point: "variant", then the key of each axis. */
void sim_point_add_columns(const SimPlan *plan, GPtrArray *columns);
void sim_point_put(const SimPlan *plan, guint point, SimTable *table);

/* Metric names of all runs, in the order of first appearance: owned strings, NULL at the end; caller unrefs. */
GPtrArray *sim_runs_metric_names(const SimRuns *runs);
/* Words of run.starts of all points, in the order of first appearance; as above. */
GPtrArray *sim_runs_starts(const SimRuns *runs);

/* The metric's value in each replication of a point and start, in order: doubles; caller unrefs. */
GArray *sim_runs_values(const SimRuns *runs, guint point, const char *start, const char *metric);
void sim_runs_summarise(const SimRuns *runs, guint point, const char *start, const char *metric,
                        SimSummary *ret_summary);

/* Long form, one row a point, start and metric that has at least one value: identity, start, metric, n, mean,
 * half_width, sd, min, max. */
SimTable *sim_runs_summary_table(const SimRuns *runs);

/* For people: one row a point and start with "mean ± half width" of the first `n_metrics` metrics, in the precision
 * that the interval supports. */
char *sim_runs_summary_text(const SimRuns *runs, guint n_metrics);

/* What the trust metric (SimExperiment) says of the replications of a point and start; all 0 without one. */
typedef struct {
    guint n, n_untrusted, n_unknown;
} SimTrust;

SimTrust sim_runs_trust(const SimRuns *runs, guint point, const char *start);
/* What untrusted runs are: "not converged" for the trust metric is_converged; caller frees. */
char *sim_runs_untrusted_word(const SimRuns *runs);
/* A line that names the points and starts with such runs and what to do, and one that counts those of which it is not
 * known, without a line end; NULL when all are trusted; caller frees. */
char *sim_runs_untrusted_text(const SimRuns *runs);

/* "1.234M ± 0.012M", without the interval when it is NaN; caller frees. */
char *sim_format_interval(double mean, double half_width);

#endif
