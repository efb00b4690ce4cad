"""Starting, watching and ending the processes of a test. Every one listens on ports the system chose."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

LOOPBACK = "127.0.0.1"


@dataclasses.dataclass
class Settings:
    """Where the programs under test lie; filled in by run.py."""

    penstock: str = ""
    envoy: str = ""
    grpcurl: str = ""
    h2spec: str = ""
    grpc_go_client: str = ""
    grpc_cpp_client: str = ""  # empty: not built, its tests are skipped
    sanitized: bool = False  # the binary has a sanitizer: its memory and its speed say nothing


settings = Settings()


def wait_until(what, condition, seconds=10.0):
    """Polls `condition` until it is true and returns its value; fails with `what` when `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)


def run(*arguments, seconds=20.0, stdin=None):
    """Runs a command to its end; its output is text."""
    return subprocess.run([str(a) for a in arguments], input=stdin, capture_output=True, text=True, timeout=seconds,
                          check=False)


class Process:
    """A running program whose output goes to a file of its own."""

    def __init__(self, name, arguments, directory):
        self.name = name
        self.directory = pathlib.Path(directory)
        self._log = self.directory / f"{name}.log"
        with self._log.open("wb") as log:
            self._child = self._start([str(a) for a in arguments], log)

    def _start(self, arguments, log):
        return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    @property
    def pid(self):
        return self._child.pid

    def log(self):
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def resident_bytes(self):
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def open_files(self, kind=""):
        """Its open descriptors; `kind` is how the kernel's name for them begins, as `socket:`."""
        count = 0
        for entry in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                count += os.readlink(entry).startswith(kind)
            except FileNotFoundError:
                pass  # closed meanwhile
        return count

    def exit_code(self):
        """None while it runs; minus the signal's number when a signal ended it."""
        return self._child.poll()

    def wait_for(self, pattern, seconds=10.0):
        """The first match of `pattern` in the output."""

        def seen():
            match = re.search(pattern, self.log())
            if match is None and self.exit_code() is not None:
                raise AssertionError(f"{self.name} ended with {self.exit_code()} before '{pattern}':\n{self.log()}")
            return match

        return wait_until(f"'{pattern}' in the output of {self.name}", seen, seconds)

    def signal(self, number):
        self._child.send_signal(number)

    def wait(self, seconds=10.0):
        """Its exit code, once it has ended by itself."""
        try:
            return self._child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {seconds} s") from None

    def kill(self):
        if self.exit_code() is None:
            self._child.kill()
        self._child.wait()


class Penstock(Process):
    """`penstock serve` on a folder of rules. `grpc_port` 0 takes any free port; a restart asks for the old one.

    `environment`: variables that it gets besides those of the test.
    """

    def __init__(self, directory, name, rules, *, grpc_port=0, options=(), environment=()):
        folder = pathlib.Path(directory) / f"{name}-rules"
        folder.mkdir(exist_ok=True)
        for file, text in enumerate([rules] if isinstance(rules, str) else rules):
            (folder / f"rules{file}.yaml").write_text(text)
        self.rules = rules
        self.options = tuple(options)
        self.environment = tuple(environment)
        super().__init__(name, ["/usr/bin/env", *environment, settings.penstock, "serve", "--rules", folder,
                                "--grpc", f"{LOOPBACK}:{grpc_port}", "--http", f"{LOOPBACK}:0",
                                "--debug", f"{LOOPBACK}:0", *options], directory)
        port = r"127\.0\.0\.1:(\d+)"
        ready = self.wait_for(rf"ready: grpc {port}, http {port}, debug {port}")
        self.grpc_port, self.http_port, self.debug_port = int(ready[1]), int(ready[2]), int(ready[3])
        self.grpc_address = f"{LOOPBACK}:{self.grpc_port}"

    def restarted(self, name, rules=None):
        """A new process in the place of this one, which has ended; with other rules, if some are given."""
        return Penstock(self.directory, name, rules or self.rules, grpc_port=self.grpc_port, options=self.options,
                        environment=self.environment)

    def terminate(self):
        self.signal(signal.SIGTERM)


class Envoy(Process):
    """A real Envoy on a configuration of envoy_config.py."""

    def __init__(self, directory, config, name="envoy"):
        file = pathlib.Path(directory) / f"{name}.json"
        file.write_text(json.dumps(config, indent=1))
        address = pathlib.Path(directory) / f"{name}.admin"
        super().__init__(name, [settings.envoy, "-c", file, "--concurrency", "1", "--use-dynamic-base-id",
                                "--log-level", "warning", "--admin-address-path", address], directory)
        self._admin = wait_until("the admin address of Envoy", lambda: self._admin_address(address))
        wait_until("Envoy is live", lambda: self._ask("/ready").strip() == "LIVE")
        self.port = wait_until("the listener of Envoy", self._listener_port)

    def stats(self, prefix):
        """All counters and gauges whose name starts with `prefix`, by the rest of the name."""
        found = json.loads(self._ask("/stats?format=json"))["stats"]
        return {s["name"].removeprefix(prefix): s["value"] for s in found if s.get("name", "").startswith(prefix)}

    def rate_limit_stats(self):
        """What the HTTP filter counted: ok, over_limit, error, failure_mode_allowed; 0 where nothing came yet."""
        counted = self.stats("cluster.upstream.ratelimit.")
        return {name: counted.get(name, 0) for name in ("ok", "over_limit", "error", "failure_mode_allowed")}

    def _admin_address(self, file):
        if self.exit_code() is not None:
            raise AssertionError(f"Envoy ended with {self.exit_code()}:\n{self.log()}")
        return file.read_text() if file.exists() else ""

    def _ask(self, path):
        try:
            with urllib.request.urlopen(f"http://{self._admin}{path}", timeout=5) as reply:
                return reply.read().decode()
        except OSError:
            return ""

    def _listener_port(self):
        listeners = json.loads(self._ask("/listeners?format=json") or "{}").get("listener_statuses", [])
        return listeners[0]["local_address"]["socket_address"]["port_value"] if listeners else 0
