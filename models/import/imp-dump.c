/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-dump.h"

#include <string.h>

#include "slab-kmalloc.h"

#define MAX_NAME_BYTES 128u
#define MAX_NAMES_BYTES 4096u
#define MAX_NAMED_BAD_ROWS 5u

static void
note_clear(gpointer data)
{
    g_free(((ImpNote *) data)->text);
}

static void
row_clear(gpointer data)
{
    g_free(((ImpRow *) data)->stats);
}

ImpDump *
imp_dump_new(void)
{
    ImpDump *dump = g_new0(ImpDump, 1);

    dump->names = g_string_chunk_new(4096);
    dump->rows = g_array_new(FALSE, FALSE, sizeof(ImpRow));
    g_array_set_clear_func(dump->rows, row_clear);
    dump->tables = g_ptr_array_new_with_free_func(g_free);
    dump->notes = g_array_new(FALSE, FALSE, sizeof(ImpNote));
    g_array_set_clear_func(dump->notes, note_clear);
    dump->mem_total_kb = dump->slab_kb = dump->reclaimable_kb = dump->unreclaimable_kb = -1;
    return dump;
}

void
imp_dump_free(ImpDump *dump)
{
    if (dump == NULL)
        return;
    g_free(dump->why);
    g_free(dump->fault);
    g_string_chunk_free(dump->names);
    g_array_unref(dump->rows);
    g_ptr_array_unref(dump->tables);
    g_array_unref(dump->notes);
    g_free(dump);
}

/* What goes into reports and .caches files has neither control characters nor broken UTF-8. Caller frees. */
static char *
printable(const char *text, gsize length)
{
    char *valid = g_utf8_make_valid(text, (gssize) length);

    for (char *c = valid; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c))
            *c = '?';
    return valid;
}

static const char *
printable_name(ImpDump *dump, const ImpWord *name)
{
    g_autofree char *valid = printable(name->text, MIN(name->length, MAX_NAME_BYTES));

    return g_string_chunk_insert_const(dump->names, g_strdelimit(valid, " ", '?')[0] != '\0' ? valid : "?");
}

const char *
imp_dump_keep_names(ImpDump *dump, const char *names)
{
    g_autofree char *valid = printable(names, MIN(strlen(names), MAX_NAMES_BYTES));

    return g_string_chunk_insert(dump->names, valid);
}

ImpRow
imp_row_new(ImpDump *dump, const ImpWord *name, guint line)
{
    return (ImpRow){
        .name = printable_name(dump, name),
        .table = dump->tables->len > 0 ? dump->tables->len - 1 : 0,
        .line = line,
        .active_objects = -1,
        .total_objects = -1,
        .slabs = -1,
        .object_bytes = -1,
        .stride_bytes = -1,
        .stride_low_bytes = -1,
        .stride_high_bytes = -1,
        .objects_per_slab = -1,
        .order = -1,
        .slab_bytes = -1,
        .bytes = -1,
        .in_use_bytes = -1,
        .requested_bytes = -1,
        .partial_slabs = -1,
        .partial_active = -1,
        .cpu_slabs = -1,
        .cpu_list_slabs = -1,
        .cpu_list_longest = -1,
        .cpu_free_objects = -1,
        .align_bytes = -1,
        .usersize_bytes = -1,
        .min_partial = -1,
        .cpu_partial = -1,
        .sheaf_capacity = -1,
        .n_aliases = -1,
        .n_allocs = -1,
        .n_frees = -1,
        .fast_alloc_percent = -1,
        .fast_free_percent = -1,
    };
}

/* So that sums over all rows stay within 64 bits, whatever the text says. */
static gboolean
is_credible(const ImpRow *row)
{
    const gint64 largest_bytes = G_GINT64_CONSTANT(1) << 50, largest_count = G_GINT64_CONSTANT(1) << 40;
    gint64 bytes;

    if (row->order > 20 || MAX(row->stride_bytes, row->object_bytes) > 1 << 30 || row->objects_per_slab > 1 << 20 ||
        MAX(row->bytes, row->in_use_bytes) > largest_bytes || row->slab_bytes > largest_bytes ||
        MAX(row->active_objects, row->total_objects) > largest_count || row->slabs > largest_count ||
        MAX(row->partial_slabs, MAX(row->cpu_slabs, row->cpu_list_slabs)) > largest_count)
        return FALSE;
    bytes = imp_row_bytes(row, 65536);
    return bytes <= largest_bytes && (bytes >= 0 || row->slabs < 0 || imp_row_slab_bytes(row, 65536) < 0);
}

