/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_FOLLOW_H
#define REPLAY_FOLLOW_H

#include "replay-guide-private.h"

/* The model's slab for a recorded one, 0 when none stands for it. */
SlabId guide_find(ReplayGuide *guide, gint cache, guint start, guint64 recorded);
void guide_bind(ReplayGuide *guide, gint cache, guint start, guint64 recorded, SlabId id, gboolean is_uncertain);

/* A slab from before the trace for a recorded one that is seen for the first time, by `cpu`: most likely it is of that
 * CPU's node. */
SlabId guide_adopt(ReplayGuide *guide, gint cache, guint start, guint64 recorded, const MachCpu *cpu);

/* Takes the allocation of one object back. The slab goes where it came from, exactly, or to the end of the list when
 * `is_wrong_again`: the kernel has passed it over for the second time. */
void guide_undo(SlubCache *slub, guint cpu, const GuideAlloc *alloc, gboolean is_wrong_again);

/* One object of a slab, to the CPU's freelist if it has the slab still (TRUE), else to the slab itself. */
gboolean guide_give_back(SlubCache *slub, guint cpu, SlabId id);

/* After that: the CPU has its old slab again (0 = it had none), with what others freed into it. */
void guide_restore_cpu_slab(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId old);

/* After an allocation: makes the object one of `id`, where the kernel's step was `seen`. */
void guide_force(ReplayGuide *guide, gint cache, guint start, MachCpu *cpu, SlabId id, const GuideAlloc *alloc,
                 const guint *seen);

/* Takes a slab that no recorded one stands for off the model's lists; it counts as full. */
void guide_hide(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId id);

/* The kernel found a node's list empty: what the model has there is in the hands of a CPU that has been stopped in the
 * middle of returning slabs. It comes back when such a step goes on. */
void guide_send_away(ReplayGuide *guide, gint cache, guint start, guint node);
void guide_bring_back(ReplayGuide *guide, gint cache, guint start);

/* At least `n` objects of a slab are in use from now on: one whose content is not known may have seemed emptier. */
void guide_need_objects(SlubCache *slub, SlabId id, guint n);

/* Every live object of the trace has a slab that exists and counts it as in use. */
void guide_settle_objects(ReplayGuide *guide, guint start);

/* What a free did in the kernel and not in the model, or the other way round. */
void guide_correct_free(ReplayGuide *guide, gint cache, guint cpu, const GuidePending *p);

/* Counters of one CPU now, and the differences to them. */
void guide_begin(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *ret_before);
void guide_end(const ReplayCache *cache, guint start, const MachCpu *cpu, GuidePrediction *before);

#endif
