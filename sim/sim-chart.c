/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-chart.h"

#include "sim-chart-private.h"
#include "sim-hint.h"

#include <gio/gio.h>
#include <string.h>

#define PLOT_PREFIX "plot "

typedef struct {
    const char *name, *table, *title;
    gboolean is_of_run; /* drawn of every run; the others of studies, for reports and where a scenario asks for them */
    SimChartPrepare *prepare;
} Kind;

#define SIM_CHART(id, name, table, title) {name, table, title, TRUE, sim_chart_prepare_##id},
#define SIM_CHART_OF_SWEEP(id, name, table, title) {name, table, title, FALSE, sim_chart_prepare_##id},
static const Kind kinds[] = {
#include "sim-chart-list.h"
};

static const Kind *
find_kind(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_equal(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static gboolean
check_kind(const char *kind, GError **error)
{
#define SIM_CHART(id, name, table, title) name,
#define SIM_CHART_OF_SWEEP(id, name, table, title) name,
    static const char *const names[] = {
#include "sim-chart-list.h"
        NULL};
    g_autofree char *all = NULL, *hint = NULL;

    if (find_kind(kind) != NULL)
        return TRUE;
    all = g_strjoinv(", ", (char **) names);
    hint = sim_hint_phrase(kind, names);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "no kind of chart '%s' (there are %s)%s", kind, all, hint);
    return FALSE;
}

static gboolean
check_name(const char *name, GError **error)
{
    for (const char *c = name; *c != '\0'; c++) {
        if (!g_ascii_isalnum(*c) && strchr("-_", *c) == NULL) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                        "chart name '%s' becomes a file name and may hold letters, digits, - and _ only", name);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
sim_chart_check(const SimConfig *config, GError **error)
{
    const char *const *names = sim_config_instances(config, "plot *");

    for (; *names != NULL; names++) {
        g_autofree char *group = g_strconcat(PLOT_PREFIX, *names, NULL);
        g_autoptr(GError) inner = NULL;
        if (!check_name(*names, &inner) || !check_kind(sim_config_text(config, group, "kind"), &inner))
            return sim_config_error(config, group, "kind", error, "%s", inner->message);
    }
    return TRUE;
}

static gboolean
write_data(const char *path, const SimChartDrawing *drawing, GError **error)
{
    g_autoptr(GError) inner = NULL;

    if (g_file_set_contents(path, drawing->data->str, (gssize) drawing->data->len, &inner))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s", inner->message);
    return FALSE;
}

/* One line for a person: gnuplot pads its messages with carets and blank lines. */
static char *
one_line(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);

    for (char **line = lines; *line != NULL; line++) {
        g_strstrip(*line);
        if (**line == '\0' || g_str_equal(*line, "^"))
            continue;
        g_string_append_printf(out, "%s%s", out->len > 0 ? "; " : "", *line);
    }
    return g_string_free(out, FALSE);
}

/* gnuplot can leave with status 0 and only a warning after drawing half of what it was asked for, so any text on
 * stderr is a failure. */
static gboolean
run_gnuplot(const char *const *argv, const char *chart, GError **error)
{
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_autoptr(GSubprocess) process = NULL;
    g_autoptr(GBytes) complaint = NULL;
    g_autoptr(GError) inner = NULL;
    g_autofree char *raw = NULL, *said = NULL;

    /* C.UTF-8 keeps numbers in C notation and lets titles be UTF-8. */
    g_subprocess_launcher_setenv(launcher, "LC_ALL", "C.UTF-8", TRUE);
    process = g_subprocess_launcher_spawnv(launcher, argv, &inner);
    if (process == NULL || !g_subprocess_communicate(process, NULL, NULL, NULL, &complaint, &inner)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "chart %s: cannot run gnuplot: %s", chart, inner->message);
        return FALSE;
    }
    raw = g_bytes_get_size(complaint) > 0
              ? g_utf8_make_valid(g_bytes_get_data(complaint, NULL), (gssize) g_bytes_get_size(complaint))
              : g_strdup("");
    said = one_line(raw);
    if (g_subprocess_get_successful(process) && *said == '\0')
        return TRUE;
    if (*said == '\0' && g_subprocess_get_if_signaled(process))
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "chart %s: gnuplot was killed by signal %d", chart,
                    g_subprocess_get_term_sig(process));
    else
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "chart %s: gnuplot failed: %s", chart,
                    *said != '\0' ? said : "it said nothing");
    return FALSE;
}

