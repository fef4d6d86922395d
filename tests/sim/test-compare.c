/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ci.h"
#include "sim-compare.h"
#include "toy-scenario.h"
#include "toy-study.h"

#include <math.h>
#include <string.h>

#define HEADER "id\tvariant\taxis_value\tmetric\tvalue\tunit\tnote\n"
#define STUDY                                                                                                          \
    "[run]\nduration=1 ms\nreplications=4\n[sweep]\ntoy.cpus=2;8\n[variant base]\n[variant fast]\ntoy.cost=5\n"

static SimTable *
published(const char *rows)
{
    g_autofree char *text = g_strconcat(HEADER, rows, NULL);
    g_autoptr(GError) error = NULL;
    SimTable *table;

    toy_write("p.tsv", text);
    table = sim_published_read("p.tsv", &error);
    g_assert_no_error(error);
    return table;
}

static const char *
cell(const SimTable *table, guint row, const char *column)
{
    int c = sim_table_find_column(table, column);

    g_assert_cmpint(c, >=, 0);
    return sim_table_cell(table, row, (guint) c);
}

static double
number(const SimTable *table, guint row, const char *column)
{
    double value = NAN;

    g_assert_true(sim_table_cell_real(table, row, (guint) sim_table_find_column(table, column), &value));
    return value;
}

