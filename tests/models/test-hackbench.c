/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-world.h"
#include "wl-hackbench.h"

static Hackbench *
hack_of(const TestWorld *test)
{
    return test->state;
}

static guint64
n_received(const TestWorld *test)
{
    guint64 sum = 0;

    for (guint i = 0; i < test->world.machine->n_cpus; i++)
        sum += test->world.cpu[i].n_operations;
    return sum;
}

static guint64
n_wanted(const TestWorld *test)
{
    const Hackbench *hack = hack_of(test);

    return (guint64) hack->n_channels * hack->n_fds * (guint64) sim_config_int(test->world.config, "workload", "loops");
}

static void
test_data_classes(void)
{
    static const struct {
        guint datasize, class_bytes, limit, wake_limit;
    } rows[] = {
        {1, 512, 278, 69},   {100, 512, 278, 69},  {192, 512, 278, 69},  {193, 1024, 167, 41}, {704, 1024, 167, 41},
        {705, 2048, 93, 23}, {1728, 2048, 93, 23}, {1729, 4096, 49, 12}, {3776, 4096, 49, 12},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        HackSocketLimits limits = hack_socket_limits(rows[i].datasize, 20);

        g_assert_cmpuint(hack_data_class_bytes(rows[i].datasize), ==, rows[i].class_bytes);
        g_assert_cmpuint(limits.limit, ==, rows[i].limit);
        g_assert_cmpuint(limits.wake_limit, ==, rows[i].wake_limit);
        g_assert_cmpuint(limits.capacity, ==, rows[i].limit + 20);
    }
    g_assert_cmpuint(hack_data_class_bytes(3777), ==, 0);
}

static void
test_cache_names(void)
{
    g_autoptr(TestWorld) old = test_world_new("hackbench", "kernel.version=5.13;workload.datasize=704", 1);
    g_autoptr(TestWorld) new = test_world_new("hackbench", "kernel.version=5.14;workload.datasize=3776", 1);
    g_autoptr(TestWorld) pipe = test_world_new("hackbench", "workload.transport=pipe", 1);

    g_assert_cmpuint(old->world.slub->n_caches, ==, 2);
    g_assert_cmpstr(old->world.slub->cache[0]->name, ==, "skbuff_head_cache");
    g_assert_cmpstr(old->world.slub->cache[1]->name, ==, "kmalloc-1k");
    g_assert_cmpstr(new->world.slub->cache[1]->name, ==, "kmalloc-cg-4k");
    g_assert_cmpuint(pipe->world.slub->n_caches, ==, 0);
}

/* All pages are on free lists, per-CPU lists, or held by a pipe. */
static void
check_pages(const TestWorld *test, gint64 n_at_start)
{
    const PageAllocator *pages = test->world.slub->pages;
    const Hackbench *hack = hack_of(test);
    gint64 n = 0;

    for (guint i = 0; i < test->world.topology->n_nodes; i++)
        n += pages->zone[i].free_pages;
    for (guint i = 0; i < test->world.machine->n_cpus; i++)
        n += (gint64) page_pcp_pages(pages, i);
    for (guint i = 0; i < hack->n_channels; i++) {
        g_assert_cmpuint(hack->pipe[i].n_pages, ==, 0);
        n += hack->pipe[i].spare_node != HACK_NO_NODE;
    }
    g_assert_cmpint(n, ==, n_at_start);
}

static void
check_slabs(const TestWorld *test, guint64 n_messages)
{
    for (guint i = 0; i < test->world.slub->n_caches; i++) {
        const SlubCache *cache = test->world.slub->cache[i];
        g_autofree char *why = slub_cache_check(cache);

        g_assert_cmpstr(why, ==, NULL);
        g_assert_cmpint(test_world_objects(cache), ==, 0);
        g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_ALLOC_FASTPATH) +
                             test_world_stat(cache, SLAB_STAT_ALLOC_SLOWPATH),
                         ==, n_messages);
        g_assert_cmpuint(test_world_stat(cache, SLAB_STAT_FREE_FASTPATH) +
                             test_world_stat(cache, SLAB_STAT_FREE_SLOWPATH),
                         ==, n_messages);
    }
}

