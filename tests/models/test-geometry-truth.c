/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Geometry against every cache of every recorded sysfs listing (tests/data/geometry.tsv.gz). */
#include <gio/gio.h>

#include "slab-listing.h"

/* A reader that loses rows must not pass. */
#define N_LISTINGS 58u
#define N_CACHES 9375u

static char *
read_compressed(const char *name)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", name, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    g_autoptr(GInputStream) raw = G_INPUT_STREAM(g_file_read(file, NULL, &error));
    g_autoptr(GConverter) gunzip = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
    g_autoptr(GInputStream) plain = NULL;
    g_autoptr(GOutputStream) memory = g_memory_output_stream_new_resizable();

    g_assert_no_error(error);
    plain = g_converter_input_stream_new(raw, gunzip);
    g_output_stream_splice(memory, plain, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, &error);
    g_assert_no_error(error);
    return g_strndup(g_memory_output_stream_get_data(G_MEMORY_OUTPUT_STREAM(memory)),
                     g_memory_output_stream_get_data_size(G_MEMORY_OUTPUT_STREAM(memory)));
}

/* What the listings must show at least once, so that an unread column is noticed. */
typedef struct {
    guint n_caches, n_sheaf, n_cpu_partial, n_full_cpu_lists, n_debug, n_written;
} Seen;

static void
check_section(const char *section, Seen *seen)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(2, 6), 1);
    g_autoptr(SlabListing) listing = slab_listing_new(&env);
    g_autoptr(GString) differences = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) parts = g_strsplit(section, "\n\n", 2);

    g_assert_cmpuint(g_strv_length(parts), ==, 2);
    slab_listing_read_env(listing, parts[0], "env", &error);
    g_assert_no_error(error);
    slab_listing_read_sysfs(listing, parts[1], "table", &error);
    g_assert_no_error(error);
    for (guint i = 0; i < listing->rows->len; i++) {
        const SlabListingRow *row = &g_array_index(listing->rows, SlabListingRow, i);
        SlabGeometry geometry;
        guint n_differences;

        slab_listing_compare(listing, i, &geometry, differences, &n_differences, &error);
        g_assert_no_error(error);
        g_assert_cmpint(MIN(row->size_bytes, MIN(row->order, MIN(row->objects, row->min_partial))), >=, 0);
        seen->n_sheaf += row->sheaf_capacity > 0;
        seen->n_cpu_partial += row->cpu_partial > 0;
        seen->n_full_cpu_lists += row->cpu_list_slabs > 1 && row->cpu_list_slabs == (gint) geometry.cpu_partial_slabs;
        seen->n_debug += (row->spec.flags & SLAB_DEBUG_FLAGS) != 0;
    }
    if (differences->len > 0)
        g_test_message("%.40s: %s", section, differences->str);
    g_assert_cmpuint(differences->len, ==, 0);
    seen->n_caches += listing->rows->len;
    seen->n_written += listing->written_cpu_partial >= 0;
}

static void
test_ground_truth(void)
{
    g_autofree char *text = read_compressed("geometry.tsv.gz");
    g_auto(GStrv) sections = g_strsplit(text, "== ", -1);
    Seen seen = {0};

    g_assert_cmpuint(g_strv_length(sections), ==, N_LISTINGS + 1);
    for (guint i = 1; sections[i] != NULL; i++)
        check_section(sections[i], &seen);
    g_assert_cmpuint(seen.n_caches, ==, N_CACHES);
    g_assert_cmpuint(seen.n_sheaf, >, 500);
    g_assert_cmpuint(seen.n_cpu_partial, >, 5000);
    g_assert_cmpuint(seen.n_full_cpu_lists, >, 50);
    g_assert_cmpuint(seen.n_debug, >, 100);
    /* Both ends of the one trace here that had cpu_partial set to 0. */
    g_assert_cmpuint(seen.n_written, ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/geometry/ground-truth", test_ground_truth);
    return g_test_run();
}
