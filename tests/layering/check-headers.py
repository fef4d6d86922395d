#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles every header of a folder alone, twice in a row.

    check-headers.py FOLDER COMPILER [FLAG ...]

A header with a guard is included twice in an otherwise empty source. A list header (no guard, rows such as
KIND(name) alone) is read with each of its row macros defined to nothing. Prints the compiler's words and ends with
status 1 when one does not compile or a guard is not named after its file.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^([A-Z][A-Z_]*)\(", re.MULTILINE)


def program(header):
    text = header.read_text(encoding="utf-8")
    guard = header.name.upper().replace("-", "_").replace(".", "_")
    include = f'#include "{header.name}"\n'
    if f"#ifndef {guard}\n#define {guard}\n" in text:
        return include * 2
    rows = sorted(set(ROW.findall(text)))
    if not rows:
        return f'#error "no guard {guard}"\n'
    return "".join(f"#define {row}(...)\n" for row in rows) + include * 2


def compile_alone(header, command):
    # A declaration of its own: an empty translation unit is no C.
    source = program(header) + "extern int check_headers_only;\n"
    done = subprocess.run(command + ["-Werror", "-fsyntax-only", "-x", "c", "-"], input=source, text=True,
                          capture_output=True)
    return f"{header}:\n{done.stderr}" if done.returncode else None


def main():
    folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    headers = sorted(folder.rglob("*.h"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(lambda h: compile_alone(h, command), headers) if f]
    print("\n".join(failures) or f"{len(headers)} headers of {folder.name}")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
