# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c percentiles.gp DATA OUT TITLE NOTE N_CURVES
# Time by percentile, with as much room between 99 and 99.9 % as between 90 and 99 %. DATA: as for latency.gp.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; N = int(ARG5)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set xlabel "percentile"
set ylabel "time of a call"
set logscale xy 10
set format y "%.0s%cs"
set xtics ("0 %%" 1, "50 %%" 2, "90 %%" 10, "99 %%" 100, "99.9 %%" 1e3, "99.99 %%" 1e4, "99.999 %%" 1e5, "99.9999 %%" 1e6)
set xrange [1:*]
set rmargin 6
set grid xtics ytics linecolor rgb "#a0a0a0" linewidth 0.5

do for [format in "svg png"] {
    eval format eq "svg" ? svg(900, 600) : png(900, 600)
    set output OUT . "." . format
    plot for [i = 0:N - 1] DATA index i using (1.0 / column(2)):1 with fsteps linetype i + 1 \
        title columnheader(1)
    unset output
}
