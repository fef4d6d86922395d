/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "differential-private.h"

/* Both sides name the call sites of list_lock in one order. */
G_STATIC_ASSERT((guint) SLUB_LOCK_GET_PARTIAL_NODE == (guint) REF_LOCK_GET_PARTIAL_NODE);
G_STATIC_ASSERT((guint) SLUB_LOCK_GET_ANY_PARTIAL == (guint) REF_LOCK_GET_ANY_PARTIAL);
G_STATIC_ASSERT((guint) SLUB_LOCK_SLAB_FREE == (guint) REF_LOCK_SLAB_FREE);
G_STATIC_ASSERT((guint) SLUB_LOCK_UNFREEZE == (guint) REF_LOCK_UNFREEZE_PARTIALS);
G_STATIC_ASSERT((guint) SLUB_LOCK_DEACTIVATE == (guint) REF_LOCK_DEACTIVATE_SLAB);
G_STATIC_ASSERT((guint) SLUB_LOCK_SHRINK == (guint) REF_LOCK_SHRINK);
G_STATIC_ASSERT((guint) SLUB_LOCK_DEBUG_FREE == (guint) REF_LOCK_DEBUG_FREE);
G_STATIC_ASSERT((guint) SLUB_LOCK_DEBUG_NEW == (guint) REF_LOCK_DEBUG_NEW);
G_STATIC_ASSERT((guint) SLUB_LOCK_COUNT == (guint) REF_LOCK_COUNT);
G_STATIC_ASSERT((guint) SLUB_LOCK_FROM_PARTIAL == (guint) REF_LOCK_FROM_PARTIAL);
G_STATIC_ASSERT((guint) SLUB_LOCK_FROM_ANY == (guint) REF_LOCK_FROM_ANY);
G_STATIC_ASSERT((guint) SLUB_LOCK_NEW_SLAB == (guint) REF_LOCK_NEW_SLAB);
G_STATIC_ASSERT((guint) SLUB_LOCK_REFILL == (guint) REF_LOCK_REFILL);
G_STATIC_ASSERT((guint) SLUB_LOCK_REFILL_ANY == (guint) REF_LOCK_REFILL_ANY);
G_STATIC_ASSERT((guint) SLUB_LOCK_REFILL_RETURN == (guint) REF_LOCK_REFILL_RETURN);
G_STATIC_ASSERT((guint) SLUB_N_LOCK_SITES == (guint) REF_LOCK_DESTROY);

G_STATIC_ASSERT((guint) DIFFERENTIAL_ACTIVATE == (guint) REF_DEBUG_ACTIVATE);
G_STATIC_ASSERT((guint) DIFFERENTIAL_SINGLE == (guint) REF_DEBUG_SINGLE);

/* And those of a barn's lock. */
G_STATIC_ASSERT((guint) SLUB_BARN_REPLACE_EMPTY == (guint) REF_BARN_REPLACE_EMPTY);
G_STATIC_ASSERT((guint) SLUB_BARN_REPLACE_FULL == (guint) REF_BARN_REPLACE_FULL);
G_STATIC_ASSERT((guint) SLUB_BARN_GET_EMPTY == (guint) REF_BARN_GET_EMPTY);
G_STATIC_ASSERT((guint) SLUB_BARN_GET_ANY == (guint) REF_BARN_GET_ANY);
G_STATIC_ASSERT((guint) SLUB_BARN_PUT_EMPTY == (guint) REF_BARN_PUT_EMPTY);
G_STATIC_ASSERT((guint) SLUB_BARN_PUT_FULL == (guint) REF_BARN_PUT_FULL);
G_STATIC_ASSERT((guint) SLUB_BARN_SHRINK == (guint) REF_BARN_SHRINK);
G_STATIC_ASSERT((guint) SLUB_N_BARN_SITES == (guint) REF_N_BARN_SITES);

void
differential__fail(const Differential *d, const char *format, ...)
{
    va_list arguments;
    g_autofree char *what = NULL;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_error("%s, operation %" G_GUINT64_FORMAT " (kind %d, n %u, node %d): %s", d->name, d->n_operations,
            d->operation.kind, d->operation.n, d->operation.node, what);
}

SlabId
differential__slab_of(const Differential *d, const RefSlab *slab)
{
    if (!slab)
        return 0;
    return slab->serial < d->slab_of->len ? g_array_index(d->slab_of, SlabId, slab->serial) : 0;
}

void
differential__compare_cpu(const Differential *d, guint cpu)
{
    const SlubCpu *fast = &d->cache->cpu[cpu];
    const RefSlab *slab = ref_slub_cpu_partial(d->ref, cpu);
    gboolean in_slabs = d->settings.kernel >= SLAB_KERNEL(5, 16);

    for (guint stat = 0; stat < SLAB_N_STATS; stat++)
        COMPARE(d, fast->stat[stat], ref_slub_stat(d->ref, (gint) cpu, stat), "cpu %u %s", cpu, slab_stat_name(stat));
    if (d->cache->sheaves || d->cache->arrays)
        COMPARE(d, fast->slab + fast->free, 0, "cpu %u: a cpu slab where the inline paths look", cpu);
    COMPARE(d, slub_cpu_slab(fast), differential__slab_of(d, ref_slub_cpu_slab(d->ref, cpu)), "cpu %u: cpu slab", cpu);
    COMPARE(d, slub_cpu_free(fast), ref_slub_cpu_freelist_length(d->ref, cpu), "cpu %u: freelist length", cpu);
    for (SlabId id = fast->partial; id || slab; id = d->system->arena.slab[id].next, slab = slab->next) {
        COMPARE(d, id, differential__slab_of(d, slab), "cpu %u: a slab of the cpu partial list", cpu);
        COMPARE(d, d->system->arena.slab[id].cpu_partial_count, in_slabs ? slab->slabs : slab->pobjects,
                "cpu %u: count stored in slab %u of the cpu partial list", cpu, id);
    }
}

