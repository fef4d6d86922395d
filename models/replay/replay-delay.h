/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_DELAY_H
#define REPLAY_DELAY_H

#include "replay.h"

/* When a free takes effect. Its event comes first (trace_kfree(), trace_kmem_cache_free() of 6.1 and 6.12), and what
 * other CPUs do before this one's next event may come before or after its effect: a virtual CPU may even be stopped in
 * between, for a long time. In which order is not in the trace, and so it is drawn as the rest of the unknown is: in
 * each start but the first every free waits, with a chance of one half, for its CPU's next tracepoint, or for the
 * moment at which somebody is given the object again. In the first start all takes effect at its event.
 *
 * An allocation's event comes after its effect, which the trace therefore shows too late by the rest of one call; that
 * is left alone, and so are bulk frees. */

ReplayDelay *replay_delay_new(const ReplayParams *params);
void replay_delay_free(ReplayDelay *delay);

/* A free on `cpu` of the live object at `ptr`, a row of replay->objects, which may go afterwards. */
void replay_delay_hold(Replay *replay, guint cpu, guint64 ptr, ReplayCache *cache, const guint32 *object);

/* What a CPU has not finished; before its next tracepoint. */
void replay_delay_settle(Replay *replay, guint cpu);

/* The free of an object that is now allocated. */
void replay_delay_settle_object(Replay *replay, guint64 ptr);

#endif
