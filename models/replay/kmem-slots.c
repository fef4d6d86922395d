/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kmem-slots.h"

#include <string.h>

/* No slab is above 1 MiB: order 8 with 4K pages, 4 with 64K. */
#define REGION_SHIFT 20
#define BASE_ADDRESS G_GUINT64_CONSTANT(0xffff800000000000)

struct _KmemSlots {
    GHashTable *used; /* slab -> GArray of guint64: a bit for each slot handed out */
};

static void
bits_free(gpointer bits)
{
    g_array_unref(bits);
}

KmemSlots *
kmem_slots_new(void)
{
    KmemSlots *slots = g_new0(KmemSlots, 1);

    slots->used = g_hash_table_new_full(NULL, NULL, NULL, bits_free);
    return slots;
}

void
kmem_slots_free(KmemSlots *slots)
{
    if (!slots)
        return;
    g_hash_table_unref(slots->used);
    g_free(slots);
}

static GArray *
bits_of(KmemSlots *slots, guint32 slab)
{
    GArray *bits = g_hash_table_lookup(slots->used, GUINT_TO_POINTER(slab));

    if (!bits) {
        bits = g_array_new(FALSE, TRUE, sizeof(guint64));
        g_hash_table_insert(slots->used, GUINT_TO_POINTER(slab), bits);
    }
    return bits;
}

static guint64
address(guint32 slab, guint slot, guint size_bytes)
{
    return BASE_ADDRESS + ((guint64) slab << REGION_SHIFT) + (guint64) slot * size_bytes;
}

guint64
kmem_slots_take(KmemSlots *slots, guint32 slab, guint size_bytes)
{
    GArray *bits = bits_of(slots, slab);
    guint word = 0, bit;

    while (word < bits->len && g_array_index(bits, guint64, word) == G_MAXUINT64)
        word++;
    if (word == bits->len)
        g_array_set_size(bits, word + 1);
    bit = (guint) __builtin_ctzll(~g_array_index(bits, guint64, word));
    g_array_index(bits, guint64, word) |= (guint64) 1 << bit;
    return address(slab, word * 64 + bit, size_bytes);
}

void
kmem_slots_give(KmemSlots *slots, guint64 ptr, guint size_bytes)
{
    guint slot = (guint) ((ptr & ((1 << REGION_SHIFT) - 1)) / size_bytes);
    GArray *bits = bits_of(slots, (guint32) ((ptr - BASE_ADDRESS) >> REGION_SHIFT));

    if (slot / 64 < bits->len)
        g_array_index(bits, guint64, slot / 64) &= ~((guint64) 1 << slot % 64);
}

guint64
kmem_slots_give_any(KmemSlots *slots, guint32 slab, guint size_bytes)
{
    GArray *bits = bits_of(slots, slab);

    for (guint word = 0; word < bits->len; word++) {
        guint64 *taken = &g_array_index(bits, guint64, word);

        if (*taken) {
            guint bit = (guint) __builtin_ctzll(*taken);

            *taken &= *taken - 1;
            return address(slab, word * 64 + bit, size_bytes);
        }
    }
    return address(slab, 0, size_bytes);
}
