/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-summary.h"

#include "sim-ci.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Points and starts that a line names before it only counts them. */
#define MAX_NAMED_PLACES 12

void
sim_point_add_columns(const SimPlan *plan, GPtrArray *columns)
{
    sim_columns_add(columns, "variant");
    for (guint axis = 0; axis < sim_plan_n_axes(plan); axis++)
        sim_columns_add(columns, sim_plan_axis_key_at(plan, axis));
}

void
sim_point_put(const SimPlan *plan, guint point, SimTable *table)
{
    sim_table_put_text(table, sim_plan_variant(plan, point));
    for (guint axis = 0; axis < sim_plan_n_axes(plan); axis++)
        sim_table_put_text(table, sim_plan_axis_value_at(plan, point, axis));
}

GPtrArray *
sim_runs_metric_names(const SimRuns *runs)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < runs->n_runs; i++) {
        const SimRecord *record = runs->runs[i].record;
        for (guint m = 0; m < sim_record_n_metrics(record); m++)
            sim_columns_add(names, sim_record_metric_name(record, m));
    }
    g_ptr_array_add(names, NULL);
    return names;
}

GPtrArray *
sim_runs_starts(const SimRuns *runs)
{
    GPtrArray *starts = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < runs->n_runs; i++)
        sim_columns_add(starts, runs->runs[i].start);
    g_ptr_array_add(starts, NULL);
    return starts;
}

/* Runs are ordered by point. */
static guint
first_run_of(const SimRuns *runs, guint point)
{
    guint low = 0, high = runs->n_runs;

    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (runs->runs[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

GArray *
sim_runs_values(const SimRuns *runs, guint point, const char *start, const char *metric)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    double value;

    for (guint i = first_run_of(runs, point); i < runs->n_runs && runs->runs[i].point == point; i++) {
        const SimRun *run = &runs->runs[i];
        if (g_str_equal(run->start, start) && sim_record_find_metric(run->record, metric, &value))
            g_array_append_val(values, value);
    }
    return values;
}

void
sim_summarise(const double *values, gsize n, double confidence, SimSummary *ret_summary)
{
    SimSummary s = {.n = (guint) n, .sd = NAN, .min = NAN, .max = NAN};

    sim_ci_mean(values, n, confidence, &s.mean, &s.half_width);
    if (n >= 2)
        s.sd = gsl_stats_sd(values, 1, n);
    if (n >= 1)
        gsl_stats_minmax(&s.min, &s.max, values, 1, n);
    *ret_summary = s;
}

void
sim_runs_summarise(const SimRuns *runs, guint point, const char *start, const char *metric, SimSummary *ret_summary)
{
    g_autoptr(GArray) values = sim_runs_values(runs, point, start, metric);

    sim_summarise((const double *) values->data, values->len,
                  sim_config_real(sim_plan_config(runs->plan, point), "run", "confidence"), ret_summary);
}

static void
put_summary(SimTable *table, const SimRuns *runs, guint point, const char *start, const char *metric)
{
    SimSummary s;

    sim_runs_summarise(runs, point, start, metric, &s);
    if (s.n == 0)
        return;
    sim_point_put(runs->plan, point, table);
    sim_table_put_text(table, start);
    sim_table_put_text(table, metric);
    sim_table_put_int(table, s.n);
    sim_table_put_real(table, s.mean);
    sim_table_put_real(table, s.half_width);
    sim_table_put_real(table, s.sd);
    sim_table_put_real(table, s.min);
    sim_table_put_real(table, s.max);
}

SimTable *
sim_runs_summary_table(const SimRuns *runs)
{
    static const char *const own[] = {"start", "metric", "n", "mean", "half_width", "sd", "min", "max"};
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) metrics = sim_runs_metric_names(runs);
    SimTable *table;

    sim_point_add_columns(runs->plan, columns);
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        sim_columns_add(columns, own[i]);
    g_ptr_array_add(columns, NULL);
    table = sim_table_new("summary", (const char *const *) columns->pdata);
    for (guint point = 0; point < sim_plan_n_points(runs->plan); point++) {
        const char *const *starts = sim_config_list(sim_plan_config(runs->plan, point), "run", "starts");
        for (; *starts != NULL; starts++)
            for (guint m = 0; metrics->pdata[m] != NULL; m++)
                put_summary(table, runs, point, *starts, metrics->pdata[m]);
    }
    return table;
}

char *
sim_format_interval(double mean, double half_width)
{
    static const char prefixes[] = {' ', 'k', 'M', 'G', 'T', 'P'};
    char suffix[2] = "";
    double scaled = fabs(mean);
    guint p = 0;
    int decimals;

    if (!isfinite(mean))
        return g_strdup_printf("%s", isnan(mean) ? "nan" : mean > 0 ? "inf" : "-inf");
    /* Below 10,000 the plain number is easier to read than a prefix. */
    while (scaled >= (p == 0 ? 1e4 : 1e3) && p + 1 < G_N_ELEMENTS(prefixes)) {
        scaled /= 1e3;
        p++;
    }
    if (p > 0)
        suffix[0] = prefixes[p];
    half_width /= pow(1e3, p);
    /* Two digits of the interval; of a number without one, or with an exact one, four digits. */
    if (isfinite(half_width) && half_width > 0)
        decimals = 1 - (int) floor(log10(half_width));
    else
        decimals = scaled > 0 ? 3 - (int) floor(log10(scaled)) : 0;
    if (decimals > 6)
        return isnan(half_width) ? g_strdup_printf("%.4g%s", mean / pow(1e3, p), suffix)
                                 : g_strdup_printf("%.4g%s ± %.2g%s", mean / pow(1e3, p), suffix, half_width, suffix);
    decimals = MAX(decimals, 0);
    if (isnan(half_width))
        return g_strdup_printf("%.*f%s", decimals, mean / pow(1e3, p), suffix);
    return g_strdup_printf("%.*f%s ± %.*f%s", decimals, mean / pow(1e3, p), suffix, decimals, half_width, suffix);
}

static void
put_text_row(SimTable *table, const SimRuns *runs, guint point, const char *start, const GPtrArray *metrics,
             guint n_metrics)
{
    guint most = 0;
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);

    for (guint m = 0; m < n_metrics; m++) {
        SimSummary s;
        sim_runs_summarise(runs, point, start, metrics->pdata[m], &s);
        most = MAX(most, s.n);
        g_ptr_array_add(cells, s.n > 0 ? sim_format_interval(s.mean, s.half_width) : g_strdup("-"));
    }
    sim_point_put(runs->plan, point, table);
    sim_table_put_text(table, start);
    sim_table_put_int(table, most);
    for (guint m = 0; m < n_metrics; m++)
        sim_table_put_text(table, cells->pdata[m]);
}

