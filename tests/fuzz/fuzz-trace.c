/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a recorded trace: read to the end, then replayed freely and guided. */
#include "fuzz-target.h"

#include <sys/mman.h>
#include <unistd.h>

#include "kmem-reader.h"
#include "replay-run.h"

/* A file that only this process sees; path for opening it again. */
static char *
hold(const uint8_t *data, size_t size, int *ret_file)
{
    int file = memfd_create("trace", 0);

    g_assert_cmpint(file, >=, 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, data + done, size - done);

        g_assert_cmpint(n, >, 0);
        done += (size_t) n;
    }
    *ret_file = file;
    return g_strdup_printf("/proc/self/fd/%d", file);
}

static void
check_event(const KmemEvent *event)
{
    g_assert_cmpuint(event->op, <=, KMEM_LOST);
    g_assert_cmpuint(event->cpu, <, KMEM_MAX_CPUS);
    g_assert_cmpuint(event->context, <, KMEM_N_CONTEXTS);
    if (event->op == KMEM_PROBE)
        g_assert_cmpuint(event->probe, <, KMEM_N_PROBES);
    if (event->op == KMEM_ALLOC_BULK || event->op == KMEM_FREE_BULK) {
        g_assert_cmpuint(event->n_shown, <=, MIN(event->n, (guint) KMEM_BULK_SHOWN));
        for (guint i = 0; i < event->n_shown; i++)
            g_assert_cmpuint(event->ptrs[i], !=, 0);
    }
}

static void
read_all(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(KmemReader) reader = kmem_reader_open(path, &error);
    const KmemReaderStats *stats;
    KmemEvent event;
    guint64 n = 0;

    g_assert_no_error(error);
    while (kmem_reader_next(reader, &event, &error)) {
        check_event(&event);
        n++;
    }
    stats = kmem_reader_stats(reader);
    g_assert_cmpuint(stats->n_events, ==, n);
    g_assert_true((stats->first_bad_line == 0) == (stats->n_bad == 0));
    g_assert_cmpuint(stats->first_bad_line, <=, stats->n_lines);
}

static void
replay(const char *path, ReplayMode mode)
{
    ReplayRequest request = {.trace_path = path,
                             .mode = mode,
                             .n_starts = 1,
                             .n_copies = 1,
                             .warm_fraction = 0.3,
                             .kernel = SLAB_KERNEL(6, 1),
                             .ignores_files_beside = TRUE};
    g_autoptr(GError) error = NULL;
    g_autoptr(ReplayRun) run = replay_run(&request, &error);

    g_assert_true((run == NULL) == (error != NULL));
    if (run) {
        g_autofree char *why = replay_check(run->replay);

        g_assert_cmpstr(why, ==, NULL);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file;
    g_autofree char *path = hold(data, size, &file);

    read_all(path);
    for (guint mode = REPLAY_FREE; mode <= REPLAY_GUIDED; mode++)
        replay(path, (ReplayMode) mode);
    close(file);
    return 0;
}
