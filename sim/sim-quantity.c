/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-quantity.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *name;
    gint64 factor; /* base units (ps, bytes) in one of it */
} Unit;

typedef struct {
    const char *noun, *base_noun, *example;
    Unit units[8]; /* ascending, ends with a NULL name */
} UnitFamily;

static const UnitFamily time_family = {
    "time", "picosecond", "ms", {{"ps", SIM_PS}, {"ns", SIM_NS}, {"us", SIM_US}, {"ms", SIM_MS}, {"s", SIM_S}}};

static const UnitFamily size_family = {
    "size",
    "byte",
    "B",
    {{"B", 1}, {"K", 1 << 10}, {"KiB", 1 << 10}, {"M", 1 << 20}, {"MiB", 1 << 20}, {"G", 1 << 30}, {"GiB", 1 << 30}}};

/* More decimals than this cannot be a whole number of base units for any text a person writes. */
#define MAX_DECIMALS 18

static gboolean
fail(GError **error, SimErrorCode code, const char *message)
{
    g_set_error_literal(error, SIM_ERROR, code, message);
    return FALSE;
}

static const char *
skip_digits(const char *p)
{
    while (g_ascii_isdigit(*p))
        p++;
    return p;
}

gboolean
sim_parse_int(const char *text, gint64 *ret_value, GError **error)
{
    const char *digits = text + (*text == '-');
    const char *end = skip_digits(digits);
    if (*text == '\0')
        return fail(error, SIM_ERROR_PARSE, "empty");
    if (end == digits || *end != '\0')
        return fail(error, SIM_ERROR_PARSE, "not a whole number");
    errno = 0;
    gint64 value = g_ascii_strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return fail(error, SIM_ERROR_RANGE, "does not fit in 64 bits");
    *ret_value = value;
    return TRUE;
}

/* The end of a decimal number with optional exponent, or NULL when there is none: g_ascii_strtod alone would also
 * take blanks, hexadecimal digits, "inf" and "nan". */
static const char *
skip_real(const char *p)
{
    const char *digits = p + (*p == '-');
    p = skip_digits(digits);
    if (p == digits)
        return NULL;
    if (*p == '.') {
        const char *decimals = ++p;
        p = skip_digits(decimals);
        if (p == decimals)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        const char *exponent = p + (*p == '-' || *p == '+');
        p = skip_digits(exponent);
        if (p == exponent)
            return NULL;
    }
    return p;
}

gboolean
sim_parse_real(const char *text, double *ret_value, GError **error)
{
    const char *end = skip_real(text);
    if (*text == '\0')
        return fail(error, SIM_ERROR_PARSE, "empty");
    if (end == NULL || *end != '\0')
        return fail(error, SIM_ERROR_PARSE, "not a number");
    double value = g_ascii_strtod(text, NULL);
    if (!isfinite(value))
        return fail(error, SIM_ERROR_RANGE, "too large for a real number");
    if (value == 0 && strcspn(text, "123456789") < strcspn(text, "eE"))
        return fail(error, SIM_ERROR_RANGE, "too small for a real number");
    *ret_value = value;
    return TRUE;
}

gboolean
sim_parse_bool(const char *text, gboolean *ret_value, GError **error)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return fail(error, SIM_ERROR_PARSE, *text == '\0' ? "empty" : "neither true nor false");
    *ret_value = text[0] == 't';
    return TRUE;
}

/* Adds the decimal digits of [p, end) to the mantissa. FALSE on overflow. */
static gboolean
append_digits(unsigned __int128 *mantissa, const char *p, const char *end)
{
    for (; p < end; p++) {
        if (__builtin_mul_overflow(*mantissa, (unsigned __int128) 10, mantissa) ||
            __builtin_add_overflow(*mantissa, (unsigned __int128) (*p - '0'), mantissa))
            return FALSE;
    }
    return TRUE;
}

/* [text, dot) are the whole digits, [dot + 1, end) the decimals (dot == end without any). Integers throughout, since
 * a double would round 0.1 us. */
