/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_GEOMETRY_H
#define SLAB_GEOMETRY_H

#include "slab-types.h"

/* Everything of a machine and its boot line that the geometry of a cache depends on. */
typedef struct {
    guint kernel;              /* SLAB_KERNEL(major, minor) */
    guint page_size_bytes;     /* 4096, 16384 or 65536 */
    guint pointer_bytes;       /* 8, or 4 on 32-bit machines */
    guint cache_line_bytes;    /* 64 */
    guint n_possible_cpus;     /* nr_cpu_ids */
    guint n_present_cpus;      /* num_present_cpus() */
    guint max_page_order;      /* 10 */
    guint slub_min_order;      /* boot parameters; 0 and 3 by default. A minimum above the maximum raises the maximum */
    guint slub_max_order;      /* from 6.8 on, as if slub_min_order came last; slab_geometry_env_set_*() know better */
    guint slub_min_objects;    /* 0 = computed from the CPU count */
    guint min_partial_floor;   /* MIN_PARTIAL, 5 */
    guint min_partial_ceiling; /* MAX_PARTIAL, 10 */
    gboolean cpu_partial_enabled;        /* CONFIG_SLUB_CPU_PARTIAL */
    double cpu_partial_factor;           /* scales set_cpu_partial()'s object targets; 1 */
    gboolean slub_debug_no_higher_order; /* slub_debug=O */
} SlabGeometryEnv;

/* What the creator of a cache asked for, and what was written to sysfs later. Negative overrides mean "not given".
 * A kernel older than an argument ignores it: freeptr_offset below 6.12, args_sheaf_capacity below 6.18. */
typedef struct {
    const char *name;
    guint object_size_bytes;
    guint align_bytes;       /* s->align when align_is_final, else the align argument */
    gboolean align_is_final; /* TRUE for values read from sysfs */
    guint flags;             /* SlabFlags */
    gboolean has_ctor;
    guint usersize_bytes;            /* region user space may copy, 0 = none; only merging asks for it */
    gint freeptr_offset;             /* explicit free-pointer offset (6.12+), -1 = none */
    gint args_sheaf_capacity;        /* args.sheaf_capacity, 0 = none */
    gboolean is_boot_cache;          /* kmem_cache and kmem_cache_node: never have sheaves */
    gint order_override;             /* sysfs order (before 5.9) or a what-if, -1 = computed */
    gint cpu_partial_override;       /* sysfs cpu_partial in objects, -1 = computed */
    gint cpu_partial_slabs_override; /* what-if: the slab limit itself, -1 = computed */
    gint min_partial_override;       /* sysfs min_partial, -1 = computed */
    const char *alias_names;         /* of caches merged into it, blanks between; NULL = none known */
} SlabCacheSpec;

/* The kernel's own numbers for one cache. */
typedef struct {
    guint align_bytes;
    guint size_bytes; /* s->size, the stride */
    guint inuse_bytes;
    guint metadata_end_bytes; /* from the object's start: behind free pointer, tracks and orig_size */
    guint unaligned_bytes;    /* the stride before it is rounded to the alignment */
    guint freeptr_offset_bytes;
    guint order, objects;         /* s->oo */
    guint min_order, min_objects; /* s->min: the fallback order and its objects */
    guint min_partial;            /* slabs a node keeps although empty */
    guint cpu_partial;            /* objects */
    guint cpu_partial_slabs;      /* slabs; 0 before 5.16, where the limit is in objects */
    gboolean has_cpu_partial;     /* the cache is able to have cpu partial lists, even when cpu_partial is 0 */
    guint sheaf_capacity;
    guint leftover_bytes; /* (page_size << order) - objects * size */
    guint flags;          /* effective flags after slub_debug=O */
} SlabGeometry;

/* A current x86-64 kernel's defaults for the given release and CPU count (possible = present). */
SlabGeometryEnv slab_geometry_env_default(guint kernel, guint n_cpus);

/* A cache of the given size with nothing special asked for. `name` is borrowed. */
SlabCacheSpec slab_cache_spec_default(const char *name, guint object_size_bytes);

/* Boot parameters in the order of the command line. Values above max_page_order are capped; from 6.8 on a minimum
 * above the maximum moves the other one, before that it does not (slub-facts A.5). Set env->kernel first. */
void slab_geometry_env_set_min_order(SlabGeometryEnv *env, guint order);
void slab_geometry_env_set_max_order(SlabGeometryEnv *env, guint order);

/* mm/slab_common.c calculate_alignment(): s->align in bytes from the creator's argument (0 = none) and the flags;
 * slub-facts A.2. */
guint slab_geometry_alignment(const SlabGeometryEnv *env, guint flags, guint align_bytes, guint object_size_bytes);

/* mm/slub.c calculate_sizes(), calculate_order(), set_min_partial(), set_cpu_partial() and, from 6.18,
 * calculate_sheaf_capacity(), by release as in slub-facts A. Fails with
 * - SIM_ERROR_RANGE for a size, alignment or machine the kernel has no answer for, and for an order override that
 *   cannot hold an object;
 * - SIM_ERROR_MODEL when no order up to max_page_order can hold an object, and for a write the kernel refuses:
 *   a cpu_partial above 0 on a cache that has no per-CPU partial list. */
gboolean slab_geometry_compute(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *ret_geometry,
                               GError **error);

/* The same, with one line a decision appended to `steps` (NULL allowed): rule, numbers, outcome. After a failure
 * the lines up to it remain in `steps`. */
gboolean slab_geometry_explain(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *ret_geometry,
                               GString *steps, GError **error);

#endif
