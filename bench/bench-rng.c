/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ns per draw or record, beside GSL's usual generator in the same run; the best of several rounds. */
#include "sim-gsl.h"
#include "sim-hist.h"
#include "sim-moments.h"
#include "sim-rng.h"

#include <math.h>
#include <stdio.h>

#define N_ROUNDS 5
#define N_CALLS 5000000

static SimRng rng;
static gsl_rng *mt19937, *adapter;
static SimHist hist;
static SimMoments moments;
static gint64 values[4096];

/* A loop of N_CALLS over an expression, whose sum keeps the compiler from dropping it. */
#define DEFINE_LOOP(name, expression)                                                                                  \
    static double name(void)                                                                                           \
    {                                                                                                                  \
        double sum = 0.0;                                                                                              \
        SimRng local = rng;                                                                                            \
        for (guint i = 0; i < N_CALLS; i++)                                                                            \
            sum += (double) (expression);                                                                              \
        rng = local;                                                                                                   \
        return sum;                                                                                                    \
    }

DEFINE_LOOP(draw_uniform, sim_rng_uniform(&local))
DEFINE_LOOP(draw_below, sim_rng_below(&local, 1000))
DEFINE_LOOP(draw_exponential, sim_rng_exponential(&local, 1.0))
DEFINE_LOOP(draw_logarithm, -log(sim_rng_uniform_pos(&local)))
DEFINE_LOOP(draw_mt19937, gsl_rng_uniform(mt19937))
DEFINE_LOOP(draw_mt19937_exponential, gsl_ran_exponential(mt19937, 1.0))
DEFINE_LOOP(draw_adapter, gsl_rng_uniform(adapter))
DEFINE_LOOP(draw_adapter_exponential, gsl_ran_exponential(adapter, 1.0))
DEFINE_LOOP(record_hist, (sim_hist_record(&hist, values[i % G_N_ELEMENTS(values)]), 0))
DEFINE_LOOP(record_moments, (sim_moments_add(&moments, (double) values[i % G_N_ELEMENTS(values)]), 0))

static const struct {
    const char *name;
    double (*loop)(void);
} rows[] = {
    {"sim_rng_uniform", draw_uniform},         {"sim_rng_below", draw_below},
    {"sim_rng_exponential", draw_exponential}, {"-log(sim_rng_uniform_pos)", draw_logarithm},
    {"gsl mt19937 uniform", draw_mt19937},     {"gsl mt19937 exponential", draw_mt19937_exponential},
    {"sim_rng as gsl, uniform", draw_adapter}, {"sim_rng as gsl, exponential", draw_adapter_exponential},
    {"sim_hist_record", record_hist},          {"sim_moments_add", record_moments},
};

int
main(void)
{
    volatile double sink = 0.0;
    sim_gsl_init();
    sim_rng_init(&rng, 1, 0, "bench", "draws");
    mt19937 = gsl_rng_alloc(gsl_rng_mt19937);
    adapter = sim_rng_gsl_new(&rng);
    sim_hist_init(&hist);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        values[i] = (gint64) sim_rng_exponential(&rng, 200000.0);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        gint64 best_us = G_MAXINT64;
        for (guint round = 0; round < N_ROUNDS; round++) {
            gint64 start_us = g_get_monotonic_time();
            sink += rows[i].loop();
            best_us = MIN(best_us, g_get_monotonic_time() - start_us);
        }
        printf("%-28s %6.2f ns\n", rows[i].name, (double) best_us * 1000.0 / N_CALLS);
    }
    gsl_rng_free(adapter);
    gsl_rng_free(mt19937);
    return sink < 0.0;
}
