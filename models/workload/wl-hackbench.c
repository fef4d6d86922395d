/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wl-hackbench.h"

#include <math.h>

/* The order of the choices below. */
enum {
    MODE_PROCESS,
    MODE_THREAD,
};
enum {
    TRANSPORT_SOCKET,
    TRANSPORT_PIPE,
};

static const SimKeySpec keys[] = {
    {.group = "workload",
     .key = "groups",
     .type = SIM_KEY_INT,
     .fallback = "10",
     .min = 1,
     .max = 1024,
     .help = "hackbench: -g: groups of senders and receivers"},
    {.group = "workload",
     .key = "fds",
     .type = SIM_KEY_INT,
     .fallback = "20",
     .min = 1,
     .max = 256,
     .help = "hackbench: -f: senders, and receivers, of a group"},
    {.group = "workload",
     .key = "loops",
     .type = SIM_KEY_INT,
     .fallback = "1000000",
     .min = 1,
     .max = 1e12,
     .help = "hackbench: -l: messages of a sender to each receiver (the tool's own default is 100); the run ends at "
             "its time even when they are not through"},
    {.group = "workload",
     .key = "datasize",
     .type = SIM_KEY_INT,
     .fallback = "100",
     .min = 1,
     .max = 3776,
     .help = "hackbench: -s: bytes of a message"},
    {.group = "workload",
     .key = "mode",
     .type = SIM_KEY_CHOICE,
     .fallback = "process",
     .choices = "process|thread",
     .help = "hackbench: -P or -T; threads pay thread_cost"},
    {.group = "workload",
     .key = "transport",
     .type = SIM_KEY_CHOICE,
     .fallback = "socket",
     .choices = "socket|pipe",
     .help = "hackbench: AF_UNIX stream socket pairs, or pipes (hackbench: -p), which use pages only"},
    {.group = "workload",
     .key = "bind_cpus",
     .type = SIM_KEY_INT,
     .fallback = "0",
     .min = 0,
     .max = 4096,
     .help = "hackbench: CPUs each group is bound to, one range after the other; 0 leaves the tasks free"},
    {.group = "workload",
     .key = "scheduler",
     .type = SIM_KEY_CHOICE,
     .fallback = "kernel",
     .choices = "round-robin|cfs|eevdf|eevdf-no-parity|kernel",
     .help = "hackbench: who runs next and whom a woken task preempts; kernel: that of kernel.version, CFS to 6.5, "
             "then EEVDF with RUN_TO_PARITY"},
    {.group = "workload",
     .key = "placement",
     .type = SIM_KEY_CHOICE,
     .fallback = "idle",
     .choices = "previous|waker|idle",
     .help = "hackbench: where a woken task goes: its last CPU, wake-affine, or an idle CPU near "
             "its last one"},
    {.group = "workload",
     .key = "idle_balance",
     .type = SIM_KEY_BOOL,
     .fallback = "true",
     .help = "hackbench: whether an idle CPU pulls a waiting task from its cache domain"},
    {.group = "workload",
     .key = "balance_interval",
     .type = SIM_KEY_TIME,
     .fallback = "1 ms",
     .min = 1e7,
     .max = 1e12,
     .help = "hackbench: time between an idle CPU's looks at its neighbours' queues"},
    {.group = "workload",
     .key = "slice",
     .type = SIM_KEY_TIME,
     .fallback = "3 ms",
     .min = 0,
     .max = 1e12,
     .help = "hackbench: time after which a running task lets others run: CFS's minimum granularity, EEVDF's base "
             "slice; 0 ms: what the kernel makes of the number of CPUs, 1.5 ms for 2 and 3 ms from 8 on"},
    {.group = "workload",
     .key = "call_spread",
     .type = SIM_KEY_REAL,
     .fallback = "0.2",
     .min = 0,
     .max = 1,
     .help = "hackbench: half-width of the uniform spread of the costs of calls, as a fraction of them"},
    {.group = "workload",
     .key = "send_cost",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "1.2 us [0.6 us .. 3 us] prototype's setting with the published shape; fit it to a throughput",
     .help = "hackbench: a write to a socket without the allocator and the wake-up: system call, copy, queueing"},
    {.group = "workload",
     .key = "recv_cost",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "1.2 us [0.6 us .. 3 us] prototype's setting with the published shape; fit it to a throughput",
     .help = "hackbench: a read from a socket without the allocator and wake-ups: system call, copy, dequeueing"},
    {.group = "workload",
     .key = "pipe_write_cost",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "0.5 us [0.25 us .. 2 us] measured: 0.35 to 0.55 us warm, of a socket 1.1 to 1.45 us (KVM guest of 2 "
                 "Zen 3 CPUs, 6.18, mitigations on, 100 bytes, one thread)",
     .help = "hackbench: a write to a pipe without page allocator and wake-up"},
    {.group = "workload",
     .key = "pipe_read_cost",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "0.45 us [0.25 us .. 2 us] measured as pipe_write_cost: 0.35 to 0.5 us, of a socket 1.1 to 1.4 us",
     .help = "hackbench: a read from a pipe without page allocator and wake-ups"},
    {.group = "workload",
     .key = "context_switch",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback =
         "800 ns [300 ns .. 3 us] assumed; pipe ping-pong with its calls and wake-up takes 1 to 2.4 us a switch",
     .help = "hackbench: starting another task on a CPU"},
    {.group = "workload",
     .key = "wake_up",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "400 ns [100 ns .. 2 us] assumed; try_to_wake_up with a remote run queue lock",
     .help = "hackbench: the waker's time for a task it wakes"},
    {.group = "workload",
     .key = "idle_exit",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "2 us [0.2 us .. 100 us] assumed; C1 exit and interrupt",
     .help = "hackbench: from the wake-up of an idle CPU until it takes the task"},
    {.group = "workload",
     .key = "thread_cost",
     .type = SIM_KEY_COST,
     .min = 0,
     .max = 1e9,
     .fallback = "60 ns [12 ns .. 300 ns] assumed; fget() and fput() of a shared files_struct: two locked operations "
                 "on a count that the writers of a group share",
     .help = "hackbench: mode = thread: added to each write and read"},
    {NULL},
};

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    gint64 bind = sim_config_int(config, "workload", "bind_cpus");

    if (bind > topology->n_cpus)
        return sim_config_error(config, "workload", "bind_cpus", error, "the machine has %u CPUs", topology->n_cpus);
    return TRUE;
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    /* By class, before and since the kmalloc-cg caches of 5.14. */
    static const char *const names[][2][3] = {
        {{"skbuff_head_cache", "kmalloc-512"}, {"skbuff_head_cache", "kmalloc-cg-512"}},
        {{"skbuff_head_cache", "kmalloc-1k"}, {"skbuff_head_cache", "kmalloc-cg-1k"}},
        {{"skbuff_head_cache", "kmalloc-2k"}, {"skbuff_head_cache", "kmalloc-cg-2k"}},
        {{"skbuff_head_cache", "kmalloc-4k"}, {"skbuff_head_cache", "kmalloc-cg-4k"}},
    };
    static const char *const none[] = {NULL};
    guint class_bytes = hack_data_class_bytes((guint) sim_config_int(config, "workload", "datasize"));

    if (sim_config_choice(config, "workload", "transport") == TRANSPORT_PIPE)
        return none;
    return names[g_bit_nth_lsf(class_bytes, -1) - g_bit_nth_lsf(512, -1)][kernel >= SLAB_KERNEL(5, 14)];
}

