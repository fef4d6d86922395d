/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-occupancy.h"

#include "slub-occupancy.h"

void
replay_occupancy_header(GString *text)
{
    g_string_append(text, "time_s\tstart\tcache\tnode\tplace\tslabs\tempty\tfree_objects\tfree_bytes");
    for (guint i = 0; i < SLUB_N_TENTHS; i++)
        g_string_append_printf(text, "\ttenth_%u", i);
    g_string_append_c(text, '\n');
}

static void
append_line(const Replay *replay, guint start, const ReplayCache *cache, guint node, SlubHolder place,
            const SlubOccupancy *o, GString *text)
{
    if (!o->n_slabs)
        return;
    g_string_append_printf(text, "%" G_GINT64_FORMAT ".%06u\t%u\t%s\t%u\t%s", replay->last_time_ns / 1000000000,
                           (guint) (replay->last_time_ns % 1000000000 / 1000), start, cache->name, node,
                           slub_holder_name(place));
    g_string_append_printf(text,
                           "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT,
                           o->n_slabs, o->n_empty, o->n_free_objects, o->free_bytes);
    for (guint i = 0; i < SLUB_N_TENTHS; i++)
        g_string_append_printf(text, "\t%" G_GUINT64_FORMAT, o->tenths[i]);
    g_string_append_c(text, '\n');
}

void
replay_occupancy_append(const Replay *replay, guint start, GString *text)
{
    for (guint i = 0; i < replay->caches->len; i++)
        for (guint node = 0; node < replay->topology->n_nodes; node++) {
            const ReplayCache *cache = g_ptr_array_index(replay->caches, i);
            SlubOccupancy occupancy[SLUB_N_HOLDERS];

            slub_occupancy(cache->cache[start], node, occupancy);
            for (guint place = 0; place < SLUB_N_HOLDERS; place++)
                append_line(replay, start, cache, node, (SlubHolder) place, &occupancy[place], text);
        }
}
