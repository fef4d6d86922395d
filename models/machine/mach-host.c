/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mach-host.h"

struct _MachHost {
    guint n_cores, n_idle; /* idle: with no CPU of this guest */
    SimTime turn, away;    /* means */
    GQueue waiting;        /* of MachCpu, the first to ask first */
    SimRng rng;
};

MachHost *
mach_host_new(const SimConfig *config, guint n_cpus, guint64 seed, guint64 replication)
{
    guint n_cores = MIN((guint) sim_config_int(config, "machine", "host_cores"), n_cpus);
    MachHost *host;

    if (n_cores == 0)
        return NULL;
    host = g_new0(MachHost, 1);
    host->n_cores = host->n_idle = n_cores;
    host->turn = sim_config_time(config, "machine", "host_turn");
    host->away = sim_config_time(config, "machine", "host_away");
    g_queue_init(&host->waiting);
    sim_rng_init(&host->rng, seed, replication, "host", "turns");
    return host;
}

void
mach_host_free(MachHost *host)
{
    if (!host)
        return;
    g_queue_clear(&host->waiting);
    g_free(host);
}

/* How long others keep a core before its next CPU's turn, when `n_waiting` of them wait: the fewer CPUs, the more of
 * the others come in between. */
static SimTime
pause_length(MachHost *host, guint n_waiting)
{
    double cpus_a_core = MAX((double) n_waiting / host->n_cores, 1);

    return (SimTime) sim_rng_exponential(&host->rng, (double) host->away / cpus_a_core);
}

static void
begin_turn(MachHost *host, MachCpu *cpu)
{
    cpu->has_core = TRUE;
    cpu->turn_end = mach_now(cpu) + (SimTime) sim_rng_exponential(&host->rng, (double) host->turn);
}

/* The CPU's turn is over; its core goes to the next one. `asks_again` says that it will be the last of those who wait.
 */
static void
end_turn(MachCpu *cpu, gboolean asks_again)
{
    MachHost *host = cpu->machine->host;
    SimTime pause = pause_length(host, g_queue_get_length(&host->waiting) + (asks_again != FALSE));
    MachCpu *next = g_queue_pop_head(&host->waiting);

    cpu->has_core = FALSE;
    cpu->turn_end = SIM_TIME_MAX;
    if (next)
        sim_wake(next->engine, next->agent, mach_now(cpu) + pause);
    else
        host->n_idle++;
}

void
mach__host_leave(MachCpu *cpu)
{
    end_turn(cpu, FALSE);
}

void
mach__host_wait(MachCpu *cpu)
{
    MachHost *host = cpu->machine->host;

    if (cpu->has_core)
        end_turn(cpu, TRUE);
    if (host->n_idle > 0) {
        host->n_idle--;
        sim_block_until(cpu->engine, cpu->agent, mach_now(cpu) + pause_length(host, 1));
    } else {
        g_queue_push_tail(&host->waiting, cpu);
        sim_block(cpu->engine, cpu->agent);
    }
    begin_turn(host, cpu);
}
