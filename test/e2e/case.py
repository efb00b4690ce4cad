"""The base of all end-to-end tests: what a test starts is ended and removed with it."""

import pathlib
import shutil
import tempfile
import time
import unittest

from processes import Envoy, Penstock, Process
from traffic import Upstream


class Case(unittest.TestCase):
    """Gives each test a folder, starts programs in it, and ends them in reverse order."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = []

    def keep(self, process):
        self.processes.append(process)
        self.addCleanup(self._end, process)
        return process

    def _end(self, process):
        process.kill()
        self.assertNotRegex(process.log(), "Sanitizer|runtime error:", "what a sanitizer found")

    def penstock(self, rules, name="penstock", options=()):
        return self.keep(Penstock(self.directory, name, rules, options=options))

    def envoy(self, config):
        return self.keep(Envoy(self.directory, config))

    def upstream(self):
        upstream = Upstream()
        self.addCleanup(upstream.close)
        return upstream

    def program(self, name, *arguments):
        return self.keep(Process(name, arguments, self.directory))

    def logs(self):
        """The end of each log of the test, for the report of a failure."""
        return "\n".join(f"--- {p.name}\n{p.log()[-4000:].rstrip()}" for p in self.processes)


def seconds_to_window_end(unit, needed=8):
    """Whole seconds until a window of `unit` seconds ends; first waits out an end that is nearer than `needed`."""
    left = unit - time.time() % unit
    if left < needed:
        time.sleep(left + 0.1)
        left = unit - time.time() % unit
    return left
