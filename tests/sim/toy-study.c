/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "toy-study.h"

#include "toy-experiment.h"
#include "toy-scenario.h"

SimPlan *
toy_study_plan(const char *text)
{
    g_autoptr(GError) error = NULL;
    SimPlan *plan;

    toy_write("study.scenario", text);
    plan = sim_plan_load(toy_experiment.schema, "study.scenario", NULL, &toy_experiment, &error);
    g_assert_no_error(error);
    return plan;
}

SimRuns *
toy_study_run(const SimPlan *plan, guint n_workers)
{
    const SimRunnerOptions options = {.n_workers = n_workers};
    g_autoptr(GError) error = NULL;
    SimRuns *runs = sim_runner_run(&toy_experiment, plan, &options, &error);

    g_assert_no_error(error);
    return runs;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(char *const *) a, *(char *const *) b);
}

static void
walk(const char *folder, gboolean with_bytes, GString *out)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir)) != NULL)
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        g_autofree char *bytes = NULL;
        gsize length;

        g_string_append_printf(out, "%s\n", (char *) names->pdata[i]);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            walk(path, with_bytes, out);
        } else if (with_bytes) {
            g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
            g_string_append_len(out, bytes, (gssize) length);
        }
    }
}

char *
toy_study_digest(const char *folder)
{
    GString *out = g_string_new(NULL);

    walk(folder, TRUE, out);
    return g_string_free(out, FALSE);
}

char *
toy_study_list(const char *folder)
{
    GString *out = g_string_new(NULL);

    walk(folder, FALSE, out);
    return g_string_free(out, FALSE);
}
