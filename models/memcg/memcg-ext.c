/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where slabs keep their objects' exts: mm/slub.c alloc_slab_obj_exts(), free_slab_obj_exts() (slub-facts A.10). Which
 * ext of a slab is written is not told apart: its line belongs to the CPU that wrote any of them last. */
#include "memcg-private.h"

static guint
pages_order(const Memcg *memcg, guint bytes)
{
    guint order = 0;

    while ((1u << (memcg->page_shift + order)) < bytes)
        order++;
    return order;
}

static void
free_array(Memcg *memcg, MemcgCache *cache, MachCpu *cpu, MemcgSlab slab, guint node)
{
    cache->n_arrays--;
    if (slab.pages_order)
        page_free(memcg->system->pages, cpu, node, slab.pages_order - 1u);
    else
        slub_free(cache->array_cache, cpu, slab.array);
}

/* An array on the slab's node, zeroed. Its own slab gets no array. */
static MemcgSlab
make_array(Memcg *memcg, MemcgCache *cache, MachCpu *cpu, guint node)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);
    MemcgSlab slab = {.exists = TRUE};

    m->makes_array = TRUE;
    if (cache->array_cache) {
        slab.array = slub_alloc_node(cache->array_cache, cpu, (gint) node);
    } else {
        guint order = pages_order(memcg, cache->ext.array_bytes);

        if (page_alloc(memcg->system->pages, cpu, node, order, FALSE) < 0)
            mach_fail(cpu, "the machine's memory is exhausted");
        slab.pages_order = (guint8) (order + 1);
    }
    m->makes_array = FALSE;
    mach_spend(cpu, cache->ext.array_bytes * cpu->machine->costs.memset_byte);
    m->stat[MEMCG_STAT_ARRAYS]++;
    cache->n_arrays++;
    return slab;
}

static void
make_exts(Memcg *memcg, MemcgCache *cache, MachCpu *cpu, SlabId id)
{
    guint node = memcg->system->arena.slab[id].node;
    MemcgSlab made = {.exists = TRUE};

    if (cache->ext.place == SLAB_EXT_ARRAY)
        made = make_array(memcg, cache, cpu, node);
    else
        mach_spend(cpu, cache->ext.vector_bytes * cpu->machine->costs.memset_byte);
    made.toucher = cpu->id;
    sim_sync(cpu->engine, cpu->agent);
    if (!memcg->slab[id].exists) {
        memcg->slab[id] = made;
        cache->n_inside += cache->ext.place != SLAB_EXT_ARRAY;
    } else if (cache->ext.place == SLAB_EXT_ARRAY) {
        /* Another CPU was first. */
        free_array(memcg, cache, cpu, made, node);
    }
}

void
memcg__on_new_slab(SlubCache *cache, MachCpu *cpu, SlabId id, void *data)
{
    Memcg *memcg = data;

    memcg->slab[id] = (MemcgSlab){0};
    if (cache->index < memcg->n_caches && memcg->cache[cache->index].ext.is_eager &&
        !memcg__cpu(memcg, cpu)->makes_array)
        make_exts(memcg, &memcg->cache[cache->index], cpu, id);
}

void
memcg__on_discard(SlubCache *cache, MachCpu *cpu, SlabId id, void *data)
{
    Memcg *memcg = data;
    MemcgSlab slab = memcg->slab[id];

    if (!slab.exists)
        return;
    memcg->slab[id].exists = FALSE;
    if (memcg->cache[cache->index].ext.place == SLAB_EXT_ARRAY)
        free_array(memcg, &memcg->cache[cache->index], cpu, slab, slub_slab_node(cache, id));
    else
        memcg->cache[cache->index].n_inside--;
}

/* In order; the line's way from the CPU that wrote last. */
static void
touch(Memcg *memcg, MachCpu *cpu, SlabId id)
{
    MemcgSlab *slab = &memcg->slab[id];
    const MachTopology *topology = cpu->machine->topology;

    if (slab->toucher != cpu->id)
        mach_spend(cpu, sim_distance(&topology->distance[memcg->system->arena.slab[id].node],
                                     (SimToucher){slab->toucher, topology->cpu_group[slab->toucher]}, cpu->agent));
    slab->toucher = cpu->id;
}

void
memcg__ext_set(Memcg *memcg, const SlubCache *cache, MachCpu *cpu, SlabId id)
{
    sim_sync(cpu->engine, cpu->agent);
    if (!memcg->slab[id].exists) {
        g_assert(cache->index < memcg->n_caches && memcg->cache[cache->index].ext.place != SLAB_EXT_NONE);
        make_exts(memcg, &memcg->cache[cache->index], cpu, id);
    }
    touch(memcg, cpu, id);
    mach_spend(cpu, cpu->machine->costs.objext_set);
}

void
memcg__ext_clear(Memcg *memcg, MachCpu *cpu, SlabId id)
{
    sim_sync(cpu->engine, cpu->agent);
    if (!memcg->slab[id].exists)
        return;
    touch(memcg, cpu, id);
    mach_spend(cpu, cpu->machine->costs.objext_clear);
}
