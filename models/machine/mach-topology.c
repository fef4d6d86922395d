/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mach-topology.h"

typedef struct {
    guint sockets, nodes_per_socket, groups_per_node, cores_per_group, threads;
    gboolean threads_adjacent;
    gboolean is_interleaved; /* one node over all sockets */
} Shape;

static void
place_cpus(MachTopology *t, const Shape *shape)
{
    guint cores = t->n_cpus / shape->threads;

    for (guint cpu = 0; cpu < t->n_cpus; cpu++) {
        guint core = shape->threads_adjacent ? cpu / shape->threads : cpu % cores;

        t->cpu_group[cpu] = (guint16) (core / shape->cores_per_group);
        t->cpu_node[cpu] = (guint16) (core / (shape->cores_per_group * shape->groups_per_node));
        if (shape->threads == 2)
            t->cpu_sibling[cpu] = (guint16) (shape->threads_adjacent ? cpu ^ 1 : (cpu + cores) % t->n_cpus);
        else
            t->cpu_sibling[cpu] = MACH_NO_CPU;
    }
}

/* 0 the node itself, 1 same socket, 2 other socket. */
static guint
node_distance(const MachTopology *t, guint a, guint b)
{
    return a == b ? 0 : t->node_socket[a] == t->node_socket[b] ? 1 : 2;
}

/* Equal distances in node order, beginning after the node itself, as the kernel's round robin of fallback lists does
 * (mm/page_alloc.c find_next_best_node). */
static void
order_zonelists(MachTopology *t)
{
    for (guint node = 0; node < t->n_nodes; node++) {
        guint16 *list = &t->zonelist[node * t->n_nodes];
        guint n = 0;

        for (guint distance = 0; distance <= 2; distance++)
            for (guint step = 0; step < t->n_nodes; step++) {
                guint other = (node + step) % t->n_nodes;
                if (node_distance(t, node, other) == distance && t->node_memory_bytes[other])
                    list[n++] = (guint16) other;
            }
        t->node_mem[node] = list[0];
        while (n < t->n_nodes)
            list[n++] = MACH_NO_CPU;
    }
}

/* A dirty line of the other socket comes by way of its home: a detour when that is the requester's own. */
static SimTime
other_socket_cost(const MachTopology *t, const SimConfig *config, guint home, guint to_socket)
{
    SimTime here = sim_config_time(config, "costs", "line_other_socket_homed_here");
    SimTime there = sim_config_time(config, "costs", "line_other_socket");

    if (t->n_homes == t->n_sockets)
        return home == to_socket ? here : there;
    /* Memory interleaved over the sockets: the mean of all homes. */
    return (here + (t->n_sockets - 1) * there) / t->n_sockets;
}

static SimTime
transfer_cost(const MachTopology *t, const SimConfig *config, guint home, guint from, guint to)
{
    guint groups_per_node = t->n_groups / t->n_nodes;

    if (from == to)
        return sim_config_time(config, "costs", "line_same_l3");
    if (t->group_socket[from] != t->group_socket[to])
        return other_socket_cost(t, config, home, t->group_socket[to]);
    return sim_config_time(config, "costs",
                           from / groups_per_node == to / groups_per_node ? "line_same_node" : "line_same_socket");
}

static void
fill_transfers(MachTopology *t, const SimConfig *config)
{
    gsize n = t->n_groups;

    t->transfer_ps = g_new(SimTime, t->n_homes * n * n);
    for (guint home = 0; home < t->n_homes; home++)
        for (guint from = 0; from < n; from++)
            for (guint to = 0; to < n; to++)
                t->transfer_ps[(home * n + from) * n + to] = transfer_cost(t, config, home, from, to);
    t->distance = g_new(SimDistance, t->n_nodes);
    for (guint node = 0; node < t->n_nodes; node++)
        t->distance[node] = (SimDistance){
            .transfer_ps = t->transfer_ps + t->node_socket[node] * n * n,
            .n_groups = t->n_groups,
            .same_agent_ps = sim_config_time(config, "costs", "line_own"),
            .unknown_ps = sim_config_time(config, "costs", "line_memory"),
        };
}

static gboolean
read_memoryless(MachTopology *t, const SimConfig *config, GError **error)
{
    const char *const *names = sim_config_list(config, "machine", "memoryless_nodes");
    guint n_left = t->n_nodes;

    for (guint i = 0; names && names[i]; i++) {
        guint64 node;
        if (!g_ascii_string_to_unsigned(names[i], 10, 0, t->n_nodes - 1, &node, NULL))
            return sim_config_error(config, "machine", "memoryless_nodes", error,
                                    "'%s' is not a node (allowed: 0 to %u)", names[i], t->n_nodes - 1);
        n_left -= t->node_memory_bytes[node] != 0;
        t->node_memory_bytes[node] = 0;
    }
    if (n_left == 0)
        return sim_config_error(config, "machine", "memoryless_nodes", error, "no node with memory is left");
    return TRUE;
}

