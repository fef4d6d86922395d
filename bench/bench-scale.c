/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cost of an event at 4,096 CPUs beside 256: fibers that share one lock a node of 64 CPUs, at the same load per lock.
 * The goal is the growth of log2(CPUs), 12 / 8, and what the caches add. */
#include "bench.h"
#include "sim-lock.h"
#include "sim-rng.h"

enum { CPUS_PER_NODE = 64, N_EVENTS = 200000 };

static const SimTime transfer_ps[1] = {50000};
static const SimDistance distance = {transfer_ps, 1, 4000, 80000};
static const SimLockCosts costs = {.acquire_ps = 6000, .release_ps = 2000, .handoff_permille = 1000};

typedef struct {
    SimEngine *engine;
    SimLock *lock; /* [n_cpus / CPUS_PER_NODE] */
    SimRng *rng;   /* [n_cpus] */
    guint n_cpus;
} Model;

static void
cpu_fiber(SimAgent *agent)
{
    Model *model = agent->data;

    for (;;) {
        SimRng *rng = &model->rng[agent->id];
        /* One acquisition in eight goes to another node. */
        guint node = agent->id / CPUS_PER_NODE + (sim_rng_u64(rng) % 8 == 0);
        SimLock *lock = &model->lock[node % (model->n_cpus / CPUS_PER_NODE)];

        agent->now += (SimTime) sim_rng_exponential(rng, 10e6);
        sim_lock_acquire(agent->engine, lock, agent, 0);
        agent->now += 100000;
        sim_lock_release(agent->engine, lock, agent);
    }
}

static void
model_init(Model *model, guint n_cpus)
{
    model->n_cpus = n_cpus;
    model->engine = sim_engine_new(n_cpus);
    model->lock = g_new(SimLock, n_cpus / CPUS_PER_NODE);
    model->rng = g_new(SimRng, n_cpus);
    for (guint i = 0; i < n_cpus / CPUS_PER_NODE; i++)
        sim_lock_init(&model->lock[i], sim_lock_kind_find("qspinlock"), &distance, &costs, 1, FALSE);
    for (guint32 i = 0; i < n_cpus; i++) {
        g_autofree char *component = g_strdup_printf("cpu/%u", i);
        sim_rng_init(&model->rng[i], 1, 0, component, "bench-scale");
        sim_wake(model->engine, sim_engine_add_fiber(model->engine, i, cpu_fiber, model), 0);
    }
}

static void
model_run(void *data)
{
    Model *model = data;
    guint64 goal = model->engine->n_events + N_EVENTS;

    while (model->engine->n_events < goal)
        sim_engine_run(model->engine, model->engine->until + SIM_MS / model->n_cpus * 100);
}

static void
model_clear(Model *model)
{
    for (guint i = 0; i < model->n_cpus / CPUS_PER_NODE; i++)
        sim_lock_clear(&model->lock[i]);
    sim_engine_free(model->engine);
    g_free(model->lock);
    g_free(model->rng);
}

int
main(void)
{
    Model small, large;
    double small_ns, large_ns;

    model_init(&small, 256);
    model_init(&large, 4096);
    model_run(&small);
    model_run(&large);
    bench_print_head("scaling (reference: 256 CPUs)");
    bench_pair_ns(model_run, &large, model_run, &small, N_EVENTS, &large_ns, &small_ns);
    bench_print_row("contended locks, an event at 4,096 CPUs", "ns", large_ns, small_ns, 2.0);
    model_clear(&small);
    model_clear(&large);
    return 0;
}
