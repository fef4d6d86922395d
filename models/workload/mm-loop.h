/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MM_LOOP_H
#define MM_LOOP_H

#include "mm-space.h"
#include "workload.h"

/* Closed loops of calls that change address spaces: one pinned task a CPU in the order of the CPU numbers, each a
 * process with a tree of its own, or all threads of one process under one mmap_lock. The tests of will-it-scale are
 * loops of that kind. */

typedef struct _MmLoop MmLoop;

typedef struct {
    MmLoop *loop;
    MachCpu *cpu;
    MmTree *tree; /* its own, or that of all threads */
    SimRng rng;
    void *state; /* the test's to keep; freed by g_free() */
} MmTask;

/* The order of the choices of workload.tasks_are. */
enum {
    MM_TASKS_PROCESSES,
    MM_TASKS_THREADS,
};

typedef struct {
    guint n_counted;             /* operations that an iteration counts as */
    gboolean with_anon;          /* uses anon_vma and anon_vma_chain */
    void (*begin)(MmTask *task); /* before the first iteration, without time; may be NULL */
    void (*iterate)(MmTask *task);
} MmTest;

struct _MmLoop {
    World *world;
    const MmTest *test;
    MmCaches mm;
    SimTime call_compute; /* of one of the two calls of an iteration, alone on a core */
    double spread;
    guint height;       /* of the trees */
    MmStore map, unmap; /* of a mapping for which the leaf has room; or of mmap1's full leaf */
    gboolean is_threads;
    double locked_frac; /* threads: part of a call's computing under mmap_lock */
    SimLock mmap_lock;
    SimLockCosts mmap_lock_costs;
    MmTask *task; /* [world->n_tasks] */
    MmTree *tree; /* [n_tasks], one with threads */
};

/* The keys of all tests of the family, and their checks. */
extern const SimKeySpec mm_loop_keys[];
gboolean mm_loop_check(const SimConfig *config, const MachTopology *topology, GError **error);

/* For Workload.cache_names: of tests without and with_anon. */
const char *const *mm_loop_cache_names(const SimConfig *config, guint kernel);
const char *const *mm_loop_anon_cache_names(const SimConfig *config, guint kernel);

/* For Workload.setup and Workload.free. `test` is borrowed. */
MmLoop *mm_loop_new(World *world, const MmTest *test);
void mm_loop_free(void *loop);

/* Workload.setup of mmap1 and mmap2: each maps a region and unmaps it, for ever. */
void *mm_loop_setup_mmap(World *world, GError **error);

/* A system call: its computing and, with threads, mmap_lock. What happens in between works on the tree;
 * mach_poll() between calls is the test's. */
void mm_call_begin(MmTask *task);
void mm_call_end(MmTask *task);

/* Computing of `duration` on average, spread as the calls are. */
void mm_compute(MmTask *task, SimTime duration);

guint mm_loop_int(const MmLoop *loop, const char *key);

#endif
