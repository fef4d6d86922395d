/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-source.h"

#include "sim-hint.h"
#include "sim-result.h"

#include <math.h>
#include <string.h>

#define METRICS_FILE "metrics.tsv"
#define DEFAULT_CONFIDENCE 0.95

typedef struct {
    guint point, first_row, n_rows;
    char **values;
} FolderCell;

struct _SimSource {
    char *path;
    SimStudy *study; /* NULL for a folder */
    const char *const *metrics;
    /* Of a folder: */
    SimTable *table;
    guint n_axes;         /* their columns follow "scenario" and "variant" */
    guint at_replication; /* this column, then start, seed and fingerprint, then the metrics */
    GArray *cells;        /* FolderCell */
};

static void
folder_cell_clear(gpointer data)
{
    g_strfreev(((FolderCell *) data)->values);
}

void
sim_source_free(SimSource *source)
{
    if (source == NULL)
        return;
    g_free(source->path);
    sim_study_close(source->study);
    sim_table_free(source->table);
    g_clear_pointer(&source->cells, g_array_unref);
    g_free(source);
}

static gboolean
fail_form(const SimSource *source, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s/%s: not the metrics of a result folder", source->path,
                METRICS_FILE);
    return FALSE;
}

static const char *
cell_text(const SimSource *source, guint row, guint column)
{
    return sim_table_cell(source->table, row, column);
}

/* Whether a row is of the same variant and axis values as the one before. */
static gboolean
is_same_point(const SimSource *source, guint row)
{
    for (guint c = 1; c < source->at_replication; c++)
        if (!g_str_equal(cell_text(source, row, c), cell_text(source, row - 1, c)))
            return FALSE;
    return TRUE;
}

static void
find_cells(SimSource *source)
{
    guint at_start = source->at_replication + 1, point = 0;

    for (guint row = 0; row < sim_table_n_rows(source->table); row++) {
        gboolean is_same = row > 0 && is_same_point(source, row);
        point += row > 0 && !is_same;
        if (!is_same || !g_str_equal(cell_text(source, row, at_start), cell_text(source, row - 1, at_start))) {
            FolderCell cell = {.point = point, .first_row = row};
            cell.values = g_new0(char *, source->n_axes + 1);
            for (guint axis = 0; axis < source->n_axes; axis++)
                cell.values[axis] = g_strdup(cell_text(source, row, 2 + axis));
            g_array_append_val(source->cells, cell);
        }
        g_array_index(source->cells, FolderCell, source->cells->len - 1).n_rows++;
    }
}

static gboolean
open_folder(SimSource *source, GError **error)
{
    static const char *const fixed[] = {"replication", "start", "seed", "fingerprint"};
    g_autoptr(GKeyFile) manifest = sim_result_read_manifest(source->path, error);
    g_autofree char *path = g_build_filename(source->path, METRICS_FILE, NULL);
    const char *const *columns;
    int at;

    if (manifest == NULL)
        return FALSE;
    source->table = sim_table_read(path, error);
    if (source->table == NULL)
        return FALSE;
    columns = sim_table_columns(source->table);
    at = sim_table_find_column(source->table, fixed[0]);
    if (at < 2 || sim_table_n_columns(source->table) < (guint) at + G_N_ELEMENTS(fixed) ||
        !g_str_equal(columns[1], "variant"))
        return fail_form(source, error);
    for (guint i = 0; i < G_N_ELEMENTS(fixed); i++)
        if (!g_str_equal(columns[(guint) at + i], fixed[i]))
            return fail_form(source, error);
    source->at_replication = (guint) at;
    source->n_axes = (guint) at - 2;
    source->metrics = columns + at + G_N_ELEMENTS(fixed);
    source->cells = g_array_new(FALSE, FALSE, sizeof(FolderCell));
    g_array_set_clear_func(source->cells, folder_cell_clear);
    find_cells(source);
    return TRUE;
}

SimSource *
sim_source_open(const char *path, GError **error)
{
    g_autoptr(SimSource) source = g_new0(SimSource, 1);

    source->path = g_strdup(path);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return open_folder(source, error) ? g_steal_pointer(&source) : NULL;
    source->study = sim_study_open(path, SIM_STUDY_READ, error);
    source->metrics = source->study != NULL ? sim_study_metrics(source->study, error) : NULL;
    return source->metrics != NULL ? g_steal_pointer(&source) : NULL;
}

const char *
sim_source_path(const SimSource *source)
{
    return source->path;
}

guint
sim_source_n_axes(const SimSource *source)
{
    return source->study != NULL ? sim_study_n_axes(source->study) : source->n_axes;
}

const char *
sim_source_axis_key(const SimSource *source, guint axis)
{
    g_assert(axis < sim_source_n_axes(source));
    return source->study != NULL ? sim_study_axis_key(source->study, axis) : sim_table_columns(source->table)[2 + axis];
}

guint
sim_source_n_cells(const SimSource *source)
{
    return source->study != NULL ? sim_study_n_cells(source->study) : source->cells->len;
}

