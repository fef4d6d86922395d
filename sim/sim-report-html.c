/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-report-private.h"

#include "sim-chart.h"
#include "sim-folder.h"
#include "sim-report-page.h"
#include "sim-summary.h"

#include <glib/gstdio.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX_ANSWER_PLACES 4

void
sim_report_put_html(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *escaped = g_markup_escape_text(valid, -1);

    g_string_append(out, escaped);
}

static void
put_element(GString *out, const char *element, const char *text)
{
    g_string_append_printf(out, "<%s>", element);
    sim_report_put_html(out, text);
    g_string_append_printf(out, "</%s>\n", element);
}

/* ---- tables */

static void
begin_table(GString *out, const char *style, const char *caption, const char *const *columns)
{
    g_string_append_printf(out, "<div class=\"%s\"><table>", style);
    put_element(out, "caption", caption);
    g_string_append(out, "<thead><tr>");
    for (; *columns != NULL; columns++) {
        g_string_append(out, "<th scope=\"col\"><button type=\"button\">");
        sim_report_put_html(out, *columns);
        g_string_append(out, "</button></th>");
    }
    g_string_append(out, "</tr></thead>\n<tbody>\n");
}

static void
end_table(GString *out)
{
    g_string_append(out, "</tbody></table></div>\n");
}

static void
put_text_cell(GString *out, const char *text)
{
    g_string_append(out, "<td>");
    sim_report_put_html(out, text);
    g_string_append(out, "</td>");
}

/* `value` is what the cell is sorted by; NaN stands at the end. */
static void
put_number_cell(GString *out, double value, const char *text)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf(out, "<td class=\"n\" data-v=\"%s\">",
                           isfinite(value) ? g_ascii_dtostr(buffer, sizeof buffer, value) : "");
    sim_report_put_html(out, text);
    g_string_append(out, "</td>");
}

static void
put_amount_cell(GString *out, double mean, double half, const char *metric, gboolean with_sign)
{
    g_autofree char *text = sim_amount_text(mean, half, metric, with_sign);

    put_number_cell(out, mean, text);
}

/* ---- the answer */

static void
put_answer_cell(GString *out, const SimReportPart *part, guint place, guint choice)
{
    const SimFinding *gain = sim_findings_gain(part->findings, place, choice);
    const SimFinding *cost = sim_findings_cost(part->findings, place, choice);
    g_autofree char *words = sim_finding_words(gain), *amount = sim_finding_amount(gain, part->grid->gain);
    g_autofree char *caveat = sim_report_caveat(gain);
    GString *text = g_string_new(words);
    double percent, half;

    sim_finding_share(gain, &percent, &half);
    g_string_append_printf(text, " (%s)", amount);
    if (cost != NULL) {
        g_autofree char *paid = sim_finding_amount(cost, part->grid->cost);
        g_string_append_printf(text, "; %s%s",
                               cost->difference.verdict == SIM_VERDICT_NONE ? "cost not seen, " : "cost ", paid);
    }
    if (*caveat != '\0')
        g_string_append_printf(text, "; %s", caveat);
    put_number_cell(out, gain->is_there ? percent : NAN, text->str);
    g_string_free(text, TRUE);
}

static void
put_answer(GString *out, const SimReportPart *part)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    g_autoptr(GArray) choices = sim_report_choices(part);
    g_autoptr(GArray) places = sim_grid_default_places(part->grid, MAX_ANSWER_PLACES);
    g_autofree char *caption = g_strdup_printf(
        "%s: what each setting does to %s%s%s", part->about->name, part->grid->gain,
        part->grid->cost != NULL ? " and what it costs in " : "", part->grid->cost != NULL ? part->grid->cost : "");

    g_ptr_array_add(columns, (gpointer) "setting");
    for (guint p = 0; p < places->len; p++)
        g_ptr_array_add(columns, sim_grid_place(part->grid, g_array_index(places, guint, p))->label);
    g_ptr_array_add(columns, (gpointer) "at all places");
    g_ptr_array_add(columns, NULL);
    begin_table(out, "scroll answer", caption, (const char *const *) columns->pdata);
    for (guint i = 0; i < choices->len; i++) {
        guint choice = g_array_index(choices, guint, i);
        g_autofree char *count = sim_report_count(part, choice), *label = sim_grid_short_label(part->grid, choice);
        g_string_append(out, "<tr>");
        put_text_cell(out, label);
        for (guint p = 0; p < places->len; p++)
            put_answer_cell(out, part, g_array_index(places, guint, p), choice);
        put_text_cell(out, count);
        g_string_append(out, "</tr>\n");
    }
    end_table(out);
    if (choices->len == 0)
        put_element(out, "p", "There is one setting only, and nothing to hold it against.");
}

