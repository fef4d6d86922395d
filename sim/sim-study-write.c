/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study-private.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gint64
now_s(void)
{
    return g_get_real_time() / G_USEC_PER_SEC;
}

/* "host pid random": the random part tells a process from a later one with the same number. */
char *
sim_study_owner_new(void)
{
    return g_strdup_printf("%s %d %08x%08x", g_get_host_name(), (int) getpid(), g_random_int(), g_random_int());
}

static gboolean
is_dead(const char *owner)
{
    g_auto(GStrv) words = g_strsplit(owner, " ", 3);
    gint64 pid = words[0] != NULL && words[1] != NULL ? g_ascii_strtoll(words[1], NULL, 10) : 0;

    return pid > 0 && g_str_equal(words[0], g_get_host_name()) && kill((pid_t) pid, 0) != 0 && errno == ESRCH;
}

gboolean
sim_study_drop_dead_claims(SimStudy *study, GError **error)
{
    sqlite3_stmt *s = sim_db_select(study->db, error, "SELECT DISTINCT owner FROM claim", "");
    g_autoptr(GPtrArray) dead = g_ptr_array_new_with_free_func(g_free);
    gboolean has_row = s != NULL;

    if (s == NULL)
        return FALSE;
    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (has_row && is_dead(sim_db_text(s, 0)))
            g_ptr_array_add(dead, g_strdup(sim_db_text(s, 0)));
    }
    for (guint i = 0; i < dead->len; i++)
        if (!sim_study_drop_claims(study, dead->pdata[i], error))
            return FALSE;
    return TRUE;
}

static gint64
point_id(const SimStudy *study, guint cell)
{
    return sim_study_point(study, sim_study_cell(study, cell)->point)->id;
}

gboolean
sim_study_claim(SimStudy *study, guint cell, guint replication, const char *owner, gboolean *ret_claimed,
                GError **error)
{
    const char *start = sim_study_cell(study, cell)->start;
    gint64 point = point_id(study, cell), now = now_s();

    if (!sim_db_run(study->db, error,
                    "INSERT INTO claim(point, start, replication, owner, expires_s) SELECT ?1, ?2, ?3, ?4, ?5"
                    " WHERE NOT EXISTS(SELECT 1 FROM run WHERE point = ?1 AND start = ?2 AND replication = ?3)"
                    " ON CONFLICT(point, start, replication) DO UPDATE SET owner = ?4, expires_s = ?5"
                    " WHERE expires_s < ?6",
                    "ititii", point, start, (gint64) replication, owner, now + SIM_STUDY_LEASE_S, now))
        return FALSE;
    *ret_claimed = sqlite3_changes(study->db->handle) == 1;
    return TRUE;
}

gboolean
sim_study_renew_claims(SimStudy *study, const char *owner, GError **error)
{
    return sim_db_run(study->db, error, "UPDATE claim SET expires_s = ? WHERE owner = ?", "it",
                      now_s() + SIM_STUDY_LEASE_S, owner);
}

gboolean
sim_study_drop_claims(SimStudy *study, const char *owner, GError **error)
{
    return sim_db_run(study->db, error, "DELETE FROM claim WHERE owner = ?", "t", owner);
}

static gboolean
layout_id(SimDb *db, const char *name, const char *columns, gint64 *ret_id, GError **error)
{
    return sim_db_run(db, error, "INSERT OR IGNORE INTO layout(name, columns) VALUES(?, ?)", "tt", name, columns) &&
           sim_db_int(db, ret_id, error, "SELECT layout FROM layout WHERE name = ? AND columns = ?", "tt", name,
                      columns);
}

/* The layout of the metrics has an empty name, which no table has. */
static gboolean
metrics_layout(SimDb *db, const SimRecord *record, gint64 *ret_id, GError **error)
{
    g_autoptr(GString) columns = g_string_new(NULL);

    for (guint i = 0; i < sim_record_n_metrics(record); i++)
        g_string_append_printf(columns, "%s%s", i > 0 ? "\t" : "", sim_record_metric_name(record, i));
    return layout_id(db, "", columns->str, ret_id, error);
}

static gboolean
put_values(SimDb *db, gint64 run, const SimRecord *record, GError **error)
{
    for (guint i = 0; i < sim_record_n_metrics(record); i++) {
        const char *name = sim_record_metric_name(record, i);
        gint64 metric;
        if (!sim_db_int(db, &metric, error, "SELECT metric FROM metric WHERE name = ?", "t", name))
            return FALSE;
        if (metric == 0) {
            if (!sim_db_run(db, error, "INSERT INTO metric(name) VALUES(?)", "t", name))
                return FALSE;
            metric = sqlite3_last_insert_rowid(db->handle);
        }
        if (!sim_db_run(db, error, "INSERT INTO value(run, metric, value) VALUES(?, ?, ?)", "iid", run, metric,
                        sim_record_metric(record, i)))
            return FALSE;
    }
    return TRUE;
}

