/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real listings from public threads (tests/data): what they are, and the answers that are known of them. */
#include <stdlib.h>
#include <string.h>

#include "imp-check.h"
#include "imp-memory.h"
#include "imp-read.h"
#include "import-cmd.h"
#include "import-fixture.h"
#include "sim-error.h"

#define KIB 1024

/* Which format each is taken for, and how many rows of how many tables. */
static void
test_every_file(void)
{
    static const struct {
        const char *name, *format;
        guint n_rows, n_tables;
    } files[] = {
        {"slabinfo-01.txt", "/proc/slabinfo", 34, 1},
        {"slabinfo-03.txt", "/proc/slabinfo", 67, 1},
        {"cases/slabinfo-05.txt", "/proc/slabinfo", 142, 1},
        {"cases/slabinfo-07.txt", "/proc/slabinfo", 171, 1},
        {"slabinfo-08.txt", "/proc/slabinfo", 6, 1},
        {"slabinfo-11.txt", "/proc/slabinfo", 11, 1},
        {"slabinfo-13.txt", "/proc/slabinfo", 12, 2},
        {"slabinfo-14.txt", "/proc/slabinfo", 10, 1},
        {"slabinfo-15.txt", "/proc/slabinfo", 4, 1},
        {"cases/slabinfotool-01.txt", "the slabinfo tool", 9, 3},
        {"cases/slabinfotool-03.txt", "the slabinfo tool's activity table (-A)", 12, 1},
        {"cases/slabtop-01.txt", "slabtop", 8, 1},
        {"cases/slabtop-03.txt", "slabtop", 7, 1},
        {"cases/slabtop-05.txt", "slabtop", 12, 1},
        {"cases/sysfs-01.txt", "/sys/kernel/slab", 1, 1},
        {"cases/sysfs-03.txt", "/sys/kernel/slab", 1, 1},
        {"cases/sysfs-05.txt", "/sys/kernel/slab", 1, 1},
        {"cases/crash-02.txt", "crash kmem -s", 1, 1},
        {"cases/perfkmem-01.txt", "perf kmem stat", 8, 2},
        {"cases/usage-01.txt", "a list of memory by cache", 15, 2},
        {"cases/kmem-01.txt", "a trace of kmem events", 0, 0},
        {"cases/kmem-03.txt", "a trace of kmem events", 0, 0},
        {"cases/kmem-05.txt", "a trace of kmem events", 0, 0},
        {"cases/kmem-08.txt", "a trace of kmem events", 0, 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(ImpDump) dump = import_fixture_load(files[i].name);

        g_test_message("%s", files[i].name);
        g_assert_cmpstr(dump->format, ==, files[i].format);
        g_assert_cmpuint(dump->rows->len, ==, files[i].n_rows);
        g_assert_cmpuint(dump->tables->len, ==, files[i].n_tables);
        g_assert_cmpuint(dump->n_bad_rows, ==, 0);
    }
}

/* The CPUs that the threads state lie in the range that the orders leave; where none are stated the range is the one
 * that kmalloc-192 and kmalloc-512 pin by hand. */
static void
test_machines(void)
{
    static const struct {
        const char *name;
        guint cpus_low, cpus_high, kernel_low, kernel_high;
    } files[] = {
        {"slabinfo-01.txt", 8, 15, 0, SLAB_KERNEL(4, 19)},
        {"slabinfo-03.txt", 2, 3, SLAB_KERNEL(3, 14), SLAB_KERNEL(4, 19)},       /* 2 */
        {"cases/slabinfo-05.txt", 2, 3, SLAB_KERNEL(3, 14), SLAB_KERNEL(4, 19)}, /* 2 */
        {"cases/slabinfo-07.txt", 4, 7, SLAB_KERNEL(6, 4), SLAB_KERNEL(6, 14)},  /* 4 */
        {"slabinfo-08.txt", 4, 7, SLAB_KERNEL(6, 3), 0},                         /* 4 */
        {"slabinfo-14.txt", 8, 15, SLAB_KERNEL(3, 14), 0},
        {"slabinfo-15.txt", 8, 0, 0, SLAB_KERNEL(4, 19)},
        {"cases/slabtop-01.txt", 16, 127, 0, 0},                /* 16 */
        {"cases/slabtop-03.txt", 8, 15, 0, SLAB_KERNEL(4, 19)}, /* 8 */
        {"cases/slabtop-05.txt", 16, 127, SLAB_KERNEL(5, 14), 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(ImpDump) dump = import_fixture_load(files[i].name);
        ImpMachine machine = import_fixture_machine(dump, 0);

        g_test_message("%s", files[i].name);
        g_assert_true(machine.knows_page_size);
        g_assert_cmpuint(machine.env.page_size_bytes, ==, 4096);
        g_assert_true(machine.knows_cpus);
        g_assert_cmpuint(machine.cpus_low, ==, files[i].cpus_low);
        g_assert_cmpuint(machine.cpus_high, ==, files[i].cpus_high);
        g_assert_cmpuint(machine.n_misfits, ==, 0);
        g_assert_cmpuint(machine.kernel_low, ==, files[i].kernel_low);
        g_assert_cmpuint(machine.kernel_high, ==, files[i].kernel_high);
    }
}

/* The sums of slabs times pages that the collection states, beside the kernel's own total. */
static void
test_sums(void)
{
    static const struct {
        const char *name;
        gint64 sum_kib, slab_kb, mem_total_kb;
    } files[] = {
        {"slabinfo-03.txt", 23272, -1, -1},
        {"cases/slabinfo-05.txt", 196400, 199948, 8164548},
        {"cases/slabinfo-07.txt", 189812, 205396, 7905520},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(ImpDump) dump = import_fixture_load(files[i].name);
        ImpMachine machine = import_fixture_machine(dump, 0);
        g_autoptr(ImpMemoryTable) memory = imp_memory_new(dump, 0, &machine);
        gint64 by_order = 0;

        imp_check_table(dump, 0, &machine);
        g_assert_cmpint(dump->slab_kb, ==, files[i].slab_kb);
        g_assert_cmpint(dump->mem_total_kb, ==, files[i].mem_total_kb);
        /* Close, so no contradiction; equality is not to be had. */
        g_assert_false(imp_dump_has_note(dump, "add up to"));
        for (guint order = 0; order < G_N_ELEMENTS(memory->by_order); order++)
            by_order += memory->by_order[order];
        g_assert_cmpint(by_order, ==, memory->sum.total);
        g_assert_cmpint(memory->sum.in_use + memory->sum.free + memory->sum.padding, ==, memory->sum.total);
        g_assert_cmpint(memory->sum.total / KIB, ==, files[i].sum_kib);
    }
}

/* A leak: the answer is that no setting helps, and nothing weaker. */
static void
test_leaks(void)
{
    static const struct {
        const char *name, *cache;
    } files[] = {{"cases/slabtop-01.txt", "- ebitmap_node: 45906648 KiB, 100.0 %"},
                 {"cases/slabtop-03.txt", "- kmalloc-1024: 1069376 KiB, 100.0 %"}};

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(ImpDump) dump = import_fixture_load(files[i].name);
        g_autofree char *text = import_fixture_inspect(dump, 0);

        g_test_message("%s: %s", files[i].name, text);
        g_assert_nonnull(strstr(text, "No SLUB setting frees memory here"));
        g_assert_nonnull(strstr(text, files[i].cache));
        g_assert_null(strstr(text, "- shrink"));
    }
}

/* CPUs might hold 1.1 % of this listing: too much for the plain word, but not for the cache that leaks. */
static void
test_leak_among_others(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("slabinfo-11.txt");
    g_autofree char *text = import_fixture_inspect(dump, 0);

    g_assert_null(strstr(text, "No SLUB setting frees memory here"));
    g_assert_nonnull(strstr(text, "next to nothing"));
    g_assert_nonnull(strstr(text, "- ndpi_ctinfo: 721224 KiB, 100.0 % of its slots in use: no setting frees them"));
}

/* Order 0 changes little for 64-byte objects and much for large ones (the thread on over-eager swapping). */
static void
test_order0(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("slabinfo-01.txt");
    ImpMachine machine = import_fixture_machine(dump, 0);
    g_autoptr(ImpMemoryTable) memory = imp_memory_new(dump, 0, &machine);
    g_autofree char *text = import_fixture_inspect(dump, 0);
    guint n_seen = 0;

    for (guint i = 0; i < memory->caches->len; i++) {
        const ImpMemory *cache = &g_array_index(memory->caches, ImpMemory, i);
        double change = (double) (cache->packed_order0 - cache->packed) / (double) cache->packed;

        if (g_str_equal(cache->row->name, "kmalloc-64")) {
            g_assert_cmpfloat(change, ==, 0);
            g_assert_cmpint(cache->free / KIB, ==, (7455232 - 7030122) * 64 / KIB);
            n_seen++;
        } else if (g_str_equal(cache->row->name, "task_struct")) {
            /* 20 in 32 KiB against 2 in 4 KiB. */
            g_assert_cmpfloat_with_epsilon(change, 336 * 4.0 / (34 * 32.0) - 1, 1e-9);
            n_seen++;
        }
    }
    g_assert_cmpuint(n_seen, ==, 2);
    g_assert_null(strstr(text, "No SLUB setting"));
    g_assert_nonnull(strstr(text, "Settings could give back at most"));
}

/* One 32 KiB object in an order-4 slab: half is padding; and slabs of a lower order were needed. */
static void
test_half_empty_slab(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/sysfs-05.txt");
    const ImpRow *row = import_fixture_row(dump, 0, "pgtable-2^12");
    ImpMachine machine = import_fixture_machine(dump, 0);
    g_autoptr(ImpMemoryTable) memory = imp_memory_new(dump, 0, &machine);

    g_assert_true(row->has_ctor);
    g_assert_cmpint(row->stride_bytes, ==, 65536);
    g_assert_cmpint(row->cpu_partial, ==, 2);
    g_assert_cmpint(row->cpu_list_slabs, ==, 7);
    g_assert_cmpint(row->cpu_slabs, ==, 11);
    g_assert_cmpint(row->stats->total[SLAB_STAT_ORDER_FALLBACK], ==, 13);
    g_assert_cmpint(memory->sum.padding, ==, memory->sum.in_use);
    g_assert_cmpint(memory->sum.in_use, ==, 67 * 32768);
    g_assert_cmpint(memory->sum.cpu_lists, ==, 7 * 65536);
    g_assert_cmpuint(dump->n_listed_cpus, ==, 4);
}

/* Producer on CPU 0, consumer on CPU 4. */
static void
test_activity(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/sysfs-03.txt");
    g_autofree char *text = import_fixture_inspect(dump, 0);

    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "allocations: 93612153, 95.3 % fast"));
    g_assert_nonnull(strstr(text, "frees: 93018673, 22.8 % fast"));
    g_assert_nonnull(strstr(text, "slabs made: 2831313 (3.02 for 100 calls), 100.0 % of them on CPU 0"));
    g_assert_nonnull(strstr(text, "slabs given back: 2831186 (3.04 for 100 calls), 100.0 % of them on CPU 4"));
    g_assert_cmpuint(dump->n_listed_cpus, ==, 8);
}

