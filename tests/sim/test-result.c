/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-result.h"
#include "toy-experiment.h"
#include "toy-scenario.h"
#include "toy-study.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STUDY                                                                                                          \
    "[scenario]\ntitle=T \\\\ \"x\"\n[run]\nduration=1 ms\nreplications=3\n[sweep]\ntoy.nodes=1;3\n"                   \
    "[variant base]\n[variant fast]\ntoy.cost=5\n[plot p]\nkind=throughput\n"

static SimFolder *
begin(const char *target)
{
    g_autoptr(GError) error = NULL;
    SimFolder *folder = sim_result_begin(target, &error);

    g_assert_no_error(error);
    return folder;
}

static SimRuns *
write_study(const SimPlan *plan, const char *target, const SimTable *comparison)
{
    g_autoptr(SimFolder) folder = begin(target);
    g_autoptr(GError) error = NULL;
    SimRuns *runs = toy_study_run(plan, 2);

    sim_result_write(folder, &toy_experiment, runs, comparison, &error);
    g_assert_no_error(error);
    sim_folder_commit(folder, &error);
    g_assert_no_error(error);
    return runs;
}

static SimTable *
read_table(const char *path)
{
    g_autoptr(GError) error = NULL;
    SimTable *table = sim_table_read(path, &error);

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

static void
test_files(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out/deep/study", NULL);
    g_autofree char *list = toy_study_list("out");

    g_assert_cmpstr(list, ==,
                    "deep\nstudy\nlocks.tsv\nmanifest.ini\nmemory.tsv\nmetrics.tsv\npoints\n1.scenario\n2.scenario\n"
                    "3.scenario\n4.scenario\nseries.tsv\nsummary.tsv\nwaits.tsv\n");
}

/* metrics.tsv holds the records to the last bit. */
static void
test_metrics(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(SimTable) table = read_table("out/metrics.tsv");
    g_autofree char *header = g_strjoinv(" ", (char **) sim_table_columns(table));

    g_assert_cmpstr(header, ==,
                    "scenario variant toy.nodes replication start seed fingerprint throughput_ops_per_s "
                    "lock_share_percent elapsed_s");
    g_assert_cmpuint(sim_table_n_rows(table), ==, 12);
    for (guint i = 0; i < 12; i++) {
        g_autofree char *fingerprint =
            g_strdup_printf("%016" G_GINT64_MODIFIER "x", sim_record_fingerprint(runs->runs[i].record));
        g_assert_cmpstr(cell(table, i, "scenario"), ==, "study");
        g_assert_cmpstr(cell(table, i, "fingerprint"), ==, fingerprint);
        g_assert_cmpfloat(g_ascii_strtod(cell(table, i, "elapsed_s"), NULL), ==,
                          sim_record_metric(runs->runs[i].record, 2));
    }
}

/* A point with one node has no second list: its cells are empty, not 0. */
static void
test_union_of_columns(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(SimTable) table = read_table("out/series.tsv");
    guint last = sim_table_n_rows(table) - 1;

    g_assert_cmpstr(cell(table, 0, "toy.nodes"), ==, "1");
    g_assert_cmpstr(cell(table, 0, "node2_partial_slabs"), ==, "");
    g_assert_cmpstr(cell(table, last, "toy.nodes"), ==, "3");
    g_assert_cmpstr(cell(table, last, "node2_partial_slabs"), !=, "");
    g_assert_cmpstr(cell(table, last, "replication"), ==, "2");
}

/* Against the textbook interval of three values: t(0.975, 2) = 4.30265. */
static void
test_summary(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(SimTable) table = read_table("out/summary.tsv");
    const double x[] = {sim_record_metric(runs->runs[0].record, 0), sim_record_metric(runs->runs[1].record, 0),
                        sim_record_metric(runs->runs[2].record, 0)};
    double mean = (x[0] + x[1] + x[2]) / 3;
    double sd = sqrt((pow(x[0] - mean, 2) + pow(x[1] - mean, 2) + pow(x[2] - mean, 2)) / 2);

    g_assert_cmpuint(sim_table_n_rows(table), ==, 4 * 3);
    g_assert_cmpstr(cell(table, 0, "metric"), ==, "throughput_ops_per_s");
    g_assert_cmpstr(cell(table, 0, "n"), ==, "3");
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(cell(table, 0, "mean"), NULL), mean, 1e-9 * mean);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(cell(table, 0, "sd"), NULL), sd, 1e-6 * sd);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(cell(table, 0, "half_width"), NULL), 4.30265 * sd / sqrt(3),
                                   1e-5 * sd);
    g_assert_cmpfloat(g_ascii_strtod(cell(table, 0, "min"), NULL), ==, MIN(MIN(x[0], x[1]), x[2]));
    g_assert_cmpfloat(g_ascii_strtod(cell(table, 0, "max"), NULL), ==, MAX(MAX(x[0], x[1]), x[2]));
}

