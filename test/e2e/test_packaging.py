"""packaging/ against the binary that it is to run."""

import pathlib
import re
import shutil

from case import Case
from processes import run, settings

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
REQUIRED = {"DynamicUser": "yes", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "MemoryDenyWriteExecute": "yes",
            "CapabilityBoundingSet": "", "AmbientCapabilities": "", "PrivateDevices": "yes", "ProtectHome": "yes",
            "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "ReadOnlyPaths": "/", "SystemCallArchitectures": "native"}


def options_in(command):
    return set(re.findall(r"--[a-z-]+", command))


class Unit(Case):
    def setUp(self):
        super().setUp()
        self.text = (PACKAGING / "penstock.service").read_text()
        self.known = options_in(run(settings.penstock, "serve", "--help").stdout)

    def test_it_is_confined(self):
        lines = [line.partition("=") for line in self.text.splitlines() if "=" in line and not line.startswith("#")]
        values = {name: value for name, _, value in lines}
        self.assertEqual({name: values.get(name) for name in REQUIRED}, REQUIRED)

    def test_its_options_exist(self):
        command = re.search(r"^ExecStart=(.*)$", self.text, re.M)[1]
        self.assertLessEqual(options_in(command), self.known)

    def test_it_leaves_the_service_the_time_to_end(self):
        help_text = run(settings.penstock, "serve", "--help").stdout
        needed = sum(int(re.search(rf"--{name}-seconds SECONDS[^\n]*?=(\d+)", help_text)[1]) for name in ("drain", "grace"))
        self.assertGreater(int(re.search(r"^TimeoutStopSec=(\d+)$", self.text, re.M)[1]), needed)

    def test_systemd_takes_it(self):
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            self.skipTest("there is no systemd-analyze here")
        unit = self.directory / "penstock.service"
        unit.write_text(self.text.replace("/usr/bin/penstock", settings.penstock))
        ended = run(analyze, "verify", "--man=no", unit)
        said = [line for line in (ended.stdout + ended.stderr).splitlines() if "penstock.service" in line]
        self.assertEqual((ended.returncode, said), (0, []), ended.stderr)


class Image(Case):
    def test_its_options_exist_and_it_is_not_root(self):
        text = (PACKAGING / "Dockerfile").read_text()
        known = options_in(run(settings.penstock, "serve", "--help").stdout)
        started = " ".join(re.findall(r"^(?:ENTRYPOINT|CMD) (.*)$", text, re.M))
        self.assertIn('"serve"', started)
        self.assertLessEqual(options_in(started), known)
        self.assertRegex(text.rpartition("\nFROM ")[2], r"(?m)^USER [1-9]\d+:[1-9]\d+$")
