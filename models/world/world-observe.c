/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings at checkpoints. What others can see (node lists, locks) is read by an observer agent, which comes after
 * every CPU of the same moment. What is private to a CPU is read by the CPU when its own clock passes the checkpoint,
 * between two operations; the observer reads it for CPUs that sleep. */
#include "slub-array.h"
#include "slub-sheaf.h"
#include "slub-veil.h"
#include "world-private.h"

#include <string.h>

static int
compare_times(gconstpointer a, gconstpointer b)
{
    SimTime x = *(const SimTime *) a, y = *(const SimTime *) b;

    return (x > y) - (x < y);
}

static void
make_checkpoints(WorldRun *run, SimTime interval)
{
    const World *world = run->world;
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(SimTime));
    guint n = 0;

    g_array_append_val(times, world->warmup);
    g_array_append_val(times, world->end);
    for (SimTime t = interval; interval > 0 && t < world->end; t += interval)
        g_array_append_val(times, t);
    g_array_sort(times, compare_times);
    run->checkpoint = g_new(SimTime, times->len);
    for (guint i = 0; i < times->len; i++) {
        SimTime t = g_array_index(times, SimTime, i);
        if (n == 0 || run->checkpoint[n - 1] != t)
            run->checkpoint[n++] = t;
    }
    run->n_checkpoints = n;
    for (guint i = 0; i < n; i++)
        if (run->checkpoint[i] == world->warmup)
            run->warmup_index = i;
    run->end_index = n - 1;
}

WorldRun *
world_run_new(World *world, const Workload *workload, SimTime sample_interval)
{
    WorldRun *run = g_new0(WorldRun, 1);

    run->world = world;
    run->workload = workload;
    make_checkpoints(run, sample_interval);
    return run;
}

void
world_run_free(WorldRun *run)
{
    if (!run)
        return;
    for (guint i = 0; run->sample && i < run->n_checkpoints; i++) {
        g_free(run->sample[i].cache);
        g_free(run->sample[i].node_partial_slabs);
    }
    g_free(run->sample);
    g_free(run->checkpoint);
    g_free(run->stat_at_warmup);
    g_free(run->stat_at_end);
    g_free(run->list_sites);
    g_free(run->barn_sites);
    g_free(run->zone_sites);
    g_free(run->list_waits);
    if (run->workload->free)
        run->workload->free(run->workload_state);
    g_free(run);
}

static void
read_cpu_cache(const SlubCache *cache, guint cpu, WorldCacheSample *sample)
{
    const Slab *slabs = cache->system->arena.slab;
    const SlubCpu *c = &cache->cpu[cpu];
    SlabId slab = slub_cpu_slab(c);

    sample->objects_inuse += c->n_objects;
    sample->cpu_slab_free += slub_cpu_free(c);
    sample->cpu_slab_free += slub_array_cpu_objects(cache, cpu);
    if (cache->sheaves)
        sample->cpu_sheaf_free += slub_sheaf_cpu_objects(cache, cpu);
    if (slab)
        sample->cpu_slab_free += slabs[slab].objects - slabs[slab].inuse;
    for (SlabId id = c->partial; id; id = slabs[id].next) {
        sample->cpu_partial_slabs++;
        sample->cpu_partial_free += slabs[id].objects - slabs[id].inuse;
    }
}

static void
add_statistics(const World *world, guint cpu, guint64 *stat)
{
    for (guint i = 0; i < world->slub->n_caches; i++)
        for (guint s = 0; s < SLAB_N_STATS; s++)
            stat[i * SLAB_N_STATS + s] += world->slub->cache[i]->cpu[cpu].stat[s];
}

static void
set_mark(WorldMark *mark, const WorldCpu *w, SimTime at)
{
    if (!mark->is_set)
        *mark = (WorldMark){TRUE, at, w->n_operations};
}

