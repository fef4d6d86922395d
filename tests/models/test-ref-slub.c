/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-ref-slub.h"

/* Hand-computed walks through the state table of slub-facts B.1 on one node. A slab has 4 objects; "slab 2" is the
 * third one created. Each test runs for one release of every group that differs in it. */

#define G1 SLAB_KERNEL(6, 1)
#define G2 SLAB_KERNEL(6, 12)

/* new pages -> CS -> F0: no lock, DEACTIVATE_BYPASS when the exhausted slab is forgotten. */
static void
test_new_slab_to_full(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[5];

    test_alloc_n(slub, 0, 4, o);
    for (guint i = 0; i < 4; i++)
        g_assert_cmpuint(o[i]->index, ==, i);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 1, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 1, -1);
    test_expect_place(slub, 0, REF_PLACE_CPU_SLAB, 0);

    test_alloc_n(slub, 0, 1, &o[4]);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 2,
                      SLAB_STAT_DEACTIVATE_BYPASS, 1, -1);
    test_expect_place(slub, 0, REF_PLACE_NO_LIST, -1);
    g_assert_false(o[0]->slab->frozen);
    g_assert_cmpuint(ref_slub_cpu_freelist_length(slub, 0), ==, 3);
    g_assert_cmpuint(ref_slub_nr_slabs(slub, 0), ==, 2);
    test_expect_locks(slub, -1);
    ref_slub_free_all(slub);
}

/* F0 -> CP of the FREEING cpu; CP, any free -> CP; CP popped by its owner -> CS with all its free objects, newest
 * first. */
static void
test_full_to_cpu_partial_and_back(gconstpointer kernel)
{
    gboolean g1 = GPOINTER_TO_UINT(kernel) < SLAB_KERNEL(6, 8);
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[5];

    test_alloc_n(slub, 0, 5, o);
    ref_slub_free(slub, 1, o[2]);
    test_expect_place(slub, 0, REF_PLACE_CPU_PARTIAL, 1);
    g_assert_cmpint(o[0]->slab->frozen, ==, g1);
    g_assert_cmpuint(o[0]->slab->inuse, ==, 3);
    ref_slub_free(slub, 0, o[1]);
    test_expect_place(slub, 0, REF_PLACE_CPU_PARTIAL, 1);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 2,
                      SLAB_STAT_DEACTIVATE_BYPASS, 1, SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_CPU_PARTIAL_FREE, 1,
                      SLAB_STAT_FREE_FROZEN, g1 ? 1 : 0, -1);

    g_assert_true(ref_slub_alloc(slub, 1, REF_NO_NODE) == o[1]);
    test_expect_place(slub, 0, REF_PLACE_CPU_SLAB, 1);
    g_assert_true(ref_slub_alloc(slub, 1, REF_NO_NODE) == o[2]);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 3, SLAB_STAT_ALLOC_FASTPATH, 4, SLAB_STAT_ALLOC_SLAB, 2,
                      SLAB_STAT_DEACTIVATE_BYPASS, 1, SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_CPU_PARTIAL_FREE, 1,
                      SLAB_STAT_FREE_FROZEN, g1 ? 1 : 0, SLAB_STAT_CPU_PARTIAL_ALLOC, 1, SLAB_STAT_ALLOC_REFILL,
                      g1 ? 1 : 0, -1);
    g_assert_cmpuint(ref_slub_stat(slub, 1, SLAB_STAT_CPU_PARTIAL_ALLOC), ==, 1);
    g_assert_cmpuint(ref_slub_stat(slub, 0, SLAB_STAT_FREE_SLOWPATH), ==, 1);
    test_expect_locks(slub, -1);
    ref_slub_free_all(slub);
}

