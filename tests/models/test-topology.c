/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes, sockets and the way of a cache line between them. */
#include "mach-distance.h"
#include "test-machine.h"

#define COSTS                                                                                                          \
    "[costs]\nline_same_l3 = 20 ns\nline_same_node = 50 ns\nline_same_socket = 100 ns\nline_other_socket = 120 ns\n"   \
    "line_other_socket_homed_here = 180 ns\n"

static SimTime
transfer_ns(const MachTopology *t, guint home_node, guint from_cpu, guint to_cpu)
{
    const SimDistance *distance = &t->distance[home_node];

    return distance->transfer_ps[t->cpu_group[from_cpu] * distance->n_groups + t->cpu_group[to_cpu]] / SIM_NS;
}

/* Two nodes a socket, two domains of two cores a node: CPUs 0 to 3 on node 0, 8 on the second socket. */
static void
test_nodes_of_sockets(void)
{
    TestMachine test;
    const MachTopology *t;

    test_machine_init(&test, "[machine]\nsockets=2\nnodes_per_socket=2\nl3_per_node=2\ncores_per_l3=2\n" COSTS);
    t = test.topology;
    g_assert_cmpuint(t->n_nodes, ==, 4);
    g_assert_cmpuint(t->n_cpus, ==, 16);
    g_assert_cmpint(transfer_ns(t, 0, 0, 1), ==, 20);
    g_assert_cmpint(transfer_ns(t, 0, 0, 2), ==, 50);
    g_assert_cmpint(transfer_ns(t, 0, 0, 4), ==, 100);
    g_assert_cmpint(transfer_ns(t, 0, 8, 0), ==, 180); /* its memory is on the requester's socket */
    g_assert_cmpint(transfer_ns(t, 1, 8, 0), ==, 180);
    g_assert_cmpint(transfer_ns(t, 2, 8, 0), ==, 120);
    g_assert_cmpint(mach_distance(t, 0, 2), ==, MACH_SAME_NODE);
    g_assert_cmpint(mach_distance(t, 0, 4), ==, MACH_SAME_SOCKET);
    g_assert_cmpint(mach_distance(t, 0, 8), ==, MACH_OTHER_SOCKET);
    test_machine_clear(&test);
}

/* NPS0: the same sockets under one node. A line's home is one socket as often as the other. */
static void
test_interleaved(void)
{
    TestMachine test;
    const MachTopology *t;

    test_machine_init(&test, "[machine]\nsockets=2\nnodes_per_socket=0\nl3_per_node=4\ncores_per_l3=2\n"
                             "threads_per_core=2\n" COSTS);
    t = test.topology;
    g_assert_cmpuint(t->n_nodes, ==, 1);
    g_assert_cmpuint(t->n_cpus, ==, 16);
    g_assert_cmpuint(t->cpu_node[15], ==, 0);
    g_assert_cmpuint(t->zonelist[0], ==, 0);
    g_assert_cmpint(transfer_ns(t, 0, 0, 1), ==, 20);
    g_assert_cmpint(transfer_ns(t, 0, 0, 3), ==, 50);
    g_assert_cmpint(transfer_ns(t, 0, 0, 4), ==, 150);
    g_assert_cmpint(transfer_ns(t, 0, 7, 11), ==, 150); /* second threads begin at CPU 8 */
    g_assert_cmpint(transfer_ns(t, 0, 4, 6), ==, 50);
    g_assert_cmpint(mach_distance(t, 0, 8), ==, MACH_SAME_CORE);
    g_assert_cmpint(mach_distance(t, 0, 3), ==, MACH_SAME_NODE);
    g_assert_cmpint(mach_distance(t, 0, 4), ==, MACH_OTHER_SOCKET);
    test_machine_clear(&test);
}

/* Three sockets: a third of the homes is the requester's own. */
static void
test_three_sockets(void)
{
    TestMachine test;

    test_machine_init(&test, "[machine]\nsockets=3\nnodes_per_socket=0\nl3_per_node=3\ncores_per_l3=1\n" COSTS);
    g_assert_cmpint(transfer_ns(test.topology, 0, 0, 2), ==, (180 + 2 * 120) / 3);
    test_machine_clear(&test);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topology/nodes-of-sockets", test_nodes_of_sockets);
    g_test_add_func("/topology/interleaved", test_interleaved);
    g_test_add_func("/topology/three-sockets", test_three_sockets);
    return g_test_run();
}
