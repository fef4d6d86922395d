/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-chart.h"
#include "sim-compare.h"
#include "sim-gsl.h"
#include "sim-hint.h"
#include "sim-schema.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SCRIPTS_VARIABLE "SLUBSIM_PLOTS"

typedef struct {
    const char *name, *summary;
    int (*main)(const SimCli *cli, int argc, char **argv);
} Builtin;

static const Builtin builtins[] = {
    {"run", "run a scenario and write a result folder", sim_cli_run},
    {"check", "check scenarios without running them", sim_cli_check},
    {"show", "print every effective value of a scenario and where it comes from", sim_cli_show},
    {"list", "list the shipped scenarios", sim_cli_list},
    {"plan", "print the points of a sweep, their count and an estimate of time", sim_cli_plan},
    {"sweep", "run a scenario into a study file; goes on where it was stopped", sim_cli_sweep},
    {"merge", "join the shards of a study", sim_cli_merge},
    {"export", "write a table of a study as text", sim_cli_export},
    {"query", "ask a study for its best points, its Pareto front or a curve", sim_cli_query},
    {"compare", "which differences between two sets of results are real", sim_cli_compare},
    {"report", "write what a study or result folder answers as one HTML page, or as a mail", sim_cli_report},
    {"plot", "draw the charts of a result folder or a study", sim_cli_plot},
};

char *
sim_cli_beside(const char *path, const char *suffix)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        g_autofree char *folder = g_canonicalize_filename(path, NULL);
        return g_strconcat(folder, suffix, NULL);
    }
    return g_str_has_suffix(path, ".study")
               ? g_strdup_printf("%.*s%s", (int) (strlen(path) - strlen(".study")), path, suffix)
               : g_strconcat(path, suffix, NULL);
}

int
sim_cli_fail(const SimCli *cli, const GError *error)
{
    fprintf(stderr, "%s: %s\n", cli->experiment->program, error->message);
    return sim_error_exit_status(error);
}

static gboolean
check_word_count(char **words, guint min_words, guint max_words, const char *usage, GError **error)
{
    guint n = g_strv_length(words);

    if (n >= min_words && n <= max_words)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s arguments; usage: %s %s", n < min_words ? "too few" : "too many",
                g_get_prgname(), usage);
    return FALSE;
}

void
sim_cli_name_command(const SimCli *cli, const char *command)
{
    g_autofree char *name = g_strdup_printf("%s %s", cli->experiment->program, command);

    g_set_prgname(name);
}

gboolean
sim_cli_parse(const SimCli *cli, char **argv, const GOptionEntry *entries, const char *usage, const char *summary,
              guint min_words, guint max_words, char ***ret_words, GError **error)
{
    GOptionContext *context = g_option_context_new(usage);
    g_autoptr(GError) inner = NULL;
    g_auto(GStrv) words = NULL;
    gboolean ok;

    g_option_context_set_summary(context, summary);
    if (entries != NULL)
        g_option_context_add_main_entries(context, entries, NULL);
    words = g_strdupv(argv);
    ok = g_option_context_parse_strv(context, &words, &inner);
    g_option_context_free(context);
    if (!ok) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: %s", argv[0], inner->message);
        return FALSE;
    }
    /* The first word is the sub-command; a "--" before words that begin with a dash has done its work. */
    g_free(words[0]);
    memmove(words, words + 1, g_strv_length(words + 1) * sizeof *words + sizeof *words);
    if (words[0] != NULL && g_str_equal(words[0], "--")) {
        g_free(words[0]);
        memmove(words, words + 1, g_strv_length(words + 1) * sizeof *words + sizeof *words);
    }
    if (!check_word_count(words, min_words, max_words, usage, error))
        return FALSE;
    *ret_words = g_steal_pointer(&words);
    return TRUE;
}

static GPtrArray *
scenario_names(const char *dir)
{
    g_autoptr(GPtrArray) scenarios = sim_plan_list_scenarios(dir, NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; scenarios != NULL && i < scenarios->len; i++)
        g_ptr_array_add(names, g_strdup(((const SimScenarioInfo *) scenarios->pdata[i])->name));
    g_ptr_array_add(names, NULL);
    return names;
}

char *
sim_cli_find_scenario(const SimCli *cli, const char *word, GError **error)
{
    const char *dir = sim_schema_scenarios_dir(cli->experiment->schema);
    g_autofree char *path = NULL, *file = NULL, *hint = NULL, *all = NULL;
    g_autoptr(GPtrArray) names = NULL;

    if (strchr(word, '/') != NULL || g_str_has_suffix(word, SIM_SCENARIO_SUFFIX))
        return g_strdup(word);
    if (dir == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "'%s' is no path, and no folder of scenarios is known",
                    word);
        return NULL;
    }
    file = g_strconcat(word, SIM_SCENARIO_SUFFIX, NULL);
    path = g_build_filename(dir, file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&path);
    names = scenario_names(dir);
    hint = sim_hint_phrase(word, (const char *const *) names->pdata);
    all = g_strjoinv(", ", (char **) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "no scenario '%s' in %s%s (allowed: a path, %s)", word, dir,
                hint, all);
    return NULL;
}

