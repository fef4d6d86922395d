/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-cmd.h"

#include <string.h>

#include "imp-load.h"
#include "sim-error.h"
#include "slab-debug.h"
#include "slab-ext.h"
#include "slab-listing.h"
#include "slab-merge.h"
#include "slab-old.h"
#include "slab-spec.h"

/* No option takes a negative number. */
#define NOT_GIVEN G_MININT

/* Releases whose rules slub-facts A has. */
#define FIRST_KERNEL SLAB_KERNEL(5, 10)
#define LAST_KERNEL SLAB_KERNEL(7, 3)
/* CONFIG_NR_CPUS of x86-64 at most, and MAX_PAGE_ORDER there. */
#define MAX_CPUS 8192
#define MAX_ORDER 10

/* Options as given; NULL and NOT_GIVEN mean not given. */
typedef struct {
    char *kernel, *page_size, *slub_debug, *among, *placement;
    gint n_cpus, n_present, pointer_bytes, min_objects, min_partial, max_partial, old_stage;
    GPtrArray *boot_parameters; /* slub_min_order=, slub_max_order=: their order counts */
    gboolean slab_nomerge, no_memcg, profiling;
    char **arguments;
    GString *out; /* printed at the end: a refusal stands alone, without half a table before it */
} Options;

static gboolean
keep_boot_parameter(const char *option, const char *value, gpointer data, GError **error)
{
    Options *options = data;
    const char *name = g_str_equal(option, "--slub-min-order") ? "slub_min_order" : "slub_max_order";

    /* The kernel would cap it in silence. */
    if (!g_ascii_string_to_unsigned(value, 10, 0, MAX_ORDER, NULL, NULL)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "%s: \"%s\" is no order (allowed: 0 to %d)", option, value,
                    MAX_ORDER);
        return FALSE;
    }
    g_ptr_array_add(options->boot_parameters, g_strdup_printf("%s=%s", name, value));
    return TRUE;
}

static void
options_clear(Options *options)
{
    g_free(options->kernel);
    g_free(options->page_size);
    g_free(options->slub_debug);
    g_free(options->among);
    g_free(options->placement);
    g_ptr_array_unref(options->boot_parameters);
    g_string_free(options->out, TRUE);
    g_strfreev(options->arguments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

/* `own` are the entries of one sub-command only. */
static gboolean
options_parse(Options *options, const char *form, const char *summary, const GOptionEntry *own, int argc, char **argv,
              GError **error)
{
    const GOptionEntry entries[] = {
        {"kernel", 0, 0, G_OPTION_ARG_STRING, &options->kernel, "Release whose rules hold (default 6.5)", "VERSION"},
        {"cpus", 0, 0, G_OPTION_ARG_INT, &options->n_cpus, "CPUs, possible and present (default 8)", "N"},
        {"present", 0, 0, G_OPTION_ARG_INT, &options->n_present, "CPUs present, when fewer", "N"},
        {"page-size", 0, 0, G_OPTION_ARG_STRING, &options->page_size, "4K, 16K or 64K (default 4K)", "SIZE"},
        {"pointer", 0, 0, G_OPTION_ARG_INT, &options->pointer_bytes, "Bytes of a pointer, 4 or 8 (default 8)", "N"},
        {"slub-min-order", 0, 0, G_OPTION_ARG_CALLBACK, keep_boot_parameter, "Boot parameter; order counts", "N"},
        {"slub-max-order", 0, 0, G_OPTION_ARG_CALLBACK, keep_boot_parameter, "Boot parameter; order counts", "N"},
        {"slub-min-objects", 0, 0, G_OPTION_ARG_INT, &options->min_objects, "Boot parameter, 0 = by CPUs", "N"},
        {"slub-debug", 0, 0, G_OPTION_ARG_STRING, &options->slub_debug, "Boot parameter, as FZPU or PU,dentry", "TEXT"},
        {"min-partial", 0, 0, G_OPTION_ARG_INT, &options->min_partial, "MIN_PARTIAL (default 5)", "N"},
        {"max-partial", 0, 0, G_OPTION_ARG_INT, &options->max_partial, "MAX_PARTIAL (default 10)", "N"},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->arguments, NULL, NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(form);
    GOptionGroup *group = g_option_group_new("", "", "", options, NULL);

    g_option_group_add_entries(group, entries);
    g_option_group_add_entries(group, own);
    g_option_context_set_main_group(context, group);
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(
        context, "Keys of a cache: align, flags (HWCACHE_ALIGN|TYPESAFE_BY_RCU|ACCOUNT|...), ctor, usersize, "
                 "freeptr_offset,\nsheaf_capacity, boot_cache, order, cpu_partial, cpu_partial_slabs, min_partial, names.");
    if (!g_option_context_parse(context, &argc, &argv, error))
        return FALSE;
    if (options->arguments == NULL) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, "no cache given; see --help");
        return FALSE;
    }
    return TRUE;
}

static Options
options_default(void)
{
    return (Options){
        .n_cpus = NOT_GIVEN,
        .n_present = NOT_GIVEN,
        .pointer_bytes = NOT_GIVEN,
        .min_objects = NOT_GIVEN,
        .min_partial = NOT_GIVEN,
        .max_partial = NOT_GIVEN,
        .old_stage = NOT_GIVEN,
        .boot_parameters = g_ptr_array_new_with_free_func(g_free),
        .out = g_string_new(NULL),
    };
}

static gboolean
apply_page_size(const char *text, SlabGeometryEnv *env, GError **error)
{
    static const struct {
        const char *text;
        guint bytes;
    } sizes[] = {{"4K", 4096}, {"16K", 16384}, {"64K", 65536}};

    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++)
        if (g_ascii_strcasecmp(text, sizes[i].text) == 0) {
            env->page_size_bytes = sizes[i].bytes;
            return TRUE;
        }
    g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--page-size: \"%s\" is none of 4K, 16K, 64K", text);
    return FALSE;
}

