/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies as processes write them: killed, shared, sharded, damaged. */
#include "cli-process.h"
#include "toy-scenario.h"
#include "toy-study.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>

#define SCENARIO "[scenario]\ntitle=Sweep\n" NO_TITLE
#define NO_TITLE                                                                                                       \
    "[run]\nduration=1 ms\nreplications=4\nstarts=cold;warm\n"                                                         \
    "[sweep]\ntoy.cpus=2;8;32\n[variant base]\n[variant nodes]\ntoy.nodes=3\n"
#define SLOW SCENARIO "[toy]\ndelay_us=3000\n"
#define N_RUNS 48
#define N_KILLS 20

static const char *const tables[] = {"metrics", "summary", "points", "refused", "locks", "series", "waits", "memory"};

/* All tables of a study in all formats. Caller frees. */
static char *
export_all(const char *study)
{
    GString *all = g_string_new(NULL);

    for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autofree char *line = g_strdup_printf("export %s --table %s --format %s", study, tables[i],
                                                i % 3 == 0   ? "tsv"
                                                : i % 3 == 1 ? "csv"
                                                             : "jsonl");
        g_auto(Outcome) outcome = cli_run(line, NULL);
        g_assert_cmpstr(outcome.err, ==, "");
        g_assert_cmpint(outcome.status, ==, 0);
        g_string_append(all, outcome.out);
    }
    return g_string_free(all, FALSE);
}

static void
expect_same_export(const char *study, const char *expected)
{
    g_autofree char *found = export_all(study);

    g_assert_cmpstr(found, ==, expected);
}

static char *
make_reference(const char *scenario)
{
    toy_write("a.scenario", scenario);
    cli_expect("sweep a.scenario --study reference.study -q -j 2", 0, "", "");
    return export_all("reference.study");
}

static gint64
ask(const char *study, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    gint64 value;

    g_assert_cmpint(sqlite3_open(study, &db), ==, SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &s, NULL), ==, SQLITE_OK);
    value = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    return value;
}

static void
test_workers(void)
{
    g_autofree char *reference = make_reference(SCENARIO);

    cli_expect("sweep a.scenario --study one.study -q -j1", 0, "", "");
    cli_expect("sweep a.scenario --study eight.study -q -j8", 0, "", "");
    expect_same_export("one.study", reference);
    expect_same_export("eight.study", reference);
    g_assert_cmpint(ask("one.study", "SELECT COUNT(*) FROM run"), ==, N_RUNS);
    g_assert_cmpint(ask("one.study", "SELECT COUNT(*) FROM claim"), ==, 0);
}

/* What a study exports is what `run` writes into its folder. */
static void
test_same_as_run(void)
{
    static const char *const scenarios[] = {
        SCENARIO, "[run]\nduration=1 ms\nreplications=40\nprecision=0.02\n[sweep]\ntoy.cpus=2;8\ntoy.nodes=2\n"};
    static const char *const files[] = {"metrics", "summary", "locks", "series", "waits", "memory"};

    for (guint i = 0; i < G_N_ELEMENTS(scenarios); i++) {
        g_autofree char *text = g_strdup(scenarios[i]);
        char *second_axis = strstr(text, "toy.nodes=2\n");
        if (second_axis != NULL)
            *second_axis = '\0';
        toy_write("a.scenario", text);
        cli_expect("run a.scenario --out folder -q --no-charts", 0, NULL, "");
        g_remove("a.study");
        cli_expect("sweep a.scenario --study a.study -q -j 3", 0, "", "");
        for (guint f = 0; f < G_N_ELEMENTS(files); f++) {
            g_autofree char *path = g_strdup_printf("folder/%s.tsv", files[f]);
            g_autofree char *line = g_strdup_printf("export a.study --table %s", files[f]);
            g_autofree char *bytes = NULL;
            g_assert_true(g_file_get_contents(path, &bytes, NULL, NULL));
            cli_expect(line, 0, bytes, "");
        }
    }
}

