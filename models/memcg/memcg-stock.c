/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per-CPU stocks and page counters: mm/memcontrol.c consume_obj_stock(), refill_obj_stock(), drain_obj_stock(),
 * try_charge_memcg(), refill_stock(), mod_objcg_state(); mm/page_counter.c. 5.9 to 6.18, slub-facts E. */
#include "memcg-private.h"

/* The cost of entering and leaving a section on the CPU's stock. */
static void
enter(const Memcg *memcg, MachCpu *cpu)
{
    const MachCosts *costs = &cpu->machine->costs;

    sim_private(cpu->engine, cpu->agent);
    mach_spend(cpu, memcg->settings.irqs_off ? costs->memcg_irq_section : costs->memcg_task_section);
}

static void
count(Memcg *memcg, const MachCpu *cpu, MemcgStat stat)
{
    memcg__cpu(memcg, cpu)->stat[stat]++;
}

/* propagate_protected_usage() to 6.0 of a cgroup with memory.min and memory.low, here the top one of each path: two
 * exchanges, which later releases make only for a change. Each fetches its line (docs/calibration.md says why). */
static void
propagate_protection(const Memcg *memcg, MachCpu *cpu, MemcgCounter *counter)
{
    MachLine *line = memcg->settings.usage_apart ? &counter->protection_line : &counter->line;

    for (guint i = 0; i < 2; i++)
        mach_line_update(line, cpu, cpu->machine->costs.objcg_atomic);
}

/* One locked addition on every level up to the root. */
static void
walk(Memcg *memcg, MachCpu *cpu, MemcgCounter *counter, gint64 pages)
{
    count(memcg, cpu, MEMCG_STAT_COUNTER_WALKS);
    for (; counter; counter = counter->parent) {
        mach_line_update(&counter->line, cpu, cpu->machine->costs.page_counter);
        counter->pages += pages;
        if (memcg->settings.protects_always && counter->parent && !counter->parent->parent)
            propagate_protection(memcg, cpu, counter);
    }
}

static void
walk_memory(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, gint64 pages)
{
    walk(memcg, cpu, &group->node->memory, pages);
    if (memcg->settings.is_v1)
        walk(memcg, cpu, &group->node->memsw, pages);
}

static void
drain_slot(Memcg *memcg, MachCpu *cpu, MemcgPageSlot *slot)
{
    MemcgPageSlot old = *slot;

    *slot = (MemcgPageSlot){NULL, 0};
    if (old.pages)
        walk_memory(memcg, cpu, old.group, -(gint64) old.pages);
}

/* The slot of the group, else a free one, else one emptied: the only one, or any of seven. */
static MemcgPageSlot *
find_slot(Memcg *memcg, MachCpu *cpu, MemcgGroup *group)
{
    MemcgPageSlot *slots = memcg__cpu(memcg, cpu)->slot, *free_slot = NULL;
    guint n = memcg->settings.page_slots;

    for (guint i = 0; i < n; i++) {
        if (slots[i].group == group)
            return &slots[i];
        if (!slots[i].group && !free_slot)
            free_slot = &slots[i];
    }
    if (!free_slot) {
        free_slot = &slots[n > 1 ? sim_rng_below(&cpu->rng, n) : 0];
        drain_slot(memcg, cpu, free_slot);
    }
    free_slot->group = group;
    return free_slot;
}

/* refill_stock() */
static void
give_pages(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    MemcgPageSlot *slot;

    if (memcg->settings.page_slots == 0) {
        walk_memory(memcg, cpu, group, -(gint64) pages);
        return;
    }
    slot = find_slot(memcg, cpu, group);
    slot->pages += pages;
    if (slot->pages > memcg->settings.page_batch)
        drain_slot(memcg, cpu, slot);
}

/* try_charge_memcg() */
static void
take_pages(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    MemcgPageSlot *slots = memcg__cpu(memcg, cpu)->slot, *slot = NULL;
    guint32 batch = memcg->settings.page_slots ? MAX(memcg->settings.page_batch, pages) : pages;

    count(memcg, cpu, MEMCG_STAT_PAGE_CHARGES);
    mach_spend(cpu, cpu->machine->costs.memcg_charge_pages);
    for (guint i = 0; i < memcg->settings.page_slots; i++)
        if (slots[i].group == group)
            slot = &slots[i];
    if (slot && slot->pages >= pages) {
        slot->pages -= pages;
    } else {
        walk_memory(memcg, cpu, group, batch);
        if (batch > pages)
            give_pages(memcg, cpu, group, batch - pages);
    }
}

/* obj_cgroup_charge_pages() */
static void
charge_pages(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    take_pages(memcg, cpu, group, pages);
    if (memcg->settings.is_v1)
        walk(memcg, cpu, &group->node->kmem, pages);
}

/* obj_cgroup_uncharge_pages() */
static void
uncharge_pages(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    mach_spend(cpu, cpu->machine->costs.memcg_uncharge_pages);
    if (memcg->settings.is_v1)
        walk(memcg, cpu, &group->node->kmem, -(gint64) pages);
    give_pages(memcg, cpu, group, pages);
}