static gboolean
apply_number(const char *option, gint number, guint low, guint high, guint *field, GError **error)
{
    if (number == NOT_GIVEN)
        return TRUE;
    if (number < 0 || (guint) number < low || (guint) number > high) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--%s: %d is out of range (allowed: %u to %u)", option, number,
                    low, high);
        return FALSE;
    }
    *field = (guint) number;
    return TRUE;
}

static gboolean
apply_kernel(const char *text, SlabGeometryEnv *env, GError **error)
{
    guint kernel;

    if (!slab_listing_parse_kernel(text, &kernel, error)) {
        g_prefix_error(error, "--kernel: ");
        return FALSE;
    }
    if (kernel < FIRST_KERNEL || kernel > LAST_KERNEL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--kernel: the rules of %s are not known (allowed: 5.10 to 7.3)",
                    text);
        return FALSE;
    }
    env->kernel = kernel;
    return TRUE;
}

/* What is given on the command line wins over what `env` says already. */
static gboolean
apply_options(const Options *options, SlabGeometryEnv *env, GError **error)
{
    if (options->kernel != NULL && !apply_kernel(options->kernel, env, error))
        return FALSE;
    if (options->page_size != NULL && !apply_page_size(options->page_size, env, error))
        return FALSE;
    if (!apply_number("cpus", options->n_cpus, 1, MAX_CPUS, &env->n_possible_cpus, error) ||
        !apply_number("cpus", options->n_cpus, 1, MAX_CPUS, &env->n_present_cpus, error) ||
        !apply_number("present", options->n_present, 1, MAX_CPUS, &env->n_present_cpus, error) ||
        !apply_number("pointer", options->pointer_bytes, 4, 8, &env->pointer_bytes, error) ||
        !apply_number("slub-min-objects", options->min_objects, 0, G_MAXINT, &env->slub_min_objects, error) ||
        !apply_number("min-partial", options->min_partial, 0, G_MAXINT, &env->min_partial_floor, error) ||
        !apply_number("max-partial", options->max_partial, 0, G_MAXINT, &env->min_partial_ceiling, error))
        return FALSE;
    for (guint i = 0; i < options->boot_parameters->len; i++) {
        gboolean is_known;

        if (!slab_listing_boot_parameter(env, g_ptr_array_index(options->boot_parameters, i), &is_known, error))
            return FALSE;
    }
    return options->slub_debug == NULL ||
           slab_debug_check(options->slub_debug, &env->slub_debug_no_higher_order, error);
}

