/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <gio/gio.h>

/* The toy program as a process: what a user types and what comes back. */

typedef struct {
    int status; /* -1 when killed by a signal */
    char *out, *err;
} Outcome;

void outcome_clear(Outcome *outcome);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

/* `line` is split as a shell would; `path` is the child's PATH, NULL for the test's own. */
GSubprocess *cli_spawn(const char *line, const char *path);
/* Waits for the end and frees the process. */
Outcome cli_finish(GSubprocess *process);
Outcome cli_run(const char *line, const char *path);
/* NULL stands for any text. */
void cli_expect(const char *line, int status, const char *out, const char *err);

#endif
