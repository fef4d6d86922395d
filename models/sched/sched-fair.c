/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched-fair.h"

enum {
    /* sched_nr_latency: 6 ms of latency to 0.75 ms of granularity */
    CFS_LATENCY_SLICES = 8,
    /* GENTLE_FAIR_SLEEPERS: half a latency */
    CFS_CREDIT_SLICES = CFS_LATENCY_SLICES / 2,
    /* entity_lag(): no more than twice the slice either way */
    EEVDF_LAG_SLICES = 2,
};

/* sysctl_sched_wakeup_granularity, 1 ms to the 0.75 ms of a slice */
static SimTime
wakeup_granularity(const SchedCpu *cpu)
{
    return cpu->sched->config.slice * 4 / 3;
}

static gboolean
is_eevdf(const SchedCpu *cpu)
{
    return cpu->sched->config.policy >= SCHED_EEVDF;
}

static guint
n_entities(const SchedCpu *cpu)
{
    return cpu->n_queued + (cpu->running != NULL);
}

/* The virtual time of the CPU: CFS's least one, which never goes back, or EEVDF's mean. */
static void
update_clock(SchedCpu *cpu)
{
    guint n = n_entities(cpu);
    SimTime least;

    if (n == 0 || cpu->sched->config.policy == SCHED_ROUND_ROBIN)
        return;
    if (is_eevdf(cpu)) {
        cpu->vclock = (cpu->vtime_sum + (cpu->running ? cpu->running->vtime : 0)) / (SimTime) n;
        return;
    }
    least = cpu->running ? cpu->running->vtime : cpu->head->vtime;
    if (cpu->head)
        least = MIN(least, cpu->head->vtime);
    cpu->vclock = MAX(cpu->vclock, least);
}

void
sched_fair_charge(SchedCpu *cpu, SimTime now)
{
    if (cpu->running)
        cpu->running->vtime += now - cpu->charged_at;
    cpu->charged_at = now;
    update_clock(cpu);
}

static SimTime
slice_of(const SchedCpu *cpu, const SchedTask *task)
{
    SimTime slice = cpu->sched->config.slice;

    switch (cpu->sched->config.policy) {
    case SCHED_CFS:
        return MAX(CFS_LATENCY_SLICES * slice / MAX(cpu->n_runnable, 1), slice);
    case SCHED_EEVDF:
    case SCHED_EEVDF_NO_PARITY:
        return task->key - task->vtime;
    case SCHED_ROUND_ROBIN:
        break;
    }
    return slice;
}

/* CFS looks for the end of a slice at ticks only (task_tick_fair(), check_preempt_tick()). */
static SimTime
slice_end(const SchedCpu *cpu, SimTime end)
{
    SimTime tick = cpu->mach->machine->tick, past = (end - cpu->mach->next_tick) % tick;

    if (cpu->sched->config.policy != SCHED_CFS || past == 0)
        return end;
    return end - past + (past > 0 ? tick : 0);
}

/* update_deadline(). */
static void
renew_deadline(const SchedCpu *cpu, SchedTask *task)
{
    if (is_eevdf(cpu) && task->key <= task->vtime)
        task->key = task->vtime + cpu->sched->config.slice;
}

void
sched_fair_start(SchedCpu *cpu, SchedTask *task, SimTime now)
{
    renew_deadline(cpu, task);
    cpu->running = task;
    cpu->charged_at = now;
    cpu->must_switch = FALSE;
    cpu->slice_end = slice_end(cpu, now + slice_of(cpu, task));
}

void
sched_fair_stop(SchedCpu *cpu, SimTime now)
{
    SchedTask *task = cpu->running;
    SimTime limit = EEVDF_LAG_SLICES * cpu->sched->config.slice;

    sched_fair_charge(cpu, now);
    if (task->state == SCHED_RUNNABLE) {
        renew_deadline(cpu, task);
        if (!cpu->must_switch && cpu->last_buddy == task)
            cpu->last_buddy = NULL; /* clear_buddies() at the end of a slice */
    } else if (is_eevdf(cpu)) {
        task->vtime = CLAMP(task->vtime - cpu->vclock, -limit, limit);
    }
    cpu->running = NULL;
}

static void
place_by_lag(SchedCpu *cpu, SchedTask *task, gboolean is_woken)
{
    SimTime ahead = is_woken ? task->vtime : task->vtime - cpu->sched->cpu[task->cpu].vclock;
    guint n = n_entities(cpu);

    /* Its coming moves the mean: more is needed for the same distance afterwards. Nothing to be ahead of when alone. */
    ahead = n ? ahead * (SimTime) (n + 1) / (SimTime) n : 0;
    task->vtime = cpu->vclock + ahead;
    task->key = task->vtime + cpu->sched->config.slice;
}

