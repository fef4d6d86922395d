/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is drawn, number by number: result folders written by hand, and a gnuplot that only notes its arguments. */
#include "sim-chart.h"
#include "sim-chart-private.h"
#include "toy-scenario.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
draw_some(const char *manifest, guint n_expected, const char *expected_refusal)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *old_path = g_strdup(g_getenv("PATH"));
    g_autofree char *path = g_strdup_printf("bin:%s", old_path);
    g_autofree char *text = g_strconcat("[result]\nformat=1\n", manifest, NULL);
    g_autofree char *refused = NULL;
    guint n = 0;

    toy_write("result/manifest.ini", text);
    toy_write("charts/.keep", "");
    toy_write("plots/style.gp", "");
    for (const char *const *kind =
             (const char *const[]){"throughput", "lock-time", "memory", "memory-places", "partial", "waits", NULL};
         *kind != NULL; kind++) {
        g_autofree char *name = g_strdup_printf("plots/%s.gp", *kind);
        toy_write(name, "");
    }
    toy_write("bin/gnuplot", "#!/bin/sh\nshift\nprintf '%s|' \"$@\" >> args\necho >> args\n");
    g_assert_cmpint(g_chmod("bin/gnuplot", 0700), ==, 0);
    g_setenv("PATH", path, TRUE);
    sim_chart_draw("result", "plots", "charts", NULL, &n, &refused, &error);
    g_setenv("PATH", old_path, TRUE);
    g_assert_no_error(error);
    g_assert_cmpstr(refused, ==, expected_refusal);
    g_assert_cmpuint(n, ==, n_expected);
}

static void
draw(const char *manifest, guint n_expected)
{
    draw_some(manifest, n_expected, NULL);
}

static void
expect_file(const char *name, const char *text)
{
    g_autofree char *bytes = NULL;

    g_assert_true(g_file_get_contents(name, &bytes, NULL, NULL));
    g_assert_cmpstr(bytes, ==, text);
}

#define SUMMARY "variant\tcpus\tstart\tmetric\tn\tmean\thalf_width\tsd\tmin\tmax\n"
#define METRICS "variant\tcpus\treplication\tstart\n"

/* Bars: two series side by side around whole places, values in Mops/s, no interval where there is none, published
 * figures at the place of their bar. */
static void
test_bars(void)
{
    toy_write("result/summary.tsv", SUMMARY "base\t2\tcold\tx_ops_per_s\t3\t2000000\t500000\t1\t1\t1\n"
                                            "base\t8\tcold\tx_ops_per_s\t1\t4000000\tnan\tnan\t1\t1\n"
                                            "base\t8\tcold\tother_s\t1\t7\tnan\tnan\t1\t1\n"
                                            "fast\t2\tcold\tx_ops_per_s\t3\t3000000\t0\t0\t1\t1\n");
    toy_write("result/comparison.tsv", "variant\tcpus\tstart\tmetric\tunit\tpublished\n"
                                       "fast\t2\tcold\tx_ops_per_s\tops/s\t2500000\n"
                                       "fast\t2\tcold\tx_ops_per_s\tx base\t1.5\n"
                                       "fast\t99\tcold\tx_ops_per_s\tops/s\t1\n"
                                       "base\t2\tcold\tother_s\ts\t1\n");
    draw("axis=cpus\n", 1);
    expect_file("charts/throughput.tsv", "x\tlabel\n0\t2\n1\t8\n\n\n"
                                         "base\tlabel\tmean\n-0.2\t2\t2\n0.8\t8\t4\n\n\n"
                                         "fast\tlabel\tmean\n0.2\t2\t3\n\n\n"
                                         "x\tmean\tlow\thigh\n-0.2\t2\t1.5\t2.5\n0.2\t3\t3\t3\n\n\n"
                                         "published\tvalue\n0.2\t2.5\n\n\n");
    expect_file("args",
                "plots/throughput.gp|charts/throughput.tsv|charts/throughput|"
                "Value at each point|1 to 3 replications, with confidence intervals|cpus|x (Mops/s)|bars|2 1 1|\n");
}

