# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c partial.gp DATA OUT TITLE NOTE N_PANELS N_PARTS Y_MAX YLABEL
# Partial-list lengths over simulated time. DATA has a block a panel (time in ms, slabs on each list), headed by the
# panel's name and the lists' names. Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; N_PANELS = int(ARG5); N_PARTS = int(ARG6); Y_MAX = real(ARG7); YLABEL = ARG8
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/over-time.gp"

do for [format in "svg png"] {
    eval format eq "svg" ? svg(PIXELS_X, PIXELS_Y) : png(PIXELS_X, PIXELS_Y)
    set output OUT . "." . format
    set multiplot title TITLE . "\n" . NOTE noenhanced
    do for [p = 0:N_PANELS - 1] {
        eval place(p)
        eval mark_warmup(p)
        set title PANEL[p + 1] noenhanced
        set key off
        # A machine with fewer nodes than another has lists without any point, of which gnuplot would complain.
        plot for [i = 1:N_PARTS] DATA index p every ::1 using 1:(column(i + 1) >= 0 ? column(i + 1) : -1) with lines linetype i dashtype i notitle
    }
    eval KEY
    plot for [i = 1:N_PARTS] DATA index 0 using (2):(2) with lines linetype i dashtype i title columnheader(i + 1)
    unset multiplot
    unset output
    reset
    load HERE . "/over-time.gp"
}
