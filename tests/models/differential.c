/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "differential-private.h"

#include "mach-rcu.h"

static guint32
draw_fast(void *data, guint32 n)
{
    const Differential *d = data;

    return n == ANY_PARTIAL_CHANCES ? d->draw_any_partial : d->draw_order;
}

static gboolean
ref_skips_any_partial(gpointer data)
{
    const Differential *d = data;

    return d->draw_any_partial > 10 * d->settings.defrag_percent;
}

static gboolean
ref_falls_back(gpointer data)
{
    const Differential *d = data;

    return d->draw_order < d->settings.fallback_chance * FALLBACK_CHANCES;
}

/* The fast side's pages are real, the reference's are not: of a starved node it may have as many new slabs as the fast
 * side had blocks within reach, and each slab it discards gives one back. */
static gboolean
ref_node_is_exhausted(gpointer data, guint node)
{
    const Differential *d = data;

    return d->starved_pages[node] >= 0 &&
           d->blocks_left[node] + d->slabs_at_start[node] <= (gint64) ref_slub_nr_slabs(d->ref, (gint) node);
}

static void
run_operation(Differential *d, MachCpu *cpu)
{
    Operation *op = &d->operation;

    switch (op->kind) {
    case OP_ALLOC:
        op->slab[0] = slub_alloc_node(d->cache, cpu, op->node);
        break;
    case OP_ALLOC_ATOMIC:
        op->slab[0] = slub_alloc_atomic(d->cache, cpu, op->node);
        break;
    case OP_FREE:
        slub_free(d->cache, cpu, op->slab[0]);
        break;
    case OP_FREE_RCU:
        slub_free_rcu(d->cache, cpu, op->slab[0]);
        break;
    case OP_RUN_RCU:
        mach_rcu_tick(cpu);
        break;
    case OP_PREFILL:
        op->sheaf = slub_prefill_sheaf(d->cache, cpu, op->n);
        break;
    case OP_ALLOC_FROM:
        op->slab[0] = slub_alloc_from_sheaf(d->cache, cpu, op->sheaf);
        break;
    case OP_PREFILL_ARRAY:
        slub_array_prefill(d->cache, cpu, op->n);
        break;
    case OP_RETURN:
        slub_return_sheaf(d->cache, cpu, op->sheaf);
        break;
    case OP_ALLOC_BULK:
        slub_alloc_bulk(d->cache, cpu, op->n, op->slab);
        break;
    case OP_FREE_BULK:
        slub_free_bulk(d->cache, cpu, op->n, op->slab);
        break;
    case OP_FLUSH:
        slub_flush_cpu(d->cache, cpu);
        break;
    case OP_SHRINK:
        slub_shrink(d->cache, cpu);
        break;
    }
}

static void
cpu_body(SimAgent *agent)
{
    Differential *d = agent->data;

    for (;;) {
        run_operation(d, &d->machine->cpu[agent->id]);
        sim_block(agent->engine, agent);
    }
}

/* The fast side's turn: one CPU's fiber from wake-up to block, no other awake. */
void
differential__run_fast(Differential *d, guint cpu)
{
    SimEngine *engine = d->machine->engine;
    SimAgent *agent = &engine->agents[cpu];

    sim_wake(engine, agent, d->now);
    sim_engine_run(engine, SIM_TREE_IDLE - 1);
    d->now = agent->now;
    if (d->machine->failure)
        differential__fail(d, "%s", d->machine->failure);
}

void
differential__begin(Differential *d, guint cpu, OperationKind kind, guint n, gint node)
{
    guint n_nodes = d->topology->n_nodes;

    d->n_operations++;
    d->operation.kind = kind;
    d->operation.n = n;
    d->operation.node = node;
    d->draw_any_partial = (guint32) sim_rng_below(&d->rng, ANY_PARTIAL_CHANCES);
    d->draw_order = (guint32) sim_rng_below(&d->rng, FALLBACK_CHANCES);
    for (guint i = 0; i < n_nodes; i++) {
        d->blocks_left[i] =
            (d->system->pages->zone[i].free_pages >> ORDER) + d->system->pages->pcp[cpu * n_nodes + i].blocks[ORDER];
        d->slabs_at_start[i] = d->cache->node[i].n_slabs;
    }
}

