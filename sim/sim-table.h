/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include "sim-error.h"
#include "sim-record.h"

/* Tables outside a record: everything that is written to or read from a .tsv file is a SimTable.
 *
 * File form: UTF-8, one header line, one line a row, cells split by a tab; in a cell, backslash, tab, line feed and
 * carriage return are written \\ \t \n \r, so that any text survives. Numbers are in C notation in every locale. */

/* `columns` is NULL-terminated, not empty, and copied. */
SimTable *sim_table_new(const char *name, const char *const *columns);
void sim_table_free(SimTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimTable, sim_table_free)

guint sim_table_n_columns(const SimTable *table);
/* -1 when there is no such column. */
int sim_table_find_column(const SimTable *table, const char *column);
/* FALSE when the cell is not a number from its first to its last character ("nan" is one). */
gboolean sim_table_cell_real(const SimTable *table, guint row, guint column, double *ret_value);

/* Appends `name` to a NULL-terminated array under construction unless it is in it already: the union of columns. */
void sim_columns_add(GPtrArray *columns, const char *name);

/* Appends one cell of the file form, then `after`. */
void sim_table_append_cell(GString *out, const char *text, char after);
/* The file's bytes; caller frees. */
GString *sim_table_to_tsv(const SimTable *table);
/* SIM_ERROR_IO when the file cannot be read, SIM_ERROR_PARSE with "PATH:LINE: " in front when it is not of the form
 * above. A byte order mark and CRLF line ends, which editors leave behind, are accepted. */
SimTable *sim_table_read(const char *path, GError **error);
/* The same from NUL-terminated text, which is overwritten; `path` is for messages and becomes the table's name. */
SimTable *sim_table_parse(const char *path, char *text, GError **error);

/* Plain text in aligned columns for a terminal, numbers to the right; caller frees. */
char *sim_table_to_text(const SimTable *table);

#endif