static void
run_to_the_last_message(const char *settings, guint64 seed)
{
    g_autoptr(TestWorld) test = test_world_new("hackbench", settings, seed);
    gint64 n_pages = 0;
    const Hackbench *hack;

    for (guint i = 0; i < test->world.topology->n_nodes; i++)
        n_pages += test->world.slub->pages->zone[i].free_pages;
    test_world_start(test);
    hack = hack_of(test);
    test_world_run(test);
    g_assert_cmpuint(hack->sched->n_live, ==, 0);
    g_assert_cmpint(hack->sched->ended_at, >, 0);
    for (guint i = 0; i < hack->n_tasks; i++) {
        g_assert_cmpuint(hack->task[i].n_left, ==, 0);
        g_assert_cmpint(hack->task[i].task.state, ==, SCHED_ENDED);
    }
    g_assert_cmpuint(n_received(test), ==, n_wanted(test));
    g_assert_cmpuint(hack->in_flight.value, ==, 0);
    g_assert_cmpuint(hack->blocked_writers.value, ==, 0);
    if (hack->pipe)
        check_pages(test, n_pages);
    else
        check_slabs(test, n_wanted(test));
}

/* No wake-up is lost: every message of every shape arrives. */
static void
test_conservation(gconstpointer data)
{
    static const char *const shapes[] = {
        "machine.sockets=1;machine.cores_per_l3=1;workload.groups=1;workload.fds=1;workload.loops=2000",
        "machine.sockets=1;machine.cores_per_l3=1;workload.groups=2;workload.fds=5;workload.loops=200",
        "machine.sockets=2;machine.cores_per_l3=1;workload.groups=1;workload.fds=1;workload.loops=3000",
        "machine.sockets=2;machine.cores_per_l3=1;workload.groups=3;workload.fds=4;workload.loops=150",
        "machine.sockets=2;machine.cores_per_l3=4;machine.threads_per_core=2;workload.groups=1;workload.fds=3;"
        "workload.loops=300",
        "machine.sockets=2;machine.cores_per_l3=4;workload.groups=4;workload.fds=10;workload.loops=20;"
        "workload.mode=thread",
        "machine.sockets=1;machine.cores_per_l3=6;workload.groups=3;workload.fds=6;workload.loops=60;"
        "workload.bind_cpus=2",
        "machine.sockets=1;machine.cores_per_l3=4;workload.groups=1;workload.fds=4;workload.loops=400;"
        "workload.recv_cost=4 us [1 us .. 5 us] slow readers;workload.pipe_read_cost=4 us [1 us .. 5 us] likewise",
        "machine.sockets=1;machine.cores_per_l3=4;workload.groups=1;workload.fds=4;workload.loops=400;"
        "workload.send_cost=4 us [1 us .. 5 us] slow writers;workload.pipe_write_cost=4 us [1 us .. 5 us] likewise;"
        "workload.datasize=1000",
        "machine.sockets=1;machine.cores_per_l3=4;workload.groups=2;workload.fds=4;workload.loops=100;"
        "workload.slice=20 us;kernel.version=6.12",
    };
    static const char *const placements[] = {"previous", "waker", "idle"};
    guint seed = 1;

    for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
        for (guint p = 0; p < G_N_ELEMENTS(placements); p++)
            for (guint balance = 0; balance < 2; balance++) {
                g_autofree char *settings = g_strconcat(shapes[i], ";workload.transport=", (const char *) data,
                                                        ";workload.placement=", placements[p],
                                                        ";workload.idle_balance=", balance ? "true" : "false", NULL);
                run_to_the_last_message(settings, seed++);
            }
}

/* A slow reader fills its socket; writers race past the limit by fewer than they are. Objects are those in the
 * queues and at most one message in each CPU's hands. */
static void
test_bound(void)
{
    g_autoptr(TestWorld) test =
        test_world_new("hackbench",
                       "machine.sockets=2;machine.cores_per_l3=8;workload.groups=1;workload.fds=8;workload.loops=200;"
                       "workload.call_spread=0;"
                       "workload.recv_cost=9 us [1 us .. 9 us] slow readers",
                       7);
    const Hackbench *hack;
    guint most = 0;

    test_world_start(test);
    hack = hack_of(test);
    while (test_world_step(test)) {
        gint64 in_hand = test_world_objects(hack->head_cache) - (gint64) hack->in_flight.value;
        guint64 n_queued = 0;

        for (guint i = 0; i < hack->n_channels; i++) {
            most = MAX(most, hack->channel[i].n_messages);
            n_queued += hack->channel[i].n_messages;
        }
        g_assert_cmpuint(n_queued, ==, hack->in_flight.value);
        g_assert_cmpint(in_hand, >=, 0);
        g_assert_cmpint(in_hand, <=, 16);
    }
    g_assert_cmpuint(most, >, 278);
    g_assert_cmpuint(most, <, 278 + 8);
    g_assert_cmpuint(hack->in_flight.peak, <, 8 * (278 + 8));
    g_assert_cmpuint(n_received(test), ==, n_wanted(test));
}

