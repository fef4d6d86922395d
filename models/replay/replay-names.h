/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_NAMES_H
#define REPLAY_NAMES_H

#include "kmem-event.h"
#include "replay-table.h"
#include "slab-geometry.h"

/* Which cache an event belongs to, as the number of a name. Frees carry the name from 5.16 on, allocations never:
 * their call site (with the size) is looked up in what a first pass over the trace learned from the frees of the
 * same objects, else of objects on the same page, else from the slow path that such an allocation came from. kmalloc()
 * calls name their class by size and flags. */
typedef struct {
    SlabGeometryEnv env;             /* of the recorded machine: decides the kmalloc types */
    GPtrArray *names;                /* char *, by number */
    ReplayTable numbers;             /* hash of a name -> number + 1 */
    ReplayTable sites;               /* hash of call site and size -> number + 1, votes, page (low, high) of one object,
                                      * number + 1 of a slow path just before */
    ReplayTable objects;             /* learning: live object -> site key (low, high) */
    ReplayTable pages;               /* learning: page of a freed object -> number + 1 */
    guint64 nameless[KMEM_MAX_CPUS]; /* learning: page + 1 of the last free, when it named no cache */
    guint slow[KMEM_MAX_CPUS];       /* learning: number + 1 of the slow path the CPU's next allocation came from */
    guint kmalloc[4][32];            /* number + 1 by type and class */
    guint n_sites;                   /* names of their own that call sites got, as nothing tells their cache */
    guint64 n_padded;                /* kmalloc objects of a size that is no class: slab debugging */
} ReplayNames;

void replay_names_init(ReplayNames *names, const SlabGeometryEnv *env);
void replay_names_clear(ReplayNames *names);

/* The number of a name, which is remembered. */
guint replay_names_intern(ReplayNames *names, const char *text, gsize n_bytes);
const char *replay_names_text(const ReplayNames *names, guint number);

/* The first pass: every event, then the end. */
void replay_names_learn(ReplayNames *names, const KmemEvent *event);
void replay_names_learned(ReplayNames *names);

/* Number of an event's cache; -1 when the event does not tell (kfree) or the object is not from a slab. Call sites
 * that were not learned make a name of their own. */
gint replay_names_find(ReplayNames *names, const KmemEvent *event);

/* The cache of another object on the same page, as the first pass saw it; -1 without one. For frees that name no
 * cache, of objects from before the trace. */
gint replay_names_find_by_page(const ReplayNames *names, guint64 ptr);

#endif
