# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c accounting.gp DATA OUT TITLE NOTE YLABEL N_PARTS COLOURS N_BARS
# Time of an accounted allocation by step, one bar a point. DATA and OUT: see stacked.gp.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; YLABEL = ARG5; N_PARTS = int(ARG6); COLOURS = ARG7; N_BARS = int(ARG8)
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/stacked.gp"