void
differential__compare_nodes(const Differential *d)
{
    for (guint node = 0; node < d->topology->n_nodes; node++) {
        const SlubNode *fast = &d->cache->node[node];
        const GList *list = ref_slub_node_partial(d->ref, node);

        COMPARE(d, fast->partial.count, ref_slub_nr_partial(d->ref, node), "node %u nr_partial", node);
        COMPARE(d, fast->n_slabs, ref_slub_nr_slabs(d->ref, (gint) node), "node %u nr_slabs", node);
        COMPARE(d, fast->partial.head, differential__slab_of(d, list ? list->data : NULL), "node %u: head of the list",
                node);
        for (guint site = 0; site < SLUB_N_LOCK_SITES; site++) {
            COMPARE(d, fast->list_lock.sites[site].acquisitions, ref_slub_lock_count(d->ref, site, (gint) node),
                    "node %u: list_lock in %s", node, slub_lock_site_name(site, SLAB_KERNEL(6, 1)));
            COMPARE(d, fast->list_lock.sites[site].contended, 0, "node %u: contended list_lock", node);
        }
    }
}

static void
compare_node_list(const Differential *d, guint node)
{
    const Slab *arena = d->system->arena.slab;
    const GList *list = ref_slub_node_partial(d->ref, node);
    SlabId previous = 0;

    for (SlabId id = d->cache->node[node].partial.head; id || list; id = arena[id].next, list = list->next) {
        COMPARE(d, id, differential__slab_of(d, list ? list->data : NULL), "node %u: a slab of the list", node);
        COMPARE(d, arena[id].prev, previous, "node %u: slab before %u", node, id);
        previous = id;
    }
    COMPARE(d, d->cache->node[node].partial.tail, previous, "node %u: tail of the list", node);
}

static void
compare_slab(const Differential *d, const RefSlab *slab)
{
    SlabId id = differential__slab_of(d, slab);
    const Slab *fast = &d->system->arena.slab[id];

    COMPARE(d, g_array_index(d->serial_of, guint, id), slab->serial + 1, "serial of slab %u, plus 1", id);
    COMPARE(d, fast->objects, slab->n_objects, "slab %u: objects", id);
    COMPARE(d, fast->inuse, slab->inuse, "slab %u: inuse", id);
    COMPARE(d, fast->node, slab->node, "slab %u: node", id);
    COMPARE(d, (fast->flags & SLAB_FROZEN) != 0, slab->frozen, "slab %u: frozen", id);
    COMPARE(d, (fast->flags & SLAB_ON_PARTIAL) != 0, slab->node_partial_flag, "slab %u: on the node list", id);
}

/* Pages in slabs, on per-CPU lists, in the zones and taken away are all there are. */
static void
compare_pages(const Differential *d)
{
    const Slab *arena = d->system->arena.slab;
    gint64 n_pages = 0, n_had = 0;

    for (SlabId id = 1; id < d->system->arena.n_used; id++)
        if (arena[id].objects)
            n_pages += arena[id].flags & SLAB_MIN_ORDER ? 1 : 1 << ORDER;
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++)
        n_pages += (gint64) page_pcp_pages(d->system->pages, cpu);
    for (guint node = 0; node < d->topology->n_nodes; node++) {
        n_pages += d->system->pages->zone[node].free_pages + MAX(d->starved_pages[node], 0);
        n_had += (gint64) (d->topology->node_memory_bytes[node] / d->topology->page_size_bytes);
    }
    COMPARE(d, n_pages, n_had, "pages");
}

void
differential__pair_array(Differential *d, guint cpu)
{
    guint n;
    RefObject *const *objects = ref_slub_array(d->ref, cpu, &n);

    COMPARE(d, slub_array_cpu_objects(d->cache, cpu), n, "cpu %u: objects in the array", cpu);
    for (guint i = 0; i < n; i++)
        differential__pair(d, d->cache->arrays->cpu[cpu].object[i], objects[i]);
}

void
differential_compare_all(Differential *d)
{
    g_autofree char *why = slub_cache_check(d->cache);
    guint n_live = 0;

    if (why)
        differential__fail(d, "%s", why);
    for (guint cpu = 0; d->cache->sheaves && cpu < d->topology->n_cpus; cpu++)
        differential__pair_cpu_sheaves(d, cpu);
    for (guint node = 0; d->cache->sheaves && node < d->topology->n_nodes; node++)
        differential__pair_barn(d, node, TRUE);
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++) {
        differential__pair_array(d, cpu);
        differential__compare_cpu(d, cpu);
    }
    differential__compare_nodes(d);
    for (guint node = 0; node < d->topology->n_nodes; node++)
        compare_node_list(d, node);
    for (guint i = 0; i < d->serials->len; i++) {
        guint serial = g_array_index(d->serials, guint, i);
        const RefSlab *slab = ref_slub_slab_by_serial(d->ref, serial);

        if (slab->discarded)
            continue;
        compare_slab(d, slab);
        g_array_index(d->serials, guint, n_live++) = serial;
    }
    g_array_set_size(d->serials, n_live);
    /* slub_cache_check() has seen that the fast side has as many slabs as it says; so no slab is left over. */
    COMPARE(d, n_live, ref_slub_nr_slabs(d->ref, -1), "slabs known on both sides");
    compare_pages(d);
}
