/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-result.h"

#include <string.h>

#define MANIFEST "manifest.ini"
#define CHARTS "charts"
#define POINTS "points"

GKeyFile *
sim_result_read_manifest(const char *folder, GError **error)
{
    g_autoptr(GKeyFile) manifest = g_key_file_new();
    g_autofree char *path = g_build_filename(folder, MANIFEST, NULL);
    g_autofree char *format = NULL;
    g_autoptr(GError) inner = NULL;

    if (!g_key_file_load_from_file(manifest, path, G_KEY_FILE_NONE, &inner)) {
        g_set_error(error, SIM_ERROR, inner->domain == G_FILE_ERROR ? SIM_ERROR_IO : SIM_ERROR_PARSE,
                    "%s: not a result folder: %s", path, inner->message);
        return NULL;
    }
    format = g_key_file_get_value(manifest, "result", "format", NULL);
    if (format == NULL || !g_str_equal(format, G_STRINGIFY(SIM_RESULT_FORMAT))) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: result format '%s', this program reads %d", path,
                    format != NULL ? format : "none", SIM_RESULT_FORMAT);
        return NULL;
    }
    return g_steal_pointer(&manifest);
}

/* Replacing a folder deletes what is in it, so it must hold nothing but what a run has put there. */
static gboolean
check_replaceable(const char *path, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GKeyFile) manifest = sim_result_read_manifest(path, NULL);
    const char *name;

    if (dir == NULL)
        return TRUE;
    while ((name = g_dir_read_name(dir)) != NULL) {
        gboolean ours =
            manifest != NULL && (g_str_equal(name, MANIFEST) || g_str_equal(name, CHARTS) ||
                                 g_str_equal(name, POINTS) || g_key_file_has_key(manifest, "files", name, NULL));
        if (!ours) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_IO,
                        "%s holds '%s', which is not part of a result: move it away or choose another --out", path,
                        name);
            return FALSE;
        }
    }
    return TRUE;
}

SimFolder *
sim_result_begin(const char *target, GError **error)
{
    g_autoptr(SimFolder) folder = sim_folder_begin(target, error);

    if (folder == NULL || !check_replaceable(folder->target, error))
        return NULL;
    return g_steal_pointer(&folder);
}

static SimTable *
metrics_table(const SimRuns *runs)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) metrics = sim_runs_metric_names(runs);
    SimTable *table;

    sim_columns_add(columns, "scenario");
    sim_point_add_columns(runs->plan, columns);
    sim_columns_add(columns, "replication");
    sim_columns_add(columns, "start");
    sim_columns_add(columns, "seed");
    sim_columns_add(columns, "fingerprint");
    for (guint m = 0; metrics->pdata[m] != NULL; m++)
        sim_columns_add(columns, metrics->pdata[m]);
    g_ptr_array_add(columns, NULL);
    table = sim_table_new("metrics", (const char *const *) columns->pdata);
    for (guint i = 0; i < runs->n_runs; i++) {
        const SimRun *run = &runs->runs[i];
        char fingerprint[20];

        g_snprintf(fingerprint, sizeof fingerprint, "%016" G_GINT64_MODIFIER "x", sim_record_fingerprint(run->record));
        sim_table_put_text(table, sim_plan_name(runs->plan));
        sim_point_put(runs->plan, run->point, table);
        sim_table_put_int(table, run->replication);
        sim_table_put_text(table, run->start);
        sim_table_put_int(table, (gint64) run->seed);
        sim_table_put_text(table, fingerprint);
        for (guint m = 0; metrics->pdata[m] != NULL; m++) {
            double value;
            if (sim_record_find_metric(run->record, metrics->pdata[m], &value))
                sim_table_put_real(table, value);
            else
                sim_table_put_text(table, "");
        }
    }
    return table;
}

static const SimTable *
find_table(const SimRecord *record, const char *name)
{
    for (guint t = 0; t < sim_record_n_tables(record); t++)
        if (g_str_equal(sim_table_name(sim_record_table(record, t)), name))
            return sim_record_table(record, t);
    return NULL;
}

static void
put_record_rows(SimTable *table, const SimPlan *plan, const SimRun *run, const SimTable *source, guint n_identity)
{
    guint n_columns = sim_table_n_columns(table);
    g_autofree int *from = g_new(int, n_columns);

    for (guint c = n_identity; c < n_columns; c++)
        from[c] = sim_table_find_column(source, sim_table_columns(table)[c]);
    for (guint row = 0; row < sim_table_n_rows(source); row++) {
        sim_point_put(plan, run->point, table);
        sim_table_put_int(table, run->replication);
        sim_table_put_text(table, run->start);
        for (guint c = n_identity; c < n_columns; c++)
            sim_table_put_text(table, from[c] >= 0 ? sim_table_cell(source, row, (guint) from[c]) : "");
    }
}

/* One table of all runs. Points may differ in their columns (a sweep over nodes has a column for each node), so the
 * columns are the union and a cell that a point does not have is empty. */
