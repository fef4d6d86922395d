/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_DOCUMENT_H
#define SIM_DOCUMENT_H

#include "sim-config-build.h"
#include "sim-ini.h"

/* One scenario or layer file checked against the schema: every group and key exists, every value has its type. */

typedef struct {
    char *name, *place;
    GPtrArray *settings; /* SimSetting */
} SimVariant;

SimVariant *sim_variant_new(const char *name, const char *place);
void sim_variant_free(SimVariant *variant);

typedef struct {
    SimIni *ini;
    GPtrArray *instances;     /* const SimIniGroup * of group families, in file order */
    GPtrArray *settings;      /* SimSetting of ordinary groups, in file order */
    GPtrArray *variants;      /* SimVariant, in file order */
    const SimIniGroup *sweep; /* NULL when there is none */
    SimSetting *extends;      /* NULL when there is none */
} SimDocument;

/* A scenario. Messages begin with "PATH:LINE: ". */
SimDocument *sim_document_load(const GPtrArray *rows, const char *path, GError **error);
/* A layer file: groups of the program only, and not the key that names the layer. */
SimDocument *sim_document_load_layer(const GPtrArray *rows, const char *path, const char *layer_key, GError **error);
void sim_document_free(SimDocument *document);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimDocument, sim_document_free)

/* An override named "group.key". `label` NULL names it "[group] key". With `is_per_point` it may not be a key that
 * describes the whole study; keys that steer the loading are never overridden. */
SimSetting *sim_override_new(const GPtrArray *rows, const char *name, const char *written, const char *place,
                             const char *label, const char *origin, gboolean is_per_point, GError **error);

#endif
