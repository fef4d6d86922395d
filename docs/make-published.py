#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every scenario that answers published figures and writes docs/published.md.

usage: docs/make-published.py build/models/slubsim [--reuse] [--results FOLDER]

--reuse takes a result folder that exists and compares with the same figures instead of running its scenario again; what
the program or the scenario have become since then does not show. Text without numbers is in published-head.md; how
large noise is in published-noise.tsv; what nobody answers, and why, in unclaimed.tsv.
"""
import argparse
import csv
import glob
import math
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PUBLISHED = os.path.join(ROOT, 'tests', 'data', 'published.tsv')
# An interval wider than this share of a figure does not excuse it; a figure without a ratio may be this far off.
WIDE_FRAC = 0.1
WITHIN, SAME_SIGN, MISS, OFF, UNDECIDED = 'within noise', 'same sign', 'miss', 'off', 'undecided'
VERDICTS = [WITHIN, SAME_SIGN, MISS, OFF, UNDECIDED]
WORST_FIRST = [MISS, OFF, UNDECIDED, SAME_SIGN, WITHIN]


def read_tsv(path):
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


def family_of(row_id):
    return row_id.partition('-')[0]


def number_of(row_id):
    return int(row_id.partition('-')[2])


def ids_in(text, rows):
    """Ids that "FAMILY", "FAMILY-01" and "FAMILY-01 to FAMILY-09" in a text mean."""
    found = set()
    for first, last in re.findall(r'\b([A-Z0-9]+(?:-\d+)?)(?: to ([A-Z0-9]+-\d+))?', text):
        family = family_of(first)
        for row_id in rows:
            if family_of(row_id) != family:
                continue
            low = number_of(first) if '-' in first else 0
            high = number_of(last) if last else low or math.inf
            if low <= number_of(row_id) <= high:
                found.add(row_id)
    return found


def read_noise(rows, path=os.path.join(ROOT, 'docs', 'published-noise.tsv')):
    """Noise of each id as a fraction; a later line of the table goes before an earlier one."""
    noise = {}
    for line in read_tsv(path):
        for row_id in ids_in(line['ids'], rows):
            noise[row_id] = float(line['noise_percent']) / 100
    return noise


def span(text):
    """Low and high of "62", "about 2", "0.7-0.8" or "0.3 to 2.5"; None of what is no number."""
    match = re.fullmatch(r'(?:about )?(-?[0-9.]+(?:e[-+]?\d+)?)(?:(?: to |-)([0-9.]+))?', text.strip())
    return (float(match[1]), float(match[2] or match[1])) if match else None


def verdict_of(published, simulated, half_width, noise, is_ratio):
    """The rules of published-head.md. `published` is (low, high); half_width NaN counts as none."""
    low, high = published
    half_width = 0 if math.isnan(half_width) else half_width
    excused = min(half_width, WIDE_FRAC * abs(simulated))
    tolerance = noise if is_ratio else max(noise, WIDE_FRAC)
    if low - tolerance * abs(low) - excused <= simulated <= high + tolerance * abs(high) + excused:
        return WITHIN
    if not is_ratio:
        return UNDECIDED if half_width > excused and low - half_width <= simulated <= high + half_width else OFF
    nearest = low if low > 1 else high if high < 1 else 1
    differs = abs(nearest - 1) > noise
    if not differs and abs(simulated - 1) <= max(noise, excused):
        return WITHIN
    if differs and abs(simulated - 1) > max(noise, half_width):
        return SAME_SIGN if (simulated > 1) == (nearest > 1) else MISS
    return UNDECIDED if half_width > excused else MISS


def is_null(figure, noise):
    """No difference was published that the noise would not hide."""
    return bool(figure['ratio']) and abs(figure['published'] - 1) <= noise


def read_claims(folder=os.path.join(ROOT, 'scenarios')):
    """Rows of the published files of all scenarios, with the scenario's name."""
    claims = []
    for path in sorted(glob.glob(os.path.join(folder, '*.scenario'))):
        with open(path, encoding='utf-8') as file:
            named = re.search(r'^published\s*=\s*(\S+)', file.read(), re.M)
        for claim in read_tsv(os.path.join(folder, named[1])) if named else []:
            claims.append(dict(claim, scenario=os.path.basename(path)[:-len('.scenario')]))
    return claims


