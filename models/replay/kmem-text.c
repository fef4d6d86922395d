/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of ftrace, trace-cmd and perf:
 *
 *     TASK-PID   [CPU] FLAGS TIME: EVENT: key=value ...        (FLAGS and TASK may be missing)
 *     TASK PID [CPU] TIME: kmem:EVENT: key=value ...
 *
 * Keys come and go with the release: node= (old _node events, again from 6.0), accounted= (6.1), name= of frees (5.16),
 * pointers with and without 0x, "(null)" with blanks before it, call sites as numbers or as symbol+offset [module]. */
#include <string.h>

#include "kmem-scan.h"
#include "slab-kmalloc.h"

/* Whether the n bytes from `text` on are the given literal. */
#define IS(text, n, literal) ((n) == sizeof(literal) - 1 && memcmp(text, literal, sizeof(literal) - 1) == 0)

static const char *
skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* The first "[digits] " of the line; task names may contain brackets too. */
static const char *
find_cpu(const char *p, const char *end, guint *ret_cpu)
{
    while ((p = memchr(p, '[', (gsize) (end - p)))) {
        guint64 cpu;
        const char *stop = kmem_scan_decimal(++p, &cpu);

        if (stop && stop[0] == ']' && stop[1] == ' ' && cpu < KMEM_MAX_CPUS) {
            *ret_cpu = (guint) cpu;
            return stop + 1;
        }
    }
    return NULL;
}

/* irqs-off, need-resched, hardirq/softirq, ...: the third letter tells what was interrupted. */
static KmemContext
context_of(const char *flags, gsize n)
{
    char c = n > 2 ? flags[2] : '.';

    return c == 's' ? KMEM_SOFTIRQ : c == 'h' || c == 'H' || c == 'z' || c == 'Z' ? KMEM_HARDIRQ : KMEM_TASK;
}

static gboolean
find_event(const char *name, gsize n, KmemEvent *event)
{
    gint probe;

    event->is_kmalloc = FALSE;
    if (IS(name, n, "kmem_cache_alloc") || IS(name, n, "kmem_cache_alloc_node")) {
        event->op = KMEM_ALLOC;
    } else if (IS(name, n, "kmem_cache_free")) {
        event->op = KMEM_FREE;
    } else if (IS(name, n, "kmalloc") || IS(name, n, "kmalloc_node")) {
        event->op = KMEM_ALLOC;
        event->is_kmalloc = TRUE;
    } else if (IS(name, n, "kfree")) {
        event->op = KMEM_FREE;
        event->is_kmalloc = TRUE;
    } else if (IS(name, n, "bulk_alloc") || IS(name, n, "kmem_cache_alloc_bulk")) {
        event->op = KMEM_ALLOC_BULK;
    } else if (IS(name, n, "bulk_free") || IS(name, n, "kmem_cache_free_bulk")) {
        event->op = KMEM_FREE_BULK;
    } else if ((probe = kmem_probe_find(name, n)) >= 0) {
        event->op = KMEM_PROBE;
        event->probe = (KmemProbe) probe;
    } else {
        return FALSE;
    }
    return TRUE;
}

/* "EVENT:" or "SYSTEM:EVENT:"; returns what follows, NULL for other events. */
static const char *
read_name(const char *p, const char *end, KmemEvent *event)
{
    const char *colon = memchr(p, ':', (gsize) (end - p)), *second;

    if (!colon)
        return NULL;
    if (find_event(p, (gsize) (colon - p), event))
        return colon + 1;
    second = memchr(colon + 1, ':', (gsize) (end - colon - 1));
    if (second && find_event(colon + 1, (gsize) (second - colon - 1), event))
        return second + 1;
    return NULL;
}

/* "(null)", "0x..." or bare digits. */
static const char *
read_pointer(const char *p, guint64 *ret_ptr)
{
    p = skip_blanks(p);
    if (p[0] == '(' && strncmp(p, "(null)", 6) == 0) {
        *ret_ptr = 0;
        return p + 6;
    }
    if (p[0] == '0' && p[1] == 'x')
        p += 2;
    return kmem_scan_hex(p, ret_ptr);
}

