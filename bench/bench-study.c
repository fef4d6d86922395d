/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study costs beside the simulations in it, and beside bare SQL on the same file. */
#include "bench.h"
#include "sim-campaign.h"
#include "sim-export.h"
#include "sim-gsl.h"
#include "world.h"

#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>

enum { N_ROWS = 100000, N_METRICS = 10 };

static const char *const starts[] = {"cold", "mixed", NULL};
/* Of all workers together. */
static gint64 simulating_ns, simulating_cpu_ns;

static gint64
clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The model, timed. */
static gboolean
run_timed(const SimRunInput *input, SimRecord *record, GError **error)
{
    gint64 start_ns = clock_ns(CLOCK_MONOTONIC), start_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    gboolean ok = world_run(input, record, error);

    __atomic_add_fetch(&simulating_cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_cpu_ns, __ATOMIC_RELAXED);
    __atomic_add_fetch(&simulating_ns, clock_ns(CLOCK_MONOTONIC) - start_ns, __ATOMIC_RELAXED);
    return ok;
}

/* Numbers of no meaning at once, so that what is left is the study. */
static gboolean
run_nothing(const SimRunInput *input, SimRecord *record, GError **error)
{
    sim_record_set_fingerprint(record, input->replication);
    for (guint i = 0; i < N_METRICS; i++) {
        g_autofree char *name = g_strdup_printf("metric_%u", i);
        sim_record_add_metric(record, name, sqrt(input->replication + i));
    }
    return TRUE;
}

/* Fills the study, or finds it full; ns on the wall. */
static double
sweep_ns(const SimExperiment *experiment, const char *scenario, const char *path, guint n_workers)
{
    const SimStudyPlan plan = {.experiment = experiment, .scenario_text = "", .shard = 1, .n_shards = 1};
    const SimCampaignOptions options = {.n_workers = n_workers};
    double start_ns = bench_now_ns();
    g_autoptr(GError) error = NULL;
    g_autoptr(SimDesign) design = sim_design_load(experiment->schema, scenario, NULL, experiment, &error);
    g_autoptr(SimStudy) study = design != NULL ? sim_study_open(path, SIM_STUDY_CREATE, &error) : NULL;

    if (study == NULL || !sim_study_put_design(study, design, &plan, &error) ||
        !sim_campaign_run(study, design, experiment, &options, &error))
        g_error("%s", error->message);
    return bench_now_ns() - start_ns;
}

static char *
write_scenario(const char *folder, const char *name, const char *text)
{
    char *path = g_build_filename(folder, name, NULL);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static double
peak_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) usage.ru_maxrss;
}

/* Points of about 20 ms on 16 simulated CPUs; one replication each, so that a point's own cost shows. */
#define SMALL                                                                                                          \
    "[machine]\nsockets=2\ncores_per_l3=8\n[kernel]\nversion=6.5\n[workload]\ntype=mmap1\nprocesses=16\n"              \
    "[run]\nwarmup=10 ms\nduration=15 ms\nsample_interval=1 ms\n[sweep]\nslub.max_partial=20:69:1\n"

