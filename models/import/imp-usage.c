/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory alone: "NAME 1404 MB 4.90%" of usage scripts, and the kernel's own list before it kills for lack of memory
 * (mm/slab_common.c dump_unreclaimable_slab()), "NAME 12KB 16KB": used and total. */
#include <string.h>

#include "imp-format.h"

static gboolean
is_header(const char *line)
{
    return strstr(line, "Unreclaimable slab info") != NULL;
}

/* "12KB" */
static gboolean
read_kb(const ImpWord *word, gint64 *ret_bytes)
{
    ImpWord digits = {.text = word->text, .length = word->length > 2 ? word->length - 2 : 0};

    if (digits.length == 0 || memcmp(word->text + digits.length, "KB", 2) != 0 ||
        !imp_word_number(&digits, ret_bytes) || *ret_bytes > G_MAXINT64 / 1024)
        return FALSE;
    *ret_bytes *= 1024;
    return TRUE;
}

static gint64
unit_bytes(const ImpWord *word)
{
    if (imp_word_is(word, "kB") || imp_word_is(word, "KB"))
        return 1024;
    if (imp_word_is(word, "MB"))
        return 1024 * 1024;
    return imp_word_is(word, "GB") ? 1024 * 1024 * 1024 : 0;
}

/* "4.90%" as a fraction. */
static gboolean
read_percent(const ImpWord *word, double *ret_frac)
{
    ImpWord digits = {.text = word->text, .length = word->length - 1};
    double half_step;

    return word->length > 1 && word->text[digits.length] == '%' && g_ascii_isdigit(word->text[digits.length - 1]) &&
           imp_word_size(&digits, ret_frac, &half_step) && (*ret_frac /= 100) <= 1;
}

/* Fills the two sums; `first` is where the name stands, behind a kernel time stamp or not. */
static gboolean
read_row(const ImpWords *words, guint *ret_first, gint64 *ret_bytes, gint64 *ret_in_use)
{
    guint n = words->n_words;
    gint64 number;
    double used;

    if (n < 3 || n > 6)
        return FALSE;
    if (n >= 4 && imp_word_number(&words->word[n - 3], &number) && unit_bytes(&words->word[n - 2]) > 0 &&
        read_percent(&words->word[n - 1], &used) && n == 4 && number < 1 << 30) {
        *ret_first = 0;
        *ret_bytes = number * unit_bytes(&words->word[n - 2]);
        *ret_in_use = (gint64) ((double) *ret_bytes * used);
        return TRUE;
    }
    *ret_first = n - 3;
    return read_kb(&words->word[n - 2], ret_in_use) && read_kb(&words->word[n - 1], ret_bytes);
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    gint64 bytes, in_use;
    guint first;

    return read_row(words, &first, &bytes, &in_use);
}

static void
read_usage(const ImpText *text, ImpDump *dump)
{
    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        gsize length = strlen(line->text);
        gint64 bytes, in_use;
        ImpWords words;
        ImpRow row;
        guint first;

        imp_words_split(line->text, &words);
        if (length > 4 && g_str_has_prefix(line->text, "* ") && g_str_has_suffix(line->text, " *")) {
            g_autofree char *title = g_strndup(line->text + 2, length - 4);

            imp_dump_begin_table(dump, g_strstrip(title));
        }
        if (!read_row(&words, &first, &bytes, &in_use))
            continue;
        row = imp_row_new(dump, &words.word[first], line->number);
        row.bytes = bytes;
        row.in_use_bytes = in_use;
        imp_dump_add(dump, &row);
    }
}

const ImpFormat imp_format_usage = {
    .title = "a list of memory by cache",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "NAME, memory and share or memory in use",
    .header_form = "the kernel's heading",
    .unknown = "object sizes, objects, slabs, orders and lists",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_usage,
};

static gboolean
is_trace_row(const char *line, const ImpWords *words)
{
    static const char *const events[] = {"kmalloc", "kmalloc_node",   "kmem_cache_alloc", "kmem_cache_alloc_node",
                                         "kfree",   "kmem_cache_free"};

    if (strstr(line, "call_site=") == NULL)
        return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(events); i++) {
        const char *at = strstr(line, events[i]);

        if (at != NULL && at[strlen(events[i])] == ':')
            return TRUE;
    }
    return FALSE;
}

const ImpFormat imp_format_trace = {
    .title = "a trace of kmem events",
    .shows = IMP_SHOWS_NOTHING,
    .row_form = "EVENT: call_site=... ptr=...",
    .unknown = "slabs and caches: it has events, for slubsim replay",
    .is_row = is_trace_row,
};
