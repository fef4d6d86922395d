/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_CMD_H
#define SLAB_CMD_H

/* Sub-commands (see SimCommand). Both take options of the machine and its boot line, print to stdout, complain to
 * stderr and return the exit status.
 *
 * geometry: a table of caches from listings, .caches files or NAME:SIZE arguments; a listing is also compared with,
 * and 1 is returned when a number differs. */
int slab_cmd_geometry(int argc, char **argv);

/* explain: every decision behind the geometry of the caches named, and what they would merge into. */
int slab_cmd_explain(int argc, char **argv);

#endif
