/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study-private.h"

#include <math.h>
#include <string.h>

/* "SIMS" in the header of the file tells a study from other databases. */
#define APPLICATION_ID 0x53494d53
#define APPLICATION_ID_TEXT "1397312851"

/* formats[i] makes format i + 1 out of format i; made from nothing, a study goes through all of them. A released step
 * is never edited: a change of the tables is a step of its own at the end. */
static const char *const formats[SIM_STUDY_FORMAT] = {
    "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE axis(axis INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);"
    "CREATE TABLE point(point INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, ordinal INTEGER UNIQUE,"
    " variant TEXT NOT NULL, label TEXT NOT NULL, configuration BLOB NOT NULL);"
    "CREATE TABLE point_axis(point INTEGER NOT NULL, axis INTEGER NOT NULL, value TEXT NOT NULL, number REAL,"
    " PRIMARY KEY(point, axis)) WITHOUT ROWID;"
    "CREATE TABLE cell(point INTEGER NOT NULL, start TEXT NOT NULL, start_rank INTEGER NOT NULL,"
    " number INTEGER NOT NULL, wanted INTEGER NOT NULL, needed INTEGER, precision REAL NOT NULL,"
    " confidence REAL NOT NULL, PRIMARY KEY(point, start)) WITHOUT ROWID;"
    "CREATE TABLE refused(ordinal INTEGER PRIMARY KEY, label TEXT NOT NULL, reason TEXT NOT NULL);"
    "CREATE TABLE metric(metric INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE layout(layout INTEGER PRIMARY KEY, name TEXT NOT NULL, columns TEXT NOT NULL,"
    " UNIQUE(name, columns));"
    "CREATE TABLE run(run INTEGER PRIMARY KEY, point INTEGER NOT NULL, start TEXT NOT NULL,"
    " replication INTEGER NOT NULL, seed INTEGER NOT NULL, fingerprint INTEGER NOT NULL, layout INTEGER NOT NULL,"
    " UNIQUE(point, start, replication));"
    "CREATE TABLE value(run INTEGER NOT NULL, metric INTEGER NOT NULL, value REAL, PRIMARY KEY(run, metric))"
    " WITHOUT ROWID;"
    "CREATE TABLE record_table(run INTEGER NOT NULL, layout INTEGER NOT NULL, rows INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY(run, layout)) WITHOUT ROWID;"
    "CREATE TABLE claim(point INTEGER NOT NULL, start TEXT NOT NULL, replication INTEGER NOT NULL,"
    " owner TEXT NOT NULL, expires_s INTEGER NOT NULL, PRIMARY KEY(point, start, replication)) WITHOUT ROWID;"
    "CREATE VIEW metrics AS SELECT point.ordinal, point.variant, point.label, run.start, run.replication,"
    " metric.name AS metric, value.value FROM value JOIN run USING(run) JOIN point USING(point)"
    " JOIN metric USING(metric);",
};

static gboolean
set_error(SimDb *db, GError **error, const char *problem)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", db->path, problem);
    return FALSE;
}

/* Inside a transaction: another process may be making the study. *ret_format is 0 for a file with nothing in it. */
static gboolean
read_format(SimDb *db, gint64 *ret_format, GError **error)
{
    gint64 application, format, n_objects;

    if (!sim_db_int(db, &application, error, "PRAGMA application_id", "") ||
        !sim_db_int(db, &format, error, "PRAGMA user_version", "") ||
        !sim_db_int(db, &n_objects, error, "SELECT COUNT(*) FROM sqlite_schema", ""))
        return FALSE;
    if (application != APPLICATION_ID && (application != 0 || format != 0 || n_objects != 0))
        return set_error(db, error, "an SQLite database, but not a study");
    if (format > SIM_STUDY_FORMAT) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO,
                    "%s: a study of format %" G_GINT64_FORMAT ", made by a newer program (this one knows up to %d)",
                    db->path, format, SIM_STUDY_FORMAT);
        return FALSE;
    }
    *ret_format = format;
    return TRUE;
}

static gboolean
apply_formats(SimDb *db, GError **error)
{
    gint64 format;

    /* Another process may have done it meanwhile. */
    if (!read_format(db, &format, error))
        return FALSE;
    for (; format < SIM_STUDY_FORMAT; format++) {
        g_autofree char *version = g_strdup_printf("PRAGMA user_version = %d", (int) format + 1);
        if (!sim_db_exec(db, formats[format], error) || !sim_db_exec(db, version, error))
            return FALSE;
    }
    return sim_db_exec(db, "PRAGMA application_id = " APPLICATION_ID_TEXT, error);
}

static gboolean
migrate(SimDb *db, GError **error)
{
    if (!sim_db_begin(db, error))
        return FALSE;
    if (apply_formats(db, error))
        return sim_db_commit(db, error);
    sim_db_rollback(db);
    return FALSE;
}

