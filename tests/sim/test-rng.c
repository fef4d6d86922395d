/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeds are fixed, so nothing here is flaky; limits of random quantities are stated in standard deviations or as the
 * upper 0.1 % point, and a fresh seed should pass them nearly always. */
#include "sim-gsl.h"
#include "sim-rng.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static void
assert_near(double value, double expected, double tolerance)
{
    g_assert_cmpfloat(value, >=, expected - tolerance);
    g_assert_cmpfloat(value, <=, expected + tolerance);
}

/* Pearson's statistic against equal frequencies must lie between the 0.1 % points of chi-square. */
static void
assert_equal_frequencies(const guint *counts, guint n_bins)
{
    double total = 0.0, statistic = 0.0;
    for (guint i = 0; i < n_bins; i++)
        total += counts[i];
    for (guint i = 0; i < n_bins; i++) {
        double excess = counts[i] - total / n_bins;
        statistic += excess * excess / (total / n_bins);
    }
    g_assert_cmpfloat(statistic, >, gsl_cdf_chisq_Pinv(0.001, n_bins - 1));
    g_assert_cmpfloat(statistic, <, gsl_cdf_chisq_Qinv(0.001, n_bins - 1));
}

static double
exponential_cdf(double x)
{
    return -expm1(-x);
}

/* Kolmogorov and Smirnov's distance of a sample from the standard exponential; sorts the sample. */
static double
exponential_distance(double *sample, gsize n)
{
    double distance = 0.0;
    gsl_sort(sample, 1, n);
    for (gsize i = 0; i < n; i++) {
        double cdf = exponential_cdf(sample[i]);
        distance = MAX(distance, MAX(cdf - (double) i / n, (double) (i + 1) / n - cdf));
    }
    return distance;
}

/* First outputs for the state 1, 2, 3, 4, as other implementations of xoshiro256++ publish them. */
static void
test_known_answers(void)
{
    static const guint64 expected[] = {
        G_GUINT64_CONSTANT(41943041),
        G_GUINT64_CONSTANT(58720359),
        G_GUINT64_CONSTANT(3588806011781223),
        G_GUINT64_CONSTANT(3591011842654386),
        G_GUINT64_CONSTANT(9228616714210784205),
        G_GUINT64_CONSTANT(9973669472204895162),
        G_GUINT64_CONSTANT(14011001112246962877),
        G_GUINT64_CONSTANT(12406186145184390807),
        G_GUINT64_CONSTANT(15849039046786891736),
        G_GUINT64_CONSTANT(10450023813501588000),
    };
    SimRng rng = {{1, 2, 3, 4}};
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_cmpuint(sim_rng_u64(&rng), ==, expected[i]);
}

/* SplitMix64's published outputs after seed 0. */
static void
test_seed_known_answers(void)
{
    SimRng rng;
    sim_rng_seed(&rng, 0);
    g_assert_cmphex(rng.s[0], ==, G_GUINT64_CONSTANT(0xe220a8397b1dcdaf));
    g_assert_cmphex(rng.s[1], ==, G_GUINT64_CONSTANT(0x6e789e6aa1b965f4));
    g_assert_cmphex(rng.s[2], ==, G_GUINT64_CONSTANT(0x06c45d188009454f));
    g_assert_cmphex(rng.s[3], ==, G_GUINT64_CONSTANT(0xf88bb8a8724c81ec));
}

/* The keying is part of every stored result; these come from a second implementation of its description. */
static void
test_key_known_answers(void)
{
    SimRng rng;
    sim_rng_init(&rng, 1, 0, "cpu/0", "think");
    g_assert_cmpuint(sim_rng_u64(&rng), ==, G_GUINT64_CONSTANT(9757674907983178722));
    g_assert_cmpuint(sim_rng_u64(&rng), ==, G_GUINT64_CONSTANT(6260311088103519473));
    sim_rng_init(&rng, 42, 7, "kmalloc-64 node/3", "service time");
    g_assert_cmpuint(sim_rng_u64(&rng), ==, G_GUINT64_CONSTANT(11491086955387137636));
    g_assert_cmpuint(sim_rng_u64(&rng), ==, G_GUINT64_CONSTANT(1923177798013817669));
}

