/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plain text: an answer of few lines first, then where it comes from. */
#include "sim-report-private.h"

#include <math.h>
#include <string.h>

#define COLUMNS SIM_REPORT_MAIL_COLUMNS
#define NAME_COLUMNS 22
#define CELL_COLUMNS 24
#define MAX_PLACES 6
#define BYTES_PER_MIB 1048576.0

static guint
character_width(gunichar c)
{
    if (g_unichar_iszerowidth(c))
        return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

guint
sim_report_width(const char *text)
{
    guint width = 0;

    for (; *text != '\0'; text = g_utf8_next_char(text))
        width += character_width(g_utf8_get_char(text));
    return width;
}

/* Control characters could steer a terminal. */
static void
put_plain(GString *out, const char *text, gsize length)
{
    for (const char *end = text + length; text < end; text = g_utf8_next_char(text)) {
        gunichar c = g_utf8_get_char(text);
        g_string_append_unichar(out, g_unichar_iscntrl(c) ? ' ' : c);
    }
}

/* Bytes of a word that fit into `room` columns, at least one character. */
static gsize
fitting(const char *word, gsize length, guint room)
{
    const char *c = word;
    guint width = 0;

    while (c < word + length && (c == word || width + character_width(g_utf8_get_char(c)) <= room)) {
        width += character_width(g_utf8_get_char(c));
        c = g_utf8_next_char(c);
    }
    return (gsize) (c - word);
}

void
sim_report_put_wrapped(GString *out, const char *text, guint columns, const char *first, const char *other)
{
    guint at = sim_report_width(first);
    gboolean is_start = TRUE;

    g_string_append(out, first);
    for (const char *c = text; *c != '\0';) {
        gsize length = strcspn(c, " \t\n\r"), done = 0;
        g_autofree char *word = g_strndup(c, length);
        guint width = sim_report_width(word);
        if (length > 0 && !is_start && at + 1 + width > columns) {
            g_string_append_printf(out, "\n%s", other);
            at = sim_report_width(other);
            is_start = TRUE;
        }
        if (length > 0 && !is_start) {
            g_string_append_c(out, ' ');
            at++;
        }
        while (done < length) {
            gsize part = fitting(word + done, length - done, columns - at);
            put_plain(out, word + done, part);
            done += part;
            at = columns;
            if (done < length) {
                g_string_append_printf(out, "\n%s", other);
                at = sim_report_width(other);
            }
        }
        if (length > 0) {
            const char *line = strrchr(out->str, '\n');
            at = sim_report_width(line != NULL ? line + 1 : out->str);
            is_start = FALSE;
        }
        c += length + (c[length] != '\0');
    }
    g_string_append_c(out, '\n');
}

/* "+12.9±1.1%"; in parentheses when no difference is seen. */
static char *
short_share(const SimFinding *finding)
{
    double percent, half;
    int decimals;

    if (!finding->is_there)
        return g_strdup("not run");
    if (finding->difference.verdict == SIM_VERDICT_METASTABLE)
        return g_strdup("metastable");
    sim_finding_share(finding, &percent, &half);
    if (finding->difference.verdict == SIM_VERDICT_TOO_FEW || isnan(percent))
        return g_strdup("too few runs");
    decimals = half >= 10 ? 0 : 1;
    return g_strdup_printf(finding->difference.verdict == SIM_VERDICT_NONE ? "(%+.*f±%.*f%%)" : "%+.*f±%.*f%%",
                           decimals, percent, decimals, half);
}

/* "+4.1±0.2M" of memory, in parentheses when no difference is seen; "" without a cost. */
static char *
short_cost(const SimFinding *finding, const char *metric)
{
    gboolean is_memory = metric != NULL && g_str_has_suffix(metric, "_bytes");
    double difference, half;
    int decimals;

    if (finding == NULL || !is_memory || !finding->is_there || finding->difference.verdict == SIM_VERDICT_METASTABLE ||
        isnan(finding->difference.half_width))
        return finding == NULL || !is_memory ? g_strdup("") : g_strdup(" -");
    difference = finding->difference.difference / BYTES_PER_MIB;
    half = finding->difference.half_width / BYTES_PER_MIB;
    /* What is not seen needs no second decimal, and its parentheses need the room. */
    decimals = half >= 10 ? 0 : half >= 1 || finding->difference.verdict == SIM_VERDICT_NONE ? 1 : 2;
    return g_strdup_printf(finding->difference.verdict == SIM_VERDICT_NONE ? " (%+.*f±%.*fM)" : " %+.*f±%.*fM",
                           decimals, difference, decimals, half);
}

/* One line of three columns; what is too long for its column is cut with a sign that it was. */
static void
put_row(GString *out, const char *name, const char *first, const char *second)
{
    const char *const cells[] = {name, first, second};
    static const guint widths[] = {NAME_COLUMNS, CELL_COLUMNS, CELL_COLUMNS};
    GString *line = g_string_new(NULL);

    for (guint i = 0; i < G_N_ELEMENTS(cells); i++) {
        guint width = sim_report_width(cells[i]);
        gsize length = width <= widths[i] ? strlen(cells[i]) : fitting(cells[i], strlen(cells[i]), widths[i] - 1);
        put_plain(line, cells[i], length);
        if (width > widths[i])
            g_string_append(line, "~");
        for (guint pad = MIN(width, widths[i]); pad < widths[i] + 1 && i + 1 < G_N_ELEMENTS(cells); pad++)
            g_string_append_c(line, ' ');
    }
    g_strchomp(line->str);
    g_string_append_printf(out, "%s\n", line->str);
    g_string_free(line, TRUE);
}

/* What stands in full further down. */
static gboolean
has_caveat(const SimFinding *finding)
{
    return finding->other_start != NULL || finding->n_untrusted > 0;
}

static char *
cell_text(const SimReportPart *part, guint place, guint choice)
{
    const SimFinding *gain = sim_findings_gain(part->findings, place, choice);
    const SimFinding *cost = sim_findings_cost(part->findings, place, choice);
    g_autofree char *share = short_share(gain), *amount = short_cost(cost, part->grid->cost);

    return g_strdup_printf("%s%s%s", share, has_caveat(gain) ? "*" : "", amount);
}

static gboolean
put_answer(GString *out, const SimReportPart *part)
{
    g_autoptr(GArray) choices = sim_report_choices(part), places = sim_grid_default_places(part->grid, 2);
    guint n = places->len, first_place = g_array_index(places, guint, 0),
          last_place = g_array_index(places, guint, n - 1);
    gboolean has_star = FALSE;

    put_row(out, part->about->name, sim_grid_place(part->grid, first_place)->label,
            n > 1 ? sim_grid_place(part->grid, last_place)->label : "");
    for (guint i = 0; i < choices->len; i++) {
        guint choice = g_array_index(choices, guint, i);
        g_autofree char *first = cell_text(part, first_place, choice);
        g_autofree char *second = n > 1 ? cell_text(part, last_place, choice) : g_strdup("");
        g_autofree char *label = sim_grid_short_label(part->grid, choice);
        put_row(out, label, first, second);
        has_star |= has_caveat(sim_findings_gain(part->findings, first_place, choice)) ||
                    has_caveat(sim_findings_gain(part->findings, last_place, choice));
    }
    if (choices->len == 0)
        g_string_append(out, "There is one setting only, and nothing to hold it against.\n");
    return has_star;
}

static void
put_paragraph(GString *out, const char *title, const char *text)
{
    g_autofree char *first = *title != '\0' ? g_strdup_printf("%s: ", title) : g_strdup("");

    if (*text == '\0')
        return;
    sim_report_put_wrapped(out, text, COLUMNS, first, "  ");
}

static void
put_about(GString *out, const SimReportPart *part, const char *title, const char *key)
{
    g_autofree char *text = sim_about_text(part->about, key);

    put_paragraph(out, title, text);
}

/* ". At 224 CPUs: +1.5±0.6%, +1407 ± 570, memory +0.6 ± 0.1 MiB" */
static void
put_detail(GString *text, const SimReportPart *part, guint place, guint choice)
{
    const SimFinding *gain = sim_findings_gain(part->findings, place, choice);
    const SimFinding *cost = sim_findings_cost(part->findings, place, choice);
    g_autofree char *share = short_share(gain), *amount = sim_finding_amount(gain, part->grid->gain);
    g_autofree char *caveat = sim_report_caveat(gain);

    g_string_append_printf(text, ". At %s: %s, %s", sim_grid_place(part->grid, place)->label, share, amount);
    if (cost != NULL) {
        g_autofree char *paid = sim_finding_amount(cost, part->grid->cost);
        g_string_append_printf(text, ", memory %s", paid);
    }
    if (*caveat != '\0')
        g_string_append_printf(text, " (%s)", caveat);
}

/* The default places, and those that differ from the last of them in all but the x axis: another kernel, another
 * start. */
static GArray *
places_in_detail(const SimGrid *grid)
{
    GArray *places = sim_grid_default_places(grid, MAX_PLACES);
    const SimGridPlace *last = sim_grid_place(grid, g_array_index(places, guint, places->len - 1));

    for (guint p = 0; p < grid->places->len && places->len < 2 * MAX_PLACES; p++) {
        const SimGridPlace *place = sim_grid_place(grid, p);
        if (!place->is_default && g_str_equal(place->x_text, last->x_text))
            g_array_append_val(places, p);
    }
    return places;
}

/* Each setting of the answer over all places, with the amounts at some. */
static void
put_details(GString *out, const SimReportPart *part)
{
    g_autoptr(GArray) choices = sim_report_choices(part), places = places_in_detail(part->grid);

    for (guint i = 0; i < choices->len; i++) {
        guint choice = g_array_index(choices, guint, i);
        g_autofree char *count = sim_report_count(part, choice);
        g_autofree char *label = sim_grid_short_label(part->grid, choice), *first = g_strdup_printf("- %s: ", label);
        GString *text = g_string_new(count);
        for (guint p = 0; p < places->len; p++)
            put_detail(text, part, g_array_index(places, guint, p), choice);
        g_string_append_c(text, '.');
        /* A label of a hundred words is text like any other. */
        g_string_prepend(text, first);
        sim_report_put_wrapped(out, text->str, COLUMNS, "", "  ");
        g_string_free(text, TRUE);
    }
}

static void
put_part(GString *out, const SimReport *report, const SimReportPart *part)
{
    g_auto(GStrv) limits = sim_report_limits(part);
    g_autofree char *extent = sim_report_extent(report, part), *measures = NULL;

    g_string_append_c(out, '\n');
    put_about(out, part, "Study", "title");
    put_about(out, part, "Question", "question");
    put_about(out, part, "Expected", "expects");
    put_about(out, part, "Reference", "reference");
    measures = part->grid->cost != NULL ? g_strdup_printf("gain %s, cost %s", part->grid->gain, part->grid->cost)
                                        : g_strdup_printf("gain %s", part->grid->gain);
    put_paragraph(out, "Measured", measures);
    put_paragraph(out, "Runs", extent);
    put_details(out, part);
    for (char **limit = limits; *limit != NULL; limit++)
        put_paragraph(out, "Limit", *limit);
}

char *
sim_report_mail(const SimReport *report)
{
    GString *out = g_string_new(NULL);
    g_auto(GStrv) methods = sim_report_methods(report);
    gboolean has_star = FALSE;

    for (guint i = 0; i < report->parts->len; i++)
        has_star |= put_answer(out, sim_report_part(report, i));
    sim_report_put_wrapped(out,
                           "(Gain over the base, % of its mean, and MiB of memory more, each ± its interval; in "
                           "parentheses: no difference seen.)",
                           COLUMNS, "", "");
    if (has_star)
        sim_report_put_wrapped(out, "(*: see the caveat below.)", COLUMNS, "", "");
    for (guint i = 0; i < report->parts->len; i++) {
        g_autofree char *published = sim_report_published(sim_report_part(report, i));
        put_paragraph(out, "Published", published);
    }
    for (guint i = 0; i < report->parts->len; i++)
        put_part(out, report, sim_report_part(report, i));
    g_string_append_c(out, '\n');
    for (char **method = methods; *method != NULL; method++)
        put_paragraph(out, "Method", *method);
    return g_string_free(out, FALSE);
}