static void
test_kill_and_resume(void)
{
    g_autofree char *reference = make_reference(SLOW);
    guint n_kills = 0;
    gint64 n_before = 0;

    while (n_kills < N_KILLS) {
        g_autoptr(GSubprocess) process = cli_spawn("sweep a.scenario --study killed.study -q -j 2", NULL);
        gint64 n_now;

        g_usleep((gulong) g_test_rand_int_range(2000, 40000));
        g_subprocess_send_signal(process, SIGKILL);
        g_assert_true(g_subprocess_wait(process, NULL, NULL));
        if (g_subprocess_get_if_signaled(process))
            n_kills++;
        n_now =
            g_file_test("killed.study", G_FILE_TEST_EXISTS)
                ? ask("killed.study", "SELECT CASE WHEN EXISTS(SELECT 1 FROM sqlite_schema WHERE name = 'run') THEN 1"
                                      " ELSE 0 END")
                : 0;
        if (n_now == 1)
            n_now = ask("killed.study", "SELECT COUNT(*) FROM run");
        g_assert_cmpint(n_now, >=, n_before);
        n_before = n_now;
        if (n_now < N_RUNS)
            continue;
        /* Finished before all the killing was done: once more from the start. */
        expect_same_export("killed.study", reference);
        g_remove("killed.study");
        g_remove("killed.study-wal");
        g_remove("killed.study-shm");
        n_before = 0;
    }
    cli_expect("sweep a.scenario --study killed.study -q -j 2", 0, "", "");
    expect_same_export("killed.study", reference);
    /* Resuming a finished study changes nothing. */
    cli_expect("sweep a.scenario --study killed.study -q -j 2", 0, "", "");
    expect_same_export("killed.study", reference);
}

static void
test_interrupt(void)
{
    g_autofree char *reference = make_reference(SLOW);
    GSubprocess *process = cli_spawn("sweep a.scenario --study a.study -q -j 1", NULL);

    while (!g_file_test("a.study", G_FILE_TEST_EXISTS) ||
           ask("a.study", "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'run'") == 0 ||
           ask("a.study", "SELECT COUNT(*) FROM run") < 3)
        g_usleep(1000);
    g_subprocess_send_signal(process, SIGINT);
    g_auto(Outcome) outcome = cli_finish(process);
    g_assert_cmpint(outcome.status, ==, 130);
    g_assert_nonnull(strstr(outcome.err, "of 48 runs are in a.study, and the same command goes on"));
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM run"), >=, 3);
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM run"), <, N_RUNS);
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM claim"), ==, 0);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    expect_same_export("a.study", reference);
}

/* Both end well, no run is done twice, and one that is killed leaves its runs to the other at once. */
static void
test_two_writers(void)
{
    g_autofree char *reference = make_reference(SLOW);
    GSubprocess *first = cli_spawn("sweep a.scenario --study two.study -q -j 1", NULL);
    GSubprocess *second = cli_spawn("sweep a.scenario --study two.study -q -j 2", NULL);
    g_autoptr(GSubprocess) third = cli_spawn("sweep a.scenario --study two.study -q -j 2", NULL);
    gint64 started_us = g_get_monotonic_time();

    g_usleep(30000);
    g_subprocess_send_signal(third, SIGKILL);
    g_auto(Outcome) one = cli_finish(first), two = cli_finish(second);
    g_assert_cmpstr(one.err, ==, "");
    g_assert_cmpstr(two.err, ==, "");
    g_assert_cmpint(one.status, ==, 0);
    g_assert_cmpint(two.status, ==, 0);
    /* Not the minute of a lease. */
    g_assert_cmpint(g_get_monotonic_time() - started_us, <, 40 * G_USEC_PER_SEC);
    expect_same_export("two.study", reference);
}

/* Files here whose names begin so. */
static guint
n_files(const char *prefix)
{
    g_autoptr(GDir) here = g_dir_open(".", 0, NULL);
    const char *name;
    guint n = 0;

    while ((name = g_dir_read_name(here)) != NULL)
        n += g_str_has_prefix(name, prefix);
    return n;
}

