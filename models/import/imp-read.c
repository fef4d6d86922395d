/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-read.h"

#include <string.h>

#include "imp-format.h"
#include "imp-tree.h"

/* A header says more than a row that happens to look so. */
#define HEADER_WEIGHT 4u

static const ImpFormat *const formats[] = {
#define IMP_FORMAT(name) &imp_format_##name,
#include "imp-format-list.h"
#undef IMP_FORMAT
};

typedef struct {
    guint n_rows, n_headers;
} Evidence;

static guint
evidence_weight(const Evidence *evidence)
{
    return evidence->n_rows + HEADER_WEIGHT * evidence->n_headers;
}

static void
gather_evidence(const ImpText *text, Evidence evidence[G_N_ELEMENTS(formats)])
{
    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const char *line = imp_text_line(text, i)->text;
        ImpWords words;

        if (line[0] == '\0')
            continue;
        imp_words_split(line, &words);
        for (gsize f = 0; f < G_N_ELEMENTS(formats); f++) {
            evidence[f].n_headers += formats[f]->is_header != NULL && formats[f]->is_header(line);
            evidence[f].n_rows += words.n_words > 0 && formats[f]->is_row(line, &words);
        }
    }
}

/* Which format it is. Other formats with rows of their own are named: their part of the text is not read. */
static const ImpFormat *
sniff(const ImpText *text, ImpDump *dump)
{
    Evidence evidence[G_N_ELEMENTS(formats)] = {0};
    gsize best = 0;

    gather_evidence(text, evidence);
    for (gsize f = 0; f < G_N_ELEMENTS(formats); f++)
        if (formats[f]->needs_header && evidence[f].n_headers == 0)
            evidence[f].n_rows = 0;
    for (gsize f = 1; f < G_N_ELEMENTS(formats); f++)
        if (evidence_weight(&evidence[f]) > evidence_weight(&evidence[best]))
            best = f;
    if (evidence[best].n_rows == 0 && evidence[best].n_headers == 0)
        return NULL;
    dump->format = formats[best]->title;
    dump->shows = formats[best]->shows;
    dump->unknown = formats[best]->unknown;
    /* Rows of slabinfo 1.x are known by their header only. */
    if (evidence[best].n_rows == 0)
        dump->why = g_strdup(formats[best]->header_form);
    else if (evidence[best].n_headers == 0)
        dump->why = g_strdup_printf("%u lines of the form %s", evidence[best].n_rows, formats[best]->row_form);
    else
        dump->why = g_strdup_printf("%u lines of the form %s, and %s", evidence[best].n_rows, formats[best]->row_form,
                                    formats[best]->header_form);
    for (gsize f = 0; f < G_N_ELEMENTS(formats); f++)
        if (f != best && evidence[f].n_headers > 0 && evidence[f].n_rows > 0)
            imp_dump_note(dump, IMP_NOTE_DAMAGE, "the text also holds what looks like %s: that part is not read",
                          formats[f]->title);
    return formats[best];
}

static gboolean
is_of_whole_text(guint damage)
{
    return damage == IMP_DAMAGE_NO_END || damage == IMP_DAMAGE_CUT_TEXT || damage == IMP_DAMAGE_NUMBERED ||
           damage == IMP_DAMAGE_UTF16;
}

static void
note_damage(const ImpText *text, ImpDump *dump)
{
    for (guint damage = 0; damage < IMP_N_DAMAGES; damage++) {
        guint n = imp_text_damage(text, damage);

        if (n == 1 && is_of_whole_text(damage))
            imp_dump_note(dump, IMP_NOTE_DAMAGE, "%s", imp_damage_name(damage));
        else if (n > 0)
            imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u %s", n, imp_damage_name(damage));
    }
}

