/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of netperf clients and servers over the loopback device, TCP_SENDFILE: socket memory charged and uncharged in
 * pages to the client's cgroup and to the servers' (MCG; mem_cgroup_charge_skmem() under tcp_sendmsg and tcp_v4_rcv).
 * The loopback receives in the sender's softirq, so both charges are made on the client's CPU; reading and its
 * acknowledgement uncharge both on the server's. One operation is one send.
 *
 * Left out: TCP itself, which is computing time; what else all sends share (references to the file's pages,
 * tcp_memory_allocated) is one line updated so many times a send. */
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("pairs", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS / 2,
     .help = "sendfile: clients, each with its server"},
    {KEY("client_groups", SIM_KEY_INT), .fallback = "0", .max = MACH_MAX_CPUS,
     .help = "sendfile: cgroups that the clients take in turn, 0 = one each; all servers run in the next one"},
    {KEY("send_bytes", SIM_KEY_SIZE), .fallback = "10K", .min = 1, .max = 1 << 20, .help = "sendfile: bytes of a send"},
    {KEY("send_compute", SIM_KEY_COST), .fallback = "8 us [2 us .. 40 us] estimate", .max = 1e10,
     .help = "sendfile: computing time of a send, and of its reading, each"},
    {KEY("charges", SIM_KEY_INT), .fallback = "3", .min = 1, .max = 64,
     .help = "sendfile: charges of a page that a send makes to each socket's cgroup"},
    {KEY("shared_updates", SIM_KEY_INT), .fallback = "0", .max = 1000,
     .help = "sendfile: locked updates of what all pairs share, for a send and its reading, each"},
    {KEY("window", SIM_KEY_INT), .fallback = "16", .min = 1, .max = 4096,
     .help = "sendfile: sends on their way at which a client waits"},
    {NULL},
};

#define POLL (500 * SIM_NS)

typedef struct _Sendfile Sendfile;

typedef struct {
    Sendfile *sendfile;
    MachCpu *client, *server;
    MemcgGroup *group;
    guint n_queued; /* in order */
} Pair;

struct _Sendfile {
    World *world;
    guint n_pairs, n_client_groups, n_charges, n_shared, window;
    double send_bytes;
    SimTime compute;
    MemcgGroup *servers;
    MachLine shared;
    Pair *pair;
};

static void
update_shared(Sendfile *s, MachCpu *cpu)
{
    for (guint i = 0; i < s->n_shared; i++)
        mach_line_update(&s->shared, cpu, cpu->machine->costs.lock_acquire);
}

static void
run_client(SimAgent *agent)
{
    Pair *p = agent->data;
    Sendfile *s = p->sendfile;
    Memcg *memcg = s->world->memcg;

    while (!mach_is_over(p->client)) {
        sim_sync(agent->engine, agent);
        if (p->n_queued >= s->window) {
            mach_spend(p->client, POLL);
        } else {
            mach_compute(p->client, s->compute, mach_sibling_is_busy(p->client));
            update_shared(s, p->client);
            for (guint i = 0; memcg && i < s->n_charges; i++) {
                memcg_pages_charge(memcg, p->client, p->group, 1);
                memcg_pages_charge(memcg, p->client, s->servers, 1);
            }
            sim_sync(agent->engine, agent);
            p->n_queued++;
        }
        mach_poll(p->client);
    }
}

static void
run_server(SimAgent *agent)
{
    Pair *p = agent->data;
    Sendfile *s = p->sendfile;
    Memcg *memcg = s->world->memcg;

    while (!mach_is_over(p->server)) {
        sim_sync(agent->engine, agent);
        if (p->n_queued == 0) {
            mach_spend(p->server, POLL);
        } else {
            p->n_queued--;
            mach_compute(p->server, s->compute, mach_sibling_is_busy(p->server));
            update_shared(s, p->server);
            for (guint i = 0; memcg && i < s->n_charges; i++) {
                memcg_pages_uncharge(memcg, p->server, s->servers, 1);
                memcg_pages_uncharge(memcg, p->server, p->group, 1);
            }
            s->world->cpu[p->server->id].n_operations++;
        }
        mach_poll(p->server);
    }
}

/* The next idle CPU, node after node: the throughput of the MCG rows is level as long as one socket has threads left
 * and falls from there on. With cores first, a node's second threads come after all its cores. */
static MachCpu *
take_cpu(const World *world)
{
    MachCpu *taken = NULL;

    for (guint i = 0; i < world->machine->n_cpus; i++) {
        MachCpu *cpu = &world->machine->cpu[i];

        if (!cpu->is_busy && (!taken || cpu->node < taken->node))
            taken = cpu;
    }
    return taken;
}

static void
add_pair(Sendfile *s, guint id)
{
    World *world = s->world;
    Pair *p = &s->pair[id];
    g_autofree char *component = g_strdup_printf("pair/%u", id);

    p->sendfile = s;
    p->group = world->memcg ? memcg_group(world->memcg, id % s->n_client_groups) : NULL;
    p->client = take_cpu(world);
    workload_start_cpu(world, p->client, component, 100 * SIM_US, run_client, p);
    p->server = take_cpu(world);
    workload_start_cpu(world, p->server, NULL, 0, run_server, p);
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Sendfile *s = g_new0(Sendfile, 1);

    s->world = world;
    s->n_pairs = (guint) sim_config_int(config, "workload", "pairs");
    s->n_client_groups = (guint) sim_config_int(config, "workload", "client_groups");
    if (s->n_client_groups == 0)
        s->n_client_groups = s->n_pairs;
    s->n_charges = (guint) sim_config_int(config, "workload", "charges");
    s->n_shared = (guint) sim_config_int(config, "workload", "shared_updates");
    s->window = (guint) sim_config_int(config, "workload", "window");
    s->send_bytes = (double) sim_config_size(config, "workload", "send_bytes");
    s->compute = sim_config_time(config, "workload", "send_compute");
    s->servers = world->memcg ? memcg_group(world->memcg, s->n_client_groups) : NULL;
    mach_line_init(&s->shared, world->topology->node_mem[0]);
    s->pair = g_new0(Pair, s->n_pairs);
    world->n_tasks = world->machine->n_active_cpus = 2 * s->n_pairs;
    for (guint i = 0; i < s->n_pairs; i++)
        add_pair(s, i);
    return s;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Sendfile *s = state;
    double rate;

    if (sim_record_find_metric(record, "throughput_ops_per_s", &rate))
        sim_record_add_metric(record, "throughput_mbit_per_s", rate * s->send_bytes * 8 / 1e6);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    gint64 most = topology->n_cpus / 2;

    if (sim_config_int(config, "workload", "pairs") > most)
        return sim_config_error(config, "workload", "pairs", error,
                                "more tasks than CPUs are not modelled (allowed: 1 to %d)", (int) most);
    return TRUE;
}

static void
free_sendfile(void *state)
{
    Sendfile *s = state;

    if (s)
        g_free(s->pair);
    g_free(s);
}

static const char *const caches[] = {NULL};

const Workload workload_sendfile = {
    .name = "sendfile",
    .summary = "client and server pairs over loopback, socket memory charged to their cgroups",
    .operation = "sends",
    .keys = keys,
    .caches = caches,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_sendfile,
};
