/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Geometry against worked examples and at the edges of its rules. */
#include "sim-error.h"
#include "slab-geometry.h"

static SlabGeometry
geometry_of(const SlabGeometryEnv *env, const SlabCacheSpec *spec)
{
    g_autoptr(GError) error = NULL;
    SlabGeometry geometry = {0};

    slab_geometry_compute(env, spec, &geometry, &error);
    g_assert_no_error(error);
    return geometry;
}

static SlabGeometry
geometry_of_size(guint kernel, guint n_cpus, guint size)
{
    SlabGeometryEnv env = slab_geometry_env_default(kernel, n_cpus);
    SlabCacheSpec spec = slab_cache_spec_default("test", size);

    return geometry_of(&env, &spec);
}

static void
test_sizes(void)
{
    const guint debug = SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER;
    const struct {
        guint kernel, object_size, align, flags;
        gboolean has_ctor;
        guint size, freeptr_offset;
    } rows[] = {
        {SLAB_KERNEL(6, 5), 192, 0, SLAB_HWCACHE_ALIGN, FALSE, 192, 96},
        {SLAB_KERNEL(6, 5), 1120, 0, 0, FALSE, 1120, 560},
        {SLAB_KERNEL(6, 5), 96, 0, SLAB_HWCACHE_ALIGN, FALSE, 128, 48},
        {SLAB_KERNEL(6, 5), 200, 0, SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU, FALSE, 256, 200},
        {SLAB_KERNEL(6, 5), 1, 0, 0, FALSE, 8, 0},
        {SLAB_KERNEL(6, 5), 20, 0, SLAB_HWCACHE_ALIGN, FALSE, 32, 8},
        {SLAB_KERNEL(6, 5), 33, 0, SLAB_HWCACHE_ALIGN, FALSE, 64, 16},
        /* Debugging of kmalloc-64, naturally aligned: 6.1 to 6.19 store 4 bytes of asked size, 7.0 on 8. */
        {SLAB_KERNEL(6, 12), 64, 0, SLAB_KMALLOC | debug, FALSE, 256, 72},
        {SLAB_KERNEL(7, 0), 64, 0, SLAB_KMALLOC | debug, FALSE, 256, 72},
        /* The same without alignment shows the bytes: 24 + 8 fp + 2 * 32 tracks (+ 4 or 8) + 8 + 8 red zones. */
        {SLAB_KERNEL(6, 5), 20, 0, debug, FALSE, 24 + 8 + 64 + 16, 24},
        {SLAB_KERNEL(5, 18), 20, 0, debug, FALSE, 24 + 8 + 304 + 16, 24},
        {SLAB_KERNEL(5, 19), 20, 0, debug, FALSE, 24 + 8 + 64 + 16, 24},
        {SLAB_KERNEL(6, 12), 20, 8, SLAB_KMALLOC | debug, FALSE, 24 + 8 + 64 + 8 + 16, 24},
        {SLAB_KERNEL(7, 0), 20, 8, SLAB_KMALLOC | debug, FALSE, 24 + 8 + 64 + 8 + 16, 24},
        {SLAB_KERNEL(6, 12), 24, 8, SLAB_RED_ZONE, FALSE, 24 + 8 + 16, 8},
        {SLAB_KERNEL(6, 12), 4, 8, SLAB_RED_ZONE, FALSE, 8 + 8 + 16, 8},
        /* STORE_USER alone on a kmalloc cache: outside only from 6.2 to 6.10. */
        {SLAB_KERNEL(6, 1), 24, 8, SLAB_KMALLOC | SLAB_STORE_USER, FALSE, 24 + 64 + 8, 8},
        {SLAB_KERNEL(6, 5), 24, 8, SLAB_KMALLOC | SLAB_STORE_USER, FALSE, 24 + 8 + 64 + 8, 24},
        {SLAB_KERNEL(6, 10), 24, 8, SLAB_KMALLOC | SLAB_STORE_USER, FALSE, 24 + 8 + 64 + 8, 24},
        {SLAB_KERNEL(6, 11), 24, 8, SLAB_KMALLOC | SLAB_STORE_USER, FALSE, 24 + 64 + 8, 8},
        /* A page table of ppc64: the constructor's word doubles it. */
        {SLAB_KERNEL(4, 12), 32768, 32768, 0, TRUE, 65536, 32768},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, 8);
        SlabCacheSpec spec = slab_cache_spec_default("test", rows[i].object_size);
        SlabGeometry geometry;

        g_test_message("row %" G_GSIZE_FORMAT, i);
        spec.align_bytes = rows[i].align;
        spec.flags = rows[i].flags;
        spec.has_ctor = rows[i].has_ctor;
        geometry = geometry_of(&env, &spec);
        g_assert_cmpuint(geometry.size_bytes, ==, rows[i].size);
        g_assert_cmpuint(geometry.freeptr_offset_bytes, ==, rows[i].freeptr_offset);
    }
}

