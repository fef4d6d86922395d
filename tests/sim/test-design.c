/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-design.h"
#include "sim-sample.h"
#include "toy-scenario.h"

#include <math.h>
#include <string.h>

static SimDesign *
load(const char *text, const char *const *sets)
{
    g_autoptr(GError) error = NULL;
    SimDesign *design;

    toy_write("toy.scenario", text);
    design = sim_design_load(&toy_schema, "toy.scenario", sets, NULL, &error);
    g_assert_no_error(error);
    return design;
}

static char *
labels(const SimDesign *design)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < sim_design_n_points(design); i++) {
        g_autofree char *label = sim_design_label(design, i);
        g_string_append_printf(text, "%s\n", label);
    }
    return g_string_free(text, FALSE);
}

static void
expect_labels(const char *text, const char *const *sets, const char *expected)
{
    g_autoptr(SimDesign) design = load(text, sets);
    g_autofree char *found = labels(design);

    g_assert_cmpstr(found, ==, expected);
}

/* Variant by variant, the last axis fastest; a zipped axis moves with its partner wherever it stands. */
static void
test_grid(void)
{
    static const char *const one[] = {"machine.cpus=7", NULL};

    expect_labels(TOY_RUN "[sweep]\nmachine.cpus = 1; 2\nslub.ratio = 0.1; 0.2; 0.3\n", NULL,
                  "base, machine.cpus = 1, slub.ratio = 0.1\nbase, machine.cpus = 1, slub.ratio = 0.2\n"
                  "base, machine.cpus = 1, slub.ratio = 0.3\nbase, machine.cpus = 2, slub.ratio = 0.1\n"
                  "base, machine.cpus = 2, slub.ratio = 0.2\nbase, machine.cpus = 2, slub.ratio = 0.3\n");
    expect_labels(TOY_RUN "[sweep]\nmachine.cpus = 1; 2\nslub.generation = frozen; sheaves\nmachine.nodes = 3; 4\n"
                          "zip = machine.nodes + machine.cpus\n",
                  NULL,
                  "base, machine.cpus = 1, slub.generation = frozen, machine.nodes = 3\n"
                  "base, machine.cpus = 2, slub.generation = frozen, machine.nodes = 4\n"
                  "base, machine.cpus = 1, slub.generation = sheaves, machine.nodes = 3\n"
                  "base, machine.cpus = 2, slub.generation = sheaves, machine.nodes = 4\n");
    expect_labels(TOY_RUN "[variant a]\n[variant b]\n[sweep]\nmachine.cpus = 1; 2\nslub.load = 5\nvariants = b; a\n",
                  one, "b, machine.cpus = 7, slub.load = 5\na, machine.cpus = 7, slub.load = 5\n");
}

