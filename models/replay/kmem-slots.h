/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_SLOTS_H
#define KMEM_SLOTS_H

#include <glib.h>

/* Addresses for the objects of simulated slabs, which know of their objects only how many are free: each slab has a
 * range of its own, as large as the largest, and its slots there are handed out lowest first. Which of a slab's objects
 * is which is thereby an invention; that it is of this slab is not. */
typedef struct _KmemSlots KmemSlots;

KmemSlots *kmem_slots_new(void);
void kmem_slots_free(KmemSlots *slots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmemSlots, kmem_slots_free)

/* The address of a free slot of the slab, taken. `size_bytes` is the stride of its cache. */
guint64 kmem_slots_take(KmemSlots *slots, guint32 slab, guint size_bytes);
void kmem_slots_give(KmemSlots *slots, guint64 ptr, guint size_bytes);

/* The address of the lowest slot taken, given back; of the lowest of all when none is. */
guint64 kmem_slots_give_any(KmemSlots *slots, guint32 slab, guint size_bytes);

#endif