/* German complaints of grep, cpu_partial 0, "0(0)". */
static void
test_foreign_words(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/sysfs-01.txt");
    const ImpRow *row = import_fixture_row(dump, 0, "unnamed");

    g_assert_cmpint(row->cpu_partial, ==, 0);
    g_assert_cmpint(row->cpu_list_slabs, ==, 0);
    g_assert_cmpint(row->total_objects, ==, 2550);
    g_assert_cmpint(row->n_aliases, ==, 9);
    g_assert_cmpuint(dump->n_listed_nodes, ==, 1);
    g_assert_true(imp_dump_has_note(dump, "name of the cache"));
}

static void
test_no_data(void)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", "cases", "sysfs-07.txt", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_null(imp_read_path(path, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
    g_assert_nonnull(strstr(error->message, "no data"));
    g_assert_nonnull(strstr(error->message, "all 8 files were refused"));
}

/* The old SLAB: recognised, its stages told apart by the objects of a slab, and no advice. */
static void
test_old_slab(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("slabinfo-13.txt");
    g_autofree char *before = import_fixture_inspect(dump, 0), *after = import_fixture_inspect(dump, 1);

    g_assert_true(dump->is_old_slab);
    g_assert_cmpstr(dump->tables->pdata[0], ==, "Before");
    g_assert_nonnull(strstr(before, "stage 1 (3.13 and 3.14)"));
    g_assert_nonnull(strstr(after, "stage 2 (from 3.15)"));
    g_assert_null(strstr(after, "cpu_partial 0:"));
}

