/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single allocations and frees through a CPU's sheaves, and the life of sheaves (mm/slub.c 6.18 to 7.1; slub-facts B.3,
 * B.4). A CPU's operations are not interrupted here, so what the kernel checks again after it has dropped its local
 * lock cannot have changed. */
#include "slub-sheaf-parts.h"

SlubSheaf *
slub_sheaf_make(guint capacity, guint home)
{
    SlubSheaf *sheaf = g_malloc0(sizeof *sheaf + capacity * sizeof *sheaf->objects);

    sheaf->capacity = capacity;
    sheaf->home = (guint16) home;
    sheaf->toucher = sheaf->filler = MACH_NO_CPU;
    return sheaf;
}

/* An empty sheaf of the cache's capacity, used before or new. */
static SlubSheaf *
get_sheaf(SlubSheaves *sheaves, guint home)
{
    SlubSheaf *sheaf = sheaves->unused;

    sheaves->n_in_use++;
    if (sheaf) {
        sheaves->unused = sheaf->next;
        sheaf->next = NULL;
        sheaf->home = (guint16) home;
        sheaf->toucher = sheaf->filler = MACH_NO_CPU;
        return sheaf;
    }
    sheaf = slub_sheaf_make(sheaves->capacity, home);
    sheaf->id = sheaves->by_id->len;
    g_assert(sheaf->id < 1u << MACH_RCU_ID_BITS);
    g_ptr_array_add(sheaves->by_id, sheaf);
    return sheaf;
}

SlubSheaf *
slub_sheaf_new(SlubCache *cache, MachCpu *cpu)
{
    SlubSheaf *sheaf;

    /* The simulator's own stock of sheaves is touched in order, so that their numbers are the same in every run. */
    sim_sync(cpu->engine, cpu->agent);
    sheaf = get_sheaf(cache->sheaves, cpu->machine->topology->node_mem[cpu->node]);
    sheaf->toucher = sheaf->filler = cpu->id;
    slub_count(cache, cpu, SLAB_STAT_SHEAF_ALLOC);
    mach_spend(cpu, cpu->machine->costs.sheaf_new);
    return sheaf;
}

void
slub_sheaf_discard(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf)
{
    SlubSheaves *sheaves = cache->sheaves;

    g_assert(sheaf->size == 0);
    sim_sync(cpu->engine, cpu->agent);
    sheaf->next = sheaves->unused;
    sheaves->unused = sheaf;
    sheaves->n_in_use--;
    slub_count(cache, cpu, SLAB_STAT_SHEAF_FREE);
    mach_spend(cpu, cpu->machine->costs.sheaf_discard);
}

void
slub_sheaf_take_below(SlubCache *cache, MachCpu *cpu, guint n, SlabId *ret_objects)
{
    if (!cache->sheaves) {
        cache->below->take_bulk(cache, cpu, n, ret_objects);
        return;
    }
    slub_unveil(cache, cpu);
    cache->below->take_bulk(cache, cpu, n, ret_objects);
    slub_veil(cache, cpu);
}

void
slub_sheaf_give_below(SlubCache *cache, MachCpu *cpu, guint n, SlabId *objects)
{
    if (!cache->sheaves) {
        cache->below->give_bulk(cache, cpu, n, objects);
        return;
    }
    slub_unveil(cache, cpu);
    cache->below->give_bulk(cache, cpu, n, objects);
    slub_veil(cache, cpu);
}

void
slub_sheaf_fill(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf)
{
    guint n = sheaf->capacity - sheaf->size;

    if (n == 0)
        return;
    slub_sheaf_take_below(cache, cpu, n, sheaf->objects + sheaf->size);
    sheaf->size += n;
    slub_count_n(cache, cpu, SLAB_STAT_SHEAF_REFILL, n);
}

void
slub_sheaf_flush(SlubCache *cache, MachCpu *cpu, SlubSheaf *sheaf)
{
    slub_count_n(cache, cpu, SLAB_STAT_SHEAF_FLUSH, sheaf->size);
    slub_sheaf_give_below(cache, cpu, sheaf->size, sheaf->objects);
    sheaf->size = 0;
}

