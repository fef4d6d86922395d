/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-ini.h"
#include "sim-value.h"
#include "toy-scenario.h"

#include <string.h>

#define ALLOWED_GROUPS                                                                                                 \
    "(allowed: [scenario], [plot NAME], [run], [sweep], [variant NAME], [machine], [costs], [cache NAME], [slub])"
#define COST_FORM "(allowed: a time in ps, ns, us, ms or s, or TIME [LOW .. HIGH] SOURCE)"
#define TIME_FORM "(allowed: a time in ps, ns, us, ms or s"
#define SPAN_FORM TIME_FORM " from 0 s to 1000000 s)"

static const SimConfig *
only_config(const SimPlan *plan)
{
    g_assert_cmpuint(sim_plan_n_points(plan), ==, 1);
    return sim_plan_config(plan, 0);
}

static void
test_defaults(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN, NULL);
    const SimConfig *config = only_config(plan);
    SimTime low, high;
    const char *source;
    g_assert_cmpint(sim_config_int(config, "machine", "cpus"), ==, 4);
    g_assert_cmpint(sim_config_size(config, "machine", "page"), ==, 4096);
    g_assert_cmpint(sim_config_time(config, "run", "duration"), ==, SIM_MS);
    g_assert_cmpint(sim_config_time(config, "run", "warmup"), ==, 0);
    g_assert_cmpint(sim_config_int(config, "run", "replications"), ==, 1);
    g_assert_cmpfloat(sim_config_real(config, "run", "confidence"), ==, 0.95);
    g_assert_cmpstr(sim_config_list(config, "run", "starts")[0], ==, "cold");
    g_assert_null(sim_config_list(config, "run", "starts")[1]);
    g_assert_cmpuint(sim_config_choice(config, "slub", "generation"), ==, 0);
    g_assert_false(sim_config_is_given(config, "run", "precision"));
    g_assert_true(sim_config_is_given(config, "run", "duration"));
    g_assert_cmpstr(sim_config_text(config, "slub", "note"), ==, "");
    g_assert_cmpstr(sim_config_origin(config, "run", "duration"), ==, "toy.scenario:2");
    g_assert_cmpstr(sim_config_origin(config, "machine", "cpus"), ==, "default");
    g_assert_cmpstr(sim_config_origin(config, "slub", "note"), ==, "not given");
    g_assert_cmpint(sim_config_time(config, "costs", "lock"), ==, 110 * SIM_NS);
    g_assert_true(sim_config_cost_bounds(config, "costs", "lock", &low, &high, &source));
    g_assert_cmpint(low, ==, 100 * SIM_NS);
    g_assert_cmpint(high, ==, 180 * SIM_NS);
    g_assert_cmpstr(source, ==, "toy table 1");
    g_assert_false(sim_config_cost_bounds(config, "costs", "free", &low, &high, &source));
    g_assert_null(sim_config_instances(config, "cache *")[0]);
}

