# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c throughput.gp DATA OUT TITLE NOTE XLABEL YLABEL bars|lines|log-lines "N_SERIES HAS_INTERVALS HAS_PUBLISHED"
# One metric at every point with its confidence interval. DATA blocks: the axis (x, label); N_SERIES series (x, label,
# mean), each headed by its name; if any, the intervals (x, mean, low, high); if any, published figures (x, value).
# Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; XLABEL = ARG5; YLABEL = ARG6; STYLE = ARG7
N = int(word(ARG8, 1)); INTERVALS = int(word(ARG8, 2)); PUBLISHED = int(word(ARG8, 3))
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"

set title TITLE . "\n" . NOTE noenhanced
set xlabel XLABEL noenhanced
set ylabel YLABEL noenhanced
set yrange [*<0:1e-9<*]
set boxwidth 0.73 / N
if (STYLE eq "log-lines") { set logscale x 2 }
if (STYLE eq "bars") { set offsets 0.15, 0.15, graph 0.05, 0 }

# Intervals as arrows with flat heads: yerrorbars leave a white hole in the middle.
set style arrow 1 heads size screen 0.005, 90 linecolor rgb "black" linewidth 1.5
# An iteration over no blocks still draws one, so the optional blocks are put together as text.
AXIS = "DATA index 0 using 1:(0):xtic(2) with points pointtype 0 notitle"
BARS = "for [i = 1:N] DATA index i using 1:3 with boxes fillstyle pattern fill(i) border rgb 'black' linecolor rgb colour(i) dashtype solid title columnheader(1)"
LINES = "for [i = 1:N] DATA index i using 1:3 with linespoints linetype i title columnheader(1)"
ERRORS = "DATA index N + 1 using 1:3:(0):(column(4) - column(3)) with vectors arrowstyle 1 notitle"
FIGURES = "DATA index N + INTERVALS + 1 using 1:2 with points pointtype 7 pointsize 1.6 linecolor rgb 'white' notitle, '' index N + INTERVALS + 1 using 1:2 with points pointtype 6 pointsize 1.6 linewidth 2 linecolor rgb 'black' title columnheader(1)"
PLOT = "plot " . AXIS . ", " . (STYLE eq "bars" ? BARS : LINES) . (INTERVALS ? ", " . ERRORS : "") . (PUBLISHED ? ", " . FIGURES : "")

do for [format in "svg png"] {
    eval format eq "svg" ? svg(900, 560) : png(900, 560)
    set output OUT . "." . format
    eval PLOT
    unset output
}
