/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deferred frees (slub-facts D.5; kernel/rcu/tree.c 6.1 to 6.12). Grace periods follow each other without a gap, as on
 * a busy machine, and their boundaries are a function of time alone, so that no CPU has to look at another's state. A
 * callback queued in grace period k may run when k + 1 has ended. All ready callbacks of a CPU run at its next tick:
 * the batch limit bl only splits them between the softirq and ksoftirqd, which follows at once on a CPU whose task
 * uses its time slice. Left out: offloaded callbacks, the flood rules, and kfree_rcu's pages of pointers. */
#include "mach-rcu.h"

enum
{
    SEGMENT_SLOTS = 8,
    KIND_SHIFT = 2 * MACH_RCU_ID_BITS,
};

void
mach_rcu_init(MachRcuQueue *queue)
{
    /* Before the first callback no grace period has been looked at: the end of "-1" is the start of time. */
    *queue = (MachRcuQueue){.capacity = 1024, .n_segment_slots = SEGMENT_SLOTS, .grace_period = G_MAXUINT64};
    queue->callback = g_new(guint64, queue->capacity);
    queue->segment = g_new(MachRcuSegment, queue->n_segment_slots);
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

/* Brings the queue's grace period up to `now`. */
static void
advance_grace_period(MachRcuQueue *queue, const Machine *machine, SimTime now)
{
    while (now >= queue->grace_period_end)
        queue->grace_period_end = grace_period_end(machine, ++queue->grace_period);
}

/* The ring is full: unroll it into one twice as long. */
static void
grow_callbacks(MachRcuQueue *queue)
{
    guint64 *callback = g_new(guint64, 2 * (gsize) queue->capacity);

    for (guint32 i = 0; i < queue->n_callbacks; i++)
        callback[i] = queue->callback[(queue->first + i) & (queue->capacity - 1)];
    g_free(queue->callback);
    queue->callback = callback;
    queue->capacity *= 2;
    queue->first = 0;
}

static void
add_segment(MachRcuQueue *queue, guint64 grace_period)
{
    if (queue->n_segments == queue->n_segment_slots) {
        MachRcuSegment *segment = g_new(MachRcuSegment, 2 * (gsize) queue->n_segment_slots);

        for (guint32 i = 0; i < queue->n_segments; i++)
            segment[i] = queue->segment[(queue->first_segment + i) & (queue->n_segment_slots - 1)];
        g_free(queue->segment);
        queue->segment = segment;
        queue->n_segment_slots *= 2;
        queue->first_segment = 0;
    }
    queue->segment[(queue->first_segment + queue->n_segments) & (queue->n_segment_slots - 1)] =
        (MachRcuSegment){grace_period, 0};
    queue->n_segments++;
}

void
mach_call_rcu(MachCpu *cpu, guint kind, guint32 first, guint32 second)
{
    MachRcuQueue *queue = &cpu->rcu;
    guint32 last;

    if (G_UNLIKELY(mach_now(cpu) >= queue->grace_period_end))
        advance_grace_period(queue, cpu->machine, mach_now(cpu));
    last = (queue->first_segment + queue->n_segments - 1) & (queue->n_segment_slots - 1);
    if (G_UNLIKELY(queue->n_segments == 0 || queue->segment[last].grace_period != queue->grace_period)) {
        add_segment(queue, queue->grace_period);
        last = (queue->first_segment + queue->n_segments - 1) & (queue->n_segment_slots - 1);
    }
    if (G_UNLIKELY(queue->n_callbacks == queue->capacity))
        grow_callbacks(queue);
    queue->callback[(queue->first + queue->n_callbacks) & (queue->capacity - 1)] =
        (guint64) kind << KIND_SHIFT | (guint64) second << MACH_RCU_ID_BITS | first;
    queue->n_callbacks++;
    queue->segment[last].n_callbacks++;
}

void
mach_rcu_run(MachCpu *cpu)
{
    const guint32 mask = (1u << MACH_RCU_ID_BITS) - 1;
    Machine *machine = cpu->machine;
    MachRcuQueue *queue = &cpu->rcu;
    SimTime tick = mach_now(cpu);

    while (queue->n_segments > 0) {
        MachRcuSegment segment = queue->segment[queue->first_segment];

        if (tick < grace_period_end(machine, segment.grace_period + 1))
            break;
        queue->first_segment = (queue->first_segment + 1) & (queue->n_segment_slots - 1);
        queue->n_segments--;
        for (guint32 i = 0; i < segment.n_callbacks; i++) {
            guint64 callback = queue->callback[queue->first];
            guint kind = (guint) (callback >> KIND_SHIFT);

            queue->first = (queue->first + 1) & (queue->capacity - 1);
            queue->n_callbacks--;
            mach_spend(cpu, machine->costs.rcu_callback);
            machine->rcu_fn[kind](cpu, callback & mask, callback >> MACH_RCU_ID_BITS & mask, machine->rcu_data[kind]);
        }
    }
}

guint
mach_rcu_register(Machine *machine, MachRcuFn fn, void *data)
{
    g_assert(machine->n_rcu_kinds < MACH_RCU_KINDS);
    machine->rcu_fn[machine->n_rcu_kinds] = fn;
    machine->rcu_data[machine->n_rcu_kinds] = data;
    return machine->n_rcu_kinds++;
}
