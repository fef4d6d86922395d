/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-ext.h"

#include <string.h>

#include "slab-spec.h"

/* Placement of obj_exts: worked examples of slub-facts A.10 and the RFC V2, and what holds for any cache. */

static SlabExt
place(guint kernel, const SlabExtSettings *settings, const char *text, SlabGeometry *ret_geometry)
{
    const SlabMergeRules merging = {.hardened_usercopy = TRUE};
    SlabGeometryEnv env = slab_geometry_env_default(kernel, 64);
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    GError *error = NULL;
    SlabCacheSpec spec;
    SlabExt ext;

    slab_spec_parse(text, names, &spec, &error);
    g_assert_no_error(error);
    slab_geometry_compute(&env, &spec, ret_geometry, &error);
    g_assert_no_error(error);
    slab_ext_compute(&env, settings, &merging, &spec, ret_geometry, &ext, NULL);
    return ext;
}

#define K70 SLAB_KERNEL(7, 0)
#define K618 SLAB_KERNEL(6, 18)
#define EXT4 "ext4_inode_cache:1136,flags=ACCOUNT|RECLAIM_ACCOUNT,ctor"
#define XFS "xfs_inode:992,align=64,flags=ACCOUNT|RECLAIM_ACCOUNT,ctor"
#define DENTRY "dentry:192,flags=ACCOUNT|RECLAIM_ACCOUNT"
#define MERGEABLE "request:96,flags=HWCACHE_ALIGN|ACCOUNT"

static const SlabExtSettings off = {0};
static const SlabExtSettings memcg = {.memcg = TRUE};
static const SlabExtSettings both = {.memcg = TRUE, .profiling = TRUE};
static const SlabExtSettings rfc = {.memcg = TRUE, .rules = SLAB_EXT_RULES_RFC_V2};
static const SlabExtSettings rfc_both = {.memcg = TRUE, .profiling = TRUE, .rules = SLAB_EXT_RULES_RFC_V2};
static const SlabExtSettings patch_4 = {.memcg = TRUE, .rules = SLAB_EXT_RULES_LEFTOVER};
static const SlabExtSettings array = {.memcg = TRUE, .rules = SLAB_EXT_RULES_ARRAY};
static const SlabExtSettings always = {.always = TRUE};

static const struct {
    const char *cache;
    guint kernel;
    const SlabExtSettings *settings;
    SlabExtPlace place;
    gboolean is_eager;
    guint ext_bytes, offset_bytes, stride_bytes, array_bytes;
} known[] = {
    {EXT4, K618, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256}, /* 28 * 8 = 224 */
    {EXT4, K70, &memcg, SLAB_EXT_LEFTOVER, TRUE, 8, 28 * 1144, 8, 256},
    {EXT4, K70, &both, SLAB_EXT_LEFTOVER, TRUE, 16, 28 * 1144, 16, 512},
    {EXT4, K70, &array, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256},
    {EXT4, K618, &patch_4, SLAB_EXT_LEFTOVER, TRUE, 8, 28 * 1144, 8, 256},
    {"inode:1096,flags=ACCOUNT", K70, &memcg, SLAB_EXT_LEFTOVER, TRUE, 8, 31784, 8, 256},
    {XFS, K618, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256},
    {XFS, K618, &patch_4, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256}, /* 32 * 1024: nothing left */
    {XFS, K618, &rfc, SLAB_EXT_PADDING, TRUE, 8, 1000, 1024, 256},
    {XFS, K618, &rfc_both, SLAB_EXT_PADDING, TRUE, 16, 1000, 1024, 512},
    {XFS, K70, &both, SLAB_EXT_PADDING, TRUE, 16, 1000, 1024, 512},
    {DENTRY, K70, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 512}, /* 42 * 8 = 336, 128 left */
    {"kmalloc-cg-512:512,flags=ACCOUNT", K70, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256},
    {"kmalloc-cg-64:64,flags=ACCOUNT", K70, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 512},
    {MERGEABLE, K70, &memcg, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 256}, /* others may merge in */
    {MERGEABLE, K618, &rfc, SLAB_EXT_PADDING, TRUE, 8, 96, 128, 256},
    {"skbuff_head_cache:232,flags=HWCACHE_ALIGN", K618, &memcg, SLAB_EXT_ARRAY, FALSE, 8, 0, 8, 256},
    {"skbuff_head_cache:232,flags=HWCACHE_ALIGN", K618, &rfc, SLAB_EXT_ARRAY, FALSE, 8, 0, 8, 256},
    {"plain:64", SLAB_KERNEL(6, 8), &both, SLAB_EXT_ARRAY, FALSE, 8, 0, 8, 512}, /* no profiling before 6.10 */
    {"plain:64", K618, &both, SLAB_EXT_ARRAY, TRUE, 16, 0, 16, 1024},
    {"plain:64", K618, &off, SLAB_EXT_NONE, FALSE, 0, 0, 0, 0},
    {"plain:64", K618, &always, SLAB_EXT_ARRAY, TRUE, 8, 0, 8, 512},
    {"kmem_cache:232,flags=NO_OBJ_EXT", K70, &both, SLAB_EXT_NONE, FALSE, 0, 0, 0, 0},
    /* An array of kmalloc-512's own class: 7.0 takes the next one. */
    {"kmalloc-512:512,flags=KMALLOC", K618, &both, SLAB_EXT_ARRAY, TRUE, 16, 0, 16, 512},
    {"kmalloc-512:512,flags=KMALLOC", K70, &both, SLAB_EXT_ARRAY, TRUE, 16, 0, 16, 1024},
};

