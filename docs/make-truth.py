#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables of truth.md from replays of every recorded trace.

usage: docs/make-truth.py build/models/slubsim FOLDER > docs/truth.md

FOLDER holds kmem-trace-NAME.events.tsv.gz with the .counts.tsv, .geom-before.tsv and .env of the same recording. Text
without numbers is in truth-head.md.
"""
import collections
import glob
import os
import re
import subprocess
import sys

LEAST_CALLS = 100
FUNCTIONS = ['___slab_alloc', '__slab_free', 'get_partial_node', 'put_cpu_partial', '__unfreeze_partials',
             'allocate_slab', 'discard_slab']
GOALS = {'__slab_free': 0.5, '___slab_alloc': 2.5, 'allocate_slab': 2, 'discard_slab': 2, 'put_cpu_partial': 2.5,
         'get_partial_node': 4, '__unfreeze_partials': 4}


def replay(program, trace, *options):
    return subprocess.run([program, 'replay', *options, trace], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout.splitlines()


def counts(lines):
    for line in lines:
        words = line.split()
        if len(words) == 7 and words[1] in FUNCTIONS and words[6][0] in '+-':
            yield words[0], words[1], float(words[2]), int(words[3]), int(words[4]), float(words[5])


def rules(lines):
    for line in lines:
        match = re.match(r'  (\S.*?)\s+(\d+)\s+(\d+)\s+[-0-9.]+$', line)
        if match:
            yield match[1], int(match[2]), int(match[3])


def main():
    program, folder = sys.argv[1:]
    traces = sorted(glob.glob(f'{folder}/kmem-trace-*.events.tsv.gz'))
    pools, tallies, rows = collections.defaultdict(list), collections.Counter(), []
    for trace in traces:
        name = os.path.basename(trace)[len('kmem-trace-'):-len('.events.tsv.gz')]
        kernel = name.split('-')[0]
        for cache, function, mean, low, high, counted in counts(replay(program, trace, '--starts', '30')):
            if counted >= LEAST_CALLS:
                pools[kernel, function].append((abs(mean - counted), counted))
                rows.append((name, cache, function, counted, mean, low, high))
        for rule, ok, not_ok in rules(replay(program, trace, '--mode', 'guided')):
            tallies[kernel, rule, 0] += ok
            tallies[kernel, rule, 1] += not_ok
    kernels = sorted({kernel for kernel, _ in pools}, key=lambda k: [int(n) for n in k.split('.')])
    print(open(os.path.join(os.path.dirname(__file__), 'truth-head.md')).read())
    print('## Pooled over traces and caches\n\n| function | kernel | rows | counted | error | wanted |\n|---|---|---|---|---|---|')
    for function in FUNCTIONS:
        for kernel in kernels:
            pool = pools[kernel, function]
            counted = sum(c for _, c in pool)
            print(f'| {function} | {kernel} | {len(pool)} | {counted:.0f} | '
                  f'{100 * sum(e for e, _ in pool) / counted:.2f} % | {GOALS[function]} % |')
    print('\n## Guided: steps that agree\n\n| rule | ' + ' | '.join(f'{k} ok / not ok' for k in kernels) + ' |\n|---|' +
          '---|' * len(kernels))
    for rule in dict.fromkeys(r for _, r, _ in tallies):
        cells = []
        for kernel in kernels:
            ok, not_ok = tallies[kernel, rule, 0], tallies[kernel, rule, 1]
            cells.append(f'{ok} / {not_ok} ({100 * ok / max(ok + not_ok, 1):.2f} %)')
        print(f'| {rule} | ' + ' | '.join(cells) + ' |')
    print('\n## Every trace\n\n| trace | cache | function | counted | simulated | low | high | error |\n|---|---|---|---|---|---|---|---|')
    for name, cache, function, counted, mean, low, high in rows:
        print(f'| {name} | {cache} | {function} | {counted:.0f} | {mean:.1f} | {low} | {high} | '
              f'{100 * (mean - counted) / counted:+.2f} % |')


if __name__ == '__main__':
    main()
