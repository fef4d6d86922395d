/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-campaign.h"

#include "sim-ci.h"
#include "sim-runner.h"
#include "sim-study-private.h"

#include <stdio.h>
#include <string.h>

/* How soon an interrupt set by a signal handler is seen. */
#define POLL_US (50 * G_TIME_SPAN_MILLISECOND)
/* How often runs that other processes have claimed are looked at again. */
#define LOOK_AGAIN_US (250 * G_TIME_SPAN_MILLISECOND)
/* Of a run that is worth having ready. */
#define QUICK_RUN_US G_TIME_SPAN_SECOND
#define RENEW_US (SIM_STUDY_LEASE_S / 4 * G_TIME_SPAN_SECOND)

typedef enum {
    RUN_TODO,
    RUN_MINE,   /* claimed by this process */
    RUN_OTHERS, /* claimed by another process when last looked at */
    RUN_DONE,
} RunState;

typedef struct {
    guint8 *states; /* RunState, n_wanted of them */
    guint n_target; /* replications asked for so far; 0 for a cell of another shard */
    guint n_done;   /* of those */
    gboolean is_closed;
} Cell;

typedef struct {
    guint cell, replication;
    guint64 seed;
    SimConfig *config;
    SimRecord *record; /* NULL when it failed */
    GError *error;
} Job;

typedef struct {
    SimStudy *study;
    SimDesign *design;
    const SimExperiment *experiment;
    const SimCampaignOptions *options;
    char *owner;
    Cell *cells;
    GHashTable *first_cells; /* point id -> index of its first cell + 1 */
    guint *n_open;           /* point -> cells of this shard not closed */
    guint cursor;            /* no cell before it has anything to do */
    gint64 last_run;         /* row up to which `run` has been read */
    gboolean has_others;
    gint64 started_us, looked_us, renewed_us;
    guint config_point; /* the point whose configuration is kept: neighbours share it */
    SimConfig *config;
    GThreadPool *pool;
    GAsyncQueue *finished; /* Job */
    guint n_in_flight;
    gint cancel;
    Job *first_failure;
    guint n_failed_cells;
    SimCampaignProgress progress;
} Campaign;

static void
job_free(gpointer data)
{
    Job *job = data;
    if (job == NULL)
        return;
    g_clear_pointer(&job->config, sim_config_unref);
    sim_record_free(job->record);
    g_clear_error(&job->error);
    g_free(job);
}

static void
run_job(gpointer data, gpointer user_data)
{
    Job *job = data;
    Campaign *campaign = user_data;
    SimRunInput input = {.config = job->config,
                         .seed = job->seed,
                         .replication = job->replication,
                         .start = sim_study_cell(campaign->study, job->cell)->start,
                         .cancel = &campaign->cancel};
    g_autoptr(SimRecord) record = sim_record_new();

    if (g_atomic_int_get(&campaign->cancel))
        g_set_error_literal(&job->error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "not started");
    else if (campaign->experiment->run(&input, record, &job->error))
        job->record = g_steal_pointer(&record);
    g_async_queue_push(campaign->finished, job);
}

static void
set_target(Campaign *campaign, guint index, guint n_target)
{
    Cell *cell = &campaign->cells[index];

    campaign->progress.n_runs_wanted += n_target - cell->n_target;
    for (guint i = cell->n_target; i < n_target; i++)
        cell->n_done += cell->states[i] == RUN_DONE;
    cell->n_target = n_target;
    campaign->cursor = MIN(campaign->cursor, index);
}

static void
close_cell(Campaign *campaign, guint index)
{
    campaign->cells[index].is_closed = TRUE;
    if (--campaign->n_open[sim_study_cell(campaign->study, index)->point] == 0)
        campaign->progress.n_points_done++;
}

