/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks on schedules small enough to follow by hand; every time in picoseconds. test-lock-random.c has the rest. */
#include "sim-lock.h"

enum { N_GROUPS = 3, N_SITES = 2 };

/* All different and not symmetric, so that no mix-up of owner and waiter gives the right sum. Rows: from. */
static const SimTime transfer_ps[N_GROUPS * N_GROUPS] = {
    20,  100, 200, //
    110, 30,  210, //
    220, 230, 40,
};
static const SimDistance distance = {transfer_ps, N_GROUPS, .same_agent_ps = 5, .unknown_ps = 60};
static const SimLockCosts costs = {
    .acquire_ps = 7,
    .release_ps = 3,
    .handoff_permille = 1500,
    .spinner_ps = 11,
    .near_ps = 50, /* the own group only */
    .near_handoffs_max = 2,
};

/* Agent `agent` comes at `arrive` (or when its last visit is over), holds for `hold` and lets go; `granted` is the
 * answer. An agent's visits stand in order; its group is that of its first one. */
typedef struct {
    guint32 agent, group;
    SimTime arrive, hold;
    guint site;
    SimTime granted;
} Visit;

typedef struct {
    SimLock lock;
    const Visit *visit;
    guint n_visits;
} Stage;

static void
visitor(SimAgent *agent)
{
    Stage *stage = agent->data;

    for (guint i = 0; i < stage->n_visits; i++) {
        const Visit *visit = &stage->visit[i];

        if (visit->agent != agent->id)
            continue;
        agent->now = MAX(agent->now, visit->arrive);
        sim_lock_acquire(agent->engine, &stage->lock, agent, visit->site);
        g_assert_cmpint(agent->now, ==, visit->granted);
        agent->now += visit->hold;
        sim_lock_release(agent->engine, &stage->lock, agent);
        g_assert_cmpint(agent->now, ==, visit->granted + visit->hold + costs.release_ps);
    }
}

static void
assert_idle(const SimLock *lock)
{
    g_assert_false(lock->held);
    g_assert_cmpuint(lock->n_waiting, ==, 0);
    g_assert_null(lock->head);
    g_assert_null(lock->tail);
    g_assert_null(lock->far_head);
    g_assert_null(lock->far_tail);
}

/* Runs the visits; the caller clears the lock. */
static void
stage_play(Stage *stage, const char *kind, const Visit *visit, guint n_visits)
{
    g_autoptr(SimEngine) engine = NULL;
    guint32 n_agents = 0;

    stage->visit = visit;
    stage->n_visits = n_visits;
    for (guint i = 0; i < n_visits; i++)
        n_agents = MAX(n_agents, visit[i].agent + 1);
    engine = sim_engine_new(n_agents);
    sim_lock_init(&stage->lock, sim_lock_kind_find(kind), &distance, &costs, N_SITES, TRUE);
    for (guint i = n_visits; i-- > 0;) {
        SimAgent *agent = &engine->agents[visit[i].agent];

        agent->group = visit[i].group;
        if (!agent->body)
            sim_wake(engine, sim_engine_add_fiber(engine, visit[i].agent, visitor, stage), 0);
    }
    g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
    assert_idle(&stage->lock);
}

static void
play(const char *kind, const Visit *visit, guint n_visits)
{
    Stage stage;

    stage_play(&stage, kind, visit, n_visits);
    sim_lock_clear(&stage.lock);
}

/* Nobody waits: the operation and the way of the line from the last owner. The kinds agree. */
static void
test_uncontended(void)
{
    static const Visit visits[] = {
        {0, 0, 0, 40, 0, 67},      /* 0 + 7 + 60, let go at 110 */
        {0, 0, 2000, 40, 0, 2117}, /* from agent 1: + 7 + 110 */
        {1, 1, 500, 40, 0, 607},   /* from agent 0: + 7 + 100 */
        {1, 1, 1000, 40, 0, 1012}, /* its own: + 7 + 5 */
        {2, 1, 3000, 40, 0, 3107}, /* from agent 0 to group 1 */
        {3, 1, 4000, 40, 0, 4037}, /* from agent 2 of the same group: + 7 + 30 */
        {4, 2, 4080, 1, 0, 4297},  /* at the very moment agent 3 has let go (4037 + 43): free, + 7 + 210 */
    };

    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++)
        play((*kind)->name, visits, G_N_ELEMENTS(visits));
}

