/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-spec.h"

#include <string.h>

#include "sim-error.h"
#include "slab-kmalloc.h"

static const struct {
    guint flag;
    const char *name;
} flag_names[] = {
    {SLAB_HWCACHE_ALIGN, "HWCACHE_ALIGN"},
    {SLAB_TYPESAFE_BY_RCU, "TYPESAFE_BY_RCU"},
    {SLAB_CONSISTENCY_CHECKS, "CONSISTENCY_CHECKS"},
    {SLAB_RED_ZONE, "RED_ZONE"},
    {SLAB_POISON, "POISON"},
    {SLAB_STORE_USER, "STORE_USER"},
    {SLAB_TRACE, "TRACE"},
    {SLAB_RECLAIM_ACCOUNT, "RECLAIM_ACCOUNT"},
    {SLAB_ACCOUNT, "ACCOUNT"},
    {SLAB_CACHE_DMA, "CACHE_DMA"},
    {SLAB_CACHE_DMA32, "CACHE_DMA32"},
    {SLAB_NOLEAKTRACE, "NOLEAKTRACE"},
    {SLAB_NO_MERGE, "NO_MERGE"},
    {SLAB_NO_OBJ_EXT, "NO_OBJ_EXT"},
    {SLAB_KMALLOC, "KMALLOC"},
    {SLAB_FAILSLAB, "FAILSLAB"},
};

static guint
flag_by_name(const char *name)
{
    if (g_str_has_prefix(name, "SLAB_"))
        name += strlen("SLAB_");
    for (gsize i = 0; i < G_N_ELEMENTS(flag_names); i++)
        if (g_str_equal(name, flag_names[i].name))
            return flag_names[i].flag;
    return 0;
}

gboolean
slab_flags_parse(const char *text, guint *ret_flags, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, "|", -1);
    gboolean is_none = text[0] == '\0' || g_str_equal(text, "-");
    guint flags = 0;

    for (char **word = words; *word != NULL; word++) {
        guint flag = flag_by_name(g_strstrip(*word));

        if (flag == 0 && !is_none) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "\"%s\" is no slab flag (HWCACHE_ALIGN, ACCOUNT, ...)",
                        *word);
            return FALSE;
        }
        flags |= flag;
    }
    *ret_flags = flags;
    return TRUE;
}

char *
slab_flags_to_text(guint flags)
{
    GString *text = g_string_new(NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(flag_names); i++)
        if (flags & flag_names[i].flag)
            g_string_append_printf(text, "%s%s", text->len > 0 ? "|" : "", flag_names[i].name);
    if (text->len == 0)
        g_string_append_c(text, '-');
    return g_string_free(text, FALSE);
}

/* Whole number, for a size with an optional unit B or K. */
static gboolean
parse_number(const char *key, const char *value, gboolean is_size, gint *ret_number, GError **error)
{
    g_autofree char *digits = g_strdup(value);
    guint64 number, unit = 1;
    gsize length = strlen(digits);

    if (is_size && length > 0 && strchr("BK", digits[length - 1]) != NULL) {
        unit = digits[length - 1] == 'K' ? 1024 : 1;
        digits[length - 1] = '\0';
        g_strchomp(digits);
    }
    if (!g_ascii_string_to_unsigned(digits, 10, 0, G_MAXINT / unit, &number, NULL)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: \"%s\" is no %s", key, value,
                    is_size ? "size in bytes" : "whole number");
        return FALSE;
    }
    *ret_number = (gint) (number * unit);
    return TRUE;
}

static gboolean
parse_bool(const char *key, const char *value, gboolean *ret_bool, GError **error)
{
    if (value == NULL || g_str_equal(value, "true"))
        *ret_bool = TRUE;
    else if (g_str_equal(value, "false"))
        *ret_bool = FALSE;
    else {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: \"%s\" is neither true nor false", key, value);
        return FALSE;
    }
    return TRUE;
}

