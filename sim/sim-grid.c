/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-grid.h"

#include "sim-hint.h"
#include "sim-quantity.h"

#include <math.h>
#include <string.h>

#define GROUP "scenario"
#define BASE "base"

/* One axis, or several that always move together, by the first of them. */
typedef struct {
    guint axis;
    gboolean is_setting;
    char *first, *last; /* values, in the order of the plan */
} Dimension;

static void
dimension_clear(gpointer data)
{
    g_free(((Dimension *) data)->first);
    g_free(((Dimension *) data)->last);
}

static void
choice_free(gpointer data)
{
    SimGridChoice *choice = data;

    g_free(choice->label);
    g_free(choice->last_change);
    g_free(choice);
}

static void
place_free(gpointer data)
{
    SimGridPlace *place = data;

    g_free(place->label);
    g_free(place->x_text);
    g_free(place->rest);
    g_free(place);
}

void
sim_grid_free(SimGrid *grid)
{
    if (grid == NULL)
        return;
    g_ptr_array_unref(grid->choices);
    g_ptr_array_unref(grid->places);
    g_array_unref(grid->cells);
    g_array_unref(grid->dimensions);
    g_hash_table_unref(grid->choice_numbers);
    g_hash_table_unref(grid->place_numbers);
    g_free(grid->x_label);
    g_free(grid->gain);
    g_free(grid->cost);
    g_free(grid);
}

static char *
scenario_value(GKeyFile *scenario, const char *key)
{
    char *value = g_key_file_get_value(scenario, GROUP, key, NULL);

    return value != NULL ? g_strstrip(value) : NULL;
}

/* Words of a list, stripped, without empty ones; NULL-terminated. */
static GPtrArray *
scenario_list(GKeyFile *scenario, const char *key)
{
    g_autofree char *value = scenario_value(scenario, key);
    g_auto(GStrv) parts = g_strsplit(value != NULL ? value : "", ";", -1);
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

    for (char **part = parts; *part != NULL; part++)
        if (*g_strstrip(*part) != '\0')
            g_ptr_array_add(words, g_strdup(*part));
    g_ptr_array_add(words, NULL);
    return words;
}

/* "KEY = VALUE" without spaces at the sign -> words. */
static GHashTable *
read_names(GKeyFile *scenario, GError **error)
{
    g_autoptr(GPtrArray) entries = scenario_list(scenario, "names");
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

    for (guint i = 0; entries->pdata[i] != NULL; i++) {
        char *entry = entries->pdata[i], *sign = strchr(entry, '='), *colon = sign != NULL ? strchr(sign, ':') : NULL;
        if (colon == NULL || *g_strstrip(colon + 1) == '\0') {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "[scenario] names: '%s' is not KEY = VALUE: WORDS", entry);
            return NULL;
        }
        *sign = *colon = '\0';
        g_hash_table_insert(names, g_strdup_printf("%s=%s", g_strstrip(entry), g_strstrip(sign + 1)),
                            g_strdup(g_strstrip(colon + 1)));
    }
    return g_steal_pointer(&names);
}

/* Whether b has one value for each of a's and the other way round. */
static gboolean
moves_with(const SimSource *source, guint a, guint b)
{
    g_autoptr(GHashTable) forth = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) back = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < sim_source_n_cells(source); i++) {
        const char *const *values = sim_source_cell(source, i).values;
        const char *of_a = g_hash_table_lookup(forth, values[a]), *of_b = g_hash_table_lookup(back, values[b]);
        if ((of_a != NULL && !g_str_equal(of_a, values[b])) || (of_b != NULL && !g_str_equal(of_b, values[a])))
            return FALSE;
        g_hash_table_insert(forth, (gpointer) values[a], (gpointer) values[b]);
        g_hash_table_insert(back, (gpointer) values[b], (gpointer) values[a]);
    }
    return TRUE;
}

static gboolean
has_several_variants(const SimSource *source)
{
    for (guint i = 1; i < sim_source_n_cells(source); i++)
        if (!g_str_equal(sim_source_cell(source, i).variant, sim_source_cell(source, 0).variant))
            return TRUE;
    return FALSE;
}

