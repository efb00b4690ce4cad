#!/usr/bin/env python3
"""Replays every recorded answer of envoyproxy/ratelimit (test/golden) against `penstock serve`, and says what differs.

    test/replay_golden.py --penstock build/release/penstock/cli/penstock [--redis] [--only NAME]

Every recording gets a server of its own, which keeps counters itself. With --redis each player has a redis-server, and
keys, their values, their times to live, and what was refused without asking it are compared as well. Counters of rules
are compared as far as /stats has them (golden_counters.py). Many players run at once, since they mostly wait for windows
with room. What must differ is in DEVIATIONS, with the reason; a recording that is named there and does not differ in
exactly that way fails too."""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
CORPUS = GOLDEN.parent / "corpus"
PLAYERS = 12  # at once
PORTS = 6  # that a player uses, one after the other from its first; the last is its Redis

# recording: the lines that the player prints for it, and why; with Redis none, since keys are the original's
DEVIATIONS = {
    # The original's key text joins key and value by '_', so that a=b_c and a_b=c are one counter there.
    "names/underscore-collision": ["step 5 response.statuses[0].limitRemaining: recorded 7, got 8"],
}

# A start with rules that cannot be used is wanted by one recording, and must not hide a failure in others: there every
# answer would be an error.
ENVIRONMENT = ["--env", "FORCE_START_WITHOUT_INITIAL_CONFIG=true"]


def free_ports(taken):
    """The first of PORTS ports in a row that nobody listens on and no other player was given."""
    for first in range(21_000 + os.getpid() % 500 * 20, 60_000, PORTS):
        if first in taken:
            continue
        with_sockets = []
        try:
            for port in range(first, first + PORTS):
                each = socket.socket()
                with_sockets.append(each)
                each.bind(("127.0.0.1", port))
        except OSError:
            continue
        finally:
            for each in with_sockets:
                each.close()
        taken.add(first)
        return first
    raise RuntimeError("no free ports")


@contextlib.contextmanager
def redis_server(port, folder):
    """A redis-server that answers, until the end of the block."""
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # pylint: disable=consider-using-with
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise RuntimeError(f"redis-server did not start on port {port}") from None
                time.sleep(0.02)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def play(root, family, only, penstock, first_port, with_redis):
    """(family, exit status, output) of one player."""
    # --log-level warn keeps the log of thousands of starts short.
    serve = (f"{penstock} serve --rules {{config_dir}} --grpc 127.0.0.1:{{grpc_port}} --http 127.0.0.1:{{http_port}} "
             f"--debug 127.0.0.1:{{debug_port}} --threads 1 --drain-seconds 0 --log-level warn")
    if with_redis:
        with redis_server(first_port + PORTS - 1, root) as address:
            # The deadline is for a machine on which a dozen servers play at once.
            return run_player(root, family, only, serve + " --store-deadline-ms 2000", first_port, ["--redis", address])
    return run_player(root, family, only, serve, first_port, [])


def run_player(root, family, only, serve, first_port, more):
    command = [sys.executable, GOLDEN.parent / "golden_counters.py", GOLDEN / f"{family}.jsonl", "--root", root,
               "--start", serve, "--first-port", str(first_port), "--only", only, *ENVIRONMENT, *more]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return family, done.returncode, done.stdout + done.stderr


def failures(output):
    """{recording: [line]} of what a player found."""
    found = collections.defaultdict(list)
    name = None
    for line in output.splitlines():
        if failed := re.match(r"FAIL (\S+)", line):
            name = failed[1]
            found[name] = []
        elif name and line.startswith("    ") and not line.strip().startswith("asked "):
            found[name].append(line.strip())
        else:
            name = None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--penstock", required=True, type=pathlib.Path)
    parser.add_argument("--redis", action="store_true", help="counters are in a Redis, whose keys are compared")
    parser.add_argument("--only", default="", help="recordings whose name begins with this")
    options = parser.parse_args()
    deviations = {} if options.redis else DEVIATIONS
    families = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
    families = [f for f in families if f.startswith(options.only.split("/")[0])]
    began, problems, passed, taken, differing = time.monotonic(), [], 0, set(), set()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(PLAYERS) as players:
        shared = pathlib.Path(folder) / "shared"
        shared.mkdir()
        (shared / "golden").symlink_to(GOLDEN)
        (shared / "corpus").symlink_to(CORPUS)
        runs = [players.submit(play, folder, family, options.only, options.penstock.resolve(), free_ports(taken),
                               options.redis)
                for family in families]
        for run in concurrent.futures.as_completed(runs):
            family, status, output = run.result()
            summary = re.search(r"^(\d+) passed, (\d+) failed", output, re.MULTILINE)
            if status == 2 or not summary:
                problems.append(f"{family}: the player gave up\n{output}")
                continue
            passed += int(summary[1])
            for name, lines in failures(output).items():
                differing.add(name)
                if lines != deviations.get(name):
                    problems.append(f"{name}:\n    " + "\n    ".join(lines))
    wanted = {name for name in deviations if name.startswith(options.only)}
    problems += [f"{name} does not differ any more: take it out of DEVIATIONS" for name in sorted(wanted - differing)]
    for problem in problems:
        print(problem)
    print(f"{passed} recordings answered as recorded, {len(differing & wanted)} differ as they should, "
          f"{len(problems)} problems, {time.monotonic() - began:.0f} s")
    sys.exit(1 if problems or passed == 0 else 0)


if __name__ == "__main__":
    main()