void
sched_fair_place(SchedCpu *cpu, SchedTask *task, gboolean is_woken, SimTime now)
{
    SchedCpu *from = &cpu->sched->cpu[task->cpu];
    SimTime ahead;

    sched_fair_charge(from, now);
    if (from != cpu)
        sched_fair_charge(cpu, now);
    if (is_eevdf(cpu)) {
        place_by_lag(cpu, task, is_woken);
        return;
    }
    ahead = task->vtime - from->vclock;
    if (is_woken)
        ahead = MAX(ahead, -CFS_CREDIT_SLICES * cpu->sched->config.slice);
    task->vtime = cpu->vclock + ahead;
}

void
sched_fair_push(SchedCpu *cpu, SchedTask *task)
{
    SchedTask *previous = NULL;

    if (cpu->sched->config.policy == SCHED_CFS)
        task->key = task->vtime;
    else if (cpu->sched->config.policy == SCHED_ROUND_ROBIN)
        task->key = cpu->tail ? cpu->tail->key : 0;
    if (cpu->tail && task->key >= cpu->tail->key)
        previous = cpu->tail;
    else
        for (SchedTask *other = cpu->head; other && other->key <= task->key; other = other->next)
            previous = other;
    task->next = previous ? previous->next : cpu->head;
    if (previous)
        previous->next = task;
    else
        cpu->head = task;
    if (!task->next)
        cpu->tail = task;
    cpu->vtime_sum += task->vtime;
    cpu->n_queued++;
}

SchedTask *
sched_fair_remove(SchedCpu *cpu, SchedTask *previous)
{
    SchedTask *task = previous ? previous->next : cpu->head;

    if (previous)
        previous->next = task->next;
    else
        cpu->head = task->next;
    if (cpu->tail == task)
        cpu->tail = previous;
    if (cpu->next_buddy == task)
        cpu->next_buddy = NULL;
    if (cpu->last_buddy == task)
        cpu->last_buddy = NULL;
    cpu->vtime_sum -= task->vtime;
    cpu->n_queued--;
    return task;
}

/* pick_next_entity(): the one that has just preempted, or the one it preempted, unless that is unfair to the first. */
static SchedTask *
pick_buddy(const SchedCpu *cpu)
{
    SimTime limit = cpu->head->vtime + wakeup_granularity(cpu);

    if (cpu->next_buddy && cpu->next_buddy->vtime <= limit)
        return cpu->next_buddy;
    if (cpu->last_buddy && cpu->last_buddy != cpu->running && cpu->last_buddy->vtime <= limit)
        return cpu->last_buddy;
    return cpu->head;
}

/* Those of the queue and the running one together are as much behind their mean as ahead of it. */
static gboolean
is_eligible(const SchedCpu *cpu, const SchedTask *task)
{
    SimTime sum = cpu->vtime_sum + (cpu->running ? cpu->running->vtime : 0);

    return task->vtime * (SimTime) n_entities(cpu) <= sum;
}

SchedTask *
sched_fair_pick(const SchedCpu *cpu, SchedTask **ret_previous)
{
    SchedTask *wanted = cpu->sched->config.policy == SCHED_CFS ? pick_buddy(cpu) : NULL, *previous = NULL;

    for (SchedTask *task = cpu->head; task; previous = task, task = task->next)
        if (task == wanted || (!wanted && (!is_eevdf(cpu) || is_eligible(cpu, task)))) {
            *ret_previous = previous;
            return task;
        }
    *ret_previous = NULL;
    return cpu->head;
}

static gboolean
preempts_cfs(SchedCpu *cpu, SchedTask *task)
{
    if (cpu->running->vtime - task->vtime <= wakeup_granularity(cpu))
        return FALSE;
    cpu->next_buddy = task;
    if (cpu->n_runnable >= CFS_LATENCY_SLICES)
        cpu->last_buddy = cpu->running;
    return TRUE;
}

gboolean
sched_fair_preempts(SchedCpu *cpu, SchedTask *task, SimTime now)
{
    SchedTask *previous;

    if (!cpu->running)
        return FALSE;
    sched_fair_charge(cpu, now);
    if (cpu->sched->config.policy == SCHED_CFS)
        return preempts_cfs(cpu, task);
    if (cpu->sched->config.policy == SCHED_EEVDF_NO_PARITY)
        return is_eligible(cpu, task) && sched_fair_pick(cpu, &previous) == task &&
               (task->key < cpu->running->key || !is_eligible(cpu, cpu->running));
    return FALSE;
}
