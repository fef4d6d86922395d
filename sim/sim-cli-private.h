/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_CLI_PRIVATE_H
#define SIM_CLI_PRIVATE_H

#include "sim-cli.h"
#include "sim-plan.h"
#include "sim-table.h"

/* The engine's sub-commands: sim-cli-run.c (run, plot), sim-cli-show.c (check, show, list), sim-cli-sweep.c (plan,
 * sweep, merge, export), sim-cli-query.c (query, compare), sim-cli-report.c
 * (report). Only here is anything printed. */

typedef struct {
    const SimExperiment *experiment;
    const SimCommand *commands; /* the program's own */
} SimCli;

/* Each gets its arguments from its own name on and returns the exit status. */
int sim_cli_run(const SimCli *cli, int argc, char **argv);
int sim_cli_plot(const SimCli *cli, int argc, char **argv);
int sim_cli_check(const SimCli *cli, int argc, char **argv);
int sim_cli_show(const SimCli *cli, int argc, char **argv);
int sim_cli_list(const SimCli *cli, int argc, char **argv);
int sim_cli_plan(const SimCli *cli, int argc, char **argv);
int sim_cli_sweep(const SimCli *cli, int argc, char **argv);
int sim_cli_merge(const SimCli *cli, int argc, char **argv);
int sim_cli_report(const SimCli *cli, int argc, char **argv);
int sim_cli_export(const SimCli *cli, int argc, char **argv);
int sim_cli_query(const SimCli *cli, int argc, char **argv);
int sim_cli_compare(const SimCli *cli, int argc, char **argv);

/* Prints "PROGRAM: message" and returns the exit status of the error. */
int sim_cli_fail(const SimCli *cli, const GError *error);

/* From here on usage lines begin with "PROGRAM COMMAND". */
void sim_cli_name_command(const SimCli *cli, const char *command);

/* Parses the NULL-terminated line of a sub-command; *ret_words are the other arguments, owned by the caller. `usage`
 * stands after the sub-command's name in --help. SIM_ERROR_PARSE when the line is wrong or has fewer than min_words or
 * more than max_words words. */
gboolean sim_cli_parse(const SimCli *cli, char **argv, const GOptionEntry *entries, const char *usage,
                       const char *summary, guint min_words, guint max_words, char ***ret_words, GError **error);

/* GOption does not know "-j8": splits it. Caller frees. */
GStrv sim_cli_split_jobs(int argc, char **argv);
/* SIM_ERROR_RANGE for an impossible -j. */
gboolean sim_cli_check_jobs(const char *command, int n_workers, GError **error);
/* From here on signals ask for a clean end; what is returned becomes non-zero then. */
const gint *sim_cli_catch_signals(void);

/* Path of a scenario given as a path or as the name of a shipped one; caller frees. SIM_ERROR_UNKNOWN_KEY with a hint
 * for a name that is not there. */
char *sim_cli_find_scenario(const SimCli *cli, const char *word, GError **error);

/* Loads a scenario and checks all that can be checked without running it. *ret_published is NULL when the scenario
 * names no published figures. */
gboolean sim_cli_load(const SimCli *cli, const char *word, const char *const *sets, SimPlan **ret_plan,
                      SimTable **ret_published, GError **error);

/* The folder of gnuplot scripts: the environment variable SLUBSIM_PLOTS, else plots/ beside the shipped scenarios;
 * caller frees. */
char *sim_cli_scripts_folder(const SimCli *cli);

/* Where what is made of a study or folder goes: "a.study" and ".html" make "a.html" in the same place. Caller frees. */
char *sim_cli_beside(const char *path, const char *suffix);

#endif
