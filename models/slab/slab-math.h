/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_MATH_H
#define SLAB_MATH_H

#include <glib.h>

/* The kernel's ALIGN(): smallest multiple of `power_of_two` that is at least `value`. */
static inline guint
slab_round_up(guint value, guint power_of_two)
{
    return (value + power_of_two - 1) & ~(power_of_two - 1);
}

static inline gboolean
slab_is_power_of_two(guint value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

#endif
