/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program itself on the shipped scenarios. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
    char *out, *err;
    int status;
} Outcome;

static void
outcome_clear(Outcome *outcome)
{
    g_free(outcome->out);
    g_free(outcome->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

/* `line` is split at blanks; the folder of results is the current one. */
static Outcome
run(const char *program, const char *line)
{
    g_autofree char *command = g_strdup_printf("%s %s", g_getenv(program), line);
    g_auto(GStrv) argv = g_strsplit(command, " ", 0);
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) child = g_subprocess_newv(
        (const char *const *) argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    Outcome outcome = {0};

    g_assert_no_error(error);
    g_subprocess_communicate_utf8(child, NULL, NULL, &outcome.out, &outcome.err, &error);
    g_assert_no_error(error);
    outcome.status = g_subprocess_get_exit_status(child);
    return outcome;
}

static void
expect_ok(const char *program, const char *line)
{
    g_auto(Outcome) outcome = run(program, line);

    g_assert_cmpstr(outcome.err, ==, "");
    g_assert_cmpint(outcome.status, ==, 0);
}

static void
assert_equal_files(const char *a, const char *b, const char *name)
{
    g_autofree char *path_a = g_build_filename(a, name, NULL), *path_b = g_build_filename(b, name, NULL);
    g_autofree char *text_a = NULL, *text_b = NULL;
    gsize n_a, n_b;

    g_assert_true(g_file_get_contents(path_a, &text_a, &n_a, NULL));
    g_assert_true(g_file_get_contents(path_b, &text_b, &n_b, NULL));
    g_assert_cmpmem(text_a, n_a, text_b, n_b);
}

static void
assert_equal_folders(const char *a, const char *b)
{
    g_autoptr(GDir) dir = g_dir_open(a, 0, NULL);
    const char *name;
    guint n = 0;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(a, name, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            continue;
        assert_equal_files(a, b, name);
        n++;
    }
    g_assert_cmpuint(n, >=, 7);
}

#define SHORT "--quiet --no-charts --set run.warmup=2ms --set run.duration=3ms"

/* Queueing every operation changes nothing, and neither does the number of jobs. */
static void
test_run_ahead(gconstpointer scenario)
{
    g_autofree char *inline_run = g_strdup_printf("run %s " SHORT " -j 2 --out ahead", (const char *) scenario);
    g_autofree char *serial_run = g_strdup_printf("run %s " SHORT " -j 1 --out serial", (const char *) scenario);
    g_autofree char *queued_run = g_strdup_printf("run %s " SHORT " -j 2 --out queued", (const char *) scenario);

    expect_ok("SLUBSIM", inline_run);
    expect_ok("SLUBSIM", serial_run);
    expect_ok("SLUBSIM_QUEUED", queued_run);
    assert_equal_folders("ahead", "serial");
    assert_equal_folders("ahead", "queued");
}

static void
test_check_all(void)
{
    g_autoptr(GDir) dir = g_dir_open(g_getenv("SLUBSIM_SCENARIOS"), 0, NULL);
    const char *name;
    guint n = 0;

    while ((name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".scenario")) {
            g_autofree char *line = g_strdup_printf("check %s/%s", g_getenv("SLUBSIM_SCENARIOS"), name);
            expect_ok("SLUBSIM", line);
            n++;
        }
    g_assert_cmpuint(n, >=, 5);
}

typedef struct
{
    const char *set;     /* GROUP.KEY=VALUE */
    const char *message; /* a part of the one line on stderr */
} BadInput;

static const BadInput bad_inputs[] = {
    {"machine.sockets=0", "[machine] sockets = 0"},
    {"machine.cores_per_l3=5000", "cores_per_l3"},
    {"machine.cores_per_l3=4096", "(allowed: up to 4096)"},
    {"machine.memoryless_nodes=0;1", "no node with memory is left"},
    {"machine.nodes_per_socket=0", "1 domains of the one node cannot be shared out among 2 sockets"},
    {"machine.memoryless_nodes=7", "is not a node (allowed: 0 to 1)"},
    {"machine.page_size=5K", "no such page size"},
    {"machine.possible_cpus=3", "fewer than the machine's CPUs (allowed: from 16)"},
    {"machine.tick=1", "unit"},
    {"kernel.version=7.9", "no allocator is modelled"},
    {"kernel.version=penguin", "not a release"},
    {"slub.max_partial=2", "below slub.min_partial"},
    {"slub.max_order=11", "max_order"},
    {"workload.processes=17", "more processes than CPUs"},
    {"costs.line_own=1s", "line_own"},
    {"run.duration=-1ms", "duration"},
    {"run.sample_interval=1ps", "samples in a run (allowed: up to 100000)"},
};

static void
test_bad_inputs(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(bad_inputs); i++) {
        g_autofree char *line = g_strdup_printf("run %s/bad.scenario --no-charts --out bad --set %s", ".",
                                                bad_inputs[i].set);
        g_auto(Outcome) outcome = run("SLUBSIM", line);
        const char *end = strchr(outcome.err, '\n');

        g_test_message("%s -> %s", bad_inputs[i].set, outcome.err);
        g_assert_cmpint(outcome.status, ==, 2);
        g_assert_nonnull(strstr(outcome.err, bad_inputs[i].message));
        g_assert_true(end && end[1] == '\0');
        g_assert_false(g_file_test("bad", G_FILE_TEST_EXISTS));
    }
}

static void
test_order_too_small(void)
{
    g_auto(Outcome) outcome = {0};

    g_assert_true(g_file_set_contents("big.scenario",
                                      "[machine]\nsockets = 2\ncores_per_l3 = 8\n[cache maple_node]\n"
                                      "object_size = 32K\norder = 2\n[workload]\ntype = mmap1\n[run]\nduration = 1 ms\n",
                                      -1, NULL));
    outcome = run("SLUBSIM", "check big.scenario");
    g_assert_cmpint(outcome.status, ==, 2);
    g_assert_nonnull(strstr(outcome.err, "order"));
}

/* Keys of the other workloads are left out. */
static void
test_show_workload(void)
{
    g_auto(Outcome) outcome = run("SLUBSIM", "show mmap1-small"), all = run("SLUBSIM", "show mmap1-small --all");

    g_assert_nonnull(strstr(outcome.out, "\niteration_compute = "));
    g_assert_nonnull(strstr(outcome.out, "\nmax_order = "));
    g_assert_null(strstr(outcome.out, "\nfds = "));
    g_assert_nonnull(strstr(all.out, "\nfds = "));
}

/* Metrics and columns are explained where the results are; a scenario of each workload, and sheaves. */
static void
test_documented(void)
{
    static const char *const scenarios[] = {"mmap1-small",     "hackbench-small", "slab-old-index", "kmalloc-accounted",
                                            "memcg-wml",       "inodes-ext4",     "microbench-exts", "mmap1-turin512",
                                            "open1-hsx144",    "line-pingpong",   "netperf-counters", "churn-stranded",
                                            "partial-count",   "boot-maple"};
    g_autofree char *path = g_build_filename(g_getenv("SLUBSIM_SCENARIOS"), "..", "results", "README.md", NULL);
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(scenarios); i++) {
        g_autofree char *line = g_strdup_printf("run %s --quiet --no-charts --set run.warmup=1ms --set run.duration=1ms "
                                                "--set run.replications=1 --out documented",
                                                scenarios[i]);
        g_autofree char *metrics = NULL;
        g_auto(GStrv) rows = NULL, names = NULL;

        expect_ok("SLUBSIM", line);
        g_assert_true(g_file_get_contents("documented/metrics.tsv", &metrics, NULL, NULL));
        rows = g_strsplit(metrics, "\n", 2);
        names = g_strsplit(rows[0], "\t", -1);
        g_assert_cmpuint(g_strv_length(names), >, 20);
        for (char **name = names; *name; name++) {
            g_autofree char *quoted = g_strdup_printf("`%s`", *name);
            if (strchr(*name, '.')) /* the key of an axis */
                continue;
            g_test_message("%s", *name);
            g_assert_nonnull(strstr(text, quoted));
        }
    }
}

