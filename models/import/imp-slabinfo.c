/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/slabinfo: mm/slab_common.c print_slabinfo_header() and cache_show() for 2.x; versions 1.0 and 1.1 are those
 * of 2.2 and 2.4 kernels, which had the old SLAB only. */
#include <string.h>

#include "imp-format.h"

#define N_NUMBERS 5u     /* active_objs num_objs objsize objperslab pagesperslab */
#define N_FULL_WORDS 16u /* with ": tunables a b c : slabdata a b c" */

static gboolean
is_header(const char *line)
{
    return strstr(line, "slabinfo - version") != NULL || strstr(line, "<active_objs>") != NULL;
}

/* How many numbers follow the name. */
static guint
count_numbers(const ImpWords *words)
{
    gint64 number;
    guint n = 0;

    while (n + 1 < MIN(words->n_words, IMP_MAX_WORDS) && imp_word_number(&words->word[n + 1], &number))
        n++;
    return n;
}

static gboolean
is_name(const ImpWord *word)
{
    gint64 number;

    return !imp_word_number(word, &number) && !imp_word_is(word, ":") && !imp_word_is(word, "tunables") &&
           !imp_word_is(word, "slabdata") && word->text[0] != '#' && word->text[0] != '<';
}

/* Pages a power of two, and a slab that is mostly filled: tells a bare row from other tables of five numbers. */
static gboolean
is_geometry(const ImpWords *words)
{
    gint64 size, objects, pages;

    return imp_word_number(&words->word[3], &size) && imp_word_number(&words->word[4], &objects) &&
           imp_word_number(&words->word[5], &pages) && pages > 0 && (pages & (pages - 1)) == 0 && size > 0 &&
           objects > 0 && size <= pages * 65536 / objects && size * 2 > pages * 4096 / objects;
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    guint n = count_numbers(words);

    if (!is_name(&words->word[0]))
        return FALSE;
    if (words->n_words > n + 1 && n + 2 < IMP_MAX_WORDS && imp_word_is(&words->word[n + 1], ":"))
        return (n == N_NUMBERS || n == N_NUMBERS - 1) &&
               (words->n_words < n + 3 || imp_word_is(&words->word[n + 2], "tunables"));
    return n == N_NUMBERS && words->n_words == n + 1 && is_geometry(words);
}

/* A row that mail wrapped, and a next line that can only be its rest. */
static gboolean
goes_on(const char *line, const char *next)
{
    ImpWords words, more;
    gint64 number;

    imp_words_split(line, &words);
    imp_words_split(next, &more);
    if (words.n_words == 0 || more.n_words == 0 || words.n_words >= N_FULL_WORDS || !is_name(&words.word[0]) ||
        words.n_words > count_numbers(&words) + N_FULL_WORDS - N_NUMBERS)
        return FALSE;
    if (more.word[0].text[0] == ':' && more.word[0].length == 1)
        return words.n_words > N_NUMBERS - 1;
    if (imp_word_is(&more.word[0], "tunables") || imp_word_is(&more.word[0], "slabdata"))
        return imp_word_is(&words.word[words.n_words - 1], ":");
    return imp_word_number(&more.word[0], &number) && words.n_words != N_NUMBERS + 1 &&
           (words.n_words == 1 || count_numbers(&words) > 0);
}

/* "4147038 4147038" run together: the slots are known from the slabs, and what stands before them is in use. */
static gboolean
unglue(const ImpWords *words, gint64 numbers[N_NUMBERS], gint64 slots)
{
    g_autofree char *tail = g_strdup_printf("%" G_GINT64_FORMAT, slots);
    const ImpWord *glued = &words->word[1];
    gsize n_tail = strlen(tail);
    ImpWord head = {.text = glued->text, .length = glued->length > n_tail ? glued->length - n_tail : 0};

    if (head.length == 0 || memcmp(glued->text + head.length, tail, n_tail) != 0 ||
        !imp_word_number(&head, &numbers[0]))
        return FALSE;
    numbers[1] = slots;
    return numbers[0] <= slots;
}

/* The slabdata group's num_slabs, or -1. */
static gint64
read_slabdata(const ImpWords *words)
{
    gint64 n_slabs;

    for (guint i = 1; i + 2 < MIN(words->n_words, IMP_MAX_WORDS); i++)
        if (imp_word_is(&words->word[i], "slabdata") && imp_word_number(&words->word[i + 2], &n_slabs))
            return n_slabs;
    return -1;
}

static gboolean
has_limits(const ImpWords *words)
{
    gint64 limit;

    for (guint i = 1; i + 1 < MIN(words->n_words, IMP_MAX_WORDS); i++)
        if (imp_word_is(&words->word[i], "tunables"))
            return imp_word_number(&words->word[i + 1], &limit) && limit > 0;
    return FALSE;
}

