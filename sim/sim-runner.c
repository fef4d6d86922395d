/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-runner.h"

#include "sim-ci.h"

#include <math.h>

/* How soon an interrupt set by a signal handler is seen. */
#define POLL_INTERVAL_US (50 * G_TIME_SPAN_MILLISECOND)

typedef struct {
    const SimExperiment *experiment;
    SimRuns *runs;
    gint *cancels;   /* one a run: a failure stops only the runs after it */
    GError **errors; /* one a run */
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

/* Waits until `n_started` runs have ended. */
static void
wait_for(Work *work, guint n_started, const SimRunnerOptions *options)
{
    guint n_finished, n_reported = G_MAXUINT;

    do {
        g_mutex_lock(&work->mutex);
        if (work->n_finished == n_reported)
            g_cond_wait_until(&work->finished, &work->mutex, g_get_monotonic_time() + POLL_INTERVAL_US);
        n_finished = work->n_finished;
        g_mutex_unlock(&work->mutex);
        /* Runs that are stopped are no progress. */
        if (options->interrupt != NULL && g_atomic_int_get(options->interrupt))
            cancel_from(work, 0);
        else if (options->progress != NULL && n_finished != n_reported)
            options->progress(n_finished, n_started, options->data);
        n_reported = n_finished;
    } while (n_finished < n_started);
}

/* The replications of one point and start: neighbours in the array of runs. */
typedef struct {
    guint first, n_max; /* what the plan allows */
    guint n_started, n_kept;
    double precision; /* 0 when all n_max are to be run */
} Cell;

static GArray *
cells_new(const SimRuns *runs)
{
    GArray *cells = g_array_new(FALSE, TRUE, sizeof(Cell));

    for (guint i = 0; i < runs->n_runs; i++) {
        const SimConfig *config = sim_plan_config(runs->plan, runs->runs[i].point);
        if (runs->runs[i].replication == 0) {
            Cell cell = {.first = i, .precision = sim_config_real(config, "run", "precision")};
            g_array_append_val(cells, cell);
        }
        g_array_index(cells, Cell, cells->len - 1).n_max++;
    }
    return cells;
}

/* The fewest replications that are precise enough, 0 when those at hand are not. */
static guint
enough_replications(const SimRuns *runs, const Cell *cell)
{
    const SimConfig *config = sim_plan_config(runs->plan, runs->runs[cell->first].point);
    g_autofree double *values = g_new(double, cell->n_started);

    for (guint n = 0; n < cell->n_started; n++) {
        const SimRecord *record = runs->runs[cell->first + n].record;
        values[n] = sim_record_n_metrics(record) > 0 ? sim_record_metric(record, 0) : NAN;
    }
    return (guint) sim_ci_first_precise(values, cell->n_started, SIM_RUNNER_MIN_REPLICATIONS,
                                        sim_config_real(config, "run", "confidence"), cell->precision);
}

guint
sim_runner_next_target(guint n_started, guint n_max)
{
    return MIN(n_max, n_started == 0 ? SIM_RUNNER_MIN_REPLICATIONS : n_started + n_started / 2);
}

/* How many replications of the cell should have been started by the end of the next round. */
static guint
next_target(const SimRuns *runs, Cell *cell)
{
    if (cell->n_kept > 0)
        return cell->n_started;
    if (cell->precision == 0)
        return cell->n_max;
    if (cell->n_started > 0)
        cell->n_kept = enough_replications(runs, cell);
    return cell->n_kept > 0 ? cell->n_started : sim_runner_next_target(cell->n_started, cell->n_max);
}

static gboolean
has_failed(const Work *work)
{
    for (guint i = 0; i < work->runs->n_runs; i++)
        if (work->errors[i] != NULL)
            return TRUE;
    return FALSE;
}

/* Rounds of runs until no cell wants more. The pool takes its work in order, so every run before a failed one has
 * been started, which makes the reported failure independent of timing. */
static void
run_rounds(Work *work, GThreadPool *pool, GArray *cells, const SimRunnerOptions *options)
{
    guint n_started = 0, n_before;

    do {
        n_before = n_started;
        for (guint c = 0; c < cells->len; c++) {
            Cell *cell = &g_array_index(cells, Cell, c);
            guint target = next_target(work->runs, cell);
            for (; cell->n_started < target; cell->n_started++, n_started++)
                g_thread_pool_push(pool, GUINT_TO_POINTER(cell->first + cell->n_started + 1), NULL);
        }
        if (n_started > n_before)
            wait_for(work, n_started, options);
    } while (n_started > n_before && !has_failed(work));
}

/* Drops the runs that were not needed. */
static void
keep_needed(SimRuns *runs, const GArray *cells)
{
    guint n = 0;

    for (guint c = 0; c < cells->len; c++) {
        const Cell *cell = &g_array_index(cells, Cell, c);
        guint n_kept = cell->n_kept > 0 ? cell->n_kept : cell->n_max;
        for (guint i = 0; i < cell->n_max; i++) {
            SimRun run = runs->runs[cell->first + i];
            if (i < n_kept)
                runs->runs[n++] = run;
            else
                sim_record_free(run.record);
        }
    }
    runs->n_runs = n;
}

/* The first failure that is a run's own; else the interruption; else none. */
static gboolean
collect_errors(const Work *work, GError **error)
{
    const SimRuns *runs = work->runs;
    guint n_stopped = 0, n_done = 0;

    for (guint i = 0; i < runs->n_runs; i++) {
        const SimRun *run = &runs->runs[i];

        n_done += run->record != NULL;
        if (work->errors[i] == NULL)
            continue;
        if (!g_error_matches(work->errors[i], SIM_ERROR, SIM_ERROR_INTERRUPTED)) {
            g_propagate_prefixed_error(error, g_error_copy(work->errors[i]),
                                       "%s, start %s, replication %u: ", sim_plan_label(runs->plan, run->point),
                                       run->start, run->replication);
            return FALSE;
        }
        n_stopped++;
    }
    if (n_stopped > 0)
        g_set_error(error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "interrupted after %u run%s; nothing is kept", n_done,
                    n_done == 1 ? "" : "s");
    return n_stopped == 0;
}

SimRuns *
sim_runner_run(const SimExperiment *experiment, const SimPlan *plan, const SimRunnerOptions *options, GError **error)
{
    g_autoptr(SimRuns) runs = runs_new(plan);
    g_autoptr(GArray) cells = cells_new(runs);
    Work work = {.experiment = experiment, .runs = runs};
    GThreadPool *pool;
    gboolean ok;

    g_assert(options->n_workers >= 1);
    runs->trust_metric = experiment->trust_metric;
    work.cancels = g_new0(gint, runs->n_runs);
    work.errors = g_new0(GError *, runs->n_runs);
    g_mutex_init(&work.mutex);
    g_cond_init(&work.finished);
    pool = g_thread_pool_new(run_one, &work, (gint) options->n_workers, TRUE, error);
    ok = pool != NULL;
    if (ok) {
        run_rounds(&work, pool, cells, options);
        g_thread_pool_free(pool, FALSE, TRUE);
        ok = collect_errors(&work, error);
    }
    for (guint i = 0; i < runs->n_runs; i++)
        g_clear_error(&work.errors[i]);
    g_free(work.errors);
    g_free(work.cancels);
    g_cond_clear(&work.finished);
    g_mutex_clear(&work.mutex);
    if (!ok)
        return NULL;
    keep_needed(runs, cells);
    return g_steal_pointer(&runs);
}
