/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-engine.h"
#include "sim-rng.h"

/* A world in which each agent touches shared state at times that do not depend on the others. The order of all touches
 * is then known beforehand: sort them by (time, agent). */
typedef struct {
    SimTime time;
    guint32 agent;
} Touch;

enum { N_TOUCHES = 40 };

typedef struct {
    guint32 n_agents;
    guint64 seed;
    GArray *log; /* Touch */
} Walk;

/* Agent `id`'s time of touch `i` after `previous`; small steps, so that many agents meet at one time. */
static SimTime
walk_step(const Walk *walk, guint32 id, guint i)
{
    SimRng rng;

    sim_rng_seed(&rng, walk->seed + id * 1000 + i);
    return 1 + (SimTime) sim_rng_below(&rng, 6);
}

static void
walk_log(Walk *walk, const SimAgent *agent)
{
    Touch touch = {agent->now, agent->id};

    g_array_append_val(walk->log, touch);
}

static void
walk_fiber(SimAgent *agent)
{
    Walk *walk = agent->data;

    for (guint i = 0; i < N_TOUCHES; i++) {
        /* Two private pieces, then the touch. */
        SimTime step = walk_step(walk, agent->id, i);
        agent->now += step / 2;
        agent->now += step - step / 2;
        sim_sync(agent->engine, agent);
        walk_log(walk, agent);
    }
}

static void
walk_step_agent(SimEngine *engine, SimAgent *agent)
{
    Walk *walk = agent->data;
    guint n_done = agent->group++;

    if (n_done)
        walk_log(walk, agent);
    if (n_done == N_TOUCHES)
        sim_sleep(engine, agent);
    else
        sim_wake(engine, agent, agent->now + walk_step(walk, agent->id, n_done));
}

/* is_step: whether agent `id` is a step agent. */
static SimEngine *
walk_start(Walk *walk, gboolean (*is_step)(guint32 id))
{
    SimEngine *engine = sim_engine_new(walk->n_agents);

    g_array_set_size(walk->log, 0);
    for (guint32 id = 0; id < walk->n_agents; id++) {
        SimAgent *agent = is_step(id) ? sim_engine_add_step(engine, id, walk_step_agent, walk)
                                      : sim_engine_add_fiber(engine, id, walk_fiber, walk);
        sim_wake(engine, agent, 0);
    }
    return engine;
}

static gint
compare_touches(gconstpointer a, gconstpointer b)
{
    const Touch *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->agent < y->agent ? -1 : x->agent > y->agent;
}

static void
walk_check(const Walk *walk)
{
    g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(Touch));

    for (guint32 id = 0; id < walk->n_agents; id++) {
        Touch touch = {0, id};
        for (guint i = 0; i < N_TOUCHES; i++) {
            touch.time += walk_step(walk, id, i);
            g_array_append_val(expected, touch);
        }
    }
    g_array_sort(expected, compare_touches);
    g_assert_cmpuint(walk->log->len, ==, expected->len);
    for (guint i = 0; i < expected->len; i++) {
        g_assert_cmpint(g_array_index(walk->log, Touch, i).time, ==, g_array_index(expected, Touch, i).time);
        g_assert_cmpuint(g_array_index(walk->log, Touch, i).agent, ==, g_array_index(expected, Touch, i).agent);
    }
}

static gboolean
no_agent(guint32 id)
{
    return FALSE;
}

static gboolean
every_agent(guint32 id)
{
    return TRUE;
}

static gboolean
every_third_agent(guint32 id)
{
    return id % 3 == 1;
}

static gboolean (*const mixtures[])(guint32 id) = {no_agent, every_agent, every_third_agent};

static void
test_order(void)
{
    for (guint m = 0; m < G_N_ELEMENTS(mixtures); m++)
        for (guint32 n = 1; n < 70; n += 4) {
            Walk walk = {n, 17 * n, g_array_new(FALSE, FALSE, sizeof(Touch))};
            g_autoptr(SimEngine) engine = walk_start(&walk, mixtures[m]);

            g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
            g_assert_cmpint(sim_engine_next_time(engine), ==, SIM_TREE_IDLE);
            walk_check(&walk);
            g_array_unref(walk.log);
        }
}

