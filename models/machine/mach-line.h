/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_LINE_H
#define MACH_LINE_H

#include "mach-machine.h"

/* A cache line that many CPUs write with locked operations. It serves one CPU at a time, in the order in which they
 * come: the next operation begins when the line has been moved, which is what makes a shared counter saturate. */
typedef struct {
    SimTime free_at; /* end of the last operation */
    SimToucher owner;
    guint16 node;      /* its memory's */
    guint16 is_shared; /* read since the last operation */
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

/* What a CPU has of a line after an operation of its own: the line itself, until the next CPU has fetched it. */
typedef struct {
    const MachLine *line;
    SimTime until;
} MachLineCopy;

/* A locked read-modify-write that takes `operation` once the CPU has the line. The update takes effect at the CPU's
 * place in the global order. Returns the time it took to fetch the line, waiting apart. */
static inline SimTime
mach_line_update(MachLine *line, MachCpu *cpu, SimTime operation)
{
    SimTime fetch;

    sim_sync(cpu->engine, cpu->agent);
    fetch = mach_line_distance(line, cpu);
    cpu->agent->now = MAX(cpu->agent->now, line->free_at) + fetch + operation;
    line->free_at = cpu->agent->now;
    line->owner = (SimToucher){cpu->id, cpu->group};
    line->is_shared = FALSE;
    return fetch;
}

static inline gboolean
mach_line_is_held(const MachLine *line, const MachCpu *cpu, const MachLineCopy *copy)
{
    return copy->line == line && cpu->agent->now < copy->until;
}

/* The same by a CPU whose copy may still be good: then it has nothing to fetch, and those who wait for the line do so
 * for the operation longer. Else it has a new copy, for as long as the next CPU takes to fetch the line, which is as
 * long as this one took. */
static inline void
mach_line_update_held(MachLine *line, MachCpu *cpu, SimTime operation, MachLineCopy *copy)
{
    SimTime fetch;

    sim_sync(cpu->engine, cpu->agent);
    if (mach_line_is_held(line, cpu, copy)) {
        cpu->agent->now += operation;
        line->free_at += operation;
        return;
    }
    fetch = mach_line_update(line, cpu, operation);
    *copy = (MachLineCopy){line, cpu->agent->now + fetch};
}

/* A plain read; free while the CPU has the line. The first after another CPU's operation waits its turn and takes the
 * line for as long as an operation would, for its writer has to give it away; further ones are served beside one
 * another. It stays the writer's. */
static inline void
mach_line_read(MachLine *line, MachCpu *cpu, const MachLineCopy *copy)
{
    sim_sync(cpu->engine, cpu->agent);
    if (line->owner.agent == SIM_NOBODY || line->owner.agent == cpu->id || mach_line_is_held(line, cpu, copy))
        return;
    cpu->agent->now = MAX(cpu->agent->now, line->free_at) + mach_line_distance(line, cpu);
    if (!line->is_shared)
        line->free_at = cpu->agent->now;
    line->is_shared = TRUE;
}

#endif
