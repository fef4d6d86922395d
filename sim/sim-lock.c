/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-lock.h"

#include <string.h>

#define KIND(name) extern const SimLockKind sim_lock_kind_##name;
#include "sim-lock-kinds.h"
#undef KIND

const SimLockKind *const *
sim_lock_kinds(void)
{
    static const SimLockKind *const kinds[] = {
#define KIND(name) &sim_lock_kind_##name,
#include "sim-lock-kinds.h"
#undef KIND
        NULL,
    };
    return kinds;
}

const SimLockKind *
sim_lock_kind_find(const char *name)
{
    for (const SimLockKind *const *kind = sim_lock_kinds(); *kind; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}

void
sim_lock_init(SimLock *lock, const SimLockKind *kind, const SimDistance *distance, const SimLockCosts *costs,
              guint n_sites, gboolean with_histogram)
{
    *lock = (SimLock){
        .kind = kind,
        .distance = distance,
        .costs = costs,
        .owner = {SIM_NOBODY, 0},
        .n_sites = n_sites,
        .sites = g_new0(SimLockSite, n_sites),
        .waits_ps = with_histogram ? g_new(SimHist, 1) : NULL,
    };
    if (lock->waits_ps)
        sim_hist_init(lock->waits_ps);
}

void
sim_lock_clear(SimLock *lock)
{
    g_clear_pointer(&lock->sites, g_free);
    g_clear_pointer(&lock->waits_ps, g_free);
}

void
sim_lock_reset_statistics(SimLock *lock)
{
    memset(lock->sites, 0, lock->n_sites * sizeof *lock->sites);
    if (lock->waits_ps)
        sim_hist_init(lock->waits_ps);
}

/* `agent` owns the lock from `when` on, after it waited for `wait`. */
static void
grant(SimLock *lock, SimAgent *agent, SimTime wait, SimTime when)
{
    SimLockSite *site = &lock->sites[agent->queue_site];

    lock->held = TRUE;
    lock->owner = (SimToucher){agent->id, agent->group};
    lock->owned_since = when;
    lock->owner_site = agent->queue_site;
    site->acquisitions++;
    if (wait > 0) {
        site->contended++;
        site->wait_ps += wait;
    }
    if (lock->waits_ps)
        sim_hist_record(lock->waits_ps, wait);
}

/* The lock, let go at `released`, passes to `agent`, which waits since agent->queued_at. Returns its turn. */
static SimTime
pass_on(SimLock *lock, SimAgent *agent, SimTime released)
{
    SimTime turn = released + lock->kind->handoff(lock, agent, released);

    lock->owner_was_behind = agent->queued_at < lock->owner_waited_until;
    lock->owner_waited_until = turn;
    grant(lock, agent, turn - agent->queued_at, turn);
    return turn;
}

/* Nobody holds the lock or waits for it, and it has been let go by now. */
static void
get_free_lock(SimLock *lock, SimAgent *agent)
{
    lock->owner_was_behind = FALSE;
    lock->owner_waited_until = agent->now;
    agent->now += lock->costs->acquire_ps + sim_distance(lock->distance, lock->owner, agent);
    grant(lock, agent, 0, agent->now);
}

SimLockResult
sim_lock_enter(SimLock *lock, SimAgent *agent, guint site)
{
    agent->queue_site = site;
    if (G_LIKELY(!lock->held) && lock->free_at <= agent->now) {
        get_free_lock(lock, agent);
        return SIM_LOCK_GOT;
    }
    agent->queued_at = agent->now;
    if (!lock->held) {
        agent->now = pass_on(lock, agent, lock->free_at);
        return SIM_LOCK_PROMISED;
    }
    agent->queue_next = NULL;
    if (lock->tail)
        lock->tail->queue_next = agent;
    else
        lock->head = agent;
    lock->tail = agent;
    lock->n_waiting++;
    return SIM_LOCK_QUEUED;
}

void
sim_lock_leave(SimEngine *engine, SimLock *lock, SimAgent *agent)
{
    SimAgent *next;

    agent->now += lock->costs->release_ps;
    lock->sites[lock->owner_site].hold_ps += agent->now - lock->owned_since;
    if (!lock->n_waiting) {
        lock->held = FALSE;
        lock->free_at = agent->now;
        return;
    }
    next = lock->kind->pick(lock, agent);
    lock->n_waiting--;
    sim_wake(engine, next, pass_on(lock, next, agent->now));
}

gboolean
sim_lock_try(SimEngine *engine, SimLock *lock, SimAgent *agent, guint site)
{
    sim_sync(engine, agent);
    if (lock->held || lock->free_at > agent->now) {
        agent->now += sim_distance(lock->distance, lock->owner, agent);
        return FALSE;
    }
    agent->queue_site = site;
    get_free_lock(lock, agent);
    return TRUE;
}
