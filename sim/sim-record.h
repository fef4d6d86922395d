/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <glib.h>

/* What one replication leaves behind: named metrics and named tables. Names carry the unit
 * ("throughput_ops_per_s"). A record is filled by one thread and read-only afterwards. */
typedef struct _SimRecord SimRecord;
typedef struct _SimTable SimTable;

SimRecord *sim_record_new(void);
void sim_record_free(SimRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimRecord, sim_record_free)

/* Metrics keep the order in which they are added; each name once. */
void sim_record_add_metric(SimRecord *record, const char *name, double value);
guint sim_record_n_metrics(const SimRecord *record);
const char *sim_record_metric_name(const SimRecord *record, guint i);
double sim_record_metric(const SimRecord *record, guint i);
/* FALSE when there is no metric of that name. */
gboolean sim_record_find_metric(const SimRecord *record, const char *name, double *ret_value);

/* A hash of the sequence of events, the same for equal runs. */
void sim_record_set_fingerprint(SimRecord *record, guint64 fingerprint);
guint64 sim_record_fingerprint(const SimRecord *record);

/* `columns` is NULL-terminated and copied. The table belongs to the record. */
SimTable *sim_record_add_table(SimRecord *record, const char *name, const char *const *columns);
guint sim_record_n_tables(const SimRecord *record);
const SimTable *sim_record_table(const SimRecord *record, guint i);

/* Cells are put left to right; a full row starts the next one. */
void sim_table_put_int(SimTable *table, gint64 value);
void sim_table_put_real(SimTable *table, double value);
void sim_table_put_text(SimTable *table, const char *value);

const char *sim_table_name(const SimTable *table);
const char *const *sim_table_columns(const SimTable *table);
guint sim_table_n_rows(const SimTable *table);
/* The cell as it is written to a file: locale-free number or raw text; borrowed. */
const char *sim_table_cell(const SimTable *table, guint row, guint column);

/* Shortest decimal text that reads back as the same double ("NaN" written as "nan"); `buffer` of at least
 * G_ASCII_DTOSTR_BUF_SIZE bytes; returns buffer. */
char *sim_format_real(char *buffer, double value);

#endif
