/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "toy-scenario.h"

#include <string.h>

/* "label|label|..." */
static char *
join_labels(const SimPlan *plan)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < sim_plan_n_points(plan); i++)
        g_string_append_printf(text, "%s%s", i > 0 ? "|" : "", sim_plan_label(plan, i));
    return g_string_free(text, FALSE);
}

static char *
join_axis(const SimPlan *plan)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < sim_plan_n_points(plan); i++)
        g_string_append_printf(text, "%s%s", i > 0 ? "|" : "", sim_plan_axis_value(plan, i));
    return g_string_free(text, FALSE);
}

static void
test_single_point(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN, NULL);
    g_assert_cmpstr(sim_plan_name(plan), ==, "toy");
    g_assert_cmpuint(sim_plan_n_points(plan), ==, 1);
    g_assert_cmpstr(sim_plan_variant(plan, 0), ==, "base");
    g_assert_cmpstr(sim_plan_axis_key(plan), ==, "");
    g_assert_cmpstr(sim_plan_axis_value(plan, 0), ==, "");
    g_assert_cmpstr(sim_plan_label(plan, 0), ==, "base");
    toy_write("sub/x.y", TOY_RUN);
    g_autoptr(SimPlan) other = sim_plan_load(&toy_schema, "sub/x.y", NULL, NULL, NULL);
    g_assert_cmpstr(sim_plan_name(other), ==, "x.y");
}

static void
test_points(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[variant old]\n[variant new]\nslub.generation = sheaves\n"
                                                  "[sweep]\nmachine.cpus = 2; 16; 4;\n",
                                          NULL);
    g_autofree char *labels = join_labels(plan);
    g_assert_cmpstr(labels, ==,
                    "old, machine.cpus = 2|old, machine.cpus = 16|old, machine.cpus = 4|"
                    "new, machine.cpus = 2|new, machine.cpus = 16|new, machine.cpus = 4");
    g_assert_cmpstr(sim_plan_axis_key(plan), ==, "machine.cpus");
    g_assert_cmpstr(sim_plan_variant(plan, 4), ==, "new");
    g_assert_cmpstr(sim_plan_axis_value(plan, 4), ==, "16");
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 4), "machine", "cpus"), ==, 16);
    g_assert_cmpuint(sim_config_choice(sim_plan_config(plan, 4), "slub", "generation"), ==, 2);
    g_assert_cmpuint(sim_config_choice(sim_plan_config(plan, 1), "slub", "generation"), ==, 0);
    g_assert_cmpstr(sim_config_origin(sim_plan_config(plan, 4), "machine", "cpus"), ==, "sweep (toy.scenario:7)");
}

