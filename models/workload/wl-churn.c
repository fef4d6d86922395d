/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects of mixed lifetimes: each task allocates at random moments, more often in a peak, and each object lives an
 * exponential time, short or long. Tasks move between CPUs. Shows how slabs empty but for a few objects, which no
 * min_partial caps. Deaths need no calendar: lifetimes have no memory, so the next event of a task comes after an
 * exponential time with the sum of all rates. A task that no CPU runs stands still. Left out: what the objects are for.
 */
#include <math.h>

#include "slub-occupancy.h"
#include "workload.h"

enum { SHORT, LONG, N_LIVES };

enum { MAX_CACHES = 3 };

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("churn_cpus", SIM_KEY_INT), .fallback = "4", .min = 1, .max = MACH_MAX_CPUS, .help = "churn: CPUs at work"},
    {KEY("churn_cache", SIM_KEY_CHOICE), .fallback = "mixed",
     .choices = "kmalloc-64|kmalloc-256|kmalloc-1k|task_delay_info|mixed",
     .help =
         "churn: cache of the objects; mixed: the three of kmalloc in equal parts; the size of task_delay_info must "
         "be given"},
    {KEY("churn_interval", SIM_KEY_TIME), .fallback = "2 us", .max = 1e15,
     .help = "churn: mean time between allocations of a task, 0 = none, outside of the peak"},
    {KEY("peak_interval", SIM_KEY_TIME), .fallback = "2 us", .max = 1e15, .help = "churn: the same during the peak"},
    {KEY("peak_from", SIM_KEY_TIME), .fallback = "0 ns", .max = 1e15, .help = "churn: begin of the peak"},
    {KEY("peak_until", SIM_KEY_TIME), .fallback = "0 ns", .max = 1e15, .help = "churn: end of the peak"},
    {KEY("short_life", SIM_KEY_TIME), .fallback = "100 us", .min = 1000, .max = 1e15,
     .help = "churn: mean life of a short-lived object"},
    {KEY("long_life", SIM_KEY_TIME), .fallback = "20 ms", .min = 1000, .max = 1e15,
     .help = "churn: mean life of the others"},
    {KEY("long_share", SIM_KEY_REAL), .fallback = "0.1", .max = 1, .help = "churn: share of long-lived objects"},
    {KEY("migrate_interval", SIM_KEY_TIME), .fallback = "0 ns", .max = 1e15,
     .help = "churn: mean time until a CPU puts its task down and takes up the one that waits; 0 = never"},
    {KEY("occupancy_interval", SIM_KEY_TIME), .fallback = "10 ms", .min = 1e6, .max = 1e15,
     .help = "churn: between two rows of the table of occupancy"},
    {NULL},
};

/* A task's live objects. */
typedef struct {
    GArray *object[N_LIVES][MAX_CACHES]; /* SlabId */
} Pool;

typedef struct _Churn Churn;

typedef struct {
    Churn *churn;
    MachCpu *cpu;
    Pool *pool;
    SimRng rng;
    guint next_sample;
    SimTime next_move;
} Worker;

struct _Churn {
    World *world;
    SlubCache *cache[MAX_CACHES];
    guint n_caches, n_workers, n_samples, n_nodes;
    SimTime interval, peak_interval, peak_from, peak_until, life[N_LIVES], migrate_interval, sample_interval;
    double long_share;
    Worker *worker;
    Pool *pool;                              /* [n_workers + 1] */
    Pool *spare;                             /* shared: of the task that waits */
    SlubOccupancy (*sample)[SLUB_N_HOLDERS]; /* [n_samples][n_caches][n_nodes] */
};

static SlubOccupancy *
occupancy_at(const Churn *churn, guint sample, guint cache, guint node)
{
    return churn->sample[(sample * churn->n_caches + cache) * churn->n_nodes + node];
}

/* What others cannot see each CPU adds itself, when it comes to the moment; the first CPU adds the nodes' lists. */
static void
take_sample(Worker *w)
{
    const Churn *churn = w->churn;
    guint id = w->cpu->id;

    for (guint c = 0; c < churn->n_caches; c++)
        for (guint node = 0; node < churn->n_nodes; node++) {
            SlubOccupancy *sum = occupancy_at(churn, w->next_sample, c, node);

            slub_occupancy_add_cpu(churn->cache[c], id, node, sum);
            if (id == 0)
                slub_occupancy_add_node(churn->cache[c], node, sum);
        }
    w->next_sample++;
}

