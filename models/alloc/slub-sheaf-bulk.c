/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many objects at once through sheaves: bulk calls, prefilled sheaves, kfree_rcu, flush and shrink (mm/slub.c 6.18 to
 * 7.1; slub-facts B.3, B.4). */
#include "slub-latency.h"
#include "slub-sheaf-parts.h"
#include "slub-trace.h"

/* kmem_cache_alloc_bulk(): what sheaves lack comes from the slabs, and fills no sheaf. */
void
slub_sheaf_alloc_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    guint n_done = 0;

    while (n_done < n && (p->main->size > 0 || slub_sheaf_get_stocked(cache, cpu))) {
        guint n_taken = MIN(n - n_done, p->main->size);

        sim_private(cpu->engine, cpu->agent);
        p->main->size -= n_taken;
        for (guint i = 0; i < n_taken; i++)
            ret_objects[n_done + i] = p->main->objects[p->main->size + i];
        n_done += n_taken;
        slub_sheaf_count_allocs(cache, cpu, n_taken);
        mach_spend(cpu, n_taken * cpu->machine->costs.sheaf_object);
    }
    if (n_done < n) {
        slub_sheaf_take_below(cache, cpu, n - n_done, ret_objects + n_done);
        if (!cache->below->has_cpu_slab)
            slub_count_n(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH, n - n_done);
    }
}

/* A main sheaf with room, as far as one is to be had without a new one. */
static gboolean
get_roomy_main(SlubCache *cache, MachCpu *cpu)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubBarn *barn = slub_barn(cache, cpu);
    SlubSheaf *empty;

    if (!p->spare) {
        empty = slub_barn_get_empty(cpu, barn);
        if (!empty)
            return FALSE;
        p->spare = p->main;
    } else if (p->spare->size < p->spare->capacity) {
        slub_sheaf_swap(p);
        return TRUE;
    } else if (slub_barn_replace_full(cpu, barn, p->main, &empty) == SLUB_BARN_DONE) {
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT);
    } else {
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT_FAIL);
        return FALSE;
    }
    p->main = empty;
    return TRUE;
}

static void
free_past_sheaves(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects)
{
    slub_sheaf_give_below(cache, cpu, n, objects);
    if (!cache->below->has_cpu_slab)
        slub_count_n(cache, cpu, SLAB_STAT_FREE_SLOWPATH, n);
}

/* kmem_cache_free_bulk(): objects of other nodes leave the array, the last one taking their place, and go to their
 * slabs by 32. (When the 32nd is the array's last, a kernel of 7.0 forgets the local ones; not followed.) */
void
slub_sheaf_free_bulk(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlabId remote[SLUB_PCS_BATCH];
    guint n_remote = 0;

    for (guint i = 0; i < n;) {
        if (slub_sheaf_accepts(cache, cpu, objects[i])) {
            i++;
            continue;
        }
        remote[n_remote++] = objects[i];
        objects[i] = objects[--n];
        if (n_remote == SLUB_PCS_BATCH) {
            free_past_sheaves(cache, cpu, n_remote, remote);
            n_remote = 0;
        }
    }
    while (n > 0 && (p->main->size < p->main->capacity || get_roomy_main(cache, cpu))) {
        guint n_put = MIN(n, p->main->capacity - p->main->size);

        sim_private(cpu->engine, cpu->agent);
        for (guint i = 0; i < n_put; i++)
            p->main->objects[p->main->size++] = *objects++;
        n -= n_put;
        slub_sheaf_count_frees(cache, cpu, n_put);
        mach_spend(cpu, n_put * cpu->machine->costs.sheaf_object);
    }
    if (n > 0)
        free_past_sheaves(cache, cpu, n, objects);
    if (n_remote > 0)
        free_past_sheaves(cache, cpu, n_remote, remote);
}

/* A sheaf for more objects than the cache's sheaves hold; the caller's own. */
static SlubSheaf *
prefill_oversize(SlubCache *cache, MachCpu *cpu, guint n)
{
    SlubSheaf *sheaf = slub_sheaf_make(n, cpu->machine->topology->node_mem[cpu->node]);

    slub_count(cache, cpu, SLAB_STAT_SHEAF_PREFILL_OVERSIZE);
    mach_spend(cpu, cpu->machine->costs.sheaf_new);
    slub_sheaf_take_below(cache, cpu, n, sheaf->objects);
    if (!cache->below->has_cpu_slab)
        slub_count_n(cache, cpu, SLAB_STAT_ALLOC_SLOWPATH, n);
    sheaf->size = n;
    return sheaf;
}

