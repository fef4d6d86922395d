/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DIFFERENTIAL_PRIVATE_H
#define DIFFERENTIAL_PRIVATE_H

#include "differential.h"
#include "ref-sheaf.h"
#include "slub-array.h"
#include "slub-sheaf.h"
#include "slub-veil.h"

/* Shared by the files of the comparison only. */

enum {
    ORDER = 1,
    FALLBACK_CHANCES = 1 << 20, /* the fast side's draw for the order */
    ANY_PARTIAL_CHANCES = 1024,
};

typedef enum {
    OP_ALLOC,
    OP_ALLOC_ATOMIC,
    OP_FREE,
    OP_FREE_RCU,
    OP_RUN_RCU,
    OP_PREFILL,
    OP_ALLOC_FROM,
    OP_PREFILL_ARRAY,
    OP_RETURN,
    OP_ALLOC_BULK,
    OP_FREE_BULK,
    OP_FLUSH,
    OP_SHRINK,
} OperationKind;

typedef struct {
    OperationKind kind;
    guint n;
    gint node;
    SlabId slab[DIFFERENTIAL_BULK_MAX];
    SlubSheaf *sheaf;
} Operation;

typedef struct {
    SlabId slab;
    RefObject *object;
} LiveObject;

/* A prefilled sheaf in the hands of the caller. */
typedef struct {
    SlubSheaf *fast;
    RefSheaf *ref;
} HeldSheaf;

struct _Differential {
    const MachTopology *topology;
    Machine *machine;
    SlubSystem *system;
    SlubCache *cache;
    RefSlub *ref; /* the slabs below */
    RefSheaves *sheaves;
    DifferentialSettings settings;
    const char *name;
    guint64 n_operations;
    SimTime now;
    Operation operation;
    GArray *live;      /* LiveObject */
    GArray *held;      /* HeldSheaf */
    GArray *slab_of;   /* SlabId by serial */
    GArray *serial_of; /* serial + 1 by SlabId, 0 = none yet */
    GArray *serials;   /* guint: slabs that were alive at the last whole comparison, and newer ones */
    SimRng rng;        /* both sides' chances */
    guint32 draw_any_partial, draw_order; /* of the present operation */
    gint64 *starved_pages;                /* [n_nodes] pages taken away; -1 = node not starved */
    gint64 *blocks_left;                  /* [n_nodes] blocks that the acting CPU could get as its operation began */
    gint64 *slabs_at_start;               /* [n_nodes] */
};

/* Ends the test: what differs, in the manner of printf. */
void differential__fail(const Differential *d, const char *format, ...) G_GNUC_PRINTF(2, 3) G_GNUC_NORETURN;

/* One value of both sides; what it is follows in the manner of printf. */
#define COMPARE(d, fast, ref, ...)                                                                                     \
    G_STMT_START                                                                                                       \
    {                                                                                                                  \
        gint64 fast_value = (gint64) (fast), ref_value = (gint64) (ref);                                               \
        if (G_UNLIKELY(fast_value != ref_value)) {                                                                     \
            g_autofree char *what = g_strdup_printf(__VA_ARGS__);                                                      \
            differential__fail(d, "%s: fast %" G_GINT64_FORMAT ", reference %" G_GINT64_FORMAT, what, fast_value,      \
                               ref_value);                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    G_STMT_END

/* The fast side's number of a slab, 0 for none. */
SlabId differential__slab_of(const Differential *d, const RefSlab *slab);

void differential__compare_cpu(const Differential *d, guint cpu);
void differential__compare_nodes(const Differential *d);

/* An operation: set up, done on the fast side by a CPU, compared. */
void differential__begin(Differential *d, guint cpu, OperationKind kind, guint n, gint node);
void differential__run_fast(Differential *d, guint cpu);
void differential__finish(Differential *d, guint cpu);

/* Objects of both sides that correspond: of slabs that belong together, or of new ones, which do from now on. */
void differential__pair(Differential *d, SlabId id, const RefObject *object);
void differential__add_live(Differential *d, SlabId id, RefObject *object);
LiveObject differential__take_live(Differential *d, guint number);

/* A CPU's array object by object; nothing without. */
void differential__pair_array(Differential *d, guint cpu);

/* A CPU's sheaves object by object; a barn's counts and the sheaves at its heads or, with `whole`, all of them. */
void differential__pair_cpu_sheaves(Differential *d, guint cpu);
void differential__pair_barn(Differential *d, guint node, gboolean whole);

#endif
