/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-counted.h"

#include <math.h>
#include <string.h>

#include "sim-error.h"

typedef struct {
    char *cache;
    KmemProbe probe;
    guint64 calls;
} Row;

struct _ReplayCounted {
    GArray *rows; /* Row */
    guint64 hits[KMEM_N_PROBES], missed[KMEM_N_PROBES];
    gboolean has_function[KMEM_N_PROBES];
};

static void
row_clear(gpointer row)
{
    g_free(((Row *) row)->cache);
}

void
replay_counted_free(ReplayCounted *counted)
{
    if (!counted)
        return;
    g_array_unref(counted->rows);
    g_free(counted);
}

/* "hits=12833,missed=595"; a table without that detail has missed nothing. */
static void
read_total(ReplayCounted *counted, KmemProbe probe, const char *detail)
{
    unsigned long hits, missed;

    counted->has_function[probe] = TRUE;
    if (sscanf(detail, "hits=%lu,missed=%lu", &hits, &missed) == 2) {
        counted->hits[probe] += hits;
        counted->missed[probe] += missed;
    }
}

static gboolean
read_row(ReplayCounted *counted, char **fields)
{
    gint probe = kmem_probe_find(fields[0], strlen(fields[0]));
    Row row = {.probe = (KmemProbe) probe};

    if (!g_ascii_string_to_unsigned(fields[3], 10, 0, G_MAXINT64, &row.calls, NULL))
        return FALSE;
    if (probe < 0)
        return TRUE;
    if (g_str_equal(fields[1], "TOTAL")) {
        read_total(counted, (KmemProbe) probe, fields[2]);
        return TRUE;
    }
    row.cache = g_strdup(fields[1]);
    g_array_append_val(counted->rows, row);
    return TRUE;
}

ReplayCounted *
replay_counted_load(const char *path, GError **error)
{
    g_autoptr(ReplayCounted) counted = g_new0(ReplayCounted, 1);
    g_autoptr(GError) cause = NULL;
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    counted->rows = g_array_new(FALSE, FALSE, sizeof(Row));
    g_array_set_clear_func(counted->rows, row_clear);
    if (!g_file_get_contents(path, &text, NULL, &cause)) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
        return NULL;
    }
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 1; lines[0] && lines[i]; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);

        if (lines[i][0] == '\0')
            continue;
        if (g_strv_length(fields) < 4 || !read_row(counted, fields)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: not function, cache, detail, calls", path, i + 1);
            return NULL;
        }
    }
    return g_steal_pointer(&counted);
}

guint64
replay_counted_missed(const ReplayCounted *counted, KmemProbe probe)
{
    return counted->missed[probe];
}

gboolean
replay_counted_calls(const ReplayCounted *counted, const ReplayCatalog *catalog, const ReplayCache *cache,
                     KmemProbe probe, double *ret_calls)
{
    double calls = 0;

    if (!counted->has_function[probe])
        return FALSE;
    for (guint i = 0; i < counted->rows->len; i++) {
        const Row *row = &g_array_index(counted->rows, Row, i);

        if (row->probe == probe && (g_str_equal(row->cache, cache->name) ||
                                    (cache->row >= 0 && replay_catalog_row(catalog, row->cache) == cache->row)))
            calls += (double) row->calls;
    }
    if (cache->followed.calls[probe])
        calls *=
            (double) cache->traced.calls[probe] / (double) (cache->traced.calls[probe] + cache->followed.calls[probe]);
    if (counted->hits[probe])
        calls *= 1 + (double) counted->missed[probe] / (double) counted->hits[probe];
    *ret_calls = calls;
    return TRUE;
}

ReplaySpread
replay_spread(const Replay *replay, const ReplayCache *cache, KmemProbe probe)
{
    ReplaySpread spread = {.low = G_MAXDOUBLE, .high = 0};

    for (guint start = 0; start < replay->params.n_starts; start++) {
        double calls = (double) replay_counts(cache, start).calls[probe];

        spread.mean += calls / replay->params.n_starts;
        spread.low = MIN(spread.low, calls);
        spread.high = MAX(spread.high, calls);
    }
    return spread;
}

void
replay_pool_add(ReplayPool pools[KMEM_N_PROBES], const Replay *replay, const ReplayCounted *counted, double min_calls)
{
    for (guint i = 0; i < replay->caches->len; i++)
        for (guint probe = 0; probe < KMEM_N_PROBES; probe++) {
            const ReplayCache *cache = g_ptr_array_index(replay->caches, i);
            double calls;

            if (!replay_counted_calls(counted, replay->catalog, cache, (KmemProbe) probe, &calls) || calls < min_calls)
                continue;
            pools[probe].n_rows++;
            pools[probe].counted += calls;
            pools[probe].error += fabs(replay_spread(replay, cache, (KmemProbe) probe).mean - calls);
        }
}