/* An explicit offset counts from 6.12 for RCU caches and from 7.0 also with a constructor. */
static void
test_freeptr_offset(void)
{
    const struct {
        guint kernel, flags;
        gboolean has_ctor;
        guint size;
    } rows[] = {
        {SLAB_KERNEL(6, 10), SLAB_TYPESAFE_BY_RCU, FALSE, 200},
        {SLAB_KERNEL(6, 12), SLAB_TYPESAFE_BY_RCU, FALSE, 192},
        {SLAB_KERNEL(6, 19), SLAB_TYPESAFE_BY_RCU, TRUE, 200},
        {SLAB_KERNEL(7, 0), SLAB_TYPESAFE_BY_RCU, TRUE, 192},
        {SLAB_KERNEL(6, 19), 0, TRUE, 200},
        {SLAB_KERNEL(7, 0), 0, TRUE, 192},
        {SLAB_KERNEL(7, 0), SLAB_POISON, TRUE, 200},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, 8);
        SlabCacheSpec spec = slab_cache_spec_default("test", 192);

        g_test_message("row %" G_GSIZE_FORMAT, i);
        spec.flags = rows[i].flags;
        spec.has_ctor = rows[i].has_ctor;
        spec.freeptr_offset = 16;
        g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, rows[i].size);
        g_assert_cmpuint(geometry_of(&env, &spec).freeptr_offset_bytes, ==, rows[i].size == 192 ? 16 : 192);
    }
}

static void
test_pointer_size(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 6), 2);
    SlabCacheSpec spec = slab_cache_spec_default("test", 12);

    env.pointer_bytes = 4;
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 16); /* minimum alignment stays 8 */
    g_assert_cmpuint(geometry_of(&env, &spec).freeptr_offset_bytes, ==, 4);
    spec.flags = SLAB_STORE_USER;
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 56); /* 12 + 2 * 20 = 52 */
    env.kernel = SLAB_KERNEL(5, 10);
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 176); /* 12 + 2 * 80 = 172 */
    env.kernel = SLAB_KERNEL(6, 1);
    spec.flags |= SLAB_KMALLOC;
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 56); /* 52 + 4 */
    /* A sheaf's header is 20 bytes: 12 pointers of 4 make 68, in a kmalloc object of 96. */
    env.kernel = SLAB_KERNEL(7, 0);
    spec = slab_cache_spec_default("test", 1024);
    g_assert_cmpuint(geometry_of(&env, &spec).sheaf_capacity, ==, 19);
}

/* slub-facts A.2. */
static void
test_alignment(void)
{
    static const struct {
        guint size, flags, argument, align;
    } rows[] = {
        {1, SLAB_HWCACHE_ALIGN, 0, 8},
        {8, SLAB_HWCACHE_ALIGN, 0, 8},
        {9, SLAB_HWCACHE_ALIGN, 0, 16},
        {16, SLAB_HWCACHE_ALIGN, 0, 16},
        {17, SLAB_HWCACHE_ALIGN, 0, 32},
        {32, SLAB_HWCACHE_ALIGN, 0, 32},
        {33, SLAB_HWCACHE_ALIGN, 0, 64},
        {64, SLAB_HWCACHE_ALIGN, 0, 64},
        {4096, SLAB_HWCACHE_ALIGN, 0, 64},
        {8, SLAB_HWCACHE_ALIGN, 256, 256},
        {4096, 0, 0, 8},
        {4096, 0, 4, 8},
    };
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpuint(slab_geometry_alignment(&env, rows[i].flags, rows[i].argument, rows[i].size), ==,
                         rows[i].align);
}