/* A listing from a file, with the options applied on top of what the file says of its machine. */
static SlabListing *
load_listing(const Options *options, const char *path, GError **error)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    g_autoptr(SlabListing) listing = NULL;

    if (!apply_options(options, &env, error))
        return NULL;
    listing = imp_load_listing(&env, path, NULL, error);
    if (listing == NULL || !apply_options(options, &listing->env, error))
        return NULL;
    for (guint i = 0; i < listing->rows->len; i++) {
        SlabCacheSpec *spec = &g_array_index(listing->rows, SlabListingRow, i).spec;

        spec->flags = slab_debug_apply(options->slub_debug, spec->name, spec->flags);
    }
    return g_steal_pointer(&listing);
}

/* Appends the cache of a NAME:SIZE,... argument. */
static gboolean
add_argument(const Options *options, const char *argument, SlabListing *listing, GError **error)
{
    SlabCacheSpec spec;

    if (!slab_spec_parse(argument, listing->names, &spec, error))
        return FALSE;
    spec.flags = slab_debug_apply(options->slub_debug, spec.name, spec.flags);
    slab_listing_add_spec(listing, &spec);
    return TRUE;
}

static gboolean
is_file(const char *argument)
{
    return g_str_has_suffix(argument, ".tsv") || g_str_has_suffix(argument, ".caches") ||
           strchr(argument, '/') != NULL || g_file_test(argument, G_FILE_TEST_IS_REGULAR);
}

/* The caches described by arguments, on the machine of the options; without rows when all arguments are files. */
static SlabListing *
listing_of_arguments(const Options *options, GError **error)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    g_autoptr(SlabListing) listing = NULL;

    if (!apply_options(options, &env, error))
        return NULL;
    listing = slab_listing_new(&env);
    for (char **argument = options->arguments; *argument != NULL; argument++)
        if (!is_file(*argument) && !add_argument(options, *argument, listing, error))
            return NULL;
    return g_steal_pointer(&listing);
}

static void
print_machine(GString *out, const SlabGeometryEnv *env)
{
    g_string_append_printf(
        out,
        "# kernel %u.%u, %u CPUs possible, %u present, pages of %u bytes, pointers of %u, slub_min_order=%u "
        "slub_max_order=%u slub_min_objects=%u\n",
        env->kernel / 1000, env->kernel % 1000, env->n_possible_cpus, env->n_present_cpus, env->page_size_bytes,
        env->pointer_bytes, env->slub_min_order, env->slub_max_order, env->slub_min_objects);
}

/* "-" for a number that the release has not, or that the listing hides. */
static const char *
number_or_dash(gboolean has_number, guint number, char text[16])
{
    if (has_number)
        g_snprintf(text, 16, "%u", number);
    else
        g_strlcpy(text, "-", 16);
    return text;
}

static void
print_row(GString *out, const SlabGeometryEnv *env, const SlabListingRow *row, const SlabGeometry *geometry)
{
    char object_size[16], align[16], slabs[16], sheaf[16];

    g_string_append_printf(
        out, "%-26s %11s %8u %5u %13u %5u %6s %11u %11u %17s %14s %8u\n", row->spec.name,
        number_or_dash(!row->is_stride, row->spec.object_size_bytes, object_size), geometry->size_bytes,
        geometry->order, geometry->objects, 1u << geometry->order,
        number_or_dash(!row->is_stride, geometry->align_bytes, align), geometry->min_partial, geometry->cpu_partial,
        number_or_dash(env->kernel >= SLAB_KERNEL(5, 16), geometry->cpu_partial_slabs, slabs),
        number_or_dash(env->kernel >= SLAB_KERNEL(6, 18), geometry->sheaf_capacity, sheaf), geometry->leftover_bytes);
}

static void
print_header(GString *out)
{
    g_string_append_printf(out, "%-26s %11s %8s %5s %13s %5s %6s %11s %11s %17s %14s %8s\n", "# name", "object_size",
                           "size", "order", "objs_per_slab", "pages", "align", "min_partial", "cpu_partial",
                           "cpu_partial_slabs", "sheaf_capacity", "leftover");
}

