/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mm/slab.c of about 4.4: cache_alloc_refill(), cache_grow(), cache_flusharray(), free_block(), cache_free_alien(),
 * cache_reap(); slub-facts B.6. */
#include "slab-old-cache.h"

#include <string.h>

#include "slab-kmalloc.h"

enum {
    ALIEN_LIMIT = 12,
    SHARED_FACTOR = 8,
    SLAB_KMALLOC_MIN_BYTES = 32,
};

/* struct array_cache: the last entry is taken first. */
typedef struct {
    guint avail;
    gboolean touched; /* by an allocation, since the last reap */
    SlabId *entry;
} Array;

typedef struct {
    Array array;
    gint64 n_objects; /* handed out minus taken back on this CPU */
    guint32 n_visits; /* to slabs that were not at hand */
    double freelist_misses;
    guint64 stat[SLAB_OLD_N_STATS];
} OldCpu;

typedef struct {
    SimLock lock;
    Array array;
} Alien;

/* kmem_cache_node, under list_lock; the alien caches, of objects of each other node, under their own. */
typedef struct {
    SimLock list_lock;
    SlabList partial, empty;
    gint64 free_objects, n_slabs;
    guint free_limit;
    Array shared;
    Alien *alien; /* [n_nodes] */
} OldNode;

struct _SlabOldCache {
    PageAllocator *pages;
    SlabArena arena;
    SlabOldGeometry geometry;
    guint index_bytes, line_bytes, slabs_kept;
    double lines_per_index_line; /* below 1 where off-slab freelists share a line */
    guint limit, batch, shared_limit;
    OldCpu *cpu;   /* [n_cpus] */
    OldNode *node; /* [n_nodes] */
};

/* enable_cpucache() */
static guint
array_limit(guint size_bytes, guint page_bytes)
{
    if (size_bytes > 131072)
        return 1;
    if (size_bytes > page_bytes)
        return 8;
    if (size_bytes > 1024)
        return 24;
    return size_bytes > 256 ? 54 : 120;
}

static void
init_nodes(SlabOldCache *cache)
{
    const Machine *machine = cache->pages->machine;
    const MachTopology *topology = machine->topology;

    for (guint i = 0; i < topology->n_nodes; i++) {
        OldNode *node = &cache->node[i];
        guint n_cpus = 0;

        for (guint c = 0; c < topology->n_cpus; c++)
            n_cpus += topology->cpu_node[c] == i;
        sim_lock_init(&node->list_lock, machine->lock_kind, &topology->distance[i], &machine->lock_costs, 1, FALSE);
        node->free_limit = (1 + n_cpus) * cache->batch + cache->geometry.objects;
        node->shared.entry = g_new(SlabId, MAX(cache->shared_limit, 1));
        node->alien = g_new0(Alien, topology->n_nodes);
        for (guint target = 0; target < topology->n_nodes; target++) {
            node->alien[target].array.entry = g_new(SlabId, ALIEN_LIMIT);
            sim_lock_init(&node->alien[target].lock, machine->lock_kind, &topology->distance[i], &machine->lock_costs,
                          1, FALSE);
        }
    }
}

SlabOldCache *
slab_old_cache_new(PageAllocator *pages, SlabOldStage stage, const SlabOldGeometry *geometry, guint slabs_kept,
                   GError **error)
{
    const MachTopology *topology = pages->machine->topology;
    SlabGeometryEnv env = slab_geometry_env_default(pages->kernel, topology->n_cpus);
    guint index_bytes = stage == SLAB_OLD_BYTE_INDEX ? 1 : 4;
    guint freelist = slab_kmalloc_roundup(&env, MAX(geometry->objects * index_bytes, SLAB_KMALLOC_MIN_BYTES));
    SlabOldCache *cache;
    SlabArena arena;

    if (!slab_arena_init(&arena)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "no address space for %d slabs", SLAB_ARENA_MAX);
        return NULL;
    }
    cache = g_new0(SlabOldCache, 1);
    cache->pages = pages;
    cache->arena = arena;
    cache->geometry = *geometry;
    cache->index_bytes = index_bytes;
    cache->slabs_kept = slabs_kept;
    cache->line_bytes = env.cache_line_bytes;
    cache->lines_per_index_line = geometry->is_off_slab ? MIN(1.0, (double) freelist / (double) cache->line_bytes) : 1;
    cache->limit = array_limit(geometry->size_bytes, topology->page_size_bytes);
    cache->batch = (cache->limit + 1) / 2;
    cache->shared_limit =
        geometry->size_bytes <= topology->page_size_bytes && topology->n_cpus > 1 ? SHARED_FACTOR * cache->batch : 0;
    cache->cpu = g_new0(OldCpu, topology->n_cpus);
    cache->node = g_new0(OldNode, topology->n_nodes);
    for (guint i = 0; i < topology->n_cpus; i++)
        cache->cpu[i].array.entry = g_new(SlabId, cache->limit);
    init_nodes(cache);
    return cache;
}

