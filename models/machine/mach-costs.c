/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mach-costs.h"

const SimKeySpec mach_machine_keys[] = {
    {.group = "machine", .key = "profile", .type = SIM_KEY_TEXT, .optional = TRUE,
     .help = "machine file that gives the topology and the costs"},
    {.group = "machine", .key = "title", .type = SIM_KEY_TEXT, .fallback = "generic two-socket server",
     .help = "what machine this is"},
    {.group = "machine", .key = "sockets", .type = SIM_KEY_INT, .fallback = "2", .min = 1, .max = 64,
     .help = "sockets"},
    {.group = "machine", .key = "nodes_per_socket", .type = SIM_KEY_INT, .fallback = "1", .min = 0, .max = 64,
     .help = "NUMA nodes of a socket; 0 for one node over all sockets, memory interleaved (NPS0)"},
    {.group = "machine", .key = "l3_per_node", .type = SIM_KEY_INT, .fallback = "1", .min = 1, .max = 64,
     .help = "last-level cache domains of a node"},
    {.group = "machine", .key = "cores_per_l3", .type = SIM_KEY_INT, .fallback = "8", .min = 1, .max = 4096,
     .help = "cores of a last-level cache domain"},
    {.group = "machine", .key = "threads_per_core", .type = SIM_KEY_INT, .fallback = "1", .min = 1, .max = 2,
     .help = "hardware threads of a core"},
    {.group = "machine", .key = "cpu_order", .type = SIM_KEY_CHOICE, .fallback = "cores-first",
     .choices = "cores-first|threads-adjacent", .help = "how Linux numbers the CPUs"},
    {.group = "machine", .key = "possible_cpus", .type = SIM_KEY_INT, .optional = TRUE, .min = 1, .max = 8192,
     .help = "nr_cpu_ids where it exceeds the CPUs present"},
    {.group = "machine", .key = "page_size", .type = SIM_KEY_SIZE, .fallback = "4K", .min = 4096, .max = 65536,
     .help = "page size: 4K, 16K or 64K"},
    {.group = "machine", .key = "memory_per_node", .type = SIM_KEY_SIZE, .fallback = "32G", .min = 16777216,
     .max = 1.8e16, .help = "memory of a node"},
    {.group = "machine", .key = "memoryless_nodes", .type = SIM_KEY_TEXT_LIST, .optional = TRUE,
     .help = "numbers of the nodes that have CPUs but no memory"},
    {.group = "machine", .key = "memory_ids", .type = SIM_KEY_CHOICE, .fallback = "own", .choices = "own|nearest",
     .help = "numa_mem_id() on a node without memory: the node itself, as on x86, or the nearest one with memory, as "
             "where CONFIG_HAVE_MEMORYLESS_NODES is set"},
    {.group = "machine", .key = "smt_slowdown", .type = SIM_KEY_REAL, .fallback = "1.6", .min = 1, .max = 2.5,
     .help = "how much longer a thread computes while its sibling is busy too"},
    {.group = "machine", .key = "smt_hold_slowdown", .type = SIM_KEY_REAL, .fallback = "1", .min = 1, .max = 2.5,
     .help = "how much longer a thread holds a list_lock while its sibling is busy too"},
    {.group = "machine", .key = "lock", .type = SIM_KEY_CHOICE, .fallback = "qspinlock",
     .choices = "qspinlock|ticket|cna", .help = "spinlock discipline"},
    {.group = "machine", .key = "lock_handoff", .type = SIM_KEY_REAL, .fallback = "1.2", .min = 0.5, .max = 4,
     .help = "hand-off of a contended lock, in line transfers"},
    {.group = "machine", .key = "cna_near_handoffs", .type = SIM_KEY_INT, .fallback = "65536", .min = 1, .max = 1e9,
     .help = "CNA: consecutive hand-offs within a node before the others get their turn"},
    {.group = "machine", .key = "tick", .type = SIM_KEY_TIME, .fallback = "1 ms", .min = 1e8, .max = 1e11,
     .help = "timer tick, 1/HZ"},
    {.group = "machine", .key = "ticks", .type = SIM_KEY_CHOICE, .fallback = "spread", .choices = "spread|together",
     .help = "when the CPUs run their ready RCU callbacks: spread over the tick interval (skew_tick=1, or ksoftirqd "
             "doing most of the work), or all together at the tick"},
    {.group = "machine", .key = "host_cores", .type = SIM_KEY_INT, .fallback = "0", .min = 0, .max = 8192,
     .help = "virtual machine: cores of the host that run its CPUs in turn; 0: no virtual machine, or a core each"},
    {.group = "machine", .key = "host_turn", .type = SIM_KEY_TIME, .fallback = "3 ms", .min = 1e8, .max = 1e12,
     .help = "virtual machine: mean time that a CPU keeps its core"},
    {.group = "machine", .key = "host_away", .type = SIM_KEY_TIME, .fallback = "0 ms", .min = 0, .max = 1e12,
     .help = "virtual machine: mean time that a core serves other guests and programs before it comes back to a CPU "
             "that waits alone; a core for which several wait spends as much on others in all their turns together"},
    {.group = "machine", .key = "callbacks", .type = SIM_KEY_CHOICE, .fallback = "at-once", .choices = "at-once|batches",
     .help = "how a CPU runs its ready RCU callbacks: all at its tick, or at most ten passes of the softirq's batch limit "
             "there (6.5 on) and the rest in ksoftirqd"},
    {.group = "machine", .key = "ksoftirqd_turn", .type = SIM_KEY_TIME, .fallback = "3 ms", .min = 0, .max = 1e12,
     .help = "batches: ksoftirqd and the task have the CPU for so long in turn, the scheduler's slice (EEVDF); 0: it "
             "preempts the task and ends its work (CFS, which favours who has slept)"},
    {.group = "machine", .key = "grace_period", .type = SIM_KEY_TIME, .fallback = "3 ms", .min = 1e8, .max = 1e12,
     .help = "mean length of an RCU grace period; about 3 ticks at HZ=1000"},
    {NULL},
};

const SimKeySpec mach_cost_keys[] = {
#define COST(name, default_text, help_text)                                                                            \
    {.group = "costs", .key = #name, .type = SIM_KEY_COST, .fallback = default_text, .min = 0, .max = 1e9,              \
     .help = help_text},
#include "mach-cost-list.h"
#undef COST
    {NULL},
};

void
mach_costs_read(MachCosts *costs, const SimConfig *config)
{
#define COST(name, fallback, help) costs->name = sim_config_time(config, "costs", #name);
#include "mach-cost-list.h"
#undef COST
}