/* Slices of 0 to 4 time units, many of them empty. Nothing happens after the end of its slice. */
static void
test_slices(void)
{
    Walk walk = {23, 5, g_array_new(FALSE, FALSE, sizeof(Touch))};

    for (guint m = 0; m < G_N_ELEMENTS(mixtures); m++) {
        g_autoptr(SimEngine) whole = walk_start(&walk, mixtures[m]);
        g_autoptr(SimEngine) cut = NULL;
        SimTime until = 0;
        SimRng rng;

        sim_engine_run(whole, 1000);
        cut = walk_start(&walk, mixtures[m]);
        sim_rng_init(&rng, 1, m, "test-engine", "slices");
        for (gboolean goes_on = TRUE; goes_on;) {
            until += (SimTime) sim_rng_below(&rng, 5);
            goes_on = sim_engine_run(cut, until);
            if (walk.log->len)
                g_assert_cmpint(g_array_index(walk.log, Touch, walk.log->len - 1).time, <=, until);
            g_assert_cmpint(sim_engine_next_time(cut), >, until);
        }
        walk_check(&walk);
        g_assert_cmpuint(cut->fingerprint, ==, whole->fingerprint);
        g_assert_cmpuint(cut->n_events, ==, whole->n_events);
    }
    g_array_unref(walk.log);
}

/* Agent i wakes once, at time[i]; the first one later by `delay`. */
static guint64
fingerprint_of(const guint32 *time, guint n, SimTime delay)
{
    g_autoptr(SimEngine) engine = sim_engine_new(n);

    for (guint i = 0; i < n; i++) {
        SimAgent *agent = sim_engine_add_step(engine, i, sim_sleep, NULL);
        sim_wake(engine, agent, time[i] + delay * (i == 0));
    }
    sim_engine_run(engine, SIM_TIME_MAX);
    return engine->fingerprint;
}

/* Every one of 2,000 random orders of 12 agents has a fingerprint of its own, and so has a run in which a single touch
 * comes 1 ps later. With 64 good bits a collision has a probability of 1e-12. */
static void
test_fingerprint(void)
{
    enum { n = 12, n_orders = 2000 };
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    guint32 order[n];
    SimRng rng;

    sim_rng_init(&rng, 1, 0, "test-engine", "fingerprint");
    for (guint i = 0; i < n; i++)
        order[i] = i * 2;
    g_assert_cmpuint(fingerprint_of(order, n, 0), ==, fingerprint_of(order, n, 0));
    for (guint k = 0; k < n_orders; k++) {
        guint64 fingerprint = fingerprint_of(order, n, 0);
        gboolean is_new = g_hash_table_add(seen, g_memdup2(&fingerprint, sizeof fingerprint));

        g_assert_true(is_new);
        g_assert_cmpuint(fingerprint_of(order, n, 1), !=, fingerprint);
        for (guint i = n - 1; i > 0; i--) {
            guint j = (guint) sim_rng_below(&rng, i + 1);
            guint32 other = order[j];
            order[j] = order[i];
            order[i] = other;
        }
    }
}

/* Which agent comes when at one time must reach more than a few bits, and an event at time 0 of agent 0 must count. */
static void
test_fingerprint_of_ties(void)
{
    enum { n_agents = 4096 };
    g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);

    for (guint32 id = 0; id < n_agents; id++) {
        g_autoptr(SimEngine) engine = sim_engine_new(n_agents);
        guint64 start = engine->fingerprint;

        sim_wake(engine, sim_engine_add_step(engine, id, sim_sleep, NULL), 0);
        sim_engine_run(engine, 0);
        g_assert_cmpuint(engine->fingerprint, !=, start);
        /* The low half alone tells them apart: 4,096 of 2^32 values, chance of a collision 0.2 %, and it has none. */
        g_assert_true(g_hash_table_add(seen, GUINT_TO_POINTER((guint32) engine->fingerprint)));
    }
}

typedef struct {
    GString *log;
    SimAgent *other;
    gint shared;
} Scene;

static void
note(SimAgent *agent, const char *what)
{
    Scene *scene = agent->data;

    g_string_append_printf(scene->log, "%s@%" G_GINT64_FORMAT " ", what, agent->now);
}

static void
sleeper(SimAgent *agent)
{
    sim_block(agent->engine, agent);
    note(agent, "woken");
    sim_block(agent->engine, agent);
    note(agent, "again");
}

