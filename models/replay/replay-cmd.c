/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-cmd.h"

#include <string.h>

#include "replay-occupancy.h"
#include "replay-report.h"
#include "replay-run.h"
#include "replay-write.h"
#include "sim-error.h"

typedef struct {
    char *mode, *kernel, *listing, *counts, *occupancy, *trace;
    char **sets, **boot, **arguments;
    gint n_cpus, n_nodes, n_copies, n_starts, n_samples;
    gint64 seed;
    double warm_fraction;
    gboolean is_alone;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->mode);
    g_free(options->kernel);
    g_free(options->listing);
    g_free(options->counts);
    g_free(options->occupancy);
    g_free(options->trace);
    g_strfreev(options->sets);
    g_strfreev(options->boot);
    g_strfreev(options->arguments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
options_parse(Options *options, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"mode", 0, 0, G_OPTION_ARG_STRING, &options->mode,
         "free: slabs from the model; warm: the kernel's for a while, then free; guided: each step predicted and "
         "compared (default free)",
         "MODE"},
        {"warm", 0, 0, G_OPTION_ARG_DOUBLE, &options->warm_fraction, "Part of the time to follow (default 0.3)", "F"},
        {"starts", 0, 0, G_OPTION_ARG_INT, &options->n_starts, "Random starts (default 30)", "N"},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Seed of the starts (default 1)", "N"},
        {"kernel", 0, 0, G_OPTION_ARG_STRING, &options->kernel, "Release whose allocator runs", "VERSION"},
        {"cpus", 0, 0, G_OPTION_ARG_INT, &options->n_cpus, "CPUs of the replayed machine", "N"},
        {"nodes", 0, 0, G_OPTION_ARG_INT, &options->n_nodes, "Nodes of the replayed machine", "N"},
        {"copies", 0, 0, G_OPTION_ARG_INT, &options->n_copies, "Copies of the load side by side (default 1)", "N"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets,
         "Setting of a cache, * for all: order, cpu_partial, cpu_partial_slabs, min_partial", "CACHE.KEY=N"},
        {"boot", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->boot, "Boot parameter", "slub_min_order=N"},
        {"listing", 0, 0, G_OPTION_ARG_FILENAME, &options->listing,
         "Caches of the recorded machine (default: TRACE's .geom-before.tsv or .caches)", "FILE"},
        {"counts", 0, 0, G_OPTION_ARG_FILENAME, &options->counts,
         "What the kernel counted (default: TRACE's .counts.tsv)", "FILE"},
        {"alone", 0, 0, G_OPTION_ARG_NONE, &options->is_alone, "Use no files beside the trace", NULL},
        {"occupancy", 0, 0, G_OPTION_ARG_FILENAME, &options->occupancy,
         "Write slabs by fullness and stranded bytes over time, by cache and node", "FILE.tsv"},
        {"write", 0, 0, G_OPTION_ARG_FILENAME, &options->trace,
         "Write the first start as a trace: the model's addresses and slow-path functions", "FILE.txt"},
        {"samples", 0, 0, G_OPTION_ARG_INT, &options->n_samples, "Moments in that file (default 20)", "N"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->arguments, NULL, NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("TRACE");

    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(
        context,
        "A recorded trace of kmem events through the allocator: how often each slow path is entered, and what "
        "memory the lists hold.\nTRACE is ftrace, trace-cmd report, perf script or .events.tsv, plain, gzip or "
        "zstd; - is standard input.\nThere is no time in a replay: only counts are simulated.");
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (!options->arguments || g_strv_length(options->arguments) != 1) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "one trace is needed; see --help");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_range(const char *option, gint value, gint min, gint max, GError **error)
{
    if (value >= min && value <= max)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--%s: %d (allowed: %d to %d)", option, value, min, max);
    return FALSE;
}

static gboolean
make_request(const Options *options, ReplayRequest *request, GError **error)
{
    static const char *const modes[] = {"free", "warm", "guided"};
    gboolean is_known = FALSE;

    if (!check_range("cpus", options->n_cpus, 0, KMEM_MAX_CPUS, error) ||
        !check_range("nodes", options->n_nodes, 0, 64, error) ||
        !check_range("copies", options->n_copies, 1, 4096, error) ||
        !check_range("starts", options->n_starts, 1, 1000, error) ||
        !check_range("samples", options->n_samples, 1, 100000, error))
        return FALSE;
    if (!(options->warm_fraction >= 0 && options->warm_fraction < 1)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_RANGE, "--warm: from 0 to below 1");
        return FALSE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++)
        if (g_str_equal(options->mode ? options->mode : "free", modes[i])) {
            request->mode = (ReplayMode) i;
            is_known = TRUE;
        }
    if (!is_known) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "--mode: \"%s\" is none of free, warm, guided", options->mode);
        return FALSE;
    }
    if (options->kernel && !slab_listing_parse_kernel(options->kernel, &request->kernel, error))
        return FALSE;
    request->trace_path = options->arguments[0];
    request->warm_fraction = options->warm_fraction;
    request->n_starts = (guint) options->n_starts;
    request->n_copies = (guint) options->n_copies;
    request->n_cpus = (guint) options->n_cpus;
    request->n_nodes = (guint) options->n_nodes;
    request->seed = (guint64) options->seed;
    request->listing_path = options->listing;
    request->counts_path = options->counts;
    request->sets = (const char *const *) options->sets;
    request->boot = (const char *const *) options->boot;
    request->ignores_files_beside = options->is_alone;
    return TRUE;
}

