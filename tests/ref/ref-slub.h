/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REF_SLUB_H
#define REF_SLUB_H

/* A reference SLUB for tests: one cache, every object a struct with a next pointer, one operation at a time. It has
 * no notion of time, cost or concurrency, so a compare-and-exchange never fails and no race is ever taken. It exists
 * to be obviously right, not fast; the allocators of models/ are compared with it counter by counter.
 *
 * Model: mm/slub.c of Linux 5.10 .. 6.19 as described in slub-facts B.1, B.2 and C, the slabs below the sheaves of 7.0
 * and 7.1 (B.4), and debug caches (B.5). Left out: pfmemalloc, KASAN and KFENCE, memcg, CPU hot-plug; sheaves are
 * ref-sheaf.h. docs/allocator-semantics.md lists each rule and its source. */

#include "slab-types.h"

#define REF_NO_NODE (-1) /* NUMA_NO_NODE */

/* Where the list_lock of a node is taken. get_any_partial() takes it through get_partial_node(), but apart from the
 * local attempt, so it has its own row. __unfreeze_partials() and its successor __put_partials() share one. */
typedef enum {
    REF_LOCK_GET_PARTIAL_NODE,
    REF_LOCK_GET_ANY_PARTIAL,
    REF_LOCK_SLAB_FREE,
    REF_LOCK_UNFREEZE_PARTIALS,
    REF_LOCK_DEACTIVATE_SLAB,
    REF_LOCK_SHRINK,
    REF_LOCK_DEBUG_FREE,
    REF_LOCK_DEBUG_NEW,
    REF_LOCK_COUNT, /* of slabinfo readers, which the reference has none of */
    REF_LOCK_FROM_PARTIAL, /* from here to REFILL_RETURN: without a cpu slab only */
    REF_LOCK_FROM_ANY,
    REF_LOCK_NEW_SLAB,
    REF_LOCK_REFILL,
    REF_LOCK_REFILL_ANY,
    REF_LOCK_REFILL_RETURN,
    REF_LOCK_DESTROY,
    REF_N_LOCK_SITES
} RefLockSite;

typedef enum {
    REF_PLACE_CPU_SLAB,     /* owner is a CPU */
    REF_PLACE_CPU_PARTIAL,  /* owner is a CPU */
    REF_PLACE_NODE_PARTIAL, /* owner is a node */
    REF_PLACE_NO_LIST,      /* full and forgotten; owner is -1 */
    REF_PLACE_DISCARDED,    /* pages given back; owner is -1 */
} RefPlace;

typedef struct _RefSlub RefSlub;
typedef struct _RefSlab RefSlab;
typedef struct _RefObject RefObject;

struct _RefObject {
    RefObject *next; /* on whichever freelist holds it */
    RefSlab *slab;
    guint index;        /* place inside the slab, from 0 */
    gboolean allocated; /* in the hands of the caller */
};

/* Read-only for tests. `inuse` is what the kernel's counter holds: objects not on the slab's OWN freelist, so those on
 * a CPU's private freelist are in use. */
struct _RefSlab {
    guint serial; /* order of creation, from 0 */
    guint node;
    guint n_objects;
    guint inuse;
    gboolean frozen;
    gboolean node_partial_flag; /* 6.8+: the page flag "on the node partial list" */
    gboolean discarded;
    RefObject *freelist;
    RefObject *objects; /* n_objects entries; NULL once discarded */
    RefSlab *next;      /* on a cpu partial list */
    guint slabs;        /* slabs from here to the end of that list, stored at insertion */
    guint pobjects;     /* to 5.15: free objects guessed for the same stretch, stored at insertion */
};

typedef enum {
    REF_DEBUG_NONE,
    REF_DEBUG_ACTIVATE, /* to 6.0: whole slab taken for one object */
    REF_DEBUG_SINGLE,   /* from 6.1: one object off the node list's slab; the only one without a cpu slab */
} RefDebug;

typedef enum {
    REF_REFILL_TRYLOCK, /* the kernel's rule; with one operation at a time a trylock succeeds */
    REF_REFILL_LOCAL,   /* no other node's list */
} RefRefill;

typedef struct {
    guint kernel;         /* SLAB_KERNEL(5, 10) .. SLAB_KERNEL(7, 1) */
    gboolean no_cpu_slab; /* slabs as in 7.0; then FREE_SLOWPATH and, for bulk, ALLOC_SLOWPATH are left to ref-sheaf.h */
    RefRefill refill;     /* without a cpu slab */
    guint n_cpus;
    guint n_nodes;
    const guint *cpu_node;           /* n_cpus entries; NULL: all on node 0 */
    const gboolean *node_has_memory; /* n_nodes entries; NULL: all have */
    gboolean own_mem_id;             /* numa_mem_id() is the CPU's node even without memory, as on x86 */
    const guint *zonelist;           /* n_nodes x n_nodes, row i: nodes by distance from i, i first; NULL: i, then the
                                      * others by number */
    guint objects;                   /* per slab of the preferred order */
    guint fallback_objects;          /* per slab of the fallback order */
    guint min_partial;               /* slabs per node */
    guint cpu_partial;               /* objects; enforced up to 5.15 */
    guint cpu_partial_slabs;         /* slabs; enforced from 5.16 */
    gboolean has_cpu_partial;        /* kmem_cache_has_cpu_partial() */
    RefDebug debug;
    gboolean store_user;             /* debug cache with SLAB_STORE_USER */
    guint array_capacity;            /* per-CPU arrays of 2023's RFC above a cpu slab; 0 = none */
    guint defrag_ratio;              /* remote_node_defrag_ratio, 1000 by default; only 0 or not 0 matters here */

    /* All chance comes from the driver. NULL means never. */
    gboolean (*skip_any_partial)(gpointer user_data);           /* TRUE: this get_any_partial() gives up at once */
    gboolean (*order_fallback)(gpointer user_data);             /* TRUE: this new slab gets the fallback order */
    gboolean (*node_exhausted)(gpointer user_data, guint node); /* TRUE: no page of this node for this new slab */
    gpointer user_data;
} RefParams;