/* The text follows TOY_RUN; the wrong line is the third, and one further down for each '+' of the message. */
static const struct {
    const char *text, *message;
} bad_values[] = {
    {"warmup = 5", "[run] warmup = 5: a time needs a unit, as in \"5 ms\" " SPAN_FORM},
    {"warmup = -1 ns", "[run] warmup = -1 ns: a time cannot be negative " SPAN_FORM},
    {"warmup =", "[run] warmup = : empty " SPAN_FORM},
    {"warmup = 1000001 s", "[run] warmup = 1000001 s: out of range " SPAN_FORM},
    {"warmpu = 5 ms", "[run] warmpu = 5 ms: unknown key; did you mean warmup? (allowed: warmup, duration, "
                      "replications, seed, starts, precision, sample_interval, confidence)"},
    {"replications = 0", "[run] replications = 0: out of range (allowed: a whole number from 1 to 10000)"},
    {"replications = 10001", "[run] replications = 10001: out of range (allowed: a whole number from 1 to 10000)"},
    {"replications = 1e6", "[run] replications = 1e6: not a whole number (allowed: a whole number from 1 to 10000)"},
    {"replications = 0x10", "[run] replications = 0x10: not a whole number (allowed: a whole number from 1 to 10000)"},
    {"replications = 5 # five",
     "[run] replications = 5 # five: not a whole number (allowed: a whole number from 1 to 10000)"},
    {"seed = -1", "[run] seed = -1: out of range (allowed: a whole number from 0)"},
    {"seed = 99999999999999999999",
     "[run] seed = 99999999999999999999: does not fit in 64 bits (allowed: a whole number from 0)"},
    {"confidence = 95", "[run] confidence = 95: out of range (allowed: a number from 0.5 to 0.9999)"},
    {"[slub]\ngeneration = frozn", "+[slub] generation = frozn: not one of the choices; did you mean frozen? "
                                   "(allowed: frozen, delayed, sheaves)"},
    {"[slub]\ngrace = 0 ns", "+[slub] grace = 0 ns: out of range " TIME_FORM " from 1 ps)"},
    {"[slub]\nnote = a\\d", "+[slub] note = a\\d: a backslash starts no known escape (write \\\\ for one) "
                            "(allowed: text with the escapes \\s \\t \\n \\r \\\\)"},
    {"[slub]\nnames = a;;b", "+[slub] names = a;;b: an element of the list is empty (allowed: texts between "
                             "semicolons with the escapes \\s \\t \\n \\r \\\\ \\;)"},
    {"[machine]\npage = 1M", "+[machine] page = 1M: out of range (allowed: a size in B, K, M, G, KiB, MiB or GiB "
                             "from 4 KiB to 64 KiB)"},
    {"[machine]\npage = 4096",
     "+[machine] page = 4096: a size needs a unit, as in \"4096 B\" (allowed: a size in B, K, "
     "M, G, KiB, MiB or GiB from 4 KiB to 64 KiB)"},
    {"[cache a]\norder = 1\nctor = yes", "++[cache a] ctor = yes: neither true nor false (allowed: true, false)"},
    {"[costs]\nfree = 5 ns fast", "+[costs] free = 5 ns fast: \"ns fast\" is not a unit of time " COST_FORM},
    {"[costs]\nfree = 5 ns [1 ns]", "+[costs] free = 5 ns [1 ns]: bounds not understood " COST_FORM},
    {"[costs]\nfree = 5 ns [1 ns .. 9", "+[costs] free = 5 ns [1 ns .. 9: bounds not understood " COST_FORM},
    {"[costs]\nfree = 5 ns [1 .. 9 ns]",
     "+[costs] free = 5 ns [1 .. 9 ns]: a time needs a unit, as in \"1 ms\" " COST_FORM},
    {"[costs]\nfree = 5 ns [6 ns .. 9 ns] x",
     "+[costs] free = 5 ns [6 ns .. 9 ns] x: the value lies outside its own bounds " COST_FORM},
    {"[costs]\nfree = 5 ns [1 ns .. 4 ns]",
     "+[costs] free = 5 ns [1 ns .. 4 ns]: the value lies outside its own bounds " COST_FORM},
    {"[costs]\nfree = 5 ns [9 ns .. 1 ns]",
     "+[costs] free = 5 ns [9 ns .. 1 ns]: the lower bound is above the upper one " COST_FORM},
    {"[costs]\nlock = 200 ns",
     "+[costs] lock = 200 ns: outside the bounds of the value it overrides (allowed: 100 ns .. 180 ns, or new "
     "bounds); overridden is 110 ns [100 ns .. 180 ns] toy table 1 at default"},
    {"seed = 1\nseed = 1", "+[run] seed = 1: key given twice (first in line 3)"},
    {"[slub]\n[run]", "+[run]: group given twice (first in line 1)"},
    {"[machin]", "[machin]: unknown group; did you mean machine? " ALLOWED_GROUPS},
    {"[cahce x]", "[cahce x]: unknown group; did you mean cache? " ALLOWED_GROUPS},
    {"[cache]", "[cache]: unknown group; did you mean cache? " ALLOWED_GROUPS},
    {"[zzz]", "[zzz]: unknown group " ALLOWED_GROUPS},
    {"[cache a b]", "[cache a b]: \"a b\" is no name (allowed: 1 to 64 letters, digits, '_', '.', ':', ',', '+', '-')"},
    {"[cache ]", "[cache ]: \"\" is no name (allowed: 1 to 64 letters, digits, '_', '.', ':', ',', '+', '-')"},
    {"[cache a/b]", "[cache a/b]: \"a/b\" is no name (allowed: 1 to 64 letters, digits, '_', '.', ':', ',', '+', '-')"},
    {"[cache a]\nctor = true", "[cache a] order: must be given (Slab order.)"},
    {"[variant a]\nmachine.cpus = 0",
     "+[variant a] machine.cpus = 0: out of range (allowed: a whole number from 1 to 4096)"},
    {"[variant a]\nmachine.cpu = 1", "+[variant a] machine.cpu = 1: unknown key; did you mean cpus? (allowed: "
                                     "profile, cpus, page, nodes)"},
    {"[variant a]\ncpus = 1", "+[variant a] cpus = 1: unknown key (allowed: group.key)"},
    {"[variant a]\nscenario.title = x",
     "+[variant a] scenario.title = x: cannot be overridden here (allowed: in its own group)"},
    {"[variant a]\nsweep.variants = x",
     "+[variant a] sweep.variants = x: cannot be overridden here (allowed: in its own group)"},
    {"[cache a]\norder = 1\n[variant v]\ncache b.order = 1",
     "+++[variant v] cache b.order = 1: there is no group [cache b] in the scenario; did you mean a? "
     "(allowed: a; an empty group [cache b] adds it)"},
    {"seed 5", "\"seed 5\": not understood (wanted: [group], key = value, or # in the first column)"},
    {"= 5", "\"= 5\": not understood (wanted: [group], key = value, or # in the first column)"},
    {"  # note", "\"# note\": a comment starts in the first column"},
    {"[slub] # x", "\"[slub] # x\": not a group (wanted: [name] and nothing else)"},
    {"[]", "\"[]\": not a group (wanted: [name] and nothing else)"},
    {"[[slub]]", "\"[[slub]]\": not a group (wanted: [name] and nothing else)"},
    {"seed = \x01", "not plain UTF-8 text (control character)"},
    {"seed = \xff", "not plain UTF-8 text (invalid bytes)"},
    {"seed = 1\rwarmup = 0 s", "not plain UTF-8 text (control character)"},
    {"[plot p]\nmetric = x", "[plot p] kind: must be given (Kind of chart.)"},
};

