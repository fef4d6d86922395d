/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-world.h"

#include <string.h>

/* Debug caches: what they cost by the byte, which locks they take, and that they leave others alone. */

static double
pair_ns(const char *settings)
{
    g_autofree char *all = g_strconcat("run.warmup=1 ms;run.duration=10 ms;", settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("microbench", all);

    return test_world_metric(test, "pair_ns");
}

/* One object at a time off a slab that stays listed. Of 6.1, F, Z and P touch 88 bytes of a 64-byte object (72 with the
 * right red zone, 8 between, 8 of left padding) and 1144 of a 1120-byte one. F and P look at the rest of the slab in
 * every call too: 64 bytes behind 42 objects of 96, 512 behind 28 of 1152, with U 96 behind 25 of 160. */
static void
test_bytes(void)
{
#define SINGLE "kernel.version=6.1;costs.check_byte=0.12 ns;costs.memset_byte=0.04 ns;costs.debug_track=1500 ns;"
    double small = pair_ns(SINGLE "slub.debug=FZP"),
           large = pair_ns(SINGLE "slub.debug=FZP;workload.bench_cache=bench_1120");
    double fill = pair_ns(SINGLE "slub.debug=ZP"), tracked = pair_ns(SINGLE "slub.debug=FZPU");

    g_assert_cmpfloat_with_epsilon(large - small, 2 * ((1144 - 88) * (0.12 + 0.04) + (512 - 64) * 0.12), 0.1);
    g_assert_cmpfloat_with_epsilon(small - fill, 2 * (88 + 64) * 0.12, 0.1);
    g_assert_cmpfloat_with_epsilon(tracked - small, 2 * (1500 + (96 - 64) * 0.12), 0.5);
}

/* What a call looks at once more when each byte takes 0.38 ns longer, from the geometry of the caches: the stride but
 * for the free pointer, and the rest of the slab. One of two calls is an allocation, the other a free. */
static double
checked_bytes(const World *world, const char *name)
{
    const SlabGeometry *g = &world_cache(world, name)->geometry;

    return g->size_bytes - 8 + (4096 << g->order) - g->objects * g->size_bytes;
}

static double
compile_ns(const char *check_byte, double *ret_checked_bytes)
{
    g_autofree char *all = g_strconcat("kernel.version=5.10;run.duration=3 s;workload.compile_interval=20 us;"
                                       "slub.debug=FZP;costs.check_byte=",
                                       check_byte, NULL);
    g_autoptr(TestWorld) test = test_world_finished("compile", all);

    *ret_checked_bytes = 0.45 * checked_bytes(&test->world, "names_cache") +
                         0.27 * checked_bytes(&test->world, "vm_area_struct") +
                         0.28 * checked_bytes(&test->world, "kmalloc-32");
    return 3e9 / (double) test_world_operations(test);
}

static void
test_compile(void)
{
    double checked, words, bytes;

    words = compile_ns("0.12 ns [0.1 ns .. 1 ns] words", &checked);
    bytes = compile_ns("0.5 ns [0.1 ns .. 1 ns] bytes", &checked);
    g_assert_cmpfloat(checked, >, 0.45 * 2 * 4096 * 0.5);
    g_assert_cmpfloat_with_epsilon((bytes - words) / (2 * checked * 0.38), 1, 0.05);
}

static guint64
acquisitions(const SlubCache *cache)
{
    guint64 n = 0;

    for (guint site = 0; site < SLUB_N_LOCK_SITES; site++)
        n += cache->node[0].list_lock.sites[site].acquisitions;
    return n;
}

/* From 6.1 one list_lock an allocation and one a free, whether the slab is new, partial, filled or emptied; also where
 * others have sheaves, and where nobody has a cpu slab. */
static void
check_locks(const char *settings)
{
    g_autofree char *all =
        g_strconcat("machine.sockets=1;slub.debug=P;workload.batch=1000;run.duration=20 ms;", settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("microbench", all);
    const SlubCache *cache = world_cache(&test->world, "bench_64");

    g_assert_null(cache->sheaves);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FASTPATH), ==, 0);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_FASTPATH), ==, 0);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FROM_PARTIAL), ==, 0);
    g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_SLAB), >, 0);
    g_assert_cmpuint(acquisitions(cache), ==,
                     test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH) +
                         test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH));
}

