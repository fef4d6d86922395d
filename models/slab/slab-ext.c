/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-ext.h"

#include "slab-kmalloc.h"
#include "slab-math.h"
#include "slab-steps.h"

const char *
slab_ext_place_name(SlabExtPlace place)
{
    static const char *const names[] = {
        [SLAB_EXT_NONE] = "none",
        [SLAB_EXT_ARRAY] = "separate array",
        [SLAB_EXT_LEFTOVER] = "slab leftover",
        [SLAB_EXT_PADDING] = "object padding",
    };

    return names[place];
}

/* One word for each user: before 6.10 memcg was the only one. */
static guint
ext_bytes(const SlabGeometryEnv *env, const SlabExtSettings *settings)
{
    gboolean profiling = settings->profiling && env->kernel >= SLAB_KERNEL(6, 10);

    return env->pointer_bytes * MAX((settings->memcg ? 1u : 0u) + (profiling ? 1u : 0u), settings->always ? 1u : 0u);
}

static gboolean
is_merged_version(const SlabGeometryEnv *env, SlabExtRules rules)
{
    return rules == SLAB_EXT_RULES_KERNEL && env->kernel >= SLAB_KERNEL(7, 0);
}

static guint
red_left_pad(const SlabGeometryEnv *env, const SlabGeometry *geometry)
{
    return geometry->flags & SLAB_RED_ZONE ? slab_round_up(env->pointer_bytes, geometry->align_bytes) : 0;
}

/* The separate array's own size: a kmalloc class, which 7.0 moves up by one when it is the cache's own and profiling
 * is on, since an array's slab would then need its own array. */
static void
size_array(const SlabGeometryEnv *env, const SlabExtSettings *settings, const SlabCacheSpec *spec, SlabExt *ext)
{
    guint bytes = ext->vector_bytes;
    guint class = slab_kmalloc_index(env, bytes);

    if (env->kernel >= SLAB_KERNEL(7, 0) && settings->profiling && class && (spec->flags & SLAB_KMALLOC) &&
        slab_kmalloc_class_bytes(class) == spec->object_size_bytes) {
        bytes = spec->object_size_bytes + 1;
        class = slab_kmalloc_index(env, bytes);
    }
    ext->array_class = class;
    ext->array_bytes = slab_kmalloc_roundup(env, bytes);
}

static gboolean
fits_leftover(const SlabGeometryEnv *env, const SlabExtSettings *settings, const SlabGeometry *geometry, SlabExt *ext,
              GString *steps)
{
    guint slab_bytes = env->page_size_bytes << geometry->order;
    guint pad = settings->rules == SLAB_EXT_RULES_KERNEL ? 0 : red_left_pad(env, geometry);
    guint begin = slab_round_up(pad + geometry->size_bytes * geometry->objects, ext->ext_bytes);
    gboolean fits = begin + ext->vector_bytes <= slab_bytes;

    slab_step(steps, "obj_exts: case 1, leftover: %u + %u * %u = %u, slab of %u: %s", begin, ext->ext_bytes,
              geometry->objects, begin + ext->vector_bytes, slab_bytes, fits ? "fits" : "does not fit");
    if (fits) {
        ext->place = SLAB_EXT_LEFTOVER;
        ext->offset_bytes = begin;
        ext->stride_bytes = ext->ext_bytes;
    }
    return fits;
}

static gboolean
fits_padding(const SlabGeometryEnv *env, const SlabExtSettings *settings, const SlabMergeRules *merging,
             const SlabCacheSpec *spec, const SlabGeometry *geometry, SlabExt *ext, GString *steps)
{
    guint spare = geometry->size_bytes - geometry->unaligned_bytes;
    const char *refusal = slab_merge_refusal(env, merging, spec);
    gboolean fits = spare >= ext->ext_bytes && env->pointer_bytes == 8;

    slab_step(steps, "obj_exts: case 2, padding: %u - %u = %u bytes for %u: %s", geometry->size_bytes,
              geometry->unaligned_bytes, spare, ext->ext_bytes, fits ? "fits" : "does not fit");
    if (fits && settings->rules == SLAB_EXT_RULES_KERNEL && !refusal) {
        slab_step(steps, "obj_exts: but another cache could merge into this one, which 7.0 prefers");
        fits = FALSE;
    }
    if (fits) {
        ext->place = SLAB_EXT_PADDING;
        ext->offset_bytes = red_left_pad(env, geometry) + geometry->metadata_end_bytes;
        ext->stride_bytes = geometry->size_bytes;
        ext->stops_merging = refusal == NULL;
    }
    return fits;
}

