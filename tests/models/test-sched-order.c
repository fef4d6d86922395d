/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of sched-fair.h one by one, on run queues made by hand: known answers for virtual times, slices, lags and
 * who is picked. Slices are 3 ms, so that CFS's wake-up granularity is 4 ms and its latency 24 ms. */
#include "sched-fair.h"

#define MS SIM_MS

enum {
    N_CPUS = 2,
    N_TASKS = 4,
};

typedef struct {
    SchedCpu cpu[N_CPUS];
    Sched sched;
    SchedTask task[N_TASKS];
    Machine machine;
    MachCpu mach[N_CPUS];
} Bed;

/* Ticks are as close as can be, so that slices end where they are to. */
static void
bed_init(Bed *bed, SchedPolicy policy)
{
    *bed = (Bed){.sched = {.config = {.policy = policy, .slice = 3 * MS}, .cpu = bed->cpu, .n_cpus = N_CPUS}};
    bed->machine.tick = 1;
    for (guint i = 0; i < N_CPUS; i++) {
        bed->cpu[i].sched = &bed->sched;
        bed->cpu[i].mach = &bed->mach[i];
        bed->mach[i].machine = &bed->machine;
    }
}

static SchedTask *
enqueue(Bed *bed, guint cpu, guint task, SimTime vtime, SimTime deadline)
{
    SchedTask *t = &bed->task[task];

    *t = (SchedTask){.vtime = vtime, .key = deadline, .cpu = (guint16) cpu, .state = SCHED_RUNNABLE};
    sched_fair_push(&bed->cpu[cpu], t);
    bed->cpu[cpu].n_runnable++;
    return t;
}

/* A task of that virtual time runs from 0 on. */
static SchedTask *
run(Bed *bed, guint cpu, guint task, SimTime vtime, SimTime deadline)
{
    SchedTask *t = &bed->task[task];

    *t = (SchedTask){.vtime = vtime, .key = deadline, .cpu = (guint16) cpu, .state = SCHED_RUNNING};
    bed->cpu[cpu].n_runnable++;
    sched_fair_start(&bed->cpu[cpu], t, 0);
    return t;
}

static const SchedTask *
picked(const SchedCpu *cpu)
{
    SchedTask *previous;

    return sched_fair_pick(cpu, &previous);
}

/* min_vruntime: the least of all that run or wait, and it never goes back. */
static void
test_cfs_clock(void)
{
    Bed bed;
    SchedCpu *cpu = bed.cpu;

    bed_init(&bed, SCHED_CFS);
    run(&bed, 0, 0, 2 * MS, 0);
    enqueue(&bed, 0, 1, 5 * MS, 0);
    sched_fair_charge(cpu, MS);
    g_assert_cmpint(cpu->vclock, ==, 3 * MS);
    g_assert_cmpint(bed.task[0].vtime, ==, 3 * MS);
    sched_fair_charge(cpu, 4 * MS);
    g_assert_cmpint(cpu->vclock, ==, 5 * MS);
    enqueue(&bed, 0, 2, MS, 0);
    sched_fair_charge(cpu, 4 * MS);
    g_assert_cmpint(cpu->vclock, ==, 5 * MS);
}

/* sched_slice(): the latency in equal parts, no less than the minimal granularity. */
static void
test_cfs_slice(void)
{
    static const struct {
        guint n_runnable;
        SimTime slice;
    } rows[] = {{1, 24 * MS}, {2, 12 * MS}, {3, 8 * MS}, {8, 3 * MS}, {9, 3 * MS}, {100, 3 * MS}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;

        bed_init(&bed, SCHED_CFS);
        bed.cpu->n_runnable = rows[i].n_runnable;
        sched_fair_start(bed.cpu, bed.task, 7 * MS);
        g_assert_cmpint(bed.cpu->slice_end, ==, 7 * MS + rows[i].slice);
    }
}

/* place_entity(): a woken task is owed half a latency at most and keeps what it is ahead; one that is pulled keeps both
 * in full. Both clocks are brought up to date first. */
static void
test_cfs_place(void)
{
    static const struct {
        SimTime vtime;
        gboolean is_woken;
        SimTime placed;
    } rows[] = {
        /* CPU 0 is at 40 ms, CPU 1 at 1000 ms. */
        {29 * MS, TRUE, (1000 - 11) * MS}, {1 * MS, TRUE, (1000 - 12) * MS},  {46 * MS, TRUE, (1000 + 6) * MS},
        {1 * MS, FALSE, (1000 - 39) * MS}, {46 * MS, FALSE, (1000 + 6) * MS},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;

        bed_init(&bed, SCHED_CFS);
        run(&bed, 0, 0, 30 * MS, 0);
        run(&bed, 1, 1, 990 * MS, 0);
        bed.task[2] = (SchedTask){.vtime = rows[i].vtime, .cpu = 0};
        sched_fair_place(&bed.cpu[1], &bed.task[2], rows[i].is_woken, 10 * MS);
        g_assert_cmpint(bed.task[2].vtime, ==, rows[i].placed);
    }
}

