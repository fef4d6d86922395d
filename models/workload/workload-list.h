/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workloads, one row each: workload_NAME is defined in wl-NAME.c. No include guard: read several times under
 * different meanings of WORKLOAD. */
WORKLOAD(mmap1)
WORKLOAD(hackbench)
WORKLOAD(microbench)
WORKLOAD(kmalloc_accounted)
WORKLOAD(inodes)
WORKLOAD(slab_old)
WORKLOAD(slab_old_fill)
WORKLOAD(page_faults)
WORKLOAD(sendfile)
WORKLOAD(torture)
WORKLOAD(pingpong)
WORKLOAD(pipeline)
WORKLOAD(churn)
WORKLOAD(partial_count)
WORKLOAD(latency)
WORKLOAD(cgroup_caches)
