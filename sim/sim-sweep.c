/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-sweep.h"

#include "sim-quantity.h"
#include "sim-value.h"

#include <math.h>
#include <string.h>

static char **
fail(GError **error, SimErrorCode code, const char *message)
{
    g_set_error_literal(error, SIM_ERROR, code, message);
    return NULL;
}

static char **
strv_from_array(GPtrArray *texts)
{
    g_ptr_array_add(texts, NULL);
    return (char **) g_ptr_array_free(texts, FALSE);
}

static char **
expand_range(const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    gint64 from, to, step;
    if (g_strv_length(parts) != 3 || !sim_parse_int(parts[0], &from, NULL) || !sim_parse_int(parts[1], &to, NULL) ||
        !sim_parse_int(parts[2], &step, NULL))
        return fail(error, SIM_ERROR_PARSE, "not a range (allowed: from:to:step in whole numbers)");
    if (step < 1 || from > to)
        return fail(error, SIM_ERROR_RANGE, "an empty range (allowed: from:to:step with from <= to and step >= 1)");
    /* Unsigned, since the distance between two 64-bit numbers may not fit a signed one. */
    guint64 n_steps = ((guint64) to - (guint64) from) / (guint64) step;
    if (n_steps >= SIM_SWEEP_MAX_VALUES)
        return fail(error, SIM_ERROR_RANGE, "more than " G_STRINGIFY(SIM_SWEEP_MAX_VALUES) " values");
    GPtrArray *texts = g_ptr_array_new();
    for (guint64 i = 0; i <= n_steps; i++)
        g_ptr_array_add(texts, g_strdup_printf("%" G_GINT64_FORMAT, from + (gint64) i * step));
    return strv_from_array(texts);
}

static char *
format_log_value(const SimKeySpec *spec, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(buffer, sizeof buffer, spec->type == SIM_KEY_INT ? "%.0f" : "%.6g", value);
    return g_strdup(buffer);
}

static char **
expand_log(const SimKeySpec *spec, const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    double from, to;
    gint64 count;
    if (spec->type != SIM_KEY_INT && spec->type != SIM_KEY_REAL)
        return fail(error, SIM_ERROR_PARSE, "log is for numbers without a unit (allowed: v1; v2; v3)");
    if (g_strv_length(parts) != 3 || !sim_parse_real(parts[0], &from, NULL) || !sim_parse_real(parts[1], &to, NULL) ||
        !sim_parse_int(parts[2], &count, NULL))
        return fail(error, SIM_ERROR_PARSE, "not a log range (allowed: log from:to:count)");
    if (from <= 0 || from >= to || count < 2 || count > SIM_SWEEP_MAX_VALUES)
        return fail(error, SIM_ERROR_RANGE,
                    "an impossible log range (allowed: log from:to:count with 0 < from < to and count from 2 "
                    "to " G_STRINGIFY(SIM_SWEEP_MAX_VALUES) ")");
    GPtrArray *texts = g_ptr_array_new();
    g_ptr_array_add(texts, g_strdup(parts[0]));
    for (gint64 i = 1; i < count - 1; i++) {
        double value = from * pow(to / from, (double) i / (double) (count - 1));
        g_autofree char *next = format_log_value(spec, value);
        if (strcmp(next, texts->pdata[texts->len - 1]) != 0 && strcmp(next, parts[1]) != 0)
            g_ptr_array_add(texts, g_steal_pointer(&next));
    }
    g_ptr_array_add(texts, g_strdup(parts[1]));
    return strv_from_array(texts);
}

char **
sim_sweep_expand(const SimKeySpec *spec, const char *text, GError **error)
{
    gboolean is_words = spec->type == SIM_KEY_TEXT || spec->type == SIM_KEY_TEXT_LIST || spec->type == SIM_KEY_CHOICE;
    if (!is_words && g_str_has_prefix(text, "log "))
        return expand_log(spec, text + 3 + strspn(text + 3, " "), error);
    if (spec->type == SIM_KEY_INT && strchr(text, ':') != NULL)
        return expand_range(text, error);
    g_auto(GStrv) values = sim_value_split_list(text, error);
    if (values == NULL)
        return NULL;
    if (values[0] == NULL)
        return fail(error, SIM_ERROR_PARSE, "the axis has no value (allowed: v1; v2; v3)");
    if (g_strv_length(values) > SIM_SWEEP_MAX_VALUES)
        return fail(error, SIM_ERROR_RANGE, "more than " G_STRINGIFY(SIM_SWEEP_MAX_VALUES) " values");
    return g_steal_pointer(&values);
}

gboolean
sim_sweep_is_interval(const SimKeySpec *spec, const char *text)
{
    gboolean is_number = spec->type == SIM_KEY_INT || spec->type == SIM_KEY_REAL || spec->type == SIM_KEY_TIME ||
                         spec->type == SIM_KEY_SIZE;
    return is_number && strstr(text, "..") != NULL;
}

static gboolean
parse_end(const SimKeySpec *spec, const char *text, double *ret_value)
{
    gint64 whole = 0;
    gboolean ok;

    if (spec->type == SIM_KEY_REAL)
        return sim_parse_real(text, ret_value, NULL);
    ok = spec->type == SIM_KEY_INT    ? sim_parse_int(text, &whole, NULL)
         : spec->type == SIM_KEY_TIME ? sim_parse_time(text, &whole, NULL)
                                      : sim_parse_size(text, &whole, NULL);
    if (ok)
        *ret_value = (double) whole;
    return ok;
}

gboolean
sim_sweep_parse_interval(const SimKeySpec *spec, const char *text, SimSweepInterval *ret_interval, GError **error)
{
    SimSweepInterval interval = {.spec = spec, .is_log = g_str_has_prefix(text, "log ")};
    const char *dots = strstr(text, "..");
    const char *start = text + (interval.is_log ? 4 : 0);
    g_autofree char *from = g_strstrip(g_strndup(start, (gsize) (dots - start)));
    g_autofree char *to = g_strstrip(g_strdup(dots + 2));

    if (!parse_end(spec, from, &interval.from) || !parse_end(spec, to, &interval.to)) {
        fail(error, SIM_ERROR_PARSE,
             "not an interval (allowed: from..to or log from..to, with units where the key has "
             "them)");
        return FALSE;
    }
    if (interval.from >= interval.to || (interval.is_log && interval.from <= 0)) {
        fail(error, SIM_ERROR_RANGE, "an empty interval (allowed: from < to, and 0 < from for log)");
        return FALSE;
    }
    *ret_interval = interval;
    return TRUE;
}

char *
sim_sweep_interval_text(const SimSweepInterval *interval, double position)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    gboolean is_real = interval->spec->type == SIM_KEY_REAL;
    /* A whole number n stands for [n, n + 1). */
    double to = is_real ? interval->to : interval->to + 1;
    double value = interval->is_log ? interval->from * pow(to / interval->from, position)
                                    : interval->from + (to - interval->from) * position;

    if (is_real) {
        g_ascii_formatd(number, sizeof number, "%.6g", value);
        return g_strdup(number);
    }
    value = CLAMP(floor(value), interval->from, interval->to);
    g_ascii_formatd(number, sizeof number, "%.0f", value);
    return g_strconcat(number,
                       interval->spec->type == SIM_KEY_TIME   ? " ps"
                       : interval->spec->type == SIM_KEY_SIZE ? " B"
                                                              : "",
                       NULL);
}
