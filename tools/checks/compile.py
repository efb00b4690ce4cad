"""The compile commands of a build tree, and running many of them two at a time."""

import json
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PARALLEL = 2


@dataclass(frozen=True)
class Unit:
    """One source file with the compiler and the flags that it is built with (no source, no output, no launcher)."""

    source: str
    compiler: str
    flags: tuple

    def command(self, *rest):
        return [self.compiler, *self.flags, *rest]


def units(tree, build):
    """The units of the project's own sources in compile_commands.json of the folder `build`."""
    entries = json.loads((Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
    found = []
    for entry in entries:
        source = Path(entry["file"])
        if source.is_relative_to(tree.root) and source.relative_to(tree.root).as_posix() in tree:
            compiler, flags = _compiler_and_flags(shlex.split(entry["command"]))
            found.append(Unit(source.relative_to(tree.root).as_posix(), compiler, flags))
    return sorted(found, key=lambda unit: unit.source)


def _compiler_and_flags(words):
    if Path(words[0]).name == "ccache":
        words = words[1:]
    flags, skip = [], False
    for word in words[1 : words.index("-c")]:
        if not skip and word != "-o":
            flags.append(word)
        skip = word == "-o"
    return words[0], tuple(flags)


def run_all(jobs, run):
    """Calls run(job) for all jobs, PARALLEL at a time; yields the results in the jobs' order."""
    with ThreadPoolExecutor(PARALLEL) as pool:
        yield from pool.map(run, jobs)


def output_of(command, cwd):
    """(passed, what it printed) of one command."""
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()