/* slub-facts A.4; the columns are 1, 4, 8, 16, 64, 128 and 256 CPUs. */
static void
test_order_table(void)
{
    static const guint n_cpus[] = {1, 4, 8, 16, 64, 128, 256};
    static const struct {
        guint size, orders[7];
    } rows[] = {
        {8, {0, 0, 0, 0, 0, 0, 0}},    {96, {0, 0, 0, 0, 0, 0, 0}},   {128, {0, 0, 0, 0, 0, 1, 1}},
        {192, {0, 0, 0, 1, 1, 1, 1}},  {256, {0, 0, 1, 1, 1, 2, 2}},  {320, {0, 1, 1, 1, 2, 2, 2}},
        {512, {0, 1, 2, 2, 2, 3, 3}},  {576, {1, 2, 2, 2, 3, 3, 3}},  {640, {1, 2, 2, 2, 3, 3, 3}},
        {704, {1, 2, 2, 3, 3, 3, 3}},  {768, {1, 2, 2, 3, 3, 3, 3}},  {1024, {1, 2, 3, 3, 3, 3, 3}},
        {1120, {2, 3, 3, 3, 3, 3, 3}}, {1152, {2, 3, 3, 3, 3, 3, 3}}, {2048, {2, 3, 3, 3, 3, 3, 3}},
        {3072, {3, 3, 3, 3, 3, 3, 3}}, {4096, {3, 3, 3, 3, 3, 3, 3}}, {8192, {3, 3, 3, 3, 3, 3, 3}},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        for (gsize j = 0; j < G_N_ELEMENTS(n_cpus); j++) {
            g_test_message("%u bytes, %u CPUs", rows[i].size, n_cpus[j]);
            g_assert_cmpuint(geometry_of_size(SLAB_KERNEL(5, 10), n_cpus[j], rows[i].size).order, ==,
                             rows[i].orders[j]);
            g_assert_cmpuint(geometry_of_size(SLAB_KERNEL(7, 1), n_cpus[j], rows[i].size).order, ==, rows[i].orders[j]);
        }
}

static void
test_cpu_count(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(5, 10), 64);
    SlabCacheSpec spec = slab_cache_spec_default("test", 512);

    /* fls(63) = 6 and fls(64) = 7: 28 against 32 objects, which 144-byte objects tell apart. */
    g_assert_cmpuint(geometry_of_size(SLAB_KERNEL(6, 5), 63, 144).order, ==, 0);
    g_assert_cmpuint(geometry_of_size(SLAB_KERNEL(6, 5), 64, 144).order, ==, 1);
    /* Up to 5.10 the possible CPUs count, from 5.11 the present ones, unless that is a single one. */
    env.n_present_cpus = 2;
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 2);
    env.kernel = SLAB_KERNEL(5, 11);
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 1);
    env.n_present_cpus = 1;
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 2);
}

/* The two order searches agree with default parameters, but for sizes 10928 to 12280 (slub-facts A.4). */
static void
test_old_and_new_order(void)
{
    for (guint n_cpus = 1; n_cpus <= 512; n_cpus *= 2)
        for (guint size = 8; size <= 32768; size += 8) {
            guint old = geometry_of_size(SLAB_KERNEL(6, 6), n_cpus, size).order;
            guint new = geometry_of_size(SLAB_KERNEL(6, 7), n_cpus, size).order;

            if (size >= 10928 && size <= 12280) {
                g_assert_cmpuint(old, ==, 2);
                g_assert_cmpuint(new, ==, 3);
            } else {
                g_assert_cmpuint(old, ==, new);
            }
        }
}

