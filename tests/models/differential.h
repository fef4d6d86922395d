/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H

#include "slub-sheaf.h"
#include "test-machine.h"

/* The allocator of models/alloc and the reference of tests/ref side by side: each operation is done on both, one at a
 * time, and then both are compared. The first difference aborts with the case, the operation's number and what
 * differs.
 *
 * Compared after each operation: the acting CPU's counters, cpu slab, freelist length and cpu partial list; per node
 * nr_partial, nr_slabs, list head and list_lock acquisitions by call site; slabs of new objects one to one. By
 * differential_compare_all(): the same of all CPUs, whole node lists both ways, the state of each slab, and pages. With
 * arrays also: the acting CPU's, object by object. With
 * sheaves also: the acting CPU's sheaves object by object, barn lock acquisitions by call site, the barns' counts and
 * heads, or all of their sheaves. */

typedef struct _Differential Differential;

enum {
    DIFFERENTIAL_BULK_MAX = 64,
    DIFFERENTIAL_COMPARE_EVERY = 193, /* operations between two whole comparisons */
};

typedef enum { DIFFERENTIAL_PLAIN, DIFFERENTIAL_ACTIVATE, DIFFERENTIAL_SINGLE } DifferentialDebug;

typedef struct {
    guint kernel; /* SLAB_KERNEL */
    guint objects, fallback_objects;
    guint min_partial, cpu_partial, cpu_partial_slabs;
    gboolean has_cpu_partial;
    DifferentialDebug debug;
    gboolean store_user;    /* of a debug cache */
    double fallback_chance; /* 0 when nodes are starved: blocks of one order only can be counted */
    guint defrag_percent;
    guint sheaf_capacity;
    guint array_capacity; /* 0 = no arrays; of a release and cache without sheaves */
    SlubLayers layers; /* a cpu slab only in a release that has one */
} DifferentialSettings;

/* `test` and `name` are borrowed. */
Differential *differential_new(const TestMachine *test, const DifferentialSettings *settings, const char *name,
                               guint64 seed);

/* Frees all live objects on both sides, flushes, shrinks, and sees that no slab and no page is lost. */
void differential_free(Differential *d);

/* Live objects are numbered 0 .. n - 1, oldest first until one is freed, whose number the last one takes. */
guint differential_n_live(const Differential *d);

void differential_alloc(Differential *d, guint cpu, gint node);
void differential_alloc_atomic(Differential *d, guint cpu, gint node);
void differential_free_rcu(Differential *d, guint cpu, guint number);
void differential_run_rcu(Differential *d, guint cpu); /* the CPU's grace periods end */

/* Prefilled sheaves in hand are numbered in the same way. Taking from an empty one does nothing. */
guint differential_n_held(const Differential *d);
void differential_prefill(Differential *d, guint cpu, guint n);
void differential_alloc_held(Differential *d, guint cpu, guint number);
void differential_return(Differential *d, guint cpu, guint number);

/* Per-CPU arrays: fills the CPU's up to n objects. */
void differential_prefill_array(Differential *d, guint cpu, guint n);

void differential_free_object(Differential *d, guint cpu, guint number);
void differential_alloc_bulk(Differential *d, guint cpu, guint n);
void differential_free_bulk(Differential *d, guint cpu, guint n, const guint *numbers); /* distinct, any order */
void differential_flush_cpu(Differential *d, guint cpu);
void differential_shrink(Differential *d, guint cpu);
void differential_set_cpu_partial(Differential *d, guint cpu, guint objects, guint slabs);

/* Takes the node's free pages away until called with FALSE. At least one node with memory must keep its own. */
void differential_starve(Differential *d, guint node, gboolean starve);

void differential_compare_all(Differential *d);

/* What has been gone through: the fast side's counters and lock acquisitions by call site are added up. */
typedef struct {
    guint64 stat[SLAB_N_STATS], list_site[SLUB_N_LOCK_SITES], barn_site[SLUB_N_BARN_SITES];
} DifferentialTotals;

void differential_add_totals(const Differential *d, DifferentialTotals *totals);

#endif