/* Processes that make one study together, from the first byte: none sees it half made, none is turned away. */
static void
test_makers(void)
{
    enum { N_ROUNDS = 30, N_MAKERS = 4 };

    toy_write("a.scenario", "[run]\nduration=1 ms\n");
    for (guint round = 0; round < N_ROUNDS; round++) {
        g_autofree char *line = g_strdup_printf("sweep a.scenario --study %u.study -q -j 1", round);
        g_autofree char *draft = g_strdup_printf("%u.study.", round);
        GSubprocess *makers[N_MAKERS];
        for (guint i = 0; i < N_MAKERS; i++)
            makers[i] = cli_spawn(line, NULL);
        for (guint i = 0; i < N_MAKERS; i++) {
            g_auto(Outcome) outcome = cli_finish(makers[i]);
            g_assert_cmpstr(outcome.err, ==, "");
            g_assert_cmpint(outcome.status, ==, 0);
        }
        g_assert_cmpuint(n_files(draft), ==, 0);
    }
}

static void
test_shards(void)
{
    g_autofree char *reference = make_reference(SCENARIO);

    cli_expect("sweep a.scenario --study s1.study --shard 1/3 -q", 0, "", "");
    cli_expect("sweep a.scenario --study s2.study --shard 2/3 -q -j 1", 0, "", "");
    cli_expect("sweep a.scenario --study s3.study --shard 3/3 -q", 0, "", "");
    g_assert_cmpint(ask("s1.study", "SELECT COUNT(*) FROM run"), ==, N_RUNS / 3);
    cli_expect("merge all.study s3.study s1.study", 0, "all.study: 32 runs added, 32 of 48 there\n", "");
    cli_expect("merge all.study s2.study", 0, "all.study: 16 runs added, 48 of 48 there\n", "");
    expect_same_export("all.study", reference);
    cli_expect("merge all.study s1.study s2.study s3.study", 0, "all.study: 0 runs added, 48 of 48 there\n", "");
    expect_same_export("all.study", reference);
    /* What is merged can be gone on with. */
    cli_expect("merge part.study s2.study", 0, "part.study: 16 runs added, 16 of 48 there\n", "");
    cli_expect("sweep a.scenario --study part.study -q", 0, "", "");
    expect_same_export("part.study", reference);
    g_assert_cmpuint(n_files("all.study"), ==, 1);
}

/* Sequential stopping is decided within a shard. */
static void
test_shards_precision(void)
{
    g_autofree char *reference = make_reference("[run]\nduration=1 ms\nreplications=60\nprecision=0.02\n"
                                                "[sweep]\ntoy.cpus=2;8;32\n[toy]\nnodes=3\n");
    gint64 n_needed = ask("reference.study", "SELECT SUM(needed) FROM cell");

    g_assert_cmpint(n_needed, >, 15);
    g_assert_cmpint(n_needed, <, 180);
    cli_expect("sweep a.scenario --study s1.study --shard 1/2 -q", 0, "", "");
    cli_expect("sweep a.scenario --study s2.study --shard 2/2 -q -j 1", 0, "", "");
    cli_expect("merge all.study s2.study s1.study", 0, NULL, "");
    expect_same_export("all.study", reference);
}

