/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart kinds: identifier, name (and plots/NAME.gp), table it is drawn from, what the chart shows by default.
 * No include guard: read several times, each time under another meaning of SIM_CHART (sim-chart.c). */
/* SIM_CHART_OF_SWEEP: kinds for many points, which a single run does not draw by itself. */
#ifndef SIM_CHART
#define SIM_CHART(...)
#endif
#ifndef SIM_CHART_OF_SWEEP
#define SIM_CHART_OF_SWEEP(...)
#endif
SIM_CHART_OF_SWEEP(difference, "difference", "metrics", "Differences from the base with their intervals")
SIM_CHART_OF_SWEEP(lines, "lines", "metrics", "Mean and confidence interval along the axis")
SIM_CHART_OF_SWEEP(scaling, "scaling", "metrics", "Throughput against the smallest machine's")
SIM_CHART_OF_SWEEP(pareto, "pareto", "metrics", "What each setting gains and what it costs")
SIM_CHART_OF_SWEEP(waterfall, "waterfall", "metrics", "Changes one upon the other")
SIM_CHART_OF_SWEEP(heat_map, "heat-map", "metrics", "Differences from the base, in percent, at every place")
SIM_CHART(throughput, "throughput", "summary", "Value at each point")
SIM_CHART(lock_time, "lock-time", "locks", "Time spent waiting for locks, by call site")
SIM_CHART(memory, "memory", "series", "Memory over simulated time, by what holds it")
SIM_CHART(memory_places, "memory-places", "memory", "Memory by place")
SIM_CHART(partial, "partial", "series", "Length of the nodes' partial lists over simulated time")
SIM_CHART(waits, "waits", "waits", "Share of lock acquisitions that waited longer than a given time")
SIM_CHART(latency, "latency", "latency_times", "Share of calls that took longer than a given time")
SIM_CHART(percentiles, "percentiles", "latency_times", "Time of calls by percentile")
SIM_CHART(accounting, "accounting", "accounting", "Time of an accounted allocation, by step")
#undef SIM_CHART
#undef SIM_CHART_OF_SWEEP
