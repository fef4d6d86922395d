/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"

#include "replay-delay.h"
#include "replay-guide.h"
#include "replay-machine.h"
#include "replay-private.h"
#include "replay-write.h"
#include "sim-error.h"

enum {
    NOT_ASKED = -2,
    REFUSED = -1,
    NO_CACHE = 0, /* of a live object: it is not from a slab */
};

static void
cache_free(gpointer data)
{
    ReplayCache *cache = data;

    g_free(cache->name);
    replay_table_clear(&cache->slabs);
    for (GArray **pool = cache->pool; *pool; pool++)
        g_array_unref(*pool);
    g_free(cache->pool);
    g_free(cache->first_slab);
    g_free(cache->before);
    g_free(cache->cache);
    g_free(cache);
}

Replay *
replay_new(const ReplayParams *params, const ReplayCatalog *catalog, ReplayNames *names, MachTopology *topology,
           GError **error)
{
    g_autoptr(Replay) replay = g_new0(Replay, 1);
    guint kernel = catalog->listing->env.kernel;

    replay->params = *params;
    replay->catalog = catalog;
    replay->names = names;
    replay->topology = topology;
    replay->world = g_new0(ReplayWorld, params->n_starts);
    replay->caches = g_ptr_array_new_with_free_func(cache_free);
    replay->cache_of = g_array_new(FALSE, FALSE, sizeof(gint));
    replay->scratch = g_new(SlabId, KMEM_BULK_SHOWN);
    replay->delay = replay_delay_new(params);
    replay->first_time_ns = G_MAXINT64;
    replay_table_init(&replay->objects, 1 + params->n_starts * params->n_copies);
    for (guint i = 0; i < params->n_starts; i++) {
        ReplayWorld *world = &replay->world[i];

        world->old = g_array_new(FALSE, TRUE, sizeof(guint16));
        world->machine = replay_machine_new(topology, params->seed, i);
        world->system = slub_system_new(world->machine, kernel, 100, error);
        if (!world->system)
            return NULL;
        sim_rng_init(&world->rng, params->seed, i, "replay", "unknown start");
    }
    if (params->follow_until_ns > G_MININT64)
        replay->guide = replay_guide_new(replay);
    return g_steal_pointer(&replay);
}

void
replay_free(Replay *replay)
{
    if (!replay)
        return;
    replay_guide_free(replay->guide);
    replay_delay_free(replay->delay);
    g_ptr_array_unref(replay->caches);
    for (guint i = 0; i < replay->params.n_starts; i++) {
        slub_system_free(replay->world[i].system);
        if (replay->world[i].old)
            g_array_unref(replay->world[i].old);
        mach_machine_free(replay->world[i].machine);
    }
    g_free(replay->world);
    mach_topology_free(replay->topology);
    g_array_unref(replay->cache_of);
    replay_table_clear(&replay->objects);
    g_clear_error(&replay->failure);
    g_free(replay->scratch);
    g_free(replay);
}

/* The cache that has the same row of the listing under another name, NULL without one. */
static ReplayCache *
find_row(const Replay *replay, gint row, gint *ret_index)
{
    for (guint i = 0; row >= 0 && i < replay->caches->len; i++) {
        ReplayCache *cache = g_ptr_array_index(replay->caches, i);

        if (cache->row == row) {
            *ret_index = (gint) i;
            return cache;
        }
    }
    return NULL;
}

