/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mach-machine.h"

#include "mach-host.h"
#include "mach-rcu.h"

static void
init_cpu(Machine *machine, guint id, guint64 seed, guint64 replication)
{
    static const gboolean never = FALSE;
    const MachTopology *topology = machine->topology;
    guint16 sibling = topology->cpu_sibling[id];
    MachCpu *cpu = &machine->cpu[id];
    g_autofree char *component = g_strdup_printf("cpu/%u", id);
    SimRng phase;

    cpu->engine = machine->engine;
    cpu->agent = &machine->engine->agents[id];
    cpu->machine = machine;
    cpu->id = (guint16) id;
    cpu->node = topology->cpu_node[id];
    cpu->mem_node = topology->knows_memoryless ? topology->node_mem[cpu->node] : cpu->node;
    cpu->group = topology->cpu_group[id];
    cpu->agent->group = cpu->group;
    cpu->sibling_is_busy = sibling == MACH_NO_CPU ? &never : &machine->cpu[sibling].is_busy;
    sim_rng_init(&cpu->rng, seed, replication, component, "allocator chances");
    sim_rng_init(&phase, seed, replication, component, "tick phase");
    /* Together still means that handling the tick begins within a microsecond. */
    cpu->next_tick = (SimTime) sim_rng_below(&phase, (guint64) (machine->ticks_spread ? machine->tick : SIM_US));
    cpu->checkpoint_at = machine->n_checkpoints ? machine->checkpoint[0] : SIM_TIME_MAX;
    cpu->turn_end = machine->host ? 0 : SIM_TIME_MAX;
    cpu->ksoftirqd_at = SIM_TIME_MAX;
    cpu->next_poll = MIN(MIN(cpu->next_tick, cpu->checkpoint_at), cpu->turn_end);
    mach_rcu_init(&cpu->rcu);
}

Machine *
mach_machine_new(const MachTopology *topology, const SimConfig *config, guint64 seed, guint64 replication,
                 const SimTime *checkpoint, guint n_checkpoints, guint n_observers)
{
    Machine *machine = g_new0(Machine, 1);
    SimRng key;

    machine->topology = topology;
    machine->n_cpus = topology->n_cpus;
    machine->n_active_cpus = topology->n_cpus;
    machine->engine = sim_engine_new(topology->n_cpus + n_observers);
    mach_costs_read(&machine->costs, config);
    machine->lock_kind = sim_lock_kind_find(sim_config_text(config, "machine", "lock"));
    machine->lock_costs = (SimLockCosts){
        .acquire_ps = machine->costs.lock_acquire,
        .release_ps = machine->costs.lock_release,
        .handoff_permille = (guint) (sim_config_real(config, "machine", "lock_handoff") * 1000 + 0.5),
        .spinner_ps = machine->costs.ticket_spinner,
        .near_ps = machine->costs.line_same_node,
        .near_handoffs_max = (guint) sim_config_int(config, "machine", "cna_near_handoffs"),
    };
    machine->smt_slowdown = sim_config_real(config, "machine", "smt_slowdown");
    machine->smt_hold_slowdown = sim_config_real(config, "machine", "smt_hold_slowdown");
    machine->ticks_spread = sim_config_choice(config, "machine", "ticks") == 0;
    machine->tick = sim_config_time(config, "machine", "tick");
    machine->grace_period = sim_config_time(config, "machine", "grace_period");
    machine->has_batches = sim_config_choice(config, "machine", "callbacks") == 1;
    machine->ksoftirqd_turn = sim_config_time(config, "machine", "ksoftirqd_turn");
    machine->host = mach_host_new(config, machine->n_cpus, seed, replication);
    machine->checkpoint = checkpoint;
    machine->n_checkpoints = n_checkpoints;
    sim_rng_init(&key, seed, replication, "machine", "grace periods");
    machine->grace_period_key = sim_rng_u64(&key);
    machine->cpu = g_aligned_alloc0(machine->n_cpus, sizeof *machine->cpu, 64);
    for (guint i = 0; i < machine->n_cpus; i++)
        init_cpu(machine, i, seed, replication);
    return machine;
}

void
mach_machine_free(Machine *machine)
{
    if (!machine)
        return;
    for (guint i = 0; i < machine->n_cpus; i++)
        mach_rcu_clear(&machine->cpu[i].rcu);
    g_aligned_free(machine->cpu);
    mach_host_free(machine->host);
    sim_engine_free(machine->engine);
    g_free(machine);
}

static void
update_next_poll(MachCpu *cpu)
{
    const Machine *machine = cpu->machine;
    cpu->checkpoint_at =
        cpu->next_checkpoint < machine->n_checkpoints ? machine->checkpoint[cpu->next_checkpoint] : SIM_TIME_MAX;
    cpu->next_poll = MIN(MIN(cpu->next_tick, cpu->checkpoint_at), MIN(cpu->turn_end, cpu->ksoftirqd_at));
}

void
mach__take_checkpoints(MachCpu *cpu)
{
    while (!mach_is_over(cpu) && cpu->machine->checkpoint[cpu->next_checkpoint] <= mach_now(cpu)) {
        /* The slabs a CPU holds are private, what others free into them is not. */
        sim_sync(cpu->engine, cpu->agent);
        cpu->machine->on_checkpoint(cpu, cpu->next_checkpoint, cpu->machine->on_checkpoint_data);
        cpu->next_checkpoint++;
    }
    update_next_poll(cpu);
}

void
mach__poll(MachCpu *cpu)
{
    const Machine *machine = cpu->machine;

    if (cpu->turn_end <= mach_now(cpu)) {
        sim_sync(cpu->engine, cpu->agent);
        mach__host_wait(cpu);
    }
    mach__take_checkpoints(cpu);
    if (mach_is_over(cpu))
        mach_host_leave(cpu);
    if (cpu->next_tick <= mach_now(cpu)) {
        SimTime late = mach_now(cpu) - cpu->next_tick;

        cpu->next_tick += (late / machine->tick + 1) * machine->tick;
        mach_rcu_tick(cpu);
    }
    if (cpu->ksoftirqd_at <= mach_now(cpu))
        mach_rcu_ksoftirqd(cpu);
    update_next_poll(cpu);
}

void
mach_finish_checkpoints(MachCpu *cpu)
{
    for (; !mach_is_over(cpu); cpu->next_checkpoint++)
        cpu->machine->on_checkpoint(cpu, cpu->next_checkpoint, cpu->machine->on_checkpoint_data);
}

void
mach_fail(MachCpu *cpu, const char *why)
{
    sim_sync(cpu->engine, cpu->agent);
    if (!cpu->machine->failure)
        cpu->machine->failure = why;
    for (;;)
        sim_block(cpu->engine, cpu->agent);
}
