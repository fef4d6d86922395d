/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_TREE_H
#define IMP_TREE_H

#include "imp-dump.h"

/* Reads a folder like /sys/kernel/slab, live or copied, or the folder of one cache; symbolic links are aliases. Files
 * that may not be read are counted in dump->n_refused. Nothing is written. SIM_ERROR_IO when the folder cannot be
 * opened, SIM_ERROR_PARSE when it holds no cache. */
gboolean imp_tree_read(const char *path, ImpDump *dump, GError **error);

#endif
