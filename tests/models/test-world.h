/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "sim-plan.h"
#include "workload.h"

/* A world in a test's hands: machine, allocator and, if wanted, a workload, without the observer, so that a test can
 * stop anywhere and look. */
typedef struct {
    SimPlan *plan;
    World world;
    const Workload *workload; /* NULL for none */
    void *state;
    SimTime checkpoint[2]; /* warm-up and end */
} TestWorld;

/* A plan of one point, not checked by the world; sim_plan_free(). `settings` as below. */
SimPlan *test_world_plan(const char *workload_name, const char *settings);

/* `settings` is "group.key=value" texts separated by semicolons; [run] defaults to no warm-up and 1 s. The workload's
 * caches exist; it is not set up yet. */
TestWorld *test_world_new(const char *workload_name, const char *settings, guint64 seed);
void test_world_free(TestWorld *test);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestWorld, test_world_free)

/* Sets the workload up; runs to the next event, FALSE after the last; runs all. */
void test_world_start(TestWorld *test);
gboolean test_world_step(TestWorld *test);
void test_world_run(TestWorld *test);

/* All of these, with every cache and every charged page found sound afterwards. */
TestWorld *test_world_finished(const char *workload_name, const char *settings);

/* A run as the program makes it, with observer and report. */
SimRecord *test_world_record(const char *workload_name, const char *settings);

/* A metric that the record has. */
double test_record_metric(const SimRecord *record, const char *name);

/* After the run: a metric of the workload's own; the operations of all CPUs. */
double test_world_metric(TestWorld *test, const char *name);
guint64 test_world_operations(const TestWorld *test);

/* Sum over CPUs of one SLUB_STATS counter, and of the objects handed out. */
guint64 test_world_stat(const SlubCache *cache, SlabStat stat);
gint64 test_world_objects(const SlubCache *cache);

#endif
