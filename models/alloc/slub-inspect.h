/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_INSPECT_H
#define SLUB_INSPECT_H

#include "slub.h"

/* What looks at a cache from outside and disturbs it by that: readers of /proc/slabinfo, and flush_all(), which asks
 * each CPU. Both run on `cpu` and take its time. */

enum {
    SLUB_COUNT_MAX = 10000,                                /* MAX_PARTIAL_TO_SCAN */
    SLUB_KERNEL_COUNTS_APPROXIMATELY = SLAB_KERNEL(6, 10), /* count_partial_free_approx() */
    SLUB_KERNEL_FLUSHES_BY_WORK = SLAB_KERNEL(5, 15),      /* flush_all_cpus_locked(); by interrupt before */
};

/* count_partial() with count_free(): free objects of a node's partial slabs, counted under list_lock. From 6.10 on a
 * list of more than SLUB_COUNT_MAX slabs is looked at from both ends, half of that from each, and the rest is
 * extrapolated, up to all of the node's objects. */
guint64 slub_count_partial_free(SlubCache *cache, MachCpu *cpu, guint node);

/* get_slabinfo(): that for every node with memory. Returns the free objects that num_objs - active_objs shows. */
guint64 slub_read_slabinfo(SlubCache *cache, MachCpu *cpu);

/* has_cpu_slab(), from 6.18 on also has_pcs_used(): whether flush_all() has anything to ask CPU `id` for. A racy look;
 * to be made in order. */
gboolean slub_needs_flush(const SlubCache *cache, guint id);

#endif
