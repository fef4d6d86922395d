/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-world.h"

/* Workloads of cgroups and of the old SLAB allocator: sendfile, page_faults, cgroup_caches, slab_old_fill. */

static double
per_operation(const TestWorld *test, MemcgStat stat)
{
    return (double) memcg_stat(test->world.memcg, stat) / (double) test_world_operations(test);
}

#define SENDFILE                                                                                                       \
    "machine.profile=xeon72;kernel.version=6.15;memcg.mode=user;workload.charges=9;"                                   \
    "workload.send_compute=2 us;"

/* Each send charges nine pages to two cgroups on one CPU and gives them back on another. With a slot for both a walk is
 * due for every 64 pages charged and, as a stock is emptied when it holds more, for every 65 given back; with one slot
 * every charge walks for its batch and for what the other one left, every page given back for the other's. */
static void
test_slots(void)
{
    g_autoptr(TestWorld) seven = test_world_finished(
        "sendfile", SENDFILE "run.duration=4 ms;workload.pairs=4;memcg.groups=5;memcg.page_slots=7");
    g_autoptr(TestWorld) one = test_world_finished(
        "sendfile", SENDFILE "run.duration=4 ms;workload.pairs=4;memcg.groups=5;memcg.page_slots=1");
    g_autoptr(TestWorld) together = test_world_finished(
        "sendfile", SENDFILE "run.duration=4 ms;workload.pairs=4;memcg.groups=1;memcg.page_slots=1");

    g_assert_cmpfloat_with_epsilon(per_operation(seven, MEMCG_STAT_COUNTER_WALKS), 18.0 / 64 + 18.0 / 65, 0.03);
    g_assert_cmpfloat_with_epsilon(per_operation(one, MEMCG_STAT_COUNTER_WALKS), 2 * 18 + 18, 1);
    /* Client and server in one cgroup need but one slot. */
    g_assert_cmpfloat_with_epsilon(per_operation(together, MEMCG_STAT_COUNTER_WALKS), 18.0 / 64 + 18.0 / 65, 0.03);
    g_assert_cmpuint(test_world_operations(seven), >, test_world_operations(one));
}

/* MCG-19, MCG-20: updates of protection cost most on the usage's own line, less on another, nothing when left out. */
static void
test_protection(void)
{
    static const char *const places[] = {"same-line", "own-line", "inside"};
    guint64 last = 0;

    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *settings =
            g_strconcat(SENDFILE "workload.pairs=36;workload.client_groups=1;memcg.groups=2;memcg.depth=4;"
                                 "memcg.page_slots=1;run.duration=8 ms;memcg.protection=",
                        places[i], NULL);
        g_autoptr(TestWorld) test = test_world_finished("sendfile", settings);

        g_assert_cmpuint(test_world_operations(test), >, last + last / 10);
        last = test_world_operations(test);
    }
}

/* The root's counter protects nothing, and a group whose only counter that is pays for no exchange. */
static void
test_protection_of_the_root(void)
{
    g_autoptr(TestWorld) always =
        test_world_finished("sendfile", SENDFILE "workload.pairs=4;memcg.groups=5;memcg.depth=1;"
                                                 "memcg.protection=same-line");
    g_autoptr(TestWorld) inside =
        test_world_finished("sendfile", SENDFILE "workload.pairs=4;memcg.groups=5;memcg.depth=1");

    g_assert_cmpuint(test_world_operations(always), ==, test_world_operations(inside));
}

/* Each client in its cgroup and the servers in the next: all of them were charged. */
static void
test_groups(void)
{
    g_autoptr(TestWorld) own = test_world_finished("sendfile", SENDFILE "workload.pairs=4;memcg.groups=5");
    g_autoptr(TestWorld) two =
        test_world_finished("sendfile", SENDFILE "workload.pairs=4;workload.client_groups=2;memcg.groups=5");

    for (guint i = 0; i < 5; i++) {
        g_assert_cmpint(memcg_counter_pages(memcg_group(own->world.memcg, i), 0), >, 0);
        g_assert_cmpint(memcg_counter_pages(memcg_group(two->world.memcg, i), 0) > 0, ==, i < 3);
    }
}

