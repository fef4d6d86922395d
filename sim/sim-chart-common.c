/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-chart-private.h"

#include <math.h>
#include <string.h>

#define MAX_LABEL 44 /* characters */

int
sim_chart_column(const SimTable *table, const char *column, GError **error)
{
    int found = sim_table_find_column(table, column);

    if (found < 0)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:1: no column '%s'", sim_table_name(table), column);
    return found;
}

gboolean
sim_chart_number(const SimTable *table, guint row, guint column, double *ret_value, GError **error)
{
    if (*sim_table_cell(table, row, column) == '\0') {
        *ret_value = NAN;
        return TRUE;
    }
    if (sim_table_cell_real(table, row, column, ret_value))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: '%s' in column '%s' is not a number", sim_table_name(table),
                row + 2, sim_table_cell(table, row, column), sim_table_columns(table)[column]);
    return FALSE;
}

/* TRUE when not all rows have the same start word. */
static gboolean
has_several_starts(const SimTable *table, guint column)
{
    for (guint row = 1; row < sim_table_n_rows(table); row++)
        if (!g_str_equal(sim_table_cell(table, row, column), sim_table_cell(table, 0, column)))
            return TRUE;
    return FALSE;
}

void
sim_chart_rows_init(SimChartRows *rows, const SimChartSource *source, const SimTable *table)
{
    rows->table = table;
    rows->grid = source->study != NULL ? source->grid : NULL;
    rows->variant = sim_table_find_column(table, "variant");
    rows->axis = *source->axis != '\0' ? sim_table_find_column(table, source->axis) : -1;
    rows->start = sim_table_find_column(table, "start");
    rows->shows_start = rows->start >= 0 && has_several_starts(table, (guint) rows->start);
}

/* The choice and place of a row of a study; FALSE when the row does not say. */
static gboolean
locate(const SimChartRows *rows, guint row, guint *ret_choice, guint *ret_place)
{
    const SimSource *source = rows->grid->source;
    guint n_axes = sim_source_n_axes(source);
    g_autofree const char **values = g_new0(const char *, n_axes + 1);

    for (guint axis = 0; axis < n_axes; axis++) {
        int column = sim_table_find_column(rows->table, sim_source_axis_key(source, axis));
        if (column < 0)
            return FALSE;
        values[axis] = sim_table_cell(rows->table, row, (guint) column);
    }
    return rows->variant >= 0 && rows->start >= 0 &&
           sim_grid_locate(rows->grid, sim_table_cell(rows->table, row, (guint) rows->variant), values,
                           sim_table_cell(rows->table, row, (guint) rows->start), ret_choice, ret_place);
}

const char *
sim_chart_rows_axis_value(const SimChartRows *rows, guint row)
{
    guint choice, place;

    if (rows->grid != NULL)
        return locate(rows, row, &choice, &place) ? sim_grid_place(rows->grid, place)->x_text : "";
    return rows->axis >= 0 ? sim_table_cell(rows->table, row, (guint) rows->axis) : "";
}

gboolean
sim_chart_rows_is_picked(const SimChartRows *rows, guint row, const GArray *choices, const GArray *places)
{
    guint choice, place;
    gboolean has_choice = FALSE, has_place = FALSE;

    if (!locate(rows, row, &choice, &place))
        return FALSE;
    for (guint i = 0; i < choices->len; i++)
        has_choice |= g_array_index(choices, guint, i) == choice;
    for (guint i = 0; i < places->len; i++)
        has_place |= g_array_index(places, guint, i) == place;
    return has_choice && has_place;
}

char *
sim_chart_rows_label(const SimChartRows *rows, guint row, gboolean with_axis)
{
    GString *label;
    guint choice, place;

    if (rows->grid != NULL && locate(rows, row, &choice, &place)) {
        const SimGridPlace *at = sim_grid_place(rows->grid, place);
        const char *words = with_axis ? at->label : at->rest;
        g_autofree char *name = sim_grid_short_label(rows->grid, choice);
        return g_strdup_printf("%s%s%s", name, *words == '\0' ? "" : with_axis ? " at " : ", ", words);
    }
    label = g_string_new(rows->variant >= 0 ? sim_table_cell(rows->table, row, (guint) rows->variant) : "");
    if (with_axis && rows->axis >= 0)
        g_string_append_printf(label, " at %s", sim_chart_rows_axis_value(rows, row));
    if (rows->shows_start)
        g_string_append_printf(label, ", %s", sim_table_cell(rows->table, row, (guint) rows->start));
    return g_string_free(label, FALSE);
}

void
sim_chart_names_init(SimChartNames *names)
{
    names->list = g_ptr_array_new_with_free_func(g_free);
    names->numbers = g_hash_table_new(g_str_hash, g_str_equal);
}

void
sim_chart_names_clear(SimChartNames *names)
{
    g_clear_pointer(&names->numbers, g_hash_table_unref);
    g_clear_pointer(&names->list, g_ptr_array_unref);
}

gboolean
sim_chart_names_find(const SimChartNames *names, const char *name, guint *ret_number)
{
    gpointer number;

    if (!g_hash_table_lookup_extended(names->numbers, name, NULL, &number))
        return FALSE;
    *ret_number = GPOINTER_TO_UINT(number);
    return TRUE;
}

