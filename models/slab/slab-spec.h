/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_SPEC_H
#define SLAB_SPEC_H

#include "slab-geometry.h"

/* Caches as text. The same keys are used on the command line (NAME:SIZE,key=value,...) and in a .caches file, which
 * has one GKeyFile group a cache: object_size, align, flags, ctor, usersize, freeptr_offset, sheaf_capacity,
 * boot_cache, order, cpu_partial, cpu_partial_slabs, min_partial, names (of merged caches). Sizes are in bytes ("256",
 * "256 B", "1K"). */

/* "HWCACHE_ALIGN|ACCOUNT", names with or without SLAB_, "" or "-" for none. SIM_ERROR_UNKNOWN_KEY for other names. */
gboolean slab_flags_parse(const char *text, guint *ret_flags, GError **error);

/* The same form, without SLAB_; "-" for none. Caller frees. */
char *slab_flags_to_text(guint flags);

/* Whether the cache has this name, its own or that of a merged one. */
gboolean slab_spec_is_named(const SlabCacheSpec *spec, const char *name);

/* "vm_area_struct:176,align=8,flags=ACCOUNT,ctor". The name is kept in `names`; one of a kmalloc cache sets
 * SLAB_KMALLOC, kmem_cache and kmem_cache_node are boot caches. SIM_ERROR_PARSE, SIM_ERROR_UNKNOWN_KEY. */
gboolean slab_spec_parse(const char *text, GStringChunk *names, SlabCacheSpec *ret_spec, GError **error);

/* Appends the caches of a .caches text to `specs` (array of SlabCacheSpec). `path` is for messages, which carry the
 * line. Duplicate groups and keys, unknown keys and a group without object_size are errors. */
gboolean slab_spec_parse_caches(const char *text, const char *path, GStringChunk *names, GArray *specs, GError **error);

/* Appends the group of a cache, with what is not a default. slab_spec_parse_caches() reads it back. */
void slab_spec_write(const SlabCacheSpec *spec, GString *text);

#endif
