/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_VERDICT_H
#define SIM_VERDICT_H

#include <glib.h>

/* Whether two sets of replications differ, and what could have been seen. The rules are set out in docs/studies.md. */

typedef enum {
    SIM_DIRECTION_NONE, /* more is neither better nor worse */
    SIM_DIRECTION_UP,   /* more is better */
    SIM_DIRECTION_DOWN, /* less is better */
} SimDirection;

typedef enum {
    SIM_VERDICT_TOO_FEW, /* less than two replications on a side */
    SIM_VERDICT_NONE,    /* no difference seen; one below `detectable` may be there */
    SIM_VERDICT_BETTER,
    SIM_VERDICT_WORSE,
    SIM_VERDICT_HIGHER, /* of a metric without direction */
    SIM_VERDICT_LOWER,
    SIM_VERDICT_METASTABLE, /* a side has two branches: there is no mean to compare */
} SimVerdict;

const char *sim_verdict_word(SimVerdict verdict);

/* Throughput ("..._per_s") goes up; time ("_ps" ... "_s") and memory ("_bytes") go down; others have none. */
SimDirection sim_direction_of(const char *metric);

/* B against A. Means, difference, half-width and detectable are in the unit of the values. */
typedef struct {
    guint n_a, n_b;
    gboolean is_paired;
    double mean_a, mean_b;
    double difference; /* mean of B less that of A */
    double half_width; /* of its t interval at the confidence asked for; NaN for too few */
    double p;          /* of no difference, two-sided; NaN for too few */
    double p_adjusted; /* after the control over the whole family */
    double detectable; /* the smallest true difference that would have been seen in 4 of 5 studies like this one */
    SimVerdict verdict;
    double degrees, error; /* of freedom; standard error of the difference */
} SimDifference;

/* Pairs: a[i] and b[i] are of one replication and share its random numbers. Student's t on the n differences. */
SimDifference sim_difference_paired(const double *a, const double *b, gsize n, double confidence);
/* Independent sets: Welch's t, whose variances may differ. */
SimDifference sim_difference_welch(const double *a, gsize n_a, const double *b, gsize n_b, double confidence);

typedef enum {
    SIM_CONTROL_HOLM, /* no false verdict in the family with the confidence asked for */
    SIM_CONTROL_BH,   /* of the verdicts, that fraction is expected to be true (Benjamini and Hochberg, 1995) */
    SIM_CONTROL_NONE, /* each comparison by itself */
} SimControl;

/* "holm", "bh", "none". */
gboolean sim_control_parse(const char *word, SimControl *ret_control, GError **error);

/* Fills p_adjusted, detectable and verdict of a family of n comparisons, which are all that were looked at.
 * directions[i] belongs to differences[i]. Comparisons with verdict METASTABLE keep it and do not count. */
void sim_difference_judge(SimDifference *const *differences, const SimDirection *directions, gsize n, double confidence,
                          SimControl control);

/* Two branches: at least 8 values, of which a cut through the widest gap that leaves 2 on both sides makes two groups
 * whose gap is at least 6 times their pooled standard deviation and 1 % of the absolute mean. One branch of normal
 * noise is taken for two in about 1 of 200 sets of 8 values and 1 of 1,000 of 10, of exponential noise in 1 of 40 and 1
 * of 55. */
typedef struct {
    gboolean is_split;
    guint n_low, n_high;
    double mean_low, mean_high;
} SimBranches;

#define SIM_BRANCHES_MIN_VALUES 8

SimBranches sim_branches_find(const double *values, gsize n);

#endif
