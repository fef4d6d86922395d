/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_DESIGN_H
#define SIM_DESIGN_H

#include "sim-experiment.h"

/* What a scenario file asks for, before any of it is resolved: variants times the points of its [sweep]. Costs a few
 * bytes a point; a point's configuration is made when it is asked for.
 *
 * [sweep] keys of its own: variants, design = grid|lhs|sobol, samples, design_seed, zip; every other key is an axis
 * (sim-sweep.h). Zipped axes move together and count as one dimension. Each variant runs all points, so variants are
 * compared at equal places. Layers of a point from low to high: schema defaults, the layer file, parents named by
 * [scenario] extends, the file itself, the [variant NAME], the [sweep] values, `--set`. */
typedef struct _SimDesign SimDesign;

/* Most points of a design. */
#define SIM_DESIGN_MAX_POINTS 1000000

/* `sets` is NULL or a NULL-terminated list of "group.key=value"; a --set of a swept key leaves that one value on its
 * axis. `experiment` (may be NULL), `schema` and its tables outlive the design. Errors: PARSE, UNKNOWN_KEY, RANGE,
 * MODEL and IO; a value that the schema refuses is not one, but makes its points fail in sim_design_resolve(). */
SimDesign *sim_design_load(const SimSchema *schema, const char *path, const char *const *sets,
                           const SimExperiment *experiment, GError **error);
void sim_design_free(SimDesign *design);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimDesign, sim_design_free)

/* Points are numbered from 0, variant by variant; in a grid the last axis changes fastest. Equal samples are one point.
 * What the accessors return is borrowed and lives as long as the design, unless it says otherwise. */
const char *sim_design_name(const SimDesign *design); /* file name without folder and ".scenario" */
guint sim_design_n_points(const SimDesign *design);
const char *sim_design_variant(const SimDesign *design, guint point); /* "base" when the file has no variants */
guint sim_design_n_axes(const SimDesign *design);
const char *sim_design_axis_key(const SimDesign *design, guint axis); /* "machine.cpus" */
/* Canonical text, or as written when the schema refuses it. */
const char *sim_design_axis_value(const SimDesign *design, guint point, guint axis);
/* The value in its base unit (ps, bytes, 1); NaN for words and refused values. */
double sim_design_axis_number(const SimDesign *design, guint point, guint axis);
/* "base" or "base, machine.cpus = 4"; caller frees. */
char *sim_design_label(const SimDesign *design, guint point);

/* The point's configuration, checked by the schema and the experiment; the caller's own. Not thread-safe (layer files
 * are read once and kept). Errors as above, and what the experiment's check reports. */
SimConfig *sim_design_resolve(SimDesign *design, guint point, GError **error);

#endif
