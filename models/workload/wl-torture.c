/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop over one lock, for the lock disciplines: think, acquire, fetch the lines that the lock protects, hold,
 * release. With think, hold and lines of a system call it stands for the contended part of will-it-scale's open1 and
 * lock2; with torture_delays it is kernel/locking/locktorture.c (5.9: lock_torture_writer,
 * torture_spin_lock_write_delay). Left out: preemption, and what else the threads of those loops share. */
#include "workload.h"

enum { CONSTANT, UNIFORM, EXPONENTIAL };

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type
#define DISTRIBUTIONS "constant|uniform|exponential"

static const SimKeySpec keys[] = {
    {KEY("torture_threads", SIM_KEY_INT), .fallback = "16", .min = 1, .max = MACH_MAX_CPUS,
     .help = "torture: threads, one a CPU"},
    {KEY("torture_placement", SIM_KEY_CHOICE), .fallback = "packed", .choices = "packed|spread",
     .help = "torture: in the order of the CPU numbers, or node after node in turn"},
    {KEY("torture_rounds", SIM_KEY_INT), .fallback = "1", .min = 1, .max = 1000,
     .help = "torture: acquisitions of one operation"},
    {KEY("hold", SIM_KEY_COST), .fallback = "100 ns", .max = 1e11,
     .help = "torture: mean time under the lock, without the lines"},
    {KEY("hold_distribution", SIM_KEY_CHOICE), .fallback = "constant", .choices = DISTRIBUTIONS,
     .help = "torture: of the hold time; uniform is from 0 to twice the mean"},
    {KEY("hold_lines", SIM_KEY_INT), .fallback = "0", .max = 1000,
     .help = "torture: lines written under the lock, fetched one after the other from the last owner"},
    {KEY("think", SIM_KEY_COST), .fallback = "0 ns", .max = 1e11,
     .help = "torture: mean time between a release and the next acquisition"},
    {KEY("think_distribution", SIM_KEY_CHOICE), .fallback = "exponential", .choices = DISTRIBUTIONS,
     .help = "torture: of that time"},
    {KEY("torture_delays", SIM_KEY_BOOL), .fallback = "false",
     .help = "torture: hold longer by locktorture's delays: 2 us once in 4 acquisitions of each of the threads; 100 ms "
             "once in 200000, as their mean"},
    {NULL},
};

typedef struct _Torture Torture;

typedef struct {
    Torture *torture;
    MachCpu *cpu;
    SimRng rng;
    SimTime wait; /* these three after the warm-up */
    guint64 n_acquired, n_far;
} Thread;

typedef struct {
    guint distribution;
    SimTime mean;
} Duration;

struct _Torture {
    World *world;
    SimLock lock;     /* its line and those it protects are memory of node 0 */
    SimToucher owner; /* shared: of the lines under the lock */
    Duration hold, think;
    guint n_threads, n_rounds, n_lines;
    gboolean has_delays;
    Thread *thread;
};

static SimTime
draw(SimRng *rng, const Duration *duration)
{
    double mean = (double) duration->mean;

    switch (duration->distribution) {
    case UNIFORM:
        return (SimTime) (2 * mean * sim_rng_uniform(rng));
    case EXPONENTIAL:
        return (SimTime) sim_rng_exponential(rng, mean);
    default:
        return duration->mean;
    }
}

/* The rare delay of locktorture would need runs of minutes to be met; its mean is 500 ns divided by the threads. */
static SimTime
draw_delay(Thread *t)
{
    guint n = t->torture->n_threads;

    return 500 * SIM_NS / n + (sim_rng_below(&t->rng, 4 * n) == 0 ? 2 * SIM_US : 0);
}

static void
count(Thread *t, SimTime asked_at, gboolean is_far)
{
    if (asked_at < t->torture->world->warmup)
        return;
    t->n_acquired++;
    t->wait += t->torture->lock.owned_since - asked_at;
    t->n_far += is_far;
}

/* A waiter spins on a line of its own with pauses, which leave the core to its sibling. */
static SimTime
acquire(Torture *torture, MachCpu *cpu)
{
    SimTime asked_at = mach_now(cpu);

    sim_sync(cpu->engine, cpu->agent);
    cpu->is_busy = FALSE;
    sim_lock_acquire(cpu->engine, &torture->lock, cpu->agent, 0);
    cpu->is_busy = TRUE;
    return asked_at;
}

static void
run_round(Thread *t)
{
    Torture *torture = t->torture;
    MachCpu *cpu = t->cpu;
    const SimDistance *distance = &cpu->machine->topology->distance[0];
    SimTime hold = draw(&t->rng, &torture->hold) + (torture->has_delays ? draw_delay(t) : 0), asked_at;
    SimToucher from;

    mach_compute(cpu, draw(&t->rng, &torture->think), mach_sibling_is_busy(cpu));
    asked_at = acquire(torture, cpu);
    from = torture->owner;
    torture->owner = (SimToucher){cpu->id, cpu->group};
    mach_spend(cpu, torture->n_lines * sim_distance(distance, from, cpu->agent));
    if (mach_sibling_is_busy(cpu))
        hold = (SimTime) ((double) hold * cpu->machine->smt_hold_slowdown);
    mach_spend(cpu, hold);
    count(t, asked_at, from.agent != SIM_NOBODY && cpu->machine->cpu[from.agent].node != cpu->node);
    sim_lock_release(cpu->engine, &torture->lock, cpu->agent);
}

