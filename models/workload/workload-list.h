/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workloads, one row each: workload_NAME is defined in wl-NAME.c. No include guard: read several times under
 * different meanings of WORKLOAD. */
WORKLOAD(mmap1)
WORKLOAD(hackbench)
WORKLOAD(microbench)
WORKLOAD(kmalloc_accounted)
WORKLOAD(inodes)
WORKLOAD(slab_old)
WORKLOAD(latency)
WORKLOAD(placement)
