/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages one way: a CPU allocates an object and hands it through a ring to another, which frees it. In pairs at a
 * given distance, as the request and completion sides of a block or network device (bio_alloc and bio_put of ublk); or
 * each to all, as the ends of many loopback connections (netperf), where each CPU sends a burst to one CPU at random
 * and then frees what has come to it. Left out: sockets, scheduling, interrupts; a ring is one line. */
#include "mach-distance.h"
#include "mach-line.h"
#include "slub-trace.h"
#include "workload.h"

enum {
    DISTANCE_ALL = MACH_N_DISTANCES,
    RING_MAX = 65536,
};

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

#define CACHES(ROW)                                                                                                    \
    ROW("kmalloc-64") ROW("kmalloc-256") ROW("kmalloc-512") ROW("kmalloc-1k") ROW("kmalloc-4k") ROW("bio-192")

#define CHOICE(name) "|" name
static const char cache_choices[] = CACHES(CHOICE);
#undef CHOICE

static const SimKeySpec keys[] = {
    {KEY("pipe_pairs", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "pipeline: producers, each with a consumer of its own; or CPUs, each to all"},
    {KEY("pipe_distance", SIM_KEY_CHOICE), .fallback = "same-l3", .choices = MACH_DISTANCE_CHOICES "|all",
     .help = "pipeline: between the two of a pair; all: CPUs 0 to pipe_pairs - 1 send and receive, each to all"},
    {KEY("pipe_first_cpu", SIM_KEY_INT), .fallback = "0", .max = MACH_MAX_CPUS - 1,
     .help = "pipeline: producers are taken from this CPU on"},
    {KEY("pipe_cache", SIM_KEY_CHOICE), .fallback = "kmalloc-256", .choices = cache_choices + 1,
     .help = "pipeline: cache of the objects; the size of bio-192 must be given"},
    {KEY("ring_depth", SIM_KEY_INT), .fallback = "128", .min = 1, .max = RING_MAX,
     .help = "pipeline: objects that a ring holds; a producer waits for room"},
    {KEY("pipe_burst", SIM_KEY_INT), .fallback = "1", .min = 1, .max = RING_MAX,
     .help = "pipeline: objects in the ring before its consumer wakes; or sent before a CPU receives"},
    {KEY("pipe_backlog", SIM_KEY_INT), .fallback = "0", .max = RING_MAX,
     .help = "pipeline: objects that a receiver leaves in its ring, as those of connections that are not served now"},
    {KEY("pipe_order", SIM_KEY_CHOICE), .fallback = "fifo", .choices = "fifo|random",
     .help = "pipeline: which object is received next: the oldest, or any, as from many connections"},
    {KEY("pipe_lines", SIM_KEY_INT), .fallback = "1", .max = 1000,
     .help = "pipeline: lines of an object that its consumer reads"},
    {KEY("produce", SIM_KEY_COST), .fallback = "500 ns", .max = 1e11,
     .help = "pipeline: mean time of the producer for an object, without slab work; exponential"},
    {KEY("consume", SIM_KEY_COST), .fallback = "500 ns", .max = 1e11, .help = "pipeline: the same of the consumer"},
    {NULL},
};

typedef struct _Pipeline Pipeline;

typedef struct {
    SlabId object;
    guint16 from;
} Message;

/* All shared. */
typedef struct {
    MachLine line;
    Message *message; /* [depth] from `head` on */
    guint head, n;
    MachCpu *full_waiter, *empty_waiter;
} Ring;

typedef struct {
    Pipeline *pipe;
    MachCpu *cpu;
    Ring *ring; /* the inbox; of a producer without one the consumer's */
    SimRng rng;
    SimTime in_alloc, in_free, asleep; /* these after the warm-up */
    guint64 n_allocs, n_frees;
} Task;

struct _Pipeline {
    World *world;
    SlubCache *cache;
    guint depth, burst, backlog, n_lines, n_rings;
    gboolean is_random;
    SimTime produce, consume;
    Task *task; /* [n_cpus], those unused without a CPU */
    Ring *ring; /* [n_rings] */
};

static gboolean
is_measured(const Task *t)
{
    return mach_now(t->cpu) >= t->pipe->world->warmup;
}

static void
wait_in(Task *t, MachCpu **waiter)
{
    SimTime since = mach_now(t->cpu);
    gboolean counts = is_measured(t);

    *waiter = t->cpu;
    t->cpu->is_busy = FALSE;
    sim_block(t->cpu->engine, t->cpu->agent);
    t->cpu->is_busy = TRUE;
    if (counts)
        t->asleep += mach_now(t->cpu) - since;
    mach_poll(t->cpu);
}

static void
wake(MachCpu **waiter, const MachCpu *by)
{
    MachCpu *cpu = *waiter;

    *waiter = NULL;
    if (cpu)
        sim_wake(cpu->engine, cpu->agent, mach_now(by));
}

static SlabId
make_object(Task *t)
{
    gboolean counts = is_measured(t);
    SimTime begin;
    SlabId object;

    mach_compute(t->cpu, (SimTime) sim_rng_exponential(&t->rng, (double) t->pipe->produce),
                 mach_sibling_is_busy(t->cpu));
    begin = mach_now(t->cpu);
    object = slub_alloc(t->pipe->cache, t->cpu);
    if (counts) {
        t->in_alloc += mach_now(t->cpu) - begin;
        t->n_allocs++;
    }
    return object;
}

/* FALSE when the ring is full. */
static gboolean
push(Task *t, Ring *ring, SlabId object)
{
    guint depth = t->pipe->depth;

    mach_line_update(&ring->line, t->cpu, 0);
    sim_sync(t->cpu->engine, t->cpu->agent);
    if (ring->n == depth)
        return FALSE;
    ring->message[(ring->head + ring->n) % depth] = (Message){object, t->cpu->id};
    ring->n++;
    if (ring->n >= t->pipe->backlog + t->pipe->burst)
        wake(&ring->empty_waiter, t->cpu);
    return TRUE;
}

static void
use_object(Task *t, Message message)
{
    const Pipeline *pipe = t->pipe;
    const SimDistance *distance = &pipe->world->topology->distance[slub_slab_node(pipe->cache, message.object)];
    SimToucher from = {message.from, pipe->world->topology->cpu_group[message.from]};
    gboolean counts = is_measured(t);
    SimTime begin;

    mach_spend(t->cpu, pipe->n_lines * sim_distance(distance, from, t->cpu->agent));
    mach_compute(t->cpu, (SimTime) sim_rng_exponential(&t->rng, (double) pipe->consume), mach_sibling_is_busy(t->cpu));
    begin = mach_now(t->cpu);
    slub_free(pipe->cache, t->cpu, message.object);
    if (counts) {
        t->in_free += mach_now(t->cpu) - begin;
        t->n_frees++;
    }
    pipe->world->cpu[t->cpu->id].n_operations++;
    mach_poll(t->cpu);
}

/* The next message; the ring is not empty. */
static Message
take_message(Task *t)
{
    Ring *ring = t->ring;
    guint depth = t->pipe->depth;
    guint at = t->pipe->is_random ? (ring->head + (guint) sim_rng_below(&t->rng, ring->n)) % depth : ring->head;
    Message message = ring->message[at];

    ring->message[at] = ring->message[ring->head];
    ring->head = (ring->head + 1) % depth;
    ring->n--;
    return message;
}

/* Takes one message; FALSE when there is none but the backlog. */
static gboolean
receive(Task *t)
{
    Ring *ring = t->ring;
    Message message;

    mach_line_update(&ring->line, t->cpu, 0);
    sim_sync(t->cpu->engine, t->cpu->agent);
    if (ring->n <= t->pipe->backlog)
        return FALSE;
    message = take_message(t);
    wake(&ring->full_waiter, t->cpu);
    use_object(t, message);
    return TRUE;
}

static void
run_producer(SimAgent *agent)
{
    Task *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        SlabId object = make_object(t);

        while (!push(t, t->ring, object))
            wait_in(t, &t->ring->full_waiter);
        mach_poll(t->cpu);
    }
}

