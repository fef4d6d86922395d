/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_MEMORY_H
#define IMP_MEMORY_H

#include "imp-machine.h"

/* Where the memory of caches is, and what settings could give back at most. All in bytes; -1 = not known. Sums stop
 * growing at 2^62. */

typedef struct {
    const ImpRow *row;
    gint order;           /* listed, or by the size of a slab; -1 = not known */
    gint64 total;         /* slabs times the size of a slab, or as listed */
    gint64 in_use;        /* objects without padding, as far as their own size is known */
    gint64 free;          /* free slots */
    gint64 padding;       /* inside slots and at the end of slabs */
    gint64 shrinkable;    /* slabs that could be empty, seen from the free slots */
    gint64 cpu_lists;     /* slabs on partial lists of CPUs: listed, or the most the default limits allow */
    gint64 cpu_held;      /* all slabs CPUs hold: the same, with the slabs in use */
    gint64 packed;        /* objects in use in as few slabs as possible, at the listed order */
    gint64 packed_order0; /* the same at the smallest order that holds one */
} ImpMemory;

typedef struct {
    GArray *caches;      /* ImpMemory, largest first, equal ones by name; call sites and sizeless rows are left out */
    guint n_unknown;     /* rows whose memory is not known */
    ImpMemory sum;       /* of what is known; cpu_lists and cpu_held -1 when one is not */
    double use_frac;     /* slots in use, weighed by bytes; -1 = not known */
    gint64 by_order[12]; /* memory by order, [11] = order not known */
} ImpMemoryTable;

ImpMemoryTable *imp_memory_new(const ImpDump *dump, guint table, const ImpMachine *machine);
void imp_memory_free(ImpMemoryTable *memory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImpMemoryTable, imp_memory_free)

/* The most that shrinking, order 0 and cpu_partial 0 could free of what is not in use; at least 0. What CPUs hold and
 * the listing counts as in use is not in it: see sum.cpu_held. */
gint64 imp_memory_freeable(const ImpMemoryTable *memory);

/* Share of slots in use of one cache, -1 = not known. */
double imp_memory_use(const ImpMemory *cache);

#endif
