# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c scaling.gp DATA OUT TITLE NOTE XLABEL YLABEL N_PANELS N_LINES IS_LOG
# A metric in units of the base's at the smallest place, which is the first of the axis, and what would be in proportion.
# DATA and OUT: see curves.gp.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; XLABEL = ARG5; YLABEL = ARG6; N_PANELS = int(ARG7); N = int(ARG8); IS_LOG = int(ARG9); IDEAL_FROM = 1
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/curves.gp"
