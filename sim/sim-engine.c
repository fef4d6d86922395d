/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-engine.h"

/* No fiber may assume anything about the others' wake-ups. */
#define HORIZON_UNKNOWN G_MININT64

SimEngine *
sim_engine_new(guint32 n_agents)
{
    /* What each event touches fills one cache line. */
    SimEngine *engine = g_aligned_alloc0(1, sizeof *engine, 64);

    engine->n_agents = n_agents;
    engine->fingerprint = SIM_FINGERPRINT_FACTOR; /* so that events at time 0 count */
    engine->agents = g_aligned_alloc0(MAX(n_agents, 1), sizeof *engine->agents, 64);
    engine->horizon = HORIZON_UNKNOWN;
    sim_tree_init(&engine->tree, n_agents);
    for (guint32 i = 0; i < n_agents; i++) {
        engine->agents[i].id = i;
        engine->agents[i].engine = engine;
    }
    return engine;
}

void
sim_engine_free(SimEngine *engine)
{
    if (!engine)
        return;
    sim_tree_clear(&engine->tree);
    sim_fiber_stacks_free(engine->stacks);
    g_aligned_free(engine->agents);
    g_aligned_free(engine);
}

SimAgent *
sim_engine_add_step(SimEngine *engine, guint32 id, SimStepFn step, void *data)
{
    SimAgent *agent = &engine->agents[id];

    g_assert(id < engine->n_agents && !agent->step && !agent->body);
    agent->step = step;
    agent->data = data;
    return agent;
}

static void
fiber_entry(void *data)
{
    SimAgent *agent = data;

    agent->body(agent);
    for (;;)
        sim_block(agent->engine, agent);
}

SimAgent *
sim_engine_add_fiber(SimEngine *engine, guint32 id, void (*body)(SimAgent *), void *data)
{
    SimAgent *agent = &engine->agents[id];

    g_assert(id < engine->n_agents && !agent->step && !agent->body);
    if (!engine->stacks)
        engine->stacks = sim_fiber_stacks_new(engine->n_agents);
    agent->data = data;
    agent->body = body;
    sim_fiber_init(&agent->fiber, engine->stacks, id, fiber_entry, agent);
    return agent;
}

/* Beyond the second-level cache (some thousand agents) each turn would begin with a miss of the agent, then of its stack.
 * `agent` has just got its new wake-up, which changed who comes next in its part of the tree: the agent is fetched some
 * 16 turns ahead, and its stack, whose address must be there by then, some 8. GCC takes a function that only prefetches
 * for one without effect and drops the calls that it has not inlined early. */
static G_ALWAYS_INLINE inline void
prefetch_agent(const SimEngine *engine, const SimAgent *agent)
{
    __builtin_prefetch(&engine->agents[sim_tree_coming_slot(&engine->tree, agent->id, 4)], 1);
}

static G_ALWAYS_INLINE inline void
prefetch_stack(const SimEngine *engine, const SimAgent *agent)
{
    const char *stack = engine->agents[sim_tree_coming_slot(&engine->tree, agent->id, 3)].fiber.stack_pointer;

    __builtin_prefetch(stack, 1);
    __builtin_prefetch(stack + 64, 1);
    __builtin_prefetch(stack + 128, 1);
}

/* The running fiber sets its own wake-up to `key` and goes on only if it is the earliest of all. */
void
sim__yield(SimEngine *engine, SimAgent *agent, SimTime key)
{
    SimTime others = sim_tree_set(&engine->tree, agent->id, key);
    SimAgent *next = &engine->agents[sim_tree_min_slot(&engine->tree)];
    SimTime next_time = sim_tree_min_key(&engine->tree);

    prefetch_agent(engine, agent);
    prefetch_stack(engine, agent);
    if (G_UNLIKELY(next_time > engine->until)) {
        engine->horizon = HORIZON_UNKNOWN;
        sim_fiber_switch(&agent->fiber, &engine->main);
        return;
    }
    if (next == agent) {
        engine->horizon = MIN(others, engine->until + 1);
        return;
    }
    engine->horizon = HORIZON_UNKNOWN;
    next->now = next_time;
    sim_fiber_switch(&agent->fiber, next->step ? &engine->main : &next->fiber);
}

gboolean
sim_engine_run(SimEngine *engine, SimTime until)
{
    engine->until = MIN(until, SIM_TREE_IDLE - 1);
    while (sim_tree_min_key(&engine->tree) <= engine->until) {
        SimAgent *agent = &engine->agents[sim_tree_min_slot(&engine->tree)];

        agent->now = sim_tree_min_key(&engine->tree);
        if (agent->step) {
            sim__note_event(engine, agent);
            agent->step(engine, agent);
            prefetch_agent(engine, agent);
        } else {
            engine->horizon = HORIZON_UNKNOWN;
            sim_fiber_switch(&engine->main, &agent->fiber);
        }
    }
    return sim_tree_min_key(&engine->tree) < SIM_TREE_IDLE;
}
