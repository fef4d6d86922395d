/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_COMPARE_H
#define IMP_COMPARE_H

#include "imp-dump.h"
#include "slab-geometry.h"

/* Compares the geometry of each cache of a listing with what the model computes on the machine `env`, which must
 * be known, not assumed. Appends a line for each number that differs and one with the counts. Rows that show none
 * are left out and counted. SIM_ERROR_MODEL and SIM_ERROR_RANGE for a cache the model refuses. */
gboolean imp_compare_geometry(const ImpDump *dump, const SlabGeometryEnv *env, GString *text, guint *ret_n_differing,
                              GError **error);

#endif
