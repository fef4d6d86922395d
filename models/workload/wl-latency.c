/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A latency-sensitive task on isolated CPUs beside CPUs that load the same cache, and what disturbs both: readers of
 * /proc/slabinfo, kmem_cache_shrink() and flush_all() from a housekeeping CPU. CPU 0 is the housekeeper, those after it
 * load, the last ones are isolated; one pinned task each.
 *
 * Both kinds of tasks exchange objects of one pool: take a new one, put it in place of a random other one, free that.
 * So most objects die on another CPU than that of their birth. One operation is one exchange by a loading CPU; isolated
 * CPUs make a fixed number in each period.
 *
 * What a flush does to a CPU (mm/slub.c flush_all()): to 5.14 an interrupt, served at the end of the call that it
 * finds under way, since the slow paths run with interrupts off; from 5.15 on a work item, for which the kworker takes
 * the CPU from an ordinary task between two calls, while SCHED_FIFO tasks make it wait until they sleep. The work
 * itself is not preempted, as without CONFIG_PREEMPT. The flusher waits for all CPUs. Left out: slub_cpu_dead(), which
 * flushes for a CPU that is gone, and timer ticks. */
#include "slub-inspect.h"
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("latency_cache", SIM_KEY_CHOICE), .fallback = "kmalloc-256", .choices = "kmalloc-256|dentry|skbuff_head_cache",
     .help = "latency: the cache that all tasks use"},
    {KEY("load_cpus", SIM_KEY_INT), .fallback = "4", .min = 0, .max = MACH_MAX_CPUS,
     .help = "latency: CPUs that load the cache, from CPU 1 on"},
    {KEY("load_compute", SIM_KEY_COST), .fallback = "500 ns", .max = 1e9,
     .help = "latency: what a loading CPU computes between two exchanges"},
    {KEY("isolated_cpus", SIM_KEY_INT), .fallback = "1", .min = 0, .max = MACH_MAX_CPUS,
     .help = "latency: CPUs with a periodic task, the machine's last ones"},
    {KEY("isolated_period", SIM_KEY_TIME), .fallback = "100 us", .min = 1e6, .max = 1e15,
     .help = "latency: time between two releases of a periodic task"},
    {KEY("isolated_burst", SIM_KEY_INT), .fallback = "16", .min = 1, .max = 65536,
     .help = "latency: exchanges of a periodic task in each period"},
    {KEY("isolated_policy", SIM_KEY_CHOICE), .fallback = "fifo", .choices = "fifo|other",
     .help = "latency: scheduling of the periodic tasks; kworkers wait for fifo ones"},
    {KEY("pool_objects", SIM_KEY_INT), .fallback = "4096", .min = 1, .max = 1 << 24,
     .help = "latency: objects alive, in the pool that the tasks exchange with"},
    {KEY("parked_slabs", SIM_KEY_INT), .fallback = "0", .max = 1 << 20,
     .help = "latency: partial slabs with one object that the housekeeper makes first; all others wait for that"},
    {KEY("slabinfo_period", SIM_KEY_TIME), .fallback = "0 s", .max = 1e15,
     .help = "latency: how often the housekeeper reads slabinfo; 0 = never"},
    {KEY("flush_period", SIM_KEY_TIME), .fallback = "0 s", .max = 1e15,
     .help = "latency: how often the housekeeper flushes all CPUs; 0 = never"},
    {KEY("flush_shrinks", SIM_KEY_BOOL), .fallback = "true",
     .help = "latency: whether that is kmem_cache_shrink(); no = flush_all() alone, as a write to sysfs cpu_partial"},
    {NULL},
};

typedef struct _Latency Latency;

typedef struct {
    Latency *latency;
    MachCpu *cpu;
    SimRng rng;
    gboolean may_be_preempted;
    gboolean is_waiting; /* for the parked slabs */
    gboolean is_asleep;  /* until wakes_at, or a flush */
    SimTime wakes_at;
    SimTime flush_at; /* when a flush reaches this CPU; SIM_TIME_MAX = none is asked for */
} Task;

