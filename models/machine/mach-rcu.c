/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deferred frees (slub-facts D.5; kernel/rcu/tree.c 6.1 to 6.12). Grace periods follow each other without a gap, as on
 * a busy machine, and their boundaries are a function of time alone, so that no CPU has to look at another's state. A
 * callback queued in grace period k may run when k + 1 has ended. All ready callbacks of a CPU run at its next tick:
 * the batch limit bl only splits them between the softirq and ksoftirqd, which follows at once on a CPU whose task
 * uses its time slice. Left out: offloaded callbacks, the flood rules, and kfree_rcu's pages of pointers. */
#include "mach-rcu.h"

enum
{
    SLOTS = 1024,
    SEGMENT_SLOTS = 8,
};

void
mach_rcu_init(MachRcuQueue *queue)
{
    /* Before the first callback no grace period has been looked at: the end of "-1" is the start of time. */
    *queue = (MachRcuQueue){.mask = SLOTS - 1, .segment_mask = SEGMENT_SLOTS - 1, .grace_period = G_MAXUINT64};
    queue->callback = g_new(guint64, SLOTS);
    queue->segment = g_new(MachRcuSegment, SEGMENT_SLOTS);
}

void
mach_rcu_clear(MachRcuQueue *queue)
{
    g_clear_pointer(&queue->callback, g_free);
    g_clear_pointer(&queue->segment, g_free);
}

/* End of grace period `index`: every boundary is off its regular place by up to a quarter period. */
static SimTime
grace_period_end(const Machine *machine, guint64 index)
{
    guint64 hash = (index + 1) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) ^ machine->grace_period_key;
    double offset;

    hash = (hash ^ hash >> 32) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    offset = ((double) (hash & 0xffff) / 65536.0 - 0.5) * 0.5;
    return (SimTime) (((double) index + 1 + offset) * (double) machine->grace_period);
}

/* A full ring: twice as long, with everything at its new place. */
static void
grow_callbacks(MachRcuQueue *queue)
{
    guint32 mask = 2 * queue->mask + 1;
    guint64 *callback = g_new(guint64, (gsize) mask + 1);

    for (guint32 i = queue->head; i != queue->tail; i++)
        callback[i & mask] = queue->callback[i & queue->mask];
    g_free(queue->callback);
    queue->callback = callback;
    queue->mask = mask;
}

static void
grow_segments(MachRcuQueue *queue)
{
    guint32 mask = 2 * queue->segment_mask + 1;
    MachRcuSegment *segment = g_new(MachRcuSegment, (gsize) mask + 1);

    for (guint32 i = queue->segment_head; i != queue->segment_tail; i++)
        segment[i & mask] = queue->segment[i & queue->segment_mask];
    g_free(queue->segment);
    queue->segment = segment;
    queue->segment_mask = mask;
}

/* Goes on in the grace period of `now`, with a segment of its own. */
static void
start_segment(MachRcuQueue *queue, const Machine *machine, SimTime now)
{
    queue->segment[(queue->segment_tail - 1) & queue->segment_mask].end = queue->tail;
    while (now >= queue->grace_period_end)
        queue->grace_period_end = grace_period_end(machine, ++queue->grace_period);
    if (queue->segment_tail - queue->segment_head > queue->segment_mask)
        grow_segments(queue);
    queue->segment[queue->segment_tail++ & queue->segment_mask].grace_period = queue->grace_period;
}

/* A later grace period than that of the last callback, or no room. */
void
mach__rcu_prepare(MachCpu *cpu)
{
    MachRcuQueue *queue = &cpu->rcu;

    if (mach_now(cpu) >= queue->grace_period_end)
        start_segment(queue, cpu->machine, mach_now(cpu));
    if (queue->tail - queue->head > queue->mask)
        grow_callbacks(queue);
}

/* Callbacks may queue new ones, but those belong to a later segment. */
static void
run_callbacks(MachCpu *cpu, guint32 end)
{
    const guint32 mask = (1u << MACH_RCU_ID_BITS) - 1;
    Machine *machine = cpu->machine;
    MachRcuQueue *queue = &cpu->rcu;

    while (queue->head != end) {
        guint64 callback = queue->callback[queue->head++ & queue->mask];
        const MachRcuKind *kind = &machine->rcu_kind[callback >> 2 * MACH_RCU_ID_BITS];

        mach_spend(cpu, machine->costs.rcu_callback);
        kind->fn(cpu, callback & mask, callback >> MACH_RCU_ID_BITS & mask, kind->data);
        mach_poll_checkpoints(cpu);
    }
}

void
mach_rcu_run(MachCpu *cpu)
{
    MachRcuQueue *queue = &cpu->rcu;
    SimTime tick = mach_now(cpu);

    while (queue->segment_head != queue->segment_tail) {
        MachRcuSegment segment = queue->segment[queue->segment_head & queue->segment_mask];

        if (tick < grace_period_end(cpu->machine, segment.grace_period + 1))
            break;
        queue->segment_head++;
        run_callbacks(cpu, queue->segment_head == queue->segment_tail ? queue->tail : segment.end);
    }
}

guint
mach_rcu_register(Machine *machine, MachRcuFn fn, void *data)
{
    g_assert(machine->n_rcu_kinds < MACH_RCU_KINDS);
    machine->rcu_kind[machine->n_rcu_kinds] = (MachRcuKind){fn, data};
    return machine->n_rcu_kinds++;
}
