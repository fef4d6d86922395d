#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What settings do to the slow paths: real kernels (tests/data/ratios.tsv) beside scenarios/truth-*.scenario.

usage: tests/truth/compare-ratios.py PROGRAM > TABLES       from the project's root

A ratio is that of a setting's count to the mean of the default's runs. The simulated one is taken seed by seed; +- is
the half-width of its 95 % t interval. A real setting "moves" a count when it lies outside of the default's repetitions
and more than MOVES away from their mean; then the sign is judged: flat says that the simulated interval contains 1. A
move is beyond the real kernel's own spread when one more default run would differ so much less than once in twenty: a
95 % prediction interval of logarithms, whose variance is that of all repeated defaults of the workload and count. The
factor is judged where the real count exceeds LEAST_CALLS, with the setting or without.
"""
import collections
import csv
import math
import subprocess
import sys
import tempfile

LEAST_CALLS = 100
MOVES = 1.25
GRACE_PERIODS = ['30 ms', '45 ms', '60 ms', '90 ms', '120 ms']
COUNTS = ['get_partial_node', 'unfreeze_partials', 'allocate_slab']
CACHES = {'hackbench': 'skbuff_head_cache', 'mmap1': 'maple_node'}
T_95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365} # by number of values


def read(path):
    with open(path, encoding='utf-8') as file:
        return list(csv.DictReader(file, delimiter='\t'))


def simulate(program, kernel, cpus, workload, *more_sets):
    """{variant: {count: [of each replication]}}"""
    counts = collections.defaultdict(lambda: {count: collections.Counter() for count in COUNTS})
    sets = ['kernel.version=' + kernel, 'machine.profile=tcg' + cpus, *more_sets]
    if workload == 'mmap1':
        sets.append('workload.processes=' + cpus)
    with tempfile.TemporaryDirectory() as folder:
        out = folder + '/out'
        subprocess.run([program, 'run', 'scenarios/truth-%s.scenario' % workload, '--out', out, '--no-charts', '-q'] +
                       ['--set=' + text for text in sets], check=True, stdout=subprocess.DEVNULL)
        for row in read(out + '/counters.tsv'):
            count = {'cpu_partial_drain': 'unfreeze_partials', 'alloc_slab': 'allocate_slab'}.get(row['counter'])
            if count and row['cache'] == CACHES[workload]:
                counts[row['variant']][count][row['replication']] += int(row['value'])
        # A list found empty without the lock is no call: the early return of get_partial_node().
        for row in read(out + '/locks.tsv'):
            if row['lock'].startswith(CACHES[workload] + ' ') and row['site'] in ('get_partial_node', 'get_any_partial'):
                counts[row['variant']]['get_partial_node'][row['replication']] += int(row['acquisitions'])
    return {variant: {count: [n for _, n in sorted(by.items())] for count, by in table.items()}
            for variant, table in counts.items()}


def interval(values):
    mean = sum(values) / len(values)
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return mean, T_95[len(values)] * sd / math.sqrt(len(values))


def defaults_of(rows, count):
    return [int(row[count]) for row in rows if row['setting'].startswith('default')]


class Spread:
    """Of the real default's runs, pooled over the machines where it was repeated."""

    def __init__(self, cells, workload, count):
        squares = self.df = 0
        for (of, _, _), rows in cells.items():
            logs = [math.log(n) for n in defaults_of(rows, count)]
            if of == workload and len(logs) > 1:
                squares += sum((x - sum(logs) / len(logs)) ** 2 for x in logs)
                self.df += len(logs) - 1
        self.sd = math.sqrt(squares / self.df)

    def factor(self, n_defaults):
        """How far one more run lies from the mean of so many, at most, in 19 of 20 cases."""
        return math.exp(T_95[self.df + 1] * self.sd * math.sqrt(1 + 1 / n_defaults))


def judge(real, defaults, spread, ratio, half):
    mean = sum(defaults) / len(defaults)
    real_ratio = real / mean
    moved_by = max(real_ratio, 1 / max(real_ratio, 1e-9))
    sign = '-'
    if not min(defaults) <= real <= max(defaults) and moved_by > MOVES:
        sign = 'flat' if abs(ratio - 1) <= half else 'yes' if (ratio > 1) == (real_ratio > 1) else 'no'
        if moved_by <= spread.factor(len(defaults)):
            sign = '(%s)' % sign
        elif sign != 'yes':
            sign = '**%s**' % sign
    factor = None
    if max(real, mean) > LEAST_CALLS and ratio > 0 and real_ratio > 0:
        factor = max(ratio / real_ratio, real_ratio / ratio)
    return sign, factor