static gboolean
check_settings(const SimSource *source, const GPtrArray *settings, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();

    for (guint axis = 0; axis < sim_source_n_axes(source); axis++)
        g_ptr_array_add(keys, (gpointer) sim_source_axis_key(source, axis));
    g_ptr_array_add(keys, NULL);
    for (guint i = 0; settings->pdata[i] != NULL; i++) {
        if (g_strv_contains((const char *const *) keys->pdata, settings->pdata[i]))
            continue;
        g_autofree char *hint = sim_hint_phrase(settings->pdata[i], (const char *const *) keys->pdata);
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "%s: [scenario] settings: no axis '%s'%s",
                    sim_source_path(source), (char *) settings->pdata[i], hint);
        return FALSE;
    }
    return TRUE;
}

static void
find_dimensions(SimGrid *grid, const GPtrArray *settings)
{
    const SimSource *source = grid->source;
    guint n_cells = sim_source_n_cells(source);
    gboolean has_list = settings->pdata[0] != NULL;

    for (guint axis = 0; axis < sim_source_n_axes(source); axis++) {
        const char *key = sim_source_axis_key(source, axis);
        const char *first = sim_source_cell(source, 0).values[axis];
        const char *last = sim_source_cell(source, n_cells - 1).values[axis];
        gboolean is_setting =
            has_list ? g_strv_contains((const char *const *) settings->pdata, key) : !grid->has_variants && axis > 0;
        gboolean is_new = FALSE;

        for (guint i = 0; i < n_cells && !is_new; i++)
            is_new = !g_str_equal(sim_source_cell(source, i).values[axis], first);
        for (guint d = 0; d < grid->dimensions->len && is_new; d++)
            is_new = !moves_with(source, g_array_index(grid->dimensions, Dimension, d).axis, axis);
        if (is_new) {
            Dimension dimension = {axis, is_setting, g_strdup(first), g_strdup(last)};
            g_array_append_val(grid->dimensions, dimension);
            grid->n_settings += is_setting;
        }
    }
    grid->n_settings += grid->has_variants;
}

/* What the user calls a value of an axis; caller frees. */
static char *
value_words(const SimGrid *grid, GHashTable *names, guint axis, const char *value)
{
    const char *key = sim_source_axis_key(grid->source, axis), *dot = strrchr(key, '.');
    g_autofree char *full = g_strdup_printf("%s=%s", key, value);
    const char *words = g_hash_table_lookup(names, full);

    return words != NULL ? g_strdup(words) : g_strdup_printf("%s = %s", dot != NULL ? dot + 1 : key, value);
}

static void
append_words(GString *text, const char *words)
{
    g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", words);
}

static SimGridChoice *
choice_new(const SimGrid *grid, GHashTable *names, const SimSourceCell *cell)
{
    SimGridChoice *choice = g_new0(SimGridChoice, 1);
    GString *label = g_string_new(NULL);
    const char *base_variant = sim_source_cell(grid->source, 0).variant;
    guint n_before = grid->has_variants;
    gboolean has_gap = FALSE;

    choice->is_chain = TRUE;
    if (grid->has_variants)
        g_string_append(label, cell->variant);
    choice->last_change = g_strdup(label->str);
    choice->n_changes = !g_str_equal(cell->variant, base_variant);
    for (guint d = 0; d < grid->dimensions->len; d++) {
        const Dimension *dimension = &g_array_index(grid->dimensions, Dimension, d);
        const char *value = cell->values[dimension->axis];
        if (!dimension->is_setting)
            continue;
        n_before++;
        if (g_str_equal(value, dimension->first)) {
            has_gap = TRUE;
            continue;
        }
        choice->first = choice->n_changes == 0 ? n_before - 1 : choice->first;
        choice->n_changes++;
        choice->is_chain &= !has_gap && g_str_equal(value, dimension->last);
        g_free(choice->last_change);
        choice->last_change = value_words(grid, names, dimension->axis, value);
        append_words(label, choice->last_change);
    }
    /* The variants of a file are the steps of its author: each stands on the one before. */
    choice->is_chain &= !grid->has_variants || grid->n_settings == 1;
    if (label->len == 0)
        g_string_append(label, BASE);
    choice->label = g_string_free(label, FALSE);
    return choice;
}

