# SPDX-License-Identifier: GPL-3.0-or-later
# What lines.gp and scaling.gp share. DATA blocks: the axis (x, label); for each panel N lines (x, mean, low, high), each
# headed by its name; for each panel its name. Draws OUT.svg and OUT.png. Expects the arguments in variables and HERE.
N_KEYS = N + IDEAL_FROM
load HERE . "/panels.gp"
set offsets 0, 0, graph 0.05, 0
array PANEL[N_PANELS]
do for [p = 0:N_PANELS - 1] {
    stats DATA index 1 + N_PANELS * N + p every ::0::0 using (PANEL[p + 1] = strcol(1), 0) nooutput
}
stats DATA index 0 every ::1 using 1 nooutput
X_FIRST = STATS_min; X_LAST = STATS_max
IDEAL = IDEAL_FROM ? ", x / X_FIRST with lines linecolor rgb '#808080' dashtype 3 notitle" : ""

do for [format in "svg png"] {
    eval format eq "svg" ? svg(PIXELS_X, PIXELS_Y) : png(PIXELS_X, PIXELS_Y)
    set output OUT . "." . format
    set multiplot title TITLE . "\n" . NOTE noenhanced
    set xlabel XLABEL noenhanced
    set ylabel YLABEL noenhanced
    set style arrow 1 heads size screen 0.004, 90 linecolor rgb "black" linewidth 1.2 dashtype solid
    # The logarithm of the last place may come out beyond that of the range, and its tic with it.
    if (IS_LOG) { set logscale x 2; set xrange [X_FIRST / 1.001:X_LAST * 1.001] }
    if (IDEAL_FROM) { set logscale y 2 } else { set yrange [0:*] }
    do for [p = 0:N_PANELS - 1] {
        eval place(p)
        set title PANEL[p + 1] noenhanced
        set key off
        eval "plot DATA index 0 using 1:(0):xtic(2) every ::1 with points pointtype 0 notitle, for [i = 0:N - 1] DATA index 1 + p * N + i using 1:2 every ::1 with linespoints linetype i + 1 notitle, for [i = 0:N - 1] DATA index 1 + p * N + i using 1:3:(0):(column(4) - column(3)) every ::1 with vectors arrowstyle 1 notitle" . IDEAL
    }
    unset logscale
    eval KEY
    set xrange [0:1]; set yrange [0:1]
    plot for [i = 0:N - 1] DATA index 1 + i using (2):(2) with linespoints linetype i + 1 title columnheader(1), \
        2 with lines linecolor rgb "#808080" dashtype 3 title (IDEAL_FROM ? "in proportion" : "")
    unset multiplot
    unset output
    reset
    load HERE . "/panels.gp"
    set offsets 0, 0, graph 0.05, 0
}
