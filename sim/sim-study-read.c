/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study-private.h"

#include <math.h>
#include <string.h>

static gint64
point_id(const SimStudy *study, guint cell)
{
    return sim_study_point(study, sim_study_cell(study, cell)->point)->id;
}

/* Replications that count: while nothing is decided, all that there are. */
static gint64
n_counting(const SimStudyCell *cell)
{
    return cell->n_needed >= 0 ? cell->n_needed : (gint64) cell->n_wanted;
}

static gboolean
fail_damaged(const SimStudy *study, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: damaged study: a stored table cannot be unpacked",
                study->db->path);
    return FALSE;
}

char *
sim_study_configuration(SimStudy *study, guint point, GError **error)
{
    sqlite3_stmt *s = sim_db_select(study->db, error, "SELECT configuration FROM point WHERE point = ?", "i",
                                    sim_study_point(study, point)->id);
    gboolean has_row;
    char *text = NULL;

    if (s == NULL || !sim_db_step(study->db, s, &has_row, error))
        return NULL;
    if (has_row)
        text = sim_study_unpack(sqlite3_column_blob(s, 0), (gsize) sqlite3_column_bytes(s, 0));
    sqlite3_reset(s);
    if (text == NULL)
        fail_damaged(study, error);
    return text;
}

SimTable *
sim_study_refused(SimStudy *study, GError **error)
{
    static const char *const columns[] = {"point", "reason", NULL};
    g_autoptr(SimTable) table = sim_table_new("refused", columns);
    sqlite3_stmt *s = sim_db_select(study->db, error, "SELECT label, reason FROM refused ORDER BY ordinal", "");
    gboolean has_row = s != NULL;

    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return NULL;
        if (!has_row)
            return g_steal_pointer(&table);
        sim_table_put_text(table, sim_db_text(s, 0));
        sim_table_put_text(table, sim_db_text(s, 1));
    }
    return NULL;
}

static void
add_columns(GPtrArray *columns, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, "\t", -1);

    for (char **word = words; *word != NULL; word++)
        sim_columns_add(columns, *word);
}

/* Adds the columns of the layouts of `sql`'s rows. One layout, the usual case, needs no look at the runs. */
static gboolean
add_only_layout(SimStudy *study, const char *name, GPtrArray *columns, gboolean *ret_is_done, GError **error)
{
    sqlite3_stmt *s = sim_db_select(study->db, error, "SELECT columns FROM layout WHERE name = ? LIMIT 2", "t", name);
    g_autofree char *first = NULL;
    gboolean has_row = s != NULL;
    guint n = 0;

    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (has_row && n++ == 0)
            first = g_strdup(sim_db_text(s, 0));
    }
    if (n == 1)
        add_columns(columns, first);
    *ret_is_done = n < 2;
    return s != NULL;
}

static gboolean
add_layouts_of_cell(SimStudy *study, guint cell, const char *name, GPtrArray *columns, GHashTable *seen, GError **error)
{
    sqlite3_stmt *s = sim_db_select(
        study->db, error,
        *name == '\0'
            ? "SELECT layout, columns FROM run JOIN layout USING(layout) WHERE point = ? AND start = ? AND"
              " replication < ? AND name = ? ORDER BY replication"
            : "SELECT record_table.layout, columns FROM run JOIN record_table USING(run) JOIN layout"
              " ON layout.layout = record_table.layout WHERE point = ? AND start = ? AND replication < ? AND name = ?"
              " ORDER BY replication",
        "itit", point_id(study, cell), sim_study_cell(study, cell)->start, n_counting(sim_study_cell(study, cell)),
        name);
    gboolean has_row = s != NULL;

    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (has_row && g_hash_table_add(seen, GSIZE_TO_POINTER((gsize) sqlite3_column_int64(s, 0))))
            add_columns(columns, sim_db_text(s, 1));
    }
    return s != NULL;
}

/* The union of columns in order of first appearance along the plan: the same whatever order the runs were finished in.
 * NULL on error. */
static char **
union_of_columns(SimStudy *study, const char *name, GError **error)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    gboolean is_done;

    if (!add_only_layout(study, name, columns, &is_done, error))
        return NULL;
    for (guint cell = 0; !is_done && cell < sim_study_n_cells(study); cell++) {
        if (!add_layouts_of_cell(study, cell, name, columns, seen, error))
            return NULL;
    }
    g_ptr_array_add(columns, NULL);
    g_ptr_array_set_free_func(columns, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&columns), FALSE);
}

char **
sim_study_table_columns(SimStudy *study, const char *name, GError **error)
{
    g_assert(*name != '\0');
    return union_of_columns(study, name, error);
}