/* The value as a number, in bytes or microseconds if it is a size or a time, and the axis' label with that unit. */
static double
read_value(const char *key, const char *value, char **ret_label)
{
    char *end;
    double x = g_ascii_strtod(value, &end);
    gint64 bytes;
    SimTime time;

    if (*value != '\0' && *end == '\0' && isfinite(x)) {
        *ret_label = g_strdup(key);
        return x;
    }
    if (sim_parse_size(value, &bytes, NULL)) {
        *ret_label = g_strdup_printf("%s (bytes)", key);
        return (double) bytes;
    }
    if (sim_parse_time(value, &time, NULL)) {
        *ret_label = g_strdup_printf("%s (us)", key);
        return sim_time_to_seconds(time) * 1e6;
    }
    *ret_label = g_strdup(key);
    return NAN;
}

/* A number at the front of the words of a value, else the value itself; what follows the number is the axis' label. */
static void
read_x(SimGridPlace *place, const char *key, const char *words, const char *value, char **ret_label)
{
    char *end;
    double x = g_ascii_strtod(words, &end);

    if (end != words && isfinite(x) && *end == ' ') {
        place->x = x;
        place->x_text = g_strndup(words, (gsize) (end - words));
        *ret_label = g_strdup(end + 1);
        return;
    }
    place->x = read_value(key, value, ret_label);
    place->x_text = g_strdup(value);
}

static SimGridPlace *
place_new(SimGrid *grid, GHashTable *names, const SimSourceCell *cell, gboolean has_starts)
{
    SimGridPlace *place = g_new0(SimGridPlace, 1);
    GString *label = g_string_new(NULL), *rest = g_string_new(NULL);

    place->x = NAN;
    for (guint d = 0; d < grid->dimensions->len; d++) {
        const Dimension *dimension = &g_array_index(grid->dimensions, Dimension, d);
        const char *value = cell->values[dimension->axis];
        if (dimension->is_setting)
            continue;
        g_autofree char *words = value_words(grid, names, dimension->axis, value);
        append_words(label, words);
        if (place->x_text == NULL) {
            g_free(grid->x_label);
            read_x(place, sim_source_axis_key(grid->source, dimension->axis), words, value, &grid->x_label);
        } else {
            append_words(rest, words);
        }
    }
    if (has_starts) {
        append_words(label, cell->start);
        append_words(rest, cell->start);
    }
    place->label = label->len > 0 ? g_strdup(label->str) : g_strdup("everywhere");
    g_string_free(label, TRUE);
    place->rest = g_string_free(rest, FALSE);
    if (place->x_text == NULL)
        place->x_text = g_strdup("");
    place->is_default = grid->places->len == 0 || g_str_equal(place->rest, sim_grid_place(grid, 0)->rest);
    return place;
}

/* Texts that are equal for equal choices (or places); caller frees. */
static char *
key_of(const SimGrid *grid, gboolean is_setting, const char *variant, const char *const *values, const char *start)
{
    GString *key = g_string_new(is_setting ? (grid->has_variants ? variant : "") : start);

    for (guint d = 0; d < grid->dimensions->len; d++) {
        const Dimension *dimension = &g_array_index(grid->dimensions, Dimension, d);
        if (dimension->is_setting == is_setting)
            g_string_append_printf(key, "\n%s", values[dimension->axis]);
    }
    return g_string_free(key, FALSE);
}

static guint
number_of(GHashTable *numbers, char *key, guint n, gboolean *ret_is_new)
{
    gpointer number;

    *ret_is_new = !g_hash_table_lookup_extended(numbers, key, NULL, &number);
    if (!*ret_is_new) {
        g_free(key);
        return GPOINTER_TO_UINT(number);
    }
    g_hash_table_insert(numbers, key, GUINT_TO_POINTER(n));
    return n;
}

