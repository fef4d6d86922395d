/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-run.h"

#include <string.h>

#include "replay-guide.h"
#include "replay-write.h"
#include "replay-machine.h"
#include "sim-error.h"

void
replay_run_free(ReplayRun *run)
{
    if (!run)
        return;
    replay_free(run->replay);
    replay_catalog_free(run->catalog);
    replay_names_clear(&run->names);
    replay_counted_free(run->counted);
    g_free(run->listing_path);
    g_free(run->counts_path);
    g_ptr_array_unref(run->notes);
    g_clear_error(&run->damage);
    g_free(run);
}

G_GNUC_PRINTF(2, 3)
static void
note(ReplayRun *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_ptr_array_add(run->notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

/* "X.events.tsv.gz" has "X.geom-before.tsv" and so on beside it. NULL when there is no such file. */
static char *
file_beside(const char *trace_path, const char *suffix)
{
    static const char *const endings[] = {".gz", ".zst", ".tsv", ".txt", ".trace", ".events"};
    g_autofree char *base = g_strdup(trace_path);
    g_autofree char *path = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(base, endings[i]))
            base[strlen(base) - strlen(endings[i])] = '\0';
    path = g_strconcat(base, suffix, NULL);
    return g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer(&path) : NULL;
}

static char *
find_file(const ReplayRequest *request, const char *given, const char *suffix)
{
    if (given)
        return g_strdup(given);
    return request->ignores_files_beside ? NULL : file_beside(request->trace_path, suffix);
}

typedef struct {
    guint n_cpus;
    gint64 first_time_ns, last_time_ns;
} Extent;

/* The first pass. Damage at the end is found again by the second. */
static gboolean
scan(const char *path, ReplayNames *names, Extent *extent, GError **error)
{
    g_autoptr(KmemReader) reader = kmem_reader_open(path, error);
    KmemEvent event;

    if (!reader)
        return FALSE;
    *extent = (Extent){.first_time_ns = G_MAXINT64, .last_time_ns = G_MININT64};
    while (kmem_reader_next(reader, &event, NULL)) {
        if (event.op == KMEM_LOST)
            continue;
        extent->n_cpus = MAX(extent->n_cpus, event.cpu + 1);
        extent->first_time_ns = MIN(extent->first_time_ns, event.time_ns);
        extent->last_time_ns = MAX(extent->last_time_ns, event.time_ns);
        replay_names_learn(names, &event);
    }
    replay_names_learned(names);
    if (kmem_reader_stats(reader)->n_events == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE,
                    "%s: no event of the slab allocator in %" G_GUINT64_FORMAT " lines (%" G_GUINT64_FORMAT " damaged)",
                    path, kmem_reader_stats(reader)->n_lines, kmem_reader_stats(reader)->n_bad);
        return FALSE;
    }
    extent->n_cpus = MAX(extent->n_cpus, kmem_reader_header_cpus(reader));
    return TRUE;
}

static gboolean
load_catalog(const ReplayRequest *request, ReplayRun *run, GError **error)
{
    SlabGeometryEnv env =
        slab_geometry_env_default(request->kernel ? request->kernel : SLAB_KERNEL(6, 5), MAX(request->n_cpus, 1));

    run->listing_path = find_file(request, request->listing_path, ".geom-before.tsv");
    if (!run->listing_path)
        run->listing_path = find_file(request, NULL, ".caches");
    run->counts_path = find_file(request, request->counts_path, ".counts.tsv");
    run->catalog = replay_catalog_new(&env, run->listing_path, error);
    if (!run->catalog)
        return FALSE;
    run->recorded_kernel = run->catalog->listing->env.kernel;
    if (run->counts_path)
        run->counted = replay_counted_load(run->counts_path, error);
    return !run->counts_path || run->counted;
}

/* The recorded machine's nodes: from an .env beside, else one node. */
static ReplayShape
recorded_shape(const ReplayRequest *request, guint n_cpus)
{
    g_autofree char *path = find_file(request, NULL, ".env");
    g_autofree char *text = NULL;
    ReplayShape shape;

    if (path && g_file_get_contents(path, &text, NULL, NULL) && replay_shape_from_env(text, &shape)) {
        if (shape.n_cpus >= n_cpus)
            return shape;
        g_free(shape.cpu_node);
    }
    return (ReplayShape){.n_cpus = MAX(n_cpus, 1), .n_nodes = 1};
}

