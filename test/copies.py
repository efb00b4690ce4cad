#!/usr/bin/env python3
"""The test data under test/ are copies. Where the folder that they were taken from lies beside the project, this says
whether they are still equal; elsewhere there is nothing to compare with, and that is fine."""

import filecmp
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORIGIN = ROOT.parent / "shared"


def differences(copy, origin):
    """Files that differ or stand on one side only."""
    names = {p.relative_to(d) for d in (copy, origin) for p in d.rglob("*")
                   if p.is_file() and "__pycache__" not in p.parts}
    return sorted(str(n) for n in names
                  if not (copy / n).is_file() or not (origin / n).is_file()
                  or not filecmp.cmp(copy / n, origin / n, shallow=False))


def main():
    if not ORIGIN.is_dir():
        print("no originals beside the project; nothing to compare")
        return 0
    wrong = [f"test/{part}/{name}" for part in ("captures", "corpus", "golden") if (ORIGIN / part).is_dir()
             for name in differences(ROOT / "test" / part, ORIGIN / part)]
    for name in wrong:
        print(f"{name} is not what it was copied from")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
