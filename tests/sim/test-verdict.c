/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ci.h"
#include "sim-gsl.h"
#include "sim-rng.h"
#include "sim-verdict.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#define assert_near(a, b, tolerance) g_assert_cmpfloat_with_epsilon(a, b, tolerance)

static void
test_paired(void)
{
    static const double a[] = {1, 2, 3}, b[] = {2, 4, 6};
    SimDifference d = sim_difference_paired(a, b, 3, 0.95);

    /* Differences 1, 2, 3: mean 2, standard deviation 1, t = 2 sqrt 3 with 2 degrees of freedom, for which the tail has
     * the closed form p = 1 - t / sqrt(2 + t^2). */
    g_assert_true(d.is_paired);
    assert_near(d.mean_a, 2, 1e-12);
    assert_near(d.difference, 2, 1e-12);
    assert_near(d.half_width, 4.302652729749464 / sqrt(3), 1e-9);
    assert_near(d.p, 1 - sqrt(12.0 / 14.0), 1e-12);
    g_assert_true(isnan(sim_difference_paired(a, b, 1, 0.95).p));
    g_assert_cmpfloat(sim_difference_paired(a, a, 3, 0.95).p, ==, 1);
}

static void
test_welch(void)
{
    static const double a[] = {0, 2}, b[] = {3, 5, 7}, same[] = {4, 4};
    SimDifference d = sim_difference_welch(a, 2, b, 3, 0.95);

    /* Variances of the means 1 and 4/3. */
    g_assert_false(d.is_paired);
    assert_near(d.difference, 4, 1e-12);
    assert_near(d.error, sqrt(7.0 / 3), 1e-12);
    assert_near(d.degrees, (49.0 / 9) / (1 + 16.0 / 9 / 2), 1e-12);
    assert_near(d.half_width, sim_ci_t_quantile(0.95, d.degrees) * d.error, 1e-12);
    g_assert_cmpfloat(sim_difference_welch(same, 2, same, 2, 0.95).p, ==, 1);
    g_assert_true(isnan(sim_difference_welch(a, 1, b, 3, 0.95).p));
}

static void
expect_adjusted(SimControl control, const double *expected)
{
    static const double p[] = {0.02, 0.005, 0.13, 0.011, 0.04};
    SimDifference d[G_N_ELEMENTS(p)] = {{0}}, *family[G_N_ELEMENTS(p)];
    SimDirection directions[G_N_ELEMENTS(p)] = {SIM_DIRECTION_UP, SIM_DIRECTION_DOWN, 0, SIM_DIRECTION_NONE, 0};

    for (guint i = 0; i < G_N_ELEMENTS(p); i++) {
        d[i] = (SimDifference){.p = p[i], .difference = 1, .degrees = 5, .error = 1};
        family[i] = &d[i];
    }
    sim_difference_judge(family, directions, G_N_ELEMENTS(p), 0.95, control);
    for (guint i = 0; i < G_N_ELEMENTS(p); i++)
        assert_near(d[i].p_adjusted, expected[i], 1e-12);
    g_assert_cmpint(d[0].verdict, ==, control == SIM_CONTROL_HOLM ? SIM_VERDICT_NONE : SIM_VERDICT_BETTER);
    g_assert_cmpint(d[1].verdict, ==, SIM_VERDICT_WORSE);
    g_assert_cmpint(d[2].verdict, ==, SIM_VERDICT_NONE);
    g_assert_cmpint(d[3].verdict, ==, SIM_VERDICT_HIGHER);
}

static void
test_control(void)
{
    static const double holm[] = {0.06, 0.025, 0.13, 0.044, 0.08};
    static const double bh[] = {0.02 * 5 / 3, 0.025, 0.13, 0.0275, 0.05};
    static const double none[] = {0.02, 0.005, 0.13, 0.011, 0.04};

    expect_adjusted(SIM_CONTROL_HOLM, holm);
    expect_adjusted(SIM_CONTROL_BH, bh);
    expect_adjusted(SIM_CONTROL_NONE, none);
}

static void
test_directions(void)
{
    g_assert_cmpint(sim_direction_of("throughput_ops_per_s"), ==, SIM_DIRECTION_UP);
    g_assert_cmpint(sim_direction_of("elapsed_s"), ==, SIM_DIRECTION_DOWN);
    g_assert_cmpint(sim_direction_of("slab_memory_bytes"), ==, SIM_DIRECTION_DOWN);
    g_assert_cmpint(sim_direction_of("wait_ns"), ==, SIM_DIRECTION_DOWN);
    g_assert_cmpint(sim_direction_of("lock_share_percent"), ==, SIM_DIRECTION_NONE);
    g_assert_cmpint(sim_direction_of("slabs"), ==, SIM_DIRECTION_NONE);
}

#define N_STUDIES 1000
#define FAMILY 8
#define N_PAIRS 8
#define OWN_SD 1.0