static guint64
sends(const char *settings)
{
    g_autofree char *all = g_strconcat("machine.profile=xeon72;kernel.version=6.15;run.duration=4 ms;"
                                       "workload.pairs=4;workload.send_compute=2 us;",
                                       settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("sendfile", all);

    return test_world_operations(test);
}

/* With a window of one send a client waits until its server has taken that; updates of a shared line take their time.
 */
static void
test_sends(void)
{
    guint64 free_running = sends("workload.window=16");

    g_assert_cmpuint(free_running, >, 4 * 1900); /* a send every 2 us */
    g_assert_cmpuint(free_running, <=, 4 * 2000);
    g_assert_cmpuint(sends("workload.window=1"), <, free_running * 9 / 10);
    g_assert_cmpuint(sends("workload.window=16;workload.shared_updates=20"), <, free_running * 8 / 10);
}

/* 10 KiB of 8 bits, a thousand times a second. */
static void
test_mbit(void)
{
    g_autoptr(TestWorld) test = test_world_finished("sendfile", SENDFILE "workload.pairs=1;memcg.groups=2");
    g_autoptr(SimRecord) record = sim_record_new();
    double mbit;

    sim_record_add_metric(record, "throughput_ops_per_s", 1000);
    test->workload->report(&test->world, test->state, record);
    g_assert_true(sim_record_find_metric(record, "throughput_mbit_per_s", &mbit));
    g_assert_cmpfloat_with_epsilon(mbit, 81.92, 1e-9);
}

#define FAULTS                                                                                                         \
    "machine.profile=x86-8-2009;kernel.version=5.10;memcg.depth=1;memcg.page_slots=0;run.duration=20 ms;"              \
    "workload.fault_tasks=8;workload.region_pages=64;"

/* Without a stock each fault walks once, and each page or each region given back once more. */
static void
test_faults(void)
{
    g_autoptr(TestWorld) off = test_world_finished("page_faults", FAULTS "memcg.mode=off");
    g_autoptr(TestWorld) page = test_world_finished("page_faults", FAULTS "memcg.mode=user;workload.uncharge=page");
    g_autoptr(TestWorld) region = test_world_finished("page_faults", FAULTS "memcg.mode=user;workload.uncharge=region");

    g_assert_null(off->world.memcg);
    g_assert_cmpfloat_with_epsilon(per_operation(page, MEMCG_STAT_COUNTER_WALKS), 2, 0.001);
    g_assert_cmpfloat_with_epsilon(per_operation(region, MEMCG_STAT_COUNTER_WALKS), 1 + 1.0 / 64, 0.001);
    g_assert_cmpuint(test_world_operations(off), >, test_world_operations(region));
    g_assert_cmpuint(test_world_operations(region), >, test_world_operations(page));
    g_assert_cmpint(memcg_counter_pages(memcg_group(page->world.memcg, 0), 0), ==, 0); /* regions end unmapped */
}

static double
fault_ns(const char *settings)
{
    g_autofree char *all = g_strconcat(
        "kernel.version=5.10;memcg.mode=user;memcg.page_slots=0;run.duration=20 ms;workload.uncharge=page;"
        "workload.region_pages=1;workload.fault_compute=1000 ns;costs.objcg_atomic=10 ns;costs.line_own=5 ns;",
        settings, NULL);
    g_autoptr(TestWorld) test = test_world_finished("page_faults", all);

    return 20e6 / (double) test_world_operations(test);
}

/* One cgroup of the path has memory.min and memory.low, however deep it is: both walks of a fault make two exchanges
 * more, on a line that the CPU has. Under v1 there are no such limits. */
static void
test_protected_level(void)
{
    static const char *const shapes[] = {"memcg.depth=2", "memcg.depth=5", "memcg.depth=2;memcg.hierarchy=v1",
                                         "memcg.depth=1"};

    for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
        g_autofree char *always = g_strconcat(shapes[i], ";memcg.protection=same-line", NULL);

        g_assert_cmpfloat_with_epsilon(fault_ns(always) - fault_ns(shapes[i]), i < 2 ? 2 * 2 * (10 + 5) : 0, 1);
    }
}

