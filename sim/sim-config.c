/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-config-private.h"

#include "sim-schema.h"

#include <string.h>

static void
config_clear(gpointer data)
{
    SimConfig *config = data;
    g_ptr_array_unref(config->rows);
    g_hash_table_unref(config->groups);
    g_hash_table_unref(config->families);
}

SimConfig *
sim_config_ref(SimConfig *config)
{
    return g_atomic_rc_box_acquire(config);
}

void
sim_config_unref(SimConfig *config)
{
    if (config != NULL)
        g_atomic_rc_box_release_full(config, config_clear);
}

char *
sim_config_member_group(const char *family, const char *name)
{
    return g_strdup_printf("%.*s%s", (int) strlen(family) - 1, family, name);
}

/* Aborts for a key the schema does not have: the caller's mistake, not the user's. */
static const SimKeySpec *
require_spec(const SimConfig *config, const char *group, const char *key)
{
    g_autoptr(GError) error = NULL;
    const SimKeySpec *spec = sim_schema_find(config->rows, group, key, &error);
    if (spec == NULL)
        g_error("[%s] %s: %s", group, key, error->message);
    return spec;
}

/* NULL also for what the schema does not have. */
static const SimSetting *
find_setting(const SimConfig *config, const char *group, const char *key)
{
    const SimConfigGroup *found = g_hash_table_lookup(config->groups, group);
    return found != NULL ? g_hash_table_lookup(found->settings, key) : NULL;
}

const SimSetting *
sim_config_setting(const SimConfig *config, const char *group, const char *key)
{
    const SimSetting *setting = find_setting(config, group, key);
    if (setting == NULL)
        require_spec(config, group, key);
    return setting;
}

/* What a key that was not given reads as. */
static char *no_list[] = {NULL};
static const SimValue no_value = {.text = (char *) "", .list = no_list, .source = (char *) ""};

static const SimValue *
typed_value(const SimConfig *config, const char *group, const char *key, guint types)
{
    const SimSetting *setting = sim_config_setting(config, group, key);
    if (setting == NULL)
        return &no_value;
    if ((types & 1u << setting->spec->type) == 0)
        g_error("[%s] %s: read as another type than the schema's", group, key);
    return &setting->value;
}

gboolean
sim_config_is_given(const SimConfig *config, const char *group, const char *key)
{
    return sim_config_setting(config, group, key) != NULL;
}

gint64
sim_config_int(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, 1u << SIM_KEY_INT)->integer;
}

double
sim_config_real(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, 1u << SIM_KEY_REAL)->real;
}

gboolean
sim_config_bool(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, 1u << SIM_KEY_BOOL)->integer != 0;
}

SimTime
sim_config_time(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, 1u << SIM_KEY_TIME | 1u << SIM_KEY_COST)->integer;
}

gint64
sim_config_size(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, 1u << SIM_KEY_SIZE)->integer;
}

guint
sim_config_choice(const SimConfig *config, const char *group, const char *key)
{
    return (guint) typed_value(config, group, key, 1u << SIM_KEY_CHOICE)->integer;
}

const char *
sim_config_text(const SimConfig *config, const char *group, const char *key)
{
    return typed_value(config, group, key, ~0u)->text;
}

const char *const *
sim_config_list(const SimConfig *config, const char *group, const char *key)
{
    return (const char *const *) typed_value(config, group, key, 1u << SIM_KEY_TEXT_LIST)->list;
}

gboolean
sim_config_cost_bounds(const SimConfig *config, const char *group, const char *key, SimTime *ret_low, SimTime *ret_high,
                       const char **ret_source)
{
    const SimValue *value = typed_value(config, group, key, 1u << SIM_KEY_COST);
    if (!value->has_bounds)
        return FALSE;
    *ret_low = value->low_ps;
    *ret_high = value->high_ps;
    *ret_source = value->source;
    return TRUE;
}

const char *const *
sim_config_instances(const SimConfig *config, const char *family)
{
    const GPtrArray *names = g_hash_table_lookup(config->families, family);
    if (names == NULL)
        g_error("[%s]: no family of groups in the schema", family);
    return (const char *const *) names->pdata;
}

const char *
sim_config_origin(const SimConfig *config, const char *group, const char *key)
{
    const SimSetting *setting = sim_config_setting(config, group, key);
    return setting != NULL ? setting->origin : "not given";
}

gboolean
sim_config_error(const SimConfig *config, const char *group, const char *key, GError **error, const char *format, ...)
{
    const SimSetting *setting = sim_config_setting(config, group, key);
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (setting != NULL)
        return sim_setting_error(setting, error, SIM_ERROR_MODEL, "%s", message);
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "not given: [%s] %s: %s", group, key, message);
    return FALSE;
}

typedef struct {
    gboolean origins;
    gboolean (*reads_key)(const SimConfig *config, const SimKeySpec *spec); /* NULL: all keys are of interest */
    guint n_left_out;
    GString *text;
} Writer;

static gboolean
is_left_out(const Writer *writer, const SimConfig *config, const SimKeySpec *spec, const SimSetting *setting)
{
    gboolean is_given = setting != NULL && strcmp(setting->place, "default") != 0;

    return writer->reads_key != NULL && !is_given && !writer->reads_key(config, spec);
}

static void
append_group(const SimConfig *config, const char *pattern, const char *name, Writer *writer)
{
    GString *text = writer->text;
    g_string_append_printf(text, "%s[%s]\n", text->len > 0 ? "\n" : "", name);
    for (guint i = 0; i < config->rows->len; i++) {
        const SimKeySpec *spec = config->rows->pdata[i];
        if (strcmp(spec->group, pattern) != 0 || sim_schema_is_structural(spec))
            continue;
        const SimSetting *setting = find_setting(config, name, spec->key);
        if (is_left_out(writer, config, spec, setting)) {
            writer->n_left_out++;
            continue;
        }
        if (setting == NULL) {
            if (writer->origins)
                g_string_append_printf(text, "# %s is not given\n", spec->key);
            continue;
        }
        g_autofree char *value = sim_value_to_file_text(spec, &setting->value);
        if (writer->origins)
            g_string_append_printf(text, "# %s\n", setting->origin);
        g_string_append_printf(text, "%s = %s\n", spec->key, value);
    }
}

static char *
write_all(const SimConfig *config, Writer *writer)
{
    const char *last = "";
    writer->text = g_string_new(NULL);
    for (guint i = 0; i < config->rows->len; i++) {
        const SimKeySpec *spec = config->rows->pdata[i];
        if (strcmp(spec->group, last) == 0 || sim_schema_is_structural(spec))
            continue;
        last = spec->group;
        if (!sim_schema_group_is_family(spec->group)) {
            append_group(config, spec->group, spec->group, writer);
            continue;
        }
        for (const char *const *name = sim_config_instances(config, spec->group); *name != NULL; name++) {
            g_autofree char *group = sim_config_member_group(spec->group, *name);
            append_group(config, spec->group, group, writer);
        }
    }
    return g_string_free(writer->text, FALSE);
}

char *
sim_config_to_text(const SimConfig *config, gboolean origins)
{
    Writer writer = {.origins = origins};
    return write_all(config, &writer);
}

char *
sim_config_to_short_text(const SimConfig *config,
                         gboolean (*reads_key)(const SimConfig *config, const SimKeySpec *spec), guint *ret_n_left_out)
{
    Writer writer = {.origins = TRUE, .reads_key = reads_key};
    char *text = write_all(config, &writer);
    *ret_n_left_out = writer.n_left_out;
    return text;
}
