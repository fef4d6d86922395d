/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_STEPS_H
#define SLAB_STEPS_H

#include <stdarg.h>

#include <glib.h>

/* One line of an explanation. Rules report through this while they compute, so that what is explained is what was
 * computed; without a place to write to it does nothing. */
static inline void G_GNUC_PRINTF(2, 3) slab_step(GString *steps, const char *format, ...)
{
    va_list args;

    if (steps == NULL)
        return;
    va_start(args, format);
    g_string_append_vprintf(steps, format, args);
    va_end(args);
    g_string_append_c(steps, '\n');
}

#endif
