/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-ref-slub.h"

/* Hand-computed walks with two nodes: CPUs 0 and 2 on node 0, CPUs 1 and 3 on node 1. */

static const guint cpu_node[] = {0, 1, 0, 1};

typedef struct {
    gboolean skip;         /* what skip_any_partial() answers */
    guint n_skip_asked;    /* how often it was asked */
    gboolean exhausted[2]; /* by node */
} Chance;

static gboolean
skip_any_partial(gpointer user_data)
{
    Chance *chance = user_data;

    chance->n_skip_asked++;
    return chance->skip;
}

static gboolean
node_exhausted(gpointer user_data, guint node)
{
    return ((Chance *) user_data)->exhausted[node];
}

static RefParams
two_nodes(guint kernel, Chance *chance)
{
    RefParams p = test_params(kernel);

    p.n_nodes = 2;
    p.cpu_node = cpu_node;
    p.skip_any_partial = skip_any_partial;
    p.node_exhausted = node_exhausted;
    p.user_data = chance;
    return p;
}

/* CS on the wrong node: deactivated with its private objects, to the head, or to the tail after a remote free. */
static void
test_mismatch_deactivates(gconstpointer kernel)
{
    gboolean reversed = GPOINTER_TO_UINT(kernel) < SLAB_KERNEL(5, 12);
    Chance chance = {0};
    RefParams p = two_nodes(GPOINTER_TO_UINT(kernel), &chance);
    RefSlub *slub = ref_slub_new(&p);

    RefObject *first = ref_slub_alloc(slub, 0, REF_NO_NODE);
    RefObject *other = ref_slub_alloc(slub, 0, 1);
    g_assert_cmpuint(first->slab->node, ==, 0);
    g_assert_cmpuint(other->slab->node, ==, 1);
    test_expect_node_list(slub, 0, "0");
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_SLAB, 2, SLAB_STAT_ALLOC_NODE_MISMATCH, 1,
                      SLAB_STAT_DEACTIVATE_TO_HEAD, 1, -1);
    test_expect_locks(slub, REF_LOCK_DEACTIVATE_SLAB, 1, -1);

    /* Back in one piece, or to 5.11 object by object, which reverses them. */
    const RefObject *o = first->slab->freelist;
    g_assert_cmpuint(o->index, ==, reversed ? 3 : 1);
    g_assert_cmpuint(o->next->index, ==, 2);
    g_assert_cmpuint(o->next->next->index, ==, reversed ? 1 : 3);

    /* Slab 2 goes behind slab 0 because another CPU freed into it. */
    ref_slub_alloc(slub, 2, REF_NO_NODE);
    test_expect_place(slub, 0, REF_PLACE_CPU_SLAB, 2);
    RefObject *mine[2] = {ref_slub_alloc(slub, 3, 0), ref_slub_alloc(slub, 3, 0)};
    g_assert_cmpuint(mine[0]->slab->serial, ==, 2);
    ref_slub_free(slub, 1, mine[0]);
    ref_slub_flush_cpu(slub, 2);
    ref_slub_alloc(slub, 3, 1); /* node 1 list is empty: new slab 3 */
    test_expect_node_list(slub, 0, "0 2");
    g_assert_cmpuint(mine[1]->slab->freelist->index, ==, reversed ? 3 : 2); /* private objects in front */
    g_assert_cmpuint(ref_slub_stat(slub, 3, SLAB_STAT_DEACTIVATE_REMOTE_FREES), ==, 1);
    g_assert_cmpuint(ref_slub_stat(slub, 3, SLAB_STAT_DEACTIVATE_TO_TAIL), ==, 1);
    g_assert_cmpuint(ref_slub_stat(slub, 3, SLAB_STAT_ALLOC_NODE_MISMATCH), ==, 1);
    ref_slub_free_all(slub);
}

/* CS on the wrong node, nothing free: F0; all free: E iff the node has enough. Neither takes the lock. */
static void
test_mismatch_full_and_empty(gconstpointer kernel)
{
    Chance chance = {0};
    RefParams p = two_nodes(GPOINTER_TO_UINT(kernel), &chance);

    p.min_partial = 0;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 4, NULL);
    ref_slub_alloc(slub, 0, 1);
    test_expect_place(slub, 0, REF_PLACE_NO_LIST, -1);
    ref_slub_free(slub, 2, ref_slub_alloc(slub, 2, REF_NO_NODE));
    ref_slub_alloc(slub, 2, 1);
    test_expect_place(slub, 2, REF_PLACE_DISCARDED, -1);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 4, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 4,
                      SLAB_STAT_ALLOC_NODE_MISMATCH, 2, SLAB_STAT_DEACTIVATE_FULL, 1, SLAB_STAT_FREE_FASTPATH, 1,
                      SLAB_STAT_DEACTIVATE_EMPTY, 1, SLAB_STAT_FREE_SLAB, 1, -1);
    test_expect_locks(slub, -1);
    ref_slub_free_all(slub);
}

