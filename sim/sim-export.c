/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-export.h"

#include "sim-hint.h"
#include "sim-summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const format_words[] = {"tsv", "csv", "jsonl", NULL};

gboolean
sim_export_parse_format(const char *word, SimExportFormat *ret_format, GError **error)
{
    for (guint i = 0; format_words[i] != NULL; i++) {
        if (g_str_equal(format_words[i], word)) {
            *ret_format = (SimExportFormat) i;
            return TRUE;
        }
    }
    g_autofree char *hint = sim_hint_phrase(word, format_words);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "unknown format '%s'%s (allowed: tsv, csv, jsonl)", word,
                hint);
    return FALSE;
}

typedef struct {
    SimStudy *study;
    SimExportFormat format;
    FILE *out;
    GPtrArray *columns; /* char * */
    guint column;
    GString *line;
    const char *name; /* of the record table being written */
    guint cell;       /* it is written for */
} Writer;

static void
writer_clear(Writer *writer)
{
    g_ptr_array_unref(writer->columns);
    g_string_free(writer->line, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Writer, writer_clear)

static void
append_json_text(GString *line, const char *text)
{
    g_string_append_c(line, '"');
    for (const char *c = text; *c != '\0'; c++) {
        /* '<' so that a line may stand in an HTML page. */
        if (*c == '"' || *c == '\\')
            g_string_append_printf(line, "\\%c", *c);
        else if ((guchar) *c < 0x20 || *c == '<' || *c == 0x7f)
            g_string_append_printf(line, "\\u%04x", (guint) *c);
        else
            g_string_append_c(line, *c);
    }
    g_string_append_c(line, '"');
}

/* Whether JSON reads the text as a number; it knows neither "01" nor "1." nor "+1". */
static gboolean
is_json_number(const char *text)
{
    static GRegex *form;

    if (g_once_init_enter(&form))
        g_once_init_leave(&form, g_regex_new("^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$",
                                             G_REGEX_OPTIMIZE | G_REGEX_DOLLAR_ENDONLY, 0, NULL));
    return g_regex_match(form, text, 0, NULL);
}

static void
append_csv(GString *line, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        g_string_append(line, text);
        return;
    }
    g_string_append_c(line, '"');
    for (const char *c = text; *c != '\0'; c++)
        g_string_append_printf(line, *c == '"' ? "\"\"" : "%c", *c);
    g_string_append_c(line, '"');
}

/* Ends the line after the last column. A failed write is seen at the end. */
static void
put(Writer *writer, const char *text, gboolean is_word)
{
    gboolean is_last = writer->column + 1 == writer->columns->len;
    GString *line = writer->line;

    switch (writer->format) {
    case SIM_EXPORT_TSV:
        sim_table_append_cell(line, text, is_last ? '\n' : '\t');
        break;
    case SIM_EXPORT_CSV:
        append_csv(line, text);
        g_string_append_c(line, is_last ? '\n' : ',');
        break;
    case SIM_EXPORT_JSONL:
        g_string_append(line, writer->column == 0 ? "{" : ",");
        append_json_text(line, writer->columns->pdata[writer->column]);
        g_string_append_c(line, ':');
        if (is_word)
            append_json_text(line, text);
        else if (is_json_number(text))
            g_string_append(line, text);
        else if (*text == '\0' || g_str_equal(text, "nan") || g_str_equal(text, "inf") || g_str_equal(text, "-inf"))
            g_string_append(line, "null");
        else
            append_json_text(line, text);
        if (is_last)
            g_string_append(line, "}\n");
        break;
    }
    writer->column = is_last ? 0 : writer->column + 1;
    if (is_last) {
        fwrite(line->str, 1, line->len, writer->out);
        g_string_truncate(line, 0);
    }
}

static void
put_int(Writer *writer, gint64 value)
{
    char text[24];

    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
    put(writer, text, FALSE);
}

static void
put_real(Writer *writer, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    put(writer, sim_format_real(text, value), FALSE);
}

static void
put_point(Writer *writer, guint point)
{
    const SimStudyPoint *facts = sim_study_point(writer->study, point);

    put(writer, facts->variant, TRUE);
    for (guint axis = 0; axis < sim_study_n_axes(writer->study); axis++)
        put(writer, facts->values[axis], FALSE);
}

