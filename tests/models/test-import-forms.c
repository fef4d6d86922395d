/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same listing as logs, spreadsheets, editors, diffs and other tools' options hand it on: read the same, or refused
 * for the reason. */
#include <string.h>

#include "imp-read.h"
#include "import-fixture.h"
#include "sim-error.h"

#define VERSION "slabinfo - version: 2.1\n"
#define TAIL " : tunables    0    0    0 : slabdata      3      3      0"

static void
check_dentry(const ImpDump *dump)
{
    const ImpRow *row = import_fixture_row(dump, 0, "dentry");

    g_assert_cmpint(row->active_objects, ==, 40);
    g_assert_cmpint(row->total_objects, ==, 63);
    g_assert_cmpint(row->stride_bytes, ==, 192);
    g_assert_cmpint(row->objects_per_slab, ==, 21);
    g_assert_cmpint(row->order, ==, 0);
    g_assert_cmpint(row->slabs, ==, 3);
    g_assert_cmpuint(dump->n_bad_rows, ==, 0);
}

static void
test_slabinfo(void)
{
    static const struct {
        const char *text;
        guint n_rows;
    } texts[] = {
        {"[  123.456789] dentry  40 63 192 21 1" TAIL "\n", 1},
        {"<6>[12.345] dentry  40 63 192 21 1" TAIL "\n", 1},
        {"Jan  2 10:11:12 host kernel: [    1.000000] dentry  40 63 192 21 1" TAIL "\n", 1},
        {"2024-01-02T10:11:12.123456+01:00 host kernel: dentry  40 63 192 21 1" TAIL "\n", 1},
        {"| dentry | 40 | 63 | 192 | 21 | 1 | : | tunables | 0 | 0 | 0 | : | slabdata | 3 | 3 | 0 |\n", 1},
        {"dentry,40,63,192,21,1,:,tunables,0,0,0,:,slabdata,3,3,0\n", 1},
        {"\"dentry\";40;63;192;21;1;:;tunables;0;0;0;:;slabdata;3;3;0\n", 1},
        /* cat -n, grep -n; a number alone is an empty line */
        {"     1\t" VERSION "     2\tdentry  40 63 192 21 1" TAIL "\n     3\t\n", 1},
        {"1:" VERSION "17:dentry  40 63 192 21 1" TAIL "\n", 1},
        /* diff -u, diff */
        {"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-" VERSION "+dentry  40 63 192 21 1" TAIL "\n b  1 21 192 21 1" TAIL "\n", 2},
        {"< dentry  40 63 192 21 1" TAIL "\n", 1},
        /* carriage returns alone, and doubled */
        {"slabinfo - version: 2.1\rdentry  40 63 192 21 1" TAIL "\r", 1},
        {"slabinfo - version: 2.1\r\r\ndentry  40 63 192 21 1" TAIL "\r\r\n", 1},
        /* columns by the header's names, in its order */
        {"# name <objsize> <objperslab> <pagesperslab> <active_objs> <num_objs>\ndentry 192 21 1 40 63\n", 1},
        {"# name active_objs num_objs pagesperslab objperslab objsize : tunables\ndentry 40 63 1 21 192" TAIL "\n", 1},
        /* rows that sort put in front of the header */
        {"dentry  40 63 192 21 1" TAIL "\n" VERSION "a  1 21 192 21 1" TAIL "\n", 2},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(texts[i].text, &error);

        g_test_message("text %" G_GSIZE_FORMAT, i);
        g_assert_no_error(error);
        g_assert_cmpuint(dump->rows->len, ==, texts[i].n_rows);
        check_dentry(dump);
    }
}

