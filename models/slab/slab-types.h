/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_TYPES_H
#define SLAB_TYPES_H

#include <glib.h>

/* Linux release as one comparable integer: SLAB_KERNEL(6, 5). */
#define SLAB_KERNEL(major, minor) ((guint) (major) *1000u + (guint) (minor))

/* Creation flags of a kmem_cache, under the kernel's own names (include/linux/slab.h). */
typedef enum
{
    SLAB_HWCACHE_ALIGN = 1u << 0,
    SLAB_TYPESAFE_BY_RCU = 1u << 1,
    SLAB_CONSISTENCY_CHECKS = 1u << 2, /* slub_debug=F */
    SLAB_RED_ZONE = 1u << 3,           /* slub_debug=Z */
    SLAB_POISON = 1u << 4,             /* slub_debug=P */
    SLAB_STORE_USER = 1u << 5,         /* slub_debug=U */
    SLAB_TRACE = 1u << 6,              /* slub_debug=T */
    SLAB_RECLAIM_ACCOUNT = 1u << 7,
    SLAB_ACCOUNT = 1u << 8,
    SLAB_CACHE_DMA = 1u << 9,
    SLAB_CACHE_DMA32 = 1u << 10,
    SLAB_NOLEAKTRACE = 1u << 11,
    SLAB_NO_MERGE = 1u << 12,
    SLAB_NO_OBJ_EXT = 1u << 13,
    SLAB_KMALLOC = 1u << 14,
    SLAB_FAILSLAB = 1u << 15,
} SlabFlags;

#define SLAB_DEBUG_FLAGS                                                                                               \
    ((guint) (SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER | SLAB_TRACE))

/* SLUB_STATS counters of all releases: enum suffix as in the kernel, sysfs name. Those of sheaves and,
 * of a series of 2023 that was not merged, of per-CPU arrays come last. */
#define SLAB_STATS(ROW)                                                                                                \
    ROW(ALLOC_FASTPATH, "alloc_fastpath")                                                                              \
    ROW(ALLOC_SLOWPATH, "alloc_slowpath")                                                                              \
    ROW(FREE_FASTPATH, "free_fastpath")                                                                                \
    ROW(FREE_SLOWPATH, "free_slowpath")                                                                                \
    ROW(FREE_FROZEN, "free_frozen")                                                                                    \
    ROW(FREE_ADD_PARTIAL, "free_add_partial")                                                                          \
    ROW(FREE_REMOVE_PARTIAL, "free_remove_partial")                                                                    \
    ROW(ALLOC_FROM_PARTIAL, "alloc_from_partial")                                                                      \
    ROW(ALLOC_SLAB, "alloc_slab")                                                                                      \
    ROW(ALLOC_REFILL, "alloc_refill")                                                                                  \
    ROW(ALLOC_NODE_MISMATCH, "alloc_node_mismatch")                                                                    \
    ROW(FREE_SLAB, "free_slab")                                                                                        \
    ROW(CPUSLAB_FLUSH, "cpuslab_flush")                                                                                \
    ROW(DEACTIVATE_FULL, "deactivate_full")                                                                            \
    ROW(DEACTIVATE_EMPTY, "deactivate_empty")                                                                          \
    ROW(DEACTIVATE_TO_HEAD, "deactivate_to_head")                                                                      \
    ROW(DEACTIVATE_TO_TAIL, "deactivate_to_tail")                                                                      \
    ROW(DEACTIVATE_REMOTE_FREES, "deactivate_remote_frees")                                                            \
    ROW(DEACTIVATE_BYPASS, "deactivate_bypass")                                                                        \
    ROW(ORDER_FALLBACK, "order_fallback")                                                                              \
    ROW(CMPXCHG_DOUBLE_CPU_FAIL, "cmpxchg_double_cpu_fail")                                                            \
    ROW(CMPXCHG_DOUBLE_FAIL, "cmpxchg_double_fail")                                                                    \
    ROW(CPU_PARTIAL_ALLOC, "cpu_partial_alloc")                                                                        \
    ROW(CPU_PARTIAL_FREE, "cpu_partial_free")                                                                          \
    ROW(CPU_PARTIAL_NODE, "cpu_partial_node")                                                                          \
    ROW(CPU_PARTIAL_DRAIN, "cpu_partial_drain")                                                                        \
    ROW(ALLOC_PCS, "alloc_cpu_sheaf")                                                                                  \
    ROW(FREE_PCS, "free_cpu_sheaf")                                                                                    \
    ROW(FREE_RCU_SHEAF, "free_rcu_sheaf")                                                                              \
    ROW(FREE_RCU_SHEAF_FAIL, "free_rcu_sheaf_fail")                                                                    \
    ROW(SHEAF_FLUSH, "sheaf_flush")                                                                                    \
    ROW(SHEAF_REFILL, "sheaf_refill")                                                                                  \
    ROW(SHEAF_ALLOC, "sheaf_alloc")                                                                                    \
    ROW(SHEAF_FREE, "sheaf_free")                                                                                      \
    ROW(BARN_GET, "barn_get")                                                                                          \
    ROW(BARN_GET_FAIL, "barn_get_fail")                                                                                \
    ROW(BARN_PUT, "barn_put")                                                                                          \
    ROW(BARN_PUT_FAIL, "barn_put_fail")                                                                                \
    ROW(SHEAF_PREFILL_FAST, "sheaf_prefill_fast")                                                                      \
    ROW(SHEAF_PREFILL_SLOW, "sheaf_prefill_slow")                                                                      \
    ROW(SHEAF_PREFILL_OVERSIZE, "sheaf_prefill_oversize")                                                              \
    ROW(SHEAF_RETURN_FAST, "sheaf_return_fast")                                                                        \
    ROW(SHEAF_RETURN_SLOW, "sheaf_return_slow")                                                                        \
    ROW(ALLOC_PCA, "alloc_cpu_cache")                                                                                  \
    ROW(FREE_PCA, "free_cpu_cache")

typedef enum
{
#define ROW(name, sysfs) SLAB_STAT_##name,
    SLAB_STATS(ROW)
#undef ROW
        SLAB_N_STATS,
    SLAB_FIRST_SHEAF_STAT = SLAB_STAT_ALLOC_PCS, /* from here on: only caches with sheaves count them */
    SLAB_FIRST_ARRAY_STAT = SLAB_STAT_ALLOC_PCA, /* and from here on: only those with per-CPU arrays */
} SlabStat;

/* Lower-case sysfs file name of a counter; static storage. */
const char *slab_stat_name(SlabStat stat);

#endif
