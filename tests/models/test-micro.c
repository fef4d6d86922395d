/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-world.h"

/* The workloads that measure the allocator alone: microbench, kmalloc_accounted, inodes. */

static double
pair_ns(const char *settings)
{
    g_autofree char *all = g_strconcat("run.duration=2 ms;run.warmup=0.2 ms;", settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("microbench", all);

    return test_world_metric(test, "pair_ns");
}

/* Up to a slab's worth a batch stays on the cpu slab: fast paths and nothing else. */
static void
test_fast_path(void)
{
    const char *const batches[] = {"workload.batch=1", "workload.batch=10", "workload.batch=10;workload.shuffled=true"};

    for (guint i = 0; i < G_N_ELEMENTS(batches); i++) {
        g_autofree char *settings = g_strconcat(batches[i], ";costs.alloc_fast=7 ns;costs.free_fast=6 ns;",
                                                "workload.bench_overhead=2 ns", NULL);

        g_assert_cmpfloat_with_epsilon(pair_ns(settings), 15, 0.01);
    }
}

/* Each round gives back all it took, and longer batches cost more. */
static void
test_batches(void)
{
    static const char *const sizes[] = {"bench_64", "bench_96_aligned", "bench_1120"};

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        double last = 0;

        for (guint batch = 10; batch <= 1000; batch *= 10) {
            g_autofree char *settings = g_strdup_printf("run.duration=5 ms;workload.bench_cache=%s;workload.batch=%u;"
                                                        "workload.shuffled=true;workload.bench_threads=3",
                                                        sizes[i], batch);
            g_autoptr(TestWorld) test = test_world_finished("microbench", settings);
            const SlubCache *cache = world_cache(&test->world, sizes[i]);
            guint64 n_pairs = 0;

            for (guint cpu = 0; cpu < 3; cpu++)
                n_pairs += test->world.cpu[cpu].n_operations;
            g_assert_cmpuint(n_pairs % batch, ==, 0);
            g_assert_cmpint(test_world_objects(cache), ==, 0);
            g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FASTPATH) +
                                 test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH),
                             ==, n_pairs);
            g_assert_cmpfloat(test_world_metric(test, "pair_ns"), >, last);
            last = test_world_metric(test, "pair_ns");
        }
    }
}

/* SEED0-01 to -42: the placement is no matter of time; SEED0-43: arrays that nobody needs are, about a tenth. */
static void
test_placement(void)
{
#define EXT "kernel.version=6.17"
    static const char *const loads[] = {
        "workload.bench_cache=bench_64;workload.batch=1000",
        "workload.bench_cache=bench_96_aligned;workload.batch=1000;workload.shuffled=true",
        "workload.bench_cache=bench_1120;workload.batch=100"};
    double always = pair_ns(EXT ";memcg.always_exts=true") / pair_ns(EXT);

    g_test_message("needless arrays: x %.3f", always);
    g_assert_cmpfloat(always, >, 1.05);
    g_assert_cmpfloat(always, <, 1.15);
    for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
        g_autofree char *base = g_strconcat(EXT ";memcg.mode=user;workload.accounted=true;", loads[i], NULL);
        g_autofree char *in_slab = g_strconcat(base, ";memcg.placement=rfc-v2", NULL);

        g_assert_cmpfloat_with_epsilon(pair_ns(in_slab) / pair_ns(base), 1, 0.05);
    }
}

/* A round makes as many slabs as its objects fill, less those kept from the round before (slub-facts F.3). */
static void
test_rounds(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("kmalloc_accounted", "kernel.version=6.6;workload.objects=64000;run.duration=10 ms");
    const SlubCache *cache = world_cache(&test->world, "kmalloc-cg-64");
    guint64 n_rounds = (guint64) test_world_metric(test, "rounds"),
            n_slabs = test_world_stat(cache, SLAB_STAT_ALLOC_SLAB);
    guint kept = cache->min_partial + cache->cpu_partial_slabs + 1;

    g_assert_cmpuint(n_rounds, >, 1);
    g_assert_cmpuint(n_slabs, <=, n_rounds * 1000);
    g_assert_cmpuint(n_slabs, >=, n_rounds * 1000 - (n_rounds - 1) * kept);
    g_assert_cmpint(test_world_objects(cache), ==, 0);
    g_assert_cmpfloat(test_world_metric(test, "alloc_best_ns"), <=, test_world_metric(test, "alloc_mean_ns"));
}

#define WALK "machine.profile=clx96;kernel.version=6.17;memcg.mode=user;run.duration=100 s;workload.filesystem="

static double
saved_bytes(const char *walk, const char *placement)
{
    g_autofree char *in_slab = g_strconcat(walk, ";memcg.placement=", placement, NULL);
    g_autoptr(TestWorld) base = test_world_finished("inodes", walk), changed = test_world_finished("inodes", in_slab);

    g_assert_cmpfloat(test_world_metric(base, "slab_reclaimable_bytes"), ==,
                      test_world_metric(changed, "slab_reclaimable_bytes"));
    return test_world_metric(base, "slab_unreclaimable_bytes") - test_world_metric(changed, "slab_unreclaimable_bytes");
}

