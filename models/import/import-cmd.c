/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import-cmd.h"

#include "imp-caches.h"
#include "imp-check.h"
#include "imp-compare.h"
#include "imp-host.h"
#include "imp-read.h"
#include "imp-report.h"
#include "sim-quantity.h"
#include "slab-listing.h"
#include "slab-math.h"

typedef struct {
    char *kernel, *page_size, *output, *meminfo;
    gint n_cpus, table, n_top;
    gboolean is_host;
    char **arguments;
    ImpGiven given;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->kernel);
    g_free(options->page_size);
    g_free(options->output);
    g_free(options->meminfo);
    g_strfreev(options->arguments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
fault(GError **error, SimErrorCode code, const char *what)
{
    g_set_error_literal(error, SIM_ERROR, code, what);
    return FALSE;
}

static gboolean
check_options(Options *options, GError **error)
{
    gint64 page_size_bytes = 0;

    if (options->kernel != NULL && !slab_listing_parse_kernel(options->kernel, &options->given.kernel, error))
        return FALSE;
    if (options->page_size != NULL && !sim_parse_size(options->page_size, &page_size_bytes, error)) {
        g_prefix_error(error, "--page-size: ");
        return FALSE;
    }
    if (page_size_bytes != 0 &&
        (page_size_bytes < 4096 || page_size_bytes > 65536 || !slab_is_power_of_two((guint) page_size_bytes)))
        return fault(error, SIM_ERROR_RANGE, "--page-size: from 4K to 64K, a power of two");
    if (options->n_cpus < 0 || options->n_cpus > 8191)
        return fault(error, SIM_ERROR_RANGE, "--cpus: from 1 to 8191");
    if (options->table < 0 || options->n_top < 0)
        return fault(error, SIM_ERROR_RANGE, "--table and --top count from 1");
    options->given.page_size_bytes = (guint) page_size_bytes;
    options->given.n_cpus = (guint) options->n_cpus;
    if (options->is_host)
        return options->arguments == NULL || fault(error, SIM_ERROR_PARSE, "--host reads no file");
    if (options->arguments == NULL || options->arguments[1] != NULL)
        return fault(error, SIM_ERROR_PARSE, "exactly one FILE, folder or - is wanted; see --help");
    return TRUE;
}

static gboolean
options_parse(Options *options, const char *summary, const GOptionEntry *own, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"kernel", 0, 0, G_OPTION_ARG_STRING, &options->kernel, "Release, when you know it", "VERSION"},
        {"cpus", 0, 0, G_OPTION_ARG_INT, &options->n_cpus, "CPUs, when you know them", "N"},
        {"page-size", 0, 0, G_OPTION_ARG_STRING, &options->page_size, "When you know it", "SIZE"},
        {"table", 0, 0, G_OPTION_ARG_INT, &options->table, "Which of several tables (default: the last)", "N"},
        {"host", 0, 0, G_OPTION_ARG_NONE, &options->is_host, "The machine this runs on; reads, never writes", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->arguments, NULL, NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE|FOLDER|-");
    GOptionGroup *group = g_option_group_new("", "", "", options, NULL);

    g_option_group_add_entries(group, entries);
    g_option_group_add_entries(group, own);
    g_option_context_set_main_group(context, group);
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(
        context,
        "Read: /proc/slabinfo (1.x, 2.x), /sys/kernel/slab (tree, pasted listing, table), slabtop, the slabinfo "
        "tool,\ncrash kmem -s, perf kmem; quoted, wrapped, cut or encoded by mail.");
    return g_option_context_parse(context, &argc, &argv, error) && check_options(options, error);
}

/* The table asked for, or the last that has rows. */
static gboolean
choose_table(const Options *options, const ImpDump *dump, guint *ret_table, GError **error)
{
    if (options->table > (gint) dump->tables->len) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--table %d: there are %u", options->table, dump->tables->len);
        return FALSE;
    }
    *ret_table =
        options->table > 0 ? (guint) options->table - 1 : g_array_index(dump->rows, ImpRow, dump->rows->len - 1).table;
    return TRUE;
}