static void
waker(SimAgent *agent)
{
    Scene *scene = agent->data;

    agent->now += 10;
    sim_sync(agent->engine, agent); /* nobody else is due: its horizon is far */
    note(agent, "wakes");
    sim_wake(agent->engine, scene->other, 15);
    agent->now += 10;
    sim_sync(agent->engine, agent); /* at 20, so the other must have come at 15 */
    note(agent, "goes on");
    sim_wake(agent->engine, scene->other, agent->now);
    sim_sync(agent->engine, agent); /* the other is due at this very time */
    note(agent, "ends");
}

static void
run_waking(gboolean waker_is_first, const char *expected)
{
    g_autoptr(GString) log = g_string_new(NULL);
    g_autoptr(SimEngine) engine = sim_engine_new(2);
    Scene scene = {.log = log};
    SimAgent *first = sim_engine_add_fiber(engine, waker_is_first ? 0 : 1, waker, &scene);

    scene.other = sim_engine_add_fiber(engine, waker_is_first ? 1 : 0, sleeper, &scene);
    sim_wake(engine, scene.other, 0);
    sim_wake(engine, first, 0);
    g_assert_false(sim_engine_run(engine, 1000));
    g_assert_cmpstr(log->str, ==, expected);
}

/* A wake-up earlier than the horizon the running fiber was given. At equal times the lower number goes first. */
static void
test_wake_before_horizon(void)
{
    run_waking(TRUE, "wakes@10 woken@15 goes on@20 ends@20 again@20 ");
    run_waking(FALSE, "wakes@10 woken@15 goes on@20 again@20 ends@20 ");
}

static void
step_pinger(SimEngine *engine, SimAgent *agent)
{
    Scene *scene = agent->data;

    note(agent, "ping");
    sim_wake(engine, scene->other, agent->now + 3);
    if (agent->now < 20)
        sim_wake(engine, agent, agent->now + 10);
    else
        sim_sleep(engine, agent);
}

static void
fiber_ponger(SimAgent *agent)
{
    for (;;) {
        sim_block(agent->engine, agent);
        note(agent, "pong");
    }
}

/* A step agent wakes a fiber that never returns; the engine is freed with it suspended. */
static void
test_step_wakes_fiber(void)
{
    g_autoptr(GString) log = g_string_new(NULL);
    g_autoptr(SimEngine) engine = sim_engine_new(2);
    Scene scene = {.log = log};
    SimAgent *pinger = sim_engine_add_step(engine, 1, step_pinger, &scene);

    scene.other = sim_engine_add_fiber(engine, 0, fiber_ponger, &scene);
    sim_wake(engine, scene.other, 0);
    sim_wake(engine, pinger, 0);
    g_assert_true(sim_engine_run(engine, 12)); /* the end is included, what comes later is left */
    g_assert_cmpstr(log->str, ==, "ping@0 pong@3 ping@10 ");
    g_assert_cmpint(sim_engine_next_time(engine), ==, 13);
    g_assert_false(sim_engine_run(engine, 23));
    g_assert_cmpstr(log->str, ==, "ping@0 pong@3 ping@10 pong@13 ping@20 pong@23 ");
}

/* A body that has returned stays idle: waking it again runs nothing. */
static void
test_return(void)
{
    g_autoptr(GString) log = g_string_new(NULL);
    g_autoptr(SimEngine) engine = sim_engine_new(1);
    Scene scene = {.log = log};
    SimAgent *agent = sim_engine_add_fiber(engine, 0, sleeper, &scene);

    for (SimTime t = 0; t < 6; t++) {
        sim_wake(engine, agent, t);
        g_assert_false(sim_engine_run(engine, t));
    }
    g_assert_cmpstr(log->str, ==, "woken@1 again@2 ");
}

/* Fills `depth` frames with values of its own, lets others run, and finds them unchanged. */
static guint64 __attribute__((noinline)) descend(SimAgent *agent, guint depth)
{
    volatile guint64 frame[32];
    guint64 sum = 0;

    for (guint i = 0; i < 32; i++)
        frame[i] = agent->id * 1000003u + depth * 37u + i;
    if (depth)
        sum = descend(agent, depth - 1);
    else
        for (guint i = 0; i < 3; i++) {
            agent->now += 1 + agent->id % 5;
            sim_sync(agent->engine, agent);
        }
    for (guint i = 0; i < 32; i++) {
        g_assert_cmpuint(frame[i], ==, agent->id * 1000003u + depth * 37u + i);
        sum += frame[i];
    }
    return sum;
}