/* Writers of a full socket sleep until no more than `wake_limit` messages are left; then all of them wake. */
static void
test_wake_rule(gconstpointer data)
{
    const char *datasize = data;
    g_autofree char *settings =
        g_strconcat("machine.sockets=1;machine.cores_per_l3=4;workload.groups=1;workload.fds=2;workload.loops=900;"
                    "workload.recv_cost=9 us [1 us .. 9 us] slow readers;workload.datasize=",
                    datasize, NULL);
    guint limit = atoi(datasize) == 100 ? 278 : 167, wake_limit = atoi(datasize) == 100 ? 69 : 41;
    g_autoptr(TestWorld) test = test_world_new("hackbench", settings, 3);
    const Hackbench *hack;
    guint n_wakes = 0, n_sleepers[2] = {0}, n_both = 0;

    test_world_start(test);
    hack = hack_of(test);
    while (test_world_step(test))
        for (guint i = 0; i < 2; i++) {
            const HackChannel *channel = &hack->channel[i];
            guint n = 0;

            for (const SchedTask *writer = channel->writers; writer; writer = writer->next)
                n++;
            if (n > n_sleepers[i]) {
                g_assert_cmpuint(channel->n_messages, >=, limit);
            } else if (n < n_sleepers[i]) {
                n_wakes++;
                n_both += n_sleepers[i] == 2;
                g_assert_cmpuint(n, ==, 0);
                g_assert_cmpuint(channel->n_messages, ==, wake_limit);
            }
            n_sleepers[i] = n;
        }
    g_assert_cmpuint(n_wakes, >=, 4);
    g_assert_cmpuint(n_both, >, 0);
}

/* Head before data when a message is made; credit, data, head when it goes. */
static void
test_object_order(void)
{
    g_autoptr(TestWorld) test =
        test_world_new("hackbench",
                       "machine.sockets=2;machine.cores_per_l3=1;workload.groups=1;workload.fds=1;workload.loops=3000;"
                       "workload.placement=previous;workload.idle_balance=false",
                       5);
    gboolean is_head_first = FALSE, is_data_first = FALSE, is_credit_first = FALSE;
    const Hackbench *hack;

    test_world_start(test);
    hack = hack_of(test);
    /* The reader stays on CPU 0, the writer on CPU 1. */
    while (test_world_step(test)) {
        gint64 heads = hack->head_cache->cpu[1].n_objects, datas = hack->data_cache->cpu[1].n_objects;
        gint64 freed_heads = -hack->head_cache->cpu[0].n_objects, freed_datas = -hack->data_cache->cpu[0].n_objects;

        g_assert_cmpint(heads - datas, >=, 0);
        g_assert_cmpint(freed_datas - freed_heads, >=, 0);
        is_head_first |= heads > datas;
        is_data_first |= freed_datas > freed_heads;
        is_credit_first |= heads == datas && datas - freed_datas > (gint64) hack->in_flight.value;
    }
    g_assert_true(is_head_first);
    g_assert_true(is_data_first);
    g_assert_true(is_credit_first);
}

static void
test_binding(void)
{
    g_autoptr(TestWorld) test =
        test_world_new("hackbench",
                       "machine.sockets=1;machine.cores_per_l3=8;workload.groups=3;workload.fds=4;workload.loops=50;"
                       "workload.bind_cpus=2",
                       1);
    const Hackbench *hack;

    test_world_start(test);
    hack = hack_of(test);
    g_assert_cmpuint(test->world.machine->n_active_cpus, ==, 6);
    while (test_world_step(test))
        for (guint i = 0; i < hack->n_tasks; i++)
            g_assert_cmpuint(hack->task[i].task.cpu / 2, ==, hack->task[i].group);
    for (guint i = 0; i < 8; i++)
        g_assert_cmpint(test->world.cpu[i].n_operations > 0, ==, i < 6);
}