/* SEED2-01 to -17. Slabs hold at least the objects taken, at most these and a full array. */
static void
test_fill(void)
{
    static const struct {
        const char *cache;
        guint of_int, of_byte; /* objects of a slab */
    } rows[] = {{"kmalloc-32", 113, 124}, {"kmalloc-64", 60, 63},  {"kmalloc-96", 31, 31}, {"kmalloc-128", 31, 31},
                {"kmalloc-192", 20, 21},  {"kmalloc-256", 15, 16}, {"kmalloc-512", 8, 8},  {"kmem_cache", 20, 21}};
    const guint n_taken = 5000, most_in_array = 120;

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        for (guint is_byte = 0; is_byte < 2; is_byte++) {
            guint objects = is_byte ? rows[i].of_byte : rows[i].of_int;
            g_autofree char *settings =
                g_strdup_printf("kernel.version=5.10;machine.cores_per_l3=4;workload.fill_objects=%u;"
                                "workload.fill_cache=%s;workload.fill_stage=%s",
                                n_taken, rows[i].cache, is_byte ? "byte-index" : "int-index");
            g_autoptr(TestWorld) test = test_world_finished("slab_old_fill", settings);

            g_assert_cmpfloat(test_world_metric(test, "slab_objects"), ==, objects);
            g_assert_cmpfloat(test_world_metric(test, "filled_slabs") * objects, >=, n_taken);
            g_assert_cmpfloat(test_world_metric(test, "filled_slabs") * objects, <, n_taken + most_in_array + objects);
        }
    }
}

#define CGROUPS "machine.cores_per_l3=8;kernel.version=5.10;workload.own_caches="

/* Objects kept are the same; one cgroup has one set of caches either way; the more cgroups, the more own caches waste.
 */
static void
test_own_caches(void)
{
    static const char *const numbers[] = {"1", "10", "40"};
    double last_ratio = 1.001;

    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *own_settings = g_strconcat(CGROUPS "true;workload.cgroups=", numbers[i], NULL);
        g_autofree char *shared_settings = g_strconcat(CGROUPS "false;workload.cgroups=", numbers[i], NULL);
        g_autoptr(TestWorld) own = test_world_finished("cgroup_caches", own_settings),
                             shared = test_world_finished("cgroup_caches", shared_settings);
        double own_bytes = test_world_metric(own, "slabs_bytes"),
               shared_bytes = test_world_metric(shared, "slabs_bytes");

        g_assert_cmpfloat_with_epsilon(test_world_metric(own, "utilisation_percent") * own_bytes,
                                       test_world_metric(shared, "utilisation_percent") * shared_bytes,
                                       1e-9 * own_bytes * 100);
        g_assert_cmpfloat(test_world_metric(shared, "utilisation_percent"), <, 100);
        g_assert_cmpfloat(shared_bytes / own_bytes, <, last_ratio);
        if (i == 0)
            g_assert_cmpfloat(shared_bytes, ==, own_bytes);
        last_ratio = shared_bytes / own_bytes;
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cgroups/slots", test_slots);
    g_test_add_func("/cgroups/protection", test_protection);
    g_test_add_func("/cgroups/protected-level", test_protected_level);
    g_test_add_func("/cgroups/protection-of-the-root", test_protection_of_the_root);
    g_test_add_func("/cgroups/groups", test_groups);
    g_test_add_func("/cgroups/sends", test_sends);
    g_test_add_func("/cgroups/mbit", test_mbit);
    g_test_add_func("/cgroups/faults", test_faults);
    g_test_add_func("/cgroups/fill", test_fill);
    g_test_add_func("/cgroups/own-caches", test_own_caches);
    return g_test_run();
}