static void
test_resolve(void)
{
    g_autoptr(SimDesign) design = load(TOY_RUN "[variant v]\nslub.load = 3\n[sweep]\nmachine.cpus = 2; 0; 4\n"
                                               "machine.page = 4 KiB; 64 KiB\n",
                                       NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(SimConfig) config = sim_design_resolve(design, 5, &error);

    g_assert_no_error(error);
    g_assert_cmpint(sim_config_int(config, "machine", "cpus"), ==, 4);
    g_assert_cmpint(sim_config_size(config, "machine", "page"), ==, 65536);
    g_assert_cmpfloat(sim_config_real(config, "slub", "load"), ==, 3);
    g_assert_cmpfloat(sim_design_axis_number(design, 5, 1), ==, 65536);
    g_assert_cmpstr(sim_design_axis_value(design, 5, 1), ==, "64 KiB");
    g_assert_null(sim_design_resolve(design, 2, &error));
    g_assert_cmpstr(error->message, ==,
                    "toy.scenario:6: [sweep] machine.cpus = 0: out of range (allowed: a whole number from 1 to 4096)");
    g_assert_true(isnan(sim_design_axis_number(design, 2, 0)));
}

static void
test_bad(void)
{
    static const struct {
        const char *sweep, *message;
    } cases[] = {
        {"zip = machine.cpus\nmachine.cpus = 1\n", "4: [sweep] zip = machine.cpus: not a group (allowed: key1 + key2)"},
        {"zip = machine.cpus + slub.load\nmachine.cpus = 1\n",
         "4: [sweep] zip = machine.cpus + slub.load: slub.load is no axis of this sweep"},
        {"zip = machine.cpus + slub.load\nmachine.cpus = 1; 2\nslub.load = 1; 2; 3\n",
         "4: [sweep] zip = machine.cpus + slub.load: machine.cpus has 2 values and slub.load has 3"},
        {"samples = 4\nmachine.cpus = 1\n",
         "4: [sweep] samples = 4: a grid has no samples (allowed: with design = lhs or sobol)"},
        {"design = lhs\nmachine.cpus = 1\n", "4: [sweep] design = lhs: needs samples = N"},
        {"design = sobol\nsamples = 4\n", "4: [sweep] design = sobol: needs an axis to sample"},
        {"design = random\n", "4: [sweep] design = random: not one of the choices (allowed: grid, lhs, sobol)"},
        {"machine.cpus = 1..4\n",
         "4: [sweep] machine.cpus: a grid cannot hold an interval (allowed: with design = lhs or "
         "sobol; or a list, from:to:step, log from:to:count)"},
        {"design = lhs\nsamples = 2\nmachine.cpus = 4..1\n",
         "6: [sweep] machine.cpus = 4..1: an empty interval (allowed: from < to, and 0 < from for log)"},
        {"design = lhs\nsamples = 2\nmachine.page = 1..4\n",
         "6: [sweep] machine.page = 1..4: not an interval (allowed: from..to or log from..to, with units where the key "
         "has "
         "them)"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strconcat(TOY_RUN "[sweep]\n", cases[i].sweep, NULL);
        g_autofree char *message = g_strconcat("toy.scenario:", cases[i].message, NULL);
        g_autoptr(GError) error = NULL;
        toy_write("toy.scenario", text);
        g_assert_null(sim_design_load(&toy_schema, "toy.scenario", NULL, NULL, &error));
        g_assert_cmpstr(error->message, ==, message);
    }
}

/* Each of n strata of each dimension holds exactly one point. */
static void
test_latin(void)
{
    static const char *const names[] = {"a", "b", "c"};
    g_autofree double *positions = sim_sample_latin(7, names, 3, 50);
    g_autofree double *again = sim_sample_latin(7, names, 2, 50);
    g_autofree double *other = sim_sample_latin(8, names, 3, 50);

    for (guint dim = 0; dim < 3; dim++) {
        guint64 seen = 0;
        for (guint i = 0; i < 50; i++)
            seen |= G_GUINT64_CONSTANT(1) << (guint) (positions[i * 3 + dim] * 50);
        g_assert_cmphex(seen, ==, (G_GUINT64_CONSTANT(1) << 50) - 1);
    }
    for (guint i = 0; i < 50; i++)
        g_assert_cmpfloat(positions[i * 3 + 1], ==, again[i * 2 + 1]);
    g_assert_cmpint(memcmp(positions, other, 150 * sizeof(double)), !=, 0);
}

/* Any 2^k points in a row from the start of the sequence put one point into each of 2^k strata; a shift by a vector
 * keeps every gap between neighbours below two strata. More samples continue the same sequence. */
static void
test_sobol(void)
{
    static const char *const names[] = {"a", "b"};
    g_autofree double *few = sim_sample_sobol(1, names, 2, 31);
    g_autofree double *many = sim_sample_sobol(1, names, 2, 63);

    g_assert_cmpint(memcmp(few, many, 62 * sizeof(double)), ==, 0);
    for (guint dim = 0; dim < 2; dim++) {
        for (double from = 0; from < 1 - 2 / 32.0; from += 1 / 64.0) {
            guint n = 0;
            for (guint i = 0; i < 31; i++)
                n += few[i * 2 + dim] >= from && few[i * 2 + dim] < from + 2 / 32.0;
            g_assert_cmpuint(n, >=, 1);
            g_assert_cmpuint(n, <=, 3);
        }
    }
}

static void
test_sampled_designs(void)
{
    static const char scenario[] = TOY_RUN "[variant a]\n[variant b]\n[sweep]\ndesign = lhs\nsamples = 8\n"
                                           "machine.cpus = log 1..4096\nslub.generation = frozen; delayed\n"
                                           "slub.grace = 1 us..9 us\n";
    g_autoptr(SimDesign) design = load(scenario, NULL);
    guint n_frozen = 0, n_small = 0;

    g_assert_cmpuint(sim_design_n_points(design), ==, 16);
    for (guint i = 0; i < 8; i++) {
        double cpus = sim_design_axis_number(design, i, 0), grace_ps = sim_design_axis_number(design, i, 2);
        g_autofree char *mine = sim_design_label(design, i), *theirs = sim_design_label(design, i + 8);
        g_assert_cmpstr(mine + 1, ==, theirs + 1);
        g_assert_true(cpus >= 1 && cpus <= 4096 && cpus == floor(cpus));
        g_assert_true(grace_ps >= 1e6 && grace_ps <= 9e6);
        n_small += cpus < 64;
        n_frozen += strcmp(sim_design_axis_value(design, i, 1), "frozen") == 0;
    }
    g_assert_cmpuint(n_small, ==, 4);
    g_assert_cmpuint(n_frozen, ==, 4);
    /* Two values have two places only. */
    g_autoptr(SimDesign) few = load(TOY_RUN "[sweep]\ndesign = sobol\nsamples = 100\nmachine.cpus = 1; 2\n", NULL);
    g_assert_cmpuint(sim_design_n_points(few), ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/design/grid", test_grid);
    toy_add_test("/design/resolve", test_resolve);
    toy_add_test("/design/bad", test_bad);
    toy_add_test("/design/latin", test_latin);
    toy_add_test("/design/sobol", test_sobol);
    toy_add_test("/design/sampled", test_sampled_designs);
    return g_test_run();
}