/* One CPU, no slabs, no spread: the time is that of the pipe's calls, switches and wake-ups, but for some 17 pages. The
 * costs of the socket's calls do not count. */
static void
test_elapsed(void)
{
    g_autoptr(TestWorld) test =
        test_world_new("hackbench",
                       "machine.sockets=1;machine.cores_per_l3=1;workload.groups=1;workload.fds=3;workload.loops=1000;"
                       "workload.transport=pipe;workload.call_spread=0;workload.pipe_write_cost=1 us [1 us .. 1 us] t;"
                       "workload.pipe_read_cost=2 us [2 us .. 2 us] t;workload.send_cost=9 us [9 us .. 9 us] t;"
                       "workload.recv_cost=9 us [9 us .. 9 us] t",
                       1);
    const Hackbench *hack;
    SimTime expected;
    SchedCounts count;

    test_world_start(test);
    hack = hack_of(test);
    test_world_run(test);
    count = sched_counts(hack->sched, SCHED_MEASURED);
    expected = 9000 * 3 * SIM_US + (SimTime) count.switches * 800 * SIM_NS + (SimTime) count.wake_ups * 400 * SIM_NS;
    g_assert_cmpint(hack->sched->ended_at, >=, expected);
    g_assert_cmpint(hack->sched->ended_at - expected, <, 60 * SIM_US);
}

/* Threads pay for the file's count, twice a message. */
static void
test_thread_cost(void)
{
    SimTime ended_at[2];

    for (guint i = 0; i < 2; i++) {
        g_autofree char *settings =
            g_strconcat("machine.sockets=1;machine.cores_per_l3=1;workload.groups=1;"
                        "workload.fds=1;workload.loops=1000;workload.call_spread=0;workload.mode=",
                        i ? "thread" : "process", NULL);
        g_autoptr(TestWorld) test = test_world_finished("hackbench", settings);

        ended_at[i] = hack_of(test)->sched->ended_at;
    }
    g_assert_cmpint(ended_at[1] - ended_at[0], ==, 1000 * 2 * 60 * SIM_NS);
}

/* Cutting a run into slices of any length changes nothing. */
static void
test_slices(void)
{
    static const char settings[] = "machine.sockets=2;machine.cores_per_l3=3;machine.threads_per_core=2;"
                                   "workload.groups=3;workload.fds=6;run.duration=3 ms;run.warmup=1 ms";
    SimTime slices[] = {SIM_TREE_IDLE - 1, 100 * SIM_US, 777 * SIM_NS};
    guint64 fingerprint = 0, n_messages = 0, n_slow = 0;

    for (guint i = 0; i < G_N_ELEMENTS(slices); i++) {
        g_autoptr(TestWorld) test = test_world_new("hackbench", settings, 11);
        SimEngine *engine = test->world.machine->engine;

        test_world_start(test);
        for (SimTime until = slices[i]; sim_engine_run(engine, until);)
            until += slices[i];
        if (i == 0) {
            fingerprint = engine->fingerprint;
            n_messages = n_received(test);
            n_slow = test_world_stat(hack_of(test)->data_cache, SLAB_STAT_FREE_SLOWPATH);
        }
        g_assert_cmpuint(engine->fingerprint, ==, fingerprint);
        g_assert_cmpuint(n_received(test), ==, n_messages);
        g_assert_cmpuint(test_world_stat(hack_of(test)->data_cache, SLAB_STAT_FREE_SLOWPATH), ==, n_slow);
    }
    g_assert_cmpuint(n_slow, >, 0);
}

/* With 0 the kernel's own: 0.75 ms, once more for each doubling of the CPUs, up to eight. */
static void
test_slice_of_kernel(void)
{
    static const struct {
        guint cores;
        SimTime slice;
    } rows[] = {{1, 750 * SIM_US}, {2, 1500 * SIM_US}, {5, 2250 * SIM_US}, {8, 3 * SIM_MS}, {32, 3 * SIM_MS}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *settings =
            g_strdup_printf("machine.sockets=1;machine.cores_per_l3=%u;workload.slice=0 ms", rows[i].cores);
        g_autoptr(TestWorld) test = test_world_new("hackbench", settings, 1);

        test_world_start(test);
        g_assert_cmpint(hack_of(test)->sched->config.slice, ==, rows[i].slice);
    }
}