/* The four ways to a lock, of which the third waits for its turn alone and the fourth for a message too. */
static const Visit line_of_four[] = {
    {0, 0, 0, 400, 0, 67},     /* let go at 470 */
    {1, 1, 300, 100, 1, 620},  /* pending: 470 + 1.5 * 100; let go at 723 */
    {2, 2, 310, 10, 1, 1038},  /* head of the queue from the start: 723 + 1.5 * 210; let go at 1051 */
    {3, 0, 400, 1000, 0, 1588} /* told at 1038 + 220 = 1258 that it is the head: 207 after 1051, + 1.5 * 220 */
};

static void
test_qspinlock(void)
{
    static const Visit after_the_line[] = {
        {0, 0, 0, 40, 0, 67},     /* let go at 110 */
        {1, 1, 30, 10, 0, 260},   /* came while agent 0 was still getting the free lock, pending: 110 + 150 */
        {2, 1, 261, 300, 0, 318}, /* came when agent 1 had it, pending: 273 + 45, no message; let go at 621 */
        {3, 1, 270, 5, 0, 666},   /* behind the pending agent 2: 621 + 45; let go at 674 */
        {4, 1, 669, 5, 0, 719},   /* the queue is empty again, so pending: 674 + 45 */
    };

    play("qspinlock", line_of_four, G_N_ELEMENTS(line_of_four));
    play("qspinlock", after_the_line, G_N_ELEMENTS(after_the_line));
}

static void
test_ticket(void)
{
    static const Visit visits[] = {
        {0, 0, 0, 400, 0, 67},    /* let go at 470 */
        {1, 1, 300, 100, 1, 642}, /* 470 + 150 + 2 other spinners of 11; let go at 745 */
        {2, 2, 310, 10, 1, 1071}, /* 745 + 315 + 11; let go at 1084 */
        {3, 0, 400, 50, 0, 1414}, /* 1084 + 330; let go at 1467 */
        {4, 1, 1466, 5, 0, 1617}, /* after the holder has begun to let go (1464), before it has: 1467 + 150 */
    };

    play("ticket", visits, G_N_ELEMENTS(visits));
}

static void
test_cna(void)
{
    static const Visit visits[] = {
        {0, 0, 0, 400, 0, 67},    /* let go at 470 */
        {1, 1, 100, 50, 0, 786},  /* after two near hand-offs the far ones: 636 + 150; let go at 839 */
        {2, 0, 110, 50, 0, 500},  /* near: 470 + 30; let go at 553 */
        {3, 2, 120, 50, 0, 1154}, /* nobody near agent 1, so the oldest: 839 + 315; let go at 1207 */
        {4, 0, 130, 50, 0, 583},  /* near: 553 + 30; let go at 636 */
        {5, 0, 140, 50, 0, 1537}, /* nobody near agent 3: 1207 + 330; let go at 1590 */
        {6, 0, 150, 50, 0, 1620}, /* near: 1590 + 30 */
    };

    play("cna", visits, G_N_ELEMENTS(visits));
}

static void
assert_site(const SimLockSite *site, guint64 acquisitions, guint64 contended, SimTime wait_ps, SimTime hold_ps)
{
    g_assert_cmpuint(site->acquisitions, ==, acquisitions);
    g_assert_cmpuint(site->contended, ==, contended);
    g_assert_cmpint(site->wait_ps, ==, wait_ps);
    g_assert_cmpint(site->hold_ps, ==, hold_ps);
}

static void
test_statistics(void)
{
    Stage stage;
    const SimHist *waits;

    stage_play(&stage, "qspinlock", line_of_four, G_N_ELEMENTS(line_of_four));
    assert_site(&stage.lock.sites[0], 2, 1, 1588 - 400, 403 + 1003);
    assert_site(&stage.lock.sites[1], 2, 2, (620 - 300) + (1038 - 310), 103 + 13);
    waits = stage.lock.waits_ps;
    g_assert_cmpuint(sim_hist_count(waits), ==, 4);
    g_assert_cmpfloat(sim_hist_sum(waits), ==, 1188 + 320 + 728);
    g_assert_cmpint(sim_hist_min(waits), ==, 0);
    g_assert_cmpint(sim_hist_max(waits), ==, 1188);
    sim_lock_reset_statistics(&stage.lock);
    assert_site(&stage.lock.sites[0], 0, 0, 0, 0);
    assert_site(&stage.lock.sites[1], 0, 0, 0, 0);
    g_assert_cmpuint(sim_hist_count(waits), ==, 0);
    g_assert_cmpuint(stage.lock.owner.agent, ==, 3); /* the line stays where it is */
    sim_lock_clear(&stage.lock);
}

