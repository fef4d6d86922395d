/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-value.h"

#include "sim-hint.h"
#include "sim-quantity.h"
#include "sim-record.h"

#include <math.h>
#include <string.h>

void
sim_value_clear(SimValue *value)
{
    g_strfreev(value->list);
    g_free(value->text);
    g_free(value->source);
    *value = (SimValue){0};
}

/* A size that no unit writes in few digits is one that nobody reaches: whole GiB below it tell enough. */
static char *
limit_to_size(double limit)
{
    char buffer[SIM_FORMAT_SIZE];
    gint64 bytes = (gint64) limit;

    if (bytes > G_GINT64_CONSTANT(1) << 40)
        bytes &= ~((G_GINT64_CONSTANT(1) << 30) - 1);
    return g_strdup(sim_format_size(buffer, bytes));
}

/* A limit of the schema in the key's own unit. */
static char *
limit_to_text(const SimKeySpec *spec, double limit)
{
    char time[SIM_FORMAT_SIZE], real[G_ASCII_DTOSTR_BUF_SIZE];
    switch (spec->type) {
    case SIM_KEY_TIME:
    case SIM_KEY_COST:
        return g_strdup(sim_format_time(time, (SimTime) limit));
    case SIM_KEY_SIZE:
        return limit_to_size(limit);
    case SIM_KEY_INT:
        return g_strdup_printf("%.0f", limit);
    default:
        return g_strdup(sim_format_real(real, limit));
    }
}

static gboolean
is_limited(const SimKeySpec *spec)
{
    return spec->min != 0 || spec->max != 0;
}

static char *
range_to_text(const SimKeySpec *spec)
{
    if (!is_limited(spec))
        return g_strdup("");
    g_autofree char *min = isfinite(spec->min) ? limit_to_text(spec, spec->min) : NULL;
    g_autofree char *max = isfinite(spec->max) ? limit_to_text(spec, spec->max) : NULL;
    if (max == NULL)
        return g_strdup_printf(" from %s", min);
    if (min == NULL)
        return g_strdup_printf(" up to %s", max);
    return g_strdup_printf(" from %s to %s", min, max);
}

static char *
describe_allowed(const SimKeySpec *spec)
{
    static const char *const forms[] = {
        [SIM_KEY_INT] = "a whole number",
        [SIM_KEY_REAL] = "a number",
        [SIM_KEY_BOOL] = "true, false",
        [SIM_KEY_TIME] = "a time in ps, ns, us, ms or s",
        [SIM_KEY_SIZE] = "a size in B, K, M, G, KiB, MiB or GiB",
        [SIM_KEY_CHOICE] = "",
        [SIM_KEY_TEXT] = "text with the escapes \\s \\t \\n \\r \\\\",
        [SIM_KEY_TEXT_LIST] = "texts between semicolons with the escapes \\s \\t \\n \\r \\\\ \\;",
        [SIM_KEY_COST] = "a time in ps, ns, us, ms or s, or TIME [LOW .. HIGH] SOURCE",
    };
    if (spec->type == SIM_KEY_CHOICE) {
        g_auto(GStrv) choices = g_strsplit(spec->choices, "|", -1);
        return g_strjoinv(", ", choices);
    }
    g_autofree char *range = range_to_text(spec);
    return g_strconcat(forms[spec->type], range, NULL);
}

static gboolean
parse_fail(GError **error, const char *message)
{
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_PARSE, message);
    return FALSE;
}

static gboolean
check_range(const SimKeySpec *spec, double number, GError **error)
{
    if (!is_limited(spec) || (number >= spec->min && number <= spec->max))
        return TRUE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_RANGE, "out of range");
    return FALSE;
}

static gboolean
parse_choice(const SimKeySpec *spec, const char *text, gint64 *ret_index, GError **error)
{
    g_auto(GStrv) choices = g_strsplit(spec->choices, "|", -1);
    for (guint i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *ret_index = i;
            return TRUE;
        }
    }
    g_autofree char *hint = sim_hint_phrase(text, (const char *const *) choices);
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "not one of the choices%s", hint);
    return FALSE;
}

/* Letters and what they stand for, in the same places. */
static const char escape_letters[] = "stnr\\";
static const char escape_meanings[] = " \t\n\r\\";