static void
test_bad_shards(void)
{
    g_autofree char *before = NULL;

    toy_write("a.scenario", SCENARIO);
    toy_write("b.scenario", SCENARIO "[toy]\ncost=11\n");
    cli_expect("sweep a.scenario --study s1.study --shard 1/2 -q", 0, "", "");
    cli_expect("sweep a.scenario --study twin.study --shard 1/2 -q", 0, "", "");
    cli_expect("sweep a.scenario --study bad.study --shard 1/2 -q -j 1", 0, "", "");
    cli_expect("sweep b.scenario --study other.study --shard 2/2 -q", 0, "", "");
    cli_expect("merge all.study s1.study", 0, NULL, "");
    before = export_all("all.study");
    cli_expect("merge all.study other.study", 2, "", "toy: other.study: belongs to another scenario\n");
    cli_expect("merge new.study s1.study other.study", 2, "", "toy: other.study: belongs to another scenario\n");
    g_assert_cmpuint(n_files("new.study"), ==, 0);
    cli_expect("merge all.study s1.study twin.study", 2, "", "toy: twin.study: the same shard as another one given\n");
    cli_expect("merge all.study nowhere.study", 1, "", "toy: nowhere.study: no such study\n");
    cli_expect("merge all.study s1.study ./all.study", 2, "", "toy: ./all.study: cannot be joined to itself\n");
    cli_expect("merge s1.study twin.study", 2, "",
               "toy: s1.study: is a shard itself (allowed: a new file, or what merge has made)\n");
    ask("bad.study", "UPDATE value SET value = value + 1 WHERE run = 3");
    cli_expect("merge all.study bad.study", 2, "",
               "toy: bad.study: base, toy.cpus = 2, start cold, replication 2 is there with other results\n");
    ask("twin.study", "UPDATE about SET value = '0.9' WHERE key = 'version'");
    cli_expect("merge all.study twin.study", 2, "", "toy: twin.study: made by another program or version\n");
    expect_same_export("all.study", before);
    cli_expect("sweep a.scenario --study s.study --shard 3/2", 2, "",
               "toy: --shard 3/2: not understood (allowed: K/N with K from 1 to N)\n");
    cli_expect("sweep a.scenario --study s1.study --shard 2/2 -q", 2, "",
               "toy: s1.study: a study of shard '1/2', and this is shard '2/2': use another --study\n");
}

static void
test_extend(void)
{
    g_autofree char *reference = NULL;
    gint64 first_run;

    toy_write("a.scenario", "[run]\nduration=1 ms\nreplications=2\n[sweep]\ntoy.cpus=2;8\ntoy.cost=1;5\n");
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    first_run = ask("a.study", "SELECT MAX(run) FROM run");
    g_assert_cmpint(first_run, ==, 8);
    toy_write("a.scenario", "[scenario]\ntitle=More\n[run]\nduration=1 ms\nreplications=3\n"
                            "[sweep]\ntoy.cpus=4;8;2\ntoy.cost=1;5\n");
    cli_expect("sweep a.scenario --study a.study -q", 2, "",
               "toy: a.study: holds other points than this scenario asks for: use --extend to add to it, or another "
               "--study\n");
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM cell"), ==, 4);
    cli_expect("sweep a.scenario --study a.study -q --extend", 0, "", "");
    /* Four points with one replication more, two new ones with three: what was there is not run again. */
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM run"), ==, 8 + 4 + 6);
    cli_expect("sweep a.scenario --study fresh.study -q", 0, "", "");
    reference = export_all("fresh.study");
    expect_same_export("a.study", reference);
    /* Fewer points: the others stay in the file and out of the export. */
    toy_write("a.scenario", "[run]\nduration=1 ms\nreplications=2\n[sweep]\ntoy.cpus=8\ntoy.cost=1\n");
    cli_expect("sweep a.scenario --study a.study -q --extend", 0, "", "");
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM run"), ==, 18);
    cli_expect("export a.study --table points", 0,
               "point\tlabel\tvariant\ttoy.cpus\ttoy.cost\n1\tbase, toy.cpus = 8, toy.cost = 1\tbase\t8\t1\n", "");
}

/* Words about a study may change after it is run; what it is asked for then is told in the new ones. */
static void
test_new_words(void)
{
    g_autofree char *before = make_reference(SCENARIO);
    g_auto(Outcome) outcome = {0};

    toy_write("a.scenario", "[scenario]\ntitle=Put better\nlimits=Few\n[plot p]\nkind=waits\n" NO_TITLE);
    cli_expect("sweep a.scenario --study reference.study -q", 0, "", "");
    g_assert_cmpint(ask("reference.study", "SELECT COUNT(*) FROM run"), ==, N_RUNS);
    expect_same_export("reference.study", before);
    outcome = cli_run("report reference.study --mail", NULL);
    g_assert_nonnull(strstr(outcome.out, "\nStudy: Put better\n"));
    g_assert_nonnull(strstr(outcome.out, "\nLimit: Few\n"));
    cli_expect("plot reference.study", 0, NULL, "");
    g_assert_true(g_file_test("reference.charts/p.svg", G_FILE_TEST_EXISTS));
}

