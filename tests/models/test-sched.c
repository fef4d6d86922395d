/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched-script.h"

/* The CPU of the n-th start (from 0) of a task, or -1. */
static gint
cpu_of_start(const Bench *bench, guint task, guint n)
{
    for (guint i = 0; i < bench->n_starts; i++)
        if (bench->start[i].task == task && n-- == 0)
            return (gint) bench->start[i].cpu;
    return -1;
}

static const char two_threads[] = "machine.sockets=1;machine.cores_per_l3=4;machine.threads_per_core=2";

static void
test_round_robin(void)
{
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = bench_new(one_cpu, &config);

    for (guint i = 0; i < 3; i++)
        add_task(bench, i, hog, 0);
    run_until(bench, 300 * SIM_MS);
    g_assert_cmpuint(bench->n_starts, >=, 299);
    g_assert_cmpuint(bench->n_starts, <=, 300);
    for (guint i = 0; i < bench->n_starts; i++) {
        g_assert_cmpuint(bench->start[i].task, ==, i % 3);
        /* A slice, and the switch to the next. */
        g_assert_cmpint(bench->start[i].time, ==, (SimTime) (i + 1) * SIM_US + (SimTime) i * SIM_MS);
    }
    for (guint i = 0; i < 3; i++)
        g_assert_cmpint(ABS(bench->task[i].computed - 100 * SIM_MS), <=, SIM_MS + 10 * SIM_US);
    g_assert_cmpuint(sched_counts(bench->sched, SCHED_MEASURED).switches, ==, bench->n_starts);
}

/* A task that is alone is never put back. */
static void
test_alone(void)
{
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = bench_new(one_cpu, &config);

    add_task(bench, 0, hog, 0);
    run_until(bench, 50 * SIM_MS);
    g_assert_cmpuint(bench->n_starts, ==, 1);
    g_assert_cmpint(bench->task[0].computed, >=, 49 * SIM_MS);
}

/* The sleeper runs a wake-up latency and a switch after the wake-up, whose cost is the waker's. */
static void
test_latency(void)
{
    static const Step sleeper[] = {{SLEEP}, {COMPUTE, SIM_US}, {END}};
    static const Step waker[] = {{COMPUTE, 5 * SIM_MS}, {WAKE, 0}, {COMPUTE, SIM_US}, {END}};
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = bench_new(two_domains, &config);
    SimTime woken_at = SIM_US + 5 * SIM_MS;

    add_task(bench, 0, sleeper, 0);
    add_task(bench, 1, waker, 1);
    bench->sched->cpu[0].busy = &bench->world->world.cpu[0].busy;
    bench->sched->cpu[1].busy = &bench->world->world.cpu[1].busy;
    test_world_run(bench->world);
    g_assert_cmpuint(bench->n_starts, ==, 3);
    g_assert_cmpuint(bench->start[2].task, ==, 0);
    g_assert_cmpint(bench->start[2].time, ==, woken_at + 300 * SIM_US + SIM_US);
    g_assert_cmpint(bench->sched->ended_at, ==, woken_at + 300 * SIM_US + 2 * SIM_US);
    g_assert_cmpuint(bench->sched->n_live, ==, 0);
    /* CPU 0: the first switch; the second one and the last microsecond. It began to rest after the first. */
    g_assert_cmpint(bench->sched->cpu[0].idle, ==, woken_at + 300 * SIM_US - SIM_US);
    /* CPU 1: from the end of its task, which includes 20 ns for the wake-up, to the end of all. */
    g_assert_cmpint(bench->sched->cpu[1].idle, ==, bench->sched->ended_at - (woken_at + 20 * SIM_NS + SIM_US));
    g_assert_cmpint(bench->world->world.cpu[1].busy, ==, woken_at + 20 * SIM_NS + SIM_US);
}

