/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "world.h"

/* A workload: one file wl-NAME.c and one row of workload-list.h. It puts a fiber on each CPU it uses. */
typedef struct
{
    const char *name;        /* as in [workload] type= */
    const char *summary;
    const char *operation;   /* what WorldCpu.n_operations counts, plural: "iterations" */
    const SimKeySpec *keys;  /* rows of group "workload", those of all workloads have distinct names or equal rows;
                              * ends with a row whose group is NULL */
    const char *const *caches; /* names of the caches it uses, NULL-terminated */
    /* The same where they depend on parameters and release (SLAB_KERNEL), instead of `caches`; else NULL. The list may
     * be empty; it is static. */
    const char *const *(*cache_names)(const SimConfig *config, guint kernel);
    /* Checks parameters against each other and the machine; may be NULL. */
    gboolean (*check)(const SimConfig *config, const MachTopology *topology, GError **error);
    gboolean shares_host; /* for machine.host_cores: its CPUs give their core back while they wait */
    /* Builds its state, adds the fibers (workload_start_cpu()) and registers RCU callbacks. Lowers
     * machine->n_active_cpus to the CPUs used. */
    void *(*setup)(World *world, GError **error);
    /* When the last of its work was done, SIM_TIME_MAX while some is left; NULL for workloads that never end. */
    SimTime (*ended_at)(const void *state);
    /* Adds metrics of its own; may be NULL. */
    void (*report)(World *world, void *state, SimRecord *record);
    void (*free)(void *state);
} Workload;

const Workload *const *workloads(void); /* NULL-terminated */
const Workload *workload_find(const char *name);

/* For setup: a CPU that `body`, whose agent has `data`, keeps busy from the start on: 0, or a time below `spread` drawn
 * for `component`. */
void workload_start_cpu(World *world, MachCpu *cpu, const char *component, SimTime spread,
                        void (*body)(SimAgent *agent), void *data);

/* For check: whether the machine has a CPU for each of as many "threads" as `key` says. */
gboolean workload_check_cpus(const SimConfig *config, const MachTopology *topology, const char *key, const char *what,
                             GError **error);

static inline const char *const *
workload_cache_names(const Workload *workload, const SimConfig *config, guint kernel)
{
    return workload->cache_names ? workload->cache_names(config, kernel) : workload->caches;
}

#endif