/* "> file" of PowerShell. */
static void
test_utf16(void)
{
    static const char plain[] = VERSION "dentry  40 63 192 21 1" TAIL "\r\n";

    for (guint is_big = 0; is_big < 2; is_big++) {
        g_autoptr(GString) wide = g_string_new(is_big ? "\376\377" : "\377\376");
        g_autoptr(ImpText) text = NULL;
        g_autoptr(ImpDump) dump = NULL;

        for (const char *c = plain; *c != '\0'; c++) {
            if (is_big)
                g_string_append_c(wide, '\0');
            g_string_append_c(wide, *c);
            if (!is_big)
                g_string_append_c(wide, '\0');
        }
        text = imp_text_new(wide->str, wide->len);
        dump = imp_read_text(text, "text", NULL);
        g_assert_nonnull(dump);
        check_dentry(dump);
        g_assert_true(imp_dump_has_note(dump, "UTF-16"));
        g_assert_false(imp_dump_has_note(dump, "NUL"));
    }
}

static void
test_numbers_and_names(void)
{
    g_autoptr(ImpDump) dump =
        import_fixture_read("Slab: 1,234 kB\n" VERSION "xfs inode  2.040 2.048 1.024 32 8" TAIL "\n"
                            "nf_conntrack(12:a.scope)  1'000 1'000 320 25 2" TAIL "\n",
                            NULL);
    const ImpRow *row = import_fixture_row(dump, 0, "xfs?inode");

    g_assert_cmpint(row->active_objects, ==, 2040);
    g_assert_cmpint(row->stride_bytes, ==, 1024);
    g_assert_cmpint(import_fixture_row(dump, 0, "nf_conntrack(12:a.scope)")->total_objects, ==, 1000);
    g_assert_cmpint(dump->slab_kb, ==, 1234);
}

static void
test_sysfs(void)
{
    static const char *const texts[] = {
        /* grep -n; scripts with = and blanks; lists that mail wrapped */
        "/sys/kernel/slab/dentry/slab_size:1:192\n/sys/kernel/slab/dentry/slabs:1:5 N0=3 N1=2\n",
        "/sys/kernel/slab/dentry/slab_size=192\n/sys/kernel/slab/dentry/slabs=5 N0=3 N1=2\n",
        "/sys/kernel/slab/dentry/slab_size 192\n/sys/kernel/slab/dentry/slabs 5 N0=3 N1=2\n",
        "dentry/slab_size:192\ndentry/slabs:5 N0=3\n    N1=2\n",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(texts[i], &error);

        g_test_message("text %" G_GSIZE_FORMAT, i);
        g_assert_no_error(error);
        g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->stride_bytes, ==, 192);
        g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->slabs, ==, 5);
        g_assert_cmpuint(dump->n_listed_nodes, ==, 2);
        g_assert_false(imp_dump_has_note(dump, "is not the sum"));
    }
}

/* The last fields of a table's row may be empty; in between, one missing is a fault. */
static void
test_table(void)
{
    g_autoptr(ImpDump) dump =
        import_fixture_read("cache\tobject_size\talign\tslab_size\torder\tobjs_per_slab\tslabs\tctor\tnames\n"
                            "dentry\t192\t8\t192\t0\t21\t3\t-\t\n:0000256\t256\t256\t256\t0\t16\t2\t\ta,b\n"
                            "cut\t192\t8\t192\t0\t2\n",
                            NULL);

    g_assert_cmpuint(dump->rows->len, ==, 2);
    g_assert_cmpuint(dump->n_bad_rows, ==, 1);
    g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->slabs, ==, 3);
    g_assert_cmpstr(import_fixture_row(dump, 0, ":0000256")->alias_names, ==, "a b");
    g_assert_cmpstr(dump->fault, ==, "4: not as many fields as columns");
}

