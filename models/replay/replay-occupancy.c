/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-occupancy.h"

#include <string.h>

const char *
replay_place_name(ReplayPlace place)
{
    static const char *const names[REPLAY_N_PLACES] = {"node", "cpu-partial", "cpu"};

    return names[place];
}

static void
count_slab(const SlubCache *slub, SlabId id, guint n_private, ReplayOccupancy *occupancy)
{
    const Slab *slab = &slub->system->arena.slab[id];
    guint n_inuse = slab->inuse - n_private, n_free = slab->objects - n_inuse;

    occupancy->n_slabs++;
    occupancy->n_empty += n_inuse == 0;
    occupancy->n_free_objects += n_free;
    occupancy->free_bytes += (guint64) n_free * slub->geometry.size_bytes;
    occupancy->tenths[MIN(n_inuse * REPLAY_N_TENTHS / slab->objects, REPLAY_N_TENTHS - 1)]++;
}

void
replay_occupancy(const Replay *replay, const ReplayCache *cache, guint start, guint node,
                 ReplayOccupancy ret_occupancy[REPLAY_N_PLACES])
{
    const SlubCache *slub = cache->cache[start];
    const Slab *arena = slub->system->arena.slab;

    memset(ret_occupancy, 0, REPLAY_N_PLACES * sizeof *ret_occupancy);
    for (SlabId id = slub->node[node].partial.head; id; id = arena[id].next)
        count_slab(slub, id, 0, &ret_occupancy[REPLAY_ON_NODE]);
    for (guint cpu = 0; cpu < replay->topology->n_cpus; cpu++) {
        const SlubCpu *c = &slub->cpu[cpu];

        for (SlabId id = c->partial; id; id = arena[id].next)
            if (arena[id].node == node)
                count_slab(slub, id, 0, &ret_occupancy[REPLAY_ON_CPU_PARTIAL]);
        if (c->slab && arena[c->slab].node == node)
            count_slab(slub, c->slab, c->free, &ret_occupancy[REPLAY_ON_CPU]);
    }
}

void
replay_occupancy_header(GString *text)
{
    g_string_append(text, "time_s\tstart\tcache\tnode\tplace\tslabs\tempty\tfree_objects\tfree_bytes");
    for (guint i = 0; i < REPLAY_N_TENTHS; i++)
        g_string_append_printf(text, "\ttenth_%u", i);
    g_string_append_c(text, '\n');
}

static void
append_line(const Replay *replay, guint start, const ReplayCache *cache, guint node, ReplayPlace place,
            const ReplayOccupancy *o, GString *text)
{
    if (!o->n_slabs)
        return;
    g_string_append_printf(text, "%" G_GINT64_FORMAT ".%06u\t%u\t%s\t%u\t%s", replay->last_time_ns / 1000000000,
                           (guint) (replay->last_time_ns % 1000000000 / 1000), start, cache->name, node,
                           replay_place_name(place));
    g_string_append_printf(text,
                           "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT,
                           o->n_slabs, o->n_empty, o->n_free_objects, o->free_bytes);
    for (guint i = 0; i < REPLAY_N_TENTHS; i++)
        g_string_append_printf(text, "\t%" G_GUINT64_FORMAT, o->tenths[i]);
    g_string_append_c(text, '\n');
}

void
replay_occupancy_append(const Replay *replay, guint start, GString *text)
{
    for (guint i = 0; i < replay->caches->len; i++)
        for (guint node = 0; node < replay->topology->n_nodes; node++) {
            const ReplayCache *cache = g_ptr_array_index(replay->caches, i);
            ReplayOccupancy occupancy[REPLAY_N_PLACES];

            replay_occupancy(replay, cache, start, node, occupancy);
            for (guint place = 0; place < REPLAY_N_PLACES; place++)
                append_line(replay, start, cache, node, (ReplayPlace) place, &occupancy[place], text);
        }
}