/* A path of published figures is relative to the scenario. */
static gboolean
load_published(const SimPlan *plan, const char *scenario, SimTable **ret_published, GError **error)
{
    const SimConfig *config = sim_plan_config(plan, 0);
    const char *name = sim_config_text(config, "scenario", "published");
    g_autofree char *dir = g_path_get_dirname(scenario), *path = NULL;
    g_autoptr(GError) inner = NULL;

    if (!sim_config_is_given(config, "scenario", "published"))
        return TRUE;
    path = g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(dir, name, NULL);
    *ret_published = sim_published_read(path, &inner);
    if (*ret_published != NULL)
        return TRUE;
    if (inner->code == SIM_ERROR_IO)
        return sim_config_error(config, "scenario", "published", error, "%s", inner->message);
    g_propagate_error(error, g_steal_pointer(&inner));
    return FALSE;
}

gboolean
sim_cli_load(const SimCli *cli, const char *word, const char *const *sets, SimPlan **ret_plan, SimTable **ret_published,
             GError **error)
{
    g_autofree char *path = sim_cli_find_scenario(cli, word, error);
    g_autoptr(SimPlan) plan = NULL;
    g_autoptr(SimTable) published = NULL;

    if (path == NULL)
        return FALSE;
    plan = sim_plan_load(cli->experiment->schema, path, sets, cli->experiment, error);
    if (plan == NULL || !sim_chart_check(sim_plan_config(plan, 0), error) ||
        !load_published(plan, path, &published, error))
        return FALSE;
    *ret_plan = g_steal_pointer(&plan);
    *ret_published = g_steal_pointer(&published);
    return TRUE;
}

char *
sim_cli_scripts_folder(const SimCli *cli)
{
    const char *dir = g_getenv(SCRIPTS_VARIABLE);
    const char *scenarios = cli->experiment->schema->scenarios_dir;
    g_autofree char *parent = NULL;

    if (dir != NULL && *dir != '\0')
        return g_strdup(dir);
    parent = scenarios != NULL ? g_path_get_dirname(scenarios) : g_strdup(".");
    return g_build_filename(parent, "plots", NULL);
}

static void
print_help(const SimCli *cli)
{
    const char *program = cli->experiment->program;

    printf("Usage: %s COMMAND [ARGUMENTS]\n\nCommands:\n", program);
    for (guint i = 0; i < G_N_ELEMENTS(builtins); i++)
        printf("  %-14s %s\n", builtins[i].name, builtins[i].summary);
    for (const SimCommand *command = cli->commands; command->name != NULL; command++)
        printf("  %-14s %s\n", command->name, command->summary);
    printf("\n`%s COMMAND --help` explains a command's options; `%s --version` prints the version.\n"
           "Exit status: 0 success, 1 failure, 2 wrong usage or scenario, 130 interrupted.\n",
           program, program);
}

static int
unknown_command(const SimCli *cli, const char *word)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *hint = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(builtins); i++)
        g_ptr_array_add(names, (gpointer) builtins[i].name);
    for (const SimCommand *command = cli->commands; command->name != NULL; command++)
        g_ptr_array_add(names, (gpointer) command->name);
    g_ptr_array_add(names, NULL);
    hint = sim_hint_phrase(word, (const char *const *) names->pdata);
    fprintf(stderr, "%s: unknown command '%s'%s (%s --help lists them)\n", cli->experiment->program, word, hint,
            cli->experiment->program);
    return 2;
}

static int
dispatch(const SimCli *cli, int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "%s: a command is needed (%s --help lists them)\n", cli->experiment->program,
                cli->experiment->program);
        return 2;
    }
    if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h") || g_str_equal(argv[1], "help")) {
        print_help(cli);
        return 0;
    }
    if (g_str_equal(argv[1], "--version")) {
        printf("%s %s\n", cli->experiment->program, cli->experiment->version);
        return 0;
    }
    sim_cli_name_command(cli, argv[1]);
    for (guint i = 0; i < G_N_ELEMENTS(builtins); i++)
        if (g_str_equal(argv[1], builtins[i].name))
            return builtins[i].main(cli, argc - 1, argv + 1);
    for (const SimCommand *command = cli->commands; command->name != NULL; command++)
        if (g_str_equal(argv[1], command->name))
            return command->main(argc - 1, argv + 1);
    return unknown_command(cli, argv[1]);
}

/* A table that a full disk has cut short must not look like a success. A reader that went away (head) is no fault. */
static int
close_stdout(const SimCli *cli, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno != EPIPE)
        fprintf(stderr, "%s: standard output: %s\n", cli->experiment->program, g_strerror(errno));
    return status != 0 ? status : 1;
}

int
sim_cli_main(const SimExperiment *experiment, const SimCommand *commands, int argc, char **argv)
{
    const SimCli cli = {experiment, commands};

    /* Both would end the program in the middle of its work; as errors of write() they are reported and cleaned up. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sim_gsl_init();
    return close_stdout(&cli, dispatch(&cli, argc, argv));
}
