/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the readings of a run to its record. Columns and metrics are documented in results/README.md. */
#include "slub-sheaf.h"
#include "world-private.h"

#include <math.h>

#include "sim-ci.h"
#include "slab-kmalloc.h"

static guint
n_nodes(const WorldRun *run)
{
    return run->world->topology->n_nodes;
}

static const SimLockSite *
list_site(const WorldRun *run, guint cache, guint node, guint site)
{
    return &run->list_sites[(cache * n_nodes(run) + node) * SLUB_N_LOCK_SITES + site];
}

static guint64
window_stat(const WorldRun *run, guint cache, SlabStat stat)
{
    gsize i = (gsize) cache * SLAB_N_STATS + stat;

    return run->stat_at_end[i] - run->stat_at_warmup[i];
}

SimTime
world_window_end(const WorldRun *run)
{
    SimTime ended = run->workload->ended_at ? run->workload->ended_at(run->workload_state) : SIM_TIME_MAX;

    return MIN(ended, run->world->end);
}

/* Operations a second: each CPU over its own window, which ends within an operation of the nominal one. */
static double
throughput(const WorldRun *run)
{
    SimTime end = world_window_end(run);
    double rate = 0;

    for (guint i = 0; i < run->world->machine->n_cpus; i++) {
        const WorldMark *begin = &run->world->cpu[i].begin, *finish = &run->world->cpu[i].finish;
        SimTime cpu_end = end < run->world->end ? end : finish->at;

        if (cpu_end > begin->at)
            rate += (double) (finish->operations - begin->operations) / sim_time_to_seconds(cpu_end - begin->at);
    }
    return rate;
}

static guint64
window_operations(const WorldRun *run)
{
    guint64 n = 0;

    for (guint i = 0; i < run->world->machine->n_cpus; i++)
        n += run->world->cpu[i].operations_at_end - run->world->cpu[i].operations_at_warmup;
    return n;
}

typedef struct
{
    guint64 acquisitions, contended;
    double wait_ps, hold_ps, alloc_wait_ps, any_wait_ps, free_wait_ps;
} LockTotals;

static gboolean
is_alloc_site(SlubLockSite site)
{
    return site == SLUB_LOCK_GET_PARTIAL_NODE || site == SLUB_LOCK_GET_ANY_PARTIAL || site == SLUB_LOCK_DEBUG_NEW ||
           site >= SLUB_FIRST_DIRECT_SITE;
}

static LockTotals
add_list_locks(const WorldRun *run)
{
    LockTotals t = {0};

    for (guint i = 0; i < run->world->slub->n_caches; i++)
        for (guint n = 0; n < n_nodes(run); n++)
            for (guint s = 0; s < SLUB_N_LOCK_SITES; s++) {
                const SimLockSite *site = list_site(run, i, n, s);
                double wait = (double) site->wait_ps;

                t.acquisitions += site->acquisitions;
                t.contended += site->contended;
                t.wait_ps += wait;
                t.hold_ps += (double) site->hold_ps;
                if (is_alloc_site(s))
                    t.alloc_wait_ps += wait;
                else
                    t.free_wait_ps += wait;
                if (s == SLUB_LOCK_GET_ANY_PARTIAL || s == SLUB_LOCK_FROM_ANY || s == SLUB_LOCK_REFILL_ANY)
                    t.any_wait_ps += wait;
            }
    return t;
}

static LockTotals
add_barn_locks(const WorldRun *run)
{
    LockTotals t = {0};

    for (guint i = 0; i < run->world->slub->n_caches * n_nodes(run) * SLUB_N_BARN_SITES; i++) {
        t.acquisitions += run->barn_sites[i].acquisitions;
        t.contended += run->barn_sites[i].contended;
        t.wait_ps += (double) run->barn_sites[i].wait_ps;
    }
    return t;
}

static gboolean
has_sheaves(const WorldRun *run)
{
    for (guint i = 0; i < run->world->slub->n_caches; i++)
        if (run->world->slub->cache[i]->sheaves)
            return TRUE;
    return FALSE;
}

static gboolean
has_arrays(const WorldRun *run)
{
    for (guint i = 0; i < run->world->slub->n_caches; i++)
        if (run->world->slub->cache[i]->arrays)
            return TRUE;
    return FALSE;
}