/* Nothing of a file is changed before it is known to be a study. */
static gboolean
check_file(SimDb *db, SimStudyMode mode, GError **error)
{
    gint64 format;
    gboolean ok;

    if (!sim_db_exec(db, "BEGIN", error))
        return FALSE;
    ok = read_format(db, &format, error);
    sim_db_rollback(db);
    if (!ok)
        return FALSE;
    if (mode == SIM_STUDY_READ && format == 0)
        return set_error(db, error, "not a study: the file is empty");
    if (mode == SIM_STUDY_READ && format < SIM_STUDY_FORMAT)
        return set_error(db, error, "a study of an older format: run sweep on it once to bring it up to date");
    if (mode == SIM_STUDY_READ)
        return TRUE;
    if (!sim_db_use_log(db, error) || !sim_db_exec(db, "PRAGMA synchronous = NORMAL", error))
        return FALSE;
    return format == SIM_STUDY_FORMAT || migrate(db, error);
}

static SimDb *
open_file(const char *path, SimStudyMode mode, GError **error)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *escaped = g_uri_escape_string(path, "/", FALSE);
    g_autofree char *uri = g_strconcat("file:", escaped, "?immutable=1", NULL);
    g_autoptr(SimDb) db = NULL;
    gint64 ignored;

    if (mode == SIM_STUDY_CREATE)
        return sim_db_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) || !g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path,
                    g_file_test(path, G_FILE_TEST_IS_DIR) ? "a folder, not a study" : "no such study");
        return NULL;
    }
    db = sim_db_open(path, SQLITE_OPEN_READWRITE, NULL);
    if (db != NULL && (sim_db_int(db, &ignored, NULL, "PRAGMA schema_version", "") ||
                       (sqlite3_errcode(db->handle) & 0xff) != SQLITE_CANTOPEN || g_file_test(log, G_FILE_TEST_EXISTS)))
        return g_steal_pointer(&db);
    /* In a folder that cannot be written, a study that nobody is writing is read without its log. */
    return sim_db_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error);
}

static void
point_free(gpointer data)
{
    SimStudyPoint *point = data;
    g_free(point->variant);
    g_free(point->label);
    g_strfreev(point->values);
    g_free(point->numbers);
    g_free(point);
}

static void
cell_clear(gpointer data)
{
    g_free(((SimStudyCell *) data)->start);
}

void
sim_study_close(SimStudy *study)
{
    if (study == NULL)
        return;
    sim_db_close(study->db);
    g_hash_table_unref(study->about);
    g_ptr_array_unref(study->axes);
    g_ptr_array_unref(study->points);
    g_array_unref(study->cells);
    g_array_unref(study->design_points);
    g_strfreev(study->metrics);
    g_clear_pointer(&study->metric_ids, g_array_unref);
    g_free(study);
}

SimStudy *
sim_study_open(const char *path, SimStudyMode mode, GError **error)
{
    g_autoptr(SimDb) db = open_file(path, mode, error);
    g_autoptr(SimStudy) study = NULL;

    if (db == NULL || !check_file(db, mode, error))
        return NULL;
    study = g_new0(SimStudy, 1);
    study->db = g_steal_pointer(&db);
    study->about = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    study->axes = g_ptr_array_new_with_free_func(g_free);
    study->points = g_ptr_array_new_with_free_func(point_free);
    study->cells = g_array_new(FALSE, FALSE, sizeof(SimStudyCell));
    g_array_set_clear_func(study->cells, cell_clear);
    study->design_points = g_array_new(FALSE, FALSE, sizeof(guint));
    return sim_study_load(study, error) ? g_steal_pointer(&study) : NULL;
}

static gboolean
load_about(SimStudy *study, sqlite3_stmt *s)
{
    g_hash_table_replace(study->about, g_strdup(sim_db_text(s, 0)), g_strdup(sim_db_text(s, 1)));
    return TRUE;
}

static gboolean
load_axis(SimStudy *study, sqlite3_stmt *s)
{
    g_ptr_array_add(study->axes, g_strdup(sim_db_text(s, 1)));
    return sqlite3_column_int64(s, 0) == study->axes->len - 1;
}

static gboolean
load_point(SimStudy *study, sqlite3_stmt *s)
{
    SimStudyPoint *point = g_new0(SimStudyPoint, 1);

    point->id = sqlite3_column_int64(s, 0);
    point->variant = g_strdup(sim_db_text(s, 2));
    point->label = g_strdup(sim_db_text(s, 3));
    point->values = g_new0(char *, study->axes->len + 1);
    point->numbers = g_new(double, study->axes->len + 1);
    g_ptr_array_add(study->points, point);
    return sqlite3_column_int64(s, 1) == study->points->len - 1;
}

static gboolean
load_point_axis(SimStudy *study, sqlite3_stmt *s)
{
    gint64 ordinal = sqlite3_column_int64(s, 0), axis = sqlite3_column_int64(s, 1);
    SimStudyPoint *point;

    if (ordinal < 0 || ordinal >= study->points->len || axis < 0 || axis >= study->axes->len)
        return FALSE;
    point = study->points->pdata[ordinal];
    g_free(point->values[axis]);
    point->values[axis] = g_strdup(sim_db_text(s, 2));
    point->numbers[axis] = sqlite3_column_type(s, 3) == SQLITE_NULL ? NAN : sqlite3_column_double(s, 3);
    return TRUE;
}

