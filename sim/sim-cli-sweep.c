/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-campaign.h"
#include "sim-export.h"
#include "sim-probe.h"
#include "sim-runner.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Beyond so many points, a sweep wants to be asked for twice. */
#define ASK_POINTS 1000
#define PROBE_POINTS 4
#define PROBE_BUDGET_S 5

typedef struct {
    char **sets;
    char *study, *shard, *format, *table, *out;
    int n_workers;
    gboolean quiet, yes, extend, skip_refused, no_probe;
} SweepOptions;

static void
sweep_options_clear(SweepOptions *options)
{
    g_strfreev(options->sets);
    g_free(options->study);
    g_free(options->shard);
    g_free(options->format);
    g_free(options->table);
    g_free(options->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SweepOptions, sweep_options_clear)

/* "3 h 12 min", "4.1 s"; caller frees. */
static char *
format_span(double seconds)
{
    if (seconds < 60)
        return g_strdup_printf("%.2g s", seconds);
    if (seconds < 3600)
        return g_strdup_printf("%.0f min", seconds / 60);
    if (seconds < 48 * 3600)
        return g_strdup_printf("%d h %d min", (int) (seconds / 3600), (int) (seconds / 60) % 60);
    return g_strdup_printf("%.1f days", seconds / 86400);
}

static SimDesign *
load_design(const SimCli *cli, const char *word, const SweepOptions *options, char **ret_text, GError **error)
{
    g_autofree char *path = sim_cli_find_scenario(cli, word, error);
    g_autofree char *text = NULL;
    g_autoptr(GError) inner = NULL;
    SimDesign *design;

    if (path == NULL)
        return NULL;
    design =
        sim_design_load(cli->experiment->schema, path, (const char *const *) options->sets, cli->experiment, error);
    if (design == NULL || ret_text == NULL)
        return design;
    if (!g_file_get_contents(path, &text, NULL, &inner)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, inner->message);
        sim_design_free(design);
        return NULL;
    }
    *ret_text = g_steal_pointer(&text);
    return design;
}

/* ---- plan */

typedef struct {
    guint n_good, n_refused;
    guint64 n_runs, n_least_runs; /* they differ with sequential stopping */
} Count;

static void
count_runs(Count *count, const SimConfig *config)
{
    guint n_starts = g_strv_length((char **) sim_config_list(config, "run", "starts"));
    guint64 n = (guint64) sim_config_int(config, "run", "replications");
    gboolean is_sequential = sim_config_is_given(config, "run", "precision");

    count->n_good++;
    count->n_runs += n_starts * n;
    count->n_least_runs += n_starts * (is_sequential ? MIN(n, SIM_RUNNER_MIN_REPLICATIONS) : n);
}

static Count
print_points(SimDesign *design)
{
    Count count = {0};

    for (guint point = 0; point < sim_design_n_points(design); point++) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(SimConfig) config = sim_design_resolve(design, point, &problem);
        g_autofree char *label = sim_design_label(design, point);
        if (config != NULL) {
            count_runs(&count, config);
            printf("%6u  %s\n", point + 1, label);
        } else {
            count.n_refused++;
            printf("%6u  %s: refused: %s\n", point + 1, label, problem->message);
        }
    }
    return count;
}

static gboolean
print_estimate(const SimCli *cli, SimDesign *design, const Count *count, int n_workers, GError **error)
{
    SimProbe probe;
    g_autofree char *least = NULL, *most = NULL, *quick = NULL, *slow = NULL;
    double n_parallel = MIN((guint) n_workers, g_get_num_processors());

    if (!sim_probe(design, cli->experiment, PROBE_POINTS, PROBE_BUDGET_S, sim_cli_catch_signals(), &probe, error))
        return FALSE;
    least = format_span(probe.mean_s * (double) count->n_least_runs / n_parallel);
    most = format_span(probe.mean_s * (double) count->n_runs / n_parallel);
    quick = format_span(probe.least_s);
    slow = format_span(probe.most_s);
    printf("time: %s%s", probe.was_cut ? "more than " : "about ", least);
    if (count->n_least_runs < count->n_runs)
        printf(" to %s, as precision asks", most);
    printf(" with -j %d, from %u timed run%s of %s to %s%s\n", n_workers, probe.n_timed, probe.n_timed == 1 ? "" : "s",
           quick, slow, probe.was_cut ? " (cut off)" : "");
    return TRUE;
}

