/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that tells drafts from folders of other people. */
#define MARKER ".sim-draft"
#define RANDOM_CHARACTERS "XXXXXX"
#define MAX_TRIES 100

static gboolean
fail_errno(const char *path, int code, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(code));
    return FALSE;
}

void
sim_folder_remove(const char *path)
{
    GDir *dir = NULL;
    const char *name;

    if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK))
        dir = g_dir_open(path, 0, NULL);
    if (dir != NULL) {
        while ((name = g_dir_read_name(dir)) != NULL) {
            g_autofree char *child = g_build_filename(path, name, NULL);
            sim_folder_remove(child);
        }
        g_dir_close(dir);
    }
    (void) remove(path);
}

/* Renames are only safe on a real path: with a link in its last part the link would be replaced, not its folder. */
static char *
resolve_target(const char *target, GError **error)
{
    g_autofree char *absolute = g_canonicalize_filename(target, NULL);
    g_autofree char *parent = g_path_get_dirname(absolute);
    g_autofree char *base = g_path_get_basename(absolute);
    char *real = realpath(absolute, NULL);
    char *result;

    if (real == NULL) {
        if (g_mkdir_with_parents(parent, 0777) != 0 || (real = realpath(parent, NULL)) == NULL) {
            fail_errno(parent, errno, error);
            return NULL;
        }
        result = g_build_filename(real, base, NULL);
    } else {
        result = g_strdup(real);
    }
    free(real);
    return result;
}

static gboolean
put_marker(const char *draft)
{
    g_autofree char *path = g_build_filename(draft, MARKER, NULL);
    int fd = g_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    return fd >= 0 && close(fd) == 0;
}

static void
drop_marker(const char *draft)
{
    g_autofree char *path = g_build_filename(draft, MARKER, NULL);

    (void) g_unlink(path);
}

/* Whether a name is one that make_draft() gives. */
static gboolean
is_draft_name(const char *name, const char *prefix)
{
    const char *rest = g_str_has_prefix(name, prefix) ? name + strlen(prefix) : "";

    for (const char *c = rest; *c != '\0'; c++)
        if (!g_ascii_isalnum(*c))
            return FALSE;
    return strlen(rest) == strlen(RANDOM_CHARACTERS);
}

/* Empty when its maker was killed between two system calls; locked while its maker lives. */
static void
remove_if_left(const char *path)
{
    g_autofree char *marker = g_build_filename(path, MARKER, NULL);
    int fd = g_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && rmdir(path) != 0 && g_file_test(marker, G_FILE_TEST_IS_REGULAR))
        sim_folder_remove(path);
    close(fd);
}

static void
remove_left_drafts(const char *parent, const char *base)
{
    g_autofree char *prefix = g_strdup_printf(".%s.", base);
    g_autoptr(GDir) dir = g_dir_open(parent, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(parent, name, NULL);
        if (is_draft_name(name, prefix))
            remove_if_left(path);
    }
}

/* TRUE with a locked descriptor when the folder is still there. Where the file system knows no locks nobody gets one,
 * so that nothing counts as left either. */
