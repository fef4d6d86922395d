/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-hint.h"
#include "sim-quantity.h"
#include "sim-record.h"

#include <float.h>
#include <locale.h>
#include <math.h>

/* `problem` NULL: the text is read as `value`. */
typedef struct {
    const char *text;
    gint64 value;
    const char *problem;
} IntegerCase;

typedef gboolean (*IntegerParser)(const char *text, gint64 *ret_value, GError **error);

static void
check_integers(IntegerParser parse, const IntegerCase *cases, gsize n_cases)
{
    for (gsize i = 0; i < n_cases; i++) {
        g_autoptr(GError) error = NULL;
        gint64 value = -77;
        gboolean is_read = parse(cases[i].text, &value, &error);
        g_test_message("\"%s\"", cases[i].text);
        g_assert_cmpstr(error != NULL ? error->message : NULL, ==, cases[i].problem);
        g_assert_cmpint(is_read, ==, cases[i].problem == NULL);
        g_assert_cmpint(value, ==, is_read ? cases[i].value : -77);
        if (!is_read)
            g_assert_true(error->domain == SIM_ERROR);
    }
}

static void
test_int(void)
{
    static const IntegerCase cases[] = {
        {"0", 0},
        {"-1", -1},
        {"224", 224},
        {"007", 7},
        {"9223372036854775807", G_MAXINT64},
        {"-9223372036854775808", G_MININT64},
        {"9223372036854775808", 0, "does not fit in 64 bits"},
        {"-9223372036854775809", 0, "does not fit in 64 bits"},
        {"", 0, "empty"},
        {"-", 0, "not a whole number"},
        {"+5", 0, "not a whole number"},
        {" 5", 0, "not a whole number"},
        {"5 ", 0, "not a whole number"},
        {"5 # note", 0, "not a whole number"},
        {"5 us", 0, "not a whole number"},
        {"1e6", 0, "not a whole number"},
        {"0x10", 0, "not a whole number"},
        {"1.0", 0, "not a whole number"},
        {"1,000", 0, "not a whole number"},
        {"--1", 0, "not a whole number"},
    };
    check_integers(sim_parse_int, cases, G_N_ELEMENTS(cases));
}

static void
test_time(void)
{
    static const IntegerCase cases[] = {
        {"0 s", 0},
        {"1ps", 1},
        {"5 ms", 5 * SIM_MS},
        {"5\tms", 5 * SIM_MS},
        {"0.1 us", 100000},
        {"0.333 ns", 333},
        {"1.500 ns", 1500},
        {"1.000000000000 s", SIM_S},
        {"0.000000000001 s", 1},
        {"9223372.036854775807 s", G_MAXINT64},
        {"9223372.036854775808 s", 0, "a time this long does not fit in 64 bits of picoseconds"},
        {"9223372036854775808 ps", 0, "a time this long does not fit in 64 bits of picoseconds"},
        {"99999999999999999999999999999999999999999999 s", 0,
         "a time this long does not fit in 64 bits of picoseconds"},
        {"0.0001 ns", 0, "not a whole number of picoseconds"},
        {"0.5 ps", 0, "not a whole number of picoseconds"},
        {"0.1234567890123456789 s", 0, "not a whole number of picoseconds"},
        {"5", 0, "a time needs a unit, as in \"5 ms\""},
        {"5 ", 0, "a time needs a unit, as in \"5 ms\""},
        {"5 m", 0, "\"m\" is not a unit of time"},
        {"5 MS", 0, "\"MS\" is not a unit of time"},
        {"5 ms now", 0, "\"ms now\" is not a unit of time"},
        {"5 ms ", 0, "\"ms \" is not a unit of time"},
        {"1e6 ns", 0, "\"e6 ns\" is not a unit of time"},
        {"0x10 ns", 0, "\"x10 ns\" is not a unit of time"},
        {"1,5 us", 0, "\",5 us\" is not a unit of time"},
        {"-1 ns", 0, "a time cannot be negative"},
        {"+1 ns", 0, "not a time"},
        {".5 ns", 0, "not a time"},
        {"5. ns", 0, "not a time"},
        {"1.2.3 ns", 0, "\".3 ns\" is not a unit of time"},
        {" 5 ns", 0, "not a time"},
        {"ns", 0, "not a time"},
        {"", 0, "empty"},
    };
    check_integers(sim_parse_time, cases, G_N_ELEMENTS(cases));
}

