/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workloads, one row each: workload_NAME is defined in wl-NAME.c. No include guard: read several times under
 * different meanings of WORKLOAD. */
WORKLOAD(mmap1)
WORKLOAD(mmap2)
WORKLOAD(brk1)
WORKLOAD(map_batch)
WORKLOAD(fork_exec)
WORKLOAD(hackbench)
WORKLOAD(microbench)
WORKLOAD(kmalloc_accounted)
WORKLOAD(inodes)
WORKLOAD(slab_old)
WORKLOAD(torture)
WORKLOAD(pingpong)
WORKLOAD(pipeline)
WORKLOAD(churn)
WORKLOAD(partial_count)
WORKLOAD(latency)
