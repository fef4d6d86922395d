/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slub-array.h"
#include "slub-inspect.h"
#include "slub-latency.h"
#include "slub-sheaf-parts.h"
#include "slub-trace.h"
#include "slub-veil.h"

#include <string.h>

#define GENERATION(name) extern const SlubGeneration slub_generation_##name;
#include "alloc-list.h"
#undef GENERATION

const SlubGeneration *const *
slub_generations(void)
{
    static const SlubGeneration *const generations[] = {
#define GENERATION(name) &slub_generation_##name,
#include "alloc-list.h"
#undef GENERATION
        NULL,
    };
    return generations;
}

const SlubGeneration *
slub_generation_find(guint kernel)
{
    for (const SlubGeneration *const *g = slub_generations(); *g; g++)
        if (kernel >= (*g)->first_kernel && kernel <= (*g)->last_kernel)
            return *g;
    return NULL;
}

const char *
slub_lock_site_name(SlubLockSite site, guint kernel)
{
    static const char *const names[SLUB_N_LOCK_SITES] = {
#define SITE(name, text) [SLUB_LOCK_##name] = text,
        SLUB_LOCK_SITES(SITE)
#undef SITE
    };
    if (site == SLUB_LOCK_UNFREEZE && kernel >= SLAB_KERNEL(6, 8))
        return "__put_partials";
    if (site == SLUB_LOCK_DEBUG_FREE && kernel >= SLAB_KERNEL(6, 5))
        return "free_to_partial_list";
    if (site == SLUB_LOCK_COUNT && kernel >= SLUB_KERNEL_COUNTS_APPROXIMATELY)
        return "count_partial_free_approx";
    return names[site];
}

SlubSystem *
slub_system_new(Machine *machine, guint kernel, guint remote_node_defrag_percent, GError **error)
{
    SlubSystem *system;
    SlabArena arena;

    if (!slub_generation_find(kernel)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "no allocator is modelled for kernel %u.%u", kernel / 1000,
                    kernel % 1000);
        return NULL;
    }
    if (!slab_arena_init(&arena)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "no address space for %d slabs", SLAB_ARENA_MAX);
        return NULL;
    }
    system = g_new0(SlubSystem, 1);
    system->machine = machine;
    system->pages = page_allocator_new(machine, kernel);
    system->arena = arena;
    system->kernel = kernel;
    system->counts_bulk = kernel >= SLAB_KERNEL(6, 8);
    system->generation = slub_generation_find(kernel);
    system->layers = (SlubLayers){system->generation->has_cpu_slab, SLUB_REFILL_TRYLOCK, FALSE};
    system->rcu_sheaf_kind = mach_rcu_register(machine, slub_sheaf_rcu_done, system);
    system->rcu_flush_kind = mach_rcu_register(machine, slub_sheaf_rcu_flush, system);
    system->rcu_object_kind = mach_rcu_register(machine, slub_sheaf_rcu_object, system);
    system->remote_node_defrag_ratio = 10 * remote_node_defrag_percent;
    return system;
}

void
slub_system_set_layers(SlubSystem *system, const SlubLayers *layers)
{
    const SlubGeneration *own = slub_generation_find(system->kernel);

    g_assert(own->has_cpu_slab || !layers->has_cpu_slab);
    system->generation = layers->has_cpu_slab ? own : &slub_generation_direct;
    system->layers = *layers;
}

static void
cache_free(SlubCache *cache)
{
    for (guint i = 0; i < cache->system->machine->topology->n_nodes; i++)
        sim_lock_clear(&cache->node[i].list_lock);
    slub_sheaves_free(cache);
    slub_arrays_free(cache);
    slub_latency_free(cache->latency);
    g_aligned_free(cache->cpu);
    g_aligned_free(cache->node);
    g_free(cache->name);
    g_free(cache);
}

void
slub_system_free(SlubSystem *system)
{
    if (!system)
        return;
    for (guint i = 0; i < system->n_caches; i++) {
        if (system->front[i])
            slub_trace_free(system->front[i]);
        cache_free(system->cache[i]);
    }
    g_free(system->front);
    g_free(system->cache);
    slab_arena_clear(&system->arena);
    page_allocator_free(system->pages);
    g_free(system);
}

/* Without a cpu slab the system's own generation knows debug caches. */
static const SlubGeneration *
debug_generation(const SlubSystem *system)
{
    SlubDebugPath path = system->debug_path;

    if (!system->generation->has_cpu_slab) {
        g_assert(path == SLUB_DEBUG_AUTO || path == SLUB_DEBUG_SINGLE);
        return system->generation;
    }
    if (path == SLUB_DEBUG_AUTO)
        path = system->kernel >= SLAB_KERNEL(6, 1) ? SLUB_DEBUG_SINGLE : SLUB_DEBUG_ACTIVATE;
    return path == SLUB_DEBUG_SINGLE ? &slub_debug_single : &slub_debug_activate;
}