/* kmalloc-1k of 3072 bytes: padded by red zones, which cannot be told from less debugging. */
static void
test_debug_padding(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("slabinfo-08.txt");
    ImpMachine machine = import_fixture_machine(dump, 0);

    g_assert_true(machine.is_debug);
    g_assert_cmpuint(machine.debug_flags, ==, SLAB_RED_ZONE);
    g_assert_true(imp_dump_has_note(dump, "takes 3072 bytes"));
}

/* A burst that lasts less than a second shows between samples; the middle one was damaged in pasting. */
static void
test_samples(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/slabinfotool-01.txt");
    g_autofree char *text = import_fixture_inspect(dump, 1);
    const ImpRow *row = import_fixture_row(dump, 0, "biovec-256");

    /* In the sample before it stands only where the loss is sorted: 12 slabs, of which CPUs hold 5. */
    g_assert_cmpint(row->slabs, ==, 12);
    g_assert_cmpint(row->cpu_slabs, ==, 5);
    g_assert_cmpint(row->bytes, ==, -1);
    g_assert_nonnull(strstr(text, "biovec-256: +8160 KiB, objects in use 46 to 2128"));
    g_assert_nonnull(strstr(dump->tables->pdata[1], "memory used 107409408"));
    g_assert_true(imp_dump_has_note(dump, "repeated"));
    g_assert_true(import_fixture_row(dump, 0, "ext4_inode_cache")->flags & SLAB_RECLAIM_ACCOUNT);
}

