/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas against answers worked out by hand, against each other where two theories meet, and against simulations
 * small enough to be seen right at a glance, which use nothing of the engine but its random numbers. */
#include "closed-forms.h"
#include "sim-ci.h"
#include "sim-gsl.h"
#include "sim-rng.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define N_REPLICATIONS 10

static void
assert_close(double value, double expected, double relative)
{
    g_assert_cmpfloat(value, >=, expected - relative * fabs(expected));
    g_assert_cmpfloat(value, <=, expected + relative * fabs(expected));
}

/* The 99.9 % interval of the replications holds the expected value, and is narrow enough to mean something. */
static void
assert_simulated(const double *values, double expected, double max_relative_half_width)
{
    double mean, half_width;
    sim_ci_mean(values, N_REPLICATIONS, 0.999, &mean, &half_width);
    g_test_message("simulated %g +- %g, theory %g", mean, half_width, expected);
    g_assert_cmpfloat(fabs(mean - expected), <=, half_width);
    g_assert_cmpfloat(half_width, <=, max_relative_half_width * expected);
}

/* Service 0.8 s, an arrival a second: the textbook case. */
static void
test_open_known(void)
{
    ClosedQueue mm1 = closed_mg1(1.0, 0.8, 1.0), md1 = closed_mg1(1.0, 0.8, 0.0);
    assert_close(mm1.utilisation, 0.8, 1e-14);
    assert_close(mm1.mean_wait, 3.2, 1e-14);
    assert_close(mm1.mean_waiting, 3.2, 1e-14);
    assert_close(mm1.mean_present, 4.0, 1e-14);
    assert_close(md1.mean_wait, 1.6, 1e-14);
    assert_close(md1.mean_present, 2.4, 1e-14);
    g_assert_cmpfloat(closed_mm1_wait_quantile(1.0, 0.8, 0.1), ==, 0.0); /* 20 % find the server idle */
    g_assert_cmpfloat(closed_mm1_wait_quantile(1.0, 0.8, 0.2), <, 1e-14);
    assert_close(closed_mm1_wait_quantile(1.0, 0.8, 0.9), 4.0 * log(8.0), 1e-14);
}

static double
draw_service(SimRng *rng, double mean, gboolean is_fixed)
{
    return is_fixed ? mean : sim_rng_exponential(rng, mean);
}

/* Waits of one run of an open queue from empty, the first 10,000 left out (Lindley's recursion). */
static void
simulate_open(guint replication, double rate, double service, gboolean is_fixed, double *ret_waits, guint n)
{
    SimRng arrivals, services;
    double wait = 0.0;
    sim_rng_init(&arrivals, 1, replication, "open queue", "arrivals");
    sim_rng_init(&services, 1, replication, "open queue", "services");
    for (guint i = 0; i < 10000 + n; i++) {
        if (i >= 10000)
            ret_waits[i - 10000] = wait;
        wait = wait + draw_service(&services, service, is_fixed) - sim_rng_exponential(&arrivals, 1.0 / rate);
        wait = MAX(wait, 0.0);
    }
}

static void
test_open_simulated(void)
{
    enum { n = 200000 };
    g_autofree double *waits = g_new(double, n);
    double means[N_REPLICATIONS], quantiles[N_REPLICATIONS];
    for (guint is_fixed = 0; is_fixed <= 1; is_fixed++) {
        for (guint replication = 0; replication < N_REPLICATIONS; replication++) {
            simulate_open(replication, 0.7, 1.0, is_fixed, waits, n);
            means[replication] = gsl_stats_mean(waits, 1, n);
            gsl_sort(waits, 1, n);
            quantiles[replication] = waits[n * 9 / 10];
        }
        assert_simulated(means, closed_mg1(0.7, 1.0, is_fixed ? 0.0 : 1.0).mean_wait, 0.05);
        if (!is_fixed)
            assert_simulated(quantiles, closed_mm1_wait_quantile(0.7, 1.0, 0.9), 0.05);
    }
}

