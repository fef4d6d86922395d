/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_ORDER_H
#define SLAB_ORDER_H

#include "slab-geometry.h"

/* The kernel packs order and objects into one word: no slab holds more objects than this (MAX_OBJS_PER_PAGE). */
#define SLAB_MAX_OBJECTS 32767u

/* Smallest order whose pages hold `bytes` (get_order()). `page_size_bytes` is a power of two. */
guint slab_order_for_bytes(guint64 bytes, guint page_size_bytes);

/* mm/slub.c calculate_order(): the old search up to 6.6, the new one from 6.7 (slub-facts A.4). `size_bytes` is the
 * stride of an object. Appends to `steps` unless it is NULL. SIM_ERROR_MODEL when no order can hold an object. */
gboolean slab_order_compute(const SlabGeometryEnv *env, guint size_bytes, guint *ret_order, GString *steps,
                            GError **error);

#endif
