/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_MACHINE_H
#define IMP_MACHINE_H

#include "imp-dump.h"
#include "slab-geometry.h"

/* What the numbers of a listing tell of the machine it is from. Orders follow from sizes, the page size and
 * fls(CPUs) (slub-facts A.4), so the listing bounds the last two; names bound the release. */

/* What the user knows better; 0 = not given. */
typedef struct {
    guint kernel, n_cpus, page_size_bytes;
} ImpGiven;

typedef struct {
    guint kernel_low, kernel_high; /* mainline releases whose names it has; 0 = open */
    gboolean knows_page_size;      /* exactly one fits */
    gboolean knows_cpus;
    guint cpus_low, cpus_high; /* in the order formula; cpus_high 0 = open */
    guint n_shapes, n_misfits; /* distinct geometries looked at; those the best machine does not explain */
    guint debug_flags;         /* of the kmalloc caches, as far as they are certain */
    gboolean is_debug;         /* they are padded by some debugging */
    SlabGeometryEnv env;       /* the model of it: what was given, found, or else assumed */
} ImpMachine;

/* Looks at one table of `dump`, adds notes to it (inferred, unknown, conflicts) and returns the machine. */
ImpMachine imp_machine_infer(ImpDump *dump, guint table, const ImpGiven *given);

/* The slots of a slab and what its geometry says, when that is not as the machine would have it: TRUE, and the order
 * the model computes. */
gboolean imp_machine_misfits(const ImpMachine *machine, const ImpRow *row, guint *ret_order);

/* Most slabs all CPUs together may hold of a cache that the listing counts as in use: the slab in use and the partial
 * list of each CPU, by the default limits, at most all slabs of the cache. -1 when the number of CPUs is open. */
gint64 imp_machine_cpu_slabs(const ImpMachine *machine, const ImpRow *row, gboolean lists_only);

#endif
