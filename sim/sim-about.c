/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-about.h"

#include "sim-result.h"
#include "sim-study.h"

void
sim_about_free(SimAbout *about)
{
    if (about == NULL)
        return;
    g_free(about->path);
    g_free(about->program);
    g_free(about->version);
    g_free(about->name);
    g_free(about->configuration);
    g_free(about->scenario_text);
    g_clear_pointer(&about->scenario, g_key_file_unref);
    g_free(about);
}

static gboolean
read_study(SimAbout *about, GError **error)
{
    g_autoptr(SimStudy) study = sim_study_open(about->path, SIM_STUDY_READ, error);

    if (study == NULL)
        return FALSE;
    about->program = g_strdup(sim_study_about(study, "program"));
    about->version = g_strdup(sim_study_about(study, "version"));
    about->name = g_strdup(sim_study_about(study, "scenario"));
    about->scenario_text = g_strdup(sim_study_about(study, "scenario_text"));
    about->n_points = sim_study_n_points(study);
    if (about->n_points == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: the study has no points", about->path);
        return FALSE;
    }
    about->configuration = sim_study_configuration(study, 0, error);
    return about->configuration != NULL && sim_study_count(study, &about->n_runs, &about->n_wanted, error);
}

static gboolean
read_folder(SimAbout *about, GError **error)
{
    g_autoptr(GKeyFile) manifest = sim_result_read_manifest(about->path, error);
    g_autofree char *path = g_build_filename(about->path, "points", "1.scenario", NULL);
    g_autoptr(GError) inner = NULL;

    if (manifest == NULL)
        return FALSE;
    about->program = g_key_file_get_string(manifest, "result", "program", NULL);
    about->version = g_key_file_get_string(manifest, "result", "version", NULL);
    about->name = g_key_file_get_string(manifest, "result", "scenario", NULL);
    about->n_points = (guint) g_key_file_get_integer(manifest, "result", "points", NULL);
    about->n_runs = about->n_wanted = (guint64) g_key_file_get_integer(manifest, "result", "runs", NULL);
    if (g_file_get_contents(path, &about->configuration, NULL, &inner))
        return TRUE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, inner->message);
    return FALSE;
}

SimAbout *
sim_about_read(const char *path, GError **error)
{
    g_autoptr(SimAbout) about = g_new0(SimAbout, 1);
    g_autoptr(GError) inner = NULL;

    about->path = g_strdup(path);
    about->is_study = !g_file_test(path, G_FILE_TEST_IS_DIR);
    if (!(about->is_study ? read_study(about, error) : read_folder(about, error)))
        return NULL;
    about->scenario = g_key_file_new();
    if (!g_key_file_load_from_data(about->scenario, about->configuration, (gsize) -1, G_KEY_FILE_NONE, &inner)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: the first point's configuration: %s", path, inner->message);
        return NULL;
    }
    return g_steal_pointer(&about);
}

char *
sim_about_text(const SimAbout *about, const char *key)
{
    char *value = g_key_file_get_value(about->scenario, "scenario", key, NULL);

    return value != NULL ? value : g_strdup("");
}
