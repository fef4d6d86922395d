/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_SCHEMA_H
#define SIM_SCHEMA_H

#include "sim-config.h"

/* Which groups and keys exist. The engine's own tables come first, then the program's. */

/* All rows (const SimKeySpec *), rows of one group side by side, groups in order of their first row. Freed by
 * g_ptr_array_unref. */
GPtrArray *sim_schema_rows(const SimSchema *schema);

/* The row for a written group ("run", "cache maple_node") and key. UNKNOWN_KEY when there is none: a message without
 * place that names what is allowed and the nearest known name. */
const SimKeySpec *sim_schema_find(const GPtrArray *rows, const char *group, const char *key, GError **error);
/* Whether a written group exists: TRUE, or FALSE with UNKNOWN_KEY for the group or PARSE for its second word. */
gboolean sim_schema_check_group(const GPtrArray *rows, const char *group, GError **error);

/* The folder of shipped scenarios and layer files: the environment variable SLUBSIM_SCENARIOS if it is set, else
 * schema->scenarios_dir (may be NULL). Borrowed. */
const char *sim_schema_scenarios_dir(const SimSchema *schema);

/* "cache *" */
gboolean sim_schema_group_is_family(const char *group);
/* Whether a written group is `pattern` or a member of the family `pattern`. */
gboolean sim_schema_group_matches(const char *pattern, const char *group);
/* The second word of a written group of a family: "maple_node". */
const char *sim_schema_instance_name(const char *group);

/* Rows that steer the loading ([scenario] extends, [sweep], [variant NAME]) and are no part of a configuration. */
gboolean sim_schema_is_structural(const SimKeySpec *spec);
/* Rows that describe the study as a whole and so cannot differ between its points: [scenario] and [plot NAME]. */
gboolean sim_schema_is_study_wide(const SimKeySpec *spec);
/* Whether a written group is of the engine's own tables. */
gboolean sim_schema_is_engine_group(const char *group);
/* Whether a written group is a member of a family. */
gboolean sim_schema_is_member(const GPtrArray *rows, const char *group);

/* Splits "group.key" at its last dot. FALSE when there is no dot or an empty part. */
gboolean sim_schema_split_name(const char *name, char **ret_group, char **ret_key);

#endif
