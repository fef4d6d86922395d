/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-load.h"

#include <string.h>

#include "imp-read.h"
#include "slab-spec.h"

static gint
number_or_none(gint64 number)
{
    return number <= G_MAXINT ? (gint) number : -1;
}

static gboolean
is_shown_by_sysfs(const ImpRow *row)
{
    return row->object_bytes > 0 && row->align_bytes > 0 && row->align_bytes <= G_MAXINT;
}

static gboolean
has_exact_stride(const ImpRow *row)
{
    return row->stride_bytes > 0 && row->stride_low_bytes == row->stride_high_bytes && row->order >= 0 &&
           row->objects_per_slab > 0;
}

guint
imp_load_rows(const ImpDump *dump, SlabListing *listing)
{
    guint n_left_out = 0;

    for (guint i = 0; i < dump->rows->len; i++) {
        const ImpRow *row = &g_array_index(dump->rows, ImpRow, i);
        SlabListingRow out = slab_listing_row_new(row->name);

        out.spec.alias_names = row->alias_names;
        out.size_bytes = number_or_none(row->stride_bytes);
        out.order = number_or_none(row->order);
        out.objects = number_or_none(row->objects_per_slab);
        out.min_partial = number_or_none(row->min_partial);
        out.cpu_partial = number_or_none(row->cpu_partial);
        out.sheaf_capacity = number_or_none(row->sheaf_capacity);
        out.cpu_list_slabs = number_or_none(row->cpu_list_longest);
        if (is_shown_by_sysfs(row)) {
            out.spec.object_size_bytes = (guint) row->object_bytes;
            out.spec.align_bytes = (guint) row->align_bytes;
            out.spec.usersize_bytes = (guint) MAX(number_or_none(row->usersize_bytes), 0);
            out.spec.has_ctor = row->has_ctor;
            out.spec.flags = row->flags;
            slab_listing_add_sysfs(listing, &out);
        } else if (has_exact_stride(row)) {
            /* The size shown is the stride: nothing more is to be added to it. */
            out.spec.object_size_bytes = (guint) row->stride_bytes;
            out.spec.align_bytes = 1;
            out.spec.align_is_final = TRUE;
            out.is_stride = TRUE;
            slab_listing_add(listing, &out);
        } else
            n_left_out++;
    }
    slab_listing_find_written(listing);
    return n_left_out;
}

/* "X.tsv", "X.geom-before.tsv" and "X.caches" have their machine in "X.env". */
static gboolean
read_env_beside(SlabListing *listing, const char *path, GError **error)
{
    g_autofree char *base = g_strndup(path, (gsize) (strrchr(path, '.') - path));
    g_autofree char *env_path = NULL, *text = NULL;

    if (g_str_has_suffix(base, ".geom-before"))
        base[strlen(base) - strlen(".geom-before")] = '\0';
    else if (g_str_has_suffix(base, ".geom-after"))
        base[strlen(base) - strlen(".geom-after")] = '\0';
    env_path = g_strconcat(base, ".env", NULL);
    if (!g_file_get_contents(env_path, &text, NULL, NULL))
        return TRUE;
    return slab_listing_read_env(listing, text, env_path, error);
}

static gboolean
read_caches(SlabListing *listing, const char *text, const char *path, GError **error)
{
    g_autoptr(GArray) specs = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));

    if (!slab_spec_parse_caches(text, path, listing->names, specs, error))
        return FALSE;
    for (guint i = 0; i < specs->len; i++)
        slab_listing_add_spec(listing, &g_array_index(specs, SlabCacheSpec, i));
    return TRUE;
}

static gboolean
read_dump(SlabListing *listing, const char *path, GError **error)
{
    g_autoptr(ImpDump) dump = imp_read_path(path, error);

    if (dump == NULL)
        return FALSE;
    if (dump->rows->len > 0 && dump->is_old_slab)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                    "%s:%u: limits above 0, or slabinfo 1.x: this is the old SLAB allocator, not SLUB", path,
                    g_array_index(dump->rows, ImpRow, 0).line);
    else if (dump->fault != NULL)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%s", path, dump->fault);
    else if (dump->shows != IMP_SHOWS_CACHES)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s is %s: there are no caches in it", path, dump->format);
    else if (imp_load_rows(dump, listing) > 0)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                    "%s is %s: it does not show the exact size, objects and order of each cache; slubsim import makes "
                    "a .caches file of what it shows",
                    path, dump->format);
    else
        return TRUE;
    return FALSE;
}

SlabListing *
imp_load_listing(const SlabGeometryEnv *env, const char *path, char **ret_table, GError **error)
{
    g_autoptr(SlabListing) listing = slab_listing_new(env);
    gboolean is_table = g_str_has_suffix(path, ".tsv");
    g_autoptr(GError) cause = NULL;
    g_autofree char *text = NULL;
    gboolean is_read;

    if ((is_table || g_str_has_suffix(path, ".caches")) && !g_file_get_contents(path, &text, NULL, &cause)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
        return NULL;
    }
    if (text == NULL)
        is_read = read_dump(listing, path, error);
    else
        is_read = read_env_beside(listing, path, error) &&
                  (is_table ? slab_listing_read_sysfs : read_caches)(listing, text, path, error);
    if (is_read && listing->rows->len == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: no caches in it", path);
        is_read = FALSE;
    }
    if (is_read && ret_table != NULL)
        *ret_table = is_table ? g_steal_pointer(&text) : NULL;
    return is_read ? g_steal_pointer(&listing) : NULL;
}
