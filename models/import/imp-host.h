/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_HOST_H
#define IMP_HOST_H

#include "imp-dump.h"
#include "slab-geometry.h"

/* The machine this runs on, as far as its files may be read. Only reads. */
typedef struct {
    ImpDump *sysfs;      /* NULL when /sys/kernel/slab gave nothing */
    ImpDump *slabinfo;   /* NULL when /proc/slabinfo may not be read, which mostly needs root */
    GString *refusals;   /* a line for each source that gave nothing, and why */
    SlabGeometryEnv env; /* release, boot line, CPUs, page size */
} ImpHost;

/* `root` is put before /proc and /sys: "" for the live machine, a folder for a copy of one; pages are then those of
 * this machine. SIM_ERROR_IO when neither source gave anything. */
gboolean imp_host_read(const char *root, ImpHost *ret_host, GError **error);
void imp_host_clear(ImpHost *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ImpHost, imp_host_clear)

#endif
