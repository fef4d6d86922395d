/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "toy-scenario.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const SimKeySpec toy_keys[] = {
    {"machine", "profile", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "Machine file."},
    {"machine", "cpus", SIM_KEY_INT, "4", FALSE, 1, 4096, NULL, "Number of CPUs."},
    {"machine", "page", SIM_KEY_SIZE, "4 KiB", FALSE, 4096, 65536, NULL, "Page size."},
    {"costs", "lock", SIM_KEY_COST, "110 ns [100 ns .. 180 ns] toy table 1", FALSE, 0, 0, NULL, "Lock hand-off."},
    {"costs", "free", SIM_KEY_COST, "5 ns", FALSE, 0, 0, NULL, "Free."},
    {"cache *", "order", SIM_KEY_INT, NULL, FALSE, 0, 10, NULL, "Slab order."},
    {"cache *", "ctor", SIM_KEY_BOOL, "false", FALSE, 0, 0, NULL, "Has a constructor."},
    {"slub", "generation", SIM_KEY_CHOICE, "frozen", FALSE, 0, 0, "frozen|delayed|sheaves", "Generation."},
    {"slub", "ratio", SIM_KEY_REAL, "0.5", FALSE, 0, 1, NULL, "A ratio."},
    {"slub", "load", SIM_KEY_REAL, "1", FALSE, 0, INFINITY, NULL, "A load."},
    {"slub", "note", SIM_KEY_TEXT, NULL, TRUE, 0, 0, NULL, "A note."},
    {"slub", "names", SIM_KEY_TEXT_LIST, "a;b", FALSE, 0, 0, NULL, "Names."},
    {"slub", "grace", SIM_KEY_TIME, "10 us", FALSE, 1, INFINITY, NULL, "Grace period."},
    {"machine", "nodes", SIM_KEY_INT, "1", FALSE, 1, 64, NULL, "Nodes; out of order so that groups are gathered."},
    {NULL}};

static const SimKeySpec *const toy_tables[] = {toy_keys, NULL};

const SimSchema toy_schema = {toy_tables, "machine.profile", "machines", "machine", NULL};

static int
remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    return remove(path);
}

static void
run_in_folder(gconstpointer data)
{
    void (*const *test)(void) = data;
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("toy-scenario-XXXXXX", &error);
    g_autofree char *before = g_get_current_dir();
    g_assert_no_error(error);
    g_assert_cmpint(chdir(folder), ==, 0);
    g_unsetenv("SLUBSIM_SCENARIOS");
    (*test)();
    g_assert_cmpint(chdir(before), ==, 0);
    g_assert_cmpint(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
}

void
toy_add_test(const char *path, void (*test)(void))
{
    g_test_add_data_func_full(path, g_memdup2(&test, sizeof test), run_in_folder, g_free);
}

void
toy_write_bytes(const char *name, const char *bytes, gsize n_bytes)
{
    g_autofree char *folder = g_path_get_dirname(name);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    /* A new file each time: overwriting one may wait for the disk, and a test writes a thousand. */
    remove(name);
    FILE *file = fopen(name, "wb");
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(bytes, 1, n_bytes, file), ==, n_bytes);
    g_assert_cmpint(fclose(file), ==, 0);
}

void
toy_write(const char *name, const char *text)
{
    toy_write_bytes(name, text, strlen(text));
}

SimPlan *
toy_load(const char *text, const char *const *sets, GError **error)
{
    toy_write("toy.scenario", text);
    return sim_plan_load(&toy_schema, "toy.scenario", sets, NULL, error);
}

SimPlan *
toy_load_ok(const char *text, const char *const *sets)
{
    g_autoptr(GError) error = NULL;
    SimPlan *plan = toy_load(text, sets, &error);
    g_assert_no_error(error);
    return plan;
}

void
toy_expect_error(const char *text, const char *const *sets, const char *message)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(SimPlan) plan = toy_load(text, sets, &error);
    g_test_message("%s", message);
    g_assert_null(plan);
    g_assert_nonnull(error);
    g_assert_cmpstr(error->message, ==, message);
}
