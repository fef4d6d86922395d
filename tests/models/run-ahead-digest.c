/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contention.h"

/* Prints everything that can be told about contended runs of each generation under each lock discipline. Built twice,
 * once with SIM_QUEUE_EVERY_OPERATION; test-run-ahead compares the two outputs. */

static const char *const lock_kinds[] = {"qspinlock", "ticket", "cna"};
static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 1), SLAB_KERNEL(6, 8), SLAB_KERNEL(6, 12),
                                SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0), SLAB_KERNEL(7, 1)};

static void
print_run(const TestMachine *test, guint kernel, gboolean has_cpu_partial)
{
    has_cpu_partial &= kernel < SLAB_KERNEL(7, 0);
    ContentionLoad load = {
        .kernel = kernel,
        .objects = 3,
        .sheaf_capacity = kernel >= SLAB_KERNEL(6, 18) ? 3 : 0,
        .min_partial = 5,
        .cpu_partial = has_cpu_partial ? 6 : 0,
        .cpu_partial_slabs = has_cpu_partial ? 4 : 0,
        .has_cpu_partial = has_cpu_partial,
        .with_bulk = TRUE,
        .with_nodes = TRUE,
        .with_flush = TRUE,
        .n_operations = 1500,
        .n_own_max = 40,
    };
    Contention *c = contention_run(test, &load, 1);
    g_autofree char *digest = NULL;

    contention_free_all(c);
    digest = contention_digest(c);
    g_print("%u.%u\n%s", kernel / 1000, kernel % 1000, digest);
    contention_end(c);
}

int
main(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(lock_kinds); i++) {
        g_autofree char *text = g_strdup_printf("[machine]\nsockets = 2\nl3_per_node = 2\ncores_per_l3 = 3\nlock = %s\n"
                                                "tick = 0.1 ms\ngrace_period = 0.3 ms\n",
                                                lock_kinds[i]);
        TestMachine test;

        test_machine_init(&test, text);
        for (guint k = 0; k < G_N_ELEMENTS(kernels); k++)
            for (guint has_cpu_partial = 0; has_cpu_partial < 2; has_cpu_partial++)
                print_run(&test, kernels[k], has_cpu_partial);
        test_machine_clear(&test);
    }
    return 0;
}
