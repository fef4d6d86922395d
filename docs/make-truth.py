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
# Per cent, on one cell, by workload and caches: on cells with so many counted calls; with fewer of them (from 40 on) the
# second number, where there is one.
CELL_GOALS = {
    'hackbench': (('skbuff_head_cache', 'kmalloc-cg-512'), {
        '__slab_free': (500, 0.3), '___slab_alloc': (500, 2), 'put_cpu_partial': (500, 8), 'get_partial_node': (100, 7, 11),
        '__unfreeze_partials': (100, 7, 11), 'allocate_slab': (100, 6), 'discard_slab': (100, 10)}),
    'mmap1': (('maple_node',), {
        '__slab_free': (500, 1.5), '___slab_alloc': (500, 15), 'put_cpu_partial': (500, 15), '__unfreeze_partials': (100, 15),
        'allocate_slab': (100, 3), 'discard_slab': (100, 3)}),
    'files': (('dentry', 'shmem_inode_cache', 'lsm_inode_cache'), {
        '__slab_free': (500, 7), '___slab_alloc': (500, 5), 'put_cpu_partial': (500, 5), 'allocate_slab': (100, 3),
        'discard_slab': (100, 3)}),
}
LEAST_SMALL = 40


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
        match = re.match(r'  (\S.*?)\s+(\d+)\s+(\d+)\s+[-0-9.]+\s+(\d+)$', line)
        if match:
            yield match[1], [int(match[i]) for i in (2, 3, 4)]


def slow_frees(lines):
    """As predicted, silent, wrong, only predicted, only seen, unknown, only predicted, only seen, without object."""
    for line in lines:
        if line.startswith('# slow frees:'):
            return [int(n) for n in re.findall(r'\d+', line)]


def limit_of(name, cache, function, counted):
    caches, goals = CELL_GOALS[name.split('-')[1]]
    least, *limits = goals.get(function, (0, 0)) if cache in caches else (0, 0)
    if not least:
        return None
    if counted >= least:
        return limits[0]
    return limits[1] if len(limits) > 1 and counted >= LEAST_SMALL else None


def print_cells(cells):
    print('\n## Cell by cell\n\n| trace | cache | ' + ' | '.join(FUNCTIONS) + ' |\n|---|---|' + '---|' * len(FUNCTIONS))
    n_all = n_failed = 0
    for name, cache in dict.fromkeys(key[:2] for key in cells):
        row = []
        for function in FUNCTIONS:
            error, limit = cells.get((name, cache, function), (0, None))
            n_all += limit is not None
            n_failed += limit is not None and abs(error) > limit
            row.append('' if limit is None else
                       f'{error:+.2f} ({limit})' + (' **FAIL**' if abs(error) > limit else ' pass'))
        print(f'| {name} | {cache} | ' + ' | '.join(row) + ' |')
    print(f'\n{n_all - n_failed} of {n_all} cells pass.')


def print_slow_frees(frees):
    print('\n## Guided: every __slab_free\n\n| trace | as predicted | silent probe | wrong | slab not known | '
          'object not shown |\n|---|---|---|---|---|---|')
    for name, n in frees:
        print(f'| {name} | {n[0]} | {n[1]} | {n[2]} | {n[5]} | {n[8]} |')
    total = [sum(n[i] for _, n in frees) for i in range(9)]
    print(f'| all | {total[0]} | {total[1]} | {total[2]} | {total[5]} | {total[8]} |')


def print_pools(pools, kernels):
    print('## Pooled over traces and caches\n\n| function | kernel | rows | counted | error | wanted |\n|---|---|---|---|---|---|')
    for function in FUNCTIONS:
        for kernel in kernels:
            pool = pools[kernel, function]
            counted = sum(c for _, c in pool)
            print(f'| {function} | {kernel} | {len(pool)} | {counted:.0f} | '
                  f'{100 * sum(e for e, _ in pool) / counted:.2f} % | {GOALS[function]} % |')


def print_rules(tallies, kernels):
    print('\n## Guided: steps that agree\n\n| rule | ' + ' | '.join(f'{k} ok / not ok | {k} left out' for k in kernels) +
          ' | wanted |\n|---|' + '---|---|' * len(kernels) + '---|')
    for rule in dict.fromkeys(r for _, r in tallies):
        cells = []
        for kernel in kernels:
            ok, not_ok, left_out = tallies[kernel, rule]
            cells.append(f'{ok} / {not_ok} ({100 * ok / max(ok + not_ok, 1):.2f} %) | '
                         f'{left_out} ({100 * left_out / max(ok + not_ok + left_out, 1):.0f} %)')
        print(f'| {rule} | ' + ' | '.join(cells) + f' | {96 if "its head" in rule else 98} % |')


def main():
    program, folder = sys.argv[1:]
    pools, tallies = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0, 0])
    rows, cells, frees = [], {}, []
    for trace in sorted(glob.glob(f'{folder}/kmem-trace-*.events.tsv.gz')):
        name = os.path.basename(trace)[len('kmem-trace-'):-len('.events.tsv.gz')]
        kernel = name.split('-')[0]
        for cache, function, mean, low, high, counted in counts(replay(program, trace, '--starts', '30')):
            limit = limit_of(name, cache, function, counted)
            if limit is not None:
                cells[name, cache, function] = 100 * (mean - counted) / counted, limit
            if counted >= LEAST_CALLS:
                pools[kernel, function].append((abs(mean - counted), counted))
                rows.append((name, cache, function, counted, mean, low, high))
        guided = replay(program, trace, '--mode', 'guided')
        frees.append((name, slow_frees(guided)))
        for rule, numbers in rules(guided):
            tallies[kernel, rule] = [a + b for a, b in zip(tallies[kernel, rule], numbers)]
    kernels = sorted({kernel for kernel, _ in pools}, key=lambda k: [int(n) for n in k.split('.')])
    print(open(os.path.join(os.path.dirname(__file__), 'truth-head.md')).read())
    print_pools(pools, kernels)
    print_cells(cells)
    print_rules(tallies, kernels)
    print_slow_frees(frees)
    print('\n## Every trace\n\n| trace | cache | function | counted | simulated | low | high | error |\n|---|---|---|---|---|---|---|---|')
    for name, cache, function, counted, mean, low, high in rows:
        print(f'| {name} | {cache} | {function} | {counted:.0f} | {mean:.1f} | {low} | {high} | '
              f'{100 * (mean - counted) / counted:+.2f} % |')


if __name__ == '__main__':
    main()
