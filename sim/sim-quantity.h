/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_QUANTITY_H
#define SIM_QUANTITY_H

#include "sim-error.h"
#include "sim-time.h"

/* Strict, locale-free reading of quantities. The whole text must be the quantity: no blanks around it, no sign '+',
 * no hexadecimal digits. Errors: PARSE for the form, RANGE for what 64 bits cannot hold; the message says what is
 * wrong and does not repeat the text. */

/* "-12" */
gboolean sim_parse_int(const char *text, gint64 *ret_value, GError **error);
/* "0.5", "-3", "1e-6"; always finite */
gboolean sim_parse_real(const char *text, double *ret_value, GError **error);
/* "true" or "false" */
gboolean sim_parse_bool(const char *text, gboolean *ret_value, GError **error);
/* "1.5 us", blank optional, units ps ns us ms s: exact picoseconds, never rounded, never negative */
gboolean sim_parse_time(const char *text, SimTime *ret_time, GError **error);
/* "32K" or "32 KiB", units B K M G KiB MiB GiB (powers of 1024): exact bytes, never negative */
gboolean sim_parse_size(const char *text, gint64 *ret_bytes, GError **error);

/* Canonical texts, which the parsers read back to the same value (a negative time is for messages only). `buffer`
 * has at least SIM_FORMAT_SIZE bytes and is returned. */
#define SIM_FORMAT_SIZE 48
char *sim_format_time(char *buffer, SimTime time); /* "1.5 us": the largest unit not above the value */
char *sim_format_size(char *buffer, gint64 bytes); /* "32 KiB": the largest unit that divides the value */
const char *sim_format_bool(gboolean value);

#endif