static void
run_consumer(SimAgent *agent)
{
    Task *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        while (!mach_is_over(t->cpu) && receive(t))
            continue;
        sim_sync(t->cpu->engine, t->cpu->agent);
        if (t->ring->n < t->pipe->backlog + t->pipe->burst)
            wait_in(t, &t->ring->empty_waiter);
    }
}

/* Sends a burst; an object that finds the ring full comes back, as a dropped packet does. */
static void
send_burst(Task *t)
{
    Pipeline *pipe = t->pipe;
    Ring *to = &pipe->ring[sim_rng_below(&t->rng, pipe->n_rings)];

    for (guint i = 0; i < pipe->burst && !mach_is_over(t->cpu); i++) {
        SlabId object = make_object(t);

        if (!push(t, to, object)) {
            slub_free(pipe->cache, t->cpu, object);
            return;
        }
        mach_poll(t->cpu);
    }
}

static void
run_both(SimAgent *agent)
{
    Task *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        send_burst(t);
        while (!mach_is_over(t->cpu) && receive(t))
            continue;
    }
}

/* Pairs of unused CPUs at that distance, producers in the order of their numbers. Returns how many there are, up to
 * `n_wanted`; `consumer` [n_cpus] is MACH_NO_CPU for all others. */
static guint
find_pairs(const MachTopology *topology, guint first, MachDistance distance, guint n_wanted, guint16 *ret_consumer)
{
    g_autofree gboolean *is_used = g_new0(gboolean, topology->n_cpus);
    guint n = 0;

    for (guint i = 0; i < topology->n_cpus; i++)
        ret_consumer[i] = MACH_NO_CPU;
    for (guint a = first; a < topology->n_cpus && n < n_wanted; a++)
        for (guint step = 1; step < topology->n_cpus && !is_used[a]; step++) {
            guint b = (a + step) % topology->n_cpus;

            if (is_used[b] || mach_distance(topology, a, b) != distance)
                continue;
            is_used[a] = is_used[b] = TRUE;
            ret_consumer[a] = (guint16) b;
            n++;
        }
    return n;
}