typedef guint64 BitMatrix[256][4]; /* column i is the image of state bit i */

static void
bit_matrix_apply(BitMatrix matrix, const guint64 in[4], guint64 out[4])
{
    memset(out, 0, 4 * sizeof *out);
    for (guint bit = 0; bit < 256; bit++) {
        if (in[bit / 64] >> bit % 64 & 1) {
            for (guint i = 0; i < 4; i++)
                out[i] ^= matrix[bit][i];
        }
    }
}

/* One step is linear over the bits of the state: its matrix squared 128 times is the jump, found without the jump's
 * polynomial. */
static void
test_jump(void)
{
    static BitMatrix power, square;
    for (guint bit = 0; bit < 256; bit++) {
        SimRng unit = {{0}};
        unit.s[bit / 64] = (guint64) 1 << bit % 64;
        sim_rng_u64(&unit);
        memcpy(power[bit], unit.s, sizeof unit.s);
    }
    for (guint i = 0; i < 128; i++) {
        for (guint bit = 0; bit < 256; bit++)
            bit_matrix_apply(power, power[bit], square[bit]);
        memcpy(power, square, sizeof power);
    }
    SimRng rng;
    guint64 expected[4];
    sim_rng_seed(&rng, 20240229);
    bit_matrix_apply(power, rng.s, expected);
    sim_rng_jump(&rng);
    for (guint i = 0; i < 4; i++)
        g_assert_cmphex(rng.s[i], ==, expected[i]);
}

typedef struct {
    guint64 seed, replication;
    const char *component, *purpose;
} Key;

/* Keys that differ from the first in one field by as little as can be, or only in where one text ends, or in length
 * about the width of a word. */
static const Key near_keys[] = {
    {1, 0, "cpu/1", "think"},     {2, 0, "cpu/1", "think"},          {G_MAXUINT64, 0, "cpu/1", "think"},
    {1, 1, "cpu/1", "think"},     {0, 1, "cpu/1", "think"},          {1, 0, "cpu/2", "think"},
    {1, 0, "cpu/10", "think"},    {1, 0, "cpu/1", "thinl"},          {1, 0, "cpu/1t", "hink"},
    {1, 0, "cpu/", "1think"},     {1, 0, "", "cpu/1think"},          {1, 0, "cpu/1think", ""},
    {1, 0, "think", "cpu/1"},     {1, 0, "cpu/1234", "think"},       {1, 0, "cpu/12345", "think"},
    {1, 0, "cpu/12346", "think"}, {1, 0, "cpu/1234cpu/12", "think"}, {1, 0, "", ""},
};

static void
init_key(SimRng *rng, const Key *key)
{
    sim_rng_init(rng, key->seed, key->replication, key->component, key->purpose);
}

static void
test_streams_uncorrelated(void)
{
    enum { n_draws = 40000 };
    for (guint i = 0; i < G_N_ELEMENTS(near_keys); i++) {
        for (guint j = 0; j < i; j++) {
            SimRng a, b;
            double product = 0.0, equal_bits = 0.0;
            init_key(&a, &near_keys[i]);
            init_key(&b, &near_keys[j]);
            for (guint k = 0; k < n_draws; k++) {
                SimRng bits_a = a, bits_b = b;
                equal_bits += __builtin_popcountll(~(sim_rng_u64(&bits_a) ^ sim_rng_u64(&bits_b)));
                product += (sim_rng_uniform(&a) - 0.5) * (sim_rng_uniform(&b) - 0.5);
            }
            /* 4.5 standard deviations; 153 pairs */
            assert_near(12.0 * product / n_draws, 0.0, 4.5 / sqrt(n_draws));
            assert_near(equal_bits / n_draws, 32.0, 4.5 * 4.0 / sqrt(n_draws));
        }
    }
}

