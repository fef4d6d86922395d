/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_RCU_H
#define MACH_RCU_H

#include "mach-machine.h"

void mach_rcu_init(MachRcuQueue *queue);
void mach_rcu_clear(MachRcuQueue *queue);

/* At a tick: the callbacks whose grace period is over, all of them or, in batches, what the RCU softirq takes now
 * (rcu_do_batch(), kernel/rcu/tree.c 6.5 to 6.17, called by handle_softirqs()). */
void mach_rcu_tick(MachCpu *cpu);

/* A turn of ksoftirqd, which has been left some. */
void mach_rcu_ksoftirqd(MachCpu *cpu);

#endif
