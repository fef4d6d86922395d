/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CONTRAST_H
#define SIM_CONTRAST_H

#include "sim-table.h"
#include "sim-verdict.h"

/* Two sets of results side by side: studies, result folders, variants or points of them. */

typedef struct {
    const char *const *metrics; /* NULL-terminated; NULL for the first metric; "all" for all that both have */
    const char *const *up;      /* metrics of which more is better, against sim_direction_of(); may be NULL */
    const char *const *down;    /* of which less is better; may be NULL */
    double confidence;          /* 0 for the scenario's */
    SimControl control;
} SimContrastOptions;

/* One comparison. */
typedef struct {
    char *label; /* of the points: "machine.cpus = 4", or "A against B" where they differ in name */
    char *start;
    char *metric;
    SimDifference difference;
    SimBranches branches_a, branches_b;
    char *note; /* both branches of a metastable side, starts that disagree, how it was paired; "" */
} SimContrast;

/* `a` and `b` are PATH or PATH#WHICH: a study or result folder, and a variant's name or a point's number from 1 of it.
 * Variants are matched at equal axis values and starts, two points by start, whole studies at equal variants as well.
 * The comparisons returned (SimContrast; caller unrefs) are one family for the control. *ret_n_unmatched counts points
 * and starts of either side without a partner. UNKNOWN_KEY for what is not there, MODEL when nothing matches; IO. */
GPtrArray *sim_contrast(const char *a, const char *b, const SimContrastOptions *options, guint *ret_n_unmatched,
                        GError **error);

/* All figures: points, start, metric, n_a, n_b, is_paired, mean_a, mean_b, difference, half_width, p_adjusted,
 * detectable, verdict, note. */
SimTable *sim_contrast_table(const GPtrArray *contrasts);
/* For people: rounded, with intervals; caller frees. */
char *sim_contrast_text(const GPtrArray *contrasts);

#endif