static void
test_locks(void)
{
    static const char *const settings[] = {
        "kernel.version=6.1",
        "kernel.version=6.12",
        "kernel.version=6.18;slub.sheaves=on",
        "kernel.version=6.19;slub.sheaves=on;slub.cpu_slab=off",
        "kernel.version=7.0",
        "kernel.version=7.1",
        "kernel.version=5.10;slub.cpu_slab=off",
    };

    for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
        check_locks(settings[i]);
}

/* What activates a slab needs a cpu slab. */
static void
test_refusals(void)
{
    static const char *const refused[] = {
        "kernel.version=7.0;slub.debug_path=activate",
        "kernel.version=7.1;slub.debug_path=cpu-partial",
        "kernel.version=6.12;slub.cpu_slab=off;slub.debug_path=activate",
    };

    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        SimPlan *plan = test_world_plan("microbench", refused[i]);
        g_autoptr(GError) error = NULL;

        g_assert_false(world_check(sim_plan_config(plan, 0), &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
        g_assert_nonnull(strstr(error->message, "debug_path"));
        sim_plan_free(plan);
    }
}

/* SEED3: one CPU, hackbench -g 20: skipping the activation gives back the larger part. */
static void
test_ideas_of_2016(void)
{
#define HACK                                                                                                           \
    "machine.sockets=1;machine.cores_per_l3=1;kernel.version=5.10;workload.groups=20;run.warmup=300 ms;"               \
    "run.duration=300 ms"
    static const char *const settings[] = {HACK, HACK ";slub.debug=P;slub.debug_path=single",
                                           HACK ";slub.debug=P;slub.debug_path=activate"};
    guint64 n[3];

    for (guint i = 0; i < 3; i++) {
        g_autoptr(TestWorld) test = test_world_finished("hackbench", settings[i]);
        n[i] = test->world.cpu[0].operations_at_end - test->world.cpu[0].operations_at_warmup;
    }
    g_test_message("off %" G_GUINT64_FORMAT ", single %" G_GUINT64_FORMAT ", activating %" G_GUINT64_FORMAT, n[0], n[1],
                   n[2]);
    g_assert_cmpuint(n[0], >, n[1] + n[0] / 20);
    g_assert_cmpuint(n[1], >, n[2] + n[0] / 20);
}

/* Without debug flags the choice of a path is no choice: the same events at the same times. */
static void
test_others_unchanged(void)
{
    static const char *const paths[] = {"auto", "activate", "single", "cpu-partial"};
    static const char *const names[] = {"hackbench", "mmap1"};
    static const char *const settings[] = {"workload.groups=2", "workload.processes=8"};

    for (guint w = 0; w < 2; w++) {
        guint64 fingerprint = 0;

        for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
            g_autofree char *all =
                g_strconcat("kernel.version=6.5;run.duration=5 ms;", settings[w], ";slub.debug_path=", paths[i], NULL);
            g_autoptr(TestWorld) test = test_world_finished(names[w], all);

            if (i > 0)
                g_assert_cmpuint(test->world.machine->engine->fingerprint, ==, fingerprint);
            fingerprint = test->world.machine->engine->fingerprint;
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/debug-caches/bytes", test_bytes);
    g_test_add_func("/debug-caches/compile", test_compile);
    g_test_add_func("/debug-caches/locks", test_locks);
    g_test_add_func("/debug-caches/refusals", test_refusals);
    g_test_add_func("/debug-caches/ideas-of-2016", test_ideas_of_2016);
    g_test_add_func("/debug-caches/others-unchanged", test_others_unchanged);
    return g_test_run();
}