class Tally:
    def __init__(self):
        self.signs = collections.Counter()
        self.factors = []

    def add(self, sign, factor):
        self.signs[sign] += 1
        if factor:
            self.factors.append(factor)

    def text(self):
        factors = sorted(self.factors)
        within = sum(n for sign, n in self.signs.items() if sign.startswith('('))
        return ('sign right in %d of %d that move beyond the spread, in %d of %d that move within it; '
                'factor: %d of %d at most 2, median %.2f, largest %.1f') % (
                    self.signs['yes'], sum(self.signs.values()) - self.signs['-'] - within, self.signs['(yes)'], within,
                    sum(f <= 2 for f in factors), len(factors), factors[len(factors) // 2], factors[-1])


def print_cell(rows, simulated, spreads, tallies):
    workload = rows[0]['workload']
    for count in COUNTS:
        defaults = defaults_of(rows, count)
        mean = sum(defaults) / len(defaults)
        base = simulated['default'][count]
        print('| %s | default | %s | %.0f | | | | |' % (count, ', '.join(map(str, defaults)), interval(base)[0]))
        for row in rows:
            if row['setting'].startswith('default'):
                continue
            values = simulated[row['setting'].replace('=', ':')][count]
            ratio, half = interval([v / b for v, b in zip(values, base)])
            sign, factor = judge(int(row[count]), defaults, spreads[workload, count], ratio, half)
            for name in ('all', workload, count):
                tallies[name].add(sign, factor)
            print('| %s | %s | %s | %.0f | %.2f | %.2f +- %.2f | %s | %s |' % (
                count, row['setting'], row[count], interval(values)[0], int(row[count]) / mean, ratio, half, sign,
                '%.2f' % factor if factor else '-'))


def print_grace_periods(program, cells):
    """mmap1 on 8 CPUs: what the length of a grace period does, beside every real run."""
    print('\n## mmap1 on 8 CPUs by grace period\n')
    print('get_partial_node / unfreeze_partials / allocate_slab, simulated at a grace period, and real.\n')
    print('| kernel | setting | %s | real |' % ' | '.join(GRACE_PERIODS))
    print('|---|---|%s--:|' % ('--:|' * len(GRACE_PERIODS)))
    for kernel in ['6.1', '6.12']:
        runs = [simulate(program, kernel, '8', 'mmap1', 'machine.grace_period=' + text) for text in GRACE_PERIODS]
        for row in cells['mmap1', kernel, '8']:
            variant = row['setting'].replace('=', ':').split('_rep')[0]
            texts = [' / '.join('%.0f' % interval(run[variant][count])[0] for count in COUNTS) for run in runs]
            print('| %s | %s | %s | %s |' % (kernel, row['setting'], ' | '.join(texts),
                                             ' / '.join(row[count] for count in COUNTS)))


def main():
    cells = collections.OrderedDict()
    for row in read('tests/data/ratios.tsv'):
        cells.setdefault((row['workload'], row['kernel'], row['cpus']), []).append(row)
    spreads = {(workload, count): Spread(cells, workload, count) for workload in CACHES for count in COUNTS}
    tallies = collections.OrderedDict((name, Tally()) for name in ['all'] + sorted(CACHES) + COUNTS)
    for (workload, kernel, cpus), rows in sorted(cells.items(), key=lambda c: (c[0][0], c[0][1], int(c[0][2]))):
        print('\n### %s, %s, %s CPUs\n' % (workload, kernel, cpus))
        print('| count | setting | real | simulated | real ratio | simulated ratio | sign | factor |')
        print('|---|---|--:|--:|--:|--:|---|--:|')
        print_cell(rows, simulate(sys.argv[1], kernel, cpus, workload), spreads, tallies)
    print_grace_periods(sys.argv[1], cells)
    print('\n## Spread of the real default\n')
    print('| workload | count | one run in 20 differs from a single default run by more than | from four\'s mean |')
    print('|---|---|--:|--:|')
    for (workload, count), spread in spreads.items():
        print('| %s | %s | %.2f | %.2f |' % (workload, count, spread.factor(1), spread.factor(4)))
    print('\n## Sums\n')
    for name, tally in tallies.items():
        print('* %s: %s' % (name, tally.text()))


if __name__ == '__main__':
    main()