static gboolean
require_file(const char *path, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: no such file", path);
    return FALSE;
}

/* gnuplot KIND.gp DATA OUT TITLE ARGS... */
static gboolean
draw(const SimChartSpec *spec, const SimChartDrawing *drawing, const char *scripts_folder, const char *charts_folder,
     GError **error)
{
    g_autofree char *data_name = g_strconcat(spec->name, ".tsv", NULL);
    g_autofree char *script_name = g_strconcat(spec->kind, ".gp", NULL);
    g_autofree char *data = g_build_filename(charts_folder, data_name, NULL);
    g_autofree char *out = g_build_filename(charts_folder, spec->name, NULL);
    g_autofree char *script = g_build_filename(scripts_folder, script_name, NULL);
    g_autofree char *style = g_build_filename(scripts_folder, "style.gp", NULL);
    g_autoptr(GPtrArray) argv = g_ptr_array_new();

    if (!require_file(script, error) || !require_file(style, error) || !write_data(data, drawing, error))
        return FALSE;
    g_ptr_array_add(argv, (gpointer) "gnuplot");
    g_ptr_array_add(argv, (gpointer) "-c");
    g_ptr_array_add(argv, script);
    g_ptr_array_add(argv, data);
    g_ptr_array_add(argv, out);
    g_ptr_array_add(argv, (gpointer) spec->title);
    for (guint i = 0; i < drawing->args->len; i++)
        g_ptr_array_add(argv, drawing->args->pdata[i]);
    g_ptr_array_add(argv, NULL);
    return run_gnuplot((const char *const *) argv->pdata, spec->name, error);
}

static void
made_free(gpointer data)
{
    SimChartMade *made = data;

    g_free(made->name);
    g_free(made->kind);
    g_free(made->title);
    g_free(made);
}

typedef struct {
    const char *scripts_folder, *charts_folder;
    const gint *interrupt;
    GPtrArray *made;  /* SimChartMade */
    GString *refused; /* what was asked for in vain */
} Studio;

/* One chart. Without data a default chart is left out; one that the scenario asks for is an error. */
static gboolean
make_chart(SimChartSource *source, const SimChartSpec *spec, const Studio *studio, GError **error)
{
    const Kind *kind = find_kind(spec->kind);
    SimChartDrawing drawing = {.data = g_string_new(NULL), .args = g_ptr_array_new_with_free_func(g_free)};
    GError *inner = NULL;
    gboolean ok = TRUE;

    if (kind->prepare(source, spec, &drawing, &inner)) {
        ok = draw(spec, &drawing, studio->scripts_folder, studio->charts_folder, &inner);
        if (ok) {
            SimChartMade *made = g_new0(SimChartMade, 1);
            *made = (SimChartMade){g_strdup(spec->name), g_strdup(spec->kind), g_strdup(spec->title)};
            g_ptr_array_add(studio->made, made);
        }
    } else if (inner != NULL) {
        g_prefix_error(&inner, "chart %s: ", spec->name);
        ok = FALSE;
    } else if (spec->is_asked_for) {
        g_set_error(&inner, SIM_ERROR, SIM_ERROR_MODEL, "chart %s: the runs left nothing to draw in %s.tsv", spec->name,
                    kind->table);
        ok = FALSE;
    }
    g_string_free(drawing.data, TRUE);
    g_ptr_array_unref(drawing.args);
    if (inner != NULL)
        g_propagate_error(error, inner);
    return ok;
}

static gboolean
make_asked_chart(SimChartSource *source, const char *group, GHashTable *done, const Studio *studio, GError **error)
{
    g_autofree char *kind = g_key_file_get_string(source->plots, group, "kind", NULL);
    g_autofree char *metric = g_key_file_get_string(source->plots, group, "metric", NULL);
    g_autofree char *title = g_key_file_get_string(source->plots, group, "title", NULL);
    SimChartSpec spec = {.name = group + strlen(PLOT_PREFIX), .kind = kind, .metric = metric, .is_asked_for = TRUE};

    if (!check_name(spec.name, error) || !check_kind(kind != NULL ? kind : "", error))
        return FALSE;
    spec.title = title != NULL ? title : find_kind(kind)->title;
    g_hash_table_add(done, g_strdup(kind));
    g_hash_table_add(done, g_strdup(spec.name));
    return make_chart(source, &spec, studio, error);
}