/* A model asks for many streams whose keys count up: their states must differ, and across streams the first draws must
 * look as random as along one. */
static void
test_streams_many(void)
{
    enum { n_cpus = 4096, n_replications = 16, n_bins = 256 };
    guint first[n_bins] = {0}, pair[n_bins] = {0}, previous = 0;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint cpu = 0; cpu < n_cpus; cpu++) {
        g_autofree char *component = g_strdup_printf("cpu/%u", cpu);
        for (guint replication = 0; replication < n_replications; replication++) {
            SimRng rng;
            sim_rng_init(&rng, 1, replication, component, "think");
            g_assert_true(g_hash_table_add(seen, g_memdup2(&rng.s[0], sizeof rng.s[0])));
            guint top = sim_rng_u64(&rng) >> 56;
            first[top]++;
            pair[(previous & 0xf0) | top >> 4]++;
            previous = top;
        }
    }
    assert_equal_frequencies(first, n_bins);
    assert_equal_frequencies(pair, n_bins);
}

/* Same key, same stream; and what another stream does in between does not reach it. */
static void
test_streams_independent_of_order(void)
{
    SimRng alone, beside, other;
    init_key(&alone, &near_keys[0]);
    init_key(&other, &near_keys[1]);
    sim_rng_jump(&other);
    init_key(&beside, &near_keys[0]);
    for (guint i = 0; i < 1000; i++) {
        sim_rng_exponential(&other, 1.0);
        g_assert_cmphex(sim_rng_u64(&beside), ==, sim_rng_u64(&alone));
    }
}

static void
test_uniform_chi_square(void)
{
    enum { n_draws = 1 << 20, n_bins = 1024 };
    guint high[n_bins] = {0}, low[n_bins] = {0}, serial[n_bins] = {0}, previous = 0;
    SimRng rng;
    sim_rng_init(&rng, 3, 0, "test", "uniform");
    for (guint i = 0; i < n_draws; i++) {
        SimRng bits = rng;
        low[sim_rng_u64(&bits) % n_bins]++;
        guint bin = (guint) (sim_rng_uniform(&rng) * n_bins);
        high[bin]++;
        serial[(previous / 32) * 32 + bin / 32]++;
        previous = bin;
    }
    assert_equal_frequencies(high, n_bins);
    assert_equal_frequencies(low, n_bins);
    assert_equal_frequencies(serial, n_bins);
}

/* States whose next output is 0 or all ones: the output is the rotated sum of s0 and s3, here 0, plus s0. */
static void
test_uniform_ends(void)
{
    SimRng zero = {{0, 1, 0, 0}}, ones = {{G_MAXUINT64, 1, 0, 1}};
    SimRng zero_pos = zero, ones_pos = ones, zero_hit = zero;
    g_assert_cmpfloat(sim_rng_uniform(&zero), ==, 0.0);
    g_assert_cmpfloat(sim_rng_uniform(&ones), ==, 1.0 - 0x1p-53);
    g_assert_false(sim_rng_bernoulli(&zero_hit, 0.0));
    g_assert_cmpfloat(sim_rng_uniform_pos(&zero_pos), ==, 0x1p-53);
    g_assert_cmpfloat(sim_rng_uniform_pos(&ones_pos), ==, 1.0 - 0x1p-53);
}

/* With n = 3 * 2^62 a modulo or a bare multiplication gives every third or fourth number twice as often. */
static void
test_below_unbiased(void)
{
    static const guint64 bounds[] = {1, 2, 3, 7, 1000, (guint64) 3 << 62, ((guint64) 1 << 63) + 1, G_MAXUINT64};
    SimRng rng;
    sim_rng_init(&rng, 4, 0, "test", "below");
    for (guint i = 0; i < G_N_ELEMENTS(bounds); i++) {
        guint residues[3] = {0}, thirds[3] = {0};
        for (guint k = 0; k < 60000; k++) {
            guint64 value = sim_rng_below(&rng, bounds[i]);
            g_assert_cmpuint(value, <, bounds[i]);
            residues[value % 3]++;
            thirds[(guint) ((unsigned __int128) value * 3 / bounds[i])]++;
        }
        if (bounds[i] % 3 == 0) {
            assert_equal_frequencies(residues, 3);
            assert_equal_frequencies(thirds, 3);
        }
    }
}

