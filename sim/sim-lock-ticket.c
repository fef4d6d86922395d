/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ticket spinlock of Linux before 4.2: first in, first out, and every waiter spins on the same word. The unlock
 * store invalidates all their copies, so a hand-off grows with the number of spinners (the model of Boyd-Wickizer et
 * al., "Non-scalable locks are dangerous", 2012: time proportional to the number of waiting cores). */
#include "sim-lock-fifo.h"

static SimTime
ticket_handoff(const SimLock *lock, const SimAgent *next, SimTime released)
{
    SimTime transfer = sim_distance(lock->distance, lock->owner, next);

    return transfer * lock->costs->handoff_permille / 1000 + lock->costs->spinner_ps * lock->n_waiting;
}

const SimLockKind sim_lock_kind_ticket = {
    .name = "ticket",
    .summary = "first in, first out; hand-off grows with the number of spinners",
    .ordered_release = TRUE,
    .pick = sim_lock_pick_first,
    .handoff = ticket_handoff,
};
