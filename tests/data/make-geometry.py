#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes geometry.tsv.gz from the ground-truth folder given as argument.

Keeps every row of every geometry listing, but only the columns that the geometry depends on or shows, and of the
machine only what it depends on. Each listing is a section: "== NAME", the .env lines, an empty line, the table.
"""
import glob
import gzip
import os
import re
import sys

COLUMNS = """cache align object_size slab_size order objs_per_slab cpu_partial min_partial hwcache_align ctor
    destroy_by_rcu reclaim_account usersize cache_dma sanity_checks red_zone poison store_user trace failslab
    sheaf_capacity slabs_cpu_partial""".split()


def machine(path):
    lines = []
    for line in open(path):
        key, _, value = line.rstrip("\n").partition("=")
        if key == "uname":
            lines.append("uname=Linux host " + value.split()[2])
        elif key in ("cpus_possible", "cpus_present", "page_size", "CONFIG_SLUB_CPU_PARTIAL"):
            lines.append(f"{key}={value}")
        elif key == "cmdline":
            words = [word for word in value.split() if re.match("sl[au]b_", word)]
            lines.append("cmdline=" + " ".join(words))
    return lines


def longest_list(text):
    """Of "92(4) C0=69(3) C1=23(1)" keeps the first number and the longest list."""
    lists = re.findall(r"C\d+=\d+\((\d+)\)", text)
    return text.split()[0] + (f" C0=0({max(map(int, lists))})" if lists else "")


def table(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    index = [rows[0].index(column) for column in COLUMNS]
    yield "\t".join(COLUMNS)
    for row in rows[1:]:
        fields = [row[i] for i in index]
        fields[-1] = longest_list(fields[-1])
        fields[COLUMNS.index("ctor")] = "-" if fields[COLUMNS.index("ctor")] == "-" else "ctor"
        yield "\t".join(fields)


def main():
    folder = sys.argv[1]
    paths = [p for pattern in ("kernel-*.tsv", "host-*.tsv", "*.geom-before.tsv", "*.geom-after.tsv")
             for p in glob.glob(os.path.join(folder, pattern))]
    sections = []
    for path in sorted(paths):
        base = re.sub(r"(\.geom-(before|after))?\.tsv$", "", path)
        name = os.path.basename(path)[: -len(".tsv")]
        sections.append("\n".join([f"== {name}", *machine(base + ".env"), "", *table(path), ""]))
    target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "geometry.tsv.gz")
    with open(target, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
        out.write("".join(sections).encode())
    print(f"{len(sections)} listings, {sum(s.count(chr(10)) for s in sections)} lines, {os.path.getsize(target)} bytes")


main()