void
hack_level_add(Hackbench *hack, const SchedCpu *cpu, HackLevel *level, gint change)
{
    SimTime now = CLAMP(mach_now(cpu->mach), hack->world->warmup, hack->world->end);

    level->area += (double) level->value * (double) (now - level->since);
    level->since = now;
    level->value += (guint64) (gint64) change;
    level->peak = MAX(level->peak, level->value);
}

void
hack_block_writer(Hackbench *hack, SchedCpu *cpu, HackTask *task)
{
    task->has_waited = TRUE;
    hack_level_add(hack, cpu, &hack->blocked_writers, 1);
    sched_sleep(cpu, &task->task);
}

void
hack_wake_writer(Hackbench *hack, SchedCpu *cpu, SchedTask *writer)
{
    hack_level_add(hack, cpu, &hack->blocked_writers, -1);
    sched_wake(cpu, writer, TRUE);
}

void
hack_wake_reader(SchedCpu *cpu, HackChannel *channel)
{
    /* A reader sleeps on an empty queue only. */
    if (channel->n_messages == 1 && channel->reader->task.state == SCHED_SLEEPING)
        sched_wake(cpu, &channel->reader->task, TRUE);
}

/* The part of a call that is its own. */
static void
spend_call(const Hackbench *hack, SchedCpu *cpu, HackTask *task)
{
    SimTime cost = task->is_sender ? hack->send_ps : hack->recv_ps;
    guint64 permille = 1000 - hack->spread_permille + sim_rng_below(&task->spread, 2 * hack->spread_permille + 1);

    sim_private(cpu->mach->engine, cpu->mach->agent);
    mach_compute(cpu->mach, cost * (SimTime) permille / 1000, cpu->is_shared);
    task->is_in_call = TRUE;
}

