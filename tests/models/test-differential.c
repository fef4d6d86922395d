/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "differential.h"
#include "slab-types.h"

/* Long random operation sequences on the allocator and on the reference. A test case is one kernel release on one
 * machine; it goes through every combination of the settings below. */

enum {
    KEEP_FULL = 3, /* slabs' worth of objects beyond what the node lists may keep */
    SHEAVES_OF_A_NODE = 12,
    OPERATIONS_MIN = 900,
};

static const guint kernels[] = {
    SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 14), SLAB_KERNEL(5, 15), SLAB_KERNEL(5, 17), SLAB_KERNEL(5, 19),
    SLAB_KERNEL(6, 0),  SLAB_KERNEL(6, 1),  SLAB_KERNEL(6, 5),  SLAB_KERNEL(6, 6),  SLAB_KERNEL(6, 8),
    SLAB_KERNEL(6, 9),  SLAB_KERNEL(6, 10), SLAB_KERNEL(6, 12), SLAB_KERNEL(6, 14), SLAB_KERNEL(6, 18),
    SLAB_KERNEL(6, 19), SLAB_KERNEL(7, 0),  SLAB_KERNEL(7, 1),
};

static const struct {
    const char *name, *text;
} machines[] = {
    {"one-node", "[machine]\nsockets = 1\ncores_per_l3 = 3\n"},
    {"two-nodes", "[machine]\nsockets = 2\ncores_per_l3 = 2\n"},
    {"four-nodes", "[machine]\nsockets = 2\nnodes_per_socket = 2\ncores_per_l3 = 1\nthreads_per_core = 2\n"},
    {"memoryless", "[machine]\nsockets = 2\nnodes_per_socket = 2\ncores_per_l3 = 1\nmemoryless_nodes = 1\n"
                   "memory_ids = nearest\n"},
    {"memoryless-x86", "[machine]\nsockets = 2\nnodes_per_socket = 2\ncores_per_l3 = 1\nmemoryless_nodes = 1\n"},
};

static const guint objects_per_slab[] = {1, 2, 3, 16, 64};
static const guint min_partials[] = {0, 1, 5, 64};
static const guint sheaf_capacities[] = {0, 1, 3, 12, 32, 60}; /* from 6.18 on */

typedef enum {
    CPU_PARTIAL_NONE,
    CPU_PARTIAL_ZERO,
    CPU_PARTIAL_DEFAULT,
    CPU_PARTIAL_FOURFOLD,
    N_CPU_PARTIALS
} CpuPartial;

typedef struct {
    guint kernel, machine;
} Case;

typedef struct {
    Differential *d;
    SimRng rng;
    guint n_cpus, n_nodes, cpu;
    guint target; /* live objects at which growth turns into decline */
    gboolean is_growing;
    /* What kind of load this round is, in percent. */
    guint stay, newest, with_node, bulk, rare, by_rcu, prefill;
    guint prefill_max, array_max;
    gboolean can_starve;
    const MachTopology *topology;
} Load;

static guint
below(Load *load, guint n)
{
    return (guint) sim_rng_below(&load->rng, n);
}

static gboolean
percent(Load *load, guint chance)
{
    return below(load, 100) < chance;
}

static guint
pick_number(Load *load)
{
    guint n_live = differential_n_live(load->d);

    return percent(load, load->newest) ? n_live - 1 : below(load, n_live);
}

/* Neighbours in age with some left out: groups of a few slabs, mixed. */
static void
free_bulk(Load *load)
{
    guint numbers[DIFFERENTIAL_BULK_MAX];
    guint n_live = differential_n_live(load->d), n = 0;
    guint n_wanted = 1 + below(load, DIFFERENTIAL_BULK_MAX), skip = below(load, 80);
    guint from = below(load, n_live);

    for (guint number = from; number < n_live && n < n_wanted; number++)
        if (!percent(load, skip))
            numbers[n++] = number;
    for (guint swaps = percent(load, 50) ? n / 3 : 0; swaps > 0; swaps--) {
        guint a = below(load, n), b = below(load, n), kept = numbers[a];

        numbers[a] = numbers[b];
        numbers[b] = kept;
    }
    differential_free_bulk(load->d, load->cpu, n, numbers);
}

