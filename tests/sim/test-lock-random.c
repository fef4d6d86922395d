/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of locks over random closed models: everybody comes through, one at a time, in the order of the
 * discipline, at times that a second, plain computation from the record gives too. */
#include "sim-lock.h"
#include "sim-rng.h"

enum { MAX_AGENTS = 40, N_GROUPS = 4, N_ROUNDS = 60 };

/* One acquisition, in the order in which they were granted. */
typedef struct {
    guint32 agent;
    SimTime arrived, granted, released;
} Turn;

typedef struct {
    SimLock lock;
    SimLockCosts costs;
    SimDistance distance;
    SimTime transfer_ps[N_GROUPS * N_GROUPS];
    SimTime mean_think, mean_hold;
    guint32 n_agents;
    guint32 group[MAX_AGENTS];
    SimRng rng[MAX_AGENTS];
    /* Step agents: what is under way. */
    enum { THINKS, WAITS, HOLDS } state[MAX_AGENTS];
    SimTime arrived[MAX_AGENTS];
    guint n_done[MAX_AGENTS];
    GArray *turns; /* Turn */
} Model;

/* Whole numbers from 1 on, small enough for ties to be common. */
static SimTime
draw(Model *model, guint32 id, SimTime mean)
{
    return 1 + (SimTime) sim_rng_below(&model->rng[id], (guint64) (2 * mean - 1));
}

static Turn *
add_turn(Model *model, const SimAgent *agent, SimTime arrived)
{
    Turn turn = {agent->id, arrived, agent->now, 0};

    g_array_append_val(model->turns, turn);
    return &g_array_index(model->turns, Turn, model->turns->len - 1);
}

static void
client_fiber(SimAgent *agent)
{
    Model *model = agent->data;

    for (guint i = 0; i < N_ROUNDS; i++) {
        SimTime arrived = agent->now += draw(model, agent->id, model->mean_think), hold;
        guint index;

        sim_lock_acquire(agent->engine, &model->lock, agent, 0);
        add_turn(model, agent, arrived);
        index = model->turns->len - 1;
        hold = draw(model, agent->id, model->mean_hold);
        agent->now += hold;
        sim_lock_release(agent->engine, &model->lock, agent);
        g_array_index(model->turns, Turn, index).released = agent->now;
    }
}

/* The lock is held from agent->now on, and this moment is in order. */
static void
client_holds(SimEngine *engine, SimAgent *agent)
{
    Model *model = agent->data;
    Turn *turn = add_turn(model, agent, model->arrived[agent->id]);

    agent->now += draw(model, agent->id, model->mean_hold);
    turn->released = agent->now + model->costs.release_ps;
    model->state[agent->id] = HOLDS;
    if (model->lock.kind->ordered_release) {
        sim_wake(engine, agent, agent->now);
        return;
    }
    agent->step(engine, agent);
}

static void
client_step(SimEngine *engine, SimAgent *agent)
{
    Model *model = agent->data;
    guint32 id = agent->id;

    switch (model->state[id]) {
    case THINKS:
        model->arrived[id] = agent->now;
        model->state[id] = WAITS;
        switch (sim_lock_enter(&model->lock, agent, 0)) {
        case SIM_LOCK_GOT:
            client_holds(engine, agent);
            break;
        case SIM_LOCK_PROMISED:
            sim_wake(engine, agent, agent->now);
            break;
        case SIM_LOCK_QUEUED:
            sim_sleep(engine, agent);
            break;
        }
        break;
    case WAITS:
        client_holds(engine, agent);
        break;
    case HOLDS:
        sim_lock_leave(engine, &model->lock, agent);
        model->state[id] = THINKS;
        if (++model->n_done[id] == N_ROUNDS)
            sim_sleep(engine, agent);
        else
            sim_wake(engine, agent, agent->now + draw(model, id, model->mean_think));
        break;
    }
}

static void
model_init(Model *model, guint64 seed)
{
    SimRng rng;

    *model = (Model){0};
    sim_rng_init(&rng, seed, 0, "test-lock-random", "model");
    model->n_agents = 1 + (guint32) sim_rng_below(&rng, MAX_AGENTS);
    for (guint i = 0; i < N_GROUPS * N_GROUPS; i++)
        model->transfer_ps[i] = (SimTime) (sim_rng_below(&rng, 30) + (i % (N_GROUPS + 1) ? 40 : 1));
    model->distance = (SimDistance){model->transfer_ps, N_GROUPS, 3, 25};
    model->costs = (SimLockCosts){
        .acquire_ps = (SimTime) sim_rng_below(&rng, 6),
        .release_ps = (SimTime) sim_rng_below(&rng, 4),
        .handoff_permille = 500 * (guint) sim_rng_below(&rng, 4),
        .spinner_ps = (SimTime) sim_rng_below(&rng, 10),
        .near_ps = 31,
        .near_handoffs_max = (guint) (seed % 4 == 3 ? 100 : seed % 4),
    };
    model->mean_think = (SimTime) (1 + sim_rng_below(&rng, 2000));
    model->mean_hold = (SimTime) (1 + sim_rng_below(&rng, 60));
    for (guint32 id = 0; id < model->n_agents; id++) {
        g_autofree char *component = g_strdup_printf("client/%u", id);
        sim_rng_init(&model->rng[id], seed, 0, component, "think and hold");
        model->group[id] = (guint32) sim_rng_below(&rng, N_GROUPS);
    }
    model->turns = g_array_new(FALSE, FALSE, sizeof(Turn));
}