static RefParams
ref_params(Differential *d, guint *cpu_node, gboolean *has_memory, guint *zonelist)
{
    const MachTopology *topology = d->topology;
    const DifferentialSettings *s = &d->settings;
    guint n_nodes = topology->n_nodes;

    for (guint i = 0; i < topology->n_cpus; i++)
        cpu_node[i] = topology->cpu_node[i];
    for (guint i = 0; i < n_nodes; i++) {
        guint n = 0;

        has_memory[i] = topology->node_memory_bytes[i] != 0;
        for (; n < n_nodes && topology->zonelist[i * n_nodes + n] != MACH_NO_CPU; n++)
            zonelist[i * n_nodes + n] = topology->zonelist[i * n_nodes + n];
        for (guint j = 0; j < n_nodes; j++) /* the others may stand anywhere: they have no memory */
            if (!topology->node_memory_bytes[j])
                zonelist[i * n_nodes + n++] = j;
    }
    return (RefParams){
        .kernel = s->kernel,
        .n_cpus = topology->n_cpus,
        .n_nodes = n_nodes,
        .cpu_node = cpu_node,
        .node_has_memory = has_memory,
        .own_mem_id = !topology->knows_memoryless,
        .zonelist = zonelist,
        .objects = s->objects,
        .fallback_objects = s->fallback_objects,
        .min_partial = s->min_partial,
        .cpu_partial = s->cpu_partial,
        .cpu_partial_slabs = s->cpu_partial_slabs,
        .has_cpu_partial = s->has_cpu_partial,
        .debug = (RefDebug) s->debug,
        .store_user = s->store_user,
        .array_capacity = s->array_capacity,
        .no_cpu_slab = !d->cache->below->has_cpu_slab,
        .refill = s->layers.refill == SLUB_REFILL_LOCAL ? REF_REFILL_LOCAL : REF_REFILL_TRYLOCK,
        .defrag_ratio = 10 * s->defrag_percent,
        .skip_any_partial = ref_skips_any_partial,
        .order_fallback = ref_falls_back,
        .node_exhausted = ref_node_is_exhausted,
        .user_data = d,
    };
}

Differential *
differential_new(const TestMachine *test, const DifferentialSettings *settings, const char *name, guint64 seed)
{
    const MachTopology *topology = test->topology;
    g_autofree guint *cpu_node = g_new(guint, topology->n_cpus);
    g_autofree gboolean *has_memory = g_new(gboolean, topology->n_nodes);
    g_autofree guint *zonelist = g_new(guint, topology->n_nodes * topology->n_nodes);
    SlabGeometry geometry = {
        .size_bytes = 64,
        .order = ORDER,
        .objects = settings->objects,
        .min_objects = settings->fallback_objects,
        .min_partial = settings->min_partial,
        .cpu_partial = settings->cpu_partial,
        .cpu_partial_slabs = settings->cpu_partial_slabs,
        .has_cpu_partial = settings->has_cpu_partial,
        .flags = !settings->debug       ? 0
                 : settings->store_user ? SLAB_POISON | SLAB_CONSISTENCY_CHECKS | SLAB_STORE_USER
                                        : SLAB_POISON,
        .sheaf_capacity = settings->sheaf_capacity,
    };
    Differential *d = g_new0(Differential, 1);
    RefParams params;
    SlubLayers layers;
    GError *error = NULL;

    d->topology = topology;
    d->settings = *settings;
    d->name = name;
    d->machine = test_machine_start(test, seed, NULL, 0);
    d->system = slub_system_new(d->machine, settings->kernel, settings->defrag_percent, &error);
    g_assert_no_error(error);
    d->system->debug_path = settings->debug == DIFFERENTIAL_SINGLE ? SLUB_DEBUG_SINGLE : SLUB_DEBUG_ACTIVATE;
    layers = settings->layers;
    layers.has_cpu_slab &= d->system->generation->has_cpu_slab;
    slub_system_set_layers(d->system, &layers);
    d->system->draw = draw_fast;
    d->system->draw_data = d;
    d->cache = slub_cache_new(d->system, "cache", &geometry, settings->fallback_chance, FALSE);
    if (settings->array_capacity)
        slub_array_set_up(d->cache, settings->array_capacity, &error);
    g_assert_no_error(error);
    params = ref_params(d, cpu_node, has_memory, zonelist);
    d->ref = ref_slub_new(&params);
    d->sheaves = ref_sheaves_new(d->ref, settings->sheaf_capacity, settings->layers.remote_frees_to_sheaf);
    d->held = g_array_new(FALSE, FALSE, sizeof(HeldSheaf));
    d->live = g_array_new(FALSE, FALSE, sizeof(LiveObject));
    d->slab_of = g_array_new(FALSE, TRUE, sizeof(SlabId));
    d->serial_of = g_array_new(FALSE, TRUE, sizeof(guint));
    d->serials = g_array_new(FALSE, FALSE, sizeof(guint));
    d->starved_pages = g_new(gint64, topology->n_nodes);
    d->blocks_left = g_new0(gint64, topology->n_nodes);
    d->slabs_at_start = g_new0(gint64, topology->n_nodes);
    for (guint i = 0; i < topology->n_nodes; i++)
        d->starved_pages[i] = -1;
    sim_rng_init(&d->rng, seed, 0, name, "chances");
    for (guint i = 0; i < topology->n_cpus; i++)
        sim_engine_add_fiber(d->machine->engine, i, cpu_body, d);
    return d;
}