/* Task 0 sleeps on CPU 0, where task 1 then computes; task 2 on `waker_cpu` wakes it, alone there or not. */
static gint
place(SchedPlacement placement, const char *machine, guint waker_cpu, gboolean previous_is_busy,
      gboolean waker_is_alone, gboolean is_sync, guint64 other_busy_cpus)
{
    static const Step sleeper[] = {{SLEEP}, {END}};
    static const Step sync_waker[] = {{COMPUTE, 500 * SIM_US}, {WAKE, 0}, {SLEEP}};
    static const Step async_waker[] = {{COMPUTE, 500 * SIM_US}, {WAKE_ASYNC, 0}, {SLEEP}};
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = NULL;
    guint n = 3;

    config.placement = placement;
    bench = bench_new(machine, &config);
    add_task(bench, 0, sleeper, 0);
    if (previous_is_busy)
        add_task(bench, 1, hog, 0);
    add_task(bench, 2, is_sync ? sync_waker : async_waker, waker_cpu);
    if (!waker_is_alone)
        add_task(bench, n++, hog, waker_cpu);
    for (guint cpu = 0; cpu < 64; cpu++)
        if (other_busy_cpus >> cpu & 1)
            add_task(bench, n++, hog, cpu);
    run_until(bench, 20 * SIM_MS);
    return cpu_of_start(bench, 0, 1);
}

