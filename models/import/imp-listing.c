/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pasted listings of /sys/kernel/slab: "key:value" of one cache, "CACHE/key:value" of many, with or without the
 * folders above, the "==> file <==" of head and tail, and the complaints of grep and cat in any language; and the
 * tab-separated table with a column for each file. */
#include <string.h>

#include "imp-format.h"
#include "imp-sysfs.h"

/* File names stand near the start of a line, or the line is nothing of ours. */
#define MAX_PATH_BYTES 4096

typedef struct {
    const char *folder; /* into the line; NULL when there is none */
    gsize folder_length;
    gint key;
    const char *value;
} Entry;

/* "file:value" of grep; scripts also print "file=value" and "file value", where it must be a number. */
static gboolean
begins_value(const char *after)
{
    return *after == ':' || ((*after == '=' || *after == ' ' || *after == '\t') &&
                             g_ascii_isdigit(after[1 + strspn(after + 1, "= \t")]));
}

/* grep -n: all files have one line. */
static const char *
without_line_number(const char *value)
{
    return g_str_has_prefix(value, "1:") ? value + 2 : value;
}

/* The folder may hold colons and the value slashes: the first known file name that starts the line or follows a slash
 * and ends before a value (or with the line, for `is_bare`) decides. */
static gboolean
find_entry(const char *line, gboolean is_bare, Entry *ret_entry)
{
    const char *start = line;

    do {
        gsize length = strspn(start, "abcdefghijklmnopqrstuvwxyz_");
        gint key = length > 0 ? imp_sysfs_find(start, length) : IMP_SYSFS_NO_KEY;

        if (key != IMP_SYSFS_NO_KEY && (is_bare ? start[length] == '\0' : begins_value(start + length))) {
            const char *end = start - 1, *folder = end;

            while (start > line && folder > line && folder[-1] != '/')
                folder--;
            *ret_entry = (Entry){
                .folder = start > line ? folder : NULL,
                .folder_length = start > line ? (gsize) (end - folder) : 0,
                .key = key,
                .value = is_bare ? NULL : without_line_number(start + length + 1),
            };
            return start == line || end > folder;
        }
        start = strchr(start, '/');
    } while (start != NULL && start - line < MAX_PATH_BYTES && *++start != '\0');
    return FALSE;
}

/* "grep: FILE: some words": the tool complains. */
static gboolean
is_complaint(const char *line)
{
    static const char *const tools[] = {"grep: ", "egrep: ", "cat: ", "head: ", "tail: ", "more: ", "rg: ", "sh: "};

    for (gsize i = 0; i < G_N_ELEMENTS(tools); i++) {
        const char *at = strstr(line, tools[i]);

        if (at != NULL && (at == line || at[-1] == '/') && strcspn(line, " ") + 1 >= (gsize) (at - line))
            return TRUE;
    }
    return FALSE;
}

/* "==> /sys/kernel/slab/dentry/order <==" */
static gboolean
is_file_heading(const char *line)
{
    return g_str_has_prefix(line, "==> ") && g_str_has_suffix(line, " <==") && strlen(line) > 8;
}

static gboolean
is_sysfs_row(const char *line, const ImpWords *words)
{
    Entry entry;

    if (is_file_heading(line) || is_complaint(line))
        return strstr(line, "/sys/kernel/slab") != NULL;
    return find_entry(line + strspn(line, " \t"), FALSE, &entry);
}

typedef struct {
    ImpDump *dump;
    GArray *rows; /* ImpRow, in order of appearance */
    GHashTable *row_by_name;
    gint first_key; /* of the cache without a folder: seen again, a new one begins */
    gint unnamed;   /* its row, -1 = none */
    guint n_not_there;
} Reader;

static guint
add_row(Reader *reader, const ImpWord *name, guint line)
{
    ImpRow row = imp_row_new(reader->dump, name, line);

    g_array_append_val(reader->rows, row);
    return reader->rows->len - 1;
}

/* NULL when there are too many. */
static ImpRow *
row_of_entry(Reader *reader, const Entry *entry, guint line)
{
    static const ImpWord no_name = {.text = "unnamed", .length = 7};
    ImpWord name = {.text = entry->folder, .length = entry->folder_length};
    g_autofree char *key = NULL;
    gpointer found;

    if (reader->rows->len >= IMP_MAX_ROWS) {
        reader->dump->n_dropped_rows++;
        return NULL;
    }
    if (entry->folder == NULL) {
        if (reader->unnamed < 0 || entry->key == reader->first_key) {
            reader->unnamed = (gint) add_row(reader, &no_name, line);
            reader->first_key = entry->key;
        }
        return &g_array_index(reader->rows, ImpRow, reader->unnamed);
    }
    key = g_strndup(name.text, name.length);
    found = g_hash_table_lookup(reader->row_by_name, key);
    if (found == NULL) {
        found = GUINT_TO_POINTER(add_row(reader, &name, line) + 1);
        g_hash_table_insert(reader->row_by_name, g_steal_pointer(&key), found);
    }
    return &g_array_index(reader->rows, ImpRow, GPOINTER_TO_UINT(found) - 1);
}

static void
take_entry(Reader *reader, const Entry *entry, const char *value, const ImpLine *line)
{
    ImpRow *row = row_of_entry(reader, entry, line->number);

    if (row != NULL && !imp_sysfs_set(reader->dump, row, entry->key, value))
        imp_dump_bad_row(reader->dump, line, "no number where one is due");
}

/* alloc_calls and free_calls are absent without debugging: no loss. */
static void
take_complaint(Reader *reader, const char *line)
{
    if (strstr(line, "alloc_calls") != NULL || strstr(line, "free_calls") != NULL)
        reader->n_not_there++;
    else
        reader->dump->n_refused++;
}

