/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_HINT_H
#define SIM_HINT_H

#include <glib.h>

/* Edits that turn `a` into `b`: insert, delete or replace a byte, or swap two neighbours. */
guint sim_hint_distance(const char *a, const char *b);

/* The candidate nearest to a mistyped word (the first among equals), or NULL when none is within a third of the
 * word's length (at least one edit). `candidates` is NULL-terminated; the result is one of them. */
const char *sim_hint_nearest(const char *word, const char *const *candidates);

/* "; did you mean NAME?" for a message about an unknown word, "" without a near candidate. Caller frees. */
char *sim_hint_phrase(const char *word, const char *const *candidates);

#endif
