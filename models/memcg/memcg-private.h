/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEMCG_PRIVATE_H
#define MEMCG_PRIVATE_H

#include "memcg.h"

/* struct page_counter: usage and what is written with it lie on one line, protection where that is told apart. */
typedef struct _MemcgCounter MemcgCounter;
struct _MemcgCounter {
    MachLine line, protection_line;
    gint64 pages;
    MemcgCounter *parent;
};

/* The counters of one cgroup. */
typedef struct {
    MemcgCounter memory, memsw, kmem; /* the last two on v1 only */
} MemcgNode;

struct _MemcgGroup {
    guint index;
    MemcgNode *node;      /* its own; those above through the counters */
    MachLine objcg_line;  /* nr_charged_bytes */
    gint64 charged_bytes; /* nr_charged_bytes: what drained stocks left */
};

typedef struct {
    MemcgGroup *group; /* NULL = free slot */
    guint32 pages;
} MemcgPageSlot;

/* memcg_stock_pcp and obj_stock_pcp. Private to the CPU, but for what it drains to. */
typedef struct {
    MemcgGroup *cached;
    MachLineCopy objcg_copy; /* of the nr_charged_bytes it changed last */
    guint32 stock_bytes;
    gint32 vmstat_bytes;
    guint16 vmstat_node;
    MemcgPageSlot slot[MEMCG_SLOTS_MAX];
    gint64 object_bytes; /* charged minus uncharged on this CPU, with the objcg pointer's share; whole pages too */
    guint64 stat[MEMCG_N_STATS];
    SimTime step_ps[MEMCG_N_STEPS]; /* of allocations, when steps are timed */
    gboolean makes_array;           /* an array's own slab gets none: __GFP_NO_OBJ_EXT */
} MemcgCpu;

/* What is known of a slab's exts; by SlabId. */
typedef struct {
    SlabId array;    /* the object that holds them */
    guint16 toucher; /* CPU that wrote one last */
    guint8 exists;
    guint8 pages_order; /* of an array in pages, plus 1; 0 = not in pages */
} MemcgSlab;

typedef struct {
    SlabExt ext;
    SlubCache *array_cache;
    gint64 n_arrays, n_inside; /* slabs alive whose exts are in an array, in the slab */
} MemcgCache;

struct _Memcg {
    SlubSystem *system;
    MemcgSettings settings;
    MemcgGroup *group; /* [n_groups] */
    MemcgNode *node;   /* the root, then the groups' paths, lowest first */
    MemcgCpu *cpu;     /* [n_cpus] */
    MemcgCache *cache; /* [n_caches] by SlubCache.index */
    guint n_caches;
    MemcgSlab *slab; /* [SLAB_ARENA_MAX], reserved address space */
    guint page_shift;
    gboolean times_steps;
};

static inline MemcgCpu *
memcg__cpu(Memcg *memcg, const MachCpu *cpu)
{
    return &memcg->cpu[cpu->id];
}

/* obj_full_size() */
static inline guint
memcg__full_size(const SlubCache *cache)
{
    return cache->geometry.size_bytes + 8;
}

/* memcg-stock.c: the sections of one object each. */
void memcg__charge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint bytes);
void memcg__uncharge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint bytes);
/* mod_objcg_state() for `bytes` (negative at a free) of a slab of `node`. */
void memcg__count(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint node, gint bytes);

/* memcg-ext.c: the slab hooks, and one object's ext. */
void memcg__on_new_slab(SlubCache *cache, MachCpu *cpu, SlabId id, void *data);
void memcg__on_discard(SlubCache *cache, MachCpu *cpu, SlabId id, void *data);
/* Makes the slab's exts if need be, and writes the object's. */
void memcg__ext_set(Memcg *memcg, const SlubCache *cache, MachCpu *cpu, SlabId id);
/* Looks the object's ext up and clears it; a slab without exts costs nothing. */
void memcg__ext_clear(Memcg *memcg, MachCpu *cpu, SlabId id);

#endif