static void
do_rare(Load *load)
{
    guint node = below(load, load->n_nodes);

    switch (below(load, 5)) {
    case 0:
        differential_flush_cpu(load->d, load->cpu);
        break;
    case 2:
        differential_shrink(load->d, load->cpu);
        break;
    case 3:
        /* The first node with memory stays fed. */
        if (load->can_starve && load->topology->node_memory_bytes[node] && node != load->topology->zonelist[0])
            differential_starve(load->d, node, percent(load, 60));
        break;
    case 4:
        differential_run_rcu(load->d, load->cpu);
        break;
    }
}

/* A prefilled sheaf is asked for, used, or given back. */
static void
do_prefill(Load *load)
{
    guint n_held = differential_n_held(load->d), number = n_held ? below(load, n_held) : 0;

    if (n_held == 0 || (n_held < 6 && percent(load, 20)))
        differential_prefill(load->d, load->cpu, 1 + below(load, load->prefill_max));
    else if (percent(load, 70))
        differential_alloc_held(load->d, load->cpu, number);
    else
        differential_return(load->d, load->cpu, number);
}

static void
free_one(Load *load)
{
    guint number = pick_number(load);

    if (percent(load, load->by_rcu))
        differential_free_rcu(load->d, load->cpu, number);
    else
        differential_free_object(load->d, load->cpu, number);
}

static void
alloc_one(Load *load)
{
    gint node = percent(load, load->with_node) ? (gint) below(load, load->n_nodes) : SLUB_NO_NODE;

    if (percent(load, 90))
        differential_alloc(load->d, load->cpu, node);
    else
        differential_alloc_atomic(load->d, load->cpu, node);
}

static void
do_operation(Load *load)
{
    guint n_live = differential_n_live(load->d);

    if (!percent(load, load->stay))
        load->cpu = below(load, load->n_cpus);
    if (n_live >= load->target)
        load->is_growing = FALSE;
    else if (n_live == 0)
        load->is_growing = TRUE;
    if (below(load, 10000) < load->rare)
        do_rare(load);
    else if (percent(load, load->prefill))
        do_prefill(load);
    else if (load->array_max && percent(load, 5))
        differential_prefill_array(load->d, load->cpu, 1 + below(load, load->array_max));
    else if (n_live == 0 || percent(load, load->is_growing ? 66 : 34)) {
        if (percent(load, load->bulk))
            differential_alloc_bulk(load->d, load->cpu, 1 + below(load, DIFFERENTIAL_BULK_MAX));
        else
            alloc_one(load);
    } else if (percent(load, load->bulk)) {
        free_bulk(load);
    } else {
        free_one(load);
    }
}

/* In the middle of some rounds the limits change, as by a write to sysfs. */
static void
change_limits(Load *load, const DifferentialSettings *settings)
{
    if (settings->has_cpu_partial && percent(load, 30))
        differential_set_cpu_partial(load->d, load->cpu, below(load, 40), below(load, 6));
}

static void
choose_load(Load *load, const DifferentialSettings *settings)
{
    static const guint percents[] = {0, 10, 50, 90};

    load->stay = percents[below(load, 4)];
    load->newest = percents[below(load, 4)];
    load->with_node = percents[below(load, 3)];
    load->bulk = percent(load, 50) ? 0 : 20;
    load->rare = percent(load, 30) ? 0 : 60;
    load->target = settings->objects * (settings->min_partial * load->n_nodes + settings->cpu_partial_slabs / 2 +
                                        KEEP_FULL * load->n_cpus) +
                   settings->sheaf_capacity * (SHEAVES_OF_A_NODE * load->n_nodes + 2 * load->n_cpus);
    load->array_max = settings->array_capacity ? settings->array_capacity + 2 : 0;
    if (settings->kernel >= SLAB_KERNEL(6, 18)) {
        load->by_rcu = percents[below(load, 4)];
        load->prefill = percent(load, 50) ? 0 : 10;
        load->prefill_max = settings->sheaf_capacity + 8;
    }
}

