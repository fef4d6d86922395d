/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ref-slub-private.h"

/* Looking, and the invariants of slub-facts B. Nothing here changes anything. */

guint64
ref_slub_stat(const RefSlub *slub, gint cpu, SlabStat stat)
{
    guint64 sum = 0;

    if (cpu >= 0)
        return slub->cpus[cpu].stats[stat];
    for (guint i = 0; i < slub->params.n_cpus; i++)
        sum += slub->cpus[i].stats[stat];
    return sum;
}

guint64
ref_slub_lock_count(const RefSlub *slub, RefLockSite site, gint node)
{
    guint64 sum = 0;

    if (node >= 0)
        return slub->nodes[node].locks[site];
    for (guint i = 0; i < slub->params.n_nodes; i++)
        sum += slub->nodes[i].locks[site];
    return sum;
}

guint
ref_slub_nr_slabs(const RefSlub *slub, gint node)
{
    guint sum = 0;

    if (node >= 0)
        return slub->nodes[node].nr_slabs;
    for (guint i = 0; i < slub->params.n_nodes; i++)
        sum += slub->nodes[i].nr_slabs;
    return sum;
}

guint
ref_slub_nr_partial(const RefSlub *slub, guint node)
{
    return slub->nodes[node].partial.length;
}

const GList *
ref_slub_node_partial(const RefSlub *slub, guint node)
{
    return slub->nodes[node].partial.head;
}

const RefSlab *
ref_slub_cpu_slab(const RefSlub *slub, guint cpu)
{
    return slub->cpus[cpu].slab;
}

const RefSlab *
ref_slub_cpu_partial(const RefSlub *slub, guint cpu)
{
    return slub->cpus[cpu].partial;
}

static guint
list_length(const RefObject *list)
{
    guint n = 0;

    for (; list != NULL; list = list->next)
        n++;
    return n;
}

guint
ref_slub_cpu_freelist_length(const RefSlub *slub, guint cpu)
{
    return list_length(slub->cpus[cpu].freelist);
}

guint
ref_slab_free_objects(const RefSlab *slab)
{
    return list_length(slab->freelist);
}

guint
ref_slub_n_serials(const RefSlub *slub)
{
    return slub->slabs->len;
}

const RefSlab *
ref_slub_slab_by_serial(const RefSlub *slub, guint serial)
{
    g_assert_cmpuint(serial, <, slub->slabs->len);
    return g_ptr_array_index(slub->slabs, serial);
}

/* Counts every place that holds the slab; the last one found is returned. */
static guint
find_places(const RefSlub *slub, const RefSlab *slab, RefPlace *ret_place, gint *ret_owner)
{
    guint n = 0;

    for (guint i = 0; i < slub->params.n_cpus; i++) {
        if (slub->cpus[i].slab == slab) {
            *ret_place = REF_PLACE_CPU_SLAB;
            *ret_owner = (gint) i;
            n++;
        }
        for (const RefSlab *s = slub->cpus[i].partial; s != NULL; s = s->next)
            if (s == slab) {
                *ret_place = REF_PLACE_CPU_PARTIAL;
                *ret_owner = (gint) i;
                n++;
            }
    }
    for (guint i = 0; i < slub->params.n_nodes; i++)
        for (const GList *l = slub->nodes[i].partial.head; l != NULL; l = l->next)
            if (l->data == slab) {
                *ret_place = REF_PLACE_NODE_PARTIAL;
                *ret_owner = (gint) i;
                n++;
            }
    return n;
}

RefPlace
ref_slub_slab_place(const RefSlub *slub, const RefSlab *slab, gint *ret_owner)
{
    RefPlace place = slab->discarded ? REF_PLACE_DISCARDED : REF_PLACE_NO_LIST;
    gint owner = -1;

    find_places(slub, slab, &place, &owner);
    if (ret_owner != NULL)
        *ret_owner = owner;
    return place;
}