/* A cell that has all it was asked for: enough, or another round. */
static gboolean
decide(Campaign *campaign, guint index, GError **error)
{
    Cell *cell = &campaign->cells[index];
    const SimStudyCell *facts = sim_study_cell(campaign->study, index);
    g_autofree double *values = NULL;
    guint n;

    while (!cell->is_closed && cell->n_done == cell->n_target) {
        if (facts->n_needed >= 0) {
            close_cell(campaign, index);
            return TRUE;
        }
        g_free(values);
        values = g_new(double, cell->n_target);
        if (!sim_study_first_metric(campaign->study, index, cell->n_target, values, error))
            return FALSE;
        n = (guint) sim_ci_first_precise(values, cell->n_target, SIM_RUNNER_MIN_REPLICATIONS, facts->confidence,
                                         facts->precision);
        if (n == 0 && cell->n_target < facts->n_wanted)
            set_target(campaign, index, sim_runner_next_target(cell->n_target, facts->n_wanted));
        else if (!sim_study_put_needed(campaign->study, index, n > 0 ? n : cell->n_target, error))
            return FALSE;
    }
    return TRUE;
}

static void
mark_done(Campaign *campaign, guint index, guint replication)
{
    Cell *cell = &campaign->cells[index];

    if (replication >= sim_study_cell(campaign->study, index)->n_wanted || cell->states[replication] == RUN_DONE)
        return;
    cell->states[replication] = RUN_DONE;
    if (replication < cell->n_target)
        cell->n_done++;
}

/* Takes in what has been committed since the last look, by whatever process. */
static gboolean
absorb(Campaign *campaign, GError **error)
{
    SimStudy *study = campaign->study;
    sqlite3_stmt *s =
        sim_db_select(study->db, error, "SELECT run, point, start, replication FROM run WHERE run > ? ORDER BY run",
                      "i", campaign->last_run);
    gboolean has_row = s != NULL;

    while (has_row) {
        if (!sim_db_step(study->db, s, &has_row, error))
            return FALSE;
        if (!has_row)
            return TRUE;
        gint64 id = sqlite3_column_int64(s, 1), replication = sqlite3_column_int64(s, 3);
        guint index = GPOINTER_TO_UINT(g_hash_table_lookup(campaign->first_cells, &id));
        const char *start = sim_db_text(s, 2);
        campaign->last_run = sqlite3_column_int64(s, 0);
        /* 0 is a point that the plan no longer has. */
        for (; index > 0 && index <= study->cells->len; index++) {
            const SimStudyCell *cell = sim_study_cell(study, index - 1);
            if (sim_study_point(study, cell->point)->id != id)
                break;
            if (g_str_equal(cell->start, start) && replication >= 0 && replication < cell->n_wanted)
                mark_done(campaign, index - 1, (guint) replication);
        }
    }
    return FALSE;
}

static gboolean
decide_all(Campaign *campaign, GError **error)
{
    for (guint i = 0; i < campaign->study->cells->len; i++) {
        if (campaign->cells[i].n_target > 0 && !decide(campaign, i, error))
            return FALSE;
    }
    return TRUE;
}

/* The next run that nobody is known to have. */
static gboolean
next_todo(Campaign *campaign, guint *ret_cell, guint *ret_replication)
{
    for (; campaign->cursor < campaign->study->cells->len; campaign->cursor++) {
        const Cell *cell = &campaign->cells[campaign->cursor];
        for (guint i = 0; !cell->is_closed && i < cell->n_target; i++) {
            if (cell->states[i] != RUN_TODO)
                continue;
            *ret_cell = campaign->cursor;
            *ret_replication = i;
            return TRUE;
        }
    }
    return FALSE;
}

static Job *
job_new(Campaign *campaign, guint cell, guint replication, GError **error)
{
    guint point = sim_study_cell(campaign->study, cell)->point;
    Job *job;

    if (campaign->config == NULL || campaign->config_point != point) {
        SimConfig *config =
            sim_design_resolve(campaign->design, g_array_index(campaign->study->design_points, guint, point), error);
        if (config == NULL)
            return NULL;
        g_clear_pointer(&campaign->config, sim_config_unref);
        campaign->config = config;
        campaign->config_point = point;
    }
    job = g_new0(Job, 1);
    job->cell = cell;
    job->replication = replication;
    job->config = sim_config_ref(campaign->config);
    job->seed = (guint64) sim_config_int(campaign->config, "run", "seed");
    return job;
}

