/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_SCAN_H
#define KMEM_SCAN_H

#include "kmem-event.h"

/* One line to one event; for kmem-reader.c only. Lines are ended by '\n' at `end`, which belongs to the buffer: a scan
 * may look at it. */

typedef enum {
    KMEM_LINE_EVENT,
    KMEM_LINE_OTHER, /* nothing of the slab allocator */
    KMEM_LINE_BAD,   /* a slab event that is cut or damaged */
    KMEM_LINE_NULL,  /* a free of NULL, a failed allocation */
} KmemLine;

/* `ptrs` [KMEM_BULK_SHOWN] holds what event->ptrs shows. */
KmemLine kmem_scan_text(const char *line, const char *end, KmemEvent *ret_event, guint64 *ptrs);

/* The tab-separated form. A bulk call is one line an object: event->op says so, event->ptr is the object, n is 1. */
KmemLine kmem_scan_tsv(const char *line, const char *end, KmemEvent *ret_event);

/* 16 hexadecimal digits at most; returns the first byte after them, NULL without a digit or with too many. */
const char *kmem_scan_hex(const char *text, guint64 *ret_value);
/* Decimal digits; NULL without one or above 2^63. */
const char *kmem_scan_decimal(const char *text, guint64 *ret_value);
/* "12.345678" seconds, or a bare counter taken as nanoseconds; NULL when it is neither. */
const char *kmem_scan_time(const char *text, gint64 *ret_time_ns);

#endif
