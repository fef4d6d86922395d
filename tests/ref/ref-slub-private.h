/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REF_SLUB_PRIVATE_H
#define REF_SLUB_PRIVATE_H

#include "ref-slub.h"

/* Every way in which the releases differ; the code below asks these, never the release. */
typedef struct {
    gboolean delayed_freezing;        /* 6.8: cpu partial slabs are not frozen */
    gboolean limit_in_slabs;          /* 5.16: the cpu partial list is limited in slabs, not in guessed objects */
    gboolean zero_limit_drains;       /* to 5.14: cpu_partial = 0 empties the list after each insert */
    gboolean zero_limit_stops_refill; /* 6.10: cpu_partial_slabs = 0 takes one slab from the node list */
    gboolean counts_objects;          /* 6.8: FREE_FASTPATH per object, bulk pops count ALLOC_FASTPATH */
    gboolean counts_pop_before_test;  /* 6.8: CPU_PARTIAL_ALLOC before the node test */
    gboolean preferred_node_passes;   /* 6.10: this node only, then any node */
    gboolean bulk_swaps;              /* 6.0: free_bulk compacts by swapping instead of marking NULL */
    gboolean deactivate_splices;      /* 5.12: private list goes back in one piece instead of object by object */
} RefRules;

typedef struct {
    RefSlab *slab;
    RefObject *freelist;
    RefSlab *partial;
    GPtrArray *array; /* RefObject *, which their slabs see as allocated */
    guint64 stats[SLAB_N_STATS];
} RefCpu;

typedef struct {
    GQueue partial; /* RefSlab *, head is taken first */
    guint nr_slabs;
    guint64 locks[REF_N_LOCK_SITES];
} RefNode;

struct _RefSlub {
    RefParams params; /* array pointers point to our copies */
    RefRules rules;
    RefCpu *cpus;
    RefNode *nodes;
    GPtrArray *slabs; /* by serial, discarded ones kept */
};

/* ref-slub-array.c: TRUE when the CPU's array takes the object; what it has, NULL for nothing. */
gboolean ref__array_put(RefSlub *slub, guint cpu, RefObject *object);
RefObject *ref__array_take(RefSlub *slub, guint cpu);

void ref__stat(RefSlub *slub, guint cpu, SlabStat stat);
void ref__lock(RefSlub *slub, guint node, RefLockSite site);

/* Node lists; the caller has counted the lock. */
void ref__node_add(RefSlub *slub, RefSlab *slab, gboolean to_tail);
void ref__node_remove(RefSlub *slub, RefSlab *slab);

/* n->nr_partial >= s->min_partial of the slab's node: an empty slab is not wanted there. */
gboolean ref__node_has_enough(const RefSlub *slub, const RefSlab *slab);

/* allocate_slab(): all objects on the slab's own freelist in index order; NULL if the pages were refused.
 * THISNODE forbids another node than `node`. */
RefSlab *ref__slab_new(RefSlub *slub, guint cpu, gint node, gboolean thisnode);
void ref__slab_discard(RefSlub *slub, RefSlab *slab);

/* CAS {freelist -> NULL, inuse -> objects, frozen -> there was something}; returns what was there. */
RefObject *ref__slab_take_freelist(RefSlab *slab);

/* First node with memory in the zonelist of the CPU's node: numa_mem_id(). */
guint ref__cpu_mem_node(const RefSlub *slub, guint cpu);

RefSlab *ref__cpu_partial_pop(RefCpu *cpu);
void ref__cpu_partial_put(RefSlub *slub, guint cpu, RefSlab *slab, gboolean drain);

/* __unfreeze_partials() / __put_partials() of a chain linked by ->next. */
void ref__unfreeze_chain(RefSlub *slub, guint cpu, RefSlab *chain);

/* Takes cpu.slab and cpu.freelist away from the CPU and deactivates them. */
void ref__deactivate_cpu_slab(RefSlub *slub, guint cpu);

/* The same for a debug cache, and its __slab_free(). */
RefObject *ref__debug_alloc(RefSlub *slub, guint cpu, gint node);
void ref__debug_free(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n);

/* Parts of these that debug caches share with others. */
RefObject *ref__alloc_whole_slab(RefSlub *slub, guint cpu, gint node);
void ref__free_normal(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n);

/* ___slab_alloc(). */
RefObject *ref__alloc_slow(RefSlub *slub, guint cpu, gint node);

/* Without a cpu slab (ref-slub-direct.c): ___slab_alloc(), __kmem_cache_alloc_bulk(), __slab_free(); debug caches too. */
RefObject *ref__direct_alloc(RefSlub *slub, guint cpu, gint node);
gboolean ref__direct_alloc_bulk(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects);
void ref__direct_free(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n);

/* __kmem_cache_do_shrink() of one node's list; returns the slabs freed. */
guint ref__shrink_node(RefSlub *slub, guint node);

/* do_slab_free() of a list head..tail of n objects of one slab. */
void ref__free_list(RefSlub *slub, guint cpu, RefObject *head, RefObject *tail, guint n);

#endif
