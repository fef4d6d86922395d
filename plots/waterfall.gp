# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c waterfall.gp DATA OUT TITLE NOTE YLABEL KINDS N_PLACES
# Changes one upon the other. DATA blocks: the axis (x, label); then one for each of KINDS, a list of 1 base, 2 up,
# 3 down, 4 unsure (x, from, to, low, high, text), headed by its name. Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; YLABEL = ARG5; KINDS = ARG6; N_PLACES = int(ARG7)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set ylabel YLABEL noenhanced
set xtics rotate by -35 noenhanced font ',11'
set lmargin at screen 0.1; set bmargin at screen 0.3; set rmargin at screen 0.92; set tmargin at screen 0.80
set xrange [-0.7:N_PLACES - 1.3]
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set style arrow 1 heads size screen 0.004, 90 linecolor rgb "black" linewidth 1.5 dashtype solid
array SHADE[4] = ["#999999", "#009e73", "#d55e00", "#ffffff"]
array HATCH[4] = [1, 3, 4, 0]
PLOT = "plot DATA index 0 using 1:(0):xtic(2) every ::1 with points pointtype 0 notitle"
do for [k = 1:words(KINDS)] {
    KIND = int(word(KINDS, k))
    PLOT = PLOT . sprintf(", DATA index %d using 1:2:(column(1) - 0.4):(column(1) + 0.4):2:3 with boxxyerror fillstyle pattern %d border rgb 'black' linecolor rgb '%s' dashtype solid title columnheader(1)", k, HATCH[KIND], SHADE[KIND])
    if (KIND > 1) { PLOT = PLOT . sprintf(", DATA index %d using 1:4:(0):(column(5) - column(4)) every ::1 with vectors arrowstyle 1 notitle, DATA index %d using 1:(column(5) > column(2) ? column(5) : column(2)):6 every ::1 with labels offset 0, 0.8 noenhanced notitle", k, k) }
}
WIDTH = N_PLACES * 50 > 900 ? N_PLACES * 50 : 900

do for [format in "svg png"] {
    eval format eq "svg" ? svg(WIDTH, 620) : png(WIDTH, 620)
    set output OUT . "." . format
    eval PLOT
    unset output
}