static void
test_read_errors(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"id\tvariant\n", "p.tsv:1: the columns must be: id variant axis_value metric value unit note"},
        {HEADER "A\tbase\t2\tx_s\t1,5\ts\t\n", "p.tsv:2: value '1,5' is not a finite number"},
        {HEADER "A\tbase\t2\tx_s\t\ts\t\n", "p.tsv:2: value '' is not a finite number"},
        {HEADER "A\tbase\t2\tx_s\tnan\ts\t\n", "p.tsv:2: value 'nan' is not a finite number"},
        {HEADER "A\tbase\t2\tx_s\t1\ts\t\nA\tbase\t8\tx_s\t1\ts\t\n", "p.tsv:3: id 'A' given twice"},
        {HEADER "A\tbase\t2\tthroughput_ops_per_s\t1\tMops/s\t\n",
         "p.tsv:2: unit 'Mops/s' does not agree with the end of metric 'throughput_ops_per_s' (nor is it \"x "
         "VARIANT\")"},
        {HEADER "A\tbase\t2\telapsed_ms\t1\ts\t\n",
         "p.tsv:2: unit 's' does not agree with the end of metric 'elapsed_ms' (nor is it \"x VARIANT\")"},
        {HEADER "A\tbase\t2\telapsed_ms\t1\t\t\n",
         "p.tsv:2: unit '' does not agree with the end of metric 'elapsed_ms' (nor is it \"x VARIANT\")"},
        {HEADER, "p.tsv: a header without any figure"},
        {HEADER "A\tbase\t2\tx_s\t1\ts\n", "p.tsv:2: 6 cells where the header has 7 (cells are split by tabs)"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        toy_write("p.tsv", cases[i].text);
        g_assert_null(sim_published_read("p.tsv", &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
}

static void
test_units(void)
{
    g_autoptr(SimTable) table = published("A\tb\t\tthroughput_ops_per_s\t1\tops/s\t\nB\tb\t\tx_percent\t1\t%\t\n"
                                          "C\tb\t\tx_percent\t1\tpercent\t\nD\tb\t\tanything\t1\tx base\t\n");

    g_assert_cmpuint(sim_table_n_rows(table), ==, 4);
}

/* lock_share_percent of the toy is 100 cpus / (cost + cpus), without noise. */
static void
test_absolute(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autoptr(SimTable) figures = published("A\tbase\t2\tlock_share_percent\t20\t%\tnote\n"
                                            "B\tfast\t2.0\tlock_share_percent\t25\t%\t\n"
                                            "C\tfast\t8\tlock_share_percent\t50\t%\t\n");
    g_autoptr(SimTable) table = sim_compare(figures, runs);

    g_assert_cmpuint(sim_table_n_rows(table), ==, 3);
    g_assert_cmpstr(cell(table, 0, "status"), ==, "ok");
    g_assert_cmpstr(cell(table, 0, "note"), ==, "note");
    g_assert_cmpfloat_with_epsilon(number(table, 0, "simulated"), 200.0 / 12, 1e-12);
    g_assert_cmpfloat(number(table, 0, "half_width"), ==, 0);
    g_assert_cmpfloat_with_epsilon(number(table, 0, "ratio"), 200.0 / 12 / 20, 1e-12);
    g_assert_cmpstr(cell(table, 0, "published_vs_base"), ==, "");
    g_assert_cmpfloat_with_epsilon(number(table, 1, "simulated"), 200.0 / 7, 1e-12);
    g_assert_cmpfloat_with_epsilon(number(table, 1, "published_vs_base"), 25.0 / 20, 1e-12);
    g_assert_cmpfloat_with_epsilon(number(table, 1, "simulated_vs_base"), 12.0 / 7, 1e-12);
    /* The base has no published figure at 8, so there is no ratio to stand beside. */
    g_assert_cmpstr(cell(table, 2, "simulated_vs_base"), ==, "");
}

/* A row's own base goes before the first variant's figure, and may be of another place and metric. */
static void
test_own_base(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autoptr(SimTable) figures = published("A\tbase\t8\tlock_share_percent\t40\t%\t\n"
                                            "B\tfast\t8\tlock_share_percent\t60\t%\t\n"
                                            "B-base\tfast\t2\tlock_share_percent\t30\t%\t\n"
                                            "C\tfast\t8\tthroughput_ops_per_s\t9\tops/s\t\n"
                                            "C-base\tfast\t2\tlock_share_percent\t3\t%\t\n"
                                            "D\tbase\t2\tlock_share_percent\t20\t%\t\n");
    g_autoptr(SimTable) table = sim_compare(figures, runs);

    g_assert_cmpstr(cell(table, 0, "published_vs_base"), ==, "");
    g_assert_cmpfloat(number(table, 1, "published_vs_base"), ==, 2);
    g_assert_cmpfloat_with_epsilon(number(table, 1, "simulated_vs_base"), (800.0 / 13) / (200.0 / 7), 1e-12);
    g_assert_cmpstr(cell(table, 2, "published_vs_base"), ==, ""); /* nor has a base one */
    g_assert_cmpfloat(number(table, 3, "published_vs_base"), ==, 3);
    g_assert_cmpfloat_with_epsilon(number(table, 3, "simulated_vs_base"), number(table, 3, "simulated") / (200.0 / 7),
                                   1e-6 * number(table, 3, "simulated"));
}

/* The mean of paired ratios with its own interval; at equal replications the toy's noise cancels. */
static void
test_ratio(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autoptr(SimTable) figures = published("A\tfast\t8\tthroughput_ops_per_s\t1.5\tx base\t\n"
                                            "B\tfast\t8\tthroughput_ops_per_s\t1.5\tx slow\t\n");
    g_autoptr(SimTable) table = sim_compare(figures, runs);

    g_assert_cmpfloat_with_epsilon(number(table, 0, "simulated"), 18.0 / 13, 1e-12);
    g_assert_cmpfloat(number(table, 0, "half_width"), <, 1e-12);
    g_assert_cmpfloat_with_epsilon(number(table, 0, "ratio"), 18.0 / 13 / 1.5, 1e-12);
    g_assert_cmpstr(cell(table, 1, "status"), ==, "no such reference");
}

static void
test_misses(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autoptr(SimTable) figures = published("A\tnone\t2\tlock_share_percent\t20\t%\t\n"
                                            "B\tbase\t4\tlock_share_percent\t20\t%\t\n"
                                            "C\tbase\t2\tother_percent\t20\t%\t\n");
    g_autoptr(SimTable) table = sim_compare(figures, runs);
    static const char *const statuses[] = {"no such variant", "no such axis value", "not recorded"};

    for (guint row = 0; row < 3; row++) {
        g_assert_cmpstr(cell(table, row, "status"), ==, statuses[row]);
        g_assert_cmpstr(cell(table, row, "simulated"), ==, "");
        g_assert_cmpstr(cell(table, row, "ratio"), ==, "");
        g_assert_cmpfloat(number(table, row, "published"), ==, 20);
    }
}

/* sqrt((0.25^2 + 0.5^2) / 2) for ratios 1.25 and 0.5; ratios to a variant are counted by themselves. */
static void
test_errors(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autofree char *rows = g_strdup_printf("A\tbase\t2\tlock_share_percent\t%.17g\t%%\t\n"
                                            "B\tbase\t8\tlock_share_percent\t%.17g\t%%\t\n"
                                            "C\tbase\t4\tlock_share_percent\t1\t%%\t\n"
                                            "D\tbase\t2\tlock_share_percent\t0\t%%\t\n"
                                            "E\tfast\t2\tlock_share_percent\t1\tx base\t\n",
                                            200.0 / 12 / 1.25, 800.0 / 18 / 0.5);
    g_autoptr(SimTable) figures = published(rows);
    g_autoptr(SimTable) comparison = sim_compare(figures, runs);
    g_autoptr(SimTable) errors = sim_compare_errors(comparison);

    g_assert_cmpuint(sim_table_n_rows(errors), ==, 2);
    g_assert_cmpstr(cell(errors, 0, "kind"), ==, "absolute");
    g_assert_cmpstr(cell(errors, 0, "n"), ==, "3");
    g_assert_cmpstr(cell(errors, 0, "not_simulated"), ==, "1");
    g_assert_cmpstr(cell(errors, 0, "published_as_0"), ==, "1");
    g_assert_cmpfloat_with_epsilon(number(errors, 0, "rms_relative_error"), sqrt((0.0625 + 0.25) / 2), 1e-12);
    g_assert_cmpstr(cell(errors, 1, "kind"), ==, "ratio");
    g_assert_cmpfloat_with_epsilon(number(errors, 1, "rms_relative_error"), 12.0 / 7 - 1, 1e-12);
}

/* lock_share_percent at 2 CPUs is 16.667 without noise, so its interval is a point and only its own value is inside. */
static void
test_verdicts(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autofree char *rows = g_strdup_printf("A\tbase\t2\tlock_share_percent\t%.17g\t%%\t\n"
                                            "B\tbase\t2\tlock_share_percent\t%.17g\t%%\t\n"
                                            "C\tbase\t2\tlock_share_percent\t%.17g\t%%\t\n"
                                            "D\tbase\t2\tlock_share_percent\t%.17g\t%%\t\n"
                                            "E\tbase\t2\tlock_share_percent\t0\t%%\t\n"
                                            "F\tbase\t4\tlock_share_percent\t1\t%%\t\n"
                                            "G\tfast\t8\tthroughput_ops_per_s\t1.4\tx base\t\n",
                                            200.0 / 12, 200.0 / 12 / 1.0999, 200.0 / 12 / 0.95, 200.0 / 12 / 0.8);
    g_autoptr(SimTable) figures = published(rows);
    g_autoptr(SimTable) table = sim_compare(figures, runs);
    static const char *const verdicts[] = {"inside", "within 10 %", "within 10 %", "off by -20 %", "not 0",
                                           "",       "within 10 %"};

    for (guint row = 0; row < G_N_ELEMENTS(verdicts); row++)
        g_assert_cmpstr(cell(table, row, "verdict"), ==, verdicts[row]);
    g_assert_cmpstr(cell(table, 4, "ratio"), ==, "nan");
    g_assert_cmpstr(cell(table, 4, "status"), ==, "ok");
}

/* An interval that anything lies in says so. Two replications of throughput: t(0.975, 1) = 12.7 of its standard error.
 */
static void
test_verdict_of_wide_interval(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan("[run]\nduration=1 ms\nreplications=2\nseed=4\n");
    g_autoptr(SimRuns) runs = toy_study_run(plan, 1);
    SimSummary s;

    sim_runs_summarise(runs, 0, "cold", "throughput_ops_per_s", &s);
    g_assert_cmpfloat(s.half_width, >, 0.1 * s.mean);
    {
        g_autofree char *row = g_strdup_printf("A\tbase\t\tthroughput_ops_per_s\t%.17g\tops/s\t\n", 1.01 * s.mean);
        g_autofree char *expected = g_strdup_printf("inside ± %.3g %%", 100 * s.half_width / s.mean);
        g_autoptr(SimTable) figures = published(row);
        g_autoptr(SimTable) table = sim_compare(figures, runs);
        g_assert_cmpstr(cell(table, 0, "verdict"), ==, expected);
    }
}

/* Replications 2 and 3 of 4 do not settle: of the fast variant only, so a ratio to it is not to be trusted either, nor
 * a figure whose own base it is. */
static void
test_untrusted(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY "toy.drift_from=2\n");
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autoptr(SimTable) figures = published("A\tbase\t2\tlock_share_percent\t20\t%\t\n"
                                            "B\tfast\t2\tlock_share_percent\t20\t%\t\n"
                                            "C\tbase\t2\tlock_share_percent\t1\tx fast\t\n"
                                            "D\tfast\t4\tlock_share_percent\t20\t%\t\n"
                                            "E\tbase\t8\tlock_share_percent\t20\t%\t\n"
                                            "E-base\tfast\t8\tlock_share_percent\t20\t%\t\n");
    g_autoptr(SimTable) table = sim_compare(figures, runs);
    g_autofree char *text = sim_runs_untrusted_text(runs);
    static const char *const statuses[] = {"ok", "not settled", "not settled", "no such axis value", "not settled"};

    for (guint row = 0; row < G_N_ELEMENTS(statuses); row++)
        g_assert_cmpstr(cell(table, row, "status"), ==, statuses[row]);
    g_assert_cmpstr(text, ==,
                    "not settled, prolong run.warmup or run.duration: fast, 2, cold (2 of 4 runs); "
                    "fast, 8, cold (2 of 4 runs)");
}

static void
test_trusted(void)
{
    g_autoptr(SimPlan) settled = toy_study_plan(STUDY "toy.drift_from=4\n");
    g_autoptr(SimPlan) silent = toy_study_plan(STUDY);
    g_autoptr(SimRuns) settled_runs = toy_study_run(settled, 2);
    g_autoptr(SimRuns) silent_runs = toy_study_run(silent, 2);

    g_assert_null(sim_runs_untrusted_text(settled_runs));
    g_assert_null(sim_runs_untrusted_text(silent_runs));
}

/* Twenty points are too many for a line. */
static void
test_many_untrusted(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan("[run]\nduration=1 ms\n[toy]\ndrift_from=0\n[sweep]\ntoy.cpus=1:20:1\n");
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);
    g_autofree char *text = sim_runs_untrusted_text(runs);

    g_assert_nonnull(strstr(text, "base, 13, cold (1 of 1 run); and 7 more (metric is_settled)\n"));
    g_assert_null(strstr(text, "base, 14"));
    /* Of a single CPU the toy does not know; that is no verdict. */
    g_assert_true(g_str_has_prefix(text, "not settled, prolong run.warmup or run.duration: base, 2, cold"));
    g_assert_true(g_str_has_suffix(text, "\nnot known whether settled: 1 of 20 points and starts, for want of samples "
                                         "(run.sample_interval, run.duration)"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/compare/read-errors", test_read_errors);
    toy_add_test("/compare/units", test_units);
    toy_add_test("/compare/absolute", test_absolute);
    toy_add_test("/compare/own-base", test_own_base);
    toy_add_test("/compare/ratio", test_ratio);
    toy_add_test("/compare/misses", test_misses);
    toy_add_test("/compare/errors", test_errors);
    toy_add_test("/compare/verdicts", test_verdicts);
    toy_add_test("/compare/verdict-of-wide-interval", test_verdict_of_wide_interval);
    toy_add_test("/compare/untrusted", test_untrusted);
    toy_add_test("/compare/trusted", test_trusted);
    toy_add_test("/compare/many-untrusted", test_many_untrusted);
    return g_test_run();
}
