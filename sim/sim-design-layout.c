/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-design-private.h"

#include <string.h>

static int
find_axis(const SimDesign *design, const char *name)
{
    for (guint i = 0; i < design->axes->len; i++) {
        if (strcmp(((const SimAxis *) design->axes->pdata[i])->name, name) == 0)
            return (int) i;
    }
    return -1;
}

static const SimAxis *
axis_at(const SimDesign *design, guint axis)
{
    return design->axes->pdata[axis];
}

/* "key1 + key2": gives all of them the dimension of the first. */
static gboolean
zip_group(SimDesign *design, const char *text, gboolean *is_zipped, GError **error)
{
    g_auto(GStrv) names = g_strsplit(text, "+", -1);
    int first = -1;

    if (g_strv_length(names) < 2)
        return sim_setting_error(design->zip, error, SIM_ERROR_PARSE, "not a group (allowed: key1 + key2)");
    for (char **name = names; *name != NULL; name++) {
        int axis = find_axis(design, g_strstrip(*name));
        if (axis < 0)
            return sim_setting_error(design->zip, error, SIM_ERROR_UNKNOWN_KEY, "%s is no axis of this sweep", *name);
        if (is_zipped[axis])
            return sim_setting_error(design->zip, error, SIM_ERROR_PARSE, "%s given twice", *name);
        is_zipped[axis] = TRUE;
        if (first < 0)
            first = axis;
        if (axis_at(design, (guint) axis)->is_interval || axis_at(design, (guint) first)->is_interval)
            return sim_setting_error(design->zip, error, SIM_ERROR_MODEL,
                                     "an interval cannot be zipped (allowed: lists "
                                     "and ranges)");
        guint n_first = axis_at(design, (guint) first)->levels->len;
        guint n_this = axis_at(design, (guint) axis)->levels->len;
        if (n_first != n_this)
            return sim_setting_error(design->zip, error, SIM_ERROR_MODEL, "%s has %u values and %s has %u", names[0],
                                     n_first, *name, n_this);
        design->dims[axis] = (guint) first;
    }
    return TRUE;
}

gboolean
sim_design_zip(SimDesign *design, GError **error)
{
    guint n_axes = design->axes->len;
    g_autofree gboolean *is_zipped = g_new0(gboolean, n_axes + 1);
    g_autofree guint *compact = g_new0(guint, n_axes + 1);

    design->dims = g_new(guint, n_axes + 1);
    for (guint i = 0; i < n_axes; i++)
        design->dims[i] = i;
    for (char **group = design->zip != NULL ? design->zip->value.list : NULL; group != NULL && *group != NULL;
         group++) {
        if (!zip_group(design, *group, is_zipped, error))
            return FALSE;
    }
    /* A zipped axis follows one that stands before it or after it; numbers are given in order of the leaders. */
    for (guint i = 0; i < n_axes; i++) {
        if (design->dims[i] == i)
            compact[i] = design->n_dims++;
    }
    for (guint i = 0; i < n_axes; i++)
        design->dims[i] = compact[design->dims[i]];
    return TRUE;
}

static guint
dim_length(const SimDesign *design, guint dim)
{
    for (guint i = 0; i < design->axes->len; i++) {
        if (design->dims[i] == dim)
            return axis_at(design, i)->levels->len;
    }
    g_assert_not_reached();
}

gboolean
sim_design_lay_grid(SimDesign *design, GError **error)
{
    guint64 n_rows = 1;

    for (guint i = 0; i < design->axes->len; i++) {
        const SimAxis *axis = axis_at(design, i);
        if (axis->is_interval) {
            g_set_error(
                error, SIM_ERROR, SIM_ERROR_MODEL,
                "%s: [sweep] %s: a grid cannot hold an interval (allowed: with design = lhs or sobol; or a list, "
                "from:to:step, log from:to:count)",
                axis->place, axis->name);
            return FALSE;
        }
    }
    for (guint dim = 0; dim < design->n_dims; dim++) {
        n_rows *= dim_length(design, dim);
        if (n_rows > SIM_DESIGN_MAX_POINTS) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "[sweep]: more than %d points in the grid",
                        SIM_DESIGN_MAX_POINTS);
            return FALSE;
        }
    }
    design->n_rows = (guint) n_rows;
    return TRUE;
}

/* Names of the dimensions: those of their first axes. */
static const char **
dim_names(const SimDesign *design)
{
    const char **names = g_new0(const char *, design->n_dims);

    for (guint i = design->axes->len; i > 0; i--)
        names[design->dims[i - 1]] = axis_at(design, i - 1)->name;
    return names;
}

void
sim_design_lay_samples(SimDesign *design, SimDesignKind kind, guint64 seed, guint n_samples)
{
    guint n_axes = design->axes->len;
    g_autofree const char **names = dim_names(design);
    g_autofree double *positions = kind == SIM_DESIGN_SOBOL ? sim_sample_sobol(seed, names, design->n_dims, n_samples)
                                                            : sim_sample_latin(seed, names, design->n_dims, n_samples);
    gsize row_bytes = n_axes * sizeof(guint32);
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

    design->samples = g_new(guint32, (gsize) n_samples * n_axes);
    for (guint i = 0; i < n_samples; i++) {
        guint32 *row = design->samples + (gsize) design->n_rows * n_axes;
        for (guint axis = 0; axis < n_axes; axis++)
            row[axis] =
                sim_axis_sample(design->axes->pdata[axis], positions[(gsize) i * design->n_dims + design->dims[axis]]);
        if (g_hash_table_add(seen, g_bytes_new(row, row_bytes)))
            design->n_rows++;
    }
}

guint
sim_design_level(const SimDesign *design, guint row, guint axis)
{
    if (design->samples != NULL)
        return design->samples[(gsize) row * design->axes->len + axis];
    for (guint dim = design->n_dims - 1; dim > design->dims[axis]; dim--)
        row /= dim_length(design, dim);
    return row % dim_length(design, design->dims[axis]);
}
