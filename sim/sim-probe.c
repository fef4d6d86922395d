/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-probe.h"

#define POLL_US (20 * G_TIME_SPAN_MILLISECOND)

typedef struct {
    const SimExperiment *experiment;
    SimRunInput input;
    gint cancel;
    GError *error;
    GAsyncQueue *ended;
} Trial;

static gpointer
run_trial(gpointer data)
{
    Trial *trial = data;
    g_autoptr(SimRecord) record = sim_record_new();

    trial->experiment->run(&trial->input, record, &trial->error);
    g_async_queue_push(trial->ended, trial);
    return NULL;
}

/* Runs one replication until `deadline_us` on the monotonic clock; TRUE when it ended by itself. */
static gboolean
run_until(Trial *trial, gint64 deadline_us, const gint *interrupt)
{
    GThread *thread = g_thread_new("probe", run_trial, trial);
    gboolean was_cut = FALSE;

    while (g_async_queue_timeout_pop(trial->ended, POLL_US) == NULL) {
        if (g_get_monotonic_time() < deadline_us && (interrupt == NULL || !g_atomic_int_get(interrupt)))
            continue;
        was_cut = TRUE;
        g_atomic_int_set(&trial->cancel, 1);
    }
    g_thread_join(thread);
    return !was_cut;
}

static gboolean
probe_point(const SimExperiment *experiment, const SimConfig *config, gint64 deadline_us, const gint *interrupt,
            SimProbe *probe, GError **error)
{
    Trial trial = {.experiment = experiment,
                   .input = {.config = config,
                             .seed = (guint64) sim_config_int(config, "run", "seed"),
                             .start = sim_config_list(config, "run", "starts")[0]}};
    gint64 started_us = g_get_monotonic_time();
    gboolean has_ended;
    double elapsed_s;

    trial.input.cancel = &trial.cancel;
    trial.ended = g_async_queue_new();
    has_ended = run_until(&trial, deadline_us, interrupt);
    g_async_queue_unref(trial.ended);
    elapsed_s = (double) (g_get_monotonic_time() - started_us) / G_USEC_PER_SEC;
    if (has_ended && trial.error != NULL) {
        g_propagate_error(error, trial.error);
        return FALSE;
    }
    g_clear_error(&trial.error);
    probe->least_s = probe->n_timed == 0 ? elapsed_s : MIN(probe->least_s, elapsed_s);
    probe->most_s = MAX(probe->most_s, elapsed_s);
    probe->mean_s += (elapsed_s - probe->mean_s) / ++probe->n_timed;
    probe->was_cut |= !has_ended;
    return TRUE;
}

gboolean
sim_probe(SimDesign *design, const SimExperiment *experiment, guint n_points, double budget_s, const gint *interrupt,
          SimProbe *ret_probe, GError **error)
{
    gint64 deadline_us = g_get_monotonic_time() + (gint64) (budget_s * G_USEC_PER_SEC);
    guint n_all = sim_design_n_points(design), n = MIN(n_points, n_all);
    SimProbe probe = {0};

    for (guint i = 0; i < n && !probe.was_cut; i++) {
        guint point = n > 1 ? (guint) ((guint64) i * (n_all - 1) / (n - 1)) : 0;
        g_autoptr(SimConfig) config = sim_design_resolve(design, point, NULL);
        /* A refused point gives its place to the next one. */
        while (config == NULL && ++point < n_all)
            config = sim_design_resolve(design, point, NULL);
        if (config != NULL && !probe_point(experiment, config, deadline_us, interrupt, &probe, error))
            return FALSE;
    }
    *ret_probe = probe;
    return TRUE;
}