static void
test_bad_values(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(bad_values); i++) {
        gsize n_more = strspn(bad_values[i].message, "+");
        g_autofree char *text = g_strconcat(TOY_RUN, bad_values[i].text, "\n", NULL);
        g_autofree char *message =
            g_strdup_printf("toy.scenario:%" G_GSIZE_FORMAT ": %s", 3 + n_more, bad_values[i].message + n_more);
        toy_expect_error(text, NULL, message);
    }
    toy_expect_error("cpus = 4\n", NULL, "toy.scenario:1: \"cpus = 4\": key before the first [group]");
    toy_expect_error("", NULL, "toy.scenario: [run] duration: must be given (Simulated time that is measured.)");
}

/* Byte order mark, CR LF and a missing final newline change nothing; line numbers stay right. */
static void
test_line_ends(void)
{
    static const char *const texts[] = {
        "\xef\xbb\xbf[run]\nduration = 1 ms\n[slub]\nnote = x\n",
        "[run]\r\nduration = 1 ms\r\n[slub]\r\nnote = x\r\n",
        "[run]\nduration = 1 ms\n[slub]\nnote = x",
        "[run]\n\tduration=1 ms  \n  [slub]  \nnote\t=\tx\t\r",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SimPlan) plan = toy_load_ok(texts[i], NULL);
        g_assert_cmpstr(sim_config_text(only_config(plan), "slub", "note"), ==, "x");
        g_assert_cmpstr(sim_config_origin(only_config(plan), "slub", "note"), ==, "toy.scenario:4");
    }
}