guint
differential_n_live(const Differential *d)
{
    return d->live->len;
}

void
differential__pair(Differential *d, SlabId id, const RefObject *object)
{
    const RefSlab *slab = object->slab;

    if (differential__slab_of(d, slab) == 0) {
        guint serial = slab->serial;

        if (id >= d->serial_of->len)
            g_array_set_size(d->serial_of, id + 1);
        if (g_array_index(d->serial_of, guint, id)) {
            guint old = g_array_index(d->serial_of, guint, id) - 1;
            if (!ref_slub_slab_by_serial(d->ref, old)->discarded)
                differential__fail(d, "slab %u is that of serial %u and of the new serial %u", id, old, serial);
        }
        g_array_index(d->serial_of, guint, id) = serial + 1;
        if (serial >= d->slab_of->len)
            g_array_set_size(d->slab_of, serial + 1);
        g_array_index(d->slab_of, SlabId, serial) = id;
        g_array_append_val(d->serials, serial);
    }
    COMPARE(d, id, differential__slab_of(d, slab), "slab of an object, serial %u", slab->serial);
}

void
differential__add_live(Differential *d, SlabId id, RefObject *object)
{
    LiveObject live = {id, object};

    differential__pair(d, id, object);
    g_array_append_val(d->live, live);
}

LiveObject
differential__take_live(Differential *d, guint number)
{
    LiveObject live = g_array_index(d->live, LiveObject, number);

    g_array_remove_index_fast(d->live, number);
    return live;
}

void
differential__finish(Differential *d, guint cpu)
{
    if (d->n_operations % DIFFERENTIAL_COMPARE_EVERY == 0) {
        differential_compare_all(d);
        return;
    }
    if (d->cache->sheaves) {
        differential__pair_cpu_sheaves(d, cpu);
        for (guint node = 0; node < d->topology->n_nodes; node++)
            differential__pair_barn(d, node, FALSE);
    }
    differential__pair_array(d, cpu);
    differential__compare_cpu(d, cpu);
    differential__compare_nodes(d);
}

void
differential_alloc(Differential *d, guint cpu, gint node)
{
    RefObject *object;

    differential__begin(d, cpu, OP_ALLOC, 1, node);
    object = ref_sheaves_alloc(d->sheaves, cpu, node, TRUE);
    differential__run_fast(d, cpu);
    if (!object)
        differential__fail(d, "the reference found no memory");
    differential__add_live(d, d->operation.slab[0], object);
    differential__finish(d, cpu);
}

void
differential_free_object(Differential *d, guint cpu, guint number)
{
    LiveObject live = differential__take_live(d, number);

    differential__begin(d, cpu, OP_FREE, 1, 0);
    d->operation.slab[0] = live.slab;
    ref_sheaves_free(d->sheaves, cpu, live.object);
    differential__run_fast(d, cpu);
    differential__finish(d, cpu);
}

void
differential_alloc_bulk(Differential *d, guint cpu, guint n)
{
    RefObject *objects[DIFFERENTIAL_BULK_MAX];

    differential__begin(d, cpu, OP_ALLOC_BULK, n, SLUB_NO_NODE);
    if (!ref_sheaves_alloc_bulk(d->sheaves, cpu, n, objects))
        differential__fail(d, "the reference found no memory");
    differential__run_fast(d, cpu);
    for (guint i = 0; i < n; i++)
        differential__add_live(d, d->operation.slab[i], objects[i]);
    differential__finish(d, cpu);
}

static gint
compare_descending(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *) a, y = *(const guint *) b;

    return x < y ? 1 : x > y ? -1 : 0;
}

