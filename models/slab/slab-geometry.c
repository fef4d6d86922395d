/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Geometry of a cache as SLUB computes it at creation: slub-facts A.2 to A.7 and A.11. Left out: KASAN metadata,
 * CONFIG_SLUB_TINY, and lines of old kernels that no release from 5.10 on has. */
#include "slab-geometry.h"

#include <math.h>

#include "sim-error.h"
#include "slab-kmalloc.h"
#include "slab-math.h"
#include "slab-order.h"
#include "slab-steps.h"

/* alignof(unsigned long long), as on x86-64 and ARM. */
#define ARCH_SLAB_MINALIGN 8u
/* x86-64; architectures with non-coherent DMA have more. */
#define ARCH_KMALLOC_MINALIGN 8u

#define DEBUG_METADATA_FLAGS ((guint) (SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER))

SlabGeometryEnv
slab_geometry_env_default(guint kernel, guint n_cpus)
{
    return (SlabGeometryEnv){
        .kernel = kernel,
        .page_size_bytes = 4096,
        .pointer_bytes = 8,
        .cache_line_bytes = 64,
        .n_possible_cpus = n_cpus,
        .n_present_cpus = n_cpus,
        .max_page_order = 10,
        .slub_max_order = 3,
        .min_partial_floor = 5,
        .min_partial_ceiling = 10,
        .cpu_partial_enabled = TRUE,
        .cpu_partial_factor = 1,
    };
}

void
slab_geometry_env_set_min_order(SlabGeometryEnv *env, guint order)
{
    env->slub_min_order = order;
    if (env->kernel >= SLAB_KERNEL(6, 8))
        env->slub_max_order = MAX(env->slub_max_order, order);
}

void
slab_geometry_env_set_max_order(SlabGeometryEnv *env, guint order)
{
    env->slub_max_order = MIN(order, env->max_page_order);
    if (env->kernel >= SLAB_KERNEL(6, 8))
        env->slub_min_order = MIN(env->slub_min_order, env->slub_max_order);
}

SlabCacheSpec
slab_cache_spec_default(const char *name, guint object_size_bytes)
{
    return (SlabCacheSpec){
        .name = name,
        .object_size_bytes = object_size_bytes,
        .freeptr_offset = -1,
        .order_override = -1,
        .cpu_partial_override = -1,
        .cpu_partial_slabs_override = -1,
        .min_partial_override = -1,
    };
}

static gboolean
range_error(const SlabCacheSpec *spec, GError **error, const char *what)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "cache %s: %s", spec->name, what);
    return FALSE;
}

static gboolean
check_input(const SlabGeometryEnv *env, const SlabCacheSpec *spec, GError **error)
{
    guint64 largest = (guint64) env->page_size_bytes << env->max_page_order;

    if (!slab_is_power_of_two(env->page_size_bytes) || env->page_size_bytes < 4096 || largest > 1u << 30)
        return range_error(spec, error,
                           "the page size must be a power of two from 4096 bytes on, and the largest "
                           "order at most 1 GiB");
    if (env->pointer_bytes != 4 && env->pointer_bytes != 8)
        return range_error(spec, error, "a pointer has 4 or 8 bytes");
    if (!slab_is_power_of_two(env->cache_line_bytes) || env->cache_line_bytes > env->page_size_bytes)
        return range_error(spec, error, "the cache line must be a power of two, at most a page");
    if (env->n_possible_cpus == 0 || env->n_present_cpus > env->n_possible_cpus)
        return range_error(spec, error, "there must be CPUs, and no more present than possible");
    if (env->slub_min_order > env->max_page_order)
        return range_error(spec, error, "slub_min_order is above the page allocator's largest order");
    if (env->min_partial_floor > env->min_partial_ceiling)
        return range_error(spec, error, "MIN_PARTIAL is above MAX_PARTIAL");
    if (!(env->cpu_partial_factor >= 0 && env->cpu_partial_factor <= 1e6))
        return range_error(spec, error, "the cpu_partial factor must be between 0 and 1000000");
    if (spec->object_size_bytes == 0 || spec->object_size_bytes > largest)
        return range_error(spec, error, "the object size must be between 1 byte and the largest order");
    if (spec->align_bytes != 0 && (!slab_is_power_of_two(spec->align_bytes) || spec->align_bytes > largest))
        return range_error(spec, error, "the alignment must be a power of two, at most the largest order");
    return TRUE;
}