int
sim_cli_plan(const SimCli *cli, int argc, char **argv)
{
    g_auto(SweepOptions) options = {.n_workers = (int) g_get_num_processors()};
    g_auto(GStrv) words = NULL, line = sim_cli_split_jobs(argc, argv);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimDesign) design = NULL;
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.sets, "Give a key another value; may be repeated",
         "GROUP.KEY=VALUE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options.n_workers, "Runs at the same time, for the estimate", "N"},
        {"no-probe", 0, 0, G_OPTION_ARG_NONE, &options.no_probe, "Do not time a few runs", NULL},
        {"skip-refused", 0, 0, G_OPTION_ARG_NONE, &options.skip_refused, "Refused points are no failure", NULL},
        {NULL}};
    Count count;

    if (!sim_cli_parse(cli, line, entries, "FILE|NAME",
                       "Prints the points of a sweep, those that are refused with the reason, how many runs they are\n"
                       "and about how long they will take.",
                       1, 1, &words, &error) ||
        !sim_cli_check_jobs("plan", options.n_workers, &error))
        return sim_cli_fail(cli, error);
    design = load_design(cli, words[0], &options, NULL, &error);
    if (design == NULL)
        return sim_cli_fail(cli, error);
    count = print_points(design);
    printf("points: %u", count.n_good);
    if (count.n_refused > 0)
        printf(", and %u refused", count.n_refused);
    printf("\nruns: %" G_GUINT64_FORMAT, count.n_least_runs);
    if (count.n_least_runs < count.n_runs)
        printf(" to %" G_GUINT64_FORMAT, count.n_runs);
    printf("\n");
    if (count.n_good > ASK_POINTS)
        printf("more than %d points: sweep will ask for --yes\n", ASK_POINTS);
    if (count.n_good > 0 && !options.no_probe && !print_estimate(cli, design, &count, options.n_workers, &error))
        return sim_cli_fail(cli, error);
    return count.n_refused > 0 && !options.skip_refused ? 2 : 0;
}

/* ---- sweep */

typedef struct {
    gboolean on_terminal;
    gint64 started_us, last_us;
    guint64 n_last;   /* own runs at last_us */
    double s_per_run; /* of late: the mean over all would promise too much where large points come last */
    int last_tenth;
} Progress;

/* About so many runs make up "of late". */
#define PACE_RUNS 30.0

static void
take_pace(Progress *progress, const SimCampaignProgress *now)
{
    gint64 time_us = g_get_monotonic_time();
    double n = (double) (now->n_own_runs - progress->n_last), weight = exp(-n / PACE_RUNS);

    if (n == 0)
        return;
    if (progress->n_last == 0)
        weight = 0;
    progress->s_per_run =
        weight * progress->s_per_run + (1 - weight) * (double) (time_us - progress->last_us) / G_USEC_PER_SEC / n;
    progress->last_us = time_us;
    progress->n_last = now->n_own_runs;
}

static void
print_rates(const Progress *progress, const SimCampaignProgress *now)
{
    double elapsed_s = (double) (progress->last_us - progress->started_us) / G_USEC_PER_SEC;
    guint64 n_left = now->n_runs_wanted - now->n_runs_done;

    if (now->n_own_runs == 0 || elapsed_s <= 0)
        return;
    if (now->n_own_events > 0)
        fprintf(stderr, ", %.3g M events/s", now->n_own_events / elapsed_s / 1e6);
    if (n_left > 0) {
        g_autofree char *left = format_span(progress->s_per_run * (double) n_left);
        fprintf(stderr, ", %s left at this pace", left);
    }
}

static void
show_progress(const SimCampaignProgress *now, gpointer data)
{
    Progress *progress = data;
    int tenth = now->n_runs_wanted > 0 ? (int) (now->n_runs_done * 10 / now->n_runs_wanted) : 10;

    take_pace(progress, now);
    if (!progress->on_terminal && tenth <= progress->last_tenth)
        return;
    progress->last_tenth = tenth;
    fprintf(stderr, "%s%u of %u points, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " runs",
            progress->on_terminal ? "\r" : "", now->n_points_done, now->n_points, now->n_runs_done, now->n_runs_wanted);
    print_rates(progress, now);
    fputs(progress->on_terminal ? now->n_runs_done < now->n_runs_wanted ? "\033[K" : "\033[K\n" : "\n", stderr);
    fflush(stderr);
}

/* "2/4" */
static gboolean
parse_shard(const char *text, guint *ret_shard, guint *ret_n_shards, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, "/", -1);
    guint64 shard, n_shards;

    if (g_strv_length(parts) == 2 && g_ascii_string_to_unsigned(parts[0], 10, 1, 100000, &shard, NULL) &&
        g_ascii_string_to_unsigned(parts[1], 10, 1, 100000, &n_shards, NULL) && shard <= n_shards) {
        *ret_shard = (guint) shard;
        *ret_n_shards = (guint) n_shards;
        return TRUE;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "--shard %s: not understood (allowed: K/N with K from 1 to N)",
                text);
    return FALSE;
}

