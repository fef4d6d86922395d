/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_TOPOLOGY_H
#define MACH_TOPOLOGY_H

#include "sim-config.h"
#include "sim-lock.h"

/* Sockets, NUMA nodes, last-level-cache domains, cores and threads; and what it costs to move a cache line between
 * them. */

enum
{
    MACH_MAX_CPUS = 4096,
    MACH_MAX_NODES = 64,
    MACH_NO_CPU = 0xffff,
};

typedef struct
{
    guint n_sockets, n_nodes, n_groups, n_cpus; /* groups = last-level-cache domains */
    guint n_homes; /* sockets on which the memory of a line can lie; 1 when it is interleaved over them */
    guint threads_per_core;
    guint page_size_bytes;
    guint16 *cpu_node;    /* [n_cpus] */
    guint16 *cpu_group;   /* [n_cpus] */
    guint16 *cpu_sibling; /* [n_cpus] the other thread of a two-thread core, MACH_NO_CPU without one */
    guint16 *group_socket; /* [n_groups] */
    guint16 *node_socket; /* [n_nodes]; 0 for the one node of interleaved memory */
    guint64 *node_memory_bytes; /* [n_nodes]; 0 = a memoryless node */
    guint16 *node_mem;    /* [n_nodes] the nearest node with memory */
    gboolean knows_memoryless; /* CONFIG_HAVE_MEMORYLESS_NODES: numa_mem_id() is node_mem, else the node itself */
    guint16 *zonelist;    /* [n_nodes][n_nodes]: nodes with memory by distance, the rest MACH_NO_CPU */
    SimTime *transfer_ps; /* [n_homes][n_groups][n_groups] */
    SimDistance *distance; /* [n_nodes as home] of a line whose memory is on that node */
} MachTopology;

/* From [machine] and [costs]. nodes_per_socket = 0 is one node over all sockets, as NPS0 of an EPYC's firmware makes it:
 * a line's home is then any socket, and what it costs to move is the mean. SIM_ERROR_MODEL for machines that cannot be: more than MACH_MAX_CPUS CPUs, no node with
 * memory. CPUs are numbered as Linux does on x86: with cpu_order=cores-first the first threads of all cores, node by
 * node, then the second threads; with threads-adjacent the threads of a core follow each other. */
MachTopology *mach_topology_new(const SimConfig *config, GError **error);
void mach_topology_free(MachTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MachTopology, mach_topology_free)

#endif