guint
slab_geometry_alignment(const SlabGeometryEnv *env, guint flags, guint align_bytes, guint object_size_bytes)
{
    guint align = align_bytes;

    if (flags & SLAB_HWCACHE_ALIGN) {
        guint line = env->cache_line_bytes;

        while (object_size_bytes <= line / 2)
            line /= 2;
        align = MAX(align, line);
    }
    return slab_round_up(MAX(align, ARCH_SLAB_MINALIGN), env->pointer_bytes);
}

/* create_boot_cache(): natural alignment for powers of two, and from 6.12 on, for kmalloc caches only, the largest
 * power of two that divides the size. */
static guint
boot_cache_align(const SlabGeometryEnv *env, const SlabCacheSpec *spec)
{
    guint size = spec->object_size_bytes, divisor = size & -size;
    gboolean is_aligned = env->kernel >= SLAB_KERNEL(6, 12) ? (spec->flags & SLAB_KMALLOC) != 0
                                                            : size == divisor && env->kernel >= SLAB_KERNEL(5, 4);

    return MAX(spec->align_bytes, is_aligned ? MAX(divisor, ARCH_KMALLOC_MINALIGN) : ARCH_KMALLOC_MINALIGN);
}

static guint
final_alignment(const SlabGeometryEnv *env, const SlabCacheSpec *spec, GString *steps)
{
    guint argument = spec->align_bytes, align;

    if (spec->align_is_final) {
        slab_step(steps, "align: %u, as the kernel reports it", argument);
        return MAX(argument, 1);
    }
    if (spec->is_boot_cache || (spec->flags & SLAB_KMALLOC)) {
        argument = boot_cache_align(env, spec);
        slab_step(steps, "align argument: %u, natural alignment of a boot or kmalloc cache", argument);
    }
    align = slab_geometry_alignment(env, spec->flags, argument, spec->object_size_bytes);
    slab_step(steps, "align: %u, from argument %u%s, minimum %u", align, argument,
              spec->flags & SLAB_HWCACHE_ALIGN ? ", cache line halved while two objects fit" : "", ARCH_SLAB_MINALIGN);
    return align;
}

/* struct track: 16 return addresses before the stack depot of 5.19, a 4-byte handle since. */
static guint
track_bytes(const SlabGeometryEnv *env)
{
    guint pointer = env->pointer_bytes;

    if (env->kernel < SLAB_KERNEL(5, 19))
        return pointer + 16 * pointer + 4 + 4 + pointer;
    return slab_round_up(pointer + 4 + 4 + 4, pointer) + pointer;
}

static guint
orig_size_bytes(const SlabGeometryEnv *env)
{
    if (env->kernel < SLAB_KERNEL(6, 1))
        return 0;
    return env->kernel < SLAB_KERNEL(7, 0) ? 4 : env->pointer_bytes;
}

static gboolean
uses_freeptr_offset(const SlabGeometryEnv *env, const SlabCacheSpec *spec)
{
    return spec->freeptr_offset >= 0 && env->kernel >= SLAB_KERNEL(6, 12);
}

/* Why the free pointer cannot live inside the object, or NULL when it can. */
static const char *
outside_reason(const SlabGeometryEnv *env, const SlabCacheSpec *spec, guint flags)
{
    gboolean stores_orig_size = (flags & SLAB_STORE_USER) && (flags & SLAB_KMALLOC);
    gboolean given = uses_freeptr_offset(env, spec);

    if ((flags & SLAB_TYPESAFE_BY_RCU) && !given)
        return "RCU readers may still look at the object";
    if (flags & SLAB_POISON)
        return "the object is poisoned";
    if (spec->has_ctor && !(given && env->kernel >= SLAB_KERNEL(7, 0)))
        return "the constructor's work must survive";
    if ((flags & SLAB_RED_ZONE) && spec->object_size_bytes < env->pointer_bytes)
        return "the object is smaller than a pointer and has a red zone";
    /* The posting of June 2024 that made the red zone a condition went into 6.11. */
    if (stores_orig_size && env->kernel >= SLAB_KERNEL(6, 2) &&
        ((flags & SLAB_RED_ZONE) || env->kernel < SLAB_KERNEL(6, 11)))
        return "the red zone of a kmalloc object begins at the requested size";
    return NULL;
}