SimSourceCell
sim_source_cell(const SimSource *source, guint cell)
{
    if (source->study != NULL) {
        const SimStudyCell *facts = sim_study_cell(source->study, cell);
        const SimStudyPoint *point = sim_study_point(source->study, facts->point);
        return (SimSourceCell){facts->point, point->variant, facts->start, (const char *const *) point->values,
                               facts->confidence};
    }
    g_assert(cell < source->cells->len);
    const FolderCell *facts = &g_array_index(source->cells, FolderCell, cell);
    return (SimSourceCell){facts->point, cell_text(source, facts->first_row, 1),
                           cell_text(source, facts->first_row, source->at_replication + 1),
                           (const char *const *) facts->values, DEFAULT_CONFIDENCE};
}

const char *const *
sim_source_metrics(const SimSource *source)
{
    return source->metrics;
}

int
sim_source_find_metric(const SimSource *source, const char *name, GError **error)
{
    for (int i = 0; source->metrics[i] != NULL; i++)
        if (g_str_equal(source->metrics[i], name))
            return i;
    g_autofree char *allowed = g_strjoinv(", ", (char **) source->metrics);
    g_autofree char *hint = sim_hint_phrase(name, source->metrics);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "%s: no metric '%s'%s (allowed: %s)", source->path, name, hint,
                *allowed != '\0' ? allowed : "none, no run is finished");
    return -1;
}

static gboolean
read_row(const SimSource *source, guint row, SimCellRuns *runs, GError **error)
{
    guint at = source->at_replication;
    guint64 replication;
    gint64 seed;

    if (!g_ascii_string_to_unsigned(cell_text(source, row, at), 10, 0, G_MAXUINT32, &replication, NULL) ||
        !g_ascii_string_to_signed(cell_text(source, row, at + 2), 10, G_MININT64, G_MAXINT64, &seed, NULL) ||
        !g_ascii_string_to_unsigned(cell_text(source, row, at + 3), 16, 0, G_MAXUINT64,
                                    &runs->fingerprints[runs->n_runs], NULL))
        return fail_form(source, error);
    runs->replications[runs->n_runs] = (guint) replication;
    runs->seeds[runs->n_runs] = (guint64) seed;
    for (guint m = 0; m < runs->n_metrics; m++) {
        gsize to = (gsize) runs->n_runs * runs->n_metrics + m;
        runs->has[to] = *cell_text(source, row, at + 4 + m) != '\0';
        if (runs->has[to] && !sim_table_cell_real(source->table, row, at + 4 + m, &runs->values[to]))
            return fail_form(source, error);
    }
    runs->n_runs++;
    return TRUE;
}

SimCellRuns *
sim_source_read(SimSource *source, guint cell, GError **error)
{
    if (source->study != NULL)
        return sim_study_read_cell(source->study, cell, error);
    const FolderCell *facts = &g_array_index(source->cells, FolderCell, cell);
    g_autoptr(SimCellRuns) runs = sim_cell_runs_new(facts->n_rows, g_strv_length((char **) source->metrics));
    for (guint row = 0; row < facts->n_rows; row++)
        if (!read_row(source, facts->first_row + row, runs, error))
            return NULL;
    return g_steal_pointer(&runs);
}

void
sim_source_pair(const SimCellRuns *a, guint metric_a, const SimCellRuns *b, guint metric_b, GArray **ret_a,
                GArray **ret_b, gboolean *ret_is_paired)
{
    GArray *of_a = g_array_new(FALSE, FALSE, sizeof(double)), *of_b = g_array_new(FALSE, FALSE, sizeof(double));

    /* Both are in order of replications. */
    for (guint i = 0, j = 0; i < a->n_runs && j < b->n_runs;) {
        gsize at_a = (gsize) i * a->n_metrics + metric_a, at_b = (gsize) j * b->n_metrics + metric_b;
        if (a->replications[i] == b->replications[j] && a->seeds[i] == b->seeds[j] && a->has[at_a] && b->has[at_b]) {
            g_array_append_val(of_a, a->values[at_a]);
            g_array_append_val(of_b, b->values[at_b]);
        }
        if (a->replications[i] == b->replications[j]) {
            i++;
            j++;
        } else if (a->replications[i] < b->replications[j]) {
            i++;
        } else {
            j++;
        }
    }
    *ret_is_paired = of_a->len > 0;
    if (of_a->len == 0) {
        g_array_unref(of_a);
        g_array_unref(of_b);
        of_a = sim_cell_runs_values(a, metric_a);
        of_b = sim_cell_runs_values(b, metric_b);
    }
    *ret_a = of_a;
    *ret_b = of_b;
}

char *
sim_source_label(const SimSource *source, guint cell)
{
    SimSourceCell facts = sim_source_cell(source, cell);
    GString *label = g_string_new(facts.variant);

    for (guint axis = 0; axis < sim_source_n_axes(source); axis++)
        g_string_append_printf(label, ", %s = %s", sim_source_axis_key(source, axis), facts.values[axis]);
    return g_string_free(label, FALSE);
}
