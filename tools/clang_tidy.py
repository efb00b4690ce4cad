#!/usr/bin/env python3
"""Runs clang-tidy over the project's sources, two at a time, and skips those that passed as they are.

A source is known by its text, the text of every header of ours that it includes, its flags, .clang-tidy, and the
version of clang-tidy. Exits 1 if it finds something.
"""

import argparse
import sys
import time
from pathlib import Path

from checks import compile as compiling
from checks.cache import Passed, key_of
from checks.tree import Tree, is_test

ROOT = Path(__file__).resolve().parent.parent
CLANG_TIDY = "clang-tidy-19"
# In tests, walking the paths through GoogleTest's macros takes most of the time, loops over tables count as complex,
# and speed is not what they are for.
CHECKS_OF_TESTS = "--checks=-clang-analyzer-*,-performance-*,-readability-function-cognitive-complexity"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/asan", help="a configured clang build folder")
    parser.add_argument("sources", nargs="*", help="beginnings of paths to check (default: all)")
    options = parser.parse_args(arguments)
    if not (options.build / "compile_commands.json").is_file():
        print(f"clang_tidy.py: {options.build} is not configured; run cmake --preset asan", file=sys.stderr)
        return 2

    tree = Tree(ROOT)
    wanted = tuple(options.sources) or ("",)
    units = [unit for unit in compiling.units(tree, options.build) if unit.source.startswith(wanted)]
    passed = Passed("clang-tidy", time.time())
    _, version = compiling.output_of([CLANG_TIDY, "--version"], tree.root)
    keys = {unit: _key(tree, unit, version) for unit in units}
    waiting = [unit for unit in units if not passed.knows(keys[unit])]

    def inspect(unit):
        command = [CLANG_TIDY, "--quiet", "-p", str(options.build), unit.source]
        fine, output = compiling.output_of(command + [CHECKS_OF_TESTS] * is_test(unit.source), tree.root)
        if fine:
            passed.remember(keys[unit])
        return fine, output

    failed = 0
    for fine, output in compiling.run_all(waiting, inspect):
        if not fine:
            failed += 1
            print(output, flush=True)
    print(f"clang-tidy: {len(units)} sources, {len(units) - len(waiting)} known, {failed} with findings")
    return 1 if failed else 0


def _key(tree, unit, version):
    flags = [flag.replace(str(tree.root), "") for flag in unit.flags]
    texts = [part for path in tree.closure(unit.source) for part in (path, tree.text(path))]
    return key_of(version, tree.text(".clang-tidy"), *flags, *texts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