static SimTable *
gather_table(const SimRuns *runs, const char *name)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    SimTable *table;
    guint n_identity;

    sim_point_add_columns(runs->plan, columns);
    sim_columns_add(columns, "replication");
    sim_columns_add(columns, "start");
    n_identity = columns->len;
    for (guint i = 0; i < runs->n_runs; i++) {
        const SimTable *source = find_table(runs->runs[i].record, name);
        for (guint c = 0; source != NULL && sim_table_columns(source)[c] != NULL; c++)
            sim_columns_add(columns, sim_table_columns(source)[c]);
    }
    g_ptr_array_add(columns, NULL);
    table = sim_table_new(name, (const char *const *) columns->pdata);
    for (guint i = 0; i < runs->n_runs; i++) {
        const SimTable *source = find_table(runs->runs[i].record, name);
        if (source != NULL)
            put_record_rows(table, runs->plan, &runs->runs[i], source, n_identity);
    }
    return table;
}

static gboolean
write_table(SimFolder *folder, GKeyFile *manifest, const SimTable *table, GError **error)
{
    g_autofree char *name = g_strconcat(sim_table_name(table), ".tsv", NULL);
    GString *bytes = sim_table_to_tsv(table);
    g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) bytes->str, bytes->len);
    gboolean ok = sim_folder_write(folder, name, bytes->str, bytes->len, error);

    g_key_file_set_string(manifest, "files", name, sum);
    g_string_free(bytes, TRUE);
    return ok;
}

static gboolean
write_point(SimFolder *folder, GKeyFile *manifest, const SimPlan *plan, guint point, GError **error)
{
    g_autofree char *group = g_strdup_printf("point %u", point + 1);
    g_autofree char *name = g_strdup_printf(POINTS "/%u.scenario", point + 1);
    g_autofree char *text = sim_config_to_text(sim_plan_config(plan, point), FALSE);
    char warmup_ms[G_ASCII_DTOSTR_BUF_SIZE];

    sim_format_real(warmup_ms, sim_time_to_seconds(sim_config_time(sim_plan_config(plan, point), "run", "warmup")) * 1e3);
    g_key_file_set_string(manifest, group, "variant", sim_plan_variant(plan, point));
    g_key_file_set_string(manifest, group, "axis_value", sim_plan_axis_value(plan, point));
    g_key_file_set_string(manifest, group, "warmup_ms", warmup_ms);
    g_key_file_set_string(manifest, group, "configuration", name);
    return sim_folder_write(folder, name, text, strlen(text), error);
}

/* What the charts of this folder need to know of its scenario. */
static void
add_charts(GKeyFile *manifest, const SimConfig *config)
{
    static const char *const keys[] = {"kind", "metric", "title"};
    const char *const *names = sim_config_instances(config, "plot *");

    for (; *names != NULL; names++) {
        g_autofree char *group = g_strconcat("plot ", *names, NULL);
        for (guint k = 0; k < G_N_ELEMENTS(keys); k++)
            if (sim_config_is_given(config, group, keys[k]))
                g_key_file_set_string(manifest, group, keys[k], sim_config_text(config, group, keys[k]));
    }
}

static GKeyFile *
manifest_new(const SimExperiment *experiment, const SimRuns *runs)
{
    GKeyFile *manifest = g_key_file_new();
    const SimConfig *config = sim_plan_config(runs->plan, 0);

    g_key_file_set_integer(manifest, "result", "format", SIM_RESULT_FORMAT);
    g_key_file_set_string(manifest, "result", "program", experiment->program);
    g_key_file_set_string(manifest, "result", "version", experiment->version);
    g_key_file_set_string(manifest, "result", "scenario", sim_plan_name(runs->plan));
    g_key_file_set_string(manifest, "result", "title", sim_config_text(config, "scenario", "title"));
    g_key_file_set_string(manifest, "result", "axis", sim_plan_axis_key(runs->plan));
    g_key_file_set_integer(manifest, "result", "points", (gint) sim_plan_n_points(runs->plan));
    g_key_file_set_integer(manifest, "result", "runs", (gint) runs->n_runs);
    add_charts(manifest, config);
    return manifest;
}

static gboolean
write_tables(SimFolder *folder, GKeyFile *manifest, const SimRuns *runs, const SimTable *comparison, GError **error)
{
    g_autoptr(SimTable) metrics = metrics_table(runs);
    g_autoptr(SimTable) summary = sim_runs_summary_table(runs);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    if (!write_table(folder, manifest, metrics, error) || !write_table(folder, manifest, summary, error))
        return FALSE;
    if (comparison != NULL && !write_table(folder, manifest, comparison, error))
        return FALSE;
    for (guint i = 0; i < runs->n_runs; i++)
        for (guint t = 0; t < sim_record_n_tables(runs->runs[i].record); t++)
            sim_columns_add(names, sim_table_name(sim_record_table(runs->runs[i].record, t)));
    for (guint t = 0; t < names->len; t++) {
        g_autoptr(SimTable) table = gather_table(runs, names->pdata[t]);
        if (!write_table(folder, manifest, table, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
sim_result_write(SimFolder *folder, const SimExperiment *experiment, const SimRuns *runs, const SimTable *comparison,
                 GError **error)
{
    g_autoptr(GKeyFile) manifest = manifest_new(experiment, runs);
    g_autofree char *text = NULL;
    gsize length;

    for (guint point = 0; point < sim_plan_n_points(runs->plan); point++)
        if (!write_point(folder, manifest, runs->plan, point, error))
            return FALSE;
    if (!write_tables(folder, manifest, runs, comparison, error))
        return FALSE;
    text = g_key_file_to_data(manifest, &length, NULL);
    return sim_folder_write(folder, MANIFEST, text, length, error);
}
