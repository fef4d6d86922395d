/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_CATALOG_H
#define REPLAY_CATALOG_H

#include "slab-listing.h"

/* The caches a trace may speak of: from a listing of the recorded machine when there is one, else made up from the
 * sizes in the trace; and the settings under which the trace is replayed. */

typedef struct {
    guint node, count;
} ReplayCount; /* of a node or of a CPU */

/* What a listing says of a cache's slabs at that moment. Arrays of ReplayCount, NULL when the listing is silent. */
typedef struct {
    GArray *slabs, *partial, *objects_partial, *cpu_slabs; /* by node; cpu_slabs counts cpu partial slabs too */
    GArray *cpu_partial;                                   /* by CPU */
} ReplayCacheState;

typedef struct {
    SlabListing *listing;
    guint recorded_kernel; /* that of the listing; its environment's may be another by now */
    GHashTable *rows;    /* name (also of merged caches) -> row index + 1 */
    GArray *states;      /* ReplayCacheState by row; empty without states */
    GPtrArray *sets;     /* "cache.key=value", later ones win */
    gboolean is_changed; /* the machine or a setting differs from the recorded one */
} ReplayCatalog;

/* `listing_path` NULL: no caches, `env` is the machine. */
ReplayCatalog *replay_catalog_new(const SlabGeometryEnv *env, const char *listing_path, GError **error);
void replay_catalog_free(ReplayCatalog *catalog);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplayCatalog, replay_catalog_free)

/* "CACHE.KEY=VALUE" or "*.KEY=VALUE"; keys order, cpu_partial, cpu_partial_slabs, min_partial. SIM_ERROR_PARSE,
 * SIM_ERROR_UNKNOWN_KEY with a hint. */
gboolean replay_catalog_set(ReplayCatalog *catalog, const char *setting, GError **error);

/* Row index of a cache by any of its names, -1 when the listing has none. */
gint replay_catalog_row(const ReplayCatalog *catalog, const char *name);

/* The state of a row, NULL when nothing is known. */
const ReplayCacheState *replay_catalog_state(const ReplayCatalog *catalog, gint row);

/* Geometry under the settings in force. With row -1 the cache is made up: kmalloc classes by their name, others as a
 * plain cache of `bytes_alloc`. Errors as slab_geometry_compute(). */
gboolean replay_catalog_geometry(const ReplayCatalog *catalog, gint row, const char *name, guint bytes_alloc,
                                 SlabGeometry *ret_geometry, GError **error);

/* The order of the recorded machine's slabs, from the listing or its rules. */
guint replay_catalog_recorded_order(const ReplayCatalog *catalog, gint row, const SlabGeometry *geometry);

#endif
