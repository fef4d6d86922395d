/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_COUNTED_H
#define REPLAY_COUNTED_H

#include "replay.h"

/* How often the recorded kernel entered each slow-path function during the trace, by cache: a table with columns
 * function, cache, detail, calls. Calls that its probes missed (rows TOTAL: hits=H,missed=M) belong to no cache; each
 * cache gets its share by its hits. */
typedef struct _ReplayCounted ReplayCounted;

/* SIM_ERROR_IO, SIM_ERROR_PARSE with the line. */
ReplayCounted *replay_counted_load(const char *path, GError **error);
void replay_counted_free(ReplayCounted *counted);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplayCounted, replay_counted_free)

/* Calls for a cache, under any of the names its listing row has, missed ones added; where the kernel was followed
 * at first, the share of the rest by the trace's own slow-path events. FALSE when the table has no row of the function
 * at all. */
gboolean replay_counted_calls(const ReplayCounted *counted, const ReplayCatalog *catalog, const ReplayCache *cache,
                              KmemProbe probe, double *ret_calls);

/* Calls that no probe handler saw. */
guint64 replay_counted_missed(const ReplayCounted *counted, KmemProbe probe);

/* Errors of one function pooled over caches: the sum of |simulated - counted| over the sum of counted. */
typedef struct {
    guint n_rows;
    double counted, error;
} ReplayPool;

/* Adds the caches with at least `min_calls` counted calls; simulated is the mean over the starts. */
void replay_pool_add(ReplayPool pools[KMEM_N_PROBES], const Replay *replay, const ReplayCounted *counted,
                     double min_calls);

/* Mean, least and largest over the starts. */
typedef struct {
    double mean, low, high;
} ReplaySpread;

ReplaySpread replay_spread(const Replay *replay, const ReplayCache *cache, KmemProbe probe);

#endif
