# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c pareto.gp DATA OUT TITLE NOTE XLABEL YLABEL N_PANELS N_SETTINGS
# Gain against cost, a panel a place. DATA blocks: for each panel all marks and then those of the front (cost, its low
# and high, gain, its low and high, number), headed by the place; for each setting its name. Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; XLABEL = ARG5; YLABEL = ARG6; N_PANELS = int(ARG7); N = int(ARG8)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
N_KEYS = N
load HERE . "/panels.gp"
array PANEL[N_PANELS]
do for [p = 0:N_PANELS - 1] {
    stats DATA index 2 * p every ::0::0 using (PANEL[p + 1] = strcol(1), 0) nooutput
}

do for [format in "svg png"] {
    eval format eq "svg" ? svg(PIXELS_X, PIXELS_Y) : png(PIXELS_X, PIXELS_Y)
    set output OUT . "." . format
    set multiplot title TITLE . "\n" . NOTE noenhanced
    set xlabel XLABEL noenhanced
    set ylabel YLABEL noenhanced
    set offsets graph 0.08, graph 0.08, graph 0.1, graph 0.05
    set style arrow 1 heads size screen 0.003, 90 linecolor rgb "#606060" linewidth 1 dashtype solid
    set grid xtics ytics linecolor rgb "#a0a0a0" linewidth 0.5 dashtype solid
    do for [p = 0:N_PANELS - 1] {
        eval place(p)
        set title PANEL[p + 1] noenhanced
        set key off
        plot DATA index 2 * p + 1 using 1:4 every ::1 with steps linecolor rgb "#606060" linewidth 1.5 dashtype 2 notitle, \
            DATA index 2 * p using 2:4:(column(3) - column(2)):(0) every ::1 with vectors arrowstyle 1 notitle, \
            DATA index 2 * p using 1:5:(0):(column(6) - column(5)) every ::1 with vectors arrowstyle 1 notitle, \
            for [i = 1:N] DATA index 2 * p using (column(7) == i ? column(1) : NaN):4 every ::1 with points linetype i pointsize 1.2 notitle, \
            DATA index 2 * p using 1:4:(sprintf("%d", column(7))) every ::1 with labels offset 0.9, 0.7 noenhanced notitle
    }
    eval KEY
    plot for [i = 1:N] DATA index 2 * N_PANELS + i - 1 using (2):(2) with points linetype i pointsize 1.2 title columnheader(1)
    unset multiplot
    unset output
    reset
    load HERE . "/panels.gp"
}
