/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf kmem stat --slab: tables of call sites and of pointers, and a summary. Call sites, not caches: memory asked and
 * given, but not held. */
#include <string.h>

#include "imp-format.h"

static gboolean
is_header(const char *line)
{
    return strstr(line, "Total_alloc/Per") != NULL || strstr(line, "SUMMARY (SLAB allocator)") != NULL ||
           strstr(line, "SUMMARY (page allocator)") != NULL;
}

/* "62976/192" */
static gboolean
read_pair(const ImpWord *word, gint64 *ret_total, gint64 *ret_each)
{
    const char *slash = memchr(word->text, '/', word->length);
    gsize before = slash == NULL ? 0 : (gsize) (slash - word->text);
    ImpWord total = {.text = word->text, .length = before};
    ImpWord each = {.text = word->text + before + 1, .length = word->length - before - 1};

    return slash != NULL && imp_word_number(&total, ret_total) && imp_word_number(&each, ret_each);
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    gint64 total, each;

    return words->n_words >= 9 && imp_word_is(&words->word[1], "|") && read_pair(&words->word[2], &total, &each) &&
           imp_word_is(&words->word[3], "|") && read_pair(&words->word[4], &total, &each);
}

static void
read_perf(const ImpText *text, ImpDump *dump)
{
    gboolean is_summary = FALSE;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        ImpWords words;

        imp_words_split(line->text, &words);
        if (strstr(line->text, "Alloc Ptr") != NULL && dump->rows->len > 0)
            imp_dump_begin_table(dump, "pointers");
        is_summary |= g_str_has_prefix(line->text, "SUMMARY");
        if (is_row(line->text, &words)) {
            ImpRow row = imp_row_new(dump, &words.word[0], line->number);

            read_pair(&words.word[2], &row.bytes, &row.stride_bytes);
            read_pair(&words.word[4], &row.requested_bytes, &row.object_bytes);
            imp_word_number(&words.word[6], &row.n_allocs);
            imp_dump_add(dump, &row);
        } else if (is_summary && strchr(line->text, ':') != NULL)
            imp_dump_note(dump, IMP_NOTE_INFERRED, "summary: %s", line->text);
    }
}

const ImpFormat imp_format_perf = {
    .title = "perf kmem stat",
    .shows = IMP_SHOWS_CALL_SITES,
    .row_form = "SITE | TOTAL/EACH | TOTAL/EACH | ...",
    .header_form = "the head of perf kmem",
    .unknown = "caches, slabs and what is in use: the table names call sites",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_perf,
};