static gboolean
scale_decimal(const UnitFamily *family, gint64 factor, const char *text, const char *dot, const char *end,
              gint64 *ret_value, GError **error)
{
    unsigned __int128 mantissa = 0, divisor = 1;
    while (end > dot && end[-1] == '0')
        end--;
    const char *decimals = MIN(dot + 1, end);
    gboolean is_fine = end - decimals > MAX_DECIMALS;
    for (const char *p = decimals; p < end && !is_fine; p++)
        divisor *= 10;
    gboolean is_large = !append_digits(&mantissa, text, dot) ||
                        (!is_fine && (!append_digits(&mantissa, decimals, end) ||
                                      __builtin_mul_overflow(mantissa, (unsigned __int128) factor, &mantissa))) ||
                        mantissa / divisor > G_MAXINT64;
    if (is_large) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "a %s this long does not fit in 64 bits of %ss", family->noun,
                    family->base_noun);
        return FALSE;
    }
    if (is_fine || mantissa % divisor != 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_RANGE, "not a whole number of %ss", family->base_noun);
        return FALSE;
    }
    *ret_value = (gint64) (mantissa / divisor);
    return TRUE;
}

static gboolean
parse_scaled(const UnitFamily *family, const char *text, gint64 *ret_value, GError **error)
{
    if (*text == '\0')
        return fail(error, SIM_ERROR_PARSE, "empty");
    const char *dot = skip_digits(text), *end = dot;
    if (*dot == '.')
        end = skip_digits(dot + 1);
    if (dot == text || (*dot == '.' && end == dot + 1)) {
        gboolean is_negative = text[0] == '-' && g_ascii_isdigit(text[1]);
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, is_negative ? "a %s cannot be negative" : "not a %s",
                    family->noun);
        return FALSE;
    }
    const char *name = end + strspn(end, " \t");
    if (*name == '\0') {
        g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "a %s needs a unit, as in \"%.*s %s\"", family->noun,
                    (int) (end - text), text, family->example);
        return FALSE;
    }
    for (const Unit *unit = family->units; unit->name != NULL; unit++) {
        if (strcmp(name, unit->name) == 0)
            return scale_decimal(family, unit->factor, text, dot, end, ret_value, error);
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "\"%s\" is not a unit of %s", name, family->noun);
    return FALSE;
}

gboolean
sim_parse_time(const char *text, SimTime *ret_time, GError **error)
{
    return parse_scaled(&time_family, text, ret_time, error);
}

gboolean
sim_parse_size(const char *text, gint64 *ret_bytes, GError **error)
{
    return parse_scaled(&size_family, text, ret_bytes, error);
}

char *
sim_format_time(char *buffer, SimTime time)
{
    guint64 magnitude = time < 0 ? -(guint64) time : (guint64) time;
    int i = G_N_ELEMENTS(time_family.units) - 1;
    while (time_family.units[i].name == NULL ||
           (i > 0 && magnitude != 0 && magnitude < (guint64) time_family.units[i].factor))
        i--;
    const Unit *unit = &time_family.units[i];
    guint64 whole = magnitude / (guint64) unit->factor, rest = magnitude % (guint64) unit->factor;
    int n_decimals = 3 * i; /* each unit is 1000 of the one before */
    for (; n_decimals > 0 && rest % 10 == 0; n_decimals--)
        rest /= 10;
    if (n_decimals == 0)
        g_snprintf(buffer, SIM_FORMAT_SIZE, "%s%" G_GUINT64_FORMAT " %s", time < 0 ? "-" : "", whole, unit->name);
    else
        g_snprintf(buffer, SIM_FORMAT_SIZE, "%s%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", time < 0 ? "-" : "",
                   whole, n_decimals, rest, unit->name);
    return buffer;
}

char *
sim_format_size(char *buffer, gint64 bytes)
{
    const Unit *best = &size_family.units[0];
    for (const Unit *unit = best; unit->name != NULL; unit++) {
        if (bytes != 0 && bytes % unit->factor == 0)
            best = unit;
    }
    g_snprintf(buffer, SIM_FORMAT_SIZE, "%" G_GINT64_FORMAT " %s", bytes / best->factor, best->name);
    return buffer;
}

const char *
sim_format_bool(gboolean value)
{
    return value ? "true" : "false";
}
