/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference and .caches files against the recorded listings of kernels whose machine is known
 * (tests/data/geometry.tsv.gz). */
#include <gio/gio.h>
#include <string.h>

#include "imp-caches.h"
#include "imp-compare.h"
#include "imp-read.h"
#include "import-fixture.h"
#include "slab-listing.h"
#include "slab-spec.h"

#define N_LISTINGS 58u

static char *
read_compressed(const char *name)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", name, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GInputStream) raw = G_INPUT_STREAM(g_file_read(file, NULL, NULL));
    g_autoptr(GConverter) gunzip = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
    g_autoptr(GInputStream) plain = g_converter_input_stream_new(raw, gunzip);
    g_autoptr(GOutputStream) memory = g_memory_output_stream_new_resizable();
    g_autoptr(GError) error = NULL;

    g_output_stream_splice(memory, plain, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, &error);
    g_assert_no_error(error);
    return g_strndup(g_memory_output_stream_get_data(G_MEMORY_OUTPUT_STREAM(memory)),
                     g_memory_output_stream_get_data_size(G_MEMORY_OUTPUT_STREAM(memory)));
}

static SlabGeometryEnv
true_env(const char *facts)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(2, 6), 1);
    g_autoptr(SlabListing) listing = slab_listing_new(&env);
    g_autoptr(GError) error = NULL;

    slab_listing_read_env(listing, facts, "env", &error);
    g_assert_no_error(error);
    return listing->env;
}

/* What /proc/slabinfo of the same machine would print: strides, objects, pages. */
static char *
as_slabinfo(const ImpDump *dump)
{
    GString *text = g_string_new("slabinfo - version: 2.1\n");

    for (guint i = 0; i < dump->rows->len; i++) {
        const ImpRow *row = &g_array_index(dump->rows, ImpRow, i);

        g_string_append_printf(text,
                               "%-17s %6" G_GINT64_FORMAT " %6" G_GINT64_FORMAT " %6" G_GINT64_FORMAT
                               " %4" G_GINT64_FORMAT " %4d : tunables    0    0    0 : slabdata      1      1      0\n",
                               row->name, row->objects_per_slab, row->objects_per_slab, row->stride_bytes,
                               row->objects_per_slab, 1 << row->order);
    }
    return g_string_free(text, FALSE);
}

/* From the bare slabinfo: pages, and CPUs in the range that slub_min_objects allows. */
static void
check_inference(const char *facts, const ImpDump *sysfs, const SlabGeometryEnv *env)
{
    g_autofree char *text = as_slabinfo(sysfs);
    g_autoptr(ImpDump) dump = import_fixture_read(text, NULL);
    ImpMachine machine = import_fixture_machine(dump, 0);
    guint n_cpus = env->n_present_cpus > 1 ? env->n_present_cpus : env->n_possible_cpus;
    gboolean is_fixed = strstr(facts, "min_objects=") != NULL;

    g_assert_true(machine.knows_page_size);
    g_assert_cmpuint(machine.env.page_size_bytes, ==, env->page_size_bytes);
    g_assert_cmpuint(machine.n_misfits, ==, 0);
    if (!is_fixed) {
        g_assert_cmpuint(machine.cpus_low, <=, n_cpus);
        g_assert_true(machine.cpus_high == 0 || machine.cpus_high >= n_cpus);
    } else
        g_assert_cmpuint(machine.cpus_high, ==, 1); /* 8 objects are what one CPU would ask for */
    g_assert_cmpuint(machine.kernel_low, <=, env->kernel);
    g_assert_true(machine.kernel_high == 0 || machine.kernel_high >= env->kernel);
    g_assert_cmpint(machine.is_debug, ==, strstr(facts, "debug=") != NULL);
}

/* Each cache of the .caches file has the geometry that was listed. */
static guint
check_round_trip(ImpDump *dump, const SlabGeometryEnv *env)
{
    ImpMachine machine = {.env = *env};
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GStringChunk) names = g_string_chunk_new(4096);
    g_autoptr(GArray) specs = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));
    g_autoptr(GError) error = NULL;
    guint n = imp_caches_write(dump, 0, &machine, text);

    slab_spec_parse_caches(text->str, "written", names, specs, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(specs->len, ==, n);
    g_assert_cmpuint(n, ==, dump->rows->len);
    for (guint i = 0; i < specs->len; i++) {
        const SlabCacheSpec *spec = &g_array_index(specs, SlabCacheSpec, i);
        const ImpRow *row = import_fixture_row(dump, 0, spec->name);
        SlabGeometry geometry = {0};

        slab_geometry_compute(env, spec, &geometry, &error);
        g_assert_no_error(error);
        g_test_message("%s", spec->name);
        g_assert_cmpint(geometry.size_bytes, ==, row->stride_bytes);
        g_assert_cmpint(geometry.order, ==, row->order);
        g_assert_cmpint(geometry.objects, ==, row->objects_per_slab);
        g_assert_cmpint(geometry.min_partial, ==, row->min_partial);
        g_assert_cmpint(geometry.cpu_partial, ==, row->cpu_partial);
        if (row->sheaf_capacity >= 0)
            g_assert_cmpint(geometry.sheaf_capacity, ==, row->sheaf_capacity);
    }
    return n;
}

static void
test_ground_truth(void)
{
    g_autofree char *text = read_compressed("geometry.tsv.gz");
    g_auto(GStrv) sections = g_strsplit(text, "== ", -1);
    guint n_caches = 0;

    g_assert_cmpuint(g_strv_length(sections), ==, N_LISTINGS + 1);
    for (guint i = 1; sections[i] != NULL; i++) {
        g_auto(GStrv) parts = g_strsplit(sections[i], "\n\n", 2);
        SlabGeometryEnv env = true_env(parts[0]);
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(parts[1], &error);
        g_autoptr(GString) differences = g_string_new(NULL);
        guint n_differing = G_MAXUINT;

        g_assert_no_error(error);
        g_test_message("%.60s", sections[i]);
        check_inference(parts[0], dump, &env);
        n_caches += check_round_trip(dump, &env);
        imp_compare_geometry(dump, &env, differences, &n_differing, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(n_differing, ==, 0);
    }
    g_assert_cmpuint(n_caches, ==, 9375);
}

/* A different machine must not pass. */
static void
test_wrong_machine(void)
{
    g_autofree char *text = read_compressed("geometry.tsv.gz");
    g_auto(GStrv) sections = g_strsplit(text, "== ", -1);
    g_auto(GStrv) parts = g_strsplit(sections[1], "\n\n", 2);
    SlabGeometryEnv env = true_env(parts[0]);
    g_autoptr(ImpDump) dump = import_fixture_read(parts[1], NULL);
    g_autoptr(GString) differences = g_string_new(NULL);
    guint n_differing = 0;

    env.n_possible_cpus = env.n_present_cpus = 512;
    g_assert_true(imp_compare_geometry(dump, &env, differences, &n_differing, NULL));
    g_assert_cmpuint(n_differing, >, 10);
    g_assert_nonnull(strstr(differences->str, "order listed"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import-truth/ground-truth", test_ground_truth);
    g_test_add_func("/import-truth/wrong-machine", test_wrong_machine);
    return g_test_run();
}
