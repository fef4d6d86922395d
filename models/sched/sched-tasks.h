/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHED_TASKS_H
#define SCHED_TASKS_H

#include "mach-machine.h"

/* A small CPU scheduler for many more tasks than CPUs: per-CPU run queues in an order of the wanted policy
 * (sched-fair.h), sleeping and waking with a placement rule and preemption, idle balancing within a last-level cache
 * domain. After kernel/sched/fair.c (select_task_rq_fair, wake_affine, select_idle_sibling, newidle and periodic
 * balance) in outline only.
 *
 * Left out: weights, load averages (load is the number of runnable tasks), balancing between cache domains, the limits
 * on the search for idle CPUs, EEVDF's delayed dequeue of 6.12. A running task is
 * preempted at its next sched_preempt(), as by a kernel with voluntary preemption at the end of a system call.
 *
 * A task is a record without a stack: the fiber of the CPU it runs on calls SchedRunFn. Fields marked "shared" are
 * touched by a CPU only right after its sim_sync(). */

typedef struct _Sched Sched;
typedef struct _SchedCpu SchedCpu;
typedef struct _SchedTask SchedTask;

typedef enum {
    SCHED_RUNNABLE, /* in a run queue */
    SCHED_RUNNING,
    SCHED_SLEEPING,
    SCHED_ENDED,
} SchedState;

struct _SchedTask {
    SchedTask *next;   /* shared: in a run queue; free for the workload's own queues while the task sleeps */
    SimTime vtime;     /* shared: virtual time on its CPU; asleep under EEVDF, what it was ahead of the mean */
    SimTime key;       /* shared: what the queue is sorted by: virtual time (CFS) or deadline (EEVDF) */
    guint16 cpu;       /* shared: where it runs, waits or ran last */
    guint16 first_cpu; /* it may run on n_allowed CPUs from this one on, wrapping around */
    guint16 n_allowed;
    guint8 state; /* shared: SchedState */
};

typedef enum {
    SCHED_PLACE_PREVIOUS, /* where it ran last */
    SCHED_PLACE_WAKER,    /* wake_affine(): the waker's CPU when a sync waker is alone there, else the previous one when
                           * idle, else the one with fewer runnable tasks */
    SCHED_PLACE_IDLE, /* the previous CPU when idle, else an idle CPU of its cache domain, idle cores first, else the
                       * previous or the waker's by load */
} SchedPlacement;

typedef enum {
    SCHED_ROUND_ROBIN,     /* a woken task goes to the tail and preempts nobody */
    SCHED_CFS,             /* to 6.5 */
    SCHED_EEVDF,           /* since 6.6, with RUN_TO_PARITY: nobody is preempted before its deadline */
    SCHED_EEVDF_NO_PARITY, /* without it: by a woken task with an earlier deadline */
} SchedPolicy;

/* Every time in picoseconds. */
typedef struct {
    SchedPolicy policy;
    SchedPlacement placement;
    gboolean balances;        /* an idle CPU pulls a waiting task from the longest queue of its cache domain */
    SimTime balance_interval; /* between its attempts while it stays idle */
    SimTime slice;
    SimTime context_switch; /* each start of a task on a CPU */
    SimTime wake_up;        /* the waker's time for one task */
    SimTime idle_exit;      /* from the wake-up of an idle CPU until it looks at its queue */
} SchedConfig;

typedef struct {
    guint64 switches;       /* starts of a task on a CPU */
    guint64 wake_ups;       /* tasks this CPU has woken */
    guint64 moved_wake_ups; /* of these, to another CPU than the previous one */
    guint64 pulls;          /* tasks this CPU has pulled while idle */
    guint64 preemptions;    /* running tasks of another CPU or this one that this CPU's wake-ups have preempted */
} SchedCounts;

enum { SCHED_WARMUP, SCHED_MEASURED, SCHED_N_PHASES };

