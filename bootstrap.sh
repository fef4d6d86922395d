#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a bare Debian 12 to a built, tested or demonstrated slubsim.
#   ./bootstrap.sh          install what is missing, build
#   ./bootstrap.sh demo     run the mmap1 and hackbench studies, charts in results/
#   ./bootstrap.sh test     run every test
#   ./bootstrap.sh bench    print the bench table
#   ./bootstrap.sh published [--reuse]   run every scenario with published figures, write docs/published.md
set -eu
cd "$(dirname "$0")"

packages="gcc libc6-dev meson ninja-build pkgconf libglib2.0-dev libgsl-dev libsqlite3-dev zlib1g-dev libzstd-dev gnuplot-nox fonts-dejavu-core python3"

# A cluster of one node and a browser for the tests that need them; without them these tests are skipped.
test_packages="slurm-wlm munge chromium"

install_packages() {
    missing=""
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "Installing:$missing"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

build() {
    # Warnings are errors where CI builds; elsewhere a newer compiler must not stop anybody.
    [ -f build/build.ninja ] || meson setup build ${CI:+--werror} >/dev/null
    ninja -C build --quiet
}

run_tests() {
    log=build/meson-logs/testlog.txt
    status=0
    meson test -C build --print-errorlogs || status=$?
    # One line for people and CI: sub-tests of the TAP output.
    passed=$(grep -cE '^ok [0-9]+' "$log" || true)
    failed=$(grep -cE '^not ok [0-9]+' "$log" || true)
    [ "$status" = 0 ] || [ "$failed" -gt 0 ] || failed=1
    echo "$passed passed, $failed failed"
    return "$status"
}

run_demo() {
    for scenario in mmap1-spr224 hackbench-spr224; do
        build/models/slubsim run "$scenario"
    done
    echo
    echo "Charts: results/mmap1-spr224/charts/ and results/hackbench-spr224/charts/"
}

# shellcheck disable=SC2086 # lists of words
install_packages $packages
# shellcheck disable=SC2086
[ "${1:-build}" != test ] || install_packages $test_packages || echo "Some tests will be skipped: $test_packages"
build
case "${1:-build}" in
    build) echo "Built build/models/slubsim" ;;
    demo) run_demo ;;
    test) run_tests ;;
    bench) bench/run.sh build ;;
    published) shift; docs/make-published.py build/models/slubsim "$@" ;;
    *) echo "usage: $0 [demo|test|bench|published]" >&2; exit 2 ;;
esac
