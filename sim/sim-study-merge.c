/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study-private.h"

#include <glib/gstdio.h>
#include <string.h>

static gboolean
fail_shard(const char *path, GError **error, const char *problem)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s: %s", path, problem);
    return FALSE;
}

static gboolean
is_same_file(const char *a, const char *b)
{
    GStatBuf of_a, of_b;

    return g_stat(a, &of_a) == 0 && g_stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Opened by the ordinary way first: it tells broken, foreign and older files apart, and takes in the log of a shard
 * that was killed. */
static gboolean
check_shards(SimStudy *out, const char *const *shards, GError **error)
{
    static const char *const keys[] = {"program", "version", "plan"};
    g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(SimStudy) first = NULL;

    for (; *shards != NULL; shards++) {
        g_autoptr(SimStudy) shard = sim_study_open(*shards, SIM_STUDY_READ, error);
        const SimStudy *model = *sim_study_about(out, "plan") != '\0' ? out : first;
        if (shard == NULL)
            return FALSE;
        if (is_same_file(*shards, out->db->path))
            return fail_shard(*shards, error, "cannot be joined to itself");
        if (*sim_study_about(shard, "plan") == '\0')
            return fail_shard(*shards, error, "a study without points");
        for (guint i = 0; model != NULL && i < G_N_ELEMENTS(keys); i++) {
            if (!g_str_equal(sim_study_about(shard, keys[i]), sim_study_about(model, keys[i])))
                return fail_shard(*shards, error,
                                  i < 2 ? "made by another program or version" : "belongs to another scenario");
        }
        if (*sim_study_about(shard, "shard") != '\0' &&
            !g_hash_table_add(numbers, g_strdup(sim_study_about(shard, "shard"))))
            return fail_shard(*shards, error, "the same shard as another one given");
        if (first == NULL)
            first = g_steal_pointer(&shard);
    }
    return TRUE;
}

/* Whether the study has rows that `sql` finds. */
static gboolean
is_empty(SimDb *db, const char *sql, gboolean *ret_is_empty, GError **error)
{
    gint64 found;

    if (!sim_db_int(db, &found, error, sql, ""))
        return FALSE;
    *ret_is_empty = found == 0;
    return TRUE;
}

#define SAME_RUN                                                                                                       \
    " FROM shard.run AS theirs JOIN shard.point AS their_point ON their_point.point = theirs.point"                    \
    " JOIN main.point AS our_point ON our_point.digest = their_point.digest"                                           \
    " JOIN main.run AS ours ON ours.point = our_point.point AND ours.start = theirs.start"                             \
    " AND ours.replication = theirs.replication"
/* Values by name, in both directions. NULL, which stands for NaN, equals itself under IS. */
#define DIFFERENT_VALUES(a, b)                                                                                         \
    "EXISTS(SELECT 1 FROM " a ".value AS x JOIN " a ".metric AS m USING(metric) WHERE x.run = " a                      \
    "_run AND NOT EXISTS("                                                                                             \
    "SELECT 1 FROM " b ".value AS y JOIN " b ".metric AS n USING(metric) WHERE y.run = " b "_run AND n.name = m.name"  \
    " AND y.value IS x.value))"

/* A run that both have must have come out the same. */
static gboolean
check_conflicts(SimDb *db, const char *path, GError **error)
{
    sqlite3_stmt *s =
        sim_db_select(db, error,
                      "SELECT label, start, replication FROM (SELECT our_point.label AS label, ours.start AS start,"
                      " ours.replication AS replication, ours.run AS main_run, theirs.run AS shard_run,"
                      " ours.seed = theirs.seed AND ours.fingerprint = theirs.fingerprint AS is_same" SAME_RUN ")"
                      " WHERE NOT is_same OR " DIFFERENT_VALUES("main", "shard") " OR " DIFFERENT_VALUES(
                          "shard", "main") " ORDER BY label, start, replication LIMIT 1",
                      "");
    gboolean has_row;

    if (s == NULL || !sim_db_step(db, s, &has_row, error))
        return FALSE;
    if (!has_row)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s: %s, start %s, replication %lld is there with other results",
                path, sim_db_text(s, 0), sim_db_text(s, 1), sqlite3_column_int64(s, 2));
    sqlite3_reset(s);
    return FALSE;
}

/* The plan of the first shard becomes that of an empty study. */
static const char copy_plan[] =
    "INSERT INTO main.about SELECT * FROM shard.about WHERE key <> 'shard';"
    "INSERT INTO main.about VALUES('shard', '');"
    "INSERT INTO main.axis SELECT * FROM shard.axis;"
    "INSERT INTO main.point SELECT * FROM shard.point WHERE ordinal IS NOT NULL;"
    "INSERT INTO main.point_axis SELECT point_axis.* FROM shard.point_axis JOIN shard.point USING(point)"
    " WHERE ordinal IS NOT NULL;"
    "INSERT INTO main.cell SELECT * FROM shard.cell;"
    "INSERT INTO main.refused SELECT * FROM shard.refused;";

