/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_WRITER_H
#define KMEM_WRITER_H

#include "kmem-event.h"

/* A trace in the form of the ftrace `trace` file, as the reader takes it back. One task is named for every CPU. */

/* "# tracer: nop" and the line with the number of CPUs. */
void kmem_write_header(guint n_cpus, GString *text);

/* One event; `cache` is written as name= of frees and probes. kmalloc() and kfree() are written as such, and an
 * allocation from a named cache has the cache's name as its call site, since the kernel's events have no other place
 * for it. KMEM_LOST becomes the kernel's mark. */
void kmem_write_event(const KmemEvent *event, GString *text);

#endif
