/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line as a user meets it: the toy program of this folder in a folder of its own. */
#include "cli-process.h"
#include "toy-scenario.h"
#include "toy-study.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define GOOD                                                                                                           \
    "[scenario]\ntitle=Good one\nquestion=Is it?\n[run]\nduration=1 ms\nreplications=2\n[sweep]\ntoy.cpus=2;8\n"
#define HOSTILE "a\"; system(\"touch hacked\"); `touch hacked` '$(touch hacked)' @ARG1 {/Bold x}_y \\\\n %s #"

static void
test_words(void)
{
    cli_expect("--version", 0, "toy 1.0\n", "");
    cli_expect("", 2, "", "toy: a command is needed (toy --help lists them)\n");
    cli_expect("rum", 2, "", "toy: unknown command 'rum'; did you mean run? (toy --help lists them)\n");
    cli_expect("gret", 2, "", "toy: unknown command 'gret'; did you mean greet? (toy --help lists them)\n");
    cli_expect("greet a b", 0, "own command greet with 2 words\n", "");
    cli_expect("list models", 0, "own command models with 0 words\n", "");
    cli_expect("list modles", 2, "",
               "toy: nothing to list under 'modles'; did you mean models? (allowed: models; or no word: scenarios)\n");
    cli_expect("run", 2, "", "toy: too few arguments; usage: toy run FILE|NAME\n");
    cli_expect("run a b", 2, "", "toy: too many arguments; usage: toy run FILE|NAME\n");
    cli_expect("run -j 0 a", 2, "", "toy: run: -j 0: must lie between 1 and 4096\n");
    cli_expect("run --frob a", 2, "", "toy: run: Unknown option --frob\n");
    cli_expect("plot nowhere", 1, "", "toy: nowhere: no such study\n");
}

static void
test_help(void)
{
    g_auto(Outcome) all = cli_run("--help", NULL), one = cli_run("run --help", NULL);

    g_assert_cmpint(all.status, ==, 0);
    for (const char *const *word = (const char *const[]){"run", "check", "show", "list", "plot", "greet", NULL};
         *word != NULL; word++)
        g_assert_nonnull(strstr(all.out, *word));
    g_assert_cmpint(one.status, ==, 0);
    for (const char *const *word =
             (const char *const[]){"--set", "-j", "--out", "--seed", "--replications", "--quiet", "--no-charts", NULL};
         *word != NULL; word++)
        g_assert_nonnull(strstr(one.out, *word));
}

static void
test_check(void)
{
    toy_write("good.scenario", GOOD);
    toy_write("bad.scenario", "[run]\nduration=1\n");
    toy_write("kind.scenario", GOOD "[plot p]\nkind=through\n");
    toy_write("lost.scenario", "[scenario]\npublished=lost.tsv\n[run]\nduration=1 ms\n");
    cli_expect("check good.scenario", 0, "good.scenario: good, 2 points\n", "");
    {
        g_auto(Outcome) outcome = cli_run("check bad.scenario good.scenario kind.scenario lost.scenario", NULL);
        g_assert_cmpint(outcome.status, ==, 2);
        g_assert_cmpstr(outcome.out, ==, "good.scenario: good, 2 points\n");
        g_assert_nonnull(strstr(outcome.err, "toy: bad.scenario:2: "));
        g_assert_nonnull(strstr(outcome.err, "toy: kind.scenario:10: "));
        g_assert_nonnull(strstr(outcome.err, "no kind of chart 'through'"));
        g_assert_nonnull(strstr(outcome.err, "toy: lost.scenario:2: [scenario] published = lost.tsv: "));
    }
}

static void
test_show(void)
{
    toy_write("v.scenario", "[run]\nduration=1 ms\n[variant base]\n[variant fast]\ntoy.cost=5\n");
    cli_expect("show v.scenario --variant slow", 2, "", "toy: scenario v has no variant 'slow'\n");
    cli_expect("show v.scenario --variant fas", 2, "", "toy: scenario v has no variant 'fas'; did you mean fast?\n");
    {
        g_auto(Outcome) outcome = cli_run("show v.scenario --variant fast --set toy.cpus=32", NULL);
        g_assert_cmpint(outcome.status, ==, 0);
        g_assert_true(g_str_has_prefix(outcome.out, "# v: point 2 of 2, fast\n"));
        g_assert_nonnull(strstr(outcome.out, "cost = 5\n"));
        g_assert_nonnull(strstr(outcome.out, "cpus = 32\n"));
        g_assert_nonnull(strstr(outcome.out, "v.scenario:5"));
        g_assert_nonnull(strstr(outcome.out, "--set"));
    }
}