/* Runs wait beside those at work, so that no worker is idle while results are written: as many again where runs are
 * short and end together, one where they are long and another process may want them. */
static gboolean
has_room(const Campaign *campaign, guint n_claimed)
{
    guint n_workers = campaign->options->n_workers;
    double worked_us = (double) (g_get_monotonic_time() - campaign->started_us) * n_workers;
    gboolean is_quick = worked_us < (double) QUICK_RUN_US * (double) campaign->progress.n_own_runs;

    return !g_atomic_int_get(&campaign->cancel) &&
           campaign->n_in_flight + n_claimed < n_workers + (is_quick ? n_workers : 1);
}

/* Inside a transaction: claims runs for the free workers. */
static gboolean
claim_some(Campaign *campaign, GPtrArray *jobs, GError **error)
{
    guint cell, replication;

    while (has_room(campaign, jobs->len) && next_todo(campaign, &cell, &replication)) {
        gboolean is_claimed;
        if (!sim_study_claim(campaign->study, cell, replication, campaign->owner, &is_claimed, error))
            return FALSE;
        campaign->cells[cell].states[replication] = is_claimed ? RUN_MINE : RUN_OTHERS;
        campaign->has_others |= !is_claimed;
        if (!is_claimed)
            continue;
        Job *job = job_new(campaign, cell, replication, error);
        if (job == NULL)
            return FALSE;
        g_ptr_array_add(jobs, job);
    }
    return TRUE;
}

static gboolean
is_before(const Job *a, const Job *b)
{
    return a->cell != b->cell ? a->cell < b->cell : a->replication < b->replication;
}

/* A failed run ends its cell; the first in the plan's order is the one to report. */
static void
note_failure(Campaign *campaign, Job *job)
{
    Cell *cell = &campaign->cells[job->cell];

    if (g_error_matches(job->error, SIM_ERROR, SIM_ERROR_INTERRUPTED)) {
        job_free(job);
        return;
    }
    campaign->n_failed_cells += !cell->is_closed;
    cell->is_closed = TRUE;
    if (campaign->first_failure != NULL && is_before(campaign->first_failure, job)) {
        job_free(job);
        return;
    }
    job_free(campaign->first_failure);
    campaign->first_failure = job;
}

static gboolean
put_finished(Campaign *campaign, GPtrArray *finished, GError **error)
{
    for (guint i = 0; i < finished->len; i++) {
        const Job *job = finished->pdata[i];
        double n_events;
        if (!sim_study_put_run(campaign->study, job->cell, job->replication, job->seed, job->record, error))
            return FALSE;
        campaign->progress.n_own_runs++;
        if (sim_record_find_metric(job->record, "events", &n_events))
            campaign->progress.n_own_events += n_events;
    }
    return TRUE;
}

/* Waits a little for a finished run, then takes all there are: those with a record into `ret_done`. */
static void
collect(Campaign *campaign, gboolean may_wait, GPtrArray *ret_done)
{
    Job *job =
        may_wait ? g_async_queue_timeout_pop(campaign->finished, POLL_US) : g_async_queue_try_pop(campaign->finished);

    for (; job != NULL; job = g_async_queue_try_pop(campaign->finished)) {
        campaign->n_in_flight--;
        if (job->record != NULL)
            g_ptr_array_add(ret_done, job);
        else
            note_failure(campaign, job);
    }
}

/* After a while, claims of others are worth another try: they may be finished, dropped or expired. */
static gboolean
look_again(Campaign *campaign, GError **error)
{
    if (!campaign->has_others || g_get_monotonic_time() - campaign->looked_us < LOOK_AGAIN_US)
        return TRUE;
    campaign->looked_us = g_get_monotonic_time();
    campaign->has_others = FALSE;
    for (guint i = 0; i < campaign->study->cells->len; i++)
        for (guint r = 0; r < campaign->cells[i].n_target; r++)
            if (campaign->cells[i].states[r] == RUN_OTHERS)
                campaign->cells[i].states[r] = RUN_TODO;
    campaign->cursor = 0;
    return sim_study_drop_dead_claims(campaign->study, error) && absorb(campaign, error) && decide_all(campaign, error);
}

