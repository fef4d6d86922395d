/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale brk1: each task grows its heap by a page and shrinks it again, two operations (mm/mmap.c 6.17, mm/vma.c
 * 6.17; the stores of older releases by the same rules). Growing extends the heap's VMA: its boundary moves into the
 * gap behind it, no node is used, though to 6.5 some are reserved. Shrinking splits the VMA first (__split_vma()): a
 * new VMA with copies of the anon_vma_chains of a heap that has been written to takes the part that stays, and the old
 * VMA goes with the page; a store each for split and removal. */
#include "mm-loop.h"

#include <string.h>

typedef struct {
    MmVma vma; /* the heap's */
    guint n_chains;
    SlabId chain[MM_CHAINS_MAX];
} Heap;

static void
begin(MmTask *task)
{
    Heap *heap = g_new0(Heap, 1);

    heap->n_chains = mm_loop_int(task->loop, "anon_chains");
    heap->vma = mm_vma_new(&task->loop->mm, task->cpu);
    mm_chains_new(&task->loop->mm, task->cpu, heap->n_chains, heap->chain);
    task->state = heap;
}

static void
shrink(MmTask *task)
{
    const MmLoop *loop = task->loop;
    const MmCaches *mm = &loop->mm;
    Heap *heap = task->state;
    MmVma remaining = mm_vma_new(mm, task->cpu);
    SlabId chain[MM_CHAINS_MAX];

    mm_chains_new(mm, task->cpu, heap->n_chains, chain);
    mm_tree_store(mm, task->tree, task->cpu, loop->map);
    mm_chains_free(mm, task->cpu, heap->n_chains, heap->chain);
    mm_unmap(mm, task->tree, task->cpu, loop->unmap, heap->vma);
    heap->vma = remaining;
    memcpy(heap->chain, chain, sizeof chain);
}

static void
iterate(MmTask *task)
{
    const MmLoop *loop = task->loop;
    MmStore growth = mm_store(loop->world->slub->kernel, MM_STORE_BOUNDARY, loop->height, FALSE);

    mm_call_begin(task);
    mm_tree_store(&loop->mm, task->tree, task->cpu, growth);
    mm_call_end(task);
    mach_poll(task->cpu);
    mm_call_begin(task);
    shrink(task);
    mm_call_end(task);
}

static void *
setup(World *world, GError **error)
{
    static const MmTest test = {.n_counted = 2, .with_anon = TRUE, .begin = begin, .iterate = iterate};

    return mm_loop_new(world, &test);
}

const Workload workload_brk1 = {
    .name = "brk1",
    .summary = "will-it-scale brk1: grow and shrink the heap by a page, one pinned task a CPU",
    .operation = "calls of brk()",
    .keys = mm_loop_keys,
    .cache_names = mm_loop_anon_cache_names,
    .check = mm_loop_check,
    .shares_host = TRUE,
    .setup = setup,
    .free = mm_loop_free,
};
