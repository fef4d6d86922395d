/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_CACHES_H
#define IMP_CACHES_H

#include "imp-machine.h"

/* Caches of an imported machine as specs for the model. */

/* The spec of a row, whose geometry on `machine` comes as near to the listed one as the row allows: the order, and
 * limits written at run time, become overrides where the model has it otherwise. FALSE when the row shows no size.
 * The name is borrowed from the row. */
gboolean imp_caches_spec(const ImpMachine *machine, const ImpRow *row, SlabCacheSpec *ret_spec);

/* Appends a .caches file (see slab-spec.h): notes as comments, then a group for each cache of the table that has a
 * size; a name met before is left out. Returns the number of groups. */
guint imp_caches_write(const ImpDump *dump, guint table, const ImpMachine *machine, GString *text);

/* The notes of one kind, a line each behind `prefix`, under a heading; nothing when there are none. */
void imp_notes_write(const ImpDump *dump, const char *prefix, GString *text);

#endif