/* One customer never waits. With two, and theta = service / think: exponential service leaves the server idle with
 * probability 1 / (1 + 2 theta + 2 theta^2); fixed service leaves a departure's system empty with exp(-theta). */
static void
test_closed_known(void)
{
    ClosedQueue mm1n = closed_mm1n(1, 7.0, 3.0), md1n = closed_md1n(1, 7.0, 3.0);
    assert_close(mm1n.throughput, 0.1, 1e-14);
    assert_close(md1n.throughput, 0.1, 1e-14);
    g_assert_cmpfloat(fabs(mm1n.mean_wait), <, 1e-13);
    g_assert_cmpfloat(fabs(md1n.mean_wait), <, 1e-13);
    mm1n = closed_mm1n(2, 2.0, 1.0);
    assert_close(mm1n.utilisation, 1.0 - 1.0 / 2.5, 1e-14);
    md1n = closed_md1n(2, 2.0, 1.0);
    assert_close(md1n.throughput, 1.0 / (1.0 + exp(-0.5)), 1e-14);
    assert_close(md1n.mean_wait, 2.0 * (1.0 + exp(-0.5)) - 3.0, 1e-13);
}

/* Three customers and fixed service, by solving the three equations of the chain: with e = exp(-theta), q = 1 - e the
 * rows are 0 and 1 -> Binomial(2, q), 2 -> 1 + Binomial(1, q). */
static void
test_closed_three(void)
{
    double e = exp(-0.3), q = 1.0 - e;
    double weight1 = (1.0 - e * e) / (e * e); /* cut 0 | 1, for weight 1 of state 0 */
    double weight2 = (1.0 + weight1) * q * q / e;
    double empty = 1.0 / (1.0 + weight1 + weight2);
    assert_close(closed_md1n(3, 10.0, 3.0).throughput, 1.0 / (3.0 + empty * 10.0 / 3.0), 1e-13);
}

/* Many customers that think long are a Poisson stream; many that think briefly saturate the server, far beyond where
 * the weights of the chain overflow. */
static void
test_closed_limits(void)
{
    const guint n = 1000;
    double rate = closed_md1n(n, n / 0.5, 1.0).throughput;
    assert_close(closed_md1n(n, n / 0.5, 1.0).mean_wait, closed_mg1(rate, 1.0, 0.0).mean_wait, 0.01);
    assert_close(closed_mm1n(n, n / 0.5, 1.0).mean_wait, closed_mg1(rate, 1.0, 1.0).mean_wait, 0.01);
    static const double thinks[] = {0.01, 1.0, 100.0, 400.0};
    for (guint i = 0; i < G_N_ELEMENTS(thinks); i++) {
        assert_close(closed_mm1n(n, thinks[i], 1.0).throughput, 1.0, 1e-12);
        assert_close(closed_md1n(n, thinks[i], 1.0).mean_wait, n - 1.0 - thinks[i], 1e-12);
    }
}

/* At every load, fixed service waits less than exponential service and both stay under the bounds of any closed
 * system: 1 / service, and n rounds without waiting. */
static void
test_closed_bounds(void)
{
    for (guint n = 2; n <= 60; n++) {
        for (double think = 0.5; think < 200.0; think *= 1.5) {
            ClosedQueue mm1n = closed_mm1n(n, think, 1.0), md1n = closed_md1n(n, think, 1.0);
            g_assert_cmpfloat(md1n.throughput, >=, mm1n.throughput);
            g_assert_cmpfloat(md1n.throughput, <=, MIN(1.0, n / (think + 1.0)) * (1.0 + 1e-14));
            assert_close(md1n.mean_present + md1n.throughput * think, n, 1e-13);
        }
    }
}