/* SEED0-44 to -55 at a tenth of the files. */
static void
test_savings(void)
{
    static const struct {
        const char *walk, *placement;
        double published_bytes, tolerance;
    } rows[] = {
        {WALK "xfs;workload.files=600000", "rfc-v2", 46.06, 0.03},
        {WALK "xfs;workload.files=600000;memcg.profiling=true", "rfc-v2", 96.87, 0.1},
        {WALK "ext4;workload.files=378175", "leftover", 34.07, 0.1},
        {WALK "ext4;workload.files=378175;memcg.profiling=true", "leftover", 63.75, 0.1},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        double saved = saved_bytes(rows[i].walk, rows[i].placement) * 10 / (1024 * 1024);

        g_test_message("%s: %.2f MiB, published %.2f", rows[i].walk, saved, rows[i].published_bytes);
        g_assert_cmpfloat_with_epsilon(saved / rows[i].published_bytes, 1, rows[i].tolerance);
    }
}

static void
test_growth(void)
{
    g_autoptr(TestWorld) test = test_world_finished("inodes", WALK "xfs;workload.files=6000000");
    const SlubCache *inode = world_cache(&test->world, "xfs_inode");

    g_assert_cmpint(test_world_objects(inode), ==, 6000000);
    g_assert_cmpuint(test_world_stat(inode, SLAB_STAT_ALLOC_SLAB), ==, 6000000 / 32);
    g_assert_cmpuint(test_world_stat(world_cache(&test->world, "dentry"), SLAB_STAT_ALLOC_SLAB), ==,
                     (6000000 + 41) / 42);
    g_assert_cmpfloat(test_world_metric(test, "files_cached"), ==, 6000000);
}

/* SEED0-56 to -59: what one slab of inodes is made of. */
static void
test_layout(void)
{
    g_autoptr(TestWorld) ext4 = test_world_finished("inodes", WALK "ext4;workload.files=1000");
    g_autoptr(TestWorld) xfs = test_world_finished("inodes", WALK "xfs;workload.files=1000");

    g_assert_cmpfloat(test_world_metric(ext4, "inode_slab_objects"), ==, 28);
    g_assert_cmpfloat(test_world_metric(ext4, "inode_leftover_bytes"), ==, 736);
    g_assert_cmpfloat(test_world_metric(ext4, "inode_exts_bytes"), ==, 224);
    g_assert_cmpfloat(test_world_metric(xfs, "inode_unaligned_bytes"), ==, 992);
    g_assert_cmpfloat(test_world_metric(xfs, "inode_stride_bytes"), ==, 1024);
}

/* With a limit: no file is lost and the limit holds. */
static void
test_limit(void)
{
    g_autoptr(TestWorld) test =
        test_world_finished("inodes", WALK "ext4;workload.files=300000;workload.walkers=2;"
                                           "workload.files_cached=40000;workload.referenced=0.3");
    double cached = test_world_metric(test, "files_cached");

    g_assert_cmpfloat(cached, <=, 40000);
    g_assert_cmpfloat(cached, >=, 40000 - 2 * 128);
    g_assert_cmpfloat(cached + test_world_metric(test, "files_freed"), ==, 300000);
    g_assert_cmpint(test_world_objects(world_cache(&test->world, "ext4_inode_cache")), ==, (gint64) cached);
}

/* Memory pressure down to a quarter: in order of age whole slabs go, and the more files are kept out of turn, the more
 * slabs the same number of files holds. */
static void
test_pressure(void)
{
    double last = 0;

    for (guint percent = 0; percent <= 9; percent += 3) {
        g_autofree char *settings = g_strdup_printf(
            WALK "ext4;workload.files=112000;workload.files_kept=28000;workload.referenced=0.%u", percent);
        g_autoptr(TestWorld) test = test_world_finished("inodes", settings);
        const SlubCache *inode = world_cache(&test->world, "ext4_inode_cache");
        gint64 n_slabs = inode->node[0].n_slabs;

        g_assert_cmpfloat(test_world_metric(test, "files_cached"), <=, 28000);
        g_assert_cmpfloat(test_world_metric(test, "files_cached"), >, 28000 - 128);
        if (percent == 0)
            g_assert_cmpint(n_slabs, <=, 28000 / 28 + (gint64) (inode->min_partial + inode->cpu_partial_slabs + 1));
        g_assert_cmpfloat((double) n_slabs, >, last);
        last = (double) n_slabs;
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/micro/fast-path", test_fast_path);
    g_test_add_func("/micro/batches", test_batches);
    g_test_add_func("/micro/placement", test_placement);
    g_test_add_func("/micro/rounds", test_rounds);
    g_test_add_func("/micro/savings", test_savings);
    g_test_add_func("/micro/growth", test_growth);
    g_test_add_func("/micro/layout", test_layout);
    g_test_add_func("/micro/limit", test_limit);
    g_test_add_func("/micro/pressure", test_pressure);
    return g_test_run();
}
