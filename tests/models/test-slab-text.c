/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Caches as text: listings of other machines, .caches files, arguments, slub_debug, and the sub-commands. */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "imp-load.h"
#include "sim-error.h"
#include "slab-cmd.h"
#include "slab-debug.h"
#include "slab-listing.h"
#include "slab-spec.h"

static char *
data_path(const char *name)
{
    return g_test_build_filename(G_TEST_DIST, "data", name, NULL);
}

static guint
n_differing(const SlabListing *listing, GString *differences)
{
    guint n_rows = 0;

    for (guint i = 0; i < listing->rows->len; i++) {
        g_autoptr(GError) error = NULL;
        SlabGeometry geometry;
        guint n_differences;

        slab_listing_compare(listing, i, &geometry, differences, &n_differences, &error);
        g_assert_no_error(error);
        n_rows += n_differences > 0;
    }
    return n_rows;
}

/* Order and objects of each row follow from its size and the CPU count; where the thread does not state the CPUs they
 * are read off the listing. `wrong_cpus` has another fls(): with it the listing must not fit. */
static void
test_slabinfo(void)
{
    static const struct {
        const char *name;
        guint kernel, n_cpus, pointer_bytes, n_rows, wrong_cpus;
    } rows[] = {
        {"slabinfo-01.txt", SLAB_KERNEL(2, 6), 8, 8, 34, 16}, {"slabinfo-03.txt", SLAB_KERNEL(4, 1), 2, 4, 67, 4},
        {"slabinfo-05.txt", SLAB_KERNEL(4, 18), 2, 8, 74, 4}, {"slabinfo-07.txt", SLAB_KERNEL(6, 6), 4, 8, 70, 8},
        {"slabinfo-08.txt", SLAB_KERNEL(6, 6), 4, 8, 6, 16},  {"slabinfo-11.txt", SLAB_KERNEL(4, 4), 4, 8, 11, 16},
        {"slabinfo-14.txt", SLAB_KERNEL(4, 4), 8, 8, 10, 16}, {"slabinfo-15.txt", SLAB_KERNEL(4, 7), 8, 8, 4, 1},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, rows[i].n_cpus);
        g_autofree char *path = data_path(rows[i].name);
        g_autoptr(GString) differences = g_string_new(NULL);
        g_autoptr(SlabListing) listing = NULL;
        g_autoptr(GError) error = NULL;

        env.pointer_bytes = rows[i].pointer_bytes;
        listing = imp_load_listing(&env, path, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(listing->rows->len, ==, rows[i].n_rows);
        g_assert_cmpuint(n_differing(listing, differences), ==, 0);
        listing->env.n_possible_cpus = listing->env.n_present_cpus = rows[i].wrong_cpus;
        g_test_message("%s with %u CPUs", rows[i].name, rows[i].wrong_cpus);
        g_assert_cmpuint(n_differing(listing, differences), >, 0);
    }
}

/* Single caches of sysfs: a 3.11 laptop, a 3.2 server, a ppc64 of 4.12 (linux-mm, July 2013, November 2011, May 2017).
 * The laptop shows cpu_partial 0, which is no default of a 48-byte cache: it must have been written or configured
 * away. */
