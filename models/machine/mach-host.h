/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_HOST_H
#define MACH_HOST_H

#include "mach-machine.h"

/* The host of a virtual machine, whose few cores run the guest's CPUs in turn (steal time): no more of them move at
 * once than there are cores. The guest knows nothing of it, as a kernel without a paravirtual steal clock does: while
 * a CPU stands still, the time counts as the running task's and the CPU does not look idle to others. A CPU that has
 * nothing to do asks for no core.
 *
 * In outline only, after a host of equal weights: CPUs take cores in the order in which they asked. Each turn is
 * uniformly distributed from nothing to twice its mean, for a host cuts about half of the turns short. Threads of
 * others, `load` of them and always busy, are spread at random among the waiting CPUs: before a CPU's turn the core
 * is theirs for an exponentially distributed time. Left out: where a host puts a thread that wakes up. */

/* NULL when machine.host_cores is 0. */
MachHost *mach_host_new(const SimConfig *config, guint n_cpus, guint64 seed, guint64 replication);
void mach_host_free(MachHost *host);

/* In order: the end of the CPU's turn, or its first one. Returns in order, at the start of its next one. */
void mach__host_wait(MachCpu *cpu);

/* In order: a CPU that has found something to do waits for a core. */
static inline void
mach_host_enter(MachCpu *cpu)
{
    if (G_UNLIKELY(cpu->machine->host && !cpu->has_core))
        mach__host_wait(cpu);
}

void mach__host_leave(MachCpu *cpu);

/* In order: the CPU has nothing to do, or its fiber ends. */
static inline void
mach_host_leave(MachCpu *cpu)
{
    if (G_UNLIKELY(cpu->has_core))
        mach__host_leave(cpu);
}

#endif