static void
run_round(const TestMachine *test, const DifferentialSettings *settings, const char *name, guint64 seed,
          DifferentialTotals *totals)
{
    Load load = {
        .d = differential_new(test, settings, name, seed),
        .topology = test->topology,
        .n_cpus = test->topology->n_cpus,
        .n_nodes = test->topology->n_nodes,
        .can_starve = settings->fallback_chance == 0,
    };
    guint n_operations;

    sim_rng_init(&load.rng, seed, 0, name, "load");
    choose_load(&load, settings);
    n_operations = OPERATIONS_MIN + 8 * MIN(load.target, 400);
    for (guint i = 0; i < n_operations; i++) {
        if (i == n_operations / 2)
            change_limits(&load, settings);
        do_operation(&load);
    }
    differential_compare_all(load.d);
    differential_add_totals(load.d, totals);
    differential_free(load.d);
}

/* Limits of a 256-byte cache: 13 objects to 5.15, 52 after (slub-facts A.7). */
static void
set_cpu_partial(DifferentialSettings *settings, CpuPartial what)
{
    guint objects = settings->kernel < SLAB_KERNEL(5, 16) ? 13 : 52;

    if (settings->kernel >= SLAB_KERNEL(7, 0) || !settings->layers.has_cpu_slab)
        return;
    settings->has_cpu_partial = what != CPU_PARTIAL_NONE;
    settings->cpu_partial = what < CPU_PARTIAL_DEFAULT ? 0 : what == CPU_PARTIAL_DEFAULT ? objects : 4 * objects;
    settings->cpu_partial_slabs = (2 * settings->cpu_partial + settings->objects - 1) / settings->objects;
}

/* From 6.18 on: the capacities in turn, and the what-ifs now and then. */
static void
set_sheaves(DifferentialSettings *settings, guint round)
{
    settings->layers = (SlubLayers){TRUE, SLUB_REFILL_TRYLOCK, FALSE};
    if (settings->kernel < SLAB_KERNEL(6, 18))
        return;
    settings->sheaf_capacity = sheaf_capacities[round % G_N_ELEMENTS(sheaf_capacities)];
    settings->layers.has_cpu_slab = round % 7 != 3;
    if (round % 8 > 4)
        settings->layers.refill = round % 8 == 5 ? SLUB_REFILL_LOCAL : SLUB_REFILL_SPIN;
    settings->layers.remote_frees_to_sheaf = round % 9 == 7;
}

/* Every path of sheaves has been taken, or nothing has been compared there. The what-if without a cpu slab brings the
 * list_lock's new call sites to 6.18 too. */
static void
check_sheaf_totals(const Case *c, const DifferentialTotals *totals)
{
    gboolean has_nodes = c->machine > 0;

    for (guint stat = SLAB_FIRST_SHEAF_STAT; stat < SLAB_FIRST_ARRAY_STAT; stat++) {
        gboolean is_gone =
            c->kernel >= SLAB_KERNEL(7, 0) && (stat == SLAB_STAT_ALLOC_PCS || stat == SLAB_STAT_FREE_PCS);
        gboolean is_later = c->kernel < SLAB_KERNEL(7, 0) && stat == SLAB_STAT_FREE_RCU_SHEAF_FAIL;

        g_assert_cmpint(totals->stat[stat] > 0, ==, !is_gone && !is_later);
    }
    for (guint site = 0; site < SLUB_N_BARN_SITES; site++)
        if (site != SLUB_BARN_PUT_EMPTY || c->kernel < SLAB_KERNEL(7, 0))
            g_assert_cmpuint(totals->barn_site[site], >, 0);
    for (guint site = SLUB_FIRST_DIRECT_SITE; site < SLUB_N_LOCK_SITES; site++)
        if (has_nodes || (site != SLUB_LOCK_FROM_ANY && site != SLUB_LOCK_REFILL_ANY))
            g_assert_cmpuint(totals->list_site[site], >, 0);
}

