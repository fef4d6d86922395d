/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmalloc classes, merging of caches, and the old SLAB's geometry. */
#include "sim-error.h"
#include "slab-kmalloc.h"
#include "slab-merge.h"
#include "slab-old.h"

static SlabGeometry
geometry_of(const SlabGeometryEnv *env, const SlabCacheSpec *spec)
{
    g_autoptr(GError) error = NULL;
    SlabGeometry geometry = {0};

    slab_geometry_compute(env, spec, &geometry, &error);
    g_assert_no_error(error);
    return geometry;
}

static void
test_kmalloc_classes(void)
{
    static const guint classes[] = {8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192};
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 12), 8);
    guint class = 0;

    for (guint bytes = 1; bytes <= 8192; bytes++) {
        while (classes[class] < bytes)
            class ++;
        g_assert_cmpuint(slab_kmalloc_class_bytes(slab_kmalloc_index(&env, bytes)), ==, classes[class]);
        g_assert_cmpuint(slab_kmalloc_roundup(&env, bytes), ==, classes[class]);
    }
    g_assert_cmpuint(slab_kmalloc_index(&env, 0), ==, 0);
    g_assert_cmpuint(slab_kmalloc_index(&env, 8193), ==, 0);
    g_assert_cmpuint(slab_kmalloc_roundup(&env, 8193), ==, 16384);
    g_assert_cmpuint(slab_kmalloc_index(&env, 96), ==, 1);
    g_assert_cmpuint(slab_kmalloc_index(&env, 129), ==, 2);
    g_assert_cmpuint(slab_kmalloc_index(&env, 97), ==, 7);
    env.page_size_bytes = 65536;
    g_assert_cmpuint(slab_kmalloc_max_bytes(&env), ==, 131072);
    g_assert_cmpuint(slab_kmalloc_index(&env, 131072), ==, 17);
}

static void
test_kmalloc_types(void)
{
    g_assert_cmpint(slab_kmalloc_type(SLAB_KERNEL(6, 1), 0), ==, SLAB_KMALLOC_NORMAL);
    g_assert_cmpint(slab_kmalloc_type(SLAB_KERNEL(6, 1), SLAB_GFP_ACCOUNT), ==, SLAB_KMALLOC_CGROUP);
    g_assert_cmpint(slab_kmalloc_type(SLAB_KERNEL(5, 13), SLAB_GFP_ACCOUNT), ==, SLAB_KMALLOC_NORMAL);
    g_assert_cmpint(slab_kmalloc_type(SLAB_KERNEL(6, 1), SLAB_GFP_ACCOUNT | SLAB_GFP_RECLAIMABLE), ==,
                    SLAB_KMALLOC_RECLAIM);
    g_assert_cmpint(slab_kmalloc_type(SLAB_KERNEL(6, 1), SLAB_GFP_ACCOUNT | SLAB_GFP_RECLAIMABLE | SLAB_GFP_DMA), ==,
                    SLAB_KMALLOC_DMA);
}

static void
test_kmalloc_caches(void)
{
    static const struct {
        guint kernel;
        SlabKmallocType type;
        guint bytes;
        const char *name;
        guint align;
    } rows[] = {
        {SLAB_KERNEL(6, 1), SLAB_KMALLOC_NORMAL, 96, "kmalloc-96", 8},
        {SLAB_KERNEL(6, 12), SLAB_KMALLOC_NORMAL, 96, "kmalloc-96", 32},
        {SLAB_KERNEL(6, 10), SLAB_KMALLOC_CGROUP, 192, "kmalloc-cg-192", 8},
        {SLAB_KERNEL(6, 12), SLAB_KMALLOC_CGROUP, 192, "kmalloc-cg-192", 64},
        {SLAB_KERNEL(6, 5), SLAB_KMALLOC_CGROUP, 512, "kmalloc-cg-512", 512},
        {SLAB_KERNEL(6, 5), SLAB_KMALLOC_RECLAIM, 1024, "kmalloc-rcl-1k", 1024},
        {SLAB_KERNEL(6, 5), SLAB_KMALLOC_DMA, 8192, "dma-kmalloc-8k", 8192},
        {SLAB_KERNEL(6, 6), SLAB_KMALLOC_RANDOM, 64, "kmalloc-rnd-03-64", 64},
        {SLAB_KERNEL(4, 18), SLAB_KMALLOC_NORMAL, 2048, "kmalloc-2048", 8},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, 8);
        char name[SLAB_KMALLOC_NAME_BYTES];
        SlabCacheSpec spec = slab_kmalloc_spec(&env, rows[i].type, 3, slab_kmalloc_index(&env, rows[i].bytes), name);

        g_assert_cmpstr(spec.name, ==, rows[i].name);
        g_assert_true(slab_kmalloc_is_name(spec.name));
        g_assert_cmpuint(geometry_of(&env, &spec).align_bytes, ==, rows[i].align);
        g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, rows[i].bytes);
    }
}