/* CP popped on the wrong node: to 6.7 deactivated (mismatch, remote frees, tail), since 6.8 put back by
 * __put_partials(); 6.8 alone counts that pop as CPU_PARTIAL_ALLOC. */
static void
test_popped_mismatch(gconstpointer kernel)
{
    guint release = GPOINTER_TO_UINT(kernel);
    gboolean g1 = release < SLAB_KERNEL(6, 8);
    Chance chance = {0};
    RefParams p = two_nodes(release, &chance);
    RefSlub *slub = ref_slub_new(&p);
    RefObject *a[5], *b[5];

    test_alloc_n(slub, 1, 5, a); /* slabs 0 and 1 on node 1 */
    test_alloc_n(slub, 0, 5, b); /* slabs 2 and 3 on node 0 */
    ref_slub_free(slub, 2, b[0]);
    ref_slub_free(slub, 2, a[0]);
    test_expect_cpu_list(slub, 2, "0 2");
    g_assert_true(ref_slub_alloc(slub, 2, 0) == b[0]);
    test_expect_cpu_list(slub, 2, "");
    test_expect_node_list(slub, 1, "0");
    test_expect_place(slub, 2, REF_PLACE_CPU_SLAB, 2);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 5, SLAB_STAT_ALLOC_FASTPATH, 6, SLAB_STAT_ALLOC_SLAB, 4,
                      SLAB_STAT_DEACTIVATE_BYPASS, 2, SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_CPU_PARTIAL_FREE, 2,
                      SLAB_STAT_CPU_PARTIAL_ALLOC, release <= SLAB_KERNEL(6, 8) ? 2 : 1, SLAB_STAT_ALLOC_REFILL,
                      g1 ? 1 : 0, SLAB_STAT_ALLOC_NODE_MISMATCH, g1 ? 1 : 0, SLAB_STAT_DEACTIVATE_REMOTE_FREES,
                      g1 ? 1 : 0, SLAB_STAT_DEACTIVATE_TO_TAIL, g1 ? 1 : 0, SLAB_STAT_FREE_ADD_PARTIAL, g1 ? 0 : 1, -1);
    test_expect_locks(slub, g1 ? REF_LOCK_DEACTIVATE_SLAB : REF_LOCK_UNFREEZE_PARTIALS, 1, -1);
    g_assert_cmpuint(ref_slub_lock_count(slub, g1 ? REF_LOCK_DEACTIVATE_SLAB : REF_LOCK_UNFREEZE_PARTIALS, 1), ==, 1);
    ref_slub_free_all(slub);
}

/* The same with an empty slab where the node has enough: discarded. To 6.7 without the lock; since 6.8 under it, after
 * the last free already took it in vain. */
static void
test_popped_mismatch_empty(gconstpointer kernel)
{
    guint release = GPOINTER_TO_UINT(kernel);
    gboolean g1 = release < SLAB_KERNEL(6, 8);
    Chance chance = {0};
    RefParams p = two_nodes(release, &chance);
    RefObject *a[5];

    p.min_partial = 0;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 1, 5, a); /* slabs 0 and 1 on node 1 */
    for (guint i = 0; i < 4; i++)
        ref_slub_free(slub, 2, a[i]);
    test_expect_cpu_list(slub, 2, "0");
    ref_slub_alloc(slub, 2, 0);
    test_expect_place(slub, 0, REF_PLACE_DISCARDED, -1);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 3, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 3,
                      SLAB_STAT_DEACTIVATE_BYPASS, 1, SLAB_STAT_FREE_SLOWPATH, 4, SLAB_STAT_CPU_PARTIAL_FREE, 1,
                      SLAB_STAT_FREE_FROZEN, g1 ? 3 : 0, SLAB_STAT_CPU_PARTIAL_ALLOC, release <= SLAB_KERNEL(6, 8),
                      SLAB_STAT_ALLOC_NODE_MISMATCH, g1, SLAB_STAT_DEACTIVATE_REMOTE_FREES, g1,
                      SLAB_STAT_DEACTIVATE_EMPTY, 1, SLAB_STAT_FREE_SLAB, 1, -1);
    test_expect_locks(slub, REF_LOCK_SLAB_FREE, g1 ? 0 : 1, REF_LOCK_UNFREEZE_PARTIALS, g1 ? 0 : 1, -1);
    ref_slub_free_all(slub);
}

