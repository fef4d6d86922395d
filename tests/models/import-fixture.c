/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import-fixture.h"

#include <string.h>

#include "imp-check.h"
#include "imp-read.h"
#include "imp-report.h"

ImpDump *
import_fixture_load(const char *name)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", name, NULL);
    g_autoptr(GError) error = NULL;
    ImpDump *dump = imp_read_path(path, &error);

    g_assert_no_error(error);
    return dump;
}

ImpDump *
import_fixture_read(const char *text, GError **error)
{
    g_autoptr(ImpText) lines = imp_text_new(text, strlen(text));

    return imp_read_text(lines, "text", error);
}

const ImpRow *
import_fixture_row(const ImpDump *dump, guint table, const char *name)
{
    for (guint i = 0; i < dump->rows->len; i++) {
        const ImpRow *row = &g_array_index(dump->rows, ImpRow, i);

        if (row->table == table && g_str_equal(row->name, name))
            return row;
    }
    g_error("no row %s in table %u", name, table);
}

ImpMachine
import_fixture_machine(ImpDump *dump, guint table)
{
    const ImpGiven nothing = {0};

    return imp_machine_infer(dump, table, &nothing);
}

char *
import_fixture_inspect(ImpDump *dump, guint table)
{
    ImpMachine machine = import_fixture_machine(dump, table);
    g_autoptr(GString) text = g_string_new(NULL);

    imp_check_table(dump, table, &machine);
    imp_report_tables(dump, &machine, text);
    imp_report_memory(dump, table, &machine, 0, text);
    imp_report_activity(dump, table, text);
    return g_string_free(g_steal_pointer(&text), FALSE);
}
