/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "sim-time.h"

/* Tournament tree over a fixed set of slots: the future-event set of agents that each have one pending wake-up.
 * Replacing a slot's key costs one climb of log2(slots) comparisons and no search. Equal keys are ordered by slot
 * number: a left child always holds lower slots than its sibling, so "left wins ties" is the whole rule.
 * Chosen by bench/bench-queue.c against a binary and a 4-ary heap. */

/* A slot without a pending wake-up. Half the range, so that key + 1 never overflows. */
#define SIM_TREE_IDLE (G_MAXINT64 / 2)

typedef struct
{
    SimTime key;
    guint32 slot;
    guint32 unused;
} SimTreeNode;

typedef struct
{
    SimTreeNode *node; /* node[1] is the root, node[n_leaves + slot] the leaf of a slot */
    guint32 n_leaves;  /* power of two, at least 2 */
} SimTree;

void sim_tree_init(SimTree *tree, guint32 n_slots);
void sim_tree_clear(SimTree *tree);

static inline SimTime
sim_tree_min_key(const SimTree *tree)
{
    return tree->node[1].key;
}

static inline guint32
sim_tree_min_slot(const SimTree *tree)
{
    return tree->node[1].slot;
}

/* Sets the key of `slot`. Returns the smallest key of all other slots; meaningful only when `slot` is the minimum
 * afterwards. */
static inline SimTime
sim_tree_set(SimTree *tree, guint32 slot, SimTime key)
{
    SimTreeNode *node = tree->node;
    guint32 pos = tree->n_leaves + slot;
    SimTime others = SIM_TREE_IDLE;

    node[pos].key = key;
    while (pos > 1) {
        SimTreeNode sibling = node[pos ^ 1];
        gboolean lost = sibling.key < key + (SimTime) (pos & 1);

        others = sibling.key < others ? sibling.key : others;
        key = lost ? sibling.key : key;
        slot = lost ? sibling.slot : slot;
        pos >>= 1;
        node[pos].key = key;
        node[pos].slot = slot;
    }
    return others;
}

#endif