/* One call, FALSE when the task has left the CPU in its middle. */
static gboolean
make_call(Hackbench *hack, SchedCpu *cpu, HackTask *task)
{
    HackChannel *channel = &hack->channel[task->channel];

    if (!task->is_in_call)
        spend_call(hack, cpu, task);
    __builtin_prefetch(channel, 1); /* before other CPUs take their turns */
    sched_sync(cpu);
    sched_note_sibling(cpu);
    if (sched_preempt(cpu, &task->task))
        return FALSE;
    if (!(task->is_sender ? hack->transport->write : hack->transport->read)(hack, cpu, task, channel))
        return FALSE;
    task->is_in_call = task->has_waited = FALSE;
    task->n_left--;
    if (!task->is_sender)
        hack->world->cpu[cpu->mach->id].n_operations++;
    else if (++task->channel == (task->group + 1) * hack->n_fds)
        task->channel -= hack->n_fds;
    return TRUE;
}

static void
run_task(SchedCpu *cpu, SchedTask *sched_task)
{
    HackTask *task = (HackTask *) sched_task;

    while (task->n_left > 0)
        if (!make_call(cpu->sched->data, cpu, task) || !sched_poll(cpu))
            return;
    sched_sync(cpu);
    sched_end(cpu, sched_task);
}

/* After the policies, in the order of the choices of `scheduler`. */
enum { SCHEDULER_OF_KERNEL = SCHED_EEVDF_NO_PARITY + 1 };

static SchedPolicy
read_policy(const SimConfig *config, guint kernel)
{
    gint choice = sim_config_choice(config, "workload", "scheduler");

    if (choice != SCHEDULER_OF_KERNEL)
        return (SchedPolicy) choice;
    return kernel < SLAB_KERNEL(6, 6) ? SCHED_CFS : SCHED_EEVDF;
}

/* get_update_sysctl_factor(): 0.75 ms, times 1 + log2 of the CPUs, at most 8 of them. */
static SimTime
kernel_slice(guint n_cpus)
{
    return 750 * SIM_US * (1 + g_bit_nth_msf(MIN(n_cpus, 8), -1));
}

static SchedConfig
read_sched(const SimConfig *config, guint kernel, guint n_cpus)
{
    SimTime slice = sim_config_time(config, "workload", "slice");

    return (SchedConfig){
        .policy = read_policy(config, kernel),
        .placement = (SchedPlacement) sim_config_choice(config, "workload", "placement"),
        .balances = sim_config_bool(config, "workload", "idle_balance"),
        .balance_interval = sim_config_time(config, "workload", "balance_interval"),
        .slice = slice > 0 ? slice : kernel_slice(n_cpus),
        .context_switch = sim_config_time(config, "workload", "context_switch"),
        .wake_up = sim_config_time(config, "workload", "wake_up"),
        .idle_exit = sim_config_time(config, "workload", "idle_exit"),
    };
}

