/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sched-script.h"

const Step hog[] = {{LOOP, 10 * SIM_US}};

static gboolean
do_step(Bench *bench, SchedCpu *cpu, Scripted *task)
{
    const Step *step = task->step;

    if (step->action == COMPUTE || step->action == LOOP) {
        mach_compute(cpu->mach, step->value, cpu->is_shared);
        task->computed += step->value;
    }
    sched_sync(cpu);
    sched_note_sibling(cpu);
    if (step->action != LOOP)
        task->step++;
    if (step->action == WAKE || step->action == WAKE_ASYNC)
        sched_wake(cpu, &bench->task[step->value].task, step->action == WAKE);
    if (step->action == SLEEP)
        sched_sleep(cpu, &task->task);
    if (step->action == END)
        sched_end(cpu, &task->task);
    return step->action != SLEEP && step->action != END && !sched_preempt(cpu, &task->task);
}

static void
run_script(SchedCpu *cpu, SchedTask *sched_task)
{
    Bench *bench = cpu->sched->data;
    Scripted *task = (Scripted *) sched_task;

    g_assert_cmpuint(bench->n_starts, <, N_STARTS);
    bench->start[bench->n_starts++] = (Start){(guint) (task - bench->task), cpu->mach->id, mach_now(cpu->mach)};
    while (do_step(bench, cpu, task) && sched_poll(cpu))
        ;
}

SchedConfig
default_config(void)
{
    return (SchedConfig){
        .placement = SCHED_PLACE_PREVIOUS,
        .balance_interval = SIM_MS,
        .slice = SIM_MS,
        .context_switch = 1 * SIM_US,
        .wake_up = 20 * SIM_NS,
        .idle_exit = 300 * SIM_US,
    };
}

Bench *
bench_new(const char *settings, const SchedConfig *config)
{
    Bench *bench = g_new0(Bench, 1);

    bench->world = test_world_new("hackbench", settings, 1);
    bench->sched =
        sched_new(bench->world->world.machine, bench->world->world.machine->n_cpus, config, run_script, bench);
    return bench;
}

void
bench_free(Bench *bench)
{
    sched_free(bench->sched);
    test_world_free(bench->world);
    g_free(bench);
}

void
add_task(Bench *bench, guint number, const Step *script, guint cpu)
{
    bench->task[number].step = script;
    sched_add_task(bench->sched, &bench->task[number].task, cpu, 0, bench->sched->n_cpus);
}

void
run_until(Bench *bench, SimTime until)
{
    sim_engine_run(bench->sched->machine->engine, until);
}
