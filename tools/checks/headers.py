"""Every header compiles alone. Slow the first time; what passed once is not compiled again until it changes."""

import time

from checks import compile as compiling
from checks.cache import Passed, key_of
from checks.rooms import room_of
from checks.tree import Finding

RULES = {"header-alone": "a header compiles without any other include before it"}


def check(tree, build):
    units = compiling.units(tree, build)
    headers = [path for path in tree.cpp(".h") if room_of(path)]
    if not units or not headers:
        return
    passed = Passed("header-alone", time.time())

    def compile_alone(header):
        unit = _unit_nearest_to(header, units)
        key = key_of(*(flag.replace(str(tree.root), "") for flag in unit.flags), *map(tree.text, tree.closure(header)))
        if passed.knows(key):
            return True, ""
        alone = ("-fsyntax-only", "-include", header, "-x", "c++", "/dev/null")
        fine, output = compiling.output_of(unit.command(*alone), tree.root)
        if fine:
            passed.remember(key)
        return fine, output

    for header, (fine, output) in zip(headers, compiling.run_all(headers, compile_alone)):
        if not fine:
            first = next((line for line in output.splitlines() if "error" in line), output)
            yield Finding(header, 1, "header-alone", f"it does not compile alone: {first}; include what it uses")


def _unit_nearest_to(header, units):
    """A source whose flags fit the header: of its folder, else of its room, else any."""
    folder = header.rsplit("/", 1)[0] + "/"
    room = f"penstock/{room_of(header)}/"
    product = [unit for unit in units if not unit.source.endswith("_test.cc")] or units
    for beginning in (folder, room, ""):
        for unit in product:
            if unit.source.startswith(beginning):
                return unit
    return units[0]
