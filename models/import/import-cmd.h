/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMPORT_CMD_H
#define IMPORT_CMD_H

/* Sub-commands (see SimCommand): print to stdout, complain to stderr, return the exit status.
 *
 * import: a listing of a machine as a .caches file that says in comments how it was read, what was inferred, what is
 * not known and what does not add up. With --host the machine this runs on, compared with the model: 1 when its
 * geometry differs. */
int import_cmd_import(int argc, char **argv);

/* inspect: memory by cache, and what settings could free of it, or that none could. */
int import_cmd_inspect(int argc, char **argv);

#endif
