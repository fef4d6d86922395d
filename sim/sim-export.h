/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_EXPORT_H
#define SIM_EXPORT_H

#include "sim-study.h"

#include <stdio.h>

/* A study as text. The bytes depend on the scenario, its overrides and the program's version only: not on times, hosts,
 * worker counts, the order in which runs were finished, or how often the study was interrupted. */

typedef enum {
    SIM_EXPORT_TSV,   /* as in result folders (sim-table.h) */
    SIM_EXPORT_CSV,   /* RFC 4180 with line feeds */
    SIM_EXPORT_JSONL, /* one object a line; what is no finite number is null */
} SimExportFormat;

/* "tsv", "csv", "jsonl"; UNKNOWN_KEY with what is allowed. */
gboolean sim_export_parse_format(const char *word, SimExportFormat *ret_format, GError **error);

/* Writes one of "metrics" (one row a run), "summary" (one row a point, start and metric), "points", "refused", or a
 * table that runs recorded. Memory holds one point at a time. UNKNOWN_KEY for another name, with what there is; IO. */
gboolean sim_export_write(SimStudy *study, const char *what, SimExportFormat format, FILE *out, GError **error);

#endif
