/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_SYSFS_H
#define IMP_SYSFS_H

#include "imp-dump.h"

/* Files of /sys/kernel/slab/CACHE: mm/slub.c slab_attrs[]. */

#define IMP_SYSFS_NO_KEY (-1)

/* Number of a file, by its name of `length` bytes; IMP_SYSFS_NO_KEY for an unknown one. */
gint imp_sysfs_find(const char *name, gsize length);
/* The names in the order of their numbers, NULL-terminated. */
const char *const *imp_sysfs_names(void);

/* Puts the text of a file into `row`: "2550 N0=2550", "99(99) C1=25(25)", "pgd_ctor+0x0/0x18". FALSE when a number was
 * due and none is there. Sums over nodes and CPUs that miss their total become notes. */
gboolean imp_sysfs_set(ImpDump *dump, ImpRow *row, gint key, const char *value);

/* What the name says: flags and size of a merged cache, ":A-0000256". */
void imp_sysfs_apply_name(ImpRow *row);

/* A copy made through symbolic links holds merged caches several times, under each name: keeps the first of each,
 * with the others as its aliases. */
void imp_sysfs_drop_copies(ImpDump *dump, GArray *rows);

#endif
