/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-gsl.h"
#include "sim-hist.h"
#include "sim-rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static SimHist *
hist_new(void)
{
    SimHist *hist = g_new(SimHist, 1);
    sim_hist_init(hist);
    return hist;
}

static int
compare_values(const void *a, const void *b)
{
    gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;
    return (x > y) - (x < y);
}

/* Latencies of three paths far apart, with a long tail: modes and gaps as in simulated waiting times. */
static gint64
draw_latency_ps(SimRng *rng)
{
    guint64 path = sim_rng_below(rng, 100);
    if (path < 90)
        return (gint64) sim_rng_below(rng, 50);
    if (path < 99)
        return 20000 + (gint64) sim_rng_exponential(rng, 3000.0);
    return (gint64) exp2(62.0 * sim_rng_uniform(rng));
}

static gint64 *
draw_latencies_ps(const char *purpose, gsize n)
{
    SimRng rng;
    gint64 *values = g_new(gint64, n);
    sim_rng_init(&rng, 1, 0, "test-hist", purpose);
    for (gsize i = 0; i < n; i++)
        values[i] = draw_latency_ps(&rng);
    return values;
}

static void
assert_same(const SimHist *a, const SimHist *b)
{
    g_assert_cmpmem(a->counts, sizeof a->counts, b->counts, sizeof b->counts);
    g_assert_true(a->sum == b->sum);
    g_assert_cmpuint(a->count, ==, b->count);
    g_assert_cmpint(a->min, ==, b->min);
    g_assert_cmpint(a->max, ==, b->max);
}

static void
test_empty(void)
{
    g_autofree SimHist *hist = hist_new();
    SimHistBucket bucket = {-7, -7, 7};
    guint position = 0;
    g_assert_cmpuint(sim_hist_count(hist), ==, 0);
    g_assert_cmpfloat(sim_hist_sum(hist), ==, 0.0);
    g_assert_true(isnan(sim_hist_mean(hist)));
    g_assert_cmpint(sim_hist_min(hist), ==, -1);
    g_assert_cmpint(sim_hist_max(hist), ==, -1);
    g_assert_cmpint(sim_hist_quantile(hist, 0.5), ==, -1);
    g_assert_false(sim_hist_next(hist, &position, &bucket));
    g_assert_cmpint(bucket.lower, ==, -7);
}

/* One value at a time: the bucket it lands in, worked out by hand. */
static void
test_edges(void)
{
    static const gint64 rows[][3] = {
        /* value, lower, upper */
        {0, 0, 0},
        {1, 1, 1},
        {31, 31, 31},
        {32, 32, 32},
        {63, 63, 63},
        {64, 64, 65},
        {65, 64, 65},
        {66, 66, 67},
        {127, 126, 127},
        {128, 128, 131},
        {1023, 1008, 1023},
        {1024, 1024, 1055},
        {1055, 1024, 1055},
        {1056, 1056, 1087},
        {G_GINT64_CONSTANT(1) << 62, G_GINT64_CONSTANT(1) << 62, G_GINT64_CONSTANT(33) * (1LL << 57) - 1},
        {G_MAXINT64, G_GINT64_CONSTANT(63) << 57, G_MAXINT64},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree SimHist *hist = hist_new();
        SimHistBucket bucket;
        guint position = 0;
        sim_hist_record(hist, rows[i][0]);
        g_assert_true(sim_hist_next(hist, &position, &bucket));
        g_assert_cmpint(bucket.lower, ==, rows[i][1]);
        g_assert_cmpint(bucket.upper, ==, rows[i][2]);
        g_assert_cmpuint(bucket.count, ==, 1);
        g_assert_false(sim_hist_next(hist, &position, &bucket));
        g_assert_cmpint(sim_hist_quantile(hist, 0.5), ==, rows[i][0]); /* capped by the maximum */
    }
}

/* Both ends of every bucket land in it, and the buckets tile 0 .. G_MAXINT64 without gap or overlap, each no wider than
 * 1/32 of its lower end. */
static void
test_buckets_tile(void)
{
    g_autofree SimHist *all = hist_new();
    for (guint i = 0; i < SIM_HIST_N_BUCKETS; i++)
        all->counts[i] = 1;
    SimHistBucket bucket;
    gint64 next_lower = 0;
    guint position = 0, n = 0;
    while (sim_hist_next(all, &position, &bucket)) {
        g_assert_cmpint(bucket.lower, ==, next_lower);
        g_assert_cmpuint(sim__hist_index(bucket.lower), ==, n);
        g_assert_cmpuint(sim__hist_index(bucket.upper), ==, n);
        g_assert_cmpint(bucket.upper - bucket.lower, <=, bucket.lower / 32);
        next_lower = (gint64) ((guint64) bucket.upper + 1); /* wraps after the last */
        n++;
    }
    g_assert_cmpuint(n, ==, SIM_HIST_N_BUCKETS);
    g_assert_cmpint(next_lower, ==, G_MININT64);
}

