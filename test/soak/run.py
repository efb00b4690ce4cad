#!/usr/bin/env python3
"""Runs a Penstock for a while under all that ordinary life brings at once, and looks whether it is unmoved.

A client that stays asks for many distinct keys; connections come and go, are reset, left half-open, or never finish what
they say; the wall clock is set back and forth; halfway comes a restart with other rules. It passes when no call of the
client that stays failed, limits hold after every step of the clock, each step is in the log, memory is flat, and every
file descriptor came back.
"""

import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))

import http2_peer  # noqa: E402
import rls  # noqa: E402
from http2_peer import Peer  # noqa: E402
from processes import Penstock, settings, wait_until  # noqa: E402
from visitors import Visitors  # noqa: E402

FLAT_BYTES = 4 * 1024 * 1024  # that memory may grow after the first quarter of a process's life
SEEN_SECONDS = 2.0  # from a step to its line in the log: the clock is looked at once a second
STALL_SECONDS = 2.0  # that a limit of a second may be over after a step: its window, and as long again for the machine
OFFSETS = (3600, -3600, 10, -10, 40 * 86400, -40 * 86400, 0.5, -0.5)  # of the wall clock in seconds, one after the other
LIVES = 2
RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {{unit: second, requests_per_unit: {others}}}
      - key: window
        rate_limit: {{unit: second, requests_per_unit: 3}}
      - key: steady
        rate_limit: {{unit: second, requests_per_unit: 4, algorithm: gcra, burst: 3}}
    """


class Clock:
    """The wall clock that the process under test sees."""

    def __init__(self, directory):
        self._file, library = directory / "wall-offset", directory / "wall_clock.so"
        self._file.write_bytes(struct.pack("q", 0))
        source = pathlib.Path(__file__).parent / "wall_clock.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source], check=True)
        self.environment = [f"LD_PRELOAD={library}", f"PENSTOCK_WALL_OFFSET={self._file}"]

    def set(self, seconds):
        with self._file.open("r+b") as file:
            file.write(struct.pack("q", int(seconds * 1e9)))


class Limits:
    """A window and a steady rate, driven over their limits and watched while they recover."""

    def __init__(self, port):
        self._peer, self._stream = Peer(port), -1

    def over(self, key):
        self._stream += 2
        self._peer.ask(self._stream, rls.encode("edge", [[(key, "watched")]]))
        answer = self._peer.wait_for(http2_peer.DATA, self._stream)[3]
        self._peer.seen.clear()
        return rls.decode(answer[5:])[0] == rls.OVER_LIMIT

    def hold_and_recover(self):
        for key in ("window", "steady"):
            wait_until(f"the limit of {key}", lambda: self.over(key), STALL_SECONDS)
            wait_until(f"its end, of {key}", lambda: not self.over(key), STALL_SECONDS)

    def keep_over_until(self, what, condition):
        """Over at the very moment of the step: nothing that was stored before it may last."""
        def asked_and_true():
            self.over("window")
            self.over("steady")
            return condition()
        wait_until(what, asked_and_true, SEEN_SECONDS)

    def close(self):
        self._peer.close()


def steps_seen(limiter):
    return limiter.log().count("the wall clock was set")


def live(limiter, clock, seconds, seed):
    """The life of one process: what came, and what it had at a quarter of it and at its end."""
    began, steps, early = time.monotonic(), 0, None
    visitors, limits = Visitors(limiter, seed), Limits(limiter.grpc_port)
    while time.monotonic() < began + seconds or steps < 2:
        clock.set(OFFSETS[steps % len(OFFSETS)])
        steps += 1
        limits.keep_over_until(f"step {steps} in the log", lambda: steps_seen(limiter) >= steps)
        limits.hold_and_recover()
        if early is None and time.monotonic() > began + seconds / 4:
            early = limiter.resident_bytes()
    late = limiter.resident_bytes()
    limits.close()
    visits = visitors.stop()
    clock.set(0)
    if steps_seen(limiter) != steps:
        raise AssertionError(f"{steps} steps of the clock, {steps_seen(limiter)} in the log")
    if late - early > FLAT_BYTES and not settings.sanitized:
        raise AssertionError(f"memory grew from {early} to {late} bytes")
    return {"steps": steps, "visits": visits, "early_bytes": early, "late_bytes": late}


def staying_client(limiter, seconds):
    command = [settings.grpc_go_client, "-address", limiter.grpc_address, "-seconds", str(seconds), "-at-once", "4",
               "-keys", "1000000", "-key", "many-"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def soak(directory, seconds, seed):
    clock = Clock(directory)
    limiter = Penstock(directory, "life-0", RULES.format(others=10),
                       options=["--table-keys", "100000", "--drain-seconds", "0"], environment=clock.environment)
    sockets = limiter.open_files("socket:")
    client = staying_client(limiter, seconds)
    try:
        for life in range(LIVES):
            if life > 0:
                limiter.terminate()
                if (code := limiter.wait(seconds=20)) != 0:
                    raise AssertionError(f"it ended with {code}\n{limiter.log()}")
                limiter = limiter.restarted(f"life-{life}", RULES.format(others=20))
            print(json.dumps(live(limiter, clock, seconds / LIVES, seed + life)), flush=True)
        said = json.loads(client.communicate(timeout=60)[0])
        print(json.dumps(said), flush=True)
        if said["failed"] or said["ok"] == 0:
            raise AssertionError(f"the client that stays: {said}")
        wait_until(f"no more sockets than the {sockets} of the start", lambda: limiter.open_files("socket:") == sockets)
        limiter.terminate()
        if (code := limiter.wait(seconds=20)) != 0:
            raise AssertionError(f"it ended with {code}")
        for log in directory.glob("life-*.log"):
            if "Sanitizer" in log.read_text() or "runtime error:" in log.read_text():
                raise AssertionError(f"a sanitizer's finding in {log.name}:\n{log.read_text()}")
    except BaseException:
        print(limiter.log()[-4000:])
        raise
    finally:
        client.kill()
        client.wait()
        limiter.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--penstock", default=ROOT / "build/release/penstock/cli/penstock", help="the binary under test")
    parser.add_argument("--tools", default=ROOT / "build/tools/bin", help="folder of the Go programs")
    parser.add_argument("--seconds", type=int, default=20, help="how long, both lives together")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--sanitized", action="store_true", help="the binary has a sanitizer: memory is not judged")
    chosen = parser.parse_args()
    settings.penstock = str(pathlib.Path(chosen.penstock).resolve())
    settings.grpc_go_client = str(pathlib.Path(chosen.tools).resolve() / "grpc_go_client")
    settings.sanitized = chosen.sanitized
    print(f"soak: {chosen.seconds} s, --seed {chosen.seed}", flush=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="penstock-soak-"))
    try:
        soak(directory, chosen.seconds, chosen.seed)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("soak: passed")


if __name__ == "__main__":
    main()