/* Pairs share large noise and have small noise of their own, as under common random numbers. */
static SimDifference
draw(gsl_rng *rng, double shift, gboolean is_paired)
{
    double a[N_PAIRS], b[N_PAIRS];

    for (guint i = 0; i < N_PAIRS; i++) {
        double shared = is_paired ? 100 + gsl_ran_gaussian(rng, 10) : 100;
        a[i] = shared + gsl_ran_gaussian(rng, OWN_SD);
        b[i] = shared + gsl_ran_gaussian(rng, OWN_SD) + shift;
    }
    return is_paired ? sim_difference_paired(a, b, N_PAIRS, 0.95) : sim_difference_welch(a, N_PAIRS, b, N_PAIRS, 0.95);
}

/* Over 1,000 synthetic studies of 8 comparisons, with true differences of 0, or of `shift` in the first `n_true`. */
typedef struct {
    double coverage;        /* of the intervals of the first comparison */
    double any_false;       /* studies with a false verdict */
    double false_discovery; /* mean share of false ones among the verdicts */
    double seen;            /* true differences with the right verdict */
    double wrong_side;      /* true differences with the opposite verdict */
} Rates;

static Rates
study_rates(guint n_true, double shift, gboolean is_paired, SimControl control)
{
    static const SimDirection directions[FAMILY] = {SIM_DIRECTION_UP, SIM_DIRECTION_UP, SIM_DIRECTION_UP,
                                                    SIM_DIRECTION_UP, SIM_DIRECTION_UP, SIM_DIRECTION_UP,
                                                    SIM_DIRECTION_UP, SIM_DIRECTION_UP};
    SimRng stream;
    Rates rates = {0};

    sim_rng_init(&stream, 2026, n_true, "synthetic", is_paired ? "paired" : "welch");
    g_autoptr(gsl_rng) rng = sim_rng_gsl_new(&stream);
    for (guint study = 0; study < N_STUDIES; study++) {
        SimDifference d[FAMILY], *family[FAMILY];
        guint n_false = 0, n_right = 0;
        for (guint i = 0; i < FAMILY; i++) {
            d[i] = draw(rng, i < n_true ? shift : 0, is_paired);
            family[i] = &d[i];
        }
        sim_difference_judge(family, directions, FAMILY, 0.95, control);
        rates.coverage += fabs(d[0].difference - (n_true > 0 ? shift : 0)) <= d[0].half_width;
        for (guint i = 0; i < FAMILY; i++) {
            n_false += i >= n_true && d[i].verdict != SIM_VERDICT_NONE;
            n_right += i < n_true && d[i].verdict == SIM_VERDICT_BETTER;
            rates.wrong_side += i < n_true && d[i].verdict == SIM_VERDICT_WORSE;
        }
        rates.any_false += n_false > 0;
        rates.false_discovery += n_false > 0 ? (double) n_false / (n_false + n_right) : 0;
        rates.seen += n_right;
    }
    rates.coverage /= N_STUDIES;
    rates.any_false /= N_STUDIES;
    rates.false_discovery /= N_STUDIES;
    rates.seen /= N_STUDIES * MAX(n_true, 1);
    return rates;
}

/* Bounds are four standard errors of a share of 1,000 studies: 0.0276 around 0.95. */
static void
test_coverage(void)
{
    for (guint is_paired = 0; is_paired < 2; is_paired++) {
        Rates null = study_rates(0, 0, is_paired, SIM_CONTROL_HOLM);
        Rates shifted = study_rates(4, 2, is_paired, SIM_CONTROL_HOLM);
        g_test_message("paired %u: coverage %.3f and %.3f, any false %.3f", is_paired, null.coverage, shifted.coverage,
                       null.any_false);
        g_assert_cmpfloat(null.coverage, >, 0.95 - 0.028);
        g_assert_cmpfloat(null.coverage, <, 0.95 + 0.028);
        g_assert_cmpfloat(shifted.coverage, >, 0.95 - 0.028);
        g_assert_cmpfloat(shifted.coverage, <, 0.95 + 0.028);
        g_assert_cmpfloat(null.any_false, <, 0.05 + 0.028);
        g_assert_cmpfloat(null.any_false, >, 0.05 - 0.028);
        g_assert_cmpfloat(shifted.any_false, <, 0.05 + 0.028);
        g_assert_cmpfloat(shifted.wrong_side, ==, 0);
    }
}

/* Benjamini and Hochberg's promise, and what control of none would have done. */
static void
test_false_discovery(void)
{
    Rates bh = study_rates(4, 2, TRUE, SIM_CONTROL_BH), holm = study_rates(4, 2, TRUE, SIM_CONTROL_HOLM);
    Rates none = study_rates(0, 0, TRUE, SIM_CONTROL_NONE);

    g_test_message("BH: false share %.3f, seen %.3f; Holm seen %.3f; none: any false %.3f", bh.false_discovery, bh.seen,
                   holm.seen, none.any_false);
    g_assert_cmpfloat(bh.false_discovery, <, 0.05);
    g_assert_cmpfloat(bh.seen, >, holm.seen);
    /* 1 - 0.95^8 = 0.337 */
    g_assert_cmpfloat(none.any_false, >, 0.337 - 0.06);
    g_assert_cmpfloat(none.any_false, <, 0.337 + 0.06);
}

