/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The in-kernel microbenchmark: each thread allocates a batch of objects and frees them all, in order of allocation or
 * shuffled, for ever (slub-facts F.5; slub_kunit of SEED0 and SHM, kmem_cache loop of WML). One operation is one pair.
 * Left out: the objects' own lines, which the test does not touch. */
#include "workload.h"

enum {
    BATCH_MAX = 4096,
};

/* In the order of the choices of `bulk`. */
typedef enum {
    BULK_NO,
    BULK_ALLOC,
    BULK_BOTH,
    BULK_CPU_SLAB,
    BULK_FALLBACK,
} Bulk;

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("bench_cache", SIM_KEY_CHOICE), .fallback = "bench_64",
     .choices = "bench_32|bench_64|bench_96_aligned|bench_1120|bench_4096|bench_256|filelock_cache",
     .help = "microbench: test cache, by object size; that of bench_256 must be given"},
    {KEY("batch", SIM_KEY_INT), .fallback = "1", .min = 1, .max = BATCH_MAX,
     .help = "microbench: objects allocated before all are freed"},
    {KEY("shuffled", SIM_KEY_BOOL), .fallback = "false", .help = "microbench: free in a random order"},
    {KEY("bulk", SIM_KEY_CHOICE), .fallback = "no", .choices = "no|alloc|both|cpu-slab|fallback",
     .help =
         "microbench: take the batch with one kmem_cache_alloc_bulk(), and give it back with one "
         "kmem_cache_free_bulk(); the call of 4.2, by single ones once the cpu slab is empty; the call before, which "
         "was single ones only; not with accounting"},
    {KEY("bench_threads", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "microbench: threads, one a CPU in the order of the CPU numbers"},
    {KEY("accounted", SIM_KEY_BOOL), .fallback = "false",
     .help = "microbench: ask with __GFP_ACCOUNT; thread i runs in cgroup i"},
    {KEY("bench_overhead", SIM_KEY_COST), .fallback = "0 ns", .max = 1e9,
     .help = "microbench: the loop's own time for each pair"},
    {NULL},
};

typedef struct _Bench Bench;

typedef struct {
    Bench *bench;
    MachCpu *cpu;
    MemcgTask task;
    SimRng rng;
    SlabId *object; /* [batch] */
} Thread;

struct _Bench {
    World *world;
    SlubCache *cache;
    guint batch, n_threads;
    gboolean is_shuffled, is_accounted;
    Bulk bulk;
    SimTime overhead;
    Thread *thread;
};

static void
shuffle(Thread *t)
{
    for (guint i = t->bench->batch - 1; i > 0; i--) {
        guint j = (guint) sim_rng_below(&t->rng, i + 1);
        SlabId kept = t->object[i];

        t->object[i] = t->object[j];
        t->object[j] = kept;
    }
}

static void
take_batch(Thread *t, Memcg *memcg, MemcgGroup **ret_charged)
{
    const Bench *b = t->bench;
    guint n_bulk = b->batch;

    if (b->bulk == BULK_NO || b->bulk == BULK_FALLBACK)
        n_bulk = 0;
    if (b->bulk == BULK_CPU_SLAB)
        n_bulk = MIN(n_bulk, b->cache->cpu[t->cpu->id].free);
    if (b->bulk != BULK_NO)
        slub_alloc_bulk(b->cache, t->cpu, n_bulk, t->object);
    for (guint i = n_bulk; i < b->batch; i++)
        t->object[i] = memcg_slab_alloc(memcg, b->cache, t->cpu, &t->task, ret_charged);
}

static void
give_batch(Thread *t, MemcgGroup *charged)
{
    const Bench *b = t->bench;

    if (b->bulk == BULK_BOTH) {
        slub_free_bulk(b->cache, t->cpu, b->batch, t->object);
        return;
    }
    for (guint i = 0; i < b->batch; i++)
        memcg_slab_free(b->world->memcg, b->cache, t->cpu, t->object[i], charged);
}

