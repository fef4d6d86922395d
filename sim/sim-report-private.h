/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_REPORT_PRIVATE_H
#define SIM_REPORT_PRIVATE_H

#include "sim-about.h"
#include "sim-findings.h"
#include "sim-report.h"

/* Between sim-report.c, which reads, sim-report-text.c, which finds words, and sim-report-mail.c and sim-report-html.c,
 * which write. */

typedef struct {
    SimAbout *about;
    SimSource *source;
    SimGrid *grid;
    SimFindings *findings;
    SimTable *comparison; /* NULL without published figures */
} SimReportPart;

struct _SimReport {
    GPtrArray *parts; /* SimReportPart */
    SimControl control;
    const char *trust_metric; /* NULL for none */
};

static inline const SimReportPart *
sim_report_part(const SimReport *report, guint part)
{
    return g_ptr_array_index(report->parts, part);
}

/* Settings that the answer speaks of: array of guint, caller unrefs. */
GArray *sim_report_choices(const SimReportPart *part);

/* "better at 5 of 8 places, worse at 0, no difference seen at 3"; caller frees. */
char *sim_report_count(const SimReportPart *part, guint choice);
/* How far a gain pays for its cost: "+1.2k ± 0.3k a MiB", or why there is no such figure; caller frees. */
char *sim_report_rate(const SimFinding *gain, const SimFinding *cost, const char *cost_metric);
/* What a reader must know before believing a finding: other starts, branches; "" for nothing. Caller frees. */
char *sim_report_caveat(const SimFinding *finding);

/* Paragraphs on how the figures were made and what they leave out; NULL-terminated, caller frees with g_strfreev. */
char **sim_report_methods(const SimReport *report);
char **sim_report_limits(const SimReportPart *part);
/* "96 of 96 runs ...", and a warning when some are missing or not to be trusted; caller frees. */
char *sim_report_extent(const SimReport *report, const SimReportPart *part);

/* How many published figures lie outside the interval of the simulated one, have no such interval, and were not
 * simulated at all. */
typedef struct {
    guint n, n_outside, n_without_interval, n_not_simulated;
} SimReportMisses;

SimReportMisses sim_report_misses(const SimTable *comparison);
/* How near the simulated figures are to the published ones, in a sentence; "" without published ones. Caller frees. */
char *sim_report_published(const SimReportPart *part);
/* "inside the interval", "outside: simulated / published 0.71", or the table's status; caller frees. */
char *sim_report_miss(const SimTable *comparison, guint row, gboolean *ret_is_outside);

/* An SVG file of gnuplot as a part of a page: no prologue, ids made unique by `prefix`, nothing but shapes and text in
 * it. Caller frees; IO when anything else is found. */
char *sim_report_inline_svg(const char *svg, const char *prefix, GError **error);

/* Appends with & < > ' " and control characters escaped. */
void sim_report_put_html(GString *out, const char *text);
/* Appends `text` in lines of at most `columns`, the first after `first`, the others after `other`. */
void sim_report_put_wrapped(GString *out, const char *text, guint columns, const char *first, const char *other);
/* Columns of a terminal that the text takes. */
guint sim_report_width(const char *text);

#endif
