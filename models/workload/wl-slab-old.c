/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages under the old SLAB allocator: each CPU allocates a burst of sk_buffs with their data for the next CPU and
 * frees the burst that the CPU before it sent, as the two sides of sched messaging do (SEED2). Measures how many lines
 * of freelist indices a message fetches, beside a given number of other misses. Left out: sockets, scheduling. */
#include "wl-slab-old.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    WL_SLAB_OLD_STAGE("stage", "slab_old"),
    {KEY("messages_burst", SIM_KEY_INT), .fallback = "5000", .min = 1, .max = 1e6,
     .help = "slab_old: messages a CPU sends before it receives; the tide of many sockets together"},
    {KEY("message_compute", SIM_KEY_COST), .fallback = "2200 ns [500 ns .. 8000 ns] SEED2: 11.6 s of 4 CPUs for 20 M",
     .max = 1e9, .help = "slab_old: computing time of a message, without slab work"},
    {KEY("other_misses", SIM_KEY_REAL), .fallback = "10.5", .max = 1000,
     .help = "slab_old: cache misses of a message that no freelist causes (SEED2: 11.5 in all)"},
    {KEY("slabs_kept", SIM_KEY_INT), .fallback = "64", .max = 1e6,
     .help = "slab_old: slabs visited until an earlier one's lines have left the CPU's cache"},
    {KEY("reap_interval", SIM_KEY_TIME), .fallback = "2 s", .min = 1e8, .max = 1e13,
     .help = "slab_old: between two reaps of a CPU"},
    {NULL},
};

typedef struct {
    SlabId head, data;
} Message;

typedef struct _SlabOld SlabOld;

typedef struct {
    SlabOld *old;
    MachCpu *cpu;
    GArray *inbox; /* Message; written by the CPU before it */
    SimRng rng;    /* which message is read next: many sockets, none in order with the others */
    SimTime next_reap;
} OldTask;

struct _SlabOld {
    World *world;
    SlabOldCache *head, *data;
    guint burst, n_tasks;
    SimTime compute, reap_interval;
    double other_misses;
    OldTask *task;
};

static void
send_burst(OldTask *t)
{
    const SlabOld *old = t->old;
    OldTask *to = &old->task[(t->cpu->id + 1u) % old->n_tasks];

    for (guint i = 0; i < old->burst; i++) {
        Message message;

        message.head = slab_old_cache_take(old->head, t->cpu);
        message.data = slab_old_cache_take(old->data, t->cpu);
        mach_compute(t->cpu, old->compute, mach_sibling_is_busy(t->cpu));
        sim_sync(t->cpu->engine, t->cpu->agent);
        g_array_append_val(to->inbox, message);
    }
}

static void
receive_all(OldTask *t)
{
    const SlabOld *old = t->old;

    sim_sync(t->cpu->engine, t->cpu->agent);
    while (t->inbox->len) {
        guint n = (guint) sim_rng_below(&t->rng, t->inbox->len);
        Message message = g_array_index(t->inbox, Message, n);

        g_array_remove_index_fast(t->inbox, n);
        slab_old_cache_give(old->data, t->cpu, message.data);
        slab_old_cache_give(old->head, t->cpu, message.head);
        old->world->cpu[t->cpu->id].n_operations++;
        sim_sync(t->cpu->engine, t->cpu->agent);
    }
}

static void
run_task(SimAgent *agent)
{
    OldTask *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        send_burst(t);
        receive_all(t);
        if (mach_now(t->cpu) >= t->next_reap) {
            t->next_reap += t->old->reap_interval;
            slab_old_cache_reap(t->old->head, t->cpu);
            slab_old_cache_reap(t->old->data, t->cpu);
        }
        mach_poll(t->cpu);
    }
}

gboolean
wl_slab_old_geometry(const World *world, SlabOldStage stage, const char *name, guint bytes,
                     SlabOldGeometry *ret_geometry, GError **error)
{
    SlabCacheSpec spec = slab_cache_spec_default(name, bytes);
    SlabGeometryEnv env = slab_geometry_env_default(world->slub->kernel, world->topology->n_cpus);

    env.page_size_bytes = world->topology->page_size_bytes;
    spec.flags = SLAB_HWCACHE_ALIGN;
    return slab_old_compute(&env, stage, &spec, slab_old_is_early_name(name), 1, ret_geometry, error);
}

SlabOldCache *
wl_slab_old_cache_new(const World *world, SlabOldStage stage, const char *name, guint bytes, guint slabs_kept,
                      GError **error)
{
    SlabOldGeometry geometry;

    if (!wl_slab_old_geometry(world, stage, name, bytes, &geometry, error))
        return NULL;
    return slab_old_cache_new(world->slub->pages, stage, &geometry, slabs_kept, error);
}

static void
free_slab_old(void *state)
{
    SlabOld *old = state;

    if (!old)
        return;
    slab_old_cache_free(old->head);
    slab_old_cache_free(old->data);
    for (guint i = 0; i < old->n_tasks; i++)
        g_array_unref(old->task[i].inbox);
    g_free(old->task);
    g_free(old);
}

static void *
setup(World *world, GError **error)
{
    SlabOldStage stage = sim_config_choice(world->config, "workload", "stage");
    guint slabs_kept = (guint) sim_config_int(world->config, "workload", "slabs_kept");
    SlabOld *old = g_new0(SlabOld, 1);

    old->world = world;
    old->head = wl_slab_old_cache_new(world, stage, "skbuff_head_cache", 256, slabs_kept, error);
    old->data = old->head ? wl_slab_old_cache_new(world, stage, "kmalloc-512", 512, slabs_kept, error) : NULL;
    if (!old->data) {
        free_slab_old(old);
        return NULL;
    }
    old->burst = (guint) sim_config_int(world->config, "workload", "messages_burst");
    old->compute = sim_config_time(world->config, "workload", "message_compute");
    old->reap_interval = sim_config_time(world->config, "workload", "reap_interval");
    old->other_misses = sim_config_real(world->config, "workload", "other_misses");
    old->n_tasks = world->n_tasks = world->machine->n_active_cpus = world->machine->n_cpus;
    old->task = g_new0(OldTask, old->n_tasks);
    for (guint i = 0; i < old->n_tasks; i++) {
        OldTask *t = &old->task[i];
        g_autofree char *component = g_strdup_printf("task/%u", i);

        sim_rng_init(&t->rng, world->seed, world->replication, component, "order of reading");
        t->old = old;
        t->cpu = &world->machine->cpu[i];
        t->inbox = g_array_new(FALSE, FALSE, sizeof(Message));
        t->next_reap = old->reap_interval;
        workload_start_cpu(world, t->cpu, NULL, 0, run_task, t);
    }
    return old;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const SlabOld *old = state;
    double n = 0;

    for (guint i = 0; i < old->n_tasks; i++)
        n += (double) world->cpu[i].n_operations;
    if (n > 0) {
        double freelist = (slab_old_cache_freelist_misses(old->head) + slab_old_cache_freelist_misses(old->data)) / n;

        sim_record_add_metric(record, "freelist_misses_per_message", freelist);
        sim_record_add_metric(record, "misses_per_message", freelist + old->other_misses);
    }
    sim_record_add_metric(record, "slabs",
                          (double) (slab_old_cache_slabs(old->head) + slab_old_cache_slabs(old->data)));
}

static const char *const caches[] = {NULL};

const Workload workload_slab_old = {
    .name = "slab_old",
    .summary = "messages between CPUs under the old SLAB allocator",
    .operation = "messages",
    .keys = keys,
    .caches = caches,
    .setup = setup,
    .report = report,
    .free = free_slab_old,
};
