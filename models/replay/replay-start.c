/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state before the first event. Known are counts (how many slabs are full, partial, on which CPU), where a
 * listing was taken; unknown, and drawn, are which slab is how full, which CPUs have the cpu slabs, and which of the
 * slabs is the one of a recorded address. */
#include "replay-private.h"
#include "slub-place.h"

static guint
count_at(const GArray *counts, guint place)
{
    for (guint i = 0; i < counts->len; i++)
        if (g_array_index(counts, ReplayCount, i).node == place)
            return g_array_index(counts, ReplayCount, i).count;
    return 0;
}

/* `n_objects` spread over `n` slabs of at most `max` each, every way of cutting the whole being alike; `inuse` [n]. */
static void
spread(SimRng *rng, guint n_objects, guint n, guint max, guint *inuse)
{
    guint left = MIN(n_objects, n * max);

    for (guint i = 0; i < n; i++)
        inuse[i] = 0;
    while (left) {
        guint part = (guint) sim_rng_below(rng, MIN(left, max)) + 1;
        guint i = (guint) sim_rng_below(rng, n);

        part = MIN(part, max - inuse[i]);
        inuse[i] += part;
        left -= part;
    }
}

static int
compare_fullest_first(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *) a, y = *(const guint *) b;

    return x > y ? -1 : x < y;
}

/* A slab of the start state. */
static void
lay_slab(Replay *replay, ReplayCache *cache, guint start, guint node, guint n_inuse, SlubPlace place, guint cpu)
{
    SlabId id = slub_place_new(cache->cache[start], node, n_inuse, place, cpu);

    *replay_old_objects(replay, start, id) = (guint16) n_inuse;
    g_array_append_val(cache->pool[start], id);
}

/* Recordings begin after a shrink, which sorts the list, fullest first. */
static void
lay_partial(Replay *replay, ReplayCache *cache, guint start, guint node, guint n, guint n_objects)
{
    SimRng *rng = &replay->world[start].rng;
    g_autofree guint *inuse = g_new(guint, MAX(n, 1));

    spread(rng, n_objects, n, cache->geometry.objects - 1, inuse);
    qsort(inuse, n, sizeof *inuse, compare_fullest_first);
    for (guint i = 0; i < n; i++)
        lay_slab(replay, cache, start, node, inuse[i], SLUB_PLACE_NODE_TAIL, 0);
}

/* CPUs of a node that have no cpu slab yet, one of them drawn; MACH_NO_CPU when there is none. */
static guint
draw_cpu(const ReplayCache *cache, const MachTopology *topology, guint start, SimRng *rng, guint node)
{
    guint n = 0, chosen = MACH_NO_CPU;

    for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
        if (topology->cpu_node[cpu] == node && !cache->cache[start]->cpu[cpu].slab && sim_rng_below(rng, ++n) == 0)
            chosen = cpu;
    return chosen;
}

/* Slabs that CPUs held in the recording lie on their node's list where CPUs hold none, or sheaves first. */
static gboolean
holds_slabs(const SlubCache *slub)
{
    return slub->below->has_cpu_slab && !slub->sheaves;
}

static void
lay_cpu_slabs(Replay *replay, ReplayCache *cache, guint start, guint node, guint n)
{
    SimRng *rng = &replay->world[start].rng;

    while (n--) {
        guint cpu = draw_cpu(cache, replay->topology, start, rng, node);
        guint inuse = cache->geometry.objects - (guint) sim_rng_below(rng, cache->geometry.objects);

        if (cpu == MACH_NO_CPU || (inuse == cache->geometry.objects && !holds_slabs(cache->cache[start])))
            lay_slab(replay, cache, start, node, cache->geometry.objects, SLUB_PLACE_NONE, 0);
        else
            lay_slab(replay, cache, start, node, inuse,
                     holds_slabs(cache->cache[start]) ? SLUB_PLACE_CPU : SLUB_PLACE_NODE_TAIL, cpu);
    }
}

static void
lay_cpu_partial(Replay *replay, ReplayCache *cache, guint start, const GArray *lists, guint *n_by_node)
{
    const MachTopology *topology = replay->topology;
    SimRng *rng = &replay->world[start].rng;

    for (guint i = 0; i < lists->len; i++) {
        ReplayCount list = g_array_index(lists, ReplayCount, i);

        for (guint j = 0; list.node < topology->n_cpus && j < list.count; j++) {
            guint node = topology->node_mem[topology->cpu_node[list.node]];
            guint inuse = (guint) sim_rng_below(rng, cache->geometry.objects);

            lay_slab(replay, cache, start, node, inuse,
                     holds_slabs(cache->cache[start]) ? SLUB_PLACE_CPU_PARTIAL : SLUB_PLACE_NODE_TAIL, list.node);
            n_by_node[node]++;
        }
    }
}