static void
print_comparison(GString *out, const SlabListing *listing, const char *argument, const GString *differences,
                 guint n_differing)
{
    g_string_append(out, differences->str);
    if (g_array_index(listing->rows, SlabListingRow, 0).is_stride)
        g_string_append_printf(
            out, "# a slabinfo hides alignment and flags: partial limits and sheaves assume no debugging\n");
    if (listing->written_cpu_partial >= 0)
        g_string_append_printf(out, "# cpu_partial %d was written to every cache, and is compared as such\n",
                               listing->written_cpu_partial);
    g_string_append_printf(out, "# %s: %u caches compared with the listing, %u differ\n", argument, listing->rows->len,
                           n_differing);
}

static gboolean
print_listing(GString *out, const SlabListing *listing, const char *argument, guint *n_differing, GError **error)
{
    g_autoptr(GString) differences = g_string_new(NULL);
    guint n_here = 0;

    print_machine(out, &listing->env);
    print_header(out);
    for (guint i = 0; i < listing->rows->len; i++) {
        SlabGeometry geometry;
        guint n_differences;

        if (!slab_listing_compare(listing, i, &geometry, differences, &n_differences, error))
            return FALSE;
        n_here += n_differences > 0;
        print_row(out, &listing->env, &g_array_index(listing->rows, SlabListingRow, i), &geometry);
    }
    if (g_array_index(listing->rows, SlabListingRow, 0).size_bytes >= 0)
        print_comparison(out, listing, argument, differences, n_here);
    *n_differing += n_here;
    return TRUE;
}

static gboolean
print_old_listing(GString *out, const SlabListing *listing, SlabOldStage stage, GError **error)
{
    g_string_append_printf(out, "# old SLAB, stage %d, slab_max_order 1 (more than 32 MiB), pages of %u bytes\n",
                           (int) stage, listing->env.page_size_bytes);
    g_string_append_printf(out, "%-26s %11s %8s %5s %13s %5s %9s %10s %8s %7s\n", "# name", "object_size", "size",
                           "order", "objs_per_slab", "pages", "off_slab", "management", "leftover", "colours");
    for (guint i = 0; i < listing->rows->len; i++) {
        SlabCacheSpec spec = g_array_index(listing->rows, SlabListingRow, i).spec;
        SlabOldGeometry geometry;

        /* Where SLUB has natural alignment, SLAB asked for the cache line. */
        if (spec.flags & SLAB_KMALLOC)
            spec.flags |= SLAB_HWCACHE_ALIGN;
        if (!slab_old_compute(&listing->env, stage, &spec, slab_old_is_early_name(spec.name), 1, &geometry, error))
            return FALSE;
        g_string_append_printf(out, "%-26s %11u %8u %5u %13u %5u %9s %10u %8u %7u\n", spec.name, spec.object_size_bytes,
                               geometry.size_bytes, geometry.order, geometry.objects, 1u << geometry.order,
                               geometry.is_off_slab ? "yes" : "no", geometry.management_bytes, geometry.leftover_bytes,
                               geometry.n_colours);
    }
    return TRUE;
}

/* Usage errors come from GOption and count as the user's. */
static int
complain(const char *command, const GError *error)
{
    g_printerr("slubsim %s: %s\n", command, error->message);
    return error->domain == G_OPTION_ERROR ? 2 : sim_error_exit_status(error);
}

static gboolean
print_any_listing(const Options *options, const SlabListing *listing, const char *argument, guint *n_differing,
                  GError **error)
{
    if (options->old_stage != NOT_GIVEN)
        return print_old_listing(options->out, listing, (SlabOldStage) options->old_stage, error);
    return print_listing(options->out, listing, argument, n_differing, error);
}

