/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHED_FAIR_H
#define SCHED_FAIR_H

#include "sched-tasks.h"

/* The order in which the tasks of one CPU run, for sched-tasks.c: a run queue and the virtual times by which each
 * SchedPolicy sorts it. All in order. Weights are equal, so a task's virtual time passes as the time it runs.
 *
 * CFS after kernel/sched/fair.c of 6.1 (place_entity, check_preempt_wakeup, pick_next_entity, check_preempt_tick),
 * EEVDF after that of 6.6 and 6.12 (place_entity, pick_eevdf, update_entity_lag, update_deadline), from memory of the
 * source. SchedConfig.slice is sysctl_sched_min_granularity and base_slice_ns, 0.75 ms times 1 + log2(CPUs, at most 8):
 * 3 ms from 8 CPUs on. */

/* Gives the running task the time up to `now`. */
void sched_fair_charge(SchedCpu *cpu, SimTime now);

/* Makes `task`, taken from the queue of `cpu`, the running one from `now` on, for a new slice. */
void sched_fair_start(SchedCpu *cpu, SchedTask *task, SimTime now);

/* The running task leaves the CPU: it has slept, ended or is to wait in the queue. */
void sched_fair_stop(SchedCpu *cpu, SimTime now);

/* Carries the task's virtual time over from the CPU it was on to `cpu`, in whose queue it is to be. `now` brings both
 * CPUs' own up to date. */
void sched_fair_place(SchedCpu *cpu, SchedTask *task, gboolean is_woken, SimTime now);

void sched_fair_push(SchedCpu *cpu, SchedTask *task);

/* Takes out the task behind `previous` (NULL: the first). */
SchedTask *sched_fair_remove(SchedCpu *cpu, SchedTask *previous);

/* The task of the queue, which is not empty, that is to run next; `ret_previous` is the one before it, NULL for the
 * first. */
SchedTask *sched_fair_pick(const SchedCpu *cpu, SchedTask **ret_previous);

/* Whether `task`, woken and in the queue, is to take the place of the running one. */
gboolean sched_fair_preempts(SchedCpu *cpu, SchedTask *task, SimTime now);

#endif