/* The number behind a whole word, "Slab: 199948 kB" or "Slab 692296 kB"; -1 when there is none. */
static gint64
number_behind(const char *line, const char *word)
{
    for (const char *at = strstr(line, word); at != NULL; at = strstr(at + 1, word)) {
        const char *after = at + strlen(word);
        ImpWord number;
        gint64 value;

        if ((at > line && g_ascii_isalnum(at[-1])) || (*after != ':' && *after != ' '))
            continue;
        after += strspn(after, ": \t");
        number = (ImpWord){.text = after, .length = strcspn(after, " \t);")};
        if (number.length > 0 && after[number.length - 1] == ',')
            number.length--;
        if (imp_word_number(&number, &value))
            return value;
    }
    return -1;
}

void
imp_read_meminfo(const ImpText *text, ImpDump *dump)
{
    const struct {
        const char *word;
        gint64 *kb;
    } totals[] = {
        {"MemTotal", &dump->mem_total_kb},
        {"Slab", &dump->slab_kb},
        {"SReclaimable", &dump->reclaimable_kb},
        {"SUnreclaim", &dump->unreclaimable_kb},
    };

    for (guint i = 0; i < imp_text_n_lines(text); i++)
        for (gsize t = 0; t < G_N_ELEMENTS(totals); t++)
            if (*totals[t].kb < 0)
                *totals[t].kb = number_behind(imp_text_line(text, i)->text, totals[t].word);
}

static gboolean
check_rows(const ImpDump *dump, const char *path, GError **error)
{
    if (dump->rows->len > 0 || dump->shows == IMP_SHOWS_NOTHING)
        return TRUE;
    if (dump->n_refused > 0)
        g_set_error(
            error, SIM_ERROR, SIM_ERROR_PARSE,
            "%s: no data: all %u files were refused to whoever made this listing of %s; it must be made as root", path,
            dump->n_refused, dump->format);
    else if (dump->fault != NULL)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%s; no row of this text, which looks like %s, could be read",
                    path, dump->fault, dump->format);
    else
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: no data: looks like %s (%s), but no row could be read",
                    path, dump->format, dump->why);
    return FALSE;
}

/* TRUE when it cannot tell: the text is neither empty nor a complaint about the file that was to be read. */
static gboolean
explain_no_data(const ImpText *text, const char *path, GError **error)
{
    gboolean is_empty = TRUE;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        const char *file = strstr(line->text, "/proc/slabinfo");

        is_empty &= line->text[0] == '\0';
        if (file != NULL && strchr(file, ':') != NULL) {
            g_set_error(
                error, SIM_ERROR, SIM_ERROR_PARSE,
                "%s:%u: no data: a complaint about /proc/slabinfo instead of its text; mostly it must be read as "
                "root",
                path, line->number);
            return FALSE;
        }
    }
    if (is_empty)
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: no data: the text is empty", path);
    return !is_empty;
}

ImpDump *
imp_read_text(const ImpText *text, const char *path, GError **error)
{
    g_autoptr(ImpDump) dump = imp_dump_new();
    const ImpFormat *format = sniff(text, dump);

    if (format == NULL) {
        if (!explain_no_data(text, path, error))
            return NULL;
        g_set_error(
            error, SIM_ERROR, SIM_ERROR_PARSE,
            "%s: no line looks like /proc/slabinfo, /sys/kernel/slab, slabtop, the slabinfo tool, crash kmem -s "
            "or perf kmem",
            path);
        return NULL;
    }
    note_damage(text, dump);
    imp_read_meminfo(text, dump);
    if (format->read != NULL)
        format->read(text, dump);
    if (dump->n_bad_rows > 0)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u lines in all could not be read", dump->n_bad_rows);
    if (dump->n_dropped_rows > 0)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u caches above the limit of %u were left out", dump->n_dropped_rows,
                      IMP_MAX_ROWS);
    return check_rows(dump, path, error) ? g_steal_pointer(&dump) : NULL;
}

ImpDump *
imp_read_path(const char *path, GError **error)
{
    g_autoptr(ImpText) text = NULL;

    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        g_autoptr(ImpDump) dump = imp_dump_new();

        return imp_tree_read(path, dump, error) && check_rows(dump, path, error) ? g_steal_pointer(&dump) : NULL;
    }
    text = imp_text_load(path, error);
    return text == NULL ? NULL : imp_read_text(text, path, error);
}