static void
test_below_small(void)
{
    guint counts[7] = {0};
    SimRng rng;
    sim_rng_init(&rng, 5, 0, "test", "below");
    for (guint k = 0; k < 700000; k++)
        counts[sim_rng_below(&rng, 7)]++;
    assert_equal_frequencies(counts, 7);
}

static void
test_bernoulli(void)
{
    enum { n_draws = 100000 };
    SimRng rng, twin;
    guint hits = 0;
    sim_rng_init(&rng, 6, 0, "test", "bernoulli");
    twin = rng;
    for (guint i = 0; i < n_draws; i++) {
        g_assert_false(sim_rng_bernoulli(&rng, 0.0));
        g_assert_true(sim_rng_bernoulli(&rng, 1.0));
        hits += sim_rng_bernoulli(&rng, 0.03);
    }
    assert_near(hits, 0.03 * n_draws, 4.0 * sqrt(0.03 * 0.97 * n_draws));
    for (guint i = 0; i < 3 * n_draws; i++)
        sim_rng_u64(&twin);
    g_assert_cmpmem(rng.s, sizeof rng.s, twin.s, sizeof twin.s); /* one draw each, the certain ones too */
}

/* What makes the tables a ziggurat, whatever wrote them: equal areas, densities that belong to the edges, and a base
 * that closes with its tail. */
static void
test_ziggurat_tables(void)
{
    const double *density = sim__rng_ziggurat_density;
    double tail = sim__rng_ziggurat_tail, area = (tail + 1.0) * exp(-tail);
    double edge = sim__rng_ziggurat[0].scale * 0x1p53;
    assert_near(sim__rng_ziggurat[1].scale * 0x1p53, tail, 1e-14 * tail);
    for (guint i = 0; i < SIM__RNG_ZIGGURAT_LAYERS; i++) {
        gboolean is_top = i + 1 == SIM__RNG_ZIGGURAT_LAYERS;
        double next = is_top ? 0.0 : sim__rng_ziggurat[i + 1].scale * 0x1p53;
        double height = i == 0 ? density[1] : density[i + 1] - density[i];
        assert_near(density[i], exp(-edge), 1e-14 * density[i]);
        assert_near(edge * height, area, 1e-11 * area);
        assert_near((double) sim__rng_ziggurat[i].accept * 0x1p-53, next / edge, 1e-15);
        edge = next;
    }
    g_assert_cmpfloat(density[SIM__RNG_ZIGGURAT_LAYERS], ==, 1.0);
}

static void
test_exponential_moments(void)
{
    enum { n_draws = 2000000 };
    double power_sums[4] = {0};
    static const double factorials[] = {1, 2, 6, 24, 120, 720, 5040, 40320};
    SimRng rng;
    sim_rng_init(&rng, 7, 0, "test", "exponential");
    for (guint i = 0; i < n_draws; i++) {
        double x = sim_rng_exponential(&rng, 250.0) / 250.0, power = 1.0;
        for (guint k = 0; k < 4; k++)
            power_sums[k] += power *= x;
    }
    /* E x^k = k!, so the variance of x^k is (2k)! - k!^2 */
    for (guint k = 1; k <= 4; k++) {
        double moment = factorials[k - 1], variance = factorials[2 * k - 1] - moment * moment;
        assert_near(power_sums[k - 1] / n_draws, moment, 4.0 * sqrt(variance / n_draws));
    }
}

