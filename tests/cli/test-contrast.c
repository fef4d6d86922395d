/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare and query on studies and result folders of the toy program, whose answers have closed forms. */
#include "cli-process.h"
#include "sim-table.h"
#include "toy-scenario.h"

#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#define SCENARIO                                                                                                       \
    "[run]\nduration=1 ms\nreplications=10\nstarts=cold;warm\n[sweep]\ntoy.cpus=2;8\n"                                 \
    "[variant base]\n[variant patch]\ntoy.cost=12\n"

static SimTable *
read_output(const char *line)
{
    g_auto(Outcome) outcome = cli_run(line, NULL);
    g_autoptr(GError) error = NULL;
    SimTable *table;

    g_assert_cmpstr(outcome.err, ==, "");
    g_assert_cmpint(outcome.status, ==, 0);
    table = sim_table_parse("output", outcome.out, &error);
    g_assert_no_error(error);
    return table;
}

static const char *
text(const SimTable *table, guint row, const char *column)
{
    int index = sim_table_find_column(table, column);

    g_assert_cmpint(index, >=, 0);
    return sim_table_cell(table, row, (guint) index);
}

static double
real(const SimTable *table, guint row, const char *column)
{
    double value;

    g_assert_true(sim_table_cell_real(table, row, (guint) sim_table_find_column(table, column), &value));
    return value;
}

static void
make_study(void)
{
    toy_write("a.scenario", SCENARIO);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
}

