/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What charts are drawn from: the files of a result folder, or the same tables out of a study. */
#include "sim-about.h"
#include "sim-chart-private.h"
#include "sim-export.h"
#include "sim-result.h"

#include <errno.h>
#include <string.h>

#define SERIES "series"
#define MAX_SERIES_CELLS 12 /* charts over time show six points, which say little of a large study */

void
sim_chart_source_free(SimChartSource *source)
{
    if (source == NULL)
        return;
    sim_findings_free(source->findings);
    sim_grid_free(source->grid);
    sim_source_free(source->runs);
    sim_study_close(source->study);
    g_hash_table_unref(source->tables);
    g_clear_pointer(&source->plots, g_key_file_unref);
    g_free(source->axis);
    g_free(source->path);
    g_free(source);
}

/* A configuration keeps texts as they are, a manifest escapes them: the latter is what is read later. */
static void
copy_plots(GKeyFile *from, GKeyFile *to)
{
    g_auto(GStrv) groups = g_key_file_get_groups(from, NULL);

    for (char **group = groups; *group != NULL; group++) {
        g_auto(GStrv) keys = g_str_has_prefix(*group, "plot ") ? g_key_file_get_keys(from, *group, NULL, NULL) : NULL;
        for (char **key = keys; key != NULL && *key != NULL; key++) {
            g_autofree char *value = g_key_file_get_value(from, *group, *key, NULL);
            g_key_file_set_string(to, *group, *key, value);
        }
    }
}

static gboolean
open_study(SimChartSource *source, GError **error)
{
    g_autoptr(SimAbout) about = sim_about_read(source->path, error);
    const SimGrid *grid;

    if (about == NULL)
        return FALSE;
    source->study = sim_study_open(source->path, SIM_STUDY_READ, error);
    grid = source->study != NULL ? sim_chart_source_grid(source, error) : NULL;
    if (grid == NULL)
        return FALSE;
    source->plots = g_key_file_new();
    copy_plots(about->scenario, source->plots);
    g_autofree char *title = sim_about_text(about, "title");
    g_key_file_set_string(source->plots, "result", "title", title);
    source->axis = g_strdup(grid->x_label);
    return TRUE;
}

static gboolean
open_folder(SimChartSource *source, GError **error)
{
    source->plots = sim_result_read_manifest(source->path, error);
    if (source->plots == NULL)
        return FALSE;
    source->axis = g_key_file_get_string(source->plots, "result", "axis", NULL);
    if (source->axis == NULL)
        source->axis = g_strdup("");
    return TRUE;
}

SimChartSource *
sim_chart_source_open(const char *path, SimControl control, GError **error)
{
    g_autoptr(SimChartSource) source = g_new0(SimChartSource, 1);

    source->path = g_strdup(path);
    source->control = control;
    source->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) sim_table_free);
    if (!(g_file_test(path, G_FILE_TEST_IS_DIR) ? open_folder(source, error) : open_study(source, error)))
        return NULL;
    return g_steal_pointer(&source);
}

static gboolean
is_in_study(SimChartSource *source, const char *name, gboolean *ret_is_there, GError **error)
{
    g_auto(GStrv) names = sim_study_table_names(source->study, error);

    if (names == NULL)
        return FALSE;
    *ret_is_there = g_str_equal(name, "metrics") || g_str_equal(name, "summary") ||
                    (g_strv_contains((const char *const *) names, name) &&
                     (!g_str_equal(name, SERIES) || sim_study_n_cells(source->study) <= MAX_SERIES_CELLS));
    return TRUE;
}

static SimTable *
export_table(SimChartSource *source, const char *name, GError **error)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    SimTable *table = NULL;
    gboolean ok;

    if (out == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", source->path, g_strerror(errno));
        return NULL;
    }
    ok = sim_export_write(source->study, name, SIM_EXPORT_TSV, out, error);
    fclose(out);
    if (ok)
        table = sim_table_parse(source->path, text, error);
    free(text);
    return table;
}

const SimTable *
sim_chart_source_table(SimChartSource *source, const char *name, GError **error)
{
    g_autofree char *file = g_strconcat(name, ".tsv", NULL), *path = NULL;
    SimTable *table = g_hash_table_lookup(source->tables, name);
    gboolean is_there;

    if (table != NULL)
        return table;
    if (source->study != NULL) {
        if (!is_in_study(source, name, &is_there, error) || !is_there)
            return NULL;
        table = export_table(source, name, error);
    } else {
        path = g_build_filename(source->path, file, NULL);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            return NULL;
        table = sim_table_read(path, error);
    }
    if (table != NULL)
        g_hash_table_insert(source->tables, g_strdup(name), table);
    return table;
}

const SimGrid *
sim_chart_source_grid(SimChartSource *source, GError **error)
{
    g_autoptr(SimAbout) about = NULL;

    if (source->grid != NULL)
        return source->grid;
    about = sim_about_read(source->path, error);
    if (about == NULL)
        return NULL;
    if (source->runs == NULL)
        source->runs = sim_source_open(source->path, error);
    if (source->runs == NULL)
        return NULL;
    source->grid = sim_grid_new(source->runs, about->scenario, error);
    return source->grid;
}

const SimFindings *
sim_chart_source_findings(SimChartSource *source, GError **error)
{
    const SimGrid *grid = sim_chart_source_grid(source, error);

    if (grid != NULL && source->findings == NULL)
        source->findings = sim_findings_new(grid, NULL, source->control, error);
    return source->findings;
}
