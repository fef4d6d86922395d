#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded trace over and over, as long as wanted, on standard output.

usage: bench/long-trace.py TRACE.events.tsv.gz LINES | build/models/slubsim replay --cpus N --starts 1 -

Each round is the trace at later times and in another of 4 address ranges. Objects that the trace leaves are freed at the
end of the round, and frees of objects from before it are left out: no round has more live objects than the one before.
"""
import gzip
import sys

N_RANGES = 4
RANGE_SHIFT = 36


def whole_round(path):
    """Lines of (time in microseconds, fields) that leave nothing behind."""
    lines, live, last = [], {}, (0, [])
    with gzip.open(path, 'rt') as trace:
        next(trace)
        for line in trace:
            fields = line.rstrip('\n').split('\t')
            op, ptr = fields[4], fields[6]
            if op in 'AB':
                live[ptr] = fields
            elif op in 'FG' and live.pop(ptr, None) is None:
                continue
            last = (round(float(fields[0]) * 1e6), fields[1:])
            lines.append(last)
    for ptr, fields in live.items():
        lines.append((last[0], [fields[1], fields[2], 'task', 'F', fields[5], ptr, '', '', '']))
    start = lines[0][0]
    return [(time - start, fields) for time, fields in lines]


def moved(fields, number):
    """The tail of a line, in an address range of its own."""
    if not fields[5]:
        return '\t'.join(fields)
    ptr = int(fields[5], 16) ^ number << RANGE_SHIFT
    return '\t'.join(fields[:5] + [f'{ptr:x}'] + fields[6:])


def by_second(lines, number):
    """Texts of the lines of each second; where the second is to stand there is an @."""
    texts = [[] for _ in range(lines[-1][0] // 1000000 + 1)]
    for time, fields in lines:
        texts[time // 1000000].append(f'@.{time % 1000000:06d}\t{moved(fields, number)}\n')
    return [''.join(text).encode() for text in texts]


def main():
    path, n_wanted = sys.argv[1], int(sys.argv[2])
    lines = whole_round(path)
    rounds = [by_second(lines, number) for number in range(N_RANGES)]
    out = sys.stdout.buffer
    out.write(b'time_s\tcpu\tpid\tctx\top\tcache\tptr\tbytes_req\tbytes_alloc\tnode\n')
    n_written = second = 0
    while n_written < n_wanted:
        for text in rounds[n_written // len(lines) % N_RANGES]:
            out.write(text.replace(b'@', str(second).encode()))
            second += 1
        n_written += len(lines)


if __name__ == '__main__':
    main()
