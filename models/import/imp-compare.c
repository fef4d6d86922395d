/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-compare.h"

#include "imp-load.h"

gboolean
imp_compare_geometry(const ImpDump *dump, const SlabGeometryEnv *env, GString *text, guint *ret_n_differing,
                     GError **error)
{
    g_autoptr(SlabListing) listing = slab_listing_new(env);
    g_autoptr(GString) differences = g_string_new(NULL);
    guint n_left_out = imp_load_rows(dump, listing), n_differing = 0;

    for (guint i = 0; i < listing->rows->len; i++) {
        SlabGeometry geometry;
        guint n;

        if (!slab_listing_compare(listing, i, &geometry, differences, &n, error))
            return FALSE;
        n_differing += n > 0;
    }
    g_string_append(text, differences->str);
    if (listing->written_cpu_partial >= 0)
        g_string_append_printf(text, "cpu_partial %d was written to every cache, and is compared as such.\n",
                               listing->written_cpu_partial);
    if (n_left_out > 0)
        g_string_append_printf(text, "%u caches show no geometry and were not compared.\n", n_left_out);
    g_string_append_printf(text, "Geometry: %u caches compared with the model, %u differ.\n", listing->rows->len,
                           n_differing);
    *ret_n_differing = n_differing;
    return TRUE;
}