static LockTotals
add_zone_locks(const WorldRun *run)
{
    LockTotals t = {0};

    for (guint i = 0; i < n_nodes(run) * PAGE_N_LOCK_SITES; i++) {
        t.acquisitions += run->zone_sites[i].acquisitions;
        t.wait_ps += (double) run->zone_sites[i].wait_ps;
    }
    return t;
}

static void
put_site(SimTable *table, const char *lock, guint node, const char *name, const SimLockSite *site)
{
    sim_table_put_text(table, lock);
    sim_table_put_int(table, node);
    sim_table_put_text(table, name);
    sim_table_put_int(table, (gint64) site->acquisitions);
    sim_table_put_int(table, (gint64) site->contended);
    sim_table_put_real(table, sim_time_to_ns(site->wait_ps));
    sim_table_put_real(table, sim_time_to_ns(site->hold_ps));
}

/* Call sites that the cache's generation does not have get no rows. */
static void
report_cache_locks(const WorldRun *run, guint cache, SimTable *table)
{
    const SlubCache *c = run->world->slub->cache[cache];
    g_autofree char *list_lock = g_strconcat(c->name, " list_lock", NULL);
    g_autofree char *barn_lock = g_strconcat(c->name, " barn lock", NULL);
    guint n_list_sites = c->below->has_cpu_slab ? SLUB_FIRST_DIRECT_SITE : SLUB_N_LOCK_SITES;

    for (guint n = 0; n < n_nodes(run); n++)
        for (guint s = 0; s < n_list_sites; s++)
            put_site(table, list_lock, n, slub_lock_site_name(s, run->world->slub->kernel), list_site(run, cache, n, s));
    for (guint n = 0; c->sheaves && n < n_nodes(run); n++)
        for (guint s = 0; s < SLUB_N_BARN_SITES; s++)
            put_site(table, barn_lock, n, slub_barn_site_name(s),
                     &run->barn_sites[(cache * n_nodes(run) + n) * SLUB_N_BARN_SITES + s]);
}

static void
report_locks(const WorldRun *run, SimRecord *record)
{
    static const char *const columns[] = {"lock",    "node",    "site", "acquisitions", "contended",
                                          "wait_ns", "hold_ns", NULL};
    SimTable *table = sim_record_add_table(record, "locks", columns);
    static const char *const zone_names[PAGE_N_LOCK_SITES] = {"rmqueue_bulk", "free_pcppages_bulk", "high order"};

    for (guint i = 0; i < run->world->slub->n_caches; i++)
        report_cache_locks(run, i, table);
    for (guint n = 0; n < n_nodes(run); n++)
        for (guint s = 0; s < PAGE_N_LOCK_SITES; s++)
            put_site(table, "zone lock", n, zone_names[s], &run->zone_sites[n * PAGE_N_LOCK_SITES + s]);
}

static void
put_waits(SimTable *table, const char *lock, const SimHist *waits_ps)
{
    SimHistBucket bucket;

    for (guint position = 0; sim_hist_next(waits_ps, &position, &bucket);) {
        sim_table_put_text(table, lock);
        sim_table_put_real(table, sim_time_to_ns(bucket.upper));
        sim_table_put_int(table, (gint64) bucket.count);
    }
}

static void
report_waits(const WorldRun *run, SimRecord *record)
{
    static const char *const columns[] = {"lock", "upper_ns", "count", NULL};
    SimTable *table = sim_record_add_table(record, "waits", columns);

    for (guint i = 0; i < run->world->slub->n_caches; i++) {
        g_autofree char *lock = g_strconcat(run->world->slub->cache[i]->name, " list_lock", NULL);
        put_waits(table, lock, &run->list_waits[i]);
    }
    put_waits(table, "zone lock", &run->zone_waits);
}

/* Whether any cache has the layer that a counter is of. */
static gboolean
is_counted(const WorldRun *run, SlabStat stat)
{
    return stat < SLAB_FIRST_SHEAF_STAT || (stat < SLAB_FIRST_ARRAY_STAT ? has_sheaves(run) : has_arrays(run));
}

