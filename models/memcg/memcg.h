/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEMCG_H
#define MEMCG_H

#include "mach-line.h"
#include "sim-record.h"
#include "slab-ext.h"
#include "slub.h"

/* Accounting of slab objects to memory cgroups: mm/memcontrol.c and the hooks of mm/slub.c, 5.9 to 6.18 (slub-facts E).
 * A cgroup has one objcg. An object's cgroup is what memcg_slab_alloc() said it was charged to; the caller keeps it
 * for the free. Left out: limits and reclaim, interrupt context, cgroups that go away, objcgs by node (after 7.0). */

typedef struct _Memcg Memcg;
typedef struct _MemcgGroup MemcgGroup;

enum {
    MEMCG_SLOTS_MAX = 7, /* NR_MEMCG_STOCK */
    MEMCG_DEPTH_MAX = 16,
};

typedef enum {
    MEMCG_OFF,  /* cgroup.memory=nokmem, or no cgroup has been made yet: nothing is done */
    MEMCG_ROOT, /* the tasks are in the root cgroup: looked up, never charged */
    MEMCG_USER,
} MemcgMode;

/* How the releases differ; each can be set for itself to follow a patch. */
typedef struct {
    MemcgMode mode;
    gboolean is_v1;           /* kmem counters are charged for each page beside the batched ones */
    guint depth;              /* counters that a charge walks, the root's included */
    guint n_groups;           /* user cgroups, each on a path of its own below the root */
    gboolean scoped_pointer;  /* 6.7: the task's own objcg pointer, no reference taken */
    gboolean vmstat_cached;   /* 5.14: statistics gather in the stock, which they switch only after a read */
    gboolean keeps_stock;     /* 5.14: an overflowing stock gives back whole pages and stays */
    gboolean stocks_used;     /* each CPU's stock begins with the remainder of a page */
    gboolean irqs_off;        /* sections disable interrupts: to 5.13, and 5.18 to 6.15 */
    gboolean is_folded;       /* 6.18: charge and statistics in one section, bulk calls by object */
    gboolean charges_late;    /* 6.10: everything in the hook behind the allocation */
    guint page_slots;         /* cgroups a page stock holds: 1, from 6.16 7; 0 = there is no stock */
    guint page_batch;         /* MEMCG_CHARGE_BATCH: 32, from 6.1 64 */
    gboolean protects_always; /* a walk exchanges the top cgroup's min_usage and low_usage though nothing changed */
    gboolean usage_apart;     /* and these are not on the usage's own line */
    SlabExtSettings ext;
} MemcgSettings;

/* A task's place. The pointer's low bit "update" is set by a move and cleared by the next lookup. */
typedef struct {
    MemcgGroup *group; /* NULL = root */
    gboolean needs_update;
} MemcgTask;

/* What a CPU has done, since the start. */
#define MEMCG_STATS(ROW)                                                                                               \
    ROW(LOOKUPS, "objcg_lookups")                                                                                      \
    ROW(STOCK_HITS, "objcg_stock_hits")                                                                                \
    ROW(PAGE_CHARGES, "objcg_page_charges")                                                                            \
    ROW(STOCK_DRAINS, "objcg_stock_drains")                                                                            \
    ROW(COUNTER_WALKS, "page_counter_walks")                                                                           \
    ROW(VMSTAT_FLUSHES, "vmstat_flushes")                                                                              \
    ROW(REFRESHES, "objcg_refreshes")                                                                                  \
    ROW(ARRAYS, "obj_ext_arrays_made")

typedef enum {
#define ROW(name, text) MEMCG_STAT_##name,
    MEMCG_STATS(ROW)
#undef ROW
        MEMCG_N_STATS
} MemcgStat;

const char *memcg_stat_name(MemcgStat stat);

/* Where the time of an accounted allocation goes. */
#define MEMCG_STEPS(ROW)                                                                                               \
    ROW(SLAB, "slab allocator")                                                                                        \
    ROW(LOOKUP, "objcg lookup")                                                                                        \
    ROW(CHARGE, "charge")                                                                                              \
    ROW(EXT, "slabobj_ext")                                                                                            \
    ROW(REFERENCE, "objcg references")                                                                                 \
    ROW(STATISTICS, "statistics")                                                                                      \
    ROW(TAG, "profiling")