/* On one CPU every object dies where it was born and nobody idles; the window's means are those of a plain sum over
 * its events. */
static void
test_report(void)
{
    g_autoptr(TestWorld) test =
        test_world_new("hackbench",
                       "machine.sockets=1;machine.cores_per_l3=1;workload.groups=1;workload.fds=4;run.warmup=5 ms;"
                       "run.duration=20 ms",
                       2);
    g_autoptr(SimRecord) record = sim_record_new();
    SimEngine *engine = test->world.machine->engine;
    const Hackbench *hack;
    double area = 0, blocked = 0;

    test_world_start(test);
    hack = hack_of(test);
    for (SimTime now = 5 * SIM_MS; now < 25 * SIM_MS; now += SIM_US) {
        sim_engine_run(engine, now);
        area += (double) hack->in_flight.value;
        blocked += (double) hack->blocked_writers.value;
    }
    test_world_run(test);
    test->workload->report(&test->world, test->state, record);
    g_assert_cmpfloat(test_record_metric(record, "finished"), ==, 0);
    g_assert_cmpfloat(test_record_metric(record, "same_cpu_free_share"), ==, 1);
    g_assert_cmpfloat(test_record_metric(record, "idle_share"), ==, 0);
    g_assert_cmpfloat_with_epsilon(test_record_metric(record, "in_flight_messages_mean"), area / 20000,
                                   0.02 * area / 20000);
    g_assert_cmpfloat_with_epsilon(test_record_metric(record, "blocked_writer_share"), blocked / 20000 / 4, 0.01);
    g_assert_cmpfloat(test_record_metric(record, "in_flight_messages_peak"), <=, 4 * 278);
    g_assert_cmpfloat(test_record_metric(record, "in_flight_messages_peak"), >=, area / 20000);
}

/* The end comes before the time is over. */
static void
test_report_finished(void)
{
    g_autoptr(TestWorld) test = test_world_new(
        "hackbench", "machine.sockets=1;machine.cores_per_l3=2;workload.groups=1;workload.fds=2;workload.loops=500", 2);
    g_autoptr(SimRecord) record = sim_record_new();

    test_world_start(test);
    test_world_run(test);
    test->workload->report(&test->world, test->state, record);
    g_assert_cmpfloat(test_record_metric(record, "finished"), ==, 1);
    g_assert_cmpfloat(test_record_metric(record, "elapsed_s"), ==, sim_time_to_seconds(hack_of(test)->sched->ended_at));
    g_assert_cmpfloat(test_record_metric(record, "elapsed_s"), <, 0.01);
    g_assert_cmpfloat(test_record_metric(record, "in_flight_messages_mean"), >, 0);
}

static void
test_check(void)
{
    g_autoptr(TestWorld) test = test_world_new("hackbench", "workload.bind_cpus=17", 1);
    g_autoptr(GError) error = NULL;

    g_assert_false(test->workload->check(test->world.config, test->world.topology, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hackbench/data-classes", test_data_classes);
    g_test_add_func("/hackbench/cache-names", test_cache_names);
    g_test_add_data_func("/hackbench/conservation/socket", "socket", test_conservation);
    g_test_add_data_func("/hackbench/conservation/pipe", "pipe", test_conservation);
    g_test_add_func("/hackbench/bound", test_bound);
    g_test_add_data_func("/hackbench/wake-rule/512", "100", test_wake_rule);
    g_test_add_data_func("/hackbench/wake-rule/1k", "200", test_wake_rule);
    g_test_add_func("/hackbench/object-order", test_object_order);
    g_test_add_func("/hackbench/binding", test_binding);
    g_test_add_func("/hackbench/elapsed", test_elapsed);
    g_test_add_func("/hackbench/thread-cost", test_thread_cost);
    g_test_add_func("/hackbench/slices", test_slices);
    g_test_add_func("/hackbench/slice-of-kernel", test_slice_of_kernel);
    g_test_add_func("/hackbench/report", test_report);
    g_test_add_func("/hackbench/report/finished", test_report_finished);
    g_test_add_func("/hackbench/check", test_check);
    return g_test_run();
}
