/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kmem-slots.h"
#include "kmem-writer.h"
#include "sim-error.h"

enum {
    FLUSH_BYTES = 1 << 16,
};

struct _ReplayWrite {
    FILE *file;
    char *path;
    GString *text;
    KmemSlots *slots;
    ReplayTable written; /* recorded pointer -> written pointer (low, high) */
    ReplayTable counted; /* cache index + 1, CPU -> what was written of its counters */
    gboolean has_header;
};

ReplayWrite *
replay_write_open(const char *path, GError **error)
{
    FILE *file = fopen(path, "w");
    ReplayWrite *write;

    if (!file) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    write = g_new0(ReplayWrite, 1);
    write->file = file;
    write->path = g_strdup(path);
    write->text = g_string_new(NULL);
    write->slots = kmem_slots_new();
    replay_table_init(&write->written, 2);
    replay_table_init(&write->counted, KMEM_N_PROBES);
    return write;
}

static guint64
new_pointer(ReplayWrite *write, const ReplayCache *cache, guint64 recorded, SlabId id)
{
    guint64 ptr = kmem_slots_take(write->slots, id, cache->geometry.size_bytes);
    guint32 *row = replay_table_add(&write->written, recorded);

    row[0] = (guint32) ptr;
    row[1] = (guint32) (ptr >> 32);
    return ptr;
}

/* 0 for an object that is from before the trace: it has no address in the model. */
static guint64
old_pointer(ReplayWrite *write, const ReplayCache *cache, guint64 recorded)
{
    guint32 *row = replay_table_find(&write->written, recorded);
    guint64 ptr;

    if (!row)
        return 0;
    ptr = row[0] | (guint64) row[1] << 32;
    kmem_slots_give(write->slots, ptr, cache->geometry.size_bytes);
    replay_table_remove(&write->written, row);
    return ptr;
}

/* The functions the model entered since the last time. */
static void
write_probes(ReplayWrite *write, const ReplayCache *cache, gint index, const KmemEvent *event)
{
    guint32 *before = replay_table_add(&write->counted, (guint64) index + 1);
    ReplayCounts counts = replay_counts(cache, 0);
    KmemEvent probe = {.op = KMEM_PROBE, .time_ns = event->time_ns, .cpu = event->cpu, .context = event->context};

    probe.cache = (KmemText){cache->name, strlen(cache->name)};
    for (guint i = 0; i < KMEM_N_PROBES; i++) {
        probe.probe = (KmemProbe) i;
        for (; before[i] < (guint32) counts.calls[i]; before[i]++)
            kmem_write_event(&probe, write->text);
    }
}

static void
flush(ReplayWrite *write, gsize more_than)
{
    if (write->text->len <= more_than)
        return;
    fwrite(write->text->str, 1, write->text->len, write->file);
    g_string_truncate(write->text, 0);
}

static gint
index_of(const Replay *replay, const KmemEvent *event)
{
    gint number = replay_names_find(replay->names, event);

    if (number < 0 || (guint) number >= replay->cache_of->len)
        return -1;
    return g_array_index(replay->cache_of, gint, number);
}

static void
write_alloc(ReplayWrite *write, const Replay *replay, const KmemEvent *event)
{
    const guint64 *recorded = event->op == KMEM_ALLOC ? &event->ptr : event->ptrs;
    guint n = event->op == KMEM_ALLOC ? 1 : event->n_shown;
    gint index = index_of(replay, event);
    const ReplayCache *cache = index < 0 ? NULL : g_ptr_array_index(replay->caches, index);
    guint64 ptrs[KMEM_BULK_SHOWN];
    KmemEvent out = *event;

    if (!cache)
        return;
    write_probes(write, cache, index, event);
    for (guint i = 0; i < n; i++) {
        const guint32 *object = replay_table_find(&replay->objects, recorded[i]);

        if (replay_table_find(&write->written, recorded[i])) /* freed unseen */
            old_pointer(write, cache, recorded[i]);
        ptrs[i] = new_pointer(write, cache, recorded[i], object[1]);
    }
    out.ptr = ptrs[0];
    out.ptrs = ptrs;
    out.n = n;
    out.cache = (KmemText){cache->name, strlen(cache->name)};
    kmem_write_event(&out, write->text);
}

/* The free itself is over, so its functions follow at once. */
static void
write_free(ReplayWrite *write, const Replay *replay, const KmemEvent *event)
{
    gint index = replay->last_free_cache;
    const ReplayCache *cache = index < 0 ? NULL : g_ptr_array_index(replay->caches, index);
    const guint64 *recorded = event->op == KMEM_FREE ? &event->ptr : event->ptrs;
    guint n = event->op == KMEM_FREE ? 1 : event->n_shown, n_known = 0;
    guint64 ptrs[KMEM_BULK_SHOWN];
    KmemEvent out = *event;

    if (!cache)
        return;
    for (guint i = 0; i < n; i++) {
        guint64 ptr = old_pointer(write, cache, recorded[i]);

        if (ptr)
            ptrs[n_known++] = ptr;
    }
    if (n_known) {
        out.ptr = ptrs[0];
        out.ptrs = ptrs;
        out.n = out.n_shown = n_known;
        out.cache = (KmemText){cache->name, strlen(cache->name)};
        kmem_write_event(&out, write->text);
    }
    write_probes(write, cache, index, event);
}

static void
write_header(ReplayWrite *write, const Replay *replay)
{
    if (!write->has_header)
        kmem_write_header(replay->topology->n_cpus, write->text);
    write->has_header = TRUE;
}

void
replay_write_part(ReplayWrite *write, const Replay *replay, const KmemEvent *event, gint index)
{
    write_header(write, replay);
    write_probes(write, g_ptr_array_index(replay->caches, index), index, event);
}

void
replay_write_event(ReplayWrite *write, const Replay *replay, const KmemEvent *event)
{
    write_header(write, replay);
    if (event->op == KMEM_ALLOC || event->op == KMEM_ALLOC_BULK)
        write_alloc(write, replay, event);
    else if (event->op == KMEM_FREE || event->op == KMEM_FREE_BULK)
        write_free(write, replay, event);
    else if (event->op == KMEM_LOST)
        kmem_write_event(event, write->text);
    flush(write, FLUSH_BYTES);
}

gboolean
replay_write_close(ReplayWrite *write, GError **error)
{
    gboolean is_written;

    flush(write, 0);
    is_written = !ferror(write->file);
    is_written &= fclose(write->file) == 0;
    if (!is_written)
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: cannot be written", write->path);
    g_free(write->path);
    g_string_free(write->text, TRUE);
    kmem_slots_free(write->slots);
    replay_table_clear(&write->written);
    replay_table_clear(&write->counted);
    g_free(write);
    return is_written;
}