/* What is written while the replay runs. */
typedef struct {
    GString *occupancy; /* NULL = not wanted */
    guint n_samples, n_sampled;
} Output;

static void
on_event(Replay *replay, const KmemEvent *event, void *data)
{
    Output *output = data;
    double length_ns = (double) (replay->params.last_time_ns - replay->params.first_time_ns);

    if (!output->occupancy || event->op == KMEM_LOST || length_ns <= 0)
        return;
    while (output->n_sampled + 1 < output->n_samples &&
           (double) (event->time_ns - replay->params.first_time_ns) * output->n_samples >=
               length_ns * (output->n_sampled + 1)) {
        for (guint start = 0; start < replay->params.n_starts; start++)
            replay_occupancy_append(replay, start, output->occupancy);
        output->n_sampled++;
    }
}

static gboolean
finish_output(Output *output, const Options *options, const Replay *replay, GError **error)
{
    g_autoptr(GError) cause = NULL;

    for (guint start = 0; output->occupancy && start < replay->params.n_starts; start++)
        replay_occupancy_append(replay, start, output->occupancy);
    if (output->occupancy &&
        !g_file_set_contents(options->occupancy, output->occupancy->str, (gssize) output->occupancy->len, &cause)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
        return FALSE;
    }
    return TRUE;
}

static gboolean
run(const Options *options, gboolean *ret_is_whole, GError **error)
{
    ReplayRequest request = {0};
    g_autoptr(ReplayRun) result = NULL;
    g_autoptr(GString) text = g_string_new(NULL);

    g_autoptr(GString) occupancy = options->occupancy ? g_string_new(NULL) : NULL;
    Output output = {.occupancy = occupancy, .n_samples = (guint) options->n_samples};
    gboolean is_written;

    if (!make_request(options, &request, error))
        return FALSE;
    if (occupancy)
        replay_occupancy_header(occupancy);
    if (options->trace) {
        request.write = replay_write_open(options->trace, error);
        if (!request.write)
            return FALSE;
    }
    request.on_event = on_event;
    request.data = &output;
    result = replay_run(&request, error);
    is_written = !request.write || replay_write_close(request.write, result ? error : NULL);
    if (!result || !is_written || !finish_output(&output, options, result->replay, error))
        return FALSE;
    replay_report(result, request.mode, text);
    g_print("%s", text->str);
    *ret_is_whole = !result->damage;
    return TRUE;
}

int
replay_cmd(int argc, char **argv)
{
    g_auto(Options) options = {.n_copies = 1, .n_starts = 30, .n_samples = 20, .seed = 1, .warm_fraction = 0.3};
    g_autoptr(GError) error = NULL;
    gboolean is_whole = TRUE;

    if (options_parse(&options, argc, argv, &error) && run(&options, &is_whole, &error))
        return is_whole ? 0 : 1;
    g_printerr("slubsim replay: %s\n", error->message);
    return error->domain == G_OPTION_ERROR ? 2 : sim_error_exit_status(error);
}
