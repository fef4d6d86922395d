/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far off is a count of a node's free objects that looks at a part of the partial list only? Builds the list as the
 * author of count_partial_free_approx() did (mm/slub.c 6.10; his mail of 2024-04-16): folders with sub-folders are
 * made, one dentry each, then every second folder is deleted with all below it. Left out: inodes, negative dentries,
 * and everything else that would want dentries meanwhile but for a given share of single ones. */
#include "workload.h"

enum {
    RULE_HEAD,     /* as first posted: so many slabs from the head */
    RULE_BOTH_ENDS /* as merged: half of them from the head, half from the tail */
};

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("count_folders", SIM_KEY_INT), .fallback = "1000", .min = 2, .max = 1e8, .help = "partial_count: folders"},
    {KEY("count_subfolders", SIM_KEY_INT), .fallback = "10", .max = 1e6, .help = "partial_count: sub-folders of each"},
    {KEY("count_others", SIM_KEY_REAL), .fallback = "0", .max = 1,
     .help = "partial_count: dentries that others make meanwhile and keep, in number of those of the folders"},
    {KEY("count_sorted", SIM_KEY_BOOL), .fallback = "false", .help = "partial_count: kmem_cache_shrink() before"},
    {KEY("count_rule", SIM_KEY_CHOICE), .fallback = "both-ends", .choices = "head|both-ends",
     .help = "partial_count: where a list that is too long is looked at"},
    {KEY("count_limit", SIM_KEY_INT), .fallback = "10000", .min = 2, .max = 1e8,
     .help = "partial_count: MAX_PARTIAL_TO_SCAN"},
    {NULL},
};

typedef struct {
    World *world;
    SlubCache *cache;
    MachCpu *cpu;
    SimRng rng;
    guint n_folders, n_below, limit;
    double others;
    gboolean is_sorted, has_both_ends;
    guint64 n_partial;
    double exact, estimate; /* free objects of all partial lists */
    SimTime ended;
} Count;

static double
add_free(const SlubCache *cache, SlabId from, gboolean forwards, guint n_slabs)
{
    double sum = 0;

    for (SlabId id = from; id && n_slabs > 0; n_slabs--) {
        const Slab *slab = &cache->system->arena.slab[id];

        sum += slab->objects - slab->inuse;
        id = forwards ? slab->next : slab->prev;
    }
    return sum;
}

static double
estimate_free(const Count *count, const SlabList *list)
{
    guint from_tail = count->has_both_ends ? count->limit - count->limit / 2 : 0;
    guint from_head = count->limit - from_tail;

    if (list->count <= count->limit)
        return add_free(count->cache, list->head, TRUE, G_MAXUINT);
    return (add_free(count->cache, list->head, TRUE, from_head) +
            add_free(count->cache, list->tail, FALSE, from_tail)) *
           list->count / count->limit;
}

static void
make_dentry(Count *count, GArray *dentries)
{
    SlabId dentry;

    if (sim_rng_bernoulli(&count->rng, count->others))
        slub_alloc(count->cache, count->cpu);
    dentry = slub_alloc(count->cache, count->cpu);
    g_array_append_val(dentries, dentry);
    count->world->cpu[count->cpu->id].n_operations++;
    mach_poll(count->cpu);
}

static void
build_list(Count *count)
{
    gsize n_each = count->n_below + 1u, n_all = n_each * count->n_folders;
    g_autoptr(GArray) dentries = g_array_sized_new(FALSE, FALSE, sizeof(SlabId), (guint) n_all);

    for (gsize i = 0; i < n_all; i++)
        make_dentry(count, dentries);
    for (gsize folder = 0; folder < count->n_folders; folder += 2)
        for (gsize i = 0; i < n_each; i++) {
            slub_free(count->cache, count->cpu, g_array_index(dentries, SlabId, folder * n_each + i));
            mach_poll(count->cpu);
        }
    slub_flush_cpu(count->cache, count->cpu);
    if (count->is_sorted)
        slub_shrink(count->cache, count->cpu);
}

static void
run_count(SimAgent *agent)
{
    Count *count = agent->data;

    build_list(count);
    sim_sync(count->cpu->engine, agent);
    for (guint node = 0; node < count->world->topology->n_nodes; node++) {
        const SlabList *list = &count->cache->node[node].partial;

        count->n_partial += list->count;
        count->exact += add_free(count->cache, list->head, TRUE, G_MAXUINT);
        count->estimate += estimate_free(count, list);
    }
    count->ended = mach_now(count->cpu);
    count->cpu->is_busy = FALSE;
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    Count *count = g_new0(Count, 1);

    count->world = world;
    count->cache = world_cache(world, "dentry");
    count->cpu = &world->machine->cpu[0];
    count->n_folders = (guint) sim_config_int(config, "workload", "count_folders");
    count->n_below = (guint) sim_config_int(config, "workload", "count_subfolders");
    count->limit = (guint) sim_config_int(config, "workload", "count_limit");
    count->others = sim_config_real(config, "workload", "count_others");
    count->is_sorted = sim_config_bool(config, "workload", "count_sorted");
    count->has_both_ends = sim_config_choice(config, "workload", "count_rule") == RULE_BOTH_ENDS;
    count->ended = SIM_TIME_MAX;
    sim_rng_init(&count->rng, world->seed, world->replication, "dentries", "others");
    world->n_tasks = world->machine->n_active_cpus = 1;
    workload_start_cpu(world, count->cpu, NULL, 0, run_count, count);
    return count;
}

static SimTime
ended_at(const void *state)
{
    return ((const Count *) state)->ended;
}

static void
report(World *world, void *state, SimRecord *record)
{
    const Count *count = state;

    sim_record_add_metric(record, "partial_slabs", (double) count->n_partial);
    sim_record_add_metric(record, "free_objects", count->exact);
    sim_record_add_metric(record, "count_error_percent",
                          count->exact > 0 ? 100 * (count->exact - count->estimate) / count->exact : 0);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    const double max_dentries = 1e9;

    if ((double) sim_config_int(config, "workload", "count_folders") *
            (double) (sim_config_int(config, "workload", "count_subfolders") + 1) >
        max_dentries)
        return sim_config_error(config, "workload", "count_folders", error, "more than %.0f dentries in all",
                                max_dentries);
    return TRUE;
}

static const char *const caches[] = {"dentry", NULL};

const Workload workload_partial_count = {
    .name = "partial_count",
    .summary = "a long partial list, and what a count of its ends makes of it",
    .operation = "dentries",
    .keys = keys,
    .caches = caches,
    .check = check,
    .setup = setup,
    .ended_at = ended_at,
    .report = report,
    .free = g_free,
};
