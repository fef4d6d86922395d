/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_MACHINE_H
#define REPLAY_MACHINE_H

#include "mach-machine.h"

/* Which CPU is on which node. Nothing else of a machine matters to counts. */
typedef struct {
    guint n_cpus, n_nodes;
    guint16 *cpu_node; /* [n_cpus], NULL = equal blocks of CPUs, node by node */
} ReplayShape;

/* SIM_ERROR_RANGE for more CPUs or nodes than the models know, SIM_ERROR_MODEL for more nodes than CPUs. Freed with
 * mach_topology_free(). */
MachTopology *replay_topology_new(const ReplayShape *shape, GError **error);

/* A machine without time: every cost is 0, and operations of any CPU may be called one after the other from outside
 * the engine, without fibers. `topology` is borrowed; freed with mach_machine_free(). */
Machine *replay_machine_new(const MachTopology *topology, guint64 seed, guint replication);

/* Lines nodes_online= and nodeN_cpulist= of the text of an .env file; FALSE and untouched when they are not there.
 * Free cpu_node. */
gboolean replay_shape_from_env(const char *text, ReplayShape *ret_shape);

#endif