/* CS: own free by the fast path; another CPU's free stays on the slab and comes back by ALLOC_REFILL. */
static void
test_cpu_slab_refill(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[4];

    test_alloc_n(slub, 0, 4, o);
    ref_slub_free(slub, 0, o[3]);
    ref_slub_free(slub, 2, o[0]);
    ref_slub_free(slub, 3, o[1]);
    test_expect_place(slub, 0, REF_PLACE_CPU_SLAB, 0);
    g_assert_cmpuint(o[2]->slab->inuse, ==, 2); /* the private object counts as in use */
    g_assert_true(ref_slub_alloc(slub, 0, REF_NO_NODE) == o[3]);
    g_assert_true(ref_slub_alloc(slub, 0, REF_NO_NODE) == o[1]);
    g_assert_true(ref_slub_alloc(slub, 0, REF_NO_NODE) == o[0]);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_FASTPATH, 5, SLAB_STAT_ALLOC_SLAB, 1,
                      SLAB_STAT_ALLOC_REFILL, 1, SLAB_STAT_FREE_FASTPATH, 1, SLAB_STAT_FREE_SLOWPATH, 2,
                      SLAB_STAT_FREE_FROZEN, 2, -1);
    test_expect_locks(slub, -1);
    ref_slub_free_all(slub);
}

/* CP overflow: the old list goes to the node's tail, newest first, under one lock; the new slab starts afresh. */
static void
test_drain(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[13];

    p.cpu_partial = 1; /* to 5.15: 1 guessed object is not over 1, 2 are; from 5.16: 2 slabs are full */
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 13, o);
    ref_slub_free(slub, 1, o[0]);
    ref_slub_free(slub, 1, o[4]);
    test_expect_cpu_list(slub, 1, "1 0");
    ref_slub_free(slub, 1, o[8]);
    test_expect_cpu_list(slub, 1, "2");
    test_expect_node_list(slub, 0, "1 0");
    g_assert_cmpuint(ref_slub_cpu_partial(slub, 1)->slabs, ==, 1);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 4, SLAB_STAT_ALLOC_FASTPATH, 9, SLAB_STAT_ALLOC_SLAB, 4,
                      SLAB_STAT_DEACTIVATE_BYPASS, 3, SLAB_STAT_FREE_SLOWPATH, 3, SLAB_STAT_CPU_PARTIAL_FREE, 3,
                      SLAB_STAT_CPU_PARTIAL_DRAIN, 1, SLAB_STAT_FREE_ADD_PARTIAL, 2, -1);
    test_expect_locks(slub, REF_LOCK_UNFREEZE_PARTIALS, 1, -1);
    ref_slub_free_all(slub);
}

/* A drain discards an empty slab iff nr_partial >= min_partial at that moment; since 6.8 the free that emptied it took
 * the list_lock in vain. */
static void
test_drain_empty(gconstpointer kernel)
{
    gboolean g1 = GPOINTER_TO_UINT(kernel) < SLAB_KERNEL(6, 8);
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[13];

    p.min_partial = 1;
    p.cpu_partial = 1;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 13, o);
    for (guint i = 0; i < 4; i++) {
        ref_slub_free(slub, 1, o[i]);
        ref_slub_free(slub, 1, o[4 + i]);
    }
    test_expect_locks(slub, REF_LOCK_SLAB_FREE, g1 ? 0 : 2, -1);
    ref_slub_free(slub, 1, o[8]);
    test_expect_place(slub, 1, REF_PLACE_NODE_PARTIAL, 0); /* list was empty: kept */
    test_expect_place(slub, 0, REF_PLACE_DISCARDED, -1);   /* list held one */
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 4, SLAB_STAT_ALLOC_FASTPATH, 9, SLAB_STAT_ALLOC_SLAB, 4,
                      SLAB_STAT_DEACTIVATE_BYPASS, 3, SLAB_STAT_FREE_SLOWPATH, 9, SLAB_STAT_FREE_FROZEN, g1 ? 6 : 0,
                      SLAB_STAT_CPU_PARTIAL_FREE, 3, SLAB_STAT_CPU_PARTIAL_DRAIN, 1, SLAB_STAT_FREE_ADD_PARTIAL, 1,
                      SLAB_STAT_DEACTIVATE_EMPTY, 1, SLAB_STAT_FREE_SLAB, 1, -1);
    test_expect_locks(slub, REF_LOCK_SLAB_FREE, g1 ? 0 : 2, REF_LOCK_UNFREEZE_PARTIALS, 1, -1);
    g_assert_cmpuint(ref_slub_nr_slabs(slub, 0), ==, 3);
    ref_slub_free_all(slub);
}