static gboolean
load_cell(SimStudy *study, sqlite3_stmt *s)
{
    gint64 point = sqlite3_column_int64(s, 0);
    SimStudyCell cell = {.point = (guint) point,
                         .start = g_strdup(sim_db_text(s, 1)),
                         .number = (guint) sqlite3_column_int64(s, 2),
                         .n_wanted = (guint) sqlite3_column_int64(s, 3),
                         .n_needed = sqlite3_column_type(s, 4) == SQLITE_NULL ? -1 : sqlite3_column_int(s, 4),
                         .precision = sqlite3_column_double(s, 5),
                         .confidence = sqlite3_column_double(s, 6)};

    g_array_append_val(study->cells, cell);
    return point >= 0 && point < study->points->len && cell.confidence > 0 && cell.confidence < 1 &&
           cell.n_wanted <= 1000000;
}

/* Calls `each` on every row; a row it refuses means that the tables contradict one another. */
static gboolean
load_rows(SimStudy *study, const char *sql, gboolean (*each)(SimStudy *study, sqlite3_stmt *s), GError **error)
{
    sqlite3_stmt *s = sim_db_select(study->db, error, sql, "");
    gboolean has_row;

    if (s == NULL)
        return FALSE;
    while (sim_db_step(study->db, s, &has_row, error)) {
        if (!has_row)
            return TRUE;
        if (!each(study, s)) {
            sqlite3_reset(s);
            return set_error(study->db, error, "damaged study: its tables contradict one another");
        }
    }
    return FALSE;
}

static gboolean
has_all_values(const SimStudy *study)
{
    for (guint i = 0; i < study->points->len; i++)
        for (guint axis = 0; axis < study->axes->len; axis++)
            if (((const SimStudyPoint *) study->points->pdata[i])->values[axis] == NULL)
                return FALSE;
    return TRUE;
}

static gboolean
load_all(SimStudy *study, GError **error)
{
    g_hash_table_remove_all(study->about);
    g_ptr_array_set_size(study->axes, 0);
    g_ptr_array_set_size(study->points, 0);
    g_array_set_size(study->cells, 0);
    g_clear_pointer(&study->metrics, g_strfreev);
    g_clear_pointer(&study->metric_ids, g_array_unref);
    if (!load_rows(study, "SELECT key, value FROM about", load_about, error) ||
        !load_rows(study, "SELECT axis, key FROM axis ORDER BY axis", load_axis, error) ||
        !load_rows(study, "SELECT point, ordinal, variant, label FROM point WHERE ordinal IS NOT NULL ORDER BY ordinal",
                   load_point, error) ||
        !load_rows(study,
                   "SELECT ordinal, axis, value, number FROM point_axis JOIN point USING(point)"
                   " WHERE ordinal IS NOT NULL",
                   load_point_axis, error) ||
        !load_rows(study,
                   "SELECT ordinal, start, number, wanted, needed, precision, confidence"
                   " FROM cell JOIN point USING(point) WHERE ordinal IS NOT NULL ORDER BY ordinal, start_rank",
                   load_cell, error))
        return FALSE;
    return has_all_values(study) ||
           set_error(study->db, error, "damaged study: a point has no value on one of the axes");
}

gboolean
sim_study_load(SimStudy *study, GError **error)
{
    gboolean ok;

    /* One view of all tables, whatever other processes do meanwhile. */
    if (!sim_db_exec(study->db, "BEGIN", error))
        return FALSE;
    ok = load_all(study, error);
    sim_db_rollback(study->db);
    return ok;
}

const char *
sim_study_about(const SimStudy *study, const char *key)
{
    const char *value = g_hash_table_lookup(study->about, key);
    return value != NULL ? value : "";
}

guint
sim_study_n_axes(const SimStudy *study)
{
    return study->axes->len;
}

const char *
sim_study_axis_key(const SimStudy *study, guint axis)
{
    g_assert(axis < study->axes->len);
    return study->axes->pdata[axis];
}

guint
sim_study_n_points(const SimStudy *study)
{
    return study->points->len;
}

const SimStudyPoint *
sim_study_point(const SimStudy *study, guint point)
{
    g_assert(point < study->points->len);
    return study->points->pdata[point];
}

guint
sim_study_n_cells(const SimStudy *study)
{
    return study->cells->len;
}

const SimStudyCell *
sim_study_cell(const SimStudy *study, guint cell)
{
    g_assert(cell < study->cells->len);
    return &g_array_index(study->cells, SimStudyCell, cell);
}

gboolean
sim_study_check_place(SimStudy *study, GError **error)
{
    int has_moved = 0;

    sqlite3_file_control(study->db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    return !has_moved || set_error(study->db, error, "the study has been removed or moved away while it was written");
}