/* A closed system whose customers are served in the order in which they arrive; the first tenth is left out. */
static void
simulate_closed(guint replication, guint n, double think, double service, gboolean is_fixed, double *ret_throughput,
                double *ret_mean_wait)
{
    const guint n_services = 60000, n_warm_up = n_services / 10;
    g_autofree double *arrival = g_new(double, n);
    double free_at = 0.0, started_at = 0.0, waited = 0.0;
    SimRng thinks, services;
    sim_rng_init(&thinks, 1, replication, "closed queue", "thinks");
    sim_rng_init(&services, 1, replication, "closed queue", "services");
    for (guint i = 0; i < n; i++)
        arrival[i] = sim_rng_exponential(&thinks, think);
    for (guint k = 0; k < n_services; k++) {
        guint next = gsl_stats_min_index(arrival, 1, n);
        double start = MAX(arrival[next], free_at);
        if (k == n_warm_up)
            started_at = free_at;
        if (k >= n_warm_up)
            waited += start - arrival[next];
        free_at = start + draw_service(&services, service, is_fixed);
        arrival[next] = free_at + sim_rng_exponential(&thinks, think);
    }
    *ret_throughput = (n_services - n_warm_up) / (free_at - started_at);
    *ret_mean_wait = waited / (n_services - n_warm_up);
}

static void
test_closed_simulated(void)
{
    static const struct {
        guint n;
        double think, service;
    } rows[] = {{2, 1.0, 1.0}, {4, 30.0, 4.0}, {16, 20.0, 1.0}, {16, 15.0, 1.0}, {64, 50.0, 1.0}};
    double throughputs[N_REPLICATIONS], waits[N_REPLICATIONS];
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        for (guint is_fixed = 0; is_fixed <= 1; is_fixed++) {
            ClosedQueue theory = (is_fixed ? closed_md1n : closed_mm1n)(rows[i].n, rows[i].think, rows[i].service);
            for (guint replication = 0; replication < N_REPLICATIONS; replication++)
                simulate_closed(replication, rows[i].n, rows[i].think, rows[i].service, is_fixed,
                                &throughputs[replication], &waits[replication]);
            assert_simulated(throughputs, theory.throughput, 0.02);
            assert_simulated(waits, theory.mean_wait, 0.06);
        }
    }
}

/* One queue and a delay are the machine-repair model, by an unrelated way of counting. */
static void
test_mva_repair(void)
{
    const ClosedStation stations[] = {{TRUE, 17.0}, {FALSE, 1.0}};
    double present[2];
    for (guint n = 1; n <= 100; n++) {
        ClosedQueue repair = closed_mm1n(n, 17.0, 1.0);
        assert_close(closed_mva(stations, 2, n, present), repair.throughput, 1e-12);
        assert_close(present[1], repair.mean_present, 1e-10);
        assert_close(present[0] + present[1], n, 1e-13);
    }
}

/* k equal queues: throughput n / (demand * (n + k - 1)). And two unequal ones with two customers: the states have
 * weights d1^2, d1 d2, d2^2. */
static void
test_mva_known(void)
{
    const ClosedStation equal[] = {{FALSE, 3.0}, {FALSE, 3.0}, {FALSE, 3.0}, {FALSE, 3.0}};
    const ClosedStation unequal[] = {{FALSE, 2.0}, {FALSE, 5.0}};
    double present[4];
    assert_close(closed_mva(equal, 4, 10, present), 10.0 / (3.0 * 13.0), 1e-14);
    assert_close(present[3], 2.5, 1e-14);
    assert_close(closed_mva(unequal, 2, 2, present), 7.0 / 39.0, 1e-14); /* G(1) / G(2) */
    assert_close(present[0], (2.0 * 4.0 + 10.0) / 39.0, 1e-14);
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/closed-forms/open/known", test_open_known);
    g_test_add_func("/closed-forms/open/simulated", test_open_simulated);
    g_test_add_func("/closed-forms/closed/known", test_closed_known);
    g_test_add_func("/closed-forms/closed/three", test_closed_three);
    g_test_add_func("/closed-forms/closed/limits", test_closed_limits);
    g_test_add_func("/closed-forms/closed/bounds", test_closed_bounds);
    g_test_add_func("/closed-forms/closed/simulated", test_closed_simulated);
    g_test_add_func("/closed-forms/mva/repair", test_mva_repair);
    g_test_add_func("/closed-forms/mva/known", test_mva_known);
    return g_test_run();
}
