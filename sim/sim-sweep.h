/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_SWEEP_H
#define SIM_SWEEP_H

#include "sim-config.h"

/* Most values an axis may have. */
#define SIM_SWEEP_MAX_VALUES 10000

/* Expands the text of an axis into the texts of its values; NULL-terminated, freed by g_strfreev.
 *   "1; 2; 4"        any type
 *   "0:20:5"         INT: from, from + step, ... up to the last one not above `to`
 *   "log 1:1000:4"   INT and REAL: count values in equal ratios, both ends exact; in between INT is rounded (what then
 *                    falls together is given once) and REAL has six significant digits
 * Errors: PARSE and RANGE, without place. The values themselves are not checked against the schema. */
char **sim_sweep_expand(const SimKeySpec *spec, const char *text, GError **error);

#endif
