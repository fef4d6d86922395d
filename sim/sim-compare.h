/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "sim-summary.h"

/* Published figures beside the simulated ones.
 *
 * A published file is a .tsv with the columns id, variant, axis_value, metric, value, unit, note. `unit` must agree
 * with the end of the metric's name ("ops/s" with _ops_per_s, "percent" or "%" with _percent), or be "x VARIANT": the
 * value is then the ratio of the metric to that variant at the same axis value. axis_value is empty without an axis. */

/* SIM_ERROR_PARSE with "PATH:LINE: " in front for a wrong column, number, unit, or an id given twice, and for a file
 * without a figure; SIM_ERROR_IO. */
SimTable *sim_published_read(const char *path, GError **error);

/* One row a published figure and start word: id, identity, start, metric, unit, published, simulated, half_width,
 * ratio (simulated / published; NaN for a published 0), published_vs_base, simulated_vs_base, vs_base_half_width,
 * status, verdict, note. The base is the row "ID-base", else the plan's first variant at the same axis value; both
 * _vs_base ratios stand where its figure is published too. Simulated ratios are means over pairs of equal replications, half-widths their t intervals.
 *
 * A figure that the plan does not reach has empty simulated cells and says why in `status`; else that is "ok" or what
 * sim_runs_untrusted_word() calls the runs. The verdict is "inside" (the published value lies in the simulated
 * interval; "inside ± X %" of one wider than 10 %), else "within 10 %", else "off by X %" (positive: simulated is higher) or, of a published 0, "not 0". */
SimTable *sim_compare(const SimTable *published, const SimRuns *runs);

/* Of a table made by sim_compare(): metric, unit kind (absolute or ratio), n comparisons simulated, not_simulated,
 * published_as_0 (among n, without relative error), rms_relative_error: of simulated / published - 1. */
SimTable *sim_compare_errors(const SimTable *comparison);

/* The comparison and its errors for people: rounded numbers, without the columns that are empty all the way; caller
 * frees. */
char *sim_compare_to_text(const SimTable *comparison);

#endif