/* Each object of the slab is allocated, or on exactly one of the slab's and the owning CPU's freelists. */
static char *
check_objects(const RefSlab *slab, const RefObject *private_list)
{
    g_autofree guint *seen = g_new0(guint, slab->n_objects);
    const RefObject *lists[] = {slab->freelist, private_list};

    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        for (const RefObject *o = lists[i]; o != NULL; o = o->next) {
            if (o->slab != slab)
                return g_strdup_printf("slab %u: a freelist holds an object of slab %u", slab->serial, o->slab->serial);
            if (seen[o->index]++ > 0)
                return g_strdup_printf("slab %u: object %u is twice on a freelist", slab->serial, o->index);
        }
    for (guint i = 0; i < slab->n_objects; i++)
        if (seen[i] + (slab->objects[i].allocated ? 1 : 0) != 1)
            return g_strdup_printf("slab %u: object %u is in %u places", slab->serial, i,
                                   seen[i] + (slab->objects[i].allocated ? 1 : 0));
    guint n_own = ref_slab_free_objects(slab);
    if (slab->inuse != slab->n_objects - n_own)
        return g_strdup_printf("slab %u: inuse %u, but %u of %u objects are on its freelist", slab->serial, slab->inuse,
                               n_own, slab->n_objects);
    return NULL;
}

/* The state that a slab must be in at its place. */
static char *
check_state(const RefSlub *slub, const RefSlab *slab, RefPlace place, gint owner)
{
    gboolean want_frozen =
        place == REF_PLACE_CPU_SLAB || (place == REF_PLACE_CPU_PARTIAL && !slub->rules.delayed_freezing);
    gboolean want_free = place == REF_PLACE_CPU_PARTIAL || place == REF_PLACE_NODE_PARTIAL;

    if (slab->frozen != want_frozen)
        return g_strdup_printf("slab %u: frozen %d at place %d", slab->serial, slab->frozen, place);
    if (place != REF_PLACE_CPU_SLAB && (slab->freelist != NULL) != want_free)
        return g_strdup_printf("slab %u: %u free objects at place %d", slab->serial, ref_slab_free_objects(slab),
                               place);
    if (slab->node_partial_flag != (place == REF_PLACE_NODE_PARTIAL))
        return g_strdup_printf("slab %u: node partial flag %d at place %d", slab->serial, slab->node_partial_flag,
                               place);
    if (place == REF_PLACE_NODE_PARTIAL && (guint) owner != slab->node)
        return g_strdup_printf("slab %u of node %u is on the list of node %d", slab->serial, slab->node, owner);
    if (place == REF_PLACE_CPU_PARTIAL && slab->slabs != (slab->next != NULL ? slab->next->slabs : 0) + 1)
        return g_strdup_printf("slab %u: stored list length %u", slab->serial, slab->slabs);
    return NULL;
}

static char *
check_slab(const RefSlub *slub, const RefSlab *slab)
{
    RefPlace place = REF_PLACE_NO_LIST;
    gint owner = -1;
    guint n_places = find_places(slub, slab, &place, &owner);

    if (slab->discarded)
        return n_places == 0 ? NULL : g_strdup_printf("slab %u is discarded but still linked", slab->serial);
    if (n_places > 1)
        return g_strdup_printf("slab %u is in %u places", slab->serial, n_places);

    char *why = check_objects(slab, place == REF_PLACE_CPU_SLAB ? slub->cpus[owner].freelist : NULL);
    return why != NULL ? why : check_state(slub, slab, place, owner);
}

char *
ref_slub_check(const RefSlub *slub)
{
    guint n_live = 0;

    for (guint i = 0; i < slub->params.n_cpus; i++)
        if (slub->cpus[i].slab == NULL && slub->cpus[i].freelist != NULL)
            return g_strdup_printf("cpu %u has a freelist but no slab", i);
    for (guint i = 0; i < slub->slabs->len; i++) {
        const RefSlab *slab = g_ptr_array_index(slub->slabs, i);
        char *why = check_slab(slub, slab);

        if (why != NULL)
            return why;
        n_live += slab->discarded ? 0 : 1;
    }
    if (n_live != ref_slub_nr_slabs(slub, -1))
        return g_strdup_printf("nr_slabs is %u, but %u slabs live", ref_slub_nr_slabs(slub, -1), n_live);
    return NULL;
}
