/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORLD_H
#define WORLD_H

#include "sim-experiment.h"
#include "memcg.h"
#include "slub.h"

/* One replication: a machine with its caches under a workload, from set-up to record. */

typedef struct _World World;

/* Where a CPU's own window for rates begins or ends. */
typedef struct {
    gboolean is_set;
    SimTime at;
    guint64 operations;
} WorldMark;

/* What the world keeps of each CPU. `n_operations` is the workload's to count; the rest are readings at the
 * checkpoints. */
typedef struct
{
    guint64 n_operations;
    gboolean is_isolated; /* its latencies are reported apart; the workload's to set */
    SimTime busy;         /* time not idle; the workload's to keep when its CPUs can idle */
    guint64 operations_at_warmup, operations_at_end;
    SimTime warmup_at, end_at; /* when this CPU read its own counters */
    SimTime busy_at_warmup, busy_at_end;
    WorldMark begin, finish; /* the same readings, but of a CPU that was in a queue those of the moment itself */
} WorldCpu;

struct _World
{
    const SimConfig *config;
    guint64 seed;
    guint replication;
    gboolean starts_mixed; /* run.starts: begin with slabs of all nodes in the hands of every CPU */
    guint n_tasks;         /* processes or threads; the workload's to set */
    MachTopology *topology;
    Machine *machine;
    SlubSystem *slub;
    Memcg *memcg;         /* NULL when [memcg] asks for nothing */
    MemcgTask memcg_task; /* in the first cgroup, for workloads that have but one */
    SimTime warmup, end;
    WorldCpu *cpu; /* [n_cpus] */
};

/* The cache of that name; one of the workload's `caches`. */
SlubCache *world_cache(const World *world, const char *name);

/* An object of that one cgroup: of an ACCOUNT cache, or asked for with __GFP_ACCOUNT. */
static inline SlabId
world_alloc_accounted(World *world, SlubCache *cache, MachCpu *cpu)
{
    MemcgGroup *charged;

    return memcg_slab_alloc(world->memcg, cache, cpu, &world->memcg_task, &charged);
}

static inline void
world_free_accounted(const World *world, SlubCache *cache, MachCpu *cpu, SlabId object)
{
    memcg_slab_free(world->memcg, cache, cpu, object, world->memcg_task.group);
}

/* Adds the metrics PREFIX_p50_ns, _p90_, _p99_, _p99_9_, _p99_99_ and _max_ of a histogram in ps; `nan` where it
 * has too few values to tell the quantile from the maximum. */
void world_report_percentiles(SimRecord *record, const char *prefix, const SimHist *hist_ps);

/* SimExperiment's functions. Of the workloads' keys only the chosen one's are read. */
gboolean world_check(const SimConfig *config, GError **error);
gboolean world_reads_key(const SimConfig *config, const SimKeySpec *spec);
gboolean world_run(const SimRunInput *input, SimRecord *record, GError **error);

/* All key tables of the program's schema: [machine], [costs], [kernel], [slub], [cache NAME], [workload]. */
const SimSchema *world_schema(void);

#endif
