/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-machine.h"

#include <string.h>

#include "kmem-event.h"
#include "sim-config-build.h"
#include "sim-schema.h"

static const SimKeySpec *const tables[] = {mach_machine_keys, mach_cost_keys, NULL};
static const SimSchema schema = {.tables = tables};

static void
put(SimConfig *config, const GPtrArray *rows, const char *key, const char *text)
{
    const SimKeySpec *spec = sim_schema_find(rows, "machine", key, NULL);
    g_autoptr(SimSetting) setting = sim_setting_new(spec, "machine", text, "replay", key, "replay", NULL);

    g_assert(setting && sim_config_put(config, setting, NULL));
}

/* Defaults, but for the CPUs, and with memory that no trace can use up. */
static SimConfig *
config_new(guint n_nodes, guint n_cpus_per_node)
{
    g_autoptr(GPtrArray) rows = sim_schema_rows(&schema);
    SimConfig *config = sim_config_new(rows);
    g_autofree char *nodes = g_strdup_printf("%u", n_nodes), *cores = g_strdup_printf("%u", n_cpus_per_node);

    put(config, rows, "sockets", "1");
    put(config, rows, "nodes_per_socket", nodes);
    put(config, rows, "cores_per_l3", cores);
    put(config, rows, "memory_per_node", "1048576G");
    return config;
}

MachTopology *
replay_topology_new(const ReplayShape *shape, GError **error)
{
    g_autoptr(SimConfig) config = NULL;
    MachTopology *topology;

    if (shape->n_cpus == 0 || shape->n_cpus > MACH_MAX_CPUS || shape->n_nodes == 0 || shape->n_nodes > MACH_MAX_NODES) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "%u CPUs on %u nodes (allowed: 1 to %d CPUs, 1 to %d nodes)",
                    shape->n_cpus, shape->n_nodes, MACH_MAX_CPUS, MACH_MAX_NODES);
        return NULL;
    }
    if (shape->n_nodes > shape->n_cpus) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%u nodes with only %u CPUs", shape->n_nodes, shape->n_cpus);
        return NULL;
    }
    config = config_new(shape->n_nodes, (shape->n_cpus + shape->n_nodes - 1) / shape->n_nodes);
    topology = mach_topology_new(config, error);
    if (!topology)
        return NULL;
    for (guint cpu = 0; shape->cpu_node && cpu < shape->n_cpus; cpu++)
        topology->cpu_node[cpu] = shape->cpu_node[cpu];
    for (guint i = 0; i < topology->n_nodes; i++)
        topology->distance[i].same_agent_ps = topology->distance[i].unknown_ps = 0;
    memset(topology->transfer_ps, 0,
           (gsize) topology->n_homes * topology->n_groups * topology->n_groups * sizeof *topology->transfer_ps);
    return topology;
}

Machine *
replay_machine_new(const MachTopology *topology, guint64 seed, guint replication)
{
    g_autoptr(SimConfig) config = config_new(topology->n_nodes, topology->n_cpus / topology->n_nodes);
    Machine *machine = mach_machine_new(topology, config, seed, replication, NULL, 0, 0);

    machine->costs = (MachCosts){0};
    machine->lock_costs = (SimLockCosts){0};
    /* No agent has a wake-up and all clocks stand still: nobody ever has to go first. */
    machine->engine->horizon = SIM_TIME_MAX;
    return machine;
}

/* "0-7,16-23 Node 0 ..." */
static gboolean
mark_cpus(const char *list, guint node, GArray *cpu_node)
{
    for (;;) {
        char *end;
        guint64 first = g_ascii_strtoull(list, &end, 10), last = first;

        if (end == list)
            return FALSE;
        if (*end == '-')
            last = g_ascii_strtoull(end + 1, &end, 10);
        if (last < first || last >= MACH_MAX_CPUS)
            return FALSE;
        if (last >= cpu_node->len)
            g_array_set_size(cpu_node, (guint) last + 1);
        for (guint64 cpu = first; cpu <= last; cpu++)
            g_array_index(cpu_node, guint16, cpu) = (guint16) node;
        if (*end != ',')
            return TRUE;
        list = end + 1;
    }
}

gboolean
replay_shape_from_env(const char *text, ReplayShape *ret_shape)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GArray) cpu_node = g_array_new(FALSE, TRUE, sizeof(guint16));
    guint n_nodes = 0;

    for (char **line = lines; *line; line++) {
        guint node;
        int n = 0;

        if (sscanf(*line, "node%u_cpulist=%n", &node, &n) != 1 || n == 0 || node >= MACH_MAX_NODES)
            continue;
        if (!mark_cpus(*line + n, node, cpu_node))
            return FALSE;
        n_nodes = MAX(n_nodes, node + 1);
    }
    if (n_nodes == 0)
        return FALSE;
    *ret_shape = (ReplayShape){.n_cpus = cpu_node->len, .n_nodes = n_nodes};
    ret_shape->cpu_node = g_memdup2(cpu_node->data, cpu_node->len * sizeof(guint16));
    return TRUE;
}