static SimTime
sample_time(const Churn *churn, guint sample)
{
    return sample < churn->n_samples ? (SimTime) (sample + 1) * churn->sample_interval : SIM_TIME_MAX;
}

static void
swap_tasks(Worker *w)
{
    Pool *pool = w->churn->spare;

    w->churn->spare = w->pool;
    w->pool = pool;
    w->next_move = mach_now(w->cpu) + (SimTime) sim_rng_exponential(&w->rng, (double) w->churn->migrate_interval);
}

static gboolean
is_in_peak(const Churn *churn, SimTime now)
{
    return now >= churn->peak_from && now < churn->peak_until;
}

/* When something happens that is not an event of the task. */
static SimTime
next_interruption(const Worker *w)
{
    const Churn *churn = w->churn;
    SimTime now = mach_now(w->cpu), next = MIN(w->cpu->next_poll, sample_time(churn, w->next_sample));

    if (now < churn->peak_from)
        next = MIN(next, churn->peak_from);
    else if (now < churn->peak_until)
        next = MIN(next, churn->peak_until);
    return MIN(next, w->next_move);
}

static void
interrupt(Worker *w)
{
    sim_sync(w->cpu->engine, w->cpu->agent);
    while (sample_time(w->churn, w->next_sample) <= mach_now(w->cpu))
        take_sample(w);
    if (w->next_move <= mach_now(w->cpu))
        swap_tasks(w);
    mach_poll(w->cpu);
}

static void
make_object(Worker *w)
{
    const Churn *churn = w->churn;
    guint life = sim_rng_bernoulli(&w->rng, churn->long_share) ? LONG : SHORT;
    guint cache = (guint) sim_rng_below(&w->rng, churn->n_caches);
    SlabId object = slub_alloc(churn->cache[cache], w->cpu);

    g_array_append_val(w->pool->object[life][cache], object);
    churn->world->cpu[w->cpu->id].n_operations++;
}

/* Any one of them is as likely to die. */
static void
end_object(Worker *w, guint life, guint cache)
{
    GArray *objects = w->pool->object[life][cache];
    guint at = (guint) sim_rng_below(&w->rng, objects->len);
    SlabId object = g_array_index(objects, SlabId, at);

    g_array_remove_index_fast(objects, at);
    slub_free(w->churn->cache[cache], w->cpu, object);
}

/* Rates in events a picosecond, deaths first and the allocation last. */
static double
read_rates(const Worker *w, double ret_rate[N_LIVES * MAX_CACHES + 1])
{
    const Churn *churn = w->churn;
    SimTime interval = is_in_peak(churn, mach_now(w->cpu)) ? churn->peak_interval : churn->interval;
    double sum = 0;

    for (guint i = 0; i < N_LIVES * MAX_CACHES; i++) {
        ret_rate[i] =
            (double) w->pool->object[i / MAX_CACHES][i % MAX_CACHES]->len / (double) churn->life[i / MAX_CACHES];
        sum += ret_rate[i];
    }
    ret_rate[N_LIVES * MAX_CACHES] = interval > 0 ? 1.0 / (double) interval : 0;
    return sum + ret_rate[N_LIVES * MAX_CACHES];
}

/* FALSE when an interruption comes first: as nothing remembers how long it has waited, the wait begins anew after it.
 */
static gboolean
run_event(Worker *w)
{
    double rate[N_LIVES * MAX_CACHES + 1], sum = read_rates(w, rate), wait, place;
    SimTime limit = next_interruption(w);

    wait = sum > 0 ? sim_rng_exponential(&w->rng, 1 / sum) : INFINITY;
    if (wait >= (double) (limit - mach_now(w->cpu))) {
        mach_spend(w->cpu, MAX(limit - mach_now(w->cpu), 0));
        return FALSE;
    }
    mach_spend(w->cpu, (SimTime) wait);
    place = sim_rng_uniform(&w->rng) * sum;
    for (guint i = 0; i < N_LIVES * MAX_CACHES; i++) {
        if (place < rate[i]) {
            end_object(w, i / MAX_CACHES, i % MAX_CACHES);
            return TRUE;
        }
        place -= rate[i];
    }
    if (rate[N_LIVES * MAX_CACHES] > 0) /* else rounding has led past the last death: no event */
        make_object(w);
    return TRUE;
}

