/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that map a region, touch every page and unmap it, for ever: one page and one charge a fault (the loop of the
 * 2009 figures, OBJ). One operation is one fault. Left out: page tables, LRU lists, the statistics of page_cgroup. */
#include "workload.h"

#define KEY(name, key_type) .group = "workload", .key = name, .type = key_type

static const SimKeySpec keys[] = {
    {KEY("fault_tasks", SIM_KEY_INT), .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "page_faults: tasks, one a CPU in the order of the CPU numbers; task i runs in cgroup i"},
    {KEY("region_pages", SIM_KEY_INT), .fallback = "256", .min = 1, .max = 1e6,
     .help = "page_faults: pages of a mapping"},
    {KEY("fault_compute", SIM_KEY_COST),
     .fallback = "1000 ns [300 ns .. 20000 ns] estimate: entry, page table, clearing", .max = 1e9,
     .help = "page_faults: computing time of a fault and its share of the unmapping"},
    {KEY("uncharge", SIM_KEY_CHOICE), .fallback = "region", .choices = "page|region",
     .help = "page_faults: unmapping gives charges back page by page or all together"},
    {NULL},
};

typedef struct _Faults Faults;

typedef struct {
    Faults *faults;
    MachCpu *cpu;
    MemcgGroup *group;
    guint16 *page; /* [n_pages] node of each */
} FaultTask;

struct _Faults {
    World *world;
    guint n_tasks, n_pages;
    SimTime compute;
    gboolean uncharges_by_page;
    FaultTask *task;
};

static void
fault(FaultTask *t, guint i)
{
    const Faults *f = t->faults;
    gint node = page_alloc(f->world->slub->pages, t->cpu, t->cpu->node, 0, FALSE);

    if (node < 0)
        mach_fail(t->cpu, "the machine's memory is exhausted");
    t->page[i] = (guint16) node;
    if (t->group)
        memcg_pages_charge(f->world->memcg, t->cpu, t->group, 1);
    mach_compute(t->cpu, f->compute, mach_sibling_is_busy(t->cpu));
    f->world->cpu[t->cpu->id].n_operations++;
}

static void
unmap(FaultTask *t)
{
    const Faults *f = t->faults;

    for (guint i = 0; i < f->n_pages; i++) {
        page_free(f->world->slub->pages, t->cpu, t->page[i], 0);
        if (t->group && f->uncharges_by_page)
            memcg_pages_uncharge(f->world->memcg, t->cpu, t->group, 1);
    }
    if (t->group && !f->uncharges_by_page)
        memcg_pages_uncharge(f->world->memcg, t->cpu, t->group, f->n_pages);
}

static void
run_task(SimAgent *agent)
{
    FaultTask *t = agent->data;

    while (!mach_is_over(t->cpu)) {
        for (guint i = 0; i < t->faults->n_pages; i++) {
            fault(t, i);
            mach_poll(t->cpu);
        }
        unmap(t);
    }
}

static void *
setup(World *world, GError **error)
{
    Faults *f = g_new0(Faults, 1);

    f->world = world;
    f->n_tasks = (guint) sim_config_int(world->config, "workload", "fault_tasks");
    f->n_pages = (guint) sim_config_int(world->config, "workload", "region_pages");
    f->compute = sim_config_time(world->config, "workload", "fault_compute");
    f->uncharges_by_page = sim_config_choice(world->config, "workload", "uncharge") == 0;
    f->task = g_new0(FaultTask, f->n_tasks);
    world->n_tasks = world->machine->n_active_cpus = f->n_tasks;
    for (guint i = 0; i < f->n_tasks; i++) {
        FaultTask *t = &f->task[i];
        g_autofree char *component = g_strdup_printf("fault task/%u", i);

        t->faults = f;
        t->cpu = &world->machine->cpu[i];
        t->group = world->memcg ? memcg_group(world->memcg, i) : NULL;
        t->page = g_new(guint16, f->n_pages);
        workload_start_cpu(world, t->cpu, component, 100 * SIM_US, run_task, t);
    }
    return f;
}

static gboolean
check(const SimConfig *config, const MachTopology *topology, GError **error)
{
    return workload_check_cpus(config, topology, "fault_tasks", "tasks", error);
}

static void
free_faults(void *state)
{
    Faults *f = state;

    for (guint i = 0; f && i < f->n_tasks; i++)
        g_free(f->task[i].page);
    if (f)
        g_free(f->task);
    g_free(f);
}

static const char *const caches[] = {NULL};

const Workload workload_page_faults = {
    .name = "page_faults",
    .summary = "pages mapped, touched and unmapped, each charged to its task's cgroup",
    .operation = "faults",
    .keys = keys,
    .caches = caches,
    .check = check,
    .setup = setup,
    .report = NULL,
    .free = free_faults,
};
