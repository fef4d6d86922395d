/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crash "kmem -s" and "kmem -S": CACHE OBJSIZE ALLOCATED TOTAL SLABS SSIZE NAME, before crash 7.2.4 with the name
 * second, followed under -S by the slabs of CPUs and nodes. */
#include <string.h>

#include "imp-format.h"

static gboolean
is_header(const char *line)
{
    return strstr(line, "OBJSIZE") != NULL && strstr(line, "SSIZE") != NULL;
}

static gboolean
is_address(const ImpWord *word)
{
    for (gsize i = 0; i < word->length; i++)
        if (!g_ascii_isxdigit(word->text[i]))
            return FALSE;
    return word->length == 8 || word->length == 16;
}

/* Where the five numbers begin: behind the address, or behind address and name. 0 = no row. */
static guint
first_number(const ImpWords *words)
{
    if (words->n_words != 7 || !is_address(&words->word[0]) || words->word[0].length == 0)
        return 0;
    for (guint first = 1; first <= 2; first++) {
        gint64 number;
        double bytes, half_step;
        guint n = 0;

        while (n < 4 && imp_word_number(&words->word[first + n], &number))
            n++;
        if (n == 4 && imp_word_size(&words->word[first + 4], &bytes, &half_step) &&
            g_ascii_isalpha(words->word[first + 4].text[words->word[first + 4].length - 1]))
            return first;
    }
    return 0;
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    return first_number(words) > 0;
}

static void
add_row(ImpDump *dump, const ImpLine *line, const ImpWords *words)
{
    guint first = first_number(words);
    ImpRow row = imp_row_new(dump, &words->word[first == 1 ? 6 : 1], line->number);
    double slab_bytes, half_step;

    imp_word_number(&words->word[first], &row.object_bytes);
    imp_word_number(&words->word[first + 1], &row.active_objects);
    imp_word_number(&words->word[first + 2], &row.total_objects);
    imp_word_number(&words->word[first + 3], &row.slabs);
    imp_word_size(&words->word[first + 4], &slab_bytes, &half_step);
    if (slab_bytes < 1 << 30)
        row.slab_bytes = (gint64) slab_bytes;
    if (row.slabs > 0 && row.total_objects % row.slabs == 0)
        row.objects_per_slab = row.total_objects / row.slabs;
    imp_dump_add(dump, &row);
}

typedef enum {
    PART_NONE,
    PART_CPU_SLAB,
    PART_CPU_LIST,
    PART_NODE_LIST,
} Part;

/* "CPU 1 SLAB:", "CPU 1 PARTIAL:", "NODE 0 PARTIAL:" and others, which begin something else. */
static gboolean
begins_part(const char *line, Part *part)
{
    gboolean is_cpu = g_str_has_prefix(line, "CPU "), is_node = g_str_has_prefix(line, "NODE ");

    if (!is_cpu && !is_node && !g_str_has_prefix(line, "KMEM_CACHE_NODE"))
        return FALSE;
    *part = PART_NONE;
    if (is_cpu && g_str_has_suffix(line, " SLAB:"))
        *part = PART_CPU_SLAB;
    else if (g_str_has_suffix(line, " PARTIAL:"))
        *part = is_cpu ? PART_CPU_LIST : PART_NODE_LIST;
    return TRUE;
}

static void
bump(gint64 *number, gint64 by)
{
    *number = MAX(*number, 0) + by;
}

/* SLAB MEMORY NODE TOTAL ALLOCATED FREE. Objects of a slab have a line each, which is shorter. */
static void
take_slab(ImpRow *row, Part part, const ImpWords *words)
{
    gint64 node, total, allocated, free_objects;

    if (words->n_words != 6 || !is_address(&words->word[0]) || !is_address(&words->word[1]) ||
        !imp_word_number(&words->word[2], &node) || !imp_word_number(&words->word[3], &total) ||
        !imp_word_number(&words->word[4], &allocated) || !imp_word_number(&words->word[5], &free_objects))
        return;
    if (row->objects_per_slab < 0)
        row->objects_per_slab = total;
    if (part == PART_NODE_LIST) {
        bump(&row->partial_slabs, 1);
        bump(&row->partial_active, allocated);
    } else if (part != PART_NONE) {
        bump(&row->cpu_slabs, 1);
        bump(&row->cpu_free_objects, free_objects);
        if (part == PART_CPU_LIST)
            bump(&row->cpu_list_slabs, 1);
    }
}

static void
read_crash(const ImpText *text, ImpDump *dump)
{
    Part part = PART_NONE;
    guint n_skipped = 0, n_complaints = 0;

    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        const char *start = line->text + strspn(line->text, " \t");
        ImpWords words;

        imp_words_split(start, &words);
        n_skipped += strstr(start, "...skipped") != NULL;
        n_complaints += g_str_has_prefix(start, "kmem: ");
        if (strstr(start, "[INVALID") != NULL)
            imp_dump_bad_row(dump, line, "crash could not read this cache");
        if (begins_part(start, &part))
            continue;
        if (is_row(start, &words)) {
            add_row(dump, line, &words);
            part = PART_NONE;
        } else if (dump->rows->len > 0)
            take_slab(&g_array_index(dump->rows, ImpRow, dump->rows->len - 1), part, &words);
    }
    if (n_complaints > 0)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "crash complained %s about what it read: its counts may be wrong",
                      n_complaints > 1 ? "several times" : "once");
    if (n_skipped > 0)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "%u places where slabs were skipped: the lists are not whole", n_skipped);
}

const ImpFormat imp_format_crash = {
    .title = "crash kmem -s",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "ADDRESS and OBJSIZE ALLOCATED TOTAL SLABS SSIZE with NAME",
    .header_form = "the head of crash kmem -s",
    .unknown =
        "the padded size of a slot, alignment, constructors, flags, min_partial, cpu_partial, CPUs and nodes that "
        "were not listed",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_crash,
};