static void
test_known(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        SlabGeometry geometry;
        SlabExt ext = place(known[i].kernel, known[i].settings, known[i].cache, &geometry);

        g_test_message("row %u: %s", i, known[i].cache);
        g_assert_cmpstr(slab_ext_place_name(ext.place), ==, slab_ext_place_name(known[i].place));
        g_assert_cmpint(ext.is_eager, ==, known[i].is_eager);
        g_assert_cmpuint(ext.ext_bytes, ==, known[i].ext_bytes);
        g_assert_cmpuint(ext.offset_bytes, ==, known[i].offset_bytes);
        g_assert_cmpuint(ext.stride_bytes, ==, known[i].stride_bytes);
        g_assert_cmpuint(ext.array_bytes, ==, known[i].array_bytes);
    }
}

/* SEED0-56, -57, -59. */
static void
test_published_layout(void)
{
    SlabGeometry geometry;
    SlabExt ext = place(K618, &memcg, EXT4, &geometry);

    g_assert_cmpuint(geometry.objects, ==, 28);
    g_assert_cmpuint(geometry.leftover_bytes, ==, 736);
    g_assert_cmpuint(ext.vector_bytes, ==, 224);
    g_assert_cmpuint(place(K618, &both, EXT4, &geometry).vector_bytes, ==, 448);
    place(K618, &memcg, XFS, &geometry);
    g_assert_cmpuint(geometry.inuse_bytes, ==, 992);
    g_assert_cmpuint(geometry.size_bytes, ==, 1024);
}

static void
test_lines(void)
{
    SlabGeometry geometry;

    g_assert_cmpuint(place(K618, &memcg, XFS, &geometry).extra_lines, ==, 4); /* 256 bytes of an array */
    g_assert_cmpuint(place(K618, &rfc, XFS, &geometry).extra_lines, ==, 0);   /* byte 1000 is in the line of 991 */
    /* 32032 .. 32255 are lines 500 to 503; the last object's payload ends in line 500. */
    g_assert_cmpuint(place(K70, &memcg, EXT4, &geometry).extra_lines, ==, 3);
}

