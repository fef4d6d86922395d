/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CONFIG_PRIVATE_H
#define SIM_CONFIG_PRIVATE_H

#include "sim-config-build.h"

/* Shared by the two halves of a configuration: sim-config-build.c writes, sim-config.c reads. */

typedef struct {
    char *place;          /* where an instance was declared; NULL for single groups */
    GHashTable *settings; /* key -> SimSetting in force; absent when not given */
} SimConfigGroup;

struct _SimConfig {
    GPtrArray *rows;
    GHashTable *groups;   /* written group name -> SimConfigGroup */
    GHashTable *families; /* "cache *" -> names in order of appearance, GPtrArray ending with NULL */
};

/* "cache *" and "maple_node" make "cache maple_node". Caller frees. */
char *sim_config_member_group(const char *family, const char *name);

#endif
