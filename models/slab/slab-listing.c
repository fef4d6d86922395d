/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-listing.h"

#include <stdlib.h>
#include <string.h>

#include "sim-error.h"
#include "slab-kmalloc.h"
#include "slab-spec.h"

/* What the creator of a cache passed and no listing shows. Free-pointer offsets are not shown either; only that there
 * is one has an effect on the size, so 0 stands for it. The release from which TCP has one is not known exactly:
 * a 6.18 listing pays the extra word, a 7.3 one does not. */
static const struct {
    const char *name;
    guint from_kernel;
    gint freeptr_offset, sheaf_capacity;
} hidden_facts[] = {
    {"maple_node", SLAB_KERNEL(6, 18), -1, 32},
    {"vm_area_struct", SLAB_KERNEL(6, 18), 0, 32},
    {"ext4_inode_cache", SLAB_KERNEL(7, 0), 0, 0},
    {"TCP", SLAB_KERNEL(7, 0), 0, 0},
    {"TCPv6", SLAB_KERNEL(7, 0), 0, 0},
};

SlabListing *
slab_listing_new(const SlabGeometryEnv *env)
{
    SlabListing *listing = g_new0(SlabListing, 1);

    listing->env = *env;
    listing->names = g_string_chunk_new(4096);
    listing->rows = g_array_new(FALSE, FALSE, sizeof(SlabListingRow));
    listing->written_cpu_partial = -1;
    return listing;
}

void
slab_listing_free(SlabListing *listing)
{
    if (listing == NULL)
        return;
    g_string_chunk_free(listing->names);
    g_array_unref(listing->rows);
    g_free(listing);
}

static gboolean
parse_error(GError **error, const char *path, guint line, const char *what)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s:%u: %s", path, line, what);
    return FALSE;
}

gboolean
slab_listing_parse_kernel(const char *text, guint *ret_kernel, GError **error)
{
    char *end, *minor_end = NULL;
    guint64 major = g_ascii_isdigit(text[0]) ? g_ascii_strtoull(text, &end, 10) : 0, minor = 0;

    if (major > 0 && *end == '.' && g_ascii_isdigit(end[1]))
        minor = g_ascii_strtoull(end + 1, &minor_end, 10);
    if (minor_end == NULL || major > 99 || minor > 999 || g_ascii_isalpha(*minor_end)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "\"%s\" is no kernel release such as 6.5", text);
        return FALSE;
    }
    *ret_kernel = SLAB_KERNEL(major, minor);
    return TRUE;
}

gboolean
slab_listing_boot_parameter(SlabGeometryEnv *env, const char *parameter, gboolean *ret_known, GError **error)
{
    const char *equals = strchr(parameter, '=');
    gboolean old = g_str_has_prefix(parameter, "slub_"), new = g_str_has_prefix(parameter, "slab_");
    g_autofree char *name = NULL;
    guint64 value;

    *ret_known = FALSE;
    if (equals == NULL || !(old || new))
        return TRUE;
    name = g_strndup(parameter + strlen("slub_"), (gsize) (equals - parameter) - strlen("slub_"));
    if (!g_str_equal(name, "min_order") && !g_str_equal(name, "max_order") && !g_str_equal(name, "min_objects"))
        return TRUE;
    if (!g_ascii_string_to_unsigned(equals + 1, 10, 0, G_MAXINT, &value, NULL)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: not a whole number", parameter);
        return FALSE;
    }
    if (g_str_equal(name, "min_order"))
        slab_geometry_env_set_min_order(env, (guint) value);
    else if (g_str_equal(name, "max_order"))
        slab_geometry_env_set_max_order(env, (guint) value);
    else
        env->slub_min_objects = (guint) value;
    *ret_known = TRUE;
    return TRUE;
}

/* "0-7,16": how many, and the highest. */
static gboolean
parse_cpu_list(const char *text, guint *ret_count, guint *ret_highest)
{
    g_auto(GStrv) ranges = g_strsplit(text, ",", -1);
    guint count = 0, highest = 0;

    for (char **range = ranges; *range != NULL; range++) {
        char *dash = strchr(*range, '-');
        guint64 first, last;

        if (dash != NULL)
            *dash = '\0';
        if (!g_ascii_string_to_unsigned(g_strstrip(*range), 10, 0, 1 << 20, &first, NULL))
            return FALSE;
        last = first;
        if (dash != NULL && !g_ascii_string_to_unsigned(g_strstrip(dash + 1), 10, first, 1 << 20, &last, NULL))
            return FALSE;
        count += (guint) (last - first + 1);
        highest = MAX(highest, (guint) last);
    }
    *ret_count = count;
    *ret_highest = highest;
    return count > 0;
}

