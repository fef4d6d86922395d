/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static SimStudy *
open_and_fill(const char *path, SimStudyFill fill, gpointer data, GError **error)
{
    g_autoptr(SimStudy) study = sim_study_open(path, SIM_STUDY_CREATE, error);

    return study != NULL && fill(study, data, error) ? g_steal_pointer(&study) : NULL;
}

/* Never over a study that came meanwhile: that one is as good. Not every file system has links, and not every one can
 * rename without replacing. */
static gboolean
give_name(const char *draft, const char *path, GError **error)
{
    if (link(draft, path) == 0 || errno == EEXIST ||
        renameat2(AT_FDCWD, draft, AT_FDCWD, path, RENAME_NOREPLACE) == 0 || errno == EEXIST)
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return FALSE;
}

/* Nobody has heard of the draft. */
static void
blame(GError *error, const char *draft, const char *path)
{
    if (g_str_has_prefix(error->message, draft)) {
        char *message = g_strconcat(path, error->message + strlen(draft), NULL);

        g_free(error->message);
        error->message = message;
    }
}

static gboolean
make(const char *path, SimStudyFill fill, gpointer data, GError **error)
{
    g_autofree char *draft = g_strconcat(path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(draft, O_RDWR | O_CLOEXEC, 0666);
    g_autoptr(GError) inner = NULL;
    SimStudy *study;
    gboolean ok;

    if (fd < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return FALSE;
    }
    close(fd);
    study = open_and_fill(draft, fill, data, &inner);
    sim_study_close(study); /* with which the log goes into the file */
    ok = study != NULL && give_name(draft, path, &inner);
    g_unlink(draft);
    if (!ok) {
        blame(inner, draft, path);
        g_propagate_error(error, g_steal_pointer(&inner));
    }
    return ok;
}

SimStudy *
sim_study_fill(const char *path, SimStudyFill fill, gpointer data, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_EXISTS) && !make(path, fill, data, error))
        return NULL;
    return open_and_fill(path, fill, data, error);
}
