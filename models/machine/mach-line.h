/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_LINE_H
#define MACH_LINE_H

#include "mach-machine.h"

/* A cache line that many CPUs write with locked operations. It serves one CPU at a time, in the order in which they
 * come: the next operation begins when the line has been moved, which is what makes a shared counter saturate. */
typedef struct {
    SimTime free_at; /* end of the last operation */
    SimToucher owner;
    guint16 node; /* its memory's */
} MachLine;

static inline void
mach_line_init(MachLine *line, guint node)
{
    *line = (MachLine){.owner = {SIM_NOBODY, 0}, .node = (guint16) node};
}

static inline SimTime
mach_line_distance(const MachLine *line, const MachCpu *cpu)
{
    return sim_distance(&cpu->machine->topology->distance[line->node], line->owner, cpu->agent);
}

/* A locked read-modify-write that takes `operation` once the CPU has the line. The update takes effect at the CPU's
 * place in the global order. */
static inline void
mach_line_update(MachLine *line, MachCpu *cpu, SimTime operation)
{
    sim_sync(cpu->engine, cpu->agent);
    cpu->agent->now = MAX(cpu->agent->now, line->free_at) + mach_line_distance(line, cpu) + operation;
    line->free_at = cpu->agent->now;
    line->owner = (SimToucher){cpu->id, cpu->group};
}

/* A plain read: the line is fetched if another CPU wrote it last, and stays that CPU's. */
static inline void
mach_line_read(const MachLine *line, MachCpu *cpu)
{
    sim_sync(cpu->engine, cpu->agent);
    mach_spend(cpu, line->owner.agent == SIM_NOBODY ? 0 : mach_line_distance(line, cpu));
}

#endif