static gboolean
read_command_line(SlabGeometryEnv *env, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);

    for (char **word = words; *word != NULL; word++) {
        gboolean is_known;

        if (!slab_listing_boot_parameter(env, *word, &is_known, error))
            return FALSE;
    }
    return TRUE;
}

/* "Linux HOST RELEASE ...": the release is the third word. */
static gboolean
read_uname(SlabGeometryEnv *env, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 4);

    return slab_listing_parse_kernel(g_strv_length(words) > 2 ? words[2] : text, &env->kernel, error);
}

static gboolean
read_env_value(SlabGeometryEnv *env, const char *key, const char *value, GError **error)
{
    guint count, highest;
    guint64 page;

    if (g_str_equal(key, "uname"))
        return read_uname(env, value, error);
    if (g_str_equal(key, "cpus_possible") || g_str_equal(key, "cpus_present")) {
        if (!parse_cpu_list(value, &count, &highest)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: \"%s\" is no list of CPUs", key, value);
            return FALSE;
        }
        if (g_str_equal(key, "cpus_possible"))
            env->n_possible_cpus = highest + 1;
        else
            env->n_present_cpus = count;
    } else if (g_str_equal(key, "page_size")) {
        if (!g_ascii_string_to_unsigned(value, 10, 4096, 65536, &page, error))
            return FALSE;
        env->page_size_bytes = (guint) page;
    } else if (g_str_equal(key, "CONFIG_SLUB_CPU_PARTIAL")) {
        env->cpu_partial_enabled = g_str_equal(value, "y");
    }
    return TRUE;
}

gboolean
slab_listing_read_env(SlabListing *listing, const char *text, const char *path, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    SlabGeometryEnv env = listing->env;
    const char *command_line = NULL;

    for (guint i = 0; lines[i] != NULL; i++) {
        char *equals = strchr(lines[i], '=');

        if (g_str_has_prefix(lines[i], "# CONFIG_SLUB_CPU_PARTIAL is not set"))
            env.cpu_partial_enabled = FALSE;
        if (equals == NULL)
            continue;
        *equals = '\0';
        if (g_str_equal(lines[i], "cmdline"))
            command_line = equals + 1;
        else if (!read_env_value(&env, lines[i], g_strchomp(equals + 1), error)) {
            g_prefix_error(error, "%s:%u: ", path, i + 1);
            return FALSE;
        }
    }
    /* Last, as what a parameter does depends on the release. */
    if (command_line != NULL && !read_command_line(&env, command_line, error)) {
        g_prefix_error(error, "%s: ", path);
        return FALSE;
    }
    listing->env = env;
    return TRUE;
}

void
slab_listing_add_hidden_facts(guint kernel, const char *name, SlabCacheSpec *spec)
{
    for (gsize i = 0; i < G_N_ELEMENTS(hidden_facts); i++)
        if (g_str_equal(name, hidden_facts[i].name) && kernel >= hidden_facts[i].from_kernel) {
            spec->freeptr_offset = hidden_facts[i].freeptr_offset;
            spec->args_sheaf_capacity = hidden_facts[i].sheaf_capacity;
        }
}

SlabListingRow
slab_listing_row_new(const char *name)
{
    return (SlabListingRow){
        .spec = slab_cache_spec_default(name, 0),
        .size_bytes = -1,
        .order = -1,
        .objects = -1,
        .min_partial = -1,
        .cpu_partial = -1,
        .sheaf_capacity = -1,
        .cpu_list_slabs = -1,
    };
}

void
slab_listing_add(SlabListing *listing, const SlabListingRow *row)
{
    SlabListingRow own = *row;

    own.spec.name = g_string_chunk_insert(listing->names, row->spec.name);
    if (row->spec.alias_names != NULL)
        own.spec.alias_names = g_string_chunk_insert(listing->names, row->spec.alias_names);
    g_array_append_val(listing->rows, own);
}

