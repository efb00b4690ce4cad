"""What stands beside the code: targets that build it, a README in each room, the first line of a header."""

import re

from checks.rooms import room_of
from checks.tree import Finding

RULES = {
    "unbuilt": "every .cc file is named in the CMakeLists.txt of its folder or of one above",
    "room-readme": "every room has a README.md",
    "stray": "penstock/ holds rooms alone, and a room's code is in .h and .cc files",
    "pragma-once": "a header's first line of code is #pragma once",
}


def check(tree):
    yield from _unbuilt(tree)
    yield from _rooms_without_readme(tree)
    yield from _strays(tree)
    for path in tree.cpp(".h"):
        first = next((line for line in tree.code(path).splitlines() if line.strip()), "")
        if first.strip() != "#pragma once":
            yield Finding(path, 1, "pragma-once", "the header does not begin with #pragma once")


def _strays(tree):
    """Code that the other checks would not see."""
    for path in tree.paths:
        if not path.startswith("penstock/"):
            continue
        if path.count("/") == 1:
            yield Finding(path, 1, "stray", "the file stands beside the rooms; put it into one")
        elif path.endswith((".cpp", ".cxx", ".hpp", ".hh", ".inc", ".ipp", ".c")):
            yield Finding(path, 1, "stray", "the name ends otherwise than .h or .cc; rename it")


def _unbuilt(tree):
    for path in tree.cpp(".cc"):
        if not any(_names(tree, listing, name) for listing, name in _listings(path)):
            text = "no CMakeLists.txt names this file, so nothing builds or runs it"
            yield Finding(path, 1, "unbuilt", f"{text}; use penstock_room, penstock_test or penstock_fuzz")


def _listings(path):
    """Each CMakeLists.txt that could name `path`, with the name that it would use."""
    parts = path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        yield "/".join([*parts[:depth], "CMakeLists.txt"]), "/".join(parts[depth:])


def _names(tree, listing, name):
    if listing not in tree:
        return False
    text = re.sub(r"#[^\n]*", "", tree.text(listing))
    return re.search(rf"(?<![\w./]){re.escape(name)}(?![\w.])", text) is not None


def _rooms_without_readme(tree):
    for room in sorted({room_of(path) for path in tree.cpp()} - {None}):
        if f"penstock/{room}/README.md" not in tree:
            text = "the room has no README.md; say in five to fifteen lines what it holds and what it must not know"
            yield Finding(f"penstock/{room}", 1, "room-readme", text)