static void
change(const char *sql)
{
    sqlite3 *db;

    g_assert_cmpint(sqlite3_open("a.study", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}

/* Noise is a common factor of both sides: the relative difference of the means is exact, (10 + n) / (12 + n) - 1. */
static void
test_variants(void)
{
    make_study();
    g_autoptr(SimTable) table = read_output("compare a.study#base a.study#patch --metric all --format tsv");

    g_assert_cmpuint(sim_table_n_rows(table), ==, 2 * 2 * 3);
    for (guint row = 0; row < 12; row++) {
        double cpus = row < 6 ? 2 : 8;
        g_assert_cmpstr(text(table, row, "points"), ==,
                        row < 6 ? "base -> patch, toy.cpus = 2" : "base -> patch, toy.cpus = 8");
        g_assert_cmpstr(text(table, row, "start"), ==, row % 6 < 3 ? "cold" : "warm");
        g_assert_cmpstr(text(table, row, "is_paired"), ==, "true");
        switch (row % 3) {
        case 0:
            g_assert_cmpstr(text(table, row, "verdict"), ==, "worse");
            g_assert_cmpfloat_with_epsilon(real(table, row, "difference") / real(table, row, "mean_a"),
                                           (10 + cpus) / (12 + cpus) - 1, 1e-12);
            break;
        case 1:
            g_assert_cmpstr(text(table, row, "verdict"), ==, "lower");
            g_assert_cmpfloat_with_epsilon(real(table, row, "difference"),
                                           100 * cpus / (12 + cpus) - 100 * cpus / (10 + cpus), 1e-12);
            g_assert_cmpfloat(real(table, row, "half_width"), ==, 0);
            break;
        default:
            g_assert_cmpstr(text(table, row, "metric"), ==, "elapsed_s");
            g_assert_cmpstr(text(table, row, "verdict"), ==, "worse");
        }
    }
    g_autoptr(SimTable) turned =
        read_output("compare a.study#base a.study#patch --lower-is-better throughput_ops_per_s --format tsv");
    g_assert_cmpstr(text(turned, 0, "verdict"), ==, "better");
}

static void
test_points_and_folders(void)
{
    make_study();
    g_autoptr(SimTable) points = read_output("compare a.study#1 a.study#4 --format tsv");
    g_assert_cmpuint(sim_table_n_rows(points), ==, 2);
    g_assert_cmpstr(text(points, 0, "points"), ==, "base, toy.cpus = 2 -> patch, toy.cpus = 8");
    g_assert_cmpstr(text(points, 0, "verdict"), ==, "better");
    cli_expect("run a.scenario --out same -q --no-charts", 0, NULL, "");
    cli_expect("run a.scenario --out other -q --no-charts --seed 7", 0, NULL, "");
    g_autoptr(SimTable) same = read_output("compare a.study same --metric all --format tsv");
    g_assert_cmpuint(sim_table_n_rows(same), ==, 24);
    for (guint row = 0; row < 24; row++) {
        g_assert_cmpstr(text(same, row, "verdict"), ==, "no difference seen");
        g_assert_cmpfloat(real(same, row, "difference"), ==, 0);
    }
    g_autoptr(SimTable) other = read_output("compare same#base other --format tsv");
    g_assert_cmpuint(sim_table_n_rows(other), ==, 4);
    g_assert_cmpstr(text(other, 0, "is_paired"), ==, "false");
    g_assert_nonnull(strstr(text(other, 0, "note"), "not paired: seeds differ"));
    g_assert_cmpstr(text(other, 0, "verdict"), ==, "no difference seen");
    g_assert_cmpfloat(real(other, 0, "detectable"), >, 0);
}

/* Two branches by seed are told, both of them, and no mean of theirs. A difference between starts is told too. */
static void
test_metastable(void)
{
    make_study();
    change("UPDATE value SET value = value * 3 WHERE metric = (SELECT metric FROM metric WHERE name = "
           "'throughput_ops_per_s') AND run IN (SELECT run FROM run JOIN point USING(point) WHERE label = "
           "'patch, toy.cpus = 8' AND start = 'cold' AND replication % 5 < 2)");
    g_autoptr(SimTable) table = read_output("compare a.study#base a.study#patch --format tsv");

    g_assert_cmpuint(sim_table_n_rows(table), ==, 4);
    g_assert_cmpstr(text(table, 2, "verdict"), ==, "metastable");
    g_assert_cmpstr(text(table, 2, "mean_b"), ==, "nan");
    g_assert_cmpstr(text(table, 2, "p_adjusted"), ==, "nan");
    g_assert_true(g_str_has_prefix(text(table, 2, "note"), "B has two branches: "));
    g_assert_nonnull(strstr(text(table, 2, "note"), "(6 of 10) and "));
    g_assert_nonnull(strstr(text(table, 2, "note"), "start warm says worse"));
    g_assert_cmpstr(text(table, 3, "verdict"), ==, "worse");
    g_assert_cmpstr(text(table, 3, "note"), ==, "start cold says metastable");
    g_assert_cmpstr(text(table, 0, "note"), ==, "");
}

static void
test_queries(void)
{
    make_study();
    g_autoptr(SimTable) best = read_output("query a.study best --top 4 --format tsv");
    g_autoptr(SimTable) lowest = read_output("query a.study best --lowest --metric lock_share_percent --format tsv");
    g_autoptr(SimTable) curve =
        read_output("query a.study curve --axis toy.cpus --metric lock_share_percent --format tsv");
    double ratio;

    g_assert_cmpuint(sim_table_n_rows(best), ==, 4);
    for (guint row = 0; row < 4; row++)
        g_assert_cmpstr(text(best, row, "toy.cpus"), ==, "8");
    g_assert_cmpstr(text(best, 0, "variant"), ==, "base");
    g_assert_cmpstr(text(lowest, 0, "variant"), ==, "patch");
    g_assert_cmpstr(text(lowest, 0, "toy.cpus"), ==, "2");
    g_assert_cmpuint(sim_table_n_rows(curve), ==, 8);
    for (guint row = 0; row < 8; row++) {
        double cpus = row % 2 == 0 ? 2 : 8, cost = row < 4 ? 10 : 12;
        g_assert_cmpfloat(real(curve, row, "toy.cpus"), ==, cpus);
        g_assert_cmpfloat_with_epsilon(real(curve, row, "lock_share_percent"), 100 * cpus / (cost + cpus), 1e-12);
    }
    /* In the toy, throughput is 1e7 x noise x lock share: all four lie on the front, each step with that gain. */
    g_autoptr(SimTable) front = read_output("query a.study pareto --cost lock_share_percent --format tsv");
    g_assert_cmpuint(sim_table_n_rows(front), ==, 8);
    g_assert_cmpstr(text(front, 0, "gain_per_unit"), ==, "");
    ratio = real(front, 1, "throughput_ops_per_s") / real(front, 1, "lock_share_percent");
    for (guint row = 1; row < 4; row++)
        g_assert_cmpfloat_with_epsilon(real(front, row, "gain_per_unit") / ratio, 1, 1e-9);
    /* Cost that is bytes is asked for by the MiB; what is beaten is left out. */
    change("UPDATE metric SET name = 'used_bytes' WHERE name = 'lock_share_percent';"
           "UPDATE layout SET columns = replace(columns, 'lock_share_percent', 'used_bytes');"
           "UPDATE value SET value = 99 WHERE metric = (SELECT metric FROM metric WHERE name = 'used_bytes') AND run IN"
           " (SELECT run FROM run JOIN point USING(point) WHERE label = 'base, toy.cpus = 2')");
    g_autoptr(SimTable) bytes = read_output("query a.study pareto --cost used_bytes --format tsv");
    g_assert_cmpuint(sim_table_n_rows(bytes), ==, 6);
    g_assert_cmpfloat_with_epsilon(real(bytes, 1, "gain_per_MiB") / ratio / 1048576, 1, 1e-9);
}

static void
test_wrong_words(void)
{
    make_study();
    toy_write("b.scenario", "[run]\nduration=1 ms\n[sweep]\ntoy.nodes=1;2\n");
    toy_write("c.scenario", "[run]\nduration=1 ms\n[sweep]\ntoy.cpus=3\n");
    cli_expect("sweep b.scenario --study b.study -q", 0, "", "");
    cli_expect("sweep c.scenario --study c.study -q", 0, "", "");
    cli_expect("compare a.study#bose a.study#patch", 2, "",
               "toy: a.study: no variant or point 'bose'; did you mean base? (allowed: base, patch, or 1 to 4)\n");
    cli_expect("compare a.study#base a.study#5", 2, "",
               "toy: a.study: no variant or point '5' (allowed: base, patch, or 1 to 4)\n");
    cli_expect("compare a.study b.study", 2, "",
               "toy: a.study and b.study do not have the same axes: compare single points of them (a.study#N)\n");
    cli_expect("compare a.study c.study", 2, "", "toy: a.study and c.study have no point in common\n");
    cli_expect("compare a.study nowhere", 1, "", "toy: nowhere: no such study\n");
    cli_expect("compare a.study a.study --metric elapsed", 2, "",
               "toy: a.study: no metric 'elapsed'; did you mean elapsed_s? (allowed: throughput_ops_per_s, "
               "lock_share_percent, elapsed_s)\n");
    cli_expect("compare a.study a.study --control hlm", 2, "",
               "toy: unknown control 'hlm'; did you mean holm? (allowed: holm, bh, none)\n");
    cli_expect("query a.study bst", 2, "",
               "toy: unknown question 'bst'; did you mean best? (allowed: best, pareto, curve)\n");
    cli_expect("query a.study pareto", 2, "", "toy: query pareto: needs --cost METRIC\n");
    cli_expect("query a.study curve --axis toy.cpu", 2, "",
               "toy: a.study: no axis 'toy.cpu'; did you mean toy.cpus? (allowed: toy.cpus)\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/contrast/variants", test_variants);
    toy_add_test("/contrast/points-and-folders", test_points_and_folders);
    toy_add_test("/contrast/metastable", test_metastable);
    toy_add_test("/contrast/queries", test_queries);
    toy_add_test("/contrast/wrong-words", test_wrong_words);
    return g_test_run();
}
