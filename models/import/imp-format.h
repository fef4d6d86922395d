/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_FORMAT_H
#define IMP_FORMAT_H

#include "imp-dump.h"

/* One way of writing down the caches of a machine. A new format is one file and one row of imp-format-list.h. */
typedef struct {
    const char *title; /* "/proc/slabinfo" */
    ImpShows shows;
    gboolean needs_header;              /* its rows alone could be anything */
    const char *row_form, *header_form; /* what is recognised, for people */
    const char *unknown;                /* what it never shows, as a list */
    gboolean (*is_header)(const char *line);
    gboolean (*is_row)(const char *line, const ImpWords *words);
    /* Reads all it can into `dump`; what it cannot becomes notes. NULL for a format that holds no caches. */
    void (*read)(const ImpText *text, ImpDump *dump);
} ImpFormat;

#define IMP_FORMAT(name) extern const ImpFormat imp_format_##name;
#include "imp-format-list.h"
#undef IMP_FORMAT

#endif