/* The numbers in front of the tunables; `n_slabs` helps where two of them ran together. NULL, or what is wrong. */
static const char *
read_numbers(ImpDump *dump, const ImpWords *words, gint64 n_slabs, gint64 numbers[N_NUMBERS])
{
    guint n = count_numbers(words);

    if (n < N_NUMBERS - 1)
        return "a cut row: fewer than five numbers";
    if (n == N_NUMBERS - 1) {
        for (guint i = 2; i < N_NUMBERS; i++)
            imp_word_number(&words->word[i], &numbers[i]);
        if (n_slabs < 0 || numbers[3] > 65536 || !unglue(words, numbers, n_slabs * numbers[3]))
            return "a cut row, or numbers that ran together: four numbers";
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%.*s: two columns had run together, parted where num_objs must begin",
                      (int) words->word[0].length, words->word[0].text);
    } else
        for (guint i = 0; i < N_NUMBERS; i++)
            imp_word_number(&words->word[i + 1], &numbers[i]);
    if (numbers[2] == 0 || numbers[3] == 0 || numbers[4] == 0 || (numbers[4] & (numbers[4] - 1)) != 0)
        return "object size or objects 0, or pages no power of two";
    return NULL;
}

static void
add_row(ImpDump *dump, const ImpLine *line, const ImpWords *words)
{
    ImpRow row = imp_row_new(dump, &words->word[0], line->number);
    gint64 numbers[N_NUMBERS], n_slabs = read_slabdata(words);
    const char *fault = read_numbers(dump, words, n_slabs, numbers);

    if (fault != NULL) {
        imp_dump_bad_row(dump, line, fault);
        return;
    }
    dump->is_old_slab |= has_limits(words);
    row.active_objects = numbers[0];
    row.total_objects = numbers[1];
    row.stride_bytes = numbers[2];
    row.objects_per_slab = numbers[3];
    row.order = (gint64) g_bit_storage((gulong) numbers[4]) - 1;
    row.slabs = n_slabs >= 0 ? n_slabs : (numbers[1] + numbers[3] - 1) / numbers[3];
    if (n_slabs < 0 && !imp_dump_has_note(dump, "slabdata"))
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "rows without slabdata columns: the number of slabs is slots / objects");
    imp_dump_add(dump, &row);
}

/* 2.4: name, active, total, size, active slabs, slabs, pages of a slab; 2.2 ends after the total. */
static void
add_first_version_row(ImpDump *dump, const ImpLine *line, const ImpWords *words)
{
    ImpRow row = imp_row_new(dump, &words->word[0], line->number);
    guint n = count_numbers(words);
    gint64 numbers[6] = {0};

    if (n != 2 && n < 6) {
        imp_dump_bad_row(dump, line, "a cut row of version 1");
        return;
    }
    for (guint i = 0; i < MIN(n, 6); i++)
        imp_word_number(&words->word[i + 1], &numbers[i]);
    row.active_objects = numbers[0];
    row.total_objects = numbers[1];
    if (n >= 6) {
        row.stride_bytes = numbers[2];
        row.slabs = numbers[4];
        if (numbers[5] > 0 && (numbers[5] & (numbers[5] - 1)) == 0)
            row.order = (gint64) g_bit_storage((gulong) numbers[5]) - 1;
        if (numbers[4] > 0)
            row.objects_per_slab = numbers[1] / numbers[4];
    }
    imp_dump_add(dump, &row);
}

/* A heading between stars, "* Before *", begins a table; so does a second version line. */
static gboolean
begin_table(ImpDump *dump, const char *line, gboolean has_version)
{
    gsize length = strlen(line);

    if (length > 4 && g_str_has_prefix(line, "* ") && g_str_has_suffix(line, " *")) {
        g_autofree char *title = g_strndup(line + 2, length - 4);

        imp_dump_begin_table(dump, g_strstrip(title));
        return TRUE;
    }
    if (g_str_has_prefix(line, "slabinfo - version") && dump->rows->len > 0 && has_version)
        imp_dump_begin_table(dump, "");
    return FALSE;
}

static const char *
without_path(const char *line)
{
    const char *colon = strstr(line, "slabinfo:");

    /* grep with a file name: "/proc/slabinfo:kmalloc-64 ..." */
    return colon != NULL && !g_str_has_prefix(line, "slabinfo - ") && strcspn(line, " ") > (gsize) (colon - line)
               ? colon + strlen("slabinfo:")
               : line;
}

/* Whether a line was meant as a row, so that not reading it is worth a word. */
static gboolean
looks_meant(const char *line, const ImpWords *words)
{
    return words->n_words > 2 && is_name(&words->word[0]) &&
           (count_numbers(words) >= 2 || strstr(line, " tunables ") != NULL);
}