/* NP: a free that leaves objects in use counts nothing more; the last one takes the lock and discards iff
 * nr_partial >= min_partial, this slab included. */
static void
test_node_partial_frees(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[9];

    test_alloc_n(slub, 0, 9, o);
    ref_slub_free(slub, 1, o[0]);
    ref_slub_free(slub, 1, o[4]);
    ref_slub_flush_cpu(slub, 1);
    test_expect_node_list(slub, 0, "1 0");
    for (guint i = 1; i < 4; i++)
        ref_slub_free(slub, 1, o[i]);
    test_expect_place(slub, 0, REF_PLACE_DISCARDED, -1); /* 2 >= 2 */
    for (guint i = 5; i < 8; i++)
        ref_slub_free(slub, 1, o[i]);
    test_expect_place(slub, 1, REF_PLACE_NODE_PARTIAL, 0); /* 1 < 2 */
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 3, SLAB_STAT_ALLOC_FASTPATH, 6, SLAB_STAT_ALLOC_SLAB, 3,
                      SLAB_STAT_DEACTIVATE_BYPASS, 2, SLAB_STAT_FREE_SLOWPATH, 8, SLAB_STAT_CPU_PARTIAL_FREE, 2,
                      SLAB_STAT_FREE_ADD_PARTIAL, 2, SLAB_STAT_FREE_REMOVE_PARTIAL, 1, SLAB_STAT_FREE_SLAB, 1, -1);
    test_expect_locks(slub, REF_LOCK_UNFREEZE_PARTIALS, 1, REF_LOCK_SLAB_FREE, 2, -1);
    ref_slub_free_all(slub);
}

/* Without cpu partial lists: F0 -> NP tail under the lock; a slab of one object goes from full to empty at once, so it
 * is discarded without having been on a list. */
static void
test_no_cpu_partial(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[9];

    p.has_cpu_partial = FALSE;
    p.cpu_partial = p.cpu_partial_slabs = 0;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 9, o);
    ref_slub_free(slub, 1, o[0]);
    ref_slub_free(slub, 0, o[4]);
    test_expect_node_list(slub, 0, "0 1");
    g_assert_false(o[1]->slab->frozen);
    g_assert_true(ref_slub_alloc(slub, 2, REF_NO_NODE) == o[0]); /* one slab only, no refill of a cpu list */
    test_expect_node_list(slub, 0, "1");
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 4, SLAB_STAT_ALLOC_FASTPATH, 6, SLAB_STAT_ALLOC_SLAB, 3,
                      SLAB_STAT_DEACTIVATE_BYPASS, 2, SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_FREE_ADD_PARTIAL, 2,
                      SLAB_STAT_ALLOC_FROM_PARTIAL, 1, -1);
    test_expect_locks(slub, REF_LOCK_SLAB_FREE, 2, REF_LOCK_GET_PARTIAL_NODE, 1, -1);
    ref_slub_free_all(slub);

    p.objects = 1;
    p.min_partial = 1;
    slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 3, o);
    ref_slub_free(slub, 0, o[0]);
    ref_slub_free(slub, 0, o[1]);
    test_expect_node_list(slub, 0, "0");
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 3, SLAB_STAT_ALLOC_SLAB, 3, SLAB_STAT_DEACTIVATE_BYPASS, 2,
                      SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_FREE_ADD_PARTIAL, 1, SLAB_STAT_FREE_SLAB, 1, -1);
    ref_slub_free_all(slub);
}