/* wakeup_preempt_entity(): more than the granularity behind. check_preempt_wakeup(): who has preempted is next; who was
 * preempted is kept in mind from sched_nr_latency, 8, runnable tasks on. */
static void
test_cfs_preemption(void)
{
    for (guint n_runnable = 7; n_runnable <= 8; n_runnable++) {
        Bed bed;
        SchedCpu *cpu = bed.cpu;
        SchedTask *running, *woken;

        bed_init(&bed, SCHED_CFS);
        running = run(&bed, 0, 0, 10 * MS, 0);
        woken = enqueue(&bed, 0, 1, 10 * MS, 0);
        cpu->n_runnable = n_runnable;
        g_assert_false(sched_fair_preempts(cpu, woken, 4 * MS));
        g_assert_null(cpu->next_buddy);
        g_assert_true(sched_fair_preempts(cpu, woken, 4 * MS + 1));
        g_assert_true(cpu->next_buddy == woken);
        g_assert_true(cpu->last_buddy == (n_runnable == 8 ? running : NULL));
        sched_fair_remove(cpu, NULL);
        g_assert_null(cpu->next_buddy);
    }
}

/* pick_next_entity(): the next buddy, else the last one, when at most a granularity ahead of the first. */
static void
test_cfs_buddies(void)
{
    static const struct {
        SimTime next, last;
        guint picked;
    } rows[] = {{14 * MS, 12 * MS, 1}, {14 * MS + 1, 14 * MS, 2}, {14 * MS + 1, 14 * MS + 1, 0}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;

        bed_init(&bed, SCHED_CFS);
        enqueue(&bed, 0, 0, 10 * MS, 0);
        bed.cpu->next_buddy = enqueue(&bed, 0, 1, rows[i].next, 0);
        bed.cpu->last_buddy = enqueue(&bed, 0, 2, rows[i].last, 0);
        g_assert_true(picked(bed.cpu) == &bed.task[rows[i].picked]);
    }
}

/* check_preempt_tick() forgets a buddy whose slice is over, not one that is preempted again. */
static void
test_cfs_buddy_forgotten(void)
{
    for (guint is_preempted = 0; is_preempted < 2; is_preempted++) {
        Bed bed;

        bed_init(&bed, SCHED_CFS);
        bed.cpu->last_buddy = run(&bed, 0, 0, 0, 0);
        bed.cpu->must_switch = is_preempted != 0;
        bed.task[0].state = SCHED_RUNNABLE;
        sched_fair_stop(bed.cpu, MS);
        g_assert_true(bed.cpu->last_buddy == (is_preempted ? &bed.task[0] : NULL));
        g_assert_null(bed.cpu->running);
    }
}

/* pick_eevdf(): of those no further than the mean the one with the earliest deadline. */
static void
test_eevdf_pick(void)
{
    Bed bed;

    bed_init(&bed, SCHED_EEVDF);
    enqueue(&bed, 0, 0, 6 * MS, 7 * MS);
    enqueue(&bed, 0, 1, 4 * MS, 8 * MS); /* at the mean of 6, 4 and 2 */
    enqueue(&bed, 0, 2, 2 * MS, 9 * MS);
    g_assert_true(picked(bed.cpu) == &bed.task[1]);
    /* The running one counts: mean 3 ms. */
    run(&bed, 0, 3, 0, 20 * MS);
    g_assert_true(picked(bed.cpu) == &bed.task[2]);
    sched_fair_charge(bed.cpu, 8 * MS); /* ... and 5 ms */
    g_assert_cmpint(bed.cpu->vclock, ==, 5 * MS);
    g_assert_true(picked(bed.cpu) == &bed.task[1]);
}

/* A slice goes to the deadline, which is renewed when it has been reached. */
static void
test_eevdf_deadline(void)
{
    Bed bed;

    bed_init(&bed, SCHED_EEVDF);
    run(&bed, 0, 0, 5 * MS, 6 * MS);
    g_assert_cmpint(bed.cpu->slice_end, ==, MS);
    bed.task[0].state = SCHED_RUNNABLE;
    sched_fair_stop(bed.cpu, MS);
    g_assert_cmpint(bed.task[0].key, ==, 9 * MS);
    run(&bed, 0, 1, 5 * MS, 5 * MS);
    g_assert_cmpint(bed.cpu->slice_end, ==, 3 * MS);
}

/* update_entity_lag(): asleep a task keeps its distance from the mean, two slices at most. */
static void
test_eevdf_lag(void)
{
    static const struct {
        SimTime vtime, kept;
    } rows[] = {{4 * MS, 2 * MS}, {-4 * MS, -2 * MS}, {12 * MS, 6 * MS}, {13 * MS, 6 * MS}, {-90 * MS, -6 * MS}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;

        bed_init(&bed, SCHED_EEVDF);
        enqueue(&bed, 0, 1, 0, 3 * MS); /* the mean is half of the other's */
        run(&bed, 0, 0, rows[i].vtime, rows[i].vtime + MS);
        bed.task[0].state = SCHED_SLEEPING;
        sched_fair_stop(bed.cpu, 0);
        g_assert_cmpint(bed.task[0].vtime, ==, rows[i].kept);
    }
}