static void
test_hostile_files(void)
{
    g_autoptr(GError) error = NULL;
    static const char with_nul[] = "[run]\nseed = 1\0\n";
    g_assert_null(sim_ini_parse(with_nul, sizeof with_nul - 1, "f", &error));
    g_assert_cmpstr(error->message, ==, "f:2: not plain UTF-8 text (NUL byte)");
    g_clear_error(&error);

    g_autofree char *line = g_strnfill(SIM_INI_MAX_LINE_BYTES, '#');
    g_autofree char *longer = g_strconcat("\n", line, "#\n", NULL);
    g_autoptr(SimIni) fits = sim_ini_parse(line, strlen(line), "f", &error);
    g_assert_no_error(error);
    g_assert_nonnull(fits);
    g_assert_null(sim_ini_parse(longer, strlen(longer), "f", &error));
    g_assert_cmpstr(error->message, ==, "f:2: line longer than 65536 bytes");
    g_clear_error(&error);

    g_assert_null(sim_ini_load("/dev/zero", &error));
    g_assert_cmpstr(error->message, ==, "/dev/zero: longer than 4194304 bytes");
    g_clear_error(&error);
    g_assert_null(sim_ini_load("missing.scenario", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
    g_assert_cmpstr(error->message, ==, "missing.scenario: cannot be read: No such file or directory");
    g_clear_error(&error);
    g_assert_null(sim_ini_load(".", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
}

/* Every prefix and every single damaged byte of a good file is either read or refused with its place. */
static void
test_damage(void)
{
    static const char good[] = TOY_RUN "[costs]\nlock = 120 ns [1 ns .. 1 us] s\n[cache a]\norder = 3\n"
                                       "[slub]\nnames = a\\;b; c\nnote = \\sx\\\\\n"
                                       "[variant v]\ncache a.order = 2\n[sweep]\nmachine.cpus = log 1:64:4\n";
    guint n_read = 0;
    for (gsize i = 0; i < sizeof good - 1; i++) {
        for (guint kind = 0; kind < 8; kind++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *text = g_strdup(good);
            text[i] = "\0[]=;.\\\xff"[kind];
            g_autoptr(SimPlan) plan = toy_load(text, NULL, &error);
            n_read += plan != NULL;
            g_assert_cmpint(plan != NULL, ==, error == NULL);
            if (error != NULL)
                g_assert_true(g_str_has_prefix(error->message, "toy.scenario:"));
        }
    }
    g_assert_cmpuint(n_read, >, 0);
}

static void
test_escapes(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[slub]\nnote = \\s a\\tb\\nc\\\\d; #e = [f] \\s\n"
                                                  "names = \\sx ; a\\;b;c\\\\;\n",
                                          NULL);
    const SimConfig *config = only_config(plan);
    const char *const *names = sim_config_list(config, "slub", "names");
    g_assert_cmpstr(sim_config_text(config, "slub", "note"), ==, "  a\tb\nc\\d; #e = [f]  ");
    g_assert_cmpstr(names[0], ==, " x");
    g_assert_cmpstr(names[1], ==, "a;b");
    g_assert_cmpstr(names[2], ==, "c\\");
    g_assert_null(names[3]);
}

static void
test_layers(void)
{
    toy_write("machines/big.machine", "[machine]\ncpus = 224\nnodes = 2\n[costs]\nfree = 7 ns [6 ns .. 9 ns] big\n"
                                      "[cache from_layer]\norder = 1\n");
    toy_write(
        "parent.scenario",
        "[scenario]\ntitle = parent\nquestion = why\n[machine]\nprofile = big\nnodes = 4\n[cache p]\norder = 2\n");
    static const char text[] = "[scenario]\nextends = parent.scenario\ntitle = child\n" TOY_RUN
                               "[cache c]\norder = 5\n[cache p]\nctor = true\n"
                               "[variant v]\nmachine.page = 8K\ncache p.order = 6\n"
                               "[sweep]\nslub.ratio = 0.25\n";
    static const char *const sets[] = {"costs.free=8 ns", "cache c.order = 7", NULL};
    g_autoptr(SimPlan) plan = toy_load_ok(text, sets);
    const SimConfig *config = only_config(plan);
    static const struct {
        const char *group, *key, *text, *origin;
    } cases[] = {
        {"scenario", "title", "child", "toy.scenario:3"},
        {"scenario", "question", "why", "parent.scenario:3"},
        {"machine", "profile", "big", "parent.scenario:5"},
        {"machine", "cpus", "224", "machines/big.machine:2"},
        {"machine", "nodes", "4", "parent.scenario:6"},
        {"machine", "page", "8 KiB", "variant v (toy.scenario:11)"},
        {"costs", "free", "8 ns [6 ns .. 9 ns] big", "--set"},
        {"costs", "lock", "110 ns [100 ns .. 180 ns] toy table 1", "default"},
        {"cache from_layer", "order", "1", "machines/big.machine:7"},
        {"cache p", "order", "6", "variant v (toy.scenario:12)"},
        {"cache p", "ctor", "true", "toy.scenario:9"},
        {"cache c", "order", "7", "--set"},
        {"slub", "ratio", "0.25", "sweep (toy.scenario:14)"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpstr(sim_config_text(config, cases[i].group, cases[i].key), ==, cases[i].text);
        g_assert_cmpstr(sim_config_origin(config, cases[i].group, cases[i].key), ==, cases[i].origin);
    }
    const char *const *caches = sim_config_instances(config, "cache *");
    g_assert_cmpstr(caches[0], ==, "from_layer");
    g_assert_cmpstr(caches[1], ==, "p");
    g_assert_cmpstr(caches[2], ==, "c");
    g_assert_null(caches[3]);
}

/* A variant, an axis value or --set that names another machine brings that machine's values. */
static void
test_layer_by_point(void)
{
    toy_write("machines/a.machine", "[machine]\ncpus = 2\n");
    toy_write("machines/b.machine", "[machine]\nnodes = 8\n");
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[machine]\nprofile = a\n[variant x]\n[variant y]\n"
                                                  "machine.profile = b\n",
                                          NULL);
    g_assert_cmpuint(sim_plan_n_points(plan), ==, 2);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 0), "machine", "cpus"), ==, 2);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 0), "machine", "nodes"), ==, 1);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 1), "machine", "cpus"), ==, 4);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 1), "machine", "nodes"), ==, 8);
    static const char *const sets[] = {"machine.profile=b", NULL};
    g_autoptr(SimPlan) swept = toy_load_ok(TOY_RUN "[sweep]\nmachine.profile = a; b\n", NULL);
    g_autoptr(SimPlan) set = toy_load_ok(TOY_RUN "[machine]\nprofile = a\n", sets);
    g_assert_cmpint(sim_config_int(sim_plan_config(swept, 0), "machine", "cpus"), ==, 2);
    g_assert_cmpint(sim_config_int(sim_plan_config(swept, 1), "machine", "nodes"), ==, 8);
    g_assert_cmpint(sim_config_int(only_config(set), "machine", "cpus"), ==, 4);
    g_assert_cmpint(sim_config_int(only_config(set), "machine", "nodes"), ==, 8);
    static const char *const set_a[] = {"machine.profile=a", NULL};
    g_autoptr(SimPlan) over_variant = toy_load_ok(TOY_RUN "[variant y]\nmachine.profile = b\n", set_a);
    g_assert_cmpint(sim_config_int(only_config(over_variant), "machine", "cpus"), ==, 2);
    g_assert_cmpint(sim_config_int(only_config(over_variant), "machine", "nodes"), ==, 1);
}