static gint
add_cache(Replay *replay, const char *name, gint row, const SlabGeometry *geometry, GError **error)
{
    ReplayCache *cache;
    guint n_starts = replay->params.n_starts;

    if (replay->guide && geometry->sheaf_capacity) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s has sheaves, whose steps are not followed", name);
        return REFUSED;
    }
    cache = g_new0(ReplayCache, 1);
    cache->name = g_strdup(name);
    cache->row = row;
    cache->geometry = *geometry;
    cache->slab_shift = (guint) g_bit_nth_msf(replay->names->env.page_size_bytes, -1) +
                        replay_catalog_recorded_order(replay->catalog, row, geometry);
    cache->pool = g_new0(GArray *, n_starts + 1);
    cache->cache = g_new0(SlubCache *, n_starts);
    cache->before = g_new0(ReplayCounts, n_starts);
    cache->first_slab = g_new0(guint64, replay->params.n_traced_cpus);
    /* Without a listing, with other settings or copies, the slab a CPU began with is not this one. */
    for (guint i = 0; i < replay->params.n_traced_cpus; i++)
        if (replay->guide || !replay->params.reads_first_slabs || !replay_catalog_state(replay->catalog, row))
            cache->first_slab[i] = G_MAXUINT64;
    replay_table_init(&cache->slabs, n_starts);
    for (guint i = 0; i < n_starts; i++) {
        cache->cache[i] = slub_cache_new(replay->world[i].system, name, geometry, 0, FALSE);
        replay_start_cache(replay, cache, i);
    }
    g_ptr_array_add(replay->caches, cache);
    return (gint) replay->caches->len - 1;
}

/* Index of the cache with a name's number. `bytes_alloc` 0: only when it is known already or listed. */
static gint
cache_index(Replay *replay, guint number, guint bytes_alloc)
{
    const char *name = replay_names_text(replay->names, number);
    SlabGeometry geometry;
    g_autoptr(GError) error = NULL;
    gint *index, row;

    while (number >= replay->cache_of->len) {
        gint unknown = NOT_ASKED;
        g_array_append_val(replay->cache_of, unknown);
    }
    index = &g_array_index(replay->cache_of, gint, number);
    if (G_LIKELY(*index != NOT_ASKED))
        return *index;
    row = replay_catalog_row(replay->catalog, name);
    if (row < 0 && bytes_alloc == 0)
        return REFUSED;
    if (find_row(replay, row, index))
        return *index;
    *index = REFUSED;
    if (replay_catalog_geometry(replay->catalog, row, name, bytes_alloc, &geometry, &error))
        *index = add_cache(replay, name, row, &geometry, &error);
    if (error && !replay->failure)
        replay->failure = g_steal_pointer(&error);
    return *index;
}

static ReplayCache *
cache_of(Replay *replay, const KmemEvent *event, gint *ret_index)
{
    gint number = replay_names_find(replay->names, event);
    gint index;

    if (number < 0 && event->op == KMEM_FREE)
        number = replay_names_find_by_page(replay->names, event->ptr);
    index = number < 0 ? REFUSED : cache_index(replay, (guint) number, event->bytes_alloc);

    *ret_index = index;
    return index < 0 ? NULL : g_ptr_array_index(replay->caches, index);
}

static void
free_object(Replay *replay, const KmemEvent *event, guint64 ptr, guint32 *object)
{
    ReplayCache *cache;

    replay->last_free_cache = (gint) object[0] - 1;
    if (object[0] != NO_CACHE) {
        cache = g_ptr_array_index(replay->caches, object[0] - 1);
        cache->n_frees++;
        if (replay->guide) {
            KmemEvent single = *event;

            single.op = KMEM_FREE;
            single.ptr = ptr;
            replay_guide_feed(replay->guide, &single, (gint) object[0] - 1);
        }
        if (!replay->guide)
            replay_delay_hold(replay, event->cpu, ptr, cache, object);
    }
    replay_table_remove(&replay->objects, object);
}

/* A row for a new object. One that is live already was freed unseen. */
static guint32 *
new_object(Replay *replay, const KmemEvent *event, guint64 ptr, gint cache_number)
{
    guint32 *object = replay_table_find(&replay->objects, ptr);

    replay_delay_settle_object(replay, ptr);
    if (object) {
        replay->n_reused++;
        free_object(replay, event, ptr, object);
        replay_delay_settle(replay, event->cpu);
    }
    object = replay_table_add(&replay->objects, ptr);
    object[0] = (guint32) (cache_number + 1);
    return object;
}