static void
add_column(Writer *writer, const char *name)
{
    sim_columns_add(writer->columns, name);
}

static void
add_point_columns(Writer *writer)
{
    add_column(writer, "variant");
    for (guint axis = 0; axis < sim_study_n_axes(writer->study); axis++)
        add_column(writer, sim_study_axis_key(writer->study, axis));
}

static void
put_header(Writer *writer)
{
    if (writer->format == SIM_EXPORT_JSONL)
        return;
    for (guint i = 0; i < writer->columns->len; i++)
        put(writer, writer->columns->pdata[i], TRUE);
}

static gboolean
write_metrics(Writer *writer, GError **error)
{
    const char *const *metrics = sim_study_metrics(writer->study, error);
    char fingerprint[20];

    if (metrics == NULL)
        return FALSE;
    add_column(writer, "scenario");
    add_point_columns(writer);
    for (const char *const *name = (const char *const[]){"replication", "start", "seed", "fingerprint", NULL};
         *name != NULL; name++)
        add_column(writer, *name);
    for (guint m = 0; metrics[m] != NULL; m++)
        add_column(writer, metrics[m]);
    put_header(writer);
    for (guint i = 0; i < sim_study_n_cells(writer->study); i++) {
        const SimStudyCell *cell = sim_study_cell(writer->study, i);
        g_autoptr(SimCellRuns) runs = sim_study_read_cell(writer->study, i, error);
        if (runs == NULL)
            return FALSE;
        for (guint r = 0; r < runs->n_runs; r++) {
            put(writer, sim_study_about(writer->study, "scenario"), TRUE);
            put_point(writer, cell->point);
            put_int(writer, runs->replications[r]);
            put(writer, cell->start, TRUE);
            put_int(writer, (gint64) runs->seeds[r]);
            g_snprintf(fingerprint, sizeof fingerprint, "%016" G_GINT64_MODIFIER "x", runs->fingerprints[r]);
            put(writer, fingerprint, TRUE);
            for (gsize m = 0, at = (gsize) r * runs->n_metrics; m < runs->n_metrics; m++, at++) {
                if (runs->has[at])
                    put_real(writer, runs->values[at]);
                else
                    put(writer, "", FALSE);
            }
        }
    }
    return TRUE;
}

static void
put_summary(Writer *writer, const SimStudyCell *cell, const char *metric, const GArray *values)
{
    SimSummary s;

    sim_summarise((const double *) values->data, values->len, cell->confidence, &s);
    put_point(writer, cell->point);
    put(writer, cell->start, TRUE);
    put(writer, metric, TRUE);
    put_int(writer, s.n);
    put_real(writer, s.mean);
    put_real(writer, s.half_width);
    put_real(writer, s.sd);
    put_real(writer, s.min);
    put_real(writer, s.max);
}

static gboolean
write_summary(Writer *writer, GError **error)
{
    const char *const *metrics = sim_study_metrics(writer->study, error);

    if (metrics == NULL)
        return FALSE;
    add_point_columns(writer);
    for (const char *const *name =
             (const char *const[]){"start", "metric", "n", "mean", "half_width", "sd", "min", "max", NULL};
         *name != NULL; name++)
        add_column(writer, *name);
    put_header(writer);
    for (guint i = 0; i < sim_study_n_cells(writer->study); i++) {
        g_autoptr(SimCellRuns) runs = sim_study_read_cell(writer->study, i, error);
        if (runs == NULL)
            return FALSE;
        for (guint m = 0; m < runs->n_metrics; m++) {
            g_autoptr(GArray) values = sim_cell_runs_values(runs, m);
            if (values->len > 0)
                put_summary(writer, sim_study_cell(writer->study, i), metrics[m], values);
        }
    }
    return TRUE;
}

static gboolean
write_points(Writer *writer, GError **error)
{
    add_column(writer, "point");
    add_column(writer, "label");
    add_point_columns(writer);
    put_header(writer);
    for (guint point = 0; point < sim_study_n_points(writer->study); point++) {
        put_int(writer, (gint64) point + 1);
        put(writer, sim_study_point(writer->study, point)->label, TRUE);
        put_point(writer, point);
    }
    return TRUE;
}