static void
test_layer_folders(void)
{
    toy_write("shipped/machines/far.machine", "[machine]\ncpus = 3\n");
    toy_write("shipped/machines/near.machine", "[machine]\ncpus = 3\n");
    toy_write("machines/near.machine", "[machine]\ncpus = 5\n");
    toy_write("other/machines/far.machine", "[machine]\ncpus = 9\n");
    SimSchema schema = toy_schema;
    schema.scenarios_dir = "shipped";
    toy_write("toy.scenario", TOY_RUN "[sweep]\nmachine.profile = near; far\n");
    g_autoptr(GError) error = NULL;
    g_autoptr(SimPlan) plan = sim_plan_load(&schema, "toy.scenario", NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 0), "machine", "cpus"), ==, 5);
    g_assert_cmpint(sim_config_int(sim_plan_config(plan, 1), "machine", "cpus"), ==, 3);
    g_setenv("SLUBSIM_SCENARIOS", "other", TRUE);
    g_autoptr(SimPlan) moved = sim_plan_load(&schema, "toy.scenario", NULL, NULL, &error);
    g_unsetenv("SLUBSIM_SCENARIOS");
    g_assert_no_error(error);
    g_assert_cmpint(sim_config_int(sim_plan_config(moved, 1), "machine", "cpus"), ==, 9);
    toy_expect_error(TOY_RUN "[machine]\nprofile = neer\n", NULL,
                     "toy.scenario:4: [machine] profile = neer: no file of that name; did you mean near? in machines "
                     "(allowed: near)");
    /* A scenario of the shipped folder itself: each folder and file is named once. */
    toy_write("shipped/own.scenario", TOY_RUN "[machine]\nprofile = neer\n");
    g_assert_null(sim_plan_load(&schema, "shipped/own.scenario", NULL, NULL, &error));
    g_assert_cmpstr(error->message, ==,
                    "shipped/own.scenario:4: [machine] profile = neer: no file of that name; did you mean near? in "
                    "shipped/machines (allowed: far, near)");
    g_clear_error(&error);
    /* Two folders with a file of one name. */
    toy_write("toy.scenario", TOY_RUN "[machine]\nprofile = neer\n");
    g_assert_null(sim_plan_load(&schema, "toy.scenario", NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "in machines and shipped/machines (allowed: far, near)"));
    toy_expect_error(TOY_RUN "[machine]\nprofile = ../etc/x\n", NULL,
                     "toy.scenario:4: [machine] profile = ../etc/x: not a name (allowed: the name of a .machine file)");
    toy_expect_error(TOY_RUN "[machine]\nprofile = sub/near\n", NULL,
                     "toy.scenario:4: [machine] profile = sub/near: not a name (allowed: the name of a .machine file)");
    toy_write("machines/bad.machine", "[run]\nseed = 1\n");
    toy_expect_error(TOY_RUN "[machine]\nprofile = bad\n", NULL,
                     "machines/bad.machine:1: [run]: belongs in a scenario, not in a machine.profile file");
    toy_write("machines/bad.machine", "[machine]\nprofile = near\n");
    toy_expect_error(TOY_RUN "[machine]\nprofile = bad\n", NULL,
                     "machines/bad.machine:2: [machine] profile = near: a file cannot name another one in its place");
}

