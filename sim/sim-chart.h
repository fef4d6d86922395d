/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CHART_H
#define SIM_CHART_H

#include "sim-config.h"
#include "sim-verdict.h"

/* Draws the charts of a finished result folder or a study with gnuplot, from its files only. For each chart three files
 * are made: NAME.tsv, what is drawn, and NAME.svg and NAME.png, drawn by plots/KIND.gp.
 *
 * Every [plot NAME] group of the scenario gives a chart of that name; a kind that no group names is drawn under its
 * own name when its tables are in the folder and hold anything. */

/* `charts_folder` exists and is filled; `scripts_folder` is plots/. *ret_n_charts counts the charts. *ret_refused is
 * NULL, or names the [plot NAME] groups whose kind, metric or table is not there, with the reason; the other charts are
 * drawn (caller frees). Errors: SIM_ERROR_IO when gnuplot is missing, fails or complains (with what it said), or a file
 * cannot be read or written; SIM_ERROR_PARSE for a damaged table; SIM_ERROR_INTERRUPTED when *interrupt (may be NULL)
 * became non-zero. */
gboolean sim_chart_draw(const char *path, const char *scripts_folder, const char *charts_folder, const gint *interrupt,
                        guint *ret_n_charts, char **ret_refused, GError **error);

typedef struct {
    char *name, *kind, *title;
} SimChartMade;

/* The same for a report, of a result folder or a study: what the scenario asks for, then every kind that has something
 * to show. `control` is that of the verdicts. Returns the charts in that order (SimChartMade; caller unrefs).
 * *ret_refused and errors as above. */
GPtrArray *sim_chart_draw_report(const char *path, SimControl control, const char *scripts_folder,
                                 const char *charts_folder, const gint *interrupt, char **ret_refused, GError **error);

/* Whether the [plot NAME] groups have names that can be file names and kinds that exist; SIM_ERROR_UNKNOWN_KEY or
 * SIM_ERROR_RANGE with the place in the scenario. To be asked before a long run. */
gboolean sim_chart_check(const SimConfig *config, GError **error);

#endif
