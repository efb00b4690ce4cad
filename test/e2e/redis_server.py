"""Redis servers of a test, a proxy that treats their bytes badly, and a client that asks Penstock and times it."""

import http.client
import json
import pathlib
import re
import socket
import subprocess
import threading
import time
import urllib.request

from processes import LOOPBACK, Process, wait_until

CLUSTER_BUS = 10_000  # a cluster node listens on its port and on this much more


def free_port():
    """A port on which nobody listens, and neither on that of a cluster's bus."""
    while True:
        with socket.socket() as low, socket.socket() as high:
            low.bind((LOOPBACK, 0))
            port = low.getsockname()[1]
            try:
                high.bind((LOOPBACK, port + CLUSTER_BUS))
            except (OSError, OverflowError):
                continue
            return port


class RedisServer(Process):
    """A redis-server on a port of its own; `restarted` comes back empty on the same port."""

    def __init__(self, directory, name="redis", port=None, options=(), sentinel=None):
        self.port = port or free_port()
        self.options = tuple(options)
        folder = pathlib.Path(directory) / name
        folder.mkdir(exist_ok=True)
        command = ["redis-server"]
        if sentinel is not None:
            file = folder / "sentinel.conf"
            file.write_text(sentinel)
            command += [file, "--sentinel"]
        else:
            command += ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]
        super().__init__(name, [*command, "--port", self.port, "--bind", LOOPBACK, "--dir", folder, *options],
                         directory)
        self.wait_for("Ready to accept connections|Sentinel ID is")

    @property
    def address(self):
        return f"{LOOPBACK}:{self.port}"

    @property
    def url(self):
        return f"redis://{self.address}"

    def command(self, *words, password=None):
        """What redis-cli prints."""
        login = ["-a", password, "--no-auth-warning"] if password else []
        done = subprocess.run(["redis-cli", "-p", str(self.port), *login, *map(str, words)], capture_output=True,
                              text=True, errors="replace", timeout=20, check=False)
        return done.stdout.strip()

    def restarted(self, name):
        return RedisServer(self.directory, name, port=self.port, options=self.options)


class Proxy:
    """Passes bytes between clients and a server: late, cut off in the middle of what the server says, or not at all."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.delay = 0.0
        self.cut_replies_after = None  # bytes of the server's that pass before the connection ends
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection((LOOPBACK, self.target_port))
            except OSError:
                return
            threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, source, sink, replies):
        try:
            while data := source.recv(65536):
                if self.delay and replies:
                    time.sleep(self.delay)
                left = self.cut_replies_after
                if replies and left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    break
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Asker:
    """Asks one Penstock over a connection that is kept, and remembers how long answers took."""

    def __init__(self, limiter, domain="d"):
        self.domain = domain
        self.seconds = []
        self._connection = http.client.HTTPConnection(LOOPBACK, limiter.http_port, timeout=10)

    def ask(self, *keys, value="v", hits=None):
        """(HTTP status, reply)."""
        more = {} if hits is None else {"hitsAddend": str(hits)}
        request = {"domain": self.domain,
                   "descriptors": [{"entries": [{"key": key, "value": value}], **more} for key in keys]}
        began = time.monotonic()
        self._connection.request("POST", "/json", body=json.dumps(request))
        reply = self._connection.getresponse()
        body = reply.read()
        self.seconds.append(time.monotonic() - began)
        return reply.status, json.loads(body) if reply.status in (200, 429) else body.decode()

    def passes(self, *keys, **more):
        return self.ask(*keys, **more)[0] == 200

    def slowest_of_hundred(self):
        """The 99th percentile of all answers so far, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def figures(limiter, pattern):
    """{name: value} of the figures on /stats that match."""
    with urllib.request.urlopen(f"http://{LOOPBACK}:{limiter.debug_port}/stats", timeout=5) as reply:
        lines = reply.read().decode().splitlines()
    found = (line.rsplit(" ", 1) for line in lines)
    return {name: int(value) for name, value in found if re.search(pattern, name)}


def figure(limiter, name):
    return sum(figures(limiter, f"^penstock_{name}({{|$)").values())


def until_answered(asker, key, seconds=10.0):
    """Waits until the store decides about `key` again; how long that took."""
    began = time.monotonic()
    wait_until(f"'{key}' is decided by its store", lambda: asker.ask(key)[0] in (200, 429), seconds)
    return time.monotonic() - began
