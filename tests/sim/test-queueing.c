/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lock resource against queueing theory (closed-forms.h). Each comparison asks for a t interval of independent
 * replications that holds the exact value and is narrow. There are N_COMPARISONS of them; each interval has a
 * confidence of 1 - 0.01 / N_COMPARISONS, so that right code had a chance of at least 99 % to pass all of them before
 * the seeds were fixed (Bonferroni). */
#include "closed-forms.h"
#include "sim-ci.h"
#include "sim-gsl.h"
#include "sim-lock.h"
#include "sim-rng.h"

#include <math.h>

enum { N_COMPARISONS = 46, N_REPLICATIONS = 10, MAX_CLIENTS = 400, MAX_STATIONS = 2 };

static guint n_compared;

/* A round of a client is a think, then each station once. Open models have no think: a source sends idle clients. */
typedef struct {
    double mean_think_ps;
    guint n_clients, n_stations;
    struct {
        double mean_hold_ps;
        gboolean is_constant;
    } station[MAX_STATIONS];
    gboolean is_open;
    const char *kind;
    SimLockCosts costs;
    SimTime transfer_ps; /* of every pair, and of the first touch */
    SimTime warm_up, end;
} Model;

typedef struct {
    const Model *model;
    SimDistance distance;
    SimLock lock[MAX_STATIONS];
    SimRng rng;
    SimAgent *idle;                  /* of an open model, through queue_next */
    guint64 n_rounds;                /* that ended in the window */
    guint64 n_visits[MAX_STATIONS];  /* that got the lock in the window */
    double wait_ps[MAX_STATIONS];    /* of those */
    double present_ps[MAX_STATIONS]; /* all customers' time at the station within the window */
    SimTime arrived[MAX_CLIENTS];    /* at the station where a client waits */
    gint waits_at[MAX_CLIENTS];      /* that station, -1 for none */
} Run;

static SimTime
draw_time(Run *run, double mean_ps, gboolean is_constant)
{
    return (SimTime) ((is_constant ? mean_ps : sim_rng_exponential(&run->rng, mean_ps)) + 0.5);
}

/* A client's stay at a station, as far as it lies in the window. */
static void
add_presence(Run *run, guint station, SimTime from, SimTime to)
{
    from = MAX(from, run->model->warm_up);
    to = MIN(to, run->model->end);
    run->present_ps[station] += (double) MAX(to - from, 0);
}

static void
visit_stations(Run *run, SimAgent *agent)
{
    const Model *model = run->model;

    for (guint k = 0; k < model->n_stations; k++) {
        SimTime hold = draw_time(run, model->station[k].mean_hold_ps, model->station[k].is_constant);
        SimTime arrived = agent->now;

        sim_sync(agent->engine, agent);
        run->arrived[agent->id] = arrived;
        run->waits_at[agent->id] = (gint) k;
        sim_lock_acquire(agent->engine, &run->lock[k], agent, 0);
        run->waits_at[agent->id] = -1;
        if (agent->now >= model->warm_up) {
            run->n_visits[k]++;
            run->wait_ps[k] += (double) (agent->now - arrived);
        }
        agent->now += hold;
        sim_lock_release(agent->engine, &run->lock[k], agent);
        add_presence(run, k, arrived, agent->now);
    }
    run->n_rounds += agent->now >= model->warm_up && agent->now < model->end;
}

static void
closed_client(SimAgent *agent)
{
    Run *run = agent->data;

    for (;;) {
        agent->now += draw_time(run, run->model->mean_think_ps, FALSE);
        visit_stations(run, agent);
    }
}

static void
open_client(SimAgent *agent)
{
    Run *run = agent->data;

    for (;;) {
        agent->queue_next = run->idle;
        run->idle = agent;
        sim_block(agent->engine, agent);
        visit_stations(run, agent);
        sim_sync(agent->engine, agent); /* idle from the end of the service on, not before */
    }
}

static void
source(SimEngine *engine, SimAgent *agent)
{
    Run *run = agent->data;
    SimAgent *client = run->idle;

    if (!client)
        g_error("more customers than %d at once", MAX_CLIENTS);
    run->idle = client->queue_next;
    sim_wake(engine, client, agent->now);
    sim_wake(engine, agent, agent->now + draw_time(run, run->model->mean_think_ps, FALSE));
}

