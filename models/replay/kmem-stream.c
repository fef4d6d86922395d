/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kmem-stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "sim-error.h"

enum {
    RAW_BYTES = 128 * 1024,
    GZIP_WINDOW_BITS = 15 + 16,
};

typedef enum {
    FORM_PLAIN,
    FORM_GZIP,
    FORM_ZSTD,
} Form;

struct _KmemStream {
    int file;
    char *path;
    Form form;
    unsigned char raw[RAW_BYTES];
    gsize raw_at, raw_end;
    gboolean is_raw_at_end;
    gboolean is_between; /* after a whole gzip member or zstd frame, where the file may end */
    z_stream gzip;
    ZSTD_DStream *zstd;
};

/* FALSE on failure. More raw bytes behind those not yet used. */
static gboolean
fill(KmemStream *stream, GError **error)
{
    gssize n;

    memmove(stream->raw, stream->raw + stream->raw_at, stream->raw_end - stream->raw_at);
    stream->raw_end -= stream->raw_at;
    stream->raw_at = 0;
    do
        n = read(stream->file, stream->raw + stream->raw_end, RAW_BYTES - stream->raw_end);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", stream->path, g_strerror(errno));
        return FALSE;
    }
    stream->raw_end += (gsize) n;
    stream->is_raw_at_end = n == 0;
    return TRUE;
}

static gboolean
begins_with(const KmemStream *stream, const char *magic, gsize n)
{
    return stream->raw_end >= n && memcmp(stream->raw, magic, n) == 0;
}

static gboolean
find_form(KmemStream *stream, GError **error)
{
    while (stream->raw_end < 4 && !stream->is_raw_at_end)
        if (!fill(stream, error))
            return FALSE;
    stream->form = FORM_PLAIN;
    if (begins_with(stream, "\x1f\x8b", 2)) {
        stream->form = FORM_GZIP;
        g_assert(inflateInit2(&stream->gzip, GZIP_WINDOW_BITS) == Z_OK);
    } else if (begins_with(stream, "\x28\xb5\x2f\xfd", 4)) {
        stream->form = FORM_ZSTD;
        stream->zstd = ZSTD_createDStream();
        g_assert(stream->zstd);
    }
    return TRUE;
}

KmemStream *
kmem_stream_open(const char *path, GError **error)
{
    g_autoptr(KmemStream) stream = g_new0(KmemStream, 1);

    stream->path = g_strdup(path);
    stream->file = g_str_equal(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (stream->file < 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    return find_form(stream, error) ? g_steal_pointer(&stream) : NULL;
}

void
kmem_stream_free(KmemStream *stream)
{
    if (!stream)
        return;
    if (stream->file >= 0)
        close(stream->file);
    if (stream->form == FORM_GZIP)
        inflateEnd(&stream->gzip);
    ZSTD_freeDStream(stream->zstd);
    g_free(stream->path);
    g_free(stream);
}

static gssize
damaged(const KmemStream *stream, const char *what, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: %s", stream->path, what);
    return -1;
}

static gssize
read_plain(KmemStream *stream, char *buffer, gsize n_bytes, GError **error)
{
    gsize n = MIN(n_bytes, stream->raw_end - stream->raw_at);
    gssize got;

    if (n) {
        memcpy(buffer, stream->raw + stream->raw_at, n);
        stream->raw_at += n;
        return (gssize) n;
    }
    do
        got = read(stream->file, buffer, n_bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", stream->path, g_strerror(errno));
    return got;
}

/* Decompresses what it can of the raw bytes; returns the bytes made, -1 for damage. */
static gssize
inflate_some(KmemStream *stream, char *buffer, gsize n_bytes, GError **error)
{
    z_stream *z = &stream->gzip;
    int result;

    if (stream->is_between && inflateReset(z) != Z_OK)
        return damaged(stream, "the gzip data cannot be read on", error);
    z->next_in = stream->raw + stream->raw_at;
    z->avail_in = (uInt) (stream->raw_end - stream->raw_at);
    z->next_out = (Bytef *) buffer;
    z->avail_out = (uInt) n_bytes;
    result = inflate(z, Z_NO_FLUSH);
    stream->raw_at = stream->raw_end - z->avail_in;
    stream->is_between = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return damaged(stream, "the gzip data are damaged", error);
    return (gssize) (n_bytes - z->avail_out);
}

static gssize
zstd_some(KmemStream *stream, char *buffer, gsize n_bytes, GError **error)
{
    ZSTD_inBuffer in = {stream->raw, stream->raw_end, stream->raw_at};
    ZSTD_outBuffer out = {buffer, n_bytes, 0};
    gsize result = ZSTD_decompressStream(stream->zstd, &out, &in);

    if (ZSTD_isError(result))
        return damaged(stream, "the zstd data are damaged", error);
    stream->raw_at = in.pos;
    stream->is_between = result == 0;
    return (gssize) out.pos;
}

static gssize
read_compressed(KmemStream *stream, char *buffer, gsize n_bytes, GError **error)
{
    for (;;) {
        gsize before = stream->raw_at;
        gssize n;

        if (stream->raw_at == stream->raw_end && stream->is_between) {
            if (!fill(stream, error))
                return -1;
            if (stream->is_raw_at_end)
                return 0;
            before = stream->raw_at;
        }
        n = stream->form == FORM_GZIP ? inflate_some(stream, buffer, n_bytes, error)
                                      : zstd_some(stream, buffer, n_bytes, error);
        if (n != 0)
            return n;
        if (stream->raw_at != before)
            continue;
        if (stream->is_raw_at_end)
            return damaged(stream, "the compressed data end too early", error);
        if (!fill(stream, error))
            return -1;
    }
}

gssize
kmem_stream_read(KmemStream *stream, char *buffer, gsize n_bytes, GError **error)
{
    return stream->form == FORM_PLAIN ? read_plain(stream, buffer, n_bytes, error)
                                      : read_compressed(stream, buffer, n_bytes, error);
}
