/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world-private.h"

#include <string.h>

#include "slub-array.h"

SlubCache *
world_cache(const World *world, const char *name)
{
    for (guint i = 0; i < world->slub->n_caches; i++)
        if (strcmp(world->slub->cache[i]->name, name) == 0)
            return world->slub->front[i];
    g_error("the workload does not name its cache %s", name);
}

static const Workload *
configured_workload(const SimConfig *config)
{
    return workload_find(sim_config_text(config, "workload", "type"));
}

static gboolean
check_caches(const SimConfig *config, const SlabGeometryEnv *env, GError **error)
{
    const Workload *workload = configured_workload(config);
    const char *const *instances = sim_config_instances(config, "cache *");
    const char *const *names = workload_cache_names(workload, config, env->kernel);

    for (guint i = 0; instances && instances[i]; i++)
        if (!g_strv_contains(names, instances[i])) {
            g_autofree char *known = g_strjoinv(", ", (char **) names);
            g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY,
                        "[cache %s]: the workload %s has no such cache (allowed: %s)", instances[i], workload->name,
                        known);
            return FALSE;
        }
    for (; *names; names++) {
        SlabGeometry geometry;
        if (!world_cache_geometry(config, env, *names, &geometry, error))
            return FALSE;
    }
    return TRUE;
}

/* Each sample takes memory in proportion to caches and nodes. */
static gboolean
check_samples(const SimConfig *config, GError **error)
{
    const SimTime max_samples = 100000;
    SimTime end = sim_config_time(config, "run", "warmup") + sim_config_time(config, "run", "duration");
    SimTime interval = sim_config_time(config, "run", "sample_interval");

    if (interval > 0 && end / interval > max_samples)
        return sim_config_error(config, "run", "sample_interval", error,
                                "%" G_GINT64_FORMAT " samples in a run (allowed: up to %" G_GINT64_FORMAT ")",
                                end / interval, max_samples);
    return TRUE;
}

/* A CPU that waits for another one with the only core would never get on. */
static gboolean
check_host(const SimConfig *config, const Workload *workload, GError **error)
{
    if (workload->shares_host || sim_config_int(config, "machine", "host_cores") == 0)
        return TRUE;
    return sim_config_error(config, "machine", "host_cores", error,
                            "the workload %s is not modelled in a virtual machine whose CPUs share cores",
                            workload->name);
}

gboolean
world_check(const SimConfig *config, GError **error)
{
    const Workload *workload = configured_workload(config);
    g_autoptr(MachTopology) topology = mach_topology_new(config, error);
    SlabGeometryEnv env;
    SlubLayers layers;

    return topology && check_samples(config, error) && world_geometry_env(config, topology, &env, error) &&
           world_layers(config, env.kernel, &layers, error) && check_caches(config, &env, error) && check_host(config, workload, error) &&
           (!workload->check || workload->check(config, topology, error));
}

void
world_free(World *world)
{
    memcg_free(world->memcg);
    slub_system_free(world->slub);
    mach_machine_free(world->machine);
    mach_topology_free(world->topology);
    g_free(world->cpu);
    g_free(world);
}

/* Caches are made before the workload is set up, in the order in which it names them. */
static gboolean
add_caches(World *world, const Workload *workload, GError **error)
{
    const char *const *names;
    SlabGeometryEnv env;
    double fallback = sim_config_real(world->config, "slub", "order_fallback");

    if (!world_geometry_env(world->config, world->topology, &env, error))
        return FALSE;
    names = workload_cache_names(workload, world->config, env.kernel);
    for (; *names; names++) {
        guint array_capacity = world_array_capacity(world->config, *names);
        SlabGeometry geometry;
        SlubCache *cache;

        if (!world_cache_geometry(world->config, &env, *names, &geometry, error))
            return FALSE;
        cache = slub_cache_new(world->slub, *names, &geometry, fallback, TRUE);
        if (array_capacity && !slub_array_set_up(cache, array_capacity, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
build(World *world, WorldRun *run, const SlubObserver *observer, GError **error)
{
    world->machine = mach_machine_new(world->topology, world->config, world->seed, world->replication,
                                      run->checkpoint, run->n_checkpoints, 1);
    world->machine->on_checkpoint = world_on_checkpoint;
    world->machine->on_checkpoint_data = run;
    world->slub = world_slub_new(world->config, world->machine, error);
    if (!world->slub)
        return FALSE;
    world->slub->observer = observer;
    if (!add_caches(world, run->workload, error) || !world_add_memcg(world, error))
        return FALSE;
    world_add_latency(world);
    run->workload_state = run->workload->setup(world, error);
    if (!run->workload_state)
        return FALSE;
    world_run_add_observer(run);
    return TRUE;
}

/* Slices only decide how soon a cancelled run notices. */
static gboolean
run_to_the_end(World *world, const SimRunInput *input, GError **error)
{
    SimEngine *engine = world->machine->engine;
    SimTime until = 0;

    while (sim_engine_run(engine, until)) {
        if (world->machine->failure)
            break;
        if (input->cancel && g_atomic_int_get(input->cancel)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_INTERRUPTED, "stopped at %.3f ms of simulated time",
                        sim_time_to_seconds(until) * 1e3);
            return FALSE;
        }
        until = MAX(until + SIM_MS, sim_engine_next_time(engine));
    }
    if (world->machine->failure) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s", world->machine->failure);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_window(const WorldRun *run, GError **error)
{
    const World *world = run->world;

    if (world_window_end(run) > world->warmup)
        return TRUE;
    return sim_config_error(world->config, "run", "warmup", error,
                            "the workload was done after %.6f ms, so nothing was measured",
                            sim_time_to_seconds(world_window_end(run)) * 1e3);
}

static void
report(const WorldRun *run, SimRecord *record)
{
    World *world = run->world;

    for (guint i = 0; i < world->machine->n_cpus; i++)
        mach_finish_checkpoints(&world->machine->cpu[i]);
    world_report(run, record);
    world_report_latency(world, record);
    if (world->memcg)
        memcg_report(world->memcg, record);
    if (run->workload->report)
        run->workload->report(world, run->workload_state, record);
    sim_record_set_fingerprint(record, world->machine->engine->fingerprint);
}

World *
world_run_keeping(const SimRunInput *input, SimRecord *record, const SlubObserver *observer, GError **error)
{
    const SimConfig *config = input->config;
    MachTopology *topology = mach_topology_new(config, error);
    World *world;
    WorldRun *run;
    gboolean ok;

    if (!topology)
        return NULL;
    world = g_new0(World, 1);
    *world = (World){
        .config = config,
        .seed = input->seed,
        .replication = input->replication,
        .starts_mixed = strcmp(input->start, "mixed") == 0,
        .warmup = sim_config_time(config, "run", "warmup"),
        .topology = topology,
        .cpu = g_new0(WorldCpu, topology->n_cpus),
    };
    world->end = world->warmup + sim_config_time(config, "run", "duration");
    run = world_run_new(world, configured_workload(config), sim_config_time(config, "run", "sample_interval"));
    ok = build(world, run, observer, error) && run_to_the_end(world, input, error) && check_window(run, error);
    if (ok)
        report(run, record);
    world_run_free(run);
    if (!ok)
        g_clear_pointer(&world, world_free);
    return world;
}

gboolean
world_run(const SimRunInput *input, SimRecord *record, GError **error)
{
    World *world = world_run_keeping(input, record, NULL, error);

    if (!world)
        return FALSE;
    world_free(world);
    return TRUE;
}
