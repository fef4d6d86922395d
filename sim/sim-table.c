/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-table.h"

#include <string.h>

/* Cells are kept as text in one buffer: a time series has millions of them, and one allocation for each would cost
 * more than the text. */
struct _SimTable {
    char *name;
    GPtrArray *columns; /* NULL-terminated strings */
    guint n_columns;
    GString *text;   /* cells one after the other, each with its NUL */
    GArray *offsets; /* gsize, start of each cell in text */
};

SimTable *
sim_table_new(const char *name, const char *const *columns)
{
    SimTable *table = g_new0(SimTable, 1);

    table->name = g_strdup(name);
    table->columns = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; columns[i] != NULL; i++)
        g_ptr_array_add(table->columns, g_strdup(columns[i]));
    table->n_columns = table->columns->len;
    g_assert(table->n_columns > 0);
    g_ptr_array_add(table->columns, NULL);
    table->text = g_string_new(NULL);
    table->offsets = g_array_new(FALSE, FALSE, sizeof(gsize));
    return table;
}

void
sim_table_free(SimTable *table)
{
    if (table == NULL)
        return;
    g_free(table->name);
    g_ptr_array_unref(table->columns);
    g_string_free(table->text, TRUE);
    g_array_unref(table->offsets);
    g_free(table);
}

void
sim_table_put_text(SimTable *table, const char *value)
{
    gsize offset = table->text->len;

    g_array_append_val(table->offsets, offset);
    g_string_append_len(table->text, value, (gssize) strlen(value) + 1);
}

void
sim_table_put_int(SimTable *table, gint64 value)
{
    char buffer[24];

    g_snprintf(buffer, sizeof buffer, "%" G_GINT64_FORMAT, value);
    sim_table_put_text(table, buffer);
}

void
sim_table_put_real(SimTable *table, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    sim_table_put_text(table, sim_format_real(buffer, value));
}

const char *
sim_table_name(const SimTable *table)
{
    return table->name;
}

const char *const *
sim_table_columns(const SimTable *table)
{
    return (const char *const *) table->columns->pdata;
}

guint
sim_table_n_columns(const SimTable *table)
{
    return table->n_columns;
}

guint
sim_table_n_rows(const SimTable *table)
{
    g_assert(table->offsets->len % table->n_columns == 0);
    return table->offsets->len / table->n_columns;
}

const char *
sim_table_cell(const SimTable *table, guint row, guint column)
{
    g_assert(column < table->n_columns && row < sim_table_n_rows(table));
    return table->text->str + g_array_index(table->offsets, gsize, row * table->n_columns + column);
}

int
sim_table_find_column(const SimTable *table, const char *column)
{
    for (guint i = 0; i < table->n_columns; i++)
        if (g_str_equal(table->columns->pdata[i], column))
            return (int) i;
    return -1;
}

gboolean
sim_table_cell_real(const SimTable *table, guint row, guint column, double *ret_value)
{
    const char *text = sim_table_cell(table, row, column);
    char *end;
    double value = g_ascii_strtod(text, &end);

    if (*text == '\0' || g_ascii_isspace(*text) || *end != '\0')
        return FALSE;
    *ret_value = value;
    return TRUE;
}

void
sim_columns_add(GPtrArray *columns, const char *name)
{
    for (guint i = 0; i < columns->len; i++)
        if (g_str_equal(columns->pdata[i], name))
            return;
    g_ptr_array_add(columns, g_strdup(name));
}

void
sim_table_append_cell(GString *out, const char *text, char after)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '\\':
            g_string_append(out, "\\\\");
            break;
        case '\t':
            g_string_append(out, "\\t");
            break;
        case '\n':
            g_string_append(out, "\\n");
            break;
        case '\r':
            g_string_append(out, "\\r");
            break;
        default:
            g_string_append_c(out, *c);
        }
    }
    g_string_append_c(out, after);
}

GString *
sim_table_to_tsv(const SimTable *table)
{
    GString *out = g_string_sized_new(table->text->len + 256);

    for (guint c = 0; c < table->n_columns; c++)
        sim_table_append_cell(out, table->columns->pdata[c], c + 1 < table->n_columns ? '\t' : '\n');
    for (guint r = 0; r < sim_table_n_rows(table); r++)
        for (guint c = 0; c < table->n_columns; c++)
            sim_table_append_cell(out, sim_table_cell(table, r, c), c + 1 < table->n_columns ? '\t' : '\n');
    return out;
}

/* Undoes sim_table_append_cell in place. */
static gboolean
unescape_cell(char *cell)
{
    char *to = cell;

    for (const char *from = cell; *from != '\0'; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        switch (*++from) {
        case '\\':
            *to++ = '\\';
            break;
        case 't':
            *to++ = '\t';
            break;
        case 'n':
            *to++ = '\n';
            break;
        case 'r':
            *to++ = '\r';
            break;
        default:
            return FALSE;
        }
    }
    *to = '\0';
    return TRUE;
}

