/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-cmd.h"
#include "import-cmd.h"
#include "sim-cli.h"
#include "sim-gsl.h"
#include "slab-cmd.h"
#include "trace-cmd.h"
#include "world.h"

int
main(int argc, char **argv)
{
    static const char *const starts[] = {"cold", "mixed", NULL};
    static const SimCommand commands[] = {
        {"geometry", "sizes, orders and limits of caches by the kernel's rules", slab_cmd_geometry},
        {"explain", "each decision behind one cache's geometry", slab_cmd_explain},
        {"replay", "a recorded kmem trace through the allocator", replay_cmd},
        {"trace", "a simulated run as a kmem trace, which replay reads back", trace_cmd},
        {"import", "a cache set from what a real machine printed", import_cmd_import},
        {"inspect", "where the slab memory of a real machine is, and what could free it", import_cmd_inspect},
        {NULL},
    };
    const SimExperiment experiment = {
        .program = "slubsim",
        .version = SLUBSIM_VERSION,
        .schema = world_schema(),
        .starts = starts,
        .trust_metric = "is_converged",
        .check = world_check,
        .reads_key = world_reads_key,
        .run = world_run,
    };

    sim_gsl_init();
    return sim_cli_main(&experiment, commands, argc, argv);
}
