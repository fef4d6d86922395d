/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_STUDY_PRIVATE_H
#define SIM_STUDY_PRIVATE_H

#include "sim-db.h"
#include "sim-study.h"

/* Shared by the files of the study (sim-study*.c) and the sweep that fills it (sim-campaign.c). */

struct _SimStudy {
    SimDb *db;
    GHashTable *about;     /* key -> value */
    GPtrArray *axes;       /* char * */
    GPtrArray *points;     /* SimStudyPoint */
    GArray *cells;         /* SimStudyCell */
    GArray *design_points; /* guint: point of the study -> point of the design that was put last */
    char **metrics;        /* NULL until asked for */
    GArray *metric_ids;    /* gint: row of the table `metric` -> index in metrics, -1 for none */
};

/* Rereads what the accessors return. */
gboolean sim_study_load(SimStudy *study, GError **error);

/* How long a claim holds without being renewed. */
#define SIM_STUDY_LEASE_S 60

/* Names this process in claims; caller frees. */
char *sim_study_owner_new(void);
/* Drops the claims of processes of this host that are gone. */
gboolean sim_study_drop_dead_claims(SimStudy *study, GError **error);
/* Inside a transaction. *ret_claimed is FALSE when the run is finished or another process has it. */
gboolean sim_study_claim(SimStudy *study, guint cell, guint replication, const char *owner, gboolean *ret_claimed,
                         GError **error);
gboolean sim_study_renew_claims(SimStudy *study, const char *owner, GError **error);
gboolean sim_study_drop_claims(SimStudy *study, const char *owner, GError **error);

/* Inside a transaction: a finished run, and the end of its claim. MODEL when the study has it already with other
 * numbers. */
gboolean sim_study_put_run(SimStudy *study, guint cell, guint replication, guint64 seed, const SimRecord *record,
                           GError **error);
/* Sequential stopping has decided. */
gboolean sim_study_put_needed(SimStudy *study, guint cell, guint n_needed, GError **error);
/* The first metric of replications 0 .. n-1 of a cell, which are all there; NaN where it is missing. */
gboolean sim_study_first_metric(SimStudy *study, guint cell, guint n, double *ret_values, GError **error);

/* FALSE with an error when the file is no longer where it was opened, so that what is written would be lost. */
gboolean sim_study_check_place(SimStudy *study, GError **error);

/* zlib; `ret_bytes` is owned by the caller. */
void sim_study_pack(const char *text, gsize length, guint8 **ret_bytes, gsize *ret_length);
/* NUL-terminated text; NULL when the bytes are damaged. Caller frees. */
char *sim_study_unpack(const guint8 *bytes, gsize length);

#endif