/* Five numeric values make lines at the values themselves; other units, other prefixes. */
static void
test_lines(void)
{
    GString *summary = g_string_new(SUMMARY);

    for (guint cpus = 1; cpus <= 16; cpus *= 2)
        g_string_append_printf(summary, "base\t%u\tcold\twait_ns\t1\t%u\tnan\tnan\t1\t1\n", cpus, cpus * 1000);
    toy_write("result/summary.tsv", summary->str);
    g_string_free(summary, TRUE);
    draw("axis=cpus\n[plot p]\nkind=throughput\nmetric=wait_ns\ntitle=A \"title\"\n", 1);
    expect_file("charts/p.tsv", "x\tlabel\n1\t1\n2\t2\n4\t4\n8\t8\n16\t16\n\n\n"
                                "base\tlabel\tmean\n1\t1\t1\n2\t2\t2\n4\t4\t4\n8\t8\t8\n16\t16\t16\n\n\n");
    expect_file("args",
                "plots/throughput.gp|charts/p.tsv|charts/p|A \"title\"|one replication, hence no confidence interval|"
                "cpus|wait (µs)|log-lines|1 0 0|\n");
}

/* Means over all runs of a point, also those without a row. Parts stand in the table's order, whatever their size, and
 * keep the number of their colour; what is 0 everywhere is left out. */
static void
test_stacked(void)
{
    toy_write("result/metrics.tsv", METRICS "base\t2\t0\tcold\nbase\t2\t1\tcold\nfast\t2\t0\tcold\n");
    toy_write("result/locks.tsv", "variant\tcpus\treplication\tstart\tlock\tnode\tsite\twait_ns\thold_ns\n"
                                  "base\t2\t0\tcold\ta\t0\tnever\t0\t1\n"
                                  "base\t2\t0\tcold\ta\t0\tslow \"x\"\t4000000\t1\n"
                                  "base\t2\t0\tcold\ta\t1\tslow \"x\"\t2000000\t1\n"
                                  "base\t2\t0\tcold\ta\t0\tget\t8000000\t1\n"
                                  "fast\t2\t0\tcold\ta\t0\tget\t1000000\t1\n");
    draw("axis=cpus\n", 1);
    expect_file("charts/lock-time.tsv", "point\tslow 'x'\tget\nbase at 2\t3\t4\nfast at 2\t0\t1\n");
    expect_file("args", "plots/lock-time.gp|charts/lock-time.tsv|charts/lock-time|"
                        "Time spent waiting for locks, by call site|mean of the replications; 2 of 2 points|"
                        "wait, summed over CPUs (ms)|2|2 3|2|\n");
}

/* Of more than seven parts the smaller ones are added up, under a colour that none has. */
static void
test_other_parts(void)
{
    GString *memory = g_string_new("variant\treplication\tstart\tcache\tplace\tbytes\n");

    for (guint i = 0; i <= 9; i++)
        g_string_append_printf(memory, "base\t0\tcold\tc\tp%u\t%u\n", i, i);
    toy_write("result/metrics.tsv", "variant\treplication\tstart\nbase\t0\tcold\n");
    toy_write("result/memory.tsv", memory->str);
    g_string_free(memory, TRUE);
    draw("axis=\n", 1);
    expect_file("charts/memory-places.tsv", "point\tp4\tp5\tp6\tp7\tp8\tp9\t3 others\nbase\t4\t5\t6\t7\t8\t9\t6\n");
    expect_file("args", "plots/memory-places.gp|charts/memory-places.tsv|charts/memory-places|Memory by place|"
                        "mean of the replications; 1 of 1 points|memory (B)|7|5 6 7 8 9 10 0|1|\n");
}

/* No lock was waited for: a picture of zeros, not a failure. */
static void
test_all_zero(void)
{
    toy_write("result/metrics.tsv", "variant\treplication\tstart\nbase\t0\tcold\n");
    toy_write("result/memory.tsv", "variant\treplication\tstart\tcache\tplace\tbytes\n"
                                   "base\t0\tcold\tc\tp\t0\nbase\t0\tcold\tc\tq\t0\n");
    draw("axis=\n[plot m]\nkind=memory-places\n", 1);
    expect_file("charts/m.tsv", "point\tp\nbase\t0\n");
}