static void
test_size(void)
{
    static const IntegerCase cases[] = {
        {"0 B", 0},
        {"1B", 1},
        {"32K", 32768},
        {"32 KiB", 32768},
        {"1.5K", 1536},
        {"0.000000000931322574615478515625 G", 0, "not a whole number of bytes"}, /* 30 decimals: nobody means it */
        {"2M", 2097152},
        {"2 MiB", 2097152},
        {"1G", 1073741824},
        {"1 GiB", 1073741824},
        {"8589934591 GiB", 9223372035781033984},
        {"8589934592 GiB", 0, "a size this long does not fit in 64 bits of bytes"},
        {"0.1K", 0, "not a whole number of bytes"},
        {"4096", 0, "a size needs a unit, as in \"4096 B\""},
        {"4 kB", 0, "\"kB\" is not a unit of size"},
        {"4k", 0, "\"k\" is not a unit of size"},
        {"-4K", 0, "a size cannot be negative"},
        {"K", 0, "not a size"},
        {"", 0, "empty"},
    };
    check_integers(sim_parse_size, cases, G_N_ELEMENTS(cases));
}

static void
test_real(void)
{
    static const struct {
        const char *text;
        double value;
        const char *problem;
    } cases[] = {
        {"0.5", 0.5},
        {"-3", -3},
        {"1e-6", 1e-6},
        {"1E+3", 1000},
        {"0.1", 0.1},
        {"0e5", 0},
        {"-0.0", 0},
        {"5e-324", 5e-324},
        {"1.7976931348623157e308", DBL_MAX},
        {"1e309", 0, "too large for a real number"},
        {"-1e309", 0, "too large for a real number"},
        {"1e-400", 0, "too small for a real number"},
        {"0,5", 0, "not a number"},
        {"nan", 0, "not a number"},
        {"inf", 0, "not a number"},
        {"0x1p3", 0, "not a number"},
        {".5", 0, "not a number"},
        {"5.", 0, "not a number"},
        {"1e", 0, "not a number"},
        {"1e+", 0, "not a number"},
        {"+1", 0, "not a number"},
        {" 1", 0, "not a number"},
        {"1 ", 0, "not a number"},
        {"-", 0, "not a number"},
        {"", 0, "empty"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        double value = -77;
        gboolean is_read = sim_parse_real(cases[i].text, &value, &error);
        g_test_message("\"%s\"", cases[i].text);
        g_assert_cmpstr(error != NULL ? error->message : NULL, ==, cases[i].problem);
        g_assert_cmpint(is_read, ==, cases[i].problem == NULL);
        g_assert_cmpfloat(value, ==, is_read ? cases[i].value : -77);
    }
}

static void
test_bool(void)
{
    static const char *const wrong[] = {"yes", "1", "0", "True", "TRUE", "tru", "true ", " false", ""};
    gboolean value = 5;
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(sim_parse_bool(wrong[i], &value, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_assert_cmpint(value, ==, 5);
    }
    g_assert_true(sim_parse_bool("true", &value, NULL));
    g_assert_cmpint(value, ==, TRUE);
    g_assert_true(sim_parse_bool("false", &value, NULL));
    g_assert_cmpint(value, ==, FALSE);
    g_assert_cmpstr(sim_format_bool(2), ==, "true");
}

static void
test_format(void)
{
    char buffer[SIM_FORMAT_SIZE];
    g_assert_cmpstr(sim_format_time(buffer, 0), ==, "0 s");
    g_assert_cmpstr(sim_format_time(buffer, 333), ==, "333 ps");
    g_assert_cmpstr(sim_format_time(buffer, 999), ==, "999 ps");
    g_assert_cmpstr(sim_format_time(buffer, 1000), ==, "1 ns");
    g_assert_cmpstr(sim_format_time(buffer, 1500), ==, "1.5 ns");
    g_assert_cmpstr(sim_format_time(buffer, 1001), ==, "1.001 ns");
    g_assert_cmpstr(sim_format_time(buffer, 110 * SIM_NS), ==, "110 ns");
    g_assert_cmpstr(sim_format_time(buffer, SIM_S + 1), ==, "1.000000000001 s");
    g_assert_cmpstr(sim_format_time(buffer, 90 * SIM_S), ==, "90 s");
    g_assert_cmpstr(sim_format_time(buffer, -1500), ==, "-1.5 ns");
    g_assert_cmpstr(sim_format_time(buffer, G_MININT64), ==, "-9223372.036854775808 s");
    g_assert_cmpstr(sim_format_size(buffer, 0), ==, "0 B");
    g_assert_cmpstr(sim_format_size(buffer, 1000), ==, "1000 B");
    g_assert_cmpstr(sim_format_size(buffer, 1536), ==, "1536 B");
    g_assert_cmpstr(sim_format_size(buffer, 32768), ==, "32 KiB");
    g_assert_cmpstr(sim_format_size(buffer, 3 * 1048576), ==, "3 MiB");
    g_assert_cmpstr(sim_format_size(buffer, G_MAXINT64), ==, "9223372036854775807 B");
}

/* Whatever the magnitude, what is written is read back as the same value. */
static void
test_round_trip(void)
{
    for (guint i = 0; i < 20000; i++) {
        char buffer[SIM_FORMAT_SIZE], real[G_ASCII_DTOSTR_BUF_SIZE];
        guint64 bits = (guint64) g_test_rand_int() << 32 ^ (guint32) g_test_rand_int();
        gint64 value = (gint64) (bits >> 1 >> g_test_rand_int_range(0, 63)), back = -1;
        if (i % 4 == 0)
            value -= value % 1000000;
        g_assert_true(sim_parse_time(sim_format_time(buffer, value), &back, NULL));
        g_assert_cmpint(back, ==, value);
        g_assert_true(sim_parse_size(sim_format_size(buffer, value), &back, NULL));
        g_assert_cmpint(back, ==, value);
        union {
            guint64 bits;
            double value;
        } real_value = {bits};
        double real_back = 0;
        if (!isfinite(real_value.value))
            continue;
        g_assert_true(sim_parse_real(sim_format_real(real, real_value.value), &real_back, NULL));
        g_assert_cmpfloat(real_back, ==, real_value.value);
    }
}

static void
test_format_real(void)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_assert_cmpstr(sim_format_real(buffer, 0.1), ==, "0.1");
    g_assert_cmpstr(sim_format_real(buffer, 100), ==, "100");
    g_assert_cmpstr(sim_format_real(buffer, 0.1 + 0.2), ==, "0.30000000000000004");
    g_assert_cmpstr(sim_format_real(buffer, -999999999999999), ==, "-999999999999999");
    g_assert_cmpstr(sim_format_real(buffer, 1e15), ==, "1e+15");
    g_assert_cmpstr(sim_format_real(buffer, 0.0), ==, "0");
    g_assert_cmpstr(sim_format_real(buffer, -0.0), ==, "-0");
    g_assert_cmpstr(sim_format_real(buffer, -INFINITY), ==, "-inf");
    g_assert_cmpstr(sim_format_real(buffer, NAN), ==, "nan");
}

/* A comma locale changes nothing. Skipped where none is installed. */
static void
test_locale(void)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    double value;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) {
        g_test_skip("no locale with a decimal comma is installed");
        return;
    }
    gboolean is_read = sim_parse_real("0.5", &value, NULL), is_comma_read = sim_parse_real("0,5", &value, NULL);
    sim_format_real(buffer, 0.5);
    setlocale(LC_ALL, "C");
    g_assert_true(is_read);
    g_assert_false(is_comma_read);
    g_assert_cmpstr(buffer, ==, "0.5");
}

