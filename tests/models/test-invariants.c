/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contention.h"

/* What must hold whatever the interleaving: objects and pages are conserved, the identities of slub-facts C, and lists
 * that agree with the slabs' own state. */

typedef struct {
    guint kernel;
    guint variant; /* which of the loads below */
} Case;

enum { PLAIN, NODES, EVERYTHING, NO_CPU_PARTIAL, N_VARIANTS };

static const char *const variant_names[N_VARIANTS] = {"plain", "nodes", "everything", "no-cpu-partial"};

static const guint kernels[] = {
    SLAB_KERNEL(5, 10), SLAB_KERNEL(5, 15), SLAB_KERNEL(6, 1),  SLAB_KERNEL(6, 6),
    SLAB_KERNEL(6, 8),  SLAB_KERNEL(6, 9),  SLAB_KERNEL(6, 12), SLAB_KERNEL(6, 14),
};

static const char *const machine_text = "[machine]\nsockets = 2\nl3_per_node = 2\ncores_per_l3 = 4\n"
                                        "tick = 0.1 ms\ngrace_period = 0.3 ms\n";

static guint64
stat_of(const Contention *c, SlabStat stat)
{
    return contention_stat(c, stat);
}

/* As the world sees the objects, as the allocator counts them, and slab by slab. */
static void
check_objects(const Contention *c)
{
    const SlabArena *arena = &c->system->arena;
    g_autofree guint *held = g_new0(guint, arena->n_used);
    g_autofree char *why = slub_cache_check(c->cache);
    gint64 n_live = 0, n_counted = 0;

    g_assert_cmpstr(why, ==, NULL);
    for (guint i = 0; i < c->machine->n_cpus; i++) {
        const ContentionCpu *cpu = &c->cpu[i];

        n_live += (gint64) cpu->n_allocs - (gint64) cpu->n_frees;
        n_counted += c->cache->cpu[i].n_objects;
        for (guint k = 0; k < cpu->own->len; k++)
            held[g_array_index(cpu->own, SlabId, k)]++;
        for (guint k = 0; k < cpu->inbox->len; k++)
            held[g_array_index(cpu->inbox, SlabId, k)]++;
        held[c->cache->cpu[i].slab] += c->cache->cpu[i].free;
    }
    for (guint k = 0; k < c->rcu->len; k++)
        held[g_array_index(c->rcu, SlabId, k)]++;
    g_assert_cmpint(n_live, ==, n_counted);
    for (SlabId id = 1; id < arena->n_used; id++)
        g_assert_cmpuint(held[id], ==, arena->slab[id].objects ? arena->slab[id].inuse : 0);
}

static guint64
slabs_on_cpu_lists(const Contention *c)
{
    guint64 n = 0;

    for (guint i = 0; i < c->machine->n_cpus; i++)
        for (SlabId id = c->cache->cpu[i].partial; id; id = c->system->arena.slab[id].next)
            n++;
    return n;
}

/* slub-facts C; those that wishes for nodes, bulk calls or flushes break only where there are none. */
static void
check_identities(const Contention *c)
{
    const ContentionLoad *load = &c->load;
    gboolean is_delayed = load->kernel >= SLAB_KERNEL(6, 8);
    guint64 n_allocs = 0, n_frees = 0, sources;
    gint64 n_slabs = 0;

    for (guint i = 0; i < c->machine->n_cpus; i++) {
        n_allocs += c->cpu[i].n_allocs;
        n_frees += c->cpu[i].n_frees;
    }
    for (guint i = 0; i < c->machine->topology->n_nodes; i++)
        n_slabs += c->cache->node[i].n_slabs;
    g_assert_cmpint(n_slabs, ==, (gint64) (stat_of(c, SLAB_STAT_ALLOC_SLAB) - stat_of(c, SLAB_STAT_FREE_SLAB)));
    if (!load->with_bulk || is_delayed)
        g_assert_cmpuint(n_allocs, ==, stat_of(c, SLAB_STAT_ALLOC_FASTPATH) + stat_of(c, SLAB_STAT_ALLOC_SLOWPATH));
    if (!load->with_bulk)
        g_assert_cmpuint(n_frees, ==, stat_of(c, SLAB_STAT_FREE_FASTPATH) + stat_of(c, SLAB_STAT_FREE_SLOWPATH));
    sources = stat_of(c, SLAB_STAT_ALLOC_REFILL) + stat_of(c, SLAB_STAT_ALLOC_FROM_PARTIAL) +
              stat_of(c, SLAB_STAT_ALLOC_SLAB);
    if (is_delayed)
        sources += stat_of(c, SLAB_STAT_CPU_PARTIAL_ALLOC);
    if (load->with_nodes && load->kernel == SLAB_KERNEL(6, 8)) /* pops are counted before the node test */
        g_assert_cmpuint(stat_of(c, SLAB_STAT_ALLOC_SLOWPATH), <, sources);
    else
        g_assert_cmpuint(stat_of(c, SLAB_STAT_ALLOC_SLOWPATH), ==, sources);
    if (!load->with_nodes && !load->with_flush && load->has_cpu_partial)
        g_assert_cmpuint(stat_of(c, SLAB_STAT_CPU_PARTIAL_FREE) + stat_of(c, SLAB_STAT_CPU_PARTIAL_NODE), ==,
                         stat_of(c, SLAB_STAT_CPU_PARTIAL_ALLOC) + stat_of(c, SLAB_STAT_FREE_ADD_PARTIAL) +
                             stat_of(c, SLAB_STAT_DEACTIVATE_EMPTY) + slabs_on_cpu_lists(c));
    g_assert_cmpuint(stat_of(c, SLAB_STAT_DEACTIVATE_TO_HEAD) + stat_of(c, SLAB_STAT_DEACTIVATE_TO_TAIL), ==,
                     contention_acquisitions(c, SLUB_LOCK_DEACTIVATE));
}