/* Slabs beyond the first that one get_partial_node() takes from a list of 9 slabs with n_free free objects each. */
static guint
extra_slabs(guint kernel, guint cpu_partial, guint cpu_partial_slabs, guint n_free)
{
    RefParams p = test_params(kernel);
    RefObject *o[40];

    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 40, o);
    for (guint i = 0; i < 36; i++)
        if (i % 4 < n_free)
            ref_slub_free(slub, 1, o[i]);
    ref_slub_set_cpu_partial(slub, cpu_partial, cpu_partial_slabs); /* cpu 0's slab is full: to no list */
    g_assert_cmpuint(ref_slub_nr_partial(slub, 0), ==, 9);

    guint64 n_locks = ref_slub_lock_count(slub, REF_LOCK_GET_PARTIAL_NODE, 0);
    test_alloc_n(slub, 3, 1, NULL);
    guint n_extra = (guint) ref_slub_stat(slub, 3, SLAB_STAT_CPU_PARTIAL_NODE);
    g_assert_cmpuint(ref_slub_stat(slub, 3, SLAB_STAT_ALLOC_FROM_PARTIAL), ==, 1);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_GET_PARTIAL_NODE, 0), ==, n_locks + 1);
    g_assert_cmpuint(ref_slub_nr_partial(slub, 0), ==, 9 - 1 - n_extra);
    g_assert_cmpuint(n_extra > 0 ? ref_slub_cpu_partial(slub, 3)->slabs : 0, ==, n_extra);
    g_autofree char *why = ref_slub_check(slub);
    g_assert_cmpstr(why, ==, NULL);
    ref_slub_free_all(slub);
    return n_extra;
}

static void
test_refill_stop_rule(void)
{
    /* To 5.15: stop once the free objects taken exceed cpu_partial / 2. */
    for (guint minor = 10; minor <= 15; minor += 5) {
        g_assert_cmpuint(extra_slabs(SLAB_KERNEL(5, minor), 8, 0, 1), ==, 4); /* 5 > 4 */
        g_assert_cmpuint(extra_slabs(SLAB_KERNEL(5, minor), 9, 0, 1), ==, 4); /* 9 / 2 = 4 */
        g_assert_cmpuint(extra_slabs(SLAB_KERNEL(5, minor), 8, 0, 3), ==, 1); /* 3, 6 > 4 */
        g_assert_cmpuint(extra_slabs(SLAB_KERNEL(5, minor), 0, 0, 1), ==, 0); /* 1 > 0 */
    }
    /* From 5.16: cpu_partial_slabs / 2 + 1, whatever the slabs hold. 0 still pulls one more until 6.9. */
    const guint kernels[] = {SLAB_KERNEL(5, 17), SLAB_KERNEL(6, 6),  SLAB_KERNEL(6, 8),
                             SLAB_KERNEL(6, 9),  SLAB_KERNEL(6, 10), SLAB_KERNEL(6, 12)};
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_assert_cmpuint(extra_slabs(kernels[i], 1, 1, 1), ==, 1);
        g_assert_cmpuint(extra_slabs(kernels[i], 1, 2, 2), ==, 2);
        g_assert_cmpuint(extra_slabs(kernels[i], 1, 4, 1), ==, 3);
        g_assert_cmpuint(extra_slabs(kernels[i], 1, 7, 3), ==, 4);
        g_assert_cmpuint(extra_slabs(kernels[i], 1, 100, 1), ==, 8); /* the whole list */
        g_assert_cmpuint(extra_slabs(kernels[i], 0, 0, 1), ==, kernels[i] < SLAB_KERNEL(6, 10) ? 1 : 0);
    }
}

