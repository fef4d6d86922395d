/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-clean.h"

#include <string.h>

/* Removes `n` bytes at `at` of a NUL-terminated string. */
static void
remove_bytes(char *at, gsize n)
{
    memmove(at, at + n, strlen(at + n) + 1);
}

static gboolean
decode_hex(const char *line, gsize i, char *ret_byte)
{
    gint high, low;

    if (line[i + 1] == '\0' || g_ascii_islower(line[i + 1]) || g_ascii_islower(line[i + 2]))
        return FALSE;
    high = g_ascii_xdigit_value(line[i + 1]);
    low = g_ascii_xdigit_value(line[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0))
        return FALSE;
    *ret_byte = (char) (high * 16 + low);
    return TRUE;
}

static void
decode_printable(guint *damage, char *line)
{
    char *to = line;
    gboolean is_changed = FALSE;

    for (gsize i = 0; line[i] != '\0'; i++) {
        if (line[i] == '=' && decode_hex(line, i, to)) {
            i += 2;
            is_changed = TRUE;
        } else
            *to = line[i];
        to++;
    }
    *to = '\0';
    damage[IMP_DAMAGE_PRINTABLE] += is_changed;
}

static void
decode_entities(guint *damage, char *line)
{
    static const struct {
        const char *entity;
        char byte;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&nbsp;", ' '}, {"&amp;", '&'}};
    char *to = strchr(line, '&');
    gboolean is_changed = FALSE;

    for (const char *from = to; from != NULL && *from != '\0'; to++) {
        gsize length = 1;

        *to = *from;
        for (gsize i = 0; *from == '&' && i < G_N_ELEMENTS(entities); i++)
            if (g_str_has_prefix(from, entities[i].entity)) {
                *to = entities[i].byte;
                length = strlen(entities[i].entity);
                is_changed = TRUE;
                break;
            }
        from += length;
    }
    if (to != NULL)
        *to = '\0';
    damage[IMP_DAMAGE_ENTITY] += is_changed;
}

gsize
imp_clean_number_length(const char *line)
{
    gsize blanks = strspn(line, " "), digits = strspn(line + blanks, "0123456789"), end = blanks + digits;

    return digits > 0 && digits < 10 && (line[end] == ':' || line[end] == '\t') ? end + 1 : 0;
}

/* ESC [ ... letter */
static void
strip_escapes(guint *damage, char *line)
{
    char *to = line;
    const char *from = line;

    if (strchr(line, '\033') == NULL)
        return;
    while (*from != '\0') {
        if (*from != '\033') {
            *to++ = *from++;
            continue;
        }
        from++;
        if (*from == '[') {
            from++;
            from += strspn(from, "0123456789;?");
            from += *from != '\0';
        }
    }
    *to = '\0';
    damage[IMP_DAMAGE_ESCAPE]++;
}

/* "> > text", with blanks before and between; the blanks behind the last mark stay. */
static void
strip_quotes(guint *damage, char *line)
{
    gsize marks = 0;

    for (gsize i = strspn(line, " \t"); line[i] == '>'; i += strspn(line + i, " \t"))
        marks = ++i;
    if (marks == 0)
        return;
    remove_bytes(line, marks + (line[marks] == ' '));
    damage[IMP_DAMAGE_QUOTED]++;
}

/* "**a row**"; "* a heading *" stays. */
static void
strip_bold(guint *damage, char *line)
{
    gsize indent = strspn(line, " \t"), length = strlen(line);
    gboolean is_bold = FALSE;

    if (length >= indent + 2 && g_str_has_suffix(line, "**")) {
        line[length - 2] = '\0';
        is_bold = TRUE;
    }
    if (g_str_has_prefix(line + indent, "**") && line[indent + 2] != '*') {
        remove_bytes(line + indent, 2);
        is_bold = TRUE;
    }
    damage[IMP_DAMAGE_BOLD] += is_bold;
}

/* "[  123.456789] ", perhaps behind "<4>": the kernel's log. */
static gsize
kernel_stamp_length(const char *line)
{
    gsize i = 0, digits;

    if (line[i] == '<' && (digits = strspn(line + 1, "0123456789")) > 0 && line[1 + digits] == '>')
        i = digits + 2;
    if (line[i] != '[')
        return 0;
    i += 1 + strspn(line + i + 1, " ");
    digits = strspn(line + i, "0123456789");
    if (digits == 0 || line[i + digits] != '.')
        return 0;
    i += digits + 1;
    digits = strspn(line + i, "0123456789");
    i += digits;
    return (digits == 3 || digits == 6) && line[i] == ']' ? i + 1 + (line[i + 1] == ' ') : 0;
}

/* "Jan  2 10:11:12 host kernel: ", "2024-01-02T10:11:12.123456+01:00 host kernel: ": syslog. */
static gsize
syslog_stamp_length(const char *line)
{
    static const char *const forms[] = {"Aaa d0 00:00:00 ", "0000-00-00T00:00:00"};

    for (gsize f = 0; f < G_N_ELEMENTS(forms); f++) {
        const char *form = forms[f], *c = line, *colon;

        for (; *form != '\0' && *c != '\0'; form++, c++)
            if (*form == 'A'   ? !g_ascii_isupper(*c)
                : *form == 'a' ? !g_ascii_islower(*c)
                : *form == '0' ? !g_ascii_isdigit(*c)
                : *form == 'd' ? !g_ascii_isdigit(*c) && *c != ' '
                               : *form != *c)
                break;
        if (*form != '\0')
            continue;
        colon = strstr(c, ": ");
        return colon != NULL ? (gsize) (colon + 2 - line) : 0;
    }
    return 0;
}

static void
strip_stamps(guint *damage, char *line)
{
    gsize length = syslog_stamp_length(line), kernel;

    kernel = kernel_stamp_length(line + length);
    if (length + kernel == 0)
        return;
    remove_bytes(line, length + kernel);
    damage[IMP_DAMAGE_STAMP]++;
}

/* "| a | b |" of Markdown, and "a,b,c" without a blank of a spreadsheet: the marks become blanks. */
static void
part_cells(guint *damage, char *line)
{
    const char *first = line + strspn(line, " \t");
    gsize n_commas = 0;
    char mark = *first == '|' ? '|' : strchr(line, ';') != NULL ? ';' : ',';

    for (const char *c = line; *c != '\0'; c++)
        n_commas += *c == mark;
    if (n_commas < 5 || (mark != '|' && strpbrk(first, " \t") != NULL))
        return;
    for (char *c = line; *c != '\0'; c++)
        if (*c == mark || *c == '"')
            *c = ' ';
    damage[IMP_DAMAGE_CELLS]++;
}

/* What diff puts in front: the sign of a unified one, where its head was met, and "< " of a plain one (its "> " looks
 * like mail). */
static void
strip_diff(guint *damage, char *line, gboolean is_unified)
{
    if ((is_unified && line[0] != '\0' && strchr("+- ", line[0]) != NULL) || (line[0] == '<' && line[1] == ' ')) {
        remove_bytes(line, line[0] == '<' ? 2 : 1);
        damage[IMP_DAMAGE_DIFF]++;
    }
}

/* A row of a table, with tabs between its words, may end with empty fields: their tabs are kept. */
static void
strip_end(char *line)
{
    const char *tab = strchr(line + strspn(line, " \t"), '\t');
    gboolean is_table = tab != NULL && tab[strspn(tab, " \t\r")] != '\0';
    gsize length = strlen(line);

    while (length > 0 && g_ascii_isspace(line[length - 1]) && !(is_table && line[length - 1] == '\t'))
        length--;
    line[length] = '\0';
}

void
imp_clean_line(char *line, gsize length, guint marks, guint damage[IMP_N_DAMAGES])
{
    gsize n = 0;

    for (gsize i = 0; i < length; i++) {
        if (line[i] == '\0' && (marks & IMP_MARK_UTF16))
            continue;
        damage[IMP_DAMAGE_NUL] += line[i] == '\0';
        line[n++] = line[i] == '\0' ? ' ' : line[i];
    }
    line[n] = '\0';
    if (n > 0 && line[n - 1] == '\r')
        damage[IMP_DAMAGE_CRLF]++;
    strip_escapes(damage, line);
    if (marks & IMP_MARK_NUMBERED)
        remove_bytes(line, imp_clean_number_length(line));
    if (marks & IMP_MARK_PRINTABLE)
        decode_printable(damage, line);
    decode_entities(damage, line);
    /* No-break spaces, two bytes each. */
    for (char *c = strstr(line, "\302\240"); c != NULL; c = strstr(c, "\302\240"))
        c[0] = c[1] = ' ';
    strip_quotes(damage, line);
    strip_diff(damage, line, (marks & IMP_MARK_UNIFIED) != 0);
    strip_stamps(damage, line);
    strip_end(line);
    strip_bold(damage, line);
    strip_end(line);
    part_cells(damage, line);
}