static void
run_round(Thread *t)
{
    const Bench *b = t->bench;
    MemcgGroup *charged = NULL; /* the same of all */

    take_batch(t, b->is_accounted ? b->world->memcg : NULL, &charged);
    if (b->is_shuffled)
        shuffle(t);
    give_batch(t, charged);
    mach_compute(t->cpu, b->batch * b->overhead, mach_sibling_is_busy(t->cpu));
}

static void
run_thread(SimAgent *agent)
{
    Thread *t = agent->data;
    WorldCpu *counts = &t->bench->world->cpu[t->cpu->id];

    while (!mach_is_over(t->cpu)) {
        run_round(t);
        counts->n_operations += t->bench->batch;
        mach_poll(t->cpu);
    }
}

static void
add_thread(Bench *b, guint id)
{
    Thread *t = &b->thread[id];
    g_autofree char *component = g_strdup_printf("thread/%u", id);

    t->bench = b;
    t->cpu = &b->world->machine->cpu[id];
    t->object = g_new(SlabId, b->batch);
    memcg_task_init(&t->task, b->world->memcg ? memcg_group(b->world->memcg, id) : NULL);
    sim_rng_init(&t->rng, b->world->seed, b->world->replication, component, "free order");
    workload_start_cpu(b->world, t->cpu, component, SIM_US, run_thread, t);
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Bench *b = g_new0(Bench, 1);

    b->world = world;
    b->cache = world_cache(world, sim_config_text(config, "workload", "bench_cache"));
    b->batch = (guint) sim_config_int(config, "workload", "batch");
    b->is_shuffled = sim_config_bool(config, "workload", "shuffled");
    b->is_accounted = sim_config_bool(config, "workload", "accounted");
    b->bulk = sim_config_choice(config, "workload", "bulk");
    b->overhead = sim_config_time(config, "workload", "bench_overhead");
    b->n_threads = (guint) sim_config_int(config, "workload", "bench_threads");
    b->thread = g_new0(Thread, b->n_threads);
    world->machine->n_active_cpus = b->n_threads;
    world->n_tasks = b->n_threads;
    for (guint i = 0; i < b->n_threads; i++)
        add_thread(b, i);
    return b;
}

static void
report(World *world, void *state, SimRecord *record)
{
    double n = 0, seconds = 0;

    for (guint i = 0; i < world->n_tasks; i++) {
        const WorldMark *begin = &world->cpu[i].begin, *finish = &world->cpu[i].finish;

        n += (double) (finish->operations - begin->operations);
        seconds += sim_time_to_seconds(finish->at - begin->at);
    }
    sim_record_add_metric(record, "pair_ns", n > 0 ? seconds * 1e9 / n : 0);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    if (sim_config_choice(config, "workload", "bulk") != BULK_NO && sim_config_bool(config, "workload", "accounted"))
        return sim_config_error(config, "workload", "bulk", error,
                                "accounted bulk calls are not modelled (allowed: no)");
    return workload_check_cpus(config, topology, "bench_threads", "threads", error);
}

static void
free_bench(void *state)
{
    Bench *b = state;

    for (guint i = 0; b && i < b->n_threads; i++)
        g_free(b->thread[i].object);
    if (b)
        g_free(b->thread);
    g_free(b);
}

/* The one cache the scenario names. */
static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const names[][2] = {
        {"bench_32", NULL},   {"bench_64", NULL},  {"bench_96_aligned", NULL}, {"bench_1120", NULL},
        {"bench_4096", NULL}, {"bench_256", NULL}, {"filelock_cache", NULL},
    };

    return names[sim_config_choice(config, "workload", "bench_cache")];
}

const Workload workload_microbench = {
    .name = "microbench",
    .summary = "allocate a batch of objects and free them, one pinned thread a CPU",
    .operation = "pairs",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_bench,
};
