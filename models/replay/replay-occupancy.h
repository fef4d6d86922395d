/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_OCCUPANCY_H
#define REPLAY_OCCUPANCY_H

#include "replay.h"

/* slub-occupancy.h of a replay's caches as lines of a table, one a cache, node and place that has slabs; header first.
 * Columns: time_s, start, cache, node, place, slabs, empty, free_objects, free_bytes, tenth_0 to tenth_9. */
void replay_occupancy_header(GString *text);
void replay_occupancy_append(const Replay *replay, guint start, GString *text);

#endif
