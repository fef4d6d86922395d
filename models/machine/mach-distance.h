/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_DISTANCE_H
#define MACH_DISTANCE_H

#include "mach-topology.h"

/* How far two CPUs are apart: the nearest thing they share. */
typedef enum {
    MACH_SAME_CORE,
    MACH_SAME_L3,
    MACH_SAME_NODE,
    MACH_SAME_SOCKET,
    MACH_OTHER_SOCKET,
    MACH_N_DISTANCES
} MachDistance;

/* Names in that order, as choices of a key. */
#define MACH_DISTANCE_CHOICES "same-core|same-l3|same-node|same-socket|other-socket"

static inline MachDistance
mach_distance(const MachTopology *topology, guint a, guint b)
{
    guint group_a = topology->cpu_group[a], group_b = topology->cpu_group[b];

    if (a == b || topology->cpu_sibling[a] == b)
        return MACH_SAME_CORE;
    if (group_a == group_b)
        return MACH_SAME_L3;
    if (topology->group_socket[group_a] != topology->group_socket[group_b])
        return MACH_OTHER_SOCKET;
    return topology->cpu_node[a] == topology->cpu_node[b] ? MACH_SAME_NODE : MACH_SAME_SOCKET;
}

#endif
