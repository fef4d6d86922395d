/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test-ref-slub.h"

/* Random operations: the invariants hold after each, the identities of slub-facts C at the end. */

static const guint cpu_node[] = {0, 1, 0, 1};

typedef struct {
    RefSlub *slub;
    RefParams params;
    GPtrArray *live;
    guint64 n_allocs, n_frees; /* single ones */
    guint64 n_shrunk;
} Run;

static gboolean
one_in_five(gpointer user_data)
{
    return g_test_rand_int_range(0, 5) == 0;
}

static gboolean
one_in_ten_node(gpointer user_data, guint node)
{
    return g_test_rand_int_range(0, 10) == 0;
}

static guint
pick(guint low, guint high)
{
    return (guint) g_test_rand_int_range((gint) low, (gint) high + 1);
}

static void
run_start(Run *run, guint kernel, gboolean wild)
{
    static const gboolean memoryless[] = {TRUE, FALSE};
    RefParams *p = &run->params;

    *p = test_params(kernel);
    p->objects = pick(1, 9);
    p->fallback_objects = pick(1, p->objects);
    p->min_partial = pick(0, 4);
    p->cpu_partial = pick(0, 12);
    p->cpu_partial_slabs = pick(0, 4);
    if (wild) {
        p->n_nodes = 2;
        p->cpu_node = cpu_node;
        p->node_has_memory = pick(0, 3) == 0 ? memoryless : NULL;
        p->has_cpu_partial = pick(0, 3) != 0;
        if (!p->has_cpu_partial)
            p->cpu_partial = p->cpu_partial_slabs = 0;
        p->node_exhausted = one_in_ten_node;
    }
    p->order_fallback = one_in_five;
    p->skip_any_partial = one_in_five;
    run->slub = ref_slub_new(p);
    run->live = g_ptr_array_new();
    run->n_allocs = run->n_frees = run->n_shrunk = 0;
}

static RefObject *
take_random(Run *run)
{
    return g_ptr_array_remove_index_fast(run->live, pick(0, run->live->len - 1));
}

static void
run_single(Run *run, gint node)
{
    /* A drift that changes its sign now and then fills and empties the cache several times. */
    gboolean growing = (run->n_allocs + run->n_frees) / 150 % 2 == 0;

    if (run->live->len == 0 || pick(0, 99) < (growing ? 65 : 35)) {
        RefObject *object = ref_slub_alloc(run->slub, pick(0, 3), node);
        run->n_allocs++;
        if (object != NULL)
            g_ptr_array_add(run->live, object);
    } else {
        ref_slub_free(run->slub, pick(0, 3), take_random(run));
        run->n_frees++;
    }
}

static void
run_bulk(Run *run)
{
    RefObject *batch[20];
    guint n = pick(0, G_N_ELEMENTS(batch));

    if (pick(0, 1) == 0) {
        if (!ref_slub_alloc_bulk(run->slub, pick(0, 3), n, batch))
            return;
        for (guint i = 0; i < n; i++)
            g_ptr_array_add(run->live, batch[i]);
    } else {
        n = MIN(n, run->live->len);
        for (guint i = 0; i < n; i++)
            batch[i] = take_random(run);
        ref_slub_free_bulk(run->slub, pick(0, 3), n, batch);
    }
}

static void
run_wild(Run *run)
{
    guint what = pick(0, 199);

    if (what < 170)
        run_single(run, pick(0, 1) == 0 ? REF_NO_NODE : (gint) pick(0, 1));
    else if (what < 190)
        run_bulk(run);
    else if (what < 195)
        ref_slub_flush_cpu(run->slub, pick(0, 3));
    else if (what < 197)
        run->n_shrunk += ref_slub_shrink(run->slub);
    else if (run->params.has_cpu_partial)
        ref_slub_set_cpu_partial(run->slub, pick(0, 12), pick(0, 4));
}

static void
run_check(const Run *run)
{
    g_autofree char *why = ref_slub_check(run->slub);
    guint n_in_use = 0;

    g_assert_cmpstr(why, ==, NULL);
    for (guint i = 0; i < ref_slub_n_serials(run->slub); i++) {
        const RefSlab *slab = ref_slub_slab_by_serial(run->slub, i);
        n_in_use += slab->discarded ? 0 : slab->inuse;
    }
    for (guint cpu = 0; cpu < run->params.n_cpus; cpu++)
        n_in_use -= ref_slub_cpu_freelist_length(run->slub, cpu);
    g_assert_cmpuint(n_in_use, ==, run->live->len);
}

static guint64
stat_of(const Run *run, SlabStat stat)
{
    return ref_slub_stat(run->slub, -1, stat);
}

static void
run_finish(Run *run)
{
    g_assert_cmpuint(ref_slub_nr_slabs(run->slub, -1), ==,
                     stat_of(run, SLAB_STAT_ALLOC_SLAB) - stat_of(run, SLAB_STAT_FREE_SLAB) - run->n_shrunk);
    while (run->live->len > 0)
        ref_slub_free(run->slub, pick(0, 3), take_random(run));
    g_assert_true(ref_slub_destroy_check(run->slub));
    g_ptr_array_unref(run->live);
    ref_slub_free_all(run->slub);
}