/* Keys that a point does not look at are left out, unless someone has given them, and never in silence. */
static void
test_show_short(void)
{
    toy_write("t.scenario", "[run]\nduration=1 ms\n[toy]\ntables=false\nnodes=3\n");
    {
        g_auto(Outcome) outcome = cli_run("show t.scenario", NULL);
        g_assert_null(strstr(outcome.out, "\nsite = "));
        g_assert_nonnull(strstr(outcome.out, "\nnodes = 3\n"));
        g_assert_true(
            g_str_has_suffix(outcome.out, "\n\n# left out: 1 default that this point does not look at (--all)\n"));
    }
    for (const char *const *line =
             (const char *const[]){"show t.scenario --all", "show t.scenario --set toy.tables=true", NULL};
         *line != NULL; line++) {
        g_auto(Outcome) outcome = cli_run(*line, NULL);
        g_assert_nonnull(strstr(outcome.out, "\nsite = slow_path\n"));
        g_assert_null(strstr(outcome.out, "left out"));
    }
}

static void
test_list_and_names(void)
{
    toy_write("lib/good.scenario", GOOD);
    g_setenv("SLUBSIM_SCENARIOS", "lib", TRUE);
    cli_expect("list", 0, "good  Good one\n    Is it?\n", "");
    cli_expect("check good", 0, "good: good, 2 points\n", "");
    cli_expect("check goood", 2, "", "toy: no scenario 'goood' in lib; did you mean good? (allowed: a path, good)\n");
    /* What a shell makes of an empty variable. */
    {
        const char *const argv[] = {g_getenv("TOY_MAIN"), "check", "", NULL};
        g_autofree char *err = NULL;
        g_assert_true(
            g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &err, NULL, NULL));
        g_assert_true(g_str_has_prefix(err, "toy: no scenario '' in lib (allowed: a path, good)"));
    }
    g_unsetenv("SLUBSIM_SCENARIOS");
}

static void
test_run(void)
{
    g_autofree char *list = NULL;
    g_auto(Outcome) outcome = {0};

    toy_write("good.scenario", GOOD);
    outcome = cli_run("run --quiet -j2 good.scenario", NULL);
    g_assert_cmpstr(outcome.err, ==, "");
    g_assert_cmpint(outcome.status, ==, 0);
    g_assert_nonnull(strstr(outcome.out, "throughput_ops_per_s"));
    g_assert_true(g_str_has_suffix(outcome.out, "\nResults: results/good\n"));
    list = toy_study_list("results");
    g_assert_cmpstr(list, ==,
                    "good\ncharts\nlock-time.png\nlock-time.svg\nlock-time.tsv\nmemory-places.png\nmemory-places.svg\n"
                    "memory-places.tsv\nmemory.png\nmemory.svg\nmemory.tsv\npartial.png\npartial.svg\npartial.tsv\n"
                    "throughput.png\nthroughput.svg\nthroughput.tsv\nwaits.png\nwaits.svg\nwaits.tsv\nlocks.tsv\n"
                    "manifest.ini\nmemory.tsv\nmetrics.tsv\npoints\n1.scenario\n2.scenario\nseries.tsv\nsummary.tsv\n"
                    "waits.tsv\n");
}

/* The whole folder, charts included, for any number of workers; drawing again changes nothing. */
static void
test_equal_bytes(void)
{
    g_autofree char *one = NULL, *eight = NULL, *again = NULL;

    toy_write("good.scenario", GOOD);
    cli_expect("run -q -j1 --out one good.scenario", 0, NULL, "");
    cli_expect("run -q -j8 --out eight good.scenario", 0, NULL, "");
    one = toy_study_digest("one");
    eight = toy_study_digest("eight");
    g_assert_true(g_str_equal(one, eight));
    cli_expect("plot eight", 0, "6 charts in eight/charts\n", "");
    again = toy_study_digest("eight");
    g_assert_true(g_str_equal(one, again));
}