void
slab_old_cache_free(SlabOldCache *cache)
{
    const MachTopology *topology;

    if (!cache)
        return;
    topology = cache->pages->machine->topology;
    for (guint i = 0; i < topology->n_cpus; i++)
        g_free(cache->cpu[i].array.entry);
    for (guint i = 0; i < topology->n_nodes; i++) {
        for (guint target = 0; target < topology->n_nodes; target++) {
            sim_lock_clear(&cache->node[i].alien[target].lock);
            g_free(cache->node[i].alien[target].array.entry);
        }
        sim_lock_clear(&cache->node[i].list_lock);
        g_free(cache->node[i].shared.entry);
        g_free(cache->node[i].alien);
    }
    g_free(cache->cpu);
    g_free(cache->node);
    slab_arena_clear(&cache->arena);
    g_free(cache);
}

static void
lock(MachCpu *cpu, SimLock *l)
{
    sim_lock_acquire(cpu->engine, l, cpu->agent, 0);
    mach_spend(cpu, cpu->machine->costs.hold_base);
}

static void
unlock(MachCpu *cpu, SimLock *l)
{
    sim_lock_release(cpu->engine, l, cpu->agent);
}

/* Under list_lock: struct page and the lines of the indices of `n` objects, the first being `from`. They are at hand
 * when this CPU touched them last and has not visited too many slabs since. */
static void
visit(SlabOldCache *cache, MachCpu *cpu, Slab *slab, guint from, guint n)
{
    const MachTopology *topology = cpu->machine->topology;
    OldCpu *c = &cache->cpu[cpu->id];
    guint first = from * cache->index_bytes / cache->line_bytes,
          last = (from + n - 1) * cache->index_bytes / cache->line_bytes;
    double fetched = (last - first + 1) * cache->lines_per_index_line;
    gboolean is_mine = slab->toucher == cpu->id, is_here = is_mine && c->n_visits - slab->version < cache->slabs_kept;
    SimToucher from_cpu = {slab->toucher, topology->cpu_group[slab->toucher]};
    SimTime transfer;

    slab->toucher = cpu->id;
    slab->version = c->n_visits;
    if (is_here) {
        mach_spend(cpu, 2 * cpu->machine->costs.line_own);
        return;
    }
    c->n_visits++;
    c->freelist_misses += fetched;
    transfer =
        is_mine ? cpu->machine->costs.line_memory : sim_distance(&topology->distance[slab->node], from_cpu, cpu->agent);
    mach_spend(cpu, transfer + (SimTime) ((double) transfer * fetched));
}

/* cache_grow(): a new slab, whose objects are all free. */
static void
grow(SlabOldCache *cache, MachCpu *cpu)
{
    gint got = page_alloc(cache->pages, cpu, cpu->mem_node, cache->geometry.order, FALSE);
    const MachCosts *costs = &cpu->machine->costs;
    OldNode *node;
    Slab *slab;
    SlabId id;

    if (got < 0)
        mach_fail(cpu, "the machine's memory is exhausted");
    node = &cache->node[got];
    mach_spend(cpu, costs->new_slab + cache->geometry.objects * costs->new_slab_object);
    lock(cpu, &node->list_lock);
    id = slab_arena_take(&cache->arena);
    slab = &cache->arena.slab[id];
    slab->objects = (guint16) cache->geometry.objects;
    slab->node = (guint8) got;
    slab->toucher = cpu->id;
    slab_list_add_tail(&cache->arena, &node->empty, id);
    node->free_objects += slab->objects;
    node->n_slabs++;
    cache->cpu[cpu->id].stat[SLAB_OLD_STAT_GROWN]++;
    unlock(cpu, &node->list_lock);
}

