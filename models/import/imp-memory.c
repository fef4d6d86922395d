/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-memory.h"

#include <string.h>

#include "slab-order.h"

#define LARGEST_SUM (G_GINT64_CONSTANT(1) << 62)
#define UNKNOWN_ORDER 11u

/* a * b, stopping at the largest sum; both at least 0. */
static gint64
times(gint64 a, gint64 b)
{
    return b > 0 && a > LARGEST_SUM / b ? LARGEST_SUM : a * b;
}

static gint64
plus(gint64 a, gint64 b)
{
    return b < 0 ? a : MIN(a + MIN(b, LARGEST_SUM - 1), LARGEST_SUM);
}

static gint64
slabs_for(gint64 objects, gint64 objects_per_slab)
{
    return (objects + objects_per_slab - 1) / objects_per_slab;
}

/* In use, free and padding add up to the total. */
static void
split(const ImpRow *row, ImpMemory *memory)
{
    gint64 slot = row->stride_bytes > 0 ? row->stride_bytes : row->object_bytes;
    gint64 object = row->object_bytes > 0 ? row->object_bytes : slot;

    if (row->in_use_bytes >= 0) {
        memory->in_use = MIN(row->in_use_bytes, memory->total);
        memory->free = memory->total - memory->in_use;
        return;
    }
    if (slot <= 0 || row->active_objects < 0 || row->total_objects < 0)
        return;
    memory->in_use = MIN(times(row->active_objects, object), memory->total);
    memory->free = MIN(times(MAX(row->total_objects - row->active_objects, 0), slot), memory->total - memory->in_use);
    memory->padding = memory->total - memory->in_use - memory->free;
}

/* Slabs of the lists, of which there are no more than the free slots could leave empty. */
static void
find_shrinkable(const ImpRow *row, gint64 slab_bytes, ImpMemory *memory)
{
    gint64 slabs;

    if (row->total_objects < 0 || row->active_objects < 0 || row->objects_per_slab <= 0)
        return;
    slabs = MAX(row->total_objects - row->active_objects, 0) / row->objects_per_slab;
    if (row->partial_slabs >= 0)
        slabs = MIN(slabs, row->partial_slabs);
    memory->shrinkable = MIN(times(slabs, slab_bytes), memory->total);
}

static void
find_held_by_cpus(const ImpMachine *machine, const ImpRow *row, gint64 slab_bytes, ImpMemory *memory)
{
    gint64 lists = row->cpu_list_slabs >= 0 ? row->cpu_list_slabs : imp_machine_cpu_slabs(machine, row, TRUE);
    gint64 held = row->cpu_slabs >= 0 ? row->cpu_slabs : imp_machine_cpu_slabs(machine, row, FALSE);

    if (row->cpu_slabs >= 0 && row->cpu_list_slabs < 0)
        lists = lists < 0 ? held : MIN(lists, held);
    memory->cpu_lists = lists < 0 ? -1 : MIN(times(lists, slab_bytes), memory->total);
    memory->cpu_held = held < 0 ? -1 : MIN(times(held, slab_bytes), memory->total);
}

static void
find_packing(const ImpMachine *machine, const ImpRow *row, gint64 slab_bytes, ImpMemory *memory)
{
    gint64 slot = row->stride_bytes > 0 ? row->stride_bytes : row->object_bytes, small, objects;

    if (slot <= 0 || slot > 1 << 25 || row->active_objects < 0 || row->objects_per_slab <= 0)
        return;
    small = (gint64) machine->env.page_size_bytes << slab_order_for_bytes((guint64) slot, machine->env.page_size_bytes);
    objects = MIN(small / slot, (gint64) SLAB_MAX_OBJECTS);
    memory->packed = times(slabs_for(row->active_objects, row->objects_per_slab), slab_bytes);
    memory->packed_order0 = times(slabs_for(row->active_objects, objects), small);
}

static gint
order_of(const ImpMachine *machine, const ImpRow *row)
{
    if (row->order >= 0)
        return row->order < (gint64) UNKNOWN_ORDER ? (gint) row->order : -1;
    if (row->slab_bytes <= 0 || !machine->knows_page_size)
        return -1;
    return (gint) slab_order_for_bytes((guint64) row->slab_bytes, machine->env.page_size_bytes);
}

