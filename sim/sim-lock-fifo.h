/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_LOCK_FIFO_H
#define SIM_LOCK_FIFO_H

#include "sim-lock.h"

/* Removes and returns the waiter that came first; there is one. */
static inline SimAgent *
sim_lock_pick_first(SimLock *lock, const SimAgent *releaser)
{
    SimAgent *first = lock->head;

    lock->head = first->queue_next;
    if (!lock->head)
        lock->tail = NULL;
    return first;
}

#endif