static void
test_exact_totals(void)
{
    g_autofree SimHist *hist = hist_new();
    for (guint i = 0; i < 4; i++)
        sim_hist_record(hist, G_MAXINT64);
    sim_hist_record(hist, 5);
    g_assert_cmpuint(sim_hist_count(hist), ==, 5);
    g_assert_true(hist->sum == (unsigned __int128) G_MAXINT64 * 4 + 5);
    g_assert_cmpfloat(sim_hist_sum(hist), ==, 0x1p65);
    g_assert_cmpfloat(sim_hist_mean(hist), ==, 0x1p65 / 5.0);
    g_assert_cmpint(sim_hist_min(hist), ==, 5);
    g_assert_cmpint(sim_hist_max(hist), ==, G_MAXINT64);
}

/* Ranks by hand: with the values 1 .. 100, in exact buckets up to 63, the p-th percentile is p. 0.07, 0.14, 0.28, 0.29
 * and others times 100 come out above the whole number in floating point. */
static void
test_quantile_ranks(void)
{
    g_autofree SimHist *hist = hist_new();
    for (gint64 value = 1; value <= 100; value++)
        sim_hist_record(hist, value);
    g_assert_cmpint(sim_hist_quantile(hist, 0.0), ==, 1);
    for (guint percent = 1; percent <= 63; percent++)
        g_assert_cmpint(sim_hist_quantile(hist, percent / 100.0), ==, percent);
    g_assert_cmpint(sim_hist_quantile(hist, 0.0701), ==, 8);
    g_assert_cmpint(sim_hist_quantile(hist, 0.64), ==, 65); /* 64 shares a bucket with 65 */
    g_assert_cmpint(sim_hist_quantile(hist, 1.0), ==, 100); /* and not 101, its bucket's end */
}

/* Two values and nothing between: the quantile next to the gap must stay on its side (an interpolating or a
 * marker-moving estimator does not). */
static void
test_quantile_gap(void)
{
    g_autofree SimHist *hist = hist_new();
    for (guint i = 0; i < 9899; i++)
        sim_hist_record(hist, 20);
    for (guint i = 0; i < 101; i++)
        sim_hist_record(hist, 2000);
    g_assert_cmpint(sim_hist_quantile(hist, 0.9899), ==, 20);
    g_assert_cmpint(sim_hist_quantile(hist, 0.99), ==, 2000);
}

static void
test_quantile_against_sorted(void)
{
    enum { n = 20000 };
    g_autofree gint64 *values = draw_latencies_ps("quantile", n);
    g_autofree SimHist *hist = hist_new();
    for (guint i = 0; i < n; i++)
        sim_hist_record(hist, values[i]);
    qsort(values, n, sizeof *values, compare_values);
    for (guint permyriad = 0; permyriad <= 10000; permyriad++) {
        guint rank = MAX(1, permyriad * (n / 10000));
        gint64 exact = values[rank - 1];
        gint64 answer = sim_hist_quantile(hist, permyriad / 10000.0);
        g_assert_cmpint(answer, >=, exact);
        g_assert_cmpint(answer - exact, <=, exact / 32);
    }
}

static void
test_merge_is_one_pass(void)
{
    enum { n = 30000, n_parts = 7 };
    g_autofree gint64 *values = draw_latencies_ps("merge", n);
    g_autofree SimHist *whole = hist_new(), *forth = hist_new(), *back = hist_new();
    SimHist *parts[n_parts + 1]; /* the last stays empty */
    for (guint i = 0; i <= n_parts; i++)
        parts[i] = hist_new();
    for (guint i = 0; i < n; i++) {
        sim_hist_record(whole, values[i]);
        sim_hist_record(parts[values[i] % n_parts], values[i]);
    }
    for (guint i = 0; i <= n_parts; i++) {
        sim_hist_merge(forth, parts[i]);
        sim_hist_merge(back, parts[n_parts - i]);
    }
    assert_same(forth, whole);
    assert_same(back, whole);
    for (guint i = 0; i <= n_parts; i++)
        g_free(parts[i]);
}

static void
test_negative_refused(void)
{
    if (g_test_subprocess()) {
        g_autofree SimHist *hist = hist_new();
        sim_hist_record(hist, -1);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*value >= 0*");
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sim/hist/empty", test_empty);
    g_test_add_func("/sim/hist/edges", test_edges);
    g_test_add_func("/sim/hist/buckets-tile", test_buckets_tile);
    g_test_add_func("/sim/hist/exact-totals", test_exact_totals);
    g_test_add_func("/sim/hist/quantile/ranks", test_quantile_ranks);
    g_test_add_func("/sim/hist/quantile/gap", test_quantile_gap);
    g_test_add_func("/sim/hist/quantile/against-sorted", test_quantile_against_sorted);
    g_test_add_func("/sim/hist/merge-is-one-pass", test_merge_is_one_pass);
    g_test_add_func("/sim/hist/negative-refused", test_negative_refused);
    return g_test_run();
}