static void
flush_vmstat(Memcg *memcg, MachCpu *cpu)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);

    if (m->vmstat_bytes) {
        m->vmstat_bytes = 0;
        count(memcg, cpu, MEMCG_STAT_VMSTAT_FLUSHES);
        mach_spend(cpu, cpu->machine->costs.memcg_vmstat_update);
    }
}

/* One operation on nr_charged_bytes. */
static void
update_charged(Memcg *memcg, MachCpu *cpu, MemcgGroup *group)
{
    mach_line_update_held(&group->objcg_line, cpu, cpu->machine->costs.objcg_atomic,
                          &memcg__cpu(memcg, cpu)->objcg_copy);
}

/* drain_obj_stock(). The remainder is added even when it is nothing. */
static void
drain(Memcg *memcg, MachCpu *cpu)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);
    MemcgGroup *old = m->cached;
    guint32 bytes = m->stock_bytes, pages = bytes >> memcg->page_shift;

    if (!old)
        return;
    count(memcg, cpu, MEMCG_STAT_STOCK_DRAINS);
    m->cached = NULL;
    m->stock_bytes = 0;
    if (pages)
        uncharge_pages(memcg, cpu, old, pages);
    if (bytes) {
        update_charged(memcg, cpu, old);
        old->charged_bytes += bytes & ((1u << memcg->page_shift) - 1);
    }
    flush_vmstat(memcg, cpu);
    mach_spend(cpu, cpu->machine->costs.objcg_ref);
}

/* Makes the group the cached one, with what others left of it, which is exchanged for nothing or, `reads_first`, only
 * when a read finds something. */
static void
switch_to(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, gboolean reads_first)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);

    drain(memcg, cpu);
    mach_spend(cpu, cpu->machine->costs.objcg_ref);
    m->cached = group;
    if (reads_first)
        mach_line_read(&group->objcg_line, cpu, &m->objcg_copy);
    if (reads_first && group->charged_bytes == 0)
        return;
    update_charged(memcg, cpu, group);
    m->stock_bytes = (guint32) group->charged_bytes;
    group->charged_bytes = 0;
}

/* refill_obj_stock() */
static void
refill(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 bytes, gboolean may_uncharge)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);
    guint32 page = 1u << memcg->page_shift, pages;

    mach_spend(cpu, cpu->machine->costs.memcg_stock);
    if (m->cached != group) {
        switch_to(memcg, cpu, group, memcg->settings.keeps_stock);
        may_uncharge = TRUE;
    }
    m->stock_bytes += bytes;
    if (m->stock_bytes <= page)
        return;
    if (!memcg->settings.keeps_stock) {
        drain(memcg, cpu);
    } else if (may_uncharge) {
        pages = m->stock_bytes >> memcg->page_shift;
        m->stock_bytes &= page - 1;
        uncharge_pages(memcg, cpu, group, pages);
    }
}

void
memcg__charge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint bytes)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);
    guint32 page = 1u << memcg->page_shift, rest = bytes & (page - 1);

    enter(memcg, cpu);
    mach_spend(cpu, cpu->machine->costs.memcg_stock);
    m->object_bytes += bytes;
    if (m->cached == group && m->stock_bytes >= bytes) {
        m->stock_bytes -= bytes;
        m->stat[MEMCG_STAT_STOCK_HITS]++;
        return;
    }
    charge_pages(memcg, cpu, group, (bytes + page - 1) >> memcg->page_shift);
    if (rest) {
        enter(memcg, cpu);
        refill(memcg, cpu, group, page - rest, FALSE);
    }
}

void
memcg__uncharge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint bytes)
{
    enter(memcg, cpu);
    memcg__cpu(memcg, cpu)->object_bytes -= bytes;
    refill(memcg, cpu, group, bytes, TRUE);
}

void
memcg__count(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint node, gint bytes)
{
    MemcgCpu *m = memcg__cpu(memcg, cpu);
    const MachCosts *costs = &cpu->machine->costs;
    gboolean is_first;

    /* Folded, it is part of the section just left. */
    if (!memcg->settings.is_folded)
        enter(memcg, cpu);
    if (!memcg->settings.vmstat_cached) {
        mach_spend(cpu, costs->memcg_vmstat_update);
        return;
    }
    mach_spend(cpu, costs->memcg_vmstat_cached);
    if (m->cached != group)
        switch_to(memcg, cpu, group, TRUE);
    if (m->vmstat_node != node) {
        flush_vmstat(memcg, cpu);
        m->vmstat_node = (guint16) node;
    }
    /* The first bytes are kept however many they are. */
    is_first = m->vmstat_bytes == 0;
    m->vmstat_bytes += bytes;
    if (!is_first && ABS(m->vmstat_bytes) > 1 << memcg->page_shift)
        flush_vmstat(memcg, cpu);
}

void
memcg_pages_charge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    enter(memcg, cpu);
    memcg__cpu(memcg, cpu)->object_bytes += (gint64) pages << memcg->page_shift;
    take_pages(memcg, cpu, group, pages);
}

void
memcg_pages_uncharge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages)
{
    enter(memcg, cpu);
    memcg__cpu(memcg, cpu)->object_bytes -= (gint64) pages << memcg->page_shift;
    mach_spend(cpu, cpu->machine->costs.memcg_uncharge_pages);
    give_pages(memcg, cpu, group, pages);
}