guint
sim_chart_names_add(SimChartNames *names, const char *name)
{
    guint number;

    if (sim_chart_names_find(names, name, &number))
        return number;
    g_ptr_array_add(names->list, g_strdup(name));
    number = names->list->len - 1;
    g_hash_table_insert(names->numbers, names->list->pdata[number], GUINT_TO_POINTER(number));
    return number;
}

void
sim_chart_put_text(SimChartDrawing *drawing, const char *text, char after)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"')
            g_string_append_c(drawing->data, '\'');
        else
            g_string_append_c(drawing->data, *c == '\t' || *c == '\n' || *c == '\r' ? ' ' : *c);
    }
    g_string_append_c(drawing->data, after);
}

void
sim_chart_put_label(SimChartDrawing *drawing, const char *text, char after)
{
    g_autofree char *cut = NULL, *label = NULL;

    if (g_utf8_strlen(text, -1) > MAX_LABEL) {
        cut = g_utf8_substring(text, 0, MAX_LABEL - 1);
        label = g_strconcat(cut, "…", NULL);
    }
    sim_chart_put_text(drawing, label != NULL ? label : text, after);
}

void
sim_chart_put_real(SimChartDrawing *drawing, double value, char after)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    sim_chart_put_text(drawing, sim_format_real(buffer, value), after);
}

void
sim_chart_end_block(SimChartDrawing *drawing)
{
    g_string_append(drawing->data, "\n\n");
}

void
sim_chart_add_arg(SimChartDrawing *drawing, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_ptr_array_add(drawing->args, g_strdup_vprintf(format, args));
    va_end(args);
}

typedef enum { PREFIX_NONE, PREFIX_SI, PREFIX_BINARY } Prefix;

typedef struct {
    const char *ending; /* of the metric's name */
    const char *unit;   /* what it is drawn in, before a prefix */
    int power;          /* of ten, from the metric's unit to that one */
    Prefix prefix;
} Unit;

static const Unit units[] = {
    {"_per_s", "/s", 0, PREFIX_SI},        {"_ps", "s", -12, PREFIX_SI},          {"_ns", "s", -9, PREFIX_SI},
    {"_us", "s", -6, PREFIX_SI},           {"_ms", "s", -3, PREFIX_SI},           {"_s", "s", 0, PREFIX_SI},
    {"_bytes", "B", 0, PREFIX_BINARY},     {"_pages", "pages", 0, PREFIX_NONE},   {"_slabs", "slabs", 0, PREFIX_NONE},
    {"_percent", "%", 0, PREFIX_NONE},     {"_frac", "fraction", 0, PREFIX_NONE}, {"_count", "count", 0, PREFIX_NONE},
    {"_cycles", "cycles", 0, PREFIX_NONE},
};

static const Unit *
find_unit(const char *metric)
{
    for (guint i = 0; i < G_N_ELEMENTS(units); i++)
        if (g_str_has_suffix(metric, units[i].ending))
            return &units[i];
    return NULL;
}

/* The prefix that leaves between one and four digits before the point, and what takes the metric's values there.
 * Powers stay integers until the last step: 1000 must not miss "k" for a rounding error. */
static const char *
choose_prefix(const Unit *unit, double largest, double *ret_divisor)
{
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    static const char *const si[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T", "P"};
    gboolean is_binary = unit->prefix == PREFIX_BINARY, is_number = isfinite(largest) && largest > 0;
    const char *const *names = is_binary ? binary : si;
    guint n = is_binary ? G_N_ELEMENTS(binary) : G_N_ELEMENTS(si);
    guint i = is_binary || is_number ? 0 : 4;

    *ret_divisor = 1;
    if (unit->prefix == PREFIX_NONE)
        return "";
    for (; i < n; i++) {
        double next = is_binary ? ldexp(1, 10 * ((int) i + 1)) : pow(10, 3 * ((int) i + 1) - 12 - unit->power);
        if (i + 1 == n || !is_number || largest < next)
            break;
    }
    *ret_divisor = is_binary ? ldexp(1, 10 * (int) i) : pow(10, 3 * (int) i - 12 - unit->power);
    return names[i];
}

char *
sim_chart_scale(const char *metric, double largest, double *ret_divisor)
{
    const Unit *unit = find_unit(metric);
    g_autofree char *stem = NULL;
    const char *prefix, *counted;

    *ret_divisor = 1;
    if (unit == NULL)
        return g_strdup(metric);
    prefix = choose_prefix(unit, largest, ret_divisor);
    stem = g_strndup(metric, strlen(metric) - strlen(unit->ending));
    g_strdelimit(stem, "_", ' ');
    if (*unit->unit != '/')
        return g_strdup_printf("%s (%s%s)", stem, prefix, unit->unit);
    /* "throughput ops" per second: what is counted is the last word. */
    counted = strrchr(stem, ' ');
    if (counted == NULL)
        return g_strdup_printf("%s (%s%s)", stem, prefix, unit->unit);
    return g_strdup_printf("%.*s (%s%s%s)", (int) (counted - stem), stem, prefix, counted + 1, unit->unit);
}
