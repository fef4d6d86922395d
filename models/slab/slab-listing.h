/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_LISTING_H
#define SLAB_LISTING_H

#include "slab-geometry.h"

/* What a kernel said of its caches, as specs to compute from and numbers to compare with. One form is read here: the
 * tab-separated collection of /sys/kernel/slab with its .env file of the machine. imp_load_listing() reads the others
 * and files. */

/* One cache. The listed numbers are -1 where the text does not show them. */
typedef struct {
    SlabCacheSpec spec;
    gint size_bytes, order, objects, min_partial, cpu_partial, sheaf_capacity;
    gboolean is_stride;  /* slabinfo: object_size_bytes is the stride; own size, alignment and flags are unknown */
    gint cpu_list_slabs; /* longest per-CPU partial list at that moment: a lower bound of cpu_partial_slabs */
} SlabListingRow;

typedef struct {
    SlabGeometryEnv env;
    GStringChunk *names;      /* owns the names of the specs */
    GArray *rows;             /* SlabListingRow */
    gint written_cpu_partial; /* value all caches carry although no default has it, -1 = none */
} SlabListing;

SlabListing *slab_listing_new(const SlabGeometryEnv *env);
void slab_listing_free(SlabListing *listing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SlabListing, slab_listing_free)

/* What the creator of a cache of that name passes in that release and no listing shows; nothing for most names. */
void slab_listing_add_hidden_facts(guint kernel, const char *name, SlabCacheSpec *spec);

/* A row of which nothing is known; `name` is borrowed. */
SlabListingRow slab_listing_row_new(const char *name);

/* Append a row, a cache without listed numbers, and a row as sysfs shows it: to this one is added what the name and
 * the release say that no file does. Names are copied. */
void slab_listing_add(SlabListing *listing, const SlabListingRow *row);
void slab_listing_add_spec(SlabListing *listing, const SlabCacheSpec *spec);
void slab_listing_add_sysfs(SlabListing *listing, const SlabListingRow *row);

/* Once all rows are there: sets written_cpu_partial. */
void slab_listing_find_written(SlabListing *listing);

/* "6.1", or a release string that begins so ("6.1.0-57-amd64"). SIM_ERROR_PARSE. */
gboolean slab_listing_parse_kernel(const char *text, guint *ret_kernel, GError **error);

/* "slub_min_order=3" and the like, old and new spelling, in the order of the command line; slub_debug is left to the
 * caller. `ret_known` is FALSE for other parameters. SIM_ERROR_PARSE for a bad value. */
gboolean slab_listing_boot_parameter(SlabGeometryEnv *env, const char *parameter, gboolean *ret_known, GError **error);

/* The readers append to `listing`; `path` is for messages. SIM_ERROR_PARSE carries the line.
 * env: lines uname=, cmdline=, cpus_possible=, cpus_present=, page_size=, [# ]CONFIG_SLUB_CPU_PARTIAL; before the rows,
 * as facts that a listing hides (explicit free-pointer offsets, sheaf arguments) depend on the release. */
gboolean slab_listing_read_env(SlabListing *listing, const char *text, const char *path, GError **error);
gboolean slab_listing_read_sysfs(SlabListing *listing, const char *text, const char *path, GError **error);

/* Computes row `i` and appends a line "CACHE: column listed L, computed C" to `differences` for each number that
 * differs. `ret_n_differences` counts them. */
gboolean slab_listing_compare(const SlabListing *listing, guint i, SlabGeometry *ret_geometry, GString *differences,
                              guint *ret_n_differences, GError **error);

#endif