/* Lines of the exts that no payload lies in. */
static guint
count_extra_lines(const SlabGeometryEnv *env, const SlabCacheSpec *spec, const SlabGeometry *geometry,
                  const SlabExt *ext)
{
    guint line = env->cache_line_bytes, n = 0;

    if (ext->place == SLAB_EXT_NONE)
        return 0;
    if (ext->place != SLAB_EXT_PADDING) {
        guint last_payload = (geometry->objects - 1) * geometry->size_bytes + spec->object_size_bytes - 1;
        guint first = ext->offset_bytes / line, last = (ext->offset_bytes + ext->vector_bytes - 1) / line;

        return last - first + 1 - (ext->place == SLAB_EXT_LEFTOVER && first == last_payload / line ? 1 : 0);
    }
    for (guint i = 0; i < geometry->objects; i++) {
        guint payload_end = red_left_pad(env, geometry) + i * geometry->size_bytes + spec->object_size_bytes - 1;

        n += (ext->offset_bytes + i * ext->stride_bytes) / line != payload_end / line;
    }
    return n;
}

static void
explain_memory(const SlabGeometryEnv *env, const SlabGeometry *geometry, const SlabExt *ext, GString *steps)
{
    guint slab_bytes = env->page_size_bytes << geometry->order;

    slab_step(steps, "obj_exts: %s, %u bytes an object, stride %u, %s; %u cache lines a slab beside the payload",
              slab_ext_place_name(ext->place), ext->ext_bytes, ext->stride_bytes,
              ext->is_eager ? "made with the slab" : "made at the first accounted object", ext->extra_lines);
    if (ext->place == SLAB_EXT_ARRAY)
        slab_step(steps, "obj_exts: costs %u bytes of %s for each slab of %u, %.2f %%", ext->array_bytes,
                  ext->array_class ? "a kmalloc cache" : "pages", slab_bytes, 100.0 * ext->array_bytes / slab_bytes);
    else
        slab_step(steps, "obj_exts: saves an array of %u bytes for each slab of %u, %.2f %%%s", ext->array_bytes,
                  slab_bytes, 100.0 * ext->array_bytes / slab_bytes,
                  ext->stops_merging ? "; no cache can merge into this one any more" : "");
}

void
slab_ext_compute(const SlabGeometryEnv *env, const SlabExtSettings *settings, const SlabMergeRules *merging,
                 const SlabCacheSpec *spec, const SlabGeometry *geometry, SlabExt *ret_ext, GString *steps)
{
    SlabExt ext = {.ext_bytes = ext_bytes(env, settings)};
    gboolean has_case_1 = is_merged_version(env, settings->rules) || settings->rules >= SLAB_EXT_RULES_LEFTOVER;
    gboolean has_case_2 = is_merged_version(env, settings->rules) || settings->rules == SLAB_EXT_RULES_RFC_V2;

    if (ext.ext_bytes == 0 || (spec->flags & SLAB_NO_OBJ_EXT)) {
        slab_step(steps, "obj_exts: none, %s", ext.ext_bytes ? "NO_OBJ_EXT" : "nobody uses them");
        *ret_ext = (SlabExt){.place = SLAB_EXT_NONE};
        return;
    }
    ext.vector_bytes = ext.ext_bytes * geometry->objects;
    ext.is_eager = settings->always || (settings->memcg && (spec->flags & SLAB_ACCOUNT)) ||
                   (settings->profiling && env->kernel >= SLAB_KERNEL(6, 10));
    size_array(env, settings, spec, &ext);
    if (!(ext.is_eager && ((has_case_1 && fits_leftover(env, settings, geometry, &ext, steps)) ||
                           (has_case_2 && fits_padding(env, settings, merging, spec, geometry, &ext, steps))))) {
        ext.place = SLAB_EXT_ARRAY;
        ext.stride_bytes = ext.ext_bytes;
    }
    ext.extra_lines = count_extra_lines(env, spec, geometry, &ext);
    explain_memory(env, geometry, &ext, steps);
    *ret_ext = ext;
}
