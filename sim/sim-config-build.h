/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CONFIG_BUILD_H
#define SIM_CONFIG_BUILD_H

#include "sim-value.h"

/* How a configuration is put together, for the loader only. Everyone else sees the immutable result. */

/* One value written somewhere, checked against its row. Immutable and counted, since the points of a plan share it. */
typedef struct {
    const SimKeySpec *spec;
    char *group;   /* as written: "cache maple_node" */
    char *written; /* raw text */
    char *place;   /* "file:line", "default" or "--set" */
    char *label;   /* how messages name it: "[run] seed", "[variant a] run.seed" */
    char *origin;  /* what sim_config_origin reports */
    SimValue value;
} SimSetting;

/* Reads `written`; on failure the message has place, label and text in front. All texts are copied. */
SimSetting *sim_setting_new(const SimKeySpec *spec, const char *group, const char *written, const char *place,
                            const char *label, const char *origin, GError **error);
/* The schema's default, which must be given and valid. */
SimSetting *sim_setting_new_default(const SimKeySpec *spec, const char *group);
SimSetting *sim_setting_ref(SimSetting *setting);
void sim_setting_unref(SimSetting *setting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimSetting, sim_setting_unref)

/* "PLACE: LABEL = WRITTEN: message". Returns FALSE. */
gboolean sim_setting_error(const SimSetting *setting, GError **error, SimErrorCode code, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
gboolean sim_setting_is(const SimSetting *setting, const char *group, const char *key);

/* A configuration of defaults. `rows` is referenced (sim_schema_rows). */
SimConfig *sim_config_new(GPtrArray *rows);
/* One of its own that shares the settings. */
SimConfig *sim_config_copy(const SimConfig *config);
/* Adds a member of a group family with its defaults, unless it is there. `place` is for messages. */
void sim_config_add_instance(SimConfig *config, const char *group, const char *place);
/* Puts a value over the one in force. UNKNOWN_KEY when no layer has declared the instance; RANGE for a COST outside
 * the bounds it inherits. */
gboolean sim_config_put(SimConfig *config, SimSetting *setting, GError **error);
/* PARSE when a key that must be given is not; `place` stands for groups that are no instances. */
gboolean sim_config_check_complete(const SimConfig *config, const char *place, GError **error);

/* NULL when not given. Borrowed. */
const SimSetting *sim_config_setting(const SimConfig *config, const char *group, const char *key);

#endif