int
main(int argc, char **argv)
{
    g_autofree char *folder = g_dir_make_tmp("slubsim-program-XXXXXX", NULL);
    int status;

    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(g_chdir(folder), ==, 0);
    g_assert_true(g_file_set_contents("bad.scenario",
                                      "[machine]\nsockets = 2\ncores_per_l3 = 8\n[workload]\ntype = mmap1\n"
                                      "[run]\nduration = 1 ms\n",
                                      -1, NULL));
    g_test_add_data_func("/program/run-ahead/mmap1-small", "mmap1-small", test_run_ahead);
    g_test_add_data_func("/program/run-ahead/hackbench-small", "hackbench-small", test_run_ahead);
    g_test_add_data_func("/program/run-ahead/churn", "churn-stranded", test_run_ahead);
    g_test_add_data_func("/program/run-ahead/pipeline", "netperf-counters", test_run_ahead);
    g_test_add_data_func("/program/run-ahead/torture", "locktorture-hsx144", test_run_ahead);
    g_test_add_func("/program/check-all", test_check_all);
    g_test_add_func("/program/show-workload", test_show_workload);
    g_test_add_func("/program/documented", test_documented);
    g_test_add_func("/program/bad-inputs", test_bad_inputs);
    g_test_add_func("/program/order-too-small", test_order_too_small);
    status = g_test_run();
    if (status == 0) {
        g_autofree char *command = g_strdup_printf("rm -rf %s", folder);
        g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL);
    }
    return status;
}
