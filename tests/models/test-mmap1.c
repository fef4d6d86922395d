/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mmap1's slab traffic by release: slub-facts F.2, objects of each cache an iteration. */
#include "sim-gsl.h"
#include "sim-plan.h"
#include "world.h"

typedef struct
{
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

static void
test_traffic(gconstpointer data)
{
    const Traffic *t = data;
    g_autofree char *version = g_strconcat("kernel.version=", t->kernel, NULL);
    g_autofree char *leaf = g_strconcat("workload.leaf=", t->leaf, NULL);
    const char *sets[] = {version, leaf, "workload.processes=2", "run.warmup=20ms", "run.duration=20ms", NULL};
    g_autofree char *path = g_build_filename(g_getenv("SLUBSIM_SCENARIOS"), "mmap1-laptop2.scenario", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimPlan) plan = sim_plan_load(world_schema(), path, sets, NULL, &error);
    g_autoptr(SimRecord) record = sim_record_new();
    SimRunInput input = {.seed = 5, .start = "cold"};
    double operations, allocs, frees;

    g_assert_no_error(error);
    input.config = sim_plan_config(plan, 0);
    g_assert_true(world_run(&input, record, &error));
    g_assert_no_error(error);
    g_assert_true(sim_record_find_metric(record, "operations", &operations));
    g_assert_cmpfloat(operations, >, 5000);
    allocs = (double) (counter(record, t->cache, "alloc_fastpath") + counter(record, t->cache, "alloc_slowpath"));
    frees = (double) (counter(record, t->cache, "free_fastpath") + counter(record, t->cache, "free_slowpath"));
    g_test_message("%s %s %s: %g allocations, %g frees an iteration", t->kernel, t->leaf, t->cache, allocs / operations,
                   frees / operations);
    /* An iteration begun in the window ends outside of it, and the other way round. */
    g_assert_cmpfloat(allocs / operations, >, t->min_allocs - 0.001);
    g_assert_cmpfloat(allocs / operations, <, t->max_allocs + 0.001);
    /* RCU gives back other numbers in a window than were taken in it: one grace period's worth of two. */
    g_assert_cmpfloat(frees / operations, >, t->min_frees * 0.75);
    g_assert_cmpfloat(frees / operations, <, t->max_frees * 1.25);
}

int
main(int argc, char **argv)
{
    sim_gsl_init();
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(traffic); i++) {
        g_autofree char *name = g_strdup_printf("/mmap1/traffic/%s/%s/%s", traffic[i].kernel, traffic[i].leaf,
                                                traffic[i].cache);
        g_test_add_data_func(name, &traffic[i], test_traffic);
    }
    return g_test_run();
}