/* Slabs of a lower order: slots are no fixed multiple of slabs. */
static void
test_order_fallback(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("slabinfo-14.txt");
    g_autofree char *text = import_fixture_inspect(dump, 0);

    g_assert_cmpint(import_fixture_row(dump, 0, "radix_tree_node")->slabs, ==, 1622);
    g_assert_true(imp_dump_has_note(dump, "radix_tree_node: fewer slots"));
    g_assert_nonnull(strstr(text, "ext4_inode_cache"));
}

static void
test_crash_lists(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/crash-02.txt");
    const ImpRow *row = import_fixture_row(dump, 0, "kmalloc-512");

    g_assert_cmpint(row->slab_bytes, ==, 16384);
    g_assert_cmpint(row->total_objects, ==, 3680);
    g_assert_cmpint(row->cpu_slabs, ==, 2);
    g_assert_cmpint(row->cpu_free_objects, ==, 48);
    g_assert_cmpint(row->partial_slabs, ==, -1);
}

/* Nodes without memory: a few objects in each slab of the first table. */
static void
test_usage(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/usage-01.txt");
    const ImpRow *row = import_fixture_row(dump, 0, "kmalloc-16384");

    g_assert_cmpint(row->bytes, ==, 1404 * G_GINT64_CONSTANT(1048576));
    g_assert_cmpfloat_with_epsilon((double) row->in_use_bytes / (double) row->bytes, 0.049, 1e-6);
    g_assert_cmpint(import_fixture_row(dump, 1, "kmalloc-16384")->bytes, ==, 92 * 1048576);
}

static void
test_call_sites(void)
{
    g_autoptr(ImpDump) dump = import_fixture_load("cases/perfkmem-01.txt");
    const ImpRow *row = import_fixture_row(dump, 0, "load_elf_interp.constprop.10+84");

    g_assert_cmpint(dump->shows, ==, IMP_SHOWS_CALL_SITES);
    g_assert_cmpint(row->bytes, ==, 8704);
    g_assert_cmpint(row->requested_bytes, ==, 6664);
    g_assert_true(imp_dump_has_note(dump, "Net total bytes allocated: 15,825,176"));
}

/* Rounded sizes: the slab and its objects leave one size, or some. */
static void
test_slabtop_sizes(void)
{
    g_autoptr(ImpDump) top = import_fixture_load("cases/slabtop-01.txt");
    g_autoptr(ImpDump) rust = import_fixture_load("cases/slabtop-05.txt");
    const ImpRow *inode = import_fixture_row(top, 0, "ext4_inode_cache");

    g_assert_cmpint(import_fixture_row(top, 0, "ebitmap_node")->stride_bytes, ==, 64);
    g_assert_cmpint(import_fixture_row(top, 0, "task_struct")->slab_bytes, ==, 32768);
    g_assert_cmpint(inode->stride_low_bytes, ==, 1072);
    g_assert_cmpint(inode->stride_high_bytes, ==, 1080);
    /* This one prints objects times size: 39 KiB for ten slabs of a page. */
    g_assert_cmpint(import_fixture_row(rust, 0, "ip_fib_alias")->slab_bytes, ==, 4096);
    g_assert_cmpint(import_fixture_row(rust, 0, "ovl_inode")->slab_bytes, ==, 32768);
    g_assert_true(imp_dump_has_note(rust, "cut short: \"k\""));
}

