/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRACE_CMD_H
#define TRACE_CMD_H

/* slubsim trace: one replication of one point of a scenario, written as a trace. Returns the exit status. */
int trace_cmd(int argc, char **argv);

#endif
