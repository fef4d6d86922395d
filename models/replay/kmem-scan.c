/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and names of trace lines, and the tab-separated form. */
#include "kmem-scan.h"

#include <string.h>

static const char *const probe_names[KMEM_N_PROBES] = {
#define PROBE(name, text) [KMEM_PROBE_##name] = text,
    KMEM_PROBES(PROBE)
#undef PROBE
};

const char *
kmem_probe_name(KmemProbe probe)
{
    return probe_names[probe];
}

/* What the compiler may append to a function's name, as kprobe events spell it too. */
static gboolean
is_suffix(const char *text, gsize n_bytes)
{
    return n_bytes == 0 || text[0] == '.' || (n_bytes > 5 && memcmp(text, "_part_", 6) == 0) ||
           (n_bytes > 5 && memcmp(text, "_isra_", 6) == 0) || (n_bytes > 10 && memcmp(text, "_constprop_", 11) == 0);
}

gint
kmem_probe_find(const char *name, gsize n_bytes)
{
    static const char put_partials[] = "__put_partials";

    for (guint i = 0; i < KMEM_N_PROBES; i++) {
        gsize n = strlen(probe_names[i]);

        if (n_bytes >= n && memcmp(name, probe_names[i], n) == 0 && is_suffix(name + n, n_bytes - n))
            return (gint) i;
    }
    if (n_bytes == strlen(put_partials) && memcmp(name, put_partials, n_bytes) == 0)
        return KMEM_PROBE_UNFREEZE;
    return -1;
}

const char *
kmem_scan_hex(const char *text, guint64 *ret_value)
{
    guint64 value = 0;
    const char *p = text;

    for (;; p++) {
        guint digit = (guint) (guchar) *p - '0';

        if (digit > 9) {
            digit = ((guint) (guchar) *p | 0x20) - 'a';
            if (digit > 5)
                break;
            digit += 10;
        }
        value = value << 4 | digit;
    }
    if (p == text || p - text > 16)
        return NULL;
    *ret_value = value;
    return p;
}

const char *
kmem_scan_decimal(const char *text, guint64 *ret_value)
{
    guint64 value = 0;
    const char *p = text;

    for (; (guint) (guchar) *p - '0' <= 9; p++)
        value = value * 10 + ((guint) (guchar) *p - '0');
    if (p == text || p - text > 18)
        return NULL;
    *ret_value = value;
    return p;
}

const char *
kmem_scan_time(const char *text, gint64 *ret_time_ns)
{
    guint64 seconds, nanoseconds = 0;
    const char *p = kmem_scan_decimal(text, &seconds);
    guint n_digits = 0;

    if (!p)
        return NULL;
    if (*p != '.') {
        *ret_time_ns = (gint64) seconds;
        return p;
    }
    for (p++; (guint) (guchar) *p - '0' <= 9; p++)
        if (n_digits < 9) {
            nanoseconds = nanoseconds * 10 + ((guint) (guchar) *p - '0');
            n_digits++;
        }
    if (n_digits == 0 || seconds > (guint64) G_MAXINT64 / 1000000000 - 1)
        return NULL;
    for (; n_digits < 9; n_digits++)
        nanoseconds *= 10;
    *ret_time_ns = (gint64) (seconds * 1000000000 + nanoseconds);
    return p;
}

enum {
    FIELD_TIME,
    FIELD_CPU,
    FIELD_PID,
    FIELD_CONTEXT,
    FIELD_OP,
    FIELD_CACHE,
    FIELD_PTR,
    FIELD_BYTES_REQ,
    FIELD_BYTES_ALLOC,
    FIELD_NODE,
    N_FIELDS
};

/* FALSE when the line has too few fields. */
static gboolean
split(const char *line, const char *end, KmemText *fields)
{
    for (guint i = 0; i < N_FIELDS; i++) {
        const char *tab = memchr(line, '\t', (gsize) (end - line));

        if (!tab && i < N_FIELDS - 1)
            return FALSE;
        fields[i] = (KmemText){line, (gsize) ((tab ? tab : end) - line)};
        line = tab ? tab + 1 : end;
    }
    return TRUE;
}

