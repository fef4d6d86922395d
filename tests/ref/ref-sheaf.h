/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REF_SHEAF_H
#define REF_SHEAF_H

#include "ref-slub.h"

/* A reference for the sheaves of 6.18 to 7.1, for tests: arrays of object pointers above a RefSlub, one operation at a
 * time, memory always to be had. Written from slub-facts A.11, B.3, B.4 and C; docs/allocator-semantics.md lists each
 * rule. With capacity 0 there are no sheaves and every call goes to the RefSlub. */

typedef enum {
    REF_BARN_REPLACE_EMPTY,
    REF_BARN_REPLACE_FULL,
    REF_BARN_GET_EMPTY,
    REF_BARN_GET_ANY,
    REF_BARN_PUT_EMPTY,
    REF_BARN_PUT_FULL,
    REF_BARN_SHRINK,
    REF_N_BARN_SITES
} RefBarnSite;

typedef struct {
    GPtrArray *objects; /* RefObject *, the next to be taken last */
    guint capacity;
    guint node; /* whose barn it goes to after its grace period */
} RefSheaf;

typedef struct {
    RefSheaf *main, *spare, *rcu_free;
    GQueue callbacks; /* RefCallback *, oldest first */
} RefSheafCpu;

typedef struct {
    GQueue full, empty; /* RefSheaf *, the next to be taken first */
    guint64 locks[REF_N_BARN_SITES];
} RefBarn;

/* Read-only for tests. */
typedef struct {
    RefSlub *slub;
    guint capacity;
    gboolean remote_to_sheaf; /* what if objects of other nodes went to sheaves too */
    RefSheafCpu *cpus;
    RefBarn *barns; /* one a node */
} RefSheaves;

/* Takes `slub` over, which must be fresh. */
RefSheaves *ref_sheaves_new(RefSlub *slub, guint capacity, gboolean remote_to_sheaf);
void ref_sheaves_free_all(RefSheaves *sheaves);

RefObject *ref_sheaves_alloc(RefSheaves *sheaves, guint cpu, gint node, gboolean may_block);
void ref_sheaves_free(RefSheaves *sheaves, guint cpu, RefObject *object);
gboolean ref_sheaves_alloc_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject **ret_objects);
void ref_sheaves_free_bulk(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects);

/* kmem_cache_prefill_sheaf() and its companions. */
RefSheaf *ref_sheaves_prefill(RefSheaves *sheaves, guint cpu, guint n);
RefObject *ref_sheaves_alloc_from(RefSheaf *sheaf);
void ref_sheaves_return(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf);

/* kfree_rcu(), and the end of the grace period of all that waits on the CPU. */
void ref_sheaves_free_rcu(RefSheaves *sheaves, guint cpu, RefObject *object);
void ref_sheaves_run_rcu(RefSheaves *sheaves, guint cpu);

void ref_sheaves_flush_cpu(RefSheaves *sheaves, guint cpu);
void ref_sheaves_set_cpu_partial(RefSheaves *sheaves, guint objects, guint slabs); /* flushes all CPUs */
void ref_sheaves_shrink(RefSheaves *sheaves, guint cpu); /* the CPU that does the work on the nodes */

#endif