/* Receivers of a group, then its senders. A free task starts on the CPU of its number, which stands for what the
 * balancing of forks does to tasks that soon sleep; a bound one likewise within its range. */
static void
add_tasks(Hackbench *hack, guint64 loops, guint n_bound)
{
    guint n_cpus = hack->sched->n_cpus;

    hack->task = g_aligned_alloc0(hack->n_tasks, sizeof *hack->task, 64);
    for (guint i = 0; i < hack->n_tasks; i++) {
        HackTask *task = &hack->task[i];
        guint member = i % (2 * hack->n_fds);
        g_autofree char *component = g_strdup_printf("task/%u", i);

        sim_rng_init(&task->spread, hack->world->seed, hack->world->replication, component, "cost of a call");
        task->group = (guint16) (i / (2 * hack->n_fds));
        task->is_sender = member >= hack->n_fds;
        task->channel = task->group * hack->n_fds + (task->is_sender ? 0 : member);
        task->n_left = loops * hack->n_fds;
        if (!task->is_sender)
            hack->channel[task->channel].reader = task;
        if (n_bound) {
            guint first = task->group * n_bound % n_cpus;
            sched_add_task(hack->sched, &task->task, (first + member % n_bound) % n_cpus, first, n_bound);
        } else {
            sched_add_task(hack->sched, &task->task, i % n_cpus, 0, n_cpus);
        }
    }
}

static void
add_channels(Hackbench *hack, gboolean is_pipe)
{
    hack->transport = is_pipe ? &hack_pipe_transport : &hack_socket_transport;
    hack->channel = g_aligned_alloc0(hack->n_channels, sizeof *hack->channel, 64);
    if (is_pipe) {
        hack->pipe = g_new0(HackPipe, hack->n_channels);
        for (guint i = 0; i < hack->n_channels; i++)
            hack->pipe[i].spare_node = HACK_NO_NODE;
        return;
    }
    hack->limits = hack_socket_limits(hack->datasize_bytes, hack->n_fds);
    hack->message = g_new0(guint64, (gsize) hack->n_channels * hack->limits.capacity);
    for (guint i = 0; i < hack->n_channels; i++)
        hack->channel[i].message = hack->message + (gsize) i * hack->limits.capacity;
}

static void
read_costs(Hackbench *hack, const SimConfig *config, gboolean is_pipe)
{
    SimTime extra = sim_config_choice(config, "workload", "mode") == MODE_THREAD
                        ? sim_config_time(config, "workload", "thread_cost")
                        : 0;

    hack->send_ps = sim_config_time(config, "workload", is_pipe ? "pipe_write_cost" : "send_cost") + extra;
    hack->recv_ps = sim_config_time(config, "workload", is_pipe ? "pipe_read_cost" : "recv_cost") + extra;
    hack->spread_permille = (guint32) (sim_config_real(config, "workload", "call_spread") * 1000 + 0.5);
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Machine *machine = world->machine;
    Hackbench *hack = g_new0(Hackbench, 1);
    SchedConfig sched = read_sched(config, world->slub->kernel, machine->n_cpus);
    gboolean is_pipe = sim_config_choice(config, "workload", "transport") == TRANSPORT_PIPE;
    guint n_bound = (guint) sim_config_int(config, "workload", "bind_cpus");

    hack->world = world;
    hack->n_groups = (guint) sim_config_int(config, "workload", "groups");
    hack->n_fds = (guint) sim_config_int(config, "workload", "fds");
    hack->datasize_bytes = (guint) sim_config_int(config, "workload", "datasize");
    hack->page_size_bytes = world->topology->page_size_bytes;
    hack->n_channels = hack->n_groups * hack->n_fds;
    hack->n_tasks = world->n_tasks = 2 * hack->n_channels;
    hack->in_flight.since = hack->blocked_writers.since = world->warmup;
    read_costs(hack, config, is_pipe);
    add_channels(hack, is_pipe);
    if (!is_pipe) {
        const char *const *names = cache_names(config, world->slub->kernel);
        hack->head_cache = world_cache(world, names[0]);
        hack->data_cache = world_cache(world, names[1]);
    }
    if (n_bound)
        machine->n_active_cpus = MIN(machine->n_cpus, hack->n_groups * n_bound);
    hack->count = g_malloc0_n(machine->n_cpus, sizeof *hack->count);
    hack->sched = sched_new(machine, machine->n_active_cpus, &sched, run_task, hack);
    hack->sched->measured_from = world->warmup;
    for (guint i = 0; i < machine->n_active_cpus; i++)
        hack->sched->cpu[i].busy = &world->cpu[i].busy;
    add_tasks(hack, (guint64) sim_config_int(config, "workload", "loops"), n_bound);
    return hack;
}