static void
test_sysfs_of_old_kernels(void)
{
    static const struct {
        guint kernel, n_cpus, object_size, align;
        gboolean has_ctor;
        guint size, order, objects, min_partial, cpu_partial;
        gboolean cpu_partial_enabled;
    } rows[] = {
        {SLAB_KERNEL(3, 11), 4, 48, 8, FALSE, 48, 0, 85, 5, 0, FALSE},
        {SLAB_KERNEL(3, 2), 8, 192, 8, FALSE, 192, 0, 21, 5, 30, TRUE},
        {SLAB_KERNEL(4, 12), 4, 32768, 32768, TRUE, 65536, 4, 1, 8, 2, TRUE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SlabGeometryEnv env = slab_geometry_env_default(rows[i].kernel, rows[i].n_cpus);
        SlabCacheSpec spec = slab_cache_spec_default("test", rows[i].object_size);
        g_autoptr(GError) error = NULL;
        SlabGeometry geometry = {0};

        env.cpu_partial_enabled = rows[i].cpu_partial_enabled;
        spec.align_bytes = rows[i].align;
        spec.align_is_final = TRUE;
        spec.has_ctor = rows[i].has_ctor;
        slab_geometry_compute(&env, &spec, &geometry, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(geometry.size_bytes, ==, rows[i].size);
        g_assert_cmpuint(geometry.order, ==, rows[i].order);
        g_assert_cmpuint(geometry.objects, ==, rows[i].objects);
        g_assert_cmpuint(geometry.min_partial, ==, rows[i].min_partial);
        g_assert_cmpuint(geometry.cpu_partial, ==, rows[i].cpu_partial);
    }
}

/* objsize 3072 for kmalloc-1k on arm64: naturally aligned red zones triple it (slabinfo-08). */
static void
test_debug_size_of_arm64(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 6), 4);
    SlabCacheSpec spec = slab_cache_spec_default("kmalloc-1k", 1024);
    SlabGeometry geometry;

    spec.flags = slab_debug_apply("", "kmalloc-1k", SLAB_KMALLOC);
    g_assert_true(slab_geometry_compute(&env, &spec, &geometry, NULL));
    g_assert_cmpuint(geometry.size_bytes, ==, 3072);
    g_assert_cmpuint(geometry.objects, ==, 10);
}

static void
test_old_slab_listing(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(3, 13), 4);
    g_autofree char *path = data_path("slabinfo-13.txt");
    g_autoptr(GError) error = NULL;

    g_assert_null(imp_load_listing(&env, path, NULL, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
    g_assert_nonnull(strstr(error->message, "old SLAB"));
    g_assert_nonnull(strstr(error->message, ":6:"));
}

static gboolean
read_slabinfo(SlabListing *listing, const char *text, GError **error)
{
    g_autofree char *path = NULL;
    gint fd = g_file_open_tmp("slabinfo-XXXXXX", &path, NULL);
    g_autoptr(SlabListing) read = NULL;

    g_assert_cmpint(fd, >=, 0);
    g_assert_true(g_close(fd, NULL) && g_file_set_contents(path, text, -1, NULL));
    read = imp_load_listing(&listing->env, path, NULL, error);
    g_assert_cmpint(g_unlink(path), ==, 0);
    return read != NULL;
}

/* Readers refuse what they cannot understand, with the line, and leave the listing as it was. */
static void
test_damaged_listings(void)
{
    static const struct {
        gboolean is_sysfs;
        const char *text, *place;
    } rows[] = {
        {TRUE, "", ":1:"},
        {TRUE, "cache\tobject_size\nx\t8\n", ":1:"},
        {TRUE, "cache\tobject_size\talign\nx\t8\n", ":2:"},
        {TRUE, "cache\tobject_size\talign\nx\t8k\t8\n", "object_size"},
        {TRUE, "cache\tobject_size\talign\tred_zone\nx\t8\t8\t2\n", "red_zone"},
        {FALSE, "# name <active_objs>\nfoo 1 2 64 64\n", ":2:"},
        {FALSE, "foo 1 2 64 64 3 : tunables 0 0 0\n", "power of two"},
        {FALSE, "slabinfo - version: 2.1\nfoo 1 2 64 -64 1\n", ":2:"},
        {FALSE, "foo 1 2 64 -64 1\n", "no line looks like"},
        /* One row of many is enough: its numbers would be compared with. */
        {FALSE, "foo 1 2 64 64 1 : tunables 0 0 0\nbar 1 2 64 64 3 : tunables 0 0 0\n", ":2:"},
        /* slabtop rounds sizes: nothing to compute from. */
        {FALSE, "64 64 100% 0.02K 1 170 4K x\n", "exact size"},
    };
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 1), 4);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(SlabListing) listing = slab_listing_new(&env);
        g_autoptr(GError) error = NULL;
        gboolean is_read = rows[i].is_sysfs ? slab_listing_read_sysfs(listing, rows[i].text, "file", &error)
                                            : read_slabinfo(listing, rows[i].text, &error);

        g_test_message("row %" G_GSIZE_FORMAT, i);
        g_assert_false(is_read);
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_assert_nonnull(strstr(error->message, rows[i].place));
        g_assert_cmpuint(listing->rows->len, ==, 0);
    }
}