/* FALSE with an error for machines that cannot be. */
static gboolean
read_shape(Shape *shape, const SimConfig *config, GError **error)
{
    guint64 n_nodes, n_cpus;

    *shape = (Shape){
        .sockets = (guint) sim_config_int(config, "machine", "sockets"),
        .nodes_per_socket = (guint) sim_config_int(config, "machine", "nodes_per_socket"),
        .groups_per_node = (guint) sim_config_int(config, "machine", "l3_per_node"),
        .cores_per_group = (guint) sim_config_int(config, "machine", "cores_per_l3"),
        .threads = (guint) sim_config_int(config, "machine", "threads_per_core"),
        .threads_adjacent = sim_config_choice(config, "machine", "cpu_order") == 1,
    };
    shape->is_interleaved = shape->nodes_per_socket == 0;
    n_nodes = shape->is_interleaved ? 1 : (guint64) shape->sockets * shape->nodes_per_socket;
    n_cpus = n_nodes * shape->groups_per_node * shape->cores_per_group * shape->threads;
    if (n_nodes > MACH_MAX_NODES)
        return sim_config_error(config, "machine", "nodes_per_socket", error,
                                "%" G_GUINT64_FORMAT " nodes (allowed: up to %d)", n_nodes, MACH_MAX_NODES);
    if (n_cpus > MACH_MAX_CPUS)
        return sim_config_error(config, "machine", "cores_per_l3", error,
                                "%" G_GUINT64_FORMAT " CPUs (allowed: up to %d)", n_cpus, MACH_MAX_CPUS);
    if (shape->is_interleaved && shape->groups_per_node % shape->sockets != 0)
        return sim_config_error(config, "machine", "l3_per_node", error,
                                "%u domains of the one node cannot be shared out among %u sockets",
                                shape->groups_per_node, shape->sockets);
    return TRUE;
}

MachTopology *
mach_topology_new(const SimConfig *config, GError **error)
{
    g_autoptr(MachTopology) t = g_new0(MachTopology, 1);
    Shape shape;

    if (!read_shape(&shape, config, error))
        return NULL;
    t->n_sockets = shape.sockets;
    t->n_nodes = shape.is_interleaved ? 1 : shape.sockets * shape.nodes_per_socket;
    t->n_homes = shape.is_interleaved ? 1 : shape.sockets;
    t->n_groups = t->n_nodes * shape.groups_per_node;
    t->n_cpus = t->n_groups * shape.cores_per_group * shape.threads;
    t->threads_per_core = shape.threads;
    t->knows_memoryless = sim_config_choice(config, "machine", "memory_ids") == 1;
    t->page_size_bytes = (guint) sim_config_size(config, "machine", "page_size");
    t->cpu_node = g_new(guint16, t->n_cpus);
    t->cpu_group = g_new(guint16, t->n_cpus);
    t->cpu_sibling = g_new(guint16, t->n_cpus);
    t->group_socket = g_new(guint16, t->n_groups);
    t->node_socket = g_new(guint16, t->n_nodes);
    t->node_memory_bytes = g_new(guint64, t->n_nodes);
    t->node_mem = g_new(guint16, t->n_nodes);
    t->zonelist = g_new(guint16, (gsize) t->n_nodes * t->n_nodes);
    for (guint node = 0; node < t->n_nodes; node++) {
        t->node_socket[node] = shape.is_interleaved ? 0 : (guint16) (node / shape.nodes_per_socket);
        t->node_memory_bytes[node] = (guint64) sim_config_size(config, "machine", "memory_per_node");
    }
    for (guint group = 0; group < t->n_groups; group++)
        t->group_socket[group] = (guint16) (group / (t->n_groups / t->n_sockets));
    if (!read_memoryless(t, config, error))
        return NULL;
    place_cpus(t, &shape);
    order_zonelists(t);
    fill_transfers(t, config);
    return g_steal_pointer(&t);
}

void
mach_topology_free(MachTopology *t)
{
    if (!t)
        return;
    g_free(t->cpu_node);
    g_free(t->cpu_group);
    g_free(t->cpu_sibling);
    g_free(t->group_socket);
    g_free(t->node_socket);
    g_free(t->node_memory_bytes);
    g_free(t->node_mem);
    g_free(t->zonelist);
    g_free(t->transfer_ps);
    g_free(t->distance);
    g_free(t);
}