static SlabMergeCache
existing(const SlabGeometryEnv *env, const char *name, guint size, guint align, guint flags)
{
    SlabMergeCache cache = {.spec = slab_cache_spec_default(name, size)};

    cache.spec.align_bytes = align;
    cache.spec.flags = flags;
    cache.geometry = geometry_of(env, &cache.spec);
    return cache;
}

static void
test_merge_rules(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 12), 2);
    const SlabMergeRules rules = {.hardened_usercopy = TRUE};
    const SlabMergeCache caches[] = {
        existing(&env, "biovec-16", 256, 0, SLAB_HWCACHE_ALIGN),
        existing(&env, "filp", 256, 0, SLAB_ACCOUNT),
        existing(&env, "rcu", 256, 0, SLAB_TYPESAFE_BY_RCU),
        existing(&env, "pde_opener", 40, 0, SLAB_ACCOUNT),
        existing(&env, "odd", 200, 0, 0),
    };
    const struct {
        guint size, align, flags;
        gint into;
    } rows[] = {
        {256, 256, 0, 0},         /* maple_node shares the slabs of biovec-16 up to 6.17 */
        {40, 0, SLAB_ACCOUNT, 3}, /* vma_lock and pde_opener */
        {40, 0, 0, -1},           /* accounting differs */
        {256, 0, SLAB_ACCOUNT, 1},
        {249, 0, 0, 0},                  /* rounds to 256 */
        {248, 0, 0, -1},                 /* a word too small */
        {208, 0, SLAB_HWCACHE_ALIGN, 0}, /* rounds to 256 */
        {200, 0, 0, 4},
        {193, 0, 0, 4},
        {200, 16, 0, -1}, /* 208: larger than 200 */
        {256, 0, SLAB_TYPESAFE_BY_RCU, -1},
        {256, 0, SLAB_RED_ZONE, -1},
        {256, 0, SLAB_CONSISTENCY_CHECKS, 0}, /* forbids it only from 7.0 on */
        {256, 512, 0, -1},                    /* 256 is no multiple of the alignment */
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabCacheSpec newcomer = slab_cache_spec_default("new", rows[i].size);

        g_test_message("row %" G_GSIZE_FORMAT, i);
        newcomer.align_bytes = rows[i].align;
        newcomer.flags = rows[i].flags;
        g_assert_cmpint(slab_merge_find(&env, &rules, &newcomer, caches, G_N_ELEMENTS(caches)), ==, rows[i].into);
    }
}

