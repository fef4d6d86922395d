/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What mail, terminals and browsers do to a listing, and what no machine ever printed. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "imp-check.h"
#include "imp-host.h"
#include "imp-read.h"
#include "import-fixture.h"
#include "sim-error.h"

#define HEADER "slabinfo - version: 2.1\n"
#define TAIL " : tunables    0    0    0 : slabdata      3      3      0"

/* One undamaged row, and the same after each kind of damage. */
static void
test_same_row(void)
{
    static const char *const texts[] = {
        HEADER "dentry  40 63 192 21 1" TAIL "\n",
        HEADER "dentry  40 63 192 21 1" TAIL "\r\n",
        "\357\273\277" HEADER "dentry  40 63 192 21 1" TAIL,
        "> > " HEADER "> > dentry  40 63 192 21 1" TAIL "\n",
        ">>" HEADER ">>dentry  40 63 192 21 1" TAIL "\n",
        "&gt; " HEADER "&gt; # name &lt;active_objs&gt;\n&gt; dentry  40 63 192 21 1" TAIL "\n",
        HEADER "**dentry  40 63 192 21 1" TAIL "**\n",
        HEADER "\033[1mdentry\033[0m  40 63 192 21 1" TAIL "\n",
        HEADER "dentry\302\24040\302\240 63 192 21 1" TAIL "\n",
        "/proc/slabinfo:" HEADER "/proc/slabinfo:dentry  40 63 192 21 1" TAIL "\n",
        /* wrapped behind a number, in front of a colon, behind the name, twice */
        HEADER "dentry  40 63\n192 21 1" TAIL "\n",
        HEADER "dentry  40 63 192 21 1 : tunables 0 0 0\n : slabdata 3 3 0\n",
        HEADER "dentry\n   40 63 192 21 1" TAIL "\n",
        HEADER "> dentry  40 63 192 21 1\n> : tunables 0\n> 0 0 : slabdata 3 3 0\n",
        /* quoted-printable: a soft line end at column 76 */
        HEADER
        "# name =3D x\ndentry  40 63 192 21 1 : tunables    0    0    0 : slabdata              =\n     3      3      "
        "0\n",
        /* columns that ran together: 63 slots follow from 3 slabs of 21 */
        HEADER "dentry  4063 192 21 1" TAIL "\n",
        HEADER "dentry  40 63 192 21 1 : tunables 0 0 0 : slabdata 3 3 0 : globalstat 1 2 3\n",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(texts[i], &error);
        const ImpRow *row;

        g_test_message("text %" G_GSIZE_FORMAT, i);
        g_assert_no_error(error);
        g_assert_cmpuint(dump->rows->len, ==, 1);
        row = import_fixture_row(dump, 0, "dentry");
        g_assert_cmpint(row->active_objects, ==, 40);
        g_assert_cmpint(row->total_objects, ==, 63);
        g_assert_cmpint(row->stride_bytes, ==, 192);
        g_assert_cmpint(row->objects_per_slab, ==, 21);
        g_assert_cmpint(row->order, ==, 0);
        g_assert_cmpint(row->slabs, ==, 3);
        g_assert_false(dump->is_old_slab);
    }
}

/* A damaged row costs itself and is named; its neighbours stay. */
static void
test_bad_rows(void)
{
    static const char *const rows[] = {
        "dentry  40 63 192",
        "dentry  40 63 192 21 3" TAIL,
        "dentry  40 63 0 21 1" TAIL,
        "dentry  40 63 -192 21 1" TAIL,
        "dentry  40 99999999999999999999 192 21 1" TAIL,
        "dentry  40 900000000000000 192 21 1" TAIL,
        "dentry  9963 192 21 1" TAIL, /* 99 in use of 63 */
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strdup_printf(HEADER "a 1 2 64 64 1" TAIL "\n%s\nb 1 2 64 64 1" TAIL "\n", rows[i]);
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(text, &error);

        g_test_message("%s", rows[i]);
        g_assert_no_error(error);
        g_assert_cmpuint(dump->rows->len, ==, 2);
        g_assert_cmpuint(dump->n_bad_rows, ==, 1);
        g_assert_true(imp_dump_has_note(dump, "dentry"));
    }
}

static void
test_no_listing(void)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "hello world\n",
        "# comment\n",
        "1 2 3 4 5 6 7\n",
        HEADER,
        "MemTotal: 100 kB\nSlab: 5 kB\n",
        "grep: /sys/kernel/slab: Permission denied\n",
        "[group]\nkey = value\n",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;

        g_test_message("%s", texts[i]);
        g_assert_null(import_fixture_read(texts[i], &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
    }
}

