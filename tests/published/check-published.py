#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""TAP: every published figure is claimed by a scenario or said not to be, as it was published; and what a verdict is.

usage: check-published.py ROOT
"""
import importlib.util
import math
import os
import re
import sys
import tempfile

ROOT = sys.argv[1]
spec = importlib.util.spec_from_file_location('published', os.path.join(ROOT, 'docs', 'make-published.py'))
published = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(published)

ROWS = {r['id']: r for r in published.read_tsv(published.PUBLISHED)}
CLAIMS = published.read_claims()
UNCLAIMED = published.read_tsv(os.path.join(ROOT, 'docs', 'unclaimed.tsv'))
n_tests = 0


def ok(name, faults):
    global n_tests
    n_tests += 1
    print(('not ok' if faults else 'ok') + f' {n_tests} /published/{name}')
    for fault in faults:
        print('#   ' + fault)
    return not faults


def coverage():
    claimed = [c['id'] for c in CLAIMS if not c['id'].endswith('-base')]
    listed = [u['id'] for u in UNCLAIMED]
    faults = [f'{i}: no such figure' for i in claimed + listed if i not in ROWS]
    faults += [f'{i}: told more than once' for i in set(claimed + listed) if (claimed + listed).count(i) > 1]
    faults += [f"{c['id']}: no figure it is the base of" for c in CLAIMS
               if c['id'].endswith('-base') and c['id'][:-len('-base')] not in ROWS]
    faults += [f"{u['id']}: no reason" for u in UNCLAIMED if len(u['reason']) < 10]
    missing = [i for i in ROWS if i not in claimed and i not in listed]
    return ok('coverage', faults + [f'{i}: neither claimed nor listed' for i in missing])


def nearly(a, b):
    return math.isclose(a, b, rel_tol=6e-5, abs_tol=1e-9)


def scaled(number, value):
    """Unit prefixes: the same digits, a power of ten apart."""
    return any(nearly(number * 10 ** k, value) for k in range(-12, 13))


def as_published(claim, row):
    """The claim's value is the published one, but for unit prefixes where the units differ; or its note begins with
    "= EXPRESSION" of baseline, changed and ratio with that value; or quotes the figure it was converted from."""
    value = float(claim['value'])
    spans = {k: published.span(row[c]) for k, c in
             (('baseline', 'baseline_value'), ('changed', 'changed_value'), ('ratio', 'ratio'))}
    numbers = {k: s[0] for k, s in spans.items() if s}
    if claim['note'].startswith('= '):
        formula = re.match(r'= ([^:;]+)', claim['note'])[1]
        is_plain = re.fullmatch(r'[ a-z0-9.()*/+-]+', formula)
        return is_plain and nearly(eval(formula, {'__builtins__': {}}, numbers), value)
    is_ratio = claim['unit'].startswith('x ')
    wanted = spans['ratio' if is_ratio else 'baseline' if claim['id'].endswith('-base') else 'changed']
    if wanted and (wanted[0] <= value <= wanted[1] or nearly(wanted[0], value)):
        return True
    if wanted and not is_ratio and claim['unit'] != row['unit'] and scaled(wanted[0], value):
        return True
    quoted = [float(n) for n in re.findall(r'\d+(?:\.\d+)?(?:e\d+)?', claim['note'])]
    return any(scaled(q, n) for q in quoted for n in numbers.values() if n)


def values():
    faults = []
    for claim in CLAIMS:
        row = ROWS.get(claim['id'].replace('-base', ''))
        if row and not as_published(claim, row):
            faults.append(f"{claim['id']}: {claim['value']} {claim['unit']} is not {row['baseline_value']} -> "
                          f"{row['changed_value']} {row['unit']}, ratio {row['ratio']}")
    return ok('values', faults)


def wrong_values():
    row = {'baseline_value': '35', 'changed_value': '70', 'ratio': '2.0', 'unit': 's'}
    cases = [({'id': 'A-1', 'value': '70', 'unit': 's', 'note': ''}, True),
             ({'id': 'A-1', 'value': '35', 'unit': 's', 'note': ''}, False),
             ({'id': 'A-1-base', 'value': '35', 'unit': 's', 'note': ''}, True),
             ({'id': 'A-1', 'value': '70', 'unit': 'x base', 'note': ''}, False),
             ({'id': 'A-1', 'value': '2', 'unit': 'x base', 'note': ''}, True),
             ({'id': 'A-1', 'value': '0.5', 'unit': 'x base', 'note': 'rate'}, False),
             ({'id': 'A-1', 'value': '0.5', 'unit': 'x base', 'note': '= 1 / ratio: rate'}, True),
             ({'id': 'A-1', 'value': '700', 'unit': 's', 'note': '= changed * 10'}, True),
             ({'id': 'A-1', 'value': '701', 'unit': 's', 'note': '= changed * 10'}, False),
             ({'id': 'A-1', 'value': '70000', 'unit': 's', 'note': ''}, False),
             ({'id': 'A-1', 'value': '70000', 'unit': 'ms', 'note': ''}, True),
             ({'id': 'A-1', 'value': '35000', 'unit': 'ms', 'note': ''}, False),
             ({'id': 'A-1', 'value': '17.5', 'unit': 'ns', 'note': '70 cycles of 4 GHz'}, True),
             ({'id': 'A-1', 'value': '17.5', 'unit': 'ns', 'note': '71 cycles of 4 GHz'}, False)]
    return ok('wrong-values', [str(c) for c, is_right in cases if bool(as_published(c, row)) != is_right])


def verdicts():
    nan = math.nan
    cases = [  # published, simulated, half-width, noise, ratio?, verdict
        ((1.20, 1.20), 1.22, 0.0, 0.02, True, 'within noise'),
        ((1.20, 1.20), 1.26, 0.04, 0.02, True, 'within noise'),
        ((1.20, 1.20), 1.26, nan, 0.02, True, 'same sign'),
        ((1.20, 1.20), 1.03, 0.02, 0.02, True, 'same sign'),
        ((1.20, 1.20), 1.03, 0.04, 0.02, True, 'miss'),       # not told from nothing
        ((1.20, 1.20), 0.95, 0.01, 0.02, True, 'miss'),       # the other direction
        ((0.80, 0.80), 0.60, 0.01, 0.02, True, 'same sign'),
        ((0.80, 0.80), 1.30, 0.01, 0.02, True, 'miss'),
        ((1.01, 1.01), 0.985, 0.0, 0.02, True, 'within noise'),  # neither is a difference
        ((1.01, 1.01), 1.30, 0.01, 0.02, True, 'miss'),       # one where none was published
        ((1.20, 1.20), 1.15, 0.50, 0.02, True, 'within noise'),  # near whatever the interval
        ((1.50, 1.50), 1.15, 0.50, 0.02, True, 'undecided'),  # holds 1 and 1.5
        ((1.50, 1.50), 2.40, 0.50, 0.02, True, 'same sign'),
        ((0.90, 1.10), 0.85, 0.01, 0.02, True, 'miss'),       # a range around 1 is no difference
        ((1.003, 1.025), 1.02, 0.0, 0.0, True, 'within noise'),
        ((1.003, 1.025), 1.04, 0.0, 0.0, True, 'same sign'),
        ((1.0, 1.0), 1.0, nan, 0.0, True, 'within noise'),
        ((352.0, 352.0), 330.0, nan, 0.0, False, 'within noise'),  # 10 % without a ratio
        ((352.0, 352.0), 300.0, nan, 0.0, False, 'off'),
        ((10.0, 10.0), 12.5, 1.5, 0.0, False, 'off'),
        ((10.0, 10.0), 15.0, 6.0, 0.0, False, 'undecided'),
        ((10.0, 10.0), 12.5, nan, 0.3, False, 'within noise')]
    return ok('verdicts', [f'{c}: {got}' for c in cases if (got := published.verdict_of(*c[:5])) != c[5]])


def rules():
    """What is made of verdicts, and of the figures before."""
    nan = math.nan
    ratios = {'ratio': '0.7-0.8', 'changed_value': '35'}
    compared = dict(start='cold', metric='x_s', published=0.75, value=40.0, half_width=nan, ratio=(0.79, 0.0))
    absolute = dict(compared, published=35.0, value=37.0, ratio=None)
    with tempfile.TemporaryDirectory() as folder:
        claims = [{'id': 'A-1', 'metric': 'x_s', 'value': '2.50'}]
        there = [published.is_current(folder, claims)]
        for value in '2.5', '2.6':
            with open(os.path.join(folder, 'comparison.tsv'), 'w', encoding='utf-8') as file:
                file.write(f'id\tmetric\tpublished\nA-1\tx_s\t{value}\n')
            there.append(published.is_current(folder, claims))
        path = os.path.join(folder, 'noise.tsv')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('ids\tnoise_percent\nSEED1\t5\nSEED1-02\t3\n')
        noise = published.read_noise(ROWS, path)
    cases = [
        ('nulls', [published.is_null({'ratio': r, 'published': p}, 0.02)
                   for r, p in (((1, 0), 1.015), ((1, 0), 0.985), ((1, 0), 1.03), (None, 1.0))], [True, True, False, False]),
        ('the worst start', published.worst([{'verdict': v} for v in ('within noise', 'miss', 'off')]), 'miss'),
        ('a range that holds the claim', published.judge(ratios, compared, 0.0), 'within noise'),
        ('one that does not', published.judge(ratios, dict(compared, published=1.25), 0.0), 'miss'),
        ('a figure without a ratio', published.judge(ratios, absolute, 0.0), 'within noise'),
        ('half of the effect', published.share_of_effect(dict(compared, published=4.0, ratio=(2.0, 0.0))), '50 %'),
        ('of no effect', published.share_of_effect(dict(compared, published=1.001)), ''),
        ('results of these claims', there, [False, True, False]),
        ('the later line of noise', (noise['SEED1-01'], noise['SEED1-02']), (0.05, 0.03))]
    return ok('rules', [f'{name}: {got}' for name, got, want in cases if got != want])


def texts():
    noise = published.read_noise(ROWS)
    faults = [f'{i}: no noise given' for i in ROWS if i not in noise]
    known = published.ids_in('SEED1-02 to SEED1-04, C2C and HAO-01', ROWS)
    for row_id, is_in in (('SEED1-01', False), ('SEED1-02', True), ('SEED1-04', True), ('SEED1-05', False),
                          ('C2C-11', True), ('HAO-01', True), ('HAO-03', False)):
        if (row_id in known) != is_in:
            faults.append(f'{row_id}: range misread')
    fitted = published.fitted_ids(CLAIMS, ROWS)
    for row_id, is_in in (('SEED1-01', True), ('SEED1-09', True), ('SEED1-10', False), ('SEED4-01', True),
                          ('WML-03', False)):
        if (row_id in fitted) != is_in:
            faults.append(f'{row_id}: fitted or not misread')
    for text, want in (('0.7-0.8', (0.7, 0.8)), ('0.3 to 2.5', (0.3, 2.5)), ('-0.43', (-0.43, -0.43)), ('?', None),
                       ('1e6', (1e6, 1e6))):
        if published.span(text) != want:
            faults.append(f'{text}: read as {published.span(text)}')
    return ok('texts', faults)


results = [coverage(), values(), wrong_values(), verdicts(), rules(), texts()]
print(f'1..{n_tests}')
sys.exit(0 if all(results) else 1)