static void
test_seed_option(void)
{
    g_autofree char *by_option = NULL, *by_set = NULL, *other = NULL;

    toy_write("good.scenario", GOOD);
    cli_expect("run -q --no-charts --out a --seed 5 --replications 3 good.scenario", 0, NULL, "");
    cli_expect("run -q --no-charts --out b --set run.seed=5 --set run.replications=3 good.scenario", 0, NULL, "");
    cli_expect("run -q --no-charts --out c --seed 6 --replications 3 good.scenario", 0, NULL, "");
    by_option = toy_study_digest("a");
    by_set = toy_study_digest("b");
    other = toy_study_digest("c");
    g_assert_cmpstr(by_option, ==, by_set);
    g_assert_cmpstr(by_option, !=, other);
    g_assert_false(g_file_test("a/charts", G_FILE_TEST_EXISTS));
}

/* Published figures are printed with their misses. */
static void
test_published(void)
{
    g_auto(Outcome) outcome = {0};

    toy_write("p.tsv", "id\tvariant\taxis_value\tmetric\tvalue\tunit\tnote\n"
                       "A\tbase\t2\tlock_share_percent\t20\t%\t\nB\tbase\t4\tlock_share_percent\t20\t%\t\n");
    toy_write("good.scenario", "[scenario]\npublished=p.tsv\n[run]\nduration=1 ms\n[sweep]\ntoy.cpus=2;8\n");
    outcome = cli_run("run -q --out out good.scenario", NULL);
    g_assert_cmpstr(outcome.err, ==, "");
    g_assert_cmpint(outcome.status, ==, 0);
    g_assert_nonnull(strstr(outcome.out, "16.67"));
    g_assert_nonnull(strstr(outcome.out, "no such axis value"));
    g_assert_nonnull(strstr(outcome.out, "rms_relative_error"));
    g_assert_nonnull(strstr(outcome.out, "\n2 published figures, 1 start: n = 1 comparisons simulated, 1 not\n"));
    g_assert_nonnull(strstr(outcome.out, "off by -16.7 %"));
    g_assert_true(g_file_test("out/comparison.tsv", G_FILE_TEST_EXISTS));
}

/* Relative to the scenario, unless the path says where it begins. */
static void
test_published_paths(void)
{
    g_autofree char *here = g_get_current_dir(), *scenario = NULL;

    toy_write("far/p.tsv",
              "id\tvariant\taxis_value\tmetric\tvalue\tunit\tnote\nA\tbase\t\tlock_share_percent\t20\t%\t\n");
    toy_write("near/empty.tsv", "id\tvariant\taxis_value\tmetric\tvalue\tunit\tnote\n");
    scenario = g_strdup_printf("[scenario]\npublished=%s/far/p.tsv\n[run]\nduration=1 ms\n", here);
    toy_write("near/a.scenario", scenario);
    toy_write("near/b.scenario", "[scenario]\npublished=../far/p.tsv\n[run]\nduration=1 ms\n");
    toy_write("near/c.scenario", "[scenario]\npublished=empty.tsv\n[run]\nduration=1 ms\n");
    cli_expect("check near/a.scenario near/b.scenario", 0,
               "near/a.scenario: good, 1 point\nnear/b.scenario: good, 1 point\n", "");
    cli_expect("check near/c.scenario", 2, "", "toy: near/empty.tsv: a header without any figure\n");
}

/* A run that has not settled is not passed over in silence. */
static void
test_untrusted(void)
{
    g_auto(Outcome) outcome = {0};

    toy_write("good.scenario", GOOD);
    outcome = cli_run("run -q --no-charts --set toy.drift_from=1 good.scenario", NULL);
    g_assert_cmpint(outcome.status, ==, 0);
    g_assert_nonnull(strstr(outcome.out, "\nnot settled, prolong run.warmup or run.duration: base, 2, cold (1 of 2 "
                                         "runs); base, 8, cold (1 of 2 runs)\n"));
}

