/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of parts, one bar a point: lock time by call site, memory by place. Values are means over replications. */
#include "sim-chart-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More parts than this cannot be told apart in grey print; the smaller ones are added up as "others". */
#define MAX_PARTS 7

/* More bars than this have no room for their labels. */
#define MAX_BARS 40
#define MAX_BAR_CHOICES 5 /* of a study with more points than that */
#define MAX_BAR_PLACES 4

typedef struct {
    SimChartRows rows;
    guint part_column, value_column;
    double divisor; /* from the table's unit to the one drawn */
    SimChartNames bars, parts;
    GArray *n_runs; /* guint, by bar: what the means are taken over */
    GArray *sums;   /* double, [bar][part] */
    char *note;     /* what is shown, under the title */
    char *rest;     /* the end of every label, which the note says for all; NULL when labels are whole */
} Stack;

static void
stack_clear(Stack *stack)
{
    sim_chart_names_clear(&stack->bars);
    sim_chart_names_clear(&stack->parts);
    g_clear_pointer(&stack->n_runs, g_array_unref);
    g_clear_pointer(&stack->sums, g_array_unref);
    g_free(stack->note);
    g_free(stack->rest);
}

/* Numbers the points of all rows, or only of those at `axis_value`. */
static void
add_bars(SimChartNames *bars, const SimChartRows *runs, const char *axis_value)
{
    for (guint row = 0; row < sim_table_n_rows(runs->table); row++) {
        g_autofree char *label = sim_chart_rows_label(runs, row, TRUE);
        if (axis_value == NULL || g_str_equal(sim_chart_rows_axis_value(runs, row), axis_value))
            sim_chart_names_add(bars, label);
    }
}

/* Of a study, bars of those settings and places that an answer speaks of; the others only when all have room. */
static void
choose_bars_of_grid(Stack *stack, const SimChartRows *runs)
{
    g_autoptr(GArray) choices = sim_chart_pick_choices(runs->grid, MAX_BAR_CHOICES);
    g_autoptr(GArray) places = sim_grid_default_places(runs->grid, MAX_BAR_PLACES);

    for (guint p = 0; p < places->len; p++) {
        g_autoptr(GArray) one = g_array_new(FALSE, FALSE, sizeof(guint));
        g_array_append_val(one, g_array_index(places, guint, p));
        for (guint row = 0; row < sim_table_n_rows(runs->table); row++) {
            g_autofree char *label = sim_chart_rows_label(runs, row, TRUE);
            if (sim_chart_rows_is_picked(runs, row, choices, one))
                sim_chart_names_add(&stack->bars, label);
        }
    }
    stack->note = sim_chart_grid_note(runs->grid, choices->len, places->len, TRUE);
    stack->rest = g_strconcat(", ", sim_grid_place(runs->grid, g_array_index(places, guint, 0))->rest, NULL);
}

/* One bar a point while there is room, else those of the last axis value. Points and runs are taken from metrics.tsv,
 * which has a row for each run: a run that recorded nothing in the table at hand counts as 0, not as absent. */
static void
choose_bars(Stack *stack, const SimChartSource *source, const SimTable *metrics)
{
    SimChartRows runs;
    const char *last_value = NULL;
    guint n_all, n_shown;

    sim_chart_rows_init(&runs, source, metrics);
    stack->rows.shows_start = runs.shows_start;
    add_bars(&stack->bars, &runs, NULL);
    n_all = stack->bars.list->len;
    if (n_all > MAX_BARS / 2 && runs.grid != NULL) {
        sim_chart_names_clear(&stack->bars);
        sim_chart_names_init(&stack->bars);
        choose_bars_of_grid(stack, &runs);
    } else if (n_all > MAX_BARS && runs.axis >= 0) {
        last_value = sim_chart_rows_axis_value(&runs, sim_table_n_rows(metrics) - 1);
        sim_chart_names_clear(&stack->bars);
        sim_chart_names_init(&stack->bars);
        add_bars(&stack->bars, &runs, last_value);
    }
    n_shown = MIN(stack->bars.list->len, MAX_BARS);
    g_array_set_size(stack->n_runs, stack->bars.list->len);
    for (guint row = 0; row < sim_table_n_rows(metrics); row++) {
        g_autofree char *label = sim_chart_rows_label(&runs, row, TRUE);
        guint bar;
        if (sim_chart_names_find(&stack->bars, label, &bar))
            g_array_index(stack->n_runs, guint, bar)++;
    }
    g_array_set_size(stack->n_runs, n_shown);
    if (stack->note != NULL)
        return;
    stack->note = g_strdup_printf("mean of the replications; %u of %u points%s%s%s%s", n_shown, n_all,
                                  last_value != NULL ? ", at " : "", last_value != NULL ? source->axis : "",
                                  last_value != NULL ? " = " : "", last_value != NULL ? last_value : "");
}

