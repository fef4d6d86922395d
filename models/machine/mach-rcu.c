/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deferred frees (slub-facts D.5; kernel/rcu/tree.c 6.1 to 6.17). Grace periods follow each other without a gap, as on
 * a busy machine, and their boundaries are a function of time alone, so that no CPU has to look at another's state. A
 * callback queued in grace period k may run when k + 1 has ended. Ready callbacks of a CPU run at its next tick, all of
 * them unless the machine runs them in batches. Left out: offloaded callbacks, of the flood rules that all CPUs are urged
 * for a quiescent state, batches as before 6.5 (by all callbacks, not the ready ones), and kfree_rcu's pages of pointers. */
#include "mach-rcu.h"

enum
{
    SLOTS = 1024,
    SEGMENT_SLOTS = 8,
    PASSES_MAX = 10,         /* MAX_SOFTIRQ_RESTART */
    BATCH_MIN = 10,          /* DEFAULT_RCU_BLIMIT */
    BATCH_SHIFT = 7,         /* rcu_divisor */
    BATCH_TIMED = 100,       /* larger ones end after PASS_MS, rcu_resched_ns */
    BATCH_FLOOD = 10000,     /* DEFAULT_MAX_RCU_BLIMIT */
    FLOOD_BEGINS = 10000,    /* DEFAULT_RCU_QHIMARK */
    FLOOD_ENDS = 100,        /* DEFAULT_RCU_QLOMARK */
    PASS_MS = 3,
    SOFTIRQ_MS = 2, /* MAX_SOFTIRQ_TIME */
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

/* The position behind the callbacks of a segment. */
static guint32
segment_end(const MachRcuQueue *queue, guint32 segment)
{
    return segment + 1 == queue->segment_tail ? queue->tail : queue->segment[segment & queue->segment_mask].end;
}

static gboolean
is_ready(const MachCpu *cpu, guint32 segment, SimTime when)
{
    guint64 grace_period = cpu->rcu.segment[segment & cpu->rcu.segment_mask].grace_period;

    return when >= grace_period_end(cpu->machine, grace_period + 1);
}

static guint32
n_ready(const MachCpu *cpu)
{
    const MachRcuQueue *queue = &cpu->rcu;
    guint32 end = queue->head;

    for (guint32 i = queue->segment_head; i != queue->segment_tail && is_ready(cpu, i, mach_now(cpu)); i++)
        end = segment_end(queue, i);
    return end - queue->head;
}

/* Runs callbacks up to position `end`, but no more than *n, and begins none at `until` or later. Callbacks may queue new
 * ones, but those belong to a later segment. FALSE when it stopped before `end`. */
static gboolean
run_callbacks(MachCpu *cpu, guint32 end, guint *n, SimTime until)
{
    const guint32 mask = (1u << MACH_RCU_ID_BITS) - 1;
    Machine *machine = cpu->machine;
    MachRcuQueue *queue = &cpu->rcu;

    for (; queue->head != end; (*n)--) {
        guint64 callback;
        const MachRcuKind *kind;

        if (*n == 0 || mach_now(cpu) >= until)
            return FALSE;
        callback = queue->callback[queue->head++ & queue->mask];
        kind = &machine->rcu_kind[callback >> 2 * MACH_RCU_ID_BITS];
        mach_spend(cpu, machine->costs.rcu_callback);
        kind->fn(cpu, callback & mask, callback >> MACH_RCU_ID_BITS & mask, kind->data);
        mach_poll_checkpoints(cpu);
    }
    return TRUE;
}

/* Up to `n` callbacks of those that are ready now. FALSE when some of them are left. */
static gboolean
run_ready(MachCpu *cpu, guint n, SimTime until)
{
    MachRcuQueue *queue = &cpu->rcu;
    SimTime now = mach_now(cpu);

    for (; queue->segment_head != queue->segment_tail && is_ready(cpu, queue->segment_head, now); queue->segment_head++)
        if (!run_callbacks(cpu, segment_end(queue, queue->segment_head), &n, until))
            return FALSE;
    return TRUE;
}

/* One call of rcu_do_batch(). FALSE when ready callbacks are left. */
static gboolean
run_batch(MachCpu *cpu)
{
    guint32 ready = n_ready(cpu), batch = MAX(cpu->is_flooded ? BATCH_FLOOD : BATCH_MIN, ready >> BATCH_SHIFT);
    SimTime until = batch > BATCH_TIMED ? mach_now(cpu) + PASS_MS * SIM_MS : SIM_TIME_MAX;
    gboolean is_done = ready == 0 || run_ready(cpu, batch, until);

    if (mach_rcu_n_pending(cpu) <= FLOOD_ENDS)
        cpu->is_flooded = FALSE;
    return is_done;
}

void
mach_rcu_ksoftirqd(MachCpu *cpu)
{
    SimTime turn = cpu->machine->ksoftirqd_turn;
    gboolean is_done = run_ready(cpu, G_MAXUINT, turn ? mach_now(cpu) + turn : SIM_TIME_MAX);

    cpu->slice_began = mach_now(cpu);
    cpu->ksoftirqd_at = is_done ? SIM_TIME_MAX : mach_now(cpu) + turn;
}

/* The task goes on to the end of its slice; alone, it has had one after the other. */
static void
wake_ksoftirqd(MachCpu *cpu)
{
    SimTime turn = cpu->machine->ksoftirqd_turn;

    if (cpu->ksoftirqd_at == SIM_TIME_MAX)
        cpu->ksoftirqd_at = turn ? mach_now(cpu) + turn - (mach_now(cpu) - cpu->slice_began) % turn : mach_now(cpu);
}

void
mach_rcu_tick(MachCpu *cpu)
{
    SimTime begin = mach_now(cpu);

    if (!cpu->machine->has_batches) {
        run_ready(cpu, G_MAXUINT, SIM_TIME_MAX);
        return;
    }
    if (mach_rcu_n_pending(cpu) > FLOOD_BEGINS)
        cpu->is_flooded = TRUE;
    for (guint pass = 0; pass < PASSES_MAX && mach_now(cpu) - begin < SOFTIRQ_MS * SIM_MS; pass++)
        if (run_batch(cpu)) {
            cpu->ksoftirqd_at = SIM_TIME_MAX;
            return;
        }
    wake_ksoftirqd(cpu);
}

guint
mach_rcu_register(Machine *machine, MachRcuFn fn, void *data)
{
    g_assert(machine->n_rcu_kinds < MACH_RCU_KINDS);
    machine->rcu_kind[machine->n_rcu_kinds] = (MachRcuKind){fn, data};
    return machine->n_rcu_kinds++;
}