static SlubSheaf *
prefill_regular(SlubCache *cache, MachCpu *cpu, guint n)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubSheaf *sheaf = p->spare;

    if (sheaf) {
        p->spare = NULL;
        slub_count(cache, cpu, SLAB_STAT_SHEAF_PREFILL_FAST);
    } else {
        if (slub_has_barn(cache, cpu))
            sheaf = slub_barn_get_any(cpu, slub_barn(cache, cpu));
        slub_count(cache, cpu, SLAB_STAT_SHEAF_PREFILL_SLOW);
        slub_count(cache, cpu, sheaf && sheaf->size > 0 ? SLAB_STAT_BARN_GET : SLAB_STAT_BARN_GET_FAIL);
    }
    if (!sheaf)
        sheaf = slub_sheaf_new(cache, cpu);
    if (sheaf->size < n)
        slub_sheaf_fill(cache, cpu, sheaf);
    return sheaf;
}

SlubSheaf *
slub_prefill_sheaf(SlubCache *cache, MachCpu *cpu, guint n)
{
    gboolean is_regular = cache->sheaves && n <= cache->sheaves->capacity;
    SlubCache *measured = slub_behind(cache);
    SlubLatencyMark mark;
    SlubSheaf *sheaf;

    if (measured->sheaves && cache != measured)
        return slub_prefill_sheaf(measured, cpu, n);
    slub_latency_begin(measured, cpu, &mark);
    sheaf = is_regular ? prefill_regular(cache, cpu, n) : prefill_oversize(cache, cpu, n);
    slub_latency_end_bulk(measured, cpu, &mark, SLUB_PATH_BULK_ALLOC);
    cache->cpu[cpu->id].n_objects += sheaf->size;
    return sheaf;
}

SlabId
slub_alloc_from_sheaf(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf)
{
    SlabId object;

    g_assert(sheaf->size > 0);
    mach_spend(cpu, cpu->machine->costs.sheaf_object);
    object = sheaf->objects[--sheaf->size];
    if (slub_behind(cache)->sheaves)
        slub_trace_from_sheaf(cache, cpu, object);
    return object;
}

void
slub_return_sheaf(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf)
{
    SlubBarn *barn;
    SlubSheafCpu *p;

    if (slub_behind(cache)->sheaves)
        cache = slub_behind(cache);
    cache->cpu[cpu->id].n_objects -= sheaf->size;
    if (!cache->sheaves || sheaf->capacity != cache->sheaves->capacity) {
        SlubLatencyMark mark;

        slub_latency_begin(cache, cpu, &mark);
        slub_sheaf_flush(cache, cpu, sheaf);
        slub_latency_end_bulk(cache, cpu, &mark, SLUB_PATH_BULK_FREE);
        mach_spend(cpu, cpu->machine->costs.sheaf_discard);
        g_free(sheaf);
        return;
    }
    p = slub_sheaf_cpu(cache, cpu);
    barn = slub_barn(cache, cpu);
    if (!p->spare) {
        p->spare = sheaf;
        slub_count(cache, cpu, SLAB_STAT_SHEAF_RETURN_FAST);
        return;
    }
    slub_count(cache, cpu, SLAB_STAT_SHEAF_RETURN_SLOW);
    sim_sync(cpu->engine, cpu->agent);
    if (!slub_has_barn(cache, cpu) || barn->full.count >= SLUB_BARN_FULL_MAX) {
        slub_sheaf_flush(cache, cpu, sheaf);
        slub_sheaf_discard(cache, cpu, sheaf);
        return;
    }
    slub_sheaf_fill(cache, cpu, sheaf);
    slub_barn_put_full(cpu, barn, sheaf);
    slub_count(cache, cpu, SLAB_STAT_BARN_PUT);
}

/* Hands the CPU's rcu_free sheaf over to RCU. */
static void
queue_rcu_sheaf(SlubCache *cache, MachCpu *cpu, guint kind)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubSheaf *sheaf = p->rcu_free;

    p->rcu_free = NULL;
    p->n_waiting += sheaf->size;
    sheaf->barn_node = (guint16) slub_barn_node(cache, cpu);
    mach_call_rcu(cpu, kind, sheaf->id, cache->index);
}

/* __kfree_rcu_sheaf() */
static void
free_rcu_to_sheaf(SlubCache *cache, MachCpu *cpu, SlabId object)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);

    if (!p->rcu_free && p->spare && p->spare->size == 0) {
        p->rcu_free = p->spare;
        p->spare = NULL;
    }
    if (!p->rcu_free)
        p->rcu_free = slub_barn_get_empty(cpu, slub_barn(cache, cpu));
    if (!p->rcu_free)
        p->rcu_free = slub_sheaf_new(cache, cpu);
    p->rcu_free->objects[p->rcu_free->size++] = object;
    cache->cpu[cpu->id].n_objects--;
    slub_count(cache, cpu, SLAB_STAT_FREE_RCU_SHEAF);
    mach_spend(cpu, cpu->machine->costs.sheaf_free);
    if (p->rcu_free->size == p->rcu_free->capacity)
        queue_rcu_sheaf(cache, cpu, cache->system->rcu_sheaf_kind);
}

