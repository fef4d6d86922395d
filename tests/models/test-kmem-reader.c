/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trace lines of every form, streams, and damage. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "kmem-reader.h"
#include "kmem-writer.h"
#include "replay-run.h"
#include "replay-table.h"
#include "sim-error.h"
#include "sim-gsl.h"
#include "sim-rng.h"
#include "slab-kmalloc.h"

static char *
temporary(const char *bytes, gsize n_bytes)
{
    GError *error = NULL;
    char *path = NULL;
    gint file = g_file_open_tmp("slubsim-XXXXXX.trace", &path, &error);

    g_assert_no_error(error);
    close(file);
    g_file_set_contents(path, bytes, (gssize) n_bytes, &error);
    g_assert_no_error(error);
    return path;
}

/* Reads a file to its end. `last` gets the last event, its texts copied into the two buffers when given. */
static KmemReaderStats
read_all(const char *path, KmemEvent *last, char *cache, GError **error)
{
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    KmemEvent event;

    g_assert_nonnull(reader);
    while (kmem_reader_next(reader, &event, error)) {
        if (last)
            *last = event;
        if (cache)
            g_strlcpy(cache, event.cache.text ? event.cache.text : "", event.cache.n_bytes + 1);
    }
    return *kmem_reader_stats(reader);
}

static const struct {
    const char *line;
    KmemOp op;
    gint64 time_ns;
    guint cpu;
    KmemContext context;
    gboolean is_kmalloc;
    const char *cache;
    guint64 ptr;
    guint bytes_req, bytes_alloc, gfp;
    gint node;
} lines[] = {
    {"              sh-105     [000] .....    48.757418: kmem_cache_alloc: call_site=alloc_inode+0x59/0xc0 "
     "ptr=ffff8d5201162c80 bytes_req=632 bytes_alloc=640 gfp_flags=GFP_KERNEL node=-1 accounted=true",
     KMEM_ALLOC, 48757418000, 0, KMEM_TASK, FALSE, "", 0xffff8d5201162c80, 632, 640, 0, -1},
    {"  <idle>-0     [011] d.s2. 52.1: kfree: call_site=f+0x1/0x2 ptr=ffff8d5201162c80", KMEM_FREE, 52100000000, 11,
     KMEM_SOFTIRQ, TRUE, "", 0xffff8d5201162c80, 0, 0, 0, -1},
    {"  a b[7]-12    [003] d.h1.    52.000000001: kmem_cache_free: call_site=f ptr=00000000cef40c80 "
     "name=lsm_file_cache",
     KMEM_FREE, 52000000001, 3, KMEM_HARDIRQ, FALSE, "lsm_file_cache", 0xcef40c80, 0, 0, 0, -1},
    {"[002] ....   808.188917: kmalloc: call_site=security_prepare_creds+0x77/0xa0 ptr=0000000062400820 bytes_req=8 "
     "bytes_alloc=336 gfp_flags=GFP_KERNEL|__GFP_ZERO",
     KMEM_ALLOC, 808188917000, 2, KMEM_TASK, TRUE, "", 0x62400820, 8, 336, 0, -1},
    {"     cat-382   [000] ...1  2935.586706: kmalloc:call_site=c0554644 ptr=de515a00 bytes_req=384 bytes_alloc=512 "
     "gfp_flags=GFP_ATOMIC|GFP_NOWARN|GFP_NOMEMALLOC",
     KMEM_ALLOC, 2935586706000, 0, KMEM_TASK, TRUE, "", 0xde515a00, 384, 512, 0, -1},
    /* trace-cmd report */
    {"       trace-cmd-13543 [001] 106260.693809: kmalloc:              call_site=81128dd4 ptr=0xffff88003dd83800 "
     "bytes_req=768 bytes_alloc=1024 gfp_flags=GFP_KERNEL_ACCOUNT|GFP_ZERO",
     KMEM_ALLOC, 106260693809000, 1, KMEM_TASK, TRUE, "", 0xffff88003dd83800, 768, 1024, SLAB_GFP_ACCOUNT, -1},
    /* perf script */
    {"swapper     0 [063]  1234.567890: kmem:kmalloc_node: call_site=ffffffff81170b5d ptr=0xffff88003dd83800 "
     "bytes_req=576 bytes_alloc=1024 gfp_flags=GFP_KERNEL|__GFP_RECLAIMABLE node=1",
     KMEM_ALLOC, 1234567890000, 63, KMEM_TASK, TRUE, "", 0xffff88003dd83800, 576, 1024, SLAB_GFP_RECLAIMABLE, 1},
    {"ls 5/7 [001] 9.5: kmem:kmalloc: call_site=f+0x70/0xb0 [mod] ptr=0xffff88003dd83800 bytes_req=1 bytes_alloc=8 "
     "gfp_flags=GFP_DMA32\r",
     KMEM_ALLOC, 9500000000, 1, KMEM_TASK, TRUE, "", 0xffff88003dd83800, 1, 8, 0, -1},
    {"     sh-1 [000] ..... 1.000001: ___slab_alloc: (___slab_alloc+0x0/0x990) name=\"dentry\"", KMEM_PROBE, 1000001000,
     0, KMEM_TASK, FALSE, "dentry", 0, 0, 0, 0, -1},
    {"     sh-1 [000] ..... 1.000001: gt:__put_partials: (__put_partials+0x0/0x990) name=\"dentry\"", KMEM_PROBE,
     1000001000, 0, KMEM_TASK, FALSE, "dentry", 0, 0, 0, 0, -1},
};