static void
test_order_limits(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    SlabCacheSpec spec = slab_cache_spec_default("test", 32768);
    g_autoptr(GError) error = NULL;
    SlabGeometry geometry = {.order = 99};

    spec.align_bytes = 32768;
    spec.has_ctor = TRUE;
    geometry = geometry_of(&env, &spec);
    g_assert_cmpuint(geometry.order, ==, 4);
    g_assert_cmpuint(geometry.objects, ==, 1);
    g_assert_cmpuint(geometry.min_partial, ==, 8);
    /* The largest object a constructor leaves room for, and the one that no order holds. */
    spec.align_bytes = 0;
    spec.object_size_bytes = (4096u << 10) - 8;
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 10);
    spec.object_size_bytes = 4096u << 10;
    for (guint i = 0; i < 2; i++) {
        env.kernel = i == 0 ? SLAB_KERNEL(6, 5) : SLAB_KERNEL(6, 12);
        g_assert_false(slab_geometry_compute(&env, &spec, &geometry, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
        g_clear_error(&error);
        g_assert_cmpuint(geometry.order, ==, 4);
    }
    /* A slab never holds more than 32767 objects: 8-byte objects in 64K pages stop below order 2. */
    env.page_size_bytes = 65536;
    env.slub_min_order = 3;
    spec = slab_cache_spec_default("test", 8);
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 1);
    env.kernel = SLAB_KERNEL(6, 5);
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 1);
}

/* Larger pages change the order and the cpu_partial class of sizes between 4 KiB and a page. */
static void
test_page_size(void)
{
    static const struct {
        guint page_size, size, order, objects, cpu_partial, sheaf_capacity;
    } rows[] = {
        {4096, 4096, 3, 8, 6, 4},   {16384, 4096, 3, 32, 24, 12}, {65536, 4096, 1, 32, 24, 12},
        {65536, 65536, 3, 8, 6, 4}, {16384, 16384, 3, 8, 6, 4},   {65536, 704, 0, 93, 52, 28},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 12), 64);
        SlabCacheSpec spec = slab_cache_spec_default("test", rows[i].size);
        SlabGeometry geometry;

        g_test_message("row %" G_GSIZE_FORMAT, i);
        env.page_size_bytes = rows[i].page_size;
        geometry = geometry_of(&env, &spec);
        g_assert_cmpuint(geometry.order, ==, rows[i].order);
        g_assert_cmpuint(geometry.objects, ==, rows[i].objects);
        g_assert_cmpuint(geometry.cpu_partial, ==, rows[i].cpu_partial);
        env.kernel = SLAB_KERNEL(7, 0);
        g_assert_cmpuint(geometry_of(&env, &spec).sheaf_capacity, ==, rows[i].sheaf_capacity);
    }
}

static void
test_boot_orders(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 8), 8);
    SlabCacheSpec spec = slab_cache_spec_default("test", 64);

    slab_geometry_env_set_min_order(&env, 4);
    g_assert_cmpuint(env.slub_max_order, ==, 4);
    slab_geometry_env_set_max_order(&env, 1);
    g_assert_cmpuint(env.slub_min_order, ==, 1);
    slab_geometry_env_set_max_order(&env, 99);
    g_assert_cmpuint(env.slub_max_order, ==, 10);
    /* Written into the fields directly, the minimum wins as if it had come last. */
    env.slub_min_order = 4;
    env.slub_max_order = 3;
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 4);

    env = slab_geometry_env_default(SLAB_KERNEL(6, 6), 8);
    slab_geometry_env_set_min_order(&env, 4);
    g_assert_cmpuint(env.slub_max_order, ==, 3);
    g_assert_cmpuint(geometry_of(&env, &spec).order, ==, 4);
    slab_geometry_env_set_max_order(&env, 1);
    g_assert_cmpuint(env.slub_min_order, ==, 4);
}

