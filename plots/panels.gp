# SPDX-License-Identifier: GPL-3.0-or-later
# What charts of several panels share: a grid of panels with one key below. Expects N_PANELS and HERE set, and
# N_KEYS if the key may hold many long entries.
# Gives PIXELS_X and PIXELS_Y, place(p), which sets the margins of panel p, and KEY, which makes room for the key alone.
load HERE . "/style.gp"
COLUMNS = N_PANELS < 3 ? N_PANELS : (N_PANELS == 4 ? 2 : 3)
ROWS = (N_PANELS + COLUMNS - 1) / COLUMNS
PIXELS_X = COLUMNS == 1 ? 900 : 420 * COLUMNS + 80
KEY_COLUMNS = exists("N_KEYS") ? 1 : 4
KEY_PIXELS = exists("N_KEYS") ? 25 * ((N_KEYS + KEY_COLUMNS - 1) / KEY_COLUMNS) + 30 : 75
PIXELS_Y = 345 * ROWS + 120 + KEY_PIXELS
LEFT = 90.0 / PIXELS_X; GAP_X = 105.0 / PIXELS_X
TOP = 95.0 / PIXELS_Y; GAP_Y = 130.0 / PIXELS_Y; BOTTOM = (75.0 + KEY_PIXELS) / PIXELS_Y
W = (0.97 - LEFT - (COLUMNS - 1) * GAP_X) / COLUMNS
H = (1.0 - TOP - BOTTOM - (ROWS - 1) * GAP_Y) / ROWS
left_of(p) = LEFT + (p % COLUMNS) * (W + GAP_X)
top_of(p) = 1.0 - TOP - (p / COLUMNS) * (H + GAP_Y)
margins(l, r, t, b) = sprintf("set lmargin at screen %g; set rmargin at screen %g; set tmargin at screen %g; set bmargin at screen %g", l, r, t, b)
place(p) = margins(left_of(p), left_of(p) + W, top_of(p), top_of(p) - H)
KEY = margins(0.05, 0.95, KEY_PIXELS * 1.0 / PIXELS_Y, 0.0) . "; unset arrow; unset border; unset tics; unset xlabel; unset ylabel; unset title; unset grid;" \
    . "set xrange [0:1]; set yrange [0:1]; set key center center inside horizontal maxcols " . KEY_COLUMNS . " Left reverse noenhanced"