static guint
gfp_bits(const char *p, gsize n)
{
    const char *dma = memmem(p, n, "GFP_DMA", 7);

    return (memmem(p, n, "ACCOUNT", 7) ? SLAB_GFP_ACCOUNT : 0u) |
           (memmem(p, n, "RECLAIMABLE", 11) ? SLAB_GFP_RECLAIMABLE : 0u) |
           (dma && (dma + 7 == p + n || dma[7] != '3') ? SLAB_GFP_DMA : 0u);
}

/* {0x..,0x..,...}: the first `n`, what follows being leftovers; NULL when it is cut. */
static const char *
read_array(const char *p, const char *end, guint n, KmemEvent *event, guint64 *ptrs)
{
    if (*p != '{')
        return NULL;
    event->n_shown = 0;
    while ((*p == '{' || *p == ',') && event->n_shown < MIN(n, (guint) KMEM_BULK_SHOWN)) {
        p = read_pointer(p + 1, &ptrs[event->n_shown]);
        if (!p)
            return NULL;
        event->n_shown++;
    }
    p = memchr(p, '}', (gsize) (end - p));
    return p ? p + 1 : NULL;
}

typedef struct {
    gboolean has_ptr, has_array, has_returned;
    guint64 n, returned;
} Seen;

/* A number in `field`; FALSE when it is none or too large. */
static gboolean
read_size(const char *value, guint *field)
{
    guint64 number;

    if (!kmem_scan_decimal(value, &number) || number > G_MAXUINT)
        return FALSE;
    *field = (guint) number;
    return TRUE;
}

static gboolean
read_node(const char *value, gint *node)
{
    guint number;

    if (value[0] == '-')
        return TRUE;
    if (!read_size(value, &number) || number > G_MAXINT)
        return FALSE;
    *node = (gint) number;
    return TRUE;
}

/* One key=value. Returns the first byte after it, NULL when the value is damaged. Unknown keys are passed over. */
static const char *
read_field(const char *key, gsize n, const char *value, const char *end, KmemEvent *event, guint64 *ptrs, Seen *seen)
{
    const char *stop = memchr(value, ' ', (gsize) (end - value));

    if (!stop)
        stop = end;
    if (IS(key, n, "ptr")) {
        seen->has_ptr = TRUE;
        return read_pointer(value, &event->ptr);
    }
    if (IS(key, n, "call_site")) {
        event->site = (KmemText){value, (gsize) (stop - value)};
    } else if (IS(key, n, "bytes_req")) {
        return read_size(skip_blanks(value), &event->bytes_req) ? stop : NULL;
    } else if (IS(key, n, "bytes_alloc")) {
        return read_size(skip_blanks(value), &event->bytes_alloc) ? stop : NULL;
    } else if (IS(key, n, "gfp_flags")) {
        event->gfp = event->is_kmalloc ? gfp_bits(value, (gsize) (stop - value)) : 0;
    } else if (IS(key, n, "node")) {
        return read_node(value, &event->node) ? stop : NULL;
    } else if (IS(key, n, "name")) {
        gboolean is_quoted = value[0] == '"';
        gsize length = (gsize) (stop - value);

        if (is_quoted && (length < 2 || value[length - 1] != '"'))
            return NULL;
        event->cache = (KmemText){value + is_quoted, length - 2 * (gsize) is_quoted};
    } else if (IS(key, n, "n")) {
        return kmem_scan_decimal(value, &seen->n) ? stop : NULL;
    } else if (IS(key, n, "ret")) {
        seen->has_returned = TRUE;
        return kmem_scan_decimal(value, &seen->returned) ? stop : NULL;
    } else if (IS(key, n, "p")) {
        seen->has_array = TRUE;
        return read_array(value, end, (guint) MIN(seen->n, G_MAXINT), event, ptrs);
    }
    return stop;
}