static void
run_model(Run *run, const Model *model, guint64 replication)
{
    guint n_clients = model->is_open ? MAX_CLIENTS : model->n_clients;
    g_autoptr(SimEngine) engine = sim_engine_new(n_clients + 1);

    *run = (Run){.model = model, .distance = {&model->transfer_ps, 1, model->transfer_ps, model->transfer_ps}};
    sim_rng_init(&run->rng, 2026, replication, "test-queueing", "times");
    for (guint k = 0; k < model->n_stations; k++)
        sim_lock_init(&run->lock[k], sim_lock_kind_find(model->kind), &run->distance, &model->costs, 1, FALSE);
    for (guint32 id = 0; id < n_clients; id++) {
        sim_wake(engine, sim_engine_add_fiber(engine, id, model->is_open ? open_client : closed_client, run), 0);
        run->waits_at[id] = -1;
    }
    if (model->is_open)
        sim_wake(engine, sim_engine_add_step(engine, n_clients, source, run), 0);
    sim_engine_run(engine, model->end);
    for (guint32 id = 0; id < n_clients; id++)
        if (run->waits_at[id] >= 0)
            add_presence(run, (guint) run->waits_at[id], run->arrived[id], model->end);
    for (guint k = 0; k < model->n_stations; k++)
        sim_lock_clear(&run->lock[k]);
}

/* What the comparisons are about, one value a replication. */
typedef struct {
    double throughput[N_REPLICATIONS]; /* rounds per ps */
    double wait[MAX_STATIONS][N_REPLICATIONS];
    double present[MAX_STATIONS][N_REPLICATIONS];
} Results;

static void
replicate(const Model *model, Results *ret_results)
{
    for (guint r = 0; r < N_REPLICATIONS; r++) {
        double window = (double) (model->end - model->warm_up);
        Run run;

        run_model(&run, model, r);
        ret_results->throughput[r] = (double) run.n_rounds / window;
        for (guint k = 0; k < model->n_stations; k++) {
            ret_results->wait[k][r] = run.wait_ps[k] / (double) run.n_visits[k];
            ret_results->present[k][r] = run.present_ps[k] / window;
        }
    }
}

/* `resolution`: the largest half-width, as a fraction of the exact value, that still counts as a test. */
static void
compare(const char *what, const double *values, double exact, double resolution)
{
    double mean, half_width;

    g_assert_cmpuint(++n_compared, <=, N_COMPARISONS);
    sim_ci_mean(values, N_REPLICATIONS, 1.0 - 0.01 / N_COMPARISONS, &mean, &half_width);
    g_test_message("%s: %.6g +- %.2g, exact %.6g", what, mean, half_width, exact);
    g_assert_cmpfloat(half_width, <=, resolution * exact);
    g_assert_cmpfloat(fabs(mean - exact), <=, half_width);
}

static Model
station_model(double mean_hold_ps, gboolean is_constant, double mean_think_ps, guint n_clients, double n_rounds)
{
    double round = MAX(mean_hold_ps, (mean_think_ps + mean_hold_ps) / n_clients);
    Model model = {
        .mean_think_ps = mean_think_ps,
        .n_clients = n_clients,
        .n_stations = 1,
        .station = {{mean_hold_ps, is_constant}},
        .kind = "qspinlock",
        .warm_up = (SimTime) (0.1 * n_rounds * round),
        .end = (SimTime) (1.1 * n_rounds * round),
    };

    return model;
}

static const double loads[] = {0.5, 0.8};

static void
test_mm1(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
        double hold = 1e6, between = hold / loads[i];
        ClosedQueue exact = closed_mg1(1.0 / between, hold, 1.0);
        Model model = station_model(hold, FALSE, between, 1, 60000);
        Results results;

        model.is_open = TRUE;
        replicate(&model, &results);
        compare("M/M/1 throughput", results.throughput, exact.throughput, 0.02);
        compare("M/M/1 wait", results.wait[0], exact.mean_wait, 0.12);
        compare("M/M/1 present", results.present[0], exact.mean_present, 0.12);
    }
}

