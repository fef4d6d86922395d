/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-about.h"
#include "sim-chart.h"
#include "sim-result.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define N_KEY_METRICS 6
#define CHARTS "charts"

static gint interrupted;

static void
on_signal(int number)
{
    g_atomic_int_set(&interrupted, 1);
}

/* Signals ask for a clean end, also when they come twice, as they do when a wrapper passes one on that the terminal has
 * sent to all. What the caller ignores (nohup) stays ignored. */
const gint *
sim_cli_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
        sigemptyset(&action.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    return &interrupted;
}

typedef struct {
    gboolean on_terminal;
    gint64 started_us;
    guint last_tenth;
} Progress;

static void
show_progress(guint n_done, guint n_total, gpointer data)
{
    Progress *progress = data;
    double elapsed_s = (double) (g_get_monotonic_time() - progress->started_us) / G_USEC_PER_SEC;

    if (progress->on_terminal) {
        fprintf(stderr, "\r%u of %u runs", n_done, n_total);
        if (n_done > 0 && n_done < n_total)
            fprintf(stderr, ", about %.0f s left", elapsed_s / n_done * (n_total - n_done));
        fputs(n_done < n_total ? "\033[K" : "\r\033[K", stderr);
        fflush(stderr);
    } else if (n_done == 0 || n_done * 10 / n_total > progress->last_tenth) {
        progress->last_tenth = n_done * 10 / n_total;
        fprintf(stderr, "%u of %u runs\n", n_done, n_total);
    }
}

typedef struct {
    char **sets;
    char *out, *seed, *replications;
    int n_workers;
    gboolean quiet, no_charts;
} RunOptions;

static void
run_options_clear(RunOptions *options)
{
    g_strfreev(options->sets);
    g_free(options->out);
    g_free(options->seed);
    g_free(options->replications);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunOptions, run_options_clear)

GStrv
sim_cli_split_jobs(int argc, char **argv)
{
    GPtrArray *words = g_ptr_array_new();

    for (int i = 0; i < argc; i++) {
        gboolean is_joined = g_str_has_prefix(argv[i], "-j") && g_ascii_isdigit(argv[i][2]);
        if (is_joined)
            g_ptr_array_add(words, g_strdup("-j"));
        g_ptr_array_add(words, g_strdup(argv[i] + (is_joined ? 2 : 0)));
    }
    g_ptr_array_add(words, NULL);
    return (GStrv) g_ptr_array_free(words, FALSE);
}

gboolean
sim_cli_check_jobs(const char *command, int n_workers, GError **error)
{
    if (n_workers >= 1 && n_workers <= 4096)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "%s: -j %d: must lie between 1 and 4096", command, n_workers);
    return FALSE;
}

static gboolean
parse_run(const SimCli *cli, int argc, char **argv, RunOptions *options, char ***ret_words, GError **error)
{
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "Give a key another value; may be repeated",
         "GROUP.KEY=VALUE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options->n_workers, "Runs at the same time (default: one a processor)",
         "N"},
        {"out", 0, 0, G_OPTION_ARG_FILENAME, &options->out, "Result folder (default: results/SCENARIO)", "DIR"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &options->seed, "The same as --set run.seed=N", "N"},
        {"replications", 0, 0, G_OPTION_ARG_STRING, &options->replications, "The same as --set run.replications=N",
         "N"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress on standard error", NULL},
        {"no-charts", 0, 0, G_OPTION_ARG_NONE, &options->no_charts, "Do not call gnuplot", NULL},
        {NULL}};
    g_auto(GStrv) line = sim_cli_split_jobs(argc, argv);

    options->n_workers = (int) g_get_num_processors();
    return sim_cli_parse(cli, line, entries, "FILE|NAME",
                         "Runs every point of a scenario, prints the key metrics and writes a result folder.", 1, 1,
                         ret_words, error) &&
           sim_cli_check_jobs("run", options->n_workers, error);
}

/* --seed and --replications are short names; given after --set, they win. Caller frees. */
static GStrv
all_sets(const RunOptions *options)
{
    GPtrArray *sets = g_ptr_array_new();

    for (char **set = options->sets; set != NULL && *set != NULL; set++)
        g_ptr_array_add(sets, g_strdup(*set));
    if (options->seed != NULL)
        g_ptr_array_add(sets, g_strconcat("run.seed=", options->seed, NULL));
    if (options->replications != NULL)
        g_ptr_array_add(sets, g_strconcat("run.replications=", options->replications, NULL));
    g_ptr_array_add(sets, NULL);
    return (GStrv) g_ptr_array_free(sets, FALSE);
}

static void
print_results(const SimRuns *runs, const SimTable *comparison, const char *folder)
{
    g_autofree char *points = sim_runs_summary_text(runs, N_KEY_METRICS), *untrusted = sim_runs_untrusted_text(runs);

    fputs(points, stdout);
    if (comparison != NULL) {
        g_autofree char *figures = sim_compare_to_text(comparison);
        printf("\nPublished and simulated:\n%s", figures);
    }
    if (untrusted != NULL)
        printf("\n%s\n", untrusted);
    printf("\nResults: %s\n", folder);
}