/* Node 1's list holds n_on_node1 slabs of one free object; does an allocation on node 0 take one of them? */
static void
expect_any_partial(guint kernel, guint n_on_node1, guint ratio, gboolean skip, gboolean hit, guint n_asked)
{
    Chance chance = {0};
    RefParams p = two_nodes(kernel, &chance);
    RefObject *o[4];

    p.has_cpu_partial = FALSE;
    p.cpu_partial = p.cpu_partial_slabs = 0;
    p.defrag_ratio = ratio;
    RefSlub *slub = ref_slub_new(&p);
    RefObject *first[5];
    for (guint i = 0; i < n_on_node1; i++) {
        test_alloc_n(slub, 1, 4, o);
        first[i] = o[0];
    }
    test_alloc_n(slub, 1, 1, NULL); /* lets the last one go */
    for (guint i = 0; i < n_on_node1; i++)
        ref_slub_free(slub, 1, first[i]);
    g_assert_cmpuint(ref_slub_nr_partial(slub, 1), ==, n_on_node1);

    chance.skip = skip;
    chance.n_skip_asked = 0;
    guint64 n_slabs = ref_slub_stat(slub, -1, SLAB_STAT_ALLOC_SLAB);
    RefObject *got = ref_slub_alloc(slub, 0, REF_NO_NODE);
    g_assert_cmpuint(got->slab->node, ==, hit ? 1 : 0);
    g_assert_cmpuint(ref_slub_stat(slub, -1, SLAB_STAT_ALLOC_SLAB) - n_slabs, ==, hit ? 0 : 1);
    g_assert_cmpuint(ref_slub_stat(slub, 0, SLAB_STAT_ALLOC_FROM_PARTIAL), ==, hit ? 1 : 0);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_GET_ANY_PARTIAL, 1), ==, hit ? 1 : 0);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_GET_PARTIAL_NODE, -1), ==, 0);
    g_assert_cmpuint(chance.n_skip_asked, ==, n_asked);
    ref_slub_free_all(slub);
}

/* min_partial is 2: another node's list serves only when it holds more. */
static void
test_any_partial(gconstpointer kernel)
{
    guint release = GPOINTER_TO_UINT(kernel);

    expect_any_partial(release, 2, 1000, FALSE, FALSE, 1);
    expect_any_partial(release, 3, 1000, FALSE, TRUE, 1);
    expect_any_partial(release, 3, 1000, TRUE, FALSE, 1);
    expect_any_partial(release, 3, 0, FALSE, FALSE, 0);
}

/* Explicit node 0 without free slabs there while node 1's list is long. Its own pages come first; when they are gone,
 * 6.10+ looks at the other lists, older ones go straight to the other node's pages. */
static void
test_explicit_node(gconstpointer kernel)
{
    gboolean passes = GPOINTER_TO_UINT(kernel) >= SLAB_KERNEL(6, 10);
    Chance chance = {0};
    RefParams p = two_nodes(GPOINTER_TO_UINT(kernel), &chance);

    p.min_partial = 0;
    p.has_cpu_partial = FALSE;
    p.cpu_partial = p.cpu_partial_slabs = 0;
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[5];
    test_alloc_n(slub, 1, 5, o);
    ref_slub_free(slub, 1, o[0]);
    test_expect_node_list(slub, 1, "0");

    RefObject *own = ref_slub_alloc(slub, 0, 0);
    g_assert_cmpuint(own->slab->node, ==, 0);
    g_assert_cmpuint(chance.n_skip_asked, ==, 2); /* by CPU 1's two new slabs only */

    chance.exhausted[0] = TRUE;
    RefObject *got = ref_slub_alloc(slub, 2, 0);
    g_assert_cmpuint(got->slab->node, ==, 1);
    g_assert_cmpuint(got->slab->serial, ==, passes ? 0 : 3);
    g_assert_cmpuint(chance.n_skip_asked, ==, passes ? 3 : 2);
    g_assert_cmpuint(ref_slub_stat(slub, 2, SLAB_STAT_ALLOC_FROM_PARTIAL), ==, passes ? 1 : 0);
    g_assert_cmpuint(ref_slub_stat(slub, 2, SLAB_STAT_ALLOC_SLAB), ==, passes ? 0 : 1);
    g_assert_cmpuint(ref_slub_stat(slub, 2, SLAB_STAT_ALLOC_NODE_MISMATCH), ==, 0);
    g_assert_cmpuint(ref_slub_stat(slub, 2, SLAB_STAT_ALLOC_SLOWPATH), ==, 1);
    ref_slub_free_all(slub);
}

