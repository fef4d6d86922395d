/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a guided replay knows of the kernel's lists. The kernel's events name caches, not slabs: which slabs a list
 * holds follows from the steps that were seen, as long as none of them went otherwise in the kernel. */
#include "replay-guide-doubt.h"
#include "slub-place.h"

static gboolean
is_sure(ReplayGuide *guide, SlabId id)
{
    const GuideSlab *slab = guide_slab(guide, 0, id);

    return slab->recorded && !slab->is_doubted;
}

static GuideRange
range_of(ReplayGuide *guide, const Slab *arena, SlabId first, gboolean is_known)
{
    GuideRange range = {.is_known = is_known, .is_first_sure = is_known && first && is_sure(guide, first)};

    for (SlabId id = first; id; id = arena[id].next) {
        range.n++;
        range.n_sure += is_sure(guide, id);
    }
    return range;
}

GuideRange
guide_list_range(ReplayGuide *guide, gint cache, guint cpu)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[0];

    return range_of(guide, slub->system->arena.slab, slub->cpu[cpu].partial,
                    g_hash_table_contains(guide->known_list, guide_key(cache, cpu)));
}

GuideRange
guide_node_range(ReplayGuide *guide, gint cache, guint node)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[0];

    return range_of(guide, slub->system->arena.slab, slub->node[node].partial.head,
                    g_hash_table_contains(guide->known_node, guide_key(cache, node)));
}

static void
set_known(GHashTable *known, gpointer key, gboolean is_known)
{
    if (is_known)
        g_hash_table_add(known, key);
    else
        g_hash_table_remove(known, key);
}

void
guide_know_list(ReplayGuide *guide, gint cache, guint cpu, gboolean is_known)
{
    set_known(guide->known_list, guide_key(cache, cpu), is_known);
}

void
guide_know_node(ReplayGuide *guide, gint cache, guint node, gboolean is_known)
{
    set_known(guide->known_node, guide_key(cache, node), is_known);
}

void
guide_look(ReplayGuide *guide, gint cache, guint cpu, guint node, GuidePrediction *did)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[0];
    const Slab *arena = slub->system->arena.slab;

    did->list = guide_list_range(guide, cache, cpu);
    did->node = guide_node_range(guide, cache, node);
    did->are_nodes_known = TRUE;
    for (guint i = 0; i < guide->replay->topology->n_nodes; i++) {
        GuideRange range = guide_node_range(guide, cache, i);

        did->are_nodes_known &= range.n_sure >= slub->min_partial + (i != node) ||
                                (range.is_known && (range.n_sure == range.n || range.n < slub->min_partial));
    }
    did->is_chain_full_known = TRUE;
    for (SlabId id = slub->cpu[cpu].partial; id; id = arena[id].next) {
        did->is_chain_full_known &= guide_is_certain(guide, id);
        did->n_empty += arena[id].inuse == 0;
    }
}

void
guide_doubt(ReplayGuide *guide, guint start, SlabId id)
{
    guide_slab(guide, start, id)->is_doubted = TRUE;
}

static void
doubt_chain(ReplayGuide *guide, guint start, const Slab *arena, SlabId first, SlabId until)
{
    for (SlabId id = first; id && id != until; id = arena[id].next)
        guide_doubt(guide, start, id);
}

void
guide_doubt_list(ReplayGuide *guide, gint cache, guint start, guint cpu, SlabId until)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[start];

    doubt_chain(guide, start, slub->system->arena.slab, slub->cpu[cpu].partial, until);
}

void
guide_doubt_node(ReplayGuide *guide, gint cache, guint start, guint node, SlabId until)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[start];

    doubt_chain(guide, start, slub->system->arena.slab, slub->node[node].partial.head, until);
}

void
guide_contradict(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId id, GuideSource actual)
{
    const SlubCache *slub = guide_cache(guide, cache)->cache[start];
    const Slab *slab = &slub->system->arena.slab[id];
    guint on_cpu = 0;
    SlubPlace place = slub_place_find(slub, id, &on_cpu);
    gboolean is_here = place == SLUB_PLACE_CPU_PARTIAL && on_cpu == cpu->id;
    gboolean is_on_node = place == SLUB_PLACE_NODE_TAIL && slab->node == cpu->mem_node;

    if (is_here)
        guide_doubt_list(guide, cache, start, cpu->id, id);
    if (is_on_node)
        guide_doubt_node(guide, cache, start, cpu->mem_node, id);
    if (start > 0)
        return;
    if (!is_here && (actual == GUIDE_CPU_PARTIAL || actual == GUIDE_FAST))
        guide_know_list(guide, cache, cpu->id, FALSE);
    if (!is_on_node && (actual == GUIDE_NODE || actual == GUIDE_FAST))
        guide_know_node(guide, cache, cpu->mem_node, FALSE);
}

void
guide_learn_alloc(ReplayGuide *guide, gint cache, guint cpu, guint node, const guint *seen, const GuidePrediction *did,
                  gboolean is_as_predicted)
{
    guint n_moved = seen[KMEM_PROBE_PUT_CPU_PARTIAL];

    g_hash_table_add(guide->known_cpu, guide_key(cache, cpu));
    if (seen[KMEM_PROBE_DEACTIVATE])
        guide_know_node(guide, cache, node, FALSE);
    if (seen[KMEM_PROBE_NEW_SLAB]) { /* every list it could look at was empty */
        guide_doubt_list(guide, cache, 0, cpu, 0);
        guide_know_list(guide, cache, cpu, TRUE);
        guide_doubt_node(guide, cache, 0, node, 0);
        guide_know_node(guide, cache, node, !guide_has_drain_under_way(guide, cpu, cache));
    } else if (seen[KMEM_PROBE_GET_PARTIAL_NODE]) { /* so was the CPU's; a first slab that is right vouches for the rest
                                                     */
        gboolean is_known = is_as_predicted && did->stat[SLAB_STAT_CPU_PARTIAL_NODE] == n_moved;

        guide_know_list(guide, cache, cpu, is_known || n_moved == 0);
        if (!is_known)
            guide_doubt_list(guide, cache, 0, cpu, 0);
        if (is_as_predicted)
            guide_know_node(guide, cache, node, is_known);
    }
}
