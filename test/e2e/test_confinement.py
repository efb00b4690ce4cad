"""The service needs no rights: not root, no capability, nowhere to write, no home, no temporary folder."""

import os
import pathlib
import resource
import shutil
import subprocess

from case import Case
from processes import Penstock, run, settings

RULES = """domain: edge
descriptors:
  - key: api_key
    rate_limit: {unit: day, requests_per_unit: 1}
"""
NOBODY = 65534
SHOW_FILES = 'for f in /proc/$1/fd/*; do echo "$(grep flags /proc/$1/fdinfo/${f##*/} | tr -dc 0-7) $(readlink "$f")"; done'


def as_nobody():
    """What makes a child run as nobody; without root it is as unprivileged as we are."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class ConfinedPenstock(Penstock):
    """Runs a copy of the binary, since nobody may be unable to reach a build below somebody's home."""

    def _start(self, arguments, log):
        self.directory.chmod(0o755)
        binary = self.directory / "confined-penstock"
        shutil.copy(arguments[0], binary)
        # Its output goes through a pipe: with files limited to no bytes even a log could not be written.
        self._logger = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=log)
        child = subprocess.Popen([str(binary), *arguments[1:]], cwd="/", env={"TMPDIR": "/nonexistent"},
                                 stdin=subprocess.DEVNULL, stdout=self._logger.stdin, stderr=self._logger.stdin,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)), **as_nobody())
        self._logger.stdin.close()
        return child

    def kill(self):
        super().kill()
        self._logger.wait()


class Confinement(Case):
    def setUp(self):
        super().setUp()
        self.limiter = self.keep(ConfinedPenstock(self.directory, "penstock", RULES, options=["--drain-seconds", "0"]))
        for _ in range(2):
            asked = run(settings.penstock, "ask", "--server", self.limiter.grpc_address, "--domain", "edge",
                        "--descriptor", "api_key=alice")
        self.assertEqual(asked.returncode, 1, asked.stderr)  # the second of one a day

    def proc(self, name):
        return pathlib.Path(f"/proc/{self.limiter.pid}/{name}").read_text()

    def test_it_answers_as_nobody_and_ends_in_order(self):
        status = self.proc("status")
        self.assertRegex(status, r"CapEff:\s+0+\n")
        self.assertNotRegex(status, r"Uid:(\s+\d+)*\s+0\b")
        self.limiter.terminate()
        self.assertEqual(self.limiter.wait(), 0, self.limiter.log())

    def test_no_file_is_open_for_writing(self):
        shown = subprocess.run(["sh", "-c", SHOW_FILES, "sh", str(self.limiter.pid)], capture_output=True, text=True,
                               check=True, **as_nobody()).stdout
        files = [line.split(" ", 1) for line in shown.splitlines()]
        self.assertIn("socket:", shown)
        for flags, target in files:
            on_disk = target.startswith("/") and target != "/dev/null"
            self.assertFalse(on_disk and int(flags, 8) & os.O_ACCMODE != os.O_RDONLY, f"{target} is open for writing")

    def test_no_memory_is_both_writable_and_executable(self):
        shown = subprocess.run(["cat", f"/proc/{self.limiter.pid}/maps"], capture_output=True, text=True, check=True,
                               **as_nobody()).stdout
        self.assertIn("penstock", shown)
        for line in shown.splitlines():
            rights = line.split()[1]
            self.assertFalse("w" in rights and "x" in rights, line)
            self.assertFalse("w" in rights and "s" in rights and line.rpartition(" ")[2].startswith("/"), line)
