/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_HIST_H
#define SIM_HIST_H

#include <glib.h>

/* Log-linear histogram of whole numbers >= 0, in whatever unit the caller records: 32 equal buckets an octave, exact
 * below 64, each bucket above at most 1/32 of its lower bound wide. It covers all of 0 .. G_MAXINT64 in one flat array
 * of 15 kB without allocation. Merging is exact: parts recorded apart and merged equal one recording of everything,
 * in any order.
 *
 * The struct is open so that recording can be inlined; read it through the functions. */
#define SIM_HIST_OCTAVE_BITS 5
#define SIM_HIST_N_BUCKETS ((64 - SIM_HIST_OCTAVE_BITS) << SIM_HIST_OCTAVE_BITS)

typedef struct {
    guint64 counts[SIM_HIST_N_BUCKETS];
    unsigned __int128 sum; /* exact: 64 bits overflow with two large values */
    guint64 count;
    gint64 min, max; /* G_MAXINT64 and -1 while empty */
} SimHist;

/* A non-empty bucket: it holds `count` values in lower .. upper, both included. */
typedef struct {
    gint64 lower, upper;
    guint64 count;
} SimHistBucket;

void sim_hist_init(SimHist *hist);

/* Adds what `from` holds to `hist`; the two may be the same. */
void sim_hist_merge(SimHist *hist, const SimHist *from);

guint64 sim_hist_count(const SimHist *hist);
double sim_hist_sum(const SimHist *hist);  /* exact up to 2^53, then the nearest double */
double sim_hist_mean(const SimHist *hist); /* not touched by the buckets; NaN when empty */
gint64 sim_hist_min(const SimHist *hist);  /* exact; -1 when empty */
gint64 sim_hist_max(const SimHist *hist);  /* exact; -1 when empty */

/* The quantile of a fraction in [0, 1] by nearest rank: with the values sorted, the one of rank ceil(fraction * count),
 * at least 1. It is a value that occurred, never one between two modes, but known to its bucket only: the answer is the
 * bucket's upper bound, or the maximum if that is smaller. So it is never below the true value, and above it by less
 * than 1/32. Fraction 0 gives the exact minimum, 1 the exact maximum. -1 when empty. */
gint64 sim_hist_quantile(const SimHist *hist, double fraction);

/* Steps through the non-empty buckets from low to high. `position` starts at 0 and is the iterator's own; FALSE, with
 * `ret_bucket` untouched, after the last bucket. */
gboolean sim_hist_next(const SimHist *hist, guint *position, SimHistBucket *ret_bucket);

/* The bucket of a value >= 0. The octave of values below 32 needs no case of its own: with no bit to drop, the index
 * is the value. */
static inline guint
sim__hist_index(gint64 value)
{
    guint dropped_bits = 63 - SIM_HIST_OCTAVE_BITS - __builtin_clzll((guint64) value | 1 << SIM_HIST_OCTAVE_BITS);
    return (dropped_bits << SIM_HIST_OCTAVE_BITS) + (guint) (value >> dropped_bits);
}

/* Counts one value `n` times, n > 0; a negative one is a programmer's error. */
static inline void
sim_hist_record_n(SimHist *hist, gint64 value, guint64 n)
{
    g_assert(value >= 0);
    hist->counts[sim__hist_index(value)] += n;
    hist->sum += (unsigned __int128) (guint64) value * n;
    hist->count += n;
    hist->min = MIN(hist->min, value);
    hist->max = MAX(hist->max, value);
}

static inline void
sim_hist_record(SimHist *hist, gint64 value)
{
    sim_hist_record_n(hist, value, 1);
}

#endif
