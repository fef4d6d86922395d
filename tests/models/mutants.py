#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every broken rule of the allocator must be caught by the replay tests.

usage: mutants.py SOURCE_ROOT BUILD_ROOT CC [FLAG...]

Each mutant is one edit of one file under models/alloc. The edited file is compiled and linked in front of the library;
the guided replays, which judge each step,
must then fail: totals hide some of these rules. An edit that no longer applies is an error too.
"""
import os
import subprocess
import sys
import tempfile

PARTS, FROZEN, DELAYED, BULK = (f'models/alloc/slub-{n}.c' for n in ('parts', 'frozen', 'delayed', 'bulk'))
MUTANTS = [
    ('extra slabs cps/2 instead of cps/2 + 1', PARTS,
     'n_moved > cache->cpu_partial_slabs / 2', 'n_moved >= cache->cpu_partial_slabs / 2'),
    ('no extra slabs', PARTS, 'if (!cache->has_cpu_partial)\n        return TRUE;', 'return TRUE;'),
    ('node list taken from the tail', PARTS, 'while ((id = node->partial.head))', 'while ((id = node->partial.tail))'),
    ('drains to the head', PARTS, 'slub_add_partial(cache, cpu, id, TRUE);', 'slub_add_partial(cache, cpu, id, FALSE);'),
    ('drain at cps + 1', PARTS, 'count >= cache->cpu_partial_slabs)', 'count > cache->cpu_partial_slabs)'),
    ('drain at cps - 1', PARTS, 'count >= cache->cpu_partial_slabs)', 'count + 1 >= cache->cpu_partial_slabs)'),
    ('own remote frees not refilled', PARTS, 'if (slub_get_freelist(cache, cpu)) {',
     'if (slub_slab(cache, c->slab)->cpu_partial_count && slub_get_freelist(cache, cpu)) {'),
    ('bulk free object by object', BULK, 'slub_free_to(&cache->below, cache, &cache->cpu[cpu->id], cpu, slab, n_detached);',
     'for (guint i = 0; i < n_detached; i++)\n                slub_free_to(&cache->below, cache, &cache->cpu[cpu->id], cpu, slab, 1);'),
    ('cpu partial list first in, first out', PARTS, 'c->partial = slub_slab(cache, id)->next;\n        slub_slab(cache, id)->next = 0;',
     'SlabId above = 0;\n        for (; slub_slab(cache, id)->next; id = slub_slab(cache, id)->next)\n            above = id;\n'
     '        if (above) {\n            slub_slab(cache, above)->next = 0;\n        } else {\n            c->partial = 0;\n        }'),
    ('drain oldest first', PARTS, '    SlabId empty = 0;\n\n    while (first) {',
     '    SlabId empty = 0, reversed = 0;\n\n    while (first) {\n        SlabId next = slub_slab(cache, first)->next;\n'
     '        slub_slab(cache, first)->next = reversed;\n        reversed = first;\n        first = next;\n    }\n'
     '    first = reversed;\n    while (first) {'),
    ('discard at > min_partial (frozen)', FROZEN, 'slab->inuse == 0 && node->partial.count >= cache->min_partial) {\n        if',
     'slab->inuse == 0 && node->partial.count > cache->min_partial) {\n        if'),
    ('discard at > min_partial (delayed)', DELAYED, 'slab->inuse == 0 && node->partial.count >= cache->min_partial) {\n        if',
     'slab->inuse == 0 && node->partial.count > cache->min_partial) {\n        if'),
    ('drain: discard at > min_partial', PARTS, 'slab->inuse == 0 && node->partial.count >= cache->min_partial',
     'slab->inuse == 0 && node->partial.count > cache->min_partial'),
]


def main():
    source, build, cc, *flags = sys.argv[1:]
    includes = [f'-I{source}/{d}' for d in ['sim'] + ['models/' + d for d in (
        'machine', 'slab', 'alloc', 'sched', 'workload', 'world', 'replay')]]
    compile_ = [cc, '-std=gnu11', '-O1', '-w', '-D_GNU_SOURCE', '-fno-strict-aliasing', *includes]
    environment = dict(os.environ, G_TEST_SRCDIR=f'{source}/tests')
    print(f'1..{len(MUTANTS) + 1}')
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        test = f'{folder}/test.o'
        subprocess.run([*compile_, '-c', f'{source}/tests/models/test-replay.c', '-o', test, *flags], check=True)
        for number, (name, path, old, new) in enumerate([('none', PARTS, '', '')] + MUTANTS, 1):
            text = open(f'{source}/{path}').read()
            assert old in text, f'{name}: the edit no longer applies to {path}'
            mutant, program = f'{folder}/mutant.c', f'{folder}/program'
            with open(mutant, 'w') as file:
                file.write(text.replace(old, new, 1))
            subprocess.run([*compile_, mutant, test, f'{build}/models/libmodels.a', f'{build}/sim/libsim.a', '-o', program,
                            *flags, '-lm'], check=True)
            run = subprocess.run([program, '-p', '/replay/guided'], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            is_ok = (run.returncode != 0) == (name != 'none')
            failures += not is_ok
            for line in run.stderr.decode().splitlines():
                if 'ERROR' in line:
                    print('# ' + line.split('/')[-1])
            print(f'{"ok" if is_ok else "not ok"} {number} {name}', flush=True)
    return failures


if __name__ == '__main__':
    sys.exit(main() > 0)