/* Splits one line into cells; an error without the place in front. */
static char **
split_line(char *line, GError **error)
{
    g_auto(GStrv) cells = NULL;
    gsize length = strlen(line);

    if (length > 0 && line[length - 1] == '\r')
        line[length - 1] = '\0';
    if (*line == '\0') {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "empty line");
        return NULL;
    }
    cells = g_strsplit(line, "\t", -1);
    for (char **cell = cells; *cell != NULL; cell++) {
        if (!unescape_cell(*cell)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "a backslash in column %u that is none of \\\\ \\t \\n \\r",
                        (guint) (cell - cells) + 1);
            return NULL;
        }
    }
    return g_steal_pointer(&cells);
}

static SimTable *
parse_header(const char *name, char *line, GError **error)
{
    g_auto(GStrv) columns = split_line(line, error);

    if (columns == NULL)
        return NULL;
    for (char **column = columns; *column != NULL; column++) {
        if (**column == '\0') {
            g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "a column without a name");
            return NULL;
        }
        for (char **other = columns; other != column; other++) {
            if (g_str_equal(*column, *other)) {
                g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "column '%s' given twice", *column);
                return NULL;
            }
        }
    }
    return sim_table_new(name, (const char *const *) columns);
}

static gboolean
parse_row(SimTable *table, char *line, GError **error)
{
    g_auto(GStrv) cells = split_line(line, error);
    guint n_cells;

    if (cells == NULL)
        return FALSE;
    n_cells = g_strv_length(cells);
    if (n_cells != table->n_columns) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%u cells where the header has %u (cells are split by tabs)",
                    n_cells, table->n_columns);
        return FALSE;
    }
    for (guint c = 0; c < n_cells; c++)
        sim_table_put_text(table, cells[c]);
    return TRUE;
}

SimTable *
sim_table_parse(const char *path, char *text, GError **error)
{
    g_autoptr(SimTable) table = NULL;
    char *line = g_str_has_prefix(text, "\xEF\xBB\xBF") ? text + 3 : text;

    for (guint number = 1; *line != '\0'; number++) {
        GError *inner = NULL;
        char *end = strchr(line, '\n');
        char *next = end != NULL ? end + 1 : line + strlen(line);

        if (end != NULL)
            *end = '\0';
        if (table == NULL)
            table = parse_header(path, line, &inner);
        else
            parse_row(table, line, &inner);
        if (inner != NULL) {
            g_propagate_prefixed_error(error, inner, "%s:%u: ", path, number);
            return NULL;
        }
        line = next;
    }
    if (table == NULL)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: the file is empty", path);
    return g_steal_pointer(&table);
}

SimTable *
sim_table_read(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) inner = NULL;
    gsize length;

    if (!g_file_get_contents(path, &text, &length, &inner)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s", inner->message);
        return NULL;
    }
    if (!g_utf8_validate(text, (gssize) length, NULL)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: not UTF-8 text", path);
        return NULL;
    }
    return sim_table_parse(path, text, error);
}

/* Numbers stand to the right, so that magnitudes can be compared by eye. */
static gboolean
column_is_number(const SimTable *table, guint column)
{
    for (guint r = 0; r < sim_table_n_rows(table); r++) {
        char first = sim_table_cell(table, r, column)[0];
        if (first != '\0' && first != '-' && !g_ascii_isdigit(first) &&
            !g_str_equal(sim_table_cell(table, r, column), "nan"))
            return FALSE;
    }
    return TRUE;
}

static void
append_aligned(GString *out, const char *text, guint width, gboolean right, gboolean last)
{
    guint length = (guint) g_utf8_strlen(text, -1);
    guint pad = width > length ? width - length : 0;

    if (right)
        g_string_append_printf(out, "%*s%s", (int) pad, "", text);
    else
        g_string_append_printf(out, "%s%*s", text, last ? 0 : (int) pad, "");
    g_string_append(out, last ? "\n" : "  ");
}

char *
sim_table_to_text(const SimTable *table)
{
    GString *out = g_string_new(NULL);
    guint n_rows = sim_table_n_rows(table);
    g_autofree guint *widths = g_new0(guint, table->n_columns);
    g_autofree gboolean *right = g_new0(gboolean, table->n_columns);

    for (guint c = 0; c < table->n_columns; c++) {
        right[c] = column_is_number(table, c);
        widths[c] = (guint) g_utf8_strlen(table->columns->pdata[c], -1);
        for (guint r = 0; r < n_rows; r++)
            widths[c] = MAX(widths[c], (guint) g_utf8_strlen(sim_table_cell(table, r, c), -1));
    }
    for (guint c = 0; c < table->n_columns; c++)
        append_aligned(out, table->columns->pdata[c], widths[c], right[c], c + 1 == table->n_columns);
    for (guint r = 0; r < n_rows; r++)
        for (guint c = 0; c < table->n_columns; c++)
            append_aligned(out, sim_table_cell(table, r, c), widths[c], right[c], c + 1 == table->n_columns);
    return g_string_free(out, FALSE);
}
