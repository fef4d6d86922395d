/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_CLEAN_H
#define IMP_CLEAN_H

#include "imp-text.h"

/* What is undone line by line. Some marks mean something only when the text as a whole has them. */
typedef enum {
    IMP_MARK_PRINTABLE = 1u << 0, /* quoted-printable */
    IMP_MARK_UTF16 = 1u << 1,     /* every other byte is NUL */
    IMP_MARK_NUMBERED = 1u << 2,  /* cat -n, grep -n */
    IMP_MARK_UNIFIED = 1u << 3,   /* a unified diff */
} ImpMarks;

/* Cleans `length` bytes in place; line[length] is there to be written. Adds to `damage`. */
void imp_clean_line(char *line, gsize length, guint marks, guint damage[IMP_N_DAMAGES]);

/* Length of "  12\t" or "12:" at the start of a NUL-terminated line, 0 when there is none. */
gsize imp_clean_number_length(const char *line);

#endif
