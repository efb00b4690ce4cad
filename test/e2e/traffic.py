"""The user's side: an upstream that counts, single requests, and steady load that remembers every answer."""

import dataclasses
import http.client
import http.server
import threading
import time

from processes import LOOPBACK


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict
    body: bytes


def request(port, path="/", headers=None, method="GET", body=None, seconds=10.0):
    """One request on a connection of its own. Header names of the reply are lower case."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=seconds)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        reply = connection.getresponse()
        return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
    finally:
        connection.close()


def figures(limiter):
    """All of a Penstock's /stats, by name."""
    lines = request(limiter.debug_port, "/stats").body.decode().splitlines()
    assert lines == sorted(lines, key=lambda line: line.rsplit(" ", 1)[0])
    return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


class Upstream:
    """A small web server in a thread that answers everything with 200 and counts the requests."""

    def __init__(self):
        upstream = self
        self._lock = threading.Lock()
        self._served = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with upstream._lock:
                    upstream._served += 1
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def served(self):
        with self._lock:
            return self._served

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@dataclasses.dataclass
class Sample:
    began: float
    ended: float
    status: int  # 0: no answer
    limited_by: str  # the x-ratelimit-limit header, empty without one


class Load:
    """Steady requests from a few threads, each with its own connection, until `stop`."""

    def __init__(self, port, headers, threads=3, per_second=50):
        self._port, self._headers, self._pause = port, headers, threads / per_second
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._samples = []
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def samples(self):
        with self._lock:
            return list(self._samples)

    def stop(self):
        """Every sample, in the order in which the answers came."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout=15)
        return self.samples()

    def _work(self):
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=5)
        while not self._stopping.wait(self._pause):
            began, status, limited_by = time.monotonic(), 0, ""
            try:
                connection.request("GET", "/", headers=self._headers)
                reply = connection.getresponse()
                reply.read()
                status, limited_by = reply.status, reply.getheader("x-ratelimit-limit", "")
            except (OSError, http.client.HTTPException):
                connection.close()
            with self._lock:
                self._samples.append(Sample(began, time.monotonic(), status, limited_by))
        connection.close()