static void
test_one_replication(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan("[run]\nduration=1 ms\n");
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(SimTable) table = read_table("out/summary.tsv");

    g_assert_cmpint(sim_table_find_column(table, ""), ==, -1);
    g_assert_cmpstr(cell(table, 0, "half_width"), ==, "nan");
    g_assert_cmpstr(cell(table, 0, "sd"), ==, "nan");
}

static void
test_format_interval(void)
{
    static const struct {
        double mean, half_width;
        const char *text;
    } cases[] = {
        {1234567, 12345, "1.235M ± 0.012M"},
        {9999, NAN, "9999"},
        {10000, NAN, "10.00k"},
        {12.345, 0.5, "12.35 ± 0.50"},
        {-12345, 100, "-12.35k ± 0.10k"},
        {5, 20, "5 ± 20"},
        {0, 0, "0 ± 0"},
        {NAN, NAN, "nan"},
        {16.6667, 0, "16.67 ± 0.00"},
        {1e-9, NAN, "1e-09"},
        {INFINITY, NAN, "inf"},
        {0.25, 1e-9, "0.25 ± 1e-09"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = sim_format_interval(cases[i].mean, cases[i].half_width);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void
test_manifest(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GKeyFile) manifest = sim_result_read_manifest("out", &error);
    g_autofree char *title = NULL, *kind = NULL, *sum = NULL, *bytes = NULL, *real_sum = NULL;
    gsize length;

    g_assert_no_error(error);
    title = g_key_file_get_string(manifest, "result", "title", NULL);
    g_assert_cmpstr(title, ==, sim_config_text(sim_plan_config(plan, 0), "scenario", "title"));
    kind = g_key_file_get_string(manifest, "plot p", "kind", NULL);
    g_assert_cmpstr(kind, ==, "throughput");
    sum = g_key_file_get_string(manifest, "files", "metrics.tsv", NULL);
    g_assert_true(g_file_get_contents("out/metrics.tsv", &bytes, &length, NULL));
    real_sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) bytes, length);
    g_assert_cmpstr(sum, ==, real_sum);
    toy_write("out/manifest.ini", "[result]\nformat=2\n");
    g_assert_null(sim_result_read_manifest("out", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
}

/* What a point was run with can be run again and gives the same configuration. */
static void
test_point_runs_again(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = write_study(plan, "out", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimPlan) again = sim_plan_load(toy_experiment.schema, "out/points/4.scenario", NULL, NULL, &error);
    g_autofree char *before = NULL, *after = NULL;

    g_assert_no_error(error);
    before = sim_config_to_text(sim_plan_config(plan, 3), FALSE);
    after = sim_config_to_text(sim_plan_config(again, 0), FALSE);
    g_assert_cmpstr(before, ==, after);
}

static void
test_replace(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimPlan) small = toy_study_plan("[run]\nduration=1 ms\n[toy]\ntables=false\n");
    g_autoptr(SimRuns) first = write_study(plan, "out", NULL);
    g_autoptr(SimRuns) second = write_study(small, "out", NULL);
    g_autofree char *list = toy_study_list(".");

    g_assert_cmpstr(list, ==, "out\nmanifest.ini\nmetrics.tsv\npoints\n1.scenario\nsummary.tsv\nstudy.scenario\n");
}

/* What is not ours is not deleted. */
static void
test_foreign_files(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = NULL;
    g_autoptr(GError) error = NULL;

    toy_write("out/thesis.txt", "years of work");
    g_assert_null(sim_result_begin("out", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
    g_clear_error(&error);
    g_assert_cmpint(g_remove("out/thesis.txt"), ==, 0);
    runs = write_study(plan, "out", NULL);
    toy_write("out/thesis.txt", "years of work");
    g_assert_null(sim_result_begin("out", &error));
    g_assert_nonnull(strstr(error->message, "thesis.txt"));
    g_assert_true(g_file_test("out/metrics.tsv", G_FILE_TEST_EXISTS));
}

static void
test_abandoned(void)
{
    g_autofree char *list = NULL;

    {
        g_autoptr(SimFolder) folder = begin("out");
        g_autoptr(GError) error = NULL;
        g_assert_true(sim_folder_write(folder, "a/b.txt", "x", 1, &error));
        g_assert_no_error(error);
    }
    list = toy_study_list(".");
    g_assert_cmpstr(list, ==, "");
}

/* A link is replaced in its place: the folder it names changes, the link stays. */
static void
test_link(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) runs = NULL;

    g_assert_cmpint(g_mkdir("real", 0700), ==, 0);
    g_assert_cmpint(symlink("real", "link"), ==, 0);
    runs = write_study(plan, "link", NULL);
    g_assert_true(g_file_test("link", G_FILE_TEST_IS_SYMLINK));
    g_assert_true(g_file_test("real/metrics.tsv", G_FILE_TEST_EXISTS));
}

static void
test_unusable_targets(void)
{
    static const char *const targets[] = {"file", "file/below", "/proc/slubsim/out"};

    toy_write("file", "x");
    for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(sim_result_begin(targets[i], &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
        g_assert_null(strchr(error->message, '\n'));
    }
}

/* A disk that fills up in the middle: an error that names the file, and nothing left behind. */
static void
test_full_disk(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(STUDY);
    g_autoptr(SimRuns) old = write_study(plan, "out", NULL);
    g_autofree char *before = toy_study_digest(".");
    g_autofree char *after = NULL;
    struct rlimit limit, small;

    signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    small = limit;
    small.rlim_cur = 4096;
    {
        g_autoptr(SimRuns) runs = toy_study_run(plan, 1);
        g_autoptr(SimFolder) folder = begin("out");
        g_autoptr(GError) error = NULL;
        gboolean ok;

        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
        ok = sim_result_write(folder, &toy_experiment, runs, NULL, &error);
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
        g_assert_false(ok);
        g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
        g_assert_nonnull(strstr(error->message, "/out/"));
    }
    after = toy_study_digest(".");
    g_assert_cmpstr(before, ==, after);
}

/* What killed processes have left of this target goes; what is being filled, or is not a draft of it, stays. */
static void
test_left_drafts(void)
{
    static const char *const stays[] = {".out.foreig/file",       ".out.abc/.sim-draft",      ".out.abcdefg/.sim-draft",
                                        ".out.abc.ef/.sim-draft", ".other.abcdef/.sim-draft", "out.abcdef/.sim-draft"};
    g_autoptr(SimFolder) first = begin("out");

    toy_write(".out.abcdef/.sim-draft", "");
    toy_write(".out.abcdef/points/1.scenario", "x");
    g_assert_cmpint(g_mkdir(".out.empty1", 0700), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(stays); i++)
        toy_write(stays[i], "");
    {
        g_autoptr(SimFolder) second = begin("out");
        g_assert_cmpstr(second->draft, !=, first->draft);
    }
    g_assert_false(g_file_test(".out.abcdef", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test(".out.empty1", G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(first->draft, G_FILE_TEST_IS_DIR));
    for (guint i = 0; i < G_N_ELEMENTS(stays); i++)
        g_assert_true(g_file_test(stays[i], G_FILE_TEST_EXISTS));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/result/files", test_files);
    toy_add_test("/result/metrics", test_metrics);
    toy_add_test("/result/union-of-columns", test_union_of_columns);
    toy_add_test("/result/summary", test_summary);
    toy_add_test("/result/one-replication", test_one_replication);
    g_test_add_func("/result/format-interval", test_format_interval);
    toy_add_test("/result/manifest", test_manifest);
    toy_add_test("/result/point-runs-again", test_point_runs_again);
    toy_add_test("/result/replace", test_replace);
    toy_add_test("/result/foreign-files", test_foreign_files);
    toy_add_test("/result/abandoned", test_abandoned);
    toy_add_test("/result/link", test_link);
    toy_add_test("/result/unusable-targets", test_unusable_targets);
    toy_add_test("/result/full-disk", test_full_disk);
    toy_add_test("/result/left-drafts", test_left_drafts);
    return g_test_run();
}