static void
test_refused(void)
{
    toy_write("a.scenario", "[run]\nduration=1 ms\n[sweep]\ntoy.cpus=2;0\n");
    cli_expect(
        "plan a.scenario --no-probe", 2,
        "     1  base, toy.cpus = 2\n"
        "     2  base, toy.cpus = 0: refused: a.scenario:4: [sweep] toy.cpus = 0: out of range (allowed: a whole "
        "number from 1 to 65536)\npoints: 1, and 1 refused\nruns: 1\n",
        "");
    cli_expect("plan a.scenario --no-probe --skip-refused", 0, NULL, "");
    cli_expect("sweep a.scenario --study a.study -q", 2, "",
               "toy: a.scenario:4: [sweep] toy.cpus = 0: out of range (allowed: a whole number from 1 to 65536)\n");
    g_assert_cmpuint(n_files("a.study"), ==, 0);
    cli_expect(
        "sweep a.scenario --study a.study -q --skip-refused", 0, "",
        "left out: base, toy.cpus = 0: a.scenario:4: [sweep] toy.cpus = 0: out of range (allowed: a whole number "
        "from 1 to 65536)\n");
    cli_expect(
        "export a.study --table refused --format jsonl", 0,
        "{\"point\":\"base, toy.cpus = 0\",\"reason\":\"a.scenario:4: [sweep] toy.cpus = 0: out of range (allowed: "
        "a whole number from 1 to 65536)\"}\n",
        "");
    toy_write("a.scenario", "[run]\nduration=1 ms\n[sweep]\ntoy.cpus=1:1001:1\n");
    cli_expect("sweep a.scenario --study b.study -q", 2, "",
               "toy: a.scenario: 1001 points are more than 1000: look at `toy plan`, then use --yes\n");
    g_assert_false(g_file_test("b.study", G_FILE_TEST_EXISTS));
}

static void
test_failing_runs(void)
{
    toy_write("a.scenario", "[run]\nduration=1 ms\nreplications=4\n[sweep]\ntoy.fail_from=2;-1;3\n");
    cli_expect("sweep a.scenario --study a.study -q -j 1", 2, "",
               "toy: 2 points and starts failed, the first: base, toy.fail_from = 2, start cold, replication 2: toy "
               "fails as told\n");
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM run"), ==, 2 + 4 + 3);
    g_assert_cmpint(ask("a.study", "SELECT COUNT(*) FROM claim"), ==, 0);
}

static void
test_bad_files(void)
{
    toy_write("a.scenario", SCENARIO);
    toy_write("text.study", "this is a text that is quite long, but not a database of any kind whatsoever, no.\n");
    toy_write("empty.study", "");
    cli_expect("sweep a.scenario --study text.study -q", 1, "",
               "toy: text.study: not a study: no SQLite database (file is not a database)\n");
    cli_expect("export text.study", 1, "",
               "toy: text.study: not a study: no SQLite database (file is not a database)\n");
    cli_expect("export empty.study", 1, "", "toy: empty.study: not a study: the file is empty\n");
    cli_expect("export none.study", 1, "", "toy: none.study: no such study\n");
    cli_expect("export .", 1, "", "toy: .: a folder, not a study\n");
    ask("foreign.study", "CREATE TABLE t(x)");
    cli_expect("sweep a.scenario --study foreign.study -q", 1, "",
               "toy: foreign.study: an SQLite database, but not a study\n");
    g_assert_cmpint(ask("foreign.study", "SELECT COUNT(*) FROM sqlite_schema"), ==, 1);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    cli_expect("export a.study --table loks", 2, "",
               "toy: the study has no table 'loks'; did you mean locks? (allowed: metrics, summary, points, refused, "
               "locks, memory, series, waits)\n");
    cli_expect("export a.study --format xml", 2, "", "toy: unknown format 'xml' (allowed: tsv, csv, jsonl)\n");
    ask("a.study", "UPDATE record_table SET data = x'00' WHERE run = 1");
    cli_expect("export a.study --table locks", 1, NULL,
               "toy: a.study: damaged study: a stored table cannot be unpacked\n");
    ask("a.study", "UPDATE about SET value = '0.9' WHERE key = 'version'");
    cli_expect("sweep a.scenario --study a.study -q", 2, "",
               "toy: a.study: a study of version '0.9', and this is version '1.0': use another --study\n");
    ask("a.study", "PRAGMA user_version = 99");
    cli_expect("sweep a.scenario --study a.study -q", 1, "",
               "toy: a.study: a study of format 99, made by a newer program (this one knows up to 1)\n");
}

