/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a .caches file, and as a sysfs table of the geometry comparison. */
#include "fuzz-target.h"

#include <string.h>

#include "slab-listing.h"
#include "slab-spec.h"

static void
compare_all(const SlabListing *listing)
{
    for (guint i = 0; i < listing->rows->len; i++) {
        g_autoptr(GString) differences = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        SlabGeometry geometry;
        guint n;

        if (!slab_listing_compare(listing, i, &geometry, differences, &n, &error))
            g_assert_nonnull(error);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 12), 8);
    g_autofree char *text = g_malloc0(size + 1);
    g_autoptr(GStringChunk) names = g_string_chunk_new(1024);
    g_autoptr(GArray) specs = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));
    g_autoptr(SlabListing) table = slab_listing_new(&env);

    if (size > 0)
        memcpy(text, data, size);
    if (!slab_spec_parse_caches(text, "input", names, specs, NULL))
        g_assert_cmpuint(specs->len, ==, 0);
    if (slab_listing_read_sysfs(table, text, "input", NULL))
        compare_all(table);
    return 0;
}
