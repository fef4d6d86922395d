/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include "mach-machine.h"

/* A machine for a test, from the text of its [machine] and [costs] groups; everything else has its default. */
typedef struct {
    SimConfig *config;
    MachTopology *topology;
} TestMachine;

/* `text` is the inside of a scenario file without [run]; a text that does not load aborts. */
void test_machine_init(TestMachine *test, const char *text);
void test_machine_clear(TestMachine *test);

/* A fresh machine with `n_checkpoints` checkpoints (borrowed); to be stopped before the TestMachine is cleared. */
Machine *test_machine_start(const TestMachine *test, guint64 seed, const SimTime *checkpoint, guint n_checkpoints);
void test_machine_stop(Machine *machine);

/* Runs body(cpu, data) on the fiber of each CPU in turn, later CPUs when the earlier ones are done. One use a
 * machine, instead of fibers of one's own. */
void test_machine_run_each(Machine *machine, void (*body)(MachCpu *cpu, void *data), void *data);

#endif