static void
test_hint(void)
{
    static const char *const names[] = {"warmup", "duration", "seed", "starts", NULL};
    g_assert_cmpuint(sim_hint_distance("", ""), ==, 0);
    g_assert_cmpuint(sim_hint_distance("abc", ""), ==, 3);
    g_assert_cmpuint(sim_hint_distance("", "abc"), ==, 3);
    g_assert_cmpuint(sim_hint_distance("kitten", "sitting"), ==, 3);
    g_assert_cmpuint(sim_hint_distance("warmpu", "warmup"), ==, 1);
    g_assert_cmpuint(sim_hint_distance("ca", "abc"), ==, 3); /* restricted: a swapped pair is not edited again */
    g_assert_cmpstr(sim_hint_nearest("warmpu", names), ==, "warmup");
    g_assert_cmpstr(sim_hint_nearest("sed", names), ==, "seed");
    g_assert_cmpstr(sim_hint_nearest("start", names), ==, "starts");
    g_assert_cmpstr(sim_hint_nearest("xy", names), ==, NULL);
    g_assert_cmpstr(sim_hint_nearest("", names), ==, NULL);
    g_autofree char *phrase = sim_hint_phrase("warmpu", names), *none = sim_hint_phrase("frequency", names);
    g_assert_cmpstr(phrase, ==, "; did you mean warmup?");
    g_assert_cmpstr(none, ==, "");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quantity/int", test_int);
    g_test_add_func("/quantity/real", test_real);
    g_test_add_func("/quantity/bool", test_bool);
    g_test_add_func("/quantity/time", test_time);
    g_test_add_func("/quantity/size", test_size);
    g_test_add_func("/quantity/format", test_format);
    g_test_add_func("/quantity/format-real", test_format_real);
    g_test_add_func("/quantity/round-trip", test_round_trip);
    g_test_add_func("/quantity/locale", test_locale);
    g_test_add_func("/quantity/hint", test_hint);
    return g_test_run();
}
