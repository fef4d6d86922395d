/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An M/M/1 queue: customers come at random, one server serves them in order. It uses the engine and nothing else.
 *
 *     mm1 [LOAD]      load of the server, above 0 and up to 0.9; 0.8 by default
 *
 * Prints utilisation, mean number in the system and mean wait with 99 % intervals of independent replications, beside
 * the exact values. The server is a lock whose operations cost nothing; a customer is a fiber of a pool. */
#include "sim-ci.h"
#include "sim-gsl.h"
#include "sim-lock.h"
#include "sim-rng.h"

#include <stdio.h>

enum { N_CUSTOMERS = 1000, N_REPLICATIONS = 20 };

static const SimTime warm_up = 2 * SIM_MS, end = 62 * SIM_MS;
static const double mean_service_ps = 1e6;

typedef struct {
    SimLock server;
    SimRng arrivals, services;
    double mean_interval_ps;
    SimAgent *idle;    /* customers that may come, linked by queue_next */
    SimTime busy;      /* of the server, within the window */
    double present_ps; /* customers' time in the system, within the window */
    double wait_ps;
    guint64 n_served;
} Shop;

static SimTime
within_window(SimTime from, SimTime to)
{
    return MAX(MIN(to, end) - MAX(from, warm_up), 0);
}

static void
customer(SimAgent *agent)
{
    Shop *shop = agent->data;
    SimEngine *engine = agent->engine;

    for (;;) {
        SimTime arrived, started;

        agent->queue_next = shop->idle;
        shop->idle = agent;
        sim_block(engine, agent);
        arrived = agent->now;
        sim_lock_acquire(engine, &shop->server, agent, 0);
        started = agent->now;
        agent->now += (SimTime) (sim_rng_exponential(&shop->services, mean_service_ps) + 0.5);
        sim_lock_release(engine, &shop->server, agent);
        sim_sync(engine, agent); /* what follows happens at the end of the service */
        shop->busy += within_window(started, agent->now);
        shop->present_ps += (double) within_window(arrived, agent->now);
        if (started >= warm_up) {
            shop->wait_ps += (double) (started - arrived);
            shop->n_served++;
        }
    }
}

static void
arrive(SimEngine *engine, SimAgent *agent)
{
    Shop *shop = agent->data;
    SimAgent *next = shop->idle;

    g_assert(next); /* 1,000 at once have a probability of 0.9^1000 */
    shop->idle = next->queue_next;
    sim_wake(engine, next, agent->now);
    sim_wake(engine, agent,
             agent->now + (SimTime) (sim_rng_exponential(&shop->arrivals, shop->mean_interval_ps) + 0.5));
}

static void
run_shop(Shop *shop, double load, guint64 replication)
{
    static const SimTime no_transfer[1] = {0};
    static const SimDistance distance = {no_transfer, 1, 0, 0};
    static const SimLockCosts costs = {0};
    g_autoptr(SimEngine) engine = sim_engine_new(N_CUSTOMERS + 1);

    *shop = (Shop){.mean_interval_ps = mean_service_ps / load};
    sim_rng_init(&shop->arrivals, 1, replication, "mm1", "arrivals");
    sim_rng_init(&shop->services, 1, replication, "mm1", "services");
    sim_lock_init(&shop->server, sim_lock_kind_find("qspinlock"), &distance, &costs, 1, FALSE);
    for (guint32 id = 0; id < N_CUSTOMERS; id++)
        sim_wake(engine, sim_engine_add_fiber(engine, id, customer, shop), 0);
    sim_wake(engine, sim_engine_add_step(engine, N_CUSTOMERS, arrive, shop), 0);
    sim_engine_run(engine, end);
    sim_lock_clear(&shop->server);
}

static void
print_row(const char *name, const double *values, double exact)
{
    double mean, half_width;

    sim_ci_mean(values, N_REPLICATIONS, 0.99, &mean, &half_width);
    printf("%-12s %10.4f %10.4f %10.4f\n", name, mean, half_width, exact);
}

int
main(int argc, char **argv)
{
    double load = argc > 1 ? g_ascii_strtod(argv[1], NULL) : 0.8, window = (double) (end - warm_up);
    double utilisation[N_REPLICATIONS], present[N_REPLICATIONS], wait_us[N_REPLICATIONS];

    sim_gsl_init();
    if (!(load > 0.0 && load <= 0.9)) {
        fprintf(stderr, "usage: mm1 [LOAD], 0 < LOAD <= 0.9\n");
        return 2;
    }
    for (guint r = 0; r < N_REPLICATIONS; r++) {
        Shop shop;

        run_shop(&shop, load, r);
        utilisation[r] = (double) shop.busy / window;
        present[r] = shop.present_ps / window;
        wait_us[r] = shop.wait_ps / (double) shop.n_served / 1e6;
    }
    printf("%-12s %10s %10s %10s\n", "", "simulated", "+- 99 %", "exact");
    print_row("utilisation", utilisation, load);
    print_row("present", present, load / (1.0 - load));
    print_row("wait_us", wait_us, load / (1.0 - load) * mean_service_ps / 1e6);
    return 0;
}