static void
add_task(Pipeline *pipe, guint cpu, Ring *ring, void (*run)(SimAgent *agent))
{
    World *world = pipe->world;
    Task *t = &pipe->task[cpu];
    g_autofree char *component = g_strdup_printf("cpu/%u", cpu);

    t->pipe = pipe;
    t->cpu = &world->machine->cpu[cpu];
    t->ring = ring;
    sim_rng_init(&t->rng, world->seed, world->replication, component, "messages");
    workload_start_cpu(world, t->cpu, component, SIM_US, run, t);
}

static void
add_rings(Pipeline *pipe, guint n)
{
    pipe->n_rings = n;
    pipe->ring = g_new0(Ring, n);
    for (guint i = 0; i < n; i++)
        pipe->ring[i].message = g_new(Message, pipe->depth);
}

static void
place_ring(const Pipeline *pipe, Ring *ring, guint consumer)
{
    const MachTopology *topology = pipe->world->topology;

    mach_line_init(&ring->line, topology->node_mem[topology->cpu_node[consumer]]);
}

static void
add_pairs(Pipeline *pipe, guint first, MachDistance distance, guint n_pairs)
{
    const MachTopology *topology = pipe->world->topology;
    g_autofree guint16 *consumer = g_new(guint16, topology->n_cpus);
    Ring *ring;

    find_pairs(topology, first, distance, n_pairs, consumer);
    add_rings(pipe, n_pairs);
    ring = pipe->ring;
    for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
        if (consumer[cpu] != MACH_NO_CPU) {
            place_ring(pipe, ring, consumer[cpu]);
            add_task(pipe, cpu, ring, run_producer);
            add_task(pipe, consumer[cpu], ring++, run_consumer);
        }
    pipe->world->machine->n_active_cpus = 2 * n_pairs;
}

static void
add_all(Pipeline *pipe, guint first, guint n)
{
    add_rings(pipe, n);
    for (guint i = 0; i < n; i++) {
        place_ring(pipe, &pipe->ring[i], first + i);
        add_task(pipe, first + i, &pipe->ring[i], run_both);
    }
    pipe->world->machine->n_active_cpus = n;
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Pipeline *pipe = g_new0(Pipeline, 1);
    guint n = (guint) sim_config_int(config, "workload", "pipe_pairs");
    guint first = (guint) sim_config_int(config, "workload", "pipe_first_cpu");
    guint distance = sim_config_choice(config, "workload", "pipe_distance");

    pipe->world = world;
    pipe->cache = world_cache(world, sim_config_text(config, "workload", "pipe_cache"));
    pipe->depth = (guint) sim_config_int(config, "workload", "ring_depth");
    pipe->burst = (guint) sim_config_int(config, "workload", "pipe_burst");
    pipe->backlog = (guint) sim_config_int(config, "workload", "pipe_backlog");
    pipe->is_random = sim_config_choice(config, "workload", "pipe_order") == 1;
    pipe->n_lines = (guint) sim_config_int(config, "workload", "pipe_lines");
    pipe->produce = sim_config_time(config, "workload", "produce");
    pipe->consume = sim_config_time(config, "workload", "consume");
    pipe->task = g_new0(Task, world->topology->n_cpus);
    world->n_tasks = n;
    if (distance == DISTANCE_ALL)
        add_all(pipe, first, n);
    else
        add_pairs(pipe, first, distance, n);
    return pipe;
}

