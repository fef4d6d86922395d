/* SPDX-License-Identifier: GPL-3.0-or-later */
/* [caches] file: an imported machine's caches are those a workload uses, by their own names and by merged ones. */
#include <glib/gstdio.h>
#include <string.h>

#include "sim-plan.h"
#include "world-private.h"

#define SCENARIO "[scenario]\ntitle = test\n[run]\nduration = 1 ms\n[workload]\ntype = mmap1\n[kernel]\nversion = "

/* maple_node was merged, vm_area_struct not: 6.1 has no other cache for mmap1. */
static const char caches[] = "# as imported\n"
                             "[:0000256]\nobject_size=256\nnames=biovec-16 maple_node\nalign=256\nmin_partial=7\n"
                             "[vm_area_struct]\nobject_size=160\nalign=8\nflags=NO_MERGE\ncpu_partial=11\norder=1\n"
                             "[dentry]\nobject_size=192\n";

typedef struct {
    char *folder, *scenario, *file;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    fixture->folder = g_dir_make_tmp("caches-XXXXXX", &error);
    g_assert_no_error(error);
    fixture->scenario = g_build_filename(fixture->folder, "x.scenario", NULL);
    fixture->file = g_build_filename(fixture->folder, "x.caches", NULL);
    g_assert_true(g_file_set_contents(fixture->file, caches, -1, NULL));
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    g_unlink(fixture->scenario);
    g_unlink(fixture->file);
    g_assert_cmpint(g_rmdir(fixture->folder), ==, 0);
    g_free(fixture->folder);
    g_free(fixture->scenario);
    g_free(fixture->file);
}

static SimPlan *
load(const Fixture *fixture, const char *rest, const char *set, GError **error)
{
    const char *const sets[] = {set, NULL};
    g_autofree char *text = g_strconcat(SCENARIO, rest, NULL);

    g_assert_true(g_file_set_contents(fixture->scenario, text, -1, NULL));
    return sim_plan_load(world_schema(), fixture->scenario, sets, NULL, error);
}

static SimPlan *
load_ok(const Fixture *fixture, const char *rest, const char *set)
{
    g_autoptr(GError) error = NULL;
    SimPlan *plan = load(fixture, rest, set, &error);

    g_assert_no_error(error);
    return plan;
}

static SlabGeometry
geometry_of(const SimConfig *config, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(MachTopology) topology = mach_topology_new(config, &error);
    SlabGeometry geometry = {0};
    SlabGeometryEnv env;

    g_assert_no_error(error);
    world_geometry_env(config, topology, &env, &error);
    g_assert_no_error(error);
    world_cache_geometry(config, &env, name, &geometry, &error);
    g_assert_no_error(error);
    return geometry;
}

static void
test_names(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);
    const SimConfig *config = sim_plan_config(plan, 0);
    SlabGeometry maple_node = geometry_of(config, "maple_node"), vma = geometry_of(config, "vm_area_struct");
    g_autofree char *origin = g_strconcat(fixture->file, " [:0000256]", NULL);

    g_assert_cmpuint(maple_node.size_bytes, ==, 256);
    g_assert_cmpuint(maple_node.min_partial, ==, 7);
    /* Everyone knows 152 bytes and the limits of the release; the machine had it otherwise. */
    g_assert_cmpuint(vma.size_bytes, ==, 160);
    g_assert_cmpuint(vma.cpu_partial, ==, 11);
    g_assert_cmpuint(vma.order, ==, 1);
    g_assert_cmpuint(vma.min_partial, ==, 5);
    g_assert_cmpstr(sim_config_origin(config, "cache maple_node", "min_partial"), ==, origin);
    /* What the workload does not use is not dragged along. */
    g_assert_cmpuint(g_strv_length((char **) sim_config_instances(config, "cache *")), ==, 2);
}

/* The listing hides ACCOUNT of an unmerged cache; the name of a merged one would show it. */
static void
test_hidden_flags(Fixture *fixture, gconstpointer data)
{
    static const char merged[] = "[:0000152]\nobject_size=152\nnames=vm_area_struct\n[maple_node]\nobject_size=256\n";
    g_autoptr(SimPlan) plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);

    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "vm_area_struct").flags, ==, SLAB_ACCOUNT | SLAB_NO_MERGE);
    g_assert_true(g_file_set_contents(fixture->file, merged, -1, NULL));
    sim_plan_free(plan);
    plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);
    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "vm_area_struct").flags, ==, 0);
}

/* All that the file says of a cache is in force, and what it does not say is not there, whatever the release is known
 * to have. */