static gboolean
is_interrupted(const gint *interrupt, GError **error)
{
    if (interrupt == NULL || !g_atomic_int_get(interrupt))
        return FALSE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "interrupted while drawing charts");
    return TRUE;
}

/* A picture that is passed on alone still says which scenario it is of; a report says so itself. Caller frees. */
static char *
default_title(const SimChartSource *source, const Kind *kind, gboolean for_report)
{
    g_autofree char *scenario = g_key_file_get_string(source->plots, "result", "title", NULL);
    gboolean is_named = !for_report && scenario != NULL && *scenario != '\0';

    return g_strdup_printf("%s%s%s", is_named ? scenario : "", is_named ? "\n" : "", kind->title);
}

/* The scenario asks for what is not there. Anything else would befall the other charts as well. */
static gboolean
is_refusal(const GError *error)
{
    return g_error_matches(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY) ||
           g_error_matches(error, SIM_ERROR, SIM_ERROR_RANGE) || g_error_matches(error, SIM_ERROR, SIM_ERROR_MODEL);
}

static gboolean
make_all(SimChartSource *source, gboolean for_report, const Studio *studio, GError **error)
{
    g_auto(GStrv) groups = g_key_file_get_groups(source->plots, NULL);
    g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (char **group = groups; *group != NULL; group++) {
        g_autoptr(GError) inner = NULL;
        if (!g_str_has_prefix(*group, PLOT_PREFIX))
            continue;
        if (is_interrupted(studio->interrupt, error))
            return FALSE;
        if (make_asked_chart(source, *group, done, studio, &inner))
            continue;
        if (!is_refusal(inner)) {
            g_propagate_error(error, g_steal_pointer(&inner));
            return FALSE;
        }
        g_string_append_printf(studio->refused, "%s%s", studio->refused->len > 0 ? "; " : "", inner->message);
    }
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *title = default_title(source, &kinds[i], for_report);
        SimChartSpec spec = {.name = kinds[i].name, .kind = kinds[i].name, .title = title};
        if (g_hash_table_contains(done, kinds[i].name) || !(kinds[i].is_of_run || for_report || source->study != NULL))
            continue;
        if (is_interrupted(studio->interrupt, error) || !make_chart(source, &spec, studio, error))
            return FALSE;
    }
    return TRUE;
}

/* The charts made (SimChartMade), or NULL; *ret_refused as of sim_chart_draw(). */
static GPtrArray *
make_charts(const char *path, SimControl control, gboolean for_report, const char *scripts_folder,
            const char *charts_folder, const gint *interrupt, char **ret_refused, GError **error)
{
    g_autoptr(SimChartSource) source = sim_chart_source_open(path, control, error);
    g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(made_free);
    g_autoptr(GString) refused = g_string_new(NULL);
    const Studio studio = {scripts_folder, charts_folder, interrupt, made, refused};
    GError *inner = NULL;

    if (source == NULL)
        return NULL;
    make_all(source, for_report, &studio, &inner);
    /* A Ctrl-C reaches gnuplot too, whose death is then not the story to tell. */
    if (inner != NULL && is_interrupted(interrupt, NULL)) {
        g_clear_error(&inner);
        is_interrupted(interrupt, &inner);
    }
    if (inner != NULL) {
        g_propagate_error(error, inner);
        return NULL;
    }
    *ret_refused = refused->len > 0 ? g_strdup(refused->str) : NULL;
    return g_steal_pointer(&made);
}

gboolean
sim_chart_draw(const char *path, const char *scripts_folder, const char *charts_folder, const gint *interrupt,
               guint *ret_n_charts, char **ret_refused, GError **error)
{
    g_autoptr(GPtrArray) made =
        make_charts(path, SIM_CONTROL_BH, FALSE, scripts_folder, charts_folder, interrupt, ret_refused, error);

    if (made == NULL)
        return FALSE;
    *ret_n_charts = made->len;
    return TRUE;
}

GPtrArray *
sim_chart_draw_report(const char *path, SimControl control, const char *scripts_folder, const char *charts_folder,
                      const gint *interrupt, char **ret_refused, GError **error)
{
    return make_charts(path, control, TRUE, scripts_folder, charts_folder, interrupt, ret_refused, error);
}
