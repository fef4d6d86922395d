/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_AXIS_H
#define SIM_AXIS_H

#include "sim-document.h"
#include "sim-sweep.h"

/* One axis of a sweep and the values on it. */

typedef struct {
    SimSetting *setting; /* NULL when the schema refuses the value */
    GError *problem;     /* then why */
    char *text;          /* canonical file text; as written when refused */
} SimLevel;

typedef struct {
    const GPtrArray *rows; /* of the schema; borrowed */
    const SimKeySpec *spec;
    char *name;        /* "machine.cpus" */
    char *group;       /* "machine" */
    char *place;       /* "file:line" of the axis */
    GPtrArray *levels; /* SimLevel; grows by sampling when the axis is an interval */
    gboolean is_interval;
    SimSweepInterval interval;
} SimAxis;

/* Reads "group.key = values" of a [sweep]. A value of the wrong form or out of range becomes a refused level; what is
 * wrong with the axis as a whole (an unknown key, an empty list, a value given twice) is the error. `rows` and `place`
 * must outlive nothing but the call; `rows` the axis. */
SimAxis *sim_axis_new(const GPtrArray *rows, const SimIniEntry *entry, const char *place, GError **error);
void sim_axis_free(SimAxis *axis);

/* Replaces all levels by this one. */
void sim_axis_fix(SimAxis *axis, SimSetting *setting);

/* The level at a position in [0, 1): equal shares for a list; a new or known level for an interval. */
guint sim_axis_sample(SimAxis *axis, double position);

const SimLevel *sim_axis_level(const SimAxis *axis, guint level);

#endif