static void
test_first_versions(void)
{
    g_autoptr(ImpDump) dump = import_fixture_read("slabinfo - version: 1.1\n"
                                                  "kmem_cache            59     78    100    2    2    1\n"
                                                  "size-4096             30     35   4096   30   35    1\n",
                                                  NULL);
    g_autoptr(ImpDump) first = import_fixture_read("slabinfo - version: 1.0\nkmem_cache 29 42\n", NULL);
    const ImpRow *row = import_fixture_row(dump, 0, "size-4096");

    g_assert_true(dump->is_old_slab && first->is_old_slab);
    g_assert_cmpint(row->slabs, ==, 35);
    g_assert_cmpint(row->order, ==, 0);
    g_assert_cmpint(imp_row_bytes(row, 4096), ==, 35 * 4096);
    g_assert_cmpint(import_fixture_row(first, 0, "kmem_cache")->total_objects, ==, 42);
}

/* Forms in which a listing of /sys/kernel/slab comes. */
static void
test_sysfs_forms(void)
{
    static const char *const texts[] = {
        "/sys/kernel/slab/:A-0000192/objs_per_slab:21\n/sys/kernel/slab/:A-0000192/slab_size:192\n"
        "/sys/kernel/slab/:A-0000192/order:0\n/sys/kernel/slab/:A-0000192/slabs:5 N0=3 N1=2\n"
        "/sys/kernel/slab/:A-0000192/ctor:a/b+0x0/0x18\n",
        "./:A-0000192/objs_per_slab:21\n./:A-0000192/slab_size:192\n./:A-0000192/order:0\n"
        "./:A-0000192/slabs:5 N0=3 N1=2\n./:A-0000192/ctor:x\n",
        "==> /sys/kernel/slab/:A-0000192/objs_per_slab <==\n21\n\n==> /sys/kernel/slab/:A-0000192/slab_size <==\n192\n"
        "==> /sys/kernel/slab/:A-0000192/order <==\n0\n==> /sys/kernel/slab/:A-0000192/slabs <==\n5 N0=3 N1=2\n"
        "==> /sys/kernel/slab/:A-0000192/ctor <==\nx\n",
        "/usr/bin/grep: :A-0000192/validate: Keine Berechtigung\n:A-0000192/objs_per_slab:21\n"
        ":A-0000192/slab_size:192\n:A-0000192/order:0\n:A-0000192/slabs:5 N0=3D3 N1=3D2\n:A-0000192/ctor:x\n",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ImpDump) dump = import_fixture_read(texts[i], &error);
        const ImpRow *row;

        g_test_message("text %" G_GSIZE_FORMAT, i);
        g_assert_no_error(error);
        row = import_fixture_row(dump, 0, ":A-0000192");
        g_assert_cmpint(row->objects_per_slab, ==, 21);
        g_assert_cmpint(row->slabs, ==, 5);
        g_assert_true(row->has_ctor);
        g_assert_true(row->flags & SLAB_ACCOUNT);
        g_assert_cmpuint(dump->n_listed_nodes, ==, 2);
        g_assert_false(imp_dump_has_note(dump, "is not the sum"));
    }
}

static void
test_sums_that_fail(void)
{
    g_autoptr(ImpDump) dump =
        import_fixture_read("a/slab_size:192\na/slabs:5 N0=3 N1=1\na/slabs_cpu_partial:57(6) C0=28(3) C1=28(3)\n"
                            "a/alloc_slab:10 C0=4 C3=7\n",
                            NULL);

    g_assert_true(imp_dump_has_note(dump, "a: slabs is not the sum"));
    g_assert_true(imp_dump_has_note(dump, "a: alloc_slab is not the sum"));
    /* Halved objects do not add up, slabs do. */
    g_assert_false(imp_dump_has_note(dump, "slabs_cpu_partial"));
    g_assert_cmpuint(dump->n_listed_cpus, ==, 4);
}