/* `value` is NULL for a bare word. */
static gboolean
set_key(SlabCacheSpec *spec, const char *key, const char *value, GStringChunk *names, GError **error)
{
    const struct {
        const char *key;
        gboolean is_size;
        gint *number;
    } numbers[] = {
        {"object_size", TRUE, (gint *) &spec->object_size_bytes},
        {"align", TRUE, (gint *) &spec->align_bytes},
        {"usersize", TRUE, (gint *) &spec->usersize_bytes},
        {"freeptr_offset", TRUE, &spec->freeptr_offset},
        {"sheaf_capacity", FALSE, &spec->args_sheaf_capacity},
        {"order", FALSE, &spec->order_override},
        {"cpu_partial", FALSE, &spec->cpu_partial_override},
        {"cpu_partial_slabs", FALSE, &spec->cpu_partial_slabs_override},
        {"min_partial", FALSE, &spec->min_partial_override},
    };
    guint flags;

    if (g_str_equal(key, "ctor"))
        return parse_bool(key, value, &spec->has_ctor, error);
    if (g_str_equal(key, "boot_cache"))
        return parse_bool(key, value, &spec->is_boot_cache, error);
    if (value != NULL && g_str_equal(key, "names")) {
        spec->alias_names = g_string_chunk_insert(names, value);
        return TRUE;
    }
    if (value != NULL && g_str_equal(key, "flags")) {
        if (!slab_flags_parse(value, &flags, error))
            return FALSE;
        spec->flags |= flags;
        return TRUE;
    }
    for (gsize i = 0; value != NULL && i < G_N_ELEMENTS(numbers); i++)
        if (g_str_equal(key, numbers[i].key))
            return parse_number(key, value, numbers[i].is_size, numbers[i].number, error);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY,
                "\"%s\" is no key of a cache%s (object_size, align, flags, ctor, usersize, freeptr_offset, "
                "sheaf_capacity, boot_cache, order, cpu_partial, cpu_partial_slabs, min_partial, names)",
                key, value == NULL ? " without a value" : "");
    return FALSE;
}

static SlabCacheSpec
spec_of_name(const char *name, gssize length, GStringChunk *names)
{
    SlabCacheSpec spec = slab_cache_spec_default(g_string_chunk_insert_len(names, name, length), 0);

    if (slab_kmalloc_is_name(spec.name))
        spec.flags = SLAB_KMALLOC;
    spec.is_boot_cache = g_str_equal(spec.name, "kmem_cache") || g_str_equal(spec.name, "kmem_cache_node");
    return spec;
}

gboolean
slab_spec_is_named(const SlabCacheSpec *spec, const char *name)
{
    g_auto(GStrv) names = g_strsplit(spec->alias_names != NULL ? spec->alias_names : "", " ", -1);

    return g_str_equal(spec->name, name) || (name[0] != '\0' && g_strv_contains((const char *const *) names, name));
}

gboolean
slab_spec_parse(const char *text, GStringChunk *names, SlabCacheSpec *ret_spec, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    /* Names of merged caches begin with a colon: the last one separates. */
    char *colon = parts[0] == NULL ? NULL : strrchr(parts[0], ':');
    SlabCacheSpec spec;

    if (colon == NULL || colon == parts[0]) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "\"%s\" is not of the form NAME:SIZE[,key=value]...", text);
        return FALSE;
    }
    spec = spec_of_name(parts[0], colon - parts[0], names);
    if (!set_key(&spec, "object_size", colon + 1, names, error)) {
        g_prefix_error(error, "\"%s\": ", text);
        return FALSE;
    }
    for (char **part = parts + 1; *part != NULL; part++) {
        char *equals = strchr(*part, '=');

        if (equals != NULL)
            *equals = '\0';
        if (!set_key(&spec, *part, equals == NULL ? NULL : equals + 1, names, error)) {
            g_prefix_error(error, "\"%s\": ", text);
            return FALSE;
        }
    }
    *ret_spec = spec;
    return TRUE;
}