/* Under list_lock: as many as wanted from the first partial slab, else the first empty one. 0 when there is none. */
static guint
take_from_slab(SlabOldCache *cache, MachCpu *cpu, OldNode *node, guint wanted, SlabId *ret_objects)
{
    SlabId id = node->partial.head ? node->partial.head : node->empty.head;
    Slab *slab = &cache->arena.slab[id];
    guint n;

    if (!id)
        return 0;
    n = MIN(wanted, (guint) (slab->objects - slab->inuse));
    visit(cache, cpu, slab, slab->inuse, n);
    mach_spend(cpu, cpu->machine->costs.hold_slab + n * cpu->machine->costs.bulk_object);
    slab_list_remove(&cache->arena, slab->inuse ? &node->partial : &node->empty, id);
    slab->inuse = (guint16) (slab->inuse + n);
    node->free_objects -= n;
    if (slab->inuse < slab->objects)
        slab_list_add_head(&cache->arena, &node->partial, id);
    for (guint i = 0; i < n; i++)
        ret_objects[i] = id;
    return n;
}

/* cache_alloc_refill() */
static void
refill(SlabOldCache *cache, MachCpu *cpu)
{
    OldNode *node = &cache->node[cpu->mem_node];
    OldCpu *c = &cache->cpu[cpu->id];
    guint n;

    while (c->array.avail == 0) {
        lock(cpu, &node->list_lock);
        n = MIN(node->shared.avail, cache->batch);
        for (guint i = 0; i < n; i++)
            c->array.entry[c->array.avail++] = node->shared.entry[--node->shared.avail];
        mach_spend(cpu, n * cpu->machine->costs.bulk_object);
        c->stat[SLAB_OLD_STAT_SHARED_OUT] += n;
        node->shared.touched |= n > 0;
        while (n == 0 && c->array.avail < cache->batch) {
            guint got =
                take_from_slab(cache, cpu, node, cache->batch - c->array.avail, &c->array.entry[c->array.avail]);

            if (got == 0)
                break;
            c->array.avail += got;
        }
        unlock(cpu, &node->list_lock);
        if (c->array.avail == 0)
            grow(cache, cpu);
    }
}

SlabId
slab_old_cache_take(SlabOldCache *cache, MachCpu *cpu)
{
    OldCpu *c = &cache->cpu[cpu->id];

    sim_private(cpu->engine, cpu->agent);
    c->stat[c->array.avail ? SLAB_OLD_STAT_ALLOC_HIT : SLAB_OLD_STAT_ALLOC_MISS]++;
    if (c->array.avail == 0)
        refill(cache, cpu);
    c->array.touched = TRUE;
    c->n_objects++;
    mach_spend(cpu, cpu->machine->costs.alloc_fast);
    return c->array.entry[--c->array.avail];
}

static void
destroy_slabs(SlabOldCache *cache, MachCpu *cpu, OldNode *node, SlabId first)
{
    while (first) {
        SlabId id = first;
        guint home = cache->arena.slab[id].node;

        first = cache->arena.slab[id].next;
        sim_sync(cpu->engine, cpu->agent);
        slab_arena_give(&cache->arena, id);
        node->n_slabs--;
        cache->cpu[cpu->id].stat[SLAB_OLD_STAT_DESTROYED]++;
        mach_spend(cpu, cpu->machine->costs.discard_slab);
        page_free(cache->pages, cpu, home, cache->geometry.order);
    }
}

/* free_block() under the node's list_lock. Returns the slabs to destroy, linked by next. */
static SlabId
free_block(SlabOldCache *cache, MachCpu *cpu, OldNode *node, const SlabId *objects, guint n)
{
    SlabId doomed = 0;

    for (guint i = 0; i < n; i++) {
        SlabId id = objects[i];
        Slab *slab = &cache->arena.slab[id];

        visit(cache, cpu, slab, slab->inuse - 1u, 1);
        mach_spend(cpu, cpu->machine->costs.bulk_object);
        if (slab->inuse < slab->objects)
            slab_list_remove(&cache->arena, &node->partial, id);
        slab->inuse--;
        node->free_objects++;
        if (slab->inuse) {
            slab_list_add_tail(&cache->arena, &node->partial, id);
        } else if (node->free_objects > node->free_limit) {
            node->free_objects -= slab->objects;
            slab->next = doomed;
            doomed = id;
        } else {
            slab_list_add_head(&cache->arena, &node->empty, id);
        }
    }
    return doomed;
}