static void
bench_sweep(const char *folder, const SimExperiment *experiment)
{
    g_autofree char *few = write_scenario(folder, "few.scenario", SMALL "slub.min_partial=0;1\n");
    g_autofree char *many = write_scenario(folder, "many.scenario", SMALL "slub.min_partial=0:19:1\n");
    double wall_ms[3], few_kib;
    gint64 cpu_ns;

    bench_print_head("1,000 points (reference: their simulations)");
    for (guint n_workers = 1; n_workers <= 2; n_workers++) {
        g_autofree char *few_study = g_strdup_printf("%s/few-%u.study", folder, n_workers);
        g_autofree char *study = g_strdup_printf("%s/many-%u.study", folder, n_workers);
        g_autofree char *name = g_strdup_printf("a point, -j %u, time of a worker", n_workers);
        g_autofree char *cpu_name = g_strdup_printf("a point, -j %u, processor time", n_workers);
        sweep_ns(experiment, few, few_study, n_workers);
        few_kib = peak_kib();
        simulating_ns = simulating_cpu_ns = 0;
        cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        wall_ms[n_workers] = sweep_ns(experiment, many, study, n_workers) / 1e9;
        bench_print_row(name, "ms", wall_ms[n_workers] * n_workers, (double) simulating_ns / 1e9, 1 / 0.95);
        /* The same of a machine that others use as well. */
        bench_print_row(cpu_name, "ms", (double) (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1e9,
                        (double) simulating_cpu_ns / 1e9, 1 / 0.95);
    }
    bench_print_row("a point, -j 2 beside -j 1", "ms", wall_ms[2], wall_ms[1], 0.55);
    bench_print_row("peak memory, 1,000 beside 100 points, -j 2", "MiB", peak_kib() / 1024, few_kib / 1024, 1.25);
}

/* Reads and prints the same numbers with nothing in between. */
static double
bare_export_ns(const char *path)
{
    double start_ns = bench_now_ns();
    FILE *out = fopen("/dev/null", "w");
    sqlite3 *db;
    sqlite3_stmt *s;

    g_assert_true(out != NULL && sqlite3_open(path, &db) == SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT run, metric, value FROM value ORDER BY run, metric", -1, &s, NULL),
                    ==, SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        fprintf(out, "%.17g\t", sqlite3_column_double(s, 2));
    sqlite3_finalize(s);
    sqlite3_close(db);
    fclose(out);
    return bench_now_ns() - start_ns;
}

static double
export_ns(const char *path, const char *table)
{
    double start_ns = bench_now_ns();
    g_autoptr(GError) error = NULL;
    g_autoptr(SimStudy) study = sim_study_open(path, SIM_STUDY_READ, &error);
    FILE *out = fopen("/dev/null", "w");

    if (study == NULL || !sim_export_write(study, table, SIM_EXPORT_TSV, out, &error))
        g_error("%s", error->message);
    fclose(out);
    return bench_now_ns() - start_ns;
}

static void
bench_rows(const char *folder, const SimExperiment *experiment)
{
    g_autofree char *scenario = write_scenario(folder, "rows.scenario",
                                               "[machine]\nsockets=1\ncores_per_l3=2\n[workload]\ntype=mmap1\n[run]"
                                               "\nduration=1 ms\nreplications=1000\n[sweep]\n"
                                               "slub.max_partial=20:119:1\n");
    g_autofree char *study = g_build_filename(folder, "rows.study", NULL);
    double best[4] = {G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE};

    sweep_ns(experiment, scenario, study, 2);
    for (guint round = 0; round < 3; round++) {
        const double ns[] = {sweep_ns(experiment, scenario, study, 2), export_ns(study, "metrics"),
                             export_ns(study, "summary"), bare_export_ns(study)};
        for (guint i = 0; i < G_N_ELEMENTS(ns); i++)
            best[i] = MIN(best[i], ns[i] / N_ROWS);
    }
    bench_print_head("100,000 runs of 10 metrics (bare SQL, %.17g)");
    bench_print_row("resuming, a run", "ns", best[0], best[3], 0.5);
    bench_print_row("export of metrics, a run", "ns", best[1], best[3], 5);
    bench_print_row("export of summaries, a run", "ns", best[2], best[3], 1);
}

int
main(void)
{
    SimExperiment experiment = {.program = "bench",
                                .version = "0",
                                .schema = world_schema(),
                                .starts = starts,
                                .check = world_check,
                                .run = run_timed};
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("bench-study-XXXXXX", &error);
    const char *name;

    if (folder == NULL)
        g_error("%s", error->message);
    sim_gsl_init();
    bench_sweep(folder, &experiment);
    experiment.run = run_nothing;
    bench_rows(folder, &experiment);
    GDir *dir = g_dir_open(folder, 0, NULL);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
    return 0;
}
