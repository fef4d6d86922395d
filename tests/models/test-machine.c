/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-machine.h"

#include <glib/gstdio.h>
#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include "sim-plan.h"

static const SimKeySpec *const tables[] = {mach_machine_keys, mach_cost_keys, NULL};
static const SimSchema schema = {.tables = tables};

void
test_machine_init(TestMachine *test, const char *text)
{
    g_autofree char *whole = g_strdup_printf("[run]\nduration = 1 s\n%s", text);
    g_autofree char *path = NULL;
    g_autoptr(SimPlan) plan = NULL;
    GError *error = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.scenario", &path, &error);

    g_assert_no_error(error);
    close(file);
    g_file_set_contents(path, whole, -1, &error);
    g_assert_no_error(error);
    plan = sim_plan_load(&schema, path, NULL, NULL, &error);
    g_unlink(path);
    g_assert_no_error(error);
    test->config = sim_config_ref((SimConfig *) sim_plan_config(plan, 0));
    test->topology = mach_topology_new(test->config, &error);
    g_assert_no_error(error);
}

void
test_machine_clear(TestMachine *test)
{
    g_clear_pointer(&test->topology, mach_topology_free);
    g_clear_pointer(&test->config, sim_config_unref);
}

Machine *
test_machine_start(const TestMachine *test, guint64 seed, const SimTime *checkpoint, guint n_checkpoints)
{
    return mach_machine_new(test->topology, test->config, seed, 0, checkpoint, n_checkpoints, 0);
}

/* Fibers are given up in the middle of their functions, whose red zones AddressSanitizer would find again in the next
 * machine's stacks at the same addresses. */
void
test_machine_stop(Machine *machine)
{
    for (guint i = 0; i < machine->engine->n_agents; i++) {
        SimFiber *fiber = &machine->engine->agents[i].fiber;

        ASAN_UNPOISON_MEMORY_REGION(fiber->stack_bottom, fiber->stack_bytes);
    }
    mach_machine_free(machine);
}

typedef struct {
    Machine *machine;
    void (*body)(MachCpu *cpu, void *data);
    void *data;
} Turn;

static void
take_turn(SimAgent *agent)
{
    const Turn *turn = agent->data;

    turn->body(&turn->machine->cpu[agent->id], turn->data);
}

void
test_machine_run_each(Machine *machine, void (*body)(MachCpu *, void *), void *data)
{
    SimEngine *engine = machine->engine;
    Turn turn = {machine, body, data};
    SimTime now = 0;

    for (guint i = 0; i < machine->n_cpus; i++) {
        SimAgent *agent = sim_engine_add_fiber(engine, i, take_turn, &turn);

        sim_wake(engine, agent, now);
        sim_engine_run(engine, SIM_TREE_IDLE - 1);
        now = agent->now;
    }
    g_assert_cmpstr(machine->failure, ==, NULL);
}