/* Garbage over parts of the file is noticed, never a crash. */
static void
test_damaged_bytes(void)
{
    g_autofree char *bytes = NULL;
    gsize length;

    toy_write("a.scenario", SCENARIO "[toy]\ntables=false\n");
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    g_assert_true(g_file_get_contents("a.study", &bytes, &length, NULL));
    for (guint i = 0; i < 30; i++) {
        g_autofree char *copy = g_memdup2(bytes, length);
        gsize at = (gsize) g_test_rand_int_range(0, (gint32) length - 600);
        for (gsize j = 0; j < 600; j++)
            copy[at + j] = (char) g_test_rand_int_range(0, 256);
        toy_write_bytes("b.study", copy, i % 5 == 0 ? at : length);
        g_auto(Outcome) read = cli_run("export b.study", NULL);
        g_auto(Outcome) written = cli_run("sweep a.scenario --study b.study -q", NULL);
        g_assert_cmpint(read.status, >=, 0);
        g_assert_cmpint(written.status, >=, 0);
        g_assert_true(read.status == 0 || g_str_has_prefix(read.err, "toy: b.study: "));
        g_assert_true(written.status == 0 || g_str_has_prefix(written.err, "toy: b.study: "));
        g_remove("b.study-wal");
        g_remove("b.study-shm");
    }
}

