/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_DESIGN_PRIVATE_H
#define SIM_DESIGN_PRIVATE_H

#include "sim-axis.h"
#include "sim-config-load.h"
#include "sim-design.h"
#include "sim-sample.h"

/* Shared by sim-design.c, which reads and resolves, and sim-design-layout.c, which lays out the points. */

/* In the order of the schema's choices for [sweep] design. */
typedef enum {
    SIM_DESIGN_GRID,
    SIM_DESIGN_LATIN,
    SIM_DESIGN_SOBOL,
} SimDesignKind;

struct _SimDesign {
    char *name;
    const SimExperiment *experiment;
    SimLoader *loader;
    GPtrArray *variants; /* SimVariant that run */
    GPtrArray *sets;     /* SimSetting of the command line */
    GPtrArray *axes;     /* SimAxis */
    SimSetting *zip;     /* NULL when there is none */
    guint *dims;         /* axis -> dimension; zipped axes share one */
    guint n_dims;
    guint n_rows;     /* points of one variant */
    guint32 *samples; /* [row][axis] levels of a sampled design; NULL for a grid */
};

/* Fills dims from the zip key. */
gboolean sim_design_zip(SimDesign *design, GError **error);
/* Fills n_rows, and samples. */
gboolean sim_design_lay_grid(SimDesign *design, GError **error);
void sim_design_lay_samples(SimDesign *design, SimDesignKind kind, guint64 seed, guint n_samples);
/* The level of an axis at a row. */
guint sim_design_level(const SimDesign *design, guint row, guint axis);

#endif