/* procps 4 rounds the size of a cache too; other languages write a decimal comma. */
static void
test_slabtop(void)
{
    g_autoptr(ImpDump) dump =
        import_fixture_read("  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n"
                            " 57498  55283  96%    0.19K   1369       42     10.7M dentry\n"
                            " 57498  55283  96%    0,19K   1369       42     10952K kmalloc-192\n",
                            NULL);

    g_assert_cmpuint(dump->rows->len, ==, 2);
    g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->slab_bytes, ==, 8192);
    g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->stride_bytes, ==, 192);
    g_assert_cmpint(import_fixture_row(dump, 0, "kmalloc-192")->slab_bytes, ==, 8192);
    g_assert_false(imp_dump_has_note(dump, "CACHE SIZE"));
}

static void
test_crash(void)
{
    g_autoptr(ImpDump) dump =
        import_fixture_read("crash> kmem -s\nCACHE             OBJSIZE  ALLOCATED     TOTAL  SLABS  SSIZE  NAME\n"
                            "ffff93a0c0042a00      192      40000     42000   2000     4k  dentry\n"
                            "kmem: x: invalid freepointer: ffff\nffff93a0c0042d00     8192   [INVALID]\n",
                            NULL);

    g_assert_cmpuint(dump->rows->len, ==, 1);
    g_assert_cmpuint(dump->n_bad_rows, ==, 1);
    g_assert_true(imp_dump_has_note(dump, "crash complained once"));
}

/* Without the number of CPUs the slabs on their partial lists are still known where the listing has them: 10 of 16 KiB. */
static void
test_cpu_lists_alone(void)
{
    g_autoptr(ImpDump) dump = import_fixture_read("kmalloc-256/object_size:256\nkmalloc-256/slab_size:256\n"
                                                  "kmalloc-256/order:2\nkmalloc-256/objs_per_slab:64\n"
                                                  "kmalloc-256/objects:1200\nkmalloc-256/total_objects:1280\n"
                                                  "kmalloc-256/slabs:20\nkmalloc-256/partial:3\n"
                                                  "kmalloc-256/slabs_cpu_partial:320(10) C0=160(5) C1=160(5)\n",
                                                  NULL);
    g_autofree char *text = import_fixture_inspect(dump, 0);

    g_assert_nonnull(strstr(text, "- cpu_partial 0: at most 160 KiB lie in slabs on the CPUs' partial lists. "));
}

/* Each in one line that says where and why. */
static void
test_refusals(void)
{
    static const struct {
        const char *text, *words;
    } texts[] = {
        {"", "text: no data: the text is empty"},
        {"\n \n", "text: no data: the text is empty"},
        {"$ cat /proc/slabinfo\ncat: /proc/slabinfo: Keine Berechtigung\n", "text:2: no data: a complaint"},
        {VERSION "dentry  40 63 192\n", "text:2: "},
        {VERSION "dentry  40 63 192 21 3" TAIL "\n", "text:2: object size or objects 0, or pages no power of two"},
        {VERSION, "no row could be read"},
        /* a number too many is no part of a name with blanks */
        {VERSION "dentry  40 63 192 21 1 7" TAIL "\n", "text:2: "},
        /* five numbers, the last two below 100: nobody's activity */
        {"dentry 192 40 63 1 21\ninode 600 40 63 1 21\n", "no line looks like"},
        {"SUMMARY (page allocator)\n========\nTotal allocation requests : 4,015 [ 15,704 KB ]\n",
         "no row could be read"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(import_fixture_read(texts[i].text, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, texts[i].words));
        g_assert_null(strchr(error->message, '\n'));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import-forms/slabinfo", test_slabinfo);
    g_test_add_func("/import-forms/utf16", test_utf16);
    g_test_add_func("/import-forms/numbers-and-names", test_numbers_and_names);
    g_test_add_func("/import-forms/sysfs", test_sysfs);
    g_test_add_func("/import-forms/table", test_table);
    g_test_add_func("/import-forms/slabtop", test_slabtop);
    g_test_add_func("/import-forms/crash", test_crash);
    g_test_add_func("/import-forms/cpu-lists-alone", test_cpu_lists_alone);
    g_test_add_func("/import-forms/refusals", test_refusals);
    return g_test_run();
}
