/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-table.h"

#include <string.h>

enum {
    FIRST_CAPACITY = 1024,
};

void
replay_table_init(ReplayTable *table, guint width)
{
    *table = (ReplayTable){
        .key = g_new0(guint64, FIRST_CAPACITY),
        .value = g_new0(guint32, (gsize) FIRST_CAPACITY * width),
        .width = width,
        .capacity = FIRST_CAPACITY,
    };
}

void
replay_table_clear(ReplayTable *table)
{
    g_clear_pointer(&table->key, g_free);
    g_clear_pointer(&table->value, g_free);
}

/* Pointers of one slab differ in few middle bits; the product's high half mixes them. */
static gsize
home(const ReplayTable *table, guint64 key)
{
    return (gsize) ((key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32) & (table->capacity - 1);
}

static gsize
slot_of(const ReplayTable *table, guint64 key)
{
    gsize i = home(table, key);

    while (table->key[i] && table->key[i] != key)
        i = (i + 1) & (table->capacity - 1);
    return i;
}

guint32 *
replay_table_find(const ReplayTable *table, guint64 key)
{
    gsize i = slot_of(table, key);

    return table->key[i] ? table->value + i * table->width : NULL;
}

static void
grow(ReplayTable *table)
{
    ReplayTable old = *table;

    table->capacity *= 2;
    table->key = g_new0(guint64, table->capacity);
    table->value = g_new0(guint32, table->capacity * table->width);
    for (gsize i = 0; i < old.capacity; i++)
        if (old.key[i]) {
            gsize slot = slot_of(table, old.key[i]);

            table->key[slot] = old.key[i];
            memcpy(table->value + slot * table->width, old.value + i * old.width, old.width * sizeof *old.value);
        }
    replay_table_clear(&old);
}

guint32 *
replay_table_add(ReplayTable *table, guint64 key)
{
    gsize i = slot_of(table, key);

    if (!table->key[i]) {
        if ((table->n_keys + 1) * 10 > table->capacity * 7) {
            grow(table);
            i = slot_of(table, key);
        }
        table->key[i] = key;
        table->n_keys++;
        memset(table->value + i * table->width, 0, table->width * sizeof *table->value);
    }
    return table->value + i * table->width;
}

/* Those that had to step over the freed slot move up, so that no marks of removed keys pile up. */
void
replay_table_remove(ReplayTable *table, const guint32 *row)
{
    gsize mask = table->capacity - 1, hole = (gsize) (row - table->value) / table->width;

    for (gsize i = (hole + 1) & mask; table->key[i]; i = (i + 1) & mask)
        if (((i - home(table, table->key[i])) & mask) >= ((i - hole) & mask)) {
            table->key[hole] = table->key[i];
            memcpy(table->value + hole * table->width, table->value + i * table->width,
                   table->width * sizeof *table->value);
            hole = i;
        }
    table->key[hole] = 0;
    table->n_keys--;
}
