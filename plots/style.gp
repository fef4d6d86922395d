# SPDX-License-Identifier: GPL-3.0-or-later
# Shared look of all charts. Scripts load this first; it needs nothing set before.
# Texts come from scenario files: nothing is enhanced, nothing is evaluated.
set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "nan"
set pointintervalbox 0

# Okabe and Ito's colours, told apart by all kinds of sight; the dash, point and fill of each also tell it apart in grey.
array COLOUR[8] = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#999999", "#000000"]
array FILL[8] = [3, 3, 4, 1, 2, 5, 7, 0]
do for [i = 1:8] {
    set linetype i linecolor rgb COLOUR[i] dashtype i linewidth 2 pointtype (i < 4 ? 2 * i + 3 : 2 * i - 4) pointsize 1
}
set linetype cycle 8
# What has a number keeps its colour and fill in every picture; 0 is what has none. A second round of colours has the
# fills shifted.
colour(i) = i < 1 ? "#d0d0d0" : COLOUR[1 + (i - 1) % 8]
fill(i) = i < 1 ? 3 : FILL[1 + (i - 1 + 3 * ((i - 1) / 8)) % 8]

set border 3 linecolor rgb "#404040"
set grid ytics linecolor rgb "#a0a0a0" linewidth 0.5 dashtype solid
set tics nomirror out
set key tmargin center horizontal Left reverse noenhanced

# Terminals by file name ending. Width and height in pixels.
svg(w, h) = sprintf("set terminal svg size %d,%d noenhanced font 'sans,14' background rgb 'white'", w, h)
png(w, h) = sprintf("set terminal pngcairo size %d,%d noenhanced font 'sans,11'", w, h)
