/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-hint.h"
#include "sim-schema.h"

#include <stdio.h>
#include <string.h>

int
sim_cli_check(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;

    if (!sim_cli_parse(cli, argv, NULL, "FILE|NAME...",
                       "Reads scenarios, with all they include, and checks every point without running it.", 1,
                       G_MAXUINT, &words, &error))
        return sim_cli_fail(cli, error);
    for (char **word = words; *word != NULL; word++) {
        g_autoptr(SimPlan) plan = NULL;
        g_autoptr(SimTable) published = NULL;
        g_autoptr(GError) problem = NULL;
        int problem_status = 0;

        if (sim_cli_load(cli, *word, NULL, &plan, &published, &problem))
            printf("%s: good, %u point%s\n", *word, sim_plan_n_points(plan), sim_plan_n_points(plan) == 1 ? "" : "s");
        else
            problem_status = sim_cli_fail(cli, problem);
        status = MAX(status, problem_status);
    }
    return status;
}

/* First point of the variant, or of all when `variant` is NULL; -1 with an error that names the nearest variant. */
static int
find_variant(const SimPlan *plan, const char *variant, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *hint = NULL;

    for (guint point = 0; point < sim_plan_n_points(plan); point++) {
        if (variant == NULL || g_str_equal(sim_plan_variant(plan, point), variant))
            return (int) point;
        g_ptr_array_add(names, (gpointer) sim_plan_variant(plan, point));
    }
    g_ptr_array_add(names, NULL);
    hint = sim_hint_phrase(variant, (const char *const *) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY, "scenario %s has no variant '%s'%s", sim_plan_name(plan),
                variant, hint);
    return -1;
}

int
sim_cli_show(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL, sets = NULL;
    g_autofree char *variant = NULL, *text = NULL;
    g_autoptr(SimPlan) plan = NULL;
    g_autoptr(SimTable) published = NULL;
    g_autoptr(GError) error = NULL;
    gboolean all = FALSE;
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sets, "Give a key another value; may be repeated", "GROUP.KEY=VALUE"},
        {"variant", 0, 0, G_OPTION_ARG_STRING, &variant, "Show this variant instead of the first", "NAME"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &all, "Also defaults of keys that this point does not look at", NULL},
        {NULL}};
    guint n_left_out = 0;
    int point;

    if (!sim_cli_parse(cli, argv, entries, "FILE|NAME",
                       "Prints every effective value and where it comes from, for the first point of a variant.", 1, 1,
                       &words, &error) ||
        !sim_cli_load(cli, words[0], (const char *const *) sets, &plan, &published, &error))
        return sim_cli_fail(cli, error);
    point = find_variant(plan, variant, &error);
    if (point < 0)
        return sim_cli_fail(cli, error);
    text = sim_config_to_short_text(sim_plan_config(plan, (guint) point), all ? NULL : cli->experiment->reads_key,
                                    &n_left_out);
    printf("# %s: point %d of %u, %s\n%s", sim_plan_name(plan), point + 1, sim_plan_n_points(plan),
           sim_plan_label(plan, (guint) point), text);
    if (n_left_out > 0)
        printf("\n# left out: %u default%s that this point does not look at (--all)\n", n_left_out,
               n_left_out == 1 ? "" : "s");
    return 0;
}

#define LIST_PREFIX "list "

static void
fail_list(const SimCli *cli, const char *word, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *hint = NULL, *all = NULL;

    for (const SimCommand *command = cli->commands; command->name != NULL; command++)
        if (g_str_has_prefix(command->name, LIST_PREFIX))
            g_ptr_array_add(names, (gpointer) (command->name + strlen(LIST_PREFIX)));
    g_ptr_array_add(names, NULL);
    hint = sim_hint_phrase(word, (const char *const *) names->pdata);
    all = g_strjoinv(", ", (char **) names->pdata);
    g_set_error(error, SIM_ERROR, SIM_ERROR_UNKNOWN_KEY,
                "nothing to list under '%s'%s (allowed: %s; or no word: scenarios)", word, hint,
                *all != '\0' ? all : "none");
}

/* The program's own row "list WORD", or NULL. */
static const SimCommand *
find_list(const SimCli *cli, const char *word)
{
    g_autofree char *name = g_strconcat(LIST_PREFIX, word, NULL);

    for (const SimCommand *command = cli->commands; command->name != NULL; command++)
        if (g_str_equal(command->name, name))
            return command;
    return NULL;
}

static int
list_scenarios(const SimCli *cli)
{
    const char *dir = sim_schema_scenarios_dir(cli->experiment->schema);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) scenarios = NULL;

    if (dir == NULL)
        g_set_error_literal(&error, SIM_ERROR, SIM_ERROR_IO, "no folder of scenarios is known");
    else
        scenarios = sim_plan_list_scenarios(dir, &error);
    if (scenarios == NULL)
        return sim_cli_fail(cli, error);
    for (guint i = 0; i < scenarios->len; i++) {
        const SimScenarioInfo *info = scenarios->pdata[i];
        if (info->problem != NULL) {
            printf("%s\n    cannot be read: %s\n", info->name, info->problem);
            continue;
        }
        printf("%s%s%s\n", info->name, *info->title != '\0' ? "  " : "", info->title);
        if (*info->question != '\0')
            printf("    %s\n", info->question);
    }
    return 0;
}

int
sim_cli_list(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    const SimCommand *own = argc > 1 ? find_list(cli, argv[1]) : NULL;

    if (own != NULL) {
        sim_cli_name_command(cli, own->name);
        return own->main(argc - 1, argv + 1);
    }
    if (!sim_cli_parse(cli, argv, NULL, "[WORD]",
                       "Lists the shipped scenarios, each with its title and the question it answers.", 0, 1, &words,
                       &error))
        return sim_cli_fail(cli, error);
    if (words[0] != NULL) {
        fail_list(cli, words[0], &error);
        return sim_cli_fail(cli, error);
    }
    return list_scenarios(cli);
}
