/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORLD_PRIVATE_H
#define WORLD_PRIVATE_H

#include "sim-layer.h"
#include "workload.h"

/* Shared by the world's own files only. */

/* Objects and bytes of one cache at one moment, by place. What CPUs hold is added up from each CPU's own reading. */
typedef struct
{
    gint64 objects_inuse;   /* handed out and not freed yet */
    gint64 cpu_slab_free;   /* objects on cpu slabs, private and slab freelists */
    gint64 cpu_partial_free;
    gint64 node_partial_free;
    gint64 cpu_sheaf_free, barn_free; /* those that wait for a grace period in sheaves count as the CPU's */
    gint64 n_sheaves;                 /* of the cache's capacity, in use anywhere */
    guint32 cpu_partial_slabs, node_partial_slabs;
    gint64 slabs, slab_bytes, waste_bytes; /* waste: what is left over at the end of the slabs */
} WorldCacheSample;

typedef struct
{
    WorldCacheSample *cache; /* [n_caches] */
    guint32 *node_partial_slabs; /* [n_nodes], all caches */
    guint64 pcp_pages, rcu_pending;
    guint64 operations; /* of all CPUs since the start */
} WorldSample;

/* What the observer and the CPUs collect during a run. */
typedef struct
{
    World *world;
    const Workload *workload;
    void *workload_state;
    SimTime *checkpoint; /* [n_checkpoints] sample times, the end of warm-up and the end, rising, each once */
    guint n_checkpoints, warmup_index, end_index;
    WorldSample *sample; /* [n_checkpoints] */
    guint64 *stat_at_warmup, *stat_at_end; /* [n_caches][SLAB_N_STATS], all CPUs */
    SimLockSite *list_sites; /* [n_caches][n_nodes][SLUB_N_LOCK_SITES] over the measured window */
    SimLockSite *barn_sites; /* [n_caches][n_nodes][SLUB_N_BARN_SITES]; zeros without sheaves */
    SimLockSite *zone_sites; /* [n_nodes][PAGE_N_LOCK_SITES] */
    SimHist *list_waits;     /* [n_caches], all nodes */
    SimHist zone_waits;      /* all nodes */
    guint observed; /* checkpoints the observer has passed */
} WorldRun;

/* world-config.c */
gboolean world_kernel(const SimConfig *config, guint *ret_kernel, GError **error);
/* The layers that [slub] asks for. */
gboolean world_layers(const SimConfig *config, guint kernel, SlubLayers *ret_layers, GError **error);
/* The allocator, without caches, of [kernel] and [slub]. `machine` is borrowed. */
SlubSystem *world_slub_new(const SimConfig *config, Machine *machine, GError **error);
gboolean world_geometry_env(const SimConfig *config, const MachTopology *topology, SlabGeometryEnv *ret_env,
                            GError **error);
/* What `name` is in this release, by common knowledge. FALSE when nobody knows. The name is kept in `names`. */
gboolean world_known_cache(const SlabGeometryEnv *env, const char *name, GStringChunk *names, SlabCacheSpec *ret_spec);
/* What `name` is in this release and scenario. SIM_ERROR_MODEL when nobody knows its object size. The spec's name is
 * kept in `names`. */
gboolean world_cache_spec(const SimConfig *config, const SlabGeometryEnv *env, const char *name, GStringChunk *names,
                          SlabCacheSpec *ret_spec, GError **error);
gboolean world_cache_geometry(const SimConfig *config, const SlabGeometryEnv *env, const char *name,
                              SlabGeometry *ret_geometry, GError **error);
/* Objects of the per-CPU arrays that the scenario gives the cache, 0 = none. world_cache_geometry() has checked it. */
guint world_array_capacity(const SimConfig *config, const char *name);

/* world-caches.c: SimSchema.add_layer, the workload's caches from the file of [caches]. */
extern const SimKeySpec world_caches_keys[];
gboolean world_add_layer(const SimConfig *config, SimLayer *layer, GError **error);

/* world-memcg.c: after the caches and before the workload; the world has world->memcg then, if anything asks for it. */
gboolean world_add_memcg(World *world, GError **error);

/* world-latency.c: latency_keys; recording of every cache of the world, if [run] asks for it; one CPU's window begins
 * or ends; metrics and tables. */
extern const SimKeySpec latency_keys[];
void world_add_latency(World *world);
void world_latency_window(const World *world, guint cpu, gboolean is_start);
void world_report_latency(const World *world, SimRecord *record);

/* world.c: world_run() with an observer, NULL for none; the world is kept for who looks at what is left. NULL on
 * failure. */
World *world_run_keeping(const SimRunInput *input, SimRecord *record, const SlubObserver *observer, GError **error);
void world_free(World *world);

/* world-observe.c */
/* One CPU's own counters, between two of its operations: its window begins or ends. */
void world_read_cpu(const World *world, const MachCpu *cpu, gboolean is_end);
WorldRun *world_run_new(World *world, const Workload *workload, SimTime sample_interval);
void world_run_free(WorldRun *run);
void world_run_add_observer(WorldRun *run);
void world_on_checkpoint(MachCpu *cpu, guint index, void *data);

/* world-report.c */
/* The end of the measured window: earlier than asked for when the workload was done before. */
SimTime world_window_end(const WorldRun *run);
void world_report(const WorldRun *run, SimRecord *record);

#endif
