/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_ARENA_H
#define SLAB_ARENA_H

#include <glib.h>

/* All slabs of a world in one flat array, addressed by 32-bit numbers; 0 means no slab. Objects inside a slab are
 * not told apart: no count, list or cost depends on which of them is free, so a live object is its slab's number. */

typedef guint32 SlabId;

enum
{
    SLAB_ID_BITS = 26,
    SLAB_ARENA_MAX = 1 << SLAB_ID_BITS,
};

enum
{
    SLAB_FROZEN = 1 << 0,     /* owned by a CPU: nobody else moves it between lists */
    SLAB_ON_PARTIAL = 1 << 1, /* on its node's partial list */
    SLAB_MIN_ORDER = 1 << 2,  /* got the fallback order */
};

typedef struct
{
    SlabId next, prev;  /* of the list it is on; only `next` on a cpu partial list */
    guint16 inuse;      /* objects that are not on the slab's own freelist; that freelist has objects - inuse */
    guint16 objects;
    guint32 version;    /* counts updates of the freelist and counters word pair */
    guint32 cpu_partial_count; /* at its insertion into a cpu partial list: slabs (5.16+) or objects (pobjects) */
    guint16 toucher;    /* CPU that wrote its struct slab last */
    guint16 cache;      /* index of its kmem_cache */
    guint8 node;
    guint8 flags;
    guint16 unused[3];
} Slab;

G_STATIC_ASSERT(sizeof(Slab) == 32);

typedef struct
{
    Slab *slab; /* never moves: address space for SLAB_ARENA_MAX of them is reserved; slot 0 unused */
    guint32 n_used;
    SlabId free_head; /* through next */
} SlabArena;

/* FALSE when the address space cannot be had. */
gboolean slab_arena_init(SlabArena *arena);
void slab_arena_clear(SlabArena *arena);

/* A zeroed slab with a number of its own. */
SlabId slab_arena_take(SlabArena *arena);
void slab_arena_give(SlabArena *arena, SlabId id);

/* A doubly linked list of slabs. */
typedef struct
{
    SlabId head, tail;
    guint32 count;
} SlabList;

void slab_list_add_head(SlabArena *arena, SlabList *list, SlabId id);
void slab_list_add_tail(SlabArena *arena, SlabList *list, SlabId id);
void slab_list_remove(SlabArena *arena, SlabList *list, SlabId id);

#endif
