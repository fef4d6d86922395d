/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include "sim-source.h"

/* The cells of a study or result folder as a grid: choices, which are what is asked about, times places, which are
 * where each was tried. Choices are the axes of [scenario] settings (with the variants, when there are several);
 * without that key the variants, and without variants all axes but the first. The other axes and the start make the
 * place. The first choice in the order of the plan is the base that all others are held against. */

typedef struct {
    char *label;       /* "order = 4, cpu_partial = 2" or the words that [scenario] names gives; "base" for the first */
    char *last_change; /* the words of the last setting it changes */
    guint first;       /* the first setting it changes, 0 for the variant or none */
    guint n_changes;   /* settings in which it differs from the base; axes that move together are one */
    gboolean is_chain; /* it changes the first n_changes settings, each to its last value: a step of a waterfall */
} SimGridChoice;

typedef struct {
    char *label;         /* "224 CPUs, kernel 6.5, mixed"; "everywhere" when there is one place only */
    char *x_text;        /* its value on the x axis, "" without one */
    double x;            /* the same as a number, NaN for none */
    char *rest;          /* the label without the x axis; "" when that is all */
    gboolean is_default; /* the rest is that of the first place */
} SimGridPlace;

typedef struct {
    GPtrArray *choices; /* SimGridChoice */
    GPtrArray *places;  /* SimGridPlace */
    guint n_settings;   /* that move by themselves */
    char *x_label;      /* "CPUs" or the axis' key; "" without an x axis */
    char *gain, *cost;  /* metrics, or differences of two ("A - B"); cost is NULL when there is none */
    double confidence;
    /* Of the maker: */
    SimSource *source;
    GArray *cells; /* gint: [place][choice], -1 for none */
    GHashTable *choice_numbers, *place_numbers;
    GArray *dimensions;
    gboolean has_variants;
} SimGrid;

/* `scenario` holds [scenario] as the first point has it, raw (settings, gain, cost, names); `source` outlives the grid.
 * UNKNOWN_KEY for settings and metrics that are not there, PARSE for a name of another form, MODEL without runs. */
SimGrid *sim_grid_new(SimSource *source, GKeyFile *scenario, GError **error);
void sim_grid_free(SimGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimGrid, sim_grid_free)

static inline const SimGridChoice *
sim_grid_choice(const SimGrid *grid, guint choice)
{
    return g_ptr_array_index(grid->choices, choice);
}

static inline const SimGridPlace *
sim_grid_place(const SimGrid *grid, guint place)
{
    return g_ptr_array_index(grid->places, place);
}

/* Cell of the source, -1 when the plan has no such point. */
int sim_grid_cell(const SimGrid *grid, guint place, guint choice);

/* Looks up a metric, or the difference of two ("A - B"): *ret_less is -1 for one alone. UNKNOWN_KEY. */
gboolean sim_grid_find_metric(const SimGrid *grid, const char *metric, int *ret_metric, int *ret_less, GError **error);
/* The runs of a cell, in which column *ret_metric holds the metric asked for; *ret_runs is NULL when the plan has no
 * such point. Caller frees. */
gboolean sim_grid_read(const SimGrid *grid, guint place, guint choice, const char *metric, SimCellRuns **ret_runs,
                       guint *ret_metric, GError **error);

/* The choice and place of a row that names its variant, axis values (in the order of the source's axes) and start.
 * FALSE when there is none. */
gboolean sim_grid_locate(const SimGrid *grid, const char *variant, const char *const *values, const char *start,
                         guint *ret_choice, guint *ret_place);

/* The choices for an answer of a few lines: those that change one setting, by setting, and the one that changes every
 * one to its last value. Array of guint without the base; caller unrefs. */
GArray *sim_grid_headline(const SimGrid *grid, guint n_most);
/* The places whose rest is that of the first, evenly from the first to the last when there are more than n_most >= 2.
 * Array of guint; caller unrefs. */
GArray *sim_grid_default_places(const SimGrid *grid, guint n_most);
/* The label, or "all 3 together" for the one that changes every setting of several; caller frees. */
char *sim_grid_short_label(const SimGrid *grid, guint choice);

#endif