/* Row numbers differ between files; digests and names are what they have in common. */
static const char copy_runs[] =
    "CREATE TEMP TABLE new_run AS SELECT theirs.run AS shard_run, our_point.point AS point, theirs.start AS start,"
    " theirs.replication AS replication FROM shard.run AS theirs JOIN shard.point AS their_point"
    " ON their_point.point = theirs.point JOIN main.point AS our_point ON our_point.digest = their_point.digest"
    " WHERE NOT EXISTS(SELECT 1 FROM main.run AS ours WHERE ours.point = our_point.point AND"
    " ours.start = theirs.start AND ours.replication = theirs.replication);"
    "INSERT OR IGNORE INTO main.metric(name) SELECT name FROM shard.metric;"
    "INSERT OR IGNORE INTO main.layout(name, columns) SELECT name, columns FROM shard.layout;"
    "INSERT INTO main.run(point, start, replication, seed, fingerprint, layout)"
    " SELECT n.point, n.start, n.replication, r.seed, r.fingerprint, ours.layout FROM new_run AS n"
    " JOIN shard.run AS r ON r.run = n.shard_run JOIN shard.layout AS theirs ON theirs.layout = r.layout"
    " JOIN main.layout AS ours ON ours.name = theirs.name AND ours.columns = theirs.columns;"
    "INSERT INTO main.value(run, metric, value) SELECT r.run, ours.metric, v.value FROM new_run AS n"
    " JOIN main.run AS r ON r.point = n.point AND r.start = n.start AND r.replication = n.replication"
    " JOIN shard.value AS v ON v.run = n.shard_run JOIN shard.metric AS theirs ON theirs.metric = v.metric"
    " JOIN main.metric AS ours ON ours.name = theirs.name;"
    "INSERT INTO main.record_table(run, layout, rows, data) SELECT r.run, ours.layout, t.rows, t.data FROM new_run AS n"
    " JOIN main.run AS r ON r.point = n.point AND r.start = n.start AND r.replication = n.replication"
    " JOIN shard.record_table AS t ON t.run = n.shard_run JOIN shard.layout AS theirs ON theirs.layout = t.layout"
    " JOIN main.layout AS ours ON ours.name = theirs.name AND ours.columns = theirs.columns;"
    "UPDATE main.cell SET needed = coalesce(needed, (SELECT c.needed FROM shard.cell AS c JOIN shard.point AS theirs"
    " USING(point) JOIN main.point AS ours ON ours.digest = theirs.digest WHERE ours.point = main.cell.point"
    " AND c.start = main.cell.start));";

static gboolean
merge_attached(SimDb *db, const char *path, guint64 *n_added, GError **error)
{
    gboolean has_no_plan;
    gint64 n;

    if (!is_empty(db, "SELECT COUNT(*) FROM main.point", &has_no_plan, error))
        return FALSE;
    if (has_no_plan && !sim_db_exec(db, copy_plan, error))
        return FALSE;
    if (!check_conflicts(db, path, error) || !sim_db_exec(db, copy_runs, error) ||
        !sim_db_int(db, &n, error, "SELECT COUNT(*) FROM temp.new_run", "") ||
        !sim_db_exec(db, "DROP TABLE temp.new_run", error))
        return FALSE;
    *n_added += (guint64) n;
    return TRUE;
}

/* Statements prepared while a shard was attached would keep it attached. */
static void
forget_statements(SimDb *db)
{
    g_hash_table_remove_all(db->statements);
}

/* Calls `use` with each shard attached. */
static gboolean
each_attached(SimDb *db, const char *const *shards, guint64 *n_added,
              gboolean (*use)(SimDb *db, const char *path, guint64 *n_added, GError **error), GError **error)
{
    gboolean ok = TRUE;

    for (; ok && *shards != NULL; shards++) {
        if (!sim_db_run(db, error, "ATTACH ? AS shard", "t", *shards))
            return FALSE;
        ok = sim_db_begin(db, error) && use(db, *shards, n_added, error) && sim_db_commit(db, error);
        sim_db_rollback(db);
        forget_statements(db);
        sim_db_exec(db, "DETACH shard", NULL);
    }
    return ok;
}

static gboolean
check_attached(SimDb *db, const char *path, guint64 *n_added, GError **error)
{
    return check_conflicts(db, path, error);
}

gboolean
sim_study_merge(SimStudy *out, const char *const *shards, guint64 *ret_n_added, GError **error)
{
    guint64 n_added = 0;

    if (*sim_study_about(out, "shard") != '\0')
        return fail_shard(out->db->path, error, "is a shard itself (allowed: a new file, or what merge has made)");
    if (!check_shards(out, shards, error) || !each_attached(out->db, shards, NULL, check_attached, error) ||
        !each_attached(out->db, shards, &n_added, merge_attached, error) || !sim_study_load(out, error))
        return FALSE;
    *ret_n_added = n_added;
    return TRUE;
}
