/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-moments.h"

#include <math.h>

void
sim_moments_merge(SimMoments *moments, const SimMoments *from)
{
    if (from->count == 0)
        return; /* and 0 / 0 below, with both empty */
    guint64 count = moments->count + from->count;
    double delta = from->mean - moments->mean;
    double from_share = (double) from->count / (double) count;
    moments->m2 += from->m2 + delta * delta * (double) moments->count * from_share;
    moments->mean += delta * from_share;
    moments->count = count;
}

double
sim_moments_mean(const SimMoments *moments)
{
    return moments->count > 0 ? moments->mean : NAN;
}

double
sim_moments_variance(const SimMoments *moments)
{
    return moments->count > 1 ? moments->m2 / (double) (moments->count - 1) : NAN;
}

double
sim_moments_sd(const SimMoments *moments)
{
    return sqrt(sim_moments_variance(moments));
}
