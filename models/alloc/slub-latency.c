/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slub-latency.h"

#include <string.h>

typedef struct {
    gboolean is_on;
    guint cpu_class;
    /* FASTPATH counters when recording began, and what calls for many objects have added to them since. */
    guint64 fast_at_start[2], fast_in_bulk[2];
} LatencyCpu;

struct _SlubLatency {
    const SlubGeneration *measured;
    SlubGeneration entries;                            /* *measured with entry points that look at the clock */
    LatencyCpu *cpu;                                   /* [n_cpus] */
    SimHist *hist[SLUB_LATENCY_CLASSES][SLUB_N_PATHS]; /* NULL = no value yet; 15 kB each */
};

static const SlabStat fast_stat[2] = {SLAB_STAT_ALLOC_FASTPATH, SLAB_STAT_FREE_FASTPATH};

const char *
slub_path_name(SlubPath path)
{
    static const char *const names[] = {
#define PATH(name, operation, text) [SLUB_PATH_##name] = text,
        SLUB_LATENCY_PATHS(PATH)
#undef PATH
    };
    return names[path];
}

SlubLatencyOperation
slub_path_operation(SlubPath path)
{
    static const SlubLatencyOperation operations[] = {
#define PATH(name, operation, text) [SLUB_PATH_##name] = SLUB_LATENCY_##operation,
        SLUB_LATENCY_PATHS(PATH)
#undef PATH
    };
    return operations[path];
}

const char *
slub_latency_operation_name(SlubLatencyOperation operation)
{
    static const char *const names[] = {"alloc", "free", "alloc bulk", "free bulk"};

    return names[operation];
}

static void
record(SlubLatency *latency, guint cpu, SlubPath path, SimTime duration, guint64 n)
{
    SimHist **hist = &latency->hist[latency->cpu[cpu].cpu_class][path];

    if (!*hist) {
        *hist = g_new(SimHist, 1);
        sim_hist_init(*hist);
    }
    sim_hist_record_n(*hist, duration, n);
}

void
slub__latency_begin(const SlubCache *cache, const MachCpu *cpu, SlubLatencyMark *ret_mark)
{
    ret_mark->entered = mach_now(cpu);
    memcpy(ret_mark->stat, cache->cpu[cpu->id].stat, sizeof ret_mark->stat);
}

static guint64
counted(const SlubCache *cache, const MachCpu *cpu, const SlubLatencyMark *mark, SlabStat stat)
{
    return cache->cpu[cpu->id].stat[stat] - mark->stat[stat];
}

void
slub__latency_end_bulk(SlubCache *cache, const MachCpu *cpu, const SlubLatencyMark *mark, SlubPath path)
{
    LatencyCpu *c = &cache->latency->cpu[cpu->id];

    for (guint i = 0; i < 2; i++)
        c->fast_in_bulk[i] += counted(cache, cpu, mark, fast_stat[i]);
    if (c->is_on)
        record(cache->latency, cpu->id, path, mach_now(cpu) - mark->entered, 1);
}

/* Which way a call went is told by the counters that moved: those of the dearest step decide. */
typedef struct {
    SlabStat stat;
    SlubPath path;
} Sign;

static SlubPath
path_of(const SlubCache *cache, const MachCpu *cpu, const SlubLatencyMark *mark, const Sign *signs, guint n_signs,
        SlubPath otherwise)
{
    SlubPath path = otherwise;

    for (guint i = n_signs; i-- > 0;)
        if (counted(cache, cpu, mark, signs[i].stat))
            path = signs[i].path;
    /* From 7.0 on sheaf hits are counted as the fast path, of which there is no other. */
    if (cache->system->kernel >= SLAB_KERNEL(7, 0) && path == SLUB_PATH_ALLOC_FAST)
        return SLUB_PATH_ALLOC_SHEAF;
    if (cache->system->kernel >= SLAB_KERNEL(7, 0) && path == SLUB_PATH_FREE_FAST)
        return SLUB_PATH_FREE_SHEAF;
    return path;
}

static SlabId
alloc_slow(SlubCache *cache, MachCpu *cpu, gint node)
{
    static const Sign signs[] = {
        {SLAB_STAT_ALLOC_SLAB, SLUB_PATH_ALLOC_NEW_SLAB},
        {SLAB_STAT_SHEAF_REFILL, SLUB_PATH_ALLOC_SHEAF_REFILL},
        {SLAB_STAT_BARN_GET, SLUB_PATH_ALLOC_BARN},
        {SLAB_STAT_ALLOC_FROM_PARTIAL, SLUB_PATH_ALLOC_PARTIAL},
        {SLAB_STAT_CPU_PARTIAL_ALLOC, SLUB_PATH_ALLOC_CPU_PARTIAL},
        {SLAB_STAT_ALLOC_REFILL, SLUB_PATH_ALLOC_REFILL},
        {SLAB_STAT_ALLOC_PCS, SLUB_PATH_ALLOC_SHEAF},
        {SLAB_STAT_ALLOC_PCA, SLUB_PATH_ALLOC_ARRAY},
        {SLAB_STAT_ALLOC_FASTPATH, SLUB_PATH_ALLOC_FAST},
    };
    SlubLatency *latency = cache->latency;
    SlubLatencyMark mark;
    SlabId object;

    slub__latency_begin(cache, cpu, &mark);
    object = latency->measured->alloc_slow(cache, cpu, node);
    /* Taking single objects from the node's slabs has no counter of its own. */
    if (latency->cpu[cpu->id].is_on)
        record(latency, cpu->id, path_of(cache, cpu, &mark, signs, G_N_ELEMENTS(signs), SLUB_PATH_ALLOC_PARTIAL),
               mach_now(cpu) - mark.entered, 1);
    return object;
}

