/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOY_STUDY_H
#define TOY_STUDY_H

#include "sim-runner.h"

/* A scenario text loaded for the toy experiment; expects success. */
SimPlan *toy_study_plan(const char *text);
/* Runs all of it; expects success. */
SimRuns *toy_study_run(const SimPlan *plan, guint n_workers);

/* All names and bytes under a folder, in order: equal for equal folders. Caller frees. */
char *toy_study_digest(const char *folder);
/* The same, but names only. */
char *toy_study_list(const char *folder);

#endif
