/* SPDX-License-Identifier: GPL-3.0-or-later */
/* will-it-scale mmap1: each task maps 128 MiB of nothing and unmaps it again, for ever. */
#include "mm-loop.h"

const Workload workload_mmap1 = {
    .name = "mmap1",
    .summary = "will-it-scale mmap1: map and unmap 128 MiB, one pinned process a CPU",
    .operation = "iterations",
    .keys = mm_loop_keys,
    .cache_names = mm_loop_cache_names,
    .check = mm_loop_check,
    .shares_host = TRUE,
    .setup = mm_loop_setup_mmap,
    .free = mm_loop_free,
};
