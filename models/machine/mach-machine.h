/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_MACHINE_H
#define MACH_MACHINE_H

#include "mach-costs.h"
#include "mach-topology.h"
#include "sim-engine.h"
#include "sim-rng.h"

/* A running machine: one fiber agent a CPU (agent number = CPU number), timer ticks, RCU callbacks, and checkpoints at
 * which each CPU's private state is read. */

typedef struct _MachCpu MachCpu;
typedef struct _Machine Machine;
typedef struct _MachHost MachHost; /* mach-host.h */

/* An RCU callback's argument: one or two slabs, see mach_call_rcu(). */
typedef void (*MachRcuFn)(MachCpu *cpu, guint32 first, guint32 second, void *data);

enum
{
    MACH_RCU_KINDS = 16,
    MACH_RCU_ID_BITS = 28,
};

typedef struct
{
    MachRcuFn fn;
    void *data;
} MachRcuKind;

/* The callbacks that were queued in one grace period. */
typedef struct
{
    guint64 grace_period;
    guint32 end; /* MachRcuQueue.tail behind them; unknown yet in the last segment */
} MachRcuSegment;

/* Callbacks of one CPU, oldest first, as two ring buffers whose lengths are powers of two. Positions count on for
 * ever, modulo 2^32. */
typedef struct
{
    guint64 *callback; /* [mask + 1] kind and argument packed */
    guint32 mask, head, tail;
    guint32 segment_mask, segment_head, segment_tail;
    SimTime grace_period_end; /* of the last segment, whose grace period is */
    guint64 grace_period;
    MachRcuSegment *segment; /* [segment_mask + 1] */
} MachRcuQueue;

struct _MachCpu
{
    _Alignas(64) SimAgent *agent;
    SimEngine *engine;
    Machine *machine;
    guint16 id, node, group;
    guint16 mem_node; /* numa_mem_id(), which may have no memory */
    SimTime next_poll;       /* earliest of the next tick, the next checkpoint, turn_end and ksoftirqd_at */
    guint next_checkpoint;
    SimTime checkpoint_at;   /* its time */
    gboolean is_busy;        /* shared: whether the sibling thread slows down */
    const gboolean *sibling_is_busy; /* that of the core's other thread; FALSE without one */
    SimTime next_tick;
    SimTime ksoftirqd_at; /* when its turn begins; SIM_TIME_MAX: it sleeps */
    SimTime slice_began;  /* the task's */
    gboolean is_flooded;  /* with callbacks */
    SimTime turn_end;  /* in a virtual machine, when the host takes the core away; SIM_TIME_MAX: never */
    gboolean has_core; /* of the host */
    MachRcuQueue rcu; /* its front in a line of its own */
    SimRng rng;       /* the allocator's chances on this CPU */
    void *task;              /* the workload's own state for this CPU */
};

struct _Machine
{
    const MachTopology *topology;
    MachCosts costs;
    SimLockCosts lock_costs;
    const SimLockKind *lock_kind;
    SimEngine *engine;
    MachCpu *cpu; /* [n_cpus] */
    guint n_cpus, n_active_cpus; /* CPUs with an agent that does something */
    double smt_slowdown, smt_hold_slowdown;
    gboolean ticks_spread; /* the CPUs' ticks fall at different times */
    SimTime tick, grace_period;
    gboolean has_batches;   /* ready callbacks run in batches, else all at the tick */
    SimTime ksoftirqd_turn; /* and as long for the task; 0: it preempts the task and ends its work */
    guint64 grace_period_key; /* spreads the lengths of grace periods */
    MachHost *host; /* NULL: no virtual machine */
    const SimTime *checkpoint; /* [n_checkpoints], rising; borrowed */
    guint n_checkpoints;
    void (*on_checkpoint)(MachCpu *cpu, guint index, void *data); /* in order, on each CPU's own clock */
    void *on_checkpoint_data;
    MachRcuKind rcu_kind[MACH_RCU_KINDS];
    guint n_rcu_kinds;
    const char *failure; /* why the run cannot go on (memory exhausted, ...); static text */
};

/* A machine with `n_observers` more agents than CPUs. `topology` and `checkpoint` are borrowed. */
Machine *mach_machine_new(const MachTopology *topology, const SimConfig *config, guint64 seed, guint64 replication,
                          const SimTime *checkpoint, guint n_checkpoints, guint n_observers);
void mach_machine_free(Machine *machine);

static inline SimTime
mach_now(const MachCpu *cpu)
{
    return cpu->agent->now;
}

/* Private work of a given length. */
static inline void
mach_spend(MachCpu *cpu, SimTime duration)
{
    cpu->agent->now += duration;
}

/* Computing that shares the core's execution units with a busy sibling. `is_shared` is what
 * mach_sibling_is_busy() said when it was last in order. */
static inline void
mach_compute(MachCpu *cpu, SimTime duration, gboolean is_shared)
{
    cpu->agent->now += is_shared ? (SimTime) ((double) duration * cpu->machine->smt_slowdown) : duration;
}

/* Whether the core's other thread computes. In order. */
static inline gboolean
mach_sibling_is_busy(const MachCpu *cpu)
{
    return *cpu->sibling_is_busy;
}

void mach__poll(MachCpu *cpu);

/* Ticks, ready RCU callbacks and checkpoints that have come due. Call it between operations, never under a lock. */
static inline void
mach_poll(MachCpu *cpu)
{
    if (G_UNLIKELY(cpu->agent->now >= cpu->next_poll))
        mach__poll(cpu);
}

void mach__take_checkpoints(MachCpu *cpu);

/* The checkpoints alone, for the middle of long work outside of locks. */
static inline void
mach_poll_checkpoints(MachCpu *cpu)
{
    if (G_UNLIKELY(cpu->agent->now >= cpu->checkpoint_at))
        mach__take_checkpoints(cpu);
}

/* TRUE when every checkpoint has passed on this CPU: its fiber may end. */
static inline gboolean
mach_is_over(const MachCpu *cpu)
{
    return cpu->next_checkpoint == cpu->machine->n_checkpoints;
}

/* Registers what a kind of callback does; the number is for mach_call_rcu(). */
guint mach_rcu_register(Machine *machine, MachRcuFn fn, void *data);

void mach__rcu_prepare(MachCpu *cpu);

/* call_rcu() on this CPU: the callback runs here, at the first tick after the grace period that follows the current
 * one (slub-facts D.5). Arguments are below 2^28; `second` may be 0. */
static inline void
mach_call_rcu(MachCpu *cpu, guint kind, guint32 first, guint32 second)
{
    MachRcuQueue *queue = &cpu->rcu;

    if (G_UNLIKELY(mach_now(cpu) >= queue->grace_period_end || queue->tail - queue->head > queue->mask))
        mach__rcu_prepare(cpu);
    queue->callback[queue->tail++ & queue->mask] =
        (guint64) kind << 2 * MACH_RCU_ID_BITS | (guint64) second << MACH_RCU_ID_BITS | first;
}

/* Callbacks waiting on this CPU. */
static inline guint32
mach_rcu_n_pending(const MachCpu *cpu)
{
    return cpu->rcu.tail - cpu->rcu.head;
}

/* A CPU that never comes to a poll again (it sleeps for ever): takes its remaining checkpoints now. */
void mach_finish_checkpoints(MachCpu *cpu);

/* Stops the run: the failure is reported when the engine returns. Does not return on a CPU's fiber. */
void mach_fail(MachCpu *cpu, const char *why);

#endif