/* Under list_lock: as many of the objects as the shared array has room for. */
static guint
give_shared(SlabOldCache *cache, MachCpu *cpu, OldNode *node, const SlabId *objects, guint n)
{
    guint n_shared = MIN(cache->shared_limit - node->shared.avail, n);

    for (guint i = 0; i < n_shared; i++)
        node->shared.entry[node->shared.avail++] = objects[i];
    mach_spend(cpu, n_shared * cpu->machine->costs.bulk_object);
    cache->cpu[cpu->id].stat[SLAB_OLD_STAT_SHARED_IN] += n_shared;
    return n_shared;
}

/* Takes the oldest `n` out of an array. */
static void
drop_oldest(Array *array, guint n)
{
    array->avail -= n;
    memmove(array->entry, array->entry + n, array->avail * sizeof *array->entry);
}

/* __drain_alien_cache(): the shared array first, the rest to slabs. */
static void
drain_alien(SlabOldCache *cache, MachCpu *cpu, OldNode *home, const SlabId *objects, guint n)
{
    SlabId doomed;
    guint n_shared;

    lock(cpu, &home->list_lock);
    n_shared = give_shared(cache, cpu, home, objects, n);
    doomed = free_block(cache, cpu, home, objects + n_shared, n - n_shared);
    unlock(cpu, &home->list_lock);
    destroy_slabs(cache, cpu, home, doomed);
}

/* cache_free_alien(): FALSE when the object is of the CPU's own node. Unlike there, the full alien cache is emptied
 * after its lock is let go: a CPU of this model holds one lock at a time. */
static gboolean
give_alien(SlabOldCache *cache, MachCpu *cpu, SlabId object)
{
    guint target = cache->arena.slab[object].node;
    Alien *alien = &cache->node[cpu->node].alien[target];
    SlabId drained[ALIEN_LIMIT];
    guint n_drained = 0;

    if (target == cpu->mem_node)
        return FALSE;
    lock(cpu, &alien->lock);
    if (alien->array.avail == ALIEN_LIMIT) {
        memcpy(drained, alien->array.entry, sizeof drained);
        n_drained = ALIEN_LIMIT;
        alien->array.avail = 0;
    }
    alien->array.entry[alien->array.avail++] = object;
    unlock(cpu, &alien->lock);
    if (n_drained) {
        cache->cpu[cpu->id].stat[SLAB_OLD_STAT_ALIEN_DRAIN]++;
        drain_alien(cache, cpu, &cache->node[target], drained, n_drained);
    }
    return TRUE;
}

/* cache_flusharray(): what fits the shared array, and only if nothing does, a batch to the slabs. */
static void
flush_array(SlabOldCache *cache, MachCpu *cpu, OldNode *node, Array *array)
{
    SlabId doomed = 0;
    guint n;

    lock(cpu, &node->list_lock);
    n = give_shared(cache, cpu, node, array->entry, cache->batch);
    if (n == 0) {
        n = cache->batch;
        doomed = free_block(cache, cpu, node, array->entry, n);
    }
    unlock(cpu, &node->list_lock);
    drop_oldest(array, n);
    destroy_slabs(cache, cpu, node, doomed);
}

void
slab_old_cache_give(SlabOldCache *cache, MachCpu *cpu, SlabId object)
{
    OldCpu *c = &cache->cpu[cpu->id];

    sim_private(cpu->engine, cpu->agent);
    c->n_objects--;
    mach_spend(cpu, cpu->machine->costs.free_fast);
    if (give_alien(cache, cpu, object))
        return;
    if (c->array.avail < cache->limit) {
        c->stat[SLAB_OLD_STAT_FREE_HIT]++;
    } else {
        c->stat[SLAB_OLD_STAT_FREE_MISS]++;
        flush_array(cache, cpu, &cache->node[cpu->mem_node], &c->array);
    }
    c->array.entry[c->array.avail++] = object;
}

