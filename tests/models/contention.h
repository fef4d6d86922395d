/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CONTENTION_H
#define CONTENTION_H

#include "slub.h"
#include "test-machine.h"

/* All CPUs of a machine at once on one cache: random allocations and frees, objects handed to other CPUs and freed
 * there, frees after a grace period; with bulk calls and wishes for nodes when asked for. */

enum {
    CONTENTION_CHECKPOINTS = 3,
};

typedef struct {
    guint kernel; /* SLAB_KERNEL */
    guint objects, min_partial, cpu_partial, cpu_partial_slabs;
    guint sheaf_capacity;
    guint debug_flags; /* of SLAB_DEBUG_FLAGS */
    gboolean has_cpu_partial;
    gboolean with_bulk, with_nodes, with_flush;
    guint n_operations; /* of each CPU */
    guint n_own_max;    /* objects a CPU keeps */
} ContentionLoad;

/* What a CPU has in hand. `inbox` is written by others. */
typedef struct {
    GArray *own, *inbox;       /* SlabId */
    guint64 n_allocs, n_frees; /* calls or, in bulk calls, objects */
    SimRng rng;
} ContentionCpu;

typedef struct {
    ContentionLoad load;
    Machine *machine;
    SlubSystem *system;
    SlubCache *cache;
    ContentionCpu *cpu; /* [n_cpus] */
    GArray *rcu;        /* SlabId: objects whose free waits for a grace period */
    guint rcu_kind;
    SimTime checkpoint[CONTENTION_CHECKPOINTS];
    guint64 checkpoint_hash; /* of what each CPU saw of itself at its checkpoints */
    void (*phase)(MachCpu *cpu, void *contention);
} Contention;

/* Runs the load to its end. `test` is borrowed. */
Contention *contention_run(const TestMachine *test, const ContentionLoad *load, guint64 seed);

/* All CPUs at once free everything they have. */
void contention_free_all(Contention *c);

/* One CPU after the other flushes, then CPU 0 shrinks. */
void contention_flush(Contention *c);
void contention_shrink(Contention *c);

void contention_end(Contention *c);

guint64 contention_stat(const Contention *c, SlabStat stat);             /* sum over CPUs */
guint64 contention_acquisitions(const Contention *c, SlubLockSite site); /* sum over nodes */

/* Counters, clocks, locks and the engine's fingerprint as text: equal for equal runs. Caller frees. */
char *contention_digest(const Contention *c);

#endif
