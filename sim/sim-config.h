/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include "sim-error.h"
#include "sim-time.h"

/* Scenario keys and their strict schema. The engine brings [scenario], [run], [sweep], [variant NAME] and
 * [plot NAME]; a program adds its own groups as tables of SimKeySpec. */

typedef enum
{
    SIM_KEY_INT,      /* whole number without unit: "224" */
    SIM_KEY_REAL,     /* "0.5" */
    SIM_KEY_BOOL,     /* true / false */
    SIM_KEY_TIME,     /* "5 ms", unit required (ps ns us ms s); integer picoseconds */
    SIM_KEY_SIZE,     /* "32K" or "32 KiB", unit required (B K M G, KiB MiB GiB; all powers of 1024); bytes */
    SIM_KEY_CHOICE,   /* one of `choices` */
    SIM_KEY_TEXT,     /* anything on one line */
    SIM_KEY_TEXT_LIST, /* semicolon-separated */
    SIM_KEY_COST,     /* time, optionally with bounds and source: "110 ns [100 ns .. 180 ns] where it is from" */
} SimKeyType;

typedef struct
{
    const char *group;  /* "machine", or "cache *" for a family of groups named by their second word */
    const char *key;
    SimKeyType type;
    const char *fallback;  /* text of the default; NULL = the key must be given (in instance groups: once per
                            * instance) unless `optional` */
    gboolean optional;     /* absent is allowed and means "not given" */
    double min, max;       /* in the base unit (ps, bytes, 1); both 0 = unbounded */
    const char *choices;   /* "a|b|c" for SIM_KEY_CHOICE */
    const char *help;      /* one sentence */
} SimKeySpec;

typedef struct _SimConfig SimConfig;
typedef struct _SimLayer SimLayer;

/* A list of tables, NULL-terminated; each table ends with a row whose group is NULL. */
typedef struct
{
    const SimKeySpec *const *tables;
    /* `layer_key` ("machine.profile") names a file LAYER_DIR/VALUE.LAYER_SUFFIX that is read below the scenario. */
    const char *layer_key, *layer_dir, *layer_suffix;
    const char *scenarios_dir; /* where LAYER_DIR is looked for after the scenario's own folder; may be NULL */
    /* What the program itself puts below a scenario, above the layer file, for a point whose other keys are in force:
     * sim-layer.h. NULL for nothing. */
    gboolean (*add_layer)(const SimConfig *config, SimLayer *layer, GError **error);
} SimSchema;

/* Fully resolved configuration of one point: every key of the schema has a value and an origin. Immutable.
 * Getters take names the schema has (a programmer's error otherwise) and never fail. */
SimConfig *sim_config_ref(SimConfig *config);
void sim_config_unref(SimConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimConfig, sim_config_unref)

gboolean sim_config_is_given(const SimConfig *config, const char *group, const char *key);
gint64 sim_config_int(const SimConfig *config, const char *group, const char *key);
double sim_config_real(const SimConfig *config, const char *group, const char *key);
gboolean sim_config_bool(const SimConfig *config, const char *group, const char *key);
SimTime sim_config_time(const SimConfig *config, const char *group, const char *key); /* TIME and COST */
gint64 sim_config_size(const SimConfig *config, const char *group, const char *key);  /* bytes */
guint sim_config_choice(const SimConfig *config, const char *group, const char *key); /* index into choices */
const char *sim_config_text(const SimConfig *config, const char *group, const char *key); /* borrowed; any type */
const char *const *sim_config_list(const SimConfig *config, const char *group, const char *key); /* borrowed, NULL-terminated */
/* Bounds and source of a COST key; FALSE when none were written. `ret_source` is borrowed. */
gboolean sim_config_cost_bounds(const SimConfig *config, const char *group, const char *key, SimTime *ret_low,
                                SimTime *ret_high, const char **ret_source);

/* Instances of a group family ("cache *") in order of first appearance: borrowed, NULL-terminated names
 * ("maple_node"), to be passed as the group "cache maple_node". */
const char *const *sim_config_instances(const SimConfig *config, const char *family);

/* "file:line" of the value in force, "default", "--set" or "variant NAME (file:line)"; borrowed. */
const char *sim_config_origin(const SimConfig *config, const char *group, const char *key);

/* An error about a value in force, with file, line, group, key and value in front: for checks that need more than
 * the schema. Always returns FALSE. */
gboolean sim_config_error(const SimConfig *config, const char *group, const char *key, GError **error,
                          const char *format, ...) G_GNUC_PRINTF(5, 6);

/* Canonical text: every group and key in schema order with effective values (GKeyFile syntax). With `origins`, a
 * comment with the origin stands before each value. Caller frees. */
char *sim_config_to_text(const SimConfig *config, gboolean origins);
/* The same for people, without the keys that `reads_key` (SimExperiment) refuses and that nobody has given;
 * *ret_n_left_out counts these. */
char *sim_config_to_short_text(const SimConfig *config,
                               gboolean (*reads_key)(const SimConfig *config, const SimKeySpec *spec),
                               guint *ret_n_left_out);

#endif