static void
test_placement(void)
{
    static const struct {
        SchedPlacement placement;
        gboolean busy, alone, sync;
        gint cpu;
    } rows[] = {
        {SCHED_PLACE_PREVIOUS, TRUE, TRUE, TRUE, 0},
        {SCHED_PLACE_PREVIOUS, FALSE, TRUE, TRUE, 0},
        {SCHED_PLACE_WAKER, TRUE, TRUE, TRUE, 5},   /* pulled to the waker, which is about to sleep */
        {SCHED_PLACE_WAKER, FALSE, TRUE, TRUE, 5},  /* even from an idle CPU */
        {SCHED_PLACE_WAKER, FALSE, FALSE, TRUE, 0}, /* not when another task waits there */
        {SCHED_PLACE_WAKER, FALSE, TRUE, FALSE, 0}, /* nor without the hint */
        {SCHED_PLACE_WAKER, TRUE, FALSE, TRUE, 0},  /* 2 - 1 against 1: no better */
        {SCHED_PLACE_WAKER, TRUE, TRUE, FALSE, 0},  /* 1 against 1 */
        {SCHED_PLACE_IDLE, FALSE, TRUE, TRUE, 0},
        {SCHED_PLACE_IDLE, TRUE, TRUE, TRUE, 1}, /* the next one of the previous CPU's domain */
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpint(place(rows[i].placement, two_domains, 5, rows[i].busy, rows[i].alone, rows[i].sync, 0), ==,
                        rows[i].cpu);
}

static void
test_idle_search(void)
{
    /* CPU 1 and 2 compute: the third. */
    g_assert_cmpint(place(SCHED_PLACE_IDLE, two_domains, 5, TRUE, TRUE, TRUE, 0x6), ==, 3);
    /* The domain is full: the waker's CPU, which is about to be free, though CPU 4, 6 and 7 are idle. */
    g_assert_cmpint(place(SCHED_PLACE_IDLE, two_domains, 5, TRUE, TRUE, TRUE, 0xe), ==, 5);
    /* Without the hint its load is no lower. */
    g_assert_cmpint(place(SCHED_PLACE_IDLE, two_domains, 5, TRUE, TRUE, FALSE, 0xe), ==, 0);
    /* Threads 0 to 3 and their siblings 4 to 7. With 0 and 5 (the waker) busy, cores 2 and 3 are free: CPU 2. */
    g_assert_cmpint(place(SCHED_PLACE_IDLE, two_threads, 5, TRUE, TRUE, TRUE, 0), ==, 2);
    /* No core is free: the first idle thread after CPU 0, which is 1, the waker's sibling. */
    g_assert_cmpint(place(SCHED_PLACE_IDLE, two_threads, 5, TRUE, TRUE, TRUE, 0xc), ==, 1);
}

/* Searches begin behind the previous CPU and wrap around, also over the words of a large domain. */
static void
test_idle_search_wraps(void)
{
    static const Step sleeper[] = {{SLEEP}, {END}};
    static const Step waker[] = {{COMPUTE, 500 * SIM_US}, {WAKE, 0}, {SLEEP}};
    SchedConfig config = default_config();
    const guint previous[] = {130, 70, 3};

    config.placement = SCHED_PLACE_IDLE;
    for (guint i = 0; i < G_N_ELEMENTS(previous); i++) {
        g_autoptr(Bench) bench = bench_new("machine.sockets=1;machine.cores_per_l3=140", &config);

        bench->task[0].step = sleeper;
        sched_add_task(bench->sched, &bench->task[0].task, previous[i], 0, 140);
        add_task(bench, 1, hog, previous[i]);
        add_task(bench, 2, waker, 139);
        /* Only CPU 66 and 67 are left to it. */
        bench->task[0].task.first_cpu = 66;
        bench->task[0].task.n_allowed = 2;
        run_until(bench, 10 * SIM_MS);
        g_assert_cmpint(cpu_of_start(bench, 0, 1), ==, 66);
    }
}

static void
test_balance(void)
{
    for (guint balances = 0; balances < 2; balances++) {
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = NULL;
        gboolean is_used[8] = {FALSE};

        config.balances = balances;
        bench = bench_new(two_domains, &config);
        for (guint i = 0; i < 6; i++)
            add_task(bench, i, hog, 0);
        run_until(bench, 20 * SIM_MS);
        for (guint i = 0; i < bench->n_starts; i++)
            is_used[bench->start[i].cpu] = TRUE;
        for (guint cpu = 0; cpu < 8; cpu++)
            g_assert_cmpint(is_used[cpu], ==, cpu == 0 || (balances && cpu < 4));
        g_assert_cmpuint(sched_counts(bench->sched, SCHED_MEASURED).pulls, ==, balances ? 3 : 0);
        g_assert_cmpuint(bench->sched->domain[0].n_waiting, ==, balances ? 2 : 5);
        g_assert_cmpuint(bench->sched->cpu[0].n_runnable, ==, balances ? 3 : 6);
    }
}

/* An idle CPU passes over tasks that it may not run, and over queues of such. */
static void
test_balance_affinity(void)
{
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = NULL;

    config.balances = TRUE;
    bench = bench_new(two_domains, &config);
    for (guint i = 0; i < 5; i++) {
        bench->task[i].step = hog;
        sched_add_task(bench->sched, &bench->task[i].task, 0, 0, i == 3 ? 2 : 1);
    }
    for (guint i = 5; i < 8; i++) {
        bench->task[i].step = hog;
        sched_add_task(bench->sched, &bench->task[i].task, 3, 2, 2);
    }
    run_until(bench, 20 * SIM_MS);
    for (guint i = 0; i < bench->n_starts; i++)
        g_assert_true(sched_is_allowed(bench->sched, &bench->task[bench->start[i].task].task, bench->start[i].cpu));
    /* CPU 1 pulled the one that may, CPU 2 one of the other queue. */
    g_assert_cmpint(cpu_of_start(bench, 3, 0), ==, 1);
    g_assert_cmpuint(bench->sched->cpu[2].n_runnable, >=, 1);
}

/* The longer of two queues is helped first, at the first look after a task has come to wait there; a queue whose last
 * task was pulled still takes tasks. */
static void
test_balance_later(void)
{
    static const Step sleeper[] = {{SLEEP}, {LOOP, 10 * SIM_US}};
    static const Step waker[] = {{COMPUTE, 2500 * SIM_US}, {WAKE, 4}, {WAKE, 2},          {WAKE, 3},
                                 {COMPUTE, 2500 * SIM_US}, {WAKE, 5}, {LOOP, 10 * SIM_US}};
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = NULL;

    config.balances = TRUE;
    bench = bench_new(two_domains, &config);
    for (guint i = 2; i < 6; i++) {
        bench->task[i].step = sleeper;
        sched_add_task(bench->sched, &bench->task[i].task, i == 4, i == 4, 1);
    }
    bench->task[0].step = hog;
    sched_add_task(bench->sched, &bench->task[0].task, 0, 0, 1);
    bench->task[1].step = waker;
    sched_add_task(bench->sched, &bench->task[1].task, 1, 1, 1);
    run_until(bench, 2 * SIM_MS);
    /* They will wait on CPU 0, as the last of three, and on CPU 1. */
    bench->task[3].task.n_allowed = bench->task[4].task.n_allowed = 4;
    run_until(bench, 20 * SIM_MS);
    g_assert_cmpint(cpu_of_start(bench, 3, 1), ==, 2);
    g_assert_cmpint(cpu_of_start(bench, 4, 1), ==, 3);
    g_assert_cmpint(cpu_of_start(bench, 5, 1), ==, 0);
    g_assert_cmpuint(bench->sched->cpu[0].n_runnable, ==, 3);
    g_assert_cmpuint(bench->sched->domain[0].n_waiting, ==, 2);
    g_assert_cmpuint(sched_counts(bench->sched, SCHED_MEASURED).pulls, ==, 2);
    for (guint i = 0; i < 6; i++)
        g_assert_cmpint(bench->task[i].computed, >, 4 * SIM_MS);
}

/* Both threads of a core compute 1.6 times as long; threads of two cores do not. */
static void
test_siblings(void)
{
    for (guint other = 1; other <= 4; other += 3) {
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = bench_new(two_threads, &config);
        SimTime expected = other == 4 ? (SimTime) (100 * SIM_MS / 1.6) : 100 * SIM_MS;

        add_task(bench, 0, hog, 0);
        add_task(bench, 1, hog, other);
        run_until(bench, 100 * SIM_MS);
        for (guint i = 0; i < 2; i++)
            g_assert_cmpint(ABS(bench->task[i].computed - expected), <=, 20 * SIM_US);
    }
}

/* What counts is whether the sibling is busy when a task starts, not when the CPU last ran one. */
static void
test_sibling_at_start(void)
{
    static const Step waker[] = {{COMPUTE, SIM_MS}, {WAKE, 1}, {END}};
    static const Step sleeper[] = {{SLEEP}, {COMPUTE, 10 * SIM_MS}, {END}};
    SchedConfig config = default_config();
    g_autoptr(Bench) bench = bench_new(two_threads, &config);

    add_task(bench, 0, waker, 0);
    add_task(bench, 1, sleeper, 4);
    test_world_run(bench->world);
    g_assert_cmpint(bench->sched->ended_at, ==, SIM_US + SIM_MS + 300 * SIM_US + SIM_US + 10 * SIM_MS);
}

/* Tasks that wake each other in a ring, over all CPUs: with any placement each gets its turn equally often. */
static void
test_ring(void)
{
    for (guint placement = SCHED_PLACE_PREVIOUS; placement <= SCHED_PLACE_IDLE; placement++) {
        Step script[N_TASKS][300];
        SchedConfig config = default_config();
        g_autoptr(Bench) bench = NULL;

        config.placement = placement;
        config.balances = TRUE;
        config.idle_exit = 2 * SIM_US;
        bench = bench_new(two_threads, &config);
        for (guint i = 0; i < N_TASKS; i++) {
            guint n = 0;

            /* Task 0 begins with the token, once all others sleep. */
            if (i == 0)
                script[i][n++] = (Step){COMPUTE, SIM_MS};
            else
                script[i][n++] = (Step){SLEEP};
            for (guint turn = 0; turn < 70; turn++) {
                script[i][n++] = (Step){COMPUTE, 3 * SIM_US};
                script[i][n++] = (Step){WAKE, (i + 1) % N_TASKS};
                script[i][n++] = (Step){SLEEP};
            }
            /* The last wake-up of all finds task 0 here. */
            script[i][n - 1] = i == 0 ? (Step){SLEEP} : (Step){END};
            script[i][n] = (Step){END};
            add_task(bench, i, script[i], i);
        }
        test_world_run(bench->world);
        g_assert_cmpuint(bench->sched->n_live, ==, 0);
        for (guint i = 1; i < N_TASKS; i++)
            g_assert_cmpint(bench->task[i].computed, ==, 70 * 3 * SIM_US);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sched/round-robin", test_round_robin);
    g_test_add_func("/sched/alone", test_alone);
    g_test_add_func("/sched/latency", test_latency);
    g_test_add_func("/sched/placement", test_placement);
    g_test_add_func("/sched/idle-search", test_idle_search);
    g_test_add_func("/sched/idle-search-wraps", test_idle_search_wraps);
    g_test_add_func("/sched/balance", test_balance);
    g_test_add_func("/sched/balance-affinity", test_balance_affinity);
    g_test_add_func("/sched/balance-later", test_balance_later);
    g_test_add_func("/sched/siblings", test_siblings);
    g_test_add_func("/sched/sibling-at-start", test_sibling_at_start);
    g_test_add_func("/sched/ring", test_ring);
    return g_test_run();
}