gboolean
slub_sheaf_get_stocked(SlubCache *cache, MachCpu *cpu)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubSheaf *full;

    if (p->spare && p->spare->size > 0) {
        slub_sheaf_swap(p);
        return TRUE;
    }
    if (!slub_has_barn(cache, cpu))
        return FALSE;
    full = slub_barn_replace_empty(cpu, slub_barn(cache, cpu), p->main);
    if (!full) {
        slub_count(cache, cpu, SLAB_STAT_BARN_GET_FAIL);
        return FALSE;
    }
    slub_count(cache, cpu, SLAB_STAT_BARN_GET);
    p->main = full;
    return TRUE;
}

/* __pcs_replace_empty_main(). FALSE: one object by the slow path. */
static gboolean
replace_empty_main(SlubCache *cache, MachCpu *cpu, gboolean may_block)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubBarn *barn = slub_barn(cache, cpu);
    SlubSheaf *filled;

    if (slub_sheaf_get_stocked(cache, cpu))
        return TRUE;
    if (!slub_has_barn(cache, cpu) || (!may_block && cache->system->kernel < SLAB_KERNEL(7, 1)))
        return FALSE;
    filled = p->spare ? p->spare : slub_barn_get_empty(cpu, barn);
    p->spare = NULL;
    if (!filled)
        filled = slub_sheaf_new(cache, cpu);
    slub_sheaf_fill(cache, cpu, filled);
    if (cache->system->kernel >= SLAB_KERNEL(7, 0))
        p->spare = p->main;
    else
        slub_barn_put_empty(cpu, barn, p->main);
    p->main = filled;
    return TRUE;
}

/* __slab_alloc_node(): what sheaves cannot serve. */
static SlabId
alloc_below(SlubCache *cache, MachCpu *cpu, gint node)
{
    SlabId object;

    slub_unveil(cache, cpu);
    object = slub_alloc_from(&cache->below, cache, &cache->cpu[cpu->id], cpu, node);
    slub_veil(cache, cpu);
    return object;
}

/* From 7.0 on a wish that sheaves cannot serve is counted. */
static SlabId
alloc_mismatched(SlubCache *cache, MachCpu *cpu, gint node)
{
    if (cache->system->kernel >= SLAB_KERNEL(7, 0))
        slub_count(cache, cpu, SLAB_STAT_ALLOC_NODE_MISMATCH);
    return alloc_below(cache, cpu, node);
}

/* alloc_from_pcs() and what follows when it fails. */
static SlabId
alloc_object(SlubCache *cache, MachCpu *cpu, gint node, gboolean may_block)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlabId object;

    if (node != SLUB_NO_NODE && (guint) node != cpu->mem_node)
        return alloc_mismatched(cache, cpu, node);
    if (p->main->size == 0 && !replace_empty_main(cache, cpu, may_block))
        return alloc_below(cache, cpu, node);
    object = p->main->objects[p->main->size - 1];
    if (node != SLUB_NO_NODE && slub_slab_node(cache, object) != (guint) node)
        return alloc_mismatched(cache, cpu, node);
    p->main->size--;
    slub_sheaf_count_allocs(cache, cpu, 1);
    mach_spend(cpu, cpu->machine->costs.sheaf_alloc);
    return object;
}

SlabId
slub_sheaf_alloc(SlubCache *cache, MachCpu *cpu, gint node)
{
    return alloc_object(cache, cpu, node, TRUE);
}

SlabId
slub_alloc_atomic(SlubCache *cache, MachCpu *cpu, gint node)
{
    if (!cache->sheaves)
        return slub_alloc_node(cache, cpu, node);
    sim_private(cpu->engine, cpu->agent);
    cache->cpu[cpu->id].n_objects++;
    return alloc_object(cache, cpu, node, FALSE);
}

