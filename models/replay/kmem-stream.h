/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KMEM_STREAM_H
#define KMEM_STREAM_H

#include <glib.h>

/* Bytes of a file that may be plain, gzip (also several members) or zstd (also several frames), told by the first
 * bytes. Memory does not grow with the file. */
typedef struct _KmemStream KmemStream;

/* "-" is standard input. SIM_ERROR_IO when the file cannot be opened. */
KmemStream *kmem_stream_open(const char *path, GError **error);
void kmem_stream_free(KmemStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmemStream, kmem_stream_free)

/* Up to `n_bytes` decompressed bytes; 0 at the end, -1 on failure: SIM_ERROR_IO from the file, SIM_ERROR_PARSE when
 * compressed data are damaged or end too early. What came before the damage has been returned by then. */
gssize kmem_stream_read(KmemStream *stream, char *buffer, gsize n_bytes, GError **error);

#endif
