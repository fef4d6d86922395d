/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMPORT_FIXTURE_H
#define IMPORT_FIXTURE_H

#include "imp-machine.h"

/* A file of tests/data, read; fails the test when it cannot be. */
ImpDump *import_fixture_load(const char *name);
/* A text, read; NULL with `error` as imp_read_text(). */
ImpDump *import_fixture_read(const char *text, GError **error);
/* The row of that name in a table; fails the test when there is none. */
const ImpRow *import_fixture_row(const ImpDump *dump, guint table, const char *name);
/* Infers with nothing given. */
ImpMachine import_fixture_machine(ImpDump *dump, guint table);
/* What inspect prints of one table. Caller frees. */
char *import_fixture_inspect(ImpDump *dump, guint table);

#endif
