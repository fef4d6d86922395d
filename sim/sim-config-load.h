/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CONFIG_LOAD_H
#define SIM_CONFIG_LOAD_H

#include "sim-document.h"

/* The layers below a point: a scenario, the parents it extends, and the layer file each point names. */

#define SIM_MAX_EXTENDS 8

typedef struct {
    const SimSchema *schema;
    GPtrArray *rows;
    GPtrArray *chain;   /* SimDocument, the farthest parent first, the scenario itself last */
    GHashTable *layers; /* path -> SimDocument, so that all points see the same text */
    GHashTable *bases;  /* SimDocument of a layer, or NULL -> SimConfig that its points start from */
} SimLoader;

SimLoader *sim_loader_new(const SimSchema *schema, const char *path, GError **error);
void sim_loader_free(SimLoader *loader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimLoader, sim_loader_free)

/* The variants of all documents, parents first; one name in two documents is one variant whose values follow each
 * other. Array of SimVariant, owned by the caller. */
GPtrArray *sim_loader_variants(const SimLoader *loader);
/* The document whose [sweep] is in force: the nearest one that has the group at all. NULL when none has. */
const SimDocument *sim_loader_sweep_document(const SimLoader *loader);

/* One point: `overrides` (SimSetting, later ones win) over the documents over the layer file they name. */
SimConfig *sim_loader_resolve(SimLoader *loader, const GPtrArray *overrides, GError **error);

#endif
