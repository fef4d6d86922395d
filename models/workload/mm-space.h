/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MM_SPACE_H
#define MM_SPACE_H

#include "world.h"

/* What address spaces ask of the slab allocator, by release: VMAs, their locks, anon_vmas and the nodes of the maple
 * tree that holds the VMAs (slub-facts F.2; lib/maple_tree.c and mm/mmap.c, later mm/vma.c, of 6.1 to 6.18):
 *   to 6.0     VMAs hang in a red-black tree: a VMA each
 *   6.1 - 6.3  a store reserves 1 + 3h nodes in a tree of height h and gives back what it has not used
 *   6.4, 6.5   so do stores that map; those that unmap ask for what they need
 *   from 6.6   every store reserves by its kind
 * A reservation is one node and a bulk of the others; from 6.18 on, one node or a prefilled sheaf. A replaced node is
 * freed through RCU, from 6.18 on by kfree_rcu; from 6.4 to 6.14 a VMA with its lock too. Left out: VMAs that merge,
 * and page tables. Instead of the release's own way of getting nodes a series of 2023 had two others (MmNodes). */

enum {
    MM_HEIGHT_MAX = 6,
    MM_RESERVED_MAX = 1 + 3 * MM_HEIGHT_MAX,
    MM_NODES_MAX = 64,
    MM_CHAINS_MAX = 16,
};

/* How nodes come and go. The others are of RFC v2 "SLUB percpu array caches" (V. Babka, 2023-08-10, on 6.5-rc). */
typedef enum {
    MM_NODES_BULK,   /* as in the release */
    MM_NODES_SINGLE, /* patch 4: mt_alloc_bulk() and mt_free_bulk() are loops of single calls */
    MM_NODES_PREFILL /* patches 5 and 6 on top: mas_preallocate() only fills the CPU's array (slub-array.h) and the
                      * store asks for what it needs; mas_expected_entries() of fork reserves as before */
} MmNodes;

#define MM_NODES_KEY                                                                                                   \
    {                                                                                                                  \
        .group = "workload", .key = "tree_nodes", .type = SIM_KEY_CHOICE, .fallback = "bulk",                          \
        .choices = "bulk|single|prefill",                                                                              \
        .help =                                                                                                        \
            "how tree nodes come and go: bulk = as in the release, single = no bulk calls, prefill = no reservation "  \
            "either, but a filled array of the CPU (RFC of 2023; array_capacity of [cache maple_node])"                \
    }

/* The caches, NULL where the release or the workload has none, and the RCU callbacks. */
typedef struct {
    World *world;
    SlubCache *vma, *vma_lock, *maple_node, *anon_vma, *anon_vma_chain;
    MmNodes nodes;          /* may be changed before the run */
    gboolean has_kfree_rcu; /* for replaced nodes; by release, may be changed before the run */
    guint node_kind, vma_kind;
} MmCaches;

typedef enum {
    MM_STORE_BOUNDARY,  /* a range grows at the cost of the gap behind it: no new node */
    MM_STORE_NODE,      /* the leaf has room */
    MM_STORE_SPLIT,     /* the leaf overflows: two for one, and a new parent */
    MM_STORE_REBALANCE, /* the leaf falls below its minimum and is joined with a neighbour under a new parent */
} MmStoreKind;

/* Nodes that a store reserves, uses and replaces, and those it asks for when nothing was reserved. */
typedef struct {
    guint n_reserved, n_used, n_replaced, n_asked;
} MmStore;

/* The nodes of a tree, newest last; a store replaces the newest. Fields are private. */
typedef struct {
    SlabId node[MM_NODES_MAX];
    guint n_nodes;
} MmTree;

typedef struct {
    SlabId vma, lock;
} MmVma;

/* The names for Workload.cache_names, with anon_vma and anon_vma_chain or without. */
const char *const *mm_cache_names(guint kernel, gboolean with_anon);

/* Of a world that has the caches of mm_cache_names(). `mm` stays where it is until the world ends. */
void mm_caches_init(MmCaches *mm, World *world, gboolean with_anon);

/* What a store needs in a tree of `height`. `unmaps`: made by munmap, whose rules are others from 6.4 on. */
MmStore mm_store(guint kernel, MmStoreKind kind, guint height, gboolean unmaps);

/* The one of a leaf that is the whole tree and full, which mmap splits; the one that collapses it again. */
MmStore mm_store_split_root(guint kernel);
MmStore mm_store_collapse(guint kernel);

/* A tree begins with nodes for stores to replace; fork copies one and exit gives it up as a whole. */
void mm_tree_grow(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_nodes);
void mm_tree_copy(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_nodes);
/* The same to 6.7, of a tree of `n_vmas` ranges without gaps: mas_expected_entries() reserves for a gap between any two
 * and what is not used goes back. */
void mm_tree_copy_expected(const MmCaches *mm, MmTree *tree, MachCpu *cpu, guint n_vmas);
void mm_tree_destroy(const MmCaches *mm, MmTree *tree, MachCpu *cpu);

/* A store by itself. Does nothing without maple trees. */
void mm_tree_store(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store);

MmVma mm_vma_new(const MmCaches *mm, MachCpu *cpu);
void mm_vma_free(const MmCaches *mm, MachCpu *cpu, MmVma vma);

/* anon_vma_clone(), unlink_anon_vmas(): the chains alone. `n` up to MM_CHAINS_MAX. */
void mm_chains_new(const MmCaches *mm, MachCpu *cpu, guint n, SlabId *ret_chain);
void mm_chains_free(const MmCaches *mm, MachCpu *cpu, guint n, const SlabId *chain);

/* mmap(): the VMA and its store. munmap(): the store and, to 6.5, a node of the tree of what is unmapped. */
MmVma mm_map(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store);
void mm_unmap(const MmCaches *mm, MmTree *tree, MachCpu *cpu, MmStore store, MmVma vma);

#endif