/* slub_debug=O drops what would raise the smallest order, and only that. */
static void
test_no_higher_order(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    SlabCacheSpec spec = slab_cache_spec_default("test", 4096);

    spec.flags = SLAB_RED_ZONE | SLAB_STORE_USER | SLAB_CONSISTENCY_CHECKS;
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 4184);
    env.slub_debug_no_higher_order = TRUE;
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 4096);
    g_assert_cmpuint(geometry_of(&env, &spec).flags, ==, SLAB_CONSISTENCY_CHECKS);
    /* Still a debug cache. */
    g_assert_false(geometry_of(&env, &spec).has_cpu_partial);
    spec.object_size_bytes = 4000;
    g_assert_cmpuint(geometry_of(&env, &spec).flags, ==, spec.flags);
    g_assert_cmpuint(geometry_of(&env, &spec).size_bytes, ==, 4088);
}

/* slub-facts A.6, A.7: 64 CPUs, 5.16 on; and the objects of 5.15. */
static void
test_partial_limits(void)
{
    static const struct {
        guint size, slabs, old_objects, min_partial;
    } rows[] = {
        {8, 1, 30, 5},   {32, 2, 30, 5},  {64, 4, 30, 5},  {96, 6, 30, 5},   {192, 6, 30, 5},
        {248, 8, 30, 5}, {256, 4, 13, 5}, {512, 4, 13, 5}, {1024, 2, 6, 5},  {2048, 3, 6, 5},
        {4088, 6, 6, 5}, {4096, 2, 2, 6}, {8192, 3, 2, 6}, {16384, 6, 2, 7}, {65536, 12, 2, 8},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometry new = geometry_of_size(SLAB_KERNEL(5, 16), 64, rows[i].size);
        SlabGeometry old = geometry_of_size(SLAB_KERNEL(5, 15), 64, rows[i].size);

        g_test_message("%u bytes", rows[i].size);
        g_assert_cmpuint(new.cpu_partial_slabs, ==, rows[i].slabs);
        g_assert_cmpuint(new.min_partial, ==, rows[i].min_partial);
        g_assert_cmpuint(old.cpu_partial, ==, rows[i].old_objects);
        g_assert_cmpuint(old.cpu_partial_slabs, ==, 0);
        g_assert_true(old.has_cpu_partial);
    }
    g_assert_cmpuint(geometry_of_size(SLAB_KERNEL(7, 0), 64, 64).cpu_partial, ==, 0);
    g_assert_false(geometry_of_size(SLAB_KERNEL(7, 0), 64, 64).has_cpu_partial);
    g_assert_true(geometry_of_size(SLAB_KERNEL(6, 19), 64, 64).has_cpu_partial);
}

static void
test_overrides(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 224);
    SlabCacheSpec spec = slab_cache_spec_default("test", 256);
    SlabGeometry geometry;

    env.cpu_partial_factor = 2;
    geometry = geometry_of(&env, &spec);
    g_assert_cmpuint(geometry.cpu_partial, ==, 104);
    g_assert_cmpuint(geometry.cpu_partial_slabs, ==, 4); /* ceil(208 / 64) */
    spec.cpu_partial_override = 0;
    geometry = geometry_of(&env, &spec);
    g_assert_cmpuint(geometry.cpu_partial_slabs, ==, 0);
    g_assert_true(geometry.has_cpu_partial);
    spec.cpu_partial_override = 65;
    g_assert_cmpuint(geometry_of(&env, &spec).cpu_partial_slabs, ==, 3);
    spec.cpu_partial_slabs_override = 30;
    g_assert_cmpuint(geometry_of(&env, &spec).cpu_partial_slabs, ==, 30);
    spec.order_override = 4;
    geometry = geometry_of(&env, &spec);
    g_assert_cmpuint(geometry.objects, ==, 256);
    g_assert_cmpuint(geometry.min_order, ==, 0);
    g_assert_cmpuint(geometry.min_objects, ==, 16);

    spec.min_partial_override = 64;
    g_assert_cmpuint(geometry_of(&env, &spec).min_partial, ==, 64);
    /* sysfs limited what was written until 5.17. */
    spec.cpu_partial_slabs_override = -1;
    env.kernel = SLAB_KERNEL(5, 11);
    g_assert_cmpuint(geometry_of(&env, &spec).min_partial, ==, 10);
    env.min_partial_floor = 20;
    env.min_partial_ceiling = 40;
    spec.min_partial_override = -1;
    g_assert_cmpuint(geometry_of(&env, &spec).min_partial, ==, 20);
}