/* Edges of stacked areas in KiB; only the first replication; totals are no part; lists as they are. */
static void
test_series(void)
{
    toy_write("result/series.tsv",
              "variant\treplication\tstart\ttime_ms\ta_free_bytes\tb_bytes\ttotal_bytes\tnode0_partial_slabs\n"
              "base\t0\tcold\t0\t1024\t2048\t3072\t5\n"
              "base\t0\tcold\t1.5\t512\t\t512\t6\n"
              "base\t1\tcold\t0\t1\t1\t2\t7\n");
    draw("axis=\ntitle=What it is\n[point 1]\nvariant=other\naxis_value=\nwarmup_ms=9\n"
         "[point 2]\nvariant=base\naxis_value=\nwarmup_ms=0.5\n",
         2);
    expect_file("charts/memory.tsv", "base\ta_free\tb\n0\t1\t3\n1.5\t0.5\t0.5\n\n\npanel\twarmup_ms\nbase\t0.5\n\n\n");
    expect_file("charts/partial.tsv", "base\tnode0\n0\t5\n1.5\t6\n\n\npanel\twarmup_ms\nbase\t0.5\n\n\n");
    expect_file("args", "plots/memory.gp|charts/memory.tsv|charts/memory|"
                        "What it is\nMemory over simulated time, by what holds it|"
                        "replication 0, start cold; 1 of 1 points; measured from the vertical line on|"
                        "1|2|3.1500000000000004|memory (KiB)|\n"
                        "plots/partial.gp|charts/partial.tsv|charts/partial|"
                        "What it is\nLength of the nodes' partial lists over simulated time|"
                        "replication 0, start cold; 1 of 1 points; measured from the vertical line on|"
                        "1|1|6.300000000000001|slabs|\n");
}

/* Each panel has the warm-up of its own point; a folder that does not tell it has no line, and claims none. */
static void
test_warmup_by_point(void)
{
    toy_write("result/series.tsv", "variant\tcpus\treplication\tstart\ttime_ms\tnode0_partial_slabs\n"
                                   "base\t2\t0\tcold\t1\t5\nbase\t8\t0\tcold\t1\t5\nfast\t8\t0\tcold\t1\t5\n");
    draw("axis=cpus\n[point 1]\nvariant=base\naxis_value=2\nwarmup_ms=0\n"
         "[point 2]\nvariant=base\naxis_value=8\n",
         1);
    expect_file("charts/partial.tsv", "base at 2\tnode0\n1\t5\n\n\nbase at 8\tnode0\n1\t5\n\n\n"
                                      "fast at 8\tnode0\n1\t5\n\n\n"
                                      "panel\twarmup_ms\nbase at 2\t0\nbase at 8\tnan\nfast at 8\tnan\n\n\n");
    expect_file("args", "plots/partial.gp|charts/partial.tsv|charts/partial|"
                        "Length of the nodes' partial lists over simulated time|"
                        "replication 0, start cold; 3 of 3 points|3|1|5.25|slabs|\n");
}

/* P(wait > bound) pooled over locks and replications: 10 waits of 0, 6 to 100 ns, 4 to 1000 ns. The last bound, which
 * none is beyond, and 0 have no place on logarithmic axes. */
static void
test_waits(void)
{
    toy_write("result/waits.tsv", "variant\tcpus\treplication\tstart\tlock\tupper_ns\tcount\n"
                                  "base\t2\t0\tcold\ta\t100\t999\n"
                                  "base\t8\t0\tcold\ta\t0\t10\n"
                                  "base\t8\t0\tcold\ta\t100\t5\n"
                                  "base\t8\t1\tcold\tb\t100\t1\n"
                                  "base\t8\t1\tcold\tb\t1000\t4\n");
    draw("axis=cpus\n", 1);
    expect_file("charts/waits.tsv", "base\tshare_longer\n1e-07\t0.2\n\n\n");
    expect_file("args", "plots/waits.gp|charts/waits.tsv|charts/waits|"
                        "Share of lock acquisitions that waited longer than a given time|all locks, at cpus = 8|1|\n");
}

