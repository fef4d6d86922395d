/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_WRITE_H
#define REPLAY_WRITE_H

#include "replay.h"

/* The first start of a replay as a trace of its own: same operations, but at the addresses where the model put the
 * objects, with the slow-path functions the model entered. Read back, every object is on the model's slab. */
typedef struct _ReplayWrite ReplayWrite;

/* Writes to `path`. SIM_ERROR_IO. */
ReplayWrite *replay_write_open(const char *path, GError **error);

/* Frees are events before, allocations after they are done: call it after replay_feed(). */
void replay_write_event(ReplayWrite *write, const Replay *replay, const KmemEvent *event);

/* An object of a bulk allocation is done: its slow functions come before those of the next. `index` of the cache. */
void replay_write_part(ReplayWrite *write, const Replay *replay, const KmemEvent *event, gint index);

/* FALSE with SIM_ERROR_IO when anything could not be written. Frees `write`. */
gboolean replay_write_close(ReplayWrite *write, GError **error);

#endif
