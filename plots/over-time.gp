# SPDX-License-Identifier: GPL-3.0-or-later
# What memory.gp and partial.gp share beside the panels. Expects DATA, N_PANELS, Y_MAX, YLABEL and HERE set.
load HERE . "/panels.gp"

# Names of the panels: the first word of each block, kept as text.
array PANEL[N_PANELS]
do for [p = 0:N_PANELS - 1] {
    stats DATA index p every ::0::0 using (PANEL[p + 1] = strcol(1), 0) nooutput
}
set yrange [0:Y_MAX]
set xlabel "simulated time (ms)"
set ylabel YLABEL noenhanced
