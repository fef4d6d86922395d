/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ci.h"
#include "sim-result.h"
#include "sim-runner.h"
#include "toy-experiment.h"
#include "toy-scenario.h"
#include "toy-study.h"

#include <math.h>
#include <string.h>

#define SWEEP                                                                                                          \
    "[scenario]\ntitle=T\n[run]\nduration=1 ms\nreplications=4\nstarts=cold;warm\nseed=7\n"                            \
    "[sweep]\ntoy.cpus=2;8;32\n[variant base]\n[variant fast]\ntoy.cost=5\n"

/* Point, start, replication: the order does not depend on the workers, and seeds are the plan's. */
static void
test_order(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(SWEEP);
    g_autoptr(SimRuns) runs = toy_study_run(plan, 3);
    guint i = 0;

    g_assert_cmpuint(runs->n_runs, ==, 6 * 2 * 4);
    for (guint point = 0; point < 6; point++) {
        for (guint start = 0; start < 2; start++) {
            for (guint replication = 0; replication < 4; replication++, i++) {
                g_assert_cmpuint(runs->runs[i].point, ==, point);
                g_assert_cmpstr(runs->runs[i].start, ==, start == 0 ? "cold" : "warm");
                g_assert_cmpuint(runs->runs[i].replication, ==, replication);
                g_assert_cmpuint(runs->runs[i].seed, ==, 7);
                g_assert_nonnull(runs->runs[i].record);
            }
        }
    }
}

static char *
write_with(guint n_workers, const char *target)
{
    g_autoptr(SimPlan) plan = toy_study_plan(SWEEP);
    g_autoptr(SimRuns) runs = toy_study_run(plan, n_workers);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimFolder) folder = sim_result_begin(target, &error);

    g_assert_no_error(error);
    g_assert_true(sim_result_write(folder, &toy_experiment, runs, NULL, &error));
    g_assert_true(sim_folder_commit(folder, &error));
    return toy_study_digest(target);
}

static void
test_workers_do_not_matter(void)
{
    g_autofree char *one = write_with(1, "one"), *two = write_with(2, "two"), *eight = write_with(8, "eight");

    g_assert_cmpuint(strlen(one), >, 10000);
    g_assert_cmpstr(one, ==, two);
    g_assert_cmpstr(one, ==, eight);
}

/* The first failure in the order of runs is told, however the threads interleave. */
static void
test_failure(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(
        "[run]\nduration=1 ms\nreplications=40\n[sweep]\ntoy.cpus=2;8\n[variant base]\ntoy.fail_from=7\n");

    for (guint n_workers = 1; n_workers <= 8; n_workers *= 2) {
        const SimRunnerOptions options = {.n_workers = n_workers};
        g_autoptr(GError) error = NULL;

        g_assert_null(sim_runner_run(&toy_experiment, plan, &options, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
        g_assert_cmpstr(error->message, ==, "base, toy.cpus = 2, start cold, replication 7: toy fails as told");
    }
}

static gint interrupt;

static void
interrupt_now(guint n_done, guint n_total, gpointer data)
{
    g_atomic_int_set(&interrupt, 1);
}

/* Runs that would go on for ever end, and nothing is returned. */
static void
test_interrupt(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan("[run]\nduration=1 ms\nreplications=20\n[toy]\nhang=true\n");
    const SimRunnerOptions options = {.n_workers = 2, .interrupt = &interrupt, .progress = interrupt_now};
    g_autoptr(GError) error = NULL;

    interrupt = 0;
    g_assert_null(sim_runner_run(&toy_experiment, plan, &options, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_INTERRUPTED);
    g_assert_cmpstr(error->message, ==, "interrupted after 0 runs; nothing is kept");
}

static void
count_progress(guint n_done, guint n_total, gpointer data)
{
    guint *last = data;

    g_assert_cmpuint(n_total, ==, 48);
    g_assert_true(*last == G_MAXUINT || n_done > *last);
    *last = n_done;
}

static void
test_progress(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan(SWEEP);
    guint last = G_MAXUINT;
    const SimRunnerOptions options = {.n_workers = 2, .progress = count_progress, .data = &last};
    g_autoptr(GError) error = NULL;
    g_autoptr(SimRuns) runs = sim_runner_run(&toy_experiment, plan, &options, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(last, ==, 48);
}

static gboolean
is_precise(const double *values, guint n)
{
    double mean, half_width;

    sim_ci_mean(values, n, 0.95, &mean, &half_width);
    return half_width <= 0.012 * fabs(mean);
}

/* The number of replications kept is the first that is precise enough, which the full set of them tells. */
static void
test_precision(void)
{
    g_autoptr(SimPlan) all = toy_study_plan("[run]\nduration=1 ms\nreplications=200\n");
    g_autoptr(SimPlan) some = toy_study_plan("[run]\nduration=1 ms\nreplications=200\nprecision=0.012\n");
    g_autoptr(SimRuns) all_runs = toy_study_run(all, 2);
    double values[200];
    guint n = SIM_RUNNER_MIN_REPLICATIONS;

    g_assert_cmpuint(all_runs->n_runs, ==, 200);
    for (guint i = 0; i < 200; i++)
        values[i] = sim_record_metric(all_runs->runs[i].record, 0);
    while (!is_precise(values, n))
        n++;
    g_assert_cmpuint(n, >, SIM_RUNNER_MIN_REPLICATIONS);
    g_assert_cmpuint(n, <, 200);
    for (guint n_workers = 1; n_workers <= 8; n_workers *= 2) {
        g_autoptr(SimRuns) runs = toy_study_run(some, n_workers);
        g_assert_cmpuint(runs->n_runs, ==, n);
        for (guint i = 0; i < n; i++)
            g_assert_cmpfloat(sim_record_metric(runs->runs[i].record, 0), ==, values[i]);
    }
}

/* A precision that cannot be had ends at run.replications. */
static void
test_precision_limit(void)
{
    g_autoptr(SimPlan) plan = toy_study_plan("[run]\nduration=1 ms\nreplications=13\nprecision=0.000001\n");
    g_autoptr(SimRuns) runs = toy_study_run(plan, 2);

    g_assert_cmpuint(runs->n_runs, ==, 13);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/runner/order", test_order);
    toy_add_test("/runner/workers-do-not-matter", test_workers_do_not_matter);
    toy_add_test("/runner/failure", test_failure);
    toy_add_test("/runner/interrupt", test_interrupt);
    toy_add_test("/runner/progress", test_progress);
    toy_add_test("/runner/precision", test_precision);
    toy_add_test("/runner/precision-limit", test_precision_limit);
    return g_test_run();
}
