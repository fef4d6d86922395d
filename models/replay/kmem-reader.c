/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kmem-reader.h"

#include <string.h>

#include "kmem-scan.h"
#include "kmem-stream.h"

enum {
    BUFFER_BYTES = 1 << 20, /* also the longest line that is understood */
};

struct _KmemReader {
    KmemStream *stream;
    char *buffer; /* [BUFFER_BYTES + 8]; zeros behind the end, so that short literals can be compared there */
    gsize at, end;
    GError *failure; /* of the stream; told when the lines before it are used up */
    gboolean is_at_end, is_tsv, is_skipping;
    guint header_cpus;
    gint64 last_time_ns;
    guint64 ptrs[KMEM_BULK_SHOWN];
    KmemReaderStats stats;
};

KmemReader *
kmem_reader_open(const char *path, GError **error)
{
    KmemStream *stream = kmem_stream_open(path, error);
    KmemReader *reader;

    if (!stream)
        return NULL;
    reader = g_new0(KmemReader, 1);
    reader->stream = stream;
    reader->buffer = g_malloc0(BUFFER_BYTES + 8);
    reader->last_time_ns = G_MININT64;
    return reader;
}

void
kmem_reader_free(KmemReader *reader)
{
    if (!reader)
        return;
    kmem_stream_free(reader->stream);
    g_clear_error(&reader->failure);
    g_free(reader->buffer);
    g_free(reader);
}

const KmemReaderStats *
kmem_reader_stats(const KmemReader *reader)
{
    return &reader->stats;
}

guint
kmem_reader_header_cpus(const KmemReader *reader)
{
    return reader->header_cpus;
}

/* More bytes behind the unfinished line. FALSE when there are none to come. */
static gboolean
fill(KmemReader *reader)
{
    gssize n;

    if (reader->is_at_end)
        return FALSE;
    memmove(reader->buffer, reader->buffer + reader->at, reader->end - reader->at);
    reader->end -= reader->at;
    reader->at = 0;
    n = kmem_stream_read(reader->stream, reader->buffer + reader->end, BUFFER_BYTES - reader->end, &reader->failure);
    if (n > 0) {
        reader->stats.n_bytes += (guint64) n;
        reader->end += (gsize) n;
        return TRUE;
    }
    reader->is_at_end = TRUE;
    if (reader->end == reader->at)
        return FALSE;
    reader->buffer[reader->end++] = '\n'; /* there is room: a full buffer is skipped before */
    return TRUE;
}

static void
note_bad(KmemReader *reader)
{
    reader->stats.n_bad++;
    if (!reader->stats.first_bad_line)
        reader->stats.first_bad_line = reader->stats.n_lines;
}

/* The next line without its end, which is at *ret_end. Lines that do not fit the buffer count as bad. */
static const char *
next_line(KmemReader *reader, const char **ret_end)
{
    gsize searched = 0;

    for (;;) {
        const char *line = reader->buffer + reader->at;
        const char *end = memchr(line + searched, '\n', reader->end - reader->at - searched);

        if (end) {
            reader->at = (gsize) (end + 1 - reader->buffer);
            searched = 0;
            if (reader->is_skipping) {
                reader->is_skipping = FALSE;
                continue;
            }
            reader->stats.n_lines++;
            *ret_end = end;
            return line;
        }
        searched = reader->end - reader->at;
        if (searched >= BUFFER_BYTES - 1) {
            if (!reader->is_skipping) {
                reader->stats.n_lines++;
                note_bad(reader);
            }
            reader->is_skipping = TRUE;
            reader->at = reader->end = 0;
            searched = 0;
        }
        if (!fill(reader))
            return NULL;
    }
}

/* "# entries-in-buffer/entries-written: 10/20   #P:4" */
static void
read_header(KmemReader *reader, const char *line, const char *end)
{
    const char *entries = memmem(line, (gsize) (end - line), "entries-written: ", 17);
    const char *cpus = memmem(line, (gsize) (end - line), "#P:", 3);
    guint64 kept, written, n_cpus;
    const char *p = entries ? kmem_scan_decimal(entries + 17, &kept) : NULL;

    if (p && *p == '/' && kmem_scan_decimal(p + 1, &written) && written > kept)
        reader->stats.n_overwritten += written - kept;
    if (cpus && kmem_scan_decimal(cpus + 3, &n_cpus) && n_cpus <= KMEM_MAX_CPUS)
        reader->header_cpus = (guint) n_cpus;
}

