#!/usr/bin/env python3
"""Checks that a release binary has the protections that the build's flags promise; exits 1 naming what is missing.

With --objects FOLDER... also what cannot be seen in the binary, since libraries that are linked into it may have it or
lack it: that the objects of ours below those folders use the stack protector, fortified calls and the standard library's
assertions, and that every one is marked for control-flow enforcement. (The binary has that mark only where all of it
does; Debian 12's libraries do not.)
"""

import argparse
import platform
import re
import subprocess
import sys
from pathlib import Path


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def segments(headers):
    """Type and flags of each program header."""
    return re.findall(r"^  (\w+)\s+0x\S+ 0x\S+ 0x\S+ 0x\S+ 0x\S+ ([RWE ]{3}) ", headers, re.M)


def missing(headers, dynamic, symbols):
    """What a binary lacks, from what readelf -lh, -d and --dyn-syms say of it."""
    found = segments(headers)
    stack = [flags for kind, flags in found if kind == "GNU_STACK"]
    checks = {
        "position independent (PIE)": re.search(r"Type:\s+DYN\b", headers) and re.search(r"FLAGS_1\).*\bPIE\b", dynamic),
        "relocations read-only after start (RELRO)": any(kind == "GNU_RELRO" for kind, _ in found),
        "all symbols bound at start (BIND_NOW)": re.search(r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b", dynamic),
        "a stack that is not executable (NX)": stack and all("E" not in flags for flags in stack),
        "no segment writable and executable": all(not ("W" in flags and "E" in flags) for _, flags in found),
        "no relocations in code": not re.search(r"\(TEXTREL\)|\bTEXTREL\b", dynamic),
        "no search path for libraries (RPATH, RUNPATH)": not re.search(r"\((RPATH|RUNPATH)\)", dynamic),
    }
    return [name for name, holds in checks.items() if not holds] + unguarded(symbols)


def unguarded(symbols):
    """Which of the compiler's guards no code uses, from what readelf says of its symbols."""
    imported = set(re.findall(r"\bUND (\w+)", symbols))
    guards = {"stack protector": "__stack_chk_fail", "fortified calls (_FORTIFY_SOURCE)": r"__[a-z]+_chk"}
    return [name for name, symbol in guards.items() if not any(re.fullmatch(symbol, each) for each in imported)]


def unmarked(notes):
    """Objects without both marks for control-flow enforcement, from what readelf -n says of archives."""
    lacking = []
    for part in re.split(r"^File: ", notes, flags=re.M)[1:]:
        name, _, text = part.partition("\n")
        if not re.search(r"x86 feature: IBT, SHSTK", text):
            lacking.append(name.strip())
    return lacking


def faults_of_objects(folders):
    archives = sorted(archive for folder in folders for archive in folder.rglob("lib*.a"))
    where = " ".join(map(str, folders))
    if not archives:
        return [f"no static libraries below {where}"]
    symbols = readelf("-s", *archives)
    faults = [f"{where}: not as promised: {name}" for name in unguarded(symbols)]
    if not re.search(r"\bUND _ZSt21__glibcxx_assert_fail", symbols):
        faults.append(f"{where}: not as promised: assertions of the standard library (_GLIBCXX_ASSERTIONS)")
    if platform.machine() == "x86_64":
        faults += [f"{name}: not marked for control-flow enforcement" for name in unmarked(readelf("-n", *archives))]
    return faults


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--objects", type=Path, nargs="*", default=[], help="folders with our static libraries")
    options = parser.parse_args(arguments)
    faults = [f"{options.binary}: not as promised: {name}"
              for name in missing(readelf("-lh", options.binary), readelf("-d", options.binary),
                                  readelf("--dyn-syms", options.binary))]
    if options.objects:
        faults += faults_of_objects(options.objects)
    print("\n".join(faults) or f"{options.binary}: hardened as promised")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
