/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One cache line that two CPUs write in turn, as core-to-core latency tests have it: what a machine profile says of the
 * way between CPU 0 and its partner at each distance, there and back halved. A read-out of the profile's costs, no
 * prediction: where these were taken from such a test, that test's figures are its inputs. The compare-exchange is part
 * of the measured transfer and costs nothing more. Left out: what other lines on the way cost. */
#include "mach-distance.h"
#include "mach-line.h"
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("pingpong_rounds", SIM_KEY_INT), .fallback = "50000", .min = 1, .max = 1e6,
     .help = "pingpong: round trips with each partner"},
    {NULL},
};

typedef struct {
    World *world;
    guint n_rounds;
    guint partner[MACH_N_DISTANCES]; /* MACH_NO_CPU: the machine has none at that distance */
    SimTime taken[MACH_N_DISTANCES];
    MachLine line; /* memory of node 0, that of CPU 0 */
    SimTime ended;
} Pingpong;

/* Answers until the end; CPU 0 wakes it. */
static void
run_partner(SimAgent *agent)
{
    MachCpu *cpu = agent->data;
    Pingpong *p = cpu->task;

    for (;;) {
        mach_line_update(&p->line, cpu, 0);
        sim_sync(cpu->engine, agent);
        sim_wake(cpu->engine, p->world->machine->cpu[0].agent, mach_now(cpu));
        sim_block(cpu->engine, agent);
    }
}

static void
play(Pingpong *p, MachCpu *cpu, guint distance)
{
    MachCpu *partner = &p->world->machine->cpu[p->partner[distance]];
    SimTime begin;

    mach_line_update(&p->line, cpu, 0); /* the first fetch is no hand-over */
    begin = mach_now(cpu);
    for (guint i = 0; i < p->n_rounds; i++) {
        sim_sync(cpu->engine, cpu->agent);
        sim_wake(cpu->engine, partner->agent, mach_now(cpu));
        sim_block(cpu->engine, cpu->agent);
        mach_line_update(&p->line, cpu, 0);
        p->world->cpu[0].n_operations++;
        mach_poll(cpu);
    }
    p->taken[distance] = mach_now(cpu) - begin;
}

static void
run_first(SimAgent *agent)
{
    MachCpu *cpu = agent->data;
    Pingpong *p = cpu->task;

    for (guint d = 0; d < MACH_N_DISTANCES; d++)
        if (p->partner[d] != MACH_NO_CPU)
            play(p, cpu, d);
    p->ended = mach_now(cpu);
    cpu->is_busy = FALSE;
}

static void *
setup(World *world, GError **error)
{
    const MachTopology *topology = world->topology;
    Machine *machine = world->machine;
    Pingpong *p = g_new0(Pingpong, 1);

    p->world = world;
    p->n_rounds = (guint) sim_config_int(world->config, "workload", "pingpong_rounds");
    p->ended = SIM_TIME_MAX;
    mach_line_init(&p->line, 0);
    for (guint d = 0; d < MACH_N_DISTANCES; d++)
        p->partner[d] = MACH_NO_CPU;
    for (guint cpu = topology->n_cpus - 1; cpu > 0; cpu--)
        if (cpu != topology->cpu_sibling[0]) /* no cost of its own */
            p->partner[mach_distance(topology, 0, cpu)] = cpu;
    machine->cpu[0].task = p;
    workload_start_cpu(world, &machine->cpu[0], NULL, 0, run_first, &machine->cpu[0]);
    for (guint d = 0; d < MACH_N_DISTANCES; d++)
        if (p->partner[d] != MACH_NO_CPU) {
            MachCpu *cpu = &machine->cpu[p->partner[d]];

            cpu->task = p;
            sim_engine_add_fiber(machine->engine, cpu->id, run_partner, cpu);
        }
    machine->n_active_cpus = world->n_tasks = 1;
    return p;
}

static SimTime
ended_at(const void *state)
{
    return ((const Pingpong *) state)->ended;
}

static void
report(World *world, void *state, SimRecord *record)
{
    static const char *const names[MACH_N_DISTANCES] = {NULL, "pingpong_same_l3_ns", "pingpong_same_node_ns",
                                                        "pingpong_same_socket_ns", "pingpong_other_socket_ns"};
    const Pingpong *p = state;

    for (guint d = 0; d < MACH_N_DISTANCES; d++)
        if (p->partner[d] != MACH_NO_CPU)
            sim_record_add_metric(record, names[d], sim_time_to_ns(p->taken[d]) / (2.0 * p->n_rounds));
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    if (topology->n_cpus < 2 * topology->threads_per_core)
        return sim_config_error(config, "machine", "cores_per_l3", error, "one core has no partner");
    return TRUE;
}

static const char *const no_caches[] = {NULL};

const Workload workload_pingpong = {
    .name = "pingpong",
    .summary = "two CPUs write one line in turn, at each distance of the machine",
    .operation = "round trips",
    .keys = keys,
    .caches = no_caches,
    .check = check,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = g_free,
};
