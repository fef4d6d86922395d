/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order of a cache's slabs: mm/slub.c slab_order(), calc_slab_order() and calculate_order(), slub-facts A.4. */
#include "slab-order.h"

#include "sim-error.h"
#include "slab-steps.h"

guint
slab_order_for_bytes(guint64 bytes, guint page_size_bytes)
{
    guint order = 0;

    while (((guint64) page_size_bytes << order) < bytes)
        order++;
    return order;
}

static guint64
slab_bytes(const SlabGeometryEnv *env, guint order)
{
    return (guint64) env->page_size_bytes << order;
}

static guint
order_objects(const SlabGeometryEnv *env, guint order, guint size)
{
    return (guint) MIN(slab_bytes(env, order) / size, G_MAXUINT);
}

static guint
wanted_objects(const SlabGeometryEnv *env, GString *steps)
{
    gboolean counts_present = env->kernel >= SLAB_KERNEL(5, 11) && env->n_present_cpus > 1;
    guint n_cpus = counts_present ? env->n_present_cpus : env->n_possible_cpus;
    guint wanted;

    if (env->slub_min_objects > 0) {
        slab_step(steps, "min objects: %u, as slub_min_objects says", env->slub_min_objects);
        return env->slub_min_objects;
    }
    wanted = 4 * (g_bit_storage(n_cpus) + 1);
    slab_step(steps, "min objects: 4 * (fls(%u) + 1) = %u, from the %s CPUs%s", n_cpus, wanted,
              counts_present ? "present" : "possible",
              env->kernel < SLAB_KERNEL(5, 11) ? " (present ones count from 5.11 on)" : "");
    return wanted;
}

/* From 6.8 on the boot code never leaves the minimum above the maximum: the parameter read last moves the other. */
static guint
max_order(const SlabGeometryEnv *env)
{
    guint limit = MIN(env->slub_max_order, env->max_page_order);

    return env->kernel >= SLAB_KERNEL(6, 8) ? MAX(limit, env->slub_min_order) : limit;
}

/* First order of start..last that wastes at most 1/fraction of the slab; above `last` when none does. */
static guint
first_order_within(const SlabGeometryEnv *env, guint size, guint start, guint last, guint fraction, GString *steps)
{
    guint order;

    if (start > last)
        slab_step(steps, "  waste <= 1/%u: order %u is already above %u", fraction, start, last);
    for (order = start; order <= last; order++) {
        guint64 slab = slab_bytes(env, order), waste = slab % size, allowed = slab / fraction;

        slab_step(steps,
                  "  waste <= 1/%u: order %u, %u objects, wastes %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                  " bytes, allowed %" G_GUINT64_FORMAT ": %s",
                  fraction, order, order_objects(env, order, size), waste, slab, allowed,
                  waste <= allowed ? "taken" : "refused");
        if (waste <= allowed)
            break;
    }
    return order;
}

static guint
order_for_most_objects(const SlabGeometryEnv *env, guint size, GString *steps)
{
    guint order = slab_order_for_bytes((guint64) size * SLAB_MAX_OBJECTS, env->page_size_bytes) - 1;

    slab_step(steps, "  a slab would hold more than %u objects: order %u", SLAB_MAX_OBJECTS, order);
    return order;
}

/* Up to 6.6: fewer and fewer objects, each tried with waste up to 1/16, 1/8, 1/4; then one object at any waste. */
static guint
old_order(const SlabGeometryEnv *env, guint size, guint wanted, GString *steps)
{
    guint last = max_order(env);
    guint objects = MIN(wanted, order_objects(env, last, size));
    guint order;

    if (order_objects(env, env->slub_min_order, size) > SLAB_MAX_OBJECTS)
        return order_for_most_objects(env, size, steps);
    for (; objects > 1; objects--) {
        guint start = slab_order_for_bytes((guint64) objects * size, env->page_size_bytes);

        slab_step(steps, "at least %u objects", objects);
        for (guint fraction = 16; fraction >= 4; fraction /= 2) {
            order = first_order_within(env, size, MAX(env->slub_min_order, start), last, fraction, steps);
            if (order <= last)
                return order;
        }
    }
    slab_step(steps, "one object, up to order %u", last);
    order = MAX(env->slub_min_order, slab_order_for_bytes(size, env->page_size_bytes));
    if (order > last)
        slab_step(steps, "  order %u is above %u, which is then ignored", order, last);
    return order;
}

/* From 6.7: the object count fixes the smallest order once; only the allowed waste is relaxed, down to 1/2. */
static guint
new_order(const SlabGeometryEnv *env, guint size, guint wanted, GString *steps)
{
    guint last = max_order(env);
    guint objects = MIN(wanted, MAX(order_objects(env, last, size), 1u));
    guint start = MAX(env->slub_min_order, slab_order_for_bytes((guint64) objects * size, env->page_size_bytes));
    guint order;

    slab_step(steps, "at least %u objects: from order %u", objects, start);
    if (order_objects(env, start, size) > SLAB_MAX_OBJECTS)
        return order_for_most_objects(env, size, steps);
    for (guint fraction = 16; fraction > 1; fraction /= 2) {
        order = first_order_within(env, size, start, last, fraction, steps);
        if (order <= last)
            return order;
    }
    order = slab_order_for_bytes(size, env->page_size_bytes);
    slab_step(steps, "  none up to order %u: the smallest that holds one object, order %u", last, order);
    return order;
}

gboolean
slab_order_compute(const SlabGeometryEnv *env, guint size_bytes, guint *ret_order, GString *steps, GError **error)
{
    guint wanted = wanted_objects(env, steps);
    guint order = env->kernel >= SLAB_KERNEL(6, 7) ? new_order(env, size_bytes, wanted, steps)
                                                   : old_order(env, size_bytes, wanted, steps);

    if (order > env->max_page_order) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "an object of %u bytes needs order %u, above the page allocator's largest order %u", size_bytes,
                    order, env->max_page_order);
        return FALSE;
    }
    *ret_order = order;
    return TRUE;
}
