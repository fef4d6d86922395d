/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole simulations in tournament holds per object operation: what a simulated kmem_cache_alloc or kmem_cache_free
 * costs beside one event of a bare tournament tree of 256 agents. */
#include <string.h>

#include "bench.h"
#include "sim-gsl.h"
#include "sim-plan.h"
#include "world.h"

enum
{
    HOLD_SLOTS = 256,
    N_HOLDS = 2000000,
};

typedef struct
{
    SimTree tree;
    guint64 state;
} Tournament;

/* The tree that bench-queue holds against others and against its bare copy. */
static void
hold(void *data)
{
    Tournament *t = data;

    for (guint i = 0; i < N_HOLDS; i++) {
        t->state = t->state * 6364136223846793005u + 1442695040888963407u;
        sim_tree_set(&t->tree, sim_tree_min_slot(&t->tree), sim_tree_min_key(&t->tree) + 1 + (SimTime) (t->state >> 44));
    }
}

typedef struct
{
    const SimConfig *config;
    guint64 n_operations;
} Simulation;

static void
simulate(void *data)
{
    Simulation *simulation = data;
    const SimRunInput input = {.config = simulation->config, .seed = 1, .start = "cold"};
    g_autoptr(SimRecord) record = sim_record_new();
    g_autoptr(GError) error = NULL;
    double n;

    if (!world_run(&input, record, &error))
        g_error("%s", error->message);
    g_assert_true(sim_record_find_metric(record, "operations", &n));
    simulation->n_operations = (guint64) n;
}

typedef struct
{
    const char *name, *scenario, *set[6];
    double objects_per_operation; /* allocations and frees */
    double goal;
} Case;

static const Case cases[] = {
    /* Linux 6.5: 11 allocations and 11 frees an iteration (slub-facts F.2). */
    {"mmap1, 224 CPUs, base", "mmap1-spr224", {"workload.processes=224", "run.warmup=0s", "run.duration=20ms"}, 22, 1.2},
    {"mmap1, one process, uncontended", "mmap1-spr224", {"workload.processes=1", "run.warmup=0s", "run.duration=2s"}, 22,
     0.4},
    /* Two objects a message. */
    {"hackbench, 224 CPUs, 128 groups", "hackbench-spr224", {"run.warmup=0s", "run.duration=60ms"}, 4, 3},
};

int
main(void)
{
    Tournament tournament = {.state = 1};

    sim_gsl_init();
    sim_tree_init(&tournament.tree, HOLD_SLOTS);
    for (guint32 i = 0; i < HOLD_SLOTS; i++)
        sim_tree_set(&tournament.tree, i, i);
    bench_print_head("object operations, in bare holds of 256");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        g_autofree char *file = g_strconcat(c->scenario, SIM_SCENARIO_SUFFIX, NULL);
        g_autofree char *path = g_build_filename(world_schema()->scenarios_dir, file, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(SimPlan) plan = sim_plan_load(world_schema(), path, c->set, NULL, &error);
        Simulation simulation;
        double best = G_MAXDOUBLE, reference = G_MAXDOUBLE;

        if (!plan)
            g_error("%s", error->message);
        simulation.config = sim_plan_config(plan, 0);
        for (guint round = 0; round < 3; round++) {
            double ns = bench_once_ns(simulate, &simulation);

            best = MIN(best, ns / ((double) simulation.n_operations * c->objects_per_operation));
            reference = MIN(reference, bench_once_ns(hold, &tournament) / N_HOLDS);
        }
        bench_print_row(c->name, "ns", best, reference, c->goal);
    }
    sim_tree_clear(&tournament.tree);
    return 0;
}
