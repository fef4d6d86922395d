# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c throughput.gp DATA OUT TITLE XLABEL YLABEL bars|lines|log-lines N_SERIES HAS_PUBLISHED BAR_WIDTH
# One metric at every point with its confidence interval. DATA blocks: 0 axis (x, label); 1..N_SERIES
# (x, label, mean, low, high); then, with HAS_PUBLISHED 1, published figures (x, value). Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; XLABEL = ARG4; YLABEL = ARG5; STYLE = ARG6
N = int(ARG7); PUBLISHED = int(ARG8); WIDTH = real(ARG9)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"

set title TITLE noenhanced
set xlabel XLABEL noenhanced
set ylabel YLABEL noenhanced
set yrange [*<0:1e-9<*]
set offsets graph 0.02, graph 0.02, graph 0.05, 0
if (STYLE eq "log-lines") { set logscale x 2 }
if (STYLE eq "bars") { set offsets 0.15, 0.15, graph 0.05, 0 }
set boxwidth WIDTH * 0.92

do for [format in "svg png"] {
    eval format eq "svg" ? svg(900, 560) : png(900, 560)
    set output OUT . "." . format
    if (STYLE eq "bars") {
        plot DATA index 0 using 1:(0):xtic(2) with points pointtype 0 notitle, \
            for [i = 1:N] DATA index i using 1:3 with boxes fillstyle pattern fill(i) border rgb "black" \
                linecolor rgb colour(i) dashtype solid title columnheader(1), \
            for [i = 1:N] DATA index i using 1:3:4:5 with yerrorbars pointsize 0 linecolor rgb "black" dashtype solid notitle, \
            for [i = N + 1:N + PUBLISHED] DATA index i using 1:2 with points pointtype 6 pointsize 1.6 linewidth 2 \
                linecolor rgb "black" title columnheader(1)
    } else {
        plot DATA index 0 using 1:(0):xtic(2) with points pointtype 0 notitle, \
            for [i = 1:N] DATA index i using 1:3 with linespoints linetype i title columnheader(1), \
            for [i = 1:N] DATA index i using 1:3:4:5 with yerrorbars linetype i pointsize 0 dashtype solid notitle, \
            for [i = N + 1:N + PUBLISHED] DATA index i using 1:2 with points pointtype 6 pointsize 1.6 linewidth 2 \
                linecolor rgb "black" title columnheader(1)
    }
    unset output
}
