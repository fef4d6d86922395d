/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CLI_H
#define SIM_CLI_H

#include "sim-experiment.h"

/* A sub-command that a program adds to the engine's own (sim-cli-private.h). `main` gets the arguments
 * from its own name on and returns the exit status: 0, 1 failure, 2 usage, 130 interrupted. A row named "list WORD"
 * answers `PROGRAM list WORD`. */
typedef struct {
    const char *name;
    const char *summary; /* one line for --help */
    int (*main)(int argc, char **argv);
} SimCommand;

/* Parses the command line and runs the sub-command. `commands` ends with a row whose name is NULL. Prints errors to
 * stderr as "PROGRAM: message". Returns the exit status. */
int sim_cli_main(const SimExperiment *experiment, const SimCommand *commands, int argc, char **argv);

#endif
