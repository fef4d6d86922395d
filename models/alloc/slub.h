/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_H
#define SLUB_H

#include "mach-machine.h"
#include "page-alloc.h"
#include "slab-arena.h"
#include "slab-geometry.h"
#include "slub-generation.h"

/* SLUB as a state machine over slabs (mm/slub.c; slub-facts B.1 to B.4). A generation is a row of alloc-list.h: how
 * objects come from and go to slabs. From 6.18 on a layer of sheaves (slub-sheaf.h) may lie above it. An object is its
 * slab's number. Every function with a MachCpu runs on that CPU's fiber and takes its time. */

enum {
    SLUB_NO_NODE = -1, /* NUMA_NO_NODE */
    SLUB_BULK_MAX = 64,
};

/* kmem_cache_cpu and this CPU's SLUB_STATS. Private to the CPU. The counters that fast paths touch share its first
 * cache line. */
typedef struct {
    _Alignas(64) SlabId slab; /* the cpu slab, 0 = none */
    guint32 free;   /* objects on the CPU's own freelist */
    SlabId partial; /* head of the cpu partial list, last added first */
    SlabId veiled_slab;  /* the cpu slab and its freelist under a layer: slub-veil.h */
    guint32 veiled_free;
    gint64 n_objects; /* allocated minus freed on this CPU */
    guint64 stat[SLAB_N_STATS];
    /* Calls of ___slab_alloc() and __slab_free() where no cpu slab is: the counters leave out those for sheaves. */
    guint64 n_slab_alloc, n_slab_free;
} SlubCpu;

/* kmem_cache_node. Under list_lock, but for the racy reads of partial.count. */
typedef struct {
    SimLock list_lock;
    SlabList partial;
    gint64 n_slabs, n_min_order_slabs; /* all, and those of the fallback order among them */
} SlubNode;

/* How caches with debug flags take an object. */
typedef enum {
    SLUB_DEBUG_AUTO,     /* activating to 6.0, single from 6.1 and wherever there is no cpu slab */
    SLUB_DEBUG_ACTIVATE, /* needs a cpu slab */
    SLUB_DEBUG_SINGLE,
    SLUB_DEBUG_CPU_PARTIAL, /* activating, with the cpu partial list of a cache without debug flags */
} SlubDebugPath;

struct _SlubCache {
    SlubSystem *system;
    const SlubGeneration *generation; /* of single calls; with a layer `below` with its entry points */
    const SlubGeneration *below;      /* how objects come from and go to slabs */
    SlubCpu *cpu;                     /* [n_cpus] */
    SlubNode *node;                   /* [n_nodes] */
    SlubSheaves *sheaves;             /* NULL = none */
    SlubArrays *arrays;               /* NULL = none; never with sheaves (slub-array.h) */
    SlubLatency *latency;             /* NULL = not recorded (slub-latency.h) */
    guint16 index;
    char *name;
    SlabGeometry geometry;
    guint32 min_partial;
    gboolean has_cpu_partial;
    guint32 cpu_partial;       /* objects; the limit in force before 5.16 */
    guint32 cpu_partial_slabs; /* the limit in force from 5.16 on */
    double fallback_chance;    /* that a new slab gets the fallback order */
};

typedef struct _SlubObserver SlubObserver;

struct _SlubSystem {
    Machine *machine;
    PageAllocator *pages;
    SlabArena arena;
    guint kernel;
    gboolean counts_bulk; /* the FASTPATH counters count each object of a bulk call: from 6.8 on */
    SlubDebugPath debug_path; /* of caches made from now on */
    const SlubGeneration *generation;
    SlubLayers layers;
    guint rcu_sheaf_kind, rcu_flush_kind, rcu_object_kind; /* RCU callbacks */
    guint remote_node_defrag_ratio; /* times 10, as the kernel stores it; 1000 = skip with probability 23/1024 */
    SlubCache **cache;              /* [n_caches] */
    SlubCache **front;              /* [n_caches], what callers use: the cache itself, or one that traces it */
    guint n_caches;
    /* Tests put known answers here; NULL = the CPU's own stream. */
    guint32 (*draw)(void *data, guint32 n); /* uniform in 0 .. n-1 */
    void *draw_data;
    /* Told of each new slab, before its objects are handed out, and of each discarded one; NULL = nobody. */
    void (*on_new_slab)(SlubCache *cache, MachCpu *cpu, SlabId slab, void *data);
    void (*on_discard)(SlubCache *cache, MachCpu *cpu, SlabId slab, void *data);
    void *slab_data;
    const SlubObserver *observer; /* of all operations on caches made from now on: slub-trace.h; NULL = nobody */
};