struct _Latency {
    World *world;
    SlubCache *cache;
    SlabId *pool; /* [n_pool], 0 = not filled yet */
    guint n_pool, n_tasks, n_isolated, burst, n_parked;
    SimTime compute, period, slabinfo_period, flush_period;
    gboolean shrinks, is_ready;        /* ready: the parked slabs are made */
    Task *task;                        /* [n_tasks]: the housekeeper first */
    guint n_flushing;                  /* CPUs that the flusher waits for */
    SimHist response, flush, slabinfo; /* ps, of what began in the window */
};

static void
record(const Latency *l, SimHist *hist, SimTime begin, SimTime end)
{
    if (begin >= l->world->warmup && begin < l->world->end)
        sim_hist_record(hist, end - begin);
}

/* ---- flushes */

static gboolean
flushes_by_work(const Latency *l)
{
    return l->world->slub->kernel >= SLUB_KERNEL_FLUSHES_BY_WORK;
}

/* The CPU's part of a flush, with the CPU in order. */
static void
serve_flush(Task *t)
{
    const Latency *l = t->latency;
    const MachCosts *costs = &t->cpu->machine->costs;
    Task *flusher = &t->latency->task[0];

    mach_spend(t->cpu, flushes_by_work(l) ? costs->work_switch : costs->ipi_handler);
    slub_flush_cpu(l->cache, t->cpu);
    sim_sync(t->cpu->engine, t->cpu->agent);
    t->flush_at = SIM_TIME_MAX;
    if (--t->latency->n_flushing == 0)
        sim_wake(t->cpu->engine, flusher->cpu->agent, mach_now(t->cpu));
}

/* Between two calls of the allocator. */
static void
let_flush_in(Task *t)
{
    sim_sync(t->cpu->engine, t->cpu->agent);
    if (G_UNLIKELY(mach_now(t->cpu) >= t->flush_at && (t->may_be_preempted || !flushes_by_work(t->latency))))
        serve_flush(t);
}

/* Sleeps until `when`, but for flushes. */
static void
sleep_until(Task *t, SimTime when)
{
    SimEngine *engine = t->cpu->engine;
    SimAgent *agent = t->cpu->agent;

    sim_sync(engine, agent);
    while (mach_now(t->cpu) < when) {
        t->cpu->is_busy = FALSE;
        t->is_asleep = TRUE;
        t->wakes_at = MIN(when, MAX(t->flush_at, mach_now(t->cpu)));
        sim_block_until(engine, agent, t->wakes_at);
        t->is_asleep = FALSE;
        t->cpu->is_busy = TRUE;
        if (mach_now(t->cpu) >= t->flush_at)
            serve_flush(t);
    }
}

/* flush_all(): every CPU that has something is asked, then the flusher waits for the last one. */
static void
flush_all(Latency *l)
{
    Task *flusher = &l->task[0];
    MachCpu *cpu = flusher->cpu;
    const MachCosts *costs = &cpu->machine->costs;

    l->n_flushing = 1; /* holds the door open while others are asked */
    for (guint i = 1; i < l->n_tasks; i++) {
        Task *t = &l->task[i];

        sim_sync(cpu->engine, cpu->agent);
        if (!slub_needs_flush(l->cache, t->cpu->id))
            continue;
        mach_spend(cpu, costs->ipi_send);
        l->n_flushing++;
        t->flush_at = mach_now(cpu) + costs->ipi_delivery;
        if (t->is_asleep)
            sim_wake(cpu->engine, t->cpu->agent, MIN(t->flush_at, t->wakes_at));
    }
    if (slub_needs_flush(l->cache, cpu->id))
        slub_flush_cpu(l->cache, cpu);
    sim_sync(cpu->engine, cpu->agent);
    if (--l->n_flushing > 0)
        sim_block(cpu->engine, cpu->agent);
}

/* ---- tasks */

static void
exchange(Task *t)
{
    Latency *l = t->latency;
    SlabId *place = &l->pool[sim_rng_below(&t->rng, l->n_pool)];
    SlabId object = slub_alloc(l->cache, t->cpu), old;

    let_flush_in(t);
    old = *place;
    *place = object;
    if (old)
        slub_free(l->cache, t->cpu, old);
    let_flush_in(t);
}

