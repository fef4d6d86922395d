/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slab traffic of mmap1 and its like by release: slub-facts F.2, objects of each cache an operation. */
#include "sim-gsl.h"
#include "test-world.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *kernel;
    const char *leaf;
    const char *cache;
    /* Calls an iteration as the release counts them. Up to 6.7 a bulk allocation counts its slow objects only, and a
     * bulk free each list of objects of one slab: between the two bounds. */
    guint min_allocs, max_allocs, min_frees, max_frees;
} Traffic;

static const Traffic traffic[] = {
    {"6.0", "room", "vm_area_struct", 1, 1, 1, 1},
    {"6.1", "room", "vm_area_struct", 1, 1, 1, 1},
    /* Twice A B6, G4 F F, R, and A F of the side tree. */
    {"6.1", "room", "maple_node", 3, 15, 9, 15},
    /* A B6, G4 F F, R, then A A, R F. */
    {"6.5", "room", "maple_node", 3, 9, 6, 9},
    {"6.5", "room", "vm_area_struct", 1, 1, 1, 1},
    {"6.5", "room", "vma_lock", 1, 1, 1, 1},
    {"6.6", "room", "maple_node", 2, 2, 2, 2},
    {"6.12", "room", "maple_node", 2, 2, 2, 2},
    {"6.12", "room", "vma_lock", 1, 1, 1, 1},
    {"6.15", "room", "vm_area_struct", 1, 1, 1, 1},
    /* A B3, F, R, then A B6, A(side), G4 F F, R R R, F(side), as recorded: 12 nodes. */
    {"6.1", "full", "maple_node", 3, 12, 9, 12},
    {"6.1", "full", "vm_area_struct", 1, 1, 1, 1},
    /* A B3, F, R, then A(side), A B6, G4 F F, R R R, F(side). */
    {"6.5", "full", "maple_node", 3, 12, 9, 12},
    /* A B2, R, then A B6, G4 F F, R R R. Since 6.8 bulk allocations count every object. */
    {"6.8", "full", "maple_node", 10, 10, 7, 10},
    /* A B2, R, then A B2, F F, R R R, as recorded: 6 nodes. */
    {"6.12", "full", "maple_node", 6, 6, 6, 6},
};

/* The tests that came after mmap1, an operation of theirs. */
typedef struct {
    const char *workload, *kernel, *settings, *cache;
    double n_objects; /* allocated, and freed */
} OtherTraffic;

static const OtherTraffic other_traffic[] = {
    {"mmap2", "6.17", "", "maple_node", 2},
    {"mmap2", "6.17", "", "anon_vma", -1},
    /* Two operations: growing takes no node, splitting and removing one each. */
    {"brk1", "6.17", "", "maple_node", 1},
    {"brk1", "6.17", "", "vm_area_struct", 0.5},
    {"brk1", "6.17", "", "anon_vma_chain", 1},
    {"brk1", "6.17", "workload.anon_chains=0", "anon_vma_chain", 0},
    /* From 20 ranges to 70 and back: 6 splits of 5 reserved nodes, 6 unions of 3, 44 plain stores each way. */
    {"map_batch", "6.17", "", "maple_node", 44 + 6 * 5 + 44 + 6 * 3},
    {"map_batch", "6.17", "", "vm_area_struct", 50},
    {"map_batch", "6.17", "workload.vmas=4", "maple_node", 8},
    {"map_batch", "6.17", "workload.vmas=4", "anon_vma", 4},
    /* Fork copies a root and two leaves; exec begins with one leaf, splits it at the 13th VMA. */
    {"fork_exec", "6.17", "workload.vmas=20", "maple_node", 3 + 1 + 19 + 3},
    {"fork_exec", "6.17", "workload.vmas=20", "vm_area_struct", 40},
    {"fork_exec", "6.17", "workload.vmas=20", "anon_vma", 20},
    {"fork_exec", "6.17", "workload.vmas=20", "anon_vma_chain", 30},
};

static gint64
counter(const SimRecord *record, const char *cache, const char *name)
{
    for (guint t = 0; t < sim_record_n_tables(record); t++) {
        const SimTable *table = sim_record_table(record, t);

        if (g_strcmp0(sim_table_name(table), "counters") != 0)
            continue;
        for (guint row = 0; row < sim_table_n_rows(table); row++)
            if (g_strcmp0(sim_table_cell(table, row, 0), cache) == 0 &&
                g_strcmp0(sim_table_cell(table, row, 1), name) == 0)
                return g_ascii_strtoll(sim_table_cell(table, row, 2), NULL, 10);
    }
    g_assert_not_reached();
}