static gboolean
write_refused(Writer *writer, GError **error)
{
    g_autoptr(SimTable) table = sim_study_refused(writer->study, error);

    if (table == NULL)
        return FALSE;
    add_column(writer, "point");
    add_column(writer, "reason");
    put_header(writer);
    for (guint row = 0; row < sim_table_n_rows(table); row++)
        for (guint column = 0; column < 2; column++)
            put(writer, sim_table_cell(table, row, column), TRUE);
    return TRUE;
}

static guint
n_identity(const Writer *writer)
{
    return 1 + sim_study_n_axes(writer->study) + 2;
}

static gboolean
put_record_table(guint replication, const SimTable *table, gpointer data, GError **error)
{
    Writer *writer = data;
    const SimStudyCell *cell = sim_study_cell(writer->study, writer->cell);
    guint n_own = writer->columns->len - n_identity(writer);
    g_autofree int *from = g_new(int, n_own);

    for (guint c = 0; c < n_own; c++)
        from[c] = sim_table_find_column(table, writer->columns->pdata[n_identity(writer) + c]);
    for (guint row = 0; row < sim_table_n_rows(table); row++) {
        put_point(writer, cell->point);
        put_int(writer, replication);
        put(writer, cell->start, TRUE);
        for (guint c = 0; c < n_own; c++)
            put(writer, from[c] >= 0 ? sim_table_cell(table, row, (guint) from[c]) : "", FALSE);
    }
    return TRUE;
}

static gboolean
write_record_table(Writer *writer, GError **error)
{
    g_auto(GStrv) columns = sim_study_table_columns(writer->study, writer->name, error);

    if (columns == NULL)
        return FALSE;
    add_point_columns(writer);
    add_column(writer, "replication");
    add_column(writer, "start");
    for (char **column = columns; *column != NULL; column++)
        add_column(writer, *column);
    put_header(writer);
    for (writer->cell = 0; writer->cell < sim_study_n_cells(writer->study); writer->cell++)
        if (!sim_study_each_table(writer->study, writer->cell, writer->name, put_record_table, writer, error))
            return FALSE;
    return TRUE;
}

typedef struct {
    const char *name;
    gboolean (*write)(Writer *writer, GError **error);
} Section;

static const Section sections[] = {
    {"metrics", write_metrics},
    {"summary", write_summary},
    {"points", write_points},
    {"refused", write_refused},
};

/* NULL with an error when the study has nothing of that name. */
static gboolean
find_section(SimStudy *study, const char *what, const Section **ret_section, GError **error)
{
    g_auto(GStrv) tables = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    *ret_section = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(sections); i++) {
        g_ptr_array_add(names, (gpointer) sections[i].name);
        if (g_str_equal(sections[i].name, what)) {
            *ret_section = &sections[i];
            return TRUE;
        }
    }
    tables = sim_study_table_names(study, error);
    if (tables == NULL || g_strv_contains((const char *const *) tables, what))
        return tables != NULL;
    for (char **table = tables; *table != NULL; table++)
        g_ptr_array_add(names, *table);
    g_ptr_array_add(names, NULL);
    g_autofree char *allowed = g_strjoinv(", ", (char **) names->pdata);
    g_autofree char *hint = sim_hint_phrase(what, (const char *const *) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "the study has no table '%s'%s (allowed: %s)", what, hint,
                allowed);
    return FALSE;
}

gboolean
sim_export_write(SimStudy *study, const char *what, SimExportFormat format, FILE *out, GError **error)
{
    g_auto(Writer) writer = {.study = study, .format = format, .out = out, .name = what};
    const Section *section;
    gboolean ok;

    writer.columns = g_ptr_array_new_with_free_func(g_free);
    writer.line = g_string_new(NULL);
    if (!find_section(study, what, &section, error))
        return FALSE;
    ok = section != NULL ? section->write(&writer, error) : write_record_table(&writer, error);
    if (!ok)
        return FALSE;
    if (fflush(out) == 0 && !ferror(out))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "the export could not be written: %s", g_strerror(errno));
    return FALSE;
}
