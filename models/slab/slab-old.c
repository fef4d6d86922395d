/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-old.h"

#include <string.h>

#include "sim-error.h"
#include "slab-math.h"

/* struct slab of 3.12 on 64-bit: list head, colour offset, first object, two counts, node. */
#define STRUCT_SLAB_BYTES 48u
/* The byte index of stage 2 made 16 bytes the smallest object (PAGE_SIZE / 16 <= 256). */
#define STAGE_2_MIN_OBJECT_BYTES 16u

/* What a stage fixes. */
typedef struct {
    guint header_bytes, index_bytes, max_objects, off_slab_from_bytes;
} Layout;

gboolean
slab_old_is_early_name(const char *name)
{
    return g_str_equal(name, "kmem_cache") || g_str_equal(name, "kmalloc-32") || g_str_equal(name, "kmalloc-128");
}

static Layout
layout_of_stage(const SlabGeometryEnv *env, SlabOldStage stage)
{
    guint page = env->page_size_bytes;
    gboolean fits_byte = page / STAGE_2_MIN_OBJECT_BYTES <= 256;

    switch (stage) {
    case SLAB_OLD_STRUCT_SLAB:
        return (Layout){STRUCT_SLAB_BYTES, 4, G_MAXUINT, page >> 3};
    case SLAB_OLD_INT_INDEX:
        return (Layout){0, 4, G_MAXUINT, page >> 3};
    case SLAB_OLD_BYTE_INDEX:
    case SLAB_OLD_N_STAGES:
        break;
    }
    return (Layout){0, fits_byte ? 1 : 2, fits_byte ? 255 : 65535, page >> 5};
}

/* cache_estimate(): objects of one slab of `slab_bytes`, with or without management inside. Rounding the management up
 * never costs an object, as slab and stride are multiples of the alignment. */
static void
estimate(const Layout *layout, guint slab_bytes, guint align, gboolean is_off_slab, SlabOldGeometry *geometry)
{
    guint size = geometry->size_bytes;
    guint objects =
        is_off_slab ? slab_bytes / size : (slab_bytes - layout->header_bytes) / (size + layout->index_bytes);

    geometry->objects = objects;
    geometry->management_bytes = slab_round_up(layout->header_bytes + objects * layout->index_bytes, align);
    geometry->leftover_bytes = slab_bytes - objects * size - (is_off_slab ? 0 : geometry->management_bytes);
    geometry->is_off_slab = is_off_slab;
}

/* calculate_slab_order(): the first order that wastes at most an eighth, none above `largest_order` unless nothing
 * fits; a candidate that breaks a limit ends the search with the one before it. */
static gboolean
search_order(const SlabGeometryEnv *env, const Layout *layout, const SlabCacheSpec *spec, guint align,
             gboolean is_off_slab, guint largest_order, SlabOldGeometry *geometry)
{
    SlabOldGeometry candidate = *geometry;
    guint off_slab_limit = geometry->size_bytes > layout->header_bytes
                               ? (geometry->size_bytes - layout->header_bytes) / layout->index_bytes
                               : 0;
    gboolean found = FALSE;

    for (guint order = 0; order <= env->max_page_order; order++) {
        guint slab_bytes = env->page_size_bytes << order;

        estimate(layout, slab_bytes, align, is_off_slab, &candidate);
        if (candidate.objects == 0)
            continue;
        if (candidate.objects > layout->max_objects || (is_off_slab && candidate.objects > off_slab_limit))
            break;
        candidate.order = order;
        *geometry = candidate;
        found = TRUE;
        if ((spec->flags & SLAB_RECLAIM_ACCOUNT) || order >= largest_order ||
            (guint64) candidate.leftover_bytes * 8 <= slab_bytes)
            break;
    }
    return found;
}

gboolean
slab_old_compute(const SlabGeometryEnv *env, SlabOldStage stage, const SlabCacheSpec *spec, gboolean is_early,
                 guint largest_order, SlabOldGeometry *ret_geometry, GError **error)
{
    Layout layout = layout_of_stage(env, stage);
    SlabOldGeometry geometry = {0};
    guint largest = env->page_size_bytes << env->max_page_order;
    guint words, align;
    gboolean is_off_slab;

    if (spec->object_size_bytes == 0 || spec->object_size_bytes > largest || spec->align_bytes > largest ||
        (spec->align_bytes != 0 && !slab_is_power_of_two(spec->align_bytes))) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "cache %s: object size or alignment out of range", spec->name);
        return FALSE;
    }
    words = slab_round_up(spec->object_size_bytes, env->pointer_bytes);
    if (stage == SLAB_OLD_BYTE_INDEX)
        words = MAX(words, STAGE_2_MIN_OBJECT_BYTES);
    align = slab_geometry_alignment(env, spec->flags, spec->align_bytes, spec->object_size_bytes);
    /* The size tested is the one before rounding to the alignment: kmalloc-96 stays on-slab in stage 2. */
    is_off_slab = words >= layout.off_slab_from_bytes && !is_early && !(spec->flags & SLAB_NOLEAKTRACE);
    geometry.size_bytes = slab_round_up(words, align);
    if (!search_order(env, &layout, spec, align, is_off_slab, largest_order, &geometry)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "cache %s: no slab up to order %u holds an object of %u bytes",
                    spec->name, env->max_page_order, geometry.size_bytes);
        return FALSE;
    }
    if (geometry.is_off_slab && geometry.leftover_bytes >= geometry.management_bytes) {
        geometry.is_off_slab = FALSE;
        geometry.leftover_bytes -= geometry.management_bytes;
    }
    geometry.n_colours = geometry.leftover_bytes / MAX(env->cache_line_bytes, align);
    *ret_geometry = geometry;
    return TRUE;
}