/* The walk from the head reverses the order: the last moved is popped first. */
static void
test_refill_order(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[17];

    p.cpu_partial = 4; /* 3 > 2 stops after three slabs of one free object each, as does 2 > 2 / 2 */
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 17, o);
    for (guint i = 0; i < 4; i++) {
        ref_slub_free(slub, 1, o[4 * i]);
        ref_slub_flush_cpu(slub, 1);
    }
    test_expect_node_list(slub, 0, "0 1 2 3");
    g_assert_true(ref_slub_alloc(slub, 2, REF_NO_NODE) == o[0]);
    test_expect_cpu_list(slub, 2, "2 1");
    test_expect_node_list(slub, 0, "3");
    g_assert_true(ref_slub_alloc(slub, 2, REF_NO_NODE) == o[8]);
    test_expect_cpu_list(slub, 2, "1");
    ref_slub_free_all(slub);
}

/* To 5.15 the limit is on free objects guessed at insertion; frees into listed slabs never refresh the guess. */
static void
test_pobjects_limit(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[21];

    p.cpu_partial = 2;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 21, o);
    for (guint i = 0; i < 3; i++) {
        ref_slub_free(slub, 1, o[4 * i]);
        ref_slub_free(slub, 1, o[4 * i + 1]);
        ref_slub_free(slub, 1, o[4 * i + 2]);
    }
    test_expect_cpu_list(slub, 1, "2 1 0");
    g_assert_cmpuint(ref_slub_cpu_partial(slub, 1)->pobjects, ==, 3);
    ref_slub_free(slub, 1, o[12]);
    test_expect_cpu_list(slub, 1, "3");
    test_expect_node_list(slub, 0, "2 1 0");
    g_assert_cmpuint(ref_slub_stat(slub, 1, SLAB_STAT_CPU_PARTIAL_DRAIN), ==, 1);

    /* Popping the head restores the smaller guess: 1 + 1 is not over 2. */
    ref_slub_free(slub, 1, o[16]);
    g_assert_cmpuint(ref_slub_cpu_partial(slub, 1)->pobjects, ==, 2);
    test_alloc_n(slub, 1, 1, NULL);
    g_assert_cmpuint(ref_slub_cpu_partial(slub, 1)->pobjects, ==, 1);
    ref_slub_free_all(slub);
}

/* cpu_partial = 0: to 5.14 nothing stays; from 5.15 one slab stays and each further one drains it. */
static void
test_cpu_partial_zero(gconstpointer kernel)
{
    gboolean keeps_one = GPOINTER_TO_UINT(kernel) >= SLAB_KERNEL(5, 15);
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[9];

    p.cpu_partial = p.cpu_partial_slabs = 0;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 9, o);
    ref_slub_free(slub, 1, o[0]);
    test_expect_cpu_list(slub, 1, keeps_one ? "0" : "");
    ref_slub_free(slub, 1, o[4]);
    test_expect_cpu_list(slub, 1, keeps_one ? "1" : "");
    test_expect_node_list(slub, 0, keeps_one ? "0" : "0 1");
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 3, SLAB_STAT_ALLOC_FASTPATH, 6, SLAB_STAT_ALLOC_SLAB, 3,
                      SLAB_STAT_DEACTIVATE_BYPASS, 2, SLAB_STAT_FREE_SLOWPATH, 2, SLAB_STAT_CPU_PARTIAL_FREE, 2,
                      SLAB_STAT_CPU_PARTIAL_DRAIN, keeps_one ? 1 : 0, SLAB_STAT_FREE_ADD_PARTIAL, keeps_one ? 1 : 2,
                      -1);
    test_expect_locks(slub, REF_LOCK_UNFREEZE_PARTIALS, keeps_one ? 1 : 2, -1);
    ref_slub_free_all(slub);
}

/* Bulk: one slow path per empty freelist; pops count from 6.8; frees group by slab, LIFO with the last array element
 * first, FREE_FASTPATH per call to 6.7 and per object since. */
