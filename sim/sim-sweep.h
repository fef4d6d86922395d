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

/* "from..to" and "log from..to" of INT, REAL, TIME and SIZE keys: an interval that a sampled design draws from. */
typedef struct {
    const SimKeySpec *spec;
    gboolean is_log;
    double from, to; /* in the base unit */
} SimSweepInterval;

gboolean sim_sweep_is_interval(const SimKeySpec *spec, const char *text);
/* PARSE and RANGE (from >= to, or a log interval that does not lie above 0), without place. */
gboolean sim_sweep_parse_interval(const SimKeySpec *spec, const char *text, SimSweepInterval *ret_interval,
                                  GError **error);
/* The text of the value at a position in [0, 1). Whole numbers have equal shares of it (equal in the logarithm for
 * log); REAL has six significant digits. Caller frees. */
char *sim_sweep_interval_text(const SimSweepInterval *interval, double position);

#endif
