/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_TEXT_H
#define IMP_TEXT_H

#include "sim-error.h"

/* A pasted text as clean lines: what mail, terminals, browsers and editors did to it is undone and counted. Memory is
 * bounded whatever the input: lines are cut at IMP_MAX_LINE_BYTES, the text at IMP_MAX_TEXT_BYTES. */

#define IMP_MAX_LINE_BYTES (64u * 1024)
#define IMP_MAX_TEXT_BYTES (256u * 1024 * 1024)

typedef enum {
    IMP_DAMAGE_NUL,      /* NUL bytes, read as blanks */
    IMP_DAMAGE_CUT_LINE, /* lines cut at IMP_MAX_LINE_BYTES */
    IMP_DAMAGE_CUT_TEXT, /* what came after IMP_MAX_TEXT_BYTES or a broken compressed stream was not read */
    IMP_DAMAGE_CRLF,
    IMP_DAMAGE_QUOTED,    /* lines with mail quote marks */
    IMP_DAMAGE_PRINTABLE, /* quoted-printable: =3D, soft line ends */
    IMP_DAMAGE_ENTITY,    /* &lt; and the like */
    IMP_DAMAGE_BOLD,      /* rows between stars */
    IMP_DAMAGE_ESCAPE,    /* terminal colours */
    IMP_DAMAGE_STAMP,     /* "[ 12.345678] ", "Jan  2 10:11:12 host kernel: " */
    IMP_DAMAGE_CELLS,     /* "| a | b |", "a,b,c,d,e,f" */
    IMP_DAMAGE_DIFF,      /* "+", "-", "< " */
    IMP_DAMAGE_NUMBERED,  /* cat -n, grep -n */
    IMP_DAMAGE_UTF16,     /* 1 = yes */
    IMP_DAMAGE_NO_END,    /* the last line has no line end */
    IMP_N_DAMAGES
} ImpDamage;

/* What to call a kind of damage in a report; static. */
const char *imp_damage_name(ImpDamage damage);

typedef struct {
    char *text; /* NUL-terminated, without blanks at its end, but empty fields of a table; indentation is kept */
    guint number;
} ImpLine;

typedef struct _ImpText ImpText;

/* `bytes` need not end with NUL. Never fails: any bytes are some text. */
ImpText *imp_text_new(const char *bytes, gsize n_bytes);
/* A file, "-" for standard input; gzip is recognised. SIM_ERROR_IO. */
ImpText *imp_text_load(const char *path, GError **error);
void imp_text_free(ImpText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImpText, imp_text_free)

guint imp_text_n_lines(const ImpText *text);
/* Borrowed. A joined quoted-printable line carries the number of its first part. */
const ImpLine *imp_text_line(const ImpText *text, guint i);
/* Lines concerned, or bytes for IMP_DAMAGE_NUL. */
guint imp_text_damage(const ImpText *text, ImpDamage damage);

/* Words between blanks, as slices of the line. Words after the last place are left out, but counted in n_words. */
#define IMP_MAX_WORDS 24u
typedef struct {
    const char *text;
    gsize length;
} ImpWord;
typedef struct {
    guint n_words;
    ImpWord word[IMP_MAX_WORDS];
} ImpWords;

/* A percent sign ends a word, since wide columns run into it. */
void imp_words_split(const char *line, ImpWords *ret_words);
gboolean imp_word_is(const ImpWord *word, const char *text);
/* A whole non-negative number, with one of , . ' between thousands or without. FALSE otherwise, also above 10^15. */
gboolean imp_word_number(const ImpWord *word, gint64 *ret_number);
/* "0.19K", "0,19K", "16k", "1404", "98.8M": a non-negative decimal number and an optional unit B, K, M, G in powers of
 * 1024. Bytes; without unit the number itself. `ret_half_step` is half of the last digit's place, 0 for whole bytes. */
gboolean imp_word_size(const ImpWord *word, double *ret_bytes, double *ret_half_step);

#endif