static gboolean
field_number(KmemText field, guint64 max, guint64 *ret_value)
{
    const char *stop = field.n_bytes ? kmem_scan_decimal(field.text, ret_value) : NULL;

    return stop == field.text + field.n_bytes && *ret_value <= max;
}

/* Empty numbers of an allocation are unknown, not wrong. */
static gboolean
read_sizes(const KmemText *fields, KmemEvent *event)
{
    guint64 bytes_req = 0, bytes_alloc = 0, node = 0;
    gboolean has_node = fields[FIELD_NODE].n_bytes && fields[FIELD_NODE].text[0] != '-';

    if ((fields[FIELD_BYTES_REQ].n_bytes && !field_number(fields[FIELD_BYTES_REQ], G_MAXUINT, &bytes_req)) ||
        (fields[FIELD_BYTES_ALLOC].n_bytes && !field_number(fields[FIELD_BYTES_ALLOC], G_MAXUINT, &bytes_alloc)) ||
        (has_node && !field_number(fields[FIELD_NODE], G_MAXINT, &node)))
        return FALSE;
    event->bytes_req = (guint) bytes_req;
    event->bytes_alloc = (guint) bytes_alloc;
    event->node = has_node ? (gint) node : KMEM_NO_NODE;
    return TRUE;
}

static gboolean
read_op(KmemText field, KmemEvent *event)
{
    static const struct {
        char letter;
        KmemOp op;
    } ops[] = {{'A', KMEM_ALLOC}, {'F', KMEM_FREE}, {'B', KMEM_ALLOC_BULK}, {'G', KMEM_FREE_BULK}};
    gint probe;

    for (gsize i = 0; i < G_N_ELEMENTS(ops); i++)
        if (field.n_bytes == 1 && field.text[0] == ops[i].letter) {
            event->op = ops[i].op;
            return TRUE;
        }
    if (field.n_bytes < 2 || field.text[0] != '#')
        return FALSE;
    probe = kmem_probe_find(field.text + 1, field.n_bytes - 1);
    event->op = KMEM_PROBE;
    event->probe = (KmemProbe) probe;
    return probe >= 0;
}

KmemLine
kmem_scan_tsv(const char *line, const char *end, KmemEvent *ret_event)
{
    KmemEvent event = {.n = 1, .node = KMEM_NO_NODE};
    KmemText fields[N_FIELDS];
    guint64 cpu;

    if (line == end)
        return KMEM_LINE_OTHER;
    if (!split(line, end, fields) || kmem_scan_time(fields[FIELD_TIME].text, &event.time_ns) == NULL ||
        !field_number(fields[FIELD_CPU], KMEM_MAX_CPUS - 1, &cpu) || !read_op(fields[FIELD_OP], &event))
        return KMEM_LINE_BAD;
    event.cpu = (guint) cpu;
    event.context = fields[FIELD_CONTEXT].n_bytes == 0     ? KMEM_TASK
                    : fields[FIELD_CONTEXT].text[0] == 's' ? KMEM_SOFTIRQ
                    : fields[FIELD_CONTEXT].text[0] == 'h' ? KMEM_HARDIRQ
                                                           : KMEM_TASK;
    event.cache = fields[FIELD_CACHE];
    if (event.cache.n_bytes == 0 || (event.cache.n_bytes == 1 && event.cache.text[0] == '?'))
        event.cache.text = NULL;
    if (event.op != KMEM_PROBE &&
        (kmem_scan_hex(fields[FIELD_PTR].text, &event.ptr) != fields[FIELD_PTR].text + fields[FIELD_PTR].n_bytes ||
         !read_sizes(fields, &event)))
        return KMEM_LINE_BAD;
    *ret_event = event;
    return event.op != KMEM_PROBE && event.ptr == 0 ? KMEM_LINE_NULL : KMEM_LINE_EVENT;
}
