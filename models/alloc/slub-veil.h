/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLUB_VEIL_H
#define SLUB_VEIL_H

#include "slub.h"

/* A layer above the cpu slab (sheaves, arrays) must be asked first: between the operations of the generation below, the
 * cpu slab is kept where the inline paths do not find it. */

/* Before and after everything that the generation below does. */
static inline void
slub_unveil(SlubCache *cache, const MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    c->slab = c->veiled_slab;
    c->free = c->veiled_free;
    c->veiled_slab = 0;
    c->veiled_free = 0;
}

static inline void
slub_veil(SlubCache *cache, const MachCpu *cpu)
{
    SlubCpu *c = &cache->cpu[cpu->id];

    c->veiled_slab = c->slab;
    c->veiled_free = c->free;
    c->slab = 0;
    c->free = 0;
}

/* The cpu slab, 0 = none, and the objects on its private freelist, veiled or not. */
static inline SlabId
slub_cpu_slab(const SlubCpu *c)
{
    return c->slab ? c->slab : c->veiled_slab;
}

static inline guint32
slub_cpu_free(const SlubCpu *c)
{
    return c->free + c->veiled_free;
}

#endif
