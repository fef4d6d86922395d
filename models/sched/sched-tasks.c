/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched-tasks.h"

#include "mach-host.h"
#include "sched-fair.h"

static void
set_idle(SchedCpu *cpu, gboolean is_idle)
{
    guint64 *word = &cpu->sched->domain[cpu->domain].idle[cpu->domain_slot / 64];
    guint64 bit = G_GUINT64_CONSTANT(1) << cpu->domain_slot % 64;

    *word = is_idle ? *word | bit : *word & ~bit;
}

static void
push_task(SchedCpu *cpu, SchedTask *task)
{
    task->state = SCHED_RUNNABLE;
    task->cpu = cpu->mach->id;
    sched_fair_push(cpu, task);
    cpu->sched->domain[cpu->domain].n_waiting++;
}

static SchedTask *
remove_task(SchedCpu *cpu, SchedTask *previous)
{
    cpu->sched->domain[cpu->domain].n_waiting--;
    return sched_fair_remove(cpu, previous);
}

static void
add_runnable(SchedCpu *cpu, gint change)
{
    cpu->n_runnable += (guint32) change;
    set_idle(cpu, cpu->n_runnable == 0);
}

/* The task may be the next one all the same. */
gboolean
sched__put_back(SchedCpu *cpu, SchedTask *task)
{
    SimTime now = mach_now(cpu->mach);
    SchedTask *previous;

    task->state = SCHED_RUNNABLE;
    sched_fair_stop(cpu, now);
    push_task(cpu, task);
    if (sched_fair_pick(cpu, &previous) != task)
        return TRUE;
    remove_task(cpu, previous);
    task->state = SCHED_RUNNING;
    sched_fair_start(cpu, task, now);
    return FALSE;
}

static void
leave(SchedCpu *cpu, SchedTask *task, SchedState state)
{
    task->state = (guint8) state;
    sched_fair_stop(cpu, mach_now(cpu->mach));
    add_runnable(cpu, -1);
}

void
sched_sleep(SchedCpu *cpu, SchedTask *task)
{
    leave(cpu, task, SCHED_SLEEPING);
}

static void
rouse(SchedCpu *cpu, SimTime when)
{
    if (!cpu->is_asleep)
        return;
    cpu->is_asleep = FALSE;
    sim_wake(cpu->mach->engine, cpu->mach->agent, when);
}

void
sched_end(SchedCpu *cpu, SchedTask *task)
{
    Sched *sched = cpu->sched;

    leave(cpu, task, SCHED_ENDED);
    if (--sched->n_live > 0)
        return;
    sched->ended_at = mach_now(cpu->mach);
    for (guint i = 0; i < sched->n_cpus; i++)
        rouse(&sched->cpu[i], sched->ended_at);
}

/* An idle CPU that the task may use in the cache domain of `near`, searched from there on; NULL when there is none. */
static SchedCpu *
find_idle(const Sched *sched, const SchedCpu *near, const SchedTask *task)
{
    const SchedDomain *domain = &sched->domain[near->domain];
    guint n_words = (domain->n_cpus + 63) / 64;
    SchedCpu *found = NULL;

    /* The first word comes again at the end, for its lower bits. */
    for (guint i = 0; i <= n_words; i++) {
        guint word = (near->domain_slot / 64 + i) % n_words;
        guint64 upper = ~G_GUINT64_CONSTANT(0) << near->domain_slot % 64;
        guint64 bits = domain->idle[word] & (i == 0 ? upper : ~G_GUINT64_CONSTANT(0));

        for (; bits; bits &= bits - 1) {
            SchedCpu *cpu = &sched->cpu[domain->cpu[word * 64 + (guint) __builtin_ctzll(bits)]];

            if (!sched_is_allowed(sched, task, cpu->mach->id))
                continue;
            if (cpu->sibling == MACH_NO_CPU || sched->cpu[cpu->sibling].n_runnable == 0)
                return cpu;
            if (!found)
                found = cpu;
        }
    }
    return found;
}

static SchedCpu *
choose_cpu(SchedCpu *waker, const SchedTask *task, gboolean is_sync)
{
    const Sched *sched = waker->sched;
    SchedCpu *previous = &sched->cpu[task->cpu];
    SchedCpu *idle;

    if (sched->config.placement == SCHED_PLACE_PREVIOUS)
        return previous;
    if (sched->config.placement == SCHED_PLACE_IDLE) {
        if (previous->n_runnable == 0)
            return previous;
        idle = find_idle(sched, previous, task);
        if (idle)
            return idle;
    }
    if (!sched_is_allowed(sched, task, waker->mach->id))
        return previous;
    if (sched->config.placement == SCHED_PLACE_WAKER && is_sync && waker->n_runnable == 1)
        return waker;
    /* The waker does not count when it is about to sleep. */
    return waker->n_runnable - (is_sync != FALSE) < previous->n_runnable ? waker : previous;
}