static gboolean
load_metric_ids(SimStudy *study, GError **error)
{
    sqlite3_stmt *s = sim_db_select(study->db, error, "SELECT metric, name FROM metric", "");
    gboolean has_row = s != NULL;

    study->metric_ids = g_array_new(FALSE, FALSE, sizeof(gint));
    while (has_row) {
        gint index = -1;
        gint64 id;
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (!has_row)
            break;
        id = sqlite3_column_int64(s, 0);
        for (gint i = 0; study->metrics[i] != NULL; i++)
            if (g_str_equal(study->metrics[i], sim_db_text(s, 1)))
                index = i;
        while (study->metric_ids->len <= id && id < G_MAXINT16) {
            gint none = -1;
            g_array_append_val(study->metric_ids, none);
        }
        if (id >= 0 && id < study->metric_ids->len)
            g_array_index(study->metric_ids, gint, id) = index;
    }
    return s != NULL;
}

const char *const *
sim_study_metrics(SimStudy *study, GError **error)
{
    if (study->metrics == NULL) {
        study->metrics = union_of_columns(study, "", error);
        if (study->metrics != NULL && !load_metric_ids(study, error)) {
            g_clear_pointer(&study->metrics, g_strfreev);
            g_clear_pointer(&study->metric_ids, g_array_unref);
        }
    }
    return (const char *const *) study->metrics;
}

void
sim_cell_runs_free(SimCellRuns *runs)
{
    if (runs == NULL)
        return;
    g_free(runs->replications);
    g_free(runs->seeds);
    g_free(runs->fingerprints);
    g_free(runs->values);
    g_free(runs->has);
    g_free(runs);
}

SimCellRuns *
sim_cell_runs_new(guint n_runs, guint n_metrics)
{
    SimCellRuns *runs = g_new0(SimCellRuns, 1);
    gsize n_values = (gsize) n_runs * n_metrics;

    runs->n_metrics = n_metrics;
    runs->replications = g_new0(guint, n_runs);
    runs->seeds = g_new0(guint64, n_runs);
    runs->fingerprints = g_new0(guint64, n_runs);
    runs->values = g_new(double, n_values);
    runs->has = g_new0(gboolean, n_values);
    for (gsize i = 0; i < n_values; i++)
        runs->values[i] = NAN;
    return runs;
}

/* One row of the join of runs and values; the rows of a run follow one another. Of runs beyond `n_most`, which another
 * process may have added meanwhile, there is no room for any. */
static void
take_value(const SimStudy *study, SimCellRuns *runs, guint n_most, sqlite3_stmt *s)
{
    guint replication = (guint) sqlite3_column_int64(s, 0);
    gint64 metric = sqlite3_column_type(s, 3) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, 3);
    gint index = metric >= 0 && metric < study->metric_ids->len ? g_array_index(study->metric_ids, gint, metric) : -1;
    gsize at;

    if (runs->n_runs == 0 || runs->replications[runs->n_runs - 1] != replication) {
        if (runs->n_runs == n_most)
            return;
        runs->replications[runs->n_runs] = replication;
        runs->seeds[runs->n_runs] = (guint64) sqlite3_column_int64(s, 1);
        runs->fingerprints[runs->n_runs] = (guint64) sqlite3_column_int64(s, 2);
        runs->n_runs++;
    }
    if (index < 0)
        return;
    at = (gsize) (runs->n_runs - 1) * runs->n_metrics + (guint) index;
    runs->has[at] = TRUE;
    if (sqlite3_column_type(s, 4) != SQLITE_NULL)
        runs->values[at] = sqlite3_column_double(s, 4);
}

SimCellRuns *
sim_study_read_cell(SimStudy *study, guint cell, GError **error)
{
    const char *const *metrics = sim_study_metrics(study, error);
    gint64 point = point_id(study, cell), n_most = n_counting(sim_study_cell(study, cell)), n_there;
    const char *start = sim_study_cell(study, cell)->start;
    g_autoptr(SimCellRuns) runs = NULL;
    sqlite3_stmt *s;
    gboolean has_row = TRUE;

    if (metrics == NULL ||
        !sim_db_int(study->db, &n_there, error,
                    "SELECT COUNT(*) FROM run WHERE point = ? AND start = ? AND replication BETWEEN 0 AND ? - 1", "iti",
                    point, start, n_most))
        return NULL;
    runs = sim_cell_runs_new((guint) n_there, g_strv_length((char **) metrics));
    s = sim_db_select(study->db, error,
                      "SELECT replication, seed, fingerprint, metric, value FROM run LEFT JOIN value USING(run)"
                      " WHERE point = ? AND start = ? AND replication BETWEEN 0 AND ? - 1 ORDER BY replication",
                      "iti", point, start, n_most);
    while (has_row) {
        if (s == NULL || !sim_db_step(study->db, s, &has_row, error))
            return NULL;
        if (has_row)
            take_value(study, runs, (guint) n_there, s);
    }
    return g_steal_pointer(&runs);
}

