#!/usr/bin/env python3
"""The table of maxima in docs/security.md against the code that it names: each figure must be the one that stands there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/security.md"
ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<most>[^|]+) \| `(?P<file>[\w/]+\.\w+)` (?P<name>\w+) \|", re.M)
UNITS = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "s": 1, "h": 3600}
LEAST_ROWS = 20


def documented(text):
    """The number at the start of a cell: '4 MiB', '10 s', '10,000 (`--max-connections`)'."""
    number, unit = re.match(r"([\d,]+)\s*(KiB|MiB|GiB|s\b|h\b)?", text).groups(default="")
    return int(number.replace(",", "")) * UNITS[unit]


def defined(source, name):
    """The value that C++ gives a constant or a member: numbers, '*', '+', '<<', seconds and hours are understood."""
    found = re.search(rf"\b{name}\b\s*(?:=\s*([^;]+)|\{{([^}};]+)\}});", source)
    if found is None:
        return None
    value = re.sub(r"std::chrono::(seconds|hours)\{(\d+)\}", lambda t: f"{t[2]} * {3600 if t[1] == 'hours' else 1}",
                   found[1] or found[2])
    value = re.sub(r"std::\w+\{(\w+)\}|static_cast<[\w:]+>\((\w+)\)", r"\1\2", value)
    value = re.sub(r"(?<=\d)'(?=\d)|(?<=\d)[uUlL]+\b", "", value)
    return eval(value, {"__builtins__": {}}) if re.fullmatch(r"[\d\s*+()<]+", value) else None


def main():
    rows = list(ROW.finditer(DOCUMENT.read_text(encoding="utf-8")))
    wrong = [] if len(rows) >= LEAST_ROWS else [f"only {len(rows)} rows of the table are understood"]
    for row in rows:
        file = ROOT / "penstock" / row["file"]
        value = defined(file.read_text(encoding="utf-8"), row["name"]) if file.is_file() else None
        if value != documented(row["most"]):
            wrong.append(f"'{row['what']}': {row['most']} is documented, penstock/{row['file']} has {row['name']} = {value}")
    for each in wrong:
        print(f"docs/security.md: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
