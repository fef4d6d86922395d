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

/* For sim_tree_coming_slot(). */
#define SIM_TREE_PART_BITS 4

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
    guint32 part_shift; /* from a leaf to the root of its part, a 2^SIM_TREE_PART_BITS-th of the tree */
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

static inline SimTime
sim_tree_key(const SimTree *tree, guint32 slot)
{
    return tree->node[tree->n_leaves + slot].key;
}

/* The slot that comes next in the part of the tree that `slot` lies in, a 2^part_bits-th: it is due in some 2^part_bits
 * turns. part_bits <= SIM_TREE_PART_BITS. */
static inline guint32
sim_tree_coming_slot(const SimTree *tree, guint32 slot, guint part_bits)
{
    return tree->node[(tree->n_leaves + slot) >> (tree->part_shift + SIM_TREE_PART_BITS - part_bits)].slot;
}

/* Whether the left or the right of two siblings wins is a coin toss to a branch predictor, and a wrong guess costs more
 * than all the levels of a tree. GCC makes a branch of every way to write it in C but this one's fallback, which is a
 * third slower than the conditional move. Both keys are in 0 .. SIM_TREE_IDLE. */
static inline void
sim__tree_play(SimTime *key, guint32 *slot, SimTreeNode sibling, SimTime sibling_is_left)
{
#ifdef __x86_64__
    __asm__("cmpq %[limit], %[other_key]\n\t"
            "cmovl %[other_key], %[key]\n\t"
            "cmovl %[other_slot], %[slot]"
            : [key] "+r"(*key), [slot] "+r"(*slot)
            : [other_key] "r"(sibling.key), [other_slot] "r"(sibling.slot), [limit] "r"(*key + sibling_is_left)
            : "cc");
#else
    guint32 lost = (guint32) ((sibling.key - *key - sibling_is_left) >> 63); /* all ones or none */

    *key = MIN(*key, sibling.key);
    *slot ^= (*slot ^ sibling.slot) & lost;
#endif
}

/* Sets the key of `slot`. Returns the smallest key of all other slots. */
static inline SimTime
sim_tree_set(SimTree *tree, guint32 slot, SimTime key)
{
    SimTreeNode *node = tree->node;
    guint32 pos = tree->n_leaves + slot;
    SimTime others = SIM_TREE_IDLE;

    node[pos].key = key;
    while (pos > 1) {
        SimTreeNode sibling = node[pos ^ 1];

        others = MIN(others, sibling.key);
        sim__tree_play(&key, &slot, sibling, pos & 1);
        pos >>= 1;
        node[pos].key = key;
        node[pos].slot = slot;
    }
    return others;
}

#endif
