/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "replay-run.h"

/* What a replay says, as text appended to `text`: assumptions, function calls by cache beside the kernel's own counts
 * where there are any, and the state of the lists at the end. */
void replay_report(const ReplayRun *run, ReplayMode mode, GString *text);

#endif
