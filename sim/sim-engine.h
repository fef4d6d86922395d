/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim-fiber.h"
#include "sim-time.h"
#include "sim-tree.h"

/* Clock, agents and the run loop.
 *
 * An agent has one pending wake-up. It comes in two forms: a step agent is a function called at each wake-up, which
 * calls sim_wake() or sim_sleep() on its own agent before it returns; a fiber agent is straight code that calls
 * sim_sync() before it touches anything another agent could see.
 *
 * Run-ahead. Between two such touches a fiber advances its own clock (`now`) without telling anybody. sim_sync()
 * then lets every agent with an earlier time go first. So shared state is always touched in the total order (time,
 * agent number), and private work costs no event. That is exact as long as the code between two sim_sync() calls
 * touches private state only. With SIM_QUEUE_EVERY_OPERATION each private operation goes through the queue too; the
 * results must be the same to the byte (tests/models/test-run-ahead).
 *
 * Agents created later come later at equal times: create observers last, so that they see a moment's final state. */

typedef struct _SimEngine SimEngine;
typedef struct _SimAgent SimAgent;

typedef void (*SimStepFn)(SimEngine *engine, SimAgent *agent);

struct _SimAgent
{
    /* What a turn of the run loop touches lies in one cache line. */
    _Alignas(64) SimTime now; /* the agent's own clock; at least the engine's time while it runs */
    guint32 id;        /* its place in the order at equal times */
    guint32 group;     /* place in the machine, for hand-off costs; set by the model */
    SimStepFn step;    /* NULL for a fiber agent */
    void *data;        /* the model's */
    SimEngine *engine;
    void (*body)(SimAgent *agent); /* NULL for a step agent */
    SimFiber fiber;
    SimAgent *queue_next; /* in the queue of the one resource it waits for */
    SimTime queued_at;    /* when it began to wait */
    guint32 queue_site;   /* call site it waits for */
};

struct _SimEngine
{
    /* A running fiber whose clock is below this may go on: no other agent has an earlier wake-up. */
    SimTime horizon;
    guint64 n_events;    /* touches of shared state and step calls */
    guint64 fingerprint; /* of the sequence of (time, agent) of those */
    SimTree tree;
    SimAgent *agents; /* n_agents, fixed */
    guint32 n_agents;
    SimTime until; /* of the current sim_engine_run() */
    SimFiber main;
    SimFiberStacks *stacks;
};

/* An engine for exactly n_agents agents, all idle. No allocation happens after set-up. */
SimEngine *sim_engine_new(guint32 n_agents);
void sim_engine_free(SimEngine *engine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimEngine, sim_engine_free)

/* Gives agent `id` its behaviour. A fiber body may return: the agent is then idle for ever. */
SimAgent *sim_engine_add_step(SimEngine *engine, guint32 id, SimStepFn step, void *data);
SimAgent *sim_engine_add_fiber(SimEngine *engine, guint32 id, void (*body)(SimAgent *agent), void *data);

/* Processes every wake-up at or before `until`. TRUE while anything is left to happen later. May be called again
 * with a later time; cutting a run into slices changes nothing. Times from SIM_TREE_IDLE on mean "to the end". */
gboolean sim_engine_run(SimEngine *engine, SimTime until);

/* Earliest pending wake-up, SIM_TREE_IDLE if none. */
static inline SimTime
sim_engine_next_time(const SimEngine *engine)
{
    return sim_tree_min_key(&engine->tree);
}

/* Sets the wake-up of an idle agent, or of the step agent that is running. `when` is not before the present. */
static inline void
sim_wake(SimEngine *engine, SimAgent *agent, SimTime when)
{
    sim_tree_set(&engine->tree, agent->id, when);
    if (when < engine->horizon)
        engine->horizon = when;
}

#define SIM_FINGERPRINT_FACTOR G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

static inline void
sim__note_event(SimEngine *engine, const SimAgent *agent)
{
    guint64 mixed = (engine->fingerprint ^ (guint64) agent->now ^ (guint64) agent->id << 48) * SIM_FINGERPRINT_FACTOR;

    /* A product carries upwards only: without the rotation an agent's number would stay in the top 16 bits. */
    engine->fingerprint = mixed << 29 | mixed >> 35;
    engine->n_events++;
}

/* The running step agent has nothing more to do until somebody wakes it. */
static inline void
sim_sleep(SimEngine *engine, SimAgent *agent)
{
    sim_tree_set(&engine->tree, agent->id, SIM_TREE_IDLE);
}

void sim__yield(SimEngine *engine, SimAgent *agent, SimTime key);

/* Brings the running fiber's clock into the global order: returns when every agent with an earlier (time, number)
 * has gone as far as that. Call it before each touch of shared state. */
static inline void
sim_sync(SimEngine *engine, SimAgent *agent)
{
    if (G_UNLIKELY(agent->now >= engine->horizon))
        sim__yield(engine, agent, agent->now);
    sim__note_event(engine, agent);
}

/* Suspends the running fiber until `when`, which is not before its own time, or until somebody calls sim_wake() on it
 * with an earlier time; `now` is then the wake-up time. */
static inline void
sim_block_until(SimEngine *engine, SimAgent *agent, SimTime when)
{
    agent->now = when;
    sim__yield(engine, agent, when);
    sim__note_event(engine, agent);
}

/* The same without a time of its own. */
static inline void
sim_block(SimEngine *engine, SimAgent *agent)
{
    sim__yield(engine, agent, SIM_TREE_IDLE);
    sim__note_event(engine, agent);
}

/* Whether another agent waits, in a queue or for ever, until somebody wakes it. */
static inline gboolean
sim_is_waiting(const SimEngine *engine, const SimAgent *agent)
{
    return sim_tree_key(&engine->tree, agent->id) == SIM_TREE_IDLE;
}

/* Marks a private operation. Costs nothing, except in the build that proves run-ahead exact. */
static inline void
sim_private(SimEngine *engine, SimAgent *agent)
{
#ifdef SIM_QUEUE_EVERY_OPERATION
    sim__yield(engine, agent, agent->now);
#endif
}

#endif