/* A run of a workload on the two-CPU machine; settings are separated by semicolons. */
static SimRecord *
run(const char *workload, const char *kernel, const char *settings)
{
    g_autofree char *all = g_strconcat("machine.profile=laptop2;kernel.version=", kernel,
                                       ";run.warmup=20ms;run.duration=20ms", *settings ? ";" : "", settings,
                                       strstr(settings, "workload.processes") ? NULL : ";workload.processes=2", NULL);

    return test_world_record(workload, all);
}

/* Of one cache, an operation. */
static void
rates(const SimRecord *record, const char *cache, double *ret_allocs, double *ret_frees)
{
    double operations = test_record_metric(record, "operations");

    *ret_allocs = (double) (counter(record, cache, "alloc_fastpath") + counter(record, cache, "alloc_slowpath"));
    *ret_frees = (double) (counter(record, cache, "free_fastpath") + counter(record, cache, "free_slowpath"));
    g_test_message("%s: %g allocations, %g frees an operation", cache, *ret_allocs / operations,
                   *ret_frees / operations);
    *ret_allocs /= operations;
    *ret_frees /= operations;
}

static void
test_traffic(gconstpointer data)
{
    const Traffic *t = data;
    g_autofree char *leaf = g_strconcat("workload.leaf=", t->leaf, NULL);
    g_autoptr(SimRecord) record = run("mmap1", t->kernel, leaf);
    double allocs, frees;

    g_assert_cmpfloat(test_record_metric(record, "operations"), >, 5000);
    rates(record, t->cache, &allocs, &frees);
    /* An iteration begun in the window ends outside of it, and the other way round. */
    g_assert_cmpfloat(allocs, >, t->min_allocs - 0.001);
    g_assert_cmpfloat(allocs, <, t->max_allocs + 0.001);
    /* RCU gives back other numbers in a window than were taken in it: one grace period's worth of two. */
    g_assert_cmpfloat(frees, >, t->min_frees * 0.75);
    g_assert_cmpfloat(frees, <, t->max_frees * 1.25);
}

static gboolean
has_cache(const SimRecord *record, const char *cache)
{
    for (guint t = 0; t < sim_record_n_tables(record); t++) {
        const SimTable *table = sim_record_table(record, t);

        for (guint row = 0; row < sim_table_n_rows(table); row++)
            if (g_strcmp0(sim_table_cell(table, row, 0), cache) == 0)
                return TRUE;
    }
    return FALSE;
}

static void
test_other_traffic(gconstpointer data)
{
    const OtherTraffic *t = data;
    g_autoptr(SimRecord) record = run(t->workload, t->kernel, t->settings);
    double allocs, frees;

    g_assert_cmpint(has_cache(record, t->cache), ==, t->n_objects >= 0);
    if (t->n_objects < 0)
        return;
    rates(record, t->cache, &allocs, &frees);
    /* A round of map_batch is long: the window cuts off up to one at either end on each CPU. */
    g_assert_cmpfloat(allocs, >=, t->n_objects * 0.97);
    g_assert_cmpfloat(allocs, <=, t->n_objects * 1.03);
    g_assert_cmpfloat(frees, >=, t->n_objects * 0.75);
    g_assert_cmpfloat(frees, <=, t->n_objects * 1.25);
}

/* With all of the computing under mmap_lock two threads do no more than one, less the hand-offs; a thread alone is a
 * process. */
static void
test_threads(void)
{
    const char *alone = "workload.tasks_are=threads;workload.mmap_lock_share=1;workload.compute_spread=0";
    g_autofree char *one = g_strconcat(alone, ";workload.processes=1", NULL);
    g_autoptr(SimRecord) process = run("mmap1", "6.17", "workload.processes=1;workload.compute_spread=0");
    g_autoptr(SimRecord) thread = run("mmap1", "6.17", one);
    g_autoptr(SimRecord) two = run("mmap1", "6.17", alone);
    double rate = test_record_metric(thread, "throughput_ops_per_s");

    /* The lock itself, free and owned: two acquisitions and releases an iteration of about 2,800 ns. */
    g_assert_cmpfloat(rate, <, test_record_metric(process, "throughput_ops_per_s"));
    g_assert_cmpfloat(rate, >, 0.98 * test_record_metric(process, "throughput_ops_per_s"));
    g_assert_cmpfloat(test_record_metric(two, "throughput_ops_per_s"), <, rate);
    g_assert_cmpfloat(test_record_metric(two, "throughput_ops_per_s"), >, 0.8 * rate);
}

