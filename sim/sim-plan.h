/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "sim-experiment.h"

/* A scenario file with its layers, overrides, variants and sweep, resolved into the points to run. */
typedef struct _SimPlan SimPlan;

SimPlan *sim_plan_load(const SimSchema *schema, const char *path, const char *const *sets,
                       const SimExperiment *experiment, GError **error);
void sim_plan_free(SimPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimPlan, sim_plan_free)

const char *sim_plan_name(const SimPlan *plan);
guint sim_plan_n_points(const SimPlan *plan);
const SimConfig *sim_plan_config(const SimPlan *plan, guint point);
const char *sim_plan_variant(const SimPlan *plan, guint point);
const char *sim_plan_axis_key(const SimPlan *plan);
const char *sim_plan_axis_value(const SimPlan *plan, guint point);

#endif