/* drain_array(), without force. */
static void
reap_array(SlabOldCache *cache, MachCpu *cpu, OldNode *node, Array *array, guint limit)
{
    guint n;
    SlabId doomed;

    if (array->avail == 0)
        return;
    if (array->touched) {
        array->touched = FALSE;
        return;
    }
    lock(cpu, &node->list_lock);
    n = (limit + 4) / 5;
    if (n > array->avail)
        n = (array->avail + 1) / 2;
    doomed = free_block(cache, cpu, node, array->entry, n);
    drop_oldest(array, n);
    unlock(cpu, &node->list_lock);
    cache->cpu[cpu->id].stat[SLAB_OLD_STAT_REAPED] += n;
    destroy_slabs(cache, cpu, node, doomed);
}

void
slab_old_cache_reap(SlabOldCache *cache, MachCpu *cpu)
{
    OldNode *node = &cache->node[cpu->mem_node];

    reap_array(cache, cpu, node, &cache->cpu[cpu->id].array, cache->limit);
    sim_sync(cpu->engine, cpu->agent);
    reap_array(cache, cpu, node, &node->shared, cache->shared_limit);
}

guint64
slab_old_cache_stat(const SlabOldCache *cache, SlabOldStat stat)
{
    guint64 sum = 0;

    for (guint i = 0; i < cache->pages->machine->n_cpus; i++)
        sum += cache->cpu[i].stat[stat];
    return sum;
}

guint64
slab_old_cache_slabs(const SlabOldCache *cache)
{
    gint64 sum = 0;

    for (guint i = 0; i < cache->pages->machine->topology->n_nodes; i++)
        sum += cache->node[i].n_slabs;
    return (guint64) sum;
}

double
slab_old_cache_freelist_misses(const SlabOldCache *cache)
{
    double sum = 0;

    for (guint i = 0; i < cache->pages->machine->n_cpus; i++)
        sum += cache->cpu[i].freelist_misses;
    return sum;
}

void
slab_old_cache_limits(const SlabOldCache *cache, guint *ret_limit, guint *ret_batch)
{
    *ret_limit = cache->limit;
    *ret_batch = cache->batch;
}

char *
slab_old_cache_check(const SlabOldCache *cache)
{
    const MachTopology *topology = cache->pages->machine->topology;
    GString *why = g_string_new(NULL);
    gint64 handed_out = 0, cached = 0, inuse = 0, n_slabs = 0;

    for (guint i = 0; i < topology->n_cpus; i++) {
        handed_out += cache->cpu[i].n_objects;
        cached += cache->cpu[i].array.avail;
    }
    for (guint i = 0; i < topology->n_nodes; i++) {
        const OldNode *node = &cache->node[i];
        gint64 n_free = 0;

        cached += node->shared.avail;
        for (guint target = 0; target < topology->n_nodes; target++)
            cached += node->alien[target].array.avail;
        for (SlabId id = 1; id < cache->arena.n_used; id++)
            if (cache->arena.slab[id].objects && cache->arena.slab[id].node == i)
                n_free += cache->arena.slab[id].objects - cache->arena.slab[id].inuse;
        if (n_free != node->free_objects)
            g_string_append_printf(why, "node %u: %" G_GINT64_FORMAT " objects free, counted %" G_GINT64_FORMAT "; ", i,
                                   n_free, node->free_objects);
    }
    for (SlabId id = 1; id < cache->arena.n_used; id++) {
        inuse += cache->arena.slab[id].objects ? cache->arena.slab[id].inuse : 0;
        n_slabs += cache->arena.slab[id].objects != 0;
    }
    if (inuse != handed_out + cached || n_slabs != (gint64) slab_old_cache_slabs(cache))
        g_string_append_printf(why,
                               "%" G_GINT64_FORMAT " objects out of slabs, %" G_GINT64_FORMAT
                               " handed out, %" G_GINT64_FORMAT " in arrays; %" G_GINT64_FORMAT " slabs; ",
                               inuse, handed_out, cached, n_slabs);
    return g_string_free(why, why->len == 0);
}