/* The settings that differ from the recorded ones, each said. */
static gboolean
apply_changes(const ReplayRequest *request, ReplayRun *run, guint n_cpus, GError **error)
{
    SlabGeometryEnv *env = &run->catalog->listing->env;

    if (request->kernel && request->kernel != env->kernel) {
        note(run,
             "kernel %u.%u instead of the recorded %u.%u: sizes, orders and limits by its rules; which objects "
             "are allocated stays as recorded",
             request->kernel / 1000, request->kernel % 1000, env->kernel / 1000, env->kernel % 1000);
        env->kernel = request->kernel;
        run->catalog->is_changed = TRUE;
    }
    if (n_cpus != env->n_possible_cpus) {
        env->n_possible_cpus = env->n_present_cpus = n_cpus;
        run->catalog->is_changed |= request->n_cpus != 0;
    }
    for (const char *const *boot = request->boot; boot && *boot; boot++) {
        gboolean is_known = FALSE;

        if (!slab_listing_boot_parameter(env, *boot, &is_known, error))
            return FALSE;
        if (!is_known) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY,
                        "%s: not slub_min_order=, slub_max_order= or "
                        "slub_min_objects=",
                        *boot);
            return FALSE;
        }
        run->catalog->is_changed = TRUE;
    }
    for (const char *const *set = request->sets; set && *set; set++)
        if (!replay_catalog_set(run->catalog, *set, error))
            return FALSE;
    return TRUE;
}

static MachTopology *
make_machine(const ReplayRequest *request, ReplayRun *run, guint n_traced_cpus, GError **error)
{
    ReplayShape shape = recorded_shape(request, n_traced_cpus);
    g_autofree guint16 *cpu_node = shape.cpu_node;

    run->recorded_cpus = shape.n_cpus;
    run->recorded_nodes = shape.n_nodes;
    if (request->n_cpus || request->n_nodes || request->n_copies > 1) {
        shape.cpu_node = NULL;
        shape.n_cpus = request->n_cpus ? request->n_cpus : shape.n_cpus * request->n_copies;
        if (request->n_nodes)
            shape.n_nodes = request->n_nodes;
        if (shape.n_cpus != run->recorded_cpus || shape.n_nodes != run->recorded_nodes)
            note(run,
                 "%u CPUs on %u nodes instead of the recorded %u on %u: CPU c of copy i runs as CPU c + %u * i, "
                 "modulo the CPUs there are; nodes are equal blocks of CPUs",
                 shape.n_cpus, shape.n_nodes, run->recorded_cpus, run->recorded_nodes, run->recorded_cpus);
        if (request->n_copies > 1)
            note(run,
                 "%u copies of the load in lockstep: each recorded event happens on all copies, one after the "
                 "other; copies share caches, nodes and lists, but no objects",
                 request->n_copies);
    }
    if (!apply_changes(request, run, shape.n_cpus, error))
        return NULL;
    return replay_topology_new(&shape, error);
}

static void
note_doubts(ReplayRun *run)
{
    const KmemReaderStats *s = &run->stats;
    const Replay *replay = run->replay;

    if (!run->listing_path)
        note(run, "no listing of the recorded machine: sizes are those of the trace, alignment and flags are unknown, "
                  "and the caches start empty");
    if (run->damage)
        note(run, "INCOMPLETE: %s; the numbers are those up to there", run->damage->message);
    if (s->n_bad)
        note(run, "%" G_GUINT64_FORMAT " damaged lines, the first is line %" G_GUINT64_FORMAT, s->n_bad,
             s->first_bad_line);
    if (s->n_lost_marks || s->n_overwritten)
        note(run,
             "events are missing: %" G_GUINT64_FORMAT " marks (%" G_GUINT64_FORMAT
             " events said to be lost), %" G_GUINT64_FORMAT " overwritten",
             s->n_lost_marks, s->n_lost, s->n_overwritten);
    if (s->n_hidden)
        note(run, "%" G_GUINT64_FORMAT " objects of bulk calls are not shown in the trace", s->n_hidden);
    if (s->n_pointers && s->n_hashed == s->n_pointers)
        note(run, "pointers are hashed, or of a 32-bit machine: recorded slabs cannot be told");
    if (s->n_same_time * 2 > s->n_events)
        note(run,
             "coarse clock: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " events have the time of the one before;"
             " their order is that of the file",
             s->n_same_time, s->n_events);
    if (run->names.n_sites)
        note(run,
             "nothing tells the caches of %u call sites: each is taken for a cache of its own, SITE:SIZE, though several may "
             "share one",
             run->names.n_sites);
    if (run->names.n_padded)
        note(run, "%" G_GUINT64_FORMAT " kmalloc objects are larger than their class: was slab debugging on?",
             run->names.n_padded);
    if (replay->n_reused)
        note(run, "%" G_GUINT64_FORMAT " pointers were handed out twice without a free between: taken as freed",
             replay->n_reused);
    if (replay->n_sizeless)
        note(run, "%" G_GUINT64_FORMAT " objects of bulk calls are left out: nothing tells the size of their cache",
             replay->n_sizeless);
    if (replay->n_unknown_frees)
        note(run, "%" G_GUINT64_FORMAT " frees of objects from before the trace name no cache and are left out",
             replay->n_unknown_frees);
    if (replay->failure)
        note(run, "left out: %s", replay->failure->message);
}

