/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a CPU gets through its ready RCU callbacks: golden counts by the rules of rcu_do_batch() and handle_softirqs(). */
#include "test-machine.h"

enum {
    N_MS = 64,
};

typedef struct {
    guint n, spent_us; /* to queue; what each takes beside its cost */
    guint n_done;
    gboolean is_in_order;
    guint by_ms[N_MS]; /* run in each millisecond */
    guint first_ms;
    guint n_first; /* run before the task had the CPU again; 0: all */
    SimTime last_end;
} Load;

static const SimTime cost = 100 * SIM_NS;
static guint kind;

static void
callback(MachCpu *cpu, guint32 number, guint32 unused, void *data)
{
    Load *load = data;
    guint ms = (guint) (mach_now(cpu) / SIM_MS);

    if (load->n_done == 0)
        load->first_ms = ms;
    else if (mach_now(cpu) > load->last_end + cost && !load->n_first)
        load->n_first = load->n_done;
    load->is_in_order &= number == load->n_done++;
    g_assert_cmpuint(ms, <, N_MS);
    load->by_ms[ms]++;
    mach_spend(cpu, load->spent_us * SIM_US);
    load->last_end = mach_now(cpu);
}

static void
body(MachCpu *cpu, void *data)
{
    Load *load = data;

    for (guint i = 0; i < load->n; i++)
        mach_call_rcu(cpu, kind, i, 0);
    while (load->n_done < load->n) {
        mach_spend(cpu, SIM_US);
        mach_poll(cpu);
    }
}

static Load
run(const char *settings, guint n, guint spent_us)
{
    g_autofree char *text = g_strdup_printf("[machine]\nsockets = 1\ncores_per_l3 = 1\ntick = 1 ms\nticks = together\n"
                                            "grace_period = 1 ms\n%s\n[costs]\nrcu_callback = 100 ns [10 ns .. 150 ns] here\n",
                                            settings);
    Load load = {.n = n, .spent_us = spent_us, .is_in_order = TRUE};
    TestMachine test;
    Machine *machine;

    test_machine_init(&test, text);
    machine = test_machine_start(&test, 1, NULL, 0);
    kind = mach_rcu_register(machine, callback, &load);
    test_machine_run_each(machine, body, &load);
    test_machine_stop(machine);
    test_machine_clear(&test);
    g_assert_true(load.is_in_order);
    return load;
}

static void
test_at_once(void)
{
    Load load = run("", 4000, 0);

    g_assert_cmpuint(load.n_first, ==, 0);
}

/* Ten passes of 10, or of 1/128 of what is ready then. */
static void
test_passes(void)
{
    static const guint golden[][2] = {{100, 0}, {101, 100}, {1000, 100}, {4000, 298}, {9000, 675}};

    for (guint i = 0; i < G_N_ELEMENTS(golden); i++) {
        Load load = run("callbacks = batches\nksoftirqd_turn = 50 ms", golden[i][0], 0);

        g_assert_cmpuint(load.n_first, ==, golden[i][1]);
    }
}

/* More than 10,000 queued: one pass of up to 10,000 and 3 ms. */
static void
test_flood(void)
{
    Load fast = run("callbacks = batches", 12000, 0), slow = run("callbacks = batches\nksoftirqd_turn = 50 ms", 12000, 1);

    g_assert_cmpuint(fast.n_first, ==, 0);
    /* 1.1 us each: the first pass takes 3 ms, more than the softirq's 2 ms. */
    g_assert_cmpuint(slow.n_first, ==, 2728);
}

/* The softirq takes no pass after 2 ms: 50.1 us each, and four passes of 10 are enough. */
static void
test_softirq_time(void)
{
    Load load = run("callbacks = batches\nksoftirqd_turn = 50 ms", 60, 50);

    g_assert_cmpuint(load.n_first, ==, 40);
}

/* ksoftirqd waits for the end of the task's slice of 3 ms, which began at 0 and at each 3 ms: until then 100 a tick. */
static void
test_ksoftirqd_waits(void)
{
    Load load = run("callbacks = batches", 1000, 0);
    guint turn_ms = (load.first_ms / 3 + 1) * 3;

    for (guint ms = load.first_ms; ms < turn_ms; ms++)
        g_assert_cmpuint(load.by_ms[ms], ==, 100);
    g_assert_cmpuint(load.by_ms[turn_ms], ==, 1000 - 100 * (turn_ms - load.first_ms));
}

/* Turns of 0.2 ms: 2,000 callbacks, and as long for the task. By CFS's rule ksoftirqd ends it all at once. */
static void
test_turns(void)
{
    Load load = run("callbacks = batches\nksoftirqd_turn = 200 us", 9000, 0);

    g_assert_cmpuint(load.by_ms[load.first_ms], ==, 675 + 2000 + 2000);
    load = run("callbacks = batches\nksoftirqd_turn = 0 ms", 1000, 0);
    g_assert_cmpuint(load.by_ms[load.first_ms], ==, 1000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/callbacks/at-once", test_at_once);
    g_test_add_func("/callbacks/passes", test_passes);
    g_test_add_func("/callbacks/flood", test_flood);
    g_test_add_func("/callbacks/softirq-time", test_softirq_time);
    g_test_add_func("/callbacks/ksoftirqd-waits", test_ksoftirqd_waits);
    g_test_add_func("/callbacks/turns", test_turns);
    return g_test_run();
}
