/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-report-private.h"

static void
part_free(gpointer data)
{
    SimReportPart *part = data;

    sim_table_free(part->comparison);
    sim_findings_free(part->findings);
    sim_grid_free(part->grid);
    sim_source_free(part->source);
    sim_about_free(part->about);
    g_free(part);
}

void
sim_report_free(SimReport *report)
{
    if (report == NULL)
        return;
    g_ptr_array_unref(report->parts);
    g_free(report);
}

static gboolean
read_comparison(SimReportPart *part, GError **error)
{
    g_autofree char *path = g_build_filename(part->about->path, "comparison.tsv", NULL);
    static const char *const needed[] = {"id", "metric", "published", "simulated", "half_width", "ratio", "status"};

    if (part->about->is_study || !g_file_test(path, G_FILE_TEST_EXISTS))
        return TRUE;
    part->comparison = sim_table_read(path, error);
    for (guint i = 0; part->comparison != NULL && i < G_N_ELEMENTS(needed); i++) {
        if (sim_table_find_column(part->comparison, needed[i]) >= 0)
            continue;
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:1: no column '%s'", path, needed[i]);
        return FALSE;
    }
    return part->comparison != NULL;
}

static gboolean
read_part(SimReportPart *part, const char *path, const SimReport *report, GError **error)
{
    part->about = sim_about_read(path, error);
    if (part->about == NULL)
        return FALSE;
    part->source = sim_source_open(path, error);
    if (part->source == NULL)
        return FALSE;
    part->grid = sim_grid_new(part->source, part->about->scenario, error);
    if (part->grid == NULL)
        return FALSE;
    part->findings = sim_findings_new(part->grid, report->trust_metric, report->control, error);
    return part->findings != NULL && read_comparison(part, error);
}

SimReport *
sim_report_new(const char *const *paths, const char *trust_metric, SimControl control, GError **error)
{
    g_autoptr(SimReport) report = g_new0(SimReport, 1);

    report->parts = g_ptr_array_new_with_free_func(part_free);
    report->control = control;
    report->trust_metric = trust_metric;
    for (; *paths != NULL; paths++) {
        SimReportPart *part = g_new0(SimReportPart, 1);
        g_ptr_array_add(report->parts, part);
        if (!read_part(part, *paths, report, error))
            return NULL;
    }
    return g_steal_pointer(&report);
}