static gboolean
lock_draft(const char *draft, int *ret_fd)
{
    int fd = g_open(draft, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct stat locked, named;

    if (fd < 0)
        return FALSE;
    (void) flock(fd, LOCK_EX);
    if (fstat(fd, &locked) == 0 && stat(draft, &named) == 0 && locked.st_ino == named.st_ino) {
        *ret_fd = fd;
        return TRUE;
    }
    close(fd);
    return FALSE;
}

/* Another process may take a new draft for a left one before it is locked; then there is a next one. */
static char *
make_draft(const char *parent, const char *base, int *ret_fd, GError **error)
{
    for (guint i = 0; i < MAX_TRIES; i++) {
        g_autofree char *draft = g_strdup_printf("%s/.%s." RANDOM_CHARACTERS, parent, base);
        if (g_mkdtemp_full(draft, 0777) == NULL)
            break;
        if (!lock_draft(draft, ret_fd))
            continue;
        if (put_marker(draft))
            return g_steal_pointer(&draft);
        close(*ret_fd);
        rmdir(draft);
        break;
    }
    fail_errno(parent, errno, error);
    return NULL;
}

SimFolder *
sim_folder_begin(const char *target, GError **error)
{
    g_autofree char *resolved = resolve_target(target, error);
    g_autofree char *parent = NULL;
    g_autofree char *base = NULL;
    SimFolder *folder;
    char *draft;
    int lock;

    if (resolved == NULL)
        return NULL;
    if (g_file_test(resolved, G_FILE_TEST_EXISTS) && !g_file_test(resolved, G_FILE_TEST_IS_DIR)) {
        fail_errno(resolved, ENOTDIR, error);
        return NULL;
    }
    parent = g_path_get_dirname(resolved);
    base = g_path_get_basename(resolved);
    remove_left_drafts(parent, base);
    draft = make_draft(parent, base, &lock, error);
    if (draft == NULL)
        return NULL;
    folder = g_new0(SimFolder, 1);
    folder->target = g_steal_pointer(&resolved);
    folder->draft = draft;
    folder->lock = lock;
    return folder;
}

static gboolean
write_all(int fd, const char *bytes, gsize length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FALSE;
        bytes += n;
        length -= (gsize) n;
    }
    return TRUE;
}

gboolean
sim_folder_write(SimFolder *folder, const char *name, const char *bytes, gsize length, GError **error)
{
    g_autofree char *path = g_build_filename(folder->draft, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    /* The draft's name means nothing to the user and is gone when he reads it. */
    g_autofree char *shown = g_build_filename(folder->target, name, NULL);
    gboolean ok;
    int fd, code;

    if (g_mkdir_with_parents(parent, 0777) != 0)
        return fail_errno(shown, errno, error);
    fd = g_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_errno(shown, errno, error);
    ok = write_all(fd, bytes, length);
    code = errno;
    /* Network and quota file systems report a full disk only here. */
    if (close(fd) != 0 && ok) {
        ok = FALSE;
        code = errno;
    }
    return ok || fail_errno(shown, code, error);
}

/* One call for all files of the draft: a study may have ten thousand. Returns 0 or an errno value. */
static int
sync_all(const char *path)
{
    int fd = g_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int code = fd < 0 || syncfs(fd) != 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return code;
}

/* Returns 0 or an errno value. Afterwards the old content, if any, is under the draft's name. */
static int
swap_in(const char *draft, const char *target)
{
    g_autofree char *aside = NULL;
    int code;

    /* rename() replaces an empty or absent target in one step; a full one needs the exchange. */
    if (rename(draft, target) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return errno;
    if (renameat2(AT_FDCWD, draft, AT_FDCWD, target, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    aside = g_strconcat(draft, ".old", NULL);
    if (rename(target, aside) != 0)
        return errno;
    if (rename(draft, target) != 0) {
        code = errno;
        (void) rename(aside, target);
        return code;
    }
    (void) rename(aside, draft);
    return 0;
}

gboolean
sim_folder_commit(SimFolder *folder, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(folder->target);
    int code;

    drop_marker(folder->draft);
    code = sync_all(folder->draft);
    if (code == 0)
        code = swap_in(folder->draft, folder->target);
    if (code != 0)
        return fail_errno(folder->target, code, error);
    /* The new content is safe; when a crash undoes the renaming, the old one is still there. */
    (void) sync_all(parent);
    /* What is left of the old content if this process dies now is nobody's. */
    (void) put_marker(folder->draft);
    sim_folder_remove(folder->draft);
    g_clear_pointer(&folder->draft, g_free);
    return TRUE;
}

void
sim_folder_free(SimFolder *folder)
{
    if (folder == NULL)
        return;
    if (folder->draft != NULL)
        sim_folder_remove(folder->draft);
    close(folder->lock);
    g_free(folder->target);
    g_free(folder->draft);
    g_free(folder);
}