static void
model_run(Model *model, const SimLockKind *kind, gboolean with_steps, guint64 seed)
{
    g_autoptr(SimEngine) engine = NULL;

    model_init(model, seed);
    sim_lock_init(&model->lock, kind, &model->distance, &model->costs, 1, TRUE);
    engine = sim_engine_new(model->n_agents);
    for (guint32 id = 0; id < model->n_agents; id++) {
        SimAgent *agent = with_steps ? sim_engine_add_step(engine, id, client_step, model)
                                     : sim_engine_add_fiber(engine, id, client_fiber, model);
        agent->group = model->group[id];
        sim_wake(engine, agent, with_steps ? draw(model, id, model->mean_think) : 0);
    }
    g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
}

static void
model_clear(Model *model)
{
    sim_lock_clear(&model->lock);
    g_array_unref(model->turns);
}

static const Turn *
turn_at(const Model *model, guint i)
{
    return &g_array_index(model->turns, Turn, i);
}

/* By (time, agent), as the engine orders what happens. */
static gboolean
is_before(SimTime time, guint32 agent, SimTime other_time, guint32 other_agent)
{
    return time < other_time || (time == other_time && agent < other_agent);
}

/* Whether turn `i` found the lock taken. Where releases are ordered, a waiter of the very moment of release counts when
 * its number is lower than the releaser's. */
static gboolean
turn_waited(const Model *model, guint i)
{
    const Turn *turn = turn_at(model, i), *last;

    if (i == 0)
        return FALSE;
    last = turn_at(model, i - 1);
    return turn->arrived < last->released || (model->lock.kind->ordered_release && model->costs.release_ps == 0 &&
                                              is_before(turn->arrived, turn->agent, last->released, last->agent));
}

/* Nobody is lost in a queue, nobody holds it beside another, and the statistics are the sums of the record. */
static void
check_conservation(const Model *model)
{
    const SimLockSite *site = &model->lock.sites[0];
    SimTime wait = 0, hold = 0;
    guint contended = 0;

    g_assert_cmpuint(model->turns->len, ==, model->n_agents * N_ROUNDS);
    g_assert_cmpuint(model->lock.n_waiting, ==, 0);
    g_assert_null(model->lock.head);
    g_assert_null(model->lock.far_head);
    for (guint i = 0; i < model->turns->len; i++) {
        const Turn *turn = turn_at(model, i);
        SimTime free_since = i ? turn_at(model, i - 1)->released : 0;

        g_assert_cmpint(turn->granted, >=, MAX(free_since, turn->arrived));
        hold += turn->released - turn->granted;
        if (turn_waited(model, i)) {
            contended += turn->granted > turn->arrived;
            wait += turn->granted - turn->arrived;
        }
    }
    g_assert_cmpuint(site->acquisitions, ==, model->turns->len);
    g_assert_cmpuint(site->contended, ==, contended);
    g_assert_cmpint(site->wait_ps, ==, wait);
    g_assert_cmpint(site->hold_ps, ==, hold);
    g_assert_cmpuint(sim_hist_count(model->lock.waits_ps), ==, model->turns->len);
    g_assert_cmpfloat(sim_hist_sum(model->lock.waits_ps), ==, (double) wait);
}

/* Waiters, besides the one who gets it, at the moment turn `i` was handed over. */
static guint
count_other_waiters(const Model *model, guint i)
{
    const Turn *releaser = turn_at(model, i - 1);
    SimTime moment = releaser->released - model->costs.release_ps;
    guint n = 0;

    for (guint k = i + 1; k < model->turns->len; k++)
        n += is_before(turn_at(model, k)->arrived, turn_at(model, k)->agent, moment, releaser->agent);
    return n;
}

static SimTime
line_transfer(const Model *model, guint32 from, guint32 to)
{
    if (from == to)
        return model->distance.same_agent_ps;
    return model->transfer_ps[model->group[from] * N_GROUPS + model->group[to]];
}