static void
fill(SimGrid *grid, GHashTable *names)
{
    guint n_cells = sim_source_n_cells(grid->source);
    g_autofree guint *choice_of = g_new(guint, n_cells), *place_of = g_new(guint, n_cells);
    gboolean has_starts = FALSE, is_new;

    for (guint i = 1; i < n_cells; i++)
        has_starts |= !g_str_equal(sim_source_cell(grid->source, i).start, sim_source_cell(grid->source, 0).start);
    for (guint i = 0; i < n_cells; i++) {
        SimSourceCell cell = sim_source_cell(grid->source, i);
        choice_of[i] = number_of(grid->choice_numbers, key_of(grid, TRUE, cell.variant, cell.values, cell.start),
                                 grid->choices->len, &is_new);
        if (is_new)
            g_ptr_array_add(grid->choices, choice_new(grid, names, &cell));
        place_of[i] = number_of(grid->place_numbers, key_of(grid, FALSE, cell.variant, cell.values, cell.start),
                                grid->places->len, &is_new);
        if (is_new)
            g_ptr_array_add(grid->places, place_new(grid, names, &cell, has_starts));
    }
    g_array_set_size(grid->cells, grid->choices->len * grid->places->len);
    for (guint i = 0; i < grid->cells->len; i++)
        g_array_index(grid->cells, gint, i) = -1;
    for (guint i = 0; i < n_cells; i++)
        g_array_index(grid->cells, gint, place_of[i] * grid->choices->len + choice_of[i]) = (gint) i;
}

static gboolean
choose_metrics(SimGrid *grid, GKeyFile *scenario, GError **error)
{
    const char *const *metrics = sim_source_metrics(grid->source);
    int metric, less;

    grid->gain = scenario_value(scenario, "gain");
    grid->cost = scenario_value(scenario, "cost");
    if (grid->gain == NULL)
        grid->gain = g_strdup(metrics[0]);
    for (guint i = 0; grid->cost == NULL && metrics[i] != NULL; i++)
        if (g_str_has_suffix(metrics[i], "_bytes") && !g_str_equal(metrics[i], grid->gain))
            grid->cost = g_strdup(metrics[i]);
    return sim_grid_find_metric(grid, grid->gain, &metric, &less, error) &&
           (grid->cost == NULL || sim_grid_find_metric(grid, grid->cost, &metric, &less, error));
}

SimGrid *
sim_grid_new(SimSource *source, GKeyFile *scenario, GError **error)
{
    g_autoptr(SimGrid) grid = NULL;
    g_autoptr(GPtrArray) settings = scenario_list(scenario, "settings");
    g_autoptr(GHashTable) names = read_names(scenario, error);

    if (names == NULL || !check_settings(source, settings, error))
        return NULL;
    if (sim_source_n_cells(source) == 0 || sim_source_metrics(source)[0] == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s: no run is finished", sim_source_path(source));
        return NULL;
    }
    grid = g_new0(SimGrid, 1);
    grid->source = source;
    grid->choices = g_ptr_array_new_with_free_func(choice_free);
    grid->places = g_ptr_array_new_with_free_func(place_free);
    grid->cells = g_array_new(FALSE, FALSE, sizeof(gint));
    grid->dimensions = g_array_new(FALSE, FALSE, sizeof(Dimension));
    g_array_set_clear_func(grid->dimensions, dimension_clear);
    grid->choice_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    grid->place_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    grid->x_label = g_strdup("");
    grid->confidence = sim_source_cell(source, 0).confidence;
    grid->has_variants = has_several_variants(source);
    find_dimensions(grid, settings);
    fill(grid, names);
    return choose_metrics(grid, scenario, error) ? g_steal_pointer(&grid) : NULL;
}