static void
count_bad_row(ImpDump *dump, guint line, const char *why)
{
    dump->n_bad_rows++;
    if (dump->fault == NULL)
        dump->fault = g_strdup_printf("%u: %s", line, why);
}

gboolean
imp_dump_add(ImpDump *dump, ImpRow *row)
{
    if (dump->rows->len >= IMP_MAX_ROWS || !is_credible(row)) {
        if (dump->rows->len >= IMP_MAX_ROWS)
            dump->n_dropped_rows++;
        else {
            count_bad_row(dump, row->line, "numbers beyond any machine");
            if (dump->n_bad_rows <= MAX_NAMED_BAD_ROWS)
                imp_dump_note(dump, IMP_NOTE_DAMAGE, "%s: numbers beyond any machine, left out", row->name);
        }
        g_clear_pointer(&row->stats, g_free);
        return FALSE;
    }
    if (dump->tables->len == 0)
        g_ptr_array_add(dump->tables, g_strdup(""));
    g_array_append_val(dump->rows, *row);
    row->stats = NULL;
    return TRUE;
}

void
imp_dump_begin_table(ImpDump *dump, const char *title)
{
    g_autofree char *valid = printable(title, MIN(strlen(title), MAX_NAME_BYTES));
    guint last = dump->tables->len;
    gboolean is_last_empty =
        last > 0 && (dump->rows->len == 0 || g_array_index(dump->rows, ImpRow, dump->rows->len - 1).table != last - 1);

    if (last == IMP_MAX_TABLES && !is_last_empty)
        return;
    if (is_last_empty)
        g_ptr_array_set_size(dump->tables, (gint) last - 1);
    g_ptr_array_add(dump->tables, g_steal_pointer(&valid));
}

void
imp_dump_bad_row(ImpDump *dump, const ImpLine *line, const char *why)
{
    count_bad_row(dump, line->number, why);
    if (dump->n_bad_rows <= MAX_NAMED_BAD_ROWS) {
        g_autofree char *start = g_strndup(line->text, 40);

        imp_dump_note(dump, IMP_NOTE_DAMAGE, "line %u not read, %s: \"%s%s\"", line->number, why, g_strchug(start),
                      strlen(line->text) > 40 ? "..." : "");
    }
}

void
imp_dump_note(ImpDump *dump, ImpNoteKind kind, const char *format, ...)
{
    ImpNote note = {.kind = kind};
    g_autofree char *text = NULL;
    va_list arguments;

    if (dump->notes->len >= IMP_MAX_NOTES) {
        dump->n_dropped_notes++;
        return;
    }
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    note.text = printable(text, MIN(strlen(text), MAX_NAMES_BYTES));
    g_array_append_val(dump->notes, note);
}

gboolean
imp_dump_has_note(const ImpDump *dump, const char *part)
{
    for (guint i = 0; i < dump->notes->len; i++)
        if (strstr(g_array_index(dump->notes, ImpNote, i).text, part) != NULL)
            return TRUE;
    return FALSE;
}

gint64
imp_row_slab_bytes(const ImpRow *row, guint page_size_bytes)
{
    if (row->slab_bytes >= 0)
        return row->slab_bytes;
    return row->order >= 0 ? (gint64) page_size_bytes << row->order : -1;
}

gint64
imp_row_bytes(const ImpRow *row, guint page_size_bytes)
{
    gint64 slab_bytes = imp_row_slab_bytes(row, page_size_bytes);

    if (row->bytes >= 0)
        return row->bytes;
    if (slab_bytes < 0 || row->slabs < 0 || (slab_bytes > 0 && row->slabs > G_MAXINT64 / 4 / slab_bytes))
        return -1;
    return row->slabs * slab_bytes;
}

GPtrArray *
imp_dump_table(const ImpDump *dump, guint table)
{
    GPtrArray *rows = g_ptr_array_new();

    for (guint i = 0; i < dump->rows->len; i++) {
        ImpRow *row = &g_array_index(dump->rows, ImpRow, i);

        if (row->table == table)
            g_ptr_array_add(rows, row);
    }
    return rows;
}

gint64
imp_kmalloc_bytes(const char *name)
{
    const char *dash = strrchr(name, '-');
    char *end;
    guint64 number;

    if (dash == NULL || !g_ascii_isdigit(dash[1]) ||
        !(slab_kmalloc_is_name(name) || g_str_has_prefix(name, "kmalloc_dma-")))
        return 0;
    number = g_ascii_strtoull(dash + 1, &end, 10);
    if (*end == 'k' || *end == 'M') {
        number *= *end == 'k' ? 1024 : 1024 * 1024;
        end++;
    }
    return *end == '\0' && number <= 1u << 30 ? (gint64) number : 0;
}
