/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-compare.h"

#include "slab-listing.h"

/* The columns slab_listing_read_sysfs() looks at. */
static void
append_header(GString *table)
{
    g_string_append(table,
                    "cache\tobject_size\talign\tslab_size\torder\tobjs_per_slab\tmin_partial\tcpu_partial\t"
                    "sheaf_capacity\tusersize\tslabs_cpu_partial\tctor\thwcache_align\tdestroy_by_rcu\tred_zone\t"
                    "poison\tstore_user\ttrace\tsanity_checks\tcache_dma\treclaim_account\n");
}

static void
append_number(GString *table, gint64 number)
{
    if (number >= 0 && number <= G_MAXINT)
        g_string_append_printf(table, "\t%" G_GINT64_FORMAT, number);
    else
        g_string_append(table, "\t-");
}

static void
append_row(GString *table, const ImpRow *row)
{
    static const guint flags[] = {SLAB_HWCACHE_ALIGN,  SLAB_TYPESAFE_BY_RCU, SLAB_RED_ZONE,           SLAB_POISON,
                                  SLAB_STORE_USER,     SLAB_TRACE,           SLAB_CONSISTENCY_CHECKS, SLAB_CACHE_DMA,
                                  SLAB_RECLAIM_ACCOUNT};
    const gint64 numbers[] = {row->object_bytes, row->align_bytes,      row->stride_bytes,
                              row->order,        row->objects_per_slab, row->min_partial,
                              row->cpu_partial,  row->sheaf_capacity,   row->usersize_bytes};

    g_string_append(table, row->name);
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
        append_number(table, numbers[i]);
    if (row->cpu_list_longest > 0)
        g_string_append_printf(table, "\t0 C0=0(%" G_GINT64_FORMAT ")", MIN(row->cpu_list_longest, G_MAXINT));
    else
        g_string_append(table, "\t-");
    g_string_append(table, row->has_ctor ? "\tctor" : "\t-");
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
        g_string_append_printf(table, "\t%d", (row->flags & flags[i]) != 0);
    g_string_append_c(table, '\n');
}

gboolean
imp_compare_geometry(const ImpDump *dump, guint table, const SlabGeometryEnv *env, GString *text,
                     guint *ret_n_differing, GError **error)
{
    g_autoptr(GPtrArray) rows = imp_dump_table(dump, table);
    g_autoptr(SlabListing) listing = slab_listing_new(env);
    g_autoptr(GString) lines = g_string_new(NULL), differences = g_string_new(NULL);
    guint n_left_out = 0, n_differing = 0;

    append_header(lines);
    for (guint i = 0; i < rows->len; i++) {
        const ImpRow *row = rows->pdata[i];

        if (row->object_bytes > 0 && row->align_bytes > 0)
            append_row(lines, row);
        else
            n_left_out++;
    }
    if (!slab_listing_read_sysfs(listing, lines->str, "listing", error))
        return FALSE;
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
        g_string_append_printf(text, "%u caches show no object size or alignment and were not compared.\n", n_left_out);
    g_string_append_printf(text, "Geometry: %u caches compared with the model, %u differ.\n", listing->rows->len,
                           n_differing);
    *ret_n_differing = n_differing;
    return TRUE;
}
