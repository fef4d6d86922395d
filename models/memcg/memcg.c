/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hooks around an allocation and a free, and the life of the whole: mm/slab.h memcg_slab_pre_alloc_hook(),
 * memcg_slab_post_alloc_hook(), memcg_slab_free_hook() and their successors in mm/slub.c (slub-facts E). */
#include "memcg-private.h"

#include <string.h>
#include <sys/mman.h>

#define SLABS_BYTES ((gsize) SLAB_ARENA_MAX * sizeof(MemcgSlab))

const char *
memcg_stat_name(MemcgStat stat)
{
    static const char *const names[MEMCG_N_STATS] = {
#define ROW(name, text) [MEMCG_STAT_##name] = text,
        MEMCG_STATS(ROW)
#undef ROW
    };

    return names[stat];
}

gboolean
memcg_settings_have_effect(const MemcgSettings *settings)
{
    return settings->mode != MEMCG_OFF || settings->ext.profiling || settings->ext.always;
}

static void
init_node(MemcgNode *node, MemcgNode *parent, guint home)
{
    *node = (MemcgNode){0};
    mach_line_init(&node->memory.line, home);
    mach_line_init(&node->memory.protection_line, home);
    mach_line_init(&node->memsw.line, home);
    mach_line_init(&node->kmem.line, home);
    if (parent) {
        node->memory.parent = &parent->memory;
        node->memsw.parent = &parent->memsw;
        node->kmem.parent = &parent->kmem;
    }
}

/* Each group's counters hang below the root by a path of their own; memory of the structures is spread over nodes. */
static void
add_groups(Memcg *memcg)
{
    const MachTopology *topology = memcg->system->machine->topology;
    guint n_groups = memcg->settings.n_groups, n_levels = memcg->settings.depth - 1;
    guint next = 1;

    memcg->node = g_aligned_alloc0(1 + n_groups * n_levels, sizeof *memcg->node, 64);
    memcg->group = g_aligned_alloc0(n_groups, sizeof *memcg->group, 64);
    init_node(&memcg->node[0], NULL, topology->node_mem[0]);
    for (guint i = 0; i < n_groups; i++) {
        guint home = topology->node_mem[i % topology->n_nodes];
        MemcgNode *parent = &memcg->node[0];

        for (guint level = 0; level < n_levels; level++) {
            init_node(&memcg->node[next], parent, home);
            parent = &memcg->node[next++];
        }
        memcg->group[i].index = i;
        memcg->group[i].node = parent;
        mach_line_init(&memcg->group[i].objcg_line, home);
    }
}

static void
add_page(MemcgCounter *counter)
{
    for (; counter; counter = counter->parent)
        counter->pages++;
}

/* A page of each CPU's cgroup, partly in objects that stay. */
static void
fill_stocks(Memcg *memcg)
{
    const Machine *machine = memcg->system->machine;
    guint page = 1u << memcg->page_shift;

    for (guint i = 0; i < machine->n_cpus; i++) {
        MemcgCpu *m = &memcg->cpu[i];
        MemcgGroup *group = &memcg->group[i % memcg->settings.n_groups];

        m->cached = group;
        m->stock_bytes = 8 * (guint32) sim_rng_below(&machine->cpu[i].rng, page / 8);
        m->object_bytes = page - m->stock_bytes;
        add_page(&group->node->memory);
        add_page(&group->node->memsw);
        add_page(&group->node->kmem);
    }
}