static void
test_waits_of_one_lock(void)
{
    toy_write("result/waits.tsv", "variant\treplication\tstart\tlock\tupper_ns\tcount\n"
                                  "base\t0\tcold\ta\t100\t9\nbase\t0\tcold\tb\t100\t1\nbase\t0\tcold\tb\t200\t1\n");
    draw("axis=\n[plot w]\nkind=waits\nmetric=b\n", 1);
    expect_file("charts/w.tsv", "base\tshare_longer\n1e-07\t0.5\n\n\n");
}

static void
test_scale(void)
{
    static const struct {
        const char *metric;
        double largest;
        const char *label;
        double divisor;
    } cases[] = {
        {"x_ops_per_s", 999, "x (ops/s)", 1},
        {"x_ops_per_s", 1000, "x (kops/s)", 1e3},
        {"calls_per_s", 5e9, "calls (G/s)", 1e9},
        {"wait_mean_ns", 1500, "wait mean (µs)", 1e3},
        {"wait_mean_ns", 0.5, "wait mean (ps)", 1e-3},
        {"elapsed_s", 90, "elapsed (s)", 1},
        {"slab_bytes", 1024, "slab (KiB)", 1024},
        {"slab_bytes", 1023, "slab (B)", 1},
        {"share_percent", 1e6, "share (%)", 1},
        {"strange", 1e9, "strange", 1},
        {"x_ops_per_s", 0, "x (ops/s)", 1},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        double divisor = 0;
        g_autofree char *label = sim_chart_scale(cases[i].metric, cases[i].largest, &divisor);
        g_assert_cmpstr(label, ==, cases[i].label);
        g_assert_cmpfloat_with_epsilon(divisor, cases[i].divisor, 1e-9 * cases[i].divisor);
    }
}

/* What the scenario asks for in vain is named; the rest is drawn. */
static void
test_refused(void)
{
    toy_write("result/summary.tsv", SUMMARY "base\t2\tcold\tx_s\t1\t1\tnan\tnan\t1\t1\n");
    draw_some("axis=\n[plot ../q]\nkind=waits\n[plot r]\nkind=waits\n"
              "[plot s]\nkind=throughput\nmetric=y_s\n[plot good]\nkind=throughput\n",
              1,
              "chart name '../q' becomes a file name and may hold letters, digits, - and _ only; "
              "chart r: the runs left nothing to draw in waits.tsv; "
              "chart s: no run recorded a metric 'y_s'; did you mean x_s? (summary.tsv lists them)");
    g_assert_true(g_file_test("charts/good.tsv", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("charts/s.tsv", G_FILE_TEST_EXISTS));
}

static void
expect_failure(int code, const char *message)
{
    g_autoptr(GError) error = NULL;
    char *refused = (char *) "untouched";
    guint n = 77;

    toy_write("result/manifest.ini", "[result]\nformat=1\naxis=\n");
    g_assert_false(sim_chart_draw("result", "plots", "charts", NULL, &n, &refused, &error));
    g_assert_error(error, SIM_ERROR, code);
    g_assert_nonnull(strstr(error->message, message));
    g_assert_cmpuint(n, ==, 77);
    g_assert_cmpstr(refused, ==, "untouched");
}

static void
test_failures(void)
{
    toy_write("result/summary.tsv", SUMMARY "base\t2\tcold\tx_s\t1\t1\tnan\tnan\t1\t1\n");
    expect_failure(SIM_ERROR_IO, "plots/throughput.gp: no such file");
    toy_write("result/summary.tsv", "variant\tmean\nbase\t1\n");
    expect_failure(SIM_ERROR_PARSE, "result/summary.tsv:1: no column 'metric'");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/chart/bars", test_bars);
    toy_add_test("/chart/lines", test_lines);
    toy_add_test("/chart/stacked", test_stacked);
    toy_add_test("/chart/other-parts", test_other_parts);
    toy_add_test("/chart/all-zero", test_all_zero);
    toy_add_test("/chart/series", test_series);
    toy_add_test("/chart/warmup-by-point", test_warmup_by_point);
    toy_add_test("/chart/waits", test_waits);
    toy_add_test("/chart/waits-of-one-lock", test_waits_of_one_lock);
    g_test_add_func("/chart/scale", test_scale);
    toy_add_test("/chart/refused", test_refused);
    toy_add_test("/chart/failures", test_failures);
    return g_test_run();
}