/* ---- every comparison */

static void
put_comparison(GString *out, const SimReportPart *part, guint place, guint choice)
{
    const SimGrid *grid = part->grid;
    const SimFinding *gain = sim_findings_gain(part->findings, place, choice);
    const SimFinding *cost = sim_findings_cost(part->findings, place, choice);
    const SimFinding *base = sim_findings_gain(part->findings, place, 0);
    g_autofree char *words = sim_finding_words(gain), *caveat = sim_report_caveat(gain), *p = NULL;
    gboolean has_mean = gain->is_there && gain->difference.verdict != SIM_VERDICT_METASTABLE;
    double percent, half;

    sim_finding_share(gain, &percent, &half);
    g_string_append_printf(out, "<tr class=\"v-%s\">",
                           gain->difference.verdict == SIM_VERDICT_BETTER       ? "better"
                           : gain->difference.verdict == SIM_VERDICT_WORSE      ? "worse"
                           : gain->difference.verdict == SIM_VERDICT_METASTABLE ? "metastable"
                                                                                : "none");
    put_text_cell(out, sim_grid_place(grid, place)->label);
    put_text_cell(out, sim_grid_choice(grid, choice)->label);
    put_amount_cell(out, has_mean ? base->mean : NAN, base->half_width, grid->gain, FALSE);
    put_amount_cell(out, has_mean ? gain->mean : NAN, gain->half_width, grid->gain, FALSE);
    put_amount_cell(out, has_mean ? gain->difference.difference : NAN, gain->difference.half_width, grid->gain, TRUE);
    put_number_cell(out, has_mean ? percent : NAN, words);
    put_amount_cell(out, has_mean ? gain->difference.detectable : NAN, NAN, grid->gain, FALSE);
    p = isfinite(gain->difference.p_adjusted) && has_mean ? g_strdup_printf("%.2g", gain->difference.p_adjusted)
                                                          : g_strdup("-");
    put_number_cell(out, has_mean ? gain->difference.p_adjusted : NAN, p);
    if (cost != NULL) {
        g_autofree char *paid = sim_finding_words(cost), *rate = sim_report_rate(gain, cost, grid->cost);
        put_amount_cell(out, cost->is_there ? cost->difference.difference : NAN, cost->difference.half_width,
                        grid->cost, TRUE);
        put_text_cell(out, paid);
        put_text_cell(out, rate);
    }
    put_number_cell(out, gain->n, "");
    g_string_truncate(out, out->len - strlen("</td>"));
    g_string_append_printf(out, "%u%s</td>", gain->n, gain->difference.is_paired || !gain->is_there ? "" : " unpaired");
    put_text_cell(out, caveat);
    g_string_append(out, "</tr>\n");
}

static void
put_comparisons(GString *out, const SimReportPart *part)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    g_autofree char *gain = g_strdup_printf("difference of %s", part->grid->gain);
    g_autofree char *cost = NULL;

    for (const char *const *name = (const char *const[]){"place", "setting", "base", "with the setting", gain,
                                                         "verdict", "could have seen", "p", NULL};
         *name != NULL; name++)
        g_ptr_array_add(columns, (gpointer) *name);
    if (part->grid->cost != NULL) {
        cost = g_strdup_printf("difference of %s", part->grid->cost);
        g_ptr_array_add(columns, cost);
        g_ptr_array_add(columns, (gpointer) "its verdict");
        g_ptr_array_add(columns,
                        (gpointer) (g_str_has_suffix(part->grid->cost, "_bytes") ? "gain a MiB" : "gain a unit"));
    }
    g_ptr_array_add(columns, (gpointer) "runs");
    g_ptr_array_add(columns, (gpointer) "note");
    g_ptr_array_add(columns, NULL);
    begin_table(out, "scroll", "Every setting at every place, against the base there",
                (const char *const *) columns->pdata);
    for (guint place = 0; place < part->grid->places->len; place++)
        for (guint choice = 1; choice < part->grid->choices->len; choice++)
            if (sim_grid_cell(part->grid, place, choice) >= 0)
                put_comparison(out, part, place, choice);
    end_table(out);
}

