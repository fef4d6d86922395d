/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page-alloc.h"

#include <math.h>

#include "slab-types.h"

enum
{
    /* A 6.7+ rule: alloc_factor and the high-order flush are bounded by batch << 5. */
    BATCH_SCALE_MAX = 5,
};

/* Orders up to this one have per-CPU lists: 0 alone until "mm/page_alloc: allow high-order pages to be stored on the
 * per-cpu lists" (5.14). */
static guint
max_list_order(const PageAllocator *pages)
{
    return pages->kernel >= SLAB_KERNEL(5, 14) ? PAGE_ALLOC_COSTLY_ORDER : 0;
}

static guint32
zone_batch(guint64 zone_pages, guint page_size_bytes)
{
    guint64 b = MAX(MIN(zone_pages / 1024, (1u << 20) / page_size_bytes) / 4, 1);
    guint32 power = 1;

    while (2 * power <= b + b / 2)
        power *= 2;
    return MAX(power - 1, 1);
}

/* Low watermark of a zone that holds 1/n of the memory: min_free_kbytes = sqrt(16 * kB of memory) within 128 kB and
 * 256 MiB (init_per_zone_wmark_min), and the gap the larger of a quarter of it and 0.1 % of the zone
 * (__setup_per_zone_wmarks). */
static guint64
zone_low_watermark(guint64 zone_pages, guint64 all_pages, guint page_size_bytes)
{
    double all_kbytes = (double) all_pages * page_size_bytes / 1024;
    double min_free_kbytes = CLAMP(sqrt(all_kbytes * 16), 128, 262144);
    guint64 min_pages = (guint64) (min_free_kbytes * 1024 / page_size_bytes * (double) zone_pages / (double) all_pages);

    return min_pages + MAX(min_pages / 4, zone_pages / 1000);
}

/* pcp->high from 5.14 on (zone_highsize), before that a multiple of the batch (pageset_set_batch). */
static guint32
zone_high(const PageAllocator *pages, guint64 pages_to_share, guint n_cpus)
{
    if (pages->kernel < SLAB_KERNEL(5, 14))
        return 6 * pages->batch;
    return (guint32) MAX(pages_to_share / n_cpus, 4 * pages->batch);
}

PageAllocator *
page_allocator_new(Machine *machine, guint kernel)
{
    const MachTopology *topology = machine->topology;
    PageAllocator *pages = g_new0(PageAllocator, 1);
    guint64 all_pages = 0, largest = 0;

    for (guint node = 0; node < topology->n_nodes; node++) {
        guint64 zone_pages = topology->node_memory_bytes[node] / topology->page_size_bytes;
        all_pages += zone_pages;
        largest = MAX(largest, zone_pages);
    }
    pages->machine = machine;
    pages->kernel = kernel;
    pages->batch = zone_batch(largest, topology->page_size_bytes);
    pages->zone = g_new0(PageZone, topology->n_nodes);
    pages->pcp = g_new0(PagePcp, (gsize) topology->n_cpus * topology->n_nodes);
    for (guint node = 0; node < topology->n_nodes; node++) {
        PageZone *zone = &pages->zone[node];
        guint n_local_cpus = 0;

        for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
            n_local_cpus += topology->cpu_node[cpu] == node;
        zone->free_pages = (gint64) (topology->node_memory_bytes[node] / topology->page_size_bytes);
        if (!n_local_cpus)
            n_local_cpus = topology->n_cpus;
        zone->high_min =
            zone_high(pages, zone_low_watermark((guint64) zone->free_pages, all_pages, topology->page_size_bytes),
                      n_local_cpus);
        zone->high_max = MAX(zone->high_min, zone_high(pages, (guint64) zone->free_pages / 8, n_local_cpus));
        sim_lock_init(&zone->lock, machine->lock_kind, &topology->distance[node], &machine->lock_costs,
                      PAGE_N_LOCK_SITES, TRUE);
        for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
            pages->pcp[cpu * topology->n_nodes + node].high = zone->high_min;
    }
    return pages;
}

void
page_allocator_free(PageAllocator *pages)
{
    if (!pages)
        return;
    for (guint node = 0; node < pages->machine->topology->n_nodes; node++)
        sim_lock_clear(&pages->zone[node].lock);
    g_free(pages->zone);
    g_free(pages->pcp);
    g_free(pages);
}