/* Node 1 has no memory: its CPUs use node 0's list and pages, and a request for it is a request for any node, which
 * finds the present freelist in the slow path. */
static void
test_memoryless(gconstpointer kernel)
{
    static const gboolean has_memory[] = {TRUE, FALSE};
    Chance chance = {0};
    RefParams p = two_nodes(GPOINTER_TO_UINT(kernel), &chance);

    p.node_has_memory = has_memory;
    RefSlub *slub = ref_slub_new(&p);
    RefObject *first = ref_slub_alloc(slub, 1, REF_NO_NODE);
    g_assert_cmpuint(first->slab->node, ==, 0);
    RefObject *second = ref_slub_alloc(slub, 1, 1);
    g_assert_true(second->slab == first->slab);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_SLAB, 1, -1);
    g_assert_cmpuint(ref_slub_cpu_freelist_length(slub, 1), ==, 2);

    ref_slub_flush_cpu(slub, 1);
    g_assert_true(ref_slub_alloc(slub, 3, 1)->slab == first->slab);
    test_expect_locks(slub, REF_LOCK_DEACTIVATE_SLAB, 1, REF_LOCK_GET_PARTIAL_NODE, 1, -1);
    ref_slub_shrink(slub);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_SHRINK, -1), ==, 1);
    ref_slub_free_all(slub);
}

/* Unfreezing holds a node's lock only while consecutive slabs are of that node. */
static void
test_unfreeze_batches(gconstpointer kernel)
{
    Chance chance = {0};
    RefParams p = two_nodes(GPOINTER_TO_UINT(kernel), &chance);
    RefObject *a[13], *b[5];

    p.cpu_partial = p.cpu_partial_slabs = 100;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 13, a); /* slabs 0, 1, 2 full, 3 on CPU 0; node 0 */
    test_alloc_n(slub, 1, 5, b);  /* slab 4 full; node 1 */
    ref_slub_free(slub, 2, a[0]);
    ref_slub_free(slub, 2, b[0]);
    ref_slub_free(slub, 2, a[4]);
    ref_slub_free(slub, 2, a[8]);
    test_expect_cpu_list(slub, 2, "2 1 4 0");
    ref_slub_flush_cpu(slub, 2);
    test_expect_node_list(slub, 0, "2 1 0");
    test_expect_node_list(slub, 1, "4");
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_UNFREEZE_PARTIALS, 0), ==, 2);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_UNFREEZE_PARTIALS, 1), ==, 1);
    g_assert_cmpuint(ref_slub_stat(slub, 2, SLAB_STAT_CPUSLAB_FLUSH), ==, 0);
    ref_slub_free_all(slub);
}

void
test_add_node_tests(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 15), SLAB_KERNEL(6, 1),  SLAB_KERNEL(6, 6),
                                    SLAB_KERNEL(6, 8),  SLAB_KERNEL(6, 9),  SLAB_KERNEL(6, 10), SLAB_KERNEL(6, 12)};
    static const struct {
        const char *name;
        GTestDataFunc func;
    } tests[] = {
        {"mismatch-deactivates", test_mismatch_deactivates},
        {"mismatch-full-and-empty", test_mismatch_full_and_empty},
        {"popped-mismatch", test_popped_mismatch},
        {"popped-mismatch-empty", test_popped_mismatch_empty},
        {"any-partial", test_any_partial},
        {"explicit-node", test_explicit_node},
        {"memoryless", test_memoryless},
        {"unfreeze-batches", test_unfreeze_batches},
    };

    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        for (guint k = 0; k < G_N_ELEMENTS(kernels); k++) {
            g_autofree char *path =
                g_strdup_printf("/ref-slub/nodes/%s/%u.%u", tests[i].name, kernels[k] / 1000, kernels[k] % 1000);
            g_test_add_data_func(path, GUINT_TO_POINTER(kernels[k]), tests[i].func);
        }
}