static void
test_facts(Fixture *fixture, gconstpointer data)
{
    static const char all[] = "[maple_node]\nobject_size=248\nalign=16\nusersize=24\nfreeptr_offset=8\n"
                              "sheaf_capacity=12\nctor=true\nflags=RECLAIM_ACCOUNT\ncpu_partial=50\n"
                              "cpu_partial_slabs=9\n[vm_area_struct]\nobject_size=160\n";
    g_autoptr(SimPlan) plan = NULL;
    const SimConfig *config;

    g_assert_true(g_file_set_contents(fixture->file, all, -1, NULL));
    plan = load_ok(fixture, "6.18\n[caches]\nfile = x.caches\n", NULL);
    config = sim_plan_config(plan, 0);
    g_assert_cmpint(sim_config_size(config, "cache maple_node", "object_size"), ==, 248);
    g_assert_cmpint(sim_config_size(config, "cache maple_node", "align"), ==, 16);
    g_assert_cmpint(sim_config_size(config, "cache maple_node", "usersize"), ==, 24);
    g_assert_cmpint(sim_config_int(config, "cache maple_node", "freeptr_offset"), ==, 8);
    g_assert_cmpint(sim_config_int(config, "cache maple_node", "args_sheaf_capacity"), ==, 12);
    g_assert_true(sim_config_bool(config, "cache maple_node", "ctor"));
    g_assert_cmpint(sim_config_int(config, "cache maple_node", "cpu_partial_slabs"), ==, 9);
    g_assert_cmpuint(geometry_of(config, "maple_node").size_bytes, ==, 256); /* 248, its pointer inside */
    /* 6.18 is known to have 32 objects a sheaf, a free pointer at 0 and an alignment of 64. */
    g_assert_cmpint(sim_config_int(config, "cache vm_area_struct", "args_sheaf_capacity"), ==, 0);
    g_assert_cmpint(sim_config_int(config, "cache vm_area_struct", "freeptr_offset"), ==, -1);
    g_assert_cmpint(sim_config_size(config, "cache vm_area_struct", "align"), ==, 0);
    g_assert_cmpuint(geometry_of(config, "vm_area_struct").sheaf_capacity, ==, 0);
}

/* A cache's own name goes before the list of those merged into another. */
static void
test_own_name(Fixture *fixture, gconstpointer data)
{
    static const char both[] = "[:0000512]\nobject_size=512\nnames=maple_node\n[maple_node]\nobject_size=256\n"
                               "[vm_area_struct]\nobject_size=160\n";
    g_autoptr(SimPlan) plan = NULL;

    g_assert_true(g_file_set_contents(fixture->file, both, -1, NULL));
    plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);
    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "maple_node").size_bytes, ==, 256);
}

/* Flags that a listing shows are its own word: one that it does not show of dentry is not there. */
static void
test_shown_flags(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", "workload.type=partial_count");

    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "dentry").flags, ==, SLAB_ACCOUNT);
}

/* A bare name is looked for in caches/ beside the scenario. */
static void
test_bare_name(Fixture *fixture, gconstpointer data)
{
    g_autofree char *folder = g_build_filename(fixture->folder, "caches", NULL);
    g_autofree char *path = g_build_filename(folder, "mine.caches", NULL);
    g_autoptr(SimPlan) plan = NULL;

    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, caches, -1, NULL));
    plan = load_ok(fixture, "6.1\n[caches]\nfile = mine\n", NULL);
    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "vm_area_struct").size_bytes, ==, 160);
    g_unlink(path);
    g_rmdir(folder);
}

/* The file lies below the scenario, below its variants, and below --set, which need no group of their own for it. */
static void
test_precedence(Fixture *fixture, gconstpointer data)
{
    static const char rest[] = "6.1\n[cache vm_area_struct]\norder = 0\n[caches]\nfile = x.caches\n"
                               "[variant base]\n[variant more]\ncache maple_node.min_partial = 20\n";
    g_autoptr(SimPlan) plan = load_ok(fixture, rest, "cache vm_area_struct.cpu_partial=3");
    const SimConfig *base = sim_plan_config(plan, 0), *more = sim_plan_config(plan, 1);

    g_assert_cmpuint(geometry_of(base, "vm_area_struct").order, ==, 0);
    g_assert_cmpuint(geometry_of(base, "vm_area_struct").size_bytes, ==, 160);
    g_assert_cmpuint(geometry_of(base, "vm_area_struct").cpu_partial, ==, 3);
    g_assert_cmpuint(geometry_of(base, "maple_node").min_partial, ==, 7);
    g_assert_cmpuint(geometry_of(more, "maple_node").min_partial, ==, 20);
}

/* The resolved text is what a study knows a point by: another content of the same file is another point. The text says
 * all, so that the same is got without the file. */