static PagePcp *
get_pcp(PageAllocator *pages, guint cpu, guint node)
{
    return &pages->pcp[cpu * pages->machine->topology->n_nodes + node];
}

/* The rest of a zone lock hold that moves `n_blocks` blocks. */
static void
finish_hold(PageAllocator *pages, MachCpu *cpu, PageZone *zone, guint32 n_blocks)
{
    const MachCosts *costs = &pages->machine->costs;

    mach_spend(cpu, costs->zone_hold_base + n_blocks * costs->zone_hold_block);
    sim_lock_release(cpu->engine, &zone->lock, cpu->agent);
}

/* Takes up to `n_blocks` blocks under one hold of the zone lock; returns how many there were. */
static guint32
take_blocks(PageAllocator *pages, MachCpu *cpu, guint node, guint32 n_blocks, guint order, PageLockSite site)
{
    PageZone *zone = &pages->zone[node];

    sim_lock_acquire(cpu->engine, &zone->lock, cpu->agent, site);
    n_blocks = (guint32) MIN((gint64) n_blocks, zone->free_pages >> order);
    zone->free_pages -= (gint64) n_blocks << order;
    finish_hold(pages, cpu, zone, n_blocks);
    return n_blocks;
}

/* Gives `n_blocks` blocks, `n_pages` pages in all, back under one hold of the zone lock. */
static void
give_blocks(PageAllocator *pages, MachCpu *cpu, guint node, guint32 n_blocks, gint64 n_pages, PageLockSite site)
{
    PageZone *zone = &pages->zone[node];

    sim_lock_acquire(cpu->engine, &zone->lock, cpu->agent, site);
    zone->free_pages += n_pages;
    finish_hold(pages, cpu, zone, n_blocks);
}

/* nr_pcp_alloc(), 6.7+: how many pages an order-0 refill takes, and how far `high` rises. */
static guint32
refill_pages_67(PageAllocator *pages, const PageZone *zone, PagePcp *pcp, guint order)
{
    guint32 base_batch = pages->batch, batch = base_batch, bound;

    if (order == 0)
        batch <<= pcp->alloc_factor;
    if (zone->high_min != zone->high_max)
        pcp->high = MIN(pcp->high + batch, zone->high_max);
    if (order > 0)
        return base_batch;
    bound = MAX(pcp->high > pcp->count + base_batch ? pcp->high - pcp->count - base_batch : 0, base_batch);
    if (batch <= bound && pcp->alloc_factor < BATCH_SCALE_MAX)
        pcp->alloc_factor++;
    return MIN(batch, bound);
}

static gboolean
alloc_from_node(PageAllocator *pages, MachCpu *cpu, guint node, guint order)
{
    PagePcp *pcp = get_pcp(pages, cpu->id, node);

    if (order > max_list_order(pages))
        return take_blocks(pages, cpu, node, 1, order, PAGE_LOCK_DIRECT) == 1;
    pcp->free_factor >>= 1;
    if (pcp->blocks[order] == 0) {
        guint32 n_pages = pages->kernel >= SLAB_KERNEL(6, 7)
                              ? refill_pages_67(pages, &pages->zone[node], pcp, order)
                              : pages->batch;
        guint32 n_blocks = n_pages > 1 ? MAX(n_pages >> order, 2) : 1;
        guint32 n = take_blocks(pages, cpu, node, n_blocks, order, PAGE_LOCK_REFILL);

        if (n == 0)
            return FALSE;
        pcp->blocks[order] += n;
        pcp->count += n << order;
    }
    pcp->blocks[order]--;
    pcp->count -= 1u << order;
    mach_spend(cpu, pages->machine->costs.page_pcp);
    return TRUE;
}

gint
page_alloc(PageAllocator *pages, MachCpu *cpu, guint node, guint order, gboolean this_node_only)
{
    const MachTopology *topology = pages->machine->topology;
    const guint16 *zonelist = &topology->zonelist[node * topology->n_nodes];

    if (this_node_only)
        return topology->node_memory_bytes[node] && alloc_from_node(pages, cpu, node, order) ? (gint) node : -1;
    for (guint i = 0; i < topology->n_nodes && zonelist[i] != MACH_NO_CPU; i++)
        if (alloc_from_node(pages, cpu, zonelist[i], order))
            return zonelist[i];
    return -1;
}

