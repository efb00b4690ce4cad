"""The files of the project, read once, and what a check says of them."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checks import cpp

CODE_FOLDERS = ("penstock/", "fuzz/", "bench/", "test/")
LARGEST_TEXT_BYTES = 1 << 20


@dataclass(frozen=True, order=True)
class Finding:
    """One broken rule at one place; `text` says what is wrong and what to do instead."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


class Tree:
    """All files below `root` that git keeps or would keep; without git, all that are not in build/ or hidden."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.paths = self._list()
        self.text = cache(self._read)
        self.code = cache(lambda path: cpp.without_comments_and_strings(self.text(path)))
        self.includes = cache(lambda path: cpp.includes(self.text(path)))
        self._known = frozenset(self.paths)

    def __contains__(self, path):
        return path in self._known

    def cpp(self, *suffixes):
        """The C++ files of the code folders, all or those with one of the suffixes."""
        wanted = suffixes or (".h", ".cc")
        return [path for path in self.paths if path.startswith(CODE_FOLDERS) and path.endswith(wanted)]

    def own_includes(self, path):
        """The files of ours that `path` includes directly."""
        return [include.path for include in self.includes(path) if include.path in self]

    def closure(self, path):
        """`path` and every file of ours that it includes, however far away, sorted."""
        seen, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting.extend(self.own_includes(current))
        return sorted(seen)

    def _list(self):
        if (self.root / ".git").exists():
            command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            names = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.split("\0")
            return sorted(name for name in set(names) if name and (self.root / name).is_file())
        found = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found if path.parts[0] != "build" and not path.parts[0].startswith("."))

    def _read(self, path):
        """The text of a file; empty where it is no text."""
        data = (self.root / path).read_bytes()
        if len(data) > LARGEST_TEXT_BYTES or b"\0" in data:
            return ""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return ""


def is_test(path):
    """Whether a code file is a test or belongs to a test library (a folder named `testing`)."""
    return path.endswith(("_test.cc", "_test.py")) or "/testing/" in path or path.startswith("test/")


def is_product(path):
    return path.startswith("penstock/") and not is_test(path)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
