/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_TIME_H
#define SIM_TIME_H

#include <glib.h>

/* Simulated time and durations: signed 64-bit picoseconds, about 106 days of range. Integers, so that the order
 * of events never depends on rounding; picoseconds, since a 3 GHz cycle is 333 of them. */
typedef gint64 SimTime;

#define SIM_TIME_MAX G_MAXINT64
#define SIM_PS ((SimTime) 1)
#define SIM_NS ((SimTime) 1000)
#define SIM_US ((SimTime) 1000000)
#define SIM_MS ((SimTime) 1000000000)
#define SIM_S ((SimTime) 1000000000000)

static inline double
sim_time_to_seconds(SimTime t)
{
    return (double) t * 1e-12;
}

static inline double
sim_time_to_ns(SimTime t)
{
    return (double) t * 1e-3;
}

#endif