void
replay_start_cache(Replay *replay, ReplayCache *cache, guint start)
{
    const ReplayCacheState *state = replay_catalog_state(replay->catalog, cache->row);
    const MachTopology *topology = replay->topology;
    g_autofree guint *n_cpu_partial = g_new0(guint, topology->n_nodes);

    cache->pool[start] = g_array_new(FALSE, FALSE, sizeof(SlabId));
    if (!state)
        return;
    lay_cpu_partial(replay, cache, start, state->cpu_partial, n_cpu_partial);
    for (guint node = 0; node < topology->n_nodes; node++) {
        guint n_slabs = count_at(state->slabs, node), n_partial = count_at(state->partial, node);
        guint n_cpu = count_at(state->cpu_slabs, node);
        guint n_cpu_slabs = n_cpu > n_cpu_partial[node] ? n_cpu - n_cpu_partial[node] : 0;
        guint n_known = n_partial + n_cpu_partial[node] + n_cpu_slabs;

        lay_partial(replay, cache, start, node, n_partial, count_at(state->objects_partial, node));
        lay_cpu_slabs(replay, cache, start, node, n_cpu_slabs);
        for (guint i = n_known; i < n_slabs; i++)
            lay_slab(replay, cache, start, node, cache->geometry.objects, SLUB_PLACE_NONE, 0);
    }
}

/* A start slab for a recorded slab, drawn with a chance in proportion to its objects from before the trace. */
static SlabId
draw_slab(Replay *replay, ReplayCache *cache, guint start)
{
    SimRng *rng = &replay->world[start].rng;
    GArray *pool = cache->pool[start];
    guint n_tries = 64;

    while (pool->len && n_tries--) {
        guint i = (guint) sim_rng_below(rng, pool->len);
        SlabId id = g_array_index(pool, SlabId, i);

        if (sim_rng_below(rng, cache->geometry.objects) < *replay_old_objects(replay, start, id)) {
            g_array_remove_index_fast(pool, i);
            return id;
        }
    }
    return 0;
}

SlabId
replay_start_slab(Replay *replay, ReplayCache *cache, guint start, guint64 recorded_slab, guint node)
{
    guint32 *row = replay_table_add(&cache->slabs, recorded_slab + 1);
    const Slab *arena = replay->world[start].system->arena.slab;
    SlabId id = row[start];

    /* Numbers of slabs are used again, also by other caches. */
    if (!id || arena[id].cache != cache->cache[start]->index || *replay_old_objects(replay, start, id) == 0)
        id = draw_slab(replay, cache, start);
    if (!id) {
        id = slub_place_new(cache->cache[start], node, cache->geometry.objects, SLUB_PLACE_NONE, 0);
        *replay_old_objects(replay, start, id) = (guint16) cache->geometry.objects;
    }
    row[start] = id;
    (*replay_old_objects(replay, start, id))--;
    return id;
}

/* Makes the CPU's own freelist as long as the trace shows it: objects from before the trace are fewer, or more. */
static void
set_freelist(SlubCache *slub, guint cpu, guint n_free, guint16 *old)
{
    SlubCpu *c = &slub->cpu[cpu];

    n_free = MIN(n_free, c->free + *old);
    *old = (guint16) (*old + c->free - n_free);
    c->n_objects += (gint64) c->free - (gint64) n_free;
    c->free = n_free;
}

static void
reveal(Replay *replay, ReplayCache *cache, guint start, guint cpu, guint n_leading, gboolean is_used_up)
{
    SlubCache *slub = cache->cache[start];
    const SlubCpu *c = &slub->cpu[cpu];
    const Slab *slab = &slub->system->arena.slab[c->slab];
    guint32 *row = replay_table_add(&cache->slabs, cache->first_slab[cpu]);
    guint16 *old;

    /* Only of the slab that stands for the recorded one: not when the model has moved on. */
    if (!c->slab || (row[start] && row[start] != c->slab))
        return;
    row[start] = c->slab;
    old = replay_old_objects(replay, start, c->slab);
    if (c->free < n_leading && slab->inuse == slab->objects)
        set_freelist(slub, cpu, n_leading, old);
    else if (is_used_up && c->free > n_leading)
        set_freelist(slub, cpu, n_leading, old);
}

void
replay_start_reveal(Replay *replay, ReplayCache *cache, guint cpu, const guint64 *ptrs, guint n)
{
    guint64 slab = (ptrs[0] >> cache->slab_shift) + 1;
    guint n_leading = 0;

    if (!cache->first_slab[cpu])
        cache->first_slab[cpu] = slab;
    while (n_leading < n && (ptrs[n_leading] >> cache->slab_shift) + 1 == cache->first_slab[cpu])
        n_leading++;
    for (guint start = 0; start < replay->params.n_starts; start++)
        reveal(replay, cache, start, cpu, n_leading, n_leading < n);
    if (n_leading < n)
        cache->first_slab[cpu] = G_MAXUINT64;
}