static void
alloc_object(Replay *replay, const KmemEvent *event)
{
    gint index;
    ReplayCache *cache = cache_of(replay, event, &index);
    guint32 *object = new_object(replay, event, event->ptr, index);
    gint node = event->node >= 0 && (guint) event->node < replay->topology->n_nodes ? event->node : SLUB_NO_NODE;

    if (!cache)
        return;
    cache->n_allocs++;
    if (replay->guide) {
        replay_guide_feed(replay->guide, event, index);
        return;
    }
    if (cache->first_slab[event->cpu] != G_MAXUINT64)
        replay_start_reveal(replay, cache, event->cpu, &event->ptr, 1);
    for (guint start = 0; start < replay->params.n_starts; start++)
        for (guint copy = 0; copy < replay->params.n_copies; copy++)
            object[1 + start * replay->params.n_copies + copy] =
                slub_alloc_node(cache->cache[start], replay_cpu(replay, start, event->cpu, copy), node);
}

/* Into `scratch`. A replay that is written shows the slow calls of each object, which a bulk call of sheaves has not.
 */
static void
alloc_objects(Replay *replay, const KmemEvent *event, gint index, SlubCache *slub, MachCpu *cpu)
{
    guint n_at_once = replay->write && !slub->sheaves ? 1 : event->n_shown;

    for (guint i = 0; i < event->n_shown; i += n_at_once) {
        slub_alloc_bulk(slub, cpu, n_at_once, replay->scratch + i);
        if (replay->write)
            replay_write_part(replay->write, replay, event, index);
    }
}

static void
alloc_bulk(Replay *replay, const KmemEvent *event)
{
    const ReplayParams *params = &replay->params;
    gint index;
    ReplayCache *cache = cache_of(replay, event, &index);

    for (guint i = 0; i < event->n_shown; i++)
        new_object(replay, event, event->ptrs[i], index);
    if (!cache) {
        replay->n_sizeless += event->n_shown;
        return;
    }
    cache->n_allocs += event->n_shown;
    if (replay->guide) {
        replay_guide_feed(replay->guide, event, index);
        return;
    }
    if (cache->first_slab[event->cpu] != G_MAXUINT64)
        replay_start_reveal(replay, cache, event->cpu, event->ptrs, event->n_shown);
    for (guint start = 0; start < params->n_starts; start++)
        for (guint copy = 0; copy < params->n_copies; copy++) {
            alloc_objects(replay, event, index, cache->cache[start], replay_cpu(replay, start, event->cpu, copy));
            for (guint i = 0; i < event->n_shown; i++)
                replay_table_find(&replay->objects, event->ptrs[i])[1 + start * params->n_copies + copy] =
                    replay->scratch[i];
        }
}

/* An object from before the trace becomes known, as far as it can: to live objects of the same form as all others. */
static guint32 *
adopt_object(Replay *replay, const KmemEvent *event, guint64 ptr)
{
    KmemEvent single = *event;
    gint index;
    ReplayCache *cache;
    guint32 *object;

    single.op = KMEM_FREE;
    single.ptr = ptr;
    cache = cache_of(replay, &single, &index);

    replay->n_unmatched_frees++;
    replay->last_free_cache = REFUSED;
    if (!cache) {
        replay->n_unknown_frees++;
        return NULL;
    }
    cache->n_unmatched_frees++;
    object = replay_table_add(&replay->objects, ptr);
    object[0] = (guint32) (index + 1);
    for (guint start = 0; start < replay->params.n_starts && !replay->guide; start++)
        for (guint copy = 0; copy < replay->params.n_copies; copy++) {
            const MachCpu *cpu = replay_cpu(replay, start, event->cpu, copy);

            object[1 + start * replay->params.n_copies + copy] = replay_start_slab(
                replay, cache, start, (ptr >> cache->slab_shift) + ((guint64) copy << 52), cpu->mem_node);
        }
    return object;
}