static gboolean
refuse_without_caches(const ImpDump *dump, const char *path, GError **error)
{
    if (dump->shows == IMP_SHOWS_NOTHING)
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s is %s: slubsim replay reads it", path, dump->format);
    else if (dump->shows == IMP_SHOWS_CALL_SITES)
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "%s is %s: it names call sites, no caches, so there is no cache set in it", path, dump->format);
    else if (dump->is_old_slab)
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "%s is of the old SLAB allocator, not SLUB (its limits and batches are above 0, or it is slabinfo "
                    "1.x): SLUB's rules do not hold for it; slubsim inspect shows its memory",
                    path);
    else
        return TRUE;
    return FALSE;
}

static gboolean
write_output(const Options *options, const GString *text, GError **error)
{
    g_autoptr(GError) cause = NULL;

    if (options->output == NULL) {
        g_print("%s", text->str);
        return TRUE;
    }
    if (g_file_set_contents(options->output, text->str, (gssize) text->len, &cause))
        return TRUE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, cause->message);
    return FALSE;
}

static gboolean
write_caches(const Options *options, const ImpDump *dump, guint table, const ImpMachine *machine, const char *path,
             GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    guint n = imp_caches_write(dump, table, machine, text);

    if (n == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL,
                    "%s: %s without the size of any object: no cache set can be made of it; slubsim inspect shows what "
                    "it tells",
                    path, dump->format);
        return FALSE;
    }
    if (options->output != NULL) {
        g_autoptr(GString) notes = g_string_new(NULL);

        imp_notes_write(dump, "", notes);
        g_print("%s%u caches written to %s\n", notes->str, n, options->output);
    }
    return write_output(options, text, error);
}

static gboolean
import_file(const Options *options, GError **error)
{
    const char *path = options->arguments[0];
    g_autoptr(ImpDump) dump = imp_read_path(path, error);
    ImpMachine machine;
    guint table;

    if (dump == NULL || !refuse_without_caches(dump, path, error) || !choose_table(options, dump, &table, error))
        return FALSE;
    if (dump->tables->len > 1)
        imp_dump_note(dump, IMP_NOTE_DAMAGE, "table %u of %u is taken", table + 1, dump->tables->len);
    machine = imp_machine_infer(dump, table, &options->given);
    imp_check_table(dump, table, &machine);
    return write_caches(options, dump, table, &machine, path, error);
}

/* What is known of the live machine needs no inference. */
static ImpMachine
host_machine(ImpDump *dump, const ImpHost *host)
{
    ImpGiven given = {
        .kernel = host->env.kernel,
        .n_cpus = host->env.kernel >= SLAB_KERNEL(5, 11) ? host->env.n_present_cpus : host->env.n_possible_cpus,
        .page_size_bytes = host->env.page_size_bytes,
    };
    ImpMachine machine = imp_machine_infer(dump, 0, &given);

    machine.env = host->env;
    imp_check_table(dump, 0, &machine);
    return machine;
}

/* Both files of the kernel should tell the same of a cache. */
static void
compare_sources(const ImpHost *host, GString *report)
{
    g_autoptr(GHashTable) shapes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint n_other = 0;

    if (host->sysfs == NULL || host->slabinfo == NULL)
        return;
    for (guint pass = 0; pass < 2; pass++) {
        const GArray *rows = pass == 0 ? host->sysfs->rows : host->slabinfo->rows;

        for (guint i = 0; i < rows->len; i++) {
            const ImpRow *row = &g_array_index(rows, ImpRow, i);
            g_autofree char *shape = g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                                                     row->stride_bytes, row->objects_per_slab, row->order);

            if (pass == 0)
                g_hash_table_add(shapes, g_steal_pointer(&shape));
            else
                n_other += !g_hash_table_contains(shapes, shape);
        }
    }
    g_string_append_printf(report, "/proc/slabinfo: %u caches, %u of a geometry that /sys/kernel/slab has not.\n",
                           host->slabinfo->rows->len, n_other);
}

static gboolean
import_host(const Options *options, guint *ret_n_differing, GError **error)
{
    g_autoptr(GString) report = g_string_new(NULL);
    g_auto(ImpHost) host = {0};
    ImpMachine machine;
    ImpDump *dump;

    if (!imp_host_read("", &host, error))
        return FALSE;
    dump = host.sysfs != NULL ? host.sysfs : host.slabinfo;
    machine = host_machine(dump, &host);
    if (host.sysfs != NULL && !imp_compare_geometry(host.sysfs, &host.env, report, ret_n_differing, error))
        return FALSE;
    if (host.sysfs == NULL)
        *ret_n_differing = machine.n_misfits;
    compare_sources(&host, report);
    g_printerr("%s%s", host.refusals->str, report->str);
    return write_caches(options, dump, 0, &machine, "this machine", error);
}

