/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_OCCUPANCY_H
#define REPLAY_OCCUPANCY_H

#include "replay.h"

/* How full the slabs are that have free objects, and so what memory is stranded in them. min_partial caps only slabs
 * that are empty when they come to a list: one object in use keeps a slab, however many of its kind there are. */

typedef enum {
    REPLAY_ON_NODE,        /* the node's partial list */
    REPLAY_ON_CPU_PARTIAL, /* partial lists of CPUs, by the slab's node */
    REPLAY_ON_CPU,         /* cpu slabs, by the slab's node; what is free on the CPU's own freelist counts as free */
    REPLAY_N_PLACES
} ReplayPlace;

enum {
    REPLAY_N_TENTHS = 10,
};

typedef struct {
    guint64 n_slabs, n_empty, n_free_objects, free_bytes;
    guint64 tenths[REPLAY_N_TENTHS]; /* slabs by objects in use: below 10 %, below 20 %, ..., the last to 100 % */
} ReplayOccupancy;

const char *replay_place_name(ReplayPlace place);

/* Of one cache, start and node, at the present. */
void replay_occupancy(const Replay *replay, const ReplayCache *cache, guint start, guint node,
                      ReplayOccupancy ret_occupancy[REPLAY_N_PLACES]);

/* Lines of a table, one a cache, node and place that has slabs; header first. Columns: time_s, start, cache, node,
 * place, slabs, empty, free_objects, free_bytes, tenth_0 to tenth_9. */
void replay_occupancy_header(GString *text);
void replay_occupancy_append(const Replay *replay, guint start, GString *text);

#endif