static void
test_md1(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
        double hold = 1e6, between = hold / loads[i];
        ClosedQueue exact = closed_mg1(1.0 / between, hold, 0.0);
        Model model = station_model(hold, TRUE, between, 1, 60000);
        Results results;

        model.is_open = TRUE;
        replicate(&model, &results);
        compare("M/D/1 wait", results.wait[0], exact.mean_wait, 0.1);
        compare("M/D/1 present", results.present[0], exact.mean_present, 0.1);
    }
}

/* Few clients and many, from a lock that is free most of the time to one that never is. */
static const struct {
    guint n_clients;
    double think_per_hold;
} closed_cases[] = {{2, 1.0}, {8, 12.0}, {40, 40.0}, {100, 20.0}};

static void
run_closed(gboolean is_constant, guint n_cases)
{
    for (guint i = 0; i < n_cases; i++) {
        guint n = closed_cases[i].n_clients;
        double hold = 1e6, think = closed_cases[i].think_per_hold * hold;
        ClosedQueue exact = is_constant ? closed_md1n(n, think, hold) : closed_mm1n(n, think, hold);
        ClosedQueue other = is_constant ? closed_mm1n(n, think, hold) : closed_md1n(n, think, hold);
        Model model = station_model(hold, is_constant, think, n, 30000);
        double mean, half_width;
        Results results;

        replicate(&model, &results);
        compare("throughput", results.throughput, exact.throughput, 0.02);
        compare("wait", results.wait[0], exact.mean_wait, 0.1);
        compare("present", results.present[0], exact.mean_present, 0.1);
        /* Narrow enough to tell the two laws apart, unless the lock is never free, where they agree. */
        sim_ci_mean(results.wait[0], N_REPLICATIONS, 0.999, &mean, &half_width);
        if (n < 100)
            g_assert_cmpfloat(fabs(mean - other.mean_wait), >, half_width);
    }
}

static void
test_mm1n(void)
{
    run_closed(FALSE, G_N_ELEMENTS(closed_cases));
}

static void
test_md1n(void)
{
    /* A lock that is never free has constant departures and no variance, so no interval: that case is left out. */
    run_closed(TRUE, G_N_ELEMENTS(closed_cases) - 1);
}

/* A constant hand-off is part of the service: a free lock costs it too, as the first transfer. */
static void
test_handoff(gconstpointer data)
{
    double hold = 600e3, handoff = 400e3, think = 15e6;
    guint n = 16;
    ClosedQueue exact = closed_md1n(n, think, hold + handoff);
    Model model = station_model(hold, TRUE, think, n, 30000);
    Results results;

    model.kind = data;
    model.transfer_ps = (SimTime) handoff;
    model.costs = (SimLockCosts){.handoff_permille = 1000, .near_ps = 0, .near_handoffs_max = 10};
    replicate(&model, &results);
    compare("throughput", results.throughput, exact.throughput, 0.02);
    for (guint r = 0; r < N_REPLICATIONS; r++)
        results.wait[0][r] -= handoff; /* the measured wait ends when the line has come */
    compare("wait", results.wait[0], exact.mean_wait, 0.1);
}

static void
test_mva(void)
{
    static const guint populations[] = {1, 5, 20};
    double think = 5e6;
    ClosedStation stations[] = {{TRUE, think}, {FALSE, 1e6}, {FALSE, 0.7e6}};

    for (guint i = 0; i < G_N_ELEMENTS(populations); i++) {
        double present[G_N_ELEMENTS(stations)];
        double throughput = closed_mva(stations, G_N_ELEMENTS(stations), populations[i], present);
        Model model = station_model(stations[1].demand, FALSE, think, populations[i], 20000);
        Results results;

        model.n_stations = 2;
        model.station[1].mean_hold_ps = stations[2].demand;
        replicate(&model, &results);
        compare("network throughput", results.throughput, throughput, 0.03);
        compare("network station 1", results.present[0], present[1], 0.1);
        compare("network station 2", results.present[1], present[2], 0.1);
    }
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/queueing/mm1", test_mm1);
    g_test_add_func("/queueing/md1", test_md1);
    g_test_add_func("/queueing/mm1n", test_mm1n);
    g_test_add_func("/queueing/md1n", test_md1n);
    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++) {
        g_autofree char *path = g_strdup_printf("/queueing/handoff/%s", (*kind)->name);
        g_test_add_data_func(path, (*kind)->name, test_handoff);
    }
    g_test_add_func("/queueing/mva", test_mva);
    return g_test_run();
}
