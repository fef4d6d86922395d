/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mm/slub.c as of "mm, slub: add opt-in slub_percpu_array" (RFC v1 and v2, 2023-08-08 and -10). */
#include "slub-array.h"

#include "sim-error.h"
#include "slub-parts.h"
#include "slub-trace.h"
#include "slub-veil.h"

/* alloc_from_pca() and what slab_alloc_node() does when it fails. The look at an array costs the same either way. */
static SlabId
array_alloc(SlubCache *cache, MachCpu *cpu, gint node)
{
    SlubArrayCpu *a = &cache->arrays->cpu[cpu->id];
    SlabId object;

    mach_spend(cpu, cpu->machine->costs.array_call);
    if (a->used > 0) {
        slub_count(cache, cpu, SLAB_STAT_ALLOC_PCA);
        return a->object[--a->used];
    }
    slub_unveil(cache, cpu);
    object = slub_alloc_from(&cache->below, cache, &cache->cpu[cpu->id], cpu, node);
    slub_veil(cache, cpu);
    return object;
}

/* do_slab_free(): only an object by itself is for the array. */
void
slub_array_free(SlubCache *cache, MachCpu *cpu, SlabId object, guint n)
{
    SlubArrayCpu *a = &cache->arrays->cpu[cpu->id];

    if (n == 1) {
        mach_spend(cpu, cpu->machine->costs.array_call);
        if (a->used < cache->arrays->capacity) {
            slub_count(cache, cpu, SLAB_STAT_FREE_PCA);
            a->object[a->used++] = object;
            return;
        }
    }
    slub_unveil(cache, cpu);
    slub_free_to(&cache->below, cache, &cache->cpu[cpu->id], cpu, object, n);
    slub_veil(cache, cpu);
}

void
slub_array_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    slub_unveil(cache, cpu);
    cache->below->take_bulk(cache, cpu, n, ret_objects);
    slub_veil(cache, cpu);
}

void
slub_array_prefill(SlubCache *cache, MachCpu *cpu, guint n)
{
    const SlubArrays *arrays = slub_behind(cache)->arrays;
    SlabId object[SLUB_BULK_MAX];
    guint n_lacking;

    if (!arrays || arrays->capacity < n || arrays->cpu[cpu->id].used >= n)
        return;
    /* No more than 32 at once, as there. */
    n_lacking = MIN(n - arrays->cpu[cpu->id].used, 32);
    slub_alloc_bulk(cache, cpu, n_lacking, object);
    for (guint i = 0; i < n_lacking; i++)
        slub_free(cache, cpu, object[i]);
}

gint64
slub_array_cpu_objects(const SlubCache *cache, guint cpu)
{
    return cache->arrays ? cache->arrays->cpu[cpu].used : 0;
}

gboolean
slub_array_set_up(SlubCache *cache, guint capacity, GError **error)
{
    SlubArrays *arrays;

    g_assert(capacity > 0 && capacity <= SLUB_ARRAY_CAPACITY_MAX && !cache->arrays && !cache->latency);
    cache = slub_behind(cache);
    if (cache->sheaves || !cache->below->has_cpu_slab || slub_is_debug(cache)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "cache %s cannot have per-CPU arrays (allowed: caches with a cpu slab, without sheaves and without "
                    "debug flags)",
                    cache->name);
        return FALSE;
    }
    arrays = g_new0(SlubArrays, 1);
    arrays->capacity = capacity;
    arrays->cpu = g_new0(SlubArrayCpu, cache->system->machine->n_cpus);
    for (guint i = 0; i < cache->system->machine->n_cpus; i++)
        arrays->cpu[i].object = g_new(SlabId, capacity);
    arrays->entries = *cache->below;
    arrays->entries.alloc_slow = array_alloc;
    arrays->entries.free_slow = slub_array_free;
    cache->arrays = arrays;
    cache->generation = &arrays->entries;
    return TRUE;
}

void
slub_arrays_free(SlubCache *cache)
{
    SlubArrays *arrays = cache->arrays;

    if (!arrays)
        return;
    for (guint i = 0; i < cache->system->machine->n_cpus; i++)
        g_free(arrays->cpu[i].object);
    g_free(arrays->cpu);
    g_free(arrays);
}
