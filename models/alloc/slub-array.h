/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_ARRAY_H
#define SLUB_ARRAY_H

#include "slub.h"

/* Per-CPU arrays of free objects above the cpu slab: RFC v1 and v2 of "SLUB percpu array caches" (V. Babka, August
 * 2023, on 6.5-rc; never merged), the forerunner of sheaves. alloc_from_pca(), free_to_pca(): a single allocation takes
 * from the CPU's array while it has any, of whatever node, a single free puts into it while it has room; else the call
 * goes on as if there were no array. A bulk allocation passes the array by, a bulk free fills it with those objects
 * whose slab has no other among its neighbours. Nothing drains an array, neither flush nor shrink. Left out: interrupts
 * that find the array locked, and the refills and flushes of RFC v3. */

enum { SLUB_ARRAY_CAPACITY_MAX = 1024 };

typedef struct {
    guint32 used;
    SlabId *object; /* [capacity], taken from the end */
} SlubArrayCpu;

struct _SlubArrays {
    guint32 capacity;
    SlubArrayCpu *cpu;      /* [n_cpus], each private to its CPU */
    SlubGeneration entries; /* the generation below with the entry points of arrays */
};

/* kmem_cache_setup_percpu_array(): `capacity` objects, 1 to SLUB_ARRAY_CAPACITY_MAX. Before the cache is used and
 * before slub_latency_enable(). SIM_ERROR_MODEL for a cache without a cpu slab, with sheaves or with debug flags. */
gboolean slub_array_set_up(SlubCache *cache, guint capacity, GError **error);

/* kmem_cache_prefill_percpu_array(): takes as many objects in bulk as the CPU's array lacks to have `n`, and frees them
 * one by one, so that they are counted on their way in. Nothing for a cache without arrays or with smaller ones. */
void slub_array_prefill(SlubCache *cache, MachCpu *cpu, guint n);

/* Free objects in a CPU's array; 0 without. */
gint64 slub_array_cpu_objects(const SlubCache *cache, guint cpu);

/* For models/alloc only from here on. */

void slub_arrays_free(SlubCache *cache);
void slub_array_free(SlubCache *cache, MachCpu *cpu, SlabId object, guint n);
void slub_array_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);

#endif