static void
test_axes(void)
{
    static const struct {
        const char *axis, *values;
    } cases[] = {
        {"machine.cpus = 8", "8"},
        {"machine.cpus = 1:10:4", "1|5|9"},
        {"machine.cpus = 1:9:4", "1|5|9"},
        {"machine.cpus = 7:7:1", "7"},
        {"machine.cpus = log 1:1000:4", "1|10|100|1000"},
        {"machine.cpus = log 1:4:8", "1|2|3|4"}, /* 1 1.2 1.5 1.8 2.2 2.7 3.3 4 */
        {"machine.cpus = log 1:2:4", "1|2"},
        {"machine.cpus = log  2:224:2", "2|224"},
        {"slub.load = log 1:100:5", "1|3.16228|10|31.6228|100"},
        {"slub.load = log 0.1:0.3:2", "0.1|0.3"},
        {"slub.load = 0.50; 1e1", "0.5|10"},
        {"machine.page = 4K; 64 KiB", "4 KiB|64 KiB"},
        {"slub.grace = 1000 ns; 1 ms", "1 us|1 ms"},
        {"slub.generation = delayed; frozen", "delayed|frozen"},
        {"slub.note = a\\nb; \\sc", "a\\nb|\\sc"},
        {"slub.note = log 1:2:3; a\\;b; c:d", "log 1:2:3|a;b|c:d"},
        {"slub.names = a\\;b; c", "a;b|c"},
        {"costs.lock = 100 ns; 180 ns", "100 ns|180 ns"},
        {"cache x.order = 0:3:1", "0|1|2|3"},
        {"cache k-1.5k.order = 2;3", "2|3"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strconcat(TOY_RUN "[cache x]\norder = 1\n[cache k-1.5k]\norder = 1\n[sweep]\n",
                                            cases[i].axis, "\n", NULL);
        g_autoptr(SimPlan) plan = toy_load_ok(text, NULL);
        g_autofree char *values = join_axis(plan);
        g_assert_cmpstr(values, ==, cases[i].values);
    }
}

static void
test_bad_sweeps(void)
{
#define RANGE_FORM "(allowed: from:to:step in whole numbers)"
#define CPUS_FORM "(allowed: a whole number from 1 to 4096)"
    static const struct {
        const char *line, *problem;
    } cases[] = {
        {"machine.cpus = 2; 0", "machine.cpus = 0: out of range " CPUS_FORM},
        {"machine.cpus = 2, 4", "machine.cpus = 2, 4: not a whole number " CPUS_FORM},
        {"machine.cpus = 1; 2; 01", "machine.cpus = 01: value given twice on the axis"},
        {"machine.cpus = 1;;2", "machine.cpus = 1;;2: an element of the list is empty"},
        {"machine.cpus =", "machine.cpus = : the axis has no value (allowed: v1; v2; v3)"},
        {"machine.cpus = 1:4", "machine.cpus = 1:4: not a range " RANGE_FORM},
        {"machine.cpus = 1:4:x", "machine.cpus = 1:4:x: not a range " RANGE_FORM},
        {"machine.cpus = 1:4:0", "machine.cpus = 1:4:0: an empty range (allowed: from:to:step with from <= to and "
                                 "step >= 1)"},
        {"machine.cpus = 4:1:1", "machine.cpus = 4:1:1: an empty range (allowed: from:to:step with from <= to and "
                                 "step >= 1)"},
        {"machine.cpus = 1:20000:1", "machine.cpus = 1:20000:1: more than 10000 values"},
        {"run.seed = -9223372036854775808:9223372036854775807:1",
         "run.seed = -9223372036854775808:9223372036854775807:1: more than 10000 values"},
        {"machine.cpus = 1:5000:4999", "machine.cpus = 5000: out of range " CPUS_FORM},
        {"machine.cpus = log 0:4:2", "machine.cpus = log 0:4:2: an impossible log range (allowed: log from:to:count "
                                     "with 0 < from < to and count from 2 to 10000)"},
        {"machine.cpus = log 1:4:1", "machine.cpus = log 1:4:1: an impossible log range (allowed: log from:to:count "
                                     "with 0 < from < to and count from 2 to 10000)"},
        {"machine.cpus = log 1:4", "machine.cpus = log 1:4: not a log range (allowed: log from:to:count)"},
        {"slub.grace = log 1 us:4 us:2",
         "slub.grace = log 1 us:4 us:2: log is for numbers without a unit (allowed: v1; v2; v3)"},
        {"machine.cpu = 1", "machine.cpu = 1: unknown key; did you mean cpus? (allowed: profile, cpus, page, nodes)"},
        {"variant = a", "variant = a: unknown key; did you mean variants? (allowed: variants, "
                        "design, samples, design_seed, zip, GROUP.KEY)"},
        {"scenario.title = a", "scenario.title = a: cannot be overridden here (allowed: in its own group)"},
        {"cache y.order = 1", "cache y.order = 1: there is no group [cache y] in the scenario (allowed: none; an empty "
                              "group [cache y] adds it)"},
        {"costs.lock = 1 us", "costs.lock = 1 us: outside the bounds of the value it overrides (allowed: 100 ns .. "
                              "180 ns, or new bounds); overridden is 110 ns [100 ns .. 180 ns] toy table 1 at default"},
        {"variants = a; c", "variants = a; c: there is no [variant c]; did you mean a? (allowed: a, b)"},
        {"variants = a; a", "variants = a; a: variant a given twice"},
        {"variants =", "variants = : empty"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strconcat(TOY_RUN "[variant a]\n[variant b]\n[sweep]\n", cases[i].line, "\n", NULL);
        g_autofree char *message = g_strconcat("toy.scenario:6: [sweep] ", cases[i].problem, NULL);
        toy_expect_error(text, NULL, message);
    }
    toy_expect_error(
        TOY_RUN "[variant a]\nmachine.cpus = 3\n[sweep]\nmachine.cpus = 1; 2\n", NULL,
        "toy.scenario:4: [variant a] machine.cpus = 3: the key is the axis of the sweep at toy.scenario:6");
    toy_expect_error(TOY_RUN "[variant a]\n[variant b]\n[sweep]\nrun.seed = 1:10000:1\n", NULL,
                     "toy.scenario: 20000 points (allowed: at most 10000, variants times axis values)");
}

static void
test_variant_choice(void)
{
    g_autoptr(SimPlan) plan =
        toy_load_ok(TOY_RUN "[variant a]\n[variant b]\n[variant c]\n[sweep]\nvariants = c; a\n", NULL);
    g_autofree char *labels = join_labels(plan);
    g_assert_cmpstr(labels, ==, "c|a");
}

/* Variants of parent and child with one name are one variant; a child's [sweep] replaces the parent's as a whole. */
static void
test_inherited(void)
{
    toy_write("parent.scenario", TOY_RUN "[variant a]\nmachine.nodes = 2\nslub.ratio = 0.1\n[variant b]\n"
                                         "[sweep]\nvariants = b\nmachine.cpus = 1; 2\n");
    g_autoptr(SimPlan) same = toy_load_ok("[scenario]\nextends = parent.scenario\n", NULL);
    g_autofree char *same_labels = join_labels(same);
    g_assert_cmpstr(same_labels, ==, "b, machine.cpus = 1|b, machine.cpus = 2");
    g_autoptr(SimPlan) plan = toy_load_ok("[scenario]\nextends = parent.scenario\n[variant c]\n[variant a]\n"
                                          "slub.ratio = 0.2\n[sweep]\n",
                                          NULL);
    g_autofree char *labels = join_labels(plan);
    g_assert_cmpstr(labels, ==, "a|b|c");
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 0), "machine", "nodes"), ==, 2);
    g_assert_cmpfloat(sim_config_real(sim_plan_config(plan, 0), "slub", "ratio"), ==, 0.2);
}

