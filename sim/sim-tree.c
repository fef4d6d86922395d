/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-tree.h"

void
sim_tree_init(SimTree *tree, guint32 n_slots)
{
    guint32 n = 2;

    while (n < n_slots)
        n *= 2;
    tree->n_leaves = n;
    tree->part_shift = (guint32) MAX(g_bit_nth_msf(n, -1) - SIM_TREE_PART_BITS, 0);
    /* Cache-line aligned, so that a pair of siblings never straddles two lines. */
    tree->node = g_aligned_alloc0(2 * (gsize) n, sizeof *tree->node, 64);
    for (guint32 i = 1; i < 2 * n; i++)
        tree->node[i].key = SIM_TREE_IDLE;
    for (guint32 i = 0; i < n; i++)
        tree->node[n + i].slot = i;
    for (guint32 i = n - 1; i > 0; i--)
        tree->node[i].slot = tree->node[2 * i].slot;
}

void
sim_tree_clear(SimTree *tree)
{
    g_aligned_free(tree->node);
    tree->node = NULL;
}