/* ---- published figures */

static double
real_or_nan(const SimTable *table, guint row, const char *column)
{
    int at = sim_table_find_column(table, column);
    double value;

    return at >= 0 && sim_table_cell_real(table, row, (guint) at, &value) ? value : NAN;
}

/* Gains over the base, which the answer is about; sorted by how far the simulated is off. */
static void
put_gain_cell(GString *out, const SimTable *table, guint row)
{
    double published = real_or_nan(table, row, "published_vs_base");
    double simulated = real_or_nan(table, row, "simulated_vs_base");
    g_autofree char *text = NULL, *interval = NULL;

    if (isfinite(published) && isfinite(simulated)) {
        interval = sim_format_interval(simulated, real_or_nan(table, row, "vs_base_half_width"));
        text = g_strdup_printf("%.3f published, %s simulated", published, interval);
    }
    put_number_cell(out, simulated - published, text != NULL ? text : "");
}

static void
put_published(GString *out, const SimReportPart *part)
{
    static const char *const columns[] = {"figure",    "variant", "place",          "metric", "unit", "published",
                                          "simulated", "verdict", "times the base", "note",   NULL};
    static const char *const from[] = {"id", "variant", NULL, "metric", "unit"};
    const SimTable *table = part->comparison;
    /* What stands between variant and start is the axis. */
    int start = sim_table_find_column(table, "start"), variant = sim_table_find_column(table, "variant");

    put_element(out, "p",
                "An interval holds the noise between replications only, so misses are to be expected; how far off each "
                "figure is stands beside it.");
    begin_table(out, "scroll", "Published and simulated", columns);
    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        gboolean is_outside;
        g_autofree char *words = sim_report_miss(table, row, &is_outside), *text = NULL;
        double published = real_or_nan(table, row, "published"), simulated = real_or_nan(table, row, "simulated");
        double half = real_or_nan(table, row, "half_width"), ratio = real_or_nan(table, row, "ratio");
        int note = sim_table_find_column(table, "note");
        g_string_append(out, is_outside ? "<tr class=\"v-worse\">" : "<tr>");
        for (guint c = 0; c < G_N_ELEMENTS(from); c++) {
            int column = from[c] != NULL ? sim_table_find_column(table, from[c]) : -1;
            if (from[c] == NULL && variant >= 0 && start == variant + 2)
                column = variant + 1;
            put_text_cell(out, column >= 0 ? sim_table_cell(table, row, (guint) column) : "");
        }
        text = sim_format_interval(published, NAN);
        put_number_cell(out, published, text);
        g_free(text);
        text = isnan(simulated) ? g_strdup("-") : sim_format_interval(simulated, half);
        put_number_cell(out, simulated, text);
        put_number_cell(out, isfinite(ratio) && ratio > 0 ? fabs(log(ratio)) : NAN, words);
        put_gain_cell(out, table, row);
        put_text_cell(out, note >= 0 ? sim_table_cell(table, row, (guint) note) : "");
        g_string_append(out, "</tr>\n");
    }
    end_table(out);
}

/* ---- charts */

static gboolean
put_chart(GString *out, const char *folder, const SimChartMade *made, const char *prefix, GError **error)
{
    g_autofree char *file = g_strconcat(made->name, ".svg", NULL), *path = g_build_filename(folder, file, NULL);
    g_autofree char *svg = NULL, *part = NULL;
    g_autoptr(GError) inner = NULL;

    if (!g_file_get_contents(path, &svg, NULL, &inner)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, inner->message);
        return FALSE;
    }
    part = sim_report_inline_svg(svg, prefix, error);
    if (part == NULL) {
        g_prefix_error(error, "chart %s: ", made->name);
        return FALSE;
    }
    g_string_append(out, "<figure>");
    put_element(out, "figcaption", made->title);
    g_string_append_printf(out, "%s</figure>\n", part);
    return TRUE;
}

