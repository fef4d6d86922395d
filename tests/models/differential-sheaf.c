/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "differential-private.h"

/* What only caches with sheaves have: their comparison and their operations. */

/* Both sheaves, or neither, and the same objects in the same order. */
static void
pair_sheaf(Differential *d, const SlubSheaf *fast, const RefSheaf *ref, const char *which)
{
    COMPARE(d, fast != NULL, ref != NULL, "there is a sheaf: %s", which);
    if (!fast)
        return;
    COMPARE(d, fast->size, ref->objects->len, "size of the sheaf: %s", which);
    for (guint i = 0; i < fast->size; i++)
        differential__pair(d, fast->objects[i], g_ptr_array_index(ref->objects, i));
}

void
differential__pair_cpu_sheaves(Differential *d, guint cpu)
{
    const SlubSheafCpu *fast = &d->cache->sheaves->cpu[cpu];
    const RefSheafCpu *ref = &d->sheaves->cpus[cpu];

    pair_sheaf(d, fast->main, ref->main, "main");
    pair_sheaf(d, fast->spare, ref->spare, "spare");
    pair_sheaf(d, fast->rcu_free, ref->rcu_free, "rcu_free");
}

void
differential__pair_barn(Differential *d, guint node, gboolean whole)
{
    const SlubBarn *fast = &d->cache->sheaves->barn[node];
    const RefBarn *ref = &d->sheaves->barns[node];
    const GList *list = ref->full.head;

    COMPARE(d, fast->full.count, ref->full.length, "node %u: full sheaves", node);
    COMPARE(d, fast->empty.count, ref->empty.length, "node %u: empty sheaves", node);
    for (guint site = 0; site < SLUB_N_BARN_SITES; site++)
        COMPARE(d, fast->lock.sites[site].acquisitions, ref->locks[site], "node %u: barn lock in %s", node,
                slub_barn_site_name(site));
    for (const SlubSheaf *sheaf = fast->full.head; list; sheaf = sheaf->next, list = whole ? list->next : NULL)
        pair_sheaf(d, sheaf, list->data, "full, in a barn");
}

void
differential_alloc_atomic(Differential *d, guint cpu, gint node)
{
    RefObject *object;

    differential__begin(d, cpu, OP_ALLOC_ATOMIC, 1, node);
    object = ref_sheaves_alloc(d->sheaves, cpu, node, FALSE);
    differential__run_fast(d, cpu);
    if (!object)
        differential__fail(d, "the reference found no memory");
    differential__add_live(d, d->operation.slab[0], object);
    differential__finish(d, cpu);
}

void
differential_free_rcu(Differential *d, guint cpu, guint number)
{
    LiveObject live = differential__take_live(d, number);

    differential__begin(d, cpu, OP_FREE_RCU, 1, 0);
    d->operation.slab[0] = live.slab;
    ref_sheaves_free_rcu(d->sheaves, cpu, live.object);
    differential__run_fast(d, cpu);
    COMPARE(d, mach_rcu_n_pending(&d->machine->cpu[cpu]), d->sheaves->cpus[cpu].callbacks.length, "callbacks");
    differential__finish(d, cpu);
}

void
differential_run_rcu(Differential *d, guint cpu)
{
    differential__begin(d, cpu, OP_RUN_RCU, 0, 0);
    ref_sheaves_run_rcu(d->sheaves, cpu);
    d->now += 4 * d->machine->grace_period; /* whatever was queued is ready */
    differential__run_fast(d, cpu);
    COMPARE(d, mach_rcu_n_pending(&d->machine->cpu[cpu]), 0, "callbacks left");
    differential__finish(d, cpu);
}

guint
differential_n_held(const Differential *d)
{
    return d->held->len;
}

void
differential_prefill(Differential *d, guint cpu, guint n)
{
    HeldSheaf held;

    differential__begin(d, cpu, OP_PREFILL, n, 0);
    held.ref = ref_sheaves_prefill(d->sheaves, cpu, n);
    differential__run_fast(d, cpu);
    held.fast = d->operation.sheaf;
    pair_sheaf(d, held.fast, held.ref, "prefilled");
    g_array_append_val(d->held, held);
    differential__finish(d, cpu);
}

void
differential_alloc_held(Differential *d, guint cpu, guint number)
{
    const HeldSheaf *held = &g_array_index(d->held, HeldSheaf, number);

    differential__begin(d, cpu, OP_ALLOC_FROM, 1, 0);
    if (held->fast->size == 0)
        return;
    d->operation.sheaf = held->fast;
    differential__run_fast(d, cpu);
    differential__add_live(d, d->operation.slab[0], ref_sheaves_alloc_from(held->ref));
    differential__finish(d, cpu);
}

void
differential_return(Differential *d, guint cpu, guint number)
{
    HeldSheaf held = g_array_index(d->held, HeldSheaf, number);

    g_array_remove_index_fast(d->held, number);
    differential__begin(d, cpu, OP_RETURN, 0, 0);
    d->operation.sheaf = held.fast;
    ref_sheaves_return(d->sheaves, cpu, held.ref);
    differential__run_fast(d, cpu);
    differential__finish(d, cpu);
}

void
differential_add_totals(const Differential *d, DifferentialTotals *totals)
{
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++)
        for (guint stat = 0; stat < SLAB_N_STATS; stat++)
            totals->stat[stat] += d->cache->cpu[cpu].stat[stat];
    for (guint node = 0; node < d->topology->n_nodes; node++) {
        for (guint site = 0; site < SLUB_N_LOCK_SITES; site++)
            totals->list_site[site] += d->cache->node[node].list_lock.sites[site].acquisitions;
        for (guint site = 0; d->cache->sheaves && site < SLUB_N_BARN_SITES; site++)
            totals->barn_site[site] += d->cache->sheaves->barn[node].lock.sites[site].acquisitions;
    }
}