/* A grep over all folders follows links: a merged cache comes under each of its names, and must count once. */
static void
test_copies(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    static const char *const names[] = {"pid", ":A-0000128", "uid_cache"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        g_string_append_printf(text, "%s/aliases:2\n%s/slab_size:128\n%s/order:0\n%s/objs_per_slab:32\n%s/slabs:7\n",
                               names[i], names[i], names[i], names[i], names[i]);
    g_string_append(text, "own/aliases:0\nown/slab_size:128\nown/order:0\nown/objs_per_slab:32\nown/slabs:7\n");
    {
        g_autoptr(ImpDump) dump = import_fixture_read(text->str, NULL);

        g_assert_cmpuint(dump->rows->len, ==, 2);
        g_assert_cmpstr(import_fixture_row(dump, 0, ":A-0000128")->alias_names, ==, "pid uid_cache");
        g_assert_true(imp_dump_has_note(dump, "2 folders repeat"));
    }
}

static void
test_other_forms(void)
{
    g_autoptr(ImpDump) oom = import_fixture_read(
        "[ 1.5] Unreclaimable slab info:\n[ 1.5] Name  Used  Total\n[ 1.5] dentry   12KB   16KB\n", NULL);
    g_autoptr(ImpDump) crash =
        import_fixture_read("CACHE            NAME                 OBJSIZE  ALLOCATED     TOTAL  SLABS  SSIZE\n"
                            "ffff880036c14300 kmalloc-64                64       1916      3840     60     4k\n"
                            "NODE 0 PARTIAL:\n  fffff540df7c4000  ffff8d45df100000     0     64          8    56\n",
                            NULL);
    g_autoptr(ImpDump) top = import_fixture_read("  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n "
                                                 "2,124,480 2,124,480 100%0.19K 101,166 21 404,664K "
                                                 "kmalloc-192\n",
                                                 NULL);

    g_assert_cmpint(import_fixture_row(oom, 0, "dentry")->bytes, ==, 16384);
    g_assert_cmpint(import_fixture_row(oom, 0, "dentry")->in_use_bytes, ==, 12288);
    g_assert_cmpint(import_fixture_row(crash, 0, "kmalloc-64")->partial_slabs, ==, 1);
    g_assert_cmpint(import_fixture_row(crash, 0, "kmalloc-64")->partial_active, ==, 8);
    g_assert_cmpint(import_fixture_row(top, 0, "kmalloc-192")->stride_bytes, ==, 192);
    g_assert_cmpint(import_fixture_row(top, 0, "kmalloc-192")->total_objects, ==, 2124480);
}

/* Two machines that the listing must tell apart by pages and CPUs alone. */
static void
test_pages(void)
{
    /* 64 KiB pages. Order 1 for 4 KiB: 20 to 32 objects are wanted, which is 8 to 127 CPUs. */
    g_autoptr(ImpDump) dump = import_fixture_read(HEADER "kmalloc-192 341 341 192 341 1" TAIL "\n"
                                                         "kmalloc-4k 32 32 4096 32 2" TAIL "\n",
                                                  NULL);
    ImpMachine machine = import_fixture_machine(dump, 0);

    g_assert_true(machine.knows_page_size);
    g_assert_cmpuint(machine.env.page_size_bytes, ==, 65536);
    g_assert_cmpuint(machine.cpus_low, ==, 8);
    g_assert_cmpuint(machine.cpus_high, ==, 127);
}

static void
test_contradictions(void)
{
    g_autoptr(ImpDump) dump = import_fixture_read("MemTotal: 1000 kB\nSlab: 10 kB\n" HEADER
                                                  "kmalloc-1024 9 5 1024 32 8" TAIL "\nkmalloc-1k 1 96 1024 32 8" TAIL
                                                  "\ndentry 1 2000 192 21 1" TAIL "\ndentry 1 63 192 21 1" TAIL "\n",
                                                  NULL);
    ImpMachine machine = import_fixture_machine(dump, 0);

    imp_check_table(dump, 0, &machine);
    g_assert_true(imp_dump_has_note(dump, "names of different times"));
    g_assert_true(imp_dump_has_note(dump, "kmalloc-1024: more objects in use than slots"));
    g_assert_true(imp_dump_has_note(dump, "dentry: more slots than slabs"));
    g_assert_true(imp_dump_has_note(dump, "dentry is listed more than once"));
    g_assert_true(imp_dump_has_note(dump, "add up to"));
}

/* Memory stays bounded: a line of 3 MiB is cut, and of more caches than a machine has the rest is counted. */
static void
test_too_much(void)
{
    g_autoptr(GString) text = g_string_new(HEADER "a 1 2 64 64 1" TAIL "\n");
    g_autoptr(ImpDump) dump = NULL;

    for (guint i = 0; i < 3u << 20; i++)
        g_string_append_c(text, 'x');
    g_string_append_c(text, '\n');
    for (guint i = 0; i < IMP_MAX_ROWS + 9; i++)
        g_string_append_printf(text, "c%u 1 2 64 64 1\n", i);
    dump = import_fixture_read(text->str, NULL);
    g_assert_cmpuint(dump->rows->len, ==, IMP_MAX_ROWS);
    g_assert_cmpuint(dump->n_dropped_rows, ==, 10);
    g_assert_true(imp_dump_has_note(dump, "cut there"));
    g_assert_true(imp_dump_has_note(dump, "left out"));
}

static void
test_nul_bytes(void)
{
    static const char bytes[] = HEADER "dentry\0 40 63 192 21 1" TAIL "\n";
    g_autoptr(ImpText) text = imp_text_new(bytes, sizeof bytes - 1);
    g_autoptr(ImpDump) dump = imp_read_text(text, "text", NULL);

    g_assert_cmpuint(imp_text_damage(text, IMP_DAMAGE_NUL), ==, 1);
    g_assert_cmpint(import_fixture_row(dump, 0, "dentry")->total_objects, ==, 63);
}

static void
put_file(const char *folder, const char *name, const char *contents)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *parent = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, contents, -1, NULL));
}

