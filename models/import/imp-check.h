/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_CHECK_H
#define IMP_CHECK_H

#include "imp-machine.h"

/* Adds a note for whatever does not add up in one table: within rows, between them, and against the totals of the
 * kernel. Kinds of fault that many rows share are named once with their number. */
void imp_check_table(ImpDump *dump, guint table, const ImpMachine *machine);

#endif