/* A row of which nothing but its existence is known would be zeros in a report. */
static void
finish_listing(Reader *reader)
{
    ImpDump *dump = reader->dump;

    for (guint i = 0; i < reader->rows->len; i++)
        imp_sysfs_apply_name(&g_array_index(reader->rows, ImpRow, i));
    imp_sysfs_drop_copies(dump, reader->rows);
    for (guint i = 0; i < reader->rows->len; i++) {
        ImpRow *row = &g_array_index(reader->rows, ImpRow, i);

        if (row->stride_bytes < 0 && row->object_bytes < 0 && row->slabs < 0 && row->stats == NULL)
            imp_dump_note(dump, IMP_NOTE_DAMAGE, "%s: neither sizes nor counts, left out", row->name);
        else
            imp_dump_add(dump, row);
    }
    if (dump->n_refused > 0 && dump->rows->len > 0)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u files were refused to whoever made the listing", dump->n_refused);
    if (reader->n_not_there > 0)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u complaints about alloc_calls and free_calls, which only debugging has",
                      reader->n_not_there);
    if (reader->unnamed >= 0)
        imp_dump_note(dump, IMP_NOTE_UNKNOWN, "the name of the cache: the listing has no folder names");
}

/* "C3=400 C4=400": a list that mail wrapped. */
static gboolean
is_rest_of_list(const char *line)
{
    const char *start = line + strspn(line, " \t");
    gsize digits = *start == 'C' || *start == 'N' ? strspn(start + 1, "0123456789") : 0;

    return digits > 0 && start[1 + digits] == '=' && g_ascii_isdigit(start[2 + digits]);
}

static void
read_listing(const ImpText *text, ImpDump *dump)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(ImpRow));
    g_autoptr(GHashTable) row_by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Reader reader = {.dump = dump, .rows = rows, .row_by_name = row_by_name, .first_key = -1, .unnamed = -1};
    g_autofree char *heading = NULL;
    Entry entry;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        const char *start = line->text + strspn(line->text, " \t");

        if (is_complaint(start))
            take_complaint(&reader, start);
        else if (is_file_heading(start)) {
            g_free(heading);
            heading = g_strndup(start + 4, strlen(start) - 8);
        } else if (heading != NULL && find_entry(heading, TRUE, &entry)) {
            take_entry(&reader, &entry, start, line);
            g_clear_pointer(&heading, g_free);
        } else if (find_entry(start, FALSE, &entry)) {
            g_autoptr(GString) value = g_string_new(entry.value);

            while (i + 1 < imp_text_n_lines(text) && is_rest_of_list(imp_text_line(text, i + 1)->text))
                g_string_append_printf(value, " %s", imp_text_line(text, ++i)->text);
            take_entry(&reader, &entry, value->str, line);
        }
    }
    finish_listing(&reader);
}

#define SYSFS_UNKNOWN                                                                                                  \
    "the explicit free-pointer offset and the sheaf capacity a cache was created with, how full slabs on CPU lists "   \
    "are, slabs of a lower order"

const ImpFormat imp_format_sysfs = {
    .title = "/sys/kernel/slab",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "[CACHE/]file:value",
    .unknown = SYSFS_UNKNOWN,
    .is_row = is_sysfs_row,
    .read = read_listing,
};

static gboolean
is_table_header(const char *line)
{
    return g_str_has_prefix(line, "cache\t") && strstr(line, "\tobject_size") != NULL;
}

static gboolean
is_table_row(const char *line, const ImpWords *words)
{
    guint n_tabs = 0;

    for (const char *c = strchr(line, '\t'); c != NULL; c = strchr(c + 1, '\t'))
        n_tabs++;
    return n_tabs >= 8;
}

static void
take_fields(ImpDump *dump, GArray *rows, char **columns, const ImpLine *line)
{
    g_auto(GStrv) fields = g_strsplit(line->text, "\t", -1);
    ImpWord name = {.text = fields[0], .length = strlen(fields[0])};
    ImpRow row = imp_row_new(dump, &name, line->number);

    if (g_strv_length(fields) != g_strv_length(columns) || rows->len >= IMP_MAX_ROWS) {
        imp_dump_bad_row(dump, line, "not as many fields as columns");
        return;
    }
    for (guint i = 1; columns[i] != NULL; i++) {
        gint key = imp_sysfs_find(columns[i], strlen(columns[i]));

        if (g_str_equal(columns[i], "names") && !g_str_equal(fields[i], "-"))
            row.alias_names = imp_dump_keep_names(dump, g_strdelimit(fields[i], ",", ' '));
        else if (key != IMP_SYSFS_NO_KEY && !g_str_equal(fields[i], "-") && !imp_sysfs_set(dump, &row, key, fields[i]))
            imp_dump_bad_row(dump, line, "no number where one is due");
    }
    imp_sysfs_apply_name(&row);
    g_array_append_val(rows, row);
}

static void
read_table(const ImpText *text, ImpDump *dump)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(ImpRow));
    g_auto(GStrv) columns = NULL;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);

        if (is_table_header(line->text)) {
            g_strfreev(columns);
            columns = g_strsplit(line->text, "\t", -1);
        } else if (columns != NULL && strchr(line->text, '\t') != NULL)
            take_fields(dump, rows, columns, line);
    }
    for (guint i = 0; i < rows->len; i++)
        imp_dump_add(dump, &g_array_index(rows, ImpRow, i));
}

const ImpFormat imp_format_table = {
    .title = "a table of /sys/kernel/slab",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "nine or more fields between tabs",
    .header_form = "a header with cache and object_size",
    .unknown = SYSFS_UNKNOWN,
    .is_header = is_table_header,
    .is_row = is_table_row,
    .read = read_table,
};
