/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli-process.h"

void
outcome_clear(Outcome *outcome)
{
    g_free(outcome->out);
    g_free(outcome->err);
}

GSubprocess *
cli_spawn(const char *line, const char *path)
{
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *full = g_strdup_printf("%s %s", g_getenv("TOY_MAIN"), line);
    GSubprocess *process;

    g_assert_true(g_shell_parse_argv(full, NULL, &words, NULL));
    if (path != NULL)
        g_subprocess_launcher_setenv(launcher, "PATH", path, TRUE);
    process = g_subprocess_launcher_spawnv(launcher, (const char *const *) words, &error);
    g_assert_no_error(error);
    return process;
}

Outcome
cli_finish(GSubprocess *process)
{
    Outcome outcome = {.status = -1};
    g_autoptr(GError) error = NULL;

    g_subprocess_communicate_utf8(process, NULL, NULL, &outcome.out, &outcome.err, &error);
    g_assert_no_error(error);
    if (g_subprocess_get_if_exited(process))
        outcome.status = g_subprocess_get_exit_status(process);
    g_object_unref(process);
    return outcome;
}

Outcome
cli_run(const char *line, const char *path)
{
    return cli_finish(cli_spawn(line, path));
}

void
cli_expect(const char *line, int status, const char *out, const char *err)
{
    g_auto(Outcome) outcome = cli_run(line, NULL);

    if (err != NULL)
        g_assert_cmpstr(outcome.err, ==, err);
    if (out != NULL)
        g_assert_cmpstr(outcome.out, ==, out);
    g_assert_cmpint(outcome.status, ==, status);
}
