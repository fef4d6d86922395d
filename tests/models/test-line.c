/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mach-line.h"
#include "test-machine.h"

/* Shared lines: who waits for a read, and for how long a line stays with the CPU that wrote it. */

/* In turn: CPU 0 writes, so does CPU 1 of its node; both and CPU 2 of the other socket read. */
typedef struct {
    MachLine line;
    MachLineCopy copy[3];
} Lines;

static void
lines_body(MachCpu *cpu, void *data)
{
    Lines *lines = data;
    const MachCosts *c = &cpu->machine->costs;
    SimTime near = c->line_same_l3, begin = 100 * SIM_US * (cpu->id + 1);

    mach_spend(cpu, begin - mach_now(cpu));
    if (cpu->id == 3)
        return;
    if (cpu->id == 2) {
        /* The first read of what CPU 1 wrote takes the line, the second does not. */
        mach_line_read(&lines->line, cpu, &lines->copy[2]);
        g_assert_cmpint(mach_now(cpu) - begin, ==, c->line_other_socket);
        g_assert_cmpint(lines->line.free_at, ==, mach_now(cpu));
        begin = lines->line.free_at;
        mach_spend(cpu, SIM_US);
        mach_line_read(&lines->line, cpu, &lines->copy[2]);
        g_assert_cmpint(lines->line.free_at, ==, begin);
        return;
    }
    mach_line_update_held(&lines->line, cpu, 5 * SIM_NS, &lines->copy[cpu->id]);
    g_assert_cmpint(lines->copy[cpu->id].until - mach_now(cpu), ==, cpu->id == 1 ? near : c->line_memory);
    begin = mach_now(cpu);
    mach_line_read(&lines->line, cpu, &lines->copy[cpu->id]);
    g_assert_cmpint(mach_now(cpu), ==, begin);
}

/* While another CPU fetches the line a read is free and an operation takes its own time only; from then on both wait
 * behind that CPU. */
static void
held_body(MachCpu *cpu, void *data)
{
    Lines *lines = data;
    MachCpu *other = &cpu->machine->cpu[1];
    SimTime near = cpu->machine->costs.line_same_l3, begin;

    if (cpu->id != 0)
        return;
    lines->line.owner = (SimToucher){other->id, other->group};
    mach_line_update_held(&lines->line, cpu, 0, &lines->copy[0]);
    begin = mach_now(cpu);
    lines->line.owner = (SimToucher){other->id, other->group};
    lines->line.free_at = begin + near;
    mach_spend(cpu, near - 6);
    mach_line_read(&lines->line, cpu, &lines->copy[0]);
    mach_line_update_held(&lines->line, cpu, 5, &lines->copy[0]);
    g_assert_cmpint(mach_now(cpu), ==, begin + near - 1);
    g_assert_cmpint(lines->line.free_at, ==, begin + near + 5);
    mach_spend(cpu, 1);
    mach_line_read(&lines->line, cpu, &lines->copy[0]);
    g_assert_cmpint(mach_now(cpu), ==, begin + 2 * near + 5);
    mach_line_update_held(&lines->line, cpu, 5, &lines->copy[0]);
    g_assert_cmpint(mach_now(cpu), ==, begin + 3 * near + 10);
    g_assert_cmpint(lines->copy[0].until, ==, begin + 4 * near + 10);
}

static void
run_lines(void (*body)(MachCpu *, void *))
{
    Lines lines = {0};
    TestMachine test;
    Machine *machine;

    test_machine_init(&test, "[machine]\nsockets = 2\ncores_per_l3 = 2\n");
    machine = test_machine_start(&test, 1, NULL, 0);
    mach_line_init(&lines.line, 0);
    test_machine_run_each(machine, body, &lines);
    mach_machine_free(machine);
    test_machine_clear(&test);
}

static void
test_reads(void)
{
    run_lines(lines_body);
}

static void
test_hold(void)
{
    run_lines(held_body);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/line/reads", test_reads);
    g_test_add_func("/line/hold", test_hold);
    return g_test_run();
}