static void
test_merge_refusals(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 17), 2);
    SlabMergeRules rules = {.hardened_usercopy = TRUE};
    SlabCacheSpec spec = slab_cache_spec_default("maple_node", 256);

    /* The capacity counts from 6.18 on, also in 7.0 and later. */
    spec.args_sheaf_capacity = 32;
    g_assert_null(slab_merge_refusal(&env, &rules, &spec));
    env.kernel = SLAB_KERNEL(6, 18);
    g_assert_nonnull(slab_merge_refusal(&env, &rules, &spec));
    env.kernel = SLAB_KERNEL(7, 1);
    g_assert_nonnull(slab_merge_refusal(&env, &rules, &spec));
    spec.args_sheaf_capacity = 0;
    g_assert_null(slab_merge_refusal(&env, &rules, &spec));
    spec.usersize_bytes = 8;
    g_assert_nonnull(slab_merge_refusal(&env, &rules, &spec));
    rules.hardened_usercopy = FALSE;
    g_assert_null(slab_merge_refusal(&env, &rules, &spec));
    spec.flags = SLAB_CONSISTENCY_CHECKS;
    g_assert_nonnull(slab_merge_refusal(&env, &rules, &spec));
    spec.flags = 0;
    rules.slab_nomerge = TRUE;
    g_assert_nonnull(slab_merge_refusal(&env, &rules, &spec));
}

/* The newest cache that fits takes the newcomer and grows; its stride does not. */
static void
test_merge_effect(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 12), 2);
    const SlabMergeRules rules = {0};
    SlabMergeCache caches[] = {
        existing(&env, "first", 120, 0, SLAB_HWCACHE_ALIGN),
        existing(&env, "second", 121, 0, SLAB_HWCACHE_ALIGN),
    };
    SlabCacheSpec newcomer = slab_cache_spec_default("new", 125);

    g_assert_cmpint(slab_merge_find(&env, &rules, &newcomer, caches, 2), ==, 1);
    slab_merge_absorb(&env, &caches[1], &newcomer);
    g_assert_cmpuint(caches[1].spec.object_size_bytes, ==, 125);
    g_assert_cmpuint(caches[1].geometry.inuse_bytes, ==, 128);
    g_assert_cmpuint(caches[1].geometry.size_bytes, ==, 128);
    newcomer.object_size_bytes = 122;
    slab_merge_absorb(&env, &caches[1], &newcomer);
    g_assert_cmpuint(caches[1].spec.object_size_bytes, ==, 125);
    g_assert_cmpuint(caches[1].n_aliases, ==, 2);
}

static SlabOldGeometry
old_geometry(SlabOldStage stage, const char *name, guint size, guint flags)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(3, 13), 4);
    SlabCacheSpec spec = slab_cache_spec_default(name, size);
    g_autoptr(GError) error = NULL;
    SlabOldGeometry geometry = {0};

    spec.flags = flags;
    slab_old_compute(&env, stage, &spec, slab_old_is_early_name(name), 1, &geometry, &error);
    g_assert_no_error(error);
    return geometry;
}

/* Objects a slab before and after the byte-sized index, as published with it (linux-mm, 2 December 2013, "slab:
 * introduce byte sized index for the freelist of a slab"), and of the stage before (slub-facts A.12). */