static void
test_merging(void)
{
    SlabGeometry geometry;

    g_assert_true(place(K618, &rfc, MERGEABLE, &geometry).stops_merging);
    g_assert_false(place(K618, &rfc, XFS, &geometry).stops_merging); /* its constructor forbids it anyway */
    g_assert_false(place(K70, &memcg, XFS, &geometry).stops_merging);
}

/* Any cache: exts lie behind payload and metadata, within the slab, aligned, and none overlaps an object's bytes. */
static void
test_bounds(void)
{
    static const guint kernels[] = {SLAB_KERNEL(6, 1), SLAB_KERNEL(6, 12), K618, K70};
    static const char *const flags[] = {"ACCOUNT", "ACCOUNT|HWCACHE_ALIGN", "ACCOUNT|TYPESAFE_BY_RCU|HWCACHE_ALIGN",
                                        "ACCOUNT|RED_ZONE|POISON|STORE_USER"};

    for (guint i = 0; i < 20000; i++) {
        SlabExtSettings settings = {
            .memcg = TRUE, .profiling = g_test_rand_bit(), .rules = (SlabExtRules) g_test_rand_int_range(0, 4)};
        g_autofree char *text = g_strdup_printf(
            "x:%d,align=%u,flags=%s%s", g_test_rand_int_range(8, 5000), 8u << g_test_rand_int_range(0, 7),
            flags[g_test_rand_int_range(0, G_N_ELEMENTS(flags))], g_test_rand_bit() ? ",ctor" : "");
        SlabGeometry g;
        SlabExt ext = place(kernels[g_test_rand_int_range(0, G_N_ELEMENTS(kernels))], &settings, text, &g);
        guint slab_bytes = 4096u << g.order, pad = g.flags & SLAB_RED_ZONE ? MAX(8, g.align_bytes) : 0;

        g_assert_cmpuint(ext.vector_bytes, ==, ext.ext_bytes * g.objects);
        g_assert_cmpuint(ext.array_bytes, >=, ext.vector_bytes);
        g_assert_cmpuint(ext.offset_bytes % 8, ==, ext.place == SLAB_EXT_PADDING ? g.metadata_end_bytes % 8 : 0);
        if (ext.place == SLAB_EXT_LEFTOVER) {
            g_assert_cmpuint(ext.offset_bytes, >=, g.objects * g.size_bytes);
            g_assert_cmpuint(ext.offset_bytes + ext.vector_bytes, <=, slab_bytes);
        } else if (ext.place == SLAB_EXT_PADDING) {
            g_assert_cmpuint(ext.offset_bytes, >=, pad + g.inuse_bytes);
            g_assert_cmpuint(ext.offset_bytes - pad + ext.ext_bytes + (pad ? 8 + pad : 0), <=, g.size_bytes);
        }
    }
}

/* The explanation ends with what was computed. */
static void
test_explained(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(K70, 64);
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    g_autoptr(GString) steps = g_string_new(NULL);
    SlabCacheSpec spec;
    SlabGeometry geometry;
    SlabExt ext;

    g_assert_true(slab_spec_parse(XFS, names, &spec, NULL));
    g_assert_true(slab_geometry_compute(&env, &spec, &geometry, NULL));
    slab_ext_compute(&env, &memcg, &(SlabMergeRules){0}, &spec, &geometry, &ext, steps);
    g_assert_nonnull(strstr(steps->str, "case 1, leftover: 32768 + 8 * 32 = 33024, slab of 32768: does not fit"));
    g_assert_nonnull(strstr(steps->str, "case 2, padding: 1024 - 1000 = 24 bytes for 8: fits"));
    g_assert_nonnull(strstr(steps->str, "saves an array of 256 bytes for each slab of 32768, 0.78 %"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slab-ext/known", test_known);
    g_test_add_func("/slab-ext/published-layout", test_published_layout);
    g_test_add_func("/slab-ext/lines", test_lines);
    g_test_add_func("/slab-ext/merging", test_merging);
    g_test_add_func("/slab-ext/bounds", test_bounds);
    g_test_add_func("/slab-ext/explained", test_explained);
    return g_test_run();
}