GArray *
sim_cell_runs_values(const SimCellRuns *runs, guint metric)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));

    g_assert(metric < runs->n_metrics);
    for (guint run = 0; run < runs->n_runs; run++) {
        gsize at = (gsize) run * runs->n_metrics + metric;
        if (runs->has[at])
            g_array_append_val(values, runs->values[at]);
    }
    return values;
}

char **
sim_study_table_names(SimStudy *study, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    sqlite3_stmt *s =
        sim_db_select(study->db, error, "SELECT DISTINCT name FROM layout WHERE name <> '' ORDER BY name", "");
    gboolean has_row = s != NULL;

    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return NULL;
        if (has_row)
            g_strv_builder_add(names, sim_db_text(s, 0));
    }
    return s != NULL ? g_strv_builder_end(names) : NULL;
}

/* The table of one row of the query; NULL with an error when it is damaged. */
static SimTable *
unpack_table(const SimStudy *study, const char *name, sqlite3_stmt *s, GError **error)
{
    g_autofree char *rows = sim_study_unpack(sqlite3_column_blob(s, 2), (gsize) sqlite3_column_bytes(s, 2));
    g_autofree char *text = rows != NULL ? g_strconcat(sim_db_text(s, 1), "\n", rows, NULL) : NULL;

    if (text == NULL) {
        fail_damaged(study, error);
        return NULL;
    }
    return sim_table_parse(name, text, error);
}

gboolean
sim_study_each_table(SimStudy *study, guint cell, const char *name,
                     gboolean (*each)(guint replication, const SimTable *table, gpointer data, GError **error),
                     gpointer data, GError **error)
{
    sqlite3_stmt *s =
        sim_db_select(study->db, error,
                      "SELECT replication, columns, data FROM run JOIN record_table USING(run) JOIN layout"
                      " ON layout.layout = record_table.layout WHERE point = ? AND start = ? AND"
                      " replication BETWEEN 0 AND ? - 1 AND name = ? ORDER BY replication",
                      "itit", point_id(study, cell), sim_study_cell(study, cell)->start,
                      n_counting(sim_study_cell(study, cell)), name);
    gboolean has_row = s != NULL;

    while (has_row) {
        g_autoptr(SimTable) table = NULL;
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (!has_row)
            return TRUE;
        table = unpack_table(study, name, s, error);
        if (table == NULL || !each((guint) sqlite3_column_int64(s, 0), table, data, error)) {
            sqlite3_reset(s);
            return FALSE;
        }
    }
    return FALSE;
}

gboolean
sim_study_count(SimStudy *study, guint64 *ret_n_done, guint64 *ret_n_wanted, GError **error)
{
    gint64 n_done, n_wanted;

    if (!sim_db_int(study->db, &n_done, error,
                    "SELECT COUNT(*) FROM cell JOIN run USING(point, start)"
                    " WHERE replication BETWEEN 0 AND coalesce(needed, wanted) - 1",
                    "") ||
        !sim_db_int(study->db, &n_wanted, error, "SELECT SUM(coalesce(needed, wanted)) FROM cell", ""))
        return FALSE;
    *ret_n_done = (guint64) n_done;
    *ret_n_wanted = (guint64) n_wanted;
    return TRUE;
}

gboolean
sim_study_count_flag(SimStudy *study, const char *metric, guint64 *ret_n, guint64 *ret_n_off, guint64 *ret_n_unknown,
                     GError **error)
{
    sqlite3_stmt *s =
        sim_db_select(study->db, error,
                      "SELECT COUNT(*), SUM(value.value <> 1), SUM(value.value IS NULL)"
                      " FROM cell JOIN run USING(point, start) JOIN value USING(run) JOIN metric USING(metric)"
                      " WHERE replication BETWEEN 0 AND coalesce(needed, wanted) - 1 AND metric.name = ?",
                      "t", metric);
    gboolean has_row;

    if (s == NULL || !sim_db_step(study->db, s, &has_row, error))
        return FALSE;
    *ret_n = has_row ? (guint64) sqlite3_column_int64(s, 0) : 0;
    *ret_n_off = has_row ? (guint64) sqlite3_column_int64(s, 1) : 0;
    *ret_n_unknown = has_row ? (guint64) sqlite3_column_int64(s, 2) : 0;
    sqlite3_reset(s);
    return TRUE;
}
