/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 224 clients on one first-in-first-out lock, each thinking for an exponential time and holding for a constant one:
 * sim-lock with its statistics on, under step agents and under fibers, beside a bare loop of two events an acquisition
 * (arrival, end of hold) on a tournament tree with a ring of waiters. All draw the same numbers from the same stream.
 */
#include "bench.h"
#include "sim-lock.h"
#include "sim-rng.h"

enum { N_CLIENTS = 224, N_LEAVES = 256, N_ACQUISITIONS = 100000 };

static const double mean_think_ps = 20e6;
static const gint64 hold_ps = 100000; /* the lock is never free: 224 clients want it 1.1 times the time there is */

typedef struct {
    gint64 time[2 * N_LEAVES];
    guint32 slot[2 * N_LEAVES];
    guint32 ring[N_LEAVES], first, n_waiting;
    gint64 arrived[N_CLIENTS];
    gboolean holds[N_CLIENTS];
    gint64 wait_ps;
    SimRng rng;
} Bare;

static inline void
bare_set(Bare *bare, guint32 slot, gint64 time)
{
    guint32 position = N_LEAVES + slot;

    bare->time[position] = time;
    while (position > 1) {
        guint32 other = position ^ 1, lost = (guint32) ((bare->time[other] - time - (gint64) (position & 1)) >> 63);
        time = MIN(time, bare->time[other]);
        slot ^= (slot ^ bare->slot[other]) & lost;
        position /= 2;
        bare->time[position] = time;
        bare->slot[position] = slot;
    }
}

static inline gint64
draw_think(SimRng *rng)
{
    return (gint64) (sim_rng_exponential(rng, mean_think_ps) + 0.5);
}

static void
bare_init(Bare *bare)
{
    *bare = (Bare){0};
    sim_rng_init(&bare->rng, 1, 0, "bench-lock", "think");
    for (guint32 i = 0; i < 2 * N_LEAVES; i++) {
        bare->time[i] = SIM_TREE_IDLE;
        bare->slot[i] = i % N_LEAVES;
    }
    for (guint32 i = 0; i < N_CLIENTS; i++)
        bare_set(bare, i, draw_think(&bare->rng));
}

static void
bare_run(void *data)
{
    Bare *bare = data;

    for (guint n_acquired = 0; n_acquired < N_ACQUISITIONS;) {
        guint32 client = bare->slot[1];
        gint64 now = bare->time[1];

        if (!bare->holds[client]) {
            bare->arrived[client] = now;
            bare->ring[(bare->first + bare->n_waiting++) % N_LEAVES] = client;
            if (bare->n_waiting > 1) {
                bare_set(bare, client, SIM_TREE_IDLE);
                continue;
            }
        } else {
            bare->holds[client] = FALSE;
            bare->first++;
            bare->n_waiting--;
            bare_set(bare, client, now + draw_think(&bare->rng));
            if (!bare->n_waiting)
                continue;
            client = bare->ring[bare->first % N_LEAVES];
        }
        bare->holds[client] = TRUE;
        bare->wait_ps += now - bare->arrived[client];
        n_acquired++;
        bare_set(bare, client, now + hold_ps);
    }
}

typedef struct {
    SimEngine *engine;
    SimLock lock;
    SimRng rng;
    guint64 goal; /* stop after so many acquisitions */
    gboolean waits[N_CLIENTS];
} Model;

static const SimTime no_transfer[1] = {0};
static const SimDistance distance = {no_transfer, 1, 0, 0};
static const SimLockCosts costs = {0};

static void
client_step(SimEngine *engine, SimAgent *agent)
{
    Model *model = agent->data;

    if (model->waits[agent->id]) { /* and now the lock is its own */
        model->waits[agent->id] = FALSE;
    } else {
        switch (sim_lock_enter(&model->lock, agent, 0)) {
        case SIM_LOCK_GOT:
            break;
        case SIM_LOCK_PROMISED:
            model->waits[agent->id] = TRUE;
            sim_wake(engine, agent, agent->now);
            return;
        case SIM_LOCK_QUEUED:
            model->waits[agent->id] = TRUE;
            sim_sleep(engine, agent);
            return;
        }
    }
    agent->now += hold_ps;
    sim_lock_leave(engine, &model->lock, agent);
    sim_wake(engine, agent, agent->now + draw_think(&model->rng));
}

static void
client_fiber(SimAgent *agent)
{
    Model *model = agent->data;

    for (;;) {
        agent->now += draw_think(&model->rng);
        sim_lock_acquire(agent->engine, &model->lock, agent, 0);
        agent->now += hold_ps;
        sim_lock_release(agent->engine, &model->lock, agent);
    }
}

static void
model_init(Model *model, gboolean with_fibers)
{
    *model = (Model){.engine = sim_engine_new(N_CLIENTS)};
    sim_rng_init(&model->rng, 1, 0, "bench-lock", "think");
    sim_lock_init(&model->lock, sim_lock_kind_find("qspinlock"), &distance, &costs, 1, TRUE);
    for (guint32 i = 0; i < N_CLIENTS; i++) {
        SimAgent *agent = with_fibers ? sim_engine_add_fiber(model->engine, i, client_fiber, model)
                                      : sim_engine_add_step(model->engine, i, client_step, model);
        sim_wake(model->engine, agent, with_fibers ? 0 : draw_think(&model->rng));
    }
}

static void
model_run(void *data)
{
    Model *model = data;

    model->goal += N_ACQUISITIONS;
    while (model->lock.sites[0].acquisitions < model->goal) {
        guint64 left = model->goal - model->lock.sites[0].acquisitions;
        sim_engine_run(model->engine, model->engine->until + (SimTime) left * hold_ps);
    }
}

static void
model_clear(Model *model)
{
    sim_lock_clear(&model->lock);
    sim_engine_free(model->engine);
}

int
main(void)
{
    static const struct {
        const char *name;
        gboolean with_fibers;
    } rows[] = {{"sim-lock, step agents, 224 clients", FALSE}, {"sim-lock, fibers, 224 clients", TRUE}};
    double goals[] = {1.5, 0};

    bench_print_head("lock, an acquisition (reference: bare loop)");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        double subject_ns, bare_ns, mean_wait_ps, bare_wait_ps;
        Model model;
        Bare bare;

        bare_init(&bare);
        model_init(&model, rows[i].with_fibers);
        bench_pair_ns(model_run, &model, bare_run, &bare, N_ACQUISITIONS, &subject_ns, &bare_ns);
        bench_print_row(rows[i].name, "ns", subject_ns, bare_ns, goals[i]);
        /* Or the two did not do the same work. */
        mean_wait_ps = (double) model.lock.sites[0].wait_ps / (double) model.lock.sites[0].acquisitions;
        bare_wait_ps = (double) bare.wait_ps / ((double) N_ACQUISITIONS * BENCH_ROUNDS);
        bench_print_row("  mean wait of both", "us", mean_wait_ps / 1e6, bare_wait_ps / 1e6, 0);
        model_clear(&model);
    }
    return 0;
}
