/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world-trace.h"

#include <string.h>

#include "kmem-slots.h"
#include "kmem-writer.h"
#include "replay.h"
#include "slab-spec.h"
#include "slub-trace.h"
#include "world-private.h"

typedef struct {
    SimTime at;
    guint32 order; /* of recording: each CPU's events are in order, and of two at once the one recorded first */
    guint32 first; /* of its objects; of a KMEM_PROBE how often */
    guint16 cpu, cache;
    gint16 node;
    guint8 op, n; /* KmemOp; objects, or the KmemProbe */
} Entry;

typedef struct {
    SlubObserver observer;
    GArray *entries; /* Entry */
    GArray *objects; /* SlabId */
    guint n_cpus;
    GPtrArray *counts; /* by cache: ReplayCounts[n_cpus], what was told of each CPU */
    GArray *lists;     /* guint64 by cache: list locks told of */
    guint64 n_calls;
    gboolean is_full;
} Trace;

static void
add_entry(Trace *trace, const Entry *entry)
{
    Entry own = *entry;

    own.order = trace->entries->len;
    g_array_append_val(trace->entries, own);
}

static void
add_call(Trace *trace, KmemOp op, const SlubCache *cache, const MachCpu *cpu, gint node, guint n, const SlabId *objects)
{
    const Entry entry = {
        .at = mach_now(cpu),
        .first = trace->objects->len,
        .cpu = cpu->id,
        .cache = cache->index,
        .node = (gint16) node,
        .op = (guint8) op,
        .n = (guint8) n,
    };

    trace->is_full |= trace->n_calls >= WORLD_TRACE_MAX_EVENTS;
    if (trace->is_full)
        return;
    trace->n_calls++;
    g_array_append_vals(trace->objects, objects, n);
    add_entry(trace, &entry);
}

/* The slow-path functions entered since the last time. Counters are the CPU's own; list locks are counted by node, so
 * when several CPUs are under way one of them tells of all, and begin anew when the warm-up is over. */
static void
add_probes(Trace *trace, const SlubCache *cache, const MachCpu *cpu, SimTime at)
{
    ReplayCounts *told, now;
    guint64 n_lists = replay_n_list_locks(cache), n_new_lists, *told_lists;

    /* Their counters do not tell what a sheaf's filling and flushing enter. */
    if (cache->sheaves)
        return;
    while (trace->counts->len <= cache->index) {
        g_ptr_array_add(trace->counts, g_new0(ReplayCounts, trace->n_cpus));
        g_array_set_size(trace->lists, trace->counts->len);
    }
    told = (ReplayCounts *) trace->counts->pdata[cache->index] + cpu->id;
    told_lists = &g_array_index(trace->lists, guint64, cache->index);
    n_new_lists = n_lists >= *told_lists ? n_lists - *told_lists : n_lists;
    now = replay_counts_of(cache, &cache->cpu[cpu->id], told->calls[KMEM_PROBE_GET_PARTIAL_NODE] + n_new_lists);
    *told_lists = n_lists;
    for (guint probe = 0; probe < KMEM_N_PROBES && !trace->is_full; probe++)
        if (now.calls[probe] > told->calls[probe])
            add_entry(trace, &(Entry){.at = at,
                                      .first = (guint32) (now.calls[probe] - told->calls[probe]),
                                      .cpu = cpu->id,
                                      .cache = cache->index,
                                      .op = KMEM_PROBE,
                                      .n = (guint8) probe});
    *told = now;
}

static void
on_alloc(const SlubCache *cache, const MachCpu *cpu, gint node, guint n, const SlabId *objects, gboolean is_bulk,
         void *data)
{
    add_probes(data, cache, cpu, mach_now(cpu));
    add_call(data, is_bulk ? KMEM_ALLOC_BULK : KMEM_ALLOC, cache, cpu, node, n, objects);
}

static void
on_free(const SlubCache *cache, const MachCpu *cpu, guint n, const SlabId *objects, gboolean is_bulk, void *data)
{
    add_call(data, is_bulk ? KMEM_FREE_BULK : KMEM_FREE, cache, cpu, SLUB_NO_NODE, n, objects);
}

static void
on_freed(const SlubCache *cache, const MachCpu *cpu, SimTime since, void *data)
{
    add_probes(data, cache, cpu, since);
}

static void
trace_init(Trace *trace, guint n_cpus)
{
    *trace = (Trace){
        .observer = {on_alloc, on_free, on_freed, trace},
        .entries = g_array_new(FALSE, FALSE, sizeof(Entry)),
        .objects = g_array_new(FALSE, FALSE, sizeof(SlabId)),
        .n_cpus = n_cpus,
        .counts = g_ptr_array_new_with_free_func(g_free),
        .lists = g_array_new(FALSE, TRUE, sizeof(guint64)),
    };
}

static void
trace_clear(Trace *trace)
{
    g_array_unref(trace->entries);
    g_array_unref(trace->objects);
    g_ptr_array_unref(trace->counts);
    g_array_unref(trace->lists);
}