static guint
place_freeptr(const SlabGeometryEnv *env, const SlabCacheSpec *spec, guint flags, guint size, SlabGeometry *geometry,
              GString *steps)
{
    const char *reason = outside_reason(env, spec, flags);

    if (reason != NULL) {
        geometry->freeptr_offset_bytes = size;
        slab_step(steps, "size: %u + %u = %u, free pointer behind the object: %s", size, env->pointer_bytes,
                  size + env->pointer_bytes, reason);
        return size + env->pointer_bytes;
    }
    if (uses_freeptr_offset(env, spec) && ((flags & SLAB_TYPESAFE_BY_RCU) || spec->has_ctor)) {
        geometry->freeptr_offset_bytes = (guint) spec->freeptr_offset;
        slab_step(steps, "free pointer: inside, at %u, where the creator put it", geometry->freeptr_offset_bytes);
    } else {
        gboolean is_middle = env->kernel >= SLAB_KERNEL(5, 7);

        geometry->freeptr_offset_bytes = is_middle ? spec->object_size_bytes / 2 & ~(env->pointer_bytes - 1) : 0;
        slab_step(steps, "free pointer: inside, at %u, %s", geometry->freeptr_offset_bytes,
                  is_middle ? "the middle of the object" : "where it was before 5.7");
    }
    return size;
}

/* calculate_sizes() up to the order: everything that goes into the stride. */
static void
lay_out(const SlabGeometryEnv *env, const SlabCacheSpec *spec, guint flags, SlabGeometry *geometry, GString *steps)
{
    guint pointer = env->pointer_bytes;
    guint size = slab_round_up(spec->object_size_bytes, pointer);

    slab_step(steps, "size: object of %u bytes, in whole words %u", spec->object_size_bytes, size);
    if ((flags & SLAB_RED_ZONE) && size == spec->object_size_bytes) {
        size += pointer;
        slab_step(steps, "size: + %u = %u, right red zone, as rounding left no room for one", pointer, size);
    }
    geometry->inuse_bytes = size;
    size = place_freeptr(env, spec, flags, size, geometry, steps);
    if (flags & SLAB_STORE_USER) {
        size += 2 * track_bytes(env);
        slab_step(steps, "size: + 2 * %u = %u, tracks of allocation and free", track_bytes(env), size);
        if ((flags & SLAB_KMALLOC) && orig_size_bytes(env) > 0) {
            size += orig_size_bytes(env);
            slab_step(steps, "size: + %u = %u, size asked of kmalloc", orig_size_bytes(env), size);
        }
    }
    geometry->metadata_end_bytes = size;
    if (flags & SLAB_RED_ZONE) {
        guint left_pad = slab_round_up(pointer, geometry->align_bytes);

        size += pointer + left_pad;
        slab_step(steps, "size: + %u + %u = %u, red zone behind, and padding in front of the next object", pointer,
                  left_pad, size);
    }
    geometry->unaligned_bytes = size;
    geometry->size_bytes = slab_round_up(size, geometry->align_bytes);
    geometry->flags = flags;
    slab_step(steps, "size: %u, from %u in units of align %u", geometry->size_bytes, size, geometry->align_bytes);
}

static void
lay_out_with_debug(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *geometry, GString *steps)
{
    guint order, object_order;

    lay_out(env, spec, spec->flags, geometry, steps);
    if (!env->slub_debug_no_higher_order || !(spec->flags & DEBUG_METADATA_FLAGS))
        return;
    order = slab_order_for_bytes(geometry->size_bytes, env->page_size_bytes);
    object_order = slab_order_for_bytes(spec->object_size_bytes, env->page_size_bytes);
    if (order > object_order) {
        slab_step(steps, "slub_debug=O: debug data raises the smallest order from %u to %u, so it is dropped",
                  object_order, order);
        lay_out(env, spec, spec->flags & ~DEBUG_METADATA_FLAGS, geometry, steps);
    }
}

