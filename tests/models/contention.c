/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contention.h"

#include "slub-sheaf.h"

enum {
    THINK_NS = 150, /* longest pause between two operations of a CPU */
    HAND_OVER = 8,  /* most objects handed over or freed in a row */
    CHECKPOINT_US = 40,
};

static guint
below(ContentionCpu *own, guint n)
{
    return (guint) sim_rng_below(&own->rng, n);
}

static SlabId
take_own(ContentionCpu *own, guint index)
{
    SlabId id = g_array_index(own->own, SlabId, index);

    g_array_remove_index_fast(own->own, index);
    return id;
}

static void
do_alloc(Contention *c, MachCpu *cpu, ContentionCpu *own)
{
    SlabId got[SLUB_BULK_MAX];
    guint n = 1;

    if (c->load.with_bulk && below(own, 4) == 0) {
        n += below(own, SLUB_BULK_MAX);
        slub_alloc_bulk(c->cache, cpu, n, got);
    } else if (c->load.with_nodes && below(own, 3) == 0) {
        got[0] = slub_alloc_node(c->cache, cpu, (gint) below(own, c->machine->topology->n_nodes));
    } else {
        got[0] = slub_alloc(c->cache, cpu);
    }
    own->n_allocs += n;
    g_array_append_vals(own->own, got, n);
}

static void
free_some(Contention *c, MachCpu *cpu, ContentionCpu *own, GArray *from, guint n)
{
    SlabId batch[SLUB_BULK_MAX];

    n = MIN(n, from->len);
    for (guint i = 0; i < n; i++) {
        guint index = below(own, from->len);

        batch[i] = g_array_index(from, SlabId, index);
        g_array_remove_index_fast(from, index);
    }
    own->n_frees += n;
    if (c->load.with_bulk && n > 1) {
        slub_free_bulk(c->cache, cpu, n, batch);
        return;
    }
    for (guint i = 0; i < n; i++)
        slub_free(c->cache, cpu, batch[i]);
}

/* Another CPU's inbox is shared: in global order only. */
static void
hand_over(Contention *c, MachCpu *cpu, ContentionCpu *own)
{
    ContentionCpu *other = &c->cpu[below(own, c->machine->n_cpus)];
    guint n = 1 + below(own, HAND_OVER);

    sim_sync(cpu->engine, cpu->agent);
    for (; n > 0 && own->own->len > 0; n--) {
        SlabId id = take_own(own, below(own, own->own->len));
        g_array_append_val(other->inbox, id);
    }
}

/* The array is private while frees from it take their time: new arrivals go to an empty one. */
static void
empty_inbox(Contention *c, MachCpu *cpu, ContentionCpu *own)
{
    g_autoptr(GArray) arrived = NULL;

    sim_sync(cpu->engine, cpu->agent);
    arrived = own->inbox;
    own->inbox = g_array_new(FALSE, FALSE, sizeof(SlabId));
    while (arrived->len > 0)
        free_some(c, cpu, own, arrived, SLUB_BULK_MAX);
}

static void
free_by_rcu(Contention *c, MachCpu *cpu, ContentionCpu *own)
{
    SlabId id = take_own(own, below(own, own->own->len));

    g_array_append_val(c->rcu, id);
    mach_call_rcu(cpu, c->rcu_kind, id, 0);
}

static void
on_rcu(MachCpu *cpu, guint32 first, guint32 second, void *data)
{
    Contention *c = data;

    for (guint i = 0; i < c->rcu->len; i++)
        if (g_array_index(c->rcu, SlabId, i) == first) {
            g_array_remove_index_fast(c->rcu, i);
            break;
        }
    c->cpu[cpu->id].n_frees++;
    slub_free(c->cache, cpu, first);
}

static void
do_operation(Contention *c, MachCpu *cpu, ContentionCpu *own)
{
    guint n_own = own->own->len, what = below(own, 100);

    if (n_own == 0 || (what < 45 && n_own < c->load.n_own_max))
        do_alloc(c, cpu, own);
    else if (what < 70)
        free_some(c, cpu, own, own->own, 1 + below(own, c->load.with_bulk ? SLUB_BULK_MAX : HAND_OVER));
    else if (what < 80)
        empty_inbox(c, cpu, own);
    else if (what < 83)
        free_by_rcu(c, cpu, own);
    else if (what == 83 && c->load.with_flush && below(own, 20) == 0)
        slub_flush_cpu(c->cache, cpu);
    else
        hand_over(c, cpu, own);
}