/* A limit that is no round number of any unit is told in whole ones of the largest. */
static void
test_large_limit(void)
{
    const SimKeySpec spec = {"machine", "memory", SIM_KEY_SIZE, .min = 1 << 24, .max = 1.8e16};
    g_autoptr(GError) error = NULL;
    SimValue value;

    g_assert_false(sim_value_parse(&spec, "1K", &value, &error));
    g_assert_cmpstr(error->message, ==,
                    "out of range (allowed: a size in B, K, M, G, KiB, MiB or GiB from 16 MiB to 16763806 GiB)");
}

/* A layer named by the schema's default is read like any other. */
static void
test_default_layer(void)
{
    static const SimKeySpec keys[] = {{"machine", "profile", SIM_KEY_TEXT, .fallback = "usual", .help = "File."},
                                      {"machine", "cpus", SIM_KEY_INT, .fallback = "4", .help = "CPUs."},
                                      {NULL}};
    static const SimKeySpec *const tables[] = {keys, NULL};
    static const SimSchema schema = {tables, "machine.profile", "machines", "machine", NULL};
    g_autoptr(GError) error = NULL;
    toy_write("toy.scenario", TOY_RUN);
    g_assert_null(sim_plan_load(&schema, "toy.scenario", NULL, NULL, &error));
    g_assert_cmpstr(error->message, ==,
                    "default: [machine] profile = usual: no file of that name in machines (allowed: none is there)");
    g_clear_error(&error);
    toy_write("machines/usual.machine", "[machine]\ncpus = 6\n");
    g_autoptr(SimPlan) plan = sim_plan_load(&schema, "toy.scenario", NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sim_config_int(only_config(plan), "machine", "cpus"), ==, 6);
    g_assert_cmpstr(sim_config_origin(only_config(plan), "machine", "profile"), ==, "default");
}

static void
test_extends(void)
{
    toy_write("sub/a.scenario", "[scenario]\nextends = b.scenario\n");
    toy_write("sub/b.scenario", "[slub]\nnote = from b\n");
    g_autoptr(SimPlan) plan = toy_load_ok("[scenario]\nextends = sub/a.scenario\n" TOY_RUN, NULL);
    g_assert_cmpstr(sim_config_origin(only_config(plan), "slub", "note"), ==, "sub/b.scenario:2");

    toy_write("sub/b.scenario", "[scenario]\nextends = ../toy.scenario\n");
    toy_expect_error("[scenario]\nextends = sub/a.scenario\n" TOY_RUN, NULL,
                     "sub/b.scenario:2: [scenario] extends = ../toy.scenario: the files extend each other in a circle");
    toy_expect_error("[scenario]\nextends = toy.scenario\n" TOY_RUN, NULL,
                     "toy.scenario:2: [scenario] extends = toy.scenario: the files extend each other in a circle");
    toy_expect_error("[scenario]\nextends = gone.scenario\n" TOY_RUN, NULL,
                     "toy.scenario:2: [scenario] extends = gone.scenario: gone.scenario: cannot be read: No such file "
                     "or directory");
    static const char *const sets[] = {"scenario.extends=x", NULL};
    toy_expect_error(TOY_RUN, sets,
                     "--set: [scenario] extends = x: cannot be overridden here (allowed: in its own group)");

    toy_write("p9.scenario", "");
    for (guint i = 8; i > 0; i--) {
        g_autofree char *name = g_strdup_printf("p%u.scenario", i);
        g_autofree char *text = g_strdup_printf("[scenario]\nextends = p%u.scenario\n", i + 1);
        toy_write(name, text);
    }
    g_autoptr(SimPlan) deep = toy_load_ok("[scenario]\nextends = p2.scenario\n" TOY_RUN, NULL);
    g_assert_cmpuint(sim_plan_n_points(deep), ==, 1);
    toy_expect_error("[scenario]\nextends = p1.scenario\n" TOY_RUN, NULL,
                     "p8.scenario:2: [scenario] extends = p9.scenario: more than 8 files extend one another");
}

