/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MB/s of trace text on one core: the reader, the reader with the replay behind it, and beside them in the same run
 * `wc -l` and a bare loop that only finds the ends of lines. Arguments: a trace (default: a made-up one). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmem-reader.h"
#include "replay-run.h"
#include "sim-gsl.h"

enum {
    N_ROUNDS = 3,
    N_PAIRS = 400000,
    N_LIVE = 5000,
};

static volatile guint64 sink;

/* Two million allocations and frees of a hundred sizes in the words of a 6.1 kernel would be the same to the reader:
 * what counts is the length and the number of fields of a line. */
static char *
make_trace(void)
{
    char *path = NULL;
    gint file = g_file_open_tmp("bench-replay-XXXXXX.txt", &path, NULL);
    FILE *out = fdopen(file, "w");

    fputs("# tracer: nop\n# entries-in-buffer/entries-written: 1/1   #P:8\n", out);
    for (guint i = 0; i < N_PAIRS + N_LIVE; i++) {
        if (i < N_PAIRS)
            fprintf(
                out,
                "       hackbench-%u     [%03u] .....    %u.%06u: kmem_cache_alloc: call_site=__alloc_skb+0x8d/0x1c0 "
                "ptr=ffff8d52%08x bytes_req=232 bytes_alloc=256 gfp_flags=GFP_KERNEL node=-1 accounted=false\n",
                400 + i % 40, i % 8, i / 100000, i % 100000 * 10, i * 256);
        if (i >= N_LIVE)
            fprintf(
                out,
                "       hackbench-%u     [%03u] .....    %u.%06u: kmem_cache_free: call_site=kfree_skbmem+0x4e/0x90 "
                "ptr=ffff8d52%08x name=skbuff_head_cache\n",
                400 + i % 40, i * 5 % 8, i / 100000, i % 100000 * 10 + 5, (i - N_LIVE) * 256);
    }
    fclose(out);
    return path;
}

static void
run_wc(const char *path)
{
    g_autofree char *command = g_strdup_printf("wc -l < %s > /dev/null", path);

    sink += (guint64) system(command);
}

static void
run_lines(const char *path)
{
    static char buffer[1 << 20];
    int file = open(path, O_RDONLY);
    gssize n;

    while ((n = read(file, buffer, sizeof buffer)) > 0)
        for (const char *p = buffer; (p = memchr(p, '\n', (gsize) (buffer + n - p))); p++)
            sink++;
    close(file);
}

static void
run_reader(const char *path)
{
    g_autoptr(KmemReader) reader = kmem_reader_open(path, NULL);
    KmemEvent event;

    while (reader && kmem_reader_next(reader, &event, NULL))
        sink += event.ptr;
}

static void
run_replay(const char *path)
{
    const ReplayRequest request = {.trace_path = path, .n_starts = 1, .n_copies = 1, .seed = 1};
    g_autoptr(ReplayRun) run = replay_run(&request, NULL);

    sink += run ? run->replay->n_events : 0;
}

static const struct {
    const char *name;
    void (*run)(const char *path);
} rows[] = {
    {"wc -l", run_wc},
    {"line ends only", run_lines},
    {"reader", run_reader},
    {"replay, both passes, one start", run_replay},
};

int
main(int argc, char **argv)
{
    g_autofree char *path = argc > 1 ? g_strdup(argv[1]) : make_trace();
    struct stat status;

    sim_gsl_init();
    if (stat(path, &status) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        double best_s = G_MAXDOUBLE;

        for (guint round = 0; round < N_ROUNDS; round++) {
            gint64 begin = g_get_monotonic_time();

            rows[i].run(path);
            best_s = MIN(best_s, (double) (g_get_monotonic_time() - begin) * 1e-6);
        }
        printf("%-32s %8.0f MB/s\n", rows[i].name, (double) status.st_size * 1e-6 / best_s);
    }
    if (argc < 2)
        unlink(path);
    return 0;
}