static void
test_env(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(5, 4), 4);
    g_autoptr(SlabListing) listing = slab_listing_new(&env);
    g_autoptr(GError) error = NULL;

    /* The parameters take effect in their order and by the release, wherever that stands. */
    slab_listing_read_env(listing,
                          "cmdline=quiet slub_min_order=4 slab_max_order=2 slub_debug=F\ncpus_possible=0-7,16\n"
                          "cpus_present=0-3,6\npage_size=16384\nuname=Linux box 6.12.117+deb12 #1\n"
                          "# CONFIG_SLUB_CPU_PARTIAL is not set\n",
                          "env", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(listing->env.kernel, ==, SLAB_KERNEL(6, 12));
    g_assert_cmpuint(listing->env.n_possible_cpus, ==, 17);
    g_assert_cmpuint(listing->env.n_present_cpus, ==, 5);
    g_assert_cmpuint(listing->env.page_size_bytes, ==, 16384);
    g_assert_cmpuint(listing->env.slub_max_order, ==, 2);
    g_assert_cmpuint(listing->env.slub_min_order, ==, 2);
    g_assert_false(listing->env.cpu_partial_enabled);
    g_assert_false(slab_listing_read_env(listing, "cpus_present=4-2\n", "env", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
    g_assert_cmpuint(listing->env.n_present_cpus, ==, 5);
}

/* A table or a .caches file has its machine beside it, under the name without what says when it was read. */
static void
test_env_beside(void)
{
    static const char *const names[] = {"x.tsv", "x.geom-before.tsv", "x.geom-after.tsv", "x.caches"};
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(5, 4), 4);
    g_autofree char *folder = g_dir_make_tmp("beside-XXXXXX", NULL);
    g_autofree char *env_path = g_build_filename(folder, "x.env", NULL);

    g_assert_true(g_file_set_contents(env_path, "cpus_possible=0-15\n", -1, NULL));
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_autoptr(SlabListing) listing = NULL;

        g_assert_true(g_file_set_contents(
            path, g_str_has_suffix(path, ".caches") ? "[a]\nobject_size=8\n" : "cache\tobject_size\talign\na\t8\t8\n",
            -1, NULL));
        listing = imp_load_listing(&env, path, NULL, NULL);
        g_assert_nonnull(listing);
        g_assert_cmpuint(listing->env.n_possible_cpus, ==, 16);
        g_unlink(path);
    }
    g_unlink(env_path);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* root has written cpu_partial when all caches show one value that not all have by default; a single one proves
 * nothing. */
static void
test_written_cpu_partial(void)
{
    static const struct {
        const char *rows;
        gint written;
    } texts[] = {
        {"a\t64\t64\t77\nb\t1024\t64\t77\n", 77},
        {"a\t64\t64\t77\n", -1},
        {"a\t64\t64\t77\nb\t1024\t64\t78\n", -1},
        {"a\t64\t64\t120\nb\t128\t64\t120\n", -1}, /* the default of both */
    };
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 1), 4);

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *text = g_strconcat("cache\tobject_size\talign\tcpu_partial\n", texts[i].rows, NULL);
        g_autoptr(SlabListing) listing = slab_listing_new(&env);

        g_assert_true(slab_listing_read_sysfs(listing, text, "file", NULL));
        g_assert_cmpint(listing->written_cpu_partial, ==, texts[i].written);
    }
}

