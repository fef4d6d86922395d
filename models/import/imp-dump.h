/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_DUMP_H
#define IMP_DUMP_H

#include "imp-text.h"
#include "slab-types.h"

/* What a listing of a real machine says of its caches, whatever its format: rows in which what the format does not
 * show is -1, and notes on what happened on the way. */

/* More than any machine has; what comes after is counted and left out. */
#define IMP_MAX_ROWS (1u << 17)
#define IMP_MAX_TABLES 1000u
#define IMP_MAX_NOTES 200u

typedef enum {
    IMP_SHOWS_NOTHING, /* recognised, but holds no caches: a trace */
    IMP_SHOWS_CACHES,
    IMP_SHOWS_CALL_SITES, /* rows are callers of kmalloc: perf kmem */
} ImpShows;

/* SLUB_STATS of one cache; -1 = not shown. */
typedef struct {
    gint64 total[SLAB_N_STATS];
    gint64 busiest[SLAB_N_STATS]; /* of one CPU */
    gint busiest_cpu[SLAB_N_STATS];
} ImpStats;

typedef struct {
    const char *name;        /* printable, never empty */
    const char *alias_names; /* "a b c", NULL when not shown */
    guint table, line;
    gint64 active_objects, total_objects, slabs;
    gint64 object_bytes;                         /* what the creator asked for */
    gint64 stride_bytes;                         /* one slot */
    gint64 stride_low_bytes, stride_high_bytes;  /* where a rounded listing leaves a choice */
    gint64 objects_per_slab, order, slab_bytes;  /* of the preferred order */
    gint64 bytes, in_use_bytes, requested_bytes; /* where the listing itself gives them */
    gint64 partial_slabs, partial_active;        /* node lists: slabs, objects in use on them */
    gint64 cpu_slabs;                            /* slabs CPUs hold, on their lists or in use */
    gint64 cpu_list_slabs, cpu_list_longest;     /* of those on the CPUs' partial lists; the longest one */
    gint64 cpu_free_objects;                     /* free objects seen on them */
    gint64 align_bytes, usersize_bytes, min_partial, cpu_partial, sheaf_capacity, n_aliases;
    guint flags; /* SlabFlags, where knows_flags */
    gboolean knows_flags, has_ctor;
    ImpStats *stats; /* NULL when not shown */
    gint64 n_allocs, n_frees, fast_alloc_percent, fast_free_percent;
} ImpRow;

typedef enum {
    IMP_NOTE_DAMAGE,   /* what was wrong with the text and how it was read */
    IMP_NOTE_INFERRED, /* what follows from the numbers */
    IMP_NOTE_UNKNOWN,  /* what the listing cannot say */
    IMP_NOTE_CONFLICT, /* what does not add up */
    IMP_N_NOTE_KINDS
} ImpNoteKind;

typedef struct {
    ImpNoteKind kind;
    char *text;
} ImpNote;

typedef struct {
    const char *format; /* static */
    char *why;
    ImpShows shows;
    const char *unknown; /* what the format never shows, static */
    gboolean is_old_slab;
    GStringChunk *names;
    GArray *rows;      /* ImpRow */
    GPtrArray *tables; /* char *: titles of the tables, at least one */
    GArray *notes;     /* ImpNote */
    char *fault;       /* of the first row that could not be read: "LINE: why", NULL = all could */
    gint64 mem_total_kb, slab_kb, reclaimable_kb, unreclaimable_kb;
    guint n_refused, n_bad_rows, n_dropped_rows, n_dropped_notes;
    guint n_listed_cpus, n_listed_nodes; /* highest C and N of the lists, plus one; 0 = none */
    guint kernel_low;                    /* from what only a later release prints; 0 = nothing seen */
} ImpDump;

ImpDump *imp_dump_new(void);
void imp_dump_free(ImpDump *dump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImpDump, imp_dump_free)

/* Names of aliases for a row, made printable; lives as long as the dump. */
const char *imp_dump_keep_names(ImpDump *dump, const char *names);
/* A row with nothing known but its name, which is made printable. */
ImpRow imp_row_new(ImpDump *dump, const ImpWord *name, guint line);
/* FALSE, and counted, when there are too many or the numbers are beyond any machine (orders above 20, a cache above
 * 2^50 bytes). Takes row->stats. */
gboolean imp_dump_add(ImpDump *dump, ImpRow *row);
/* Begins a table, or renames the last one while it is empty. The rows of further tables go to the last of
 * IMP_MAX_TABLES. */
void imp_dump_begin_table(ImpDump *dump, const char *title);
/* The first few rows that could not be read are named with their line, all are counted; `why` of the first is kept. */
void imp_dump_bad_row(ImpDump *dump, const ImpLine *line, const char *why);
/* After IMP_MAX_NOTES they are only counted. */
void imp_dump_note(ImpDump *dump, ImpNoteKind kind, const char *format, ...) G_GNUC_PRINTF(3, 4);
gboolean imp_dump_has_note(const ImpDump *dump, const char *part);

/* Bytes of one slab and of the cache on this page size, -1 when the listing does not tell. */
gint64 imp_row_slab_bytes(const ImpRow *row, guint page_size_bytes);
gint64 imp_row_bytes(const ImpRow *row, guint page_size_bytes);
/* The rows of one table, in their order; container with ImpRow *. */
GPtrArray *imp_dump_table(const ImpDump *dump, guint table);
/* "12" in "nf_conntrack-12", 1024 in "kmalloc-1k"; 0 when `name` is no kmalloc cache of a stated size. */
gint64 imp_kmalloc_bytes(const char *name);

#endif