/* Its rows without the header line, which is the layout. */
static gboolean
put_table(SimDb *db, gint64 run, const SimTable *table, GError **error)
{
    GString *text = sim_table_to_tsv(table);
    const char *rows = strchr(text->str, '\n') + 1;
    g_autofree char *header = g_strndup(text->str, (gsize) (rows - text->str) - 1);
    g_autofree guint8 *packed = NULL;
    gsize length;
    gint64 layout;
    gboolean ok;

    sim_study_pack(rows, text->len - (gsize) (rows - text->str), &packed, &length);
    ok = layout_id(db, sim_table_name(table), header, &layout, error) &&
         sim_db_run(db, error, "INSERT INTO record_table(run, layout, rows, data) VALUES(?, ?, ?, ?)", "iiib", run,
                    layout, (gint64) sim_table_n_rows(table), packed, length);
    g_string_free(text, TRUE);
    return ok;
}

/* Two processes may have done the same run when a lease ran out; it must have come out the same. */
static gboolean
check_same(SimStudy *study, guint cell, guint replication, guint64 fingerprint, GError **error)
{
    gint64 old;

    if (!sim_db_int(study->db, &old, error,
                    "SELECT fingerprint FROM run WHERE point = ? AND start = ? AND replication = ?", "iti",
                    point_id(study, cell), sim_study_cell(study, cell)->start, (gint64) replication))
        return FALSE;
    if ((guint64) old == fingerprint)
        return TRUE;
    g_set_error(
        error, SIM_ERROR, SIM_ERROR_MODEL,
        "%s: %s, start %s, replication %u came out differently when it was run again: two programs write here, or "
        "the model is not deterministic",
        study->db->path, sim_study_point(study, sim_study_cell(study, cell)->point)->label,
        sim_study_cell(study, cell)->start, replication);
    return FALSE;
}

gboolean
sim_study_put_run(SimStudy *study, guint cell, guint replication, guint64 seed, const SimRecord *record, GError **error)
{
    SimDb *db = study->db;
    const char *start = sim_study_cell(study, cell)->start;
    gint64 layout, run;

    if (!metrics_layout(db, record, &layout, error) ||
        !sim_db_run(db, error, "DELETE FROM claim WHERE point = ? AND start = ? AND replication = ?", "iti",
                    point_id(study, cell), start, (gint64) replication) ||
        !sim_db_run(db, error,
                    "INSERT OR IGNORE INTO run(point, start, replication, seed, fingerprint, layout)"
                    " VALUES(?, ?, ?, ?, ?, ?)",
                    "itiiii", point_id(study, cell), start, (gint64) replication, (gint64) seed,
                    (gint64) sim_record_fingerprint(record), layout))
        return FALSE;
    if (sqlite3_changes(db->handle) == 0)
        return check_same(study, cell, replication, sim_record_fingerprint(record), error);
    run = sqlite3_last_insert_rowid(db->handle);
    if (!put_values(db, run, record, error))
        return FALSE;
    for (guint i = 0; i < sim_record_n_tables(record); i++)
        if (!put_table(db, run, sim_record_table(record, i), error))
            return FALSE;
    return TRUE;
}

gboolean
sim_study_put_needed(SimStudy *study, guint cell, guint n_needed, GError **error)
{
    g_array_index(study->cells, SimStudyCell, cell).n_needed = (gint) n_needed;
    return sim_db_run(study->db, error, "UPDATE cell SET needed = ? WHERE point = ? AND start = ?", "iit",
                      (gint64) n_needed, point_id(study, cell), sim_study_cell(study, cell)->start);
}

gboolean
sim_study_first_metric(SimStudy *study, guint cell, guint n, double *ret_values, GError **error)
{
    sqlite3_stmt *s =
        sim_db_select(study->db, error,
                      "SELECT replication, value FROM run LEFT JOIN layout USING(layout)"
                      " LEFT JOIN metric ON metric.name = substr(columns, 1, instr(columns || char(9), char(9)) - 1)"
                      " LEFT JOIN value ON value.run = run.run AND value.metric = metric.metric"
                      " WHERE point = ? AND start = ? AND replication < ?",
                      "iti", point_id(study, cell), sim_study_cell(study, cell)->start, (gint64) n);
    gboolean has_row = s != NULL;

    for (guint i = 0; i < n; i++)
        ret_values[i] = NAN;
    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (has_row && sqlite3_column_type(s, 1) != SQLITE_NULL)
            ret_values[sqlite3_column_int64(s, 0)] = sqlite3_column_double(s, 1);
    }
    return s != NULL;
}
