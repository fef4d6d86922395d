# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c KIND.gp DATA OUT TITLE NOTE YLABEL N_PARTS COLOURS N_BARS
# What lock-time.gp and memory-places.gp share: stacked bars. DATA is one block, a row a bar: label, then a column a
# part, headed by the part's name; COLOURS has the number of each part's colour. Draws OUT.svg and OUT.png. Expects the
# arguments in the variables below and HERE set.
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set ylabel YLABEL noenhanced
# Nothing but zeros still needs a range.
TOTAL = 0
do for [i = 1:N_PARTS] {
    stats DATA using (column(i + 1)) every ::1 nooutput
    TOTAL = TOTAL + STATS_max
}
if (TOTAL > 0) { set yrange [0:*] } else { set yrange [0:1] }
set offsets 0, 0, graph 0.05, 0
set style data histograms
set style histogram rowstacked
set boxwidth 0.75
set key outside right top vertical Left reverse invert noenhanced
# Many labels stand upright, where they need the least room along the axis.
UPRIGHT = N_BARS > 8
if (UPRIGHT) { set xtics rotate by 90 right noenhanced } else { set xtics rotate by -35 noenhanced }
PIXELS_X = N_BARS > 20 ? 400 + 30 * N_BARS : 1000
PIXELS_Y = UPRIGHT ? 760 : 560
set rmargin at screen 1 - 280.0 / PIXELS_X

do for [format in "svg png"] {
    eval format eq "svg" ? svg(PIXELS_X, PIXELS_Y) : png(PIXELS_X, PIXELS_Y)
    set output OUT . "." . format
    plot for [i = 1:N_PARTS] DATA using (column(i + 1)):xtic(1) \
        fillstyle pattern fill(int(word(COLOURS, i))) border rgb "black" \
        linecolor rgb colour(int(word(COLOURS, i))) linewidth 0.7 dashtype solid title columnheader(i + 1)
    unset output
}