static void
test_case(gconstpointer data)
{
    const Case *c = data;
    guint round = 0;
    DifferentialTotals totals = {{0}, {0}, {0}};
    TestMachine test;

    test_machine_init(&test, machines[c->machine].text);
    for (guint o = 0; o < G_N_ELEMENTS(objects_per_slab); o++)
        for (guint m = 0; m < G_N_ELEMENTS(min_partials); m++)
            for (guint p = 0; p < N_CPU_PARTIALS; p++, round++) {
                DifferentialSettings settings = {
                    .kernel = c->kernel,
                    .objects = objects_per_slab[o],
                    .fallback_objects = MAX(objects_per_slab[o] / 2, 1),
                    .min_partial = min_partials[m],
                    .fallback_chance = round % 3 == 0 ? 0.25 : 0,
                    .defrag_percent = round % 5 == 0   ? 0
                                      : round % 5 == 1 ? 50
                                                       : 100,
                };
                g_autofree char *name = NULL;

                set_sheaves(&settings, round);
                set_cpu_partial(&settings, p);
                name = g_strdup_printf("%u.%u on %s: %u objects, min_partial %u, cpu_partial %u (%u slabs)%s, sheaf %u",
                                       c->kernel / 1000, c->kernel % 1000, machines[c->machine].name, settings.objects,
                                       settings.min_partial, settings.cpu_partial, settings.cpu_partial_slabs,
                                       settings.has_cpu_partial ? "" : " not supported", settings.sheaf_capacity);
                run_round(&test, &settings, name, 1, &totals);
            }
    if (c->kernel >= SLAB_KERNEL(6, 18))
        check_sheaf_totals(c, &totals);
    test_machine_clear(&test);
}

/* Every call site of a debug cache's list_lock without a cpu slab. Single objects are never refilled with, nor isolated. */
static void
check_debug_totals(const Case *c, const DifferentialTotals *totals)
{
    g_assert_cmpuint(totals->list_site[SLUB_LOCK_DEBUG_NEW], >, 0);
    g_assert_cmpuint(totals->list_site[SLUB_LOCK_DEBUG_FREE], >, 0);
    g_assert_cmpuint(totals->list_site[SLUB_LOCK_SLAB_FREE], ==, 0);
    g_assert_cmpuint(totals->list_site[SLUB_LOCK_FROM_PARTIAL], >, 0);
    g_assert_cmpint(totals->list_site[SLUB_LOCK_FROM_ANY] > 0, ==, c->machine > 0);
    g_assert_cmpint(totals->list_site[SLUB_LOCK_GET_PARTIAL_NODE] > 0, ==, c->kernel < SLAB_KERNEL(7, 0));
    for (guint site = SLUB_LOCK_NEW_SLAB; site < SLUB_N_LOCK_SITES; site++)
        g_assert_cmpuint(totals->list_site[site], ==, 0);
    g_assert_cmpuint(totals->stat[SLAB_STAT_SHEAF_ALLOC], ==, 0);
    g_assert_cmpuint(totals->stat[SLAB_STAT_ALLOC_FASTPATH], ==, 0);
}

/* Debug caches: single objects on every release and, from 6.18 on, without a cpu slab; activation up to 6.6, with and
 * without a cpu partial list. */