static gboolean
parse_sweep(const SimCli *cli, int argc, char **argv, SweepOptions *options, char ***ret_words, GError **error)
{
    const GOptionEntry entries[] = {
        {"study", 0, 0, G_OPTION_ARG_FILENAME, &options->study, "The study (default: results/SCENARIO.study)", "FILE"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "Give a key another value; may be repeated",
         "GROUP.KEY=VALUE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options->n_workers, "Runs at the same time (default: one a processor)",
         "N"},
        {"shard", 0, 0, G_OPTION_ARG_STRING, &options->shard, "Run the K-th of N parts, for merge", "K/N"},
        {"extend", 0, 0, G_OPTION_ARG_NONE, &options->extend,
         "The scenario has changed: keep what still belongs, add what is new", NULL},
        {"skip-refused", 0, 0, G_OPTION_ARG_NONE, &options->skip_refused, "Leave out points that are refused", NULL},
        {"yes", 0, 0, G_OPTION_ARG_NONE, &options->yes, "Run more than " G_STRINGIFY(ASK_POINTS) " points", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress on standard error", NULL},
        {NULL}};
    g_auto(GStrv) line = sim_cli_split_jobs(argc, argv);

    options->n_workers = (int) g_get_num_processors();
    return sim_cli_parse(
               cli, line, entries, "FILE|NAME",
               "Runs every point of a scenario into a study file. What is in it already is not run again, so\n"
               "the same command goes on after an interruption, and several may work on one study at once.",
               1, 1, ret_words, error) &&
           sim_cli_check_jobs("sweep", options->n_workers, error);
}

typedef struct {
    SimDesign *design;
    SimStudyPlan plan;
} Filling;

static gboolean
put_design(SimStudy *study, gpointer data, GError **error)
{
    const Filling *filling = data;

    return sim_study_put_design(study, filling->design, &filling->plan, error);
}

static SimStudy *
open_study(const SimCli *cli, SimDesign *design, const char *text, const SweepOptions *options, GError **error)
{
    Filling filling = {.design = design,
                       .plan = {.experiment = cli->experiment,
                                .scenario_text = text,
                                .shard = 1,
                                .n_shards = 1,
                                .may_extend = options->extend,
                                .skip_refused = options->skip_refused}};
    g_autofree char *name = g_strconcat(sim_design_name(design), ".study", NULL);
    g_autofree char *path = options->study != NULL ? g_strdup(options->study) : g_build_filename("results", name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);

    if (options->shard != NULL && !parse_shard(options->shard, &filling.plan.shard, &filling.plan.n_shards, error))
        return NULL;
    if (g_mkdir_with_parents(folder, 0777) != 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: no folder for the study: %s", folder, g_strerror(errno));
        return NULL;
    }
    return sim_study_fill(path, put_design, &filling, error);
}

/* A study has too many points to name those that are not to be trusted; it can be asked for them. */
static gboolean
print_untrusted(SimStudy *study, const char *metric, GError **error)
{
    guint64 n, n_off, n_unknown;

    if (metric == NULL)
        return TRUE;
    if (!sim_study_count_flag(study, metric, &n, &n_off, &n_unknown, error))
        return FALSE;
    if (n_off > 0)
        printf("%s is not 1 in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
               " runs (export names them): prolong run.warmup or run.duration\n",
               metric, n_off, n);
    if (n_unknown > 0)
        printf("%s is not known in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
               " runs, for want of samples (run.sample_interval, run.duration)\n",
               metric, n_unknown, n);
    return TRUE;
}

static gboolean
run_sweep(const SimCli *cli, SimDesign *design, const char *text, const SweepOptions *options, GError **error)
{
    g_autoptr(SimStudy) study = open_study(cli, design, text, options, error);
    gint64 now_us = g_get_monotonic_time();
    Progress progress = {
        .on_terminal = isatty(STDERR_FILENO), .started_us = now_us, .last_us = now_us, .last_tenth = -1};
    const SimCampaignOptions campaign = {.n_workers = (guint) options->n_workers,
                                         .interrupt = sim_cli_catch_signals(),
                                         .progress = options->quiet ? NULL : show_progress,
                                         .data = &progress};
    g_autoptr(SimTable) refused = study != NULL ? sim_study_refused(study, error) : NULL;

    if (refused == NULL)
        return FALSE;
    for (guint i = 0; i < sim_table_n_rows(refused); i++)
        fprintf(stderr, "left out: %s: %s\n", sim_table_cell(refused, i, 0), sim_table_cell(refused, i, 1));
    return sim_campaign_run(study, design, cli->experiment, &campaign, error) &&
           print_untrusted(study, cli->experiment->trust_metric, error);
}

int
sim_cli_sweep(const SimCli *cli, int argc, char **argv)
{
    g_auto(SweepOptions) options = {0};
    g_auto(GStrv) words = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimDesign) design = NULL;

    if (!parse_sweep(cli, argc, argv, &options, &words, &error))
        return sim_cli_fail(cli, error);
    design = load_design(cli, words[0], &options, &text, &error);
    if (design == NULL)
        return sim_cli_fail(cli, error);
    if (sim_design_n_points(design) > ASK_POINTS && !options.yes) {
        g_set_error(&error, SIM_ERROR, SIM_ERROR_RANGE,
                    "%s: %u points are more than %d: look at `%s plan`, then use --yes", words[0],
                    sim_design_n_points(design), ASK_POINTS, cli->experiment->program);
        return sim_cli_fail(cli, error);
    }
    return run_sweep(cli, design, text, &options, &error) ? 0 : sim_cli_fail(cli, error);
}

