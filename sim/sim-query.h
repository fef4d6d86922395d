/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_QUERY_H
#define SIM_QUERY_H

#include "sim-source.h"

/* The common questions to a study or result folder. Every table begins with variant, axes and start; starts are never
 * averaged together. Half-widths are of t intervals at the scenario's confidence; differences between rows are over
 * pairs of equal replications. Errors: UNKNOWN_KEY for names that are not there; IO. Caller frees. */

/* The n_top rows with the highest (or lowest) mean, best first: metric, half_width, behind (mean difference to the best
 * row of its start, empty there), behind_half_width. NULL metric: the first. */
SimTable *sim_query_best(SimSource *source, const char *metric, gboolean is_lowest_best, guint n_top, GError **error);

/* For each start, the rows that no other row beats in both more of `gain` and less of `cost`, by rising cost: cost,
 * cost_half_width, gain, gain_half_width, then against the row before: more_cost, more_gain, more_gain_half_width, and
 * gain_per_MiB (gain_per_unit of a cost that is not in bytes) with its half-width, of the ratio of the two means.
 * Where more_gain's interval holds 0, the step may be noise. */
SimTable *sim_query_pareto(SimSource *source, const char *gain, const char *cost, GError **error);

/* One metric along one axis: rows of equal variant, other axes and start together, in the order of the plan: metric,
 * half_width, n. */
SimTable *sim_query_curve(SimSource *source, const char *metric, const char *axis, GError **error);

#endif