static void
run_worker(SimAgent *agent)
{
    Worker *w = agent->data;

    while (!mach_is_over(w->cpu))
        if (!run_event(w))
            interrupt(w);
}

static void
init_pool(Pool *pool)
{
    for (guint life = 0; life < N_LIVES; life++)
        for (guint c = 0; c < MAX_CACHES; c++)
            pool->object[life][c] = g_array_new(FALSE, FALSE, sizeof(SlabId));
}

static void
add_worker(Churn *churn, guint id)
{
    World *world = churn->world;
    Worker *w = &churn->worker[id];
    g_autofree char *component = g_strdup_printf("cpu/%u", id);

    w->churn = churn;
    w->cpu = &world->machine->cpu[id];
    w->pool = &churn->pool[id];
    sim_rng_init(&w->rng, world->seed, world->replication, component, "lives");
    w->next_move = churn->migrate_interval > 0
                       ? (SimTime) sim_rng_exponential(&w->rng, (double) churn->migrate_interval)
                       : SIM_TIME_MAX;
    workload_start_cpu(world, w->cpu, NULL, 0, run_worker, w);
}

static void
read_settings(Churn *churn, const SimConfig *config)
{
    churn->interval = sim_config_time(config, "workload", "churn_interval");
    churn->peak_interval = sim_config_time(config, "workload", "peak_interval");
    churn->peak_from = sim_config_time(config, "workload", "peak_from");
    churn->peak_until = sim_config_time(config, "workload", "peak_until");
    churn->life[SHORT] = sim_config_time(config, "workload", "short_life");
    churn->life[LONG] = sim_config_time(config, "workload", "long_life");
    churn->long_share = sim_config_real(config, "workload", "long_share");
    churn->migrate_interval = sim_config_time(config, "workload", "migrate_interval");
    churn->sample_interval = sim_config_time(config, "workload", "occupancy_interval");
    churn->n_workers = (guint) sim_config_int(config, "workload", "churn_cpus");
}

static void *
setup(World *world, GError **error)
{
    Churn *churn = g_new0(Churn, 1);

    churn->world = world;
    churn->n_nodes = world->topology->n_nodes;
    churn->n_caches = world->slub->n_caches;
    for (guint c = 0; c < churn->n_caches; c++)
        churn->cache[c] = world->slub->front[c];
    read_settings(churn, world->config);
    churn->n_samples = (guint) (world->end / churn->sample_interval);
    churn->sample = g_malloc0_n((gsize) churn->n_samples * churn->n_caches * churn->n_nodes, sizeof *churn->sample);
    churn->worker = g_new0(Worker, churn->n_workers);
    churn->pool = g_new0(Pool, churn->n_workers + 1);
    for (guint i = 0; i <= churn->n_workers; i++)
        init_pool(&churn->pool[i]);
    churn->spare = &churn->pool[churn->n_workers];
    world->n_tasks = world->machine->n_active_cpus = churn->n_workers;
    for (guint i = 0; i < churn->n_workers; i++)
        add_worker(churn, i);
    return churn;
}

static void
put_occupancy(SimTable *table, SimTime time, const char *cache, guint node, SlubHolder holder, const SlubOccupancy *o)
{
    sim_table_put_real(table, sim_time_to_seconds(time) * 1e3);
    sim_table_put_text(table, cache);
    sim_table_put_int(table, node);
    sim_table_put_text(table, slub_holder_name(holder));
    sim_table_put_int(table, (gint64) o->n_slabs);
    sim_table_put_int(table, (gint64) o->n_empty);
    sim_table_put_int(table, (gint64) o->n_free_objects);
    sim_table_put_int(table, (gint64) o->free_bytes);
    for (guint i = 0; i < SLUB_N_TENTHS; i++)
        sim_table_put_int(table, (gint64) o->tenths[i]);
}