static gboolean
run_geometry(const Options *options, guint *n_differing, GError **error)
{
    g_autoptr(SlabListing) described = listing_of_arguments(options, error);

    if (described == NULL)
        return FALSE;
    if (options->old_stage != NOT_GIVEN && (options->old_stage < 0 || options->old_stage >= SLAB_OLD_N_STAGES)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--old-slab: the stages are 0, 1 and 2");
        return FALSE;
    }
    if (described->rows->len > 0 && !print_any_listing(options, described, "arguments", n_differing, error))
        return FALSE;
    for (char **argument = options->arguments; *argument != NULL; argument++) {
        g_autoptr(SlabListing) listing = is_file(*argument) ? load_listing(options, *argument, error) : NULL;

        if (!is_file(*argument))
            continue;
        if (listing == NULL || !print_any_listing(options, listing, *argument, n_differing, error))
            return FALSE;
    }
    return TRUE;
}

int
slab_cmd_geometry(int argc, char **argv)
{
    g_auto(Options) options = options_default();
    const GOptionEntry own[] = {
        {"old-slab", 0, 0, G_OPTION_ARG_INT, &options.old_stage,
         "The old SLAB instead: 0 = to 3.12, 1 = 3.13 and 3.14, 2 = from 3.15", "STAGE"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GError) error = NULL;
    guint n_differing = 0;

    if (!options_parse(&options, "FILE.tsv|FILE.caches|LISTING|NAME:SIZE[,key=value]...",
                       "Geometry of slab caches; listings of a running kernel (slabinfo, sysfs) are compared with. "
                       "Exit status 1 when a "
                       "number differs.",
                       own, argc, argv, &error) ||
        !run_geometry(&options, &n_differing, &error))
        return complain("geometry", error);
    g_print("%s", options.out->str);
    return n_differing > 0 ? 1 : 0;
}

/* The caches a newcomer can merge into, as find_mergeable() would meet them. */
static gboolean
existing_caches(const SlabListing *listing, GArray *caches, GError **error)
{
    for (guint i = 0; i < listing->rows->len; i++) {
        SlabMergeCache cache = {.spec = g_array_index(listing->rows, SlabListingRow, i).spec};

        if (!slab_geometry_compute(&listing->env, &cache.spec, &cache.geometry, error))
            return FALSE;
        g_array_append_val(caches, cache);
    }
    return TRUE;
}

static SlabMergeRules
merge_rules(const Options *options)
{
    return (SlabMergeRules){.slab_nomerge = options->slab_nomerge, .hardened_usercopy = TRUE};
}

static void
print_merging(const Options *options, const SlabGeometryEnv *env, const SlabCacheSpec *spec, const GArray *caches)
{
    const SlabMergeRules rules = merge_rules(options);
    const char *refusal = slab_merge_refusal(env, &rules, spec);
    gint into = slab_merge_find(env, &rules, spec, (const SlabMergeCache *) caches->data, caches->len);

    if (refusal != NULL)
        g_string_append_printf(options->out, "merging: never, %s\n", refusal);
    else if (into >= 0 && g_str_equal(g_array_index(caches, SlabMergeCache, into).spec.name, spec->name))
        g_string_append_printf(options->out, "merging: possible, others can merge into it\n");
    else if (into >= 0)
        g_string_append_printf(options->out, "merging: into %s\n",
                               g_array_index(caches, SlabMergeCache, into).spec.name);
    else if (options->among != NULL)
        g_string_append_printf(options->out, "merging: no cache of %s fits\n", options->among);
    else
        g_string_append_printf(options->out, "merging: possible; --among FILE names the caches to look at\n");
}

static gboolean
ext_rules(const Options *options, SlabExtRules *ret_rules, GError **error)
{
    static const char *const names[] = {"kernel", "array", "leftover", "rfc-v2"};

    *ret_rules = SLAB_EXT_RULES_KERNEL;
    for (guint i = 0; options->placement && i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(options->placement, names[i])) {
            *ret_rules = (SlabExtRules) i;
            return TRUE;
        }
    if (options->placement)
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "--placement: \"%s\" is none of kernel, array, leftover, rfc-v2",
                    options->placement);
    return options->placement == NULL;
}