static void
test_sheaf_capacity(void)
{
    static const struct {
        guint kernel, size, flags, asked;
        gboolean is_boot_cache;
        guint capacity;
    } rows[] = {
        {SLAB_KERNEL(7, 0), 255, 0, 0, FALSE, 28}, /* 256 after rounding to words */
        {SLAB_KERNEL(7, 0), 248, 0, 0, FALSE, 60},
        {SLAB_KERNEL(7, 0), 1016, 0, 0, FALSE, 28},
        {SLAB_KERNEL(7, 0), 1024, 0, 0, FALSE, 12},
        {SLAB_KERNEL(7, 0), 4096, 0, 0, FALSE, 4},
        {SLAB_KERNEL(7, 0), 256, 0, 32, FALSE, 32},
        {SLAB_KERNEL(7, 0), 192, 0, 32, FALSE, 60},
        {SLAB_KERNEL(7, 0), 64, SLAB_NOLEAKTRACE, 0, FALSE, 0},
        {SLAB_KERNEL(7, 0), 64, SLAB_NO_OBJ_EXT, 0, FALSE, 0},
        {SLAB_KERNEL(7, 0), 64, SLAB_CONSISTENCY_CHECKS, 32, FALSE, 0},
        {SLAB_KERNEL(7, 0), 64, 0, 0, TRUE, 0},
        {SLAB_KERNEL(6, 18), 256, 0, 0, FALSE, 0},
        {SLAB_KERNEL(6, 19), 192, 0, 32, FALSE, 32},
        {SLAB_KERNEL(6, 19), 192, SLAB_TRACE, 32, FALSE, 0},
        {SLAB_KERNEL(6, 17), 192, 0, 32, FALSE, 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, 8);
        SlabCacheSpec spec = slab_cache_spec_default("test", rows[i].size);

        g_test_message("row %" G_GSIZE_FORMAT, i);
        spec.flags = rows[i].flags;
        spec.args_sheaf_capacity = (gint) rows[i].asked;
        spec.is_boot_cache = rows[i].is_boot_cache;
        g_assert_cmpuint(geometry_of(&env, &spec).sheaf_capacity, ==, rows[i].capacity);
    }
}

static void
assert_refused(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SimErrorCode code)
{
    g_autoptr(GError) error = NULL;
    SlabGeometry geometry = {.order = 99};

    g_assert_false(slab_geometry_compute(env, spec, &geometry, &error));
    g_assert_error(error, SIM_ERROR, (gint) code);
    g_assert_cmpuint(geometry.order, ==, 99);
}

static void
test_refusals(void)
{
    const SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    const SlabCacheSpec good = slab_cache_spec_default("test", 64);
    SlabGeometryEnv bad_env;
    SlabCacheSpec bad;

    bad = good, bad.object_size_bytes = 0;
    assert_refused(&env, &bad, SIM_ERROR_RANGE);
    bad = good, bad.align_bytes = 48;
    assert_refused(&env, &bad, SIM_ERROR_RANGE);
    bad = good, bad.object_size_bytes = 8192, bad.order_override = 0;
    assert_refused(&env, &bad, SIM_ERROR_RANGE);
    bad = good, bad.object_size_bytes = 8, bad.order_override = 6; /* exactly 32768 objects */
    assert_refused(&env, &bad, SIM_ERROR_RANGE);
    bad.order_override = 11;
    assert_refused(&env, &bad, SIM_ERROR_RANGE);
    bad = good, bad.flags = SLAB_TRACE, bad.cpu_partial_override = 30;
    assert_refused(&env, &bad, SIM_ERROR_MODEL);
    bad = good, bad.cpu_partial_override = 30;
    bad_env = env, bad_env.kernel = SLAB_KERNEL(7, 0);
    assert_refused(&bad_env, &bad, SIM_ERROR_MODEL);
    bad = good, bad.cpu_partial_slabs_override = 3;
    bad_env.kernel = SLAB_KERNEL(5, 15);
    assert_refused(&bad_env, &bad, SIM_ERROR_MODEL);
    bad_env = env, bad_env.n_present_cpus = 9;
    assert_refused(&bad_env, &good, SIM_ERROR_RANGE);
    bad_env = env, bad_env.page_size_bytes = 5000;
    assert_refused(&bad_env, &good, SIM_ERROR_RANGE);
    bad_env = env, bad_env.min_partial_floor = 11;
    assert_refused(&bad_env, &good, SIM_ERROR_RANGE);
    /* 0 is what such a cache has already. */
    bad = good, bad.flags = SLAB_TRACE, bad.cpu_partial_override = 0;
    g_assert_cmpuint(geometry_of(&env, &bad).cpu_partial, ==, 0);
}