static void
run_thread(SimAgent *agent)
{
    Thread *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        for (guint i = 0; i < t->torture->n_rounds; i++)
            run_round(t);
        t->torture->world->cpu[t->cpu->id].n_operations++;
        mach_poll(t->cpu);
    }
}

/* The i-th CPU in turn over the nodes. */
static guint
spread_cpu(const MachTopology *topology, guint i)
{
    guint node = i % topology->n_nodes, rank = i / topology->n_nodes;

    for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
        if (topology->cpu_node[cpu] == node && rank-- == 0)
            return cpu;
    g_assert_not_reached();
}

static void
add_thread(Torture *torture, guint id, guint cpu)
{
    World *world = torture->world;
    Thread *t = &torture->thread[id];
    g_autofree char *component = g_strdup_printf("thread/%u", id);

    t->torture = torture;
    t->cpu = &world->machine->cpu[cpu];
    sim_rng_init(&t->rng, world->seed, world->replication, component, "hold and think");
    workload_start_cpu(world, t->cpu, component, 10 * SIM_US, run_thread, t);
}

static Duration
read_duration(const SimConfig *config, const char *mean, const char *distribution)
{
    return (Duration){sim_config_choice(config, "workload", distribution), sim_config_time(config, "workload", mean)};
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Machine *machine = world->machine;
    Torture *torture = g_new0(Torture, 1);
    gboolean is_spread = sim_config_choice(config, "workload", "torture_placement") == 1;

    torture->world = world;
    torture->owner.agent = SIM_NOBODY;
    torture->hold = read_duration(config, "hold", "hold_distribution");
    torture->think = read_duration(config, "think", "think_distribution");
    torture->n_threads = (guint) sim_config_int(config, "workload", "torture_threads");
    torture->n_rounds = (guint) sim_config_int(config, "workload", "torture_rounds");
    torture->n_lines = (guint) sim_config_int(config, "workload", "hold_lines");
    torture->has_delays = sim_config_bool(config, "workload", "torture_delays");
    torture->thread = g_new0(Thread, torture->n_threads);
    sim_lock_init(&torture->lock, machine->lock_kind, &world->topology->distance[0], &machine->lock_costs, 1, FALSE);
    machine->n_active_cpus = world->n_tasks = torture->n_threads;
    for (guint i = 0; i < torture->n_threads; i++)
        add_thread(torture, i, is_spread ? spread_cpu(world->topology, i) : i);
    return torture;
}

static int
compare_descending(gconstpointer a, gconstpointer b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x < y) - (x > y);
}

/* Share of all operations that the better half of the threads made: 0.5 is fair, 1 starves the others. */
static double
fairness_factor(const Torture *torture)
{
    guint n = torture->n_threads;
    g_autofree double *made = g_new(double, n);
    double all = 0, better = 0;

    for (guint i = 0; i < n; i++) {
        const WorldCpu *w = &torture->world->cpu[torture->thread[i].cpu->id];

        made[i] = (double) (w->operations_at_end - w->operations_at_warmup);
        all += made[i];
    }
    qsort(made, n, sizeof *made, compare_descending);
    for (guint i = 0; i < n / 2; i++)
        better += made[i];
    if (n % 2)
        better += made[n / 2] / 2;
    return all > 0 ? better / all : 0;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Torture *torture = state;
    double n = 0, n_far = 0, wait = 0, cpu_time = 0;

    for (guint i = 0; i < torture->n_threads; i++) {
        const Thread *t = &torture->thread[i];
        const WorldCpu *w = &world->cpu[t->cpu->id];

        n += (double) t->n_acquired;
        n_far += (double) t->n_far;
        wait += (double) t->wait;
        cpu_time += (double) (w->end_at - w->warmup_at);
    }
    sim_record_add_metric(record, "torture_wait_ns", n > 0 ? wait / 1e3 / n : 0);
    sim_record_add_metric(record, "torture_wait_share_percent", cpu_time > 0 ? 100 * wait / cpu_time : 0);
    sim_record_add_metric(record, "far_handoff_percent", n > 0 ? 100 * n_far / n : 0);
    sim_record_add_metric(record, "fairness_factor", fairness_factor(torture));
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    return workload_check_cpus(config, topology, "torture_threads", "threads", error);
}

static void
free_torture(void *state)
{
    Torture *torture = state;

    if (!torture)
        return;
    sim_lock_clear(&torture->lock);
    g_free(torture->thread);
    g_free(torture);
}

static const char *const no_caches[] = {NULL};

const Workload workload_torture = {
    .name = "torture",
    .summary = "threads over one lock, with given hold and think times",
    .operation = "operations",
    .keys = keys,
    .caches = no_caches,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_torture,
};