static void
report_samples(const Churn *churn, SimRecord *record)
{
    static const char *const columns[] = {"time_ms", "cache",        "node",       "place",   "slabs",
                                          "empty",   "free_objects", "free_bytes", "tenth_0", "tenth_1",
                                          "tenth_2", "tenth_3",      "tenth_4",    "tenth_5", "tenth_6",
                                          "tenth_7", "tenth_8",      "tenth_9",    NULL};
    SimTable *table = sim_record_add_table(record, "occupancy", columns);

    for (guint s = 0; s < churn->n_samples; s++)
        for (guint c = 0; c < churn->n_caches; c++)
            for (guint node = 0; node < churn->n_nodes; node++)
                for (guint holder = 0; holder < SLUB_N_HOLDERS; holder++)
                    put_occupancy(table, sample_time(churn, s), churn->cache[c]->name, node, (SlubHolder) holder,
                                  &occupancy_at(churn, s, c, node)[holder]);
}

/* Empty slabs on the one list of a CPU that has most of them. */
static guint64
most_empty_on_cpu(const SlubCache *cache)
{
    guint64 most = 0;

    for (guint cpu = 0; cpu < cache->system->machine->n_cpus; cpu++) {
        SlubOccupancy sum[SLUB_N_HOLDERS] = {0};

        for (guint node = 0; node < cache->system->machine->topology->n_nodes; node++)
            slub_occupancy_add_cpu(cache, cpu, node, sum);
        most = MAX(most, sum[SLUB_ON_CPU_PARTIAL].n_empty);
    }
    return most;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Churn *churn = state;
    guint64 n_nearly_empty = 0, n_partial = 0, n_kept = 0, n_empty = 0, most = 0, free_bytes = 0;

    for (guint c = 0; c < churn->n_caches; c++) {
        most = MAX(most, most_empty_on_cpu(churn->cache[c]));
        for (guint node = 0; node < churn->n_nodes; node++) {
            SlubOccupancy sum[SLUB_N_HOLDERS];

            slub_occupancy(churn->cache[c], node, sum);
            n_partial += sum[SLUB_ON_NODE].n_slabs;
            n_nearly_empty += sum[SLUB_ON_NODE].tenths[0];
            n_empty += sum[SLUB_ON_NODE].n_empty;
            n_kept += churn->cache[c]->min_partial;
            for (guint holder = 0; holder < SLUB_N_HOLDERS; holder++)
                free_bytes += sum[holder].free_bytes;
        }
    }
    sim_record_add_metric(record, "node_partial_slabs", (double) n_partial);
    sim_record_add_metric(record, "node_nearly_empty_slabs", (double) n_nearly_empty);
    sim_record_add_metric(record, "node_empty_slabs", (double) n_empty);
    sim_record_add_metric(record, "min_partial_slabs", (double) n_kept);
    sim_record_add_metric(record, "cpu_partial_most_empty_slabs", (double) most);
    sim_record_add_metric(record, "stranded_bytes", (double) free_bytes);
    report_samples(churn, record);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    const SimTime max_samples = 10000;
    SimTime end = sim_config_time(config, "run", "warmup") + sim_config_time(config, "run", "duration");

    if (end / sim_config_time(config, "workload", "occupancy_interval") > max_samples)
        return sim_config_error(config, "workload", "occupancy_interval", error,
                                "too many rows (allowed: up to %" G_GINT64_FORMAT " samples)", max_samples);
    return workload_check_cpus(config, topology, "churn_cpus", "workers", error);
}

static void
free_churn(void *state)
{
    Churn *churn = state;

    if (!churn)
        return;
    for (guint i = 0; i <= churn->n_workers; i++)
        for (guint life = 0; life < N_LIVES; life++)
            for (guint c = 0; c < MAX_CACHES; c++)
                g_array_unref(churn->pool[i].object[life][c]);
    g_free(churn->pool);
    g_free(churn->worker);
    g_free(churn->sample);
    g_free(churn);
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const names[][MAX_CACHES + 1] = {
        {"kmalloc-64"},
        {"kmalloc-256"},
        {"kmalloc-1k"},
        {"task_delay_info"},
        {"kmalloc-64", "kmalloc-256", "kmalloc-1k"},
    };

    return names[sim_config_choice(config, "workload", "churn_cache")];
}

const Workload workload_churn = {
    .name = "churn",
    .summary = "objects of mixed lifetimes, growth and shrinking, tasks that move",
    .operation = "allocations",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_churn,
};
