/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale mmap1: each task maps 128 MiB of nothing and unmaps it again, for ever. */
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

const Workload workload_mmap1 = {
    .name = "mmap1",
    .summary = "will-it-scale mmap1: map and unmap 128 MiB, one pinned process a CPU",
    .operation = "iterations",
    .keys = mm_loop_keys,
    .cache_names = cache_names,
    .check = mm_loop_check,
    .setup = setup,
    .free = mm_loop_free,
};