static void
test_debug(gconstpointer data)
{
    const Case *c = data;
    gboolean may_lack_cpu_slab = c->kernel >= SLAB_KERNEL(6, 18);
    DifferentialTotals totals = {{0}, {0}, {0}};
    guint round = 0;
    TestMachine test;

    test_machine_init(&test, machines[c->machine].text);
    for (guint o = 0; o < G_N_ELEMENTS(objects_per_slab); o++)
        for (guint m = 0; m < G_N_ELEMENTS(min_partials); m++)
            for (guint path = 0; path < 3; path++, round++) {
                DifferentialSettings settings = {
                    .kernel = c->kernel,
                    .objects = objects_per_slab[o],
                    .fallback_objects = MAX(objects_per_slab[o] / 2, 1),
                    .min_partial = min_partials[m],
                    .debug = path == 0 || may_lack_cpu_slab ? DIFFERENTIAL_SINGLE : DIFFERENTIAL_ACTIVATE,
                    .store_user = round % 2,
                    .fallback_chance = round % 4 == 0 ? 0.25 : 0,
                    .defrag_percent = round % 5 == 0 ? 0 : 100,
                    .layers = {.has_cpu_slab = path == 0 || !may_lack_cpu_slab},
                };
                g_autofree char *name = NULL;

                if (path > 0 && c->kernel > SLAB_KERNEL(6, 6) && !(path == 1 && may_lack_cpu_slab))
                    continue;
                if (path == 2)
                    set_cpu_partial(&settings, CPU_PARTIAL_DEFAULT);
                name = g_strdup_printf("debug path %u, %u.%u on %s: %u objects, min_partial %u", path,
                                       c->kernel / 1000, c->kernel % 1000, machines[c->machine].name, settings.objects,
                                       settings.min_partial);
                run_round(&test, &settings, name, 2, &totals);
            }
    if (may_lack_cpu_slab)
        check_debug_totals(c, &totals);
    test_machine_clear(&test);
}

/* Per-CPU arrays above each kind of cpu slab. */
static void
test_arrays(gconstpointer data)
{
    static const guint capacities[] = {1, 4, 32};
    const Case *c = data;
    DifferentialTotals totals = {{0}, {0}, {0}};
    guint round = 0;
    TestMachine test;

    test_machine_init(&test, machines[c->machine].text);
    for (guint o = 0; o < G_N_ELEMENTS(objects_per_slab); o++)
        for (guint i = 0; i < G_N_ELEMENTS(capacities); i++, round++) {
            DifferentialSettings settings = {
                .kernel = c->kernel,
                .objects = objects_per_slab[o],
                .fallback_objects = MAX(objects_per_slab[o] / 2, 1),
                .min_partial = min_partials[round % G_N_ELEMENTS(min_partials)],
                .defrag_percent = 100,
                .array_capacity = capacities[i],
                .layers = {.has_cpu_slab = TRUE},
            };
            g_autofree char *name = NULL;

            set_cpu_partial(&settings, round % N_CPU_PARTIALS);
            name = g_strdup_printf("%u.%u on %s: %u objects, array of %u", c->kernel / 1000, c->kernel % 1000,
                                   machines[c->machine].name, settings.objects, settings.array_capacity);
            run_round(&test, &settings, name, 3, &totals);
        }
    g_assert_cmpuint(totals.stat[SLAB_STAT_ALLOC_PCA], >, 0);
    g_assert_cmpuint(totals.stat[SLAB_STAT_FREE_PCA], >, 0);
    test_machine_clear(&test);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(kernels); k++)
        for (guint m = 0; m < G_N_ELEMENTS(machines); m++) {
            g_autofree char *path =
                g_strdup_printf("/differential/%u.%u/%s", kernels[k] / 1000, kernels[k] % 1000, machines[m].name);
            Case *c = g_new(Case, 1);

            *c = (Case){kernels[k], m};
            g_test_add_data_func_full(path, c, test_case, g_free);
            g_free(path);
            path = g_strdup_printf("/differential/debug/%u.%u/%s", kernels[k] / 1000, kernels[k] % 1000,
                                   machines[m].name);
            g_test_add_data_func_full(path, g_memdup2(c, sizeof *c), test_debug, g_free);
            if (kernels[k] >= SLAB_KERNEL(6, 18))
                continue;
            g_free(path);
            path = g_strdup_printf("/differential/arrays/%u.%u/%s", kernels[k] / 1000, kernels[k] % 1000,
                                   machines[m].name);
            g_test_add_data_func_full(path, g_memdup2(c, sizeof *c), test_arrays, g_free);
        }
    return g_test_run();
}