/* The tab-separated form has one line an object: the lines of one call follow each other. */
static void
join_bulk(KmemReader *reader, KmemEvent *event)
{
    const KmemEvent first = *event;

    event->ptrs = reader->ptrs;
    event->n = event->n_shown = 1;
    reader->ptrs[0] = event->ptr;
    /* Fill first: texts of `event` point into the buffer. */
    while (event->n < 32 && memchr(reader->buffer + reader->at, '\n', reader->end - reader->at)) {
        const char *line = reader->buffer + reader->at;
        const char *end = memchr(line, '\n', reader->end - reader->at);
        KmemEvent next;

        if (kmem_scan_tsv(line, end, &next) != KMEM_LINE_EVENT || next.op != first.op ||
            next.time_ns != first.time_ns || next.cpu != first.cpu || next.cache.n_bytes != first.cache.n_bytes ||
            (first.cache.text && (!next.cache.text || memcmp(next.cache.text, first.cache.text, first.cache.n_bytes))))
            return;
        reader->at = (gsize) (end + 1 - reader->buffer);
        reader->stats.n_lines++;
        reader->ptrs[event->n++] = next.ptr;
        event->n_shown = event->n;
    }
}

/* A NULL among the objects of a bulk call is no object. FALSE when it has no others. */
static gboolean
drop_null(KmemReader *reader, KmemEvent *event)
{
    guint n_kept = 0;

    for (guint i = 0; i < event->n_shown; i++)
        if (reader->ptrs[i])
            reader->ptrs[n_kept++] = reader->ptrs[i];
    event->n -= event->n_shown - n_kept;
    event->n_shown = n_kept;
    return n_kept > 0;
}

static gboolean
is_hashed(guint64 ptr)
{
    return ptr >> 32 == 0;
}

static void
note_event(KmemReader *reader, const KmemEvent *event)
{
    KmemReaderStats *stats = &reader->stats;

    if (event->op == KMEM_LOST) {
        stats->n_lost_marks++;
        stats->n_lost += event->n_lost;
        return;
    }
    stats->n_events++;
    stats->n_same_time += event->time_ns == reader->last_time_ns;
    reader->last_time_ns = event->time_ns;
    if (event->op == KMEM_ALLOC || event->op == KMEM_FREE) {
        stats->n_pointers++;
        stats->n_hashed += is_hashed(event->ptr);
    } else if (event->op != KMEM_PROBE) {
        stats->n_hidden += event->n - event->n_shown;
    }
}

static KmemLine
scan(KmemReader *reader, const char *line, const char *end, KmemEvent *event)
{
    if (G_UNLIKELY(line[0] == '#')) {
        read_header(reader, line, end);
        return KMEM_LINE_OTHER;
    }
    if (G_UNLIKELY(reader->stats.n_lines == 1 && g_str_has_prefix(line, "time_s\tcpu\tpid\tctx\top\tcache\tptr\t"))) {
        reader->is_tsv = TRUE;
        return KMEM_LINE_OTHER;
    }
    return reader->is_tsv ? kmem_scan_tsv(line, end, event) : kmem_scan_text(line, end, event, reader->ptrs);
}

gboolean
kmem_reader_next(KmemReader *reader, KmemEvent *ret_event, GError **error)
{
    const char *line, *end;
    gboolean is_bulk;

    for (;;) {
        /* A bulk call's lines are wanted whole: keep plenty of text in the buffer. */
        while (reader->is_tsv && !reader->is_at_end && reader->end - reader->at < 8192)
            fill(reader);
        line = next_line(reader, &end);
        if (!line)
            break;
        switch (scan(reader, line, end, ret_event)) {
        case KMEM_LINE_EVENT:
            is_bulk = ret_event->op == KMEM_ALLOC_BULK || ret_event->op == KMEM_FREE_BULK;
            if (is_bulk && reader->is_tsv)
                join_bulk(reader, ret_event);
            if (is_bulk && !drop_null(reader, ret_event)) {
                reader->stats.n_null++;
                break;
            }
            note_event(reader, ret_event);
            return TRUE;
        case KMEM_LINE_OTHER:
            reader->stats.n_other++;
            break;
        case KMEM_LINE_BAD:
            note_bad(reader);
            break;
        case KMEM_LINE_NULL:
            reader->stats.n_null++;
            break;
        }
    }
    if (reader->failure)
        g_propagate_error(error, g_steal_pointer(&reader->failure));
    return FALSE;
}
