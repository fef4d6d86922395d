/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-hist.h"

#include <math.h>
#include <string.h>

void
sim_hist_init(SimHist *hist)
{
    memset(hist, 0, sizeof *hist);
    hist->min = G_MAXINT64;
    hist->max = -1;
}

void
sim_hist_merge(SimHist *hist, const SimHist *from)
{
    for (guint i = 0; i < SIM_HIST_N_BUCKETS; i++)
        hist->counts[i] += from->counts[i];
    hist->sum += from->sum;
    hist->count += from->count;
    hist->min = MIN(hist->min, from->min);
    hist->max = MAX(hist->max, from->max);
}

guint64
sim_hist_count(const SimHist *hist)
{
    return hist->count;
}

double
sim_hist_sum(const SimHist *hist)
{
    return (double) hist->sum;
}

double
sim_hist_mean(const SimHist *hist)
{
    return hist->count > 0 ? (double) hist->sum / (double) hist->count : NAN;
}

gint64
sim_hist_min(const SimHist *hist)
{
    return hist->count > 0 ? hist->min : -1;
}

gint64
sim_hist_max(const SimHist *hist)
{
    return hist->max;
}

/* The inverse of sim__hist_index(). */
static SimHistBucket
bucket_at(const SimHist *hist, guint index)
{
    guint octave = index >> SIM_HIST_OCTAVE_BITS;
    guint dropped_bits = octave > 0 ? octave - 1 : 0;
    gint64 kept = index - (dropped_bits << SIM_HIST_OCTAVE_BITS);
    gint64 lower = kept << dropped_bits;
    return (SimHistBucket){lower, lower + (((gint64) 1 << dropped_bits) - 1), hist->counts[index]};
}

gint64
sim_hist_quantile(const SimHist *hist, double fraction)
{
    g_assert(fraction >= 0.0 && fraction <= 1.0);
    if (hist->count == 0)
        return -1;
    /* A fraction is a rounded decimal: 0.07 * 100 comes out above 7, and must still mean rank 7. */
    double exact_rank = fraction * (double) hist->count;
    double rank = ceil(exact_rank * (1.0 - 0x1p-51));
    if (rank < 1.0)
        return hist->min;
    double passed = 0.0;
    for (guint i = sim__hist_index(hist->min); i < sim__hist_index(hist->max); i++) {
        passed += (double) hist->counts[i];
        if (passed >= rank)
            return bucket_at(hist, i).upper;
    }
    return hist->max;
}

gboolean
sim_hist_next(const SimHist *hist, guint *position, SimHistBucket *ret_bucket)
{
    while (*position < SIM_HIST_N_BUCKETS) {
        guint index = (*position)++;
        if (hist->counts[index] > 0) {
            *ret_bucket = bucket_at(hist, index);
            return TRUE;
        }
    }
    return FALSE;
}