/* The generation of a release, NULL when it is not modelled. */
const SlubGeneration *slub_generation_find(guint kernel);
const SlubGeneration *const *slub_generations(void);

/* SIM_ERROR_MODEL when the release has no generation here; SIM_ERROR_IO when address space is lacking. */
SlubSystem *slub_system_new(Machine *machine, guint kernel, guint remote_node_defrag_percent, GError **error);
void slub_system_free(SlubSystem *system);

/* Instead of the release's own layers. */
void slub_system_set_layers(SlubSystem *system, const SlubLayers *layers);

/* The cache has sheaves if geometry->sheaf_capacity is above 0, which that of a debug cache never is. A debug cache has
 * a cpu partial list only under SLUB_DEBUG_CPU_PARTIAL, with the limits in `geometry`. The system owns the cache; who
 * uses it takes system->front of the same index when there may be an observer. */
SlubCache *slub_cache_new(SlubSystem *system, const char *name, const SlabGeometry *geometry, double fallback_chance,
                          gboolean with_histogram);

void slub_free_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects); /* kmem_cache_free_bulk; reorders */
void slub_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects);
void slub_flush_cpu(SlubCache *cache, MachCpu *cpu); /* flush_cpu_slab, flush_cpu_sheaves */
void slub_shrink(SlubCache *cache, MachCpu *cpu);    /* the node part of __kmem_cache_do_shrink; flush first */

/* kfree_rcu(): through the CPU's rcu_free sheaf where there is one, else one RCU callback an object (the batching in
 * pages of pointers is left out). */
void slub_free_rcu(SlubCache *cache, MachCpu *cpu, SlabId object);

/* kmem_cache_alloc_node() for callers that may not block (GFP_ATOMIC, GFP_NOWAIT). */
SlabId slub_alloc_atomic(SlubCache *cache, MachCpu *cpu, gint node);

/* Why the cache's lists and counts contradict each other, NULL when they do not. Caller frees. For a moment when
 * no operation is under way. */
char *slub_cache_check(const SlubCache *cache);

static inline guint
slub_slab_node(const SlubCache *cache, SlabId slab)
{
    return cache->system->arena.slab[slab].node;
}

/* Objects of this slab will soon be freed: its struct slab is on its way meanwhile. */
static inline void
slub_prefetch(const SlubCache *cache, SlabId slab)
{
    __builtin_prefetch(&cache->system->arena.slab[slab], 1);
}

/* The two below leave the slow path to *generation (which the fast path does not read), and the count of live objects
 * to the caller; `c` is the CPU's. */
static inline SlabId
slub_alloc_from(const SlubGeneration *const *generation, SlubCache *cache, SlubCpu *c, MachCpu *cpu, gint node)
{
    if (G_LIKELY(c->free > 0 && (node == SLUB_NO_NODE || slub_slab_node(cache, c->slab) == (guint) node))) {
        c->free--;
        c->stat[SLAB_STAT_ALLOC_FASTPATH]++;
        mach_spend(cpu, cpu->machine->costs.alloc_fast);
        return c->slab;
    }
    return (*generation)->alloc_slow(cache, cpu, node);
}

static inline void
slub_free_to(const SlubGeneration *const *generation, SlubCache *cache, SlubCpu *c, MachCpu *cpu, SlabId slab, guint n)
{
    if (G_LIKELY(slab == c->slab)) {
        c->free += n;
        c->stat[SLAB_STAT_FREE_FASTPATH] += cache->system->counts_bulk ? n : 1;
        mach_spend(cpu, cpu->machine->costs.free_fast + (n - 1) * cpu->machine->costs.bulk_object);
        return;
    }
    (*generation)->free_slow(cache, cpu, slab, n);
}

/* kmem_cache_alloc_node(): 0 never happens (a machine without memory fails as a whole). */
static inline SlabId
slub_alloc_node(SlubCache *cache, MachCpu *cpu, gint node)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    sim_private(cpu->engine, cpu->agent);
    c->n_objects++;
    return slub_alloc_from(&cache->generation, cache, c, cpu, node);
}

static inline SlabId
slub_alloc(SlubCache *cache, MachCpu *cpu)
{
    return slub_alloc_node(cache, cpu, SLUB_NO_NODE);
}

/* slab_free() of `n` objects of one slab. */
static inline void
slub_free_objects(SlubCache *cache, MachCpu *cpu, SlabId slab, guint n)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    sim_private(cpu->engine, cpu->agent);
    c->n_objects -= n;
    slub_free_to(&cache->generation, cache, c, cpu, slab, n);
}

static inline void
slub_free(SlubCache *cache, MachCpu *cpu, SlabId slab)
{
    slub_free_objects(cache, cpu, slab, 1);
}

#endif
