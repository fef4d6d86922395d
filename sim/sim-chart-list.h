/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart kinds: identifier, name (and plots/NAME.gp), table it is drawn from, what the chart shows by default.
 * No include guard: read several times, each time under another meaning of SIM_CHART (sim-chart.c). */
#ifndef SIM_CHART
#define SIM_CHART(...)
#endif
SIM_CHART(throughput, "throughput", "summary", "Mean and confidence interval at each point")
SIM_CHART(lock_time, "lock-time", "locks", "Time spent waiting for locks, by call site")
SIM_CHART(memory, "memory", "series", "Memory over simulated time, by what holds it")
SIM_CHART(memory_places, "memory-places", "memory", "Memory by place")
SIM_CHART(partial, "partial", "series", "Length of the nodes' partial lists over simulated time")
SIM_CHART(waits, "waits", "waits", "Share of lock acquisitions that waited longer than a given time")
#undef SIM_CHART