static gboolean
stack_init(Stack *stack, SimChartSource *source, const SimTable *table, const char *part, const char *value,
           GError **error)
{
    int part_column = sim_chart_column(table, part, error);
    int value_column = part_column >= 0 ? sim_chart_column(table, value, error) : -1;
    const SimTable *metrics = value_column >= 0 ? sim_chart_source_table(source, "metrics", error) : NULL;

    if (metrics == NULL || sim_table_n_rows(metrics) == 0)
        return FALSE;
    sim_chart_rows_init(&stack->rows, source, table);
    stack->part_column = (guint) part_column;
    stack->value_column = (guint) value_column;
    sim_chart_names_init(&stack->bars);
    sim_chart_names_init(&stack->parts);
    stack->n_runs = g_array_new(FALSE, TRUE, sizeof(guint));
    stack->sums = g_array_new(FALSE, TRUE, sizeof(double));
    choose_bars(stack, source, metrics);
    for (guint row = 0; row < sim_table_n_rows(table); row++)
        sim_chart_names_add(&stack->parts, sim_table_cell(table, row, stack->part_column));
    g_array_set_size(stack->sums, stack->n_runs->len * stack->parts.list->len);
    return TRUE;
}

static gboolean
stack_sum(Stack *stack, GError **error)
{
    const SimTable *table = stack->rows.table;

    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        g_autofree char *label = sim_chart_rows_label(&stack->rows, row, TRUE);
        guint part = sim_chart_names_add(&stack->parts, sim_table_cell(table, row, stack->part_column)), bar;
        double value;

        if (!sim_chart_number(table, row, stack->value_column, &value, error))
            return FALSE;
        if (!isnan(value) && sim_chart_names_find(&stack->bars, label, &bar) && bar < stack->n_runs->len)
            g_array_index(stack->sums, double, bar * stack->parts.list->len + part) +=
                value / g_array_index(stack->n_runs, guint, bar);
    }
    return TRUE;
}

static double
part_total(const Stack *stack, guint part)
{
    double total = 0;

    for (guint bar = 0; bar < stack->n_runs->len; bar++)
        total += g_array_index(stack->sums, double, bar * stack->parts.list->len + part);
    return total;
}

typedef struct {
    guint part;
    double total;
} Ranked;

static int
compare_ranked(gconstpointer a, gconstpointer b)
{
    const Ranked *x = a, *y = b;

    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->part < y->part ? -1 : 1;
}

/* Parts that have a column of their own, in the table's order: a part keeps its place and colour from picture to
 * picture, whatever its size. Those that are 0 everywhere are left out, and of too many the smaller ones; these are
 * added up, and counted in *ret_n_others. Array of guint; caller unrefs. */
static GArray *
choose_parts(const Stack *stack, guint *ret_n_others)
{
    guint n_parts = stack->parts.list->len, n_seen = 0, n_named;
    g_autofree Ranked *ranked = g_new(Ranked, n_parts);
    GArray *named = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint part = 0; part < n_parts; part++) {
        ranked[part] = (Ranked){part, part_total(stack, part)};
        n_seen += ranked[part].total != 0;
    }
    qsort(ranked, n_parts, sizeof *ranked, compare_ranked);
    /* A picture of nothing but zeros still names one. */
    n_named = n_seen <= MAX_PARTS ? MAX(n_seen, 1) : MAX_PARTS - 1;
    for (guint part = 0; part < n_parts; part++)
        for (guint i = 0; i < n_named; i++)
            if (ranked[i].part == part)
                g_array_append_val(named, part);
    *ret_n_others = n_seen > MAX_PARTS ? n_seen - n_named : 0;
    return named;
}

static double
value_at(const Stack *stack, guint bar, guint part)
{
    return g_array_index(stack->sums, double, bar * stack->parts.list->len + part) / stack->divisor;
}