/* Nobody else uses the cache before the parked slabs are there. */
static void
wait_until_ready(Task *t)
{
    sim_sync(t->cpu->engine, t->cpu->agent);
    t->is_waiting = TRUE;
    while (!t->latency->is_ready)
        sim_block(t->cpu->engine, t->cpu->agent);
    t->is_waiting = FALSE;
}

static void
run_load(SimAgent *agent)
{
    Task *t = agent->data;
    WorldCpu *counts = &t->latency->world->cpu[t->cpu->id];

    wait_until_ready(t);
    while (!mach_is_over(t->cpu)) {
        exchange(t);
        counts->n_operations++;
        mach_compute(t->cpu, t->latency->compute, mach_sibling_is_busy(t->cpu));
        mach_poll(t->cpu);
    }
    sleep_until(t, SIM_TREE_IDLE - 1);
}

static void
run_isolated(SimAgent *agent)
{
    Task *t = agent->data;
    Latency *l = t->latency;
    SimTime release = mach_now(t->cpu);

    wait_until_ready(t);
    while (release < mach_now(t->cpu))
        release += l->period;
    while (!mach_is_over(t->cpu)) {
        sleep_until(t, release);
        for (guint i = 0; i < l->burst; i++)
            exchange(t);
        record(l, &l->response, release, mach_now(t->cpu));
        release += l->period;
        mach_poll(t->cpu);
    }
    sleep_until(t, SIM_TREE_IDLE - 1);
}

/* ---- the housekeeper */

/* Slabs of which one object stays for good; the rest of each goes back, so that the node's list gets long. */
static void
park_slabs(Latency *l)
{
    MachCpu *cpu = l->task[0].cpu;
    guint n = l->n_parked * l->cache->geometry.objects;
    g_autofree SlabId *object = g_new(SlabId, MAX(n, 1));
    g_autofree guint8 *has_one = NULL; /* by slab */

    for (guint i = 0; i < n; i++)
        object[i] = slub_alloc(l->cache, cpu);
    has_one = g_new0(guint8, l->cache->system->arena.n_used);
    for (guint i = 0; i < n; i++) {
        if (has_one[object[i]])
            slub_free(l->cache, cpu, object[i]);
        has_one[object[i]] = TRUE;
    }
    slub_flush_cpu(l->cache, cpu);
    sim_sync(cpu->engine, cpu->agent);
    if (n > 0 && mach_now(cpu) > l->world->warmup)
        mach_fail(cpu, "run.warmup is over before the parked slabs are made");
    l->is_ready = TRUE;
    for (guint i = 1; i < l->n_tasks; i++)
        if (l->task[i].is_waiting)
            sim_wake(cpu->engine, l->task[i].cpu->agent, mach_now(cpu));
}

static void
disturb(Latency *l, gboolean is_flush)
{
    MachCpu *cpu = l->task[0].cpu;
    SimTime begin = mach_now(cpu);

    if (!is_flush) {
        slub_read_slabinfo(l->cache, cpu);
    } else {
        flush_all(l);
        if (l->shrinks)
            slub_shrink(l->cache, cpu);
    }
    record(l, is_flush ? &l->flush : &l->slabinfo, begin, mach_now(cpu));
}

static void
run_housekeeper(SimAgent *agent)
{
    Task *t = agent->data;
    Latency *l = t->latency;
    SimTime next_flush = l->flush_period ? l->flush_period : SIM_TREE_IDLE - 1;
    SimTime next_read = l->slabinfo_period ? l->slabinfo_period : SIM_TREE_IDLE - 1;

    park_slabs(l);
    while (!mach_is_over(t->cpu)) {
        gboolean is_flush = next_flush <= next_read;
        SimTime *next = is_flush ? &next_flush : &next_read;

        sleep_until(t, MIN(*next, t->cpu->checkpoint_at));
        if (mach_now(t->cpu) >= *next) {
            disturb(l, is_flush);
            *next = MAX(*next + (is_flush ? l->flush_period : l->slabinfo_period), mach_now(t->cpu));
        }
        mach_poll(t->cpu);
    }
}