static gboolean
put_charts(GString *out, const SimReportPart *part, SimControl control, guint number, const char *scripts_folder,
           const gint *interrupt, GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_autofree char *folder = g_dir_make_tmp("report-XXXXXX", &inner);
    g_autofree char *refused = NULL;
    g_autoptr(GPtrArray) made = NULL;
    gboolean ok;

    if (folder == NULL) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, inner->message);
        return FALSE;
    }
    made = sim_chart_draw_report(part->about->path, control, scripts_folder, folder, interrupt, &refused, error);
    ok = made != NULL;
    for (guint i = 0; ok && i < made->len; i++) {
        g_autofree char *prefix = g_strdup_printf("c%u-%u", number, i);
        ok = put_chart(out, folder, made->pdata[i], prefix, error);
    }
    if (ok && refused != NULL) {
        g_autofree char *text = g_strconcat("Not drawn: ", refused, NULL);
        put_element(out, "p", text);
    }
    sim_folder_remove(folder);
    return ok;
}

/* ---- the page */

static void
put_about(GString *out, const SimReportPart *part, const char *title, const char *key)
{
    g_autofree char *text = sim_about_text(part->about, key);

    if (*text == '\0')
        return;
    put_element(out, "dt", title);
    put_element(out, "dd", text);
}

static void
put_details(GString *out, const char *title, const char *text)
{
    g_string_append(out, "<details>");
    put_element(out, "summary", title);
    put_element(out, "pre", text);
    g_string_append(out, "</details>\n");
}

static gboolean
put_part(GString *out, const SimReport *report, const SimReportPart *part, guint number, const char *scripts_folder,
         const gint *interrupt, GError **error)
{
    g_autofree char *title = sim_about_text(part->about, "title"), *extent = sim_report_extent(report, part);
    g_auto(GStrv) limits = sim_report_limits(part);

    put_element(out, "h2", *title != '\0' ? title : part->about->name);
    g_string_append(out, "<dl>");
    put_about(out, part, "Question", "question");
    put_about(out, part, "Expected", "expects");
    put_about(out, part, "Reference", "reference");
    put_element(out, "dt", "Runs");
    put_element(out, "dd", extent);
    g_string_append(out, "</dl>\n");
    if (part->about->n_runs < part->about->n_wanted)
        g_string_append(out, "<p class=\"warn\">This study is not finished.</p>\n");
    if (!put_charts(out, part, report->control, number, scripts_folder, interrupt, error))
        return FALSE;
    if (part->grid->choices->len > 1)
        put_comparisons(out, part);
    if (part->comparison != NULL)
        put_published(out, part);
    put_element(out, "h3", "Limits");
    for (char **limit = limits; *limit != NULL; limit++)
        put_element(out, "p", *limit);
    if (part->about->scenario_text != NULL)
        put_details(out, "The scenario as written", part->about->scenario_text);
    put_details(out, "Every value of the first point", part->about->configuration);
    return TRUE;
}

/* Nothing may be loaded, and of scripts only this one runs. */
static void
put_head(GString *out, const char *title)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize length = sizeof digest;
    g_autofree char *hash = NULL;

    g_checksum_update(sum, (const guchar *) sim_report_script, -1);
    g_checksum_get_digest(sum, digest, &length);
    hash = g_base64_encode(digest, length);
    g_string_append_printf(out,
                           "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                           "'unsafe-inline'; script-src 'sha256-%s'; img-src data:\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" "
                           "href=\"data:,\">\n",
                           hash);
    put_element(out, "title", title);
    g_string_append_printf(out, "<style>%s</style></head>\n<body>\n", sim_report_style);
}

char *
sim_report_html(const SimReport *report, const char *scripts_folder, const gint *interrupt, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_auto(GStrv) methods = sim_report_methods(report);
    g_autofree char *title = sim_about_text(sim_report_part(report, 0)->about, "title");
    const char *heading = *title != '\0' ? title : sim_report_part(report, 0)->about->name;

    put_head(out, heading);
    put_element(out, "h1", heading);
    for (guint i = 0; i < report->parts->len; i++) {
        g_autofree char *published = sim_report_published(sim_report_part(report, i));
        put_answer(out, sim_report_part(report, i));
        if (*published != '\0')
            put_element(out, "p", published);
    }
    put_element(
        out, "p",
        "Each figure is the difference from the base at the same place, ± its interval. \"No difference seen\" is "
        "a verdict over all comparisons and no proof of equality.");
    for (guint i = 0; i < report->parts->len; i++)
        if (!put_part(out, report, sim_report_part(report, i), i, scripts_folder, interrupt, error))
            return NULL;
    put_element(out, "h2", "Methods");
    for (char **method = methods; *method != NULL; method++)
        put_element(out, "p", *method);
    g_string_append_printf(out, "<script>%s</script>\n</body></html>\n", sim_report_script);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
