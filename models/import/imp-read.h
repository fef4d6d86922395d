/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_READ_H
#define IMP_READ_H

#include "imp-dump.h"

/* Finds out the format of a text by counting the lines that have the form of its rows and headers, and reads it. The
 * dump says which and why. `path` is for messages. SIM_ERROR_PARSE when no line looks like any format, when every
 * file of a listing was refused to its reader ("no data"), and when no row could be read. A trace of kmem events is
 * recognised and returned without rows. */
ImpDump *imp_read_text(const ImpText *text, const char *path, GError **error);

/* A file, "-", or a folder with the tree of /sys/kernel/slab or of one cache in it. SIM_ERROR_IO besides. */
ImpDump *imp_read_path(const char *path, GError **error);

/* MemTotal, Slab, SReclaimable and SUnreclaim in kB, wherever the text has them. */
void imp_read_meminfo(const ImpText *text, ImpDump *dump);

#endif
