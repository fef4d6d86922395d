/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

/* Run-ahead is exact: a build in which every private operation goes through the event queue as well gives the same
 * counters, times, lock statistics and fingerprints to the byte. */

static char **
lines_of(const char *program)
{
    g_autofree char *path = g_test_build_filename(G_TEST_BUILT, program, NULL);
    const char *const argv[] = {path, NULL};
    g_autofree char *output = NULL;
    GError *error = NULL;
    gint status;

    g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, &error);
    g_assert_no_error(error);
    g_spawn_check_wait_status(status, &error);
    g_assert_no_error(error);
    return g_strsplit(output, "\n", -1);
}

static void
test_same_digest(void)
{
    g_auto(GStrv) ahead = lines_of("run-ahead-digest");
    g_auto(GStrv) queued = lines_of("run-ahead-digest-queued");
    guint i;

    for (i = 0; ahead[i] && queued[i]; i++)
        g_assert_cmpstr(ahead[i], ==, queued[i]);
    g_assert_null(ahead[i]);
    g_assert_null(queued[i]);
    g_assert_cmpuint(i, >, 500);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run-ahead/same-digest", test_same_digest);
    return g_test_run();
}
