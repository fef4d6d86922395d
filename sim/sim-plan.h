/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "sim-experiment.h"

/* A plan is a whole design (sim-design.h) with every point resolved: for studies that fit into memory at once. */
typedef struct _SimPlan SimPlan;

/* Most points a plan may have. */
#define SIM_PLAN_MAX_POINTS 10000

#define SIM_SCENARIO_SUFFIX ".scenario"

/* Loads the scenario at `path`; arguments as of sim_design_load(). With an `experiment` (may be NULL) every point
 * passes its check and its list of starts before the plan is returned. Errors: PARSE, UNKNOWN_KEY, RANGE, MODEL, IO and
 * what the check reports; that of the first point that is refused. */
SimPlan *sim_plan_load(const SimSchema *schema, const char *path, const char *const *sets,
                       const SimExperiment *experiment, GError **error);
void sim_plan_free(SimPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimPlan, sim_plan_free)

/* What the accessors return is borrowed and lives as long as the plan. Points are numbered as in the design. */
const char *sim_plan_name(const SimPlan *plan); /* file name without folder and ".scenario" */
guint sim_plan_n_points(const SimPlan *plan);
const SimConfig *sim_plan_config(const SimPlan *plan, guint point);
const char *sim_plan_variant(const SimPlan *plan, guint point); /* "base" when the file has no variants */
guint sim_plan_n_axes(const SimPlan *plan);
/* Of the first axis, for what is drawn or compared along one. */
const char *sim_plan_axis_key(const SimPlan *plan);                /* "machine.cpus"; "" without a sweep */
const char *sim_plan_axis_value(const SimPlan *plan, guint point); /* canonical text; "" without a sweep */
/* Of any axis. */
const char *sim_plan_axis_key_at(const SimPlan *plan, guint axis);
const char *sim_plan_axis_value_at(const SimPlan *plan, guint point, guint axis);
const char *sim_plan_label(const SimPlan *plan, guint point); /* "base" or "base, machine.cpus = 4" */

/* One *.scenario file of a folder. `problem` is NULL, or says why the file could not be read; title and question are
 * the file's own ones, "" when it has none. */
typedef struct {
    char *name, *title, *question, *problem;
} SimScenarioInfo;

/* The folder's scenarios sorted by name: array of SimScenarioInfo, freed by g_ptr_array_unref. NULL and IO when the
 * folder cannot be read. */
GPtrArray *sim_plan_list_scenarios(const char *dir, GError **error);

#endif
