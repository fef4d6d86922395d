/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs next under each policy and whom a woken task preempts. */
#include "sched-script.h"

/* At every whole millisecond. */
static const char ticks_together[] = "machine.sockets=2;machine.cores_per_l3=4;machine.ticks=together";

/* Task 0 computes, then sleeps until task 2 on another CPU wakes it at 7 ms; task 1 computes on its CPU, from the start
 * on when the other has nothing to compute. */
static Bench *
bench_woken(SchedPolicy policy, SimTime slice, SimTime computes_first)
{
    static Step sleeper[] = {{COMPUTE, 0}, {SLEEP}, {COMPUTE, 50 * SIM_US}, {END}};
    static const Step waker[] = {{COMPUTE, 7 * SIM_MS}, {WAKE, 0}, {END}};
    SchedConfig config = default_config();
    Bench *bench;

    sleeper[0].value = computes_first;
    config.policy = policy;
    config.slice = slice;
    bench = bench_new(ticks_together, &config);
    if (computes_first > 0)
        add_task(bench, 0, sleeper, 0);
    add_task(bench, 1, hog, 0);
    if (computes_first == 0)
        add_task(bench, 0, sleeper + 1, 0);
    add_task(bench, 2, waker, 4);
    run_until(bench, 40 * SIM_MS);
    return bench;
}

static SimTime
time_of_start(const Bench *bench, guint task, guint n)
{
    for (guint i = 0; i < bench->n_starts; i++)
        if (bench->start[i].task == task && n-- == 0)
            return bench->start[i].time;
    g_assert_not_reached();
}

/* How long a woken task waits: not at all when its virtual time is a granularity behind (CFS) or its deadline the
 * earlier one (EEVDF without parity), else to the end of the running one's slice. */
static void
test_wake_up_preemption(void)
{
    static const struct {
        SchedPolicy policy;
        SimTime slice, computes_first, waits;
        guint preemptions;
    } rows[] = {
        {SCHED_CFS, SIM_MS, 0, 0, 1},
        /* 1 ms behind, where 4/3 of a slice would do; 8 ms from just past 3 ms on, then to the next tick */
        {SCHED_CFS, SIM_MS, 3 * SIM_MS, 5 * SIM_MS, 0},
        {SCHED_EEVDF, 3 * SIM_MS, 0, 2 * SIM_MS, 0},
        {SCHED_EEVDF_NO_PARITY, 3 * SIM_MS, 0, 0, 1},
        {SCHED_ROUND_ROBIN, 3 * SIM_MS, 0, 2 * SIM_MS, 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Bench) bench = bench_woken(rows[i].policy, rows[i].slice, rows[i].computes_first);
        SimTime waited = time_of_start(bench, 0, 1) - 7 * SIM_MS;

        g_assert_cmpint(ABS(waited - rows[i].waits), <=, 20 * SIM_US);
        g_assert_cmpuint(sched_counts(bench->sched, SCHED_MEASURED).preemptions, ==, rows[i].preemptions);
    }
}

/* Whatever the policy, tasks that never sleep get equal shares: none is further from them than its order allows. */
static void
test_fair_shares(void)
{
    for (guint policy = SCHED_ROUND_ROBIN; policy <= SCHED_EEVDF_NO_PARITY; policy++) {
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = NULL;

        config.policy = policy;
        bench = bench_new(one_cpu, &config);
        for (guint i = 0; i < 5; i++)
            add_task(bench, i, hog, 0);
        run_until(bench, 500 * SIM_MS);
        for (guint i = 0; i < 5; i++)
            g_assert_cmpint(ABS(bench->task[i].computed - 100 * SIM_MS), <=, 3 * SIM_MS);
    }
}

/* A sleeper is owed no more than half a latency, four slices, however long it slept: hogs with 200 ms of run time wait
 * about that long for it, not 200 ms; and one that was never ahead is not punished. Told by the middle between the
 * largest and the least lead while the two take turns. */
static void
test_sleeper_credit(void)
{
    static const Step sleeper[] = {{SLEEP}, {LOOP, 10 * SIM_US}};
    static const Step waker[] = {{COMPUTE, 200 * SIM_MS}, {WAKE, 0}, {END}};
    const SchedPolicy policies[] = {SCHED_CFS, SCHED_EEVDF};

    for (guint i = 0; i < G_N_ELEMENTS(policies); i++) {
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = NULL;
        SimTime least = SIM_TIME_MAX, most = -SIM_TIME_MAX, middle;

        config.policy = policies[i];
        bench = bench_new(two_domains, &config);
        add_task(bench, 0, sleeper, 0);
        add_task(bench, 1, hog, 0);
        add_task(bench, 2, waker, 4);
        for (SimTime time = 300 * SIM_MS; time < 340 * SIM_MS; time += SIM_MS / 2) {
            SimTime lead;

            run_until(bench, time);
            lead = bench->task[0].computed - (bench->task[1].computed - 200 * SIM_MS);
            least = MIN(least, lead);
            most = MAX(most, lead);
        }
        middle = (least + most) / 2;
        g_test_message("policy %u: %g ms", policies[i], (double) middle / (double) SIM_MS);
        /* Slices of 4 ms to a tick leave up to half of one. */
        g_assert_cmpint(middle, >=, policies[i] == SCHED_CFS ? 3 * SIM_MS / 2 : -SIM_MS);
        g_assert_cmpint(middle, <=, policies[i] == SCHED_CFS ? 13 * SIM_MS / 2 : SIM_MS);
    }
}

/* A task that was preempted goes on before others of its age (LAST_BUDDY), from eight runnable tasks on. */
static void
test_last_buddy(void)
{
    static const Step sleeper[] = {{SLEEP}, {COMPUTE, 50 * SIM_US}, {END}};
    static const Step waker[] = {{COMPUTE, 12500 * SIM_US}, {WAKE, 0}, {LOOP, 10 * SIM_US}};

    for (guint n_hogs = 2; n_hogs <= 7; n_hogs += 5) {
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = NULL;
        guint i = 0;

        config.policy = SCHED_CFS;
        bench = bench_new(one_cpu, &config);
        add_task(bench, 0, sleeper, 0);
        for (guint hogs = 1; hogs < n_hogs; hogs++)
            add_task(bench, hogs, hog, 0);
        add_task(bench, n_hogs, waker, 0);
        run_until(bench, 200 * SIM_MS);
        while (bench->start[i].task != 0 || i == 0)
            i++;
        /* The waker itself was running. */
        g_assert_cmpuint(bench->start[i - 1].task, ==, n_hogs);
        if (n_hogs == 7)
            g_assert_cmpuint(bench->start[i + 1].task, ==, n_hogs);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sched-fair/wake-up-preemption", test_wake_up_preemption);
    g_test_add_func("/sched-fair/fair-shares", test_fair_shares);
    g_test_add_func("/sched-fair/sleeper-credit", test_sleeper_credit);
    g_test_add_func("/sched-fair/last-buddy", test_last_buddy);
    return g_test_run();
}
