/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-cmd.h"

#include "sim-plan.h"
#include "sim-schema.h"
#include "world-trace.h"

typedef struct {
    char *output;
    gint point, replication;
    char **sets, **arguments;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_strfreev(options->sets);
    g_strfreev(options->arguments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
options_parse(Options *options, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Where the trace goes, e.g. run.txt", "FILE"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "Overrides a key", "GROUP.KEY=VALUE"},
        {"point", 0, 0, G_OPTION_ARG_INT, &options->point, "Which point of a sweep or variants (default 1)", "N"},
        {"replication", 0, 0, G_OPTION_ARG_INT, &options->replication, "Which replication (default 1)", "N"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->arguments, NULL, NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("SCENARIO");

    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(
        context, "One simulated run as a trace of kmem events in the form of ftrace, from its first operation on, with "
                 "the\ncaches and the machine beside it, where slubsim replay looks for them. The run is the one that "
                 "slubsim run\nwould do.");
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (options->arguments == NULL || options->arguments[1] != NULL || options->output == NULL) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "one scenario and -o FILE are needed; see --help");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_number(const char *option, gint number, guint n, GError **error)
{
    if (number >= 1 && (guint) number <= n)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--%s: %d (allowed: 1 to %u)", option, number, n);
    return FALSE;
}

/* A path, or the name of a shipped scenario. */
static SimPlan *
load_plan(const Options *options, GError **error)
{
    const char *word = options->arguments[0];
    g_autofree char *name = g_strconcat(word, SIM_SCENARIO_SUFFIX, NULL);
    g_autofree char *shipped = g_build_filename(sim_schema_scenarios_dir(world_schema()), name, NULL);
    gboolean is_shipped = !g_file_test(word, G_FILE_TEST_EXISTS) && g_file_test(shipped, G_FILE_TEST_EXISTS);

    return sim_plan_load(world_schema(), is_shipped ? shipped : word, (const char *const *) options->sets, NULL, error);
}

static gboolean
run(const Options *options, GError **error)
{
    g_autoptr(SimPlan) plan = load_plan(options, error);
    g_autoptr(SimRecord) record = sim_record_new();
    const SimConfig *config;
    SimRunInput input;
    guint64 n_events;

    if (plan == NULL || !check_number("point", options->point, sim_plan_n_points(plan), error))
        return FALSE;
    config = sim_plan_config(plan, (guint) options->point - 1);
    if (!check_number("replication", options->replication, (guint) sim_config_int(config, "run", "replications"),
                      error) ||
        !world_check(config, error))
        return FALSE;
    input = (SimRunInput){
        .config = config,
        .seed = (guint64) sim_config_int(config, "run", "seed"),
        .replication = (guint) options->replication - 1,
        .start = sim_config_list(config, "run", "starts")[0],
    };
    if (!world_run_traced(&input, record, options->output, &n_events, error))
        return FALSE;
    g_print("%s: %" G_GUINT64_FORMAT " calls, point %d of %u (%s), replication %d, start %s\n", options->output,
            n_events, options->point, sim_plan_n_points(plan), sim_plan_label(plan, (guint) options->point - 1),
            options->replication, input.start);
    return TRUE;
}

int
trace_cmd(int argc, char **argv)
{
    g_auto(Options) options = {.point = 1, .replication = 1};
    g_autoptr(GError) error = NULL;

    if (options_parse(&options, argc, argv, &error) && run(&options, &error))
        return 0;
    g_printerr("slubsim trace: %s\n", error->message);
    return error->domain == G_OPTION_ERROR ? 2 : sim_error_exit_status(error);
}
