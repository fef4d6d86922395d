# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c latency.gp DATA OUT TITLE NOTE N_CURVES
# Share of calls that took longer than a time, both axes logarithmic. Steps: nothing lies between two bounds. DATA has a block a curve
# (time in s, share), headed by the curve's name. Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; N = int(ARG5)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set xlabel "time of a call"
set ylabel "share of calls that took longer"
set logscale xy 10
set format x "%.0s%cs"
set format y "%g"
set yrange [*:1]
set grid xtics ytics linecolor rgb "#a0a0a0" linewidth 0.5

do for [format in "svg png"] {
    eval format eq "svg" ? svg(900, 600) : png(900, 600)
    set output OUT . "." . format
    plot for [i = 0:N - 1] DATA index i using 1:2 with steps linetype i + 1 title columnheader(1)
    unset output
}