static void
use_cache(MachCpu *cpu, void *data)
{
    Contention *c = data;
    ContentionCpu *own = &c->cpu[cpu->id];

    for (guint i = 0; i < c->load.n_operations; i++) {
        do_operation(c, cpu, own);
        mach_spend(cpu, below(own, THINK_NS) * SIM_NS);
        mach_poll(cpu);
    }
}

static void
free_everything(MachCpu *cpu, void *data)
{
    Contention *c = data;
    ContentionCpu *own = &c->cpu[cpu->id];

    while (own->own->len > 0)
        free_some(c, cpu, own, own->own, SLUB_BULK_MAX);
    empty_inbox(c, cpu, own);
    while (mach_rcu_n_pending(cpu) > 0) {
        mach_spend(cpu, c->machine->tick);
        mach_poll(cpu);
    }
}

static void
flush_one(MachCpu *cpu, void *data)
{
    Contention *c = data;

    slub_flush_cpu(c->cache, cpu);
}

static void
shrink_on_first(MachCpu *cpu, void *data)
{
    Contention *c = data;

    if (cpu->id == 0)
        slub_shrink(c->cache, cpu);
}

static void
cpu_body(SimAgent *agent)
{
    Contention *c = agent->data;

    for (;;) {
        c->phase(&c->machine->cpu[agent->id], c);
        sim_block(agent->engine, agent);
    }
}

/* All CPUs do `phase` from one moment on. */
static void
run_phase(Contention *c, void (*phase)(MachCpu *, void *))
{
    SimEngine *engine = c->machine->engine;
    SimTime start = 0;

    c->phase = phase;
    for (guint i = 0; i < c->machine->n_cpus; i++)
        start = MAX(start, engine->agents[i].now);
    for (guint i = 0; i < c->machine->n_cpus; i++)
        sim_wake(engine, &engine->agents[i], start);
    sim_engine_run(engine, SIM_TREE_IDLE - 1);
    g_assert_cmpstr(c->machine->failure, ==, NULL);
}

static guint64
mix(guint64 hash, guint64 value)
{
    return (hash ^ value) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
}

static void
on_checkpoint(MachCpu *cpu, guint index, void *data)
{
    Contention *c = data;
    const SlubCpu *fast = &c->cache->cpu[cpu->id];
    guint64 hash = mix(mix(c->checkpoint_hash, index), (guint64) mach_now(cpu));

    hash = mix(mix(mix(hash, fast->slab), fast->free), fast->partial);
    hash = mix(hash, c->system->arena.slab[fast->slab].inuse);
    for (guint stat = 0; stat < SLAB_N_STATS; stat++)
        hash = mix(hash, fast->stat[stat]);
    c->checkpoint_hash = hash;
}

Contention *
contention_run(const TestMachine *test, const ContentionLoad *load, guint64 seed)
{
    SlabGeometry geometry = {
        .size_bytes = 256,
        .order = 1,
        .objects = load->objects,
        .min_objects = MAX(load->objects / 2, 1),
        .min_partial = load->min_partial,
        .cpu_partial = load->cpu_partial,
        .cpu_partial_slabs = load->cpu_partial_slabs,
        .has_cpu_partial = load->has_cpu_partial,
        .sheaf_capacity = load->sheaf_capacity,
        .flags = load->debug_flags,
    };
    Contention *c = g_new0(Contention, 1);
    GError *error = NULL;

    c->load = *load;
    for (guint i = 0; i < CONTENTION_CHECKPOINTS; i++)
        c->checkpoint[i] = (i + 1) * CHECKPOINT_US * SIM_US;
    c->machine = test_machine_start(test, seed, c->checkpoint, CONTENTION_CHECKPOINTS);
    c->machine->on_checkpoint = on_checkpoint;
    c->machine->on_checkpoint_data = c;
    c->rcu_kind = mach_rcu_register(c->machine, on_rcu, c);
    c->rcu = g_array_new(FALSE, FALSE, sizeof(SlabId));
    c->system = slub_system_new(c->machine, load->kernel, 100, &error);
    g_assert_no_error(error);
    c->cache = slub_cache_new(c->system, "cache", &geometry, 0.1, TRUE);
    c->cpu = g_new0(ContentionCpu, c->machine->n_cpus);
    for (guint i = 0; i < c->machine->n_cpus; i++) {
        g_autofree char *component = g_strdup_printf("cpu/%u", i);

        c->cpu[i].own = g_array_new(FALSE, FALSE, sizeof(SlabId));
        c->cpu[i].inbox = g_array_new(FALSE, FALSE, sizeof(SlabId));
        sim_rng_init(&c->cpu[i].rng, seed, 0, component, "contention");
        sim_engine_add_fiber(c->machine->engine, i, cpu_body, c);
    }
    run_phase(c, use_cache);
    return c;
}