void
world_read_cpu(const World *world, const MachCpu *cpu, gboolean is_end)
{
    WorldCpu *w = &world->cpu[cpu->id];
    SimTime at = MAX(mach_now(cpu), is_end ? world->end : world->warmup);

    *(is_end ? &w->operations_at_end : &w->operations_at_warmup) = w->n_operations;
    *(is_end ? &w->busy_at_end : &w->busy_at_warmup) = w->busy;
    *(is_end ? &w->end_at : &w->warmup_at) = at;
    set_mark(is_end ? &w->finish : &w->begin, w, at);
}

void
world_on_checkpoint(MachCpu *cpu, guint index, void *data)
{
    WorldRun *run = data;
    const World *world = run->world;
    WorldSample *sample = &run->sample[index];

    for (guint i = 0; i < world->slub->n_caches; i++)
        read_cpu_cache(world->slub->cache[i], cpu->id, &sample->cache[i]);
    sample->pcp_pages += page_pcp_pages(world->slub->pages, cpu->id);
    sample->rcu_pending += mach_rcu_n_pending(cpu);
    sample->operations += world->cpu[cpu->id].n_operations;
    if (index == run->warmup_index) {
        world_read_cpu(world, cpu, FALSE);
        add_statistics(world, cpu->id, run->stat_at_warmup);
        world_latency_window(world, cpu->id, TRUE);
    }
    if (index == run->end_index) {
        world_read_cpu(world, cpu, TRUE);
        add_statistics(world, cpu->id, run->stat_at_end);
        world_latency_window(world, cpu->id, FALSE);
    }
}

static void
read_nodes(WorldRun *run, WorldSample *sample)
{
    const World *world = run->world;
    const Slab *slabs = world->slub->arena.slab;
    guint n_nodes = world->topology->n_nodes;

    for (guint i = 0; i < world->slub->n_caches; i++) {
        const SlubCache *cache = world->slub->cache[i];
        const SlabGeometry *g = &cache->geometry;
        gint64 page = world->topology->page_size_bytes, bytes = page << g->order, min_bytes = page << g->min_order;

        if (cache->sheaves)
            sample->cache[i].n_sheaves = cache->sheaves->n_in_use;
        for (guint n = 0; n < n_nodes; n++) {
            const SlubNode *node = &cache->node[n];

            gint64 n_full = node->n_slabs - node->n_min_order_slabs;

            sample->cache[i].slabs += node->n_slabs;
            sample->cache[i].slab_bytes += n_full * bytes + node->n_min_order_slabs * min_bytes;
            sample->cache[i].waste_bytes +=
                n_full * (bytes - (gint64) g->objects * g->size_bytes) +
                node->n_min_order_slabs * (min_bytes - (gint64) g->min_objects * g->size_bytes);
            if (cache->sheaves)
                sample->cache[i].barn_free += slub_sheaf_barn_objects(cache, n);
            sample->cache[i].node_partial_slabs += node->partial.count;
            sample->node_partial_slabs[n] += node->partial.count;
            for (SlabId id = node->partial.head; id; id = slabs[id].next)
                sample->cache[i].node_partial_free += slabs[id].objects - slabs[id].inuse;
        }
    }
}

static void
copy_sites(SimLockSite *target, const SimLock *lock)
{
    memcpy(target, lock->sites, lock->n_sites * sizeof *target);
}