/* Texts of a scenario are data to gnuplot and to the shell. */
static void
test_hostile_texts(void)
{
    toy_write("h.scenario", "[scenario]\ntitle=" HOSTILE "\n[run]\nduration=1 ms\n[toy]\nsite=" HOSTILE
                            "\n[plot t]\nkind=throughput\ntitle=" HOSTILE "\n[plot l]\nkind=lock-time\ntitle=" HOSTILE
                            "\n[plot m]\nkind=memory\ntitle=" HOSTILE "\n[plot w]\nkind=waits\ntitle=" HOSTILE "\n");
    cli_expect("run -q --out out h.scenario", 0, NULL, "");
    g_assert_true(g_file_test("out/charts/l.png", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("hacked", G_FILE_TEST_EXISTS));
    {
        g_autofree char *svg = NULL;
        g_assert_true(g_file_get_contents("out/charts/t.svg", &svg, NULL, NULL));
        g_assert_nonnull(strstr(svg, "{/Bold x}_y \\n %s #"));
    }
}

static void
write_gnuplot(const char *script)
{
    toy_write("bin/gnuplot", script);
    g_assert_cmpint(g_chmod("bin/gnuplot", 0700), ==, 0);
}

/* The numbers stay, the exit status and one line tell what is missing. */
static void
test_gnuplot_failures(void)
{
    static const struct {
        const char *script, *said;
    } cases[] = {
        {NULL, "cannot run gnuplot"},
        {"#!/bin/sh\necho 'line 3: undefined variable' >&2\nexit 1\n", "gnuplot failed: line 3: undefined variable"},
        {"#!/bin/sh\necho 'warning: empty y range' >&2\nexit 0\n", "gnuplot failed: warning: empty y range"},
        {"#!/bin/sh\nexit 3\n", "gnuplot failed: it said nothing"},
        {"#!/bin/sh\nkill -9 $$\n", "gnuplot was killed by signal 9"},
    };

    toy_write("good.scenario", GOOD);
    g_assert_cmpint(g_mkdir("bin", 0700), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Outcome) outcome = {0};
        if (cases[i].script != NULL)
            write_gnuplot(cases[i].script);
        outcome = cli_run("run -q --out out good.scenario", "bin");
        g_assert_cmpint(outcome.status, ==, 1);
        g_assert_true(g_str_has_prefix(outcome.err, "toy: the numbers are complete in out, the charts are not: "));
        g_assert_nonnull(strstr(outcome.err, cases[i].said));
        g_assert_true(strchr(outcome.err, '\n') == strrchr(outcome.err, '\n'));
        g_assert_true(g_file_test("out/metrics.tsv", G_FILE_TEST_EXISTS));
        g_assert_false(g_file_test("out/charts", G_FILE_TEST_EXISTS));
    }
}

/* A failed redraw keeps the charts that were there. */
static void
test_plot_failure(void)
{
    g_autofree char *before = NULL, *after = NULL;

    toy_write("good.scenario", GOOD);
    cli_expect("run -q --out out good.scenario", 0, NULL, "");
    before = toy_study_digest("out");
    write_gnuplot("#!/bin/sh\nexit 1\n");
    {
        g_auto(Outcome) outcome = cli_run("plot out", "bin");
        g_assert_cmpint(outcome.status, ==, 1);
    }
    after = toy_study_digest("out");
    g_assert_true(g_str_equal(before, after));
}

