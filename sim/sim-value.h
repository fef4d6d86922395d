/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_VALUE_H
#define SIM_VALUE_H

#include "sim-config.h"

/* The value of one key, read as its row of the schema says. Which members are set depends on the type. */
typedef struct {
    gint64 integer;      /* INT; BOOL 0 or 1; TIME and COST ps; SIZE bytes; CHOICE index */
    double real;         /* REAL */
    char **list;         /* TEXT_LIST */
    char *text;          /* TEXT: the text itself; all other types: canonical file text */
    gboolean has_bounds; /* COST */
    SimTime low_ps, high_ps;
    char *source; /* of the bounds; "" when none was written */
} SimValue;

/* Reads the raw text of a scenario file. TEXT takes GKeyFile's escapes \s \t \n \r \\, TEXT_LIST also \; and an
 * optional semicolon at its end. Errors (PARSE, RANGE) say what is wrong and what is allowed, without place. */
gboolean sim_value_parse(const SimKeySpec *spec, const char *text, SimValue *ret_value, GError **error);
void sim_value_clear(SimValue *value);

/* Gives a COST without bounds those of the value it overrides. RANGE when it lies outside them. */
gboolean sim_value_inherit_bounds(const SimKeySpec *spec, SimValue *value, const SimValue *lower, GError **error);

/* The canonical text for a scenario file, on one line; reads back to the same value. Caller frees. */
char *sim_value_to_file_text(const SimKeySpec *spec, const SimValue *value);

/* Splits at semicolons that no backslash precedes: elements without blanks around them, "\;" turned into ";" and
 * other escapes kept. PARSE for an empty element. NULL-terminated, caller frees with g_strfreev. */
char **sim_value_split_list(const char *text, GError **error);

#endif
