/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHED_SCRIPT_H
#define SCHED_SCRIPT_H

#include "sched-tasks.h"
#include "test-world.h"

/* Tasks that follow a script. */
typedef enum {
    COMPUTE, /* `value` picoseconds */
    SLEEP,
    WAKE, /* task number `value`, with the sync hint */
    WAKE_ASYNC,
    LOOP, /* computes in pieces of `value` picoseconds for ever */
    END,
} Action;

typedef struct {
    Action action;
    SimTime value;
} Step;

typedef struct {
    guint task, cpu;
    SimTime time;
} Start;

typedef struct {
    SchedTask task; /* first */
    const Step *step;
    SimTime computed;
} Scripted;

enum {
    N_TASKS = 8,
    N_STARTS = 4096,
};

typedef struct {
    TestWorld *world;
    Sched *sched;
    Scripted task[N_TASKS];
    Start start[N_STARTS];
    guint n_starts;
} Bench;

static const char one_cpu[] G_GNUC_UNUSED = "machine.sockets=1;machine.cores_per_l3=1";
static const char two_domains[] G_GNUC_UNUSED = "machine.sockets=2;machine.cores_per_l3=4";
extern const Step hog[]; /* computes in pieces of 10 us */

/* Costs that are easy to tell apart in a sum; a slice of 1 ms. */
SchedConfig default_config(void);

/* `settings` as of test_world_new(). */
Bench *bench_new(const char *settings, const SchedConfig *config);
void bench_free(Bench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bench, bench_free)

void add_task(Bench *bench, guint number, const Step *script, guint cpu);
void run_until(Bench *bench, SimTime until);

#endif
