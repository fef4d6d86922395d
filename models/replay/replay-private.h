/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_PRIVATE_H
#define REPLAY_PRIVATE_H

#include "replay.h"

/* Lays out the slabs that a cache had before the trace, of one start. */
void replay_start_cache(Replay *replay, ReplayCache *cache, guint start);

/* The slab of an object that existed before the trace: that of the recorded slab, or one drawn from the start state,
 * with an object in use. */
SlabId replay_start_slab(Replay *replay, ReplayCache *cache, guint start, guint64 recorded_slab, guint node);

/* Before an allocation: while a CPU still hands out objects of the slab it had at the beginning, as the recorded
 * pointers show, that slab's freelist is at least so long; when it moves on, it was not longer. */
void replay_start_reveal(Replay *replay, ReplayCache *cache, guint cpu, const guint64 *ptrs, guint n);

/* Objects of a slab that were in use before the trace and have not been freed in it. A free of an object that the trace
 * does not know takes one of these, never one that the trace has handed out. */
static inline guint16 *
replay_old_objects(const Replay *replay, guint start, SlabId id)
{
    GArray *old = replay->world[start].old;

    if (id >= old->len)
        g_array_set_size(old, id + 1024);
    return &g_array_index(old, guint16, id);
}

static inline MachCpu *
replay_cpu(const Replay *replay, guint start, guint cpu, guint copy)
{
    const ReplayWorld *world = &replay->world[start];

    return &world->machine->cpu[(cpu + copy * replay->params.n_traced_cpus) % world->machine->n_cpus];
}

static inline guint32
replay_object_slab(const Replay *replay, const guint32 *object, guint start, guint copy)
{
    return object[1 + start * replay->params.n_copies + copy];
}

#endif
