/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload.h"

void
workload_start_cpu(World *world, MachCpu *cpu, const char *component, SimTime spread, void (*body)(SimAgent *agent),
                   void *data)
{
    SimTime start = 0;

    if (component) {
        SimRng phase;

        sim_rng_init(&phase, world->seed, world->replication, component, "start");
        start = (SimTime) sim_rng_below(&phase, (guint64) spread);
    }
    cpu->is_busy = TRUE;
    sim_engine_add_fiber(cpu->engine, cpu->id, body, data);
    sim_wake(cpu->engine, cpu->agent, start);
}

gboolean
workload_check_cpus(const SimConfig *config, const MachTopology *topology, const char *key, const char *what,
                    GError **error)
{
    if (sim_config_int(config, "workload", key) <= topology->n_cpus)
        return TRUE;
    return sim_config_error(config, "workload", key, error, "more %s than CPUs are not modelled (allowed: 1 to %u)",
                            what, topology->n_cpus);
}
