/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine's command line around the toy world: what the tests of this folder run. */
#include "sim-cli.h"
#include "toy-experiment.h"

#include <stdio.h>

static int
greet(int argc, char **argv)
{
    printf("own command %s with %d words\n", argv[0], argc - 1);
    return 0;
}

int
main(int argc, char **argv)
{
    static const SimCommand commands[] = {{"greet", "a command of the program's own", greet},
                                          {"list models", "a list of the program's own", greet},
                                          {NULL}};

    return sim_cli_main(&toy_experiment, commands, argc, argv);
}
