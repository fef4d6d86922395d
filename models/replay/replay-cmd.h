/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPLAY_CMD_H
#define REPLAY_CMD_H

/* `slubsim replay`: arguments from its own name on, returns the exit status. Only here is anything printed. */
int replay_cmd(int argc, char **argv);

#endif
