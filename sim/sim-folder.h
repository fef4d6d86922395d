/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_FOLDER_H
#define SIM_FOLDER_H

#include "sim-error.h"

/* A folder that appears complete or not at all: filled under a temporary sibling name, then renamed over. Every
 * function that can fail does so with SIM_ERROR_IO and one line that names the file. */
typedef struct {
    char *target; /* absolute, symbolic links resolved */
    char *draft;  /* the temporary sibling; NULL once committed or abandoned */
    int lock;     /* descriptor of the draft, locked while it is being filled */
} SimFolder;

/* Makes missing parents and the temporary sibling, so that an unwritable place is known before the work begins. Removes
 * temporary siblings of this target that killed processes have left; those being filled are locked, and folders that
 * this function has not made are let alone. */
SimFolder *sim_folder_begin(const char *target, GError **error);
/* Writes a file of the draft. `name` may have a sub-folder in front, which is made. */
gboolean sim_folder_write(SimFolder *folder, const char *name, const char *bytes, gsize length, GError **error);
/* Forces the draft to the disk; then it becomes the target; what stood there is removed afterwards. */
gboolean sim_folder_commit(SimFolder *folder, GError **error);
/* Frees; an uncommitted draft is removed. */
void sim_folder_free(SimFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimFolder, sim_folder_free)

/* Removes a file or a folder with all it holds; symbolic links are removed, not followed. Never fails aloud: what
 * cannot be removed stays. */
void sim_folder_remove(const char *path);

#endif