/* Every cell was followed by a tab. */
static void
end_row(SimChartDrawing *drawing)
{
    drawing->data->str[drawing->data->len - 1] = '\n';
}

static void
put_bar(SimChartDrawing *drawing, const Stack *stack, guint bar, const GArray *named, gboolean has_others)
{
    double others = 0;
    g_autofree char *label = g_strdup(stack->bars.list->pdata[bar]);

    if (stack->rest != NULL && g_str_has_suffix(label, stack->rest))
        label[strlen(label) - strlen(stack->rest)] = '\0';
    sim_chart_put_label(drawing, label, '\t');
    for (guint part = 0, c = 0; part < stack->parts.list->len; part++) {
        double value = value_at(stack, bar, part);
        if (c < named->len && g_array_index(named, guint, c) == part) {
            sim_chart_put_real(drawing, value, '\t');
            c++;
        } else {
            others += value;
        }
    }
    if (has_others)
        sim_chart_put_real(drawing, others, '\t');
    end_row(drawing);
}

/* One block: a column a part, the first at the bottom of the bars. Arguments: how many columns, their colours, how many
 * bars. */
static void
put_bars(SimChartDrawing *drawing, const Stack *stack)
{
    guint n_others;
    g_autoptr(GArray) named = choose_parts(stack, &n_others);
    g_autoptr(GString) colours = g_string_new(NULL);

    g_string_append(drawing->data, "point\t");
    for (guint c = 0; c < named->len; c++) {
        guint part = g_array_index(named, guint, c);
        sim_chart_put_label(drawing, stack->parts.list->pdata[part], '\t');
        g_string_append_printf(colours, "%s%u", c > 0 ? " " : "", part + 1);
    }
    if (n_others > 0) {
        g_string_append_printf(drawing->data, "%u others\t", n_others);
        g_string_append(colours, " 0");
    }
    end_row(drawing);
    for (guint bar = 0; bar < stack->n_runs->len; bar++)
        put_bar(drawing, stack, bar, named, n_others > 0);
    sim_chart_add_arg(drawing, "%u", named->len + (n_others > 0));
    sim_chart_add_arg(drawing, "%s", colours->str);
    sim_chart_add_arg(drawing, "%u", stack->n_runs->len);
}

static double
highest_bar(const Stack *stack)
{
    double highest = 0;

    for (guint bar = 0; bar < stack->n_runs->len; bar++) {
        double height = 0;
        for (guint part = 0; part < stack->parts.list->len; part++)
            height += g_array_index(stack->sums, double, bar * stack->parts.list->len + part);
        highest = MAX(highest, height);
    }
    return highest;
}

/* `quantity` is the metric name that the axis is labelled by. */
static gboolean
prepare(SimChartSource *source, SimChartDrawing *drawing, const char *table_name, const char *part, const char *value,
        const char *quantity, GError **error)
{
    const SimTable *table = sim_chart_source_table(source, table_name, error);
    Stack stack = {0};
    gboolean ok;

    if (table == NULL || sim_table_n_rows(table) == 0 || !stack_init(&stack, source, table, part, value, error))
        return FALSE;
    ok = stack_sum(&stack, error);
    if (ok) {
        g_autofree char *y_label = sim_chart_scale(quantity, highest_bar(&stack), &stack.divisor);
        sim_chart_add_arg(drawing, "%s", stack.note);
        sim_chart_add_arg(drawing, "%s", y_label);
        put_bars(drawing, &stack);
    }
    stack_clear(&stack);
    return ok;
}

gboolean
sim_chart_prepare_lock_time(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing, GError **error)
{
    const char *value = spec->metric != NULL ? spec->metric : "wait_ns";
    const char *unit = g_str_has_suffix(value, "_ns") ? "_ns" : "";
    g_autofree char *quantity =
        g_strdup_printf("%.*s, summed over CPUs%s", (int) (strlen(value) - strlen(unit)), value, unit);

    return prepare(source, drawing, "locks", "site", value, quantity, error);
}

gboolean
sim_chart_prepare_memory_places(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing,
                                GError **error)
{
    return prepare(source, drawing, "memory", "place", "bytes", "memory_bytes", error);
}

gboolean
sim_chart_prepare_accounting(SimChartSource *source, const SimChartSpec *spec, SimChartDrawing *drawing,
                             GError **error)
{
    return prepare(source, drawing, "accounting", "step", "ns", "allocation_ns", error);
}