static gboolean
choose_order(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *geometry, GString *steps,
             GError **error)
{
    guint64 slab_bytes;

    if (spec->order_override < 0) {
        if (!slab_order_compute(env, geometry->size_bytes, &geometry->order, steps, error)) {
            g_prefix_error(error, "cache %s: ", spec->name);
            return FALSE;
        }
    } else {
        geometry->order = (guint) spec->order_override;
        slab_step(steps, "order: %u, as given", geometry->order);
        if (geometry->order > env->max_page_order)
            return range_error(spec, error, "the order given is above the page allocator's largest");
    }
    slab_bytes = (guint64) env->page_size_bytes << geometry->order;
    if (slab_bytes < geometry->size_bytes || slab_bytes / geometry->size_bytes > SLAB_MAX_OBJECTS)
        return range_error(spec, error, "a slab of the order given holds no object, or more than 32767");
    geometry->objects = (guint) (slab_bytes / geometry->size_bytes);
    geometry->leftover_bytes = (guint) (slab_bytes % geometry->size_bytes);
    geometry->min_order = slab_order_for_bytes(geometry->size_bytes, env->page_size_bytes);
    geometry->min_objects = (env->page_size_bytes << geometry->min_order) / geometry->size_bytes;
    slab_step(steps, "order: %u, %u objects, %u bytes left over; fallback order %u, %u objects", geometry->order,
              geometry->objects, geometry->leftover_bytes, geometry->min_order, geometry->min_objects);
    return TRUE;
}

static guint
node_min_partial(const SlabGeometryEnv *env, const SlabCacheSpec *spec, guint size, GString *steps)
{
    guint half_log = (g_bit_storage(size) - 1) / 2;
    guint min_partial = CLAMP(half_log, env->min_partial_floor, env->min_partial_ceiling);

    if (spec->min_partial_override < 0) {
        slab_step(steps, "min_partial: ilog2(%u) / 2 = %u, within %u..%u: %u slabs a node", size, half_log,
                  env->min_partial_floor, env->min_partial_ceiling, min_partial);
        return min_partial;
    }
    min_partial = (guint) spec->min_partial_override;
    /* min_partial_store() lost its limits with a posting of March 2022. */
    if (env->kernel < SLAB_KERNEL(5, 18))
        min_partial = CLAMP(min_partial, env->min_partial_floor, env->min_partial_ceiling);
    slab_step(steps, "min_partial: %u slabs a node, %d written%s", min_partial, spec->min_partial_override,
              env->kernel < SLAB_KERNEL(5, 18) ? " and limited, as up to 5.17" : "");
    return min_partial;
}

static const char *
no_cpu_partial_reason(const SlabGeometryEnv *env, guint flags)
{
    if (env->kernel >= SLAB_KERNEL(7, 0))
        return "7.0 has sheaves instead";
    if (env->kernel < SLAB_KERNEL(3, 2))
        return "they came with 3.2";
    if (!env->cpu_partial_enabled)
        return "CONFIG_SLUB_CPU_PARTIAL is off";
    if (flags & SLAB_DEBUG_FLAGS)
        return "a debug cache";
    return NULL;
}

static guint
cpu_partial_target(const SlabGeometryEnv *env, guint size)
{
    gboolean counts_slabs = env->kernel >= SLAB_KERNEL(5, 16);
    guint target;

    if (size >= env->page_size_bytes)
        target = counts_slabs ? 6 : 2;
    else if (size >= 1024)
        target = counts_slabs ? 24 : 6;
    else if (size >= 256)
        target = counts_slabs ? 52 : 13;
    else
        target = counts_slabs ? 120 : 30;
    return (guint) lround(target * env->cpu_partial_factor);
}

