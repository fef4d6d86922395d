/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_FINDINGS_H
#define SIM_FINDINGS_H

#include "sim-grid.h"
#include "sim-table.h"
#include "sim-verdict.h"

/* What every choice did against the base at the same place, for the gain and the cost of a grid. All comparisons of a
 * metric are one family for the control. Rules of verdicts: sim-verdict.h. */

typedef struct {
    gboolean is_there; /* both the choice and the base have runs here */
    guint n;           /* runs of the choice */
    double mean, half_width;
    SimDifference difference; /* against the base; of the base itself all 0 */
    SimBranches branches, base_branches;
    guint n_untrusted, n_unknown; /* of the runs and the base's: trust metric is not 1, is not known */
    const char *other_start;      /* a start at which the verdict is another one, NULL for none */
} SimFinding;

typedef struct {
    const SimGrid *grid;
    SimControl control;
    guint n_compared; /* comparisons of one metric */
    GArray *gain;     /* SimFinding: [place][choice] */
    GArray *cost;     /* NULL without a cost */
} SimFindings;

/* `grid` outlives the findings. `trust_metric` is 1 in runs that can be trusted (sim-experiment.h); NULL, or one that
 * the runs do not have, for none. Errors: those of reading. */
SimFindings *sim_findings_new(const SimGrid *grid, const char *trust_metric, SimControl control, GError **error);
void sim_findings_free(SimFindings *findings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimFindings, sim_findings_free)

static inline const SimFinding *
sim_findings_gain(const SimFindings *findings, guint place, guint choice)
{
    return &g_array_index(findings->gain, SimFinding, place * findings->grid->choices->len + choice);
}

/* NULL without a cost. */
static inline const SimFinding *
sim_findings_cost(const SimFindings *findings, guint place, guint choice)
{
    return findings->cost == NULL
               ? NULL
               : &g_array_index(findings->cost, SimFinding, place * findings->grid->choices->len + choice);
}

/* Mean and interval of any metric; NaN where there is no run. */
gboolean sim_grid_mean(const SimGrid *grid, guint place, guint choice, const char *metric, double *ret_mean,
                       double *ret_half_width, GError **error);
/* Any metric of choice b less that of choice a at one place, not judged; FALSE in *ret_is_there without runs. */
gboolean sim_grid_difference(const SimGrid *grid, guint place, guint a, guint b, const char *metric,
                             SimDifference *ret_difference, gboolean *ret_is_there, GError **error);

/* A difference as a share of the base's mean, in percent, and its half-width; NaN when the base's mean is 0. */
void sim_finding_share(const SimFinding *finding, double *ret_percent, double *ret_half_width);

/* "better +12.9 ± 1.1 %", "no difference seen (at least 1.2 % would have been)", "metastable: 1.2k or 3.4k". Never a
 * share without its interval. Caller frees. */
char *sim_finding_words(const SimFinding *finding);
/* "+4.1 ± 0.2 MiB" for bytes, "+12k ± 3k" otherwise; "-" when it cannot be said. Caller frees. */
char *sim_finding_amount(const SimFinding *finding, const char *metric);
/* "512.4 ± 1.2 MiB"; NaN half-widths are left out. Caller frees. */
char *sim_amount_text(double mean, double half_width, const char *metric, gboolean with_sign);

#endif