/* As the engine orders: by time, then by CPU. */
static gint
compare_entries(gconstpointer a, gconstpointer b)
{
    const Entry *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void
write_entry(const Trace *trace, const World *world, const Entry *entry, KmemSlots *slots, GString *text)
{
    const SlubCache *cache = world->slub->cache[entry->cache];
    guint size = cache->geometry.size_bytes;
    guint64 ptrs[SLUB_BULK_MAX];
    KmemEvent event = {
        .op = (KmemOp) entry->op,
        .time_ns = entry->at / SIM_NS,
        .cpu = entry->cpu,
        .cache = {cache->name, strlen(cache->name)},
        .bytes_req = size,
        .bytes_alloc = size,
        .node = entry->node == SLUB_NO_NODE ? KMEM_NO_NODE : entry->node,
        .n = entry->n,
        .n_shown = entry->n,
        .ptrs = ptrs,
    };

    if (entry->op == KMEM_PROBE) {
        event.probe = (KmemProbe) entry->n;
        for (guint i = 0; i < entry->first; i++)
            kmem_write_event(&event, text);
        return;
    }
    for (guint i = 0; i < entry->n; i++) {
        SlabId slab = g_array_index(trace->objects, SlabId, entry->first + i);

        ptrs[i] = entry->op == KMEM_ALLOC || entry->op == KMEM_ALLOC_BULK ? kmem_slots_take(slots, slab, size)
                                                                          : kmem_slots_give_any(slots, slab, size);
    }
    event.ptr = ptrs[0];
    kmem_write_event(&event, text);
}

/* With every limit as it was, so that the settings of the scenario need not be known to whoever reads it. */
static gboolean
write_caches(const World *world, GString *text, GError **error)
{
    g_autoptr(GStringChunk) names = g_string_chunk_new(1024);
    SlabGeometryEnv env;

    if (!world_geometry_env(world->config, world->topology, &env, error))
        return FALSE;
    for (guint i = 0; i < world->slub->n_caches; i++) {
        const SlabGeometry *geometry = &world->slub->cache[i]->geometry;
        SlabCacheSpec spec;

        if (!world_cache_spec(world->config, &env, world->slub->cache[i]->name, names, &spec, error))
            return FALSE;
        spec.order_override = (gint) geometry->order;
        spec.min_partial_override = (gint) geometry->min_partial;
        spec.cpu_partial_override = geometry->has_cpu_partial ? (gint) geometry->cpu_partial : -1;
        if (geometry->has_cpu_partial && env.kernel >= SLAB_KERNEL(5, 16))
            spec.cpu_partial_slabs_override = (gint) geometry->cpu_partial_slabs;
        spec.args_sheaf_capacity = geometry->sheaf_capacity;
        slab_spec_write(&spec, text);
    }
    return TRUE;
}

/* In the form of the .env files of recorded traces. */
static void
write_env(const World *world, GString *text)
{
    const MachTopology *topology = world->topology;
    guint kernel = world->slub->kernel;

    g_string_append_printf(text, "uname=Linux simulated %u.%u.0\ncpus_possible=0-%u\ncpus_present=0-%u\npage_size=%u\n",
                           kernel / 1000, kernel % 1000, topology->n_cpus - 1, topology->n_cpus - 1,
                           topology->page_size_bytes);
    for (guint node = 0; node < topology->n_nodes; node++) {
        const char *separator = "";

        g_string_append_printf(text, "node%u_cpulist=", node);
        for (guint cpu = 0; cpu < topology->n_cpus; cpu++)
            if (topology->cpu_node[cpu] == node) {
                g_string_append_printf(text, "%s%u", separator, cpu);
                separator = ",";
            }
        g_string_append_c(text, '\n');
    }
}

static gboolean
save(const char *base, const char *suffix, const GString *text, GError **error)
{
    g_autofree char *path = g_strconcat(base, suffix, NULL);
    g_autoptr(GError) cause = NULL;

    if (g_file_set_contents(path, text->str, (gssize) text->len, &cause))
        return TRUE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
    return FALSE;
}

static gboolean
trace_write(Trace *trace, const World *world, const char *path, GError **error)
{
    g_autofree char *base = g_strdup(path);
    g_autoptr(KmemSlots) slots = kmem_slots_new();
    g_autoptr(GString) text = g_string_new(NULL), caches = g_string_new(NULL), env = g_string_new(NULL);

    if (trace->is_full) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "more than %u calls: shorten run.warmup or run.duration",
                    WORLD_TRACE_MAX_EVENTS);
        return FALSE;
    }
    if (g_str_has_suffix(base, ".txt"))
        base[strlen(base) - strlen(".txt")] = '\0';
    g_array_sort(trace->entries, compare_entries);
    kmem_write_header(world->topology->n_cpus, text);
    for (guint i = 0; i < trace->entries->len; i++)
        write_entry(trace, world, &g_array_index(trace->entries, Entry, i), slots, text);
    write_env(world, env);
    return write_caches(world, caches, error) && save(base, ".caches", caches, error) &&
           save(base, ".env", env, error) && save(path, "", text, error);
}

gboolean
world_run_traced(const SimRunInput *input, SimRecord *record, const char *path, guint64 *ret_n_events, GError **error)
{
    g_autoptr(MachTopology) topology = mach_topology_new(input->config, error);
    Trace trace;
    World *world;
    gboolean is_written;

    if (!topology)
        return FALSE;
    trace_init(&trace, topology->n_cpus);
    world = world_run_keeping(input, record, &trace.observer, error);
    is_written = world && trace_write(&trace, world, path, error);
    if (is_written)
        *ret_n_events = trace.n_calls;
    if (world)
        world_free(world);
    trace_clear(&trace);
    return is_written;
}