/* Charts go into the draft with the rest. A failure leaves them out: the numbers are what hours were spent on. */
static gboolean
draw_into_draft(const SimCli *cli, const SimFolder *folder, char **ret_refused, GError **error)
{
    g_autofree char *charts = g_build_filename(folder->draft, CHARTS, NULL);
    g_autofree char *scripts = sim_cli_scripts_folder(cli);
    guint n_charts;

    if (g_mkdir(charts, 0777) == 0 &&
        sim_chart_draw(folder->draft, scripts, charts, &interrupted, &n_charts, ret_refused, error))
        return TRUE;
    sim_folder_remove(charts);
    return FALSE;
}

/* The other charts are there, so this is no wrong scenario but an incomplete success. */
static int
report_refused(const SimCli *cli, const char *refused)
{
    if (refused == NULL)
        return 0;
    fprintf(stderr, "%s: not drawn: %s\n", cli->experiment->program, refused);
    return 1;
}

static SimRuns *
run_plan(const SimCli *cli, const SimPlan *plan, const RunOptions *options, GError **error)
{
    Progress progress = {.on_terminal = isatty(STDERR_FILENO), .started_us = g_get_monotonic_time()};
    SimRunnerOptions runner = {.n_workers = (guint) options->n_workers,
                               .interrupt = &interrupted,
                               .progress = options->quiet ? NULL : show_progress,
                               .data = &progress};

    return sim_runner_run(cli->experiment, plan, &runner, error);
}

static int
run_study(const SimCli *cli, const SimPlan *plan, const SimTable *published, const RunOptions *options)
{
    g_autoptr(GError) error = NULL, chart_error = NULL;
    g_autofree char *refused = NULL;
    g_autofree char *target =
        options->out != NULL ? g_strdup(options->out) : g_build_filename("results", sim_plan_name(plan), NULL);
    g_autoptr(SimFolder) folder = sim_result_begin(target, &error);
    g_autoptr(SimRuns) runs = folder != NULL ? run_plan(cli, plan, options, &error) : NULL;
    g_autoptr(SimTable) comparison = runs != NULL && published != NULL ? sim_compare(published, runs) : NULL;

    if (runs == NULL || !sim_result_write(folder, cli->experiment, runs, comparison, &error))
        return sim_cli_fail(cli, error);
    if (!options->no_charts && !draw_into_draft(cli, folder, &refused, &chart_error))
        g_prefix_error(&chart_error, "the numbers are complete in %s, the charts are not: ", target);
    if (!sim_folder_commit(folder, &error))
        return sim_cli_fail(cli, error);
    print_results(runs, comparison, target);
    return chart_error != NULL ? sim_cli_fail(cli, chart_error) : report_refused(cli, refused);
}

int
sim_cli_run(const SimCli *cli, int argc, char **argv)
{
    g_auto(RunOptions) options = {0};
    g_auto(GStrv) words = NULL, sets = NULL;
    g_autoptr(SimPlan) plan = NULL;
    g_autoptr(SimTable) published = NULL;
    g_autoptr(GError) error = NULL;

    if (!parse_run(cli, argc, argv, &options, &words, &error))
        return sim_cli_fail(cli, error);
    sets = all_sets(&options);
    if (!sim_cli_load(cli, words[0], (const char *const *) sets, &plan, &published, &error))
        return sim_cli_fail(cli, error);
    if (sim_plan_n_axes(plan) > 1) {
        g_set_error(
            &error, SIM_ERROR, SIM_ERROR_MODEL,
            "%s has %u axes, and a result folder holds one at most: use sweep --study FILE, or --set all but one",
            words[0], sim_plan_n_axes(plan));
        return sim_cli_fail(cli, error);
    }
    sim_cli_catch_signals();
    return run_study(cli, plan, published, &options);
}

int
sim_cli_plot(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimAbout) about = NULL;
    g_autoptr(SimFolder) folder = NULL;
    g_autofree char *charts = NULL, *refused = NULL, *scripts = sim_cli_scripts_folder(cli);
    guint n_charts;

    if (!sim_cli_parse(cli, argv, NULL, "STUDY|DIR",
                       "Draws the charts of a result folder anew, from its files, into DIR/" CHARTS ";\n"
                       "those of a study into a folder NAME." CHARTS " beside it.",
                       1, 1, &words, &error))
        return sim_cli_fail(cli, error);
    about = sim_about_read(words[0], &error);
    if (about == NULL)
        return sim_cli_fail(cli, error);
    sim_cli_catch_signals();
    charts = about->is_study ? sim_cli_beside(words[0], "." CHARTS) : g_build_filename(words[0], CHARTS, NULL);
    folder = sim_folder_begin(charts, &error);
    if (folder == NULL ||
        !sim_chart_draw(words[0], scripts, folder->draft, &interrupted, &n_charts, &refused, &error) ||
        !sim_folder_commit(folder, &error))
        return sim_cli_fail(cli, error);
    printf("%u chart%s in %s\n", n_charts, n_charts == 1 ? "" : "s", charts);
    return report_refused(cli, refused);
}
