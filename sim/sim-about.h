/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_ABOUT_H
#define SIM_ABOUT_H

#include "sim-error.h"

/* What a study or result folder says of itself. */
typedef struct {
    char *path;
    gboolean is_study;
    char *program, *version;
    char *name;          /* of the scenario */
    char *configuration; /* of the first point, as scenario text */
    char *scenario_text; /* as written; NULL in a folder, which keeps the points only */
    GKeyFile *scenario;  /* the configuration's groups, raw: read with g_key_file_get_value() */
    guint n_points;
    guint64 n_runs, n_wanted; /* equal when all is finished */
} SimAbout;

/* IO and PARSE as when the folder or study is opened. */
SimAbout *sim_about_read(const char *path, GError **error);
void sim_about_free(SimAbout *about);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimAbout, sim_about_free)

/* A key of the [scenario] group; "" when it is not given. Caller frees. */
char *sim_about_text(const SimAbout *about, const char *key);

#endif