static gboolean
syntax_error(GError **error, SimErrorCode code, const char *what)
{
    g_set_error_literal(error, SIM_ERROR, code, what);
    return FALSE;
}

/* One line of a .caches text. `seen` holds the groups, and group and key, met so far. GKeyFile itself would merge
 * groups and keep the last of two keys without a word. */
static gboolean
parse_caches_line(char *line, GStringChunk *names, GHashTable *seen, GArray *specs, GError **error)
{
    SlabCacheSpec *last = specs->len > 0 ? &g_array_index(specs, SlabCacheSpec, specs->len - 1) : NULL;
    gsize length = strlen(line);
    char *equals;

    if (length == 0 || line[0] == '#')
        return TRUE;
    if (line[0] == '[') {
        SlabCacheSpec spec;

        if (length < 3 || line[length - 1] != ']')
            return syntax_error(error, SIM_ERROR_PARSE, "not of the form [NAME]");
        if (!g_hash_table_add(seen, g_strdup(line)))
            return syntax_error(error, SIM_ERROR_PARSE, "a cache of this name came before");
        spec = spec_of_name(line + 1, (gssize) length - 2, names);
        g_array_append_val(specs, spec);
        return TRUE;
    }
    equals = strchr(line, '=');
    if (last == NULL || equals == NULL)
        return syntax_error(error, SIM_ERROR_PARSE, "neither [NAME] nor key=value of a cache");
    *equals = '\0';
    g_strchomp(line);
    if (!g_hash_table_add(seen, g_strdup_printf("%s\n%s", last->name, line)))
        return syntax_error(error, SIM_ERROR_PARSE, "a key given twice");
    return set_key(last, line, g_strchug(equals + 1), names, error);
}

gboolean
slab_spec_parse_caches(const char *text, const char *path, GStringChunk *names, GArray *specs, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SlabCacheSpec));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++)
        if (!parse_caches_line(g_strstrip(lines[i]), names, seen, found, error)) {
            g_prefix_error(error, "%s:%u: ", path, i + 1);
            return FALSE;
        }
    for (guint i = 0; i < found->len; i++) {
        const SlabCacheSpec *spec = &g_array_index(found, SlabCacheSpec, i);

        if (spec->object_size_bytes == 0) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "%s: [%s] has no object_size", path, spec->name);
            return FALSE;
        }
    }
    g_array_append_vals(specs, found->data, found->len);
    return TRUE;
}

static void
write_number(GString *text, const char *key, gint number, gint absent)
{
    if (number != absent)
        g_string_append_printf(text, "%s=%d\n", key, number);
}

void
slab_spec_write(const SlabCacheSpec *spec, GString *text)
{
    /* The reader knows kmalloc caches by their names. */
    guint flags = spec->flags & ~(guint) SLAB_KMALLOC;
    g_autofree char *names = slab_flags_to_text(flags);

    g_string_append_printf(text, "\n[%s]\nobject_size=%u\n", spec->name, spec->object_size_bytes);
    if (spec->alias_names != NULL && spec->alias_names[0] != '\0')
        g_string_append_printf(text, "names=%s\n", spec->alias_names);
    write_number(text, "align", (gint) spec->align_bytes, 0);
    if (flags != 0)
        g_string_append_printf(text, "flags=%s\n", names);
    if (spec->has_ctor)
        g_string_append(text, "ctor=true\n");
    write_number(text, "usersize", (gint) spec->usersize_bytes, 0);
    write_number(text, "freeptr_offset", spec->freeptr_offset, -1);
    write_number(text, "sheaf_capacity", spec->args_sheaf_capacity, 0);
    write_number(text, "order", spec->order_override, -1);
    write_number(text, "cpu_partial", spec->cpu_partial_override, -1);
    write_number(text, "cpu_partial_slabs", spec->cpu_partial_slabs_override, -1);
    write_number(text, "min_partial", spec->min_partial_override, -1);
}