typedef enum {
#define ROW(name, text) MEMCG_STEP_##name,
    MEMCG_STEPS(ROW)
#undef ROW
        MEMCG_N_STEPS
} MemcgStep;

/* Rows of [memcg]. */
extern const SimKeySpec memcg_keys[];

/* From [memcg] and, for what is not given, the release. */
void memcg_settings_read(const SimConfig *config, guint kernel, MemcgSettings *ret_settings);

/* TRUE when the settings make any difference to a world. */
gboolean memcg_settings_have_effect(const MemcgSettings *settings);

/* `system` is borrowed and must have no slab yet; its slab hooks are set. */
Memcg *memcg_new(SlubSystem *system, const MemcgSettings *settings);
void memcg_free(Memcg *memcg);

/* Tells where a cache's exts are. Without this call it has none and its objects cannot be charged. `array_cache` serves
 * the arrays, NULL when they are not of a kmalloc cache. Call it for the array caches too. */
void memcg_add_cache(Memcg *memcg, const SlubCache *cache, const SlabExt *ext, SlubCache *array_cache);
const SlabExt *memcg_cache_ext(const Memcg *memcg, const SlubCache *cache);

MemcgGroup *memcg_group(const Memcg *memcg, guint index); /* NULL = root unless the mode is MEMCG_USER */
guint memcg_group_index(const MemcgGroup *group);

/* A task enters a cgroup; at once for one that starts, with the update bit for one that migrates. */
void memcg_task_init(MemcgTask *task, MemcgGroup *group);
void memcg_task_move(MemcgTask *task, MemcgGroup *group);

SlabId memcg__slab_alloc(Memcg *memcg, SlubCache *cache, MachCpu *cpu, MemcgTask *task, MemcgGroup **ret_charged);
void memcg__slab_free(Memcg *memcg, SlubCache *cache, MachCpu *cpu, SlabId object, MemcgGroup *charged);

/* kmem_cache_alloc() of an object to be accounted: of a SLAB_ACCOUNT cache or with __GFP_ACCOUNT. `memcg` NULL is plain
 * slub_alloc(). `ret_charged` (NULL = not charged) goes with the object to memcg_slab_free(). */
static inline SlabId
memcg_slab_alloc(Memcg *memcg, SlubCache *cache, MachCpu *cpu, MemcgTask *task, MemcgGroup **ret_charged)
{
    if (G_UNLIKELY(memcg))
        return memcg__slab_alloc(memcg, cache, cpu, task, ret_charged);
    *ret_charged = NULL;
    return slub_alloc(cache, cpu);
}

/* kmem_cache_free() of any object of a system under accounting: one that was not charged costs a look when its slab has
 * exts. */
static inline void
memcg_slab_free(Memcg *memcg, SlubCache *cache, MachCpu *cpu, SlabId object, MemcgGroup *charged)
{
    if (G_UNLIKELY(memcg))
        memcg__slab_free(memcg, cache, cpu, object, charged);
    else
        slub_free(cache, cpu, object);
}

/* try_charge_memcg() and refill_stock() of whole pages, as mem_cgroup_charge_skmem() and page faults ask for them. */
void memcg_pages_charge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages);
void memcg_pages_uncharge(Memcg *memcg, MachCpu *cpu, MemcgGroup *group, guint32 pages);

guint64 memcg_stat(const Memcg *memcg, MemcgStat stat); /* of all CPUs */

/* Pages on the memory counter of `level` of a group's path, 0 = its own. */
gint64 memcg_counter_pages(const MemcgGroup *group, guint level);

/* Adds to a record the counts of MemcgStat since the start, and at the end the bytes of arrays, and of arrays not
 * needed as the slabs themselves hold the exts. */
void memcg_report(const Memcg *memcg, SimRecord *record);

/* Has each allocation's time booked by step, from now on, for memcg_report_steps(). */
void memcg_time_steps(Memcg *memcg);

/* Adds the table "accounting": mean time of an allocation by step, of the `n` that memcg_slab_alloc() has made since
 * memcg_time_steps() in `total`. `memcg` NULL: the slab allocator alone. */
void memcg_report_steps(const Memcg *memcg, double n, SimTime total, SimRecord *record);

/* Why counters, stocks and objects contradict each other; NULL when each page charged is found in an object, a stock or
 * nr_charged_bytes. Caller frees. For a moment when no operation is under way. */
char *memcg_check(const Memcg *memcg);

#endif
