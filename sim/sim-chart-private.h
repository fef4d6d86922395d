/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CHART_PRIVATE_H
#define SIM_CHART_PRIVATE_H

#include "sim-findings.h"
#include "sim-study.h"
#include "sim-table.h"

/* Between sim-chart.c, which finds what to draw and calls gnuplot, and the other sim-chart-*.c, which turn results into
 * what the scripts draw. */

typedef struct {
    char *path;
    char *axis;         /* what charts have along their x axis; "" without one */
    GHashTable *tables; /* name -> SimTable, read on demand */
    GKeyFile *plots;    /* [plot NAME] groups */
    SimStudy *study;    /* NULL for a folder */
    SimSource *runs;    /* the three below are made on demand */
    SimGrid *grid;
    SimFindings *findings;
    SimControl control; /* of the findings */
} SimChartSource;

SimChartSource *sim_chart_source_open(const char *path, SimControl control, GError **error);
void sim_chart_source_free(SimChartSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimChartSource, sim_chart_source_free)

typedef struct {
    const char *name, *kind, *title; /* title never NULL */
    const char *metric;              /* NULL: the kind's default */
    gboolean is_asked_for;           /* by the scenario */
} SimChartSpec;

/* What a script gets: the data file and, after it, its own arguments. */
typedef struct {
    GString *data;
    GPtrArray *args; /* owned strings */
} SimChartDrawing;

/* Fills `drawing`. FALSE without an error when there is nothing to draw, with one when the file is not usable or the
 * wanted metric is not in it. */
typedef gboolean SimChartPrepare(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing,
                                 GError **error);

#define SIM_CHART(id, ...) SimChartPrepare sim_chart_prepare_##id;
#define SIM_CHART_OF_SWEEP(id, ...) SimChartPrepare sim_chart_prepare_##id;
#include "sim-chart-list.h"

/* NULL without an error when there is no such table. */
const SimTable *sim_chart_source_table(SimChartSource *source, const char *name, GError **error);
const SimGrid *sim_chart_source_grid(SimChartSource *source, GError **error);
const SimFindings *sim_chart_source_findings(SimChartSource *source, GError **error);
/* -1 with SIM_ERROR_PARSE when the column is missing. */
int sim_chart_column(const SimTable *table, const char *column, GError **error);
/* A number in a cell; NaN for an empty cell; FALSE with SIM_ERROR_PARSE for anything else. */
gboolean sim_chart_number(const SimTable *table, guint row, guint column, double *ret_value, GError **error);
/* How the rows of a table say which point they belong to. */
typedef struct {
    const SimTable *table;
    const SimGrid *grid;      /* names the points of a study */
    int variant, axis, start; /* columns, -1 when absent */
    gboolean shows_start;     /* there are several start words, so labels name them */
} SimChartRows;

void sim_chart_rows_init(SimChartRows *rows, const SimChartSource *source, const SimTable *table);
const char *sim_chart_rows_axis_value(const SimChartRows *rows, guint row); /* "" without an axis; borrowed */
/* "base", "base, warm" or, with the axis, "base at 224, warm"; caller frees. */
char *sim_chart_rows_label(const SimChartRows *rows, guint row, gboolean with_axis);
/* Names numbered by first appearance. */
typedef struct {
    GPtrArray *list; /* borrowed by callers: name of each number */
    GHashTable *numbers;
} SimChartNames;

void sim_chart_names_init(SimChartNames *names);
void sim_chart_names_clear(SimChartNames *names);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SimChartNames, sim_chart_names_clear)
guint sim_chart_names_add(SimChartNames *names, const char *name);
/* FALSE when the name has no number. */
gboolean sim_chart_names_find(const SimChartNames *names, const char *name, guint *ret_number);

/* Whether a row of a study belongs to one of these choices at one of these places. */
gboolean sim_chart_rows_is_picked(const SimChartRows *rows, guint row, const GArray *choices, const GArray *places);
/* Which choices of a grid are drawn: all, or the base and the headline (sim-grid.h) when not all have room. Array of
 * guint; caller unrefs. */
GArray *sim_chart_pick_choices(const SimGrid *grid, guint n_most);
/* "8 of 16 settings, 4 of 8 places; kernel 6.5", the latter when they are the default ones; caller frees. */
char *sim_chart_grid_note(const SimGrid *grid, guint n_choices, guint n_places, gboolean are_default);

/* Data files are blocks split by two blank lines; a block is a header and rows, cells split by tabs. gnuplot reads
 * double quotes and line ends in cells as syntax, so texts lose theirs. */
void sim_chart_put_text(SimChartDrawing *drawing, const char *text, char after);
/* The same, cut to what a key or an axis has room for: gnuplot gives up on longer ones. */
void sim_chart_put_label(SimChartDrawing *drawing, const char *text, char after);
void sim_chart_put_real(SimChartDrawing *drawing, double value, char after);
void sim_chart_end_block(SimChartDrawing *drawing);
void sim_chart_add_arg(SimChartDrawing *drawing, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The axis label of a metric whose largest value is known, "throughput (Mops/s)" for throughput_ops_per_s, and the
 * what its values are divided by to be in that unit; a name without a known unit stays as it is. Caller frees. */
char *sim_chart_scale(const char *metric, double largest, double *ret_divisor);

#endif