/* One transaction: results in, new claims out. */
static gboolean
exchange(Campaign *campaign, GPtrArray *done, GPtrArray *jobs, GError **error)
{
    gint64 now = g_get_monotonic_time();

    if (!put_finished(campaign, done, error) || !look_again(campaign, error))
        return FALSE;
    for (guint i = 0; i < done->len; i++) {
        const Job *job = done->pdata[i];
        mark_done(campaign, job->cell, job->replication);
        if (!decide(campaign, job->cell, error))
            return FALSE;
    }
    if (now - campaign->renewed_us > RENEW_US) {
        campaign->renewed_us = now;
        if (!sim_study_renew_claims(campaign->study, campaign->owner, error))
            return FALSE;
    }
    return claim_some(campaign, jobs, error);
}

static void
report(Campaign *campaign)
{
    guint64 n_done = 0;

    if (campaign->options->progress == NULL)
        return;
    for (guint i = 0; i < campaign->study->cells->len; i++)
        n_done += campaign->cells[i].n_done;
    campaign->progress.n_runs_done = n_done;
    campaign->options->progress(&campaign->progress, campaign->options->data);
}

/* Whether a transaction is worth its while. */
static gboolean
has_business(const Campaign *campaign, const GPtrArray *done)
{
    guint n_cells = campaign->study->cells->len;
    gint64 now = g_get_monotonic_time();

    return done->len > 0 || (has_room(campaign, 0) && campaign->cursor < n_cells) ||
           (campaign->has_others && now - campaign->looked_us >= LOOK_AGAIN_US) ||
           (campaign->n_in_flight > 0 && now - campaign->renewed_us > RENEW_US);
}

static gboolean
step(Campaign *campaign, GError **error)
{
    g_autoptr(GPtrArray) done = g_ptr_array_new_with_free_func(job_free);
    g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func(job_free);
    gboolean is_full = !has_room(campaign, 0) || campaign->cursor >= campaign->study->cells->len;

    if (campaign->options->interrupt != NULL && g_atomic_int_get(campaign->options->interrupt))
        g_atomic_int_set(&campaign->cancel, 1);
    collect(campaign, is_full, done);
    if (!has_business(campaign, done))
        return TRUE;
    if (!sim_study_check_place(campaign->study, error) || !sim_db_begin(campaign->study->db, error))
        return FALSE;
    if (!exchange(campaign, done, jobs, error)) {
        sim_db_rollback(campaign->study->db);
        return FALSE;
    }
    if (!sim_db_commit(campaign->study->db, error))
        return FALSE;
    campaign->n_in_flight += jobs->len;
    for (guint i = 0; i < jobs->len; i++)
        g_thread_pool_push(campaign->pool, jobs->pdata[i], NULL);
    g_ptr_array_set_free_func(jobs, NULL);
    if (done->len > 0)
        report(campaign);
    return TRUE;
}

static gboolean
is_finished(const Campaign *campaign)
{
    gboolean has_todo = campaign->cursor < campaign->study->cells->len || campaign->has_others;

    return campaign->n_in_flight == 0 && (!has_todo || g_atomic_int_get(&campaign->cancel));
}

/* What is at work is told to stop and waited for. */
static void
drain(Campaign *campaign)
{
    g_autoptr(GPtrArray) done = g_ptr_array_new_with_free_func(job_free);

    g_atomic_int_set(&campaign->cancel, 1);
    while (campaign->n_in_flight > 0)
        collect(campaign, TRUE, done);
}

static void
parse_shard(const char *text, guint *ret_shard, guint *ret_n_shards)
{
    *ret_shard = *ret_n_shards = 1;
    if (*text != '\0' && sscanf(text, "%u/%u", ret_shard, ret_n_shards) != 2)
        *ret_shard = *ret_n_shards = 1;
}