int
sim_grid_cell(const SimGrid *grid, guint place, guint choice)
{
    return g_array_index(grid->cells, gint, place * grid->choices->len + choice);
}

gboolean
sim_grid_find_metric(const SimGrid *grid, const char *metric, int *ret_metric, int *ret_less, GError **error)
{
    g_auto(GStrv) words = g_strsplit(metric, " - ", 2);
    int first = sim_source_find_metric(grid->source, words[0], error);
    int second = first >= 0 && words[1] != NULL ? sim_source_find_metric(grid->source, words[1], error) : -1;

    if (first < 0 || (words[1] != NULL && second < 0))
        return FALSE;
    *ret_metric = first;
    *ret_less = second;
    return TRUE;
}

gboolean
sim_grid_read(const SimGrid *grid, guint place, guint choice, const char *metric, SimCellRuns **ret_runs,
              guint *ret_metric, GError **error)
{
    int cell = sim_grid_cell(grid, place, choice), first, less;
    g_autoptr(SimCellRuns) runs = NULL;

    if (!sim_grid_find_metric(grid, metric, &first, &less, error))
        return FALSE;
    if (cell >= 0 && (runs = sim_source_read(grid->source, (guint) cell, error)) == NULL)
        return FALSE;
    for (gsize r = 0; runs != NULL && less >= 0 && r < runs->n_runs; r++) {
        gsize to = r * runs->n_metrics + (guint) first, from = r * runs->n_metrics + (guint) less;
        runs->values[to] -= runs->values[from];
        runs->has[to] = runs->has[to] && runs->has[from];
    }
    *ret_runs = g_steal_pointer(&runs);
    *ret_metric = (guint) first;
    return TRUE;
}

gboolean
sim_grid_locate(const SimGrid *grid, const char *variant, const char *const *values, const char *start,
                guint *ret_choice, guint *ret_place)
{
    g_autofree char *choice_key = key_of(grid, TRUE, variant, values, start);
    g_autofree char *place_key = key_of(grid, FALSE, variant, values, start);
    gpointer choice, place;

    if (!g_hash_table_lookup_extended(grid->choice_numbers, choice_key, NULL, &choice) ||
        !g_hash_table_lookup_extended(grid->place_numbers, place_key, NULL, &place))
        return FALSE;
    *ret_choice = GPOINTER_TO_UINT(choice);
    *ret_place = GPOINTER_TO_UINT(place);
    return TRUE;
}

static gboolean
changes_all(const SimGrid *grid, const SimGridChoice *choice)
{
    return choice->is_chain && grid->n_settings > 1 && choice->n_changes == grid->n_settings;
}

GArray *
sim_grid_headline(const SimGrid *grid, guint n_most)
{
    GArray *choices = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint setting = 0; setting < grid->n_settings; setting++) {
        for (guint c = 1; c < grid->choices->len; c++) {
            const SimGridChoice *choice = sim_grid_choice(grid, c);
            if (choice->n_changes == 1 && choice->first == setting && choices->len < n_most)
                g_array_append_val(choices, c);
        }
    }
    for (guint c = 1; c < grid->choices->len; c++)
        if (changes_all(grid, sim_grid_choice(grid, c)) && choices->len < n_most)
            g_array_append_val(choices, c);
    return choices;
}

GArray *
sim_grid_default_places(const SimGrid *grid, guint n_most)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint));
    GArray *places = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint p = 0; p < grid->places->len; p++)
        if (sim_grid_place(grid, p)->is_default)
            g_array_append_val(all, p);
    for (guint i = 0; i < MIN(all->len, n_most); i++) {
        guint from = all->len <= n_most ? i : i * (all->len - 1) / (n_most - 1);
        g_array_append_val(places, g_array_index(all, guint, from));
    }
    return places;
}

char *
sim_grid_short_label(const SimGrid *grid, guint choice)
{
    const SimGridChoice *facts = sim_grid_choice(grid, choice);

    return changes_all(grid, facts) ? g_strdup_printf("all %u together", grid->n_settings) : g_strdup(facts->label);
}