static void
remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *inside = g_build_filename(path, name, NULL);

        remove_tree(inside);
    }
    g_remove(path);
}

/* A copy of a machine's files: links are aliases, also those that lead nowhere or in a circle. */
static void
test_tree_and_host(void)
{
    g_autofree char *root = g_dir_make_tmp("slubsim-XXXXXX", NULL);
    g_autofree char *slab = g_build_filename(root, "sys/kernel/slab", NULL);
    g_autofree char *link = g_build_filename(slab, "pid", NULL), *circle = g_build_filename(slab, "loop", NULL);
    g_autoptr(GError) error = NULL;
    g_auto(ImpHost) host = {0};
    const ImpRow *row;

    put_file(root, "proc/sys/kernel/osrelease", "6.1.0-test\n");
    put_file(root, "proc/cmdline", "quiet slub_max_order=1\n");
    put_file(root, "proc/meminfo", "MemTotal: 1000 kB\nSlab: 28 kB\n");
    put_file(root, "sys/devices/system/cpu/possible", "0-15\n");
    put_file(root, "sys/devices/system/cpu/present", "0-7\n");
    put_file(slab, ":A-0000128/object_size", "128\n");
    put_file(slab, ":A-0000128/align", "64\n");
    put_file(slab, ":A-0000128/slab_size", "128\n");
    put_file(slab, ":A-0000128/order", "0\n");
    put_file(slab, ":A-0000128/objs_per_slab", "32\n");
    put_file(slab, ":A-0000128/slabs", "7 N0=7\n");
    put_file(slab, "empty/README", "nothing\n");
    g_assert_cmpint(symlink(":A-0000128", link), ==, 0);
    g_assert_cmpint(symlink("loop", circle), ==, 0);
    imp_host_read(root, &host, &error);
    g_assert_no_error(error);
    g_assert_null(host.slabinfo);
    g_assert_nonnull(strstr(host.refusals->str, "/proc/slabinfo"));
    g_assert_cmpuint(host.env.kernel, ==, SLAB_KERNEL(6, 1));
    g_assert_cmpuint(host.env.n_possible_cpus, ==, 16);
    g_assert_cmpuint(host.env.n_present_cpus, ==, 8);
    g_assert_cmpuint(host.env.slub_max_order, ==, 1);
    g_assert_cmpuint(host.sysfs->rows->len, ==, 1);
    g_assert_cmpint(host.sysfs->slab_kb, ==, 28);
    row = import_fixture_row(host.sysfs, 0, ":A-0000128");
    g_assert_cmpstr(row->alias_names, ==, "pid");
    g_assert_cmpint(row->slabs, ==, 7);
    remove_tree(root);
    g_assert_false(imp_host_read(root, &host, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
}

static void
test_files(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(imp_read_path("/no/such/file", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import-damage/same-row", test_same_row);
    g_test_add_func("/import-damage/bad-rows", test_bad_rows);
    g_test_add_func("/import-damage/no-listing", test_no_listing);
    g_test_add_func("/import-damage/first-versions", test_first_versions);
    g_test_add_func("/import-damage/sysfs-forms", test_sysfs_forms);
    g_test_add_func("/import-damage/sums-that-fail", test_sums_that_fail);
    g_test_add_func("/import-damage/copies", test_copies);
    g_test_add_func("/import-damage/other-forms", test_other_forms);
    g_test_add_func("/import-damage/pages", test_pages);
    g_test_add_func("/import-damage/contradictions", test_contradictions);
    g_test_add_func("/import-damage/too-much", test_too_much);
    g_test_add_func("/import-damage/nul-bytes", test_nul_bytes);
    g_test_add_func("/import-damage/tree-and-host", test_tree_and_host);
    g_test_add_func("/import-damage/files", test_files);
    return g_test_run();
}