static double
per(double value, double by)
{
    return by > 0 ? value / by : 0;
}

/* Slabs that go by the CPUs' partial lists, for each that comes from a node's list to be the cpu slab; since the
 * start. */
static void
report_flows(const Pipeline *pipe, SimRecord *record)
{
    static const struct {
        SlabStat stat;
        const char *name;
    } flows[] = {
        {SLAB_STAT_CPU_PARTIAL_ALLOC, "cpu_partial_alloc_per_node_take"},
        {SLAB_STAT_CPU_PARTIAL_FREE, "cpu_partial_free_per_node_take"},
        {SLAB_STAT_CPU_PARTIAL_NODE, "cpu_partial_node_per_node_take"},
        {SLAB_STAT_CPU_PARTIAL_DRAIN, "cpu_partial_drain_per_node_take"},
    };
    guint64 sum[SLAB_N_STATS] = {0};

    for (guint i = 0; i < pipe->world->topology->n_cpus; i++)
        for (guint s = 0; s < SLAB_N_STATS; s++)
            sum[s] += slub_behind(pipe->cache)->cpu[i].stat[s];
    for (guint i = 0; i < G_N_ELEMENTS(flows); i++)
        sim_record_add_metric(record, flows[i].name,
                              per((double) sum[flows[i].stat], (double) sum[SLAB_STAT_ALLOC_FROM_PARTIAL]));
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Pipeline *pipe = state;
    double in_alloc = 0, in_free = 0, n_allocs = 0, n_frees = 0, awake = 0;

    for (guint i = 0; i < world->topology->n_cpus; i++) {
        const Task *t = &pipe->task[i];

        if (!t->cpu)
            continue;
        in_alloc += (double) t->in_alloc;
        in_free += (double) t->in_free;
        n_allocs += (double) t->n_allocs;
        n_frees += (double) t->n_frees;
        awake += (double) (MAX(mach_now(t->cpu), world->end) - world->warmup - t->asleep);
    }
    sim_record_add_metric(record, "pipe_alloc_ns", per(in_alloc / 1e3, n_allocs));
    sim_record_add_metric(record, "pipe_free_ns", per(in_free / 1e3, n_frees));
    sim_record_add_metric(record, "pipe_alloc_share_percent", 100 * per(in_alloc, awake));
    sim_record_add_metric(record, "pipe_free_share_percent", 100 * per(in_free, awake));
    report_flows(pipe, record);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    guint n = (guint) sim_config_int(config, "workload", "pipe_pairs"), n_found;
    guint first = (guint) sim_config_int(config, "workload", "pipe_first_cpu");
    guint distance = sim_config_choice(config, "workload", "pipe_distance");
    gint64 n_waiting =
        sim_config_int(config, "workload", "pipe_backlog") + sim_config_int(config, "workload", "pipe_burst");
    g_autofree guint16 *consumer = g_new(guint16, topology->n_cpus);

    if (n_waiting > sim_config_int(config, "workload", "ring_depth"))
        return sim_config_error(config, "workload", "ring_depth", error,
                                "too short for a burst behind the backlog (allowed: from %" G_GINT64_FORMAT ")",
                                n_waiting);
    if (distance == DISTANCE_ALL)
        n_found = first < topology->n_cpus ? topology->n_cpus - first : 0;
    else
        n_found = find_pairs(topology, first, distance, n, consumer);
    if (n_found < n)
        return sim_config_error(config, "workload", "pipe_pairs", error,
                                "the machine has only %u at that distance from CPU %u on", n_found, first);
    return TRUE;
}

static void
free_pipeline(void *state)
{
    Pipeline *pipe = state;

    if (!pipe)
        return;
    for (guint i = 0; i < pipe->n_rings; i++)
        g_free(pipe->ring[i].message);
    g_free(pipe->ring);
    g_free(pipe->task);
    g_free(pipe);
}

/* The one cache the scenario names. */
static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
#define PAIR(name) {name, NULL},
    static const char *const names[][2] = {CACHES(PAIR)};
#undef PAIR

    return names[sim_config_choice(config, "workload", "pipe_cache")];
}

const Workload workload_pipeline = {
    .name = "pipeline",
    .summary = "objects are allocated on some CPUs and freed on others",
    .operation = "objects",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_pipeline,
};
