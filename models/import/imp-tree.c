/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "imp-format.h"
#include "imp-sysfs.h"

/* First line of a file, at most IMP_MAX_LINE_BYTES; NULL when it cannot be read. Counts refusals. */
static char *
read_file(const char *folder, const char *name, guint *n_refused)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *line = NULL;
    FILE *file;
    gsize n = 0;

    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return NULL;
    file = fopen(path, "re");
    if (file == NULL) {
        *n_refused += errno == EACCES || errno == EPERM;
        return NULL;
    }
    line = g_malloc(IMP_MAX_LINE_BYTES + 1);
    n = fread(line, 1, IMP_MAX_LINE_BYTES, file);
    *n_refused += ferror(file) && (errno == EACCES || errno == EPERM);
    fclose(file);
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return g_steal_pointer(&line);
}

/* FALSE when it is no folder of a cache, or nothing in it could be read. */
static gboolean
read_cache(const char *folder, const char *name, ImpDump *dump, GArray *rows)
{
    ImpWord word = {.text = name, .length = strlen(name)};
    ImpRow row = imp_row_new(dump, &word, 0);
    guint n_read = 0;

    for (gint key = 0; imp_sysfs_names()[key] != NULL; key++) {
        const char *file = imp_sysfs_names()[key];
        g_autofree char *value = NULL;

        /* Write-only, or long and of no use here. */
        if (strstr(file, "_calls") != NULL || g_str_equal(file, "shrink") || g_str_equal(file, "validate"))
            continue;
        value = read_file(folder, file, &dump->n_refused);
        n_read += value != NULL && value[0] != '\0' && imp_sysfs_set(dump, &row, key, value);
    }
    if (n_read == 0) {
        g_free(row.stats);
        return FALSE;
    }
    imp_sysfs_apply_name(&row);
    g_array_append_val(rows, row);
    return TRUE;
}

/* `names` maps the name of a merged cache to those of the links that lead to it. */
static void
note_alias(const char *path, const char *name, GHashTable *names)
{
    g_autofree char *target = g_file_read_link(path, NULL);
    g_autofree char *base = target == NULL ? NULL : g_path_get_basename(target);
    const char *known = base == NULL ? NULL : g_hash_table_lookup(names, base);

    if (base != NULL) {
        char *list = known == NULL ? g_strdup(name) : g_strdup_printf("%s %s", known, name);

        g_hash_table_insert(names, g_steal_pointer(&base), list);
    }
}

static void
read_folders(GDir *dir, const char *path, ImpDump *dump, GArray *rows)
{
    g_autoptr(GHashTable) aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const char *name;

    while ((name = g_dir_read_name(dir)) != NULL && rows->len < IMP_MAX_ROWS) {
        g_autofree char *folder = g_build_filename(path, name, NULL);

        if (g_file_test(folder, G_FILE_TEST_IS_SYMLINK))
            note_alias(folder, name, aliases);
        else if (g_file_test(folder, G_FILE_TEST_IS_DIR))
            read_cache(folder, name, dump, rows);
    }
    for (guint i = 0; i < rows->len; i++) {
        ImpRow *row = &g_array_index(rows, ImpRow, i);
        const char *names = g_hash_table_lookup(aliases, row->name);

        if (names != NULL)
            row->alias_names = imp_dump_keep_names(dump, names);
    }
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(((const ImpRow *) a)->name, ((const ImpRow *) b)->name);
}

gboolean
imp_tree_read(const char *path, ImpDump *dump, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(GDir) dir = g_dir_open(path, 0, &cause);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(ImpRow));
    g_autofree char *own_name = g_path_get_basename(path);

    if (dir == NULL) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
        return FALSE;
    }
    dump->format = imp_format_sysfs.title;
    dump->shows = imp_format_sysfs.shows;
    dump->unknown = imp_format_sysfs.unknown;
    dump->why = g_strdup("a folder with the files of caches");
    if (!read_cache(path, own_name, dump, rows))
        read_folders(dir, path, dump, rows);
    /* The order in which a folder lists its entries is an accident. */
    g_array_sort(rows, compare_names);
    imp_sysfs_drop_copies(dump, rows);
    for (guint i = 0; i < rows->len; i++)
        imp_dump_add(dump, &g_array_index(rows, ImpRow, i));
    if (dump->rows->len > 0 || dump->n_refused > 0)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: no data: no folder of a cache with readable files in it", path);
    return FALSE;
}
