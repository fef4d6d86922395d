/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_RCU_H
#define MACH_RCU_H

#include "mach-machine.h"

void mach_rcu_init(MachRcuQueue *queue);
void mach_rcu_clear(MachRcuQueue *queue);

/* Runs every callback whose grace period is over, as the RCU softirq and ksoftirqd do at a tick. */
void mach_rcu_run(MachCpu *cpu);

#endif