static void
test_bulk_counts(gconstpointer kernel)
{
    gboolean g2 = GPOINTER_TO_UINT(kernel) >= SLAB_KERNEL(6, 8);
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[6];

    g_assert_true(ref_slub_alloc_bulk(slub, 0, 6, o));
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_SLAB, 2, SLAB_STAT_DEACTIVATE_BYPASS, 1,
                      SLAB_STAT_ALLOC_FASTPATH, g2 ? 4 : 0, -1);
    ref_slub_free_bulk(slub, 0, 6, o);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_SLAB, 2, SLAB_STAT_DEACTIVATE_BYPASS, 1,
                      SLAB_STAT_ALLOC_FASTPATH, g2 ? 4 : 0, SLAB_STAT_FREE_FASTPATH, g2 ? 2 : 1,
                      SLAB_STAT_FREE_SLOWPATH, 1, SLAB_STAT_CPU_PARTIAL_FREE, 1, -1);
    g_assert_cmpuint(ref_slub_slab_by_serial(slub, 0)->inuse, ==, 0);
    test_expect_place(slub, 0, REF_PLACE_CPU_PARTIAL, 0);
    g_assert_true(ref_slub_alloc(slub, 0, REF_NO_NODE) == o[5]);
    g_assert_true(ref_slub_alloc(slub, 0, REF_NO_NODE) == o[4]);
    test_expect_locks(slub, -1); /* one call emptied a full slab: no lock even in 6.8+, for prior was NULL */
    ref_slub_free_all(slub);
}

/* Frees the objects of four full slabs A..D in the order of `pattern` and returns the number of __slab_free() calls;
 * the cpu partial list, newest first, tells the order of the rounds. */
static void
expect_bulk_free(guint kernel, const char *pattern, guint n_calls, const char *cpu_list)
{
    RefParams p = test_params(kernel);
    RefObject *o[17], *batch[17];
    guint used[4] = {0}, n = 0;

    p.cpu_partial = p.cpu_partial_slabs = 100;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 17, o);
    for (; pattern[n] != '\0'; n++) {
        guint slab = (guint) (pattern[n] - 'A');
        batch[n] = o[4 * slab + used[slab]++];
    }
    ref_slub_free_bulk(slub, 1, n, batch);
    g_assert_cmpuint(ref_slub_stat(slub, 1, SLAB_STAT_FREE_SLOWPATH), ==, n_calls);
    test_expect_cpu_list(slub, 1, cpu_list);
    g_autofree char *why = ref_slub_check(slub);
    g_assert_cmpstr(why, ==, NULL);
    ref_slub_free_all(slub);
}

static void
test_bulk_grouping(void)
{
    const guint marking[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 15), SLAB_KERNEL(5, 19)};
    const guint swapping[] = {SLAB_KERNEL(6, 0), SLAB_KERNEL(6, 6), SLAB_KERNEL(6, 12)};

    for (guint i = 0; i < 3; i++) {
        /* Two foreign objects are stepped over, the third ends the round. */
        expect_bulk_free(marking[i], "AAAA", 1, "0");
        expect_bulk_free(swapping[i], "AAAA", 1, "0");
        expect_bulk_free(marking[i], "ABCDA", 5, "1 2 3 0");
        expect_bulk_free(swapping[i], "ABCDA", 5, "1 2 3 0");
        /* Marking keeps the order of what was stepped over: A, then C, then B. Swapping exchanges p[0] with p[2],
         * leaving C B, so B comes next. */
        expect_bulk_free(marking[i], "ABCA", 3, "1 2 0");
        expect_bulk_free(swapping[i], "ABCA", 3, "2 1 0");
        /* Back to front: D, foreign C B, then A is the third: stop. {C, C} stepping over B and A, ... */
        expect_bulk_free(marking[i], "CABCD", 4, "0 1 2 3");
        /* {D}, C A B left of C: round C takes p[3] and p[0] (B, A foreign), p[0] <-> p[2]: B A; then A, then B. */
        expect_bulk_free(swapping[i], "CABCD", 4, "1 0 2 3");
    }
}