/* A metric cannot be known before a run: the good charts stay, the bad one is named. */
static void
test_refused_chart(void)
{
    toy_write("p.scenario", GOOD "[plot p]\nkind=throughput\nmetric=lock_share_precent\n");
    cli_expect("run -q --out out p.scenario", 1, NULL,
               "toy: not drawn: chart p: no run recorded a metric 'lock_share_precent'; did you mean "
               "lock_share_percent? (summary.tsv lists them)\n");
    g_assert_true(g_file_test("out/charts/waits.png", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("out/charts/p.png", G_FILE_TEST_EXISTS));
    cli_expect("plot out", 1, "5 charts in out/charts\n", NULL);
}

static void
test_damaged_result(void)
{
    g_auto(Outcome) outcome = {0};

    toy_write("good.scenario", GOOD);
    cli_expect("run -q --no-charts --out out good.scenario", 0, NULL, "");
    toy_write("out/locks.tsv", "variant\ttoy.cpus\treplication\tstart\tsite\twait_ns\nbase\t2\t0\tcold\tx\tmuch\n");
    outcome = cli_run("plot out", NULL);
    g_assert_cmpint(outcome.status, ==, 2);
    g_assert_nonnull(strstr(outcome.err, "locks.tsv:2: 'much' in column 'wait_ns' is not a number"));
    g_assert_false(g_file_test("out/charts", G_FILE_TEST_EXISTS));
}

static void
test_failures_leave_nothing(void)
{
    g_autofree char *list = NULL;

    toy_write("f.scenario", GOOD "[toy]\nfail_from=1\n");
    toy_write("p.scenario", GOOD "[plot p]\nkind=throughput\nmetric=absent\n");
    cli_expect("run -q f.scenario --out out/f", 2, "",
               "toy: base, toy.cpus = 2, start cold, replication 1: toy fails as told\n");
    cli_expect("run -q f.scenario --out f.scenario/x", 1, "", NULL);
    list = toy_study_list(".");
    g_assert_cmpstr(list, ==, "f.scenario\nout\np.scenario\n");
}

/* A table that did not reach the disk is no success. */
static void
test_full_stdout(void)
{
    g_autofree char *line = g_strdup_printf("sh -c '\"%s\" --version > /dev/full'", g_getenv("TOY_MAIN"));
    g_autofree char *err = NULL;
    int status;

    g_assert_true(g_spawn_command_line_sync(line, NULL, &err, &status, NULL));
    g_assert_cmpstr(err, ==, "toy: standard output: No space left on device\n");
    g_assert_cmpint(status, !=, 0);
}

/* A run that has begun and will not end by itself: the progress line tells that it has begun. */
static GSubprocess *
begin_hanging(void)
{
    GSubprocess *process;
    char begun[4];
    gsize n;

    toy_write("hang.scenario", GOOD "[toy]\nhang=true\n");
    process = cli_spawn("run -j2 hang.scenario --out out", NULL);
    g_assert_true(g_input_stream_read_all(g_subprocess_get_stderr_pipe(process), begun, sizeof begun, &n, NULL, NULL));
    g_assert_cmpuint(n, ==, sizeof begun);
    return process;
}

/* Ctrl-C in the middle of a run. */
static void
test_interrupt(void)
{
    g_autofree char *list = NULL;
    g_auto(Outcome) outcome = {0};
    GSubprocess *process = begin_hanging();

    g_subprocess_send_signal(process, SIGINT);
    outcome = cli_finish(process);
    g_assert_cmpint(outcome.status, ==, 130);
    g_assert_nonnull(strstr(outcome.err, "toy: interrupted after 0 runs; nothing is kept\n"));
    g_assert_cmpstr(outcome.out, ==, "");
    list = toy_study_list(".");
    g_assert_cmpstr(list, ==, "hang.scenario\n");
}

static guint
count(const char *text, const char *part)
{
    guint n = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

/* What a killed run leaves, the next run into the same place removes; one that is still at work keeps its own. */
static void
test_kill(void)
{
    g_autofree char *before = NULL, *after = NULL;
    GSubprocess *killed = begin_hanging(), *alive = begin_hanging();

    g_subprocess_send_signal(killed, SIGKILL);
    {
        g_auto(Outcome) outcome = cli_finish(killed);
        g_assert_cmpint(outcome.status, ==, -1);
    }
    before = toy_study_list(".");
    g_assert_cmpuint(count(before, ".sim-draft"), ==, 2);
    toy_write("good.scenario", GOOD);
    cli_expect("run -q --no-charts good.scenario --out out", 0, NULL, "");
    after = toy_study_list(".");
    g_assert_cmpuint(count(after, ".sim-draft"), ==, 1);
    g_subprocess_send_signal(alive, SIGINT);
    {
        g_auto(Outcome) outcome = cli_finish(alive);
        g_autofree char *end = toy_study_list(".");
        g_assert_cmpint(outcome.status, ==, 130);
        g_assert_null(strstr(end, ".sim-draft"));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/cli/words", test_words);
    toy_add_test("/cli/help", test_help);
    toy_add_test("/cli/check", test_check);
    toy_add_test("/cli/show", test_show);
    toy_add_test("/cli/show-short", test_show_short);
    toy_add_test("/cli/list-and-names", test_list_and_names);
    toy_add_test("/cli/run", test_run);
    toy_add_test("/cli/equal-bytes", test_equal_bytes);
    toy_add_test("/cli/seed-option", test_seed_option);
    toy_add_test("/cli/published", test_published);
    toy_add_test("/cli/published-paths", test_published_paths);
    toy_add_test("/cli/untrusted", test_untrusted);
    toy_add_test("/cli/hostile-texts", test_hostile_texts);
    toy_add_test("/cli/gnuplot-failures", test_gnuplot_failures);
    toy_add_test("/cli/plot-failure", test_plot_failure);
    toy_add_test("/cli/refused-chart", test_refused_chart);
    toy_add_test("/cli/damaged-result", test_damaged_result);
    toy_add_test("/cli/failures-leave-nothing", test_failures_leave_nothing);
    toy_add_test("/cli/full-stdout", test_full_stdout);
    toy_add_test("/cli/interrupt", test_interrupt);
    toy_add_test("/cli/kill", test_kill);
    return g_test_run();
}