void
differential_free_bulk(Differential *d, guint cpu, guint n, const guint *numbers)
{
    RefObject *objects[DIFFERENTIAL_BULK_MAX];
    guint sorted[DIFFERENTIAL_BULK_MAX];

    differential__begin(d, cpu, OP_FREE_BULK, n, 0);
    for (guint i = 0; i < n; i++) {
        const LiveObject *live = &g_array_index(d->live, LiveObject, numbers[i]);

        d->operation.slab[i] = live->slab;
        objects[i] = live->object;
        sorted[i] = numbers[i];
    }
    /* From the highest number down, so that none of the others changes. */
    qsort(sorted, n, sizeof *sorted, compare_descending);
    for (guint i = 0; i < n; i++)
        differential__take_live(d, sorted[i]);
    ref_sheaves_free_bulk(d->sheaves, cpu, n, objects);
    differential__run_fast(d, cpu);
    differential__finish(d, cpu);
}

void
differential_flush_cpu(Differential *d, guint cpu)
{
    differential__begin(d, cpu, OP_FLUSH, 0, 0);
    ref_sheaves_flush_cpu(d->sheaves, cpu);
    differential__run_fast(d, cpu);
    differential__finish(d, cpu);
}

static void
flush_all_fast(Differential *d)
{
    d->operation.kind = OP_FLUSH;
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++)
        differential__run_fast(d, cpu);
}

void
differential_shrink(Differential *d, guint cpu)
{
    differential__begin(d, cpu, OP_SHRINK, 0, 0);
    ref_sheaves_shrink(d->sheaves, cpu);
    flush_all_fast(d);
    d->operation.kind = OP_SHRINK;
    differential__run_fast(d, cpu);
    differential_compare_all(d);
}

void
differential_set_cpu_partial(Differential *d, guint cpu, guint objects, guint slabs)
{
    differential__begin(d, cpu, OP_FLUSH, 0, 0);
    ref_sheaves_set_cpu_partial(d->sheaves, objects, slabs);
    d->cache->cpu_partial = objects;
    d->cache->cpu_partial_slabs = slabs;
    flush_all_fast(d);
    differential_compare_all(d);
}

void
differential_starve(Differential *d, guint node, gboolean starve)
{
    PageZone *zone = &d->system->pages->zone[node];

    g_assert_cmpfloat(d->settings.fallback_chance, ==, 0);
    if (starve && d->starved_pages[node] < 0) {
        d->starved_pages[node] = zone->free_pages;
        zone->free_pages = 0;
    } else if (!starve && d->starved_pages[node] >= 0) {
        zone->free_pages += d->starved_pages[node];
        d->starved_pages[node] = -1;
    }
}

void
differential_prefill_array(Differential *d, guint cpu, guint n)
{
    differential__begin(d, cpu, OP_PREFILL_ARRAY, n, 0);
    ref_slub_prefill_array(d->ref, cpu, n);
    differential__run_fast(d, cpu);
    differential__finish(d, cpu);
}

/* Nothing drains an array: its objects are handed out, and then no more put into it. */
static void
empty_arrays(Differential *d)
{
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++)
        while (slub_array_cpu_objects(d->cache, cpu) > 0)
            differential_alloc(d, cpu, SLUB_NO_NODE);
    if (d->cache->arrays)
        d->cache->arrays->capacity = 0;
    ref_slub_close_arrays(d->ref);
}

void
differential_free(Differential *d)
{
    empty_arrays(d);
    while (d->live->len > 0)
        differential_free_object(d, d->live->len % d->topology->n_cpus, d->live->len - 1);
    while (d->held->len > 0)
        differential_return(d, d->held->len % d->topology->n_cpus, d->held->len - 1);
    /* The flush hands rcu_free sheaves to RCU, which may fill a barn again; and what the shrinking CPU flushes from a
     * barn may come to its own cpu partial list. */
    differential_shrink(d, 0);
    for (guint cpu = 0; cpu < d->topology->n_cpus; cpu++)
        differential_run_rcu(d, cpu);
    differential_shrink(d, 0);
    differential_shrink(d, 0);
    COMPARE(d, d->serials->len, 0, "slabs left without objects");
    g_array_unref(d->live);
    g_array_unref(d->held);
    g_array_unref(d->slab_of);
    g_array_unref(d->serial_of);
    g_array_unref(d->serials);
    g_free(d->starved_pages);
    g_free(d->blocks_left);
    g_free(d->slabs_at_start);
    ref_sheaves_free_all(d->sheaves);
    slub_system_free(d->system);
    test_machine_stop(d->machine);
    g_free(d);
}