static void
free_slow(SlubCache *cache, MachCpu *cpu, SlabId slab, guint n_objects)
{
    static const Sign signs[] = {
        {SLAB_STAT_SHEAF_FLUSH, SLUB_PATH_FREE_SHEAF_FLUSH},
        {SLAB_STAT_BARN_PUT, SLUB_PATH_FREE_BARN},
        {SLAB_STAT_CPU_PARTIAL_DRAIN, SLUB_PATH_FREE_DRAIN},
        {SLAB_STAT_FREE_SLAB, SLUB_PATH_FREE_DISCARD},
        {SLAB_STAT_CPU_PARTIAL_FREE, SLUB_PATH_FREE_CPU_PARTIAL},
        {SLAB_STAT_FREE_ADD_PARTIAL, SLUB_PATH_FREE_LIST},
        {SLAB_STAT_FREE_FROZEN, SLUB_PATH_FREE_FROZEN},
        {SLAB_STAT_FREE_SLOWPATH, SLUB_PATH_FREE_SLAB},
        {SLAB_STAT_FREE_PCS, SLUB_PATH_FREE_SHEAF},
        {SLAB_STAT_FREE_PCA, SLUB_PATH_FREE_ARRAY},
        {SLAB_STAT_FREE_FASTPATH, SLUB_PATH_FREE_FAST},
    };
    SlubLatency *latency = cache->latency;
    SlubLatencyMark mark;

    slub__latency_begin(cache, cpu, &mark);
    latency->measured->free_slow(cache, cpu, slab, n_objects);
    if (latency->cpu[cpu->id].is_on)
        record(latency, cpu->id, path_of(cache, cpu, &mark, signs, G_N_ELEMENTS(signs), SLUB_PATH_FREE_SLAB),
               mach_now(cpu) - mark.entered, 1);
}

void
slub_latency_enable(SlubCache *cache)
{
    SlubLatency *latency = g_new0(SlubLatency, 1);

    latency->measured = cache->generation;
    latency->entries = *cache->generation;
    latency->entries.alloc_slow = alloc_slow;
    latency->entries.free_slow = free_slow;
    latency->cpu = g_new0(LatencyCpu, cache->system->machine->n_cpus);
    cache->latency = latency;
    cache->generation = &latency->entries;
}

void
slub_latency_free(SlubLatency *latency)
{
    if (!latency)
        return;
    for (guint c = 0; c < SLUB_LATENCY_CLASSES; c++)
        for (guint p = 0; p < SLUB_N_PATHS; p++)
            g_free(latency->hist[c][p]);
    g_free(latency->cpu);
    g_free(latency);
}

void
slub_latency_start(SlubCache *cache, guint cpu, guint cpu_class)
{
    LatencyCpu *c;

    if (!cache->latency)
        return;
    c = &cache->latency->cpu[cpu];
    c->is_on = TRUE;
    c->cpu_class = cpu_class;
    for (guint i = 0; i < 2; i++) {
        c->fast_at_start[i] = cache->cpu[cpu].stat[fast_stat[i]];
        c->fast_in_bulk[i] = 0;
    }
}

/* With a layer the fast path below it is part of other calls, and what sheaves count as fast path has been timed. */
void
slub_latency_stop(SlubCache *cache, guint cpu)
{
    const MachCosts *costs = &cache->system->machine->costs;
    const SimTime cost[2] = {costs->alloc_fast, costs->free_fast};
    const SlubPath path[2] = {SLUB_PATH_ALLOC_FAST, SLUB_PATH_FREE_FAST};
    LatencyCpu *c;

    if (!cache->latency)
        return;
    c = &cache->latency->cpu[cpu];
    for (guint i = 0; i < 2 && c->is_on && !cache->sheaves && !cache->arrays; i++) {
        guint64 n = cache->cpu[cpu].stat[fast_stat[i]] - c->fast_at_start[i] - c->fast_in_bulk[i];

        if (n > 0)
            record(cache->latency, cpu, path[i], cost[i], n);
    }
    c->is_on = FALSE;
}

void
slub_latency_merge(const SlubCache *cache, guint cpu_class, SlubPath path, SimHist *hist)
{
    if (cache->latency && cache->latency->hist[cpu_class][path])
        sim_hist_merge(hist, cache->latency->hist[cpu_class][path]);
}
