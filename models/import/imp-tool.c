/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slabinfo tool of the kernel tree, tools/mm/slabinfo.c (tools/vm before 6.3): its table of caches, in samples too
 * (-X), and its table of activity (-AD). Slabs are printed without those of the CPUs, which stand behind. */
#include <string.h>

#include "imp-format.h"

static gboolean
is_header(const char *line)
{
    return strstr(line, "Slabs/Part/Cpu") != NULL || strstr(line, "Slabcache Totals") != NULL;
}

/* "1072/0/4" */
static gboolean
read_triple(const ImpWord *word, gint64 numbers[3])
{
    const char *c = word->text, *end = word->text + word->length;

    for (guint i = 0; i < 3; i++) {
        ImpWord part = {.text = c, .length = 0};

        while (c < end && *c != '/')
            c++;
        part.length = (gsize) (c - part.text);
        if (!imp_word_number(&part, &numbers[i]))
            return FALSE;
        if (i < 2 && c++ == end)
            return FALSE;
    }
    return c == end;
}

static gboolean
is_row(const char *line, const ImpWords *words)
{
    gint64 number, triple[3];

    return words->n_words >= 9 && words->n_words <= 10 && imp_word_number(&words->word[1], &number) &&
           imp_word_number(&words->word[2], &number) && read_triple(&words->word[4], triple);
}

static void
apply_flags(ImpRow *row, const ImpWord *word)
{
    static const struct {
        char letter;
        guint flag;
    } letters[] = {
        {'d', SLAB_CACHE_DMA}, {'A', SLAB_HWCACHE_ALIGN},      {'P', SLAB_POISON},     {'a', SLAB_RECLAIM_ACCOUNT},
        {'Z', SLAB_RED_ZONE},  {'F', SLAB_CONSISTENCY_CHECKS}, {'U', SLAB_STORE_USER}, {'T', SLAB_TRACE},
    };

    row->knows_flags = TRUE;
    for (gsize c = 0; c < word->length; c++)
        for (gsize i = 0; i < G_N_ELEMENTS(letters); i++)
            row->flags |= word->text[c] == letters[i].letter ? letters[i].flag : 0;
}

/* In the part that is sorted by loss the column of space holds the loss, and most caches came before. `seen` holds the
 * names of this table. */
static void
add_row(ImpDump *dump, const ImpLine *line, const ImpWords *words, gboolean is_loss, GHashTable *seen)
{
    ImpRow row = imp_row_new(dump, &words->word[0], line->number);
    gint64 triple[3], order;
    double space, half_step;

    if (!g_hash_table_add(seen, (gpointer) row.name) && is_loss)
        return;
    if (!imp_word_size(&words->word[3], &space, &half_step) || space > 1e15 ||
        !imp_word_number(&words->word[5], &row.objects_per_slab) || !imp_word_number(&words->word[6], &order)) {
        imp_dump_bad_row(dump, line, "a cut row");
        return;
    }
    read_triple(&words->word[4], triple);
    imp_word_number(&words->word[1], &row.active_objects);
    imp_word_number(&words->word[2], &row.object_bytes);
    row.order = order;
    row.slabs = triple[0] + triple[2];
    row.partial_slabs = triple[1];
    row.cpu_slabs = triple[2];
    if (row.slabs < 1 << 30 && row.objects_per_slab < 1 << 20)
        row.total_objects = row.slabs * row.objects_per_slab;
    if (!is_loss && half_step == 0) {
        row.bytes = (gint64) space;
        if (row.slabs > 0 && row.bytes % row.slabs == 0)
            row.slab_bytes = row.bytes / row.slabs;
    }
    if (words->n_words == 10)
        apply_flags(&row, &words->word[9]);
    imp_dump_add(dump, &row);
}

