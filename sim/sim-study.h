/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_STUDY_H
#define SIM_STUDY_H

#include "sim-design.h"
#include "sim-table.h"

/* A study: one SQLite file that holds a scenario, its points, and every replication that has been finished. The tables
 * are described in docs/studies.md. Several processes may use one study at once; within a process, one thread.
 *
 * All errors are SIM_ERROR_IO and begin with the file's name, unless a function says otherwise. */
typedef struct _SimStudy SimStudy;

/* Raised with every change of the tables; older files are brought up to it when they are opened for writing. */
#define SIM_STUDY_FORMAT 1

typedef enum {
    SIM_STUDY_READ,   /* must exist */
    SIM_STUDY_CREATE, /* made when it does not exist; read and written */
} SimStudyMode;

SimStudy *sim_study_open(const char *path, SimStudyMode mode, GError **error);
void sim_study_close(SimStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimStudy, sim_study_close)

/* ---- What is in it. Accessors return what was true when the study was opened; borrowed, living as long as it. */

/* A word about the whole: "program", "version", "scenario" (its name), "title", "question", "scenario_text", "shard"
 * ("2/4", "" for a whole study), "plan" (a digest of all points). "" when there is none. */
const char *sim_study_about(const SimStudy *study, const char *key);

guint sim_study_n_axes(const SimStudy *study);
const char *sim_study_axis_key(const SimStudy *study, guint axis);

/* A point of the plan, in the plan's order. */
typedef struct {
    gint64 id;       /* row of the table `point` */
    char *variant;   /* "base" when the scenario has none */
    char *label;     /* "base, machine.cpus = 4" */
    char **values;   /* canonical text, one an axis, NULL-terminated */
    double *numbers; /* the same in base units (ps, bytes, 1); NaN for words */
} SimStudyPoint;

guint sim_study_n_points(const SimStudy *study);
const SimStudyPoint *sim_study_point(const SimStudy *study, guint point);
/* The point's resolved configuration as scenario text; caller frees. */
char *sim_study_configuration(SimStudy *study, guint point, GError **error);

/* A cell is a point and a start: what replications are repetitions of. Ordered by point, then as in run.starts. */
typedef struct {
    guint point;
    char *start;
    guint number;      /* of the cell in the whole plan; what shards are split by */
    guint n_wanted;    /* most replications */
    gint n_needed;     /* how many count; -1 while sequential stopping has not decided */
    double precision;  /* 0 for a fixed number */
    double confidence; /* of the intervals */
} SimStudyCell;

guint sim_study_n_cells(const SimStudy *study);
const SimStudyCell *sim_study_cell(const SimStudy *study, guint cell);

/* Points that were left out, each with the reason: columns point, reason. Caller frees. */
SimTable *sim_study_refused(SimStudy *study, GError **error);

/* ---- Results. */

/* Names of all metrics in the order in which the runs record them; NULL-terminated. NULL on error. */
const char *const *sim_study_metrics(SimStudy *study, GError **error);

/* The finished replications of one cell that count, in their order. */
typedef struct {
    guint n_runs, n_metrics;
    guint *replications;   /* n_runs */
    guint64 *seeds;        /* n_runs */
    guint64 *fingerprints; /* n_runs */
    double *values;        /* [run][metric], NaN also where has is FALSE */
    gboolean *has;         /* [run][metric]: whether the run recorded it */
} SimCellRuns;

SimCellRuns *sim_study_read_cell(SimStudy *study, guint cell, GError **error);
/* Room for n_runs, none of them there yet. */
SimCellRuns *sim_cell_runs_new(guint n_runs, guint n_metrics);
void sim_cell_runs_free(SimCellRuns *runs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimCellRuns, sim_cell_runs_free)
/* The values of one metric in the order of replications, without those not recorded: doubles; caller unrefs. */
GArray *sim_cell_runs_values(const SimCellRuns *runs, guint metric);

/* Names of the tables that runs recorded beside metrics ("locks", "series"), sorted; NULL-terminated, caller frees with
 * g_strfreev. */
char **sim_study_table_names(SimStudy *study, GError **error);
/* Union of the columns of a table of that name over all runs, in order of first appearance; NULL-terminated, caller
 * frees. Empty when no run has it. */
char **sim_study_table_columns(SimStudy *study, const char *name, GError **error);
/* Calls `each` with every table of that name in a cell, in order of replications; stops when it returns FALSE. */
gboolean sim_study_each_table(SimStudy *study, guint cell, const char *name,
                              gboolean (*each)(guint replication, const SimTable *table, gpointer data, GError **error),
                              gpointer data, GError **error);

/* Replications finished and wanted so far, by whatever process, of the points of the plan. */
gboolean sim_study_count(SimStudy *study, guint64 *ret_n_done, guint64 *ret_n_wanted, GError **error);

/* Of the finished replications of the plan that recorded this metric: how many, in how many it is neither 1 nor NaN,
 * and in how many it is NaN. */
gboolean sim_study_count_flag(SimStudy *study, const char *metric, guint64 *ret_n, guint64 *ret_n_off,
                              guint64 *ret_n_unknown, GError **error);

/* ---- Filling it. */

typedef struct {
    const SimExperiment *experiment;
    const char *scenario_text; /* kept for the reader */
    guint shard, n_shards;     /* this study runs the cells of shard 1 .. n_shards; 1 of 1 for all */
    gboolean may_extend;       /* the plan may differ from the one in the study; what no longer belongs is kept aside */
    gboolean skip_refused;     /* leave out points that are refused instead of failing with the first */
} SimStudyPlan;

/* Puts the points of a design into the study, or checks that they are there. PARSE, RANGE, MODEL of a refused point;
 * MODEL when the study belongs to another program, version, shard or plan. The study is unchanged on failure. */
gboolean sim_study_put_design(SimStudy *study, SimDesign *design, const SimStudyPlan *plan, GError **error);

/* Opens the study at `path` and fills it. Where there is none it is made under another name and gets its own when it is
 * whole, so that a filling that fails leaves nothing; `fill` is then called a second time, on what it has filled. Caller
 * closes. Errors of `fill`, and IO. */
typedef gboolean (*SimStudyFill)(SimStudy *study, gpointer data, GError **error);
SimStudy *sim_study_fill(const char *path, SimStudyFill fill, gpointer data, GError **error);

/* Joins shards into `out`: all are checked first, then each goes in whole or not at all. The first gives an empty `out`
 * its plan. Joining a shard again changes nothing. MODEL when they do not belong together, when two of them are the same
 * shard, or when they disagree with `out` on a run. *ret_n_added are the new replications. */
gboolean sim_study_merge(SimStudy *out, const char *const *shards, guint64 *ret_n_added, GError **error);

#endif
