/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-arena.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES ((gsize) SLAB_ARENA_MAX * sizeof(Slab))

gboolean
slab_arena_init(SlabArena *arena)
{
    void *memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return FALSE;
    *arena = (SlabArena){.slab = memory, .n_used = 1};
    return TRUE;
}

void
slab_arena_clear(SlabArena *arena)
{
    if (arena->slab)
        munmap(arena->slab, ARENA_BYTES);
    arena->slab = NULL;
}

SlabId
slab_arena_take(SlabArena *arena)
{
    SlabId id = arena->free_head;

    if (id) {
        arena->free_head = arena->slab[id].next;
        memset(&arena->slab[id], 0, sizeof(Slab));
        return id;
    }
    g_assert(arena->n_used < SLAB_ARENA_MAX);
    return arena->n_used++;
}

void
slab_arena_give(SlabArena *arena, SlabId id)
{
    arena->slab[id].next = arena->free_head;
    arena->slab[id].objects = 0;
    arena->free_head = id;
}

void
slab_list_add_head(SlabArena *arena, SlabList *list, SlabId id)
{
    Slab *slab = &arena->slab[id];

    slab->prev = 0;
    slab->next = list->head;
    if (list->head)
        arena->slab[list->head].prev = id;
    else
        list->tail = id;
    list->head = id;
    list->count++;
}

void
slab_list_add_tail(SlabArena *arena, SlabList *list, SlabId id)
{
    Slab *slab = &arena->slab[id];

    slab->next = 0;
    slab->prev = list->tail;
    if (list->tail)
        arena->slab[list->tail].next = id;
    else
        list->head = id;
    list->tail = id;
    list->count++;
}

void
slab_list_remove(SlabArena *arena, SlabList *list, SlabId id)
{
    const Slab *slab = &arena->slab[id];

    if (slab->prev)
        arena->slab[slab->prev].next = slab->next;
    else
        list->head = slab->next;
    if (slab->next)
        arena->slab[slab->next].prev = slab->prev;
    else
        list->tail = slab->prev;
    list->count--;
}