Memcg *
memcg_new(SlubSystem *system, const MemcgSettings *settings)
{
    Memcg *memcg = g_new0(Memcg, 1);
    void *slabs = mmap(NULL, SLABS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    g_assert(slabs != MAP_FAILED && settings->depth >= 1 && settings->page_slots <= MEMCG_SLOTS_MAX);
    memcg->system = system;
    memcg->settings = *settings;
    memcg->slab = slabs;
    memcg->cpu = g_aligned_alloc0(system->machine->n_cpus, sizeof *memcg->cpu, 64);
    memcg->page_shift = g_bit_storage(system->machine->topology->page_size_bytes) - 1;
    add_groups(memcg);
    if (settings->mode == MEMCG_USER && settings->stocks_used)
        fill_stocks(memcg);
    system->on_new_slab = memcg__on_new_slab;
    system->on_discard = memcg__on_discard;
    system->slab_data = memcg;
    return memcg;
}

void
memcg_free(Memcg *memcg)
{
    if (!memcg)
        return;
    munmap(memcg->slab, SLABS_BYTES);
    g_aligned_free(memcg->group);
    g_aligned_free(memcg->node);
    g_aligned_free(memcg->cpu);
    g_free(memcg->cache);
    g_free(memcg);
}

void
memcg_add_cache(Memcg *memcg, const SlubCache *cache, const SlabExt *ext, SlubCache *array_cache)
{
    if (cache->index >= memcg->n_caches) {
        memcg->cache = g_renew(MemcgCache, memcg->cache, cache->index + 1);
        memset(&memcg->cache[memcg->n_caches], 0, (cache->index + 1 - memcg->n_caches) * sizeof *memcg->cache);
        memcg->n_caches = cache->index + 1;
    }
    memcg->cache[cache->index] = (MemcgCache){.ext = *ext, .array_cache = array_cache};
}

const SlabExt *
memcg_cache_ext(const Memcg *memcg, const SlubCache *cache)
{
    static const SlabExt none = {.place = SLAB_EXT_NONE};

    return cache->index < memcg->n_caches ? &memcg->cache[cache->index].ext : &none;
}

MemcgGroup *
memcg_group(const Memcg *memcg, guint index)
{
    return memcg->settings.mode == MEMCG_USER ? &memcg->group[index % memcg->settings.n_groups] : NULL;
}

guint
memcg_group_index(const MemcgGroup *group)
{
    return group->index;
}

void
memcg_task_init(MemcgTask *task, MemcgGroup *group)
{
    *task = (MemcgTask){.group = group};
}

void
memcg_task_move(MemcgTask *task, MemcgGroup *group)
{
    task->group = group;
    task->needs_update = TRUE;
}

/* get_obj_cgroup_from_current(), whose reference is put when the call ends, or current_obj_cgroup(). */
static MemcgGroup *
look_up(Memcg *memcg, MachCpu *cpu, MemcgTask *task)
{
    const MachCosts *costs = &cpu->machine->costs;
    MemcgCpu *m = memcg__cpu(memcg, cpu);

    if (memcg->settings.mode == MEMCG_OFF)
        return NULL;
    sim_private(cpu->engine, cpu->agent);
    m->stat[MEMCG_STAT_LOOKUPS]++;
    if (!memcg->settings.scoped_pointer) {
        mach_spend(cpu, costs->objcg_lookup + (task->group ? costs->objcg_ref : 0));
        return task->group;
    }
    mach_spend(cpu, costs->objcg_lookup_scoped);
    if (task->needs_update) {
        task->needs_update = FALSE;
        m->stat[MEMCG_STAT_REFRESHES]++;
        /* The old reference is dropped, the new one found and kept in the task. */
        mach_spend(cpu, costs->objcg_lookup + 2 * costs->objcg_ref + 2 * costs->objcg_atomic);
    }
    return task->group;
}

void
memcg_time_steps(Memcg *memcg)
{
    memcg->times_steps = TRUE;
}

/* Books the time since *mark, which moves on to the present. */
static inline void
end_step(Memcg *memcg, const MachCpu *cpu, MemcgStep step, SimTime *mark)
{
    if (G_LIKELY(!memcg->times_steps))
        return;
    memcg__cpu(memcg, cpu)->step_ps[step] += mach_now(cpu) - *mark;
    *mark = mach_now(cpu);
}

static MemcgGroup *
look_up_and_charge(Memcg *memcg, SlubCache *cache, MachCpu *cpu, MemcgTask *task, SimTime *mark)
{
    MemcgGroup *group = look_up(memcg, cpu, task);

    end_step(memcg, cpu, MEMCG_STEP_LOOKUP, mark);
    if (group)
        memcg__charge(memcg, cpu, group, memcg__full_size(cache));
    end_step(memcg, cpu, MEMCG_STEP_CHARGE, mark);
    return group;
}

/* pcpu_ref, ext and statistics of one object that is charged. */
static void
book(Memcg *memcg, SlubCache *cache, MachCpu *cpu, MemcgGroup *group, SlabId object, SimTime *mark)
{
    memcg__ext_set(memcg, cache, cpu, object);
    end_step(memcg, cpu, MEMCG_STEP_EXT, mark);
    mach_spend(cpu, cpu->machine->costs.objcg_ref);
    end_step(memcg, cpu, MEMCG_STEP_REFERENCE, mark);
    memcg__count(memcg, cpu, group, slub_slab_node(cache, object), (gint) memcg__full_size(cache));
    end_step(memcg, cpu, MEMCG_STEP_STATISTICS, mark);
}

SlabId
memcg__slab_alloc(Memcg *memcg, SlubCache *cache, MachCpu *cpu, MemcgTask *task, MemcgGroup **ret_charged)
{
    const MachCosts *costs = &cpu->machine->costs;
    gboolean late = memcg->settings.charges_late;
    MemcgGroup *group = NULL;
    SlabId object;
    SimTime mark = mach_now(cpu);

    if (!late)
        group = look_up_and_charge(memcg, cache, cpu, task, &mark);
    object = slub_alloc(cache, cpu);
    end_step(memcg, cpu, MEMCG_STEP_SLAB, &mark);
    if (late)
        group = look_up_and_charge(memcg, cache, cpu, task, &mark);
    if (group)
        book(memcg, cache, cpu, group, object, &mark);
    if (group && !memcg->settings.scoped_pointer)
        mach_spend(cpu, costs->objcg_ref);
    end_step(memcg, cpu, MEMCG_STEP_REFERENCE, &mark);
    if (memcg->settings.ext.profiling) {
        if (!group)
            memcg__ext_set(memcg, cache, cpu, object);
        end_step(memcg, cpu, MEMCG_STEP_EXT, &mark);
        mach_spend(cpu, costs->alloc_tag);
        end_step(memcg, cpu, MEMCG_STEP_TAG, &mark);
    }
    *ret_charged = group;
    return object;
}

void
memcg__slab_free(Memcg *memcg, SlubCache *cache, MachCpu *cpu, SlabId object, MemcgGroup *charged)
{
    const MachCosts *costs = &cpu->machine->costs;
    gint bytes = (gint) memcg__full_size(cache);

    memcg__ext_clear(memcg, cpu, object);
    if (memcg->settings.ext.profiling)
        mach_spend(cpu, costs->alloc_tag);
    if (charged) {
        memcg__uncharge(memcg, cpu, charged, (guint) bytes);
        memcg__count(memcg, cpu, charged, slub_slab_node(cache, object), -bytes);
        mach_spend(cpu, costs->objcg_ref);
    }
    slub_free(cache, cpu, object);
}
