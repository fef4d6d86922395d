/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_EVENT_H
#define KMEM_EVENT_H

#include <glib.h>

/* One event of a recorded trace of the kernel's slab allocator (include/trace/events/kmem.h, and probes on
 * functions of mm/slub.c), whatever form it was written in. */

typedef enum {
    KMEM_ALLOC,      /* kmem_cache_alloc, kmalloc (+_node): fires after the object was handed out */
    KMEM_FREE,       /* kmem_cache_free, kfree: fires before the object is given back */
    KMEM_ALLOC_BULK, /* probe at the return of kmem_cache_alloc_bulk() */
    KMEM_FREE_BULK,  /* probe at the entry of kmem_cache_free_bulk() */
    KMEM_PROBE,      /* entry of a slow-path function */
    KMEM_LOST,       /* the recorder says that events are missing here */
} KmemOp;

/* Slow-path functions, first by the name in tables, then as a probe may call them. */
#define KMEM_PROBES(PROBE)                                                                                             \
    PROBE(ALLOC_SLOW, "___slab_alloc")                                                                                 \
    PROBE(FREE_SLOW, "__slab_free")                                                                                    \
    PROBE(GET_PARTIAL_NODE, "get_partial_node")                                                                        \
    PROBE(PUT_CPU_PARTIAL, "put_cpu_partial")                                                                          \
    PROBE(UNFREEZE, "__unfreeze_partials")                                                                             \
    PROBE(NEW_SLAB, "allocate_slab")                                                                                   \
    PROBE(DISCARD_SLAB, "discard_slab")                                                                                \
    PROBE(DEACTIVATE, "deactivate_slab")

typedef enum {
#define PROBE(name, text) KMEM_PROBE_##name,
    KMEM_PROBES(PROBE)
#undef PROBE
        KMEM_N_PROBES
} KmemProbe;

/* Static text; __put_partials (6.8+) counts as __unfreeze_partials. */
const char *kmem_probe_name(KmemProbe probe);

/* The probe of a function's name, with or without compiler suffixes (".part.0", "_part_0"); -1 for none. */
gint kmem_probe_find(const char *name, gsize n_bytes);

typedef enum { KMEM_TASK, KMEM_SOFTIRQ, KMEM_HARDIRQ, KMEM_N_CONTEXTS } KmemContext;

/* Borrowed text without a final NUL; text is NULL when the trace has none. */
typedef struct {
    const char *text;
    gsize n_bytes;
} KmemText;

enum {
    KMEM_BULK_SHOWN = 64, /* most pointers of a bulk call */
    KMEM_MAX_CPUS = 4096,
    KMEM_NO_NODE = -1,
};

typedef struct {
    KmemOp op;
    gint64 time_ns;
    guint cpu;
    KmemContext context;
    gboolean is_kmalloc; /* kmalloc() or kfree(): the trace names no cache */
    KmemText cache;
    KmemText site; /* call site */
    guint64 ptr;   /* 0 = NULL */
    guint bytes_req, bytes_alloc;
    guint gfp; /* SlabGfp bits that choose a kmalloc type */
    gint node; /* wanted node, KMEM_NO_NODE */
    KmemProbe probe;
    guint n, n_shown;    /* bulk: objects of the call, and pointers given */
    const guint64 *ptrs; /* [n_shown], borrowed */
    guint64 n_lost;      /* KMEM_LOST: how many, 0 = unknown */
} KmemEvent;

#endif