static void
deep_body(SimAgent *agent)
{
    double kept = agent->id * 0.1; /* lives in a register or on this stack across the switches */
    guint64 *sum = agent->data;

    *sum += descend(agent, 100);
    g_assert_cmpfloat(kept, ==, agent->id * 0.1);
}

/* 700 fibers with some 30 KiB of stack in use each, all suspended at once. */
static void
test_many_deep_fibers(void)
{
    enum { n = 700 };
    g_autoptr(SimEngine) engine = sim_engine_new(n);
    guint64 sum = 0, expected = 0;

    for (guint32 id = 0; id < n; id++) {
        sim_wake(engine, sim_engine_add_fiber(engine, id, deep_body, &sum), 0);
        for (guint depth = 0; depth <= 100; depth++)
            for (guint i = 0; i < 32; i++)
                expected += id * 1000003u + depth * 37u + i;
    }
    g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
    g_assert_cmpuint(sum, ==, expected);
    g_assert_cmpuint(engine->n_events, ==, n * 3); /* an end is no touch */
}

static void
overflowing_body(SimAgent *agent)
{
    guint64 *sum = agent->data;

    *sum += descend(agent, 100000);
}

/* Too deep a stack must end the program at the guard page, not run into the neighbour's stack. */
static void
test_stack_overflow(void)
{
    if (g_test_subprocess()) {
        g_autoptr(SimEngine) engine = sim_engine_new(3);
        guint64 sum = 0;

        for (guint32 id = 0; id < 3; id++)
            sim_wake(engine, sim_engine_add_fiber(engine, id, overflowing_body, &sum), 0);
        sim_engine_run(engine, SIM_TIME_MAX);
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_failed();
}

static void
count_up(SimAgent *agent)
{
    Scene *scene = agent->data;

    for (guint i = 0; i < 5; i++) {
        agent->now += 10;
        sim_sync(agent->engine, agent);
        scene->shared++;
    }
}

static void
observe(SimEngine *engine, SimAgent *agent)
{
    Scene *scene = agent->data;

    /* Both counters have been here. */
    g_assert_cmpint(scene->shared, ==, 2 * (agent->now / 10));
    if (agent->now < 50)
        sim_wake(engine, agent, agent->now + 10);
    else
        sim_sleep(engine, agent);
}

/* The agent with the highest number sees each moment's final state. */
static void
test_observer_last(void)
{
    g_autoptr(SimEngine) engine = sim_engine_new(3);
    Scene scene = {0};

    for (guint32 id = 0; id < 2; id++)
        sim_wake(engine, sim_engine_add_fiber(engine, id, count_up, &scene), 0);
    sim_wake(engine, sim_engine_add_step(engine, 2, observe, &scene), 0);
    g_assert_false(sim_engine_run(engine, SIM_TIME_MAX));
    g_assert_cmpint(scene.shared, ==, 10);
}

/* Two engines side by side share nothing. */
static void
test_two_engines(void)
{
    Walk one = {9, 1, g_array_new(FALSE, FALSE, sizeof(Touch))},
         two = {14, 2, g_array_new(FALSE, FALSE, sizeof(Touch))};
    g_autoptr(SimEngine) first = walk_start(&one, no_agent);
    g_autoptr(SimEngine) second = walk_start(&two, every_third_agent);

    for (SimTime until = 0; until < 300; until += 7) {
        sim_engine_run(first, until);
        sim_engine_run(second, until);
    }
    walk_check(&one);
    walk_check(&two);
    g_array_unref(one.log);
    g_array_unref(two.log);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/engine/order", test_order);
    g_test_add_func("/engine/slices", test_slices);
    g_test_add_func("/engine/fingerprint", test_fingerprint);
    g_test_add_func("/engine/fingerprint-of-ties", test_fingerprint_of_ties);
    g_test_add_func("/engine/wake-before-horizon", test_wake_before_horizon);
    g_test_add_func("/engine/step-wakes-fiber", test_step_wakes_fiber);
    g_test_add_func("/engine/return", test_return);
    g_test_add_func("/engine/many-deep-fibers", test_many_deep_fibers);
    g_test_add_func("/engine/stack-overflow", test_stack_overflow);
    g_test_add_func("/engine/observer-last", test_observer_last);
    g_test_add_func("/engine/two-engines", test_two_engines);
    return g_test_run();
}