static void
free_bulk(Replay *replay, const KmemEvent *event)
{
    const ReplayParams *params = &replay->params;
    guint64 ptrs[KMEM_BULK_SHOWN];
    ReplayCache *cache = NULL;
    gint cache_number = REFUSED;
    guint n = 0;

    /* kfree_bulk() may mix caches: the kernel groups by slab, and so the order of the rest does not change. */
    for (guint i = 0; i < event->n_shown; i++) {
        guint32 *object = replay_table_find(&replay->objects, event->ptrs[i]);
        ReplayCache *its;

        if (!object)
            object = adopt_object(replay, event, event->ptrs[i]);
        if (!object || object[0] == NO_CACHE) {
            if (object)
                replay_table_remove(&replay->objects, object);
            continue;
        }
        its = g_ptr_array_index(replay->caches, object[0] - 1);
        if (cache && its != cache) {
            free_object(replay, event, event->ptrs[i], object);
            continue;
        }
        cache = its;
        replay->last_free_cache = cache_number = (gint) object[0] - 1;
        ptrs[n++] = event->ptrs[i];
    }
    if (replay->guide && n) {
        KmemEvent whole = *event;

        whole.ptrs = ptrs;
        whole.n_shown = n;
        replay_guide_feed(replay->guide, &whole, cache_number);
    }
    for (guint start = 0; start < params->n_starts && n && !replay->guide; start++)
        for (guint copy = 0; copy < params->n_copies; copy++) {
            for (guint i = 0; i < n; i++)
                replay->scratch[i] =
                    replay_object_slab(replay, replay_table_find(&replay->objects, ptrs[i]), start, copy);
            slub_free_bulk(cache->cache[start], replay_cpu(replay, start, event->cpu, copy), n, replay->scratch);
        }
    for (guint i = 0; i < n; i++) {
        guint32 *object = replay_table_find(&replay->objects, ptrs[i]);

        cache->n_frees++;
        if (object)
            replay_table_remove(&replay->objects, object);
    }
}

static void
note_probe(Replay *replay, const KmemEvent *event)
{
    gint index;
    ReplayCache *cache = cache_of(replay, event, &index);

    if (!cache)
        return;
    cache->traced.calls[event->probe]++;
    if (replay->guide)
        replay_guide_feed(replay->guide, event, index);
}

/* From here on the model is alone, and what it counts is compared with the rest of the trace. */
static void
stop_following(Replay *replay)
{
    replay_guide_hand_over(replay->guide);
    g_clear_pointer(&replay->guide, replay_guide_free);
    for (guint i = 0; i < replay->caches->len; i++) {
        ReplayCache *cache = g_ptr_array_index(replay->caches, i);

        for (guint start = 0; start < replay->params.n_starts; start++)
            cache->before[start] = replay_counts(cache, start);
        cache->followed = cache->traced;
        cache->traced = (ReplayCounts){0};
    }
}

gboolean
replay_feed(Replay *replay, const KmemEvent *event, GError **error)
{
    guint32 *object;

    if (event->op == KMEM_LOST)
        return TRUE;
    if (event->cpu >= replay->params.n_traced_cpus) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "an event on CPU %u, but the machine has %u CPUs", event->cpu,
                    replay->params.n_traced_cpus);
        return FALSE;
    }
    if (replay->guide && event->time_ns > replay->params.follow_until_ns)
        stop_following(replay);
    replay->n_events++;
    replay->first_time_ns = MIN(replay->first_time_ns, event->time_ns);
    replay->last_time_ns = event->time_ns;
    if (event->op != KMEM_PROBE)
        replay_delay_settle(replay, event->cpu);
    switch (event->op) {
    case KMEM_ALLOC:
        alloc_object(replay, event);
        break;
    case KMEM_FREE:
        object = replay_table_find(&replay->objects, event->ptr);
        if (!object)
            object = adopt_object(replay, event, event->ptr);
        if (object)
            free_object(replay, event, event->ptr, object);
        break;
    case KMEM_ALLOC_BULK:
        alloc_bulk(replay, event);
        break;
    case KMEM_FREE_BULK:
        free_bulk(replay, event);
        break;
    case KMEM_PROBE:
        note_probe(replay, event);
        break;
    case KMEM_LOST:
        break;
    }
    return TRUE;
}

