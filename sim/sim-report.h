/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "sim-verdict.h"

/* What studies and result folders answer, for people: a page and a mail. Drawn from what is stored, nothing else.
 *
 * Each part (a study or folder) is read as a grid of settings and places (sim-grid.h). First comes the answer: what
 * every setting does at the first and at the last place, with intervals, and what it costs. */
typedef struct _SimReport SimReport;

/* `paths` is NULL-terminated and not empty; `trust_metric` as in sim_findings_new(). Errors: as sim_about_read() and
 * sim_grid_new(). */
SimReport *sim_report_new(const char *const *paths, const char *trust_metric, SimControl control, GError **error);
void sim_report_free(SimReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimReport, sim_report_free)

#define SIM_REPORT_MAIL_COLUMNS 72

/* Plain text in lines of at most SIM_REPORT_MAIL_COLUMNS; caller frees. */
char *sim_report_mail(const SimReport *report);

/* One HTML page that needs nothing else: charts are inline, nothing is loaded. Charts are drawn by gnuplot with the
 * scripts of that folder. Caller frees. Errors: as sim_chart_draw(). */
char *sim_report_html(const SimReport *report, const char *scripts_folder, const gint *interrupt, GError **error);

#endif
