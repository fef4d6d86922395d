/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_GUIDE_DOUBT_H
#define REPLAY_GUIDE_DOUBT_H

#include "replay-guide-private.h"

/* What is known of lists (start 0). A known one becomes unknown when the kernel shows a slab on it that the model had
 * not there, and known when the kernel shows it empty. */
GuideRange guide_list_range(ReplayGuide *guide, gint cache, guint cpu);
GuideRange guide_node_range(ReplayGuide *guide, gint cache, guint node);
void guide_know_list(ReplayGuide *guide, gint cache, guint cpu, gboolean is_known);
void guide_know_node(ReplayGuide *guide, gint cache, guint node, gboolean is_known);

/* Fills in what is known before a step that asks `node` first. */
void guide_look(ReplayGuide *guide, gint cache, guint cpu, guint node, GuidePrediction *did);

/* The slab is not known to be where the model has it; all slabs of a list; those above `id`. */
void guide_doubt(ReplayGuide *guide, guint start, SlabId id);
void guide_doubt_list(ReplayGuide *guide, gint cache, guint start, guint cpu, SlabId until);
void guide_doubt_node(ReplayGuide *guide, gint cache, guint start, guint node, SlabId until);

/* The kernel took `id` where the model, put back to before, would not. */
void guide_contradict(ReplayGuide *guide, gint cache, guint start, const MachCpu *cpu, SlabId id, GuideSource actual);

/* What an allocation, now complete, shows of the lists. */
void guide_learn_alloc(ReplayGuide *guide, gint cache, guint cpu, guint node, const guint *seen,
                       const GuidePrediction *did, gboolean is_as_predicted);

#endif
