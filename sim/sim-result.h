/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include "sim-compare.h"
#include "sim-folder.h"

/* The folder that one study leaves; every file and column is described in results/README.md. Its bytes depend on the
 * scenario, its overrides and the program's version only: no times, hosts, paths or worker counts. */

#define SIM_RESULT_FORMAT 1

/* Starts a result folder at `target`. An existing folder there is replaced at the commit, hence SIM_ERROR_IO when it
 * is neither empty nor made of files that a result folder has. */
SimFolder *sim_result_begin(const char *target, GError **error);

/* Writes all files of the runs into the draft; `comparison` may be NULL. */
gboolean sim_result_write(SimFolder *folder, const SimExperiment *experiment, const SimRuns *runs,
                          const SimTable *comparison, GError **error);

/* manifest.ini of a finished folder. SIM_ERROR_IO when there is none, SIM_ERROR_PARSE when it is not of this format. */
GKeyFile *sim_result_read_manifest(const char *folder, GError **error);

#endif
