/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale mmap2: mmap1 with a private mapping of a file of the task's own. The file's interval tree links the VMA
 * itself, and no other task takes its i_mmap lock: the slab objects are those of mmap1, the work on the tree is part of
 * the computing time. */
#include "mm-loop.h"

const Workload workload_mmap2 = {
    .name = "mmap2",
    .summary = "will-it-scale mmap2: map and unmap 128 MiB of a file of one's own, one pinned task a CPU",
    .operation = "iterations",
    .keys = mm_loop_keys,
    .cache_names = mm_loop_cache_names,
    .check = mm_loop_check,
    .shares_host = TRUE,
    .setup = mm_loop_setup_mmap,
    .free = mm_loop_free,
};
