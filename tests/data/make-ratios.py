#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes ratios.tsv from the ground truth's key-ratios.txt: hackbench (skbuff_head_cache) and mmap1 (maple_node).

usage: tests/data/make-ratios.py FOLDER > tests/data/ratios.tsv
"""
import os
import sys

WORKLOADS = ['hackbench', 'mmap1']
# One of its two processes had room in its leaf: 24,116 bulk objects where every other run has 36,116.
OTHER_TREE = ('6.1', '2', 'mmap1', 'min_partial=64')

print('kernel', 'cpus', 'workload', 'setting', 'get_partial_node', 'unfreeze_partials', 'allocate_slab', sep='\t')
for line in open(os.path.join(sys.argv[1], 'key-ratios.txt')):
    if line.startswith('#'):
        continue
    head, *groups = line.split('|')
    kernel, cpus, setting, *first = head.split()
    for workload, counts in zip(WORKLOADS, [first, groups[0].split()]):
        row = (kernel, cpus, workload, setting)
        if row != OTHER_TREE:
            print(*row, *counts[2:5], sep='\t')
