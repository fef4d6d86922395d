# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c lines.gp DATA OUT TITLE NOTE XLABEL YLABEL N_PANELS N_LINES IS_LOG
# One metric along an axis, a panel for each place apart from it. DATA and OUT: see curves.gp.
DATA = ARG1; OUT = ARG2; TITLE = ARG3; NOTE = ARG4; XLABEL = ARG5; YLABEL = ARG6; N_PANELS = int(ARG7); N = int(ARG8); IS_LOG = int(ARG9); IDEAL_FROM = 0
HERE = "."
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { HERE = ARG0[1:i] } }
load HERE . "/curves.gp"