void
slub_free_rcu(SlubCache *cache, MachCpu *cpu, SlabId object)
{
    gboolean is_tried = slub_sheaf_accepts(cache, cpu, object);

    if (slub_behind(cache)->sheaves && cache != slub_behind(cache))
        mach_fail(cpu, "kfree_rcu() through sheaves has no tracepoint (allowed: workload.node_free = call_rcu, or "
                       "slub.sheaves = off)");
    sim_private(cpu->engine, cpu->agent);
    if (is_tried && cache->sheaves) {
        free_rcu_to_sheaf(cache, cpu, object);
        return;
    }
    /* Since 7.0 the attempt is made for caches without sheaves too. */
    if (is_tried && cache->system->kernel >= SLAB_KERNEL(7, 0))
        slub_count(slub_behind(cache), cpu, SLAB_STAT_FREE_RCU_SHEAF_FAIL);
    mach_call_rcu(cpu, cache->system->rcu_object_kind, object, cache->index);
}

void
slub_sheaf_rcu_object(MachCpu *cpu, guint32 object, guint32 index, void *system)
{
    slub_free(((SlubSystem *) system)->front[index], cpu, object);
}

static SlubSheaf *
sheaf_from_rcu(SlubCache *cache, MachCpu *cpu, guint32 id)
{
    SlubSheaf *sheaf = g_ptr_array_index(cache->sheaves->by_id, id);

    slub_sheaf_cpu(cache, cpu)->n_waiting -= sheaf->size;
    return sheaf;
}

/* rcu_free_sheaf() */
void
slub_sheaf_rcu_done(MachCpu *cpu, guint32 id, guint32 index, void *system)
{
    SlubCache *cache = ((SlubSystem *) system)->cache[index];
    SlubSheaf *sheaf = sheaf_from_rcu(cache, cpu, id);
    SlubBarn *barn = &cache->sheaves->barn[sheaf->barn_node];

    sim_sync(cpu->engine, cpu->agent);
    if (barn->full.count < SLUB_BARN_FULL_MAX) {
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT);
        slub_barn_put_full(cpu, barn, sheaf);
        return;
    }
    slub_count(cache, cpu, SLAB_STAT_BARN_PUT_FAIL);
    slub_sheaf_flush(cache, cpu, sheaf);
    sim_sync(cpu->engine, cpu->agent);
    if (barn->empty.count < SLUB_BARN_EMPTY_MAX)
        slub_barn_put_empty(cpu, barn, sheaf);
    else
        slub_sheaf_discard(cache, cpu, sheaf);
}

/* rcu_free_sheaf_nobarn() */
void
slub_sheaf_rcu_flush(MachCpu *cpu, guint32 id, guint32 index, void *system)
{
    SlubCache *cache = ((SlubSystem *) system)->cache[index];
    SlubSheaf *sheaf = sheaf_from_rcu(cache, cpu, id);

    slub_sheaf_flush(cache, cpu, sheaf);
    slub_sheaf_discard(cache, cpu, sheaf);
}

/* pcs_flush_all() */
void
slub_sheaf_flush_cpu(SlubCache *cache, MachCpu *cpu)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubSheaf *spare = p->spare;

    p->spare = NULL;
    if (spare) {
        slub_sheaf_flush(cache, cpu, spare);
        slub_sheaf_discard(cache, cpu, spare);
    }
    if (p->rcu_free)
        queue_rcu_sheaf(cache, cpu, cache->system->rcu_flush_kind);
    while (p->main->size > 0) {
        guint n = MIN(p->main->size, (guint) SLUB_PCS_BATCH);

        p->main->size -= n;
        slub_sheaf_give_below(cache, cpu, n, p->main->objects + p->main->size);
        slub_count_n(cache, cpu, SLAB_STAT_SHEAF_FLUSH, n);
    }
}

/* barn_shrink() */
void
slub_sheaf_shrink_barn(SlubCache *cache, MachCpu *cpu, guint node)
{
    SlubSheaf *full, *empty, *next;

    slub_barn_empty_out(cpu, &cache->sheaves->barn[node], &full, &empty);
    for (; full; full = next) {
        next = full->next;
        slub_sheaf_flush(cache, cpu, full);
        slub_sheaf_discard(cache, cpu, full);
    }
    for (; empty; empty = next) {
        next = empty->next;
        slub_sheaf_discard(cache, cpu, empty);
    }
}