/* Whatever the input: the parts fit together, and explaining computes the same as computing. */
static void
test_consistency(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 1), SLAB_KERNEL(6, 8), SLAB_KERNEL(7, 1)};
    static const guint pages[] = {4096, 16384, 65536};

    for (guint i = 0; i < 4000; i++) {
        SlabGeometryEnv env = slab_geometry_env_default(kernels[i % 4], (guint) g_test_rand_int_range(1, 4097));
        SlabCacheSpec spec = slab_cache_spec_default("test", (guint) g_test_rand_int_range(1, 40000));
        g_autoptr(GString) steps = g_string_new(NULL);
        SlabGeometry geometry, explained;

        env.page_size_bytes = pages[g_test_rand_int_range(0, 3)];
        env.pointer_bytes = g_test_rand_bit() ? 8 : 4;
        env.slub_min_order = (guint) g_test_rand_int_range(0, 3);
        spec.flags = (guint) g_test_rand_int() & (SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU | SLAB_DEBUG_FLAGS);
        spec.has_ctor = g_test_rand_bit();
        spec.align_bytes = 1u << g_test_rand_int_range(0, 10);
        geometry = geometry_of(&env, &spec);
        g_assert_cmpuint(geometry.size_bytes, >=, spec.object_size_bytes);
        g_assert_cmpuint(geometry.size_bytes % geometry.align_bytes, ==, 0);
        g_assert_cmpuint(geometry.align_bytes, >=, spec.align_bytes);
        g_assert_cmpuint(geometry.freeptr_offset_bytes + env.pointer_bytes, <=, geometry.size_bytes);
        g_assert_cmpuint(geometry.objects * geometry.size_bytes + geometry.leftover_bytes, ==,
                         env.page_size_bytes << geometry.order);
        g_assert_cmpuint(geometry.leftover_bytes, <, geometry.size_bytes);
        g_assert_cmpuint(geometry.min_order, <=, geometry.order);
        g_assert_cmpuint(geometry.min_objects, >=, 1);
        g_assert_true(slab_geometry_explain(&env, &spec, &explained, steps, NULL));
        g_assert_cmpmem(&geometry, sizeof geometry, &explained, sizeof explained);
        g_assert_cmpuint(steps->len, >, 0);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/geometry/alignment", test_alignment);
    g_test_add_func("/geometry/sizes", test_sizes);
    g_test_add_func("/geometry/freeptr-offset", test_freeptr_offset);
    g_test_add_func("/geometry/pointer-size", test_pointer_size);
    g_test_add_func("/geometry/order-table", test_order_table);
    g_test_add_func("/geometry/cpu-count", test_cpu_count);
    g_test_add_func("/geometry/old-and-new-order", test_old_and_new_order);
    g_test_add_func("/geometry/order-limits", test_order_limits);
    g_test_add_func("/geometry/page-size", test_page_size);
    g_test_add_func("/geometry/boot-orders", test_boot_orders);
    g_test_add_func("/geometry/no-higher-order", test_no_higher_order);
    g_test_add_func("/geometry/partial-limits", test_partial_limits);
    g_test_add_func("/geometry/overrides", test_overrides);
    g_test_add_func("/geometry/sheaf-capacity", test_sheaf_capacity);
    g_test_add_func("/geometry/refusals", test_refusals);
    g_test_add_func("/geometry/consistency", test_consistency);
    return g_test_run();
}