struct _SchedCpu {
    _Alignas(64) MachCpu *mach;
    Sched *sched;
    SimTime slice_end;
    SchedTask *head, *tail;             /* shared: runnable, not running */
    SchedTask *running;                 /* shared; NULL when idle */
    guint32 n_runnable, n_queued;       /* shared: with the running one and without it */
    SimTime vclock, vtime_sum;          /* shared: virtual time of the CPU, sum over the queue; see sched-fair.c */
    SimTime charged_at;                 /* shared: up to when the running task's virtual time is told */
    SchedTask *next_buddy, *last_buddy; /* shared: CFS: the one that has preempted, the one that it preempted */
    gboolean must_switch;               /* shared: the running one has been preempted */
    guint32 phase;                      /* index of `count` for what happens now */
    gboolean is_shared;                 /* what sched_note_sibling() found last; up to date when a task is started */
    guint16 sibling;                    /* MACH_NO_CPU without one that is scheduled */
    guint16 domain, domain_slot;
    gboolean is_asleep; /* shared: the fiber waits for sim_wake() or its timer */
    SimTime idle;       /* time spent without a task */
    SimTime *busy; /* the owner's reading of the rest, up to date at each checkpoint; may be NULL */
    SchedCounts count[SCHED_N_PHASES];
};

/* Runs `task` on `cpu` until it sleeps, ends, is put back or the machine's time is over; then returns. */
typedef void (*SchedRunFn)(SchedCpu *cpu, SchedTask *task);

typedef struct {
    guint16 *cpu;  /* [n_cpus] */
    guint64 *idle; /* bit set: nothing runnable; shared */
    guint32 n_cpus;
    guint32 n_waiting; /* shared: tasks in run queues, but for the running ones */
} SchedDomain;

struct _Sched {
    Machine *machine;
    SchedConfig config;
    SchedRunFn run;
    void *data;                      /* the workload's */
    SimTime measured_from;           /* where SCHED_MEASURED begins */
    SchedCpu *cpu;                   /* [n_cpus] */
    guint n_cpus;                    /* CPUs 0 .. n_cpus - 1 are scheduled */
    guint8 *is_busy;                 /* [n_cpus] shared: as MachCpu.is_busy, close together */
    SchedDomain *domain;             /* [machine->topology->n_groups] */
    guint32 n_live;                  /* shared: tasks that have not ended */
    SimTime ended_at;                /* when the last one ended, 0 before */
};

/* Puts a fiber on each of the machine's first n_cpus CPUs and starts it at 0; no task yet. */
Sched *sched_new(Machine *machine, guint n_cpus, const SchedConfig *config, SchedRunFn run, void *data);
void sched_free(Sched *sched);

/* Before the run: a runnable task at the tail of the queue of `cpu`, one of those it may run on. The caller owns it. */
void sched_add_task(Sched *sched, SchedTask *task, guint cpu, guint first_cpu, guint n_allowed);

static inline void
sched_sync(SchedCpu *cpu)
{
    sim_sync(cpu->mach->engine, cpu->mach->agent);
}

/* In order: notes whether the core's other thread runs a task, for mach_compute(). */
static inline void
sched_note_sibling(SchedCpu *cpu)
{
    cpu->is_shared = cpu->sibling != MACH_NO_CPU && cpu->sched->is_busy[cpu->sibling];
}

gboolean sched__put_back(SchedCpu *cpu, SchedTask *task);

/* In order. TRUE when the slice is over, or a woken task has come, and another one is to run: the task has been put
 * back. */
static inline gboolean
sched_preempt(SchedCpu *cpu, SchedTask *task)
{
    return G_UNLIKELY(cpu->must_switch || mach_now(cpu->mach) >= cpu->slice_end) && sched__put_back(cpu, task);
}

/* In order, the running task: sleeps until sched_wake(), or ends. The run function then returns. */
void sched_sleep(SchedCpu *cpu, SchedTask *task);
void sched_end(SchedCpu *cpu, SchedTask *task);

/* In order: makes a sleeping task runnable, then takes the waker's time. `is_sync` says that the waker will soon
 * sleep itself (WF_SYNC). */
void sched_wake(SchedCpu *waker, SchedTask *task, gboolean is_sync);

void sched__poll(SchedCpu *cpu);

/* mach_poll() for a scheduled CPU; FALSE when its time is over. */
static inline gboolean
sched_poll(SchedCpu *cpu)
{
    if (G_LIKELY(mach_now(cpu->mach) < cpu->mach->next_poll))
        return TRUE;
    sched__poll(cpu);
    return !mach_is_over(cpu->mach);
}

static inline gboolean
sched_is_allowed(const Sched *sched, const SchedTask *task, guint cpu)
{
    return (cpu + sched->n_cpus - task->first_cpu) % sched->n_cpus < task->n_allowed;
}

/* Sum over CPUs of one phase. */
SchedCounts sched_counts(const Sched *sched, guint phase);

#endif