def fitted_ids(claims, rows):
    """Ids that a calibration used: in the headings of calibration.md that say so, or by a claim's own note."""
    with open(os.path.join(ROOT, 'docs', 'calibration.md'), encoding='utf-8') as file:
        headings = [line for line in file if line.startswith('#') and 'fitted' in line.lower() and ' not ' not in line]
    ids = ids_in(' '.join(headings), rows)
    return ids | {c['id'].replace('-base', '') for c in claims if re.search(r'\bfitted\b', c['note'])}


def input_reasons(claims, unclaimed):
    reasons = {u['id']: u['reason'] for u in unclaimed if u['reason'].startswith('input')}
    reasons.update({c['id']: c['note'] for c in claims if re.match(r'input\b', c['note']) and '-base' not in c['id']})
    return reasons


# ---- running

def is_current(folder, claims):
    path = os.path.join(folder, 'comparison.tsv')
    if not os.path.exists(path):
        return False
    there = {(c['id'], c['metric'], float(c['published'])) for c in read_tsv(path)}
    return there == {(c['id'], c['metric'], float(c['value'])) for c in claims}


def run_scenarios(program, results, claims, reuse):
    names = sorted({c['scenario'] for c in claims})
    begin = time.monotonic()
    for i, name in enumerate(names):
        folder = os.path.join(results, name)
        kept = reuse and is_current(folder, [c for c in claims if c['scenario'] == name])
        started = time.monotonic()
        if not kept:
            subprocess.run([program, 'run', '--quiet', '--no-charts', '--out', folder, name], check=True,
                           stdout=subprocess.DEVNULL)
        print(f'{i + 1} of {len(names)}: {name}, ' + ('kept' if kept else f'{time.monotonic() - started:.1f} s'),
              file=sys.stderr, flush=True)
    print(f'{time.monotonic() - begin:.0f} s in all', file=sys.stderr)


# ---- joining

def means_of(folder):
    """Mean by (variant, axis value, start, metric), of every point of a result."""
    rows = read_tsv(os.path.join(folder, 'summary.tsv'))
    axis = [c for c in (rows[0] if rows else {}) if '.' in c]
    return {(r['variant'], r[axis[0]] if axis else '', r['start'], r['metric']): float(r['mean']) for r in rows}


def same_place(a, b):
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b


def mean_at(means, variant, axis_value, start, metric):
    for (v, a, s, m), mean in means.items():
        if (v, s, m) == (variant, start, metric) and same_place(a, axis_value):
            return mean
    return math.nan


def simulated_figures(results, claims):
    """By id: one dict a start, of what comparison.tsv and summary.tsv say of it."""
    figures = {}
    for name in sorted({c['scenario'] for c in claims}):
        folder = os.path.join(results, name)
        means = means_of(folder)
        own = {c['id']: c for c in claims if c['scenario'] == name}
        for line in read_tsv(os.path.join(folder, 'comparison.tsv')):
            claim = own[line['id']]
            if line['simulated'] == '':
                sys.exit(f"{name}: {line['id']}: {line['status']}")
            figures.setdefault(line['id'], []).append(figure_of(line, claim, own, means))
    return figures


