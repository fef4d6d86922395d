/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_INI_H
#define SIM_INI_H

#include "sim-error.h"

/* Scenario text as groups of raw keys with their line numbers. The syntax is that of GKeyFile; the reader is our own
 * since GKeyFile has no line numbers and silently merges what is given twice. Lines are "[group]", "key = value",
 * blank, or a comment with '#' in the first column. A byte order mark and CR LF line ends are accepted. */

typedef struct {
    char *key, *value; /* without blanks around them, escapes left as they are */
    guint line;        /* counted from 1 */
} SimIniEntry;

typedef struct {
    char *name;
    guint line;
    GPtrArray *entries; /* SimIniEntry */
} SimIniGroup;

typedef struct {
    char *path;        /* as it is shown in messages */
    GPtrArray *groups; /* SimIniGroup in file order, also those without keys */
} SimIni;

#define SIM_INI_MAX_FILE_BYTES (4 * 1024 * 1024)
#define SIM_INI_MAX_LINE_BYTES (64 * 1024)

/* `text` need not end with NUL. Messages begin with "PATH:LINE: ". Errors: PARSE for the form and for groups and keys
 * given twice. */
SimIni *sim_ini_parse(const char *text, gsize n_bytes, const char *path, GError **error);
/* The same from a file; IO when it cannot be read, with "PATH: " in front. */
SimIni *sim_ini_load(const char *path, GError **error);
void sim_ini_free(SimIni *ini);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimIni, sim_ini_free)

/* NULL when there is none. Borrowed. */
const SimIniGroup *sim_ini_find_group(const SimIni *ini, const char *name);
const SimIniEntry *sim_ini_find_entry(const SimIniGroup *group, const char *key);

/* TRUE for valid UTF-8 without control characters other than tab. */
gboolean sim_ini_text_is_clean(const char *text, gsize n_bytes);

#endif
