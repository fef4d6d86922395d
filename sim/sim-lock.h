/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "sim-engine.h"
#include "sim-hist.h"

/* A lock as a queueing station: agents wait in a real queue, and passing the lock on takes time that depends on
 * where the previous and the next owner are.
 *
 * An operation under the lock takes effect when the lock is got; its duration follows. The holder therefore knows
 * when it will let go as soon as it has the lock, and a first-in-first-out discipline needs no event for the
 * release: a waiter's turn is fixed then and there. Disciplines that look at the queue at the moment of release
 * (ticket, CNA) order that moment too. */

/* Times to move a cache line between agents, by group (SimAgent.group). */
typedef struct
{
    const SimTime *transfer_ps; /* [n_groups][n_groups], row = from, column = to; borrowed */
    guint32 n_groups;
    SimTime same_agent_ps; /* the agent touched it last itself */
    SimTime unknown_ps;    /* nobody has touched it yet */
} SimDistance;

#define SIM_NOBODY G_MAXUINT32

/* Who touched a cache line last. */
typedef struct
{
    guint32 agent; /* SIM_NOBODY at first */
    guint32 group;
} SimToucher;

static inline SimTime
sim_distance(const SimDistance *distance, SimToucher from, const SimAgent *to)
{
    if (from.agent == to->id)
        return distance->same_agent_ps;
    if (from.agent == SIM_NOBODY)
        return distance->unknown_ps;
    return distance->transfer_ps[from.group * distance->n_groups + to->group];
}

/* Every time in picoseconds. */
typedef struct
{
    SimTime acquire_ps;       /* uncontended locked operation on a line the agent owns already */
    SimTime release_ps;       /* unlock store, inside the hold time */
    guint handoff_permille;   /* hand-off to a waiter, in thousandths of the line transfer between the two */
    SimTime spinner_ps;       /* ticket: added to a hand-off for each other agent that spins on the same word */
    SimTime near_ps;          /* CNA: a waiter is near when the transfer to it takes no longer than this */
    guint near_handoffs_max;  /* CNA: consecutive near hand-offs before the far waiters get their turn */
} SimLockCosts;

typedef struct
{
    guint64 acquisitions, contended;
    SimTime wait_ps; /* from the attempt to the grant, contended acquisitions only */
    SimTime hold_ps;
} SimLockSite;

typedef struct _SimLock SimLock;

/* A discipline: one row of sim-lock-kinds.h. */
typedef struct
{
    const char *name, *summary;
    gboolean ordered_release; /* the choice of the next owner needs the state at the moment of release */
    SimAgent *(*pick)(SimLock *lock, const SimAgent *releaser); /* removes and returns the next owner */
    /* From the owner to `next`, which has come at next->queued_at; the fields of the owner are still the old one's. */
    SimTime (*handoff)(const SimLock *lock, const SimAgent *next, SimTime released);
} SimLockKind;

struct _SimLock
{
    gboolean held;   /* owned, or promised to an agent whose turn is fixed */
    guint32 n_waiting;
    SimTime free_at; /* not held: since when */
    SimAgent *head, *tail;         /* waiting, in order of arrival */
    SimAgent *far_head, *far_tail; /* CNA's secondary queue */
    SimToucher owner;      /* last owner of the lock's line */
    SimTime owned_since;   /* when it got the lock */
    guint32 owner_site;    /* and for which call site */
    SimTime owner_waited_until; /* when it got the lock; when it came, if the lock was free */
    gboolean owner_was_behind;  /* it came while another waited already */
    guint near_handoffs;
    const SimLockKind *kind;
    const SimDistance *distance;
    const SimLockCosts *costs;
    SimLockSite *sites; /* n_sites */
    guint n_sites;
    SimHist *waits_ps; /* waiting time of every acquisition, NULL unless asked for */
};

/* The registered kinds, NULL-terminated; and one by name, NULL when unknown. */
const SimLockKind *const *sim_lock_kinds(void);
const SimLockKind *sim_lock_kind_find(const char *name);

/* A free lock. `distance` and `costs` are borrowed. */
void sim_lock_init(SimLock *lock, const SimLockKind *kind, const SimDistance *distance, const SimLockCosts *costs,
                   guint n_sites, gboolean with_histogram);
void sim_lock_clear(SimLock *lock);

/* Forgets statistics, keeps owner and queue: the end of a warm-up. */
void sim_lock_reset_statistics(SimLock *lock);

typedef enum
{
    SIM_LOCK_GOT,     /* held from agent->now on, which has moved on by the cost of acquiring */
    SIM_LOCK_PROMISED, /* held from agent->now on, which lies in the future: order that time first */
    SIM_LOCK_QUEUED,  /* waits; will be woken when it is its turn */
} SimLockResult;

/* For step agents: agent->now is the present. */
SimLockResult sim_lock_enter(SimLock *lock, SimAgent *agent, guint site);

/* Lets go at agent->now, which may lie in the future, unless the kind orders its releases. */
void sim_lock_leave(SimEngine *engine, SimLock *lock, SimAgent *agent);

/* For fibers. Acquire orders itself and returns with the lock held and agent->now at that time. */
static inline void
sim_lock_acquire(SimEngine *engine, SimLock *lock, SimAgent *agent, guint site)
{
    sim_sync(engine, agent);
    switch (sim_lock_enter(lock, agent, site)) {
    case SIM_LOCK_GOT:
        break;
    case SIM_LOCK_PROMISED:
        sim_sync(engine, agent);
        break;
    case SIM_LOCK_QUEUED:
        sim_block(engine, agent);
        break;
    }
}

/* FALSE when somebody has it or waits for it; costs a look at the lock's line either way. */
gboolean sim_lock_try(SimEngine *engine, SimLock *lock, SimAgent *agent, guint site);

static inline void
sim_lock_release(SimEngine *engine, SimLock *lock, SimAgent *agent)
{
    if (lock->kind->ordered_release)
        sim_sync(engine, agent);
    sim_lock_leave(engine, lock, agent);
}

#endif
