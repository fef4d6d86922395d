/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contention.h"
#include "test-world.h"

/* Prints everything that can be told about contended runs of each generation under each lock discipline. Built twice,
 * once with SIM_QUEUE_EVERY_OPERATION; test-run-ahead compares the two outputs. */

static const char *const lock_kinds[] = {"qspinlock", "ticket", "cna"};
static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 1), SLAB_KERNEL(6, 8), SLAB_KERNEL(6, 12),
                                SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0), SLAB_KERNEL(7, 1)};

typedef enum { PLAIN, CPU_PARTIAL, SHEAVES, DEBUG, N_VARIANTS } Variant;

static const char *const variant_names[N_VARIANTS] = {"plain", "cpu partial list", "sheaves", "debug"};

static gboolean
is_possible(guint kernel, Variant variant)
{
    return (variant != CPU_PARTIAL || kernel < SLAB_KERNEL(7, 0)) &&
           (variant != SHEAVES || kernel >= SLAB_KERNEL(6, 18));
}

static void
print_contention(const TestMachine *test, guint kernel, Variant variant)
{
    /* In 6.18 sheaves lie above a cpu slab and its list. */
    gboolean has_cpu_partial = kernel < SLAB_KERNEL(7, 0) && (variant == CPU_PARTIAL || variant == SHEAVES);
    ContentionLoad load = {
        .kernel = kernel,
        .objects = 3,
        .sheaf_capacity = variant == SHEAVES ? 3 : 0,
        .debug_flags = variant == DEBUG ? SLAB_POISON | SLAB_CONSISTENCY_CHECKS | SLAB_STORE_USER : 0,
        .min_partial = 5,
        .cpu_partial = has_cpu_partial ? 6 : 0,
        .cpu_partial_slabs = has_cpu_partial ? 4 : 0,
        .has_cpu_partial = has_cpu_partial,
        .with_bulk = TRUE,
        .with_nodes = TRUE,
        .with_flush = TRUE,
        .n_operations = 1500,
        .n_own_max = 40,
    };
    Contention *c = contention_run(test, &load, 1);
    g_autofree char *digest = NULL;

    contention_free_all(c);
    digest = contention_digest(c);
    g_print("%u.%u, %s\n%s", kernel / 1000, kernel % 1000, variant_names[variant], digest);
    contention_end(c);
}

static void
print_all_contention(const char *lock_kind)
{
    g_autofree char *text = g_strdup_printf("[machine]\nsockets = 2\nl3_per_node = 2\ncores_per_l3 = 3\nlock = %s\n"
                                            "tick = 0.1 ms\ngrace_period = 0.3 ms\n",
                                            lock_kind);
    TestMachine test;

    test_machine_init(&test, text);
    for (guint k = 0; k < G_N_ELEMENTS(kernels); k++)
        for (guint variant = 0; variant < N_VARIANTS; variant++)
            if (is_possible(kernels[k], variant))
                print_contention(&test, kernels[k], variant);
    test_machine_clear(&test);
}

/* Workloads with what only a world brings together: accounting, its arrays in other caches, debug flags, sheaves. */
#define MACHINE                                                                                                        \
    "machine.sockets=2;machine.cores_per_l3=4;machine.tick=1 ms;machine.grace_period=1 ms;run.warmup=1 ms;"            \
    "run.duration=6 ms;"
#define MMAP1 MACHINE "workload.processes=8;"
#define HACKBENCH MACHINE "workload.groups=2;workload.fds=3;"
#define BOOT MACHINE "kernel.version=6.5;workload.boot_run_compute=500 us;workload.boot_link_compute=20 us;"
#define LATENCY MACHINE "workload.load_cpus=4;workload.flush_period=1 ms;workload.slabinfo_period=1 ms;"

static const struct {
    const char *workload, *settings;
} worlds[] = {
    {"mmap1", MMAP1 "kernel.version=6.5;memcg.mode=user"},
    {"mmap1", MMAP1 "kernel.version=6.18;memcg.mode=user;memcg.groups=3"},
    {"mmap1", MMAP1 "kernel.version=6.18;memcg.mode=user;slub.debug=PU,maple_node"},
    {"mmap1", MMAP1 "kernel.version=7.0;slub.debug=FZPU"},
    {"hackbench", HACKBENCH "kernel.version=6.1;memcg.mode=user"},
    {"hackbench", HACKBENCH "kernel.version=6.12;memcg.mode=user;slub.debug=P"},
    {"hackbench", HACKBENCH "kernel.version=6.12;slub.debug=P;slub.debug_path=activate"},
    {"hackbench", HACKBENCH "kernel.version=6.18;memcg.mode=user;slub.sheaves=on"},
    {"hackbench", HACKBENCH "kernel.version=6.18;slub.cpu_slab=off;slub.sheaves=on;slub.debug=P,skbuff_head_cache"},
    {"hackbench", HACKBENCH "kernel.version=7.1"},
    {"mmap1", MMAP1 "kernel.version=6.1;cache maple_node.array_capacity=8"},
    {"boot", BOOT "cache maple_node.array_capacity=8;workload.tree_nodes=prefill"},
    {"boot", BOOT "slub.bulk_stats=objects"},
    {"compile", MACHINE "kernel.version=5.10;workload.compile_jobs=8;slub.debug=FZPU"},
    {"latency", LATENCY "kernel.version=5.10"},
    {"latency", LATENCY "kernel.version=6.12;run.latency=true"},
    {"latency", LATENCY "kernel.version=7.0"},
};

static void
print_world(const char *workload, const char *settings)
{
    g_autoptr(TestWorld) test = test_world_new(workload, settings, 1);
    const World *world = &test->world;

    test_world_start(test);
    test_world_run(test);
    g_print("%s, %s\n", workload, settings);
    for (guint i = 0; i < world->slub->n_caches; i++) {
        const SlubCache *cache = world->slub->cache[i];

        g_print("%s: %" G_GINT64_FORMAT " objects, stats", cache->name, test_world_objects(cache));
        for (guint stat = 0; stat < SLAB_N_STATS; stat++)
            g_print(" %" G_GUINT64_FORMAT, test_world_stat(cache, stat));
        for (guint n = 0; n < world->topology->n_nodes; n++)
            for (guint site = 0; site < SLUB_N_LOCK_SITES; site++)
                g_print(" %" G_GINT64_FORMAT, cache->node[n].list_lock.sites[site].wait_ps);
        g_print("\n");
    }
    for (guint stat = 0; world->memcg && stat < MEMCG_N_STATS; stat++)
        g_print("%s %" G_GUINT64_FORMAT "\n", memcg_stat_name(stat), memcg_stat(world->memcg, stat));
    g_print("events %" G_GUINT64_FORMAT ", fingerprint %016" G_GINT64_MODIFIER "x\n", world->machine->engine->n_events,
            world->machine->engine->fingerprint);
}

int
main(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(lock_kinds); i++)
        print_all_contention(lock_kinds[i]);
    for (guint i = 0; i < G_N_ELEMENTS(worlds); i++)
        print_world(worlds[i].workload, worlds[i].settings);
    return 0;
}