static void
test_lines(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *path = temporary(lines[i].line, strlen(lines[i].line));
        g_autoptr(GError) error = NULL;
        char cache[64] = "";
        KmemEvent event = {0};
        KmemReaderStats stats = read_all(path, &event, cache, &error);

        g_unlink(path);
        g_assert_no_error(error);
        g_test_message("%s", lines[i].line);
        g_assert_cmpuint(stats.n_events, ==, 1);
        g_assert_cmpint(event.op, ==, lines[i].op);
        g_assert_cmpint(event.time_ns, ==, lines[i].time_ns);
        g_assert_cmpuint(event.cpu, ==, lines[i].cpu);
        g_assert_cmpint(event.context, ==, lines[i].context);
        g_assert_cmpint(event.is_kmalloc, ==, lines[i].is_kmalloc);
        g_assert_cmpstr(cache, ==, lines[i].cache);
        g_assert_cmphex(event.ptr, ==, lines[i].ptr);
        g_assert_cmpuint(event.bytes_req, ==, lines[i].bytes_req);
        g_assert_cmpuint(event.bytes_alloc, ==, lines[i].bytes_alloc);
        g_assert_cmpuint(event.gfp, ==, lines[i].gfp);
        g_assert_cmpint(event.node, ==, lines[i].node);
    }
}

