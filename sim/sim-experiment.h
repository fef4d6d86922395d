/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_EXPERIMENT_H
#define SIM_EXPERIMENT_H

#include "sim-config.h"
#include "sim-record.h"

/* The seam between the experiment machinery (engine) and a program's world (models). */

typedef struct
{
    const SimConfig *config;
    guint64 seed;       /* run.seed */
    guint replication;  /* 0-based; the same index in two points means common random numbers */
    const char *start;  /* one word of run.starts, e.g. "cold" */
    const gint *cancel; /* becomes non-zero when the run should stop early (g_atomic_int_get) */
} SimRunInput;

typedef struct
{
    const char *program; /* "slubsim" */
    const char *version;
    const SimSchema *schema;
    const char *const *starts; /* words allowed in run.starts, NULL-terminated */
    /* A metric that is 1 when a run may be trusted ("is_converged") and NaN when that is not known; NULL for none. */
    const char *trust_metric;
    /* Checks a resolved point beyond the schema without running it. */
    gboolean (*check)(const SimConfig *config, GError **error);
    /* Whether a point looks at this key of the schema at all; NULL: at every one. */
    gboolean (*reads_key)(const SimConfig *config, const SimKeySpec *spec);
    /* Runs one replication and fills `record`. Thread-safe: touches nothing shared. SIM_ERROR_INTERRUPTED when
     * cancelled. */
    gboolean (*run)(const SimRunInput *input, SimRecord *record, GError **error);
} SimExperiment;

#endif
