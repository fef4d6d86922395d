/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_TABLE_H
#define REPLAY_TABLE_H

#include <glib.h>

/* Open addressing from a 64-bit key to a row of 32-bit values: live objects by their pointer, slabs by their number.
 * Memory is that of the most keys held at once. Key 0 cannot be used. */
typedef struct {
    guint64 *key;   /* [capacity], 0 = empty */
    guint32 *value; /* [capacity][width] */
    guint width;
    gsize capacity, n_keys; /* capacity is a power of two */
} ReplayTable;

void replay_table_init(ReplayTable *table, guint width);
void replay_table_clear(ReplayTable *table);

/* The row of a key, NULL when it is not there. Valid until the table changes. */
guint32 *replay_table_find(const ReplayTable *table, guint64 key);
/* The row of a key, which is added with a row of zeros when it is not there. */
guint32 *replay_table_add(ReplayTable *table, guint64 key);
/* Removes a key that is there; `row` is what replay_table_find() gave. */
void replay_table_remove(ReplayTable *table, const guint32 *row);

#endif