static void
report_counters(const WorldRun *run, SimRecord *record)
{
    static const char *const columns[] = {"cache", "counter", "value", NULL};
    SimTable *table = sim_record_add_table(record, "counters", columns);

    for (guint i = 0; i < run->world->slub->n_caches; i++)
        for (guint s = 0; s < SLAB_N_STATS; s++) {
            if (!is_counted(run, s))
                continue;
            sim_table_put_text(table, run->world->slub->cache[i]->name);
            sim_table_put_text(table, slab_stat_name(s));
            sim_table_put_int(table, (gint64) window_stat(run, i, s));
        }
}

/* Bytes of one cache by place, each object with its whole stride. Waste is the rest at the end of each slab. */
typedef enum
{
    PLACE_INUSE,
    PLACE_CPU_SLAB,
    PLACE_CPU_PARTIAL,
    PLACE_NODE_PARTIAL,
    PLACE_WASTE,
    PLACE_CPU_SHEAF,
    PLACE_BARN,
    PLACE_SHEAF_ARRAYS,
    N_PLACES
} Place;

static const char *const place_names[N_PLACES] = {
    "objects_inuse", "cpu_slab_free", "cpu_partial_free", "node_partial_free", "waste", "cpu_sheaf_free", "barn_free",
    "sheaf_arrays"};

static guint
n_places(const WorldRun *run)
{
    return has_sheaves(run) ? N_PLACES : PLACE_CPU_SHEAF;
}

/* struct slab_sheaf with its array, in the kmalloc class that holds it. */
static double
sheaf_bytes(const WorldRun *run, guint cache)
{
    enum {
        HEADER_BYTES = 32
    };
    const SlubSheaves *sheaves = run->world->slub->cache[cache]->sheaves;
    SlabGeometryEnv env;

    if (!sheaves || !world_geometry_env(run->world->config, run->world->topology, &env, NULL))
        return 0;
    return slab_kmalloc_roundup(&env, HEADER_BYTES + env.pointer_bytes * sheaves->capacity);
}

static void
bytes_by_place(const WorldRun *run, guint cache, const WorldCacheSample *sample, double *ret_bytes)
{
    const SlabGeometry *g = &run->world->slub->cache[cache]->geometry;
    double stride = g->size_bytes;

    ret_bytes[PLACE_INUSE] = (double) sample->objects_inuse * stride;
    ret_bytes[PLACE_CPU_SLAB] = (double) sample->cpu_slab_free * stride;
    ret_bytes[PLACE_CPU_PARTIAL] = (double) sample->cpu_partial_free * stride;
    ret_bytes[PLACE_NODE_PARTIAL] = (double) sample->node_partial_free * stride;
    ret_bytes[PLACE_CPU_SHEAF] = (double) sample->cpu_sheaf_free * stride;
    ret_bytes[PLACE_BARN] = (double) sample->barn_free * stride;
    ret_bytes[PLACE_SHEAF_ARRAYS] = (double) sample->n_sheaves * sheaf_bytes(run, cache);
    ret_bytes[PLACE_WASTE] = (double) sample->waste_bytes;
}

static void
report_series(const WorldRun *run, SimRecord *record)
{
    const World *world = run->world;
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    SimTable *table;
    guint64 last_operations = 0;
    SimTime last_time = 0;

    g_ptr_array_add(columns, g_strdup("time_ms"));
    for (guint p = 0; p < n_places(run); p++)
        g_ptr_array_add(columns, g_strconcat(place_names[p], "_bytes", NULL));
    g_ptr_array_add(columns, g_strdup("pcp_free_bytes"));
    g_ptr_array_add(columns, g_strdup("cpu_partial_slabs"));
    for (guint n = 0; n < n_nodes(run); n++)
        g_ptr_array_add(columns, g_strdup_printf("node%u_partial_slabs", n));
    g_ptr_array_add(columns, g_strdup("rcu_pending"));
    g_ptr_array_add(columns, g_strdup("throughput_ops_per_s"));
    g_ptr_array_add(columns, NULL);
    table = sim_record_add_table(record, "series", (const char *const *) columns->pdata);
    for (guint i = 0; i < run->n_checkpoints; i++) {
        const WorldSample *sample = &run->sample[i];
        double sum[N_PLACES] = {0}, bytes[N_PLACES];
        gint64 cpu_partial_slabs = 0;

        for (guint c = 0; c < world->slub->n_caches; c++) {
            bytes_by_place(run, c, &sample->cache[c], bytes);
            for (guint p = 0; p < N_PLACES; p++)
                sum[p] += bytes[p];
            cpu_partial_slabs += sample->cache[c].cpu_partial_slabs;
        }
        sim_table_put_real(table, sim_time_to_seconds(run->checkpoint[i]) * 1e3);
        for (guint p = 0; p < n_places(run); p++)
            sim_table_put_real(table, sum[p]);
        sim_table_put_real(table, (double) sample->pcp_pages * world->topology->page_size_bytes);
        sim_table_put_int(table, cpu_partial_slabs);
        for (guint n = 0; n < n_nodes(run); n++)
            sim_table_put_int(table, sample->node_partial_slabs[n]);
        sim_table_put_int(table, (gint64) sample->rcu_pending);
        sim_table_put_real(table, run->checkpoint[i] > last_time ? (double) (sample->operations - last_operations) /
                                                                       sim_time_to_seconds(run->checkpoint[i] - last_time)
                                                                 : 0);
        last_operations = sample->operations;
        last_time = run->checkpoint[i];
    }
}

