/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_GENERATION_H
#define SLUB_GENERATION_H

#include "mach-machine.h"
#include "slab-arena.h"

/* What a generation of the allocator is, and how it combines with sheaves. Part of slub.h. */

typedef struct _SlubSystem SlubSystem;
typedef struct _SlubCache SlubCache;
typedef struct _SlubSheaves SlubSheaves;
typedef struct _SlubArrays SlubArrays;
typedef struct _SlubLatency SlubLatency;

/* Call sites of the list_lock. */
#define SLUB_LOCK_SITES(SITE)                                                                                          \
    SITE(GET_PARTIAL_NODE, "get_partial_node")                                                                         \
    SITE(GET_ANY_PARTIAL, "get_any_partial")                                                                           \
    SITE(SLAB_FREE, "__slab_free")                                                                                     \
    SITE(UNFREEZE, "__unfreeze_partials")                                                                              \
    SITE(DEACTIVATE, "deactivate_slab")                                                                                \
    SITE(SHRINK, "__kmem_cache_do_shrink")                                                                             \
    SITE(DEBUG_FREE, "free_debug_processing")                                                                          \
    SITE(DEBUG_NEW, "alloc_single_from_new_slab")                                                                      \
    SITE(COUNT, "count_partial")                                                                                       \
    SITE(FROM_PARTIAL, "get_from_partial_node")                                                                        \
    SITE(FROM_ANY, "get_from_any_partial")                                                                             \
    SITE(NEW_SLAB, "alloc_from_new_slab")                                                                              \
    SITE(REFILL, "get_partial_node_bulk")                                                                              \
    SITE(REFILL_ANY, "__refill_objects_any")                                                                           \
    SITE(REFILL_RETURN, "__refill_objects_node")

typedef enum {
#define SITE(name, text) SLUB_LOCK_##name,
    SLUB_LOCK_SITES(SITE)
#undef SITE
        SLUB_N_LOCK_SITES,
    SLUB_FIRST_DIRECT_SITE = SLUB_LOCK_FROM_PARTIAL, /* from here on: only generations without a cpu slab */
} SlubLockSite;

/* The kernel's own name for it in that release. */
const char *slub_lock_site_name(SlubLockSite site, guint kernel);

/* A generation of the allocator. */
typedef struct {
    const char *name, *summary;
    guint first_kernel, last_kernel; /* SLAB_KERNEL, both included */
    gboolean has_cpu_slab;
    gboolean freezes_partial; /* slabs on cpu partial lists are frozen */
    gboolean takes_single;    /* get_partial_node() takes one object instead of a slab: debug caches with a cpu slab */
    SlabId (*alloc_slow)(SlubCache *cache, MachCpu *cpu, gint node);
    void (*free_slow)(SlubCache *cache, MachCpu *cpu, SlabId slab, guint n_objects);
    /* Gives back a chain of cpu partial slabs, linked by next. */
    void (*put_partials)(SlubCache *cache, MachCpu *cpu, SlabId first);
    /* Gives back a cpu slab with `n_private` objects on the CPU's own freelist. */
    void (*deactivate)(SlubCache *cache, MachCpu *cpu, SlabId slab, guint n_private);
    /* Many objects at once from and to slabs: for bulk calls, and to fill and flush sheaves. give_bulk() reorders. */
    void (*take_bulk)(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);
    void (*give_bulk)(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects);
} SlubGeneration;

/* slub-debug.c. Not of alloc-list.h: no release is like this for all caches. */
extern const SlubGeneration slub_debug_activate, slub_debug_single;

/* Whose partial lists fill a sheaf when the CPU's own node has not enough (from 7.0). */
typedef enum {
    SLUB_REFILL_LOCAL,   /* nobody else's: new slabs */
    SLUB_REFILL_TRYLOCK, /* all nodes', where list_lock is free: 7.0 */
    SLUB_REFILL_SPIN,    /* all nodes', waiting for list_lock */
} SlubRefill;

/* The layers; a cache keeps the way to handle slabs with which it was made. */
typedef struct {
    gboolean has_cpu_slab; /* FALSE: slabs are handled as from 7.0 on. TRUE only in a release that has one */
    SlubRefill refill;
    gboolean remote_frees_to_sheaf; /* what if the freeing CPU's sheaf took objects of other nodes too */
} SlubLayers;

#endif