static gboolean
flag_of(gpointer user_data)
{
    return *(gboolean *) user_data;
}

static gboolean
node_flag_of(gpointer user_data, guint node)
{
    return flag_of(user_data);
}

/* A bulk allocation that fails gives everything back and leaves the output alone. */
static void
test_bulk_failure(gconstpointer kernel)
{
    gboolean exhausted = FALSE;
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[6] = {NULL};

    p.node_exhausted = node_flag_of;
    p.user_data = &exhausted;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 1, NULL);
    exhausted = TRUE;
    g_assert_false(ref_slub_alloc_bulk(slub, 0, 6, o));
    g_assert_null(o[0]);
    g_assert_null(ref_slub_alloc(slub, 2, REF_NO_NODE));
    g_autofree char *why = ref_slub_check(slub);
    g_assert_cmpstr(why, ==, NULL);
    g_assert_cmpuint(ref_slub_slab_by_serial(slub, 0)->inuse, ==, 1);
    g_assert_cmpuint(ref_slub_stat(slub, 0, SLAB_STAT_FREE_SLOWPATH), ==, 1); /* the exhausted slab was let go */
    ref_slub_free_all(slub);
}

static void
test_order_fallback(void)
{
    gboolean fallback = TRUE;
    RefParams p = test_params(G1);

    p.order_fallback = flag_of;
    p.user_data = &fallback;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 2, NULL);
    fallback = FALSE;
    test_alloc_n(slub, 0, 1, NULL);
    g_assert_cmpuint(ref_slub_slab_by_serial(slub, 0)->n_objects, ==, 2);
    g_assert_cmpuint(ref_slub_slab_by_serial(slub, 1)->n_objects, ==, 4);
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_FASTPATH, 1, SLAB_STAT_ALLOC_SLAB, 2,
                      SLAB_STAT_ORDER_FALLBACK, 1, SLAB_STAT_DEACTIVATE_BYPASS, 1, -1);
    ref_slub_free_all(slub);
}

/* Shrink on slabs of 40: buckets by free objects up to 32, old order reversed inside one, the rest behind in old
 * order, empty ones freed although fewer than min_partial; nothing counted. */
static void
test_shrink(gconstpointer kernel)
{
    static const guint n_free[] = {33, 2, 34, 2, 40, 1, 32};
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefObject *o[281];

    p.objects = 40;
    p.min_partial = 100;
    p.has_cpu_partial = FALSE;
    p.cpu_partial = p.cpu_partial_slabs = 0;
    RefSlub *slub = ref_slub_new(&p);
    test_alloc_n(slub, 0, 281, o);
    for (guint i = 0; i < 280; i++)
        if (i % 40 < n_free[i / 40])
            ref_slub_free(slub, 1, o[i]);
    ref_slub_free(slub, 0, o[280]);
    test_expect_node_list(slub, 0, "0 1 2 3 4 5 6");
    g_assert_cmpuint(ref_slub_shrink(slub), ==, 2); /* slab 4, and the flushed empty cpu slab 7 */
    test_expect_node_list(slub, 0, "5 3 1 6 0 2");
    g_assert_cmpuint(ref_slub_stat(slub, -1, SLAB_STAT_FREE_SLAB), ==, 0);
    g_assert_cmpuint(ref_slub_stat(slub, -1, SLAB_STAT_CPUSLAB_FLUSH), ==, 1);
    g_assert_cmpuint(ref_slub_lock_count(slub, REF_LOCK_SHRINK, 0), ==, 1);
    g_assert_cmpuint(ref_slub_nr_slabs(slub, 0), ==, 6);
    g_autofree char *why = ref_slub_check(slub);
    g_assert_cmpstr(why, ==, NULL);
    ref_slub_free_all(slub);
}

