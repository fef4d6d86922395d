/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-record.h"
#include "sim-table.h"
#include "toy-scenario.h"

#include <math.h>

static const char *const two_columns[] = {"name", "value", NULL};

static void
test_metrics(void)
{
    g_autoptr(SimRecord) record = sim_record_new();
    double value = -1;

    sim_record_add_metric(record, "z_s", 2);
    sim_record_add_metric(record, "a_s", NAN);
    g_assert_cmpuint(sim_record_n_metrics(record), ==, 2);
    g_assert_cmpstr(sim_record_metric_name(record, 0), ==, "z_s");
    g_assert_true(isnan(sim_record_metric(record, 1)));
    g_assert_false(sim_record_find_metric(record, "b_s", &value));
    g_assert_cmpfloat(value, ==, -1);
    g_assert_true(sim_record_find_metric(record, "z_s", &value));
    g_assert_cmpfloat(value, ==, 2);
    sim_record_set_fingerprint(record, G_MAXUINT64);
    g_assert_cmpuint(sim_record_fingerprint(record), ==, G_MAXUINT64);
}

static void
test_metric_twice(void)
{
    if (g_test_subprocess()) {
        g_autoptr(SimRecord) record = sim_record_new();
        sim_record_add_metric(record, "a", 1);
        sim_record_add_metric(record, "a", 1);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

static void
test_cells(void)
{
    g_autoptr(SimRecord) record = sim_record_new();
    SimTable *table = sim_record_add_table(record, "t", two_columns);
    double value;

    sim_table_put_text(table, "x");
    sim_table_put_int(table, G_MININT64);
    sim_table_put_text(table, "");
    sim_table_put_real(table, 0.1);
    g_assert_cmpuint(sim_table_n_rows(table), ==, 2);
    g_assert_cmpuint(sim_record_n_tables(record), ==, 1);
    g_assert_cmpstr(sim_table_cell(table, 0, 1), ==, "-9223372036854775808");
    g_assert_cmpstr(sim_table_cell(table, 1, 0), ==, "");
    g_assert_cmpstr(sim_table_cell(table, 1, 1), ==, "0.1");
    g_assert_true(sim_table_cell_real(table, 1, 1, &value));
    g_assert_cmpfloat(value, ==, 0.1);
    g_assert_cmpint(sim_table_find_column(table, "value"), ==, 1);
    g_assert_cmpint(sim_table_find_column(table, "Value"), ==, -1);
}

/* Whatever a cell holds comes back from the file. */
static void
test_round_trip(void)
{
    static const char *const hostile[] = {"tab\there",  "line\nfeed", "\r", "back\\slash \\n",
                                          "\"quoted\"", "",           " ",  "ü ±"};
    g_autoptr(SimTable) table = sim_table_new("t", two_columns);
    g_autoptr(SimTable) back = NULL;
    g_autoptr(GError) error = NULL;
    GString *bytes;

    for (guint i = 0; i < G_N_ELEMENTS(hostile); i++) {
        sim_table_put_text(table, hostile[i]);
        sim_table_put_int(table, i);
    }
    bytes = sim_table_to_tsv(table);
    toy_write_bytes("t.tsv", bytes->str, bytes->len);
    g_string_free(bytes, TRUE);
    back = sim_table_read("t.tsv", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(sim_table_n_rows(back), ==, G_N_ELEMENTS(hostile));
    for (guint i = 0; i < G_N_ELEMENTS(hostile); i++)
        g_assert_cmpstr(sim_table_cell(back, i, 0), ==, hostile[i]);
}

static void
test_read_tolerates(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(SimTable) table = NULL;

    toy_write("t.tsv", "\xEF\xBB\xBFname\tvalue\r\nx\t1\r\ny\t");
    table = sim_table_read("t.tsv", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(sim_table_columns(table)[0], ==, "name");
    g_assert_cmpstr(sim_table_cell(table, 0, 1), ==, "1");
    g_assert_cmpstr(sim_table_cell(table, 1, 1), ==, "");
}

static void
test_read_errors(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.tsv: the file is empty"},
        {"a\tb\n1\n", "t.tsv:2: 1 cells where the header has 2 (cells are split by tabs)"},
        {"a\tb\n1\t2\n1\t2\t3\n", "t.tsv:3: 3 cells where the header has 2 (cells are split by tabs)"},
        {"a\tb\n\n", "t.tsv:2: empty line"},
        {"a\ta\n", "t.tsv:1: column 'a' given twice"},
        {"a\t\n", "t.tsv:1: a column without a name"},
        {"a\tb\n1\tC:\\dir\n", "t.tsv:2: a backslash in column 2 that is none of \\\\ \\t \\n \\r"},
        {"a\tb\n1\t\\\n", "t.tsv:2: a backslash in column 2 that is none of \\\\ \\t \\n \\r"},
        {"a\tb\n\xff\t2\n", "t.tsv: not UTF-8 text"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        toy_write("t.tsv", cases[i].text);
        g_assert_null(sim_table_read("t.tsv", &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_PARSE);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
    {
        g_autoptr(GError) error = NULL;
        g_assert_null(sim_table_read("absent.tsv", &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
    }
}

static void
test_not_numbers(void)
{
    static const char *const texts[] = {"", " 1", "1 ", "1x", "x"};
    g_autoptr(SimTable) table = sim_table_new("t", two_columns);
    double value = 7;

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        sim_table_put_text(table, texts[i]);
        sim_table_put_text(table, "nan");
        g_assert_false(sim_table_cell_real(table, i, 0, &value));
    }
    g_assert_cmpfloat(value, ==, 7);
    g_assert_true(sim_table_cell_real(table, 0, 1, &value));
    g_assert_true(isnan(value));
}

static void
test_text_form(void)
{
    g_autoptr(SimTable) table = sim_table_new("t", two_columns);
    g_autofree char *text = NULL;

    sim_table_put_text(table, "±");
    sim_table_put_int(table, 5);
    sim_table_put_text(table, "longer");
    sim_table_put_int(table, 1234567);
    text = sim_table_to_text(table);
    g_assert_cmpstr(text, ==, "name      value\n±             5\nlonger  1234567\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/metrics", test_metrics);
    g_test_add_func("/record/metric-twice", test_metric_twice);
    g_test_add_func("/table/cells", test_cells);
    toy_add_test("/table/round-trip", test_round_trip);
    toy_add_test("/table/read-tolerates", test_read_tolerates);
    toy_add_test("/table/read-errors", test_read_errors);
    g_test_add_func("/table/not-numbers", test_not_numbers);
    g_test_add_func("/table/text", test_text_form);
    return g_test_run();
}