/* Each line is neither an event nor fatal, and is counted for what it is. */
static void
test_odd_lines(void)
{
    static const struct {
        const char *line;
        guint n_other, n_bad, n_null, n_marks;
        guint64 n_lost;
    } rows[] = {
        {"", 0, 0, 0, 0, 0},
        {"garbage", 1, 0, 0, 0, 0},
        {"  t-1 [003] 1.5: filemap_fault: address=0x128122 offset=0xce", 1, 0, 0, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=c10bfa4a ptr=  (null)", 0, 0, 1, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=810a7abb ptr=0x0", 0, 0, 1, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=c059c2d8 ptr=(null) ", 0, 0, 1, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=c059c2d8", 0, 1, 0, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=c059c2d8 ptr=", 0, 1, 0, 0, 0},
        {"  t-1 [003] .... 1.5: kfree: call_site=c059c2d8 ptr=12345678901234567", 0, 1, 0, 0, 0},
        {"  t-1 [003] .... 1.5: kmalloc: ptr=ff bytes_req=-5 bytes_alloc=8", 0, 1, 0, 0, 0},
        {"  t-1 [003] .... 1.5: kmalloc: ptr=ff bytes_req=5 bytes_alloc=99999999999999999999", 0, 1, 0, 0, 0},
        {"  t-1 [9999] .... 1.5: kfree: call_site=c059c2d8 ptr=ff", 1, 0, 0, 0, 0},
        {"  t-1 [003] .... 99999999999999999999.5: kfree: ptr=ff", 1, 0, 0, 0, 0},
        {"  t-1 [003] .... 1.5: bulk_alloc: (x) name=\"maple_node\" n=5 ret=5 p={0xff1,0xff2,0x", 0, 1, 0, 0, 0},
        {"  t-1 [003] .... 1.5: bulk_alloc: (x) name=\"maple_node\" n=5 ret=0 p={0xff1,0xff2}", 0, 0, 1, 0, 0},
        {"  t-1 [003] .... 1.5: discard_slab: (discard_slab+0x0/0x90) name=\"de", 0, 1, 0, 0, 0},
        {"CPU:2 [LOST 17 EVENTS]", 0, 0, 0, 1, 17},
        {"CPU:3 [9 EVENTS DROPPED]", 0, 0, 0, 1, 9},
        {"perf 7 [001] 3.5: PERF_RECORD_LOST lost 12", 1, 0, 0, 0, 0},
        {"PERF_RECORD_LOST lost 12", 0, 0, 0, 1, 12},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = temporary(rows[i].line, strlen(rows[i].line));
        g_autoptr(GError) error = NULL;
        KmemReaderStats stats = read_all(path, NULL, NULL, &error);

        g_unlink(path);
        g_test_message("%s", rows[i].line);
        g_assert_no_error(error);
        g_assert_cmpuint(stats.n_events, ==, 0);
        g_assert_cmpuint(stats.n_other, ==, rows[i].n_other);
        g_assert_cmpuint(stats.n_bad, ==, rows[i].n_bad);
        g_assert_cmpuint(stats.n_null, ==, rows[i].n_null);
        g_assert_cmpuint(stats.n_lost_marks, ==, rows[i].n_marks);
        g_assert_cmpuint(stats.n_lost, ==, rows[i].n_lost);
    }
}

static void
test_bulk(void)
{
    static const char text[] =
        "   sh-1 [001] ..... 48.758141: bulk_alloc: (f+0x1ed/0x330) name=\"maple_node\" n=3 ret=3 "
        "p={0xffff8d52401f9800,0xffff8d52401f9100,0xffff8d52401f9900,0x0,0x8000017b4d4025}\n";
    g_autofree char *path = temporary(text, sizeof text - 1);
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    KmemEvent event;

    g_assert_true(kmem_reader_next(reader, &event, NULL));
    g_assert_cmpint(event.op, ==, KMEM_ALLOC_BULK);
    g_assert_cmpuint(event.n, ==, 3);
    g_assert_cmpuint(event.n_shown, ==, 3);
    g_assert_cmphex(event.ptrs[0], ==, 0xffff8d52401f9800);
    g_assert_cmphex(event.ptrs[2], ==, 0xffff8d52401f9900);
    g_assert_false(kmem_reader_next(reader, &event, NULL));
    g_unlink(path);
}

/* A NULL among the objects is none of them; nothing else makes no event. */
static void
test_bulk_null(void)
{
    static const char text[] =
        "   sh-1 [001] ..... 48.758141: bulk_alloc: (f+0x1ed/0x330) name=\"a\" n=3 ret=3 p={0xff10,0x0,0xff30}\n"
        "   sh-1 [001] ..... 48.758142: bulk_alloc: (f+0x1ed/0x330) name=\"a\" n=2 ret=2 p={0x0,0x0}\n";
    g_autofree char *path = temporary(text, sizeof text - 1);
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    KmemEvent event;

    g_assert_true(kmem_reader_next(reader, &event, NULL));
    g_assert_cmpuint(event.n, ==, 2);
    g_assert_cmpuint(event.n_shown, ==, 2);
    g_assert_cmphex(event.ptrs[0], ==, 0xff10);
    g_assert_cmphex(event.ptrs[1], ==, 0xff30);
    g_assert_false(kmem_reader_next(reader, &event, NULL));
    g_assert_cmpuint(kmem_reader_stats(reader)->n_null, ==, 1);
    g_unlink(path);
}

/* The cases of other people, with the right answers of the collection where it has them. */
static void
test_cases(void)
{
    static const struct {
        const char *name;
        guint n_allocs, n_frees, n_null;
        guint64 bytes_req, bytes_alloc;
    } rows[] = {
        {"kmem-01.txt", 10, 0, 0, 224 + 2 * (4096 + 256 + 24) - 24 + 4 * 5678,
         256 + 2 * (4096 + 256 + 24) - 24 + 4 * 10320},
        {"kmem-03.txt", 3, 6, 0, 4272, 5392},
        {"kmem-05.txt", 8, 0, 1, 29 + 24 + 22 + 24 + 36 + 6 + 6 + 64, 32 * 6 + 64 * 2},
        {"kmem-08.txt", 3, 0, 3, 768 + 384 + 384, 1024 + 512 + 512},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", rows[i].name, NULL);
        g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
        guint n_allocs = 0, n_frees = 0;
        guint64 bytes_req = 0, bytes_alloc = 0;
        KmemEvent event;

        g_assert_nonnull(reader);
        while (kmem_reader_next(reader, &event, NULL)) {
            n_allocs += event.op == KMEM_ALLOC;
            n_frees += event.op == KMEM_FREE;
            bytes_req += event.bytes_req;
            bytes_alloc += event.bytes_alloc;
        }
        g_test_message("%s", rows[i].name);
        g_assert_cmpuint(n_allocs, ==, rows[i].n_allocs);
        g_assert_cmpuint(n_frees, ==, rows[i].n_frees);
        g_assert_cmpuint(kmem_reader_stats(reader)->n_null, ==, rows[i].n_null);
        g_assert_cmpuint(kmem_reader_stats(reader)->n_bad, ==, 0);
        g_assert_cmpuint(bytes_req, ==, rows[i].bytes_req);
        g_assert_cmpuint(bytes_alloc, ==, rows[i].bytes_alloc);
    }
}

/* C40: 3 allocations, 6 frees of which 3 unmatched, none left, all on one CPU; debug padding is suspected. */
static void
test_unmatched(void)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", "kmem-03.txt", NULL);
    const ReplayRequest request = {.trace_path = path, .n_starts = 1, .n_copies = 1, .kernel = SLAB_KERNEL(5, 10)};
    GError *error = NULL;
    g_autoptr(ReplayRun) run = replay_run(&request, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(run->replay->n_events, ==, 9);
    g_assert_cmpuint(run->replay->n_unmatched_frees, ==, 3);
    g_assert_cmpuint(replay_n_live(run->replay), ==, 0);
    g_assert_cmpuint(run->names.n_padded, >, 0);
    g_assert_cmpuint(run->stats.n_hashed, ==, run->stats.n_pointers);
}

/* Bulk calls tell no size. Where nothing else does their objects are left out, and still come and go. */
static void
test_sizeless(void)
{
    static const char cycle[] =
        " sh-1 [000] ..... 1.%06u: bulk_alloc: (f+0x1/0x2) name=\"node\" n=2 ret=2 p={0xffff8905fbc7eb00,0xffff8905fbc7e300}\n"
        " sh-1 [000] ..... 1.%06u: bulk_free: (f+0x0/0x2) s=0xffff890580045a00 name=\"node\" n=2 "
        "p={0xffff8905fbc7eb00,0xffff8905fbc7e300}\n";
    g_autoptr(GString) text = g_string_new("# tracer: nop\n");
    g_autofree char *path = NULL;
    ReplayRequest request = {.n_starts = 1, .n_copies = 1, .kernel = SLAB_KERNEL(6, 1)};
    GError *error = NULL;
    g_autoptr(ReplayRun) run = NULL;

    for (guint i = 0; i < 3; i++)
        g_string_append_printf(text, cycle, 2 * i, 2 * i + 1);
    close(g_file_open_tmp("slubsim-XXXXXX.txt", &path, NULL));
    g_assert_true(g_file_set_contents(path, text->str, (gssize) text->len, NULL));
    request.trace_path = path;
    run = replay_run(&request, &error);
    g_unlink(path);
    g_assert_no_error(error);
    g_assert_cmpuint(run->stats.n_bad, ==, 0);
    g_assert_cmpuint(run->replay->n_events, ==, 6);
    g_assert_cmpuint(run->replay->n_sizeless, ==, 6);
    g_assert_cmpuint(run->replay->n_reused, ==, 0);
    g_assert_cmpuint(replay_n_live(run->replay), ==, 0);
}

static char *
some_text(gsize *ret_n)
{
    GString *text = g_string_new("# tracer: nop\n# entries-in-buffer/entries-written: 10/30   #P:4\n");

    for (guint i = 0; i < 20000; i++)
        g_string_append_printf(text, "  sh-%u [%03u] .....  %u.%06u: kfree: call_site=f+0x%x/0x100 ptr=ffff8d52%08x\n",
                               i, i % 4, i / 1000, i, i % 256, i * 64 + 64);
    *ret_n = text->len;
    return g_string_free(text, FALSE);
}

static char *
gzipped(const char *text, gsize n, gsize *ret_n)
{
    gsize size = compressBound(n) + 64;
    char *bytes = g_malloc(size);
    z_stream z = {
        .next_in = (Bytef *) text, .avail_in = (uInt) n, .next_out = (Bytef *) bytes, .avail_out = (uInt) size};

    g_assert_cmpint(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
    g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
    *ret_n = size - z.avail_out;
    deflateEnd(&z);
    return bytes;
}

static char *
zstd_of(const char *text, gsize n, gsize *ret_n)
{
    char *bytes = g_malloc(ZSTD_compressBound(n));

    *ret_n = ZSTD_compress(bytes, ZSTD_compressBound(n), text, n, 3);
    g_assert_false(ZSTD_isError(*ret_n));
    return bytes;
}

/* Compressed streams, also two in one file, give what the text gives; cut ones give what was before the cut, and say
 * so. */
static void
test_streams(void)
{
    gsize n;
    g_autofree char *text = some_text(&n);
    char *(*const packers[])(const char *, gsize, gsize *) = {gzipped, zstd_of};

    for (gsize i = 0; i < G_N_ELEMENTS(packers); i++) {
        gsize n_packed;
        g_autofree char *packed = packers[i](text, n, &n_packed);
        g_autoptr(GByteArray) twice = g_byte_array_new();
        g_autofree char *whole = NULL, *cut = NULL, *flipped = NULL;
        g_autoptr(GError) error = NULL;
        KmemReaderStats stats;

        g_byte_array_append(twice, (const guint8 *) packed, (guint) n_packed);
        g_byte_array_append(twice, (const guint8 *) packed, (guint) n_packed);
        whole = temporary((const char *) twice->data, twice->len);
        stats = read_all(whole, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(stats.n_events, ==, 40000);
        g_assert_cmpuint(stats.n_bytes, ==, 2 * n);
        g_assert_cmpuint(stats.n_overwritten, ==, 40);
        cut = temporary((const char *) twice->data, twice->len - n_packed / 2);
        stats = read_all(cut, NULL, NULL, &error);
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_assert_cmpuint(stats.n_events, >=, 20000);
        g_assert_cmpuint(stats.n_events, <, 40000);
        g_clear_error(&error);
        memset(twice->data + n_packed + n_packed / 2, 0xff, 64);
        flipped = temporary((const char *) twice->data, twice->len);
        read_all(flipped, NULL, NULL, &error);
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_unlink(whole);
        g_unlink(cut);
        g_unlink(flipped);
    }
}

/* A line longer than any buffer, NUL bytes, no end of line at the end. */
static void
test_monsters(void)
{
    static const char event[] = " t-1 [003] .... 1.5: kfree: call_site=f ptr=ff";
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree guint8 *filler = g_malloc(5000000);
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    KmemReaderStats stats;

    memset(filler, 'x', 5000000);
    g_byte_array_append(bytes, (const guint8 *) event, sizeof event - 1);
    g_byte_array_append(bytes, (const guint8 *) "\n\0\0\0[\0\n", 7);
    g_byte_array_append(bytes, filler, 5000000);
    g_byte_array_append(bytes, (const guint8 *) "\n", 1);
    g_byte_array_append(bytes, (const guint8 *) event, sizeof event - 1);
    path = temporary((const char *) bytes->data, bytes->len);
    stats = read_all(path, NULL, NULL, &error);
    g_unlink(path);
    g_assert_no_error(error);
    g_assert_cmpuint(stats.n_events, ==, 2);
    g_assert_cmpuint(stats.n_lines, ==, 4);
    g_assert_cmpuint(stats.n_bad, ==, 1);
    g_assert_cmpuint(stats.first_bad_line, ==, 3);
}

/* Random damage to a real file is read to some end. */
static void
test_damage(void)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "data", "kmem-01.txt", NULL);
    g_autofree char *text = NULL;
    gsize n;
    SimRng rng;

    g_assert_true(g_file_get_contents(path, &text, &n, NULL));
    sim_rng_init(&rng, 1, 0, "test", "damage");
    for (guint i = 0; i < 200; i++) {
        g_autofree char *damaged = g_memdup2(text, n);
        g_autofree char *copy = NULL;
        KmemReaderStats stats;

        for (guint j = 0; j < 20; j++)
            damaged[sim_rng_below(&rng, n)] = (char) sim_rng_below(&rng, 256);
        copy = temporary(damaged, (gsize) sim_rng_below(&rng, n));
        stats = read_all(copy, NULL, NULL, NULL);
        g_assert_cmpuint(stats.n_events + stats.n_bad + stats.n_null + stats.n_other + stats.n_lost_marks, ==,
                         stats.n_lines);
        g_unlink(copy);
    }
}

/* What is written is read back the same. */
static void
test_written(void)
{
    static const guint64 ptrs[] = {0xffff800000500000, 0xffff800000500040};
    KmemEvent events[] = {
        {.op = KMEM_ALLOC,
         .time_ns = 5000000001,
         .cpu = 3,
         .ptr = ptrs[0],
         .bytes_req = 50,
         .bytes_alloc = 64,
         .node = 1,
         .is_kmalloc = TRUE,
         .gfp = SLAB_GFP_ACCOUNT},
        {.op = KMEM_FREE,
         .time_ns = 5000000002,
         .cpu = 700,
         .context = KMEM_SOFTIRQ,
         .ptr = ptrs[1],
         .node = -1,
         .cache = {"dentry", 6}},
        {.op = KMEM_FREE_BULK,
         .time_ns = 6000000000,
         .n = 2,
         .n_shown = 2,
         .ptrs = ptrs,
         .node = -1,
         .cache = {"dentry", 6}},
        {.op = KMEM_PROBE, .probe = KMEM_PROBE_UNFREEZE, .node = -1, .cache = {"dentry", 6}},
        {.op = KMEM_LOST, .n_lost = 12},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(events); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *path = NULL;
        g_autoptr(KmemReader) reader = NULL;
        KmemEvent event;

        kmem_write_event(&events[i], text);
        path = temporary(text->str, text->len);
        reader = kmem_reader_open(path, NULL);
        g_assert_true(kmem_reader_next(reader, &event, NULL));
        g_unlink(path);
        g_assert_cmpint(event.op, ==, events[i].op);
        g_assert_cmpuint(event.n_lost, ==, events[i].n_lost);
        if (event.op == KMEM_LOST)
            continue;
        g_assert_cmpint(event.time_ns, ==, events[i].time_ns);
        g_assert_cmpuint(event.cpu, ==, events[i].cpu);
        g_assert_cmpint(event.context, ==, events[i].context);
        g_assert_cmphex(event.ptr, ==, events[i].ptr);
        g_assert_cmpuint(event.bytes_alloc, ==, events[i].bytes_alloc);
        g_assert_cmpuint(event.gfp, ==, events[i].gfp);
        g_assert_cmpint(event.node, ==, events[i].node);
        g_assert_cmpuint(event.n, ==, events[i].n);
        g_assert_cmpint(event.probe, ==, events[i].probe);
    }
}

/* The object table against GLib's, over random additions and removals that make long probe chains. */
static void
test_table(void)
{
    g_autoptr(GHashTable) truth = g_hash_table_new(NULL, NULL);
    ReplayTable table;
    SimRng rng;

    replay_table_init(&table, 2);
    sim_rng_init(&rng, 2, 0, "test", "table");
    for (guint i = 0; i < 300000; i++) {
        guint64 key = 1 + sim_rng_below(&rng, i < 150000 ? 60000 : 3000) * 64;
        guint32 *row = replay_table_find(&table, key);
        gpointer known = g_hash_table_lookup(truth, GSIZE_TO_POINTER(key));

        g_assert_cmpuint(row ? row[1] : 0, ==, GPOINTER_TO_UINT(known));
        if (row) {
            replay_table_remove(&table, row);
            g_hash_table_remove(truth, GSIZE_TO_POINTER(key));
        } else {
            replay_table_add(&table, key)[1] = i + 1;
            g_hash_table_insert(truth, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(i + 1));
        }
        g_assert_cmpuint(table.n_keys, ==, g_hash_table_size(truth));
    }
    replay_table_clear(&table);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    sim_gsl_init();
    g_test_add_func("/kmem-reader/lines", test_lines);
    g_test_add_func("/kmem-reader/odd-lines", test_odd_lines);
    g_test_add_func("/kmem-reader/bulk", test_bulk);
    g_test_add_func("/kmem-reader/bulk-null", test_bulk_null);
    g_test_add_func("/kmem-reader/cases", test_cases);
    g_test_add_func("/kmem-reader/unmatched", test_unmatched);
    g_test_add_func("/kmem-reader/sizeless", test_sizeless);
    g_test_add_func("/kmem-reader/streams", test_streams);
    g_test_add_func("/kmem-reader/monsters", test_monsters);
    g_test_add_func("/kmem-reader/damage", test_damage);
    g_test_add_func("/kmem-reader/written", test_written);
    g_test_add_func("/replay-table/random", test_table);
    return g_test_run();
}