void
slab_listing_add_spec(SlabListing *listing, const SlabCacheSpec *spec)
{
    SlabListingRow row = slab_listing_row_new(spec->name);

    row.spec = *spec;
    slab_listing_add(listing, &row);
}

void
slab_listing_add_sysfs(SlabListing *listing, const SlabListingRow *row)
{
    SlabListingRow whole = *row;
    const char *name = row->spec.name;

    whole.spec.align_is_final = TRUE;
    /* ":A-0000256": merged caches carry their flags in the name. */
    if (name[0] == ':' && g_str_has_prefix(name + strspn(name, ":dDaF"), "A"))
        whole.spec.flags |= SLAB_ACCOUNT;
    /* sysfs shows a cache that can be merged under such a name only. */
    if (name[0] != ':')
        whole.spec.flags |= SLAB_NO_MERGE;
    whole.spec.is_boot_cache = g_str_equal(name, "kmem_cache") || g_str_equal(name, "kmem_cache_node");
    if (slab_kmalloc_is_name(name))
        whole.spec.flags |= SLAB_KMALLOC;
    slab_listing_add_hidden_facts(listing->env.kernel, name, &whole.spec);
    slab_listing_add(listing, &whole);
}

/* The longest list of "92(4) C0=69(3) C1=23(1)": 3. */
static gint
longest_cpu_list(const char *text)
{
    gint longest = 0;

    for (const char *c = strstr(text, " C"); c != NULL; c = strstr(c + 1, " C")) {
        const char *open = strchr(c, '(');

        if (open != NULL)
            longest = MAX(longest, atoi(open + 1));
    }
    return longest;
}

/* FALSE for a field that is neither a number nor "-". */
static gboolean
set_column(SlabListingRow *row, const char *column, const char *value)
{
    static const struct {
        const char *column;
        guint flag;
    } flags[] = {
        {"hwcache_align", SLAB_HWCACHE_ALIGN}, {"destroy_by_rcu", SLAB_TYPESAFE_BY_RCU},
        {"red_zone", SLAB_RED_ZONE},           {"poison", SLAB_POISON},
        {"store_user", SLAB_STORE_USER},       {"trace", SLAB_TRACE},
        {"failslab", SLAB_FAILSLAB},           {"sanity_checks", SLAB_CONSISTENCY_CHECKS},
        {"cache_dma", SLAB_CACHE_DMA},         {"reclaim_account", SLAB_RECLAIM_ACCOUNT},
    };
    const struct {
        const char *column;
        gint *number;
    } numbers[] = {
        {"align", (gint *) &row->spec.align_bytes},
        {"object_size", (gint *) &row->spec.object_size_bytes},
        {"usersize", (gint *) &row->spec.usersize_bytes},
        {"slab_size", &row->size_bytes},
        {"order", &row->order},
        {"objs_per_slab", &row->objects},
        {"cpu_partial", &row->cpu_partial},
        {"min_partial", &row->min_partial},
        {"sheaf_capacity", &row->sheaf_capacity},
    };
    guint64 number;

    if (g_str_equal(value, "-"))
        return TRUE;
    if (g_str_equal(column, "ctor"))
        row->spec.has_ctor = TRUE;
    if (g_str_equal(column, "slabs_cpu_partial"))
        row->cpu_list_slabs = longest_cpu_list(value);
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (g_str_equal(column, numbers[i].column)) {
            if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT, &number, NULL))
                return FALSE;
            *numbers[i].number = (gint) number;
        }
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
        if (g_str_equal(column, flags[i].column)) {
            if (!g_str_equal(value, "0") && !g_str_equal(value, "1"))
                return FALSE;
            row->spec.flags |= value[0] == '1' ? flags[i].flag : 0;
        }
    return TRUE;
}

static gboolean
read_sysfs_row(char **columns, char **fields, SlabListingRow *ret_row, GError **error)
{
    SlabListingRow row = slab_listing_row_new(fields[0]);

    for (guint i = 1; columns[i] != NULL; i++)
        if (!set_column(&row, columns[i], fields[i])) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "column %s: \"%s\" is no number", columns[i], fields[i]);
            return FALSE;
        }
    *ret_row = row;
    return TRUE;
}

