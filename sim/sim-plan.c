/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-plan.h"

#include "sim-design.h"

typedef struct {
    char *label;
    SimConfig *config;
} Point;

struct _SimPlan {
    SimDesign *design;
    GArray *points; /* Point */
};

static void
point_clear(gpointer data)
{
    Point *point = data;
    g_free(point->label);
    sim_config_unref(point->config);
}

void
sim_plan_free(SimPlan *plan)
{
    if (plan == NULL)
        return;
    g_array_unref(plan->points);
    sim_design_free(plan->design);
    g_free(plan);
}

SimPlan *
sim_plan_load(const SimSchema *schema, const char *path, const char *const *sets, const SimExperiment *experiment,
              GError **error)
{
    SimDesign *design = sim_design_load(schema, path, sets, experiment, error);
    if (design == NULL)
        return NULL;
    g_autoptr(SimPlan) plan = g_new0(SimPlan, 1);
    plan->design = design;
    plan->points = g_array_new(FALSE, FALSE, sizeof(Point));
    g_array_set_clear_func(plan->points, point_clear);
    guint n_points = sim_design_n_points(design);
    if (n_points > SIM_PLAN_MAX_POINTS) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                    "%s: %u points (allowed: at most %d, variants times axis values)", path, n_points,
                    SIM_PLAN_MAX_POINTS);
        return NULL;
    }
    for (guint i = 0; i < n_points; i++) {
        Point point = {.config = sim_design_resolve(design, i, error)};
        if (point.config == NULL)
            return NULL;
        point.label = sim_design_label(design, i);
        g_array_append_val(plan->points, point);
    }
    return g_steal_pointer(&plan);
}

static const Point *
point_at(const SimPlan *plan, guint point)
{
    g_assert(point < plan->points->len);
    return &g_array_index(plan->points, Point, point);
}

const char *
sim_plan_name(const SimPlan *plan)
{
    return sim_design_name(plan->design);
}

guint
sim_plan_n_points(const SimPlan *plan)
{
    return plan->points->len;
}

const SimConfig *
sim_plan_config(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->config;
}

const char *
sim_plan_variant(const SimPlan *plan, guint point)
{
    return sim_design_variant(plan->design, point);
}

guint
sim_plan_n_axes(const SimPlan *plan)
{
    return sim_design_n_axes(plan->design);
}

const char *
sim_plan_axis_key(const SimPlan *plan)
{
    return sim_plan_n_axes(plan) > 0 ? sim_plan_axis_key_at(plan, 0) : "";
}

const char *
sim_plan_axis_value(const SimPlan *plan, guint point)
{
    return sim_plan_n_axes(plan) > 0 ? sim_plan_axis_value_at(plan, point, 0) : "";
}

const char *
sim_plan_axis_key_at(const SimPlan *plan, guint axis)
{
    return sim_design_axis_key(plan->design, axis);
}

const char *
sim_plan_axis_value_at(const SimPlan *plan, guint point, guint axis)
{
    return sim_design_axis_value(plan->design, point, axis);
}

const char *
sim_plan_label(const SimPlan *plan, guint point)
{
    return point_at(plan, point)->label;
}