static void
test_resolved_text(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) plan = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL), other = NULL, without = NULL;
    g_autofree char *text = sim_config_to_text(sim_plan_config(plan, 0), FALSE), *other_text = NULL;
    g_autofree char *changed = g_strconcat(caches, "[vma_lock]\nobject_size=48\n", NULL);
    g_autofree char *groups = g_strconcat("6.1\n", strstr(text, "[cache maple_node]"), NULL);
    char *end = strstr(groups, "[memcg]");

    g_assert_true(g_file_set_contents(fixture->file, changed, -1, NULL));
    other = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);
    other_text = sim_config_to_text(sim_plan_config(other, 0), FALSE);
    g_assert_cmpstr(text, ==, other_text);
    g_clear_pointer(&other, sim_plan_free);
    g_free(g_steal_pointer(&other_text));
    changed[strstr(changed, "min_partial=7") - changed + strlen("min_partial=")] = '8';
    g_assert_true(g_file_set_contents(fixture->file, changed, -1, NULL));
    other = load_ok(fixture, "6.1\n[caches]\nfile = x.caches\n", NULL);
    other_text = sim_config_to_text(sim_plan_config(other, 0), FALSE);
    g_assert_cmpstr(text, !=, other_text);
    g_assert_nonnull(end);
    *end = '\0';
    without = load_ok(fixture, groups, NULL);
    g_assert_cmpuint(geometry_of(sim_plan_config(without, 0), "vm_area_struct").cpu_partial, ==, 11);
}

static const struct {
    const char *rest, *set, *text; /* of the .caches file; NULL = the one above */
    SimErrorCode code;
    const char *place, *words;
} refusals[] = {
    {"6.5\n[caches]\nfile = x.caches\n", NULL, NULL, SIM_ERROR_MODEL, "x.scenario:10: [caches] file",
     "has no cache vma_lock"},
    {"6.1\n[caches]\nfile = y.caches\n", NULL, NULL, SIM_ERROR_MODEL, "x.scenario:10: [caches] file", "y.caches"},
    {"6.1\n[caches]\nfile = debian-6.1-smp61\n", NULL, NULL, SIM_ERROR_UNKNOWN_KEY, "x.scenario:10: [caches] file",
     "did you mean debian-6.1-smp16?"},
    {"6.1\n[caches]\nfile = x.caches\n", NULL, "[a]\nobject_size=8\naling=8\n", SIM_ERROR_UNKNOWN_KEY,
     "x.caches:3:", "\"aling\""},
    {"6.1\n[caches]\nfile = x.caches\n", NULL, "", SIM_ERROR_MODEL, "x.scenario:10:", "has no cache"},
    {"6.1\n[caches]\nfile = x.caches\n", NULL,
     "[maple_node]\nobject_size=1000000000\n[vm_area_struct]\nobject_size=8\n", SIM_ERROR_RANGE,
     "x.caches [maple_node]: [cache maple_node] object_size", "out of range"},
    {"6.1\n", "cache dentry.order=1", NULL, SIM_ERROR_UNKNOWN_KEY, "--set", "there is no group [cache dentry]"},
    {"6.1\n[caches]\nfile = x.caches\n", "cache dentry.order=1", NULL, SIM_ERROR_UNKNOWN_KEY, "--set",
     "there is no group [cache dentry]"},
};

static void
test_refusals(Fixture *fixture, gconstpointer data)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autoptr(GError) error = NULL;

        g_test_message("row %" G_GSIZE_FORMAT, i);
        g_assert_true(g_file_set_contents(fixture->file, refusals[i].text ? refusals[i].text : caches, -1, NULL));
        g_assert_null(load(fixture, refusals[i].rest, refusals[i].set, &error));
        g_assert_error(error, SIM_ERROR, (gint) refusals[i].code);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, refusals[i].place));
        g_assert_nonnull(strstr(error->message, refusals[i].words));
        g_assert_null(strchr(error->message, '\n'));
    }
}

/* An empty group says that the release's own will do. */
static void
test_empty_group(Fixture *fixture, gconstpointer data)
{
    g_autoptr(SimPlan) plan = load_ok(fixture, "6.5\n[caches]\nfile = x.caches\n[cache vma_lock]\n", NULL);

    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "vma_lock").size_bytes, ==, 40);
    g_assert_cmpuint(geometry_of(sim_plan_config(plan, 0), "vm_area_struct").size_bytes, ==, 160);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/caches-file/names", Fixture, NULL, set_up, test_names, tear_down);
    g_test_add("/caches-file/hidden-flags", Fixture, NULL, set_up, test_hidden_flags, tear_down);
    g_test_add("/caches-file/facts", Fixture, NULL, set_up, test_facts, tear_down);
    g_test_add("/caches-file/own-name", Fixture, NULL, set_up, test_own_name, tear_down);
    g_test_add("/caches-file/shown-flags", Fixture, NULL, set_up, test_shown_flags, tear_down);
    g_test_add("/caches-file/bare-name", Fixture, NULL, set_up, test_bare_name, tear_down);
    g_test_add("/caches-file/precedence", Fixture, NULL, set_up, test_precedence, tear_down);
    g_test_add("/caches-file/resolved-text", Fixture, NULL, set_up, test_resolved_text, tear_down);
    g_test_add("/caches-file/refusals", Fixture, NULL, set_up, test_refusals, tear_down);
    g_test_add("/caches-file/empty-group", Fixture, NULL, set_up, test_empty_group, tear_down);
    return g_test_run();
}