/* __pcs_replace_full_main() */
static void
replace_full_main(SlubCache *cache, MachCpu *cpu)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);
    SlubBarn *barn = slub_barn(cache, cpu);
    SlubSheaf *empty = NULL;

    if (!p->spare) {
        empty = slub_barn_get_empty(cpu, barn);
        p->spare = p->main;
        p->main = empty ? empty : slub_sheaf_new(cache, cpu);
        return;
    }
    if (p->spare->size < p->spare->capacity) {
        slub_sheaf_swap(p);
        return;
    }
    switch (slub_barn_replace_full(cpu, barn, p->main, &empty)) {
    case SLUB_BARN_DONE:
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT);
        break;
    case SLUB_BARN_TOO_MANY_FULL:
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT_FAIL);
        empty = p->spare;
        slub_sheaf_flush(cache, cpu, empty);
        p->spare = p->main;
        break;
    case SLUB_BARN_NO_EMPTY:
        empty = slub_sheaf_new(cache, cpu);
        slub_barn_put_full(cpu, barn, p->main);
        slub_count(cache, cpu, SLAB_STAT_BARN_PUT);
        break;
    }
    p->main = empty;
}

/* slab_free() */
static void
free_object(SlubCache *cache, MachCpu *cpu, SlabId object)
{
    SlubSheafCpu *p = slub_sheaf_cpu(cache, cpu);

    if (!slub_sheaf_accepts(cache, cpu, object)) {
        slub_unveil(cache, cpu);
        slub_free_to(&cache->below, cache, &cache->cpu[cpu->id], cpu, object, 1);
        slub_veil(cache, cpu);
        return;
    }
    if (p->main->size == p->main->capacity)
        replace_full_main(cache, cpu);
    p->main->objects[p->main->size++] = object;
    slub_sheaf_count_frees(cache, cpu, 1);
    mach_spend(cpu, cpu->machine->costs.sheaf_free);
}

void
slub_sheaf_free(SlubCache *cache, MachCpu *cpu, SlabId object, guint n)
{
    for (guint i = 0; i < n; i++)
        free_object(cache, cpu, object);
}

void
slub_sheaves_new(SlubCache *cache)
{
    const Machine *machine = cache->system->machine;
    const MachTopology *topology = machine->topology;
    SlubSheaves *sheaves = g_new0(SlubSheaves, 1);

    sheaves->capacity = cache->geometry.sheaf_capacity;
    sheaves->by_id = g_ptr_array_new_with_free_func(g_free);
    sheaves->cpu = g_new0(SlubSheafCpu, machine->n_cpus);
    for (guint i = 0; i < machine->n_cpus; i++)
        sheaves->cpu[i].main = get_sheaf(sheaves, topology->node_mem[machine->cpu[i].node]);
    sheaves->barn = g_new0(SlubBarn, topology->n_nodes);
    for (guint i = 0; i < topology->n_nodes; i++)
        sim_lock_init(&sheaves->barn[i].lock, machine->lock_kind, &topology->distance[topology->node_mem[i]],
                      &machine->lock_costs, SLUB_N_BARN_SITES, FALSE);
    sheaves->entries = *cache->below;
    sheaves->entries.alloc_slow = slub_sheaf_alloc;
    sheaves->entries.free_slow = slub_sheaf_free;
    cache->sheaves = sheaves;
    cache->generation = &sheaves->entries;
}

void
slub_sheaves_free(SlubCache *cache)
{
    SlubSheaves *sheaves = cache->sheaves;

    if (!sheaves)
        return;
    for (guint i = 0; i < cache->system->machine->topology->n_nodes; i++)
        sim_lock_clear(&sheaves->barn[i].lock);
    g_ptr_array_unref(sheaves->by_id);
    g_free(sheaves->cpu);
    g_free(sheaves->barn);
    g_free(sheaves);
}

static gint64
size_of(const SlubSheaf *sheaf)
{
    return sheaf ? sheaf->size : 0;
}

gint64
slub_sheaf_cpu_objects(const SlubCache *cache, guint cpu)
{
    const SlubSheafCpu *p = &cache->sheaves->cpu[cpu];

    return size_of(p->main) + size_of(p->spare) + size_of(p->rcu_free) + p->n_waiting;
}

gint64
slub_sheaf_barn_objects(const SlubCache *cache, guint node)
{
    gint64 n = 0;

    for (const SlubSheaf *sheaf = cache->sheaves->barn[node].full.head; sheaf; sheaf = sheaf->next)
        n += sheaf->size;
    return n;
}