static void
test_sets(void)
{
    static const char *const one[] = {"machine.cpus=64", NULL};
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[variant a]\nmachine.cpus = 2\n", one);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 0), "machine", "cpus"), ==, 64);
    g_assert_cmpstr(sim_config_origin(sim_plan_config(plan, 0), "machine", "cpus"), ==, "--set");
    /* Otherwise the points would be labelled 1 and 2 and all run with 64. */
    g_autoptr(SimPlan) swept = toy_load_ok(TOY_RUN "[sweep]\nmachine.cpus = 1; 2\n", one);
    g_autofree char *labels = join_labels(swept);
    g_assert_cmpstr(labels, ==, "base, machine.cpus = 64");
    static const char *const title[] = {"scenario.title=a=b; c", NULL};
    g_autoptr(SimPlan) titled = toy_load_ok(TOY_RUN, title);
    g_assert_cmpstr(sim_config_text(sim_plan_config(titled, 0), "scenario", "title"), ==, "a=b; c");
    static const struct {
        const char *sets[3], *message;
    } wrong[] = {
        {{"machine.cpus"}, "--set machine.cpus: not understood (allowed: group.key=value)"},
        {{"slub.note=a\nb"}, "--set slub.note=a\\nb: not understood (allowed: group.key=value)"},
        {{"cpus=1"}, "--set: cpus = 1: unknown key (allowed: group.key)"},
        {{"machine.cpus=0"}, "--set: [machine] cpus = 0: out of range (allowed: a whole number from 1 to 4096)"},
        {{"machine.cpuz=0"},
         "--set: [machine] cpuz = 0: unknown key; did you mean cpus? (allowed: profile, cpus, "
         "page, nodes)"},
        {{"cache q.order=1"},
         "--set: [cache q] order = 1: there is no group [cache q] in the scenario (allowed: none; an empty group "
         "[cache q] adds it)"},
        {{"run.seed=1", "run.seed=2"}, "--set: [run] seed = 2: set twice"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++)
        toy_expect_error(TOY_RUN, wrong[i].sets, wrong[i].message);
}

static gboolean
refuse_three(const SimConfig *config, GError **error)
{
    if (sim_config_int(config, "machine", "cpus") != 3)
        return TRUE;
    return sim_config_error(config, "machine", "cpus", error, "three will not do");
}

static void
test_experiment(void)
{
    static const char *const starts[] = {"cold", "warm", NULL};
    static const SimExperiment experiment = {.schema = &toy_schema, .starts = starts, .check = refuse_three};
    static const struct {
        const char *text, *message;
    } cases[] = {
        {TOY_RUN "starts = cold; warm\n[sweep]\nmachine.cpus = 1; 2\n", NULL},
        {TOY_RUN "[variant a]\n[sweep]\nmachine.cpus = 1; 2; 3\n",
         "toy.scenario:5: [sweep] machine.cpus = 3: three will not do (in point a, machine.cpus = 3)"},
        {TOY_RUN "starts = wram\n",
         "toy.scenario:3: [run] starts = wram: unknown start wram; did you mean warm? (allowed: cold, warm) (in point "
         "base)"},
        {TOY_RUN "starts = cold;cold\n",
         "toy.scenario:3: [run] starts = cold;cold: start cold given twice (allowed: cold, warm) (in point base)"},
        {TOY_RUN "starts =\n", "toy.scenario:3: [run] starts = : empty (allowed: cold, warm) (in point base)"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        toy_write("toy.scenario", cases[i].text);
        g_autoptr(SimPlan) plan = sim_plan_load(&toy_schema, "toy.scenario", NULL, &experiment, &error);
        g_assert_cmpstr(error != NULL ? error->message : NULL, ==, cases[i].message);
        g_assert_cmpint(plan != NULL, ==, cases[i].message == NULL);
    }
}

static void
test_list(void)
{
    g_autoptr(GError) error = NULL;
    toy_write("all/b.scenario", "[scenario]\ntitle = B\\\\ title\nquestion = why?\n");
    toy_write("all/a.scenario", TOY_RUN);
    toy_write("all/c.scenario", "oops\n");
    toy_write("all/d.machine", "[machine]\n");
    g_autoptr(GPtrArray) list = sim_plan_list_scenarios("all", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(list->len, ==, 3);
    const SimScenarioInfo *a = list->pdata[0], *b = list->pdata[1], *c = list->pdata[2];
    g_assert_cmpstr(a->name, ==, "a");
    g_assert_cmpstr(a->title, ==, "");
    g_assert_cmpstr(b->title, ==, "B\\ title");
    g_assert_cmpstr(b->question, ==, "why?");
    g_assert_null(b->problem);
    g_assert_true(g_str_has_prefix(c->problem, "all/c.scenario:1: \"oops\": "));
    g_assert_null(sim_plan_list_scenarios("nowhere", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/plan/single-point", test_single_point);
    toy_add_test("/plan/points", test_points);
    toy_add_test("/plan/axes", test_axes);
    toy_add_test("/plan/bad-sweeps", test_bad_sweeps);
    toy_add_test("/plan/variant-choice", test_variant_choice);
    toy_add_test("/plan/inherited", test_inherited);
    toy_add_test("/plan/sets", test_sets);
    toy_add_test("/plan/experiment", test_experiment);
    toy_add_test("/plan/list", test_list);
    return g_test_run();
}