static void
test_flush_and_destroy(gconstpointer kernel)
{
    RefParams p = test_params(GPOINTER_TO_UINT(kernel));
    RefSlub *slub = ref_slub_new(&p);
    RefObject *o[5];

    test_alloc_n(slub, 0, 5, o);
    ref_slub_free(slub, 1, o[0]);
    ref_slub_set_cpu_partial(slub, 0, 0);
    test_expect_node_list(slub, 0, "1 0"); /* cpu 0's slab at the head, cpu 1's partial behind */
    test_expect_stats(slub, SLAB_STAT_ALLOC_SLOWPATH, 2, SLAB_STAT_ALLOC_FASTPATH, 3, SLAB_STAT_ALLOC_SLAB, 2,
                      SLAB_STAT_DEACTIVATE_BYPASS, 1, SLAB_STAT_FREE_SLOWPATH, 1, SLAB_STAT_CPU_PARTIAL_FREE, 1,
                      SLAB_STAT_DEACTIVATE_TO_HEAD, 1, SLAB_STAT_CPUSLAB_FLUSH, 1, SLAB_STAT_FREE_ADD_PARTIAL, 1, -1);
    test_expect_locks(slub, REF_LOCK_DEACTIVATE_SLAB, 1, REF_LOCK_UNFREEZE_PARTIALS, 1, -1);
    g_assert_false(ref_slub_destroy_check(slub));
    for (guint i = 1; i < 5; i++)
        ref_slub_free(slub, 2, o[i]);
    g_assert_true(ref_slub_destroy_check(slub));
    g_assert_cmpuint(ref_slub_nr_slabs(slub, -1), ==, 0);
    ref_slub_free_all(slub);
}

static void
add_for(const char *name, GTestDataFunc func, const guint *kernels, guint n)
{
    for (guint i = 0; i < n; i++) {
        g_autofree char *path = g_strdup_printf("/ref-slub/%s/%u.%u", name, kernels[i] / 1000, kernels[i] % 1000);
        g_test_add_data_func(path, GUINT_TO_POINTER(kernels[i]), func);
    }
}

int
main(int argc, char **argv)
{
    static const guint all[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 15), SLAB_KERNEL(5, 17), G1, SLAB_KERNEL(6, 7),
                                SLAB_KERNEL(6, 8),  SLAB_KERNEL(6, 9),  SLAB_KERNEL(6, 10), G2};
    static const guint guessed[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 14), SLAB_KERNEL(5, 15)};
    static const guint zero[] = {
        SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 14), SLAB_KERNEL(5, 15), SLAB_KERNEL(5, 17), G1, SLAB_KERNEL(6, 8), G2};

    g_test_init(&argc, &argv, NULL);
#define ADD(name, func, kernels) add_for(name, func, kernels, G_N_ELEMENTS(kernels))
    ADD("new-slab-to-full", test_new_slab_to_full, all);
    ADD("full-to-cpu-partial", test_full_to_cpu_partial_and_back, all);
    ADD("cpu-slab-refill", test_cpu_slab_refill, all);
    ADD("drain", test_drain, all);
    ADD("drain-empty", test_drain_empty, all);
    ADD("node-partial-frees", test_node_partial_frees, all);
    ADD("no-cpu-partial", test_no_cpu_partial, all);
    ADD("refill-order", test_refill_order, all);
    ADD("pobjects-limit", test_pobjects_limit, guessed);
    ADD("cpu-partial-zero", test_cpu_partial_zero, zero);
    ADD("bulk-counts", test_bulk_counts, all);
    ADD("bulk-failure", test_bulk_failure, all);
    ADD("shrink", test_shrink, all);
    ADD("flush-and-destroy", test_flush_and_destroy, all);
#undef ADD
    g_test_add_func("/ref-slub/refill-stop-rule", test_refill_stop_rule);
    g_test_add_func("/ref-slub/bulk-grouping", test_bulk_grouping);
    g_test_add_func("/ref-slub/order-fallback", test_order_fallback);
    test_add_node_tests();
    test_add_random_tests();
    return g_test_run();
}
