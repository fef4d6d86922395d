# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c difference.gp DATA OUT TITLE NOTE XLABEL N_ROWS HAS_UNSEEN HAS_SEEN EDGE
# Differences from the base with their intervals, one row each, hollow where none is seen. DATA blocks: rows (y, label);
# if any, differences that are not seen, and such that are (y, share, low, high). Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; XLABEL = ARG5; N_ROWS = int(ARG6); UNSEEN = int(ARG7); SEEN = int(ARG8); EDGE = real(ARG9)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set xlabel XLABEL noenhanced
set ytics noenhanced
set yrange [-N_ROWS - 0.8:-0.2]
set xrange [-EDGE:EDGE]
set grid noytics xtics linecolor rgb "#a0a0a0" linewidth 0.5 dashtype solid
set arrow from 0, graph 0 to 0, graph 1 nohead linecolor rgb "black" linewidth 1.5
set style arrow 1 heads size screen 0.005, 90 linecolor rgb "black" linewidth 1.5 dashtype solid
PLOT = "plot DATA index 0 using (0):1:ytic(2) every ::1 with points pointtype 0 notitle"
MARKS = ", DATA index %d using 3:1:(column(4) - column(3)):(0) every ::1 with vectors arrowstyle 1 notitle, DATA index %d using 2:1 with points pointtype %d pointsize 1.2 linewidth 1.5 linecolor rgb '%s' title columnheader(1)"
if (UNSEEN) { PLOT = PLOT . sprintf(MARKS, 1, 1, 6, COLOUR[1]) }
if (SEEN) { PLOT = PLOT . sprintf(MARKS, UNSEEN + 1, UNSEEN + 1, 7, COLOUR[1]) }
HEIGHT = 215 + 22 * N_ROWS
set lmargin at screen 0.44; set rmargin at screen 0.96; set bmargin at screen 105.0 / HEIGHT; set tmargin at screen 1 - 95.0 / HEIGHT

do for [format in "svg png"] {
    eval format eq "svg" ? svg(1000, HEIGHT) : png(1000, HEIGHT)
    set output OUT . "." . format
    eval PLOT
    unset output
}
