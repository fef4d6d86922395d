# SPDX-License-Identifier: GPL-3.0-or-later
# What memory.gp and partial.gp share beside the panels. Expects DATA, N_PANELS, Y_MAX, YLABEL and HERE set. The last
# block of DATA has a row a panel: its name, and where its warm-up ends.
load HERE . "/panels.gp"

# Names of the panels, kept as text, and a thin line at the end of the warm-up; none where it is 0 or not known.
array PANEL[N_PANELS]
array WARMUP[N_PANELS]
do for [p = 1:N_PANELS] {
    stats DATA index N_PANELS every ::p::p using (PANEL[p] = strcol(1), WARMUP[p] = strcol(2), 0) nooutput
}
mark_warmup(p) = WARMUP[p + 1] eq "" || WARMUP[p + 1] eq "nan" || WARMUP[p + 1] eq "0" ? "unset arrow" : sprintf( \
    "set arrow 1 from first %s, graph 0 to first %s, graph 1 nohead front linecolor rgb '#404040' linewidth 1 dashtype solid", \
    WARMUP[p + 1], WARMUP[p + 1])
set yrange [0:Y_MAX]
set xlabel "simulated time (ms)"
set ylabel YLABEL noenhanced