static const char *const column_names[N_NUMBERS] = {"active_objs", "num_objs", "objsize", "objperslab", "pagesperslab"};

/* Where a header puts the five numbers: place[i] is the word of column i. FALSE for a line that is no header. */
static gboolean
read_header(const ImpWords *words, guint place[N_NUMBERS])
{
    guint found[N_NUMBERS] = {0}, first = words->n_words > 0 && imp_word_is(&words->word[0], "#") ? 1 : 0;

    for (guint i = first; i < MIN(words->n_words, IMP_MAX_WORDS); i++)
        for (guint column = 0; column < N_NUMBERS; column++) {
            ImpWord word = words->word[i];

            if (word.length > 2 && word.text[0] == '<' && word.text[word.length - 1] == '>') {
                word.text++;
                word.length -= 2;
            }
            if (found[column] == 0 && imp_word_is(&word, column_names[column]))
                found[column] = i - first;
        }
    for (guint column = 0; column < N_NUMBERS; column++)
        if (found[column] == 0 || found[column] > N_NUMBERS)
            return FALSE;
    memcpy(place, found, sizeof found);
    return TRUE;
}

/* The kernel's own order, whatever the header's. */
static void
reorder(ImpWords *words, const guint place[N_NUMBERS])
{
    ImpWord numbers[N_NUMBERS];

    if (count_numbers(words) != N_NUMBERS)
        return;
    for (guint i = 0; i < N_NUMBERS; i++)
        numbers[i] = words->word[place[i]];
    memcpy(&words->word[1], numbers, sizeof numbers);
}

/* "xfs inode 32 32 1024 32 8 : tunables": the kernel never forbade blanks in names. */
static void
join_name(ImpWords *words)
{
    guint colon = 0, n_numbers = 0, n_extra;
    gint64 number;

    while (colon < MIN(words->n_words, IMP_MAX_WORDS) && !imp_word_is(&words->word[colon], ":"))
        colon++;
    if (colon <= N_NUMBERS + 1 || colon + 1 >= MIN(words->n_words, IMP_MAX_WORDS) ||
        !imp_word_is(&words->word[colon + 1], "tunables") || imp_word_number(&words->word[0], &number) ||
        imp_word_number(&words->word[1], &number))
        return;
    while (n_numbers < N_NUMBERS && imp_word_number(&words->word[colon - 1 - n_numbers], &number))
        n_numbers++;
    if (n_numbers < N_NUMBERS)
        return;
    n_extra = colon - N_NUMBERS - 1;
    words->word[0].length = (gsize) (words->word[n_extra].text + words->word[n_extra].length - words->word[0].text);
    memmove(&words->word[1], &words->word[1 + n_extra], (IMP_MAX_WORDS - 1 - n_extra) * sizeof(ImpWord));
    words->n_words -= n_extra;
}

static void
read_slabinfo(const ImpText *text, ImpDump *dump)
{
    guint place[N_NUMBERS] = {1, 2, 3, 4, 5};
    gboolean is_first_version = FALSE, has_version = FALSE;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        const char *start = without_path(line->text + strspn(line->text, " \t"));
        g_autoptr(GString) whole = NULL;
        ImpWords words;

        imp_words_split(start, &words);
        if (read_header(&words, place) || start[0] == '#' || start[0] == '<' || start[0] == '\0' ||
            begin_table(dump, start, has_version))
            continue;
        if (g_str_has_prefix(start, "slabinfo - version: ")) {
            is_first_version = start[strlen("slabinfo - version: ")] == '1';
            dump->is_old_slab |= is_first_version;
            has_version = TRUE;
            continue;
        }
        whole = g_string_new(start);
        for (; i + 1 < imp_text_n_lines(text) && goes_on(whole->str, imp_text_line(text, i + 1)->text); i++) {
            g_string_append_printf(whole, " %s", imp_text_line(text, i + 1)->text);
            if (!imp_dump_has_note(dump, "wrapped rows"))
                imp_dump_note(dump, IMP_NOTE_DAMAGE, "wrapped rows were joined again");
        }
        imp_words_split(whole->str, &words);
        join_name(&words);
        reorder(&words, place);
        if (is_first_version && count_numbers(&words) >= 2)
            add_first_version_row(dump, line, &words);
        else if (is_row(whole->str, &words))
            add_row(dump, line, &words);
        else if (looks_meant(whole->str, &words))
            imp_dump_bad_row(dump, line, "not name and five numbers of a slab");
    }
}

const ImpFormat imp_format_slabinfo = {
    .title = "/proc/slabinfo",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "NAME and five numbers",
    .header_form = "the header of slabinfo",
    .unknown =
        "nodes and their lists, min_partial, cpu_partial, object sizes without padding, alignment, constructors, "
        "flags, names of merged caches, what CPUs hold (counted as in use)",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_slabinfo,
};
