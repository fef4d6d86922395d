/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inode and dentry caches that grow under a walk over many files (updatedb), with or without a limit at which the
 * shrinker takes the oldest ones (slub-facts F.4; SEED0). A file is one inode, then one dentry. An object whose turn
 * has come is kept and moved to the young end when it was referenced, which is what leaves slabs sparse once memory
 * pressure takes more than the walk brings. Left out: the files' pages, kmalloc'd names, directory inodes' second
 * dentry, and all caches other than these two. */
#include "slub-occupancy.h"
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("filesystem", SIM_KEY_CHOICE), .fallback = "ext4", .choices = "ext4|xfs", .help = "inodes: whose inode cache"},
    {KEY("files", SIM_KEY_INT), .fallback = "6000000", .min = 1, .max = 2e8,
     .help = "inodes: files to look at, all walkers together"},
    {KEY("walkers", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "inodes: processes that share the files evenly, one a CPU"},
    {KEY("files_cached", SIM_KEY_INT), .fallback = "0", .max = 2e8,
     .help = "inodes: files in memory at which each further one makes the shrinker run; 0 = no limit"},
    {KEY("files_kept", SIM_KEY_INT), .optional = TRUE, .max = 2e8,
     .help = "inodes: files that memory pressure after the walk leaves; all unless given"},
    {KEY("shrink_batch", SIM_KEY_INT), .fallback = "128", .min = 1, .max = 65536,
     .help = "inodes: files the shrinker looks at in one go (SHRINK_BATCH)"},
    {KEY("referenced", SIM_KEY_REAL), .fallback = "0.1", .min = 0, .max = 0.95,
     .help = "inodes: share of files that the shrinker finds in use and keeps"},
    {KEY("file_compute", SIM_KEY_COST), .fallback = "1500 ns [300 ns .. 20000 ns] path walk and stat of a cached block",
     .max = 1e12, .help = "inodes: computing time of a file, without slab work"},
    {NULL},
};

typedef struct _Inodes Inodes;

typedef struct {
    SlabId inode, dentry;
} File;

typedef struct {
    Inodes *inodes;
    MachCpu *cpu;
    SimRng rng;
    File *file; /* [capacity], a ring from the oldest on */
    guint n_files, n_kept, capacity, first, n_cached;
    guint64 n_freed;
} Walker;

struct _Inodes {
    World *world;
    SlubCache *inode, *dentry;
    SimTime compute;
    guint n_walkers, shrink_batch;
    double referenced;
    gboolean has_limit;
    Walker *walker;
};

static void
cache_file(Walker *w, File file)
{
    guint slot = w->first + w->n_cached++;

    w->file[slot < w->capacity ? slot : slot - w->capacity] = file;
}

/* One batch from the old end. */
static void
shrink(Walker *w)
{
    const Inodes *in = w->inodes;

    for (guint i = MIN(in->shrink_batch, w->n_cached); i > 0; i--) {
        File file = w->file[w->first];

        w->first = w->first + 1 < w->capacity ? w->first + 1 : 0;
        w->n_cached--;
        if (sim_rng_bernoulli(&w->rng, in->referenced)) {
            cache_file(w, file);
            continue;
        }
        world_free_accounted(in->world, in->dentry, w->cpu, file.dentry);
        world_free_accounted(in->world, in->inode, w->cpu, file.inode);
        w->n_freed++;
    }
}

static void
run_walker(SimAgent *agent)
{
    Walker *w = agent->data;
    Inodes *in = w->inodes;
    WorldCpu *counts = &in->world->cpu[w->cpu->id];

    for (guint i = 0; i < w->n_files && !mach_is_over(w->cpu); i++) {
        File file;

        while (w->n_cached == w->capacity)
            shrink(w);
        mach_compute(w->cpu, in->compute, mach_sibling_is_busy(w->cpu));
        file.inode = world_alloc_accounted(in->world, in->inode, w->cpu);
        file.dentry = world_alloc_accounted(in->world, in->dentry, w->cpu);
        cache_file(w, file);
        counts->n_operations++;
        mach_poll(w->cpu);
    }
    while (w->n_cached > w->n_kept) {
        shrink(w);
        mach_poll(w->cpu);
    }
    sim_sync(agent->engine, agent);
    w->cpu->is_busy = FALSE;
}