/* Mean over the measured window, which ends early when the tasks do. */
static double
level_mean(const Hackbench *hack, const HackLevel *level, SimTime until)
{
    SimTime from = hack->world->warmup;

    if (until <= from)
        return NAN;
    return (level->area + (double) level->value * (double) MAX(until - level->since, 0)) / (double) (until - from);
}

static double
share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static double
idle_share(const Hackbench *hack)
{
    double busy = 0, all = 0;

    for (guint i = 0; i < hack->sched->n_cpus; i++) {
        const WorldCpu *cpu = &hack->world->cpu[i];
        busy += (double) (cpu->busy_at_end - cpu->busy_at_warmup);
        all += (double) (cpu->end_at - cpu->warmup_at);
    }
    return 1 - share(busy, all);
}

static SimTime
ended_at(const void *state)
{
    const Hackbench *hack = state;

    return hack->sched->n_live ? SIM_TIME_MAX : hack->sched->ended_at;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Hackbench *hack = state;
    SchedCounts count = sched_counts(hack->sched, SCHED_MEASURED);
    SimTime until = MIN(ended_at(hack), world->end);
    guint64 n_messages = 0, n_frees = 0, n_same_cpu = 0;

    for (guint i = 0; i < hack->sched->n_cpus; i++) {
        n_messages += world->cpu[i].operations_at_end - world->cpu[i].operations_at_warmup;
        n_frees += hack->count[i][SCHED_MEASURED].frees;
        n_same_cpu += hack->count[i][SCHED_MEASURED].same_cpu_frees;
    }
    sim_record_add_metric(record, "finished", hack->sched->n_live == 0);
    sim_record_add_metric(record, "elapsed_s", sim_time_to_seconds(until));
    if (!hack->pipe)
        sim_record_add_metric(record, "same_cpu_free_share", share((double) n_same_cpu, (double) n_frees));
    sim_record_add_metric(record, "in_flight_messages_mean", level_mean(hack, &hack->in_flight, until));
    sim_record_add_metric(record, "in_flight_messages_peak", (double) hack->in_flight.peak);
    sim_record_add_metric(record, "blocked_writer_share",
                          level_mean(hack, &hack->blocked_writers, until) / (double) hack->n_channels);
    sim_record_add_metric(record, "context_switches_per_message", share((double) count.switches, (double) n_messages));
    sim_record_add_metric(record, "wakeups_per_message", share((double) count.wake_ups, (double) n_messages));
    sim_record_add_metric(record, "moved_wakeup_share", share((double) count.moved_wake_ups, (double) count.wake_ups));
    sim_record_add_metric(record, "balance_pulls_per_message", share((double) count.pulls, (double) n_messages));
    sim_record_add_metric(record, "preemptions_per_message", share((double) count.preemptions, (double) n_messages));
    sim_record_add_metric(record, "idle_share", idle_share(hack));
}

static void
hack_free(void *state)
{
    Hackbench *hack = state;

    sched_free(hack->sched);
    g_aligned_free(hack->task);
    g_aligned_free(hack->channel);
    g_free(hack->message);
    g_free(hack->pipe);
    g_free(hack->count);
    g_free(hack);
}

const Workload workload_hackbench = {
    .name = "hackbench",
    .summary = "groups of senders and receivers over sockets or pipes (hackbench, perf bench sched messaging)",
    .operation = "messages",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .shares_host = TRUE,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = hack_free,
};
