/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_REF_SLUB_H
#define TEST_REF_SLUB_H

#include "ref-slub.h"

/* 4 objects a slab, min_partial 2, cpu partial limits of 4 objects and 2 slabs, 4 CPUs on one node. */
RefParams test_params(guint kernel);

/* The listed counters, in pairs (SlabStat, value) ended by -1, have these totals; all others are zero; and
 * ref_slub_check() holds. */
void test_expect_stats(const RefSlub *slub, ...);

/* The same for lock sites, in pairs (RefLockSite, value). */
void test_expect_locks(const RefSlub *slub, ...);

/* Serials of the node partial list, or of a CPU's partial list, head to tail: "2 0 1". */
void test_expect_node_list(const RefSlub *slub, guint node, const char *serials);
void test_expect_cpu_list(const RefSlub *slub, guint cpu, const char *serials);

void test_expect_place(const RefSlub *slub, guint serial, RefPlace place, gint owner);

/* Allocates n objects one by one; ret_objects may be NULL. */
void test_alloc_n(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects);

void test_add_node_tests(void);
void test_add_random_tests(void);

#endif