/* A true difference of the size that is called detectable is seen in 4 of 5 studies. The size is taken from the true
 * spread, since each study knows its own estimate of it only. */
static void
test_detectable(void)
{
    SimDifference d = {.p = 0.5, .degrees = N_PAIRS - 1, .error = OWN_SD * sqrt(2.0 / N_PAIRS)};
    SimDifference *family[] = {&d};
    SimDirection direction = SIM_DIRECTION_UP;
    SimRng stream;
    guint n_seen = 0;

    sim_difference_judge(family, &direction, 1, 0.95, SIM_CONTROL_HOLM);
    sim_rng_init(&stream, 1, 0, "synthetic", "detectable");
    g_autoptr(gsl_rng) rng = sim_rng_gsl_new(&stream);
    for (guint i = 0; i < 2000; i++) {
        SimDifference one = draw(rng, d.detectable, TRUE), *alone[] = {&one};
        sim_difference_judge(alone, &direction, 1, 0.95, SIM_CONTROL_HOLM);
        n_seen += one.verdict == SIM_VERDICT_BETTER;
    }
    g_test_message("detectable %.3f seen in %u of 2000", d.detectable, n_seen);
    /* The rule replaces the non-central t by a shifted one, which costs it a percent or two. */
    g_assert_cmpuint(n_seen, >, 2000 * 76 / 100);
    g_assert_cmpuint(n_seen, <, 2000 * 84 / 100);
}

static guint
n_split(guint n, guint n_high, double distance, gboolean is_skewed, guint n_sets)
{
    SimRng stream;
    guint found = 0;
    double values[64];

    sim_rng_init(&stream, n, n_high, "branches", is_skewed ? "skewed" : "normal");
    g_autoptr(gsl_rng) rng = sim_rng_gsl_new(&stream);
    for (guint set = 0; set < n_sets; set++) {
        for (guint i = 0; i < n; i++)
            values[i] =
                10 + (is_skewed ? gsl_ran_exponential(rng, 1) : gsl_ran_gaussian(rng, 1)) + (i < n_high ? distance : 0);
        found += sim_branches_find(values, n).is_split;
    }
    return found;
}

static void
test_branches(void)
{
    static const double split[] = {5, 15, 5.1, 15.2, 4.9, 15.1, 5, 5.2, 14.9};
    static const double outlier[] = {5, 5.1, 4.9, 5, 5.2, 5.1, 5, 15, 5}, constant[] = {3, 3, 3, 3, 3, 3, 3, 3};
    static const double near[] = {100, 100, 100, 100, 100.1, 100.1, 100.1, 100.1};
    SimBranches branches = sim_branches_find(split, G_N_ELEMENTS(split));

    g_assert_true(branches.is_split);
    g_assert_cmpuint(branches.n_low, ==, 5);
    g_assert_cmpuint(branches.n_high, ==, 4);
    assert_near(branches.mean_low, 5.04, 1e-12);
    assert_near(branches.mean_high, 15.05, 1e-12);
    g_assert_false(sim_branches_find(split, 7).is_split);
    g_assert_false(sim_branches_find(outlier, G_N_ELEMENTS(outlier)).is_split);
    g_assert_false(sim_branches_find(constant, G_N_ELEMENTS(constant)).is_split);
    g_assert_false(sim_branches_find(near, G_N_ELEMENTS(near)).is_split);
    /* The rates that the header states, with room for chance: 50, 10, 250 and 180 of 10,000. */
    g_assert_cmpuint(n_split(8, 0, 0, FALSE, 10000), <, 75);
    g_assert_cmpuint(n_split(10, 0, 0, FALSE, 10000), <, 22);
    g_assert_cmpuint(n_split(8, 0, 0, TRUE, 10000), <, 300);
    g_assert_cmpuint(n_split(10, 0, 0, TRUE, 10000), <, 230);
    g_assert_cmpuint(n_split(10, 4, 15, FALSE, 1000), >, 990);
    g_assert_cmpuint(n_split(40, 20, 15, FALSE, 1000), >, 990);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    sim_gsl_init();
    g_test_add_func("/verdict/paired", test_paired);
    g_test_add_func("/verdict/welch", test_welch);
    g_test_add_func("/verdict/control", test_control);
    g_test_add_func("/verdict/directions", test_directions);
    g_test_add_func("/verdict/coverage", test_coverage);
    g_test_add_func("/verdict/false-discovery", test_false_discovery);
    g_test_add_func("/verdict/detectable", test_detectable);
    g_test_add_func("/verdict/branches", test_branches);
    return g_test_run();
}
