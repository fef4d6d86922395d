/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart kinds for many points, number by number, and whether gnuplot puts every one of them on the page. */
#include "sim-chart.h"
#include "toy-scenario.h"

#include <glib/gstdio.h>
#include <string.h>

#define COLUMNS "scenario\tvariant\tm.cpus\ts.order\ts.limit\treplication\tstart\tseed\tfingerprint\t"
#define METRICS "throughput_ops_per_s\tused_bytes\n"

/* Two settings of two values at two machines, two replications. At the small machine the order gains 10 of 100 with an
 * exact interval, the limit 2 and -2; at the large one everything is ten times as fast. */
static void
write_folder(void)
{
    static const double gains[2][2][2] = {{{98, 102}, {100, 100}}, {{108, 112}, {110, 114}}};
    g_autoptr(GString) metrics = g_string_new(COLUMNS METRICS);

    for (guint cpus = 4; cpus <= 64; cpus *= 16)
        for (guint order = 0; order < 2; order++)
            for (guint limit = 0; limit < 2; limit++)
                for (guint r = 0; r < 2; r++)
                    g_string_append_printf(metrics, "a\tbase\t%u\t%u\t%u\t%u\tcold\t1\t0\t%g\t%u\n", cpus, 3 + order,
                                           5 + limit, r, gains[order][limit][r] * (cpus == 4 ? 1 : 10),
                                           1048576 * (1 + 2 * order + limit));
    toy_write("r/metrics.tsv", metrics->str);
    toy_write("r/points/1.scenario", "[scenario]\nsettings = s.order; s.limit\n");
    toy_write("r/manifest.ini", "[result]\nformat=1\naxis=\n");
    toy_write("charts/.keep", "");
}

static void
draw(const char *path, guint n_expected)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *old_path = g_strdup(g_getenv("PATH")), *refused = NULL;
    g_autoptr(GPtrArray) made = NULL;

    g_setenv("PATH", path, TRUE);
    made = sim_chart_draw_report("r", SIM_CONTROL_NONE, g_getenv("SLUBSIM_PLOTS"), "charts", NULL, &refused, &error);
    g_setenv("PATH", old_path, TRUE);
    g_assert_no_error(error);
    g_assert_cmpstr(refused, ==, NULL);
    g_assert_cmpuint(made->len, ==, n_expected);
    g_assert_cmpstr(((SimChartMade *) made->pdata[0])->name, ==, "difference");
}

static void
expect_file(const char *name, const char *text)
{
    g_autofree char *bytes = NULL;

    g_assert_true(g_file_get_contents(name, &bytes, NULL, NULL));
    g_assert_cmpstr(bytes, ==, text);
}

/* The limit: differences 2 and -2 of a mean of 100: 0 +- 12.7062 * 2, cut at the edge, which is 1.5 times the largest
 * share there is, that of both, 12. */
static void
test_data(void)
{
    write_folder();
    toy_write("bin/gnuplot", "#!/bin/sh\nexit 0\n");
    g_assert_cmpint(g_chmod("bin/gnuplot", 0700), ==, 0);
    draw("bin:/usr/bin:/bin", 6);
    expect_file(
        "charts/difference.tsv",
        "y\tlabel\n-1\tcpus = 4:\n-2\tlimit = 6\n-3\torder = 4\n-4\tall 2 together\n-5\tcpus = 64:\n-6\tlimit = "
        "6\n-7\torder = 4\n-8\tall 2 together\n\n\n"
        "no difference seen\tshare\tlow\thigh\n-2\t0\t-18\t18\n"
        "-6\t0\t-18\t18\n\n\n"
        "difference seen\tshare\tlow\thigh\n-3\t10\t10\t10\n"
        "-4\t12\t12\t12\n"
        "-7\t10\t10\t10\n"
        "-8\t12\t12\t12\n\n\n");
}

/* The front: cost 1, 3 and 4 MiB with ever more gain; the limit costs more than the base for nothing. */
static void
test_pareto(void)
{
    g_autofree char *text = NULL;
    char *front;

    write_folder();
    toy_write("bin/gnuplot", "#!/bin/sh\nexit 0\n");
    g_assert_cmpint(g_chmod("bin/gnuplot", 0700), ==, 0);
    draw("bin:/usr/bin:/bin", 6);
    g_assert_true(g_file_get_contents("charts/pareto.tsv", &text, NULL, NULL));
    front = strstr(text, "front\t");
    *strstr(front, "\n\n\n") = '\0';
    g_auto(GStrv) lines = g_strsplit(front, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4);
    g_assert_true(g_str_has_prefix(lines[1], "1\t1\t1\t0.1\t"));
    g_assert_true(g_str_has_suffix(lines[1], "\t1"));
    g_assert_true(g_str_has_prefix(lines[2], "3\t3\t3\t0.11\t"));
    g_assert_true(g_str_has_suffix(lines[2], "\t3"));
    g_assert_true(g_str_has_prefix(lines[3], "4\t4\t4\t0.112\t"));
}

static guint
count(const char *chart, const char *word)
{
    g_autofree char *text = NULL;
    guint n = 0;

    g_assert_true(g_file_get_contents(chart, &text, NULL, NULL));
    for (const char *c = strstr(text, word); c != NULL; c = strstr(c + 1, word))
        n++;
    return n;
}

/* gnuplot leaves a row out without a word when it takes it for a header. */
static void
test_every_point_is_drawn(void)
{
    static const char *const kinds[] = {"difference", "lines", "scaling", "pareto", "waterfall", "heat-map"};

    write_folder();
    draw(g_getenv("PATH"), G_N_ELEMENTS(kinds));
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *png = g_strdup_printf("charts/%s.png", kinds[i]);
        g_assert_true(g_file_test(png, G_FILE_TEST_EXISTS));
    }
    /* Circles: hollow where nothing is seen, full otherwise, and one of each in the key. Its definition refers to none.
     */
    g_assert_cmpuint(count("charts/difference.svg", "<use xlink:href='#gpPt5' transform"), ==, 2 + 1);
    g_assert_cmpuint(count("charts/difference.svg", "<use xlink:href='#gpPt6' transform"), ==, 4 + 1);
    /* One mark a place and setting, and the key: base is drawn with the first point type. */
    g_assert_cmpuint(count("charts/lines.svg", "<use xlink:href='#gpPt4' transform"), ==, 2 + 1);
    g_assert_cmpuint(count("charts/pareto.svg", "<use xlink:href='#gpPt4' transform"), ==, 2 + 1);
    /* Steps: the texts of the two changes at each of two places. */
    g_assert_cmpuint(count("charts/waterfall.svg", ">+10.0<"), ==, 2);
    g_assert_cmpuint(count("charts/waterfall.svg", ">+2.0<"), ==, 2);
    g_assert_cmpuint(count("charts/heat-map.svg", ">+10.0 ± 0.0<"), ==, 2);
    g_assert_cmpuint(count("charts/heat-map.svg", ">(0.0 ± 25.4)<"), ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/chart-sweep/data", test_data);
    toy_add_test("/chart-sweep/pareto", test_pareto);
    toy_add_test("/chart-sweep/every-point-is-drawn", test_every_point_is_drawn);
    return g_test_run();
}