/* Usage errors come from GOption and count as the user's. */
static int
complain(const char *command, const GError *error)
{
    g_printerr("slubsim %s: %s\n", command, error->message);
    return error->domain == G_OPTION_ERROR ? 2 : sim_error_exit_status(error);
}

int
import_cmd_import(int argc, char **argv)
{
    g_auto(Options) options = {0};
    const GOptionEntry own[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Where the .caches file goes (default: stdout)",
         "FILE"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GError) error = NULL;
    guint n_differing = 0;

    if (!options_parse(
            &options,
            "A .caches file from what a real machine printed of its caches, with comments on how it was read, "
            "what was\ninferred, what is not known and what does not add up.",
            own, argc, argv, &error) ||
        !(options.is_host ? import_host(&options, &n_differing, &error) : import_file(&options, &error)))
        return complain("import", error);
    return n_differing > 0 ? 1 : 0;
}

static void
inspect_dump(const Options *options, ImpDump *dump, guint table, const ImpMachine *machine)
{
    g_autoptr(GString) text = g_string_new(NULL);

    imp_notes_write(dump, "", text);
    g_string_append_c(text, '\n');
    if (dump->shows == IMP_SHOWS_CALL_SITES)
        imp_report_call_sites(dump, table, text);
    else {
        imp_report_tables(dump, machine, text);
        imp_report_memory(dump, table, machine, (guint) options->n_top, text);
        imp_report_activity(dump, table, text);
    }
    g_print("%s", text->str);
}

static gboolean
read_meminfo(const Options *options, ImpDump *dump, GError **error)
{
    g_autoptr(ImpText) text = NULL;

    if (options->meminfo == NULL)
        return TRUE;
    text = imp_text_load(options->meminfo, error);
    if (text != NULL)
        imp_read_meminfo(text, dump);
    return text != NULL;
}

static gboolean
inspect_file(const Options *options, GError **error)
{
    const char *path = options->arguments[0];
    g_autoptr(ImpDump) dump = imp_read_path(path, error);
    ImpMachine machine = {.env = slab_geometry_env_default(SLAB_KERNEL(5, 10), 1)};
    guint table;

    if (dump == NULL || (dump->shows == IMP_SHOWS_NOTHING && !refuse_without_caches(dump, path, error)) ||
        !choose_table(options, dump, &table, error) || !read_meminfo(options, dump, error))
        return FALSE;
    /* SLUB's rules say nothing of the old SLAB, nor of call sites. */
    if (!dump->is_old_slab && dump->shows == IMP_SHOWS_CACHES) {
        machine = imp_machine_infer(dump, table, &options->given);
        imp_check_table(dump, table, &machine);
    }
    inspect_dump(options, dump, table, &machine);
    return TRUE;
}

static gboolean
inspect_host(const Options *options, GError **error)
{
    g_auto(ImpHost) host = {0};
    ImpMachine machine;
    ImpDump *dump;

    if (!imp_host_read("", &host, error))
        return FALSE;
    g_printerr("%s", host.refusals->str);
    dump = host.sysfs != NULL ? host.sysfs : host.slabinfo;
    machine = host_machine(dump, &host);
    inspect_dump(options, dump, 0, &machine);
    return TRUE;
}

int
import_cmd_inspect(int argc, char **argv)
{
    g_auto(Options) options = {.n_top = 20};
    const GOptionEntry own[] = {
        {"top", 0, 0, G_OPTION_ARG_INT, &options.n_top, "Caches to print, 0 = all (default 20)", "N"},
        {"meminfo", 0, 0, G_OPTION_ARG_FILENAME, &options.meminfo, "/proc/meminfo of the same machine", "FILE"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GError) error = NULL;

    if (!options_parse(
            &options,
            "Memory by cache: in use, free slots, padding, lists; and what SLUB settings could free at most, "
            "or that none could.",
            own, argc, argv, &error) ||
        !(options.is_host ? inspect_host(&options, &error) : inspect_file(&options, &error)))
        return complain("inspect", error);
    return 0;
}