/* Equally likely bins, fine enough to show a fault in a single layer's wedge; and the distance of the whole. */
static void
test_exponential_distribution(void)
{
    enum { n_draws = 2000000, n_bins = 2000 };
    static guint counts[n_bins];
    g_autofree double *sample = g_new(double, n_draws);
    SimRng rng;
    sim_rng_init(&rng, 8, 0, "test", "exponential");
    for (guint i = 0; i < n_draws; i++) {
        sample[i] = sim_rng_exponential(&rng, 1.0);
        counts[MIN((guint) (exponential_cdf(sample[i]) * n_bins), n_bins - 1)]++;
    }
    assert_equal_frequencies(counts, n_bins);
    g_assert_cmpfloat(exponential_distance(sample, n_draws) * sqrt(n_draws), <, 1.95); /* 0.1 % point */
}

/* At a given place of a wedge, the share of draws kept must follow the density from one edge of the layer to the other;
 * a whole sample hardly shows a fault there, as a wedge is thin. */
static void
test_exponential_wedges(void)
{
    enum { n_draws = 20000 };
    static const guint layers[] = {1, 2, 17, 128, 254, 255};
    SimRng rng;
    sim_rng_init(&rng, 12, 0, "test", "wedges");
    for (guint i = 0; i < G_N_ELEMENTS(layers); i++) {
        const SimRngZigguratLayer *layer = &sim__rng_ziggurat[layers[i]];
        const double *density = &sim__rng_ziggurat_density[layers[i]];
        for (guint eighth = 1; eighth < 8; eighth += 2) {
            gint64 draw = layer->accept + (((gint64) 1 << 53) - layer->accept) / 8 * eighth;
            double x = (double) draw * layer->scale;
            double share = (exp(-x) - density[0]) / (density[1] - density[0]);
            guint n_kept = 0;
            for (guint k = 0; k < n_draws; k++)
                n_kept += sim__rng_exponential_slow(&rng, (guint64) draw << 11 | layers[i]) == x;
            assert_near(n_kept, share * n_draws, 4.0 * sqrt(share * (1.0 - share) * n_draws));
        }
    }
}

/* Beyond the base layer the ziggurat starts over: as many values as there should be, exponential again, and some that
 * started over twice (probability exp(-15.4), 2e-7: looked for by starting from draws in the tail). */
static void
test_exponential_tail(void)
{
    enum { n_draws = 4000000 };
    g_autofree double *excess = g_new(double, n_draws);
    double tail = sim__rng_ziggurat_tail, expected = n_draws * exp(-tail);
    guint n = 0;
    SimRng rng;
    sim_rng_init(&rng, 9, 0, "test", "tail");
    for (guint i = 0; i < n_draws; i++) {
        double x = sim_rng_exponential(&rng, 1.0);
        if (x > tail)
            excess[n++] = x - tail;
    }
    assert_near(n, expected, 4.0 * sqrt(expected));
    assert_near(gsl_stats_mean(excess, 1, n), 1.0, 4.0 / sqrt(n));
    g_assert_cmpfloat(exponential_distance(excess, n) * sqrt(n), <, 1.95);

    const guint64 in_tail = ~(guint64) 0 << 8; /* layer 0, the largest draw */
    guint n_twice = 0;
    for (guint i = 0; i < 400000; i++) {
        double x = sim__rng_exponential_slow(&rng, in_tail);
        g_assert_cmpfloat(x, >=, tail);
        n_twice += x > 2.0 * tail;
    }
    expected = 400000 * exp(-tail);
    assert_near(n_twice, expected, 4.0 * sqrt(expected));
}

