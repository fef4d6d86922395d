/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of mapping a number of VMAs, touching a page of each and unmapping them in the same order; what mmap and
 * munmap take is told apart, the faults are not timed (SHS rows). The mappings do not merge. A leaf of the tree holds 6
 * to 16 ranges and splits in halves; the rounds start from a process of 20 ranges. A first fault makes the VMA's
 * anon_vma and its chain. */
#include "mm-loop.h"

#include <math.h>

enum {
    LEAF_MAX = 16,
    LEAF_MIN = 6,
    LEAF_HALF = LEAF_MAX / 2,
    RANGES_AT_START = 20,
};

typedef struct {
    MmVma vma;
    SlabId anon_vma, chain;
} Mapping;

typedef struct {
    guint n_vmas, n_ranges, n_leaves;
    guint64 n_timed;    /* rounds in the measured window */
    SimTime map, unmap; /* of those rounds */
    SimTime fault_compute, zap_compute;
    Mapping mapping[]; /* [n_vmas] */
} Rounds;

static void
begin(MmTask *task)
{
    const SimConfig *config = task->loop->world->config;
    guint n = mm_loop_int(task->loop, "vmas");
    Rounds *rounds = g_malloc0(sizeof *rounds + n * sizeof rounds->mapping[0]);

    rounds->n_vmas = n;
    rounds->n_ranges = RANGES_AT_START;
    rounds->n_leaves = 1 + (RANGES_AT_START - LEAF_MAX + LEAF_HALF - 1) / LEAF_HALF;
    rounds->fault_compute = sim_config_time(config, "workload", "fault_compute");
    rounds->zap_compute = sim_config_time(config, "workload", "zap_compute");
    mm_tree_grow(&task->loop->mm, task->tree, task->cpu, rounds->n_leaves); /* beside the root */
    task->state = rounds;
}

/* The store that adds a range, in the leaf that all of them come to. */
static MmStore
store_of_one_more(const MmTask *task, Rounds *rounds)
{
    gboolean splits = ++rounds->n_ranges > LEAF_MAX + LEAF_HALF * (rounds->n_leaves - 1);

    rounds->n_leaves += splits;
    return mm_store(task->loop->world->slub->kernel, splits ? MM_STORE_SPLIT : MM_STORE_NODE, task->loop->height,
                    FALSE);
}

/* ... that makes a range one with the gap beside it. */
static MmStore
store_of_one_less(const MmTask *task, Rounds *rounds)
{
    gboolean joins = --rounds->n_ranges < LEAF_MIN + LEAF_HALF * (rounds->n_leaves - 1);

    rounds->n_leaves -= joins;
    return mm_store(task->loop->world->slub->kernel, joins ? MM_STORE_REBALANCE : MM_STORE_NODE, task->loop->height,
                    TRUE);
}

static void
touch_page(MmTask *task, Mapping *mapping)
{
    const MmCaches *mm = &task->loop->mm;
    const Rounds *rounds = task->state;

    mm_compute(task, rounds->fault_compute);
    mapping->chain = world_alloc_accounted(mm->world, mm->anon_vma_chain, task->cpu);
    mapping->anon_vma = world_alloc_accounted(mm->world, mm->anon_vma, task->cpu);
    mach_poll(task->cpu);
}

/* free_pgtables() takes the VMA off its anon_vma before it goes itself. */
static void
unmap(MmTask *task, Mapping *mapping)
{
    const MmCaches *mm = &task->loop->mm;
    Rounds *rounds = task->state;

    mm_call_begin(task);
    mm_compute(task, rounds->zap_compute);
    world_free_accounted(mm->world, mm->anon_vma_chain, task->cpu, mapping->chain);
    world_free_accounted(mm->world, mm->anon_vma, task->cpu, mapping->anon_vma);
    mm_unmap(mm, task->tree, task->cpu, store_of_one_less(task, rounds), mapping->vma);
    mm_call_end(task);
    mach_poll(task->cpu);
}

static void
iterate(MmTask *task)
{
    Rounds *rounds = task->state;
    gboolean is_timed = mach_now(task->cpu) >= task->loop->world->warmup;
    SimTime map = 0, start;

    for (guint i = 0; i < rounds->n_vmas; i++) {
        start = mach_now(task->cpu);
        mm_call_begin(task);
        rounds->mapping[i].vma = mm_map(&task->loop->mm, task->tree, task->cpu, store_of_one_more(task, rounds));
        mm_call_end(task);
        mach_poll(task->cpu); /* callbacks delay whom they find */
        map += mach_now(task->cpu) - start;
        touch_page(task, &rounds->mapping[i]);
    }
    start = mach_now(task->cpu);
    for (guint i = 0; i < rounds->n_vmas; i++)
        unmap(task, &rounds->mapping[i]);
    if (!is_timed)
        return;
    rounds->n_timed++;
    rounds->map += map;
    rounds->unmap += mach_now(task->cpu) - start;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const MmLoop *loop = state;
    double map_ns = 0, unmap_ns = 0, n_calls = 0;

    for (guint i = 0; i < world->n_tasks; i++) {
        const Rounds *rounds = loop->task[i].state;

        map_ns += sim_time_to_ns(rounds->map);
        unmap_ns += sim_time_to_ns(rounds->unmap);
        n_calls += (double) rounds->n_timed * rounds->n_vmas;
    }
    sim_record_add_metric(record, "mmap_ns", n_calls > 0 ? map_ns / n_calls : NAN);
    sim_record_add_metric(record, "munmap_ns", n_calls > 0 ? unmap_ns / n_calls : NAN);
    sim_record_add_metric(record, "map_and_unmap_ns", n_calls > 0 ? (map_ns + unmap_ns) / n_calls : NAN);
}

static void *
setup(World *world, GError **error)
{
    static const MmTest test = {.n_counted = 1, .with_anon = TRUE, .begin = begin, .iterate = iterate};

    return mm_loop_new(world, &test);
}

const Workload workload_map_batch = {
    .name = "map_batch",
    .summary = "map VMAs, touch a page of each, unmap them; mmap and munmap timed apart",
    .operation = "rounds",
    .keys = mm_loop_keys,
    .cache_names = mm_loop_anon_cache_names,
    .check = mm_loop_check,
    .setup = setup,
    .report = report,
    .free = mm_loop_free,
};