/* free_pcppages_bulk() as of 5.18: beginning with the list of the block just freed, each list emptied before the
 * next. */
static void
drain(PageAllocator *pages, MachCpu *cpu, guint node, PagePcp *pcp, guint32 n_pages, guint first_order)
{
    guint32 n_blocks = 0;
    gint64 n_freed = 0;

    for (guint i = 0; i <= PAGE_ALLOC_COSTLY_ORDER && (guint32) n_freed < n_pages; i++) {
        guint order = (first_order + i) % (PAGE_ALLOC_COSTLY_ORDER + 1);
        guint32 wanted = (n_pages - (guint32) n_freed + (1u << order) - 1) >> order;
        guint32 n = MIN(wanted, pcp->blocks[order]);

        pcp->blocks[order] -= n;
        pcp->count -= n << order;
        n_freed += (gint64) n << order;
        n_blocks += n;
    }
    if (n_blocks)
        give_blocks(pages, cpu, node, n_blocks, n_freed, PAGE_LOCK_DRAIN);
}

/* To 6.6: nr_pcp_free(). Its free_factor came with 5.14, and the cliff of orders 1 to 3 with "mm/page_alloc: limit
 * number of high-order pages on PCP during bulk free" (5.18). */
static guint32
pages_to_drain_old(const PageAllocator *pages, PagePcp *pcp, guint order)
{
    guint32 batch = pages->batch, n;

    if (order > 0 && pcp->free_factor && pages->kernel >= SLAB_KERNEL(5, 18))
        return pcp->count;
    if (pcp->count < pcp->high)
        return 0;
    if (pages->kernel < SLAB_KERNEL(5, 14))
        return batch;
    n = batch << pcp->free_factor;
    if (n < pcp->high - batch)
        pcp->free_factor++;
    return CLAMP(n, batch, pcp->high - batch);
}

/* 6.7+: free_unref_page_commit() and nr_pcp_free(). `free_count` is that before this free. */
static guint32
pages_to_drain_67(const PageAllocator *pages, const PageZone *zone, PagePcp *pcp, guint order, guint32 free_count,
                  gboolean last_was_high_order)
{
    guint32 batch = pages->batch, high = pcp->high, n_max = batch << BATCH_SCALE_MAX;
    guint32 threshold = pages->kernel >= SLAB_KERNEL(6, 18) ? batch + zone->high_min / 2 : batch;

    if (order > 0 && free_count >= threshold && last_was_high_order && pcp->count >= batch) {
        pcp->high = MAX(pcp->high > n_max ? pcp->high - n_max : 0, zone->high_min);
        return MIN(pcp->count, n_max);
    }
    if (pcp->count < high)
        return 0;
    if (high < pcp->free_factor + batch)
        pcp->high = CLAMP(pcp->free_factor + batch, zone->high_min, zone->high_max);
    return CLAMP(pcp->free_factor, batch, high - batch);
}

void
page_free(PageAllocator *pages, MachCpu *cpu, guint node, guint order)
{
    PagePcp *pcp = get_pcp(pages, cpu->id, node);
    guint32 n_pages;

    if (order > max_list_order(pages)) {
        give_blocks(pages, cpu, node, 1, (gint64) 1 << order, PAGE_LOCK_DIRECT);
        return;
    }
    mach_spend(cpu, pages->machine->costs.page_pcp);
    pcp->blocks[order]++;
    pcp->count += 1u << order;
    if (pages->kernel >= SLAB_KERNEL(6, 7)) {
        guint32 free_count = pcp->free_factor;

        pcp->alloc_factor >>= 1;
        if (free_count < pages->batch << BATCH_SCALE_MAX)
            pcp->free_factor += 1u << order;
        n_pages = pages_to_drain_67(pages, &pages->zone[node], pcp, order, free_count, pcp->last_free_was_high_order);
        pcp->last_free_was_high_order = order > 0;
    } else {
        n_pages = pages_to_drain_old(pages, pcp, order);
    }
    if (n_pages)
        drain(pages, cpu, node, pcp, n_pages, order);
}

guint64
page_pcp_pages(const PageAllocator *pages, guint cpu)
{
    guint n_nodes = pages->machine->topology->n_nodes;
    guint64 n = 0;

    for (guint node = 0; node < n_nodes; node++)
        n += pages->pcp[cpu * n_nodes + node].count;
    return n;
}