static void
nest(SimAgent *agent)
{
    SimLock *lock = agent->data;

    sim_lock_acquire(agent->engine, &lock[0], agent, 1);
    agent->now += 1000;
    sim_lock_acquire(agent->engine, &lock[1], agent, 0);
    agent->now += 100;
    sim_lock_release(agent->engine, &lock[1], agent);
    agent->now += 10;
    sim_lock_release(agent->engine, &lock[0], agent);
}

/* One lock inside of another: each books its own hold, at its own site. */
static void
test_nested(void)
{
    g_autoptr(SimEngine) engine = sim_engine_new(1);
    SimLock lock[2];
    SimTime inner = 100 + costs.release_ps;
    SimTime outer = 1000 + costs.acquire_ps + distance.unknown_ps + inner + 10 + costs.release_ps;

    for (guint i = 0; i < 2; i++)
        sim_lock_init(&lock[i], sim_lock_kind_find("qspinlock"), &distance, &costs, N_SITES, FALSE);
    sim_wake(engine, sim_engine_add_fiber(engine, 0, nest, lock), 0);
    g_assert_false(sim_engine_run(engine, SIM_TREE_IDLE));
    assert_site(&lock[0].sites[0], 0, 0, 0, 0);
    assert_site(&lock[0].sites[1], 1, 0, 0, outer);
    assert_site(&lock[1].sites[0], 1, 0, 0, inner);
    assert_site(&lock[1].sites[1], 0, 0, 0, 0);
    for (guint i = 0; i < 2; i++)
        sim_lock_clear(&lock[i]);
}

static void
try_often(SimAgent *agent)
{
    SimLock *lock = &((Stage *) agent->data)->lock;
    SimEngine *engine = agent->engine;

    agent->now = 100;
    g_assert_false(sim_lock_try(engine, lock, agent, 1)); /* held */
    g_assert_cmpint(agent->now, ==, 200);                 /* the look costs the way of the line, which stays there */
    agent->now = 469;
    g_assert_false(sim_lock_try(engine, lock, agent, 1)); /* let go at 470 */
    g_assert_cmpint(agent->now, ==, 569);
    g_assert_true(sim_lock_try(engine, lock, agent, 1));
    g_assert_cmpint(agent->now, ==, 569 + 7 + 100);
    agent->now = 1000;
    sim_lock_release(engine, lock, agent);
    agent->now = 2300;
    g_assert_false(sim_lock_try(engine, lock, agent, 1)); /* agent 0 has it again, and agent 2 waits */
}

/* A try never waits, counts only when it succeeds, and cannot slip in between a holder and a waiter. */
static void
test_try(void)
{
    static const Visit visits[] = {
        {0, 0, 0, 400, 0, 67},
        {0, 0, 2000, 500, 0, 2117}, /* from agent 1 */
        {2, 2, 2200, 10, 0, 2920},  /* 2620 + 300 */
    };

    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++) {
        g_autoptr(SimEngine) engine = sim_engine_new(3);
        Stage stage = {.visit = visits, .n_visits = G_N_ELEMENTS(visits)};

        sim_lock_init(&stage.lock, *kind, &distance, &costs, N_SITES, FALSE);
        for (guint32 id = 0; id < 3; id++) {
            sim_wake(engine, sim_engine_add_fiber(engine, id, id == 1 ? try_often : visitor, &stage), 0);
            engine->agents[id].group = id;
        }
        g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
        assert_idle(&stage.lock);
        assert_site(&stage.lock.sites[1], 1, 0, 0, 1003 - 676);
        sim_lock_clear(&stage.lock);
    }
}

static void
test_kinds(void)
{
    guint n = 0;

    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++, n++) {
        g_assert_true(sim_lock_kind_find((*kind)->name) == *kind);
        for (guint i = 0; i < n; i++)
            g_assert_cmpstr(sim_lock_kinds()[i]->name, !=, (*kind)->name);
    }
    g_assert_cmpuint(n, ==, 3);
    g_assert_null(sim_lock_kind_find("mutex"));
    g_assert_null(sim_lock_kind_find(""));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lock/uncontended", test_uncontended);
    g_test_add_func("/lock/qspinlock", test_qspinlock);
    g_test_add_func("/lock/ticket", test_ticket);
    g_test_add_func("/lock/cna", test_cna);
    g_test_add_func("/lock/statistics", test_statistics);
    g_test_add_func("/lock/nested", test_nested);
    g_test_add_func("/lock/try", test_try);
    g_test_add_func("/lock/kinds", test_kinds);
    return g_test_run();
}