/* ---- merge */

typedef struct {
    const char *const *shards;
    guint64 n_added;
} Merge;

static gboolean
merge(SimStudy *out, gpointer data, GError **error)
{
    Merge *merge = data;
    guint64 n_added;

    if (!sim_study_merge(out, merge->shards, &n_added, error))
        return FALSE;
    merge->n_added += n_added;
    return TRUE;
}

int
sim_cli_merge(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimStudy) out = NULL;
    Merge merging = {0};
    guint64 n_done, n_wanted;

    if (!sim_cli_parse(
            cli, argv, NULL, "OUT SHARD...",
            "Joins the studies that sweep --shard K/N has written into one. They must be of one scenario and\n"
            "one version of the program; joining a shard again changes nothing.",
            2, G_MAXUINT, &words, &error))
        return sim_cli_fail(cli, error);
    merging.shards = (const char *const *) words + 1;
    out = sim_study_fill(words[0], merge, &merging, &error);
    if (out == NULL || !sim_study_count(out, &n_done, &n_wanted, &error))
        return sim_cli_fail(cli, error);
    printf("%s: %" G_GUINT64_FORMAT " runs added, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " there\n", words[0],
           merging.n_added, n_done, n_wanted);
    return 0;
}

/* ---- export */

/* Into a temporary file beside the target, then over it, so that it is whole or the old one. */
static gboolean
export_to_file(SimStudy *study, const char *table, SimExportFormat format, const char *path, GError **error)
{
    g_autofree char *draft = g_strconcat(path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(draft, O_WRONLY | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    gboolean ok;

    if (out == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return FALSE;
    }
    ok = sim_export_write(study, table, format, out, error);
    if ((fclose(out) != 0 || (ok && g_rename(draft, path) != 0)) && ok) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        ok = FALSE;
    }
    if (!ok)
        g_unlink(draft);
    return ok;
}

int
sim_cli_export(const SimCli *cli, int argc, char **argv)
{
    g_auto(SweepOptions) options = {0};
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimStudy) study = NULL;
    SimExportFormat format = SIM_EXPORT_TSV;
    const GOptionEntry entries[] = {
        {"table", 0, 0, G_OPTION_ARG_STRING, &options.table,
         "metrics (the default), summary, points, refused, or a table of the runs", "NAME"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &options.format, "tsv (the default), csv or jsonl", "WORD"},
        {"out", 0, 0, G_OPTION_ARG_FILENAME, &options.out, "Write a file instead of standard output", "FILE"},
        {NULL}};
    const char *table;
    gboolean ok;

    if (!sim_cli_parse(cli, argv, entries, "STUDY", "Writes one table of a study as text.", 1, 1, &words, &error) ||
        (options.format != NULL && !sim_export_parse_format(options.format, &format, &error)))
        return sim_cli_fail(cli, error);
    study = sim_study_open(words[0], SIM_STUDY_READ, &error);
    if (study == NULL)
        return sim_cli_fail(cli, error);
    table = options.table != NULL ? options.table : "metrics";
    ok = options.out != NULL ? export_to_file(study, table, format, options.out, &error)
                             : sim_export_write(study, table, format, stdout, &error);
    /* What is wrong with standard output is said, or not, at the end of the program. */
    if (!ok && options.out == NULL && ferror(stdout))
        return 1;
    return ok ? 0 : sim_cli_fail(cli, error);
}
