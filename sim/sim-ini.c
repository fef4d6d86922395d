/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ini.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
entry_free(gpointer data)
{
    SimIniEntry *entry = data;
    g_free(entry->key);
    g_free(entry->value);
    g_free(entry);
}

static void
group_free(gpointer data)
{
    SimIniGroup *group = data;
    g_free(group->name);
    g_ptr_array_unref(group->entries);
    g_free(group);
}

void
sim_ini_free(SimIni *ini)
{
    if (ini == NULL)
        return;
    g_free(ini->path);
    g_ptr_array_unref(ini->groups);
    g_free(ini);
}

const SimIniGroup *
sim_ini_find_group(const SimIni *ini, const char *name)
{
    for (guint i = 0; i < ini->groups->len; i++) {
        const SimIniGroup *group = ini->groups->pdata[i];
        if (strcmp(group->name, name) == 0)
            return group;
    }
    return NULL;
}

const SimIniEntry *
sim_ini_find_entry(const SimIniGroup *group, const char *key)
{
    for (guint i = 0; i < group->entries->len; i++) {
        const SimIniEntry *entry = group->entries->pdata[i];
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

gboolean
sim_ini_text_is_clean(const char *text, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++) {
        if (g_ascii_iscntrl(text[i]) && text[i] != '\t')
            return FALSE;
    }
    return g_utf8_validate_len(text, n_bytes, NULL);
}

static gboolean
parse_group(SimIni *ini, const char *text, guint line, GError **error)
{
    gsize n = strlen(text);
    if (n < 3 || text[n - 1] != ']' || strcspn(text + 1, "[]") != n - 2) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: \"%s\": not a group (wanted: [name] and nothing else)",
                    ini->path, line, text);
        return FALSE;
    }
    g_autofree char *name = g_strndup(text + 1, n - 2);
    const SimIniGroup *first = sim_ini_find_group(ini, name);
    if (first != NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: [%s]: group given twice (first in line %u)", ini->path,
                    line, name, first->line);
        return FALSE;
    }
    SimIniGroup *group = g_new0(SimIniGroup, 1);
    group->name = g_steal_pointer(&name);
    group->line = line;
    group->entries = g_ptr_array_new_with_free_func(entry_free);
    g_ptr_array_add(ini->groups, group);
    return TRUE;
}

static gboolean
parse_entry(SimIni *ini, const char *text, guint line, GError **error)
{
    const char *sign = strchr(text, '=');
    if (sign == NULL || sign == text) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                    "%s:%u: \"%s\": not understood (wanted: [group], key = value, or # in the first column)", ini->path,
                    line, text);
        return FALSE;
    }
    if (ini->groups->len == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: \"%s\": key before the first [group]", ini->path, line,
                    text);
        return FALSE;
    }
    const SimIniGroup *group = ini->groups->pdata[ini->groups->len - 1];
    g_autofree char *key = g_strchomp(g_strndup(text, (gsize) (sign - text)));
    const char *value = sign + 1 + strspn(sign + 1, " \t");
    const SimIniEntry *first = sim_ini_find_entry(group, key);
    if (first != NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: [%s] %s = %s: key given twice (first in line %u)",
                    ini->path, line, group->name, key, value, first->line);
        return FALSE;
    }
    SimIniEntry *entry = g_new0(SimIniEntry, 1);
    entry->key = g_steal_pointer(&key);
    entry->value = g_strdup(value);
    entry->line = line;
    g_ptr_array_add(group->entries, entry);
    return TRUE;
}

/* One line without its line end. */
static gboolean
parse_line(SimIni *ini, const char *start, gsize n_bytes, guint line, GError **error)
{
    if (n_bytes > SIM_INI_MAX_LINE_BYTES) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: line longer than %d bytes", ini->path, line,
                    SIM_INI_MAX_LINE_BYTES);
        return FALSE;
    }
    if (!sim_ini_text_is_clean(start, n_bytes)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: not plain UTF-8 text (%s)", ini->path, line,
                    memchr(start, '\0', n_bytes) != NULL        ? "NUL byte"
                    : g_utf8_validate_len(start, n_bytes, NULL) ? "control character"
                                                                : "invalid bytes");
        return FALSE;
    }
    if (n_bytes > 0 && *start == '#')
        return TRUE;
    g_autofree char *copy = g_strndup(start, n_bytes);
    const char *text = g_strstrip(copy);
    if (*text == '\0')
        return TRUE;
    if (*text == '#') {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: \"%s\": a comment starts in the first column", ini->path,
                    line, text);
        return FALSE;
    }
    return *text == '[' ? parse_group(ini, text, line, error) : parse_entry(ini, text, line, error);
}

SimIni *
sim_ini_parse(const char *text, gsize n_bytes, const char *path, GError **error)
{
    g_autoptr(SimIni) ini = g_new0(SimIni, 1);
    ini->path = g_strdup(path);
    ini->groups = g_ptr_array_new_with_free_func(group_free);
    const char *p = text, *end = text + n_bytes;
    if (n_bytes >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (guint line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (gsize) (end - p));
        const char *stop = newline != NULL ? newline : end;
        gsize n = (gsize) (stop - p);
        if (n > 0 && stop[-1] == '\r')
            n--;
        if (!parse_line(ini, p, n, line, error))
            return NULL;
        p = newline != NULL ? newline + 1 : end;
    }
    return g_steal_pointer(&ini);
}

SimIni *
sim_ini_load(const char *path, GError **error)
{
    /* Not g_file_get_contents: it would read an endless device to the end of memory. */
    g_autofree char *text = g_malloc(SIM_INI_MAX_FILE_BYTES + 1);
    FILE *file = fopen(path, "rbe");
    gsize n_bytes = file != NULL ? fread(text, 1, SIM_INI_MAX_FILE_BYTES + 1, file) : 0;
    int code = file == NULL || ferror(file) ? errno : 0;
    if (file != NULL)
        fclose(file);
    if (code != 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: cannot be read: %s", path, g_strerror(code));
        return NULL;
    }
    if (n_bytes > SIM_INI_MAX_FILE_BYTES) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: longer than %d bytes", path, SIM_INI_MAX_FILE_BYTES);
        return NULL;
    }
    return sim_ini_parse(text, n_bytes, path, error);
}
