/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compact NUMA-aware lock (A. Kogan's qspinlock series of 2019-2021, never merged): the releaser looks for the first
 * waiter near it, moves the far ones it passes to a secondary queue, and serves that queue when no near waiter is
 * left or after a bounded number of near hand-offs. The series bounds by 10 ms in its last versions and by a count in
 * its first; the count is modelled. */
#include "sim-lock-fifo.h"

static void
append_far(SimLock *lock, SimAgent *first, SimAgent *last)
{
    if (lock->far_tail)
        lock->far_tail->queue_next = first;
    else
        lock->far_head = first;
    lock->far_tail = last;
    last->queue_next = NULL;
}

/* The far queue goes in front of what is left of the main one. */
static SimAgent *
pick_far(SimLock *lock, const SimAgent *releaser)
{
    lock->near_handoffs = 0;
    if (lock->far_head) {
        lock->far_tail->queue_next = lock->head;
        if (!lock->head)
            lock->tail = lock->far_tail;
        lock->head = lock->far_head;
        lock->far_head = lock->far_tail = NULL;
    }
    return sim_lock_pick_first(lock, releaser);
}

static SimAgent *
cna_pick(SimLock *lock, const SimAgent *releaser)
{
    SimToucher from = {releaser->id, releaser->group};
    SimAgent *last_passed = NULL;

    if (lock->near_handoffs >= lock->costs->near_handoffs_max)
        return pick_far(lock, releaser);
    for (SimAgent *agent = lock->head; agent; last_passed = agent, agent = agent->queue_next) {
        if (sim_distance(lock->distance, from, agent) > lock->costs->near_ps)
            continue;
        if (last_passed) {
            SimAgent *first = lock->head;
            lock->head = agent;
            append_far(lock, first, last_passed);
        }
        lock->near_handoffs++;
        return sim_lock_pick_first(lock, releaser);
    }
    return pick_far(lock, releaser);
}

static SimTime
cna_handoff(const SimLock *lock, const SimAgent *next, SimTime released)
{
    return sim_distance(lock->distance, lock->owner, next) * lock->costs->handoff_permille / 1000;
}

const SimLockKind sim_lock_kind_cna = {
    .name = "cna",
    .summary = "waiters near the releaser go first, the others after a bounded number of hand-offs",
    .ordered_release = TRUE,
    .pick = cna_pick,
    .handoff = cna_handoff,
};
