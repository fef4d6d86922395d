/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MACH_COSTS_H
#define MACH_COSTS_H

#include "sim-config.h"

/* The cost profile of a machine, in picoseconds. */
typedef struct
{
#define COST(name, fallback, help) SimTime name;
#include "mach-cost-list.h"
#undef COST
} MachCosts;

/* Schema tables of [machine] and [costs]; each ends with a row whose group is NULL. */
extern const SimKeySpec mach_machine_keys[];
extern const SimKeySpec mach_cost_keys[];

void mach_costs_read(MachCosts *costs, const SimConfig *config);

#endif
