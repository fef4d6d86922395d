/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-delay.h"

#include "replay-private.h"

/* The last free of a CPU. */
typedef struct {
    ReplayCache *cache; /* NULL: it has taken effect in every start */
    guint64 ptr;
    SlabId *slab; /* [n_starts][n_copies], 0 where it has taken effect */
} Held;

struct _ReplayDelay {
    Held *cpu; /* [n_cpus] */
    guint n_cpus;
    SimRng *rng; /* [n_starts] */
};

ReplayDelay *
replay_delay_new(const ReplayParams *params)
{
    ReplayDelay *delay = g_new0(ReplayDelay, 1);

    delay->n_cpus = params->n_traced_cpus;
    delay->cpu = g_new0(Held, delay->n_cpus);
    for (guint cpu = 0; cpu < delay->n_cpus; cpu++)
        delay->cpu[cpu].slab = g_new0(SlabId, (gsize) params->n_starts * params->n_copies);
    delay->rng = g_new(SimRng, params->n_starts);
    for (guint i = 0; i < params->n_starts; i++)
        sim_rng_init(&delay->rng[i], params->seed, i, "replay", "order of effects");
    return delay;
}

void
replay_delay_free(ReplayDelay *delay)
{
    if (!delay)
        return;
    for (guint cpu = 0; cpu < delay->n_cpus; cpu++)
        g_free(delay->cpu[cpu].slab);
    g_free(delay->cpu);
    g_free(delay->rng);
    g_free(delay);
}

void
replay_delay_settle(Replay *replay, guint cpu)
{
    Held *held = &replay->delay->cpu[cpu];
    guint n_copies = replay->params.n_copies;

    if (!held->cache)
        return;
    for (guint start = 1; start < replay->params.n_starts; start++)
        for (guint copy = 0; copy < n_copies; copy++) {
            SlabId slab = held->slab[start * n_copies + copy];

            if (slab)
                slub_free(held->cache->cache[start], replay_cpu(replay, start, cpu, copy), slab);
        }
    held->cache = NULL;
}

void
replay_delay_hold(Replay *replay, guint cpu, guint64 ptr, ReplayCache *cache, const guint32 *object)
{
    Held *held = &replay->delay->cpu[cpu];
    guint n_copies = replay->params.n_copies;

    replay_delay_settle(replay, cpu);
    for (guint start = 0; start < replay->params.n_starts; start++) {
        gboolean waits = start > 0 && sim_rng_below(&replay->delay->rng[start], 2);

        for (guint copy = 0; copy < n_copies; copy++) {
            SlabId slab = replay_object_slab(replay, object, start, copy);

            held->slab[start * n_copies + copy] = waits ? slab : 0;
            if (!waits)
                slub_free(cache->cache[start], replay_cpu(replay, start, cpu, copy), slab);
        }
    }
    held->cache = cache;
    held->ptr = ptr;
}

void
replay_delay_settle_object(Replay *replay, guint64 ptr)
{
    for (guint cpu = 0; cpu < replay->delay->n_cpus; cpu++)
        if (replay->delay->cpu[cpu].cache && replay->delay->cpu[cpu].ptr == ptr)
            replay_delay_settle(replay, cpu);
}