/* CNA keeps the lock in one socket for 8,000 turns, half a window: threads of the other one come to read their counters
 * late, and what they do in the rest of the window is not what they do all along. */
static void
test_starving_threads(void)
{
    g_autoptr(SimRecord) record =
        run("mmap1", "6.17",
            "machine.sockets=2;machine.cores_per_l3=8;machine.lock=cna;machine.cna_near_handoffs=8000;"
            "workload.tasks_are=threads;workload.processes=16");
    double window_s = 20e-3, n_operations = test_record_metric(record, "operations");

    g_assert_cmpfloat(n_operations, >, 5000);
    g_assert_cmpfloat_with_epsilon(test_record_metric(record, "throughput_ops_per_s") * window_s / n_operations, 1,
                                   0.003);
}

/* A quarter of the computing under the lock leaves room for the other thread, but their one tree stays one. */
static void
test_threads_in_part(void)
{
    const char *in_part = "workload.tasks_are=threads;workload.mmap_lock_share=0.25;workload.compute_spread=0";
    g_autofree char *one = g_strconcat(in_part, ";workload.processes=1", NULL);
    g_autoptr(SimRecord) thread = run("mmap1", "6.17", one), two = run("mmap1", "6.17", in_part);

    g_assert_cmpfloat(test_record_metric(two, "throughput_ops_per_s"), >,
                      1.6 * test_record_metric(thread, "throughput_ops_per_s"));
}

/* The spread moves calls, and their number but little. */
static void
test_spread(void)
{
    g_autoptr(SimRecord) even = run("mmap1", "6.17", "workload.compute_spread=0");
    g_autoptr(SimRecord) spread = run("mmap1", "6.17", "workload.compute_spread=0.5");
    double ratio = test_record_metric(spread, "operations") / test_record_metric(even, "operations");

    g_assert_cmpuint(sim_record_fingerprint(even), !=, sim_record_fingerprint(spread));
    g_assert_cmpfloat(ratio, >, 0.98);
    g_assert_cmpfloat(ratio, <, 1.02);
}

/* Without spread and slab work the parts of a round are known: 50 times (half of 2 us, and 1 us for what was touched).
 */
static void
test_parts(void)
{
    g_autoptr(SimRecord) record = run("map_batch", "6.17",
                                      "workload.processes=1;workload.compute_spread=0;"
                                      "workload.iteration_compute=2 us;workload.zap_compute=1 us");
    double map = test_record_metric(record, "mmap_ns"), unmap = test_record_metric(record, "munmap_ns");

    g_assert_cmpfloat(map, >, 1000);
    g_assert_cmpfloat(map, <, 1300);
    g_assert_cmpfloat(unmap, >, 2000);
    g_assert_cmpfloat(unmap, <, 2400);
    g_assert_cmpfloat(fabs(test_record_metric(record, "map_and_unmap_ns") - map - unmap), <, 1e-6 * unmap);
}

/* A round that begins before the window, here one of 75 ms, is none of it. */
static void
test_parts_of_the_window(void)
{
    g_autoptr(SimRecord) record = run("map_batch", "6.17", "workload.iteration_compute=1 ms [1 ms .. 1 ms]");

    g_assert_true(isnan(test_record_metric(record, "mmap_ns")));
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(traffic); i++) {
        g_autofree char *name =
            g_strdup_printf("/mmap1/traffic/%s/%s/%s", traffic[i].kernel, traffic[i].leaf, traffic[i].cache);
        g_test_add_data_func(name, &traffic[i], test_traffic);
    }
    for (guint i = 0; i < G_N_ELEMENTS(other_traffic); i++) {
        g_autofree char *name =
            g_strdup_printf("/%s/traffic/%u/%s", other_traffic[i].workload, i, other_traffic[i].cache);
        g_test_add_data_func(name, &other_traffic[i], test_other_traffic);
    }
    g_test_add_func("/mmap1/threads", test_threads);
    g_test_add_func("/mmap1/starving-threads", test_starving_threads);
    g_test_add_func("/mmap1/threads-in-part", test_threads_in_part);
    g_test_add_func("/mmap1/spread", test_spread);
    g_test_add_func("/map_batch/parts", test_parts);
    g_test_add_func("/map_batch/parts-of-the-window", test_parts_of_the_window);
    return g_test_run();
}