/* place_entity(): the distance is that from the mean with the task, which its coming moves; alone there is none. A
 * pulled task brings its distance from the mean of the CPU it comes from. */
static void
test_eevdf_place(void)
{
    for (guint n_others = 0; n_others < 3; n_others++)
        for (guint is_woken = 0; is_woken < 2; is_woken++) {
            Bed bed;
            SchedTask *placed = &bed.task[3];

            bed_init(&bed, SCHED_EEVDF);
            bed.cpu[1].vclock = 100 * MS;
            for (guint i = 0; i < n_others; i++)
                enqueue(&bed, 1, i, 100 * MS, 103 * MS);
            bed.cpu[0].vclock = 40 * MS;
            *placed = (SchedTask){.vtime = (is_woken ? 2 : 42) * MS, .cpu = 0};
            sched_fair_place(&bed.cpu[1], placed, is_woken != 0, 0);
            g_assert_cmpint(placed->key, ==, placed->vtime + 3 * MS);
            sched_fair_push(&bed.cpu[1], placed);
            sched_fair_charge(&bed.cpu[1], 0);
            g_assert_cmpint(placed->vtime - bed.cpu[1].vclock, ==, n_others ? 2 * MS : 0);
        }
}

/* Without RUN_TO_PARITY a woken task preempts when it would be picked before the running one: it must be eligible, and
 * that one not, or later. */
static void
test_eevdf_preemption(void)
{
    static const struct {
        SimTime vtime, deadline, running_vtime, running_deadline;
        gboolean preempts;
    } rows[] = {
        {4 * MS, 5 * MS, 4 * MS, 6 * MS, TRUE},  /* both eligible: the earlier deadline */
        {4 * MS, 7 * MS, 4 * MS, 6 * MS, FALSE}, /* ... is the running one's */
        {3 * MS, 7 * MS, 4 * MS, 6 * MS, TRUE},  /* but it is ahead of the mean */
        {5 * MS, 5 * MS, 4 * MS, 6 * MS, FALSE}, /* the woken one is */
    };

    for (guint policy = SCHED_EEVDF; policy <= SCHED_EEVDF_NO_PARITY; policy++)
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
            Bed bed;

            bed_init(&bed, policy);
            run(&bed, 0, 0, rows[i].running_vtime, rows[i].running_deadline);
            enqueue(&bed, 0, 1, rows[i].vtime, rows[i].deadline);
            g_assert_cmpint(sched_fair_preempts(bed.cpu, &bed.task[1], 0), ==,
                            policy == SCHED_EEVDF_NO_PARITY && rows[i].preempts);
        }
}

/* CFS alone waits for a tick: a slice of 24 ms from 0 on. */
static void
test_slice_ends_at_tick(void)
{
    static const struct {
        SchedPolicy policy;
        SimTime next_tick, ends;
    } rows[] = {
        {SCHED_CFS, 0, 25 * MS},        {SCHED_CFS, 2 * MS, 27 * MS},   {SCHED_CFS, 4 * MS, 24 * MS},
        {SCHED_CFS, 102 * MS, 27 * MS}, {SCHED_EEVDF, 2 * MS, 24 * MS}, {SCHED_ROUND_ROBIN, 2 * MS, 3 * MS},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Bed bed;

        bed_init(&bed, rows[i].policy);
        bed.machine.tick = 5 * MS;
        bed.mach[0].next_tick = rows[i].next_tick;
        run(&bed, 0, 0, 0, 24 * MS);
        g_assert_cmpint(bed.cpu[0].slice_end, ==, rows[i].ends);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sched-order/cfs/clock", test_cfs_clock);
    g_test_add_func("/sched-order/cfs/slice", test_cfs_slice);
    g_test_add_func("/sched-order/cfs/place", test_cfs_place);
    g_test_add_func("/sched-order/cfs/preemption", test_cfs_preemption);
    g_test_add_func("/sched-order/cfs/buddies", test_cfs_buddies);
    g_test_add_func("/sched-order/cfs/buddy-forgotten", test_cfs_buddy_forgotten);
    g_test_add_func("/sched-order/slice-ends-at-tick", test_slice_ends_at_tick);
    g_test_add_func("/sched-order/eevdf/pick", test_eevdf_pick);
    g_test_add_func("/sched-order/eevdf/deadline", test_eevdf_deadline);
    g_test_add_func("/sched-order/eevdf/lag", test_eevdf_lag);
    g_test_add_func("/sched-order/eevdf/place", test_eevdf_place);
    g_test_add_func("/sched-order/eevdf/preemption", test_eevdf_preemption);
    return g_test_run();
}
