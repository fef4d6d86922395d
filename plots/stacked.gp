# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c KIND.gp DATA OUT TITLE NOTE YLABEL N_PARTS
# What lock-time.gp and memory-places.gp share: stacked bars. DATA is one block, a row a bar: label, then a column a
# part, headed by the part's name. Draws OUT.svg and OUT.png. Expects the arguments in the variables below and HERE set.
load HERE . "/style.gp"
set title TITLE . "\n" . NOTE noenhanced
set ylabel YLABEL noenhanced
set yrange [0:1e-9<*]
set offsets 0, 0, graph 0.05, 0
set style data histograms
set style histogram rowstacked
set boxwidth 0.75
set key outside right top vertical Left reverse invert noenhanced
set xtics rotate by -35 noenhanced font ",11"
set lmargin at screen 0.1; set rmargin at screen 0.72; set tmargin at screen 0.88; set bmargin at screen 0.4

do for [format in "svg png"] {
    eval format eq "svg" ? svg(1000, 560) : png(1000, 560)
    set output OUT . "." . format
    plot for [i = 1:N_PARTS] DATA using (column(i + 1)):xtic(1) fillstyle pattern fill(i) border rgb "black" \
        linecolor rgb colour(i) dashtype solid title columnheader(i + 1)
    unset output
}
