/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast path inline on one CPU: slub_alloc() and slub_free() in bursts of ten (an iteration of mmap1 makes eleven of
 * each) beside pops and pushes of a bare hot freelist. And the memory that slabs and live objects take. */
#include "bench.h"
#include "sim-gsl.h"
#include "sim-plan.h"
#include "slub.h"

#include <glib/gstdio.h>
#include <unistd.h>

enum {
    N_PAIRS = 2000000,
    N_BURST = 10,
    N_LIVE = 4000000,
    N_FREELIST = 32,
    OBJECT_BYTES = 256,
    KERNEL = SLAB_KERNEL(6, 5)
};

/* The caller works with its objects between two operations: nothing stays in registers. */
#define USE_OBJECTS() __asm__ volatile("" : : : "memory")

typedef struct {
    guint32 next[N_FREELIST], head;
} Freelist;

static void
freelist_pairs(void *data)
{
    Freelist *list = data;
    guint32 object[N_BURST];

    for (guint i = 0; i < N_PAIRS; i += N_BURST) {
        for (guint k = 0; k < N_BURST; k++) {
            object[k] = list->head;
            list->head = list->next[object[k]];
            USE_OBJECTS();
        }
        for (guint k = N_BURST; k-- > 0;) {
            list->next[object[k]] = list->head;
            list->head = object[k];
            USE_OBJECTS();
        }
    }
}

typedef struct {
    MachCpu *cpu;
    SlubCache *cache;
    SlabId *live; /* [N_LIVE] */
    void (*work)(void *data);
} Client;

static void
slub_pairs(void *data)
{
    Client *client = data;
    SlabId object[N_BURST];

    for (guint i = 0; i < N_PAIRS; i += N_BURST) {
        for (guint k = 0; k < N_BURST; k++) {
            object[k] = slub_alloc(client->cache, client->cpu);
            USE_OBJECTS();
        }
        for (guint k = N_BURST; k-- > 0;) {
            slub_free(client->cache, client->cpu, object[k]);
            USE_OBJECTS();
        }
    }
}

static void
slub_fill(void *data)
{
    Client *client = data;

    for (guint i = 0; i < N_LIVE; i++)
        client->live[i] = slub_alloc(client->cache, client->cpu);
}

/* Runs client->work each time it is woken. */
static void
client_fiber(SimAgent *agent)
{
    Client *client = agent->data;

    for (;;) {
        client->work(client);
        sim_block(agent->engine, agent);
    }
}

static void
run_client(void *data)
{
    Client *client = data;
    SimAgent *agent = client->cpu->agent;

    sim_wake(client->cpu->engine, agent, agent->now);
    sim_engine_run(client->cpu->engine, SIM_TIME_MAX);
}

static gsize
resident_bytes(void)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) field = NULL;

    if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
        g_error("no /proc/self/statm");
    field = g_strsplit(text, " ", 3);
    return (gsize) g_ascii_strtoull(field[1], NULL, 10) * (gsize) sysconf(_SC_PAGESIZE);
}

/* The default machine. */
static SimPlan *
load_machine(GError **error)
{
    static const SimKeySpec *const tables[] = {mach_machine_keys, mach_cost_keys, NULL};
    static const SimSchema schema = {.tables = tables};
    static const char text[] = "[run]\nduration = 1 s\n";
    g_autofree char *path = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX" SIM_SCENARIO_SUFFIX, &path, error);
    SimPlan *plan;

    if (file < 0)
        return NULL;
    close(file);
    plan = g_file_set_contents(path, text, -1, error) ? sim_plan_load(&schema, path, NULL, NULL, error) : NULL;
    g_unlink(path);
    return plan;
}

static void
bench_memory(Client *client)
{
    gsize before, bytes;
    guint32 n_slabs;

    client->live = g_new0(SlabId, N_LIVE);
    client->work = slub_fill;
    before = resident_bytes();
    run_client(client);
    bytes = resident_bytes() - before;
    n_slabs = client->cache->system->arena.n_used;
    bench_print_head("memory (reference: the budget)");
    bench_print_row("a slab", "B", ((double) bytes - (double) N_LIVE * sizeof(SlabId)) / n_slabs, 32, 1.05);
    bench_print_row("a live object, its slab included", "B", (double) bytes / N_LIVE, 8, 1);
    g_free(client->live);
}

int
main(void)
{
    SlabGeometryEnv env = slab_geometry_env_default(KERNEL, 16);
    SlabCacheSpec spec = slab_cache_spec_default("bench", OBJECT_BYTES);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimPlan) plan = NULL;
    g_autoptr(MachTopology) topology = NULL;
    SlubSystem *system = NULL;
    Client client = {.work = slub_pairs};
    Freelist list = {.head = 0};
    SlabGeometry geometry;
    Machine *machine;
    double slub_ns, list_ns;

    sim_gsl_init();
    for (guint i = 0; i < N_FREELIST; i++)
        list.next[i] = i + 1;
    if (!(plan = load_machine(&error)) || !(topology = mach_topology_new(sim_plan_config(plan, 0), &error)))
        g_error("%s", error->message);
    machine = mach_machine_new(topology, sim_plan_config(plan, 0), 1, 0, NULL, 0, 0);
    if (!slab_geometry_compute(&env, &spec, &geometry, &error) ||
        !(system = slub_system_new(machine, KERNEL, 100, &error)))
        g_error("%s", error->message);
    client.cache = slub_cache_new(system, "bench", &geometry, 0, FALSE);
    client.cpu = &machine->cpu[0];
    sim_engine_add_fiber(machine->engine, 0, client_fiber, &client);
    bench_print_head("fast path (reference: bare freelist)");
    bench_pair_ns(run_client, &client, freelist_pairs, &list, N_PAIRS, &slub_ns, &list_ns);
    bench_print_row("slub_alloc and slub_free, a pair", "ns", slub_ns, list_ns, 8);
    bench_memory(&client);
    slub_system_free(system);
    mach_machine_free(machine);
    return 0;
}