/* Bounds come from the nearest layer that writes them, and each override is held against the layer below it. */
static void
test_cost_bounds(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[costs]\nlock = 150 ns\nfree = 6 ns [5 ns .. 8 ns]\n"
                                                  "[variant a]\n[variant b]\ncosts.lock = 1 us [1 us .. 2 us] new\n"
                                                  "costs.free = 5 ns\n",
                                          NULL);
    SimTime low, high;
    const char *source;
    g_assert_true(sim_config_cost_bounds(sim_plan_config(plan, 0), "costs", "lock", &low, &high, &source));
    g_assert_cmpint(low, ==, 100 * SIM_NS);
    g_assert_cmpstr(source, ==, "toy table 1");
    g_assert_cmpint(sim_config_time(sim_plan_config(plan, 0), "costs", "lock"), ==, 150 * SIM_NS);
    g_assert_true(sim_config_cost_bounds(sim_plan_config(plan, 1), "costs", "lock", &low, &high, &source));
    g_assert_cmpint(high, ==, 2 * SIM_US);
    g_assert_cmpstr(source, ==, "new");
    g_assert_true(sim_config_cost_bounds(sim_plan_config(plan, 1), "costs", "free", &low, &high, &source));
    g_assert_cmpint(high, ==, 8 * SIM_NS);
    g_assert_cmpstr(source, ==, "");
    static const char *const sets[] = {"costs.free=9 ns", NULL};
    toy_expect_error(TOY_RUN "[costs]\nfree = 6 ns [5 ns .. 8 ns]\n", sets,
                     "--set: [costs] free = 9 ns: outside the bounds of the value it overrides (allowed: 5 ns .. 8 ns, "
                     "or new bounds); overridden is 6 ns [5 ns .. 8 ns] at toy.scenario:4");
}

static const char rich_text[] =
    "[scenario]\ntitle = \\s odd; title # = \\\\\n[machine]\ncpus = 007\npage = 65536B\n" TOY_RUN
    "precision = 0.050\nstarts = cold ; warm;\n[costs]\nlock = 0.120 us\nfree = 5000ps [5ns..6 ns]   a [b] .. c\n"
    "[cache z.1]\norder = 1\n[cache a:b]\norder = 2\nctor = true\n[slub]\nratio = 1e-1\nnames = a\\;b ; \\sc\n"
    "note = x\\ny\n[plot p]\nkind = throughput\n[variant v]\ncache z.1.order = 9\n[sweep]\nslub.load = 2.50\n";

/* The canonical text is a scenario with the same values, and its own canonical text. */
static void
test_round_trip(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(rich_text, NULL);
    g_autofree char *text = sim_config_to_text(only_config(plan), FALSE);
    g_autofree char *annotated = sim_config_to_text(only_config(plan), TRUE);
    g_autoptr(SimPlan) again = toy_load_ok(text, NULL);
    g_autofree char *text_again = sim_config_to_text(only_config(again), FALSE);
    g_autoptr(SimPlan) annotated_plan = toy_load_ok(annotated, NULL);
    g_autofree char *text_annotated = sim_config_to_text(only_config(annotated_plan), FALSE);
    g_assert_cmpstr(text_again, ==, text);
    g_assert_cmpstr(text_annotated, ==, text);
    g_assert_nonnull(strstr(annotated, "# variant v (toy.scenario:25)\norder = 9\n"));
    g_assert_nonnull(strstr(annotated, "# profile is not given\n"));
    g_assert_cmpstr(text, ==,
                    "[scenario]\ntitle = \\s odd; title # = \\\\\n\n"
                    "[plot p]\nkind = throughput\n\n"
                    "[run]\nwarmup = 0 s\nduration = 1 ms\nreplications = 1\nseed = 1\nstarts = cold;warm\n"
                    "precision = 0.05\nsample_interval = 0 s\nconfidence = 0.95\n\n"
                    "[machine]\ncpus = 7\npage = 64 KiB\nnodes = 1\n\n"
                    "[costs]\nlock = 120 ns [100 ns .. 180 ns] toy table 1\nfree = 5 ns [5 ns .. 6 ns] a [b] .. c\n\n"
                    "[cache z.1]\norder = 9\nctor = false\n\n[cache a:b]\norder = 2\nctor = true\n\n"
                    "[slub]\ngeneration = frozen\nratio = 0.1\nload = 2.5\nnote = x\\ny\nnames = a\\;b;\\sc\n"
                    "grace = 10 us\n");
}