/* Means over the samples of the measured window, its end included. */
static void
report_memory(const WorldRun *run, SimRecord *record)
{
    static const char *const columns[] = {"cache", "place", "bytes", NULL};
    const World *world = run->world;
    SimTable *table = sim_record_add_table(record, "memory", columns);
    guint first = run->warmup_index + 1;
    double n_samples = run->end_index - run->warmup_index;
    double all_slabs = 0, all_inuse = 0, all_arrays = 0, pcp = 0;

    for (guint c = 0; c < world->slub->n_caches; c++) {
        double mean[N_PLACES] = {0}, slab_bytes = 0, bytes[N_PLACES];

        for (guint i = first; i <= run->end_index; i++) {
            bytes_by_place(run, c, &run->sample[i].cache[c], bytes);
            for (guint p = 0; p < N_PLACES; p++)
                mean[p] += bytes[p] / n_samples;
            slab_bytes += (double) run->sample[i].cache[c].slab_bytes / n_samples;
        }
        for (guint p = 0; p < n_places(run); p++) {
            sim_table_put_text(table, world->slub->cache[c]->name);
            sim_table_put_text(table, place_names[p]);
            sim_table_put_real(table, mean[p]);
        }
        all_slabs += slab_bytes;
        all_inuse += mean[PLACE_INUSE];
        all_arrays += mean[PLACE_SHEAF_ARRAYS];
    }
    for (guint i = first; i <= run->end_index; i++)
        pcp += (double) run->sample[i].pcp_pages * world->topology->page_size_bytes / n_samples;
    sim_table_put_text(table, "(per-CPU page lists)");
    sim_table_put_text(table, "pcp_free");
    sim_table_put_real(table, pcp);
    sim_record_add_metric(record, "slab_memory_bytes", all_slabs);
    sim_record_add_metric(record, "objects_inuse_bytes", all_inuse);
    /* Without sheaves too, so that a sweep can compare the two. */
    if (world->slub->kernel >= SLUB_FIRST_KERNEL_WITH_SHEAVES || has_sheaves(run)) {
        sim_record_add_metric(record, "sheaf_array_bytes", all_arrays);
        sim_record_add_metric(record, "slab_and_sheaf_bytes", all_slabs + all_arrays);
    }
}

/* Operations a second between neighbouring checkpoints from `first` on. */
static double *
rates_by_sample(const WorldRun *run, guint first, guint *ret_n)
{
    guint n = run->end_index - first;
    double *rate = g_new(double, n);

    for (guint i = 0; i < n; i++) {
        guint at = first + 1 + i;
        rate[i] = (double) (run->sample[at].operations - run->sample[at - 1].operations) /
                  sim_time_to_seconds(run->checkpoint[at] - run->checkpoint[at - 1]);
    }
    *ret_n = n;
    return rate;
}

/* Whether the measured window looks stationary, and how long a warm-up the whole run asks for. Not known with too few
 * samples. */