def figure_of(line, claim, own, means):
    """`published` and `ratio` are what is compared: ratios where there is one, else the figure itself."""
    start, metric = line['start'], claim['metric']
    figure = {'start': start, 'metric': metric, 'status': line['status'], 'scenario': claim['scenario'],
              'base': math.nan, 'ratio': None,
              'value': mean_at(means, claim['variant'], claim['axis_value'], start, metric),
              'published': float(claim['value']), 'half_width': float(line['half_width'])}
    if claim['unit'].startswith('x '):
        figure['ratio'] = float(line['simulated']), float(line['half_width'])
        figure['base'] = mean_at(means, claim['unit'][2:], claim['axis_value'], start, metric)
    elif line['simulated_vs_base']:
        figure['ratio'] = float(line['simulated_vs_base']), float(line['vs_base_half_width'])
        figure['published'] = float(line['published_vs_base'])
        base = own.get(line['id'] + '-base')
        if base:
            figure['base'] = mean_at(means, base['variant'], base['axis_value'], start, base['metric'])
    return figure


def judge(row, figure, noise):
    """A claim may be the inverse of the table's ratio (a rate of its time), so the claim's own counts; but a range that
    holds it counts as a whole."""
    told = span(row['ratio' if figure['ratio'] else 'changed_value'])
    published = (figure['published'], figure['published'])
    if told and told[0] <= figure['published'] <= told[1]:
        published = told
    if figure['ratio']:
        return verdict_of(published, *figure['ratio'], noise, True)
    return verdict_of(published, figure['value'], figure['half_width'], noise, False)


# ---- writing

def digits(value):
    if value is None or math.isnan(value):
        return ''
    if value == 0:
        return '0'
    return f'{value:.4g}' if 1e-3 <= abs(value) < 1e5 else f'{value:.3e}'


def published_text(row):
    base, changed, unit = row['baseline_value'], row['changed_value'], row['unit']
    return f'{changed} {unit}' if base in ('?', '') else f'{base} -> {changed} {unit}'


def simulated_text(figure):
    base, value = digits(figure['base']), digits(figure['value'])
    return (f'{base} -> ' if base else '') + value


def ratio_text(figure):
    if not figure['ratio']:
        return ''
    mean, half_width = figure['ratio']
    return f'{mean:.4f}' + ('' if math.isnan(half_width) else f' ± {half_width:.4f}')


def share_of_effect(figure):
    """How much of the published change was simulated, in logarithms."""
    if not figure['ratio'] or min(figure['published'], figure['ratio'][0]) <= 0 or abs(figure['published'] - 1) < 0.01:
        return ''
    return f"{100 * math.log(figure['ratio'][0]) / math.log(figure['published']):.0f} %"


def put_sources(out, ids, rows):
    told = None
    for row_id in ids:
        words = (rows[row_id]['source'], rows[row_id]['kernel'], rows[row_id]['machine'])
        if words != told:
            out.append(f'* from {row_id} on: {words[0]}; kernel {words[1]}; machine {words[2]}')
            told = words
    out.append('')


def put_family(out, family, state):
    ids = [i for i in state['rows'] if family_of(i) == family]
    out.append(f'\n## {family}\n')
    put_sources(out, ids, state['rows'])
    claimed = [i for i in ids if i in state['figures'] and i not in state['inputs']]
    if claimed:
        out.append('| id | workload: setting | metric | published | simulated | ratio published | ratio simulated | '
                   'of the effect | verdict |\n|---|---|---|---|---|---|---|---|---|')
    for row_id in claimed:
        row = state['rows'][row_id]
        for figure in state['figures'][row_id]:
            notes = [figure['verdict']] + (['fitted'] if row_id in state['fitted'] else [])
            notes += [figure['status']] if figure['status'] != 'ok' else []
            name = row_id + (f" {figure['start']}" if len(state['figures'][row_id]) > 1 else '')
            cells = [name, f"{row['workload']}: {row['setting']}", row['metric'], published_text(row),
                     f"{simulated_text(figure)} ({figure['metric']})",
                     f"{figure['published']:.4f}" if figure['ratio'] else '',
                     ratio_text(figure), share_of_effect(figure), ', '.join(notes)]
            out.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |')
    names = sorted({f['scenario'] for i in claimed for f in state['figures'][i]})
    if names:
        out.append('\nSimulated by: ' + ', '.join(f'`{n}`' for n in names) + '.')
    for title, reasons in (('Inputs', state['inputs']), ('Not modelled', state['unclaimed'])):
        listed = [i for i in ids if i in reasons]
        if listed:
            out.append(f'\n{title}:\n')
            out += [f"* {i} ({state['rows'][i]['workload']}; {published_text(state['rows'][i])}): "
                    f"{reasons[i].partition('input: ')[2] or reasons[i]}" for i in listed]


