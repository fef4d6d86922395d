/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_SOURCE_H
#define SIM_SOURCE_H

#include "sim-study.h"

/* Finished runs, wherever they are kept: a study file or a result folder. */
typedef struct _SimSource SimSource;

typedef struct {
    guint point;         /* from 0, in the order of the plan */
    const char *variant; /* borrowed, as all below */
    const char *start;
    const char *const *values; /* one an axis, NULL-terminated */
    double confidence;         /* as the scenario asks; 0.95 in a folder, which does not say */
} SimSourceCell;

SimSource *sim_source_open(const char *path, GError **error);
void sim_source_free(SimSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimSource, sim_source_free)

const char *sim_source_path(const SimSource *source);
guint sim_source_n_axes(const SimSource *source);
const char *sim_source_axis_key(const SimSource *source, guint axis);
guint sim_source_n_cells(const SimSource *source);
SimSourceCell sim_source_cell(const SimSource *source, guint cell);
const char *const *sim_source_metrics(const SimSource *source);
/* Index of a metric; -1 and UNKNOWN_KEY with a hint when there is none of that name. */
int sim_source_find_metric(const SimSource *source, const char *name, GError **error);
/* The replications of a cell; caller frees. */
SimCellRuns *sim_source_read(SimSource *source, guint cell, GError **error);

/* Of two cells, the values of one metric each (indices of their own): pairs of equal replication and seed in a and b
 * when there are any, with *ret_is_paired, else all of each. Doubles; the caller unrefs. */
void sim_source_pair(const SimCellRuns *a, guint metric_a, const SimCellRuns *b, guint metric_b, GArray **ret_a,
                     GArray **ret_b, gboolean *ret_is_paired);

/* "variant, key = value"; caller frees. */
char *sim_source_label(const SimSource *source, guint cell);

#endif