static void
report_stationarity(const WorldRun *run, SimRecord *record)
{
    enum
    {
        MIN_SAMPLES = 8
    };
    guint n_window, n_all;
    g_autofree double *window = rates_by_sample(run, run->warmup_index, &n_window);
    g_autofree double *all = rates_by_sample(run, 0, &n_all);
    double change;
    gsize cut;
    gboolean is_converged = sim_ci_is_converged(window, n_window, 0.1, &change);
    gboolean is_trusted = sim_ci_warm_up(all, n_all, &cut);

    sim_record_add_metric(record, "is_converged", n_window < MIN_SAMPLES ? NAN : is_converged);
    sim_record_add_metric(record, "doubling_change_frac", change);
    sim_record_add_metric(record, "mser5_is_trusted", is_trusted);
    sim_record_add_metric(record, "mser5_cut_ms", sim_time_to_seconds(run->checkpoint[cut]) * 1e3);
}

static double
per(double value, double by)
{
    return by > 0 ? value / by : 0;
}

static void
report_barns(const WorldRun *run, double cpu_ps, double n_operations, SimRecord *record)
{
    LockTotals barns = add_barn_locks(run);
    double n_refilled = 0;

    for (guint i = 0; i < run->world->slub->n_caches; i++)
        n_refilled += (double) window_stat(run, i, SLAB_STAT_SHEAF_REFILL);
    sim_record_add_metric(record, "barn_lock_share_percent", 100 * barns.wait_ps / cpu_ps);
    sim_record_add_metric(record, "barn_lock_acquisitions_per_op", per((double) barns.acquisitions, n_operations));
    sim_record_add_metric(record, "sheaf_refilled_objects_per_op", per(n_refilled, n_operations));
}

void
world_report(const WorldRun *run, SimRecord *record)
{
    const World *world = run->world;
    LockTotals lists = add_list_locks(run), zones = add_zone_locks(run);
    double cpu_ps = (double) world->machine->n_active_cpus * (double) (world_window_end(run) - world->warmup);
    double n_operations = (double) window_operations(run), rate = throughput(run), slow_allocs = 0;

    for (guint i = 0; i < world->slub->n_caches; i++)
        slow_allocs += (double) window_stat(run, i, SLAB_STAT_ALLOC_SLOWPATH);
    if (n_operations == 0)
        rate = NAN; /* a window too short to say */
    sim_record_add_metric(record, "throughput_per_task_ops_per_s", rate / world->n_tasks);
    sim_record_add_metric(record, "throughput_ops_per_s", rate);
    sim_record_add_metric(record, "list_lock_share_percent", 100 * per(lists.wait_ps, cpu_ps));
    sim_record_add_metric(record, "zone_lock_share_percent", 100 * per(zones.wait_ps, cpu_ps));
    report_memory(run, record);
    sim_record_add_metric(record, "list_lock_alloc_share_percent", 100 * per(lists.alloc_wait_ps, cpu_ps));
    sim_record_add_metric(record, "list_lock_free_share_percent", 100 * per(lists.free_wait_ps, cpu_ps));
    sim_record_add_metric(record, "get_any_partial_share_percent", 100 * per(lists.any_wait_ps, cpu_ps));
    sim_record_add_metric(record, "list_lock_acquisitions_per_op", per((double) lists.acquisitions, n_operations));
    sim_record_add_metric(record, "list_lock_contended_frac",
                          per((double) lists.contended, (double) lists.acquisitions));
    sim_record_add_metric(record, "list_lock_wait_ns", per(lists.wait_ps / 1e3, (double) lists.acquisitions));
    sim_record_add_metric(record, "list_lock_hold_ns", per(lists.hold_ps / 1e3, (double) lists.acquisitions));
    sim_record_add_metric(record, "zone_lock_acquisitions_per_op", per((double) zones.acquisitions, n_operations));
    sim_record_add_metric(record, "zone_lock_wait_ns_per_op", per(zones.wait_ps / 1e3, n_operations));
    sim_record_add_metric(record, "zone_lock_hold_ns_per_op", per(zones.hold_ps / 1e3, n_operations));
    sim_record_add_metric(record, "zone_lock_hold_ns", per(zones.hold_ps / 1e3, (double) zones.acquisitions));
    sim_record_add_metric(record, "alloc_slowpath_per_op", per(slow_allocs, n_operations));
    sim_record_add_metric(record, "operations", n_operations);
    if (has_sheaves(run))
        report_barns(run, cpu_ps, n_operations, record);
    report_stationarity(run, record);
    sim_record_add_metric(record, "events", (double) world->machine->engine->n_events);
    report_counters(run, record);
    report_locks(run, record);
    report_series(run, record);
    report_waits(run, record);
}
