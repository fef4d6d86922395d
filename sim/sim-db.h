/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_DB_H
#define SIM_DB_H

#include "sim-error.h"

#include <sqlite3.h>

/* The few SQLite calls that a study needs, with values always bound and every failure a SIM_ERROR_IO that begins with
 * the file's name. One thread at a time. */
typedef struct {
    sqlite3 *handle;
    char *path;
    GHashTable *statements; /* SQL text -> prepared statement */
} SimDb;

/* How long another writer is waited for before "locked". */
#define SIM_DB_BUSY_MS 10000

/* `flags` are SQLITE_OPEN_*. */
SimDb *sim_db_open(const char *path, int flags, GError **error);
void sim_db_close(SimDb *db);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimDb, sim_db_close)

/* Fixed SQL without values, one statement or many. */
gboolean sim_db_exec(SimDb *db, const char *sql, GError **error);

/* Binds and returns the statement, ready for its first step. `types` has one letter a value: i gint64, d double (NaN
 * becomes NULL), t text, b blob (pointer, then its length as gsize). Texts and blobs must live until the last step. The
 * statement belongs to `db` and is one for each SQL text: do not nest two uses of the same. */
sqlite3_stmt *sim_db_select(SimDb *db, GError **error, const char *sql, const char *types, ...);
/* TRUE and *ret_has_row. At the end or on an error the statement is reset. */
gboolean sim_db_step(SimDb *db, sqlite3_stmt *statement, gboolean *ret_has_row, GError **error);
/* Binds and runs to the end. */
gboolean sim_db_run(SimDb *db, GError **error, const char *sql, const char *types, ...);
/* First column of the first row, 0 without rows. */
gboolean sim_db_int(SimDb *db, gint64 *ret_value, GError **error, const char *sql, const char *types, ...);

/* Changes go to a log beside the file (SQLite's WAL), so that readers and a writer do not wait for one another. Where
 * the file system cannot do that, the mode stays as it is, which is slower and as safe. */
gboolean sim_db_use_log(SimDb *db, GError **error);

/* Takes the lock for writing at once, so that a transaction never fails half-way for want of it. */
gboolean sim_db_begin(SimDb *db, GError **error);
gboolean sim_db_commit(SimDb *db, GError **error);
void sim_db_rollback(SimDb *db);

gboolean sim_db_fail(SimDb *db, GError **error);

/* Column text, never NULL; borrowed until the next step. */
const char *sim_db_text(sqlite3_stmt *statement, int column);

#endif