void
contention_free_all(Contention *c)
{
    run_phase(c, free_everything);
}

void
contention_flush(Contention *c)
{
    run_phase(c, flush_one);
}

void
contention_shrink(Contention *c)
{
    run_phase(c, shrink_on_first);
}

void
contention_end(Contention *c)
{
    for (guint i = 0; i < c->machine->n_cpus; i++) {
        g_array_unref(c->cpu[i].own);
        g_array_unref(c->cpu[i].inbox);
    }
    g_free(c->cpu);
    g_array_unref(c->rcu);
    slub_system_free(c->system);
    test_machine_stop(c->machine);
    g_free(c);
}

guint64
contention_stat(const Contention *c, SlabStat stat)
{
    guint64 sum = 0;

    for (guint i = 0; i < c->machine->n_cpus; i++)
        sum += c->cache->cpu[i].stat[stat];
    return sum;
}

guint64
contention_acquisitions(const Contention *c, SlubLockSite site)
{
    guint64 sum = 0;

    for (guint i = 0; i < c->machine->topology->n_nodes; i++)
        sum += c->cache->node[i].list_lock.sites[site].acquisitions;
    return sum;
}

static void
append_lock(GString *text, const char *name, guint node, const SimLock *lock)
{
    for (guint i = 0; i < lock->n_sites; i++)
        g_string_append_printf(text,
                               "%s %u site %u: %" G_GUINT64_FORMAT " acquisitions, %" G_GUINT64_FORMAT
                               " contended, wait %" G_GINT64_FORMAT " ps, hold %" G_GINT64_FORMAT " ps\n",
                               name, node, i, lock->sites[i].acquisitions, lock->sites[i].contended,
                               lock->sites[i].wait_ps, lock->sites[i].hold_ps);
}

char *
contention_digest(const Contention *c)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < c->machine->n_cpus; i++) {
        const SlubCpu *cpu = &c->cache->cpu[i];

        g_string_append_printf(text, "cpu %u: %" G_GINT64_FORMAT " ps, slab %u, free %u, partial %u, stats", i,
                               c->machine->engine->agents[i].now, cpu->slab, cpu->free, cpu->partial);
        for (guint stat = 0; stat < SLAB_N_STATS; stat++)
            g_string_append_printf(text, " %" G_GUINT64_FORMAT, cpu->stat[stat]);
        g_string_append_c(text, '\n');
    }
    for (guint i = 0; i < c->machine->topology->n_nodes; i++) {
        const SlubNode *node = &c->cache->node[i];

        g_string_append_printf(
            text, "node %u: %" G_GINT64_FORMAT " slabs, partial %u: %u .. %u, free pages %" G_GINT64_FORMAT "\n", i,
            node->n_slabs, node->partial.count, node->partial.head, node->partial.tail,
            c->system->pages->zone[i].free_pages);
        append_lock(text, "list_lock", i, &node->list_lock);
        if (c->cache->sheaves)
            append_lock(text, "barn lock", i, &c->cache->sheaves->barn[i].lock);
        append_lock(text, "zone lock", i, &c->system->pages->zone[i].lock);
    }
    g_string_append_printf(text,
                           "checkpoints %016" G_GINT64_MODIFIER "x, events %" G_GUINT64_FORMAT
                           ", fingerprint %016" G_GINT64_MODIFIER "x\n",
                           c->checkpoint_hash, c->machine->engine->n_events, c->machine->engine->fingerprint);
    return g_string_free(text, FALSE);
}