void
replay_finish(Replay *replay)
{
    for (guint cpu = 0; cpu < replay->params.n_traced_cpus; cpu++)
        replay_delay_settle(replay, cpu);
    if (replay->guide)
        replay_guide_finish(replay->guide);
}

guint64
replay_n_list_locks(const SlubCache *slub)
{
    guint64 n = 0;

    for (guint node = 0; node < slub->system->machine->topology->n_nodes; node++)
        n += slub->node[node].list_lock.sites[SLUB_LOCK_GET_PARTIAL_NODE].acquisitions +
             slub->node[node].list_lock.sites[SLUB_LOCK_GET_ANY_PARTIAL].acquisitions;
    return n;
}

gboolean
replay_has_function(const SlubCache *slub, KmemProbe probe)
{
    return slub->below->has_cpu_slab || probe == KMEM_PROBE_ALLOC_SLOW || probe == KMEM_PROBE_FREE_SLOW ||
           probe == KMEM_PROBE_NEW_SLAB || probe == KMEM_PROBE_DISCARD_SLAB;
}

ReplayCounts
replay_counts_of(const SlubCache *slub, const SlubCpu *counters, guint64 n_list_locks)
{
    const guint64 *stat = counters->stat;
    ReplayCounts counts = {0};

    counts.calls[KMEM_PROBE_NEW_SLAB] = stat[SLAB_STAT_ALLOC_SLAB];
    counts.calls[KMEM_PROBE_DISCARD_SLAB] = stat[SLAB_STAT_FREE_SLAB];
    if (!slub->below->has_cpu_slab) {
        counts.calls[KMEM_PROBE_ALLOC_SLOW] = counters->n_slab_alloc;
        counts.calls[KMEM_PROBE_FREE_SLOW] = counters->n_slab_free;
        return counts;
    }
    counts.calls[KMEM_PROBE_ALLOC_SLOW] = stat[SLAB_STAT_ALLOC_SLOWPATH];
    counts.calls[KMEM_PROBE_FREE_SLOW] = stat[SLAB_STAT_FREE_SLOWPATH];
    counts.calls[KMEM_PROBE_GET_PARTIAL_NODE] = n_list_locks;
    counts.calls[KMEM_PROBE_PUT_CPU_PARTIAL] = stat[SLAB_STAT_CPU_PARTIAL_FREE] + stat[SLAB_STAT_CPU_PARTIAL_NODE];
    counts.calls[KMEM_PROBE_UNFREEZE] = stat[SLAB_STAT_CPU_PARTIAL_DRAIN];
    counts.calls[KMEM_PROBE_DEACTIVATE] = stat[SLAB_STAT_ALLOC_NODE_MISMATCH] + stat[SLAB_STAT_CPUSLAB_FLUSH];
    return counts;
}

ReplayCounts
replay_counts(const ReplayCache *cache, guint start)
{
    const SlubCache *slub = cache->cache[start];
    SlubCpu sum = {0};
    ReplayCounts counts;

    for (guint id = 0; id < slub->system->machine->n_cpus; id++) {
        const SlubCpu *c = &slub->cpu[id];

        for (guint i = 0; i < SLAB_N_STATS; i++)
            sum.stat[i] += c->stat[i];
        sum.n_slab_alloc += c->n_slab_alloc;
        sum.n_slab_free += c->n_slab_free;
    }
    counts = replay_counts_of(slub, &sum, replay_n_list_locks(slub));
    for (guint i = 0; i < KMEM_N_PROBES; i++)
        counts.calls[i] -= cache->before[start].calls[i];
    return counts;
}

gsize
replay_n_live(const Replay *replay)
{
    return replay->objects.n_keys;
}

char *
replay_check(const Replay *replay)
{
    for (guint i = 0; i < replay->caches->len; i++) {
        const ReplayCache *cache = g_ptr_array_index(replay->caches, i);

        for (guint start = 0; start < replay->params.n_starts; start++) {
            g_autofree char *why = slub_cache_check(cache->cache[start]);
            if (why)
                return g_strdup_printf("%s: %s", cache->name, why);
        }
    }
    return NULL;
}
