/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_LAYER_H
#define SIM_LAYER_H

#include "sim-config.h"

/* For SimSchema.add_layer: settings that a program derives from keys of a scenario, such as those of a file in a form of
 * its own. They become part of the resolved configuration, so that results say what was in force. */

/* The path of the file that a TEXT key names. A bare name stands for DIR/NAME.SUFFIX beside the scenario or among the
 * shipped ones; with a slash or the suffix it is a path, relative to the file that says so. Caller frees. NULL and
 * UNKNOWN_KEY with the names there are, when there is no such file. */
char *sim_layer_find_file(const SimLayer *layer, const SimConfig *config, const char *group, const char *key,
                          const char *dir, const char *suffix, GError **error);

/* Puts a value below those of the scenario; a member of a family is declared thereby. `place` is for messages and
 * origins. Errors as of a value in a scenario file. */
gboolean sim_layer_put(SimLayer *layer, const char *group, const char *key, const char *written, const char *place,
                       GError **error);

#endif