void
sched_wake(SchedCpu *waker, SchedTask *task, gboolean is_sync)
{
    const SchedConfig *config = &waker->sched->config;
    SchedCpu *target = choose_cpu(waker, task, is_sync);
    SchedCounts *count = &waker->count[waker->phase];
    SimTime now = mach_now(waker->mach);

    g_assert(task->state == SCHED_SLEEPING);
    count->wake_ups++;
    count->moved_wake_ups += task->cpu != target->mach->id;
    sched_fair_place(target, task, TRUE, now);
    push_task(target, task);
    add_runnable(target, 1);
    if (sched_fair_preempts(target, task, now)) {
        target->must_switch = TRUE;
        count->preemptions++;
    }
    rouse(target, now + config->idle_exit);
    mach_spend(waker->mach, config->wake_up);
    sim_private(waker->mach->engine, waker->mach->agent);
}

/* Whether `queue` has a task that may run on `cpu`; `ret_previous` is the one before it, NULL for the first. */
static gboolean
find_allowed(const SchedCpu *queue, const SchedCpu *cpu, SchedTask **ret_previous)
{
    SchedTask *previous = NULL;

    for (SchedTask *task = queue->head; task; previous = task, task = task->next)
        if (sched_is_allowed(cpu->sched, task, cpu->mach->id)) {
            *ret_previous = previous;
            return TRUE;
        }
    return FALSE;
}

/* The first task that may run on `cpu` from the longest queue of its domain that has one; of equally long ones the
 * next after this CPU. */
static SchedTask *
pull_task(SchedCpu *cpu)
{
    const Sched *sched = cpu->sched;
    const SchedDomain *domain = &sched->domain[cpu->domain];
    SchedCpu *busiest = NULL;
    SchedTask *previous = NULL, *task;

    if (domain->n_waiting == 0)
        return NULL;
    for (guint i = 1; i < domain->n_cpus; i++) {
        SchedCpu *other = &sched->cpu[domain->cpu[(cpu->domain_slot + i) % domain->n_cpus]];
        if ((!busiest || other->n_runnable > busiest->n_runnable) && find_allowed(other, cpu, &previous))
            busiest = other;
    }
    if (!busiest)
        return NULL;
    task = remove_task(busiest, previous);
    sched_fair_place(cpu, task, FALSE, mach_now(cpu->mach));
    add_runnable(busiest, -1);
    add_runnable(cpu, 1);
    task->cpu = cpu->mach->id;
    cpu->count[cpu->phase].pulls++;
    return task;
}

static void
set_busy(SchedCpu *cpu, gboolean is_busy)
{
    cpu->mach->is_busy = is_busy;
    cpu->sched->is_busy[cpu->mach->id] = is_busy != FALSE;
}

static void
note_busy(SchedCpu *cpu)
{
    if (cpu->busy)
        *cpu->busy = mach_now(cpu->mach) - cpu->idle;
}

/* Waits for a wake-up, for RCU callbacks that come due, or for the next look at the neighbours' queues. */
static void
rest(SchedCpu *cpu)
{
    MachCpu *mach = cpu->mach;
    SimTime from = mach_now(mach), until = SIM_TIME_MAX;

    if (mach_rcu_n_pending(mach))
        until = MAX(from, mach->next_tick);
    if (cpu->sched->config.balances)
        until = MIN(until, from + cpu->sched->config.balance_interval);
    note_busy(cpu);
    set_busy(cpu, FALSE);
    mach_host_leave(mach);
    cpu->is_asleep = TRUE;
    if (until == SIM_TIME_MAX) {
        sim_block(mach->engine, mach->agent);
    } else {
        mach->agent->now = until; /* a time to come, which rouse() may bring forward */
        sim_sync(mach->engine, mach->agent);
    }
    cpu->is_asleep = FALSE;
    cpu->idle += mach_now(mach) - from;
}

/* The next task of a CPU, in order and begun; NULL when nothing is left to do. */
static SchedTask *
next_task(SchedCpu *cpu)
{
    for (;;) {
        SchedTask *task = NULL, *previous;

        sched_poll(cpu);
        sched_sync(cpu);
        if (mach_is_over(cpu->mach) || cpu->sched->n_live == 0)
            return NULL;
        if (cpu->head || cpu->sched->domain[cpu->domain].n_waiting)
            mach_host_enter(cpu->mach);
        if (cpu->head) {
            task = sched_fair_pick(cpu, &previous);
            remove_task(cpu, previous);
        } else if (cpu->sched->config.balances) {
            task = pull_task(cpu);
        }
        if (task) {
            sched_fair_start(cpu, task, mach_now(cpu->mach));
            return task;
        }
        rest(cpu);
    }
}

