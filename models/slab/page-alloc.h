/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PAGE_ALLOC_H
#define PAGE_ALLOC_H

#include "mach-machine.h"

/* The page allocator as slabs see it: one zone a node with its lock, and per-CPU page lists by order
 * (mm/page_alloc.c; slub-facts D.3.1). Pages are counted, not told apart. Left out: watermarks and reclaim, zones
 * other than Normal, movable and reclaimable lists, idle decay of the lists, kswapd, and the order in which 5.14 to
 * 5.17 drain lists of several orders. */

enum
{
    PAGE_ALLOC_COSTLY_ORDER = 3,
    PAGE_MAX_ORDER = 10,
};

typedef enum
{
    PAGE_LOCK_REFILL, /* rmqueue_bulk */
    PAGE_LOCK_DRAIN,  /* free_pcppages_bulk */
    PAGE_LOCK_DIRECT, /* orders that have no per-CPU list */
    PAGE_N_LOCK_SITES
} PageLockSite;

/* The per-CPU lists of one (zone, CPU). */
typedef struct
{
    guint32 count;   /* base pages on all lists */
    guint32 high;    /* 6.7+: floats between high_min and high_max */
    guint32 blocks[PAGE_ALLOC_COSTLY_ORDER + 1]; /* by order */
    guint32 free_factor; /* to 6.6: factor; 6.7+: pages freed in a row (free_count) */
    guint16 alloc_factor;
    gboolean last_free_was_high_order;
} PagePcp;

typedef struct
{
    SimLock lock;
    gint64 free_pages; /* not in the zone's use nor on per-CPU lists; under the lock */
    guint32 high_min, high_max;
} PageZone;

typedef struct
{
    Machine *machine;
    guint kernel; /* SLAB_KERNEL */
    guint32 batch;
    PageZone *zone; /* [n_nodes] */
    PagePcp *pcp;   /* [n_cpus][n_nodes] */
} PageAllocator;

PageAllocator *page_allocator_new(Machine *machine, guint kernel);
void page_allocator_free(PageAllocator *pages);

/* One block of 2^order pages, from `node` or, unless `this_node_only`, the next node of its zonelist that has any.
 * Returns the node it came from, -1 when there is none. On a CPU's fiber; takes its time. */
gint page_alloc(PageAllocator *pages, MachCpu *cpu, guint node, guint order, gboolean this_node_only);

/* Gives a block of `node` back on this CPU. */
void page_free(PageAllocator *pages, MachCpu *cpu, guint node, guint order);

/* Pages on the per-CPU lists of one CPU, all nodes. */
guint64 page_pcp_pages(const PageAllocator *pages, guint cpu);

#endif