/* When turn `i` is granted, from what came before it. */
static SimTime
expected_grant(const Model *model, guint i)
{
    const Turn *turn = turn_at(model, i), *last = i ? turn_at(model, i - 1) : NULL;
    SimTime transfer, handoff;

    if (!last)
        return turn->arrived + model->costs.acquire_ps + model->distance.unknown_ps;
    transfer = line_transfer(model, last->agent, turn->agent);
    if (!turn_waited(model, i))
        return turn->arrived + model->costs.acquire_ps + transfer;
    handoff = transfer * model->costs.handoff_permille / 1000;
    if (g_str_equal(model->lock.kind->name, "ticket"))
        handoff += model->costs.spinner_ps * count_other_waiters(model, i);
    if (g_str_equal(model->lock.kind->name, "qspinlock") && i >= 2) {
        /* The message from an owner that queued behind another waiter itself. */
        const Turn *last_but_one = turn_at(model, i - 2);
        gboolean last_was_behind =
            turn_waited(model, i - 1) && turn_waited(model, i - 2) && last->arrived < last_but_one->granted;
        if (last_was_behind && turn->arrived < last->granted)
            handoff += MAX(last->granted + transfer - last->released, 0);
    }
    return last->released + handoff;
}

static void
check_fifo(const Model *model)
{
    for (guint i = 0; i < model->turns->len; i++) {
        const Turn *turn = turn_at(model, i);

        if (i)
            g_assert_true(
                is_before(turn_at(model, i - 1)->arrived, turn_at(model, i - 1)->agent, turn->arrived, turn->agent));
        g_assert_cmpint(turn->granted, ==, expected_grant(model, i));
    }
}

/* Of any near_handoffs_max + 1 waiters served in a row one had come before all others that still waited. */
static void
check_cna(const Model *model)
{
    guint n_passed_over = 0;

    for (guint i = 1; i < model->turns->len; i++) {
        const Turn *turn = turn_at(model, i);
        gboolean is_oldest = TRUE;

        g_assert_cmpint(turn->granted, ==, expected_grant(model, i));
        if (!turn_waited(model, i))
            continue;
        for (guint k = i + 1; k < model->turns->len; k++)
            if (is_before(turn_at(model, k)->arrived, turn_at(model, k)->agent, turn->arrived, turn->agent))
                is_oldest = FALSE;
        n_passed_over = is_oldest ? 0 : n_passed_over + 1;
        g_assert_cmpuint(n_passed_over, <=, model->costs.near_handoffs_max);
        /* Only a near one may go before the oldest. */
        if (!is_oldest)
            g_assert_cmpint(line_transfer(model, turn_at(model, i - 1)->agent, turn->agent), <=, model->costs.near_ps);
    }
}

enum { N_SEEDS = 60 };

static void
test_kind(gconstpointer data)
{
    const SimLockKind *kind = data;
    guint n_contended = 0;

    for (guint64 seed = 0; seed < N_SEEDS; seed++) {
        Model model;

        model_run(&model, kind, FALSE, seed);
        check_conservation(&model);
        if (g_str_equal(kind->name, "cna"))
            check_cna(&model);
        if (!g_str_equal(kind->name, "cna") || model.costs.near_handoffs_max == 0)
            check_fifo(&model);
        n_contended += model.lock.sites[0].contended > N_ROUNDS;
        model_clear(&model);
    }
    g_assert_cmpuint(n_contended, >, N_SEEDS / 2); /* or nothing was tested */
}

/* The same model as straight code and as a state machine: the same turns at the same times. */
static void
test_steps_equal_fibers(gconstpointer data)
{
    const SimLockKind *kind = data;

    for (guint64 seed = 0; seed < N_SEEDS; seed++) {
        Model fibers, steps;

        model_run(&fibers, kind, FALSE, seed);
        model_run(&steps, kind, TRUE, seed);
        g_assert_cmpuint(fibers.turns->len, ==, steps.turns->len);
        for (guint i = 0; i < fibers.turns->len; i++) {
            const Turn *fiber = turn_at(&fibers, i), *step = turn_at(&steps, i);
            g_assert_cmpuint(step->agent, ==, fiber->agent);
            g_assert_cmpint(step->arrived, ==, fiber->arrived);
            g_assert_cmpint(step->granted, ==, fiber->granted);
            g_assert_cmpint(step->released, ==, fiber->released);
        }
        model_clear(&fibers);
        model_clear(&steps);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++) {
        g_autofree char *random = g_strdup_printf("/lock-random/%s/turns", (*kind)->name);
        g_autofree char *steps = g_strdup_printf("/lock-random/%s/steps-equal-fibers", (*kind)->name);
        g_test_add_data_func(random, *kind, test_kind);
        g_test_add_data_func(steps, *kind, test_steps_equal_fibers);
    }
    return g_test_run();
}
