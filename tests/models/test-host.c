/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host whose cores run the CPUs of a virtual machine in turn. */
#include "mach-host.h"
#include "sched-script.h"

static const SimTime end = 4000 * SIM_MS;

static Bench *
bench_hosted(const char *host)
{
    g_autofree char *settings = g_strdup_printf("%s;%s;run.duration=10 s", two_domains, host);
    SchedConfig config = default_config();

    return bench_new(settings, &config);
}

static void
assert_near(SimTime found, SimTime wanted, gint percent)
{
    g_test_message("%" G_GINT64_FORMAT " us, wanted %" G_GINT64_FORMAT, found / SIM_US, wanted / SIM_US);
    g_assert_cmpint(100 * ABS(found - wanted), <=, percent * wanted);
}

/* Eight busy CPUs on three cores get all of the cores' time, and equal parts of it. */
static void
test_cores_are_shared(void)
{
    g_autoptr(Bench) bench = bench_hosted("machine.host_cores=3;machine.host_turn=1 ms");
    SimTime sum = 0;

    for (guint i = 0; i < N_TASKS; i++)
        add_task(bench, i, hog, i);
    run_until(bench, end);
    for (guint i = 0; i < N_TASKS; i++) {
        assert_near(bench->task[i].computed, 3 * end / 8, 10);
        sum += bench->task[i].computed;
    }
    assert_near(sum, 3 * end, 1);
    g_assert_cmpint(sum, <=, 3 * end);
}

/* Others take their part of a core: all of `away` from a CPU that waits alone, and no more from several together. */
static void
test_others_come_between(void)
{
    static const char host[] = "machine.host_cores=1;machine.host_turn=1 ms;machine.host_away=3 ms";
    g_autoptr(Bench) alone = bench_hosted(host), four = bench_hosted(host);
    SimTime sum = 0;

    add_task(alone, 0, hog, 0);
    run_until(alone, end);
    assert_near(alone->task[0].computed, end / 4, 8);
    for (guint i = 0; i < 4; i++)
        add_task(four, i, hog, i);
    run_until(four, end);
    for (guint i = 0; i < 4; i++)
        sum += four->task[i].computed;
    /* In each round four turns, and four breaks of 3/4 ms. */
    assert_near(sum, end * 4 / 7, 8);
}

/* CPUs without a task take nothing from the one that has one, nor does one whose task sleeps. */
static void
test_idle_cpus_ask_for_nothing(void)
{
    static const Step sleeper[] = {{SLEEP}, {COMPUTE, 50 * SIM_US}, {END}};
    g_autoptr(Bench) bench = bench_hosted("machine.host_cores=1;machine.host_turn=1 ms");

    add_task(bench, 0, hog, 0);
    add_task(bench, 1, sleeper, 1);
    run_until(bench, end);
    assert_near(bench->task[0].computed, end, 1);
}

/* A task woken on an idle CPU starts when that CPU gets a core: with one core not before the waker's turn is over,
 * with two at once. */
static void
test_woken_cpu_waits(void)
{
    static const Step sleeper[] = {{SLEEP}, {COMPUTE, 50 * SIM_US}, {END}};
    static const Step waker[] = {{COMPUTE, 5 * SIM_MS}, {WAKE, 0}, {LOOP, 10 * SIM_US}};

    for (guint n_cores = 1; n_cores <= 2; n_cores++) {
        g_autofree char *host = g_strdup_printf("machine.host_cores=%u;machine.host_turn=100 ms", n_cores);
        g_autoptr(Bench) bench = bench_hosted(host);
        const Start *woken;

        add_task(bench, 0, sleeper, 0);
        add_task(bench, 1, waker, 4);
        run_until(bench, end);
        woken = &bench->start[bench->n_starts - 1];
        while (woken->task != 0)
            woken--;
        g_test_message("%u cores: after %" G_GINT64_FORMAT " us", n_cores, (woken->time - 5 * SIM_MS) / SIM_US);
        if (n_cores == 2)
            g_assert_cmpint(woken->time, <=, 6 * SIM_MS);
        else
            g_assert_cmpint(woken->time, >=, 7 * SIM_MS);
    }
}

/* A CPU that waits for another one would keep the core. */
static void
test_workloads(void)
{
    SimPlan *plan = test_world_plan("pingpong", "machine.host_cores=2");
    g_autoptr(GError) error = NULL;

    g_assert_false(world_check(sim_plan_config(plan, 0), &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
    sim_plan_free(plan);
    g_assert_nonnull(strstr(error->message, "pingpong"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host/cores-are-shared", test_cores_are_shared);
    g_test_add_func("/host/others-come-between", test_others_come_between);
    g_test_add_func("/host/idle-cpus-ask-for-nothing", test_idle_cpus_ask_for_nothing);
    g_test_add_func("/host/woken-cpu-waits", test_woken_cpu_waits);
    g_test_add_func("/host/workloads", test_workloads);
    return g_test_run();
}
