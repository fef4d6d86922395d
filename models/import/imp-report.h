/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_REPORT_H
#define IMP_REPORT_H

#include "imp-machine.h"

/* What `slubsim inspect` says, as text. */

/* Memory by cache (the `n_top` largest, 0 = all), by order, against the kernel's totals, and what settings could free
 * at most: or that none could. For the old SLAB the memory, and which stage of it the objects fit, and no advice. */
void imp_report_memory(const ImpDump *dump, guint table, const ImpMachine *machine, guint n_top, GString *text);

/* The tables of a dump that has several, with their sums and the caches that changed most from each to the next. */
void imp_report_tables(const ImpDump *dump, const ImpMachine *machine, GString *text);

/* Calls that took the fast path, and where slabs are made and given back; nothing without such counts. */
void imp_report_activity(const ImpDump *dump, guint table, GString *text);

/* perf kmem: memory given and asked by call site. */
void imp_report_call_sites(const ImpDump *dump, guint table, GString *text);

#endif