/* Runs a sub-command on a file of tests/data in a child, which it ends. */
static void
run_command(int (*command)(int, char **), const char *name)
{
    char *path = g_test_build_filename(G_TEST_DIST, "data", name, NULL);
    char program[] = "command";
    char *argv[] = {program, path, NULL};
    int status = command(2, argv);

    g_free(path);
    exit(status);
}

static void
child_import(void)
{
    run_command(import_cmd_import, "slabinfo-03.txt");
}

static void
child_import_old_slab(void)
{
    run_command(import_cmd_import, "slabinfo-13.txt");
}

static void
child_import_trace(void)
{
    run_command(import_cmd_import, "cases/kmem-03.txt");
}

static void
child_import_call_sites(void)
{
    run_command(import_cmd_import, "cases/perfkmem-01.txt");
}

static void
child_import_refused(void)
{
    run_command(import_cmd_import, "cases/sysfs-07.txt");
}

static void
child_import_sizeless(void)
{
    run_command(import_cmd_import, "cases/usage-01.txt");
}

static void
child_inspect(void)
{
    run_command(import_cmd_inspect, "cases/slabinfo-05.txt");
}

static void
child_inspect_old_slab(void)
{
    run_command(import_cmd_inspect, "slabinfo-13.txt");
}

/* Refusals say why on stderr and print no caches. */
static void
test_commands(void)
{
    static const struct {
        const char *child, *message;
    } refusals[] = {
        {"import-old-slab", "*old SLAB allocator, not SLUB*"},
        {"import-trace", "*slubsim replay*"},
        {"import-call-sites", "*call sites, no caches*"},
        {"import-refused", "*no data: all 8 files were refused*"},
        {"import-sizeless", "*without the size of any object*"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autofree char *path = g_strdup_printf("/import-cases/commands/subprocess/%s", refusals[i].child);

        g_test_trap_subprocess(path, 0, 0);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr(refusals[i].message);
        g_test_trap_assert_stdout_unmatched("*object_size=*");
    }
    g_test_trap_subprocess("/import-cases/commands/subprocess/import", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("# Read as /proc/slabinfo*2 to 3 CPUs*--page-size 4K*[kmalloc-64]?object_size=64*");
    g_test_trap_subprocess("/import-cases/commands/subprocess/inspect", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("*Of the kernel's Slab 199948 kB these caches are 98.2 %*");
    g_test_trap_subprocess("/import-cases/commands/subprocess/inspect-old-slab", 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stdout("*This is the old SLAB allocator*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import-cases/every-file", test_every_file);
    g_test_add_func("/import-cases/machines", test_machines);
    g_test_add_func("/import-cases/sums", test_sums);
    g_test_add_func("/import-cases/leaks", test_leaks);
    g_test_add_func("/import-cases/leak-among-others", test_leak_among_others);
    g_test_add_func("/import-cases/order-0", test_order0);
    g_test_add_func("/import-cases/half-empty-slab", test_half_empty_slab);
    g_test_add_func("/import-cases/activity", test_activity);
    g_test_add_func("/import-cases/foreign-words", test_foreign_words);
    g_test_add_func("/import-cases/no-data", test_no_data);
    g_test_add_func("/import-cases/old-slab", test_old_slab);
    g_test_add_func("/import-cases/debug-padding", test_debug_padding);
    g_test_add_func("/import-cases/samples", test_samples);
    g_test_add_func("/import-cases/order-fallback", test_order_fallback);
    g_test_add_func("/import-cases/crash-lists", test_crash_lists);
    g_test_add_func("/import-cases/usage", test_usage);
    g_test_add_func("/import-cases/call-sites", test_call_sites);
    g_test_add_func("/import-cases/slabtop-sizes", test_slabtop_sizes);
    g_test_add_func("/import-cases/commands", test_commands);
    g_test_add_func("/import-cases/commands/subprocess/import", child_import);
    g_test_add_func("/import-cases/commands/subprocess/import-old-slab", child_import_old_slab);
    g_test_add_func("/import-cases/commands/subprocess/import-trace", child_import_trace);
    g_test_add_func("/import-cases/commands/subprocess/import-call-sites", child_import_call_sites);
    g_test_add_func("/import-cases/commands/subprocess/import-refused", child_import_refused);
    g_test_add_func("/import-cases/commands/subprocess/import-sizeless", child_import_sizeless);
    g_test_add_func("/import-cases/commands/subprocess/inspect", child_inspect);
    g_test_add_func("/import-cases/commands/subprocess/inspect-old-slab", child_inspect_old_slab);
    return g_test_run();
}