/* sysfs lets root write cpu_partial. Only a value that every cache with such a list shows, and that is not the
 * default of all of them, is taken as written; anything else, also of a single cache, stays a difference. */
void
slab_listing_find_written(SlabListing *listing)
{
    gint written = -1;
    gboolean is_default = TRUE;
    guint n = 0;

    for (guint i = 0; i < listing->rows->len; i++) {
        const SlabListingRow *row = &g_array_index(listing->rows, SlabListingRow, i);
        SlabGeometry geometry;

        if (row->cpu_partial < 0 || !slab_geometry_compute(&listing->env, &row->spec, &geometry, NULL) ||
            !geometry.has_cpu_partial)
            continue;
        if (written >= 0 && row->cpu_partial != written)
            return;
        n++;
        written = row->cpu_partial;
        is_default &= (guint) written == geometry.cpu_partial;
    }
    if (n > 1 && !is_default)
        listing->written_cpu_partial = written;
}

gboolean
slab_listing_read_sysfs(SlabListing *listing, const char *text, const char *path, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_auto(GStrv) columns = g_strsplit(lines[0] == NULL ? "" : lines[0], "\t", -1);

    if (columns[0] == NULL || !g_str_equal(columns[0], "cache") ||
        !g_strv_contains((const char *const *) columns, "object_size") ||
        !g_strv_contains((const char *const *) columns, "align"))
        return parse_error(error, path, 1, "no header line with cache, object_size and align");
    for (guint i = 1; lines[i] != NULL; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);
        SlabListingRow row;

        if (lines[i][0] == '\0')
            continue;
        if (g_strv_length(fields) != g_strv_length(columns))
            return parse_error(error, path, i + 1, "not as many fields as the header has columns");
        if (!read_sysfs_row(columns, fields, &row, error)) {
            g_prefix_error(error, "%s:%u: ", path, i + 1);
            return FALSE;
        }
        slab_listing_add_sysfs(listing, &row);
    }
    slab_listing_find_written(listing);
    return TRUE;
}

gboolean
slab_listing_compare(const SlabListing *listing, guint i, SlabGeometry *ret_geometry, GString *differences,
                     guint *ret_n_differences, GError **error)
{
    const SlabListingRow *row = &g_array_index(listing->rows, SlabListingRow, i);
    SlabCacheSpec spec = row->spec;
    SlabGeometry geometry;
    guint n_differences = 0;

    if (!slab_geometry_compute(&listing->env, &spec, &geometry, error))
        return FALSE;
    if (listing->written_cpu_partial >= 0 && geometry.has_cpu_partial) {
        spec.cpu_partial_override = listing->written_cpu_partial;
        if (!slab_geometry_compute(&listing->env, &spec, &geometry, error))
            return FALSE;
    }
    const struct {
        const char *column;
        gint listed;
        guint computed;
    } pairs[] = {
        {"size", row->size_bytes, geometry.size_bytes},
        {"order", row->order, geometry.order},
        {"objs_per_slab", row->objects, geometry.objects},
        {"min_partial", row->min_partial, geometry.min_partial},
        {"cpu_partial", row->cpu_partial, geometry.cpu_partial},
        {"sheaf_capacity", row->sheaf_capacity, geometry.sheaf_capacity},
    };
    for (gsize j = 0; j < G_N_ELEMENTS(pairs); j++)
        if (pairs[j].listed >= 0 && (guint) pairs[j].listed != pairs[j].computed) {
            n_differences++;
            g_string_append_printf(differences, "%s: %s listed %d, computed %u\n", spec.name, pairs[j].column,
                                   pairs[j].listed, pairs[j].computed);
        }
    /* Even a limit of 0 leaves the slab just freed into on the list (slub-facts B.1). */
    if (geometry.has_cpu_partial && geometry.cpu_partial_slabs > 0 &&
        row->cpu_list_slabs > (gint) geometry.cpu_partial_slabs) {
        n_differences++;
        g_string_append_printf(differences, "%s: a CPU lists %d partial slabs, computed limit %u\n", spec.name,
                               row->cpu_list_slabs, geometry.cpu_partial_slabs);
    }
    *ret_geometry = geometry;
    *ret_n_differences = n_differences;
    return TRUE;
}
