#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the partial-limits study and writes docs/partial-limits.html and .txt: about an hour of one core. Interrupted, it
# goes on where it was.
#   docs/make-partial-limits.sh [BUILD_DIR] [JOBS]    build and 1 by default
set -eu
cd "$(dirname "$0")/.."
slubsim=${1:-build}/models/slubsim
jobs=${2:-1}
out=results/partial-limits
mkdir -p "$out"
for load in mmap1 hackbench; do
    "$slubsim" sweep "partial-limits-$load" --study "$out/$load.study" -j "$jobs"
done
# The same load on the machine whose costs were fitted, with the published figures beside the simulated ones.
[ -d "$out/mmap1-spr224" ] || "$slubsim" run mmap1-spr224 --out "$out/mmap1-spr224" --no-charts -j "$jobs"
"$slubsim" report "$out/mmap1.study" "$out/hackbench.study" "$out/mmap1-spr224" -o docs/partial-limits.html
"$slubsim" report "$out/mmap1.study" "$out/hackbench.study" "$out/mmap1-spr224" --mail >docs/partial-limits.txt
