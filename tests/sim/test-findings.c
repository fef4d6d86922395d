/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings against a base: result folders written by hand, so that every figure is known. */
#include "sim-about.h"
#include "sim-findings.h"
#include "toy-scenario.h"

#include <math.h>
#include <string.h>

#define KEYS "slub.min\tslub.max\tslub.order\tmachine.cores\tkernel.version\t"
#define HEAD "scenario\tvariant\t" KEYS "replication\tstart\tseed\tfingerprint\tspeed_per_s\tslab_bytes\tused_bytes\n"
#define SETTINGS "settings = slub.min; slub.max; slub.order\n"
#define NAMES                                                                                                          \
    "names = machine.cores = 2: 8 CPUs; machine.cores=56 : 224 CPUs; slub.min = 64: node limits 64/128; "              \
    "kernel.version = 6.5: v6.5\n"

typedef struct {
    SimAbout *about;
    SimSource *source;
    SimGrid *grid;
    SimFindings *findings;
} Fixture;

static void
fixture_clear(Fixture *f)
{
    sim_findings_free(f->findings);
    sim_grid_free(f->grid);
    sim_source_free(f->source);
    sim_about_free(f->about);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

static gboolean
try_open(Fixture *f, const char *metrics, const char *scenario, SimControl control, GError **error)
{
    g_autofree char *text = g_strconcat("[scenario]\n", scenario, NULL);

    toy_write("r/manifest.ini",
              "[result]\nformat=1\nprogram=toy\nversion=1\nscenario=a\ntitle=t\naxis=\npoints=1\nruns=1\n");
    toy_write("r/metrics.tsv", metrics);
    toy_write("r/points/1.scenario", text);
    f->about = sim_about_read("r", error);
    f->source = f->about != NULL ? sim_source_open("r", error) : NULL;
    f->grid = f->source != NULL ? sim_grid_new(f->source, f->about->scenario, error) : NULL;
    f->findings = f->grid != NULL ? sim_findings_new(f->grid, "trust", control, error) : NULL;
    return f->findings != NULL;
}

static void
open_ok(Fixture *f, const char *metrics, const char *scenario, SimControl control)
{
    g_autoptr(GError) error = NULL;

    try_open(f, metrics, scenario, control, &error);
    g_assert_no_error(error);
}

static void
add_runs(GString *metrics, const char *point, const char *start, guint n, const double *speeds, double slab_bytes)
{
    for (guint r = 0; r < n; r++)
        g_string_append_printf(metrics, "a\tbase\t%s\t%u\t%s\t1\t%016x\t%.17g\t%.17g\t%u\n", point, r, start, r,
                               speeds[r], slab_bytes + 1000 * (r + 1), 1000 * (r + 1));
}

/* Two settings, of which one moves two keys, at two places. */
static char *
factorial(void)
{
    static const double base[] = {100, 102, 98}, better[] = {110, 113, 108}, same[] = {101, 101, 98.5};
    GString *metrics = g_string_new(HEAD);

    for (guint place = 0; place < 2; place++) {
        for (guint c = 0; c < 4; c++) {
            g_autofree char *point =
                g_strdup_printf("%s\t%d\t%s\t6.5", c & 1 ? "64\t128" : "5\t10", c & 2 ? 4 : 3, place ? "56" : "2");
            add_runs(metrics, point, "cold", 3, c == 0 ? base : c == 1 ? better : same, 1048576.0 * (1 + c));
        }
    }
    return g_string_free(metrics, FALSE);
}

static void
test_grid(void)
{
    g_auto(Fixture) f = {NULL};
    g_autofree char *metrics = factorial(), *together = NULL;
    guint choice, place;

    open_ok(&f, metrics, SETTINGS NAMES, SIM_CONTROL_NONE);
    g_assert_cmpuint(f.grid->choices->len, ==, 4);
    g_assert_cmpuint(f.grid->places->len, ==, 2);
    g_assert_cmpuint(f.grid->n_settings, ==, 2);
    g_assert_cmpstr(f.grid->x_label, ==, "CPUs");
    g_assert_cmpstr(f.grid->gain, ==, "speed_per_s");
    g_assert_cmpstr(f.grid->cost, ==, "slab_bytes");
    g_assert_cmpstr(sim_grid_choice(f.grid, 0)->label, ==, "base");
    g_assert_cmpstr(sim_grid_choice(f.grid, 1)->label, ==, "node limits 64/128");
    g_assert_cmpstr(sim_grid_choice(f.grid, 2)->label, ==, "order = 4");
    g_assert_cmpstr(sim_grid_choice(f.grid, 3)->label, ==, "node limits 64/128, order = 4");
    g_assert_cmpuint(sim_grid_choice(f.grid, 3)->n_changes, ==, 2);
    /* The second setting alone is no step of a chain that begins with the first. */
    g_assert_true(sim_grid_choice(f.grid, 1)->is_chain);
    g_assert_false(sim_grid_choice(f.grid, 2)->is_chain);
    g_assert_true(sim_grid_choice(f.grid, 3)->is_chain);
    together = sim_grid_short_label(f.grid, 3);
    g_assert_cmpstr(together, ==, "all 2 together");
    /* A kernel of one value is no part of a place's name. */
    g_assert_cmpstr(sim_grid_place(f.grid, 1)->label, ==, "224 CPUs");
    g_assert_cmpfloat(sim_grid_place(f.grid, 1)->x, ==, 224);
    g_assert_true(sim_grid_locate(f.grid, "base", (const char *const[]){"64", "128", "3", "56", "6.5", NULL}, "cold",
                                  &choice, &place));
    g_assert_cmpuint(choice, ==, 1);
    g_assert_cmpuint(place, ==, 1);
    g_assert_false(sim_grid_locate(f.grid, "base", (const char *const[]){"6", "128", "3", "56", "6.5", NULL}, "cold",
                                   &choice, &place));
}

/* Without a list, all axes but the first are settings; without a name, keys speak. */
static void
test_default_grid(void)
{
    g_auto(Fixture) f = {NULL};
    static const double speeds[] = {1, 2};
    g_autoptr(GString) metrics = g_string_new(HEAD);

    add_runs(metrics, "5\t10\t3\t2\t6.5", "cold", 2, speeds, 0);
    add_runs(metrics, "5\t10\t4\t2\t6.5", "cold", 2, speeds, 0);
    add_runs(metrics, "64\t10\t3\t2\t6.5", "cold", 2, speeds, 0);
    add_runs(metrics, "64\t10\t4\t2\t6.5", "cold", 2, speeds, 0);
    open_ok(&f, metrics->str, "", SIM_CONTROL_NONE);
    g_assert_cmpuint(f.grid->choices->len, ==, 2);
    g_assert_cmpstr(sim_grid_choice(f.grid, 1)->label, ==, "order = 4");
    g_assert_cmpstr(sim_grid_place(f.grid, 1)->label, ==, "min = 64");
    g_assert_cmpstr(f.grid->x_label, ==, "slub.min");
}

/* Differences 10, 11, 10: mean 31/3, sd sqrt(1/3), times t(0.975, 2) = 4.30265 / sqrt(3) = 1.43422; of a mean of 100.
 */
static void
test_known_difference(void)
{
    g_auto(Fixture) f = {NULL};
    g_autofree char *metrics = factorial(), *words = NULL, *none = NULL, *amount = NULL, *paid = NULL;
    const SimFinding *finding;
    double percent, half;

    open_ok(&f, metrics, SETTINGS "cost = slab_bytes - used_bytes\n", SIM_CONTROL_NONE);
    finding = sim_findings_gain(f.findings, 1, 1);
    g_assert_true(finding->difference.is_paired);
    g_assert_cmpfloat_with_epsilon(finding->difference.difference, 31.0 / 3, 1e-12);
    g_assert_cmpfloat_with_epsilon(finding->difference.half_width, 1.43422, 1e-5);
    sim_finding_share(finding, &percent, &half);
    g_assert_cmpfloat_with_epsilon(percent, 31.0 / 3, 1e-12);
    g_assert_cmpfloat_with_epsilon(half, 1.43422, 1e-5);
    words = sim_finding_words(finding);
    g_assert_cmpstr(words, ==, "better +10.3 ± 1.4 %");
    amount = sim_finding_amount(finding, f.grid->gain);
    g_assert_cmpstr(amount, ==, "+10.3 ± 1.4");
    /* Differences 1, -1, 0.5. */
    none = sim_finding_words(sim_findings_gain(f.findings, 0, 2));
    g_assert_cmpstr(none, ==, "no difference seen +0.2 ± 2.6 %");
    /* What is in use moves both sides alike and falls out of the difference of two metrics: exactly 1 MiB. */
    paid = sim_finding_amount(sim_findings_cost(f.findings, 0, 1), f.grid->cost);
    g_assert_cmpstr(paid, ==, "+1.00 ± 0.00 MiB");
    g_assert_cmpint(sim_findings_cost(f.findings, 0, 1)->difference.verdict, ==, SIM_VERDICT_WORSE);
    g_assert_cmpuint(f.findings->n_compared, ==, 6);
}

/* One of the six has p = 0.00104: Holm's 6 times that is seen, one step later it would not be. */
static void
test_control(void)
{
    g_auto(Fixture) f = {NULL}, g = {NULL};
    g_autofree char *metrics = factorial();

    open_ok(&f, metrics, SETTINGS, SIM_CONTROL_HOLM);
    open_ok(&g, metrics, SETTINGS, SIM_CONTROL_BH);
    g_assert_cmpfloat_with_epsilon(sim_findings_gain(f.findings, 0, 1)->difference.p_adjusted,
                                   6 * sim_findings_gain(f.findings, 0, 1)->difference.p, 1e-12);
    /* Two equal p values of six: the second of them sets both. */
    g_assert_cmpfloat_with_epsilon(sim_findings_gain(g.findings, 0, 1)->difference.p_adjusted,
                                   3 * sim_findings_gain(g.findings, 0, 1)->difference.p, 1e-12);
}

static void
test_branches_and_starts(void)
{
    static const double steady[] = {100, 101, 99, 100, 101, 99, 100, 101, 99, 100};
    static const double split[] = {100, 101, 99, 100, 101, 60, 61, 59, 60, 61};
    static const double slow[] = {50, 51, 49, 50, 51, 49, 50, 51, 49, 50};
    g_auto(Fixture) f = {NULL};
    g_autoptr(GString) metrics = g_string_new(HEAD);
    g_autofree char *words = NULL, *amount = NULL;
    const SimFinding *cold, *mixed;

    add_runs(metrics, "5\t10\t3\t2\t6.5", "cold", 10, steady, 0);
    add_runs(metrics, "5\t10\t3\t2\t6.5", "mixed", 10, steady, 0);
    add_runs(metrics, "5\t10\t4\t2\t6.5", "cold", 10, split, 0);
    add_runs(metrics, "5\t10\t4\t2\t6.5", "mixed", 10, slow, 0);
    open_ok(&f, metrics->str, SETTINGS, SIM_CONTROL_BH);
    g_assert_cmpuint(f.grid->places->len, ==, 2);
    g_assert_cmpstr(sim_grid_place(f.grid, 0)->label, ==, "cold");
    cold = sim_findings_gain(f.findings, 0, 1);
    mixed = sim_findings_gain(f.findings, 1, 1);
    g_assert_cmpint(cold->difference.verdict, ==, SIM_VERDICT_METASTABLE);
    g_assert_cmpint(mixed->difference.verdict, ==, SIM_VERDICT_WORSE);
    g_assert_cmpstr(cold->other_start, ==, "mixed");
    g_assert_cmpstr(mixed->other_start, ==, "cold");
    words = sim_finding_words(cold);
    g_assert_cmpstr(words, ==, "metastable: it is 60.20 (5 runs) or 100.2 (5)");
    /* The mean of two branches is nowhere. */
    amount = sim_finding_amount(cold, f.grid->gain);
    g_assert_cmpstr(amount, ==, "-");
}

/* One run of the base and one of the setting have not converged, one of the setting does not say. */
static void
test_trust(void)
{
    static const char metrics[] =
        "scenario\tvariant\ts.order\treplication\tstart\tseed\tfingerprint\tspeed_per_s\ttrust\n"
        "a\tbase\t3\t0\tcold\t1\t0\t100\t1\na\tbase\t3\t1\tcold\t1\t0\t101\t0\n"
        "a\tbase\t3\t2\tcold\t1\t0\t102\t1\na\tbase\t4\t0\tcold\t1\t0\t100\t0\n"
        "a\tbase\t4\t1\tcold\t1\t0\t101\tnan\na\tbase\t4\t2\tcold\t1\t0\t102\t1\n";
    g_auto(Fixture) f = {NULL};

    open_ok(&f, metrics, "settings = s.order\n", SIM_CONTROL_BH);
    g_assert_cmpuint(sim_findings_gain(f.findings, 0, 0)->n_untrusted, ==, 1);
    g_assert_cmpuint(sim_findings_gain(f.findings, 0, 1)->n_untrusted, ==, 2);
    g_assert_cmpuint(sim_findings_gain(f.findings, 0, 1)->n_unknown, ==, 1);
}

static void
test_holes(void)
{
    static const double speeds[] = {100, 102}, one[] = {100};
    g_auto(Fixture) f = {NULL};
    g_autoptr(GString) metrics = g_string_new(HEAD);
    g_autofree char *missing = NULL, *few = NULL;

    add_runs(metrics, "5\t10\t3\t2\t6.5", "cold", 2, speeds, 0);
    add_runs(metrics, "5\t10\t4\t2\t6.5", "cold", 1, one, 0);
    add_runs(metrics, "5\t10\t3\t56\t6.5", "cold", 2, speeds, 0);
    open_ok(&f, metrics->str, SETTINGS, SIM_CONTROL_BH);
    g_assert_cmpint(sim_grid_cell(f.grid, 1, 1), ==, -1);
    missing = sim_finding_words(sim_findings_gain(f.findings, 1, 1));
    g_assert_cmpstr(missing, ==, "not run");
    few = sim_finding_words(sim_findings_gain(f.findings, 0, 1));
    g_assert_cmpstr(few, ==, "too few runs to say");
}

static void
expect_error(const char *scenario, const char *message)
{
    g_auto(Fixture) f = {NULL};
    g_autoptr(GError) error = NULL;
    g_autofree char *metrics = factorial();

    g_assert_false(try_open(&f, metrics, scenario, SIM_CONTROL_BH, &error));
    g_assert_cmpstr(error->message, ==, message);
}

static void
test_errors(void)
{
    expect_error("settings = slub.min; slub.mux\n",
                 "r: [scenario] settings: no axis 'slub.mux'; did you mean slub.max?");
    expect_error("names = slub.min 64: x\n", "[scenario] names: 'slub.min 64: x' is not KEY = VALUE: WORDS");
    expect_error("names = slub.min = 64:\n", "[scenario] names: 'slub.min = 64:' is not KEY = VALUE: WORDS");
    expect_error("gain = sped_per_s\n", "r: no metric 'sped_per_s'; did you mean speed_per_s? (allowed: speed_per_s, "
                                        "slab_bytes, used_bytes)");
    expect_error("cost = slab_bytes - usd_bytes\n",
                 "r: no metric 'usd_bytes'; did you mean used_bytes? (allowed: speed_per_s, slab_bytes, used_bytes)");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/findings/grid", test_grid);
    toy_add_test("/findings/default-grid", test_default_grid);
    toy_add_test("/findings/known-difference", test_known_difference);
    toy_add_test("/findings/control", test_control);
    toy_add_test("/findings/branches-and-starts", test_branches_and_starts);
    toy_add_test("/findings/trust", test_trust);
    toy_add_test("/findings/holes", test_holes);
    toy_add_test("/findings/errors", test_errors);
    return g_test_run();
}