def worst(figures):
    return min((f['verdict'] for f in figures), key=WORST_FIRST.index)


def count_nulls(figures):
    return sum(worst(f) == WITHIN and f[0]['is_null'] for f in figures)


def put_summary(out, families, state):
    out.append('| family | rows | claimed | ' + ' | '.join(VERDICTS) + ' | nulls | fitted | inputs | not modelled |\n'
               '|---|' + '---:|' * (len(VERDICTS) + 6))
    total = [0] * (len(VERDICTS) + 6)
    for family in families:
        ids = [i for i in state['rows'] if family_of(i) == family]
        claimed = [i for i in ids if i in state['figures'] and i not in state['inputs']]
        words = [worst(state['figures'][i]) for i in claimed]
        line = [len(ids), len(claimed)] + [words.count(v) for v in VERDICTS]
        line += [count_nulls([state['figures'][i] for i in claimed]), sum(i in state['fitted'] for i in claimed),
                 sum(i in state['inputs'] for i in ids), sum(i in state['unclaimed'] for i in ids)]
        total = [a + b for a, b in zip(total, line)]
        out.append(f'| {family} | ' + ' | '.join(map(str, line)) + ' |')
    out.append('| all | ' + ' | '.join(map(str, total)) + ' |')
    predicted = [f for i, f in state['figures'].items()
                 if i in state['rows'] and i not in state['inputs'] and i not in state['fitted']]
    words = [worst(f) for f in predicted]
    out.append(f'\nOf the {len(words)} predicted rows, {words.count(WITHIN)} are within noise '
               f'({count_nulls(predicted)} of them nulls) and {words.count(SAME_SIGN)} have the same sign; '
               f'{words.count(MISS)} are misses, {words.count(OFF)} off, {words.count(UNDECIDED)} undecided.')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('program')
    parser.add_argument('--reuse', action='store_true')
    parser.add_argument('--results', default=os.path.join(ROOT, 'results'))
    options = parser.parse_args()
    rows = {r['id']: r for r in sorted(read_tsv(PUBLISHED), key=lambda r: (family_of(r['id']), number_of(r['id'])))}
    claims = read_claims()
    run_scenarios(options.program, options.results, claims, options.reuse)
    figures = simulated_figures(options.results, claims)
    unclaimed = read_tsv(os.path.join(ROOT, 'docs', 'unclaimed.tsv'))
    noise = read_noise(rows)
    inputs = input_reasons(claims, unclaimed)
    for row_id in [i for i in figures if i in rows and i not in inputs]:
        for figure in figures[row_id]:
            figure['verdict'] = judge(rows[row_id], figure, noise[row_id])
            figure['is_null'] = is_null(figure, noise[row_id])
    state = {'rows': rows, 'figures': {i: f for i, f in figures.items() if i in rows}, 'inputs': inputs,
             'fitted': fitted_ids(claims, rows),
             'unclaimed': {u['id']: u['reason'] for u in unclaimed if u['id'] not in inputs}}
    families = sorted({family_of(i) for i in rows})
    out = [open(os.path.join(ROOT, 'docs', 'published-head.md'), encoding='utf-8').read()]
    put_summary(out, families, state)
    for family in families:
        put_family(out, family, state)
    with open(os.path.join(ROOT, 'docs', 'published.md'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(out) + '\n')


if __name__ == '__main__':
    main()