/* What takes a list_lock leaves its mark in a counter, or found that the list had become empty. */
static void
check_locks(const Contention *c)
{
    guint64 n_contended = 0;

    g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_GET_PARTIAL_NODE) +
                         contention_acquisitions(c, SLUB_LOCK_GET_ANY_PARTIAL),
                     >=, stat_of(c, SLAB_STAT_ALLOC_FROM_PARTIAL));
    g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_SLAB_FREE), >=, stat_of(c, SLAB_STAT_CMPXCHG_DOUBLE_FAIL));
    if (c->load.has_cpu_partial)
        g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_UNFREEZE), >=, stat_of(c, SLAB_STAT_CPU_PARTIAL_DRAIN));
    for (guint i = 0; i < c->machine->topology->n_nodes; i++)
        for (guint site = 0; site < SLUB_N_LOCK_SITES; site++)
            n_contended += c->cache->node[i].list_lock.sites[site].contended;
    g_assert_cmpuint(n_contended, >, 1000);
}

static void
check_pages(const Contention *c, gboolean none_in_slabs)
{
    const MachTopology *topology = c->machine->topology;
    const SlabArena *arena = &c->system->arena;
    gint64 n_pages = 0, n_had = 0;

    for (guint node = 0; node < topology->n_nodes; node++) {
        n_pages += c->system->pages->zone[node].free_pages;
        n_had += (gint64) (topology->node_memory_bytes[node] / topology->page_size_bytes);
    }
    for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
        n_pages += (gint64) page_pcp_pages(c->system->pages, cpu);
    for (SlabId id = 1; id < arena->n_used; id++)
        if (arena->slab[id].objects) {
            g_assert_false(none_in_slabs);
            n_pages += arena->slab[id].flags & SLAB_MIN_ORDER ? 1 : 2;
        }
    g_assert_cmpint(n_pages, ==, n_had);
}

static ContentionLoad
load_of(const Case *k)
{
    gboolean in_objects = k->kernel < SLAB_KERNEL(5, 16);
    ContentionLoad load = {
        .kernel = k->kernel,
        .objects = 4,
        .min_partial = 5,
        .cpu_partial = in_objects ? 6 : 8,
        .cpu_partial_slabs = in_objects ? 0 : 4,
        .has_cpu_partial = TRUE,
        .n_operations = 4000,
        .n_own_max = 60,
    };

    if (k->variant == NO_CPU_PARTIAL) {
        load.has_cpu_partial = FALSE;
        load.cpu_partial = load.cpu_partial_slabs = 0;
    }
    load.with_nodes = k->variant == NODES || k->variant == EVERYTHING;
    load.with_bulk = load.with_flush = k->variant == EVERYTHING;
    return load;
}

