/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-hint.h"

#include <string.h>

guint
sim_hint_distance(const char *a, const char *b)
{
    gsize n_a = strlen(a), n_b = strlen(b);
    /* Three rows of the edit table (restricted Damerau-Levenshtein): two back, the previous and the current one. */
    g_autofree guint *cells = g_new(guint, 3 * (n_b + 1));
    guint *back = cells, *previous = cells + n_b + 1, *current = cells + 2 * (n_b + 1);
    for (gsize j = 0; j <= n_b; j++)
        previous[j] = (guint) j;
    for (gsize i = 1; i <= n_a; i++) {
        current[0] = (guint) i;
        for (gsize j = 1; j <= n_b; j++) {
            guint replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = MIN(replaced, MIN(previous[j], current[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = MIN(current[j], back[j - 2] + 1);
        }
        guint *oldest = back;
        back = previous;
        previous = current;
        current = oldest;
    }
    return previous[n_b];
}

const char *
sim_hint_nearest(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    guint best = (guint) MAX(strlen(word) / 3, 1) + 1;
    for (; *candidates != NULL; candidates++) {
        guint distance = sim_hint_distance(word, *candidates);
        if (distance < best) {
            best = distance;
            nearest = *candidates;
        }
    }
    return nearest;
}

char *
sim_hint_phrase(const char *word, const char *const *candidates)
{
    const char *nearest = sim_hint_nearest(word, candidates);
    return nearest != NULL ? g_strdup_printf("; did you mean %s?", nearest) : g_strdup("");
}
