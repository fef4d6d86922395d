/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "closed-forms.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The rest follows from throughput and wait by Little's law. */
static ClosedQueue
complete(double throughput, double service, double mean_wait)
{
    return (ClosedQueue){
        .throughput = throughput,
        .utilisation = throughput * service,
        .mean_wait = mean_wait,
        .mean_waiting = throughput * mean_wait,
        .mean_present = throughput * (mean_wait + service),
    };
}

/* In a closed system a round takes n / throughput, and what is not thinking or service is waiting. */
static ClosedQueue
complete_closed(guint n, double think, double service, double throughput)
{
    return complete(throughput, service, n / throughput - think - service);
}

ClosedQueue
closed_mg1(double rate, double service, double service_scv)
{
    double load = rate * service;
    g_assert(load < 1.0);
    return complete(rate, service, load * service * (1.0 + service_scv) / (2.0 * (1.0 - load)));
}

double
closed_mm1_wait_quantile(double rate, double service, double fraction)
{
    double load = rate * service;
    g_assert(load < 1.0);
    /* P(wait > t) = load * exp(-t (1 - load) / service); a share 1 - load does not wait at all. */
    return MAX(0.0, log(load / (1.0 - fraction)) * service / (1.0 - load));
}

ClosedQueue
closed_mm1n(guint n, double think, double service)
{
    /* The birth and death chain of those present, seen from those absent, is Erlang's loss system with offered load
     * think / service; its loss probability is that of an idle server, and has a stable recursion. */
    double inverse_idle = 1.0;
    for (guint k = 1; k <= n; k++)
        inverse_idle = 1.0 + inverse_idle * k * service / think;
    return complete_closed(n, think, service, (1.0 - 1.0 / inverse_idle) / service);
}

/* Probability that a departure leaves nobody behind, in M/D/1//N.
 *
 * The numbers left behind by departures are a Markov chain on 0 .. n-1. From i > 0 the next service starts at once,
 * the n - i thinkers each arrive during it with probability q = 1 - exp(-service / think), and i - 1 + Binomial(n - i,
 * q) are left; from 0 the first arrival is served next, as from 1. The chain falls by one at most, so the flow up
 * through each cut between k and k + 1 comes back through k + 1 -> k alone (nobody arrives: (1 - q)^(n - k - 1)). That
 * gives the weights one by one, as sums of positive terms. */
static double
md1n_left_empty(guint n, double think, double service)
{
    double q = -expm1(-service / think), total = 0.0;
    g_autofree double *weight = g_new(double, n);
    weight[0] = 1.0;
    for (guint k = 0; k + 1 < n; k++) {
        double up = weight[0] * gsl_cdf_binomial_Q(k, q, n - 1);
        for (guint i = 1; i <= k; i++)
            up += weight[i] * gsl_cdf_binomial_Q(k + 1 - i, q, n - i);
        double log_next = log(up) + (n - k - 1) * service / think;
        if (log_next > 300.0) { /* towards overflow: make this weight 1, and let the others vanish beside it */
            double scale = exp(-log_next);
            for (guint i = 0; i <= k; i++)
                weight[i] *= scale;
            log_next = 0.0;
        }
        weight[k + 1] = exp(log_next);
    }
    for (guint k = 0; k < n; k++)
        total += weight[k];
    return weight[0] / total;
}

ClosedQueue
closed_md1n(guint n, double think, double service)
{
    /* Departures are a service apart, plus the first of n thinking times where nobody was left. */
    double interval = service + md1n_left_empty(n, think, service) * think / n;
    return complete_closed(n, think, service, 1.0 / interval);
}

double
closed_mva(const ClosedStation *stations, guint n_stations, guint n_customers, double *ret_present)
{
    double throughput = 0.0;
    for (guint k = 0; k < n_stations; k++)
        ret_present[k] = 0.0;
    for (guint n = 1; n <= n_customers; n++) {
        /* An arriving customer sees the network as it is with one customer less. */
        double round = 0.0;
        for (guint k = 0; k < n_stations; k++)
            round += stations[k].demand * (stations[k].is_delay ? 1.0 : 1.0 + ret_present[k]);
        throughput = n / round;
        for (guint k = 0; k < n_stations; k++)
            ret_present[k] = throughput * stations[k].demand * (stations[k].is_delay ? 1.0 : 1.0 + ret_present[k]);
    }
    return throughput;
}