static void
test_old_objects(void)
{
    static const struct {
        const char *name;
        guint size, stride, objects[SLAB_OLD_N_STAGES];
    } rows[] = {
        {"kmalloc-32", 32, 32, {112, 113, 124}}, {"kmalloc-64", 64, 64, {59, 60, 63}},
        {"kmalloc-96", 96, 128, {30, 31, 31}},   {"kmalloc-128", 128, 128, {30, 31, 31}},
        {"kmalloc-192", 192, 192, {20, 20, 21}}, {"kmalloc-256", 256, 256, {15, 15, 16}},
        {"kmalloc-512", 512, 512, {8, 8, 8}},    {"kmem_cache", 192, 192, {20, 20, 21}},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        for (guint stage = 0; stage < SLAB_OLD_N_STAGES; stage++) {
            SlabOldGeometry geometry =
                old_geometry((SlabOldStage) stage, rows[i].name, rows[i].size, SLAB_HWCACHE_ALIGN);

            g_test_message("%s, stage %u", rows[i].name, stage);
            g_assert_cmpuint(geometry.objects, ==, rows[i].objects[stage]);
            g_assert_cmpuint(geometry.size_bytes, ==, rows[i].stride);
            g_assert_cmpuint(geometry.order, ==, 0);
        }
}

static void
test_old_placement(void)
{
    SlabOldGeometry geometry = old_geometry(SLAB_OLD_BYTE_INDEX, "kmalloc-256", 256, SLAB_HWCACHE_ALIGN);

    g_assert_true(geometry.is_off_slab);
    /* Off-slab by size, but the array fits into what is left. */
    geometry = old_geometry(SLAB_OLD_BYTE_INDEX, "kmalloc-192", 192, SLAB_HWCACHE_ALIGN);
    g_assert_false(geometry.is_off_slab);
    g_assert_cmpuint(geometry.management_bytes, ==, 64);
    g_assert_cmpuint(geometry.leftover_bytes, ==, 0);
    /* Not one of the early caches, a 128-byte cache is off-slab and holds one more. */
    geometry = old_geometry(SLAB_OLD_BYTE_INDEX, "other", 128, SLAB_HWCACHE_ALIGN);
    g_assert_true(geometry.is_off_slab);
    g_assert_cmpuint(geometry.objects, ==, 32);
    geometry = old_geometry(SLAB_OLD_BYTE_INDEX, "other", 128, SLAB_HWCACHE_ALIGN | SLAB_NOLEAKTRACE);
    g_assert_cmpuint(geometry.objects, ==, 31);
    /* 8-byte objects would be 455: a byte cannot count them; 16 bytes is the least. */
    geometry = old_geometry(SLAB_OLD_BYTE_INDEX, "other", 8, 0);
    g_assert_cmpuint(geometry.size_bytes, ==, 16);
    g_assert_cmpuint(geometry.objects, ==, 240);
    g_assert_cmpuint(geometry.leftover_bytes, ==, 16);
    g_assert_cmpuint(geometry.n_colours, ==, 0);
    /* 1504 bytes waste 1088 of a page, more than an eighth, so order 1 is tried and kept as the last allowed; a
     * reclaimable cache takes the first order. */
    g_assert_cmpuint(old_geometry(SLAB_OLD_BYTE_INDEX, "other", 1504, 0).order, ==, 1);
    g_assert_cmpuint(old_geometry(SLAB_OLD_BYTE_INDEX, "other", 1504, SLAB_RECLAIM_ACCOUNT).order, ==, 0);
    /* On both sides of the eighth: 568 and 448 bytes of a page wasted. */
    g_assert_cmpuint(old_geometry(SLAB_OLD_BYTE_INDEX, "other", 1176, 0).order, ==, 1);
    g_assert_cmpuint(old_geometry(SLAB_OLD_BYTE_INDEX, "other", 1216, 0).order, ==, 0);
}

static void
test_old_refusals(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(3, 13), 4);
    SlabCacheSpec spec = slab_cache_spec_default("test", 4096u << 10);
    g_autoptr(GError) error = NULL;
    SlabOldGeometry geometry = {.order = 99};

    spec.flags = SLAB_NOLEAKTRACE; /* on-slab: object and index together are too much */
    g_assert_false(slab_old_compute(&env, SLAB_OLD_BYTE_INDEX, &spec, FALSE, 1, &geometry, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
    g_clear_error(&error);
    spec.align_bytes = 24;
    g_assert_false(slab_old_compute(&env, SLAB_OLD_BYTE_INDEX, &spec, FALSE, 1, &geometry, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_RANGE);
    g_assert_cmpuint(geometry.order, ==, 99);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kmalloc/classes", test_kmalloc_classes);
    g_test_add_func("/kmalloc/types", test_kmalloc_types);
    g_test_add_func("/kmalloc/caches", test_kmalloc_caches);
    g_test_add_func("/merge/rules", test_merge_rules);
    g_test_add_func("/merge/refusals", test_merge_refusals);
    g_test_add_func("/merge/effect", test_merge_effect);
    g_test_add_func("/old-slab/objects", test_old_objects);
    g_test_add_func("/old-slab/placement", test_old_placement);
    g_test_add_func("/old-slab/refusals", test_old_refusals);
    return g_test_run();
}
