/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-db.h"

#include <math.h>
#include <stdarg.h>

static const char *
explain(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return "not a study: no SQLite database";
    case SQLITE_CORRUPT:
        return "damaged study";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "locked by another program";
    case SQLITE_FULL:
        return "no space left for the study; what was finished before is kept";
    case SQLITE_READONLY:
        return "the study cannot be written";
    case SQLITE_CANTOPEN:
        return "cannot be opened";
    case SQLITE_IOERR:
        return "disk error";
    default:
        return "study";
    }
}

gboolean
sim_db_fail(SimDb *db, GError **error)
{
    /* SQLite quotes what it finds, and in a damaged file that is anything. */
    g_autofree char *valid = g_utf8_make_valid(sqlite3_errmsg(db->handle), -1);
    g_autofree char *shown = g_strescape(valid, NULL);
    int code = sqlite3_errcode(db->handle), system = sqlite3_system_errno(db->handle);
    gboolean has_cause = (code & 0xff) == SQLITE_IOERR && system != 0;

    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s (%s%s%s)", db->path, explain(code), shown,
                has_cause ? ": " : "", has_cause ? g_strerror(system) : "");
    return FALSE;
}

/* A damaged page may still be a page; its garbage must not reach a terminal or an export. */
static gboolean
row_is_text(sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        if (sqlite3_column_type(statement, i) == SQLITE_TEXT &&
            !g_utf8_validate((const char *) sqlite3_column_text(statement, i), sqlite3_column_bytes(statement, i),
                             NULL))
            return FALSE;
    }
    return TRUE;
}

static void
finalize(gpointer data)
{
    sqlite3_finalize(data);
}

SimDb *
sim_db_open(const char *path, int flags, GError **error)
{
    g_autoptr(SimDb) db = g_new0(SimDb, 1);

    db->path = g_strdup(path);
    db->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, finalize);
    if (sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        sim_db_fail(db, error);
        return NULL;
    }
    sqlite3_busy_timeout(db->handle, SIM_DB_BUSY_MS);
    /* Studies come by mail: their views and defaults must not call functions with effects. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return g_steal_pointer(&db);
}

void
sim_db_close(SimDb *db)
{
    if (db == NULL)
        return;
    g_hash_table_unref(db->statements);
    sqlite3_close(db->handle);
    g_free(db->path);
    g_free(db);
}

gboolean
sim_db_exec(SimDb *db, const char *sql, GError **error)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || sim_db_fail(db, error);
}

static sqlite3_stmt *
prepare(SimDb *db, const char *sql, GError **error)
{
    sqlite3_stmt *statement = g_hash_table_lookup(db->statements, sql);

    if (statement != NULL) {
        sqlite3_reset(statement);
        return statement;
    }
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) {
        sim_db_fail(db, error);
        return NULL;
    }
    g_hash_table_insert(db->statements, g_strdup(sql), statement);
    return statement;
}

static sqlite3_stmt *
prepare_and_bind(SimDb *db, const char *sql, const char *types, va_list values, GError **error)
{
    sqlite3_stmt *statement = prepare(db, sql, error);
    int code = SQLITE_OK;

    if (statement == NULL)
        return NULL;
    for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++) {
        switch (types[i]) {
        case 'i':
            code = sqlite3_bind_int64(statement, i + 1, va_arg(values, gint64));
            break;
        case 'd':
            code = sqlite3_bind_double(statement, i + 1, va_arg(values, double));
            break;
        case 't':
            code = sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1, SQLITE_STATIC);
            break;
        case 'b': {
            const void *bytes = va_arg(values, const void *);
            code = sqlite3_bind_blob64(statement, i + 1, bytes, va_arg(values, gsize), SQLITE_STATIC);
            break;
        }
        default:
            g_assert_not_reached();
        }
    }
    if (code == SQLITE_OK)
        return statement;
    sim_db_fail(db, error);
    return NULL;
}

sqlite3_stmt *
sim_db_select(SimDb *db, GError **error, const char *sql, const char *types, ...)
{
    va_list values;
    sqlite3_stmt *statement;

    va_start(values, types);
    statement = prepare_and_bind(db, sql, types, values, error);
    va_end(values);
    return statement;
}

gboolean
sim_db_step(SimDb *db, sqlite3_stmt *statement, gboolean *ret_has_row, GError **error)
{
    int code = sqlite3_step(statement);

    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        sim_db_fail(db, error);
        sqlite3_reset(statement);
        return FALSE;
    }
    if (code == SQLITE_ROW && !row_is_text(statement)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: damaged study: a text in it is not UTF-8", db->path);
        sqlite3_reset(statement);
        return FALSE;
    }
    if (code == SQLITE_DONE)
        sqlite3_reset(statement);
    *ret_has_row = code == SQLITE_ROW;
    return TRUE;
}

static gboolean
run_first(SimDb *db, sqlite3_stmt *statement, gint64 *ret_value, GError **error)
{
    gboolean has_row;

    if (statement == NULL || !sim_db_step(db, statement, &has_row, error))
        return FALSE;
    if (ret_value != NULL)
        *ret_value = has_row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return TRUE;
}

gboolean
sim_db_run(SimDb *db, GError **error, const char *sql, const char *types, ...)
{
    va_list values;
    gboolean ok;

    va_start(values, types);
    ok = run_first(db, prepare_and_bind(db, sql, types, values, error), NULL, error);
    va_end(values);
    return ok;
}

gboolean
sim_db_int(SimDb *db, gint64 *ret_value, GError **error, const char *sql, const char *types, ...)
{
    va_list values;
    gboolean ok;

    va_start(values, types);
    ok = run_first(db, prepare_and_bind(db, sql, types, values, error), ret_value, error);
    va_end(values);
    return ok;
}

gboolean
sim_db_use_log(SimDb *db, GError **error)
{
    gint64 give_up_us = g_get_monotonic_time() + (gint64) SIM_DB_BUSY_MS * G_TIME_SPAN_MILLISECOND;

    /* SQLite never calls its busy handler for this change: it holds a lock for reading by then, and two that waited so
     * for one another would wait for good. */
    for (;;) {
        int code = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return TRUE;
        if ((code & 0xff) != SQLITE_BUSY || g_get_monotonic_time() >= give_up_us)
            return sim_db_fail(db, error);
        g_usleep((gulong) g_random_int_range(500, 5000));
    }
}

gboolean
sim_db_begin(SimDb *db, GError **error)
{
    return sim_db_exec(db, "BEGIN IMMEDIATE", error);
}

gboolean
sim_db_commit(SimDb *db, GError **error)
{
    if (sim_db_exec(db, "COMMIT", error))
        return TRUE;
    sim_db_rollback(db);
    return FALSE;
}

void
sim_db_rollback(SimDb *db)
{
    if (!sqlite3_get_autocommit(db->handle))
        sim_db_exec(db, "ROLLBACK", NULL);
}

const char *
sim_db_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *) sqlite3_column_text(statement, column);
    return text != NULL ? text : "";
}