static void
run_cpu(SimAgent *agent)
{
    SchedCpu *cpu = agent->data;
    const Sched *sched = cpu->sched;
    SchedTask *task;

    while ((task = next_task(cpu))) {
        set_busy(cpu, TRUE);
        sched_note_sibling(cpu);
        task->state = SCHED_RUNNING;
        cpu->count[cpu->phase].switches++;
        mach_spend(cpu->mach, sched->config.context_switch);
        sim_private(agent->engine, agent);
        sched->run(cpu, task);
    }
    sim_sync(agent->engine, agent);
    mach_host_leave(cpu->mach);
    set_busy(cpu, FALSE);
}

void
sched__poll(SchedCpu *cpu)
{
    note_busy(cpu);
    if (mach_now(cpu->mach) >= cpu->sched->measured_from)
        cpu->phase = SCHED_MEASURED;
    mach_poll(cpu->mach);
}

static void
add_domains(Sched *sched)
{
    const MachTopology *topology = sched->machine->topology;

    sched->domain = g_new0(SchedDomain, topology->n_groups);
    for (guint i = 0; i < sched->n_cpus; i++)
        sched->domain[topology->cpu_group[i]].n_cpus++;
    for (guint i = 0; i < topology->n_groups; i++) {
        SchedDomain *domain = &sched->domain[i];

        domain->cpu = g_new(guint16, domain->n_cpus);
        domain->idle = g_new0(guint64, (domain->n_cpus + 63) / 64);
        domain->n_cpus = 0;
    }
    for (guint i = 0; i < sched->n_cpus; i++) {
        SchedCpu *cpu = &sched->cpu[i];
        SchedDomain *domain = &sched->domain[topology->cpu_group[i]];

        cpu->domain = topology->cpu_group[i];
        cpu->domain_slot = (guint16) domain->n_cpus;
        domain->cpu[domain->n_cpus++] = (guint16) i;
        set_idle(cpu, TRUE);
    }
}

Sched *
sched_new(Machine *machine, guint n_cpus, const SchedConfig *config, SchedRunFn run, void *data)
{
    Sched *sched = g_new0(Sched, 1);

    g_assert(n_cpus > 0 && n_cpus <= machine->n_cpus);
    sched->machine = machine;
    sched->config = *config;
    sched->run = run;
    sched->data = data;
    sched->n_cpus = n_cpus;
    sched->cpu = g_aligned_alloc0(n_cpus, sizeof *sched->cpu, 64);
    sched->is_busy = g_new0(guint8, n_cpus);
    for (guint i = 0; i < n_cpus; i++) {
        SchedCpu *cpu = &sched->cpu[i];

        cpu->mach = &machine->cpu[i];
        cpu->sibling = machine->topology->cpu_sibling[i] < n_cpus ? machine->topology->cpu_sibling[i] : MACH_NO_CPU;
        cpu->sched = sched;
        sim_wake(machine->engine, sim_engine_add_fiber(machine->engine, i, run_cpu, cpu), 0);
    }
    add_domains(sched);
    return sched;
}

void
sched_free(Sched *sched)
{
    if (!sched)
        return;
    for (guint i = 0; i < sched->machine->topology->n_groups; i++) {
        g_free(sched->domain[i].cpu);
        g_free(sched->domain[i].idle);
    }
    g_free(sched->domain);
    g_free(sched->is_busy);
    g_aligned_free(sched->cpu);
    g_free(sched);
}

void
sched_add_task(Sched *sched, SchedTask *task, guint cpu, guint first_cpu, guint n_allowed)
{
    task->first_cpu = (guint16) first_cpu;
    task->n_allowed = (guint16) n_allowed;
    g_assert(sched_is_allowed(sched, task, cpu));
    push_task(&sched->cpu[cpu], task);
    add_runnable(&sched->cpu[cpu], 1);
    sched->n_live++;
}

SchedCounts
sched_counts(const Sched *sched, guint phase)
{
    SchedCounts sum = {0};

    for (guint i = 0; i < sched->n_cpus; i++) {
        const SchedCounts *count = &sched->cpu[i].count[phase];

        sum.switches += count->switches;
        sum.wake_ups += count->wake_ups;
        sum.moved_wake_ups += count->moved_wake_ups;
        sum.pulls += count->pulls;
        sum.preemptions += count->preemptions;
    }
    return sum;
}
