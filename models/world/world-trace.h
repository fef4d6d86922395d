/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORLD_TRACE_H
#define WORLD_TRACE_H

#include "world.h"

/* A simulated run as a trace of kmem events, as if the kernel had recorded it. */

/* world_run() with an observer; the record is the same. Writes the trace to `path` in the form of the ftrace `trace`
 * file, from the first operation to the end of the run, set-up and warm-up included, and beside it what slubsim replay
 * looks for there: BASE.caches (the caches with their orders and limits) and BASE.env (release, CPUs, nodes), where
 * BASE is `path` without ".txt". An allocation stands at the moment it is over, a free at the moment it begins, each
 * with the slow-path functions it entered, as the kernel's events do, but for caches with sheaves. `ret_n_events` counts
 * calls. SIM_ERROR_MODEL for kfree_rcu() of caches with sheaves and for a run of more than WORLD_TRACE_MAX_EVENTS calls,
 * SIM_ERROR_IO, and what world_run() reports; nothing is written then. */
#define WORLD_TRACE_MAX_EVENTS (1u << 25)
gboolean world_run_traced(const SimRunInput *input, SimRecord *record, const char *path, guint64 *ret_n_events,
                          GError **error);

#endif