static void
test_locked(void)
{
    sqlite3 *db;

    toy_write("a.scenario", SCENARIO);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    g_assert_cmpint(sqlite3_open("a.study", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
    cli_expect("export a.study --table points", 0, NULL, "");
    cli_expect("sweep a.scenario --study a.study -q", 1, "",
               "toy: a.study: locked by another program (database is locked)\n");
    sqlite3_close(db);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
}

static Outcome
run_shell(const char *script)
{
    g_autoptr(GError) error = NULL;
    GSubprocess *process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error,
                                            "sh", "-c", script, NULL);

    g_assert_no_error(error);
    return cli_finish(process);
}

/* A file that may not grow stands for a full disk. */
static void
test_full_disk(void)
{
    g_autofree char *reference = make_reference(SCENARIO);
    g_auto(Outcome) full = run_shell("ulimit -f 150; exec \"$TOY_MAIN\" sweep a.scenario --study a.study -q");

    g_assert_cmpint(full.status, ==, 1);
    g_assert_true(g_str_has_prefix(full.err, "toy: a.study: "));
    g_assert_cmpuint(n_files("a.study."), ==, 0);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    expect_same_export("a.study", reference);
    g_auto(Outcome) out = run_shell("\"$TOY_MAIN\" export a.study > /dev/full");
    g_assert_cmpint(out.status, ==, 1);
    g_assert_cmpstr(out.err, ==, "toy: standard output: No space left on device\n");
}

static void
test_removed_folder(void)
{
    GSubprocess *process;

    toy_write("a.scenario", SLOW);
    process = cli_spawn("sweep a.scenario --study out/a.study -q -j 1", NULL);
    while (!g_file_test("out/a.study", G_FILE_TEST_EXISTS) ||
           ask("out/a.study", "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'run'") == 0 ||
           ask("out/a.study", "SELECT COUNT(*) FROM run") < 2)
        g_usleep(1000);
    g_assert_cmpint(g_rename("out", "gone"), ==, 0);
    g_auto(Outcome) outcome = cli_finish(process);
    g_assert_cmpint(outcome.status, ==, 1);
    g_assert_nonnull(strstr(outcome.err, "out/a.study: "));
}

/* Titles, words and variants come out as they went in, harmless to SQL, CSV and JSON. */
static void
test_hostile_names(void)
{
    toy_write("a.scenario",
              "[scenario]\ntitle=a\"; system(\"x\")\nquestion='); DROP TABLE run; --\n[run]\nduration=1 ms\n"
              "[sweep]\ntoy.site='\\; drop table run\\; --; <script>alert(1)</script>; a\"\\; system(\"x\"), "
              "b\n");
    cli_expect("sweep a.scenario --study \"it's; a.study\" -q", 0, "", "");
    cli_expect("export \"it's; a.study\" --table points --format csv", 0,
               "point,label,variant,toy.site\n"
               "1,\"base, toy.site = '; drop table run; --\",base,'; drop table run; --\n"
               "2,\"base, toy.site = <script>alert(1)</script>\",base,<script>alert(1)</script>\n"
               "3,\"base, toy.site = a\"\"; system(\"\"x\"\"), b\",base,\"a\"\"; system(\"\"x\"\"), b\"\n",
               "");
    cli_expect(
        "export \"it's; a.study\" --table points --format jsonl", 0,
        "{\"point\":1,\"label\":\"base, toy.site = '; drop table run; --\",\"variant\":\"base\",\"toy.site\":\"'; "
        "drop table run; --\"}\n"
        "{\"point\":2,\"label\":\"base, toy.site = \\u003cscript>alert(1)\\u003c/script>\",\"variant\":\"base\","
        "\"toy.site\":\"\\u003cscript>alert(1)\\u003c/script>\"}\n"
        "{\"point\":3,\"label\":\"base, toy.site = a\\\"; system(\\\"x\\\"), b\",\"variant\":\"base\",\"toy.site\":"
        "\"a\\\"; system(\\\"x\\\"), b\"}\n",
        "");
    cli_expect("merge \"x'; y.study\" \"it's; a.study\"", 0, "x'; y.study: 3 runs added, 3 of 3 there\n", "");
    g_assert_cmpint(ask("x'; y.study", "SELECT COUNT(*) FROM run"), ==, 3);
}

/* Of a single CPU the toy does not know whether it settles. */
static void
test_untrusted(void)
{
    toy_write("u.scenario",
              "[run]\nduration=1 ms\nreplications=3\n[toy]\ndrift_from=1\ntables=false\n[sweep]\ntoy.cpus=1;2;4\n");
    cli_expect("sweep u.scenario --study u.study -q", 0,
               "is_settled is not 1 in 4 of 9 runs (export names them): prolong run.warmup or run.duration\n"
               "is_settled is not known in 3 of 9 runs, for want of samples (run.sample_interval, run.duration)\n",
               "");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/sweep/workers", test_workers);
    toy_add_test("/sweep/same-as-run", test_same_as_run);
    toy_add_test("/sweep/kill-and-resume", test_kill_and_resume);
    toy_add_test("/sweep/interrupt", test_interrupt);
    toy_add_test("/sweep/two-writers", test_two_writers);
    toy_add_test("/sweep/makers", test_makers);
    toy_add_test("/sweep/shards", test_shards);
    toy_add_test("/sweep/shards-precision", test_shards_precision);
    toy_add_test("/sweep/bad-shards", test_bad_shards);
    toy_add_test("/sweep/extend", test_extend);
    toy_add_test("/sweep/new-words", test_new_words);
    toy_add_test("/sweep/refused", test_refused);
    toy_add_test("/sweep/failing-runs", test_failing_runs);
    toy_add_test("/sweep/bad-files", test_bad_files);
    toy_add_test("/sweep/damaged-bytes", test_damaged_bytes);
    toy_add_test("/sweep/locked", test_locked);
    toy_add_test("/sweep/full-disk", test_full_disk);
    toy_add_test("/sweep/removed-folder", test_removed_folder);
    toy_add_test("/sweep/hostile-names", test_hostile_names);
    toy_add_test("/sweep/untrusted", test_untrusted);
    return g_test_run();
}