static gboolean
measure(const ImpMachine *machine, const ImpRow *row, gboolean is_slub, ImpMemory *ret_memory)
{
    gint64 slab_bytes = imp_row_slab_bytes(row, machine->env.page_size_bytes);
    ImpMemory memory = {
        .row = row,
        .order = order_of(machine, row),
        .total = imp_row_bytes(row, machine->env.page_size_bytes),
        .in_use = -1,
        .free = -1,
        .padding = -1,
        .shrinkable = -1,
        .cpu_lists = -1,
        .cpu_held = -1,
        .packed = -1,
        .packed_order0 = -1,
    };

    if (memory.total < 0)
        return FALSE;
    split(row, &memory);
    if (slab_bytes > 0 && is_slub) {
        find_shrinkable(row, slab_bytes, &memory);
        find_held_by_cpus(machine, row, slab_bytes, &memory);
        find_packing(machine, row, slab_bytes, &memory);
    }
    *ret_memory = memory;
    return TRUE;
}

static gint
compare_memory(gconstpointer a, gconstpointer b)
{
    const ImpMemory *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->row->name, y->row->name);
}

static void
add_to_sum(ImpMemory *sum, const ImpMemory *cache)
{
    sum->total = plus(sum->total, cache->total);
    sum->in_use = plus(sum->in_use, cache->in_use);
    sum->free = plus(sum->free, cache->free);
    sum->padding = plus(sum->padding, cache->padding);
    sum->shrinkable = plus(sum->shrinkable, cache->shrinkable);
    sum->packed = plus(sum->packed, cache->packed);
    sum->packed_order0 = plus(sum->packed_order0, cache->packed_order0);
    /* A bound with a part missing is none. */
    sum->cpu_lists = sum->cpu_lists < 0 || cache->cpu_lists < 0 ? -1 : plus(sum->cpu_lists, cache->cpu_lists);
    sum->cpu_held = sum->cpu_held < 0 || cache->cpu_held < 0 ? -1 : plus(sum->cpu_held, cache->cpu_held);
}

ImpMemoryTable *
imp_memory_new(const ImpDump *dump, guint table, const ImpMachine *machine)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    ImpMemoryTable *memory = g_new0(ImpMemoryTable, 1);
    double in_slots = 0, slots = 0;

    memory->caches = g_array_new(FALSE, FALSE, sizeof(ImpMemory));
    for (guint i = 0; i < rows->len && dump->shows == IMP_SHOWS_CACHES; i++) {
        ImpMemory cache;
        guint order;

        if (!measure(machine, rows->pdata[i], !dump->is_old_slab, &cache)) {
            memory->n_unknown++;
            continue;
        }
        g_array_append_val(memory->caches, cache);
        add_to_sum(&memory->sum, &cache);
        order = cache.order >= 0 && cache.order < (gint) UNKNOWN_ORDER ? (guint) cache.order : UNKNOWN_ORDER;
        memory->by_order[order] = plus(memory->by_order[order], cache.total);
        if (imp_memory_use(&cache) >= 0) {
            in_slots += imp_memory_use(&cache) * (double) cache.total;
            slots += (double) cache.total;
        }
    }
    memory->use_frac = slots > 0 ? in_slots / slots : -1;
    g_array_sort(memory->caches, compare_memory);
    return memory;
}

void
imp_memory_free(ImpMemoryTable *memory)
{
    if (memory == NULL)
        return;
    g_array_unref(memory->caches);
    g_free(memory);
}

gint64
imp_memory_freeable(const ImpMemoryTable *memory)
{
    gint64 most = 0;

    for (guint i = 0; i < memory->caches->len; i++) {
        const ImpMemory *cache = &g_array_index(memory->caches, ImpMemory, i);
        gint64 packed = cache->packed_order0 < 0 ? cache->packed : MIN(cache->packed, cache->packed_order0);

        most = plus(most, packed < 0 ? cache->free : MAX(cache->total - packed, 0));
    }
    return most;
}

double
imp_memory_use(const ImpMemory *cache)
{
    const ImpRow *row = cache->row;

    if (row->total_objects > 0 && row->active_objects >= 0)
        return MIN((double) row->active_objects / (double) row->total_objects, 1.0);
    if (row->in_use_bytes >= 0 && cache->total > 0)
        return (double) cache->in_use / (double) cache->total;
    return -1;
}
