/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of the allocator's calls, from the caches to the record (results/README.md). */
#include "slub-latency.h"
#include "world-private.h"

#include <math.h>

const SimKeySpec latency_keys[] = {
    {.group = "run",
     .key = "latency",
     .type = SIM_KEY_BOOL,
     .fallback = "false",
     .help = "record how long allocations and frees take, by path; changes nothing else"},
    {NULL},
};

/* Which CPUs a row is of. Histograms are kept by class; "all" is their sum. */
enum { OTHERS, ISOLATED, ALL, N_ROWS_OF_CPUS };

static const char *const cpus_names[N_ROWS_OF_CPUS] = {"others", "isolated", "all"};

static const struct {
    const char *name;
    double fraction;
} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", 0.999}, {"p99_99", 0.9999}, {"max", 1}};

void
world_add_latency(World *world)
{
    if (!sim_config_bool(world->config, "run", "latency"))
        return;
    for (guint i = 0; i < world->slub->n_caches; i++)
        slub_latency_enable(world->slub->cache[i]);
}

void
world_latency_window(const World *world, guint cpu, gboolean is_start)
{
    for (guint i = 0; i < world->slub->n_caches; i++) {
        if (is_start)
            slub_latency_start(world->slub->cache[i], cpu, world->cpu[cpu].is_isolated ? ISOLATED : OTHERS);
        else
            slub_latency_stop(world->slub->cache[i], cpu);
    }
}

/* Too few values leave nothing above a high quantile, which then would be the maximum under another name. */
static double
quantile_ns(const SimHist *hist_ps, double fraction)
{
    double n = (double) sim_hist_count(hist_ps), n_above = n * (1 - fraction);
    gboolean is_resolved = n > 0 && (fraction == 1 || n_above > 0.999999);

    return is_resolved ? sim_time_to_ns(sim_hist_quantile(hist_ps, fraction)) : NAN;
}

void
world_report_percentiles(SimRecord *record, const char *prefix, const SimHist *hist_ps)
{
    for (guint i = 0; i < G_N_ELEMENTS(percentiles); i++) {
        g_autofree char *name = g_strdup_printf("%s_%s_ns", prefix, percentiles[i].name);

        sim_record_add_metric(record, name, quantile_ns(hist_ps, percentiles[i].fraction));
    }
}

static void
merge_cpus(const SlubCache *cache, guint cpus, SlubPath path, SimHist *hist)
{
    for (guint c = 0; c < SLUB_LATENCY_CLASSES; c++)
        if (cpus == ALL || cpus == c)
            slub_latency_merge(cache, c, path, hist);
}

static void
put_row(SimTable *table, guint cpus, const SlubCache *cache, SlubPath path)
{
    g_autofree SimHist *hist = g_new(SimHist, 1);

    sim_hist_init(hist);
    merge_cpus(cache, cpus, path, hist);
    if (sim_hist_count(hist) == 0)
        return;
    sim_table_put_text(table, cpus_names[cpus]);
    sim_table_put_text(table, cache->name);
    sim_table_put_text(table, slub_latency_operation_name(slub_path_operation(path)));
    sim_table_put_text(table, slub_path_name(path));
    sim_table_put_int(table, (gint64) sim_hist_count(hist));
    sim_table_put_real(table, sim_hist_mean(hist) / 1e3);
    for (guint i = 0; i < G_N_ELEMENTS(percentiles); i++)
        sim_table_put_real(table, quantile_ns(hist, percentiles[i].fraction));
}

/* All caches and paths of an operation together. */
static void
report_operation(const World *world, guint cpus, SlubLatencyOperation operation, SimTable *times, SimRecord *record)
{
    const char *name = slub_latency_operation_name(operation);
    g_autofree SimHist *hist = g_new(SimHist, 1);
    SimHistBucket bucket;

    sim_hist_init(hist);
    for (guint i = 0; i < world->slub->n_caches; i++)
        for (guint p = 0; p < SLUB_N_PATHS; p++)
            if (slub_path_operation(p) == operation)
                merge_cpus(world->slub->cache[i], cpus, p, hist);
    for (guint position = 0; sim_hist_next(hist, &position, &bucket);) {
        sim_table_put_text(times, cpus_names[cpus]);
        sim_table_put_text(times, name);
        sim_table_put_real(times, sim_time_to_ns(MIN(bucket.upper, sim_hist_max(hist))));
        sim_table_put_int(times, (gint64) bucket.count);
    }
    if (operation == SLUB_LATENCY_ALLOC || operation == SLUB_LATENCY_FREE) {
        g_autofree char *prefix = g_strconcat(cpus == ALL ? "" : cpus_names[cpus], cpus == ALL ? "" : "_", name, NULL);

        world_report_percentiles(record, prefix, hist);
    }
}

static gboolean
has_isolated_cpus(const World *world)
{
    for (guint i = 0; i < world->machine->n_cpus; i++)
        if (world->cpu[i].is_isolated)
            return TRUE;
    return FALSE;
}

void
world_report_latency(const World *world, SimRecord *record)
{
    static const char *const columns[] = {"cpus",   "cache",  "operation", "path",      "count",  "mean_ns", "p50_ns",
                                          "p90_ns", "p99_ns", "p99_9_ns",  "p99_99_ns", "max_ns", NULL};
    static const char *const times_columns[] = {"cpus", "operation", "upper_ns", "count", NULL};
    SimTable *table, *times;

    if (!sim_config_bool(world->config, "run", "latency"))
        return;
    table = sim_record_add_table(record, "latency", columns);
    times = sim_record_add_table(record, "latency_times", times_columns);
    for (guint cpus = has_isolated_cpus(world) ? 0 : ALL; cpus < N_ROWS_OF_CPUS; cpus++) {
        for (guint i = 0; i < world->slub->n_caches; i++)
            for (guint p = 0; p < SLUB_N_PATHS; p++)
                put_row(table, cpus, world->slub->cache[i], p);
        for (guint o = 0; o < SLUB_N_LATENCY_OPERATIONS; o++)
            report_operation(world, cpus, o, times, record);
    }
}
