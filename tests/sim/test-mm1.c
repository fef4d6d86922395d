/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the example that uses the engine alone (the path is in the environment variable MM1) and checks its table. */
#include <glib.h>
#include <math.h>
#include <string.h>

static char *
run_mm1(const char *load, gint *ret_status)
{
    g_autoptr(GError) error = NULL;
    const char *argv[] = {g_getenv("MM1"), load, NULL};
    char *output = NULL;

    g_assert_nonnull(argv[0]);
    g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL, ret_status, &error);
    g_assert_no_error(error);
    return output;
}

static void
check_row(const char *output, const char *name, double exact)
{
    const char *row = strstr(output, name);
    char *end;
    double mean, half_width;

    g_assert_nonnull(row);
    mean = g_ascii_strtod(row + strlen(name), &end);
    half_width = g_ascii_strtod(end, &end);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(end, NULL), exact, 1e-4);
    g_assert_cmpfloat(half_width, >, 0.0);
    g_assert_cmpfloat(half_width, <, 0.05 * exact);
    g_assert_cmpfloat(fabs(mean - exact), <=, half_width);
}

/* Utilisation = load, number = load / (1 - load), wait = that times the service time, 1 us. */
static void
test_table(void)
{
    static const struct {
        const char *load;
        double utilisation, present;
    } rows[] = {{NULL, 0.8, 4.0}, {"0.5", 0.5, 1.0}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        gint status;
        g_autofree char *output = run_mm1(rows[i].load, &status);

        g_assert_cmpint(status, ==, 0);
        check_row(output, "utilisation", rows[i].utilisation);
        check_row(output, "present", rows[i].present);
        check_row(output, "wait_us", rows[i].present);
    }
}

static void
test_bad_load(void)
{
    static const char *const loads[] = {"0", "1", "-0.5", "nan", "busy"};

    for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
        gint status;
        g_autofree char *output = run_mm1(loads[i], &status);

        g_assert_false(g_spawn_check_wait_status(status, NULL));
        g_assert_cmpstr(output, ==, "");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mm1/table", test_table);
    g_test_add_func("/mm1/bad-load", test_bad_load);
    return g_test_run();
}