/* Copies the arrays of `params`; contradictory parameters are a programmer's fault and abort. */
RefSlub *ref_slub_new(const RefParams *params);

/* Frees everything, live objects included; accepts NULL. */
void ref_slub_free_all(RefSlub *slub);

/* kmem_cache_alloc_node() on `cpu`. A node >= 0 is a preference without __GFP_THISNODE. Returns NULL only when
 * node_exhausted() refused every node that may serve the request. The object belongs to the cache. */
RefObject *ref_slub_alloc(RefSlub *slub, guint cpu, gint node);

/* kmem_cache_free() on `cpu`. Freeing an object that is not allocated aborts. */
void ref_slub_free(RefSlub *slub, guint cpu, RefObject *object);

/* kmem_cache_alloc_bulk() without node. On failure the objects obtained are bulk-freed again, FALSE is returned and
 * ret_objects (n entries) is untouched. */
gboolean ref_slub_alloc_bulk(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects);

/* kmem_cache_prefill_percpu_array(), and what the CPU's array holds, the next to be taken last. */
void ref_slub_prefill_array(RefSlub *slub, guint cpu, guint n);
RefObject *const *ref_slub_array(const RefSlub *slub, guint cpu, guint *ret_n);
/* From now on nothing is put into arrays. */
void ref_slub_close_arrays(RefSlub *slub);

/* kmem_cache_free_bulk(). The array is not changed (the kernel's is). n = 0 does nothing. */
void ref_slub_free_bulk(RefSlub *slub, guint cpu, guint n, RefObject *const *objects);

/* flush_cpu_slab() as the work item on that CPU; ref_slub_flush_all() is flush_all(), CPUs in ascending order. */
void ref_slub_flush_cpu(RefSlub *slub, guint cpu);
void ref_slub_flush_all(RefSlub *slub);

/* __kmem_cache_shrink(): flush, then per node free the empty slabs and sort the rest. Returns the slabs freed. */
guint ref_slub_shrink(RefSlub *slub);

/* Writing sysfs cpu_partial: both limits are set (cpu_partial_slabs is for the caller to derive), then all CPUs are
 * flushed. Only a cache with cpu partial support accepts other than 0. */
void ref_slub_set_cpu_partial(RefSlub *slub, guint objects, guint slabs);

/* __kmem_cache_shutdown(): flush, discard every empty slab of the node lists. TRUE if no slab remains. */
gboolean ref_slub_destroy_check(RefSlub *slub);

/* Inspection. cpu = -1 or node = -1 sum over all. */
guint64 ref_slub_stat(const RefSlub *slub, gint cpu, SlabStat stat);
guint64 ref_slub_lock_count(const RefSlub *slub, RefLockSite site, gint node);
guint ref_slub_nr_slabs(const RefSlub *slub, gint node);
guint ref_slub_nr_partial(const RefSlub *slub, guint node);
const GList *ref_slub_node_partial(const RefSlub *slub, guint node); /* RefSlab *, head to tail; owned by the cache */
const RefSlab *ref_slub_cpu_slab(const RefSlub *slub, guint cpu);    /* NULL: none */
const RefSlab *ref_slub_cpu_partial(const RefSlub *slub, guint cpu); /* head; follow ->next */
guint ref_slub_cpu_freelist_length(const RefSlub *slub, guint cpu);
guint ref_slub_n_serials(const RefSlub *slub);                             /* slabs ever made, discarded included */
const RefSlab *ref_slub_slab_by_serial(const RefSlub *slub, guint serial); /* serial < n_serials */
guint ref_slab_free_objects(const RefSlab *slab);                          /* length of the slab's own freelist */

/* Found by looking for the slab on every list, not remembered. ret_owner may be NULL. */
RefPlace ref_slub_slab_place(const RefSlub *slub, const RefSlab *slab, gint *ret_owner);

/* The invariants of slub-facts B: each slab in one place, frozen only where allowed, each object in exactly one place,
 * inuse = objects not on the slab's own freelist, flags and stored counts right. NULL when all hold, otherwise a
 * sentence on the first that does not (free with g_free). */
char *ref_slub_check(const RefSlub *slub);

#endif
