/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slabtop of procps and its rewrites: OBJS ACTIVE USE OBJ-SIZE SLABS OBJ/SLAB CACHE-SIZE NAME. Sizes are rounded to
 * hundredths of KiB; the size of a cache is exact, hence the size of a slab is. */
#include <string.h>

#include "imp-format.h"
#include "slab-math.h"

#define N_WORDS 8u

static gboolean
is_header(const char *line)
{
    return strstr(line, "OBJ/SLAB") != NULL || strstr(line, "Active / Total Slabs") != NULL;
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    gint64 number;

    return words->n_words >= N_WORDS - 1 && words->n_words <= N_WORDS && imp_word_number(&words->word[0], &number) &&
           imp_word_number(&words->word[1], &number) && words->word[2].text[words->word[2].length - 1] == '%' &&
           words->word[3].text[words->word[3].length - 1] == 'K' && imp_word_number(&words->word[4], &number) &&
           imp_word_number(&words->word[5], &number);
}

/* "405648K", the same without its unit, and "10.7M" of procps 4. */
static gboolean
read_cache_bytes(const ImpWord *word, double *ret_bytes, double *ret_half_step)
{
    double bytes, half_step;

    if (!imp_word_size(word, &bytes, &half_step) || bytes > 1e15)
        return FALSE;
    if (g_ascii_isdigit(word->text[word->length - 1]))
        bytes *= 1024;
    *ret_bytes = bytes;
    *ret_half_step = half_step;
    return TRUE;
}

/* The strides that round to what is shown and fill the slab with that many objects: multiples of 8. `kmalloc` is the
 * size the name promises, 0 = none. */
static void
find_stride(ImpRow *row, double shown, double half_step, gint64 kmalloc)
{
    gint64 first = ((gint64) (shown - half_step) + 7) & ~(gint64) 7;

    for (gint64 stride = MAX(first, 8); (double) stride <= shown + half_step; stride += 8) {
        if (row->slab_bytes > 0 && row->slab_bytes / stride != row->objects_per_slab)
            continue;
        if (row->stride_low_bytes < 0)
            row->stride_low_bytes = stride;
        row->stride_high_bytes = stride;
    }
    if (kmalloc >= row->stride_low_bytes && kmalloc <= row->stride_high_bytes && kmalloc > 0)
        row->stride_low_bytes = row->stride_high_bytes = kmalloc;
    row->stride_bytes = row->stride_high_bytes;
}

/* A slab is a power of two of at least 4 KiB. Some rewrites print objects times size instead of slabs: then the next
 * such size above. */
static gint64
find_slab_bytes(ImpDump *dump, double cache_bytes, double half_step, gint64 slabs)
{
    gint64 low, exact, slab = 4096;

    if (slabs <= 0 || cache_bytes <= 0)
        return -1;
    exact = (gint64) (cache_bytes / (double) slabs);
    low = (gint64) ((cache_bytes - half_step) / (double) slabs);
    while (slab < low && slab < G_GINT64_CONSTANT(1) << 40)
        slab *= 2;
    if ((double) slab * (double) slabs > cache_bytes + half_step && !imp_dump_has_note(dump, "CACHE SIZE"))
        imp_dump_note(
            dump, IMP_NOTE_DAMAGE,
            "CACHE SIZE is not slabs times the size of a slab, so this slabtop counts objects: slabs taken as "
            "the next power of two");
    return exact * 2 > slab ? slab : -1;
}

static void
add_row(ImpDump *dump, const ImpLine *line, const ImpWords *words)
{
    ImpRow row;
    double cache_bytes, cache_half_step, shown, half_step;

    if (words->n_words < N_WORDS || !read_cache_bytes(&words->word[6], &cache_bytes, &cache_half_step) ||
        !imp_word_size(&words->word[3], &shown, &half_step) || shown > 1 << 30) {
        imp_dump_bad_row(dump, line, "a cut row");
        return;
    }
    row = imp_row_new(dump, &words->word[7], line->number);
    imp_word_number(&words->word[0], &row.total_objects);
    imp_word_number(&words->word[1], &row.active_objects);
    imp_word_number(&words->word[4], &row.slabs);
    imp_word_number(&words->word[5], &row.objects_per_slab);
    row.slab_bytes = find_slab_bytes(dump, cache_bytes, cache_half_step, row.slabs);
    find_stride(&row, shown, half_step, imp_kmalloc_bytes(row.name));
    imp_dump_add(dump, &row);
}

/* "Active / Total Slabs (% used) : 11594275 / 11594275 (100.0%)": the second number. */
static void
take_total(const char *line, const char *what, gint64 *total)
{
    const char *slash;
    ImpWord number;

    if (strstr(line, what) == NULL || (slash = strrchr(line, '/')) == NULL)
        return;
    slash += 1 + strspn(slash + 1, " \t");
    number = (ImpWord){.text = slash, .length = strspn(slash, "0123456789")};
    imp_word_number(&number, total);
}

static void
check_last_name(ImpDump *dump)
{
    const ImpRow *last;

    if (dump->rows->len == 0)
        return;
    last = &g_array_index(dump->rows, ImpRow, dump->rows->len - 1);
    if (g_str_has_prefix("kmalloc-", last->name))
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "line %u: the name of the last row is cut short: \"%s\"", last->line,
                      last->name);
}

static void
read_slabtop(const ImpText *text, ImpDump *dump)
{
    gint64 total_slabs = -1, slabs = 0;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        ImpWords words;

        imp_words_split(line->text, &words);
        if (strstr(line->text, "Active / Total Objects") != NULL && dump->rows->len > 0)
            imp_dump_begin_table(dump, "");
        take_total(line->text, "Active / Total Slabs", &total_slabs);
        if (is_row(line->text, &words))
            add_row(dump, line, &words);
    }
    for (guint i = 0; i < dump->rows->len; i++)
        slabs += g_array_index(dump->rows, ImpRow, i).slabs;
    if (total_slabs > 0 && slabs != total_slabs && dump->tables->len == 1)
        imp_dump_note(dump, IMP_NOTE_CONFLICT,
                      "the rows hold %" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT " slabs of the head (%.1f %%)%s",
                      slabs, total_slabs, 100.0 * (double) slabs / (double) total_slabs,
                      slabs < total_slabs ? ": caches are missing" : "");
    check_last_name(dump);
}

const ImpFormat imp_format_slabtop = {
    .title = "slabtop",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "OBJS ACTIVE USE% SIZE SLABS OBJ/SLAB SIZE NAME",
    .header_form = "the head of slabtop",
    .unknown =
        "nodes and their lists, min_partial, cpu_partial, exact object sizes (rounded to hundredths of KiB), "
        "alignment, constructors, flags, names of merged caches, what CPUs hold (counted as in use), whether the "
        "allocator is SLUB",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_slabtop,
};
