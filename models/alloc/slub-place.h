/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_PLACE_H
#define SLUB_PLACE_H

#include "slub.h"

/* Putting slabs where an observed machine has them, outside any operation of the allocator: the start state of a
 * replay, and a replay that is led by what a kernel did. Nothing is counted, no time passes. */

typedef enum {
    SLUB_PLACE_NONE,      /* on no list: full, not a cpu slab */
    SLUB_PLACE_NODE_TAIL, /* its node's partial list */
    SLUB_PLACE_NODE_HEAD,
    SLUB_PLACE_CPU_PARTIAL, /* head of a CPU's partial list */
    SLUB_PLACE_AWAY,        /* in the hands of somebody who moves it: frozen, on no list */
    SLUB_PLACE_CPU_USED_UP, /* the cpu slab with nothing on the CPU's own freelist */
    SLUB_PLACE_CPU,         /* the cpu slab; objects not in use are on the CPU's own freelist */
} SlubPlace;

/* A slab on `node` with `n_inuse` objects handed out before, put in its place. Returns its number. */
SlabId slub_place_new(SlubCache *cache, guint node, guint n_inuse, SlubPlace place, guint cpu);

/* Takes a slab of the cache from wherever it is. Objects on a CPU's freelist become free ones of the slab. */
void slub_place_take(SlubCache *cache, SlabId slab);

/* Puts a slab that is nowhere. A cpu slab that the CPU had (not with CPU_USED_UP, which wants none there) is taken away
 * first and goes to its node's list (or to none, when it is full). */
void slub_place_put(SlubCache *cache, SlabId slab, SlubPlace place, guint cpu);

/* Gives up a slab without an object in use that is nowhere. */
void slub_place_discard(SlubCache *cache, SlabId slab);

/* Where a slab is; *ret_cpu is set for the places of a CPU. Looks at every CPU: O(CPUs * partial slabs). */
SlubPlace slub_place_find(const SlubCache *cache, SlabId slab, guint *ret_cpu);

/* Objects of a slab that are handed out, those on CPUs' freelists not among them. */
guint slub_place_n_inuse(const SlubCache *cache, SlabId slab);

#endif