/* What a dump of /sys/kernel/slab shows of a cache is what is compared with. */
static void
test_loaded_rows(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 18), 4);
    g_autofree char *path = NULL;
    gint fd = g_file_open_tmp("slab-XXXXXX", &path, NULL);
    g_autoptr(SlabListing) listing = NULL;
    const SlabListingRow *row;

    g_assert_true(g_close(fd, NULL) && g_file_set_contents(path,
                                                           "maple_node/object_size:256\nmaple_node/align:256\n"
                                                           "maple_node/slab_size:256\nmaple_node/order:1\n"
                                                           "maple_node/objs_per_slab:32\nmaple_node/min_partial:5\n"
                                                           "maple_node/cpu_partial:52\nmaple_node/sheaf_capacity:32\n",
                                                           -1, NULL));
    listing = imp_load_listing(&env, path, NULL, NULL);
    g_unlink(path);
    g_assert_nonnull(listing);
    row = &g_array_index(listing->rows, SlabListingRow, 0);
    g_assert_cmpint(row->size_bytes, ==, 256);
    g_assert_cmpint(row->order, ==, 1);
    g_assert_cmpint(row->objects, ==, 32);
    g_assert_cmpint(row->min_partial, ==, 5);
    g_assert_cmpint(row->cpu_partial, ==, 52);
    g_assert_cmpint(row->sheaf_capacity, ==, 32);
    g_assert_cmpuint(row->spec.flags & SLAB_NO_MERGE, !=, 0);
}

static void
test_kernel_names(void)
{
    guint kernel = 0;

    g_assert_true(slab_listing_parse_kernel("6.5", &kernel, NULL));
    g_assert_cmpuint(kernel, ==, SLAB_KERNEL(6, 5));
    g_assert_true(slab_listing_parse_kernel("5.10.228-rt", &kernel, NULL));
    g_assert_cmpuint(kernel, ==, SLAB_KERNEL(5, 10));
    g_assert_true(slab_listing_parse_kernel("6.19-rc5", &kernel, NULL));
    g_assert_false(slab_listing_parse_kernel("6", &kernel, NULL));
    g_assert_false(slab_listing_parse_kernel("v6.5", &kernel, NULL));
    g_assert_false(slab_listing_parse_kernel("-6.5", &kernel, NULL));
    g_assert_false(slab_listing_parse_kernel("6.5x", &kernel, NULL));
    g_assert_cmpuint(kernel, ==, SLAB_KERNEL(6, 19));
}

static void
test_spec(void)
{
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    g_autoptr(GError) error = NULL;
    SlabCacheSpec spec;

    slab_spec_parse(":A-0000176:176,align=16,flags=SLAB_ACCOUNT|HWCACHE_ALIGN,ctor,sheaf_capacity=32,order=2", names,
                    &spec, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(spec.name, ==, ":A-0000176");
    g_assert_cmpuint(spec.object_size_bytes, ==, 176);
    g_assert_cmpuint(spec.align_bytes, ==, 16);
    g_assert_cmpuint(spec.flags, ==, SLAB_ACCOUNT | SLAB_HWCACHE_ALIGN);
    g_assert_true(spec.has_ctor);
    g_assert_cmpint(spec.args_sheaf_capacity, ==, 32);
    g_assert_cmpint(spec.order_override, ==, 2);
    g_assert_cmpint(spec.cpu_partial_override, ==, -1);
    g_assert_true(slab_spec_parse("kmalloc-cg-1k:1K", names, &spec, &error));
    g_assert_cmpuint(spec.object_size_bytes, ==, 1024);
    g_assert_cmpuint(spec.flags, ==, SLAB_KMALLOC);
    g_assert_true(slab_spec_parse("kmem_cache_node:64", names, &spec, &error));
    g_assert_true(spec.is_boot_cache);
}

static void
test_spec_errors(void)
{
    static const struct {
        const char *text;
        SimErrorCode code;
    } rows[] = {
        {"name", SIM_ERROR_PARSE},
        {"", SIM_ERROR_PARSE},
        {":64", SIM_ERROR_PARSE},
        {"a:", SIM_ERROR_PARSE},
        {"a:-8", SIM_ERROR_PARSE},
        {"a:8 us", SIM_ERROR_PARSE},
        {"a:4294967300", SIM_ERROR_PARSE},
        {"a:8,order=1K", SIM_ERROR_PARSE},
        {"a:8,ctor=maybe", SIM_ERROR_PARSE},
        {"a:8,aling=8", SIM_ERROR_UNKNOWN_KEY},
        {"a:8,align", SIM_ERROR_UNKNOWN_KEY},
        {"a:8,flags=HWCACHE", SIM_ERROR_UNKNOWN_KEY},
        {"a:8,flags=ACCOUNT|", SIM_ERROR_UNKNOWN_KEY},
        {"a:8,", SIM_ERROR_UNKNOWN_KEY},
    };
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        SlabCacheSpec spec = {.name = "untouched"};

        g_test_message("\"%s\"", rows[i].text);
        g_assert_false(slab_spec_parse(rows[i].text, names, &spec, &error));
        g_assert_error(error, SIM_ERROR, (gint) rows[i].code);
        g_assert_cmpstr(spec.name, ==, "untouched");
    }
}