static void
campaign_init(Campaign *campaign)
{
    SimStudy *study = campaign->study;
    guint shard, n_shards;

    parse_shard(sim_study_about(study, "shard"), &shard, &n_shards);
    campaign->owner = sim_study_owner_new();
    campaign->finished = g_async_queue_new_full(job_free);
    campaign->started_us = campaign->renewed_us = g_get_monotonic_time();
    campaign->first_cells = g_hash_table_new(g_int64_hash, g_int64_equal);
    campaign->n_open = g_new0(guint, study->points->len);
    campaign->cells = g_new0(Cell, study->cells->len);
    for (guint i = 0; i < study->cells->len; i++) {
        const SimStudyCell *facts = sim_study_cell(study, i);
        gint64 *id = &((SimStudyPoint *) study->points->pdata[facts->point])->id;
        campaign->cells[i].states = g_new0(guint8, facts->n_wanted);
        if (!g_hash_table_contains(campaign->first_cells, id))
            g_hash_table_insert(campaign->first_cells, id, GUINT_TO_POINTER(i + 1));
        if (facts->number % n_shards != shard - 1)
            continue;
        campaign->progress.n_points += campaign->n_open[facts->point]++ == 0;
        set_target(campaign, i,
                   facts->n_needed >= 0 ? (guint) facts->n_needed : sim_runner_next_target(0, facts->n_wanted));
    }
}

static void
campaign_clear(Campaign *campaign)
{
    for (guint i = 0; i < campaign->study->cells->len; i++)
        g_free(campaign->cells[i].states);
    g_free(campaign->cells);
    g_free(campaign->n_open);
    g_free(campaign->owner);
    g_hash_table_unref(campaign->first_cells);
    g_async_queue_unref(campaign->finished);
    g_clear_pointer(&campaign->config, sim_config_unref);
    job_free(campaign->first_failure);
}

/* Runs everything; the error is one of the file. */
static gboolean
run_all(Campaign *campaign, GError **error)
{
    SimDb *db = campaign->study->db;

    if (!sim_db_begin(db, error))
        return FALSE;
    if (!sim_study_drop_dead_claims(campaign->study, error) || !absorb(campaign, error) ||
        !decide_all(campaign, error)) {
        sim_db_rollback(db);
        return FALSE;
    }
    if (!sim_db_commit(db, error))
        return FALSE;
    report(campaign);
    while (!is_finished(campaign)) {
        if (!step(campaign, error)) {
            drain(campaign);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
collect_errors(const Campaign *campaign, GError **error)
{
    const Job *job = campaign->first_failure;

    if (job != NULL) {
        const SimStudyCell *cell = sim_study_cell(campaign->study, job->cell);
        g_propagate_prefixed_error(error, g_error_copy(job->error), "%s, start %s, replication %u: ",
                                   sim_study_point(campaign->study, cell->point)->label, cell->start, job->replication);
        if (campaign->n_failed_cells > 1)
            g_prefix_error(error, "%u points and starts failed, the first: ", campaign->n_failed_cells);
        return FALSE;
    }
    if (!g_atomic_int_get(&campaign->cancel))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_INTERRUPTED,
                "interrupted; %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " runs are in %s, and the same command goes on",
                campaign->progress.n_runs_done, campaign->progress.n_runs_wanted, campaign->study->db->path);
    return FALSE;
}

gboolean
sim_campaign_run(SimStudy *study, SimDesign *design, const SimExperiment *experiment, const SimCampaignOptions *options,
                 GError **error)
{
    Campaign campaign = {.study = study, .design = design, .experiment = experiment, .options = options};
    gboolean ok;

    g_assert(options->n_workers >= 1 && study->design_points->len == study->points->len);
    campaign_init(&campaign);
    campaign.pool = g_thread_pool_new(run_job, &campaign, (gint) options->n_workers, TRUE, error);
    ok = campaign.pool != NULL;
    if (ok) {
        ok = run_all(&campaign, error);
        g_thread_pool_free(campaign.pool, FALSE, TRUE);
        /* Another process need not wait for the lease. */
        sim_study_drop_claims(study, campaign.owner, NULL);
        ok = ok && collect_errors(&campaign, error);
    }
    campaign_clear(&campaign);
    return ok;
}
