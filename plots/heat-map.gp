# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c heat-map.gp DATA OUT TITLE NOTE CBLABEL N_COLUMNS N_ROWS EDGE
# Differences from the base, a cell each; the number says the sign that grey print does not. DATA is one block (x, y,
# share, text, label of the column, label of the row). Draws OUT.svg and OUT.png.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; CBLABEL = ARG5; N_COLUMNS = int(ARG6); N_ROWS = int(ARG7); EDGE = real(ARG8)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set cblabel CBLABEL offset 1 noenhanced
set cbrange [-EDGE:EDGE]
set palette defined (-1 "#d55e00", -0.5 "#f0b48c", 0 "#ffffff", 0.5 "#8fc4e2", 1 "#3a94c8")
set xrange [-0.5:N_COLUMNS - 0.5]
set yrange [-N_ROWS - 0.5:-0.5]
set xtics rotate by -35 noenhanced
set ytics noenhanced
unset grid
set lmargin at screen 400.0 / (660 + 110 * N_COLUMNS); set bmargin at screen 230.0 / (340 + 34 * N_ROWS)
set rmargin at screen 1 - 250.0 / (660 + 110 * N_COLUMNS); set tmargin at screen 1 - 70.0 / (340 + 34 * N_ROWS)
set style fill solid border linecolor rgb "#404040"
WIDTH = 660 + 110 * N_COLUMNS
HEIGHT = 340 + 34 * N_ROWS

do for [format in "svg png"] {
    eval format eq "svg" ? svg(WIDTH, HEIGHT) : png(WIDTH, HEIGHT)
    set output OUT . "." . format
    plot DATA using 1:2:(column(1) - 0.5):(column(1) + 0.5):(column(2) - 0.5):(column(2) + 0.5):3:xtic(5):ytic(6) every ::1 \
        with boxxyerror linecolor palette notitle, \
        DATA using 1:2:4 every ::1 with labels noenhanced font ",11" notitle
    unset output
}
