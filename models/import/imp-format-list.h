/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats, the more particular first: among equals the first wins. */
IMP_FORMAT(trace)
IMP_FORMAT(table)
IMP_FORMAT(sysfs)
IMP_FORMAT(perf)
IMP_FORMAT(tool)
IMP_FORMAT(slabtop)
IMP_FORMAT(crash)
IMP_FORMAT(slabinfo)
IMP_FORMAT(activity)
IMP_FORMAT(usage)