static gboolean
read_fields(const char *p, const char *end, KmemEvent *event, guint64 *ptrs, Seen *seen)
{
    for (;;) {
        const char *key;

        p = skip_blanks(p);
        if (p >= end || *p == '\r')
            return TRUE;
        key = p;
        while (p < end && *p != '=' && *p != ' ')
            p++;
        if (p < end && *p == '=') { /* else "[module]", or a probe's "(function+0x0/0x990)" */
            p = read_field(key, (gsize) (p - key), p + 1, end, event, ptrs, seen);
            if (!p)
                return FALSE;
        }
    }
}

/* "CPU:2 [LOST 17 EVENTS]" (ftrace), "[17 EVENTS DROPPED]" (trace-cmd), "PERF_RECORD_LOST lost 17" (perf). */
static gboolean
read_lost(const char *line, const char *end, KmemEvent *event)
{
    gsize n = (gsize) (end - line);
    const char *lost = memmem(line, n, "LOST", 4), *count = NULL;

    event->op = KMEM_LOST;
    event->n_lost = 0;
    if (lost && memmem(lost, (gsize) (end - lost), "EVENTS", 6)) {
        count = lost + 4;
    } else if (memmem(line, n, "EVENTS DROPPED", 14)) {
        count = memchr(line, '[', n);
        count = count ? count + 1 : line;
    } else if (memmem(line, n, "PERF_RECORD_LOST", 16)) {
        count = memmem(line, n, "lost ", 5);
        count = count ? count + 5 : end;
    } else {
        return FALSE;
    }
    if (!kmem_scan_decimal(skip_blanks(count), &event->n_lost))
        event->n_lost = 0;
    return TRUE;
}

static KmemLine
judge(const Seen *seen, KmemEvent *event, const guint64 *ptrs)
{
    switch (event->op) {
    case KMEM_ALLOC:
    case KMEM_FREE:
        if (!seen->has_ptr)
            return KMEM_LINE_BAD;
        return event->ptr ? KMEM_LINE_EVENT : KMEM_LINE_NULL;
    case KMEM_ALLOC_BULK:
    case KMEM_FREE_BULK:
        if (!seen->has_array || seen->n > G_MAXINT)
            return KMEM_LINE_BAD;
        event->n = (guint) seen->n;
        event->ptrs = ptrs;
        return event->n_shown && !(seen->has_returned && seen->returned == 0) ? KMEM_LINE_EVENT : KMEM_LINE_NULL;
    case KMEM_PROBE:
        return event->cache.n_bytes ? KMEM_LINE_EVENT : KMEM_LINE_BAD;
    case KMEM_LOST:
        break;
    }
    return KMEM_LINE_EVENT;
}

KmemLine
kmem_scan_text(const char *line, const char *end, KmemEvent *ret_event, guint64 *ptrs)
{
    KmemEvent event = {.node = KMEM_NO_NODE};
    Seen seen = {0};
    const char *p = find_cpu(line, end, &event.cpu), *stop;
    KmemLine kind;

    if (!p) {
        if (!read_lost(line, end, &event))
            return KMEM_LINE_OTHER;
        *ret_event = event;
        return KMEM_LINE_EVENT;
    }
    p = skip_blanks(p);
    if (p < end && (guint) (guchar) *p - '0' > 9) {
        stop = memchr(p, ' ', (gsize) (end - p));
        if (!stop)
            return KMEM_LINE_OTHER;
        event.context = context_of(p, (gsize) (stop - p));
        p = skip_blanks(stop);
    }
    p = kmem_scan_time(p, &event.time_ns);
    if (!p || *p != ':')
        return KMEM_LINE_OTHER;
    p = read_name(skip_blanks(p + 1), end, &event);
    if (!p)
        return KMEM_LINE_OTHER;
    if (!read_fields(p, end, &event, ptrs, &seen))
        return KMEM_LINE_BAD;
    kind = judge(&seen, &event, ptrs);
    if (kind == KMEM_LINE_EVENT)
        *ret_event = event;
    return kind;
}
