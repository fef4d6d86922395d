/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a listing: read, inferred, checked, reported, compared with the model, and written as a .caches file
 * that reads back. */
#include "fuzz-target.h"

#include "imp-caches.h"
#include "imp-check.h"
#include "imp-compare.h"
#include "imp-read.h"
#include "imp-report.h"
#include "slab-spec.h"

static void
write_and_read_back(ImpDump *dump, guint table, const ImpMachine *machine)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GStringChunk) names = g_string_chunk_new(1024);
    g_autoptr(GArray) specs = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));
    guint n = imp_caches_write(dump, table, machine, text);

    g_assert_true(g_utf8_validate(text->str, (gssize) text->len, NULL));
    g_assert_true(slab_spec_parse_caches(text->str, "written", names, specs, NULL));
    g_assert_cmpuint(specs->len, ==, n);
}

static void
compare(const ImpDump *dump, const SlabGeometryEnv *env)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    guint n_differing;

    if (!imp_compare_geometry(dump, env, text, &n_differing, &error))
        g_assert_nonnull(error);
    else
        g_assert_cmpuint(n_differing, <=, dump->rows->len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ImpGiven nothing = {0};
    g_autoptr(ImpText) lines = imp_text_new((const char *) data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(ImpDump) dump = imp_read_text(lines, "input", &error);
    g_autoptr(GString) text = g_string_new(NULL);
    ImpMachine machine;

    g_assert_true((dump == NULL) == (error != NULL));
    if (dump == NULL || dump->rows->len == 0)
        return 0;
    machine = imp_machine_infer(dump, 0, &nothing);
    imp_check_table(dump, 0, &machine);
    imp_report_tables(dump, &machine, text);
    imp_report_memory(dump, 0, &machine, 10, text);
    imp_report_activity(dump, 0, text);
    imp_report_call_sites(dump, 0, text);
    compare(dump, &machine.env);
    write_and_read_back(dump, 0, &machine);
    return 0;
}