static char *
unescape(const char *text, GError **error)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p != '\\') {
            g_string_append_c(plain, *p);
            continue;
        }
        p++;
        const char *letter = *p != '\0' ? strchr(escape_letters, *p) : NULL;
        if (letter == NULL) {
            parse_fail(error, "a backslash starts no known escape (write \\\\ for one)");
            return NULL;
        }
        g_string_append_c(plain, escape_meanings[letter - escape_letters]);
    }
    return g_string_free(g_steal_pointer(&plain), FALSE);
}

/* Blanks are escaped at the ends only, where the reader would drop them. */
static void
append_escaped(GString *target, const char *text, gboolean in_list)
{
    for (const char *p = text; *p != '\0'; p++) {
        const char *meaning = strchr(escape_meanings, *p);
        gboolean is_inner_blank = *p == ' ' && p != text && p[1] != '\0';
        if (meaning != NULL && !is_inner_blank) {
            g_string_append_c(target, '\\');
            g_string_append_c(target, escape_letters[meaning - escape_meanings]);
        } else {
            if (*p == ';' && in_list)
                g_string_append_c(target, '\\');
            g_string_append_c(target, *p);
        }
    }
}

char **
sim_value_split_list(const char *text, GError **error)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) element = g_string_new(NULL);
    for (const char *p = text;; p++) {
        if (*p == '\\' && p[1] != '\0') {
            if (p[1] != ';')
                g_string_append_c(element, *p);
            g_string_append_c(element, *++p);
        } else if (*p != ';' && *p != '\0') {
            g_string_append_c(element, *p);
        } else {
            g_strstrip(element->str);
            gboolean is_last = *p == '\0';
            if (element->str[0] == '\0' && !is_last) {
                parse_fail(error, "an element of the list is empty");
                return NULL;
            }
            if (element->str[0] != '\0')
                g_ptr_array_add(list, g_strdup(element->str));
            if (is_last)
                break;
            g_string_truncate(element, 0);
        }
    }
    g_ptr_array_add(list, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&list), FALSE);
}

static gboolean
parse_list(const char *text, SimValue *value, GError **error)
{
    value->list = sim_value_split_list(text, error);
    if (value->list == NULL)
        return FALSE;
    for (char **element = value->list; *element != NULL; element++) {
        char *plain = unescape(*element, error);
        if (plain == NULL)
            return FALSE;
        g_free(*element);
        *element = plain;
    }
    return TRUE;
}

static gboolean
parse_trimmed_time(const char *start, const char *end, SimTime *ret_time, GError **error)
{
    g_autofree char *text = g_strstrip(g_strndup(start, (gsize) (end - start)));
    return sim_parse_time(text, ret_time, error);
}

static gboolean
parse_cost(const char *text, SimValue *value, GError **error)
{
    const char *open = strchr(text, '[');
    if (open == NULL)
        return sim_parse_time(text, &value->integer, error);
    const char *close = strchr(open, ']');
    const char *dots = strstr(open, "..");
    if (close == NULL || dots == NULL || dots > close)
        return parse_fail(error, "bounds not understood");
    if (!parse_trimmed_time(text, open, &value->integer, error) ||
        !parse_trimmed_time(open + 1, dots, &value->low_ps, error) ||
        !parse_trimmed_time(dots + 2, close, &value->high_ps, error))
        return FALSE;
    if (value->low_ps > value->high_ps) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_RANGE, "the lower bound is above the upper one");
        return FALSE;
    }
    if (value->integer < value->low_ps || value->integer > value->high_ps) {
        g_set_error_literal(error, SIM_ERROR, SIM_ERROR_RANGE, "the value lies outside its own bounds");
        return FALSE;
    }
    value->has_bounds = TRUE;
    value->source = g_strstrip(g_strdup(close + 1));
    return TRUE;
}