SlubCache *
slub_cache_new(SlubSystem *system, const char *name, const SlabGeometry *geometry, double fallback_chance,
               gboolean with_histogram)
{
    const Machine *machine = system->machine;
    const MachTopology *topology = machine->topology;
    gboolean is_debug = (geometry->flags & SLAB_DEBUG_FLAGS) != 0;
    SlubCache *cache;

    g_assert(!is_debug || geometry->sheaf_capacity == 0);
    cache = g_new0(SlubCache, 1);
    cache->system = system;
    cache->generation = cache->below = is_debug ? debug_generation(system) : system->generation;
    cache->cpu = g_aligned_alloc0(machine->n_cpus, sizeof *cache->cpu, 64);
    cache->node = g_aligned_alloc0(topology->n_nodes, sizeof *cache->node, 64);
    cache->index = (guint16) system->n_caches;
    cache->name = g_strdup(name);
    cache->geometry = *geometry;
    cache->min_partial = geometry->min_partial;
    cache->has_cpu_partial = geometry->has_cpu_partial && cache->below->has_cpu_slab;
    cache->cpu_partial = geometry->cpu_partial;
    cache->cpu_partial_slabs = geometry->cpu_partial_slabs;
    cache->fallback_chance = fallback_chance;
    for (guint i = 0; i < topology->n_nodes; i++)
        sim_lock_init(&cache->node[i].list_lock, machine->lock_kind, &topology->distance[i], &machine->lock_costs,
                      SLUB_N_LOCK_SITES, with_histogram);
    if (geometry->sheaf_capacity)
        slub_sheaves_new(cache);
    system->cache = g_renew(SlubCache *, system->cache, system->n_caches + 1);
    system->front = g_renew(SlubCache *, system->front, system->n_caches + 1);
    system->front[system->n_caches] = cache;
    system->cache[system->n_caches++] = cache;
    if (system->observer)
        system->front[cache->index] = slub_trace_new(cache);
    return cache;
}

/* Appends what is wrong with a node's partial list. */
static void
check_list(const SlubCache *cache, const SlabList *list, guint node, GString *why)
{
    const SlabArena *arena = &cache->system->arena;
    guint32 n = 0;
    SlabId previous = 0;

    for (SlabId id = list->head; id; previous = id, id = arena->slab[id].next, n++) {
        const Slab *slab = &arena->slab[id];
        if (slab->prev != previous || slab->node != node || !(slab->flags & SLAB_ON_PARTIAL) ||
            slab->flags & SLAB_FROZEN || slab->inuse >= slab->objects || slab->cache != cache->index)
            g_string_append_printf(why, "slab %u on node %u's list: inuse %u of %u, flags %u; ", id, node, slab->inuse,
                                   slab->objects, slab->flags);
        if (n > list->count)
            break;
    }
    if (n != list->count || list->tail != previous)
        g_string_append_printf(why, "node %u: %u slabs on the list, nr_partial %u; ", node, n, list->count);
}

/* Appends what is wrong with a barn's lists. */
static void
check_barn(const SlubBarn *barn, guint node, GString *why)
{
    guint32 n_full = 0, n_empty = 0;

    for (const SlubSheaf *sheaf = barn->full.head; sheaf; sheaf = sheaf->next, n_full++)
        if (sheaf->size == 0)
            g_string_append_printf(why, "node %u: an empty sheaf among the full; ", node);
    for (const SlubSheaf *sheaf = barn->empty.head; sheaf; sheaf = sheaf->next, n_empty++)
        if (sheaf->size != 0)
            g_string_append_printf(why, "node %u: a sheaf of %u among the empty; ", node, sheaf->size);
    if (n_full != barn->full.count || n_empty != barn->empty.count)
        g_string_append_printf(why, "node %u: %u full and %u empty sheaves, counted %u and %u; ", node, n_full, n_empty,
                               barn->full.count, barn->empty.count);
}

char *
slub_cache_check(const SlubCache *cache)
{
    const SlabArena *arena = &cache->system->arena;
    const MachTopology *topology = cache->system->machine->topology;
    GString *why = g_string_new(NULL);
    gint64 n_objects = 0, n_inuse = 0, n_private = 0, n_slabs = 0, n_slabs_counted = 0;
    const SlubSheaves *sheaves = cache->sheaves;

    for (guint i = 0; i < topology->n_nodes; i++) {
        check_list(cache, &cache->node[i].partial, i, why);
        n_slabs_counted += cache->node[i].n_slabs;
        if (sheaves) {
            check_barn(&sheaves->barn[i], i, why);
            n_private += slub_sheaf_barn_objects(cache, i);
        }
    }
    for (guint i = 0; i < cache->system->machine->n_cpus; i++) {
        const SlubCpu *c = &cache->cpu[i];
        SlabId slab = slub_cpu_slab(c);

        n_objects += c->n_objects;
        n_private +=
            slub_cpu_free(c) + (sheaves ? slub_sheaf_cpu_objects(cache, i) : 0) + slub_array_cpu_objects(cache, i);
        if (slab && (!(arena->slab[slab].flags & SLAB_FROZEN) || arena->slab[slab].flags & SLAB_ON_PARTIAL))
            g_string_append_printf(why, "cpu %u: its slab is not frozen or listed; ", i);
        for (SlabId id = c->partial; id; id = arena->slab[id].next)
            if (arena->slab[id].flags & SLAB_ON_PARTIAL ||
                ((arena->slab[id].flags & SLAB_FROZEN) != 0) != cache->generation->freezes_partial)
                g_string_append_printf(why, "cpu %u: slab %u of its partial list has flags %u; ", i, id,
                                       arena->slab[id].flags);
    }
    for (SlabId id = 1; id < arena->n_used; id++)
        if (arena->slab[id].objects && arena->slab[id].cache == cache->index) {
            n_slabs++;
            n_inuse += arena->slab[id].inuse;
        }
    if (n_slabs != n_slabs_counted)
        g_string_append_printf(why, "%" G_GINT64_FORMAT " slabs, nr_slabs %" G_GINT64_FORMAT "; ", n_slabs,
                               n_slabs_counted);
    if (n_inuse - n_private != n_objects)
        g_string_append_printf(why, "%" G_GINT64_FORMAT " objects in use, %" G_GINT64_FORMAT " handed out; ",
                               n_inuse - n_private, n_objects);
    return g_string_free(why, why->len == 0);
}
