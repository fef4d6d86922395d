/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_OCCUPANCY_H
#define SLUB_OCCUPANCY_H

#include "slub.h"

/* How full the slabs are that have free objects, and so what memory is stranded in them. min_partial caps only slabs
 * that are empty when they come to a list: one object in use keeps a slab, however many of its kind there are. Objects
 * that wait in sheaves count as in use, as their slabs see it. */

typedef enum {
    SLUB_ON_NODE,        /* the node's partial list */
    SLUB_ON_CPU_PARTIAL, /* partial lists of CPUs, by the slab's node */
    SLUB_ON_CPU,         /* cpu slabs, by the slab's node; what is free on the CPU's own freelist counts as free */
    SLUB_N_HOLDERS
} SlubHolder;

enum {
    SLUB_N_TENTHS = 10,
};

typedef struct {
    guint64 n_slabs, n_empty, n_free_objects, free_bytes;
    guint64 tenths[SLUB_N_TENTHS]; /* slabs by objects in use: below 10 %, below 20 %, ..., the last to 100 % */
} SlubOccupancy;

const char *slub_holder_name(SlubHolder holder);

/* Add one node's list; what one CPU holds of that node's slabs. `sum` is indexed by SlubHolder. */
void slub_occupancy_add_node(const SlubCache *cache, guint node, SlubOccupancy sum[SLUB_N_HOLDERS]);
void slub_occupancy_add_cpu(const SlubCache *cache, guint cpu, guint node, SlubOccupancy sum[SLUB_N_HOLDERS]);

/* Memory of all slabs of a cache, full ones and those of the fallback order too. */
guint64 slub_slabs_bytes(const SlubCache *cache);

/* Of one cache and node, all CPUs, at the present. For a moment when no operation is under way. */
void slub_occupancy(const SlubCache *cache, guint node, SlubOccupancy ret_occupancy[SLUB_N_HOLDERS]);

#endif
