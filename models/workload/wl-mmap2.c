/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale mmap2: mmap1 with a private mapping of a file of the task's own. The file's interval tree links the VMA
 * itself, and no other task takes its i_mmap lock: the slab objects are those of mmap1, the work on the tree is part of
 * the computing time. */
#include "mm-loop.h"

static const char *const *
cache_names(const SimConfig *config, guint kernel)
{
    return mm_cache_names(kernel, FALSE);
}

static void *
setup(World *world, GError **error)
{
    static const MmTest test = {.n_counted = 1, .iterate = mm_map_and_unmap};

    return mm_loop_new(world, &test);
}

const Workload workload_mmap2 = {
    .name = "mmap2",
    .summary = "will-it-scale mmap2: map and unmap 128 MiB of a file of one's own, one pinned task a CPU",
    .operation = "iterations",
    .keys = mm_loop_keys,
    .cache_names = cache_names,
    .check = mm_loop_check,
    .setup = setup,
    .free = mm_loop_free,
};
