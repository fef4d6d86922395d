#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may include whom, and what every source starts with.

    check-layers.py ROOT         checks a source tree; prints each breach and ends with status 1
    check-layers.py --self-test  checks that each rule catches a tree that breaks it

Rules: sim/ includes nothing of models/, and neither includes anything of tests/ or bench/; headers are included by
bare file name, so no two have the same; no cycle of includes; an SPDX line among the first two lines of each source;
headers of at most 200 lines, sources of at most 600.
"""
import pathlib
import re
import sys
import tempfile

# folder -> folders it may include from, its own aside
ALLOWED = {
    "sim": set(),
    "models": {"sim"},
    "tests": {"sim", "models"},
    "bench": {"sim", "models"},
}
SUFFIXES = {".c", ".h", ".py", ".sh", ".gp"}
SPDX = "SPDX-License-Identifier: GPL-3.0-or-later"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def sources(root):
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        hidden = any(part.startswith((".", "build")) for part in inside.parts[:-1])
        if path.is_file() and path.suffix in SUFFIXES and not hidden:
            yield inside


def find_cycle(edges):
    """One cycle of the graph as a list of names, or None."""
    state = {}

    def visit(name, path):
        state[name] = "open"
        for other in edges.get(name, ()):
            if state.get(other) == "open":
                return path[path.index(other):] + [other] if other in path else [name, other]
            if other not in state:
                cycle = visit(other, path + [other])
                if cycle:
                    return cycle
        state[name] = "done"
        return None

    for name in sorted(edges):
        if name not in state:
            cycle = visit(name, [name])
            if cycle:
                return cycle
    return None


def breaches(root):
    files = list(sources(root))
    home = {}
    for path in files:
        if path.suffix != ".h":
            continue
        if path.name in home:
            yield f"{path}: {home[path.name]} has the same name"
        home[path.name] = path
    edges = {}
    for path in files:
        text = (root / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        limit = {".h": 200, ".c": 600}.get(path.suffix)
        if not any(SPDX in line for line in lines[:2]):
            yield f"{path}: no SPDX line at its top"
        if limit and len(lines) > limit:
            yield f"{path}: {len(lines)} lines, {limit} allowed"
        for name in INCLUDE.findall(text):
            edges.setdefault(path.name, []).append(name)
            target = home.get(name)
            if not target:
                yield f"{path}: no header of this tree is called \"{name}\""
                continue
            layer, used = path.parts[0], target.parts[0]
            if used != layer and used not in ALLOWED.get(layer, {"sim", "models"}):
                yield f"{path}: {layer}/ may not include {target}"
    cycle = find_cycle({name: [t for t in to if t in home] for name, to in edges.items() if name in home})
    if cycle:
        yield "a cycle of includes: " + " -> ".join(cycle)


def self_test():
    head = f"/* {SPDX} */\n"
    good = {"sim/sim-a.h": head, "models/m.h": head + '#include "sim-a.h"\n', "tests/t.h": head,
            "tests/t.c": head + '#include "m.h"\n#include "t.h"\n', "bench/b.h": head}
    bad = {
        "sim includes models": {"sim/x.c": head + '#include "m.h"\n'},
        "sim includes tests": {"sim/x.c": head + '#  include "t.h"\n'},
        "models include bench": {"models/deep/x.h": head + '#include "b.h"\n'},
        "bench includes tests": {"bench/x.c": head + '#include "t.h"\n'},
        "a cycle of two": {"sim/sim-a.h": head + '#include "sim-b.h"\n', "sim/sim-b.h": head + '#include "sim-a.h"\n'},
        "a cycle through another": {"sim/sim-a.h": head + '#include "c.h"\n', "sim/c.h": head + '#include "d.h"\n',
                                    "sim/d.h": head + '#include "c.h"\n'},
        "two of a name": {"models/sim-a.h": head},
        "an unknown header": {"sim/x.c": head + '#include "nowhere.h"\n'},
        "a path": {"models/x.c": head + '#include "../sim/sim-a.h"\n'},
        "no licence": {"tests/x.py": "print()\n"},
        "a long header": {"sim/long.h": head + "\n" * 200},
    }
    failed = []
    for what, extra in [("", {})] + list(bad.items()):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**good, **extra}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            if bool(list(breaches(root))) != bool(extra):
                failed.append(what or "a good tree")
    return [f"wrong verdict on: {what}" for what in failed]


def main():
    found = self_test() if sys.argv[1] == "--self-test" else list(breaches(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