static void
test_gsl_is_the_same_stream(void)
{
    SimRng rng, before;
    sim_rng_init(&rng, 10, 0, "test", "gsl");
    before = rng;
    g_autoptr(gsl_rng) adapter = sim_rng_gsl_new(&rng);
    g_assert_cmpstr(gsl_rng_name(adapter), ==, "xoshiro256++");
    g_assert_cmpuint(gsl_rng_max(adapter), ==, G_MAXUINT64);
    g_autoptr(gsl_rng) clone = gsl_rng_clone(adapter);
    for (guint i = 0; i < 100; i++)
        g_assert_cmpuint(gsl_rng_get(adapter), ==, sim_rng_u64(&rng));
    g_assert_cmpfloat(gsl_rng_uniform(adapter), ==, sim_rng_uniform(&rng));
    g_assert_cmpuint(gsl_rng_get(clone), ==, sim_rng_u64(&before)); /* neither copy moved the other */
    gsl_rng_set(adapter, 77);
    sim_rng_seed(&rng, 77);
    g_assert_cmpuint(gsl_rng_get(adapter), ==, sim_rng_u64(&rng));
}

/* GSL's samplers assume various word widths of a generator; a 64-bit one must not upset them. */
static void
test_gsl_variates(void)
{
    enum { n_draws = 200000 };
    double poisson = 0.0, exponential = 0.0, gauss = 0.0, gauss_square = 0.0, ziggurat = 0.0, ziggurat_square = 0.0;
    double integer = 0.0;
    SimRng rng;
    sim_rng_init(&rng, 11, 0, "test", "gsl");
    g_autoptr(gsl_rng) adapter = sim_rng_gsl_new(&rng);
    for (guint i = 0; i < n_draws; i++) {
        poisson += gsl_ran_poisson(adapter, 3.5);
        exponential += gsl_ran_exponential(adapter, 2.0);
        double a = gsl_ran_gaussian(adapter, 1.5), b = gsl_ran_gaussian_ziggurat(adapter, 1.5);
        gauss += a;
        gauss_square += a * a;
        ziggurat += b;
        ziggurat_square += b * b;
        integer += (double) gsl_rng_uniform_int(adapter, 1001);
    }
    double unit = 4.0 / sqrt(n_draws); /* 4 standard errors of a mean */
    assert_near(poisson / n_draws, 3.5, unit * sqrt(3.5));
    assert_near(exponential / n_draws, 2.0, unit * 2.0);
    assert_near(gauss / n_draws, 0.0, unit * 1.5);
    assert_near(gauss_square / n_draws, 2.25, unit * 2.25 * sqrt(2.0));
    assert_near(ziggurat / n_draws, 0.0, unit * 1.5);
    assert_near(ziggurat_square / n_draws, 2.25, unit * 2.25 * sqrt(2.0));
    assert_near(integer / n_draws, 500.0, unit * 1001.0 / sqrt(12.0));
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sim/rng/known-answers", test_known_answers);
    g_test_add_func("/sim/rng/seed-known-answers", test_seed_known_answers);
    g_test_add_func("/sim/rng/key-known-answers", test_key_known_answers);
    g_test_add_func("/sim/rng/jump", test_jump);
    g_test_add_func("/sim/rng/streams/uncorrelated", test_streams_uncorrelated);
    g_test_add_func("/sim/rng/streams/many", test_streams_many);
    g_test_add_func("/sim/rng/streams/independent-of-order", test_streams_independent_of_order);
    g_test_add_func("/sim/rng/uniform/chi-square", test_uniform_chi_square);
    g_test_add_func("/sim/rng/uniform/ends", test_uniform_ends);
    g_test_add_func("/sim/rng/below/unbiased", test_below_unbiased);
    g_test_add_func("/sim/rng/below/small", test_below_small);
    g_test_add_func("/sim/rng/bernoulli", test_bernoulli);
    g_test_add_func("/sim/rng/exponential/tables", test_ziggurat_tables);
    g_test_add_func("/sim/rng/exponential/moments", test_exponential_moments);
    g_test_add_func("/sim/rng/exponential/distribution", test_exponential_distribution);
    g_test_add_func("/sim/rng/exponential/wedges", test_exponential_wedges);
    g_test_add_func("/sim/rng/exponential/tail", test_exponential_tail);
    g_test_add_func("/sim/rng/gsl/same-stream", test_gsl_is_the_same_stream);
    g_test_add_func("/sim/rng/gsl/variates", test_gsl_variates);
    return g_test_run();
}