static gboolean
parse_typed(const SimKeySpec *spec, const char *text, SimValue *value, GError **error)
{
    gboolean flag;
    switch (spec->type) {
    case SIM_KEY_INT:
        return sim_parse_int(text, &value->integer, error) && check_range(spec, (double) value->integer, error);
    case SIM_KEY_REAL:
        return sim_parse_real(text, &value->real, error) && check_range(spec, value->real, error);
    case SIM_KEY_BOOL:
        if (!sim_parse_bool(text, &flag, error))
            return FALSE;
        value->integer = flag;
        return TRUE;
    case SIM_KEY_TIME:
        return sim_parse_time(text, &value->integer, error) && check_range(spec, (double) value->integer, error);
    case SIM_KEY_SIZE:
        return sim_parse_size(text, &value->integer, error) && check_range(spec, (double) value->integer, error);
    case SIM_KEY_CHOICE:
        return parse_choice(spec, text, &value->integer, error);
    case SIM_KEY_TEXT:
        return (value->text = unescape(text, error)) != NULL;
    case SIM_KEY_TEXT_LIST:
        return parse_list(text, value, error);
    case SIM_KEY_COST:
        return parse_cost(text, value, error) && check_range(spec, (double) value->integer, error);
    }
    g_assert_not_reached();
}

char *
sim_value_to_file_text(const SimKeySpec *spec, const SimValue *value)
{
    char buffer[SIM_FORMAT_SIZE], low[SIM_FORMAT_SIZE], high[SIM_FORMAT_SIZE], real[G_ASCII_DTOSTR_BUF_SIZE];
    GString *text = g_string_new(NULL);
    switch (spec->type) {
    case SIM_KEY_INT:
        g_string_append_printf(text, "%" G_GINT64_FORMAT, value->integer);
        break;
    case SIM_KEY_REAL:
        g_string_append(text, sim_format_real(real, value->real));
        break;
    case SIM_KEY_BOOL:
        g_string_append(text, sim_format_bool(value->integer != 0));
        break;
    case SIM_KEY_TIME:
        g_string_append(text, sim_format_time(buffer, value->integer));
        break;
    case SIM_KEY_SIZE:
        g_string_append(text, sim_format_size(buffer, value->integer));
        break;
    case SIM_KEY_CHOICE: {
        g_auto(GStrv) choices = g_strsplit(spec->choices, "|", -1);
        g_string_append(text, choices[value->integer]);
        break;
    }
    case SIM_KEY_TEXT:
        append_escaped(text, value->text, FALSE);
        break;
    case SIM_KEY_TEXT_LIST:
        for (char **element = value->list; *element != NULL; element++) {
            if (element != value->list)
                g_string_append_c(text, ';');
            append_escaped(text, *element, TRUE);
        }
        break;
    case SIM_KEY_COST:
        g_string_append(text, sim_format_time(buffer, value->integer));
        if (value->has_bounds)
            g_string_append_printf(text, " [%s .. %s]%s%s", sim_format_time(low, value->low_ps),
                                   sim_format_time(high, value->high_ps), *value->source != '\0' ? " " : "",
                                   value->source);
        break;
    }
    return g_string_free(text, FALSE);
}

gboolean
sim_value_parse(const SimKeySpec *spec, const char *text, SimValue *ret_value, GError **error)
{
    SimValue value = {0};
    GError *problem = NULL;
    if (!parse_typed(spec, text, &value, &problem)) {
        g_autofree char *allowed = describe_allowed(spec);
        g_set_error(error, problem->domain, problem->code, "%s (allowed: %s)", problem->message, allowed);
        g_error_free(problem);
        sim_value_clear(&value);
        return FALSE;
    }
    if (value.text == NULL)
        value.text = sim_value_to_file_text(spec, &value);
    *ret_value = value;
    return TRUE;
}

gboolean
sim_value_inherit_bounds(const SimKeySpec *spec, SimValue *value, const SimValue *lower, GError **error)
{
    if (value->has_bounds || !lower->has_bounds)
        return TRUE;
    if (value->integer < lower->low_ps || value->integer > lower->high_ps) {
        char low[SIM_FORMAT_SIZE], high[SIM_FORMAT_SIZE];
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE,
                    "outside the bounds of the value it overrides (allowed: %s .. %s, or new bounds)",
                    sim_format_time(low, lower->low_ps), sim_format_time(high, lower->high_ps));
        return FALSE;
    }
    value->has_bounds = TRUE;
    value->low_ps = lower->low_ps;
    value->high_ps = lower->high_ps;
    value->source = g_strdup(lower->source);
    g_free(value->text);
    value->text = sim_value_to_file_text(spec, value);
    return TRUE;
}