char *
sim_runs_summary_text(const SimRuns *runs, guint n_metrics)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) metrics = sim_runs_metric_names(runs);
    g_autoptr(SimTable) table = NULL;

    n_metrics = MIN(n_metrics, metrics->len - 1);
    sim_point_add_columns(runs->plan, columns);
    sim_columns_add(columns, "start");
    sim_columns_add(columns, "n");
    for (guint m = 0; m < n_metrics; m++)
        sim_columns_add(columns, metrics->pdata[m]);
    g_ptr_array_add(columns, NULL);
    table = sim_table_new("points", (const char *const *) columns->pdata);
    for (guint point = 0; point < sim_plan_n_points(runs->plan); point++) {
        const char *const *starts = sim_config_list(sim_plan_config(runs->plan, point), "run", "starts");
        for (; *starts != NULL; starts++)
            put_text_row(table, runs, point, *starts, metrics, n_metrics);
    }
    return sim_table_to_text(table);
}

SimTrust
sim_runs_trust(const SimRuns *runs, guint point, const char *start)
{
    g_autoptr(GArray) values = NULL;
    SimTrust trust = {0};

    if (runs->trust_metric == NULL)
        return trust;
    values = sim_runs_values(runs, point, start, runs->trust_metric);
    trust.n = values->len;
    for (guint i = 0; i < values->len; i++) {
        double value = g_array_index(values, double, i);
        trust.n_unknown += isnan(value) != 0;
        trust.n_untrusted += !isnan(value) && value != 1;
    }
    return trust;
}

/* "is_really_good" -> "really good"; caller frees. */
static char *
trust_word(const SimRuns *runs)
{
    const char *name = runs->trust_metric != NULL ? runs->trust_metric : "";

    return g_strdelimit(g_strdup(g_str_has_prefix(name, "is_") ? name + strlen("is_") : name), "_", ' ');
}

char *
sim_runs_untrusted_word(const SimRuns *runs)
{
    g_autofree char *word = trust_word(runs);

    return g_strconcat("not ", word, NULL);
}

/* "base, 112, cold (2 of 3 runs)" */
static void
append_place(GString *text, const SimRuns *runs, guint point, const char *start, const SimTrust *trust)
{
    g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", sim_plan_variant(runs->plan, point));
    for (guint axis = 0; axis < sim_plan_n_axes(runs->plan); axis++)
        g_string_append_printf(text, ", %s", sim_plan_axis_value_at(runs->plan, point, axis));
    g_string_append_printf(text, ", %s (%u of %u run%s)", start, trust->n_untrusted, trust->n,
                           trust->n == 1 ? "" : "s");
}

char *
sim_runs_untrusted_text(const SimRuns *runs)
{
    g_autoptr(GString) places = g_string_new(NULL), text = g_string_new(NULL);
    g_autofree char *word = trust_word(runs);
    guint n_untrusted = 0, n_unknown = 0, n_all = 0;

    for (guint point = 0; point < sim_plan_n_points(runs->plan); point++) {
        const char *const *starts = sim_config_list(sim_plan_config(runs->plan, point), "run", "starts");
        for (; *starts != NULL; starts++) {
            SimTrust trust = sim_runs_trust(runs, point, *starts);
            n_all++;
            n_unknown += trust.n_unknown > 0;
            if (trust.n_untrusted > 0 && n_untrusted++ < MAX_NAMED_PLACES)
                append_place(places, runs, point, *starts, &trust);
        }
    }
    if (n_untrusted > MAX_NAMED_PLACES)
        g_string_append_printf(places, "; and %u more (metric %s)", n_untrusted - MAX_NAMED_PLACES, runs->trust_metric);
    if (n_untrusted > 0)
        g_string_append_printf(text, "not %s, prolong run.warmup or run.duration: %s", word, places->str);
    if (n_unknown > 0)
        g_string_append_printf(text,
                               "%snot known whether %s: %u of %u points and starts, for want of samples "
                               "(run.sample_interval, run.duration)",
                               text->len > 0 ? "\n" : "", word, n_unknown, n_all);
    return text->len > 0 ? g_strdup(text->str) : NULL;
}