/* The argument as a cache: NAME:SIZE, or the name of one of the existing caches. */
static gboolean
spec_to_explain(const Options *options, const char *argument, SlabListing *listing, const GArray *caches,
                SlabCacheSpec *ret_spec, GError **error)
{
    for (guint i = 0; i < caches->len; i++) {
        const SlabCacheSpec *spec = &g_array_index(caches, SlabMergeCache, i).spec;

        if (slab_spec_is_named(spec, argument)) {
            *ret_spec = *spec;
            return TRUE;
        }
    }
    if (strchr(argument, ':') == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "\"%s\" is neither NAME:SIZE nor a cache of --among",
                    argument);
        return FALSE;
    }
    if (!add_argument(options, argument, listing, error))
        return FALSE;
    *ret_spec = g_array_index(listing->rows, SlabListingRow, listing->rows->len - 1).spec;
    return TRUE;
}

static gboolean
explain_argument(const Options *options, const char *argument, SlabListing *listing, const GArray *caches,
                 GError **error)
{
    g_autoptr(GString) steps = g_string_new(NULL);
    g_autofree char *flags = NULL;
    SlabExtSettings settings = {.memcg = !options->no_memcg, .profiling = options->profiling};
    const SlabMergeRules merging = merge_rules(options);
    SlabCacheSpec spec;
    SlabGeometry geometry;
    SlabExt ext;
    gboolean is_computed;

    if (!ext_rules(options, &settings.rules, error) ||
        !spec_to_explain(options, argument, listing, caches, &spec, error))
        return FALSE;
    flags = slab_flags_to_text(spec.flags);
    g_string_append_printf(options->out, "%s: object_size %u, flags %s%s\n", spec.name, spec.object_size_bytes, flags,
                           spec.has_ctor ? ", constructor" : "");
    is_computed = slab_geometry_explain(&listing->env, &spec, &geometry, steps, error);
    if (is_computed)
        slab_ext_compute(&listing->env, &settings, &merging, &spec, &geometry, &ext, steps);
    g_string_append(options->out, steps->str);
    if (is_computed)
        print_merging(options, &listing->env, &spec, caches);
    return is_computed;
}

static gboolean
run_explain(const Options *options, GError **error)
{
    SlabGeometryEnv env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 8);
    g_autoptr(GArray) caches = g_array_new(FALSE, FALSE, sizeof(SlabMergeCache));
    g_autoptr(SlabListing) listing = NULL;

    if (options->among != NULL)
        listing = load_listing(options, options->among, error);
    else if (apply_options(options, &env, error))
        listing = slab_listing_new(&env);
    if (listing == NULL || !existing_caches(listing, caches, error))
        return FALSE;
    print_machine(options->out, &listing->env);
    for (char **argument = options->arguments; *argument != NULL; argument++)
        if (!explain_argument(options, *argument, listing, caches, error))
            return FALSE;
    return TRUE;
}

int
slab_cmd_explain(int argc, char **argv)
{
    g_auto(Options) options = options_default();
    const GOptionEntry own[] = {
        {"among", 0, 0, G_OPTION_ARG_FILENAME, &options.among,
         "Listing or .caches file with the caches that exist: for merging, and to explain one of them by name", "FILE"},
        {"slab-nomerge", 0, 0, G_OPTION_ARG_NONE, &options.slab_nomerge, "Boot parameter", NULL},
        {"no-memcg", 0, 0, G_OPTION_ARG_NONE, &options.no_memcg, "Without accounting of kernel memory", NULL},
        {"profiling", 0, 0, G_OPTION_ARG_NONE, &options.profiling, "With memory allocation profiling (6.10)", NULL},
        {"placement", 0, 0, G_OPTION_ARG_STRING, &options.placement,
         "Of accounting data: kernel (default), array, leftover, rfc-v2", "RULES"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GError) error = NULL;
    gboolean ok = options_parse(&options, "NAME:SIZE[,key=value]... | NAME",
                                "Why the geometry of a slab cache comes out so.", own, argc, argv, &error) &&
                  run_explain(&options, &error);

    /* Of a cache that the kernel would refuse, the steps up to the refusal are the explanation. */
    if (ok || g_error_matches(error, SIM_ERROR, SIM_ERROR_MODEL))
        g_print("%s", options.out->str);
    return ok ? 0 : complain("explain", error);
}
