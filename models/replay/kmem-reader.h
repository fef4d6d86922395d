/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_READER_H
#define KMEM_READER_H

#include "kmem-event.h"

/* Recorded traces as a stream of events. Read are: the ftrace `trace` file, `trace-cmd report`, `perf script`, and
 * the tab-separated form (time_s cpu pid ctx op cache ptr bytes_req bytes_alloc node); plain, gzip or zstd. Lines
 * with other events are passed over. Memory does not grow with the trace; nothing is allocated for a line. */
typedef struct _KmemReader KmemReader;

typedef struct {
    guint64 n_bytes, n_lines, n_events;
    guint64 n_other;              /* lines with events of other kinds, headers, empty lines */
    guint64 n_bad;                /* slab events that cannot be understood: cut or damaged */
    guint64 first_bad_line;       /* 0 = none */
    guint64 n_null;               /* frees of NULL, and bulk calls of nothing else, left out of the events */
    guint64 n_lost_marks, n_lost; /* marks of lost events, and how many they speak of */
    guint64 n_overwritten;        /* the header says that so many events were written over */
    guint64 n_hidden;             /* objects of bulk calls whose pointers are not shown */
    guint64 n_same_time;          /* events with the time of the event before: a coarse clock when it is most of them */
    guint64 n_hashed;             /* pointers that look hashed (%p): fewer than 33 bits among 16 digits */
    guint64 n_pointers;
} KmemReaderStats;

/* "-" is standard input. SIM_ERROR_IO. */
KmemReader *kmem_reader_open(const char *path, GError **error);
void kmem_reader_free(KmemReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmemReader, kmem_reader_free)

/* The next event, whose texts are valid until the next call. FALSE at the end, with *error set when the stream is
 * damaged there or cannot be read. */
gboolean kmem_reader_next(KmemReader *reader, KmemEvent *ret_event, GError **error);

/* Of what has been read so far; borrowed. */
const KmemReaderStats *kmem_reader_stats(const KmemReader *reader);

/* CPUs according to the trace's header (#P:n), 0 when it does not say. */
guint kmem_reader_header_cpus(const KmemReader *reader);

#endif
