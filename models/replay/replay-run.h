/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "kmem-reader.h"
#include "replay-counted.h"

/* A replay from a file: what lies beside it, the first pass, the machine, and the pass itself. */

typedef enum {
    REPLAY_FREE,   /* slabs from the model from the first event on */
    REPLAY_WARM,   /* the kernel's slabs are followed for a fraction of the time, then free */
    REPLAY_GUIDED, /* each step is predicted, compared, and then the kernel is followed */
} ReplayMode;

typedef struct {
    const char *trace_path; /* "-" = standard input: no first pass, so call sites stay without a cache's name */
    ReplayMode mode;
    double warm_fraction;
    guint n_starts, n_copies;
    guint64 seed;
    guint kernel;                           /* SLAB_KERNEL, 0 = the recorded one */
    guint n_cpus, n_nodes;                  /* of the replayed machine, 0 = as recorded */
    const char *listing_path, *counts_path; /* NULL = beside the trace */
    const char *const *sets;                /* NULL-terminated "cache.key=value"; NULL = none */
    const char *const *boot;                /* NULL-terminated "slub_min_order=3"; NULL = none */
    gboolean ignores_files_beside;
    struct _ReplayWrite *write; /* borrowed: the replay as a trace; NULL = not wanted */
    /* Called for every event after it was replayed; may be NULL. */
    void (*on_event)(Replay *replay, const KmemEvent *event, void *data);
    void *data;
} ReplayRequest;

typedef struct {
    Replay *replay;
    ReplayCatalog *catalog;
    ReplayNames names;
    ReplayCounted *counted; /* NULL without counts */
    char *listing_path, *counts_path;
    guint recorded_kernel, recorded_cpus, recorded_nodes;
    gint64 first_time_ns, last_time_ns; /* of the first pass */
    GPtrArray *notes;                   /* char *: assumptions and doubts, for the reader of the numbers */
    KmemReaderStats stats;
    GError *damage; /* the trace ends in damage: the numbers are those up to there */
} ReplayRun;

/* NULL when nothing could be replayed: SIM_ERROR_IO, PARSE, RANGE, MODEL, UNKNOWN_KEY. A trace without a single slab
 * event is SIM_ERROR_PARSE. */
ReplayRun *replay_run(const ReplayRequest *request, GError **error);
void replay_run_free(ReplayRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplayRun, replay_run_free)

#endif
