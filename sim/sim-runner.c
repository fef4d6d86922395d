/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-runner.h"

/* How soon an interrupt set by a signal handler is seen. */
#define POLL_INTERVAL_US (50 * G_TIME_SPAN_MILLISECOND)

typedef struct {
    const SimExperiment *experiment;
    SimRuns *runs;
    gint *cancels;    /* one a run: a failure stops only the runs after it */
    GError **errors;  /* one a run */
    GMutex mutex;
    GCond finished;
    guint n_finished; /* guarded by mutex */
} Work;

static SimRuns *
runs_new(const SimPlan *plan)
{
    g_autoptr(GArray) array = g_array_new(FALSE, TRUE, sizeof(SimRun));
    SimRuns *runs = g_new0(SimRuns, 1);

    for (guint point = 0; point < sim_plan_n_points(plan); point++) {
        const SimConfig *config = sim_plan_config(plan, point);
        guint n_replications = (guint) sim_config_int(config, "run", "replications");
        const char *const *starts = sim_config_list(config, "run", "starts");

        for (guint s = 0; starts[s] != NULL; s++) {
            for (guint replication = 0; replication < n_replications; replication++) {
                SimRun run = {.point = point,
                              .start = starts[s],
                              .replication = replication,
                              .seed = (guint64) sim_config_int(config, "run", "seed")};
                g_array_append_val(array, run);
            }
        }
    }
    runs->plan = plan;
    runs->n_runs = array->len;
    runs->runs = (SimRun *) g_array_free(g_steal_pointer(&array), FALSE);
    return runs;
}

void
sim_runs_free(SimRuns *runs)
{
    if (runs == NULL)
        return;
    for (guint i = 0; i < runs->n_runs; i++)
        sim_record_free(runs->runs[i].record);
    g_free(runs->runs);
    g_free(runs);
}

static void
cancel_from(Work *work, guint first)
{
    for (guint i = first; i < work->runs->n_runs; i++)
        g_atomic_int_set(&work->cancels[i], 1);
}

static void
run_one(gpointer data, gpointer user_data)
{
    guint i = GPOINTER_TO_UINT(data) - 1;
    Work *work = user_data;
    SimRun *run = &work->runs->runs[i];
    SimRunInput input = {.config = sim_plan_config(work->runs->plan, run->point),
                         .seed = run->seed,
                         .replication = run->replication,
                         .start = run->start,
                         .cancel = &work->cancels[i]};

    if (g_atomic_int_get(&work->cancels[i])) {
        g_set_error_literal(&work->errors[i], SIM_ERROR, SIM_ERROR_INTERRUPTED, "not started");
    } else {
        g_autoptr(SimRecord) record = sim_record_new();
        if (work->experiment->run(&input, record, &work->errors[i])) {
            run->record = g_steal_pointer(&record);
        } else {
            g_assert(work->errors[i] != NULL);
            cancel_from(work, i + 1);
        }
    }
    g_mutex_lock(&work->mutex);
    work->n_finished++;
    g_cond_signal(&work->finished);
    g_mutex_unlock(&work->mutex);
}

static void
wait_for_all(Work *work, const SimRunnerOptions *options)
{
    guint n_total = work->runs->n_runs;
    guint n_reported = 0, n_finished = 0;

    if (options->progress != NULL)
        options->progress(0, n_total, options->data);
    while (n_finished < n_total) {
        g_mutex_lock(&work->mutex);
        if (work->n_finished == n_reported)
            g_cond_wait_until(&work->finished, &work->mutex, g_get_monotonic_time() + POLL_INTERVAL_US);
        n_finished = work->n_finished;
        g_mutex_unlock(&work->mutex);
        if (options->interrupt != NULL && g_atomic_int_get(options->interrupt))
            cancel_from(work, 0);
        if (options->progress != NULL && n_finished != n_reported)
            options->progress(n_finished, n_total, options->data);
        n_reported = n_finished;
    }
}

/* The first failure that is a run's own; else the interruption; else none. */
static gboolean
collect_errors(const Work *work, GError **error)
{
    const SimRuns *runs = work->runs;
    guint n_stopped = 0;

    for (guint i = 0; i < runs->n_runs; i++) {
        const SimRun *run = &runs->runs[i];

        if (work->errors[i] == NULL)
            continue;
        if (!g_error_matches(work->errors[i], SIM_ERROR, SIM_ERROR_INTERRUPTED)) {
            g_propagate_prefixed_error(error, g_error_copy(work->errors[i]), "%s, start %s, replication %u: ",
                                       sim_plan_label(runs->plan, run->point), run->start, run->replication);
            return FALSE;
        }
        n_stopped++;
    }
    if (n_stopped > 0)
        g_set_error(error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "interrupted with %u of %u runs done; nothing is kept",
                    runs->n_runs - n_stopped, runs->n_runs);
    return n_stopped == 0;
}

SimRuns *
sim_runner_run(const SimExperiment *experiment, const SimPlan *plan, const SimRunnerOptions *options, GError **error)
{
    g_autoptr(SimRuns) runs = runs_new(plan);
    Work work = {.experiment = experiment, .runs = runs};
    GThreadPool *pool;
    gboolean ok;

    g_assert(options->n_workers >= 1);
    work.cancels = g_new0(gint, runs->n_runs);
    work.errors = g_new0(GError *, runs->n_runs);
    g_mutex_init(&work.mutex);
    g_cond_init(&work.finished);
    pool = g_thread_pool_new(run_one, &work, (gint) options->n_workers, TRUE, error);
    ok = pool != NULL;
    if (ok) {
        /* The pool takes its work in order, so every run before a failed one has been started: that makes the
         * reported failure independent of timing. */
        for (guint i = 0; i < runs->n_runs; i++)
            g_thread_pool_push(pool, GUINT_TO_POINTER(i + 1), NULL);
        wait_for_all(&work, options);
        g_thread_pool_free(pool, FALSE, TRUE);
        ok = collect_errors(&work, error);
    }
    for (guint i = 0; i < runs->n_runs; i++)
        g_clear_error(&work.errors[i]);
    g_free(work.errors);
    g_free(work.cancels);
    g_cond_clear(&work.finished);
    g_mutex_clear(&work.mutex);
    return ok ? g_steal_pointer(&runs) : NULL;
}
