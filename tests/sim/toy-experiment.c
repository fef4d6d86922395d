/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "toy-experiment.h"

#include "sim-rng.h"

#include <math.h>

static const SimKeySpec toy_keys[] = {
    {"toy", "cpus", SIM_KEY_INT, "2", FALSE, 1, 65536, NULL, "How many workers there are."},
    {"toy", "nodes", SIM_KEY_INT, "2", FALSE, 1, 64, NULL, "How many partial lists the series has."},
    {"toy", "cost", SIM_KEY_REAL, "10", FALSE, 0, 1e9, NULL, "Work of one operation."},
    {"toy", "site", SIM_KEY_TEXT, "slow_path", FALSE, 0, 0, NULL, "Name of a call site."},
    {"toy", "fail_from", SIM_KEY_INT, "-1", FALSE, -1, 1e6, NULL, "First replication that fails; -1 for none."},
    {"toy", "drift_from", SIM_KEY_INT, "-1", FALSE, -1, 1e6, NULL,
     "First replication that does not settle; -1 for none."},
    {"toy", "hang", SIM_KEY_BOOL, "false", FALSE, 0, 0, NULL, "Wait for a cancel that may never come."},
    {"toy", "delay_us", SIM_KEY_INT, "0", FALSE, 0, 1e7, NULL, "Time on the wall that a run takes."},
    {"toy", "tables", SIM_KEY_BOOL, "true", FALSE, 0, 0, NULL, "Record tables beside the metrics."},
    {NULL}};
static const SimKeySpec *const toy_tables[] = {toy_keys, NULL};
static const SimSchema toy_schema = {.tables = toy_tables};

static void
put_locks(SimRecord *record, const SimConfig *config, SimRng *rng, gint64 cpus)
{
    const char *const columns[] = {"lock", "node", "site", "acquisitions", "contended", "wait_ns", "hold_ns", NULL};
    const char *const sites[] = {"get_partial", "unfreeze", sim_config_text(config, "toy", "site")};
    SimTable *table = sim_record_add_table(record, "locks", columns);

    for (guint node = 0; node < 2; node++) {
        for (guint s = 0; s < G_N_ELEMENTS(sites); s++) {
            sim_table_put_text(table, "list_lock");
            sim_table_put_int(table, node);
            sim_table_put_text(table, sites[s]);
            sim_table_put_int(table, 1000);
            sim_table_put_int(table, 100 * (s + 1));
            sim_table_put_real(table, sim_rng_exponential(rng, 1e6 * (double) cpus * (s + 1)));
            sim_table_put_real(table, sim_rng_exponential(rng, 1e5));
        }
    }
}

static void
put_series(SimRecord *record, SimRng *rng, guint nodes)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    SimTable *table;

    g_ptr_array_add(columns, g_strdup("time_ms"));
    g_ptr_array_add(columns, g_strdup("objects_inuse_bytes"));
    g_ptr_array_add(columns, g_strdup("cpu_partial_free_bytes"));
    g_ptr_array_add(columns, g_strdup("waste_bytes"));
    for (guint node = 0; node < nodes; node++)
        g_ptr_array_add(columns, g_strdup_printf("node%u_partial_slabs", node));
    g_ptr_array_add(columns, NULL);
    table = sim_record_add_table(record, "series", (const char *const *) columns->pdata);
    for (guint i = 0; i < 40; i++) {
        sim_table_put_real(table, i * 0.5);
        sim_table_put_real(table, 4e6 * (1 - exp(i / -8.0)));
        sim_table_put_real(table, 1e6 + 2e5 * sim_rng_uniform(rng));
        sim_table_put_int(table, 300000);
        for (guint node = 0; node < nodes; node++)
            sim_table_put_int(table, (gint64) (5 * (node + 1) + sim_rng_below(rng, 6)));
    }
}

static void
put_waits(SimRecord *record, SimRng *rng, gint64 cpus)
{
    static const char *const columns[] = {"lock", "upper_ns", "count", NULL};
    SimTable *table = sim_record_add_table(record, "waits", columns);

    for (guint i = 0; i <= 14; i++) {
        sim_table_put_text(table, "list_lock");
        sim_table_put_int(table, i == 0 ? 0 : (gint64) 16 << i);
        sim_table_put_int(table, (gint64) (1e5 * exp(-(double) i * 8 / (6 + log2((double) cpus)))));
    }
}

static void
put_memory(SimRecord *record, gint64 cpus)
{
    static const char *const columns[] = {"cache", "place", "bytes", NULL};
    static const char *const places[] = {"cpu slab", "cpu partial", "node partial", "full"};
    SimTable *table = sim_record_add_table(record, "memory", columns);

    for (guint p = 0; p < G_N_ELEMENTS(places); p++) {
        sim_table_put_text(table, "kmalloc-64");
        sim_table_put_text(table, places[p]);
        sim_table_put_int(table, (p + 1) * 4096 * cpus);
    }
}

static gboolean
toy_run(const SimRunInput *input, SimRecord *record, GError **error)
{
    gint64 cpus = sim_config_int(input->config, "toy", "cpus");
    gint64 fail_from = sim_config_int(input->config, "toy", "fail_from");
    gint64 drift_from = sim_config_int(input->config, "toy", "drift_from");
    double cost = sim_config_real(input->config, "toy", "cost"), noise;
    SimRng rng;

    while (sim_config_bool(input->config, "toy", "hang") && !g_atomic_int_get(input->cancel))
        g_usleep(1000);
    if (sim_config_int(input->config, "toy", "delay_us") > 0)
        g_usleep((gulong) sim_config_int(input->config, "toy", "delay_us"));
    if (g_atomic_int_get(input->cancel)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "cancelled");
        return FALSE;
    }
    if (fail_from >= 0 && input->replication >= fail_from) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "toy fails as told");
        return FALSE;
    }
    sim_rng_init(&rng, input->seed, input->replication, "toy", input->start);
    noise = 1 + 0.1 * (sim_rng_uniform(&rng) - 0.5);
    sim_record_set_fingerprint(record, sim_rng_u64(&rng));
    sim_record_add_metric(record, "throughput_ops_per_s", 1e9 * (double) cpus / (cost + (double) cpus) * noise);
    sim_record_add_metric(record, "lock_share_percent", 100 * (double) cpus / (cost + (double) cpus));
    sim_record_add_metric(record, "elapsed_s", (cost + (double) cpus) / noise);
    if (drift_from >= 0)
        sim_record_add_metric(record, "is_settled", cpus == 1 ? NAN : input->replication < drift_from);
    if (sim_config_bool(input->config, "toy", "tables")) {
        put_locks(record, input->config, &rng, cpus);
        put_series(record, &rng, (guint) sim_config_int(input->config, "toy", "nodes"));
        put_waits(record, &rng, cpus);
        put_memory(record, cpus);
    }
    return TRUE;
}

static gboolean
toy_check(const SimConfig *config, GError **error)
{
    return TRUE;
}

/* A toy without tables has no use for what they are made of. */
static gboolean
toy_reads_key(const SimConfig *config, const SimKeySpec *spec)
{
    gboolean is_of_tables = g_str_equal(spec->key, "nodes") || g_str_equal(spec->key, "site");

    return !is_of_tables || sim_config_bool(config, "toy", "tables");
}

static const char *const toy_starts[] = {"cold", "warm", NULL};

const SimExperiment toy_experiment = {.program = "toy",
                                      .version = "1.0",
                                      .schema = &toy_schema,
                                      .starts = toy_starts,
                                      .reads_key = toy_reads_key,
                                      .trust_metric = "is_settled",
                                      .check = toy_check,
                                      .run = toy_run};
