#!/usr/bin/env python3
"""Checks what the compilers do not: rooms and levels, sizes, words, layout, headers that compile alone.

Prints `file:line: rule: what is wrong; what to do` for each finding and exits 1 if there is one. Exits 2 for wrong use.
"""

import argparse
import sys
from pathlib import Path

from checks import headers, layout, rooms, sizes, words
from checks.tree import Tree

ROOT = Path(__file__).resolve().parent.parent
BUILDS = ("build/debug", "build/release", "build/asan")


def all_rules(tree):
    return rooms.RULES | sizes.RULES | layout.RULES | words.rules(tree) | headers.RULES


def findings(tree, build=None):
    """All findings of the tree; headers are compiled only where `build`, a configured build folder, is given."""
    found = [finding for module in (rooms, sizes, words, layout) for finding in module.check(tree)]
    if build is not None:
        found.extend(headers.check(tree, build))
    return sorted(found)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the project to check (default: this one)")
    parser.add_argument("--build", type=Path, help=f"build folder whose flags compile headers (default: {BUILDS})")
    parser.add_argument("--no-headers", action="store_true", help="do not compile headers")
    parser.add_argument("--list-rules", action="store_true", help="print every rule and exit")
    options = parser.parse_args(arguments)

    tree = Tree(options.root)
    if options.list_rules:
        for name, text in sorted(all_rules(tree).items()):
            print(f"{name:16} {text}")
        return 0

    build = None if options.no_headers else options.build or _first_build(tree.root)
    if build is None and not options.no_headers:
        print("tidy.py: no build folder is configured, headers are not compiled; run cmake --preset debug", file=sys.stderr)
    elif build is not None and not (build / "compile_commands.json").is_file():
        print(f"tidy.py: {build} has no compile_commands.json; run cmake --preset {build.name}", file=sys.stderr)
        return 2

    found = findings(tree, build)
    for finding in found:
        print(finding)
    print(f"tidy: {len(tree.paths)} files, {len(found)} findings", file=sys.stderr)
    return 1 if found else 0


def _first_build(root):
    candidates = (root / name for name in BUILDS)
    return next((build for build in candidates if (build / "compile_commands.json").is_file()), None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
