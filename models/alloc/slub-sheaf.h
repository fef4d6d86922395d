/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_SHEAF_H
#define SLUB_SHEAF_H

#include "slub.h"

/* Sheaves: arrays of free objects, two a CPU and up to twenty a node, above whatever generation handles the slabs
 * (mm/slub.c 6.18, 6.19, 7.0, 7.1; slub-facts A.11, B.3, B.4). Left out: failing allocations, callers that may not
 * spin, and the kmalloc cache that a sheaf's own memory comes from: an empty sheaf costs a fixed time. Sheaves made
 * with the cache are not counted in SHEAF_ALLOC. An object counts as handed out (SlubCpu.n_objects) while it is in a
 * prefilled sheaf, and no longer once it is in an rcu_free one. */

enum {
    SLUB_BARN_FULL_MAX = 10,  /* MAX_FULL_SHEAVES */
    SLUB_BARN_EMPTY_MAX = 10, /* MAX_EMPTY_SHEAVES */
    SLUB_PCS_BATCH = 32,      /* PCS_BATCH_MAX */
    SLUB_FIRST_KERNEL_WITH_SHEAVES = SLAB_KERNEL(6, 18),
};

typedef struct _SlubSheaf SlubSheaf;
struct _SlubSheaf {
    SlubSheaf *next; /* below it in its barn */
    guint32 id;      /* by which RCU callbacks name it */
    guint32 size, capacity;
    guint16 barn_node;       /* whose barn a full rcu_free sheaf goes to */
    guint16 home;            /* node of its memory */
    guint16 toucher, filler; /* CPU that wrote its header, its array last */
    SlabId objects[];        /* [capacity], taken from the end */
};

/* Last in, first out. */
typedef struct {
    SlubSheaf *head;
    guint32 count;
} SlubSheafList;

/* Call sites of a barn's lock. */
#define SLUB_BARN_SITES(SITE)                                                                                          \
    SITE(REPLACE_EMPTY, "barn_replace_empty_sheaf")                                                                    \
    SITE(REPLACE_FULL, "barn_replace_full_sheaf")                                                                      \
    SITE(GET_EMPTY, "barn_get_empty_sheaf")                                                                            \
    SITE(GET_ANY, "barn_get_full_or_empty_sheaf")                                                                      \
    SITE(PUT_EMPTY, "barn_put_empty_sheaf")                                                                            \
    SITE(PUT_FULL, "barn_put_full_sheaf")                                                                              \
    SITE(SHRINK, "barn_shrink")

typedef enum {
#define SITE(name, text) SLUB_BARN_##name,
    SLUB_BARN_SITES(SITE)
#undef SITE
        SLUB_N_BARN_SITES
} SlubBarnSite;

const char *slub_barn_site_name(SlubBarnSite site);

/* node_barn. Under its lock, but for racy reads of the counts. */
typedef struct {
    SimLock lock;
    SlubSheafList full, empty;
} SlubBarn;

/* slub_percpu_sheaves. Private to the CPU. */
typedef struct {
    SlubSheaf *main, *spare, *rcu_free; /* the latter two may be NULL */
    gint64 n_waiting; /* objects of sheaves that wait here for a grace period */
} SlubSheafCpu;

struct _SlubSheaves {
    guint capacity;
    SlubSheafCpu *cpu;      /* [n_cpus] */
    SlubBarn *barn;         /* [n_nodes] */
    SlubGeneration entries; /* the generation below with the entry points of sheaves */
    GPtrArray *by_id;       /* SlubSheaf *: every one of `capacity`, those not in use too */
    SlubSheaf *unused;      /* linked by next */
    gint64 n_in_use;
};

/* kmem_cache_prefill_sheaf(): a sheaf with at least `n` objects, to be given back by slub_return_sheaf(). Works for
 * caches without sheaves too. */
SlubSheaf *slub_prefill_sheaf(SlubCache *cache, MachCpu *cpu, guint n);
SlabId slub_alloc_from_sheaf(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf); /* one that is not empty */
void slub_return_sheaf(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf);

/* Free objects that a CPU holds in its sheaves (rcu_free and those after it included), for readings. */
gint64 slub_sheaf_cpu_objects(const SlubCache *cache, guint cpu);
/* ... and that a node's barn holds. */
gint64 slub_sheaf_barn_objects(const SlubCache *cache, guint node);

/* For models/alloc only from here on. */

void slub_sheaves_new(SlubCache *cache);
void slub_sheaves_free(SlubCache *cache);

void slub_sheaf_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);
void slub_sheaf_free_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects);
void slub_sheaf_flush_cpu(SlubCache *cache, MachCpu *cpu);
void slub_sheaf_shrink_barn(SlubCache *cache, MachCpu *cpu, guint node);

#endif