static void
visit_locks(WorldRun *run, gboolean is_end)
{
    const World *world = run->world;
    guint n_nodes = world->topology->n_nodes;

    for (guint n = 0; n < n_nodes; n++) {
        for (guint i = 0; i < world->slub->n_caches; i++) {
            SimLock *lock = &world->slub->cache[i]->node[n].list_lock;
            SlubSheaves *sheaves = world->slub->cache[i]->sheaves;

            if (!is_end) {
                sim_lock_reset_statistics(lock);
                if (sheaves)
                    sim_lock_reset_statistics(&sheaves->barn[n].lock);
                continue;
            }
            if (sheaves)
                copy_sites(&run->barn_sites[(i * n_nodes + n) * SLUB_N_BARN_SITES], &sheaves->barn[n].lock);
            copy_sites(&run->list_sites[(i * n_nodes + n) * SLUB_N_LOCK_SITES], lock);
            if (lock->waits_ps)
                sim_hist_merge(&run->list_waits[i], lock->waits_ps);
        }
        if (is_end) {
            copy_sites(&run->zone_sites[n * PAGE_N_LOCK_SITES], &world->slub->pages->zone[n].lock);
            sim_hist_merge(&run->zone_waits, world->slub->pages->zone[n].lock.waits_ps);
        } else {
            sim_lock_reset_statistics(&world->slub->pages->zone[n].lock);
        }
    }
}

/* A sleeping CPU does not come to its poll; nothing of it changes meanwhile but what others free into its slabs. */
static void
read_sleeping_cpus(WorldRun *run, guint index)
{
    Machine *machine = run->world->machine;

    for (guint i = 0; i < machine->n_cpus; i++) {
        MachCpu *cpu = &machine->cpu[i];
        if (!cpu->is_busy && cpu->next_checkpoint == index) {
            world_on_checkpoint(cpu, index, run);
            cpu->next_checkpoint++;
        }
    }
}

/* A CPU in a queue may come to its poll much later, through most of the window even (CNA). */
static void
mark_waiting_cpus(const World *world, gboolean is_end)
{
    for (guint i = 0; i < world->machine->n_cpus; i++) {
        WorldCpu *w = &world->cpu[i];

        if (sim_is_waiting(world->machine->engine, world->machine->cpu[i].agent))
            set_mark(is_end ? &w->finish : &w->begin, w, is_end ? world->end : world->warmup);
    }
}

static void
observe(SimEngine *engine, SimAgent *agent)
{
    WorldRun *run = agent->data;
    guint index = run->observed++;

    if (index == run->warmup_index || index == run->end_index)
        mark_waiting_cpus(run->world, index == run->end_index);
    read_nodes(run, &run->sample[index]);
    read_sleeping_cpus(run, index);
    if (index == run->warmup_index)
        visit_locks(run, FALSE);
    if (index == run->end_index)
        visit_locks(run, TRUE);
    if (run->observed < run->n_checkpoints)
        sim_wake(engine, agent, run->checkpoint[run->observed]);
    else
        sim_sleep(engine, agent);
}

/* The machine and the caches exist. */
void
world_run_add_observer(WorldRun *run)
{
    const World *world = run->world;
    guint n_caches = world->slub->n_caches, n_nodes = world->topology->n_nodes;
    SimAgent *observer;

    run->sample = g_new0(WorldSample, run->n_checkpoints);
    for (guint i = 0; i < run->n_checkpoints; i++) {
        run->sample[i].cache = g_new0(WorldCacheSample, n_caches);
        run->sample[i].node_partial_slabs = g_new0(guint32, n_nodes);
    }
    run->stat_at_warmup = g_new0(guint64, (gsize) n_caches * SLAB_N_STATS);
    run->stat_at_end = g_new0(guint64, (gsize) n_caches * SLAB_N_STATS);
    run->list_sites = g_new0(SimLockSite, (gsize) n_caches * n_nodes * SLUB_N_LOCK_SITES);
    run->barn_sites = g_new0(SimLockSite, (gsize) n_caches * n_nodes * SLUB_N_BARN_SITES);
    run->zone_sites = g_new0(SimLockSite, (gsize) n_nodes * PAGE_N_LOCK_SITES);
    run->list_waits = g_new0(SimHist, n_caches);
    for (guint i = 0; i < n_caches; i++)
        sim_hist_init(&run->list_waits[i]);
    sim_hist_init(&run->zone_waits);
    observer = sim_engine_add_step(world->machine->engine, world->machine->n_cpus, observe, run);
    sim_wake(world->machine->engine, observer, run->checkpoint[0]);
}
