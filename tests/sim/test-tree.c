/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tournament tree against a plain array: after every operation the minimum by (key, slot) and the smallest key of
 * the others, found by looking at all of them. */
#include "sim-rng.h"
#include "sim-tree.h"

typedef struct {
    SimTree tree;
    SimTime *key; /* [n] */
    guint32 n;
} Pair;

static void
pair_init(Pair *pair, guint32 n)
{
    sim_tree_init(&pair->tree, n);
    pair->n = n;
    pair->key = g_new(SimTime, n);
    for (guint32 i = 0; i < n; i++)
        pair->key[i] = SIM_TREE_IDLE;
}

static void
pair_clear(Pair *pair)
{
    sim_tree_clear(&pair->tree);
    g_free(pair->key);
}

static void
pair_set(Pair *pair, guint32 slot, SimTime key)
{
    SimTime others = sim_tree_set(&pair->tree, slot, key), smallest_other = SIM_TREE_IDLE;
    guint32 first = 0;

    pair->key[slot] = key;
    for (guint32 i = 0; i < pair->n; i++) {
        if (pair->key[i] < pair->key[first])
            first = i;
        if (i != slot)
            smallest_other = MIN(smallest_other, pair->key[i]);
    }
    g_assert_cmpint(sim_tree_min_key(&pair->tree), ==, pair->key[first]);
    g_assert_cmpuint(sim_tree_min_slot(&pair->tree), ==, first);
    g_assert_cmpint(others, ==, smallest_other);
}

/* Few different keys, so that ties are the rule; every size, since the leaves beyond the last slot must never win. */
static void
test_random(void)
{
    SimRng rng;

    sim_rng_init(&rng, 1, 0, "test-tree", "random");
    for (guint32 n = 1; n <= 300; n++) {
        SimTime n_keys = n % 3 ? 8 : 1000000;
        Pair pair;

        pair_init(&pair, n);
        for (guint i = 0; i < 400; i++) {
            gboolean idles = sim_rng_bernoulli(&rng, 0.1);
            SimTime key = (SimTime) sim_rng_below(&rng, (guint64) n_keys);
            pair_set(&pair, (guint32) sim_rng_below(&rng, n), idles ? SIM_TREE_IDLE : key);
        }
        pair_clear(&pair);
    }
}

/* As the engine uses it: the minimum moves on, so keys rise and the winner changes with each operation. */
static void
test_hold(void)
{
    SimRng rng;
    Pair pair;

    sim_rng_init(&rng, 1, 0, "test-tree", "hold");
    pair_init(&pair, 77);
    for (guint32 i = 0; i < pair.n; i++)
        pair_set(&pair, i, (SimTime) sim_rng_below(&rng, 20));
    for (guint i = 0; i < 20000; i++)
        pair_set(&pair, sim_tree_min_slot(&pair.tree),
                 sim_tree_min_key(&pair.tree) + (SimTime) sim_rng_below(&rng, 20));
    pair_clear(&pair);
}

/* All slots at one time come out by number; an idle tree says so. */
static void
test_ties(void)
{
    Pair pair;

    pair_init(&pair, 300);
    g_assert_cmpint(sim_tree_min_key(&pair.tree), ==, SIM_TREE_IDLE);
    for (guint32 i = pair.n; i-- > 0;)
        pair_set(&pair, i, 5);
    for (guint32 i = 0; i < pair.n; i++) {
        g_assert_cmpuint(sim_tree_min_slot(&pair.tree), ==, i);
        pair_set(&pair, i, SIM_TREE_IDLE);
    }
    g_assert_cmpint(sim_tree_min_key(&pair.tree), ==, SIM_TREE_IDLE);
    pair_clear(&pair);
}

/* Keys at the ends of the range: no comparison may overflow. */
static void
test_extremes(void)
{
    Pair pair;

    pair_init(&pair, 3);
    pair_set(&pair, 2, SIM_TREE_IDLE - 1);
    pair_set(&pair, 1, SIM_TREE_IDLE - 1);
    pair_set(&pair, 0, 0);
    pair_set(&pair, 0, SIM_TREE_IDLE);
    pair_clear(&pair);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tree/random", test_random);
    g_test_add_func("/tree/hold", test_hold);
    g_test_add_func("/tree/ties", test_ties);
    g_test_add_func("/tree/extremes", test_extremes);
    return g_test_run();
}