static void
add_walker(Inodes *in, guint id, guint n_files, guint capacity, guint n_kept)
{
    Walker *w = &in->walker[id];
    g_autofree char *component = g_strdup_printf("walker/%u", id);

    w->inodes = in;
    w->cpu = &in->world->machine->cpu[id];
    w->n_files = n_files;
    w->capacity = capacity;
    w->n_kept = n_kept;
    w->file = g_new(File, capacity);
    sim_rng_init(&w->rng, in->world->seed, in->world->replication, component, "referenced");
    workload_start_cpu(in->world, w->cpu, NULL, 0, run_walker, w);
}

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    static const char *const names[][3] = {{"ext4_inode_cache", "dentry", NULL}, {"xfs_inode", "dentry", NULL}};

    return names[sim_config_choice(config, "workload", "filesystem")];
}

static void *
setup(World *world, GError **error)
{
    const SimConfig *config = world->config;
    guint n_files = (guint) sim_config_int(config, "workload", "files");
    guint n_cached = (guint) sim_config_int(config, "workload", "files_cached");
    guint n_kept = sim_config_is_given(config, "workload", "files_kept")
                       ? (guint) sim_config_int(config, "workload", "files_kept")
                       : G_MAXUINT;
    Inodes *in = g_new0(Inodes, 1);

    in->world = world;
    in->inode = world_cache(world, cache_names(config, world->slub->kernel)[0]);
    in->dentry = world_cache(world, "dentry");
    in->compute = sim_config_time(config, "workload", "file_compute");
    in->shrink_batch = (guint) sim_config_int(config, "workload", "shrink_batch");
    in->referenced = sim_config_real(config, "workload", "referenced");
    in->n_walkers = (guint) sim_config_int(config, "workload", "walkers");
    in->walker = g_new0(Walker, in->n_walkers);
    world->machine->n_active_cpus = in->n_walkers;
    world->n_tasks = in->n_walkers;
    for (guint i = 0; i < in->n_walkers; i++) {
        guint share = n_files / in->n_walkers + (i < n_files % in->n_walkers);

        add_walker(in, i, share, MAX(1, n_cached ? MIN(share, n_cached / in->n_walkers) : share),
                   n_kept / in->n_walkers);
    }
    return in;
}

/* What one slab of inodes is made of, and what its exts take where accounting makes any. */
static void
report_layout(const World *world, const SlubCache *inode, SimRecord *record)
{
    double saved_bytes;

    sim_record_add_metric(record, "inode_slab_objects", inode->geometry.objects);
    sim_record_add_metric(record, "inode_stride_bytes", inode->geometry.size_bytes);
    sim_record_add_metric(record, "inode_unaligned_bytes", inode->geometry.unaligned_bytes);
    sim_record_add_metric(record, "inode_leftover_bytes", inode->geometry.leftover_bytes);
    if (!world->memcg)
        return;
    sim_record_add_metric(record, "inode_exts_bytes", memcg_cache_ext(world->memcg, inode)->vector_bytes);
    if (sim_record_find_metric(record, "obj_ext_saved_bytes", &saved_bytes))
        sim_record_add_metric(record, "inode_ext_saved_percent", 100 * saved_bytes / (double) slub_slabs_bytes(inode));
}

/* As /proc/meminfo has it at the end. */
static void
report(World *world, void *state, SimRecord *record)
{
    const Inodes *in = state;
    double reclaimable = 0, unreclaimable = 0;
    guint64 n_cached = 0, n_freed = 0;

    for (guint i = 0; i < world->slub->n_caches; i++) {
        const SlubCache *cache = world->slub->cache[i];

        *(cache->geometry.flags & SLAB_RECLAIM_ACCOUNT ? &reclaimable : &unreclaimable) += (double) slub_slabs_bytes(cache);
    }
    for (guint i = 0; i < in->n_walkers; i++) {
        n_cached += in->walker[i].n_cached;
        n_freed += in->walker[i].n_freed;
    }
    sim_record_add_metric(record, "files_cached", (double) n_cached);
    sim_record_add_metric(record, "files_freed", (double) n_freed);
    sim_record_add_metric(record, "slab_bytes", reclaimable + unreclaimable);
    sim_record_add_metric(record, "slab_reclaimable_bytes", reclaimable);
    sim_record_add_metric(record, "slab_unreclaimable_bytes", unreclaimable);
    report_layout(world, in->inode, record);
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    return workload_check_cpus(config, topology, "walkers", "walkers", error);
}

static void
free_inodes(void *state)
{
    Inodes *in = state;

    for (guint i = 0; in && i < in->n_walkers; i++)
        g_free(in->walker[i].file);
    if (in)
        g_free(in->walker);
    g_free(in);
}

const Workload workload_inodes = {
    .name = "inodes",
    .summary = "inodes and dentries of a walk over many files, with a shrinker",
    .operation = "files",
    .keys = keys,
    .cache_names = cache_names,
    .check = check,
    .setup = setup,
    .report = report,
    .free = free_inodes,
};
