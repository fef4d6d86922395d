/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WL_SLAB_OLD_H
#define WL_SLAB_OLD_H

#include "slab-old-cache.h"
#include "workload.h"

/* What the workloads of the old SLAB allocator share. */

/* The rows by which they choose a SlabOldStage. */
#define WL_SLAB_OLD_STAGE(name, who)                                                                                   \
    {                                                                                                                  \
        .group = "workload", .key = name, .type = SIM_KEY_CHOICE, .fallback = "int-index",                             \
        .choices = "struct-slab|int-index|byte-index", .help = who ": to 3.12, 3.13 and 3.14, from 3.15"               \
    }

/* Geometry on that world's machine of a cache with kmalloc's alignment; its name decides whether it was made early.
 * Errors: as slab_old_compute(). */
gboolean wl_slab_old_geometry(const World *world, SlabOldStage stage, const char *name, guint bytes,
                              SlabOldGeometry *ret_geometry, GError **error);

/* Such a cache. Caller frees. Errors: as above, and those of slab_old_cache_new(). */
SlabOldCache *wl_slab_old_cache_new(const World *world, SlabOldStage stage, const char *name, guint bytes,
                                    guint slabs_kept, GError **error);

#endif