/* GKeyFile, the format's other reader, sees the same texts and lists. */
static void
test_key_file_agrees(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(rich_text, NULL);
    const SimConfig *config = only_config(plan);
    g_autofree char *text = sim_config_to_text(config, TRUE);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) error = NULL;
    g_key_file_load_from_data(file, text, (gsize) -1, G_KEY_FILE_NONE, &error);
    g_assert_no_error(error);
    g_autofree char *title = g_key_file_get_string(file, "scenario", "title", NULL);
    g_autofree char *note = g_key_file_get_string(file, "slub", "note", NULL);
    g_auto(GStrv) names = g_key_file_get_string_list(file, "slub", "names", NULL, NULL);
    g_assert_cmpstr(title, ==, sim_config_text(config, "scenario", "title"));
    g_assert_cmpstr(note, ==, sim_config_text(config, "slub", "note"));
    g_assert_cmpstrv(names, sim_config_list(config, "slub", "names"));
    g_assert_cmpint(g_key_file_get_integer(file, "cache z.1", "order", NULL), ==, 9);
}

static void
test_long_names(void)
{
    g_autofree char *longest = g_strnfill(64, 'n');
    g_autofree char *good = g_strdup_printf(TOY_RUN "[cache %s]\norder = 1\n", longest);
    g_autofree char *bad = g_strdup_printf(TOY_RUN "[cache %sn]\norder = 1\n", longest);
    g_autofree char *message = g_strdup_printf("toy.scenario:3: [cache %sn]: \"%sn\" is no name (allowed: 1 to 64 "
                                               "letters, digits, '_', '.', ':', ',', '+', '-')",
                                               longest, longest);
    g_autoptr(SimPlan) plan = toy_load_ok(good, NULL);
    g_assert_cmpstr(sim_config_instances(only_config(plan), "cache *")[0], ==, longest);
    toy_expect_error(bad, NULL, message);
}

static void
test_config_error(void)
{
    g_autoptr(SimPlan) plan = toy_load_ok(TOY_RUN "[machine]\ncpus = 007\n", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(sim_config_error(only_config(plan), "machine", "cpus", &error, "odd with %d nodes", 2));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_MODEL);
    g_assert_cmpstr(error->message, ==, "toy.scenario:4: [machine] cpus = 007: odd with 2 nodes");
    g_clear_error(&error);
    g_assert_false(sim_config_error(only_config(plan), "machine", "nodes", &error, "too few"));
    g_assert_cmpstr(error->message, ==, "default: [machine] nodes = 1: too few");
    g_clear_error(&error);
    g_assert_false(sim_config_error(only_config(plan), "slub", "note", &error, "wanted"));
    g_assert_cmpstr(error->message, ==, "not given: [slub] note: wanted");
}

/* A configuration outlives its plan. */
static void
test_lifetime(void)
{
    SimPlan *plan = toy_load_ok(TOY_RUN "[costs]\nlock = 101 ns\n", NULL);
    g_autoptr(SimConfig) config = sim_config_ref((SimConfig *) only_config(plan));
    sim_plan_free(plan);
    g_assert_cmpint(sim_config_time(config, "costs", "lock"), ==, 101 * SIM_NS);
    g_assert_cmpstr(sim_config_origin(config, "costs", "lock"), ==, "toy.scenario:4");
}

/* Dies, and so leaves no file behind: GLib starts it outside the folder of its parent test. */
static void
read_unknown_key(void)
{
    static const char *const sets[] = {"run.duration=1 ms", NULL};
    g_autoptr(SimPlan) plan = sim_plan_load(&toy_schema, "/dev/null", sets, NULL, NULL);
    sim_config_int(only_config(plan), "machine", "cpuz");
}

static void
test_programmer_errors(void)
{
    g_test_trap_subprocess("/config/programmer-errors/subprocess", 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*[machine] cpuz: unknown key*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/config/defaults", test_defaults);
    toy_add_test("/config/bad-values", test_bad_values);
    toy_add_test("/config/line-ends", test_line_ends);
    toy_add_test("/config/hostile-files", test_hostile_files);
    toy_add_test("/config/damage", test_damage);
    toy_add_test("/config/escapes", test_escapes);
    toy_add_test("/config/layers", test_layers);
    toy_add_test("/config/layer-by-point", test_layer_by_point);
    toy_add_test("/config/layer-folders", test_layer_folders);
    g_test_add_func("/config/large-limit", test_large_limit);
    toy_add_test("/config/default-layer", test_default_layer);
    toy_add_test("/config/extends", test_extends);
    toy_add_test("/config/cost-bounds", test_cost_bounds);
    toy_add_test("/config/round-trip", test_round_trip);
    toy_add_test("/config/key-file-agrees", test_key_file_agrees);
    toy_add_test("/config/long-names", test_long_names);
    toy_add_test("/config/error", test_config_error);
    toy_add_test("/config/lifetime", test_lifetime);
    toy_add_test("/config/programmer-errors", test_programmer_errors);
    g_test_add_func("/config/programmer-errors/subprocess", read_unknown_key);
    return g_test_run();
}