static guint
slabs_on_cpu_lists(const Run *run)
{
    guint n = 0;

    for (guint cpu = 0; cpu < run->params.n_cpus; cpu++)
        n += ref_slub_cpu_partial(run->slub, cpu) != NULL ? ref_slub_cpu_partial(run->slub, cpu)->slabs : 0;
    return n;
}

/* One node, no bulk, no flush, cpu partial lists: the identities of part C. */
static void
test_identities(gconstpointer kernel)
{
    guint release = GPOINTER_TO_UINT(kernel);

    for (guint round = 0; round < 12; round++) {
        Run run;

        run_start(&run, release, FALSE);
        for (guint i = 0; i < 600; i++) {
            run_single(&run, REF_NO_NODE);
            run_check(&run);
        }
        g_assert_cmpuint(run.n_allocs, ==,
                         stat_of(&run, SLAB_STAT_ALLOC_FASTPATH) + stat_of(&run, SLAB_STAT_ALLOC_SLOWPATH));
        g_assert_cmpuint(run.n_frees, ==,
                         stat_of(&run, SLAB_STAT_FREE_FASTPATH) + stat_of(&run, SLAB_STAT_FREE_SLOWPATH));
        g_assert_cmpuint(stat_of(&run, SLAB_STAT_ALLOC_SLOWPATH), ==,
                         stat_of(&run, SLAB_STAT_ALLOC_REFILL) + stat_of(&run, SLAB_STAT_ALLOC_FROM_PARTIAL) +
                             stat_of(&run, SLAB_STAT_ALLOC_SLAB) +
                             (release < SLAB_KERNEL(6, 8) ? 0 : stat_of(&run, SLAB_STAT_CPU_PARTIAL_ALLOC)));
        g_assert_cmpuint(stat_of(&run, SLAB_STAT_CPU_PARTIAL_FREE) + stat_of(&run, SLAB_STAT_CPU_PARTIAL_NODE), ==,
                         stat_of(&run, SLAB_STAT_CPU_PARTIAL_ALLOC) + stat_of(&run, SLAB_STAT_FREE_ADD_PARTIAL) +
                             stat_of(&run, SLAB_STAT_DEACTIVATE_EMPTY) + slabs_on_cpu_lists(&run));
        if (release >= SLAB_KERNEL(5, 15))
            g_assert_cmpuint(ref_slub_lock_count(run.slub, REF_LOCK_UNFREEZE_PARTIALS, 0), ==,
                             stat_of(&run, SLAB_STAT_CPU_PARTIAL_DRAIN));
        g_assert_cmpuint(ref_slub_lock_count(run.slub, REF_LOCK_GET_PARTIAL_NODE, 0) +
                             ref_slub_lock_count(run.slub, REF_LOCK_GET_ANY_PARTIAL, 0),
                         ==, stat_of(&run, SLAB_STAT_ALLOC_FROM_PARTIAL));
        g_assert_cmpuint(ref_slub_lock_count(run.slub, REF_LOCK_DEACTIVATE_SLAB, 0), ==, 0);
        run_finish(&run);
    }
}

/* Everything at once: two nodes, one perhaps without memory, refused pages, bulk, flush, shrink, changed limits. */
static void
test_wild(gconstpointer kernel)
{
    for (guint round = 0; round < 12; round++) {
        Run run;

        run_start(&run, GPOINTER_TO_UINT(kernel), TRUE);
        for (guint i = 0; i < 600; i++) {
            run_wild(&run);
            run_check(&run);
        }
        g_assert_cmpuint(stat_of(&run, SLAB_STAT_DEACTIVATE_TO_HEAD) + stat_of(&run, SLAB_STAT_DEACTIVATE_TO_TAIL), ==,
                         ref_slub_lock_count(run.slub, REF_LOCK_DEACTIVATE_SLAB, -1));
        run_finish(&run);
    }
}

void
test_add_random_tests(void)
{
    static const guint kernels[] = {SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 14), SLAB_KERNEL(5, 15), SLAB_KERNEL(5, 17),
                                    SLAB_KERNEL(6, 1),  SLAB_KERNEL(6, 7),  SLAB_KERNEL(6, 8),  SLAB_KERNEL(6, 9),
                                    SLAB_KERNEL(6, 10), SLAB_KERNEL(6, 12)};

    for (guint k = 0; k < G_N_ELEMENTS(kernels); k++) {
        g_autofree char *identities =
            g_strdup_printf("/ref-slub/random/identities/%u.%u", kernels[k] / 1000, kernels[k] % 1000);
        g_autofree char *wild = g_strdup_printf("/ref-slub/random/wild/%u.%u", kernels[k] / 1000, kernels[k] % 1000);

        g_test_add_data_func(identities, GUINT_TO_POINTER(kernels[k]), test_identities);
        g_test_add_data_func(wild, GUINT_TO_POINTER(kernels[k]), test_wild);
    }
}
