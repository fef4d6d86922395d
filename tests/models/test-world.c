/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-world.h"

#include <glib/gstdio.h>
#include <string.h>

#include "slub-array.h"
#include "world-private.h"

static const char scenario[] = "[scenario]\ntitle = test\n[run]\nduration = 1 s\n[workload]\ntype = ";

SimPlan *
test_world_plan(const char *workload_name, const char *settings)
{
    g_autoptr(GString) text = g_string_new(scenario);
    g_autofree char *path = NULL;
    g_auto(GStrv) sets = g_strsplit(settings, ";", -1);
    g_autoptr(GError) error = NULL;
    SimPlan *plan;
    int file = g_file_open_tmp("XXXXXX.scenario", &path, &error);

    g_assert_no_error(error);
    g_close(file, NULL);
    g_string_append_printf(text, "%s\n", workload_name);
    for (char **set = sets; *set; set++) /* a key can be set in a group that is there */
        if (g_str_has_prefix(*set, "cache ")) {
            g_autofree char *group = g_strndup(*set, strcspn(*set, "."));

            if (!strstr(text->str, group))
                g_string_append_printf(text, "[%s]\n", group);
        }
    g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
    plan = sim_plan_load(world_schema(), path, (const char *const *) sets, NULL, &error);
    g_unlink(path);
    g_assert_no_error(error);
    return plan;
}

static void
on_checkpoint(MachCpu *cpu, guint index, void *data)
{
    world_read_cpu(&((TestWorld *) data)->world, cpu, index == 1);
}

static void
add_caches(TestWorld *test)
{
    World *world = &test->world;
    const char *const *names = workload_cache_names(test->workload, world->config, world->slub->kernel);
    SlabGeometryEnv env;
    g_autoptr(GError) error = NULL;

    world_geometry_env(world->config, world->topology, &env, &error);
    g_assert_no_error(error);
    for (; *names; names++) {
        guint array_capacity = world_array_capacity(world->config, *names);
        SlabGeometry geometry;
        SlubCache *cache;

        world_cache_geometry(world->config, &env, *names, &geometry, &error);
        g_assert_no_error(error);
        cache = slub_cache_new(world->slub, *names, &geometry, 0, FALSE);
        if (array_capacity)
            slub_array_set_up(cache, array_capacity, &error);
        g_assert_no_error(error);
    }
}

TestWorld *
test_world_new(const char *workload_name, const char *settings, guint64 seed)
{
    TestWorld *test = g_new0(TestWorld, 1);
    World *world = &test->world;
    g_autoptr(GError) error = NULL;

    test->plan = test_world_plan(workload_name, settings);
    test->workload = workload_find(workload_name);
    world->config = sim_plan_config(test->plan, 0);
    world->seed = seed;
    world->topology = mach_topology_new(world->config, &error);
    g_assert_no_error(error);
    world->warmup = test->checkpoint[0] = sim_config_time(world->config, "run", "warmup");
    world->end = test->checkpoint[1] = world->warmup + sim_config_time(world->config, "run", "duration");
    world->cpu = g_new0(WorldCpu, world->topology->n_cpus);
    world->machine = mach_machine_new(world->topology, world->config, seed, 0, test->checkpoint, 2, 0);
    world->machine->on_checkpoint = on_checkpoint;
    world->machine->on_checkpoint_data = test;
    world->slub = world_slub_new(world->config, world->machine, &error);
    g_assert_no_error(error);
    add_caches(test);
    world_add_memcg(&test->world, &error);
    g_assert_no_error(error);
    return test;
}

void
test_world_free(TestWorld *test)
{
    if (test->state)
        test->workload->free(test->state);
    memcg_free(test->world.memcg);
    slub_system_free(test->world.slub);
    mach_machine_free(test->world.machine);
    mach_topology_free(test->world.topology);
    g_free(test->world.cpu);
    sim_plan_free(test->plan);
    g_free(test);
}

void
test_world_start(TestWorld *test)
{
    g_autoptr(GError) error = NULL;

    test->state = test->workload->setup(&test->world, &error);
    g_assert_no_error(error);
}

gboolean
test_world_step(TestWorld *test)
{
    SimEngine *engine = test->world.machine->engine;

    return sim_engine_run(engine, sim_engine_next_time(engine));
}

void
test_world_run(TestWorld *test)
{
    g_assert_false(sim_engine_run(test->world.machine->engine, SIM_TREE_IDLE - 1));
    g_assert_cmpstr(test->world.machine->failure, ==, NULL);
    for (guint i = 0; i < test->world.machine->n_cpus; i++)
        mach_finish_checkpoints(&test->world.machine->cpu[i]);
}

TestWorld *
test_world_finished(const char *workload_name, const char *settings)
{
    TestWorld *test = test_world_new(workload_name, settings, 1);
    g_autofree char *uncharged = NULL;

    test_world_start(test);
    test_world_run(test);
    for (guint i = 0; i < test->world.slub->n_caches; i++) {
        g_autofree char *why = slub_cache_check(test->world.slub->cache[i]);
        g_assert_cmpstr(why, ==, NULL);
    }
    uncharged = test->world.memcg ? memcg_check(test->world.memcg) : NULL;
    g_assert_cmpstr(uncharged, ==, NULL);
    return test;
}

SimRecord *
test_world_record(const char *workload_name, const char *settings)
{
    g_autoptr(SimPlan) plan = test_world_plan(workload_name, settings);
    SimRunInput input = {.config = sim_plan_config(plan, 0), .seed = 1, .start = "cold"};
    SimRecord *record = sim_record_new();
    g_autoptr(GError) error = NULL;

    world_run(&input, record, &error);
    g_assert_no_error(error);
    return record;
}

double
test_record_metric(const SimRecord *record, const char *name)
{
    double value;

    g_assert_true(sim_record_find_metric(record, name, &value));
    return value;
}

double
test_world_metric(TestWorld *test, const char *name)
{
    g_autoptr(SimRecord) record = sim_record_new();

    test->workload->report(&test->world, test->state, record);
    return test_record_metric(record, name);
}

guint64
test_world_operations(const TestWorld *test)
{
    guint64 n = 0;

    for (guint i = 0; i < test->world.machine->n_cpus; i++)
        n += test->world.cpu[i].n_operations;
    return n;
}

guint64
test_world_stat(const SlubCache *cache, SlabStat stat)
{
    guint64 sum = 0;

    for (guint i = 0; i < cache->system->machine->n_cpus; i++)
        sum += cache->cpu[i].stat[stat];
    return sum;
}

gint64
test_world_objects(const SlubCache *cache)
{
    gint64 sum = 0;

    for (guint i = 0; i < cache->system->machine->n_cpus; i++)
        sum += cache->cpu[i].n_objects;
    return sum;
}