/* ---- set-up and report */

static void
add_task(Latency *l, guint index, guint cpu, void (*body)(SimAgent *agent))
{
    Task *t = &l->task[index];
    g_autofree char *component = g_strdup_printf("task/%u", index);

    *t = (Task){.latency = l, .cpu = &l->world->machine->cpu[cpu], .flush_at = SIM_TIME_MAX};
    t->may_be_preempted = body == run_load || sim_config_choice(l->world->config, "workload", "isolated_policy") == 1;
    l->world->cpu[cpu].is_isolated = body == run_isolated;
    sim_rng_init(&t->rng, l->world->seed, l->world->replication, component, "places");
    workload_start_cpu(l->world, t->cpu, index ? component : NULL, l->period, body, t);
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Latency *l = g_new0(Latency, 1);
    guint n_load = (guint) sim_config_int(config, "workload", "load_cpus");

    l->world = world;
    l->cache = world_cache(world, sim_config_text(config, "workload", "latency_cache"));
    l->n_pool = (guint) sim_config_int(config, "workload", "pool_objects");
    l->pool = g_new0(SlabId, l->n_pool);
    l->burst = (guint) sim_config_int(config, "workload", "isolated_burst");
    l->n_parked = (guint) sim_config_int(config, "workload", "parked_slabs");
    l->compute = sim_config_time(config, "workload", "load_compute");
    l->period = sim_config_time(config, "workload", "isolated_period");
    l->slabinfo_period = sim_config_time(config, "workload", "slabinfo_period");
    l->flush_period = sim_config_time(config, "workload", "flush_period");
    l->shrinks = sim_config_bool(config, "workload", "flush_shrinks");
    l->n_isolated = (guint) sim_config_int(config, "workload", "isolated_cpus");
    l->n_tasks = 1 + n_load + l->n_isolated;
    l->task = g_new0(Task, l->n_tasks);
    world->machine->n_active_cpus = l->n_tasks;
    world->n_tasks = MAX(n_load, 1);
    sim_hist_init(&l->response);
    sim_hist_init(&l->flush);
    sim_hist_init(&l->slabinfo);
    for (guint i = 0; i < l->n_tasks; i++) {
        guint n_from_end = l->n_tasks - i;

        if (i <= n_load)
            add_task(l, i, i, i ? run_load : run_housekeeper);
        else
            add_task(l, i, world->machine->n_cpus - n_from_end, run_isolated);
    }
    return l;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Latency *l = state;

    if (l->n_isolated)
        world_report_percentiles(record, "response", &l->response);
    if (l->flush_period)
        world_report_percentiles(record, "flush", &l->flush);
    if (l->slabinfo_period)
        world_report_percentiles(record, "slabinfo_read", &l->slabinfo);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    gint64 n_load = sim_config_int(config, "workload", "load_cpus");
    gint64 n_isolated = sim_config_int(config, "workload", "isolated_cpus");

    if (1 + n_load + n_isolated <= topology->n_cpus)
        return TRUE;
    return sim_config_error(config, "workload", "load_cpus", error,
                            "with the isolated CPUs and a housekeeper more than the machine's %u CPUs (allowed: up "
                            "to %" G_GINT64_FORMAT ")",
                            topology->n_cpus, MAX((gint64) topology->n_cpus - 1 - n_isolated, 0));
}

static void
free_latency(void *state)
{
    Latency *l = state;

    if (!l)
        return;
    g_free(l->pool);
    g_free(l->task);
    g_free(l);
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const names[][2] = {{"kmalloc-256", NULL}, {"dentry", NULL}, {"skbuff_head_cache", NULL}};

    return names[sim_config_choice(config, "workload", "latency_cache")];
}

const Workload workload_latency = {
    .name = "latency",
    .summary = "periodic tasks on isolated CPUs beside loading CPUs, slabinfo readers and flushes",
    .operation = "exchanges by loading CPUs",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_latency,
};
