/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over CPUs, and whether they agree. */
#include "memcg-private.h"

guint64
memcg_stat(const Memcg *memcg, MemcgStat stat)
{
    guint64 sum = 0;

    for (guint i = 0; i < memcg->system->machine->n_cpus; i++)
        sum += memcg->cpu[i].stat[stat];
    return sum;
}

gint64
memcg_counter_pages(const MemcgGroup *group, guint level)
{
    const MemcgCounter *counter = &group->node->memory;

    while (level-- > 0)
        counter = counter->parent;
    return counter->pages;
}

void
memcg_report(const Memcg *memcg, SimRecord *record)
{
    gint64 array_bytes = 0, saved_bytes = 0;

    for (guint i = 0; i < MEMCG_N_STATS; i++)
        sim_record_add_metric(record, memcg_stat_name(i), (double) memcg_stat(memcg, i));
    for (guint i = 0; i < memcg->n_caches; i++) {
        array_bytes += memcg->cache[i].n_arrays * memcg->cache[i].ext.array_bytes;
        saved_bytes += memcg->cache[i].n_inside * memcg->cache[i].ext.array_bytes;
    }
    sim_record_add_metric(record, "obj_ext_array_bytes", (double) array_bytes);
    sim_record_add_metric(record, "obj_ext_saved_bytes", (double) saved_bytes);
}

void
memcg_report_steps(const Memcg *memcg, double n, SimTime total, SimRecord *record)
{
    static const char *const columns[] = {"step", "ns", NULL};
    static const char *const names[] = {
#define ROW(name, text) text,
        MEMCG_STEPS(ROW)
#undef ROW
    };
    SimTable *table = sim_record_add_table(record, "accounting", columns);

    for (guint s = 0; s < MEMCG_N_STEPS; s++) {
        SimTime sum = memcg || s != MEMCG_STEP_SLAB ? 0 : total;

        for (guint i = 0; memcg && i < memcg->system->machine->n_cpus; i++)
            sum += memcg->cpu[i].step_ps[s];
        sim_table_put_text(table, names[s]);
        sim_table_put_real(table, sim_time_to_ns(sum) / n);
    }
}

char *
memcg_check(const Memcg *memcg)
{
    GString *why = g_string_new(NULL);
    gint64 held = 0, charged = 0, root = memcg->node[0].memory.pages;

    for (guint i = 0; i < memcg->system->machine->n_cpus; i++) {
        const MemcgCpu *m = &memcg->cpu[i];

        held += m->object_bytes + m->stock_bytes;
        for (guint s = 0; s < memcg->settings.page_slots; s++)
            held += (gint64) m->slot[s].pages << memcg->page_shift;
        if (!m->cached && m->stock_bytes)
            g_string_append_printf(why, "cpu %u: %u bytes of no cgroup; ", i, m->stock_bytes);
    }
    for (guint i = 0; i < memcg->settings.n_groups; i++) {
        held += memcg->group[i].charged_bytes;
        charged += memcg->group[i].node->memory.pages;
    }
    /* With depth 1 all groups share the root's counter. */
    if (memcg->settings.depth > 1 && charged != root)
        g_string_append_printf(why, "%" G_GINT64_FORMAT " pages in cgroups, %" G_GINT64_FORMAT " in the root; ",
                               charged, root);
    if (root << memcg->page_shift != held)
        g_string_append_printf(why, "%" G_GINT64_FORMAT " bytes charged, %" G_GINT64_FORMAT " found; ",
                               root << memcg->page_shift, held);
    return g_string_free(why, why->len == 0);
}