static gboolean
pass(const ReplayRequest *request, ReplayRun *run, GError **error)
{
    g_autoptr(KmemReader) reader = kmem_reader_open(request->trace_path, error);
    KmemEvent event;

    if (!reader)
        return FALSE;
    while (kmem_reader_next(reader, &event, &run->damage)) {
        if (!replay_feed(run->replay, &event, error))
            return FALSE;
        if (request->write)
            replay_write_event(request->write, run->replay, &event);
        if (request->on_event)
            request->on_event(run->replay, &event, request->data);
    }
    replay_finish(run->replay);
    run->stats = *kmem_reader_stats(reader);
    return TRUE;
}

static gint64
follow_until(const ReplayRequest *request, const Extent *extent)
{
    if (request->mode == REPLAY_GUIDED)
        return G_MAXINT64;
    if (request->mode == REPLAY_FREE)
        return G_MININT64;
    return extent->first_time_ns +
           (gint64) (request->warm_fraction * (double) (extent->last_time_ns - extent->first_time_ns));
}

/* What is followed step by step begins with a CPU's slab. */
static gboolean
check_mode(const ReplayRequest *request, const ReplayRun *run, GError **error)
{
    guint kernel = MAX(run->recorded_kernel, request->kernel);

    if (request->mode == REPLAY_FREE || kernel < SLAB_KERNEL(7, 0))
        return TRUE;
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                "--mode guided and warm follow cpu slabs, which kernel %u.%u does not have (allowed: free)", kernel / 1000,
                kernel % 1000);
    return FALSE;
}

ReplayRun *
replay_run(const ReplayRequest *request, GError **error)
{
    g_autoptr(ReplayRun) run = g_new0(ReplayRun, 1);
    gboolean is_file = !g_str_equal(request->trace_path, "-");
    Extent extent = {.n_cpus = request->n_cpus};
    MachTopology *topology;
    ReplayParams params;

    run->notes = g_ptr_array_new_with_free_func(g_free);
    if (!load_catalog(request, run, error) || !check_mode(request, run, error))
        return NULL;
    replay_names_init(&run->names, &run->catalog->listing->env);
    if (is_file ? !scan(request->trace_path, &run->names, &extent, error) : extent.n_cpus == 0) {
        if (!is_file)
            g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "a trace from standard input needs --cpus");
        return NULL;
    }
    run->first_time_ns = extent.first_time_ns;
    run->last_time_ns = extent.last_time_ns;
    topology = make_machine(request, run, extent.n_cpus, error);
    if (!topology)
        return NULL;
    params = (ReplayParams){
        .n_starts = request->mode == REPLAY_GUIDED ? 1 : request->n_starts,
        .seed = request->seed,
        .n_copies = request->n_copies,
        .n_traced_cpus = run->recorded_cpus,
        .first_time_ns = is_file ? extent.first_time_ns : 0,
        .last_time_ns = is_file ? extent.last_time_ns : 0,
        .reads_first_slabs = !run->catalog->is_changed && request->n_copies == 1,
        .follow_until_ns = follow_until(request, &extent),
    };
    run->replay = replay_new(&params, run->catalog, &run->names, topology, error);
    if (run->replay)
        run->replay->write = request->write;
    if (!run->replay || !pass(request, run, error))
        return NULL;
    note_doubts(run);
    return g_steal_pointer(&run);
}
