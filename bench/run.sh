#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds and runs every bench: name, value, reference measured in the same run, their ratio, the ratio wanted.
#   bench/run.sh [BUILD_DIR]    build by default
# Ends with status 3 when a goal is missed. Another program's load on the machine shows in every number.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
[ -f "$build/build.ninja" ] || meson setup "$build" >/dev/null
ninja -C "$build" --quiet
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for program in "$build"/bench/bench-*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        "$program" | tee -a "$log"
        echo
    fi
done
missed=$(grep -c ' MISSED$' "$log" || true)
echo "$(grep -c ' ok$' "$log" || true) goals met, $missed missed"
[ "$missed" = 0 ] || exit 3
