/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queued spinlock of Linux (kernel/locking/qspinlock.c, x86, bare metal; slub-facts D.1): first in, first out.
 * The second agent in line holds the pending bit and spins on the lock word; later ones spin on a node of their own
 * and are told by their predecessor, when it gets the lock, that they are now at the head. Left out: the paravirt
 * variant, and that a pending waiter can be overtaken by nobody but still costs the holder's store a miss. */
#include "sim-lock-fifo.h"

static SimTime
qspinlock_handoff(const SimLock *lock, const SimAgent *next, SimTime released)
{
    SimTime transfer = sim_distance(lock->distance, lock->owner, next);
    SimTime lock_word = transfer * lock->costs->handoff_permille / 1000;
    gboolean is_behind = next->queued_at < lock->owner_waited_until;
    SimTime head_at;

    /* Who came first in line, and who came first behind the pending agent, needs nobody to tell it. */
    if (!is_behind || !lock->owner_was_behind)
        return lock_word;
    /* Not before the message "you are the head", which the owner sent when it got the lock itself. */
    head_at = lock->owner_waited_until + transfer;
    return lock_word + MAX(head_at - released, 0);
}

const SimLockKind sim_lock_kind_qspinlock = {
    .name = "qspinlock",
    .summary = "first in, first out; hand-off costs a line transfer from owner to owner",
    .pick = sim_lock_pick_first,
    .handoff = qspinlock_handoff,
};