static gboolean
set_cpu_partial(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *geometry, GString *steps,
                GError **error)
{
    const char *reason = no_cpu_partial_reason(env, geometry->flags);
    gboolean counts_slabs = env->kernel >= SLAB_KERNEL(5, 16);

    if (reason != NULL) {
        slab_step(steps, "cpu_partial: 0, no per-CPU partial slabs: %s", reason);
        if (spec->cpu_partial_override <= 0 && spec->cpu_partial_slabs_override <= 0)
            return TRUE;
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "cache %s: cpu_partial cannot be set, the cache has no per-CPU partial slabs: %s", spec->name,
                    reason);
        return FALSE;
    }
    if (spec->cpu_partial_slabs_override > 0 && !counts_slabs) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "cache %s: before 5.16 per-CPU partial slabs are limited by objects, not by slabs", spec->name);
        return FALSE;
    }
    geometry->has_cpu_partial = TRUE;
    geometry->cpu_partial = spec->cpu_partial_override >= 0 ? (guint) spec->cpu_partial_override
                                                            : cpu_partial_target(env, geometry->size_bytes);
    slab_step(steps, "cpu_partial: %u objects, %s", geometry->cpu_partial,
              spec->cpu_partial_override >= 0 ? "as written" : "by size: from a page, 1024, 256 bytes on, or less");
    if (!counts_slabs)
        return TRUE;
    geometry->cpu_partial_slabs =
        (guint) ((2 * (guint64) geometry->cpu_partial + geometry->objects - 1) / geometry->objects);
    slab_step(steps, "cpu_partial_slabs: ceil(2 * %u / %u) = %u, each slab taken as half free", geometry->cpu_partial,
              geometry->objects, geometry->cpu_partial_slabs);
    if (spec->cpu_partial_slabs_override >= 0) {
        geometry->cpu_partial_slabs = (guint) spec->cpu_partial_slabs_override;
        slab_step(steps, "cpu_partial_slabs: %u, as given", geometry->cpu_partial_slabs);
    }
    return TRUE;
}

/* calculate_sheaf_capacity() from 7.0: by size, then as many as the kmalloc class of the sheaf has room for. */
static guint
automatic_sheaf_capacity(const SlabGeometryEnv *env, guint size, GString *steps)
{
    /* struct slab_sheaf before its array: a union of two pointers, the cache, two ints. */
    guint header = 3 * env->pointer_bytes + 8;
    guint capacity, bytes, room;

    if (size >= env->page_size_bytes)
        capacity = 4;
    else if (size >= 1024)
        capacity = 12;
    else if (size >= 256)
        capacity = 26;
    else
        capacity = 60;
    bytes = header + capacity * env->pointer_bytes;
    room = slab_kmalloc_roundup(env, bytes);
    slab_step(steps, "sheaf_capacity: %u by size: %u bytes in a kmalloc object of %u, room for %u", capacity, bytes,
              room, (room - header) / env->pointer_bytes);
    return (room - header) / env->pointer_bytes;
}

static guint
sheaf_capacity(const SlabGeometryEnv *env, const SlabCacheSpec *spec, guint size, guint flags, GString *steps)
{
    guint asked = (guint) MAX(spec->args_sheaf_capacity, 0), capacity;

    if (env->kernel < SLAB_KERNEL(6, 18))
        return 0;
    if (flags & SLAB_DEBUG_FLAGS) {
        slab_step(steps, "sheaf_capacity: 0, a debug cache");
        return 0;
    }
    if (env->kernel < SLAB_KERNEL(7, 0)) {
        slab_step(steps, "sheaf_capacity: %u, as the creator asked", asked);
        return asked;
    }
    if (spec->is_boot_cache || (flags & (SLAB_NO_OBJ_EXT | SLAB_NOLEAKTRACE))) {
        slab_step(steps, "sheaf_capacity: 0, a boot or NOLEAKTRACE cache");
        return 0;
    }
    capacity = automatic_sheaf_capacity(env, size, steps);
    slab_step(steps, "sheaf_capacity: %u, the larger of %u and the %u the creator asked", MAX(capacity, asked),
              capacity, asked);
    return MAX(capacity, asked);
}

gboolean
slab_geometry_explain(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *ret_geometry, GString *steps,
                      GError **error)
{
    SlabGeometry geometry = {0};

    if (!check_input(env, spec, error))
        return FALSE;
    geometry.align_bytes = final_alignment(env, spec, steps);
    lay_out_with_debug(env, spec, &geometry, steps);
    if (!choose_order(env, spec, &geometry, steps, error))
        return FALSE;
    geometry.min_partial = node_min_partial(env, spec, geometry.size_bytes, steps);
    if (!set_cpu_partial(env, spec, &geometry, steps, error))
        return FALSE;
    geometry.sheaf_capacity = sheaf_capacity(env, spec, geometry.size_bytes, geometry.flags, steps);
    *ret_geometry = geometry;
    return TRUE;
}

gboolean
slab_geometry_compute(const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *ret_geometry, GError **error)
{
    return slab_geometry_explain(env, spec, ret_geometry, NULL, error);
}
