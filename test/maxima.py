#!/usr/bin/env python3
"""The table of maxima in docs/security.md against the code: each number must be that of the constant beside it, and each
figure one that /stats shows. Figures of refusals that no table names, there or in docs/operating.md, are found too."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ROOT / "penstock"
SECURITY, OPERATING = ROOT / "docs/security.md", ROOT / "docs/operating.md"
STATS = CODE / "server/stats_page.cc"
NAMED = re.compile(r"`(?P<file>[\w/]+\.\w+)` (?P<names>\w+(?:, \w+)*)$")
NUMBER = re.compile(r"(\d[\d,]*\d|\d)(?: (KiB|MiB|GiB|ms|s|h)\b)?")
FIGURE = re.compile(r"`(?:penstock_)?([a-z][a-z0-9]*_\w+)`")
REFUSAL = re.compile(r"refused|cut_for|late_re|oversize|beyond|overflowing|ended_|evicted|failures")
POLICIES = re.compile(r"enum class OnStoreFailure[^{]*\{\n(.*?)\};", re.S)
STORE_FAILED = ("degraded_", "store_unanswered_")  # these refuse nobody by themselves
UNITS = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "ms": 1, "s": 1000, "h": 3_600_000}
SHORT = {"milliseconds": "ms", "seconds": "s", "hours": "h"}
LEAST_ROWS, LEAST_FIGURES = 50, 40


def table(text, heading):
    """The rows of the first table below a heading, cell by cell, without its two head rows."""
    lines = text[text.index(f"\n{heading}\n"):].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first + 2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def documented(text):
    """The numbers of a cell: '4 MiB', '10 s (`--request-seconds`)', '1,000, at once 10,000'."""
    return [int(number.replace(",", "")) * UNITS[unit] for number, unit in NUMBER.findall(text)]


def defined(source, name):
    """The value that C++ gives a constant or a member: numbers, '*', '+', '<<', and durations are understood."""
    found = re.search(rf"\b{name}\b\s*(?:=\s*([^;]+)|\{{([^}};]+)\}});", source)
    if found is None:
        return None
    value = found[1] or found[2]
    if declared := re.search(rf"std::chrono::(\w+) {name}\b", source):
        value = f"std::chrono::{declared[1]}{{{value}}}"
    value = re.sub(rf"std::chrono::({'|'.join(SHORT)})\{{(\d+)\}}", lambda t: f"{t[2]} * {UNITS[SHORT[t[1]]]}", value)
    value = re.sub(r"std::\w+\{(\w+)\}|static_cast<[\w:]+>\((\w+)\)", r"\1\2", value)
    value = re.sub(r"(?<=\d)'(?=\d)|(?<=\d)[uUlL]+\b", "", value)
    return eval(value, {"__builtins__": {}}) if re.fullmatch(r"[\d\s*+()<]+", value) else None


def failures_of_stores():
    """The figures of decisions that stores did not make, by cause and by what was answered."""
    causes = re.search(r"kCauses = \{([^}]*)\}", (CODE / "algorithm/decision.h").read_text(encoding="utf-8"))[1]
    policies = re.findall(r"^  (\w+),", POLICIES.search((CODE / "rules/rule.h").read_text(encoding="utf-8"))[1], re.M)
    return {f"degraded_{cause}_{policy}" for cause in re.findall(r'"(\w+)"', causes)[1:] for policy in policies}


def shown():
    """The names of all figures of /stats, without `penstock_`; those of single rules are left out."""
    tables = {}
    for header in CODE.rglob("*.h"):
        for name, body in re.findall(r"> (k\w+)\{\{\n(.*?)\}\};", header.read_text(encoding="utf-8"), re.S):
            tables[name] = re.findall(r'\{"(\w+)", &', body)
    page = STATS.read_text(encoding="utf-8")
    figures = set(re.findall(r'\badd\("(\w+)"', page)) | failures_of_stores()
    figures.update(f"store_{name}" for name in re.findall(r'add\(name\("(\w+)"', page))
    prefixed = re.findall(r'add_sums\("(\w+)", (?:\w+::)*(k\w+)', page)
    prefixed += [(prefix, name) for name, prefix in
                 re.findall(r': (k\w+)\) \{\s*figures\.add\(fmt::format\("(\w+)_\{\}"', page)]
    prefixed += [("store", name) for name in re.findall(r": store::redis::(k\w+)\)", page)]
    return figures.union(f"{prefix}_{each}" for prefix, name in prefixed for each in tables[name])


def faults_of_row(row, figures):
    what, most, named, _, counted = row
    place = NAMED.match(named)
    if place is None and named != "-":
        yield f"'{what}': {named} is no `file` with names"
    if place is not None:
        file = CODE / place["file"]
        source = file.read_text(encoding="utf-8") if file.is_file() else ""
        names, numbers = place["names"].split(", "), documented(most)
        in_words = not most[0].isdigit()  # a share of another row
        for name, number in zip(names, numbers + [None] * len(names)):
            value = defined(source, name)
            if re.search(rf"\b{name}\b", source) is None or (not in_words and value != number):
                yield f"'{what}': {most} is documented, penstock/{place['file']} has {name} = {value}"
        if "at once" in most and len(names) < 2:
            yield f"'{what}': the burst has no name"
    if counted != "-" and not FIGURE.findall(counted):
        yield f"'{what}': {counted} names no figure"
    yield from (f"'{what}': /stats has no {each}" for each in FIGURE.findall(counted) if each not in figures)


def main():
    figures = shown()
    rows = table(SECURITY.read_text(encoding="utf-8"), "## Maxima")
    wrong = [f"docs/security.md: {fault}" for row in rows for fault in faults_of_row(row, figures)]
    if len(rows) < LEAST_ROWS or len(figures) < LEAST_FIGURES:
        wrong.append(f"only {len(rows)} rows of the table and {len(figures)} figures of the code are understood")
    operating = set(re.findall(r"`penstock_(\w+)", OPERATING.read_text(encoding="utf-8")))
    wrong += [f"docs/operating.md: /stats has no penstock_{each}" for each in sorted(operating - figures)
              if not each.startswith("rule_")]
    told = operating.union(*(FIGURE.findall(row[-1]) for row in rows))
    wrong += [f"docs/security.md: no bound names {each}" for each in sorted(figures - told)
              if REFUSAL.search(each) and not each.startswith(STORE_FAILED)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
