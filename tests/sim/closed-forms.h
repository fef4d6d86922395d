/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CLOSED_FORMS_H
#define CLOSED_FORMS_H

#include <glib.h>

/* What queueing theory says of a single server in steady state, to hold a simulated one against. Times are in any one
 * unit, rates in customers per that unit. Service is first come, first served; waits do not depend on the order for
 * means, but quantiles do. */
typedef struct {
    double throughput;
    double utilisation;  /* share of time the server is busy */
    double mean_wait;    /* from arrival to start of service */
    double mean_waiting; /* customers that wait, averaged over time */
    double mean_present; /* those and the one in service */
} ClosedQueue;

/* M/G/1 by Pollaczek and Khinchine: Poisson arrivals at `rate`, mean service time `service` and squared coefficient of
 * variation `service_scv` of it: 1 is M/M/1, 0 is M/D/1. rate * service < 1. */
ClosedQueue closed_mg1(double rate, double service, double service_scv);

/* The wait that a fraction (in [0, 1)) of the customers of an M/M/1 do not exceed. */
double closed_mm1_wait_quantile(double rate, double service, double fraction);

/* Closed systems: each of n >= 1 customers thinks for an exponential time of mean `think` > 0, then queues for the one
 * server; nobody else comes. Service is exponential (M/M/1//N, the machine-repair model) or always the same
 * (M/D/1//N: CPUs that take one lock for a fixed time). Takes O(n) and O(n^2). */
ClosedQueue closed_mm1n(guint n, double think, double service);
ClosedQueue closed_md1n(guint n, double think, double service);

/* A station of a closed network: `demand` is the mean service time a customer needs there in one round. A delay has a
 * server for everybody. */
typedef struct {
    gboolean is_delay;
    double demand;
} ClosedStation;

/* Rounds a unit of time in a network of n customers of one kind, by exact mean value analysis (Reiser and Lavenberg,
 * 1980). Exact for exponential service at FIFO stations. ret_present (n_stations entries) gets the mean number of
 * customers at each station; by Little's law a round spends ret_present[k] / result there. */
double closed_mva(const ClosedStation *stations, guint n_stations, guint n_customers, double *ret_present);

#endif
