/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-types.h"

const char *
slab_stat_name(SlabStat stat)
{
    static const char *const names[SLAB_N_STATS] = {
#define ROW(name, sysfs) [SLAB_STAT_##name] = sysfs,
        SLAB_STATS(ROW)
#undef ROW
    };
    return names[stat];
}