static void
test_flags_text(void)
{
    for (guint flag = SLAB_HWCACHE_ALIGN; flag <= SLAB_FAILSLAB; flag <<= 1) {
        g_autofree char *text = slab_flags_to_text(flag | SLAB_ACCOUNT);
        guint flags = 0;

        g_assert_true(slab_flags_parse(text, &flags, NULL));
        g_assert_cmpuint(flags, ==, flag | SLAB_ACCOUNT);
    }
}

static void
test_caches_file(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 224);
    g_autofree char *shipped = g_build_filename(g_getenv("SLUBSIM_SCENARIOS"), "caches", "x86-64-6.5.caches", NULL);
    g_autofree char *faulty = data_path("faulty.caches");
    g_autoptr(SlabListing) listing = NULL;
    g_autoptr(GError) error = NULL;
    const SlabCacheSpec *maple_node;

    listing = imp_load_listing(&env, shipped, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(listing->rows->len, >=, 20);
    maple_node = &g_array_index(listing->rows, SlabListingRow, 0).spec;
    g_assert_cmpstr(maple_node->name, ==, "maple_node");
    g_assert_cmpuint(maple_node->align_bytes, ==, 256);
    for (guint i = 0; i < listing->rows->len; i++) {
        SlabGeometry geometry;

        slab_geometry_compute(&env, &g_array_index(listing->rows, SlabListingRow, i).spec, &geometry, &error);
        g_assert_no_error(error);
    }
    g_assert_null(imp_load_listing(&env, faulty, NULL, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
    g_assert_nonnull(strstr(error->message, ":7:"));
    g_clear_error(&error);
    g_assert_null(imp_load_listing(&env, "/no/such/file.tsv", NULL, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
}

static void
test_slub_debug(void)
{
    const guint all = SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER;
    const struct {
        const char *text, *cache;
        guint flags, expected;
    } rows[] = {
        {NULL, "a", SLAB_ACCOUNT, SLAB_ACCOUNT},
        {"", "a", SLAB_ACCOUNT, SLAB_ACCOUNT | all},
        {"-", "a", 0, 0},
        {"fz", "a", 0, SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE},
        {"U", "a", SLAB_NOLEAKTRACE, SLAB_NOLEAKTRACE},
        /* Named, NOLEAKTRACE does not protect. */
        {"U,a", "a", SLAB_NOLEAKTRACE, SLAB_NOLEAKTRACE | SLAB_STORE_USER},
        {"P,dentry", "a", 0, 0},
        {"P,dentry,kmalloc-*", "kmalloc-64", 0, SLAB_POISON},
        {"P,kmalloc-*", "dma-kmalloc-64", 0, 0},
        {",a", "a", 0, all},
        {"F;P,a", "a", 0, SLAB_POISON},
        {"F;P,a", "b", 0, SLAB_CONSISTENCY_CHECKS},
        {"P,a;Z,a*", "a", 0, SLAB_POISON},
        {"P,a;Z,a*", "ab", 0, SLAB_RED_ZONE},
        {"FO", "a", 0, SLAB_CONSISTENCY_CHECKS},
    };
    gboolean no_higher_order = FALSE;

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("row %" G_GSIZE_FORMAT, i);
        g_assert_cmpuint(slab_debug_apply(rows[i].text, rows[i].cache, rows[i].flags), ==, rows[i].expected);
    }
    g_assert_true(slab_debug_check("F,a;o", &no_higher_order, NULL));
    g_assert_true(no_higher_order);
    g_assert_false(slab_debug_check("FX", &no_higher_order, NULL));
    g_assert_true(no_higher_order);
    g_assert_true(slab_debug_check("FZPUTA", &no_higher_order, NULL));
    g_assert_false(no_higher_order);
}

/* Runs a sub-command in a child, which it ends: "FILE" among the blank-separated arguments stands for `file`, which
 * it frees. Nothing is left allocated, so that the sanitizer sees what the command leaves. */
static void
run_command(int (*command)(int, char **), const char *arguments, char *file)
{
    char **argv = g_strsplit(arguments, " ", -1);
    guint argc = g_strv_length(argv);
    char **given = g_new0(char *, argc + 1);
    int status;

    for (guint i = 0; i < argc; i++)
        given[i] = g_str_equal(argv[i], "FILE") ? file : argv[i];
    status = command((int) argc, given);
    g_free(given);
    g_strfreev(argv);
    g_free(file);
    exit(status);
}

static void
child_geometry(void)
{
    run_command(slab_cmd_geometry, "geometry --kernel 6.5 --cpus 224 maple_node:256,align=256 --old-slab 0", NULL);
}

static void
child_listing(void)
{
    run_command(slab_cmd_geometry, "geometry --kernel 6.6 --cpus 4 FILE", data_path("slabinfo-08.txt"));
}

static void
child_differing_listing(void)
{
    run_command(slab_cmd_geometry, "geometry --kernel 6.6 --cpus 16 FILE", data_path("slabinfo-08.txt"));
}

typedef struct {
    const char *name, *arguments, *complaint; /* what stands after "slubsim COMMAND: " */
} Refusal;

static const Refusal refusals[] = {
    {"cpus-negative", "geometry --cpus -4 a:8", "--cpus: -4 is out of range (allowed: 1 to 8192)"},
    {"cpus-none", "geometry --cpus=0 a:8", "--cpus: 0 is out of range (allowed: 1 to 8192)"},
    {"cpus-many", "explain --cpus=8193 a:8", "--cpus: 8193 is out of range (allowed: 1 to 8192)"},
    {"order", "geometry --slub-max-order=11 a:8", "--slub-max-order: \"11\" is no order (allowed: 0 to 10)"},
    {"kernel-old", "geometry --kernel 5.9 a:8", "--kernel: the rules of 5.9 are not known (allowed: 5.10 to 7.3)"},
    {"kernel-new", "explain --kernel 7.4 a:8", "--kernel: the rules of 7.4 are not known (allowed: 5.10 to 7.3)"},
    {"kernel-word", "explain --kernel x a:8", "--kernel: \"x\" is no kernel release such as 6.5"},
    /* The second cache is refused: nothing of the first is printed either. */
    {"second-cache", "geometry a:8 b:0", ""},
    {"second-argument", "explain a:8 b", "\"b\" is neither NAME:SIZE nor a cache of --among"},
};

static void
child_refused(gconstpointer data)
{
    const Refusal *refusal = data;
    gboolean is_geometry = g_str_has_prefix(refusal->arguments, "geometry ");

    run_command(is_geometry ? slab_cmd_geometry : slab_cmd_explain, refusal->arguments, NULL);
}

/* One line on stderr, no header on stdout before it. */
static void
test_refusals(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autofree char *path = g_strconcat("/slab-text/refusals/subprocess/", refusals[i].name, NULL);
        g_autofree char *pattern = g_strdup_printf("slubsim *: %s*", refusals[i].complaint);

        g_test_trap_subprocess(path, 0, 0);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr(pattern);
        g_test_trap_assert_stdout_unmatched("*# kernel*");
        g_test_trap_assert_stdout_unmatched("*object_size*");
    }
}

/* Why the kernel would refuse is part of the explanation. */
static void
child_explained_refusal(void)
{
    run_command(slab_cmd_explain, "explain b:64,cpu_partial=5,flags=POISON", NULL);
}

static void
child_explain(void)
{
    run_command(slab_cmd_explain, "explain --kernel 6.5 --cpus 224 new:40,flags=ACCOUNT vm_area_struct --among FILE",
                g_build_filename(g_getenv("SLUBSIM_SCENARIOS"), "caches", "x86-64-6.5.caches", NULL));
}

/* The status the child ended with is told apart by the words only a run of that status prints. */
static void
test_commands(void)
{
    g_test_trap_subprocess("/slab-text/commands/subprocess/geometry", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("*stage 0*maple_node*256*256*0*15*");
    g_test_trap_subprocess("/slab-text/commands/subprocess/listing", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("*6 caches compared with the listing, 0 differ*");
    g_test_trap_subprocess("/slab-text/commands/subprocess/differing-listing", 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stdout("*skbuff_small_head: order listed 2, computed 3*2 differ*");
    g_test_trap_subprocess("/slab-text/commands/subprocess/explain", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("*merging: into vma_lock*order: 1, 46 objects*");
    g_test_trap_subprocess("/slab-text/commands/subprocess/explained-refusal", 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stdout("*cpu_partial: 0, no per-CPU partial slabs: a debug cache*");
    g_test_trap_assert_stderr("slubsim explain: cache b: cpu_partial cannot be set*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slab-text/slabinfo", test_slabinfo);
    g_test_add_func("/slab-text/sysfs-of-old-kernels", test_sysfs_of_old_kernels);
    g_test_add_func("/slab-text/debug-size-of-arm64", test_debug_size_of_arm64);
    g_test_add_func("/slab-text/old-slab-listing", test_old_slab_listing);
    g_test_add_func("/slab-text/damaged-listings", test_damaged_listings);
    g_test_add_func("/slab-text/env", test_env);
    g_test_add_func("/slab-text/env-beside", test_env_beside);
    g_test_add_func("/slab-text/written-cpu-partial", test_written_cpu_partial);
    g_test_add_func("/slab-text/loaded-rows", test_loaded_rows);
    g_test_add_func("/slab-text/kernel-names", test_kernel_names);
    g_test_add_func("/slab-text/spec", test_spec);
    g_test_add_func("/slab-text/spec-errors", test_spec_errors);
    g_test_add_func("/slab-text/flags-text", test_flags_text);
    g_test_add_func("/slab-text/caches-file", test_caches_file);
    g_test_add_func("/slab-text/slub-debug", test_slub_debug);
    g_test_add_func("/slab-text/commands", test_commands);
    g_test_add_func("/slab-text/commands/subprocess/geometry", child_geometry);
    g_test_add_func("/slab-text/commands/subprocess/listing", child_listing);
    g_test_add_func("/slab-text/commands/subprocess/differing-listing", child_differing_listing);
    g_test_add_func("/slab-text/refusals", test_refusals);
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autofree char *path = g_strconcat("/slab-text/refusals/subprocess/", refusals[i].name, NULL);
        g_test_add_data_func(path, &refusals[i], child_refused);
    }
    g_test_add_func("/slab-text/commands/subprocess/explain", child_explain);
    g_test_add_func("/slab-text/commands/subprocess/explained-refusal", child_explained_refusal);
    return g_test_run();
}