/* Totals of a sample go into its title, so that samples can be compared. */
static void
take_total(ImpDump *dump, const char *line, guint *n_totals)
{
    const char *last = dump->tables->pdata[dump->tables->len - 1];
    g_autofree char *title = NULL;
    char **place = (char **) &dump->tables->pdata[dump->tables->len - 1];
    gsize length;

    if (!g_str_has_prefix(line, "Memory used: ") || ++*n_totals > 1)
        return;
    line += strlen("Memory used: ");
    length = strspn(line, "0123456789.KMG");
    title = g_strdup_printf("%s%smemory used %.*s", last, last[0] != '\0' ? ", " : "", (int) MIN(length, 32), line);
    g_free(*place);
    *place = g_steal_pointer(&title);
}

static void
read_tool(const ImpText *text, ImpDump *dump)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    gboolean is_loss = FALSE;
    guint n_totals = 0, n_objects = 0;

    imp_dump_begin_table(dump, "");
    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        ImpWords words;

        imp_words_split(line->text, &words);
        if (g_str_has_prefix(line->text, "Sample #")) {
            imp_dump_begin_table(dump, line->text);
            n_totals = n_objects = 0;
            g_hash_table_remove_all(seen);
        } else if (g_str_has_prefix(line->text, "Slabs sorted by "))
            is_loss = strstr(line->text, "loss") != NULL;
        else if (is_row(line->text, &words))
            add_row(dump, line, &words, is_loss, seen);
        take_total(dump, line->text, &n_totals);
        if (g_str_has_prefix(line->text, "# Objects ") && ++n_objects == 2)
            imp_dump_note(dump, IMP_NOTE_DAMAGE,
                          "line %u: the totals of %s are repeated: the paste is damaged, the first ones count",
                          line->number, (const char *) dump->tables->pdata[dump->tables->len - 1]);
    }
}

const ImpFormat imp_format_tool = {
    .title = "the slabinfo tool",
    .shows = IMP_SHOWS_CACHES,
    .row_form = "NAME OBJECTS SIZE SPACE SLABS/PART/CPU ...",
    .header_form = "the head of the slabinfo tool",
    .unknown = "the padded size of a slot, alignment, constructors, min_partial, cpu_partial, nodes, slabs of a lower "
               "order",
    .is_header = is_header,
    .is_row = is_row,
    .read = read_tool,
};

static gboolean
is_activity_header(const char *line)
{
    return strstr(line, "%Fast") != NULL && strstr(line, "Alloc") != NULL;
}

static gboolean
is_activity_row(const char *line, const ImpWords *words)
{
    gint64 number, fast_alloc, fast_free;

    return words->n_words == 6 && !imp_word_number(&words->word[0], &number) &&
           imp_word_number(&words->word[1], &number) && imp_word_number(&words->word[2], &number) &&
           imp_word_number(&words->word[3], &number) && imp_word_number(&words->word[4], &fast_alloc) &&
           imp_word_number(&words->word[5], &fast_free) && fast_alloc <= 100 && fast_free <= 100;
}

static void
read_activity(const ImpText *text, ImpDump *dump)
{
    for (guint i = 0; i < imp_text_n_lines(text); i++) {
        const ImpLine *line = imp_text_line(text, i);
        ImpWords words;
        ImpRow row;

        imp_words_split(line->text, &words);
        if (!is_activity_row(line->text, &words))
            continue;
        row = imp_row_new(dump, &words.word[0], line->number);
        imp_word_number(&words.word[1], &row.active_objects);
        imp_word_number(&words.word[2], &row.n_allocs);
        imp_word_number(&words.word[3], &row.n_frees);
        imp_word_number(&words.word[4], &row.fast_alloc_percent);
        imp_word_number(&words.word[5], &row.fast_free_percent);
        imp_dump_add(dump, &row);
    }
}

const ImpFormat imp_format_activity = {
    .title = "the slabinfo tool's activity table (-A)",
    .shows = IMP_SHOWS_CACHES,
    .needs_header = TRUE,
    .row_form = "NAME OBJECTS ALLOC FREE and two percentages",
    .header_form = "the head of the activity table",
    .unknown = "sizes, slabs and memory of the caches",
    .is_header = is_activity_header,
    .is_row = is_activity_row,
    .read = read_activity,
};