static void
test_case(gconstpointer data)
{
    const Case *k = data;
    ContentionLoad load = load_of(k);
    TestMachine test;
    Contention *c;

    test_machine_init(&test, machine_text);
    c = contention_run(&test, &load, 1);
    check_objects(c);
    check_identities(c);
    check_locks(c);
    check_pages(c, FALSE);
    g_assert_cmpuint(stat_of(c, SLAB_STAT_CMPXCHG_DOUBLE_FAIL), >, 0);
    contention_free_all(c);
    check_objects(c);
    check_identities(c);
    contention_flush(c);
    check_objects(c);
    /* Nothing is in use or on a CPU: every slab is empty and on its node's list. */
    for (guint i = 0; i < test.topology->n_nodes; i++)
        g_assert_cmpint(c->cache->node[i].n_slabs, ==, c->cache->node[i].partial.count);
    contention_shrink(c);
    check_pages(c, TRUE);
    contention_end(c);
    test_machine_clear(&test);
}

/* Caches with debug flags take single objects, or to 6.0 activate, whatever the release has for others. */
static const guint debug_kernels[] = {
    SLAB_KERNEL(5, 10), SLAB_KERNEL(6, 0),  SLAB_KERNEL(6, 1), SLAB_KERNEL(6, 8),
    SLAB_KERNEL(6, 12), SLAB_KERNEL(6, 18), SLAB_KERNEL(7, 0), SLAB_KERNEL(7, 1),
};

static void
check_debug(const Contention *c)
{
    guint64 n_allocs = 0, n_frees = 0;

    for (guint i = 0; i < c->machine->n_cpus; i++) {
        n_allocs += c->cpu[i].n_allocs;
        n_frees += c->cpu[i].n_frees;
        g_assert_cmpuint(c->cache->cpu[i].slab, ==, 0);
        g_assert_cmpuint(c->cache->cpu[i].partial, ==, 0);
    }
    g_assert_cmpuint(n_allocs, ==, stat_of(c, SLAB_STAT_ALLOC_SLOWPATH));
    /* To 6.19 both are of calls, from 7.0 on the counter is of objects. */
    if (!c->load.with_bulk || c->load.kernel < SLAB_KERNEL(7, 0))
        g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_DEBUG_FREE), ==, stat_of(c, SLAB_STAT_FREE_SLOWPATH));
    if (!c->load.with_bulk || c->load.kernel >= SLAB_KERNEL(7, 0))
        g_assert_cmpuint(n_frees, ==, stat_of(c, SLAB_STAT_FREE_SLOWPATH));
    if (c->load.kernel >= SLAB_KERNEL(6, 1)) {
        g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_DEBUG_NEW), ==, stat_of(c, SLAB_STAT_ALLOC_SLAB));
        g_assert_cmpuint(contention_acquisitions(c, SLUB_LOCK_SLAB_FREE), ==, 0);
    }
}

static void
test_debug(gconstpointer data)
{
    const Case *k = data;
    ContentionLoad load = {
        .kernel = k->kernel,
        .objects = 4,
        .debug_flags = SLAB_POISON,
        .min_partial = 5,
        .with_bulk = k->variant == EVERYTHING,
        .with_nodes = k->variant == EVERYTHING,
        .with_flush = k->variant == EVERYTHING,
        .n_operations = 2000,
        .n_own_max = 60,
    };
    TestMachine test;
    Contention *c;

    test_machine_init(&test, machine_text);
    c = contention_run(&test, &load, 1);
    check_objects(c);
    check_debug(c);
    check_pages(c, FALSE);
    contention_free_all(c);
    check_objects(c);
    check_debug(c);
    for (guint i = 0; i < test.topology->n_nodes; i++)
        g_assert_cmpint(c->cache->node[i].n_slabs, ==, c->cache->node[i].partial.count);
    contention_shrink(c);
    check_pages(c, TRUE);
    contention_end(c);
    test_machine_clear(&test);
}

static void
add_case(const char *name, guint kernel, guint variant, GTestDataFunc test)
{
    g_autofree char *path =
        g_strdup_printf("/invariants/%s%u.%u/%s", name, kernel / 1000, kernel % 1000, variant_names[variant]);
    Case *k = g_new(Case, 1);

    *k = (Case){kernel, variant};
    g_test_add_data_func_full(path, k, test, g_free);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
        for (guint variant = 0; variant < N_VARIANTS; variant++)
            add_case("", kernels[i], variant, test_case);
    for (guint i = 0; i < G_N_ELEMENTS(debug_kernels); i++) {
        add_case("debug/", debug_kernels[i], PLAIN, test_debug);
        add_case("debug/", debug_kernels[i], EVERYTHING, test_debug);
    }
    return g_test_run();
}
